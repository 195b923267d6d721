"""Plans for labels that may be wrong, and for a machine's labels beside gold ones."""

import json

import numpy as np
import pytest
from scipy import optimize, stats

import blankets as bl
from blankets.cli._main import run
from blankets.errors import NotAnswerableError
from blankets.stats import weighted_scores


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
    lost = 2.2 * np.sqrt(rho2 / (1 - rho2)) / (4 * p * (1 - p)) * 2**0.75  # of n ** 0.75, to learn the machine's errors

    def reached(n):
        others = 1 - n / rows
        return n / rows / (1 - others * rho2) / (1 + others * lost / n**0.75)

    assert found.answer == pytest.approx(optimize.brentq(lambda n: reached(n) - kappa, 10, rows), abs=1)
    (alone,) = [other for other in json.loads(found.to_json())["alternatives"] if other["surrogate"] == "listwise"]
    assert alone["answer"] == pytest.approx(kappa * rows, abs=1)
    assert found.answer < 0.6 * alone["answer"]  # labels that are 90% right save at least 40% of the gold ones
    assert bl.kappa(labels=bl.Predicted(accuracy=0.9, prior=p), labeled=0.1) == pytest.approx(
        0.1 / (1 - 0.9 * rho2), rel=1e-9
    )
    with pytest.raises(NotAnswerableError, match="depends on how often it is right"):
        bl.plan(effect=0.01, power=0.9, rows=rows, labels=bl.Predicted("said", prior=p))


def test_a_plan_with_propensities_takes_their_harmonic_mean():
    rng = np.random.default_rng(0)
    chance = rng.uniform(0.1, 0.9, 400_000)
    labeled = (rng.random(len(chance)) < 0.3) & (rng.random(len(chance)) < chance)
    planned = bl.kappa(labels="pu", prior=0.3, labeled=0.3 * float(stats.hmean(chance)))
    assert planned == pytest.approx(weighted_scores(labeled, chance).kappa, rel=0.03)
    with pytest.raises(NotAnswerableError, match="harmonic mean of the propensities"):
        bl.plan(effect=0.01, power=0.9, rows=1000, labels=bl.PositiveUnlabeled(propensity="chance"))


def test_words_of_plans():
    wrong = str(bl.plan(effect=0.045, power=0.95, labels=bl.Noisy(0.1, 0.3, prior=0.2)))
    assert "As labels may be wrong, with p(y=1) = 0.2 each row counts as much as κ = " in wrong
    found = bl.plan(effect=0.01, power=0.9, rows=5000, labels=bl.Predicted(accuracy=0.9, prior=0.3))
    (alone,) = (other.answer for other in found.alternatives)
    less = alone - found.answer
    assert f"With gold labels alone: {alone:g} gold labels; the machine saves {less:g} of them" in str(found)
    assert "With gold labels alone: 0." in str(
        bl.plan(effect=0.01, rows=5000, labeled=200, labels=bl.Predicted(accuracy=0.9, prior=0.3))
    )
    assert (
        run(["plan", "--effect", "0.01", "--power", "0.9", "--accuracy", "0.9,0.8", "--prior", "0.3", "--rows", "900"])
        == 0
    )
    assert run(["plan", "--effect", "0.1", "--power", "0.9", "--false-positive", "0.1"]) != 0
