"""Size, power and recovery of blankets with the default test, in every label regime.

The rate of an event among R independent draws has the standard error √(p(1-p)/R); bands are four of these wide, plus
what is said next to them. (Coverage of intervals in every regime: test_partial_labels.py.)
"""

import math

import numpy as np
import pytest
from scipy.stats import binom, norm

import blankets as bl
from blankets.independence import scored_sums
from blankets.stats import attained_power, noncentrality, weighted_powers
from blankets.study import independence_tests
from studies import study_of

PRIOR = 0.3
KNOWN = {
    "supervised": {},
    "pu": {"labels": "pu", "prior": PRIOR},
    "mcar": {"labels": "mcar"},
    "mar-c": {"labels": "mar-c", "prior": PRIOR},
    "mar-f": {"labels": "mar-f"},
    "noisy": {"labels": bl.Noisy(0.05, 0.1)},
    "driven": {"labels": bl.PositiveUnlabeled(drivers=["ward"])},
    "weighted": {"labels": bl.PositiveUnlabeled(propensity="chance")},
    "predicted": {"labels": bl.Predicted("said")},
}
DRAWN = ("weighted", "predicted")  # tables are drawn for each test, which takes longer
ALGORITHMS = ("inter-iamb", "pcmb", "hiton-mb")


def labels_of(regime, y, ward, rng):
    """Hide labels by the mechanism of a regime, or make some wrong; return them and the columns beside them."""
    chance = np.where(ward == 1, 0.8, 0.4)
    rate = {
        "supervised": 1.0,
        "pu": 0.6 * y,
        "mcar": 0.5,
        "mar-c": np.where(y == 1, 0.7, 0.4),
        "mar-f": np.where(ward == 1, 0.7, 0.3),
        "noisy": 1.0,
        "driven": chance * y,
        "weighted": chance * y,
        "predicted": 0.5,
    }[regime]
    beside = {}
    if regime == "noisy":
        y = np.where(rng.random(len(y)) < np.where(y == 1, 0.1, 0.05), 1 - y, y)
    if regime == "weighted":
        beside["chance"] = chance
    if regime == "predicted":  # the machine errs more often in one ward
        beside["said"] = np.where(rng.random(len(y)) < np.where(ward == 1, 0.2, 0.05), 1 - y, y)
    return np.where(rng.random(len(y)) < rate, y, np.nan), beside


def scan(regime, columns, y, ward, rng, *, reliability=5.0, level=None):
    """Test all columns against the target, given the ward; return the batch, the study and its surrogate."""
    frame = {**{f"x{j}": column for j, column in enumerate(columns)}, "ward": ward}
    seen, beside = labels_of(regime, y, ward, rng)
    test = bl.Testing(reliability=reliability)
    study = study_of({**frame, **beside, "y": seen}, "y", test=test, **KNOWN[regime])
    column = study.stand_in()
    tests = independence_tests(study, column, level=level)
    return tests.scan(range(len(columns)), study.target, [study.index("ward")]), study, column


def band(rate, n_draws):
    return 4 * math.sqrt(rate * (1 - rate) / n_draws)


def check_size(regime, n_draws, alpha):
    # 3 levels, the rarest with 5% of about 75 to 150 rows in two strata: about one expected count in ten is above 5.
    rng = np.random.default_rng([len(regime), n_draws])
    n = 600 if regime == "weighted" else 150  # of 150 rows 27 are labeled there, and nothing is tested
    p = []
    while len(p) * 100 < n_draws:
        y = rng.permutation(np.arange(n) < PRIOR * n).astype(int)  # more positives would contradict the prior
        ward = rng.integers(0, 2, n)
        columns = rng.choice(3, (100, n), p=[0.75, 0.2, 0.05])
        batch = scan(regime, columns, y, ward, rng, reliability=0, level=alpha)[0]
        assert batch.reliable.mean() > 0.9  # with machine labels all levels are rare now and then
        p.append(np.exp(batch.log_p[batch.reliable]))
    p = np.concatenate(p)
    rejected, beyond = np.count_nonzero(p <= alpha), norm.sf(4)
    assert binom.cdf(rejected, len(p), 0.8 * alpha) > beyond
    assert binom.sf(rejected - 1, len(p), 1.2 * alpha) > beyond


def test_where_all_levels_are_rare_nothing_is_said():
    # Of 150 rows 27 are labeled, in two strata and three levels: no two cells have ten labels on average.
    rng = np.random.default_rng(3)
    y, ward = (rng.random(150) < PRIOR).astype(int), rng.integers(0, 2, 150)
    seen, beside = labels_of("weighted", y, ward, rng)
    table = {"x": rng.choice(3, 150, p=[0.75, 0.2, 0.05]), "ward": ward, **beside, "y": seen}
    told = bl.test(table, "x", "y", ["ward"], **KNOWN["weighted"])
    assert not told.reliable
    assert "not tested, 150 rows are too few" in str(told)
    assert "power" not in str(told).lower()


@pytest.mark.parametrize("regime", KNOWN)
def test_size_of_the_default_test(regime):
    check_size(regime, 300 if regime in DRAWN else 2000, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.05, 0.01])
