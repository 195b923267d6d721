"""Estimators of information against sums written out cell by cell, and variances against finite differences."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import chndtr

from blankets.errors import DataError, ParameterError
from blankets.stats._estimate import noncentrality_at
from blankets.stats._information import information, miller_madow, plug_in
from blankets.stats._partial_labels import (
    mar_f_information,
    mcar_information,
    neg_information,
    pos_information,
    ss_information,
)

PRIOR = 0.35


def cells(table):
    return itertools.product(*(range(k) for k in table.shape))


def naive_information(q, loss):
    """I(X;Y|Z) of a joint distribution q[z, y, x], by the definition."""
    total = 0.0
    for z, y, x in cells(q):
        e = q[z, :, x].sum() * q[z, y].sum() / q[z].sum() if q[z].sum() > 0 else 0.0
        if loss == "squared" and e > 0:
            total += 0.5 * (q[z, y, x] - e) ** 2 / e
        elif loss == "log" and q[z, y, x] > 0:
            total += q[z, y, x] * math.log(q[z, y, x] / e)
    return total


def naive_mcar(n, _prior=None):
    total = 0.0
    for z, y, x in cells(n[:, :2]):
        p_xz, p_z = n[z, :, x].sum() / n.sum(), n[z].sum() / n.sum()
        p_y = n[z, y, x] / n[z, :2, x].sum()
        total += p_xz * p_y * math.log((n[z, y, x] / n[z, y].sum()) / (p_xz / p_z))
    return total


def naive_mar_f(n, _prior=None, loss="log"):
    q = np.zeros((n.shape[0], 2, n.shape[2]))
    for z, y, x in cells(q):
        q[z, y, x] = n[z, :, x].sum() / n.sum() * n[z, y, x] / n[z, :2, x].sum()
    return naive_information(q, loss)


def naive_ss(n, prior=PRIOR):
    total = 0.0
    for z, y, x in cells(n[:, :2]):
        p_y = prior if y == 1 else 1 - prior
        r_xz, r_z = n[z, y, x] / n[:, y].sum(), n[z, y].sum() / n[:, y].sum()
        total += p_y * r_xz * math.log((r_xz / r_z) / (n[z, :, x].sum() / n[z].sum()))
    return total


def naive_pos(n, prior=PRIOR, loss="log", background=(0, 1, 2)):
    q = np.zeros((n.shape[0], 2, n.shape[2]))
    everyone = n[:, list(background)].sum(axis=1) / n[:, list(background)].sum()
    for z, _, x in cells(q):
        q[z, 1, x] = prior * n[z, 1, x] / n[:, 1].sum()
        q[z, 0, x] = everyone[z, x] - q[z, 1, x]
    return naive_information(q, loss)


def naive_neg(n, prior=PRIOR, loss="log"):
    return naive_pos(n[:, [1, 0, 2]], 1 - prior, loss)


def finite_difference_variance(estimator, n):
    """Σ n (∂T/∂n)², the delta method for a multinomial when T depends on proportions alone."""
    total = 0.0
    for cell in cells(n):
        step = 1e-4 * max(n[cell], 1.0)
        up, down = n.copy(), n.copy()
        up[cell] += step
        down[cell] -= step
        total += n[cell] * ((estimator(up) - estimator(down)) / (2 * step)) ** 2
    return total


ESTIMATORS = {
    "mcar": (mcar_information, naive_mcar),
    "mar-f": (mar_f_information, naive_mar_f),
    "mar-f squared": (lambda n: mar_f_information(n, loss="squared"), lambda n: naive_mar_f(n, loss="squared")),
    "ss": (lambda n: ss_information(n, PRIOR), naive_ss),
    "pos": (lambda n: pos_information(n, PRIOR), naive_pos),
    "pos squared": (lambda n: pos_information(n, PRIOR, loss="squared"), lambda n: naive_pos(n, loss="squared")),
    "neg": (lambda n: neg_information(n, PRIOR), naive_neg),
    "neg squared": (lambda n: neg_information(n, PRIOR, loss="squared"), lambda n: naive_neg(n, loss="squared")),
    "case-control": (
        lambda n: pos_information(n, PRIOR, sampling="case-control"),
        lambda n: naive_pos(n, background=(2,)),
    ),
}


def label_table(rng, strata, levels, case_control=False):
    """Counts of a random label table without empty labeled cells, all of whose implied cells are positive."""
    while True:
        n = rng.integers(4, 40, size=(strata, 3, levels)).astype(float)
        n[:, 2] += rng.integers(200, 400, size=(strata, levels))
        if case_control:
            n[:, 0] = 0.0
        everyone = n[:, 2] / n[:, 2].sum() if case_control else n.sum(axis=1) / n.sum()
        shares = [(PRIOR, n[:, 1])] + ([] if case_control else [(1 - PRIOR, n[:, 0])])
        if all((everyone - share * part / part.sum()).min() > 0.01 for share, part in shares):
            return n


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize(("strata", "levels"), [(1, 2), (1, 4), (2, 3)])
def test_estimators_against_sums_and_finite_differences(name, strata, levels):
    estimator, naive = ESTIMATORS[name]
    rng = np.random.default_rng(levels * 10 + strata)
    tables = np.array([label_table(rng, strata, levels, name == "case-control") for _ in range(4)])
    batch = estimator(tables)
    assert batch.value.shape == (4,)
    for i, n in enumerate(tables):
        assert batch.value[i] == pytest.approx(naive(n), rel=1e-10)
        assert batch.variance[i] == pytest.approx(finite_difference_variance(naive, n), rel=1e-5)
        assert estimator(n).value == batch.value[i]
    assert not batch.repaired.any()
    assert not batch.contradicts_prior.any()


@pytest.mark.parametrize("loss", ["log", "squared"])
@pytest.mark.parametrize("shape", [(1, 2, 2), (1, 3, 4), (3, 2, 3)])
def test_plug_in_against_sums_and_finite_differences(loss, shape):
    rng = np.random.default_rng(1)
    tables = rng.integers(3, 60, size=(5, *shape)).astype(float)
    batch = plug_in(tables, loss=loss)
    for i, n in enumerate(tables):
        naive = lambda n: naive_information(n / n.sum(), loss)  # noqa: E731
        assert batch.value[i] == pytest.approx(naive(n), rel=1e-10)
        assert batch.variance[i] == pytest.approx(finite_difference_variance(naive, n), rel=1e-5)


def test_plug_in_is_g_and_x2_of_scipy():
    table = np.array([[30, 10, 5], [20, 40, 9]])
    for loss, power in (("log", "log-likelihood"), ("squared", "pearson")):
        expected = stats.chi2_contingency(table, correction=False, lambda_=power)
        estimate = plug_in(table, loss=loss)
        assert 2 * table.sum() * estimate.value == pytest.approx(expected.statistic, rel=1e-12)
        assert estimate.statistic == pytest.approx(expected.statistic, rel=1e-12)
        assert estimate.dof == expected.dof
        assert estimate.p_value == pytest.approx(expected.pvalue, rel=1e-9)


def test_variance_of_pos_is_the_printed_one_of_theorem_5_4():
    n = label_table(np.random.default_rng(5), 1, 4)
    total, labeled = n.sum(), n[0, 1]
    p, a = n[0].sum(axis=0) / total, labeled.sum() / total
    r = labeled / labeled.sum()
    log_rest = np.log((p - r * PRIOR) / p)
    log_odds = np.log((p - r * PRIOR) / (r * PRIOR))
    phi_0 = log_rest
    phi_1 = np.array([log_rest[x] + PRIOR / a * sum((r - (np.arange(4) == x)) * log_odds) for x in range(4)])
    weight_1, weight_0 = labeled / total, p - labeled / total
    variance = sum(weight_1 * phi_1**2 + weight_0 * phi_0**2) - sum(weight_1 * phi_1 + weight_0 * phi_0) ** 2
    assert pos_information(n, PRIOR).variance == pytest.approx(variance / total, rel=1e-10)


def test_squared_loss_pos_is_the_surrogate_over_kappa():
    n = label_table(np.random.default_rng(6), 1, 4)
    surrogate = np.stack([n[:, 0] + n[:, 2], n[:, 1]], axis=1)
    a = n[:, 1].sum() / n.sum()
    kappa = (1 - PRIOR) / PRIOR * a / (1 - a)
    expected = plug_in(surrogate, loss="squared").value / kappa
    assert pos_information(n, PRIOR, loss="squared").value == pytest.approx(expected, rel=1e-12)


def test_scale_near_independence_is_that_of_kappa():
    n = label_table(np.random.default_rng(7), 1, 4)
    a, total = n[:, 1].sum() / n.sum(), n.sum()
    kappa = (1 - PRIOR) / PRIOR * a / (1 - a)
    estimate = pos_information(n, PRIOR)
    assert estimate.scale == pytest.approx(1 / (2 * total * kappa), rel=1e-12)
    assert estimate.dof == pytest.approx(3, rel=1e-12)


def test_with_all_rows_labeled_every_estimator_is_the_plug_in():
    rng = np.random.default_rng(8)
    n = np.zeros((2, 3, 3))
    n[:, :2] = rng.integers(10, 50, size=(2, 2, 3))
    prior = n[:, 1].sum() / n.sum()
    expected = plug_in(n[:, :2])
    for estimate in (
        mcar_information(n),
        mar_f_information(n),
        ss_information(n, prior),
        pos_information(n, prior),
        neg_information(n, prior),
    ):
        assert estimate.value == pytest.approx(float(expected.value), rel=1e-10)
    assert mcar_information(n).variance == pytest.approx(float(expected.variance), rel=1e-10)
    assert mar_f_information(n).variance == pytest.approx(float(expected.variance), rel=1e-10)


def test_negative_implied_cells_are_clipped_renormalized_and_flagged():
    n = np.array([[0, 0, 0], [2, 30, 8], [98, 20, 42]], float)
    prior = 0.4  # 0.4 · 30/40 = 0.3 of the rows would be positive at level 1, where 50/200 are
    estimate = pos_information(n, prior)
    r, p = n[1] / n[1].sum(), n.sum(axis=0) / n.sum()
    rest = np.maximum(p - prior * r, 0)
    q = np.stack([rest * (1 - prior) / rest.sum(), prior * r])[np.newaxis]
    assert estimate.repaired
    assert estimate.value == pytest.approx(naive_information(q, "log"), rel=1e-12)
    assert np.isnan(estimate.variance)
    assert np.isnan(estimate.interval(0.9, "normal")[1])
    low, high = estimate.interval(0.9)
    assert 0 < low < estimate.value < high
    assert not estimate.contradicts_prior  # 200 rows are too few to say so ...
    assert pos_information(n * 100, prior).contradicts_prior  # ... 20,000 are not


def test_levels_without_a_label():
    n = np.array([[20, 0, 30], [15, 0, 10], [50, 40, 60]], float)
    everyone = n.sum(axis=0) / n.sum()
    t = n[:2] / np.maximum(n[:2].sum(axis=0), 1)
    kept = np.where(n[:2].sum(axis=0) > 0, everyone, 0)
    q = (kept / kept.sum() * t)[np.newaxis]
    assert mar_f_information(n).value == pytest.approx(naive_information(q, "log"), rel=1e-12)
    printed = sum(everyone[x] * t[y, x] * math.log(n[y, x] / n[y].sum() / everyone[x]) for y in (0, 1) for x in (0, 2))
    assert mcar_information(n).value == pytest.approx(printed, rel=1e-12)
    assert mcar_information(n).repaired
    assert mar_f_information(n).repaired
    assert not ss_information(n, 0.3).repaired  # harmless there: its term is 0


def test_a_level_never_seen_among_positives_is_harmless():
    n = np.array([[0, 0, 0], [12, 0, 28], [150, 90, 160]], float)
    r, p = n[1] / n[1].sum(), n.sum(axis=0) / n.sum()
    q = np.stack([p - 0.2 * r, 0.2 * r])[np.newaxis]
    estimate = pos_information(n, 0.2)
    assert estimate.value == pytest.approx(naive_information(q, "log"), rel=1e-12)
    assert np.isfinite(estimate.variance)
    assert not estimate.repaired


def test_one_prior_for_each_table_and_many_priors_for_all():
    rng = np.random.default_rng(9)
    tables = np.array([label_table(rng, 1, 3) for _ in range(3)])
    priors = np.array([0.2, 0.3, 0.35])
    each = pos_information(tables, priors)
    grid = pos_information(tables, priors[:, np.newaxis])
    assert grid.value.shape == grid.variance.shape == (3, 3)
    np.testing.assert_allclose(np.diag(grid.value), each.value, rtol=1e-12)
    np.testing.assert_allclose(np.diag(grid.variance), each.variance, rtol=1e-12)
    assert ss_information(tables, priors[:, np.newaxis]).interval(0.9)[0].shape == (3, 3)


def test_no_labels_no_estimate():
    n = np.array([[0, 0], [0, 0], [10, 20]], float)
    for estimate in (mcar_information(n), mar_f_information(n), ss_information(n, 0.2), pos_information(n, 0.2)):
        assert np.isnan(estimate.value)
    assert np.isnan(plug_in(np.zeros((2, 2))).value)
    one_class = np.array([[0, 0], [3, 4], [10, 20]], float)
    assert np.isnan(ss_information(one_class, 0.2).value)


def test_miller_madow():
    table = np.array([[[7, 3, 0], [0, 4, 0]], [[1, 5, 2], [2, 2, 2]]], float)
    n = table.sum()
    bias = (3 - 1) * (2 - 1) * 2 / (2 * n)
    corrected = miller_madow(table)
    assert corrected.value == pytest.approx(naive_information(table / n, "log") - bias, rel=1e-10)
    assert corrected.bias == pytest.approx(bias)


def test_pair_of_features_is_one_variable_of_joint_levels():
    rng = np.random.default_rng(3)
    rows = rng.integers(0, [2, 3, 2], size=(400, 3))  # x1, x2, y
    counts = np.zeros((1, 2, 2, 3))
    for x1, x2, y in rows:
        counts[0, y, x1, x2] += 1
    joint = {}
    for x1, x2, y in rows:
        joint[y, (x1, x2)] = joint.get((y, (x1, x2)), 0) + 1 / 400
    p_y = {y: sum(v for (yy, _), v in joint.items() if yy == y) for y in (0, 1)}
    p_x = {x: sum(v for (_, xx), v in joint.items() if xx == x) for _, x in joint}
    expected = sum(v * math.log(v / (p_y[y] * p_x[x])) for (y, x), v in joint.items())
    assert plug_in(counts.reshape(1, 2, -1)).value == pytest.approx(expected, rel=1e-10)


def test_information_of_independence_is_zero():
    p = np.outer([0.3, 0.7], [0.2, 0.5, 0.3])[np.newaxis]
    assert information(p) == pytest.approx(0, abs=1e-16)
    assert information(p, "squared") == pytest.approx(0, abs=1e-16)


def test_noncentrality_inverts_the_distribution_function():
    rng = np.random.default_rng(0)
    statistic, dof = rng.gamma(2, 10, 500) * rng.choice([0.05, 1, 50], 500), rng.integers(1, 30, 500)
    for probability in (0.05, 0.95):
        found = noncentrality_at(statistic, dof, probability)
        at_zero = stats.chi2.cdf(statistic, dof) <= probability
        np.testing.assert_array_equal(found == 0, at_zero)
        inside = ~at_zero
        cdf = chndtr(statistic[inside], dof[inside], found[inside])
        np.testing.assert_allclose(cdf, probability, atol=1e-8)
        reference = stats.ncx2.cdf(statistic[inside][:20], dof[inside][:20], found[inside][:20])
        np.testing.assert_allclose(reference, probability, atol=1e-6)
    assert noncentrality_at(5.0, 0, 0.05) == 0
    assert np.isnan(noncentrality_at(np.nan, 2, 0.05))


def test_noncentral_interval_is_that_of_theorem_2_2():
    table = np.array([[30, 14], [20, 40]])
    estimate = plug_in(table)
    low, high = estimate.interval(0.9, "noncentral")
    g, n = float(estimate.statistic), table.sum()
    assert stats.ncx2.sf(g, 1, 2 * n * low) == pytest.approx(0.05, abs=1e-8)
    assert stats.ncx2.cdf(g, 1, 2 * n * high) == pytest.approx(0.05, abs=1e-8)


def test_interval_ends_at_zero_where_independence_is_no_surprise():  # errata D8
    nearly_independent = plug_in([[25, 26], [25, 24]])
    low, high = nearly_independent.interval(0.9)
    assert low == 0
    assert high > nearly_independent.value
    exactly = plug_in([[25, 25], [25, 25]])
    assert exactly.interval(0.9) == (0, 0)


@pytest.mark.compiled
@pytest.mark.parametrize(("shift", "wanted"), [(0.0, 0.95), (0.03, 0.9)])
def test_intervals_cover_on_one_side_only_where_there_is_no_effect(shift, wanted):
    """Methods (4.15): the upper end cannot miss 0."""
    joint = np.outer([0.7, 0.3], np.full(3, 1 / 3)) + shift * np.outer([1, -1], [1, 0, -1])
    tables = np.random.default_rng(4).multinomial(2000, joint.ravel(), 20_000).reshape(-1, 1, 2, 3)
    truth = naive_information(joint[np.newaxis], "log") if shift else 0.0
    low, high = plug_in(tables).interval(0.9)
    covered = np.mean((low <= truth) & (truth <= high))
    assert covered == pytest.approx(wanted, abs=4 * np.sqrt(wanted * (1 - wanted) / 20_000))


def test_normal_interval_and_the_rule_that_chooses():
    strong = plug_in(np.array([[400, 100], [100, 400]]) * 100)
    half = 1.6448536269514722 * math.sqrt(strong.variance)
    low, high = strong.interval(0.9, "normal")
    assert (low, high) == (pytest.approx(float(strong.value) - half), pytest.approx(float(strong.value) + half))
    assert strong.law() == "normal"
    assert strong.interval(0.9) == (low, high)
    middling = plug_in([[40, 10], [10, 40]])
    assert middling.law() == "matched"
    assert middling.interval(0.9) == middling.interval(0.9, "matched")
    # Far from independence matched and normal agree: 1% of the width at 50 standard errors.
    matched = strong.interval(0.9, "matched")
    assert matched[0] == pytest.approx(float(low), abs=0.02 * half)
    assert matched[1] == pytest.approx(float(high), abs=0.02 * half)


@pytest.mark.parametrize("table", [[[40, 10], [10, 40]], [[26, 24], [20, 30]], [[60, 30, 2], [10, 20, 9]]])
def test_matched_limits_have_the_law_at_themselves(table):
    estimate = plug_in(table)
    n, value, dof = np.sum(table), float(estimate.value), float(estimate.dof)
    first, last = 0.5 / n, float(estimate.variance) / (4 * value)
    for limit, p in zip(estimate.interval(0.9, "matched"), (0.95, 0.05), strict=True):
        c = first + (last - first) * min(float(limit) / value, 1)
        reached = stats.ncx2.cdf(value / c, first * dof / c, float(limit) / c)
        assert reached == pytest.approx(p, abs=1e-5) or (limit == 0 and reached < p)


def test_limits_of_many_tables_are_those_of_each():
    rng = np.random.default_rng(4)
    tables = rng.multinomial(150, rng.dirichlet(np.ones(6)), 40).reshape(40, 1, 2, 3)
    low, high = plug_in(tables).interval(0.9)
    each = [plug_in(table).interval(0.9) for table in tables]
    np.testing.assert_allclose(np.column_stack([low, high]), np.array(each, float), rtol=1e-6)
    assert (low <= high).all()


@pytest.mark.parametrize("n_strata", [1, 2])
def test_laws_near_independence_have_the_mean_and_variance_of_a_simulation(n_strata):
    # Labels by x, and by class: sums of chi-squares with weights, methods (4.11) and (4.12).
    rng = np.random.default_rng(5)
    x, z = rng.dirichlet(np.full(4, 6.0), n_strata), rng.dirichlet(np.full(n_strata, 6.0))
    cells = np.stack([0.6 * x, 0.4 * x], axis=1) * z[:, None, None]
    by_x, by_class = np.array([0.1, 0.3, 0.5, 0.7]), np.array([[0.1], [0.5]])
    for share, estimator in ((by_x, mar_f_information), (by_class, lambda t: ss_information(t, 0.4))):
        p = np.concatenate([cells * share, (cells * (1 - share)).sum(axis=1, keepdims=True)], axis=1)
        found = estimator(rng.multinomial(20_000, p.ravel(), 4000).reshape(4000, *p.shape))
        c, dof = np.median(found.scale), np.median(found.dof)
        spread = 4 / math.sqrt(4000)  # of a mean and of a variance, in standard errors of a few
        assert found.value.mean() == pytest.approx(c * dof, rel=spread)
        assert found.value.var() == pytest.approx(2 * c * c * dof, rel=3 * spread)


def _labeled_by_level(x, positive, labeled):
    """Return p(label, x), shape (3, levels), and the information."""
    cells = np.array(x) * np.stack([1 - np.array(positive), np.array(positive)])
    margin = np.outer(cells.sum(axis=1), cells.sum(axis=0))
    p = np.concatenate([cells * labeled, (cells * (1 - np.array(labeled))).sum(axis=0, keepdims=True)])
    return p, float((cells * np.log(cells / margin)).sum())


def test_mar_f_intervals_cover_where_the_level_with_the_effect_has_few_labels():
    # Six of 30 rows are labeled. With scales on the straight line 0.83 to 0.84 of them covered.
    p, true = _labeled_by_level([0.1, 0.45, 0.45], [0.75, 0.33, 0.33], [0.2, 0.6, 0.6])
    tables = np.random.default_rng(6).multinomial(300, p.ravel(), 2000).reshape(2000, 1, 3, 3)
    low, high = mar_f_information(tables).interval(0.9)
    assert 0.86 < ((low <= true) & (true <= high)).mean() < 0.93


def test_intervals_cover_where_a_table_looks_determined_by_chance():
    # Two levels, 200 rows, labels by x: with the scale of the estimate for both limits 0.70 of them cover.
    rng = np.random.default_rng(6)
    p, true = _labeled_by_level([0.2, 0.8], [0.9, 0.3], [0.2, 0.7])
    tables = rng.multinomial(200, p.ravel(), 1500).reshape(1500, 1, 3, 2)
    low, high = mar_f_information(tables).interval(0.9)
    held = ((low <= true) & (true <= high)).mean()
    assert 0.87 < held < 0.95


def test_bias_correction_moves_the_value_and_keeps_the_law():
    table = np.array([[30, 14, 6], [20, 40, 9]])
    raw, corrected = plug_in(table), miller_madow(table)
    assert corrected.value == pytest.approx(float(raw.value) - 2 / (2 * table.sum()))
    np.testing.assert_allclose(corrected.interval(0.9), raw.interval(0.9), rtol=1e-12)
    assert corrected.estimator == "Miller–Madow"


def test_refusals():
    n = np.ones((1, 3, 2))
    with pytest.raises(ParameterError, match="'prior' must be a probability between 0 and 1"):
        pos_information(n, 1.0)
    with pytest.raises(ParameterError, match="unknown sampling 'two-sample'"):
        pos_information(n, 0.5, sampling="two-sample")
    with pytest.raises(ParameterError, match="unknown loss 'square'; did you mean 'squared'"):
        plug_in([[1, 2], [3, 4]], loss="square")
    with pytest.raises(ParameterError, match="unknown kind of interval 'exact'"):
        plug_in([[1, 2], [3, 4]]).interval(0.9, "exact")
    with pytest.raises(ParameterError, match="'level' must be between 0 and 1"):
        plug_in([[1, 2], [3, 4]]).interval(1.5)
    with pytest.raises(DataError, match=r"with 3 levels of y \(negative, positive, unlabeled\), but these have shape"):
        mcar_information([[1, 2], [3, 4]])
    with pytest.raises(DataError, match="with at least two levels of y"):
        plug_in([[1, 2]])


def test_three_axes_are_the_strata_of_one_table_and_many_tables_have_four():
    counts = np.random.default_rng(8).integers(1, 30, (4, 2, 3)).astype(float)
    assert plug_in(counts).value == pytest.approx(naive_information(counts / counts.sum(), "log"))
    each = [naive_information(table[np.newaxis] / table.sum(), "log") for table in counts]
    np.testing.assert_allclose(plug_in(counts[:, np.newaxis]).value, each)
    assert miller_madow(counts).value.shape == ()


@pytest.mark.parametrize("wrong", [5.0, [1.0, 2.0], [[1, 2], [3]], [["a", "b"], ["c", "d"]], np.ones((2, 0)), None])
def test_what_is_no_table_is_refused_with_the_axes(wrong):
    axes = r"\(levels of y, levels of x\), \(strata, .*\), or \(tables, strata, .*\) where they are many"
    for estimate in (plug_in, miller_madow, mcar_information):
        with pytest.raises(DataError, match=f"count tables have axes {axes}, with .* levels of y.*, but these"):
            estimate(wrong)
