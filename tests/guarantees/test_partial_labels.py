"""Calibration under partial labels, by simulation of multinomial label tables.

A rate estimated from R draws has standard error √(p(1-p)/R); bands are four of these wide, plus what the
chi-square approximation itself is known to be off by.
"""

import numpy as np
import pytest
from scipy import stats
from scipy.special import xlogy

from blankets.regimes import Surrogate, collapse, kappa_case_control, kappa_of, stratified_kappa
from blankets.stats._information import plug_in
from blankets.stats._partial_labels import (
    mar_f_information,
    mcar_information,
    neg_information,
    pos_information,
    ss_information,
)

N_DRAWS = 8_000
ALPHAS = np.array([0.01, 0.05, 0.1])
ALL_FOUR = (Surrogate.LISTWISE, Surrogate.YM, Surrogate.Y0, Surrogate.Y1)


def mutual_information(joint):
    return float(
        xlogy(joint, joint).sum()
        - xlogy(joint.sum(axis=0), joint.sum(axis=0)).sum()
        - xlogy(joint.sum(axis=1), joint.sum(axis=1)).sum()
    )


def joint_with_information(information, levels, prior, rng):
    """p(y, x) of a random feature with the wanted mutual information."""
    while True:
        base, other = rng.dirichlet(np.full(levels, 2.0), size=2)

        def joint(t, base=base, other=other):
            return np.stack([(1 - prior) * base, prior * ((1 - t) * base + t * other)])

        if mutual_information(joint(1.0)) < information:
            continue
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if mutual_information(joint(middle)) < information else (low, middle)
        if joint(low).sum(axis=0).min() > 0.02:
            return joint(low)


def labels_of(joint, rate):
    """p(..., label, x) from p(..., y, x) and p(s=1 | y, x), labels being negative, positive, unlabeled."""
    rate = np.broadcast_to(rate, joint.shape)
    return np.concatenate([rate * joint, ((1 - rate) * joint).sum(axis=-2, keepdims=True)], axis=-2)


def draw(p, n_rows, n_draws, rng):
    return rng.multinomial(n_rows, p.ravel(), size=n_draws).reshape(n_draws, *p.shape).astype(float)


def rejections(tables, dof, alphas=ALPHAS, loss="log"):
    statistic = plug_in(tables, loss=loss).statistic
    return (statistic[:, np.newaxis] >= stats.chi2.isf(alphas, dof)).mean(axis=0)


# ---------------------------------------------------------------- size

# X and Y independent given Z, both dependent on Z: p(z), p(y=1|z), p(x|z)
P_Z, PRIOR_Z = np.array([0.6, 0.4]), np.array([0.2, 0.5])
P_X_Z = np.array([[0.5, 0.3, 0.2], [0.25, 0.35, 0.4]])
MECHANISMS = {
    "mcar": (0.3, ALL_FOUR),
    "mar-f": (np.array([0.15, 0.3, 0.6]), (Surrogate.LISTWISE,)),
    "mar-c": (np.array([[0.15], [0.5]]), ALL_FOUR),
    "pu": (np.array([[0.0], [0.3]]), (Surrogate.Y0,)),
}


def independent(conditional):
    p_y = np.stack([1 - PRIOR_Z, PRIOR_Z], axis=1)
    if conditional:
        return P_Z[:, None, None] * p_y[:, :, None] * P_X_Z[:, None, :]
    return (np.outer(P_Z @ p_y, P_Z @ P_X_Z))[np.newaxis]


