"""Rows that follow each other in time are noticed; an order that another column explains is not mistaken for it."""

import numpy as np
import pytest
from statsmodels.tsa.stattools import acf

import blankets as bl
from blankets.study._in_time import serial_correlation

N = 200


def series(seed: int, correlation: float = 0.6, columns: int = 5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(columns, N))
    for t in range(1, N):
        x[:, t] = correlation * x[:, t - 1] + np.sqrt(1 - correlation**2) * x[:, t]
    return x


def told(columns: np.ndarray, **how: object) -> list[str]:
    table = {f"x{j}": column for j, column in enumerate(columns)}
    return [one.what for one in bl.discover(table, "x0", **how).checks if one.kind == "rows in time"]


@pytest.mark.parametrize("seed", range(5))
def test_series_are_noticed_and_shuffled_ones_are_not(seed):
    x = series(seed)
    (sentence,) = told(x)
    assert "Rows resemble the rows before them, in x0" in sentence
    assert not told(x[:, np.random.default_rng(seed).permutation(N)])
    x = series(seed, 0.85)
    x[:2] = x[:2] > 0  # of two classes 0.65 is left
    assert told(x)


@pytest.mark.parametrize("by", ["target", "member"])
def test_a_sorted_table_is_no_series(by):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(5, N))
    x[0] += x[1] + x[2]
    assert not told(x[:, np.argsort(x[0] if by == "target" else x[1])])


def test_groups_are_an_answer():
    x = series(4)
    table = {f"x{j}": column for j, column in enumerate(x)} | {"month": np.arange(N) // 5}
    assert not [one for one in bl.discover(table, "x0", groups="month").checks if one.kind == "rows in time"]


def test_the_correlation_is_that_of_statsmodels():
    x = series(5)
    assert serial_correlation(x[:1]) == pytest.approx(acf(x[0], nlags=1)[1])
