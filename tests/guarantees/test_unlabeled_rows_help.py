"""Unlabeled rows help algorithms that look at the neighbors of neighbors: tests among features use every row.

Labels are missing completely at random. One search has all rows, of which some are labeled; the other has the
labeled rows alone, as if the others had been deleted.
"""

import math

import numpy as np
import pytest

import blankets as bl
from blankets.simulate import as_columns, random_dag, random_network

TWO_PHASES = ("pcmb", "hiton-mb", "mmmb")


def errors(columns, target, truth, n_labeled, algorithm):
    """Return false plus missed members with all rows, and with labeled rows alone."""
    labeled = np.arange(len(columns[target])) < n_labeled
    partly = {**columns, target: np.where(labeled, columns[target], np.nan)}
    alone = {name: values[labeled] for name, values in columns.items()}
    found = (
        bl.discover(partly, target, labels="mcar", algorithm=algorithm, close=False).members,
        bl.discover(alone, target, algorithm=algorithm, close=False).members,
    )
    return [len(truth ^ set(members)) for members in found]


def family(rng, n=5000):
    """Three children, each with a second parent that it hardly shows unless the target is known."""
    target = rng.integers(0, 2, n)
    columns = {"target": target}
    for k in range(3):
        spouse = rng.integers(0, 2, n)
        columns[f"spouse {k}"] = spouse
        columns[f"child {k}"] = (rng.random(n) < np.array([[0.1, 0.6], [0.9, 0.6]])[target, spouse]).astype(int)
    return columns


@pytest.mark.parametrize("algorithm", TWO_PHASES)
def test_spouses_are_found_through_children_that_all_rows_know(algorithm):
    rng = np.random.default_rng(0)
    n_families = 10
    pairs = []
    for _ in range(n_families):
        columns = family(rng)
        pairs.append(errors(columns, "target", set(columns) - {"target"}, 250, algorithm))
    with_all, alone = np.array(pairs).T
    gain = alone - with_all
    assert gain.mean() > 1.0  # of three spouses
    assert gain.mean() > 4 * gain.std() / math.sqrt(n_families)
    assert with_all.mean() < 0.5


def test_searches_that_look_at_the_target_alone_gain_nothing():
    columns = family(np.random.default_rng(0))
    with_all, alone = errors(columns, "target", set(columns) - {"target"}, 250, "iamb")
    assert with_all == alone


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", TWO_PHASES)
def test_on_random_networks_too(algorithm):
    pairs = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        network = random_network(random_dag(12, rng=rng, mean_degree=3, max_parents=3), rng=rng)
        sample = as_columns(network.sample(6000, rng=rng))
        columns = {name: np.unique(values, return_inverse=True)[1] for name, values in sample.items()}
        target = list(network.graph.nodes)[int(rng.integers(12))]
        if np.ptp(columns[target][:1000]):
            pairs.append(errors(columns, target, set(network.blanket(target)), 1000, algorithm))
    with_all, alone = np.array(pairs).T
    assert with_all.mean() < alone.mean()
