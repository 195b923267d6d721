"""Plans for labels that may be wrong, and for a machine's labels beside gold ones."""

import json

import numpy as np
import pytest
from scipy import optimize, special, stats

import blankets as bl
from blankets.cli._main import run
from blankets.errors import NotAnswerableError
from blankets.stats import machine_scores, weighted_scores
from machine_ratio import noncentrality_of


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


@pytest.mark.parametrize(("p", "wrong"), [(0.3, 0.1), (0.1, 0.05), (0.5, 0.2)])
def test_power_with_a_machine_is_that_of_the_likelihood_ratio_at_expected_counts(p, wrong):
    labels = bl.Predicted(accuracy=1 - wrong, prior=p)
    found = bl.plan(effect=0.02, alpha=0.01, rows=3000, labeled=150, labels=labels)
    nc = noncentrality_of(150, 3000, 0.02, p, wrong)
    assert found.kappa == pytest.approx(nc / (2 * 3000 * 0.02), rel=1e-4)
    assert found.power == pytest.approx(stats.ncx2.sf(stats.chi2.isf(0.01, 1), 1, nc), abs=1e-4)
    back = bl.plan(power=found.power, alpha=0.01, rows=3000, labeled=150, labels=labels)
    assert back.answer == pytest.approx(0.02, rel=1e-6)
    whole = bl.plan(effect=0.02, alpha=0.01, rows=300, labeled=300, labels=labels)  # every label is gold
    assert whole.power == pytest.approx(bl.plan(effect=0.02, alpha=0.01, rows=300).power, abs=1e-4)


def test_an_effect_beyond_a_line_of_shares_counts_in_proportion():
    labels = bl.Predicted(accuracy=0.9, prior=0.05)
    small, large = (
        bl.plan(effect=effect, alpha=0.01, rows=400, labeled=20, arity=5, labels=labels) for effect in (0.1, 0.15)
    )
    assert small.kappa == pytest.approx(large.kappa, rel=1e-9)


def test_gold_labels_that_a_machine_saves():
    p, wrong, rows = 0.3, 0.1, 5000
    q = wrong * (1 - p) + (1 - wrong) * p
    rho2 = (1 - 2 * wrong) ** 2 * p * (1 - p) / (q * (1 - q))
    found = bl.plan(effect=0.01, power=0.9, rows=rows, labels=bl.Predicted(accuracy=0.9, prior=p))
    kappa = rows_for(1.0, effect=0.01, power=0.9) / rows

    def missing(n):
        return noncentrality_of(n, rows, 0.01, p, wrong) / (2 * rows * 0.01) - kappa

    assert found.answer == pytest.approx(optimize.brentq(missing, 200, 700, xtol=0.5), abs=1.5)
    (alone,) = [other for other in json.loads(found.to_json())["alternatives"] if other["surrogate"] == "listwise"]
    assert alone["answer"] == pytest.approx(kappa * rows, abs=1)
    assert found.answer < 0.6 * alone["answer"]  # labels that are 90% right save at least 40% of the gold ones
    assert bl.kappa(labels=bl.Predicted(accuracy=0.9, prior=p), labeled=0.1) == pytest.approx(
        0.1 / (1 - 0.9 * rho2), rel=1e-9
    )
    with pytest.raises(NotAnswerableError, match="depends on how often it is right"):
        bl.plan(effect=0.01, power=0.9, rows=rows, labels=bl.Predicted("said", prior=p))


def test_with_many_errors_drawn_studies_have_the_power_of_noncentral_chi_square():
    labels = bl.Predicted(accuracy=0.8, prior=0.4)
    many = bl.plan(effect=0.004, alpha=0.01, dof=2, rows=5000, labeled=1500, labels=labels)
    wanted = stats.ncx2.sf(stats.chi2.isf(0.01, 2), 2, many.noncentrality)
    assert many.drawn_power == pytest.approx(wanted, abs=4 * 0.009)  # the studies have 0.005, the law 0.007
    assert f"Of 10,000 studies that were drawn so, {many.drawn_power:.2f} found it." in str(many)
    assert bl.plan(effect=0.01, power=0.9, labels="mcar", labeled=0.5).drawn_power is None


@pytest.mark.slow
def test_with_few_errors_drawn_studies_have_the_power_of_the_test():
    labels = bl.Predicted(accuracy=0.95, prior=0.5)
    few = bl.plan(effect=0.0194, alpha=0.01, dof=4, rows=2000, labeled=100, labels=labels)
    rng, found, line = np.random.default_rng(5), 0, np.linspace(-1, 1, 5)

    def nats(slope):
        return np.log(2) - special.entr([0.5 - slope * line, 0.5 + slope * line]).sum() / 5

    slope = optimize.brentq(lambda s: nats(s) - 0.0194, 0, 0.4)
    for _ in range(1000):
        x = rng.integers(0, 5, 2000)
        y = (rng.random(2000) < 0.5 + slope * line[x]).astype(np.int16)
        said = np.where(rng.random(2000) < 0.05, 1 - y, y).astype(float)
        scores = machine_scores(np.where(np.arange(2000) < 100, y, -1).astype(np.int16), said)
        found += scores.test(scores.sums(x, np.zeros_like(x), np.ones(2000, bool)))[2] <= np.log(0.01)
    # 1,000 studies have a standard error of 0.015, drawn ones 0.01; noncentral chi-square promises 0.1 too little.
    assert few.drawn_power == pytest.approx(found / 1000, abs=3 * 0.018)
    assert few.power < found / 1000 - 0.05


def test_a_plan_with_propensities_takes_their_harmonic_mean():
    rng = np.random.default_rng(0)
    chance = rng.uniform(0.1, 0.9, 400_000)
    labeled = (rng.random(len(chance)) < 0.3) & (rng.random(len(chance)) < chance)
    planned = bl.kappa(labels="pu", prior=0.3, labeled=0.3 * float(stats.hmean(chance)))
    assert planned == pytest.approx(weighted_scores(labeled, chance).kappa(), rel=0.03)
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
