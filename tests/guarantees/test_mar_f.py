"""Labels that go missing depending on features: what is valid, and which blankets come out.

A rate estimated from R draws has standard error √(p(1-p)/R); bands are four of these wide.
"""

import math

import numpy as np
import pytest

import blankets as bl
from blankets.simulate import as_columns, random_dag, random_network
from blankets.study import independence_tests
from blankets.study._drivers import labeling_drivers
from studies import study_of

ALPHA = 0.05


def two_drivers(rng, n=1200):
    """X -> V <- W -> Y, labeled depending on V and W: X and Y have nothing to do with each other."""
    x, w = rng.integers(0, 2, (2, n))
    v = (x ^ w) ^ (rng.random(n) < 0.1)
    y = w ^ (rng.random(n) < 0.2)
    labeled = rng.random(n) < np.where(v == 1, 0.9, 0.1) * np.where(w == 1, 0.9, 0.6)
    return {"x": x, "v": v, "w": w, "y": np.where(labeled, y, np.nan)}


def rejection_rate(n_draws, surrogate=None, *, given_drivers=False):
    """Return how often X and Y are said to be dependent."""
    rng = np.random.default_rng(5)
    rejected = 0
    for _ in range(n_draws):
        labels = bl.SemiSupervised("mar-f", surrogate=surrogate, force=True)
        study = study_of(two_drivers(rng), "y", labels=labels, n_jobs=1)
        drivers = labeling_drivers(study, alpha=0.01) if given_drivers else ()
        tests = independence_tests(study, study.stand_in(), drivers=drivers)
        rejected += tests.test(study.index("x"), study.target).dependent(ALPHA)
    return rejected / n_draws


def test_given_what_drives_labeling_tests_have_their_level():
    n_draws = 300
    rate = rejection_rate(n_draws, given_drivers=True)
    assert abs(rate - ALPHA) < 4 * math.sqrt(ALPHA * (1 - ALPHA) / n_draws)


@pytest.mark.parametrize("surrogate", ["listwise", "y0", "y1", "ym", "pairwise"])
def test_the_naive_ways_do_not(surrogate):
    assert rejection_rate(60, surrogate=surrogate) > 0.5


def test_the_example_of_the_errata():
    """B6: X, Y fair and independent, W nearly [X = Y], labeled .9/.1 by W: listwise sees 0.22 nats, not 0."""
    rng = np.random.default_rng(2)
    n = 20_000
    x, y = rng.integers(0, 2, (2, n))
    w = (x == y) ^ (rng.random(n) < 0.01)
    labeled = rng.random(n) < np.where(w, 0.9, 0.1)
    table = {"x": x, "w": w, "y": np.where(labeled, y, np.nan)}
    naive = bl.test(table, "x", "y", labels="mar-f")
    p_equal = (0.99 * 0.9 + 0.01 * 0.1) / (0.9 + 0.1)  # p(x = y | labeled), of two equally common outcomes
    information = math.log(2) + p_equal * math.log(p_equal) + (1 - p_equal) * math.log(1 - p_equal)
    assert naive.statistic / (2 * naive.n_rows) == pytest.approx(information, abs=0.02)
    assert naive.dependent()
    # W is a common child of X and Y, so that X is in the blanket of Y, and given W they are tied indeed.
    blanket = bl.discover(table, "y", labels="mar-f")
    assert blanket.settings["drivers"] == ["w"]
    assert "Labeling depends on w; each test with the target is given that too." in blanket.warnings
    assert set(blanket.members) <= {"x", "w"}
    assert all("w" in evidence.given for name, evidence in blanket.strengths.items() if name != "w")


def errors(n_networks, algorithm, **how):
    """Return mean numbers of false and of missed members over random networks of eight binary nodes."""
    rng = np.random.default_rng(1)
    false, missed = [], []
    for _ in range(n_networks):
        network = random_network(random_dag(8, rng=rng, mean_degree=2.5), rng=rng)
        names = list(network.graph.nodes)
        sample = as_columns(network.sample(3000, rng=rng))
        columns = {name: np.unique(values, return_inverse=True)[1] for name, values in sample.items()}
        target = names[int(rng.integers(8))]
        one, two = rng.choice([name for name in names if name != target], 2, replace=False)
        labeled = rng.random(3000) < np.array([0.9, 0.5, 0.1])[columns[one] + columns[two]]
        columns[target] = np.where(labeled, columns[target], np.nan)
        labels = bl.SemiSupervised("mar-f", **how)
        found = set(bl.discover(columns, target, labels=labels, algorithm=algorithm, close=False).members)
        truth = set(network.blanket(target))
        false.append(len(found - truth))
        missed.append(len(truth - found))
    return np.mean(false), np.mean(missed)


@pytest.mark.parametrize("algorithm", ["iamb", "pcmb"])
def test_false_members_are_rare_where_unlabeled_rows_counted_in_bring_them(algorithm):
    n = 15
    ours, missed = errors(n, algorithm)
    assert ours < 0.3
    for surrogate in ("y0", "ym", "pairwise"):
        naive, _ = errors(n, algorithm, surrogate=surrogate, force=True)
        assert naive > ours + 0.5
    listwise, more_missed = errors(n, algorithm, given_drivers=False)
    assert listwise < 0.3  # with all members conditioned on, labeled rows as they are do as well
    assert missed < more_missed + 0.1
