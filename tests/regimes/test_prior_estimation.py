"""Class priors estimated from positive-unlabeled data of a known prior."""

import numpy as np
import pytest

from blankets.errors import DataError, LabelError, ParameterError
from blankets.regimes import (
    EstimatedPrior,
    Labels,
    PositiveUnlabeled,
    Question,
    estimate_prior,
)


def population(n, prior, recognized, rng):
    """Features of which the first betrays a share of the positives for certain, the others give hints or nothing."""
    y = rng.random(n) < prior
    x = rng.integers(0, 3, size=(n, 6))
    x[:, 0] = np.where(y & (rng.random(n) < recognized), 3, x[:, 0])
    x[:, 1] = np.where(y & (rng.random(n) < 0.4), 2, x[:, 1])
    return x, y


def one_sample(n, prior, frequency, recognized, seed):
    rng = np.random.default_rng(seed)
    x, y = population(n, prior, recognized, rng)
    codes = np.where(y & (rng.random(n) < frequency), 1, -1)
    return x, Labels(codes.astype(np.int16), (0, 1))


def case_control(n_labeled, n_background, prior, recognized, seed):
    rng = np.random.default_rng(seed)
    background, _ = population(n_background, prior, recognized, rng)
    x, y = population(int(3 * n_labeled / prior), prior, recognized, rng)
    codes = np.repeat(np.array([1, -1], np.int16), [n_labeled, n_background])
    return np.concatenate([x[y][:n_labeled], background]), Labels(codes, (0, 1))


@pytest.mark.parametrize(("prior", "frequency", "recognized"), [(0.2, 0.3, 0.3), (0.4, 0.5, 0.5), (0.1, 0.5, 0.9)])
def test_roc(prior, frequency, recognized):
    x, labels = one_sample(10_000, prior, frequency, recognized, seed=1)
    estimate = estimate_prior(x, labels, n_resamples=2, rng=0)
    # c from about 300 recognized rows or more has a standard error of 9% or less.
    assert 0.85 * prior < estimate.value < 1.25 * prior


# The bounds of TIcE are cautious: p(y=1) comes out too large rather than too small.
@pytest.mark.parametrize(("prior", "frequency", "recognized"), [(0.2, 0.5, 0.5), (0.4, 0.5, 0.5), (0.1, 0.5, 0.9)])
def test_tice(prior, frequency, recognized):
    x, labels = one_sample(10_000, prior, frequency, recognized, seed=1)
    estimate = estimate_prior(x, labels, method="tice", n_resamples=3, rng=0)
    assert 0.95 * prior < estimate.value < 1.4 * prior


def test_elkan_noto_where_every_positive_is_recognized():
    x, labels = one_sample(5_000, 0.3, 0.4, 1.0, seed=2)
    estimate = estimate_prior(x, labels, method="elkan-noto", n_resamples=5, rng=0)
    # c has standard error √(0.4·0.6/1500) = 0.013, 3% of itself.
    assert estimate.value == pytest.approx(0.3, rel=0.1)


def test_elkan_noto_overestimates_where_classes_overlap():
    x, labels = one_sample(5_000, 0.3, 0.4, 0.3, seed=3)
    assert estimate_prior(x, labels, method="elkan-noto", n_resamples=2, rng=0).value > 0.4


@pytest.mark.parametrize("method", ["roc", "tice", "elkan-noto"])
def test_case_control_sampling(method):
    x, labels = case_control(1_000, 5_000, 0.2, 1.0, seed=4)
    estimate = estimate_prior(x, labels, method=method, sampling="case-control", n_resamples=2, rng=0)
    assert 0.17 < estimate.value < 0.3


