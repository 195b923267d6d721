"""Labels that go missing depending on features: what is valid, and which blankets come out.

A rate estimated from R draws has standard error √(p(1-p)/R); bands are four of these wide.
"""

import math

import numpy as np
import pytest

import blankets as bl
from blankets.errors import ParameterError
from blankets.simulate import as_columns, random_dag, random_network
from blankets.study import independence_tests
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
        labels = bl.SemiSupervised("mar-f", surrogate=surrogate, force=True, given_drivers=given_drivers)
        study = study_of(two_drivers(rng), "y", labels=labels, n_jobs=1)
        tests = independence_tests(study, study.stand_in())
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
    naive = bl.test(table, "x", "y", labels=bl.SemiSupervised("mar-f", given_drivers=False))
    p_equal = (0.99 * 0.9 + 0.01 * 0.1) / (0.9 + 0.1)  # p(x = y | labeled), of two equally common outcomes
    information = math.log(2) + p_equal * math.log(p_equal) + (1 - p_equal) * math.log(1 - p_equal)
    assert naive.statistic / (2 * naive.n_rows) == pytest.approx(information, abs=0.02)
    assert naive.dependent()
    # Standardized by W the estimate is that of all rows: 0. The test is given W, and so is the size that it says.
    for labels in ("mar-f", bl.SemiSupervised("mar-f", drivers="w")):
        found = bl.mutual_information(table, "x", "y", labels=labels)
        assert found.value < 1e-3 < naive.estimate.value
        assert found.interval(0.99)[0] == 0.0
        assert any("Labeling depends on w" in note for note in found.notes)
        ranked = bl.rank(table, "y", labels=labels)
        assert dict(zip(ranked.names, ranked.p, strict=True))["x"] > 0.01
        picked = bl.select(table, "y", labels=labels, criterion="mim", k=2)
        assert max(picked.relevance) < 2e-3
        given = bl.test(table, "x", "y", labels=labels)
        assert given.estimate.value == pytest.approx(0.5 * given.statistic / given.n_rows, rel=0.3)
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


def driven(rng, n, effect, levels=3):
    """X with some levels, and Y, which both drive W with four levels; labels by W, a tenth to two thirds of each.

    Return the columns, and the information of X about Y that the tables of the design have.
    """
    table = np.full((levels, 2), 0.5)
    table[:, 1] += effect * np.linspace(-1.0, 1.0, levels)
    table[:, 0] -= effect * np.linspace(-1.0, 1.0, levels)
    joint = table / levels
    truth = float(np.sum(joint * np.log(joint / np.outer(joint.sum(1), joint.sum(0)))))
    x = rng.integers(0, levels, n)
    y = (rng.random(n) < table[x, 1]).astype(int)
    w = (2 * y + (x == 0) + rng.integers(0, 2, n)) % 4
    labeled = rng.random(n) < np.array([0.1, 0.66, 0.2, 0.4])[w]
    return {"x": x.astype(str), "w": w.astype(str), "y": np.where(labeled, y, np.nan)}, truth


@pytest.mark.parametrize(("n", "effect", "levels"), [(1500, 0.15, 2), (3000, 0.1, 3), (6000, 0.3, 4)])
def test_intervals_standardized_by_drivers_cover(n, effect, levels):
    rng, draws, held, wide = np.random.default_rng(11), 300, 0, 0
    labels = bl.SemiSupervised("mar-f", drivers="w")
    for _ in range(draws):
        table, truth = driven(rng, n, effect, levels)
        found = bl.mutual_information(table, "x", "y", labels=labels, n_jobs=1)
        low, high = found.interval(0.9)
        held += low <= truth <= high
        naive = bl.mutual_information(table, "x", "y", labels=bl.SemiSupervised("mar-f", given_drivers=False), n_jobs=1)
        low, high = naive.interval(0.9)
        wide += low <= truth <= high
    assert abs(held / draws - 0.9) < 4 * math.sqrt(0.09 / draws)
    assert wide / draws < 0.6  # labeled rows as they are, weighed by x alone


def test_irrelevant_columns_keep_the_level_in_rankings():
    """Irrelevant columns follow W (so they are dependent among labeled rows): p-values are uniform, at all levels."""
    rng, p, naive = np.random.default_rng(3), [], []
    for _ in range(20):
        n = 3000
        y, u = rng.integers(0, 2, (2, n))
        null = (u ^ (rng.random((25, n)) < 0.2)).astype(int)
        w = u ^ y ^ (rng.random(n) < 0.1)
        labeled = rng.random(n) < np.where(w == 1, 0.5, 0.05)
        table = {**{f"x{j}": column for j, column in enumerate(null)}, "w": w, "y": np.where(labeled, y, np.nan)}
        for into, how in ((p, {"drivers": "w"}), (naive, {"given_drivers": False})):
            ranked = bl.rank(table, "y", labels=bl.SemiSupervised("mar-f", **how), n_jobs=1)
            into.append([v for name, v in zip(ranked.names, ranked.p, strict=True) if name != "w"])
    for level in (0.05, 0.01):
        # Columns of a draw follow one u; 20 draws of 25 columns are worth at least 20 and at most 500.
        assert np.mean(np.array(p) <= level) < 1.2 * level + 4 * math.sqrt(level * (1 - level) / 500)
        assert np.mean(np.array(naive) <= level) > 0.5


def test_advice_and_latents_name_the_drivers():
    rng = np.random.default_rng(1)
    table, _ = driven(rng, 3000, 0.3, 2)
    table["also"] = np.where(rng.random(3000) < 0.8, table["x"], "0")
    said = " ".join(str(bl.advise(table, "y", labels="mar-f")).split())
    assert "Labeling depends on w: each test with the target is given that too" in said
    found = bl.discover_latent(table, "y", labels=bl.SemiSupervised("mar-f", drivers="w"), n_restarts=1, rng=0)
    assert found.settings["drivers"] == ["w"]
    assert bl.rank(table, "y", labels=bl.SemiSupervised("mar-f", drivers="also")).names  # drivers are ranked, too


def test_drivers_are_for_labels_that_depend_on_features():
    with pytest.raises(ParameterError, match="drivers= is for labels that depend on features, 'mar-f'"):
        bl.SemiSupervised("mcar", drivers="w")
