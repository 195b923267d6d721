"""Hidden labels: what depends on what, by exact counts and by coins."""

from __future__ import annotations

import math

import numpy as np
import pytest

from blankets.errors import LabelError, ParameterError
from blankets.simulate import hide_labels

N = 4000


@pytest.fixture(scope="module")
def columns() -> tuple[np.ndarray, np.ndarray]:
    """Classes and a feature that depend on each other: 200, 600, 1000, 2200 rows in the four cells."""
    cells = np.random.default_rng(0).permutation(np.repeat(np.arange(4), [200, 600, 1000, 2200]))
    return cells // 2, cells % 2  # y, x


def shares(labeled: np.ndarray, *columns: np.ndarray) -> dict[tuple[int, ...], float]:
    """Return the share of labeled rows in each cell."""
    cells = np.stack(columns, axis=1)
    return {tuple(cell.tolist()): labeled[(cells == cell).all(axis=1)].mean() for cell in np.unique(cells, axis=0)}


def near(share: float, p: float, n: int) -> bool:
    return abs(share - p) < 4 * math.sqrt(p * (1 - p) / n)


def test_mcar_depends_on_nothing(columns):
    y, x = columns
    labeled = hide_labels(y, "mcar", rate=0.3, rng=1)
    sizes = {(0, 0): 200, (0, 1): 600, (1, 0): 1000, (1, 1): 2200}
    assert all(near(share, 0.3, sizes[cell]) for cell, share in shares(labeled, y, x).items())


def test_mar_f_depends_on_the_feature_alone(columns):
    y, x = columns
    labeled = hide_labels(y, "mar-f", rate={0: 0.1, 1: 0.6}, feature=x, rng=2)
    sizes = {(0, 0): 200, (0, 1): 600, (1, 0): 1000, (1, 1): 2200}
    assert all(near(share, (0.1, 0.6)[cell[1]], sizes[cell]) for cell, share in shares(labeled, y, x).items())


def test_mar_c_depends_on_the_class_alone(columns):
    y, x = columns
    labeled = hide_labels(y, "mar-c", rate={0: 0.5, 1: 0.2}, rng=3)
    sizes = {(0, 0): 200, (0, 1): 600, (1, 0): 1000, (1, 1): 2200}
    assert all(near(share, (0.5, 0.2)[cell[0]], sizes[cell]) for cell, share in shares(labeled, y, x).items())


def test_pu_labels_positives_only(columns):
    y, x = columns
    labeled = hide_labels(y, "pu", rate=0.25, rng=4)
    found = shares(labeled, y, x)
    assert found[0, 0] == found[0, 1] == 0
    assert near(found[1, 0], 0.25, 1000)
    assert near(found[1, 1], 0.25, 2200)
    assert labeled[y == 1].sum() != 800  # a coin, not a count


@pytest.mark.parametrize(
    ("mechanism", "options", "group", "expected"),
    [
        ("mcar", {"rate": 0.05, "exact": True}, "all", [200]),
        ("mcar", {"count": 123}, "all", [123]),
        ("mar-f", {"rate": {0: 0.5, 1: 0.1}, "exact": True}, "x", [600, 280]),
        ("mar-f", {"count": {0: 7, 1: 0}}, "x", [7, 0]),
        ("mar-c", {"rate": {0: 0.5, 1: 0.25}, "exact": True}, "y", [400, 800]),
        ("mar-c", {"count": {0: 800, 1: 1}}, "y", [800, 1]),
        ("pu", {"rate": 0.25, "exact": True}, "y", [0, 800]),
        ("pu", {"count": 100}, "y", [0, 100]),
        ("pu", {"count": 100, "positive": 0}, "y", [100, 0]),
    ],
)
def test_exact_counts(columns, mechanism, options, group, expected):
    y, x = columns
    if mechanism == "mar-f":
        options = {**options, "feature": x}
    labeled = hide_labels(y, mechanism, rng=5, **options)
    groups = {"all": np.zeros(N, int), "x": x, "y": y}[group]
    assert [int(labeled[groups == k].sum()) for k in range(len(expected))] == expected
    assert labeled.dtype == bool
    assert np.array_equal(labeled, hide_labels(y, mechanism, rng=5, **options))


def test_exact_counts_fall_evenly_over_what_they_do_not_depend_on(columns):
    y, x = columns
    # Hypergeometric: 800 of 3200 positives, of which 1000 have x = 0.
    drawn = [int(hide_labels(y, "pu", count=800, rng=seed)[x == 0].sum()) for seed in range(200)]
    deviation = math.sqrt(800 * (1000 / 3200) * (2200 / 3200) * (2400 / 3199))
    assert abs(np.mean(drawn) - 250) < 4 * deviation / math.sqrt(200)
    assert 0.8 < np.std(drawn) / deviation < 1.2  # standard error of the ratio: about 1 / sqrt(2 * 200) = 0.05


def test_classes_may_be_strings():
    y = np.array(["ill", "well"] * 50)
    assert hide_labels(y, "pu", count=50, positive="ill", rng=0).tolist() == [True, False] * 50
    assert hide_labels(y.tolist(), "mar-c", rate={"ill": 1, "well": 0}, rng=0).tolist() == [True, False] * 50


@pytest.mark.parametrize(
    ("mechanism", "options", "error", "message"),
    [
        ("mar-d", {"rate": 0.5}, ParameterError, "unknown mechanism 'mar-d'; .* choose from mar-c, mar-f, mcar, pu"),
        ("mcar", {}, ParameterError, "give either 'rate' .* or 'count'"),
        ("mcar", {"rate": 0.5, "count": 3}, ParameterError, "give either 'rate' .* or 'count'"),
        ("mcar", {"rate": 1.5}, ParameterError, "'rate' must be made of probabilities between 0 and 1"),
        ("mcar", {"rate": {0: 0.5}}, ParameterError, "'rate' must be one number under mechanism 'mcar'"),
        ("mcar", {"count": 11}, ParameterError, "asks for 11 labeled rows of 'all', but there are 10 rows"),
        ("mcar", {"count": 1.5}, ParameterError, "asks for 1.5 labeled rows"),
        ("mar-c", {"rate": 0.5}, ParameterError, "'rate' must be a mapping with the keys 0, 1"),
        ("mar-c", {"rate": {1: 0.5}}, ParameterError, "'rate' must be a mapping with the keys 0, 1"),
        ("mar-c", {"count": {0: 6, 1: 0}}, ParameterError, "asks for 6 labeled rows of 0, but there are 5 rows"),
        ("mar-f", {"rate": {0: 0.5}}, ParameterError, "'feature' is the column that decides under mechanism 'mar-f'"),
        ("mcar", {"rate": 0.5, "feature": [0] * 10}, ParameterError, "under it alone"),
        ("mar-f", {"rate": {0: 0.5}, "feature": [0]}, ParameterError, "'feature' has 1 rows, but 'y' has 10"),
        ("pu", {"rate": 0.5, "positive": "yes"}, LabelError, "no row is of class 'yes'; pass positive= one of 0, 1"),
    ],
)
def test_what_makes_no_sense_is_refused(mechanism, options, error, message):
    with pytest.raises(error, match=message):
        hide_labels([0, 1] * 5, mechanism, rng=0, **options)