@pytest.mark.parametrize("conditional", [False, True], ids=["unconditional", "conditional"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_size_of_valid_surrogates(mechanism, conditional):
    check_size(mechanism, conditional, n_draws=8_000, n_rows=4_000)


def check_size(mechanism, conditional, n_draws, n_rows):
    rate, valid = MECHANISMS[mechanism]
    rng = np.random.default_rng(11)
    tables = draw(labels_of(independent(conditional), rate), n_rows, n_draws, rng)
    band = 4 * np.sqrt(ALPHAS * (1 - ALPHAS) / n_draws) + 0.02 * ALPHAS
    for surrogate in valid:
        dof = (2 if conditional else 1) * 2 * (2 if surrogate is Surrogate.YM else 1)
        for loss in ("log", "squared"):
            size = rejections(collapse(tables, surrogate), dof, loss=loss)
            assert np.all(np.abs(size - ALPHAS) < band), (surrogate, loss, size)


@pytest.mark.slow
@pytest.mark.parametrize("conditional", [False, True], ids=["unconditional", "conditional"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_size_of_valid_surrogates_closely(mechanism, conditional):
    check_size(mechanism, conditional, n_draws=200_000, n_rows=20_000)


def test_size_of_case_control_tests():
    rng = np.random.default_rng(12)
    p_x = np.array([0.5, 0.3, 0.2])
    positives, background = rng.multinomial(300, p_x, N_DRAWS), rng.multinomial(2000, p_x, N_DRAWS)
    size = rejections(np.stack([background, positives], axis=1)[:, np.newaxis].astype(float), 2)
    assert np.all(np.abs(size - ALPHAS) < 4 * np.sqrt(ALPHAS * (1 - ALPHAS) / N_DRAWS) + 0.02 * ALPHAS)


def test_invalid_surrogates_under_feature_dependent_labeling_reject_the_truth():
    tables = draw(
        labels_of(independent(conditional=False), MECHANISMS["mar-f"][0]), 4_000, 500, np.random.default_rng(13)
    )
    for surrogate in (Surrogate.YM, Surrogate.Y0, Surrogate.Y1):
        dof = 4 if surrogate is Surrogate.YM else 2
        assert rejections(collapse(tables, surrogate), dof)[1] > 0.9


# ---------------------------------------------------------------- power


def false_negatives(p, n_rows, n_draws, dof, rng, surrogate=None, alpha=0.1):
    tables = draw(p, round(n_rows), n_draws, rng)
    tables = tables if surrogate is None else collapse(tables, surrogate)
    return 1 - float(rejections(tables, dof, np.array([alpha]))[0])


@pytest.mark.parametrize(
    ("mechanism", "rate", "surrogate", "slack"),
    [
        ("mcar", 0.25, Surrogate.LISTWISE, 0.0),
        ("mcar", 0.25, Surrogate.Y0, 0.02),  # errata B2: κ is a limit for Ỹ0, and more slowly so for Ỹ1
        ("mar-c", np.array([[0.1], [0.25]]), Surrogate.Y0, 0.02),
        ("mar-c", np.array([[0.4], [0.1]]), Surrogate.Y1, 0.05),
        ("pu", np.array([[0.0], [0.25]]), Surrogate.Y0, 0.02),
    ],
)
def test_n_over_kappa_rows_restore_the_power_of_full_labels(mechanism, rate, surrogate, slack):
    rng = np.random.default_rng(14)
    prior, information = 0.2, 0.002
    for levels in (2, 4):
        joint = joint_with_information(information, levels, prior, rng)[np.newaxis]
        p = labels_of(joint, rate)
        b, a = p[0, :2].sum(axis=-1)
        kappa = float(kappa_of(surrogate, prior, positives=a, negatives=b))
        n_rows = 3 / information
        full = false_negatives(joint, n_rows, N_DRAWS, levels - 1, rng)
        assert 0.1 < full < 0.5
        restored = false_negatives(p, n_rows / kappa, N_DRAWS, levels - 1, rng, surrogate)
        poorer = false_negatives(p, n_rows, N_DRAWS, levels - 1, rng, surrogate)
        band = 4 * np.sqrt(2 * full * (1 - full) / N_DRAWS) + slack
        assert abs(restored - full) < band, (mechanism, levels, restored, full)
        assert poorer > full + 0.2


@pytest.mark.parametrize(
    ("rate", "surrogate"),
    [
        (0.25, Surrogate.Y1),  # labels by lot
        (np.array([[0.3], [0.1]]), Surrogate.Y1),  # mostly labels of the larger class
        (np.array([[0.1], [0.3]]), Surrogate.Y0),
        (np.array([[0.2], [0.3]]), Surrogate.LISTWISE),  # labeled rows, classes labeled at different rates
    ],
)
def test_kappa_is_the_limit_of_weak_effects_over_many_features(rate, surrogate):
    """Errata B2: a sweep over features, since a single one can pass or fail by luck."""
    rng = np.random.default_rng(19)
    prior, information = 0.2, 1e-4
    gaps = []
    for _ in range(8):
        joint = joint_with_information(information, 2, prior, rng)[np.newaxis]
        p = labels_of(joint, rate)
        b, a = p[0, :2].sum(axis=-1)
        kappa = float(kappa_of(surrogate, prior, positives=a, negatives=b))
        full = false_negatives(joint, 3 / information, N_DRAWS, 1, rng)
        gaps.append(false_negatives(p, 3 / information / kappa, N_DRAWS, 1, rng, surrogate) - full)
    assert np.abs(gaps).max() < 4 * np.sqrt(2 * 0.2 * 0.8 / N_DRAWS) + 0.01
    assert abs(np.mean(gaps)) < 4 * np.sqrt(2 * 0.2 * 0.8 / (8 * N_DRAWS)) + 0.01


def test_third_class_needs_more_than_kappa_says():
    """Errata B14: Ỹm keeps κ of the noncentrality, but has twice the degrees of freedom."""
    rng = np.random.default_rng(20)
    prior, information, share = 0.2, 0.002, 0.25
    joint = joint_with_information(information, 2, prior, rng)[np.newaxis]
    p = labels_of(joint, share)
    full = false_negatives(joint, 3 / information, N_DRAWS, 1, rng)
    third = false_negatives(p, 3 / information / share, N_DRAWS, 2, rng, Surrogate.YM)
    expected = stats.ncx2.cdf(stats.chi2.isf(0.1, 2), 2, 6) - stats.ncx2.cdf(stats.chi2.isf(0.1, 1), 1, 6)
    assert third - full == pytest.approx(expected, abs=4 * np.sqrt(2 * 0.3 * 0.7 / N_DRAWS) + 0.01)
    assert expected > 0.08


def test_case_control_kappa():
    rng = np.random.default_rng(15)
    prior, information, share = 0.3, 0.002, 0.2
    joint = joint_with_information(information, 3, prior, rng)
    kappa = float(kappa_case_control(share, prior))
    n_full = 3 / information
    full = false_negatives(joint[np.newaxis], n_full, N_DRAWS, 2, rng)
    n_rows = n_full / kappa
    positives = rng.multinomial(round(share * n_rows), joint[1] / prior, N_DRAWS)
    background = rng.multinomial(round((1 - share) * n_rows), joint.sum(axis=0), N_DRAWS)
    tables = np.stack([background, positives], axis=1)[:, np.newaxis].astype(float)
    restored = 1 - float(rejections(tables, 2, np.array([0.1]))[0])
    assert abs(restored - full) < 4 * np.sqrt(2 * full * (1 - full) / N_DRAWS) + 0.02


@pytest.mark.parametrize(
    ("p_z", "prior_z", "where", "seeds_fail_by"),
    [
        ((0.5, 0.5), (0.2, 0.2), (0, 1), None),
        ((0.8, 0.2), (0.025, 0.9), (1,), 0.5),
        ((0.8, 0.2), (0.025, 0.9), (0,), -0.03),
    ],
)
def test_conditional_tests_need_the_stratified_kappa(p_z, prior_z, where, seeds_fail_by):
    """Errata B4: at N/κ̄ rows the power of full labels returns; at N/κ, as the papers have it, it does not."""
    rng = np.random.default_rng(16)
    bump = np.array([0.06, -0.06])
    joint = np.array(
        [
            [w * (1 - p) * np.array([0.5, 0.5]), w * p * (np.array([0.5, 0.5]) + (bump if z in where else 0))]
            for z, (w, p) in enumerate(zip(p_z, prior_z, strict=True))
        ]
    )
    p = labels_of(joint, np.array([[0.0], [0.25]]))
    effect = sum(joint[z].sum() * mutual_information(joint[z] / joint[z].sum()) for z in (0, 1))
    threshold = stats.chi2.isf(0.1, 2)
    lam = float(np.interp(0.8, stats.ncx2.sf(threshold, 2, grid := np.linspace(1, 20, 2000)), grid))
    n_rows = lam / (2 * effect)
    kappa = stratified_kappa(p, Surrogate.Y0, 0.2)
    full = false_negatives(joint, n_rows, N_DRAWS, 2, rng)
    assert full == pytest.approx(0.2, abs=0.03)
    right = false_negatives(p, n_rows / float(kappa.value), N_DRAWS, 2, rng, Surrogate.Y0)
    assert abs(right - full) < 4 * np.sqrt(2 * full * (1 - full) / N_DRAWS) + 0.02
    seeds = false_negatives(p, n_rows / float(kappa.unconditional), N_DRAWS, 2, rng, Surrogate.Y0)
    if seeds_fail_by is None:
        assert abs(seeds - full) < 4 * np.sqrt(2 * full * (1 - full) / N_DRAWS) + 0.02
    else:
        assert (seeds - full) / seeds_fail_by > 1


# ---------------------------------------------------------------- coverage of 90% intervals


def coverage(information, levels, n_rows, estimator, rate, *, prior=0.2, methods=("auto",), n_features=5, n_draws=800):
    """Share of intervals that hold the true value, over random features; one number a method."""
    rng = np.random.default_rng([levels, n_rows, round(information * 1e4)])
    hits = {method: [] for method in methods}
    for _ in range(n_features):
        joint = joint_with_information(information, levels, prior, rng)[np.newaxis]
        estimate = estimator(draw(labels_of(joint, rate), n_rows, n_draws, rng))
        for method in methods:
            low, high = estimate.interval(0.9, method)
            hits[method].append((low <= information) & (information <= high))
    return [float(np.mean(hits[method])) for method in methods]


PU_RATE = np.array([[0.0], [0.5]])  # half of the positives, 10% of all rows


def pos(tables):
    return pos_information(tables, 0.2)


@pytest.mark.parametrize("information", [0.005, 0.045, 0.125])
@pytest.mark.parametrize("levels", [2, 5])
def test_coverage_of_pos(information, levels):
    (auto,) = coverage(information, levels, 10_000, pos, PU_RATE)
    assert 0.87 < auto < 0.93


@pytest.mark.parametrize(("information", "levels", "n_rows"), [(0.005, 2, 500), (0.005, 10, 500), (0.005, 10, 1000)])
def test_coverage_of_pos_where_the_normal_law_fails(information, levels, n_rows):
    auto, normal = coverage(information, levels, n_rows, pos, PU_RATE, methods=("auto", "normal"))
    assert 0.87 < auto < 0.93
    assert normal < 0.85


@pytest.mark.slow
@pytest.mark.parametrize("information", [0.0005, 0.002, 0.005, 0.01, 0.045, 0.125])
@pytest.mark.parametrize("levels", [2, 5, 10])
@pytest.mark.parametrize("n_rows", [500, 1_000, 2_000, 10_000])
def test_coverage_of_pos_everywhere(information, levels, n_rows):
    (auto,) = coverage(information, levels, n_rows, pos, PU_RATE, n_features=10, n_draws=2000)
    assert 0.85 < auto < 0.95


@pytest.mark.parametrize(
    ("name", "estimator", "rate"),
    [
        ("mcar", mcar_information, 0.2),
        ("mar-f", mar_f_information, np.array([0.1, 0.2, 0.3, 0.4])),
        ("ss", lambda tables: ss_information(tables, 0.2), np.array([[0.1], [0.5]])),
        ("neg", lambda tables: neg_information(tables, 0.2), np.array([[0.5], [0.1]])),
        ("plug-in", lambda tables: plug_in(tables[:, :, :2]), 1.0),
    ],
)
@pytest.mark.parametrize("information", [0.002, 0.02, 0.1])
def test_coverage_of_the_other_estimators(name, estimator, rate, information):
    (auto,) = coverage(information, 4, 5_000, estimator, rate)
    assert 0.86 < auto < 0.94, (name, auto)


def test_coverage_in_case_control_samples():
    rng = np.random.default_rng(17)
    for information in (0.005, 0.05):
        joint = joint_with_information(information, 4, 0.2, rng)
        positives = rng.multinomial(500, joint[1] / 0.2, N_DRAWS)
        background = rng.multinomial(3000, joint.sum(axis=0), N_DRAWS)
        tables = np.stack([0 * positives, positives, background], axis=1)[:, np.newaxis]
        low, high = pos_information(tables, 0.2, sampling="case-control").interval(0.9)
        assert 0.87 < np.mean((low <= information) & (information <= high)) < 0.93


def test_coverage_of_conditional_information():
    """I(X;Y|Z) from positives and the prior of the whole population, with p(y=1|z) different in each stratum."""
    rng = np.random.default_rng(18)
    p_z, prior_z = (0.6, 0.4), (0.1, 0.35)
    for target in (0.003, 0.03):
        parts = [joint_with_information(target, 3, prior, rng) for prior in prior_z]
        joint = np.array([w * part for w, part in zip(p_z, parts, strict=True)])
        tables = draw(labels_of(joint, np.array([[0.0], [0.5]])), 10_000, N_DRAWS, rng)
        low, high = pos_information(tables, 0.2).interval(0.9)
        assert 0.86 < np.mean((low <= target) & (target <= high)) < 0.94
