"""Positives labeled with chances of their own, and labels that may be wrong."""

import numpy as np
import pytest

from blankets.errors import LabelError, ParameterError
from blankets.simulate import flip_labels, label_positives


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
