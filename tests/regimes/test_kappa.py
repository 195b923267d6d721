"""κ as identities between population distributions, written out here by summation."""

import numpy as np
import pytest

from blankets.errors import NotAnswerableError
from blankets.regimes import (
    Surrogate,
    collapse,
    kappa_case_control,
    kappa_of,
    prefer_y0_below,
    stratified_kappa,
)


def squared_loss(p):
    """I₂ of a joint distribution p[y, x]."""
    e = np.outer(p.sum(axis=1), p.sum(axis=0))
    return 0.5 * ((p - e) ** 2 / e).sum()


def random_joint(rng, levels):
    """p(y, x) with p(y=1) anywhere between 0.05 and 0.95."""
    prior = rng.uniform(0.05, 0.95)
    return np.stack([(1 - prior) * rng.dirichlet(np.ones(levels)), prior * rng.dirichlet(np.ones(levels))])


def label_distribution(joint, c0, c1):
    """p(label, x) with label negative, positive, unlabeled, when a class y row is labeled with probability c_y."""
    return np.stack([c0 * joint[0], c1 * joint[1], (1 - c0) * joint[0] + (1 - c1) * joint[1]])


@pytest.mark.parametrize("seed", range(50))
def test_squared_loss_is_scaled_by_kappa_exactly(seed):
    rng = np.random.default_rng(seed)
    joint = random_joint(rng, int(rng.integers(2, 6)))
    c0, c1 = rng.uniform(0.02, 0.98, 2)
    labels = label_distribution(joint, c0, c1)
    prior, a, b = joint[1].sum(), labels[1].sum(), labels[0].sum()
    for surrogate in (Surrogate.Y0, Surrogate.Y1, Surrogate.YM):
        seen = collapse(labels, surrogate)[0]
        kappa = kappa_of(surrogate, prior, positives=a, negatives=b)
        assert abs(squared_loss(seen) - kappa * squared_loss(joint)) < 1e-12
    assert kappa_of(Surrogate.YM, prior, positives=a, negatives=b) >= max(
        kappa_of(Surrogate.Y0, prior, positives=a), kappa_of(Surrogate.Y1, prior, negatives=b)
    )


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("prior", [0.1, 0.5, 0.8])
def test_mcar_has_the_factors_of_theorem_4_4(share, prior):
    a, b = prior * share, (1 - prior) * share
    printed = {
        Surrogate.LISTWISE: share,
        Surrogate.YM: share,
        Surrogate.Y0: share * (1 - prior) / (1 - prior * share),
        Surrogate.Y1: share * prior / (1 - (1 - prior) * share),
        Surrogate.FULL: 1,
    }
    for surrogate, expected in printed.items():
        assert kappa_of(surrogate, prior, positives=a, negatives=b) == pytest.approx(expected, rel=1e-12)


def test_labeled_rows_under_class_dependent_labeling_in_the_limit_of_weak_effects():
    rng = np.random.default_rng(0)
    for _ in range(20):
        prior, c0, c1 = rng.uniform(0.1, 0.9, 3)
        base, bump = rng.dirichlet(np.ones(4) * 5), rng.normal(size=4)
        bump = 1e-5 * (bump - bump.mean())
        joint = np.stack([(1 - prior) * (base + bump), prior * (base - bump)])
        a, b = c1 * prior, c0 * (1 - prior)
        labeled = np.stack([c0 * joint[0], c1 * joint[1]])
        ratio = (a + b) * squared_loss(labeled / (a + b)) / squared_loss(joint)
        assert kappa_of(Surrogate.LISTWISE, prior, positives=a, negatives=b) == pytest.approx(ratio, rel=1e-2)


def test_example_of_the_thesis():
    assert kappa_of(Surrogate.Y0, 0.2, positives=0.05) == pytest.approx(0.8 / 0.2 * 0.05 / 0.95, rel=1e-12)