def test_it_is_a_prior_with_uncertainty_that_flows_into_kappa_and_estimates():
    x, labels = one_sample(4_000, 0.3, 0.4, 0.7, seed=5)
    prior = estimate_prior(x, labels, n_resamples=10, rng=0)
    assert isinstance(prior, EstimatedPrior)
    assert not prior.is_exact
    assert not prior.is_soft
    low, high = prior.support
    assert low < prior.value < high
    assert prior.mean == prior.value
    np.testing.assert_allclose(prior.cdf(prior.ppf([0.2, 0.5, 0.7])), [0.2, 0.5, 0.7], atol=1e-9)
    draws = prior.sample(1000, rng=1)
    assert low <= draws.min() <= draws.max() <= high
    regime = PositiveUnlabeled(prior)
    assert Question.ESTIMATE in regime.answers
    kappa = regime.kappa(labels)
    assert kappa.low < kappa.value < kappa.high
    table = np.array([[np.sum((x[:, 1] == k) & (labels.codes == c)) for k in range(3)] for c in (0, 1, -1)])
    unsure = regime.estimate(table, labels).variance
    assert unsure > PositiveUnlabeled(prior.value).estimate(table, labels).variance
    assert "estimated by roc assuming that some recognizable group of rows is all positive" in str(prior)
    assert "estimated by roc" in regime.describe(labels)


@pytest.mark.slow
def test_bootstrap_spread_is_that_of_repeated_samples():
    values = [
        estimate_prior(*one_sample(2_000, 0.3, 0.4, 1.0, seed=seed), method="elkan-noto", n_resamples=2, rng=0).value
        for seed in range(30)
    ]
    draws = estimate_prior(*one_sample(2_000, 0.3, 0.4, 1.0, seed=99), method="elkan-noto", n_resamples=30, rng=0).draws
    # A ratio of two standard deviations from 30 values each lies within a factor of two in 99.9% of all cases.
    assert 0.5 < np.std(draws) / np.std(values) < 2


@pytest.mark.parametrize("method", ["roc", "tice", "elkan-noto"])
def test_the_order_of_rows_decides_nothing(method):
    """With few distinct rows most are ties; labeled rows first is how people put two samples together."""
    x, labels = one_sample(4_000, 0.2, 0.4, 0.5, seed=6)
    x = x[:, :1]
    order = np.argsort(-labels.codes, kind="stable")
    sorted_rows = x[order], Labels(labels.codes[order], (0, 1))
    one, other = (
        estimate_prior(*data, method=method, n_resamples=2, rng=0).value for data in ((x, labels), sorted_rows)
    )
    # Other folds, hence not the same number; c from 160 labeled rows of 400 has a standard error of 6%.
    assert one == pytest.approx(other, rel=0.1)
    assert one > 0.17


def test_same_seed_same_answer():
    x, labels = one_sample(1_000, 0.3, 0.4, 0.5, seed=6)
    first, second = (estimate_prior(x, labels, n_resamples=3, rng=7) for _ in range(2))
    np.testing.assert_array_equal(first.draws, second.draws)
    assert first.value == second.value


def test_uninformative_features_say_that_everything_may_be_positive():
    rng = np.random.default_rng(8)
    labels = Labels(np.where(rng.random(3_000) < 0.2, 1, -1).astype(np.int16), (0, 1))
    estimate = estimate_prior(rng.integers(0, 3, size=(3_000, 4)), labels, n_resamples=2, rng=0)
    assert estimate.value > 0.7


def test_refusals():
    x, labels = one_sample(100, 0.3, 0.4, 0.5, seed=9)
    with pytest.raises(ParameterError, match="unknown method to estimate the prior 'km2'"):
        estimate_prior(x, labels, method="km2")
    with pytest.raises(ParameterError, match="'n_resamples' must be a whole number, at least 2"):
        estimate_prior(x, labels, n_resamples=0)
    with pytest.raises(DataError, match=r"integer codes of shape \(rows, columns\), but have shape \(100,\)"):
        estimate_prior(x[:, 0], labels)
    with pytest.raises(DataError, match="there are 99 rows of features, but 100 of labels"):
        estimate_prior(x[:99], labels)
    with pytest.raises(LabelError, match="too few labeled or unlabeled rows"):
        estimate_prior(x, Labels(np.where(np.arange(100) == 0, 1, -1).astype(np.int16), (0, 1)))
    with pytest.raises(LabelError, match="from positives and unlabeled rows"):
        estimate_prior(x, Labels(np.where(np.arange(100) < 10, 0, -1).astype(np.int16), (0, 1)))
