"""Plans for labels that may be wrong, and for a machine's labels beside gold ones."""

import json

import pytest
from scipy import optimize, stats

import blankets as bl
from blankets.errors import NotAnswerableError


def rows_for(kappa, effect=0.045, power=0.95, alpha=0.01):
    """Solve the noncentral chi-square for λ = 2 κ N I, by SciPy."""
    critical = stats.chi2.isf(alpha, 1)
    wanted = optimize.brentq(lambda nc: stats.ncx2.sf(critical, 1, nc) - power, 0.1, 500)
    return wanted / (2 * kappa * effect)


def test_rows_for_wrong_labels():
    p, rho0, rho1 = 0.2, 0.1, 0.3
    q = rho0 * (1 - p) + (1 - rho1) * p
    kappa = (1 - rho0 - rho1) ** 2 * p * (1 - p) / (q * (1 - q))
    labels = bl.Noisy(rho0, rho1, prior=p)
    found = bl.plan(effect=0.045, power=0.95, alpha=0.01, labels=labels)
    assert found.kappa == pytest.approx(kappa, rel=1e-9)
    assert found.answer == pytest.approx(rows_for(kappa), abs=1)
    assert bl.Plan.from_json(found.to_json()).answer == found.answer
    half = bl.plan(
        effect=0.045, power=0.95, alpha=0.01, labels=bl.Noisy(rho0, rho1, missing="mcar", prior=p), labeled=0.5
    )
    assert half.answer == pytest.approx(rows_for(kappa / 2), abs=1)
    with pytest.raises(NotAnswerableError, match=r"depends on p\(y=1\)"):
        bl.plan(effect=0.045, power=0.95, labels=bl.Noisy(rho0, rho1))


def test_gold_labels_that_a_machine_saves():
    p, wrong, rows = 0.3, 0.1, 5000
    q = wrong * (1 - p) + (1 - wrong) * p
    rho2 = (1 - 2 * wrong) ** 2 * p * (1 - p) / (q * (1 - q))
    found = bl.plan(effect=0.01, power=0.9, rows=rows, labels=bl.Predicted(accuracy=0.9, prior=p))
    kappa = rows_for(1.0, effect=0.01, power=0.9) / rows
    share = kappa * (1 - rho2) / (1 - kappa * rho2)  # κ = f / (1 - (1 - f) ρ²), solved for f
    assert found.answer == pytest.approx(share * rows, abs=1)
    (alone,) = [other for other in json.loads(found.to_json())["alternatives"] if other["surrogate"] == "listwise"]
    assert alone["answer"] == pytest.approx(kappa * rows, abs=1)
    assert found.answer < 0.6 * alone["answer"]  # labels that are 90% right save at least 40% of the gold ones
    assert bl.kappa(labels=bl.Predicted(accuracy=0.9, prior=p), labeled=0.1) == pytest.approx(
        0.1 / (1 - 0.9 * rho2), rel=1e-9
    )
    with pytest.raises(NotAnswerableError, match="depends on how often it is right"):
        bl.plan(effect=0.01, power=0.9, rows=rows, labels=bl.Predicted("said", prior=p))