@pytest.mark.parametrize("regime", KNOWN)
def test_size_of_the_default_test_closely(regime, alpha):
    check_size(regime, 40_000, alpha)


def check_power(regime, n_draws, effect_rows):
    """The share of rejections is what noncentral chi-square says with κ of the regime, or within the range promised."""
    rng = np.random.default_rng([len(regime), n_draws, 1])
    alpha, shift = 0.01, 0.14
    rejected, least, greatest = [], [], []
    p_x = np.array([[0.5, 0.3, 0.2], [0.5 - shift, 0.3, 0.2 + shift]])  # given y
    joint = p_x * np.array([[1 - PRIOR], [PRIOR]])
    information = float((joint * np.log(p_x / joint.sum(axis=0))).sum())
    while len(rejected) * 100 < n_draws:
        y, ward = (rng.random(effect_rows) < PRIOR).astype(int), rng.integers(0, 2, effect_rows)
        columns = (rng.random((100, effect_rows, 1)) > np.cumsum(p_x, axis=1)[y][:, :2]).sum(axis=2)
        batch, study, column = scan(regime, columns, y, ward, rng, level=alpha)
        rejected.append(batch.dependent(alpha))
        if regime == "weighted":  # the power depends on which levels the effect is in, so that a range is promised
            scores = study.labels.scores
            sums = scores.merged(scored_sums(study.frame, scores, 0, [study.index("ward")])[0])
            ends = weighted_powers(sums, information, alpha)
        else:
            if column is None or regime in DRAWN:
                n, kappa = effect_rows, study.regime.kappa(study.labels).value
            elif column.rows is not None:  # labeled rows alone: those are what the test has
                n, kappa = column.n_rows, 1.0
            else:
                n, kappa = effect_rows, study.regime.kappa(study.labels, column.surrogate).value
            ends = (attained_power(noncentrality(information, n, kappa), batch.dof[0], alpha),) * 2
        least.append(ends[0])
        greatest.append(ends[1])
    low, high = float(np.mean(least)), float(np.mean(greatest))
    assert 0.1 < low < high + 1e-9 < 0.97  # neither hopeless nor certain
    # κ is the limit of weak effects (errata B2): 0.03 for that.
    assert low - band(low, n_draws) - 0.03 <= np.mean(rejected) <= high + band(high, n_draws) + 0.03


WITH_KAPPA = [regime for regime in KNOWN if regime != "driven"]


@pytest.mark.parametrize("regime", WITH_KAPPA)
def test_power_of_the_default_test(regime):
    check_power(regime, 200 if regime in DRAWN else 1000, 700)


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", [500, 700, 1000])
@pytest.mark.parametrize("regime", WITH_KAPPA)
def test_power_of_the_default_test_closely(regime, n_rows):
    check_power(regime, 10_000, n_rows)


def family(rng, n):
    """Two children of the target, the other parent of one of them, noise, and a ward on which labeling may depend."""
    y, spouse, ward = (rng.random(n) < PRIOR).astype(int), rng.integers(0, 2, n), rng.integers(0, 2, n)
    child = (rng.random(n) < np.where(y == 1, 0.75, 0.15)).astype(int)
    shared = (rng.random(n) < np.array([[0.1, 0.5], [0.9, 0.3]])[y, spouse]).astype(int)
    noise = {f"noise {j}": rng.choice(3, n, p=[0.7, 0.25, 0.05]) for j in range(8)}
    return y, ward, {"child": child, "shared": shared, "spouse": spouse, "ward": ward, **noise}


def check_recovery(regime, algorithm, n_draws):
    rng = np.random.default_rng([len(regime), len(algorithm)])
    alpha, n_outside = 0.01, 9
    missed, false = [], 0
    for _ in range(n_draws):
        y, ward, columns = family(rng, 3000)
        seen, beside = labels_of(regime, y, ward, rng)
        table = {**columns, **beside, "y": seen}
        members = set(bl.discover(table, "y", algorithm=algorithm, alpha=alpha, **KNOWN[regime]).members)
        missed += sorted({"child", "shared", "spouse"} - members)
        false += len(members - {"child", "shared", "spouse"})
    # Some algorithms find a spouse through the neighbors of the child, where y, partly hidden, tells less: now and
    # then one is lost. 5% was chosen after two in sixty had been seen.
    assert set(missed) <= {"spouse"}
    assert len(missed) <= 0.05 * n_draws
    # Every column outside enters with probability alpha at most, up to 1.2 of it by the size of the test.
    chance = 1.2 * alpha * n_outside * n_draws
    assert false <= chance + 4 * math.sqrt(chance)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("regime", [regime for regime in KNOWN if regime not in DRAWN])
def test_the_blanket_is_recovered(regime, algorithm):
    check_recovery(regime, algorithm, 6)


@pytest.mark.parametrize("regime", DRAWN)
def test_the_blanket_is_recovered_with_drawn_tables(regime):
    check_recovery(regime, "inter-iamb", 2)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", [*ALGORITHMS, "iamb", "mmmb", "gs", "iamb-fdr"])
@pytest.mark.parametrize("regime", KNOWN)
def test_the_blanket_is_recovered_many_times(regime, algorithm):
    check_recovery(regime, algorithm, 60)
