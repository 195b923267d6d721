"""The same integer seed in two functions: their draws do not depend on each other."""

from __future__ import annotations

import inspect
from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from blankets import simulate
from blankets.arguments import generator_from

ROWS = 4000
SEEDS = 200
COIN = np.full((2, 2), 0.5)
ONE = simulate.Network({"a": ("n", "y")}, {}, {"a": [0.5, 0.5]})
NO = np.zeros(ROWS, int)

# What each function draws from a seed: a half of the rows, or one number of a small object.
BY_ROWS = {
    "sample": lambda rng: ONE.sample(ROWS, rng=rng).column(0),
    "hide_labels": lambda rng: simulate.hide_labels(NO, "mcar", rate=0.5, rng=rng),
    "label_positives": lambda rng: simulate.label_positives(NO, 0.5, positive=0, rng=rng),
    "flip_labels": lambda rng: simulate.flip_labels(NO, 0.5, 0.5, rng=rng),
    "sample_given_class": lambda rng: simulate.sample_given_class(NO, COIN, rng),
    "numpy": lambda rng: np.random.default_rng(rng).random(ROWS) < 0.5,  # tables that users draw themselves
}
BY_SEEDS = {
    **{name: lambda rng, draw=draw: float(np.mean(draw(rng)[:20])) for name, draw in BY_ROWS.items()},
    "random_dag": lambda rng: float(simulate.random_dag(20, rng=rng).number_of_edges()),
    "random_network": lambda rng: float(simulate.random_network(nx.DiGraph([("a", "b")]), 2, rng=rng).tables["a"][0]),
    "variable_with_information": lambda rng: float(simulate.variable_with_information([0.5, 0.5], 2, 0.05, rng)[0, 0]),
}


def test_every_function_that_draws_is_here() -> None:
    functions = {name for name in simulate.__all__ if inspect.isfunction(getattr(simulate, name))}
    draws = {name for name in functions if "rng" in inspect.signature(getattr(simulate, name)).parameters}
    assert draws | {"sample", "numpy"} == set(BY_SEEDS)


@pytest.mark.parametrize(("one", "other"), [*combinations(BY_ROWS, 2)])
def test_rows_drawn_with_one_seed_are_independent(one: str, other: str) -> None:
    for seed in range(5):
        r = np.corrcoef(BY_ROWS[one](seed), BY_ROWS[other](seed))[0, 1]
        assert abs(r) < 4.5 / np.sqrt(ROWS)  # 75 draws of a standard normal: above 4.5 once in 2,000 runs


def test_draws_of_many_seeds_are_independent() -> None:
    drawn = {name: [draw(seed) for seed in range(SEEDS)] for name, draw in BY_SEEDS.items()}
    r = np.corrcoef(list(drawn.values()))
    assert np.abs(r[np.triu_indices(len(r), 1)]).max() < 4.0 / np.sqrt(SEEDS)  # 36 pairs: above 4 once in 400 runs


def test_functions_that_start_from_one_stream_are_not() -> None:
    shared = [BY_ROWS[name](generator_from(0)) for name in ("hide_labels", "flip_labels")]
    assert abs(np.corrcoef(shared)[0, 1]) > 0.9


def test_the_same_seed_repeats_the_draw() -> None:
    for draw in BY_ROWS.values():
        assert np.array_equal(draw(7), draw(7))
        assert not np.array_equal(draw(7), draw(8))
