"""Size of the tests of independence: how often a true hypothesis is rejected.

x and y depend on z, and on each other through z alone; p <= alpha counts as an error. With M independent draws
the share of errors has the standard error sqrt(size (1 - size) / M), and four of them are allowed for.
`benchmarks/calibration.py` covers the whole grid; these are its corners.
"""

import math

import numpy as np
import pytest

from blankets import kernels
from blankets.counting import MemoryCounter
from blankets.data import Frame
from blankets.independence import CalibratedTests, TableTests
from blankets.stats import formula_of
from blankets.stats._contingency import flat_tables

TOGETHER = 100  # columns that share one draw of y and z

# rows, levels of z, levels of x, levels of y, ratio of the probabilities of one level and the next
REACHABLE = [  # a test can use up its level
    (80, 1, 4, 4, 1.0),
    (320, 1, 8, 8, 0.15),
    (1280, 1, 8, 8, 0.15),
    (100, 5, 2, 2, 1.0),
    (200, 50, 2, 2, 1.0),
    (1000, 50, 2, 2, 0.15),
    (400, 50, 2, 4, 0.4),
    (640, 50, 8, 8, 1.0),
    (800, 500, 2, 4, 1.0),
    (1600, 500, 8, 8, 0.15),
    (2000, 500, 2, 2, 0.4),
]
COARSE = [  # too few rows can change places
    (8, 1, 2, 2, 1.0),
    (20, 1, 2, 2, 0.15),
    (40, 1, 2, 4, 0.15),
    (16, 5, 4, 4, 1.0),
    (13, 1, 8, 8, 1.0),
    (40, 50, 2, 2, 1.0),
    (160, 50, 8, 8, 1.0),
    (400, 500, 2, 2, 0.15),
]


def null_frames(rows, strata, levels_x, levels_y, ratio, n_draws):
    rng = np.random.default_rng([rows, strata, levels_x])

    def drawn(levels, size):
        p = ratio ** np.arange(levels)
        return np.searchsorted(np.cumsum(p / p.sum())[:-1], rng.random(size), side="right")

    for _ in range(n_draws // TOGETHER):
        z = rng.integers(0, strata, rows)
        y = (drawn(levels_y, rows) + z) % levels_y
        x = (drawn(levels_x, (TOGETHER, rows)) + z) % levels_x
        yield Frame.from_codes(np.vstack([z, y, x]).T, arities=[strata, levels_y, *[levels_x] * TOGETHER])


def p_values(point, n_draws, tests=CalibratedTests, **options):
    xs = range(2, 2 + TOGETHER)
    scans = [tests(MemoryCounter(f), reliability=0, **options).scan(xs, 1, [0]) for f in null_frames(*point, n_draws)]
    return np.exp(np.concatenate([batch.log_p for batch in scans]))


def errors_of(size, n):
    return 4 * math.sqrt(size * (1 - size) / n)


def check_size(point, n_draws, level, *, reachable):
    """Check the size at a level for which the tests were made; tests for no level in particular are for all."""
    p = p_values(point, n_draws, level=level)
    assert ((p > 0) & (p <= 1)).all()
    for alpha in (0.05, 0.01, 0.001) if level is None else (level,):
        share = (p <= alpha).mean()
        assert share <= 1.2 * alpha + errors_of(1.2 * alpha, len(p))
        if reachable:
            assert share >= 0.8 * alpha - errors_of(0.8 * alpha, len(p))


@pytest.mark.parametrize("level", [None, 0.05, 0.01])
@pytest.mark.parametrize("point", REACHABLE, ids=str)
def test_size_where_a_test_can_use_up_its_level(point, level):
    check_size(point, 2000, level, reachable=True)


@pytest.mark.parametrize("level", [None, 0.05, 0.01])
@pytest.mark.parametrize("point", COARSE, ids=str)
def test_size_of_coarse_tables(point, level):
    check_size(point, 2000, level, reachable=False)


@pytest.mark.slow
@pytest.mark.parametrize("level", [None, 0.05, 0.01, 0.001])
@pytest.mark.parametrize("point", REACHABLE + COARSE, ids=str)
def test_size_with_many_draws(point, level):
    check_size(point, 40_000, level, reachable=point in REACHABLE)


def permutations(n_rows):
    """What counts, of 999 permutations of each table, those with a G as large, a larger one, and all."""
    formula = formula_of(n_rows, seed=1)
    return lambda counts: kernels.permute(*flat_tables(counts), formula, 999, 1000, 0.0)


@pytest.mark.parametrize("point", COARSE[:4], ids=str)
def test_coarse_tables_use_what_the_exact_test_can_use(point):
    # The exact test given the margins, by permutations that never stop early, on the same tables.
    n_draws, xs = 2000, range(2, 2 + TOGETHER)
    exact = []
    for frame in null_frames(*point, n_draws):
        reached, _, drawn = MemoryCounter(frame).summarize(permutations(frame.n_rows), xs, 1, [0])
        exact.append((reached + 1) / (drawn + 1))
    exact, p = np.concatenate(exact), p_values(point, n_draws)
    for alpha in (0.05, 0.01):
        reachable = min((exact <= alpha).mean(), 0.8 * alpha)
        assert (p <= alpha).mean() >= reachable - errors_of(max(reachable, 1 / n_draws), n_draws)


def test_the_textbook_formula_fails_where_the_calibrated_test_holds():
    adjusted = p_values((200, 50, 2, 2, 1.0), 1000, TableTests, dof="adjusted")
    nominal = p_values((1000, 50, 2, 2, 0.15), 1000, TableTests, dof="nominal")
    assert (adjusted <= 0.01).mean() > 0.1
    assert (nominal <= 0.05).mean() < 0.025