def test_inequality_4_1_is_the_comparison_of_kappas():
    rng = np.random.default_rng(1)
    decided = []
    for _ in range(500):
        prior = rng.uniform(0.02, 0.98)
        a, b = prior * rng.uniform(0.01, 1), (1 - prior) * rng.uniform(0.01, 1)
        y0_wins = kappa_of(Surrogate.Y0, prior, positives=a) > kappa_of(Surrogate.Y1, prior, negatives=b)
        assert (prior < prefer_y0_below(a, b)) == y0_wins
        decided.append(y0_wins)
    assert 100 < sum(decided) < 400  # both sides were tried


@pytest.mark.parametrize(("a", "b", "printed"), [(0.125, 0.125, 0.50), (0.0625, 0.1875, 0.35)])
def test_right_hand_sides_printed_in_the_thesis(a, b, printed):
    assert prefer_y0_below(a, b) == pytest.approx(printed, abs=0.005)


def test_inequality_with_one_class_unlabeled():
    assert prefer_y0_below(0.1, 0.0) == 1.0
    assert prefer_y0_below(0.0, 0.1) == 0.0


def strata(p_z, prior_z, p_x_given_y_z, c0=0.0, c1=0.25):
    """Label distribution p(z, label, x) and I₂(X;Y|z) of each stratum."""
    tables, effects = [], []
    for weight, prior, p_x in zip(p_z, prior_z, p_x_given_y_z, strict=True):
        joint = np.stack([(1 - prior) * np.array(p_x[0]), prior * np.array(p_x[1])])
        effects.append(squared_loss(joint))
        tables.append(weight * label_distribution(joint, c0, c1))
    return np.array(tables), np.array(effects)


NONE, SOME = ([0.7, 0.3], [0.7, 0.3]), ([0.7, 0.3], [0.55, 0.45])


@pytest.mark.parametrize(
    ("p_z", "prior_z", "where", "printed"),
    [
        ((0.5, 0.5), (0.2, 0.2), (SOME, SOME), 0.2105),
        ((0.5, 0.5), (0.1, 0.3), (SOME, SOME), 0.2021),
        ((0.8, 0.2), (0.025, 0.9), (NONE, SOME), 0.0323),
        ((0.8, 0.2), (0.025, 0.9), (SOME, NONE), 0.2453),
    ],
)
def test_table_of_stratified_kappas(p_z, prior_z, where, printed):
    tables, effects = strata(p_z, prior_z, where)
    for given in (None, effects):
        kappa = stratified_kappa(tables, Surrogate.Y0, 0.2, effects=given)
        assert kappa.value == pytest.approx(printed, abs=5e-5)
        assert kappa.unconditional == pytest.approx(0.2105, abs=5e-5)
    by_hand = [0.25 * (1 - p) / (1 - 0.25 * p) for p in prior_z]
    np.testing.assert_allclose(kappa.by_stratum, by_hand, rtol=1e-12)
    assert kappa.safe == pytest.approx(min(by_hand))


@pytest.mark.parametrize("surrogate", [Surrogate.Y0, Surrogate.Y1, Surrogate.YM])
def test_conditional_squared_loss_is_scaled_by_the_stratified_kappa_exactly(surrogate):
    rng = np.random.default_rng(2)
    for _ in range(100):
        p_z, prior_z = rng.dirichlet(np.ones(3)), rng.uniform(0.05, 0.95, 3)
        p_x = rng.dirichlet(np.ones(3), size=(3, 2))
        tables, effects = strata(p_z, prior_z, p_x, c0=rng.uniform(0.05, 0.9), c1=rng.uniform(0.05, 0.9))
        prior = p_z @ prior_z
        kappa = stratified_kappa(tables, surrogate, prior)
        seen = collapse(tables, surrogate)
        conditional = sum(w * squared_loss(t / t.sum()) for w, t in zip(p_z, seen, strict=True))
        assert abs(conditional - kappa.value * (p_z @ effects)) < 1e-12
        np.testing.assert_allclose(kappa.weights, p_z * effects / (p_z @ effects), rtol=1e-9)


