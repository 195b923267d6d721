"""Positives labeled with chances of their own, and labels that may be wrong."""

import numpy as np
import pytest

from blankets.errors import LabelError, ParameterError
from blankets.simulate import flip_labels, label_positives, propensity_of


def test_propensities_are_those_of_sar_pu():
    """Bekker, Robberts & Davis (2019), section 6: the product of the scaled attributes, each to the power 1/k."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=50), rng.integers(0, 2, 50)
    scaled = [0.2 + 0.6 * (c - c.min()) / (c.max() - c.min()) for c in (a, b)]
    np.testing.assert_allclose(propensity_of([a, b]), np.prod([s ** (1 / 2) for s in scaled], axis=0))
    assert propensity_of([a], low=0.1, high=0.9).min() == pytest.approx(0.1)
    with pytest.raises(ParameterError, match="probabilities with 0 < low <= high <= 1"):
        propensity_of([a], low=0.0)
    with pytest.raises(ParameterError, match="one or more columns of numbers"):
        propensity_of([])


def test_shares_of_labels():
    rng = np.random.default_rng(1)
    y, x = rng.integers(0, 2, 40_000), rng.integers(0, 2, 40_000)
    labeled = label_positives(y, np.where(x == 1, 0.8, 0.2), rng=2)
    assert not labeled[y == 0].any()
    for level, rate in ((0, 0.2), (1, 0.8)):
        assert labeled[(y == 1) & (x == level)].mean() == pytest.approx(rate, abs=4 * 0.4 / 100)
    labels = flip_labels(y, np.where(x == 1, 0.3, 0.1), 0.2, rng=3)
    for level, rate in ((0, 0.1), (1, 0.3)):
        assert labels[(y == 0) & (x == level)].mean() == pytest.approx(rate, abs=4 * 0.46 / 100)
    assert 1 - labels[y == 1].mean() == pytest.approx(0.2, abs=4 * 0.4 / 141)
    with pytest.raises(LabelError, match="no row is of class 5"):
        label_positives(y, 0.5, positive=5)
    with pytest.raises(ParameterError, match="a probability, or one for each row"):
        flip_labels(y, 1.5, 0.0)
