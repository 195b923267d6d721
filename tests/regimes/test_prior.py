"""Knowledge of p(y=1) in every form."""

import numpy as np
import pytest
from scipy import stats

from blankets.errors import LabelError, ParameterError
from blankets.regimes import Beta, Exact, between, greater_than, less_than, prior_from
from blankets.regimes._prior import FromDistribution, Restricted

FORMS = [
    Exact(0.2),
    less_than(0.4),
    greater_than(0.3),
    between(0.1, 0.3),
    Beta(mode=0.2, low=0.05, high=0.6),
    Beta(mean=0.2, concentration=20),
    prior_from(stats.beta(2, 8)),
    prior_from(stats.norm(0.3, 0.05)),
    prior_from(stats.beta(2, 8)).within(0.1, 0.5),
]


@pytest.mark.parametrize("prior", FORMS, ids=str)
def test_one_interface(prior):
    low, high = prior.support
    assert 0 <= low <= high <= 1
    assert low <= prior.mean <= high
    draws = prior.sample(20_000, rng=1)
    assert np.all((draws >= low) & (draws <= high))
    # The mean of 20,000 draws lies within five standard errors of the mean.
    assert draws.mean() == pytest.approx(prior.mean, abs=5 * draws.std() / np.sqrt(20_000) + 2e-4)
    np.testing.assert_array_equal(draws, prior.sample(20_000, rng=np.random.default_rng(1)))
    assert prior.is_exact == (low == high)
    if not prior.is_exact:
        np.testing.assert_allclose(prior.cdf(prior.ppf([0.1, 0.5, 0.9])), [0.1, 0.5, 0.9], atol=1e-9)


def test_generalized_beta_against_scipy():
    by_mode = Beta(mode=0.2, low=0.1, high=0.5, concentration=8)
    # mode' = 1/4: shapes 1 + 6/4 and 1 + 6·3/4
    reference = stats.beta(2.5, 5.5, loc=0.1, scale=0.4)
    np.testing.assert_allclose(by_mode.cdf([0.15, 0.2, 0.3]), reference.cdf([0.15, 0.2, 0.3]), rtol=1e-12)
    np.testing.assert_allclose(by_mode.ppf([0.1, 0.9]), reference.ppf([0.1, 0.9]), rtol=1e-12)
    assert by_mode.mean == pytest.approx(reference.mean())
    by_mean = Beta(mean=0.2, low=0.1, high=0.5, concentration=8)
    assert by_mean.mean == pytest.approx(0.2)
    np.testing.assert_allclose(by_mean.cdf(0.25), stats.beta(2, 6, loc=0.1, scale=0.4).cdf(0.25), rtol=1e-12)
    assert repr(by_mode) == "Beta(mode=0.2, low=0.1, high=0.5, concentration=8)"


@pytest.mark.parametrize(
    ("prior", "below", "above", "unsure"),
    [
        (Exact(0.2), 0.3, 0.2, None),
        (less_than(0.4), 0.4, None, 0.3),
        (greater_than(0.4), None, 0.4, 0.5),
        (between(0.1, 0.3), 0.35, 0.05, 0.2),
        (Beta(mode=0.2, low=0.1, high=0.5), 0.6, 0.1, 0.3),
    ],
)
def test_decides(prior, below, above, unsure):
    if below is not None:
        assert prior.decides(below) is True
    if above is not None:
        assert prior.decides(above) is False
    if unsure is not None:
        assert prior.decides(unsure) is None


def test_every_way_to_write_it():
    assert prior_from(None) is None
    assert prior_from(0.2) == Exact(0.2)
    assert prior_from(np.float64(0.2)) == Exact(0.2)
    assert prior_from("0.2") == Exact(0.2)
    assert prior_from("<0.4") == less_than(0.4)
    assert prior_from("> 0.1") == greater_than(0.1)
    assert prior_from("0.1-0.4") == between(0.1, 0.4)
    assert prior_from("0.1 to 0.4") == between(0.1, 0.4)
    assert prior_from((0.1, 0.4)) == between(0.1, 0.4)
    assert prior_from(less_than(0.4)) == less_than(0.4)
    assert isinstance(prior_from(stats.beta(2, 5)), FromDistribution)