def test_case_control_kappa_is_the_limit_of_weak_effects():
    rng = np.random.default_rng(3)
    for _ in range(20):
        prior, a = rng.uniform(0.05, 0.8), rng.uniform(0.05, 0.9)
        base, bump = rng.dirichlet(np.ones(4) * 3), rng.normal(size=4)
        bump = 1e-5 * (bump - bump.mean())
        joint = np.stack([(1 - prior) * base, prior * (base + bump)])
        background = joint.sum(axis=0)
        pooled = np.stack([(1 - a) * background, a * joint[1] / prior])
        ratio = squared_loss(pooled) / squared_loss(joint)
        assert kappa_case_control(a, prior) == pytest.approx(ratio, rel=1e-2)


def test_case_control_kappa_by_stratum():
    rng = np.random.default_rng(4)
    p_z, prior_z, a = np.array([0.7, 0.3]), np.array([0.1, 0.5]), 0.3
    base = rng.dirichlet(np.ones(3) * 3, size=2)
    bump = 1e-5 * np.array([[1, -2, 1], [2, -1, -1]])
    prior = p_z @ prior_z
    joint = np.array([[(1 - p) * q, p * (q + d)] for p, q, d in zip(prior_z, base, bump, strict=True)])
    positives = p_z[:, None] * joint[:, 1] / prior  # p(z, x | y=1)
    background = p_z[:, None] * joint.sum(axis=1)
    tables = np.stack([np.zeros((2, 3)), a * positives, (1 - a) * background], axis=1)
    effects = np.array([squared_loss(j) for j in joint])
    kappa = stratified_kappa(tables, Surrogate.Y0, prior, sampling="case-control", effects=effects)
    pooled = np.stack([tables[:, 2], tables[:, 1]], axis=1)
    seen = sum(t.sum() * squared_loss(t / t.sum()) for t in pooled)
    assert kappa.value == pytest.approx(seen / (p_z @ effects), rel=1e-3)


def test_no_effect_anywhere_weighs_strata_by_size():
    tables, _ = strata((0.5, 0.5), (0.1, 0.3), (NONE, NONE))
    kappa = stratified_kappa(tables, Surrogate.Y0, 0.2, effects=[0.0, 0.0])
    np.testing.assert_allclose(kappa.weights, [0.5, 0.5])


def test_batches_of_features():
    first, _ = strata((0.8, 0.2), (0.025, 0.9), (NONE, SOME))
    second, _ = strata((0.8, 0.2), (0.025, 0.9), (SOME, NONE))
    kappa = stratified_kappa(np.stack([first, second]), Surrogate.Y0, 0.2)
    np.testing.assert_allclose(kappa.value, [0.0323, 0.2453], atol=5e-5)


def test_labeled_rows_by_stratum_in_the_limit_of_weak_effects():
    rng = np.random.default_rng(5)
    p_z, prior_z = np.array([0.7, 0.3]), np.array([0.2, 0.6])
    base, bump = rng.dirichlet(np.ones(3) * 3, size=2), 1e-5 * np.array([[1, -2, 1], [2, -1, -1]])
    p_x = [(b - d, b + d) for b, d in zip(base, bump, strict=True)]
    tables, effects = strata(p_z, prior_z, p_x, c0=0.3, c1=0.6)
    kappa = stratified_kappa(tables, Surrogate.LISTWISE, p_z @ prior_z, effects=effects)
    labeled = collapse(tables, Surrogate.LISTWISE)
    seen = sum(t.sum() * squared_loss(t / t.sum()) for t in labeled)
    assert kappa.value == pytest.approx(seen / (p_z @ effects), rel=1e-2)


def test_pairwise_deletion_has_none():
    with pytest.raises(NotAnswerableError, match="the power of pairwise deletion is not known"):
        stratified_kappa(np.ones((1, 3, 2)), Surrogate.PAIRWISE, 0.2)