def test_soft_knowledge_is_told_from_a_distribution():
    assert less_than(0.4).is_soft
    assert less_than(0.4).within(0.1, 0.9).is_soft
    assert not between(0.1, 0.4).is_soft
    assert not Exact(0.2).is_soft


def test_restriction_is_the_conditional_distribution():
    restricted = prior_from(stats.beta(2, 8)).within(0.1, 0.5)
    assert isinstance(restricted, Restricted)
    base = stats.beta(2, 8)
    expected = (base.cdf(0.3) - base.cdf(0.1)) / (base.cdf(0.5) - base.cdf(0.1))
    assert restricted.cdf(0.3) == pytest.approx(expected, rel=1e-12)
    assert restricted.support == (0.1, 0.5)
    assert str(less_than(0.4).within(0.05, 1.0)) == "below 0.4, and between 0.05 and 1"
    assert between(0.2, 0.3).within(0.1, 0.5) == between(0.2, 0.3)


def test_distribution_of_scipy_is_cut_to_probabilities():
    prior = prior_from(stats.norm(0.05, 0.03))
    assert prior.support == (0, 1)
    assert prior.ppf(0.0) == pytest.approx(0, abs=1e-9)
    assert "a distribution with mean 0.05" in str(prior)


@pytest.mark.parametrize(("value", "admissible"), [(0.03, (0.05, 0.9)), (0.95, (0.05, 0.9))])
def test_impossible_priors_name_the_admissible_range(value, admissible):
    with pytest.raises(LabelError, match=r"said to be 0\.\d+, but the labels show that it lies between 0\.05 and 0\.9"):
        Exact(value).within(*admissible)
    with pytest.raises(LabelError, match=r"below 0\.04, but the labels show"):
        less_than(0.04).within(*admissible)


@pytest.mark.parametrize("value", [0, 1, -0.1, 1.2, float("nan")])
def test_not_a_probability(value):
    with pytest.raises(ParameterError, match="'prior' must be a probability between 0 and 1, both excluded"):
        prior_from(value)


def test_refusals():
    with pytest.raises(ParameterError, match="an interval within 0 and 1"):
        between(0.4, 0.2)
    with pytest.raises(ParameterError, match="a probability between 0 and 1"):
        less_than(1.5)
    with pytest.raises(ParameterError, match="by its 'mode' or by its 'mean': one of the two"):
        Beta(mode=0.2, mean=0.3)
    with pytest.raises(ParameterError, match=r"'mode' must be between 0\.3 and 1"):
        Beta(mode=0.2, low=0.3)
    with pytest.raises(ParameterError, match="'concentration' must be a number above 2"):
        Beta(mode=0.2, concentration=2)
    with pytest.raises(ParameterError, match=r"only 0\.5 of it lies between 0 and 1"):
        prior_from(stats.norm(0, 0.1))
    with pytest.raises(ParameterError, match=r"but it is 1\.5"):
        prior_from("1.5")
    for nonsense in ("about a fifth", True, [0.1, 0.2, 0.3], "<much"):
        with pytest.raises(ParameterError, match="'prior' must be a probability, a pair"):
            prior_from(nonsense)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Beta(mode=0.2, low=0.1, high=0.4)", Beta(mode=0.2, low=0.1, high=0.4)),
        (" beta( mean = 0.123456 ,concentration=20 )", Beta(mean=0.123456, concentration=20)),
    ],
)
def test_a_beta_prior_can_be_written(text, expected):
    read = prior_from(text)
    np.testing.assert_array_equal(read.ppf([0.1, 0.5, 0.9]), expected.ppf([0.1, 0.5, 0.9]))
    assert str(prior_from(str(read))) == str(read) == str(expected)


@pytest.mark.parametrize(
    "text", ["Beta(0.2)", "Beta(mode=a)", "Beta(__class__=1)", "Beta(mode=0.2; low=0.1)", "Beta()"]
)
def test_what_is_not_a_beta_prior_is_refused(text):
    with pytest.raises(ParameterError, match=r"'prior' must be a probability, .* a Prior such as Beta\(mode=0.2"):
        prior_from(text)
