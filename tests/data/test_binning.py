"""Rules for cutting continuous columns, against NumPy and against a slow twin."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from blankets.data import Reading, ingest
from blankets.data._binning import bin_codes, bin_labels, cut_points, equal_width, mdlp_cuts, sturges_bins
from blankets.errors import ConstantColumnWarning, DataError, ParameterError, TargetError

RNG = np.random.default_rng(11)


@pytest.mark.parametrize(("n", "bins"), [(2, 2), (8, 4), (9, 5), (1000, 11), (1024, 11), (1025, 12), (10**6, 21)])
def test_sturges(n, bins):
    # ceil(log2 n + 1) by hand: 2**10 = 1024, 2**19 < 10**6 < 2**20.
    assert sturges_bins(n) == bins


def test_equal_width_is_numpys_histogram():
    values = RNG.normal(size=500)
    assert np.allclose(equal_width(values, 7), np.histogram_bin_edges(values, bins=7)[1:-1])
    cuts = cut_points(values, "sturges")
    counts, _ = np.histogram(values, bins=10)  # ceil(log2 500 + 1) = 10
    assert np.bincount(bin_codes(values, cuts)).tolist() == counts[counts > 0].tolist()


def test_a_range_beyond_the_largest_float():
    assert np.isfinite(equal_width(np.array([-1.5e308, 1.5e308]), 4)).all()


def test_empty_bins_are_joined_and_change_no_count():
    values = np.r_[np.linspace(0, 1, 90), np.linspace(99, 100, 10)]
    cuts = cut_points(values, "equal-width", 10)
    assert len(cuts) == 1
    assert np.bincount(bin_codes(values, cuts)).tolist() == [90, 10]


def test_equal_frequency_halves_and_quarters():
    values = RNG.permutation(np.arange(100.0))
    cuts = cut_points(values, "equal-frequency", 4)
    assert np.bincount(bin_codes(values, cuts)).tolist() == [25, 25, 25, 25]
    heavy = np.r_[np.zeros(60), np.arange(1.0, 41)]
    counts = np.bincount(bin_codes(heavy, cut_points(heavy, "equal-frequency", 4)))
    assert counts[0] >= 60
    assert counts.min() > 0


def test_labels_have_enough_digits():
    assert bin_labels([]) == ("any value",)
    assert bin_labels([1.0]) == ("< 1", ">= 1")
    assert bin_labels([1.00001, 1.00002]) == ("< 1.00001", "[1.00001, 1.00002)", ">= 1.00002")


def slow_mdlp(pairs: list[tuple[float, int]]) -> list[float]:
    """Fayyad & Irani (1993) in bits, straight from the definition."""

    def entropy(part):
        return -sum(n / len(part) * math.log2(n / len(part)) for n in Counter(c for _, c in part).values())

    values = sorted({v for v, _ in pairs})
    best = None
    for low, high in pairwise(values):
        left, right = [p for p in pairs if p[0] <= low], [p for p in pairs if p[0] >= high]
        mean = (len(left) * entropy(left) + len(right) * entropy(right)) / len(pairs)
        if best is None or mean < best[0] - 1e-12:
            best = mean, (low + high) / 2, left, right
    if best is None:
        return []
    mean, cut, left, right = best
    k, k1, k2 = (len({c for _, c in part}) for part in (pairs, left, right))
    delta = math.log2(3**k - 2) - (k * entropy(pairs) - k1 * entropy(left) - k2 * entropy(right))
    if entropy(pairs) - mean <= (math.log2(len(pairs) - 1) + delta) / len(pairs):
        return []
    return [*slow_mdlp(left), cut, *slow_mdlp(right)]


@pytest.mark.parametrize("seed", range(12))
def test_mdlp_against_the_definition(seed):
    rng = np.random.default_rng(seed)
    values = np.round(rng.normal(size=120), 1)
    classes = (np.digitize(values, [-0.7, 0.6]) + (rng.random(120) < 0.15)) % 3
    expected = slow_mdlp(list(zip(values.tolist(), classes.tolist(), strict=True)))
    assert np.allclose(mdlp_cuts(values, classes), expected)


def test_mdlp_cuts_nothing_from_noise_and_everything_from_a_step():
    values = RNG.normal(size=300)
    assert len(mdlp_cuts(values, RNG.integers(0, 2, 300))) == 0
    (cut,) = mdlp_cuts(values, (values > 0.3).astype(int))
    assert values[values <= 0.3].max() < cut <= values[values > 0.3].min()


def test_mdlp_between_neighboring_floats():
    low, high = 1.0, np.nextafter(1.0, 2)
    (cut,) = mdlp_cuts(np.repeat([low, high], 50), np.repeat([0, 1], 50))
    assert low < cut <= high


def test_equal_frequency_with_a_heavy_lowest_value():
    values = np.r_[np.zeros(95), np.arange(1.0, 26)]
    assert cut_points(values, "equal-frequency", 2).tolist() == [1.0]


# Through the door


X = RNG.normal(size=256)
T = (X + RNG.normal(size=256) > 0).astype(int)


@pytest.mark.parametrize(
    ("values", "continuous"),
    [
        (np.arange(256) % 20, False),
        (np.arange(256) % 21, True),
        (np.arange(256) % 20 / 8, False),
        (np.arange(256) % 21 / 8, True),
        ((np.arange(256) % 20).astype(float), False),
        (np.r_[np.zeros(235), np.arange(21)], True),
    ],
)
def test_more_than_twenty_values_are_continuous(values, continuous):
    assert bool(ingest({"a": values, "t": T}, "t").report.binned) == continuous


def test_late_values_count_too():
    late = np.r_[np.zeros(5000), RNG.normal(size=100)]
    assert set(ingest({"a": late, "t": np.arange(5100) % 2}, "t").report.binned) == {"a"}


def test_sturges_through_the_door():
    done = ingest({"a": X, "t": T}, "t")
    counts, edges = np.histogram(X, bins=9)  # log2 256 + 1
    binning = done.report.binned["a"]
    assert binning.rule == "sturges"
    assert set(np.round(binning.cuts, 12)) <= set(np.round(edges[1:-1], 12))
    assert np.bincount(done.frame.column(0)).tolist() == counts[counts > 0].tolist()
    assert done.frame.levels[0][0] == f"< {binning.cuts[0]:.4g}"


def test_rules_by_column():
    rules = {"a": "equal-frequency", "b": [0.0], "c": "categorical", "d": "equal-width"}
    columns = {"a": X, "b": X[::-1], "c": np.arange(256) % 30, "d": np.arange(256) % 8, "e": -X, "t": T}
    done = ingest(columns, "t", reading=Reading(discretize=rules, n_bins=4))
    assert {name: binning.rule for name, binning in done.report.binned.items()} == {
        "a": "equal-frequency",
        "b": "given",
        "d": "equal-width",
        "e": "sturges",
    }
    assert np.bincount(done.frame.column(0)).tolist() == [64, 64, 64, 64]
    assert np.array_equal(done.frame.column(1), X[::-1] >= 0)
    assert done.frame.arities[2] == 30
    assert np.bincount(done.frame.column(3)).tolist() == [64, 64, 64, 64]


def test_several_numbers_of_few_rows_each_are_continuous_in_short_tables():
    t = [0, 1] * 9
    fractions = np.linspace(0, 1, 18)
    assert set(ingest({"a": fractions, "t": t}).report.binned) == {"a"}
    assert ingest({"a": np.tile(fractions[:9], 2), "t": t}).report.binned == {}
    assert set(ingest({"a": np.arange(18), "t": t}).report.binned) == {"a"}
    assert set(ingest({"a": np.arange(59) % 12, "t": [0, *t, *t, *t, 1, 0, 1, 0]}).report.binned) == {"a"}
    assert ingest({"a": np.arange(60) % 12, "t": [0, 1] * 30}).report.binned == {}
    done = ingest({"a": np.arange(75) % 19, "b": [0, 1, 1] * 25}, "a", numbers=True)
    assert list(done.frame.numbers) == [done.frame.names.index("a")]


def test_given_cuts():
    done = ingest({"a": X, "t": T}, "t", reading=Reading(discretize={"a": [2.0, -100, 0]}))
    assert done.frame.levels[0] == ("< -100", "[-100, 0)", "[0, 2)", ">= 2")
    assert done.report.unused_levels == {"a": ("< -100",)}
    assert done.report.lines()[1] == "Continuous, cut into bins at the given cut points: 'a'."
    with pytest.warns(ConstantColumnWarning, match="binning finds no cut in them: 'a'"):
        ingest({"a": X, "b": -X, "t": T}, "t", reading=Reading(discretize={"a": [100]}))
    with pytest.raises(TargetError, match="all values of the target 'a' fall into one bin"):
        ingest({"a": X, "b": -X}, "a", reading=Reading(discretize={"a": [100]}))
    for bad in ([], [np.nan], ["x"], 3, [[1, 2], [3, 4]]):
        with pytest.raises(ParameterError, match="'discretize' must be the name of a rule or a list of finite cut"):
            ingest({"a": X, "t": T}, "t", reading=Reading(discretize={"a": bad}))


def test_supervised():
    done = ingest({"a": X, "t": T}, "t", reading=Reading(discretize="supervised"))
    assert done.report.binned["a"].cuts == tuple(mdlp_cuts(X, T).tolist())
    with pytest.warns(ConstantColumnWarning, match="binning finds no cut in them: 'noise'"):
        done = ingest({"a": X, "noise": RNG.normal(size=256), "t": T}, "t", reading=Reading(discretize="supervised"))
    assert done.report.left_out == {"noise": "binning found no cut in it"}


def test_supervised_looks_at_labeled_rows_only():
    labels = np.where(np.arange(256) % 4 == 0, np.nan, T)
    values = np.where(np.arange(256) % 5 == 0, np.nan, X)
    done = ingest({"a": values, "t": labels}, "t", reading=Reading(discretize="supervised", missing="level"))
    known = ~np.isnan(labels) & ~np.isnan(values)
    assert done.report.binned["a"].cuts == tuple(mdlp_cuts(X[known], T[known]).tolist())


def test_supervised_target_that_is_continuous():
    done = ingest({"a": X, "t": X + RNG.normal(size=256)}, "t", reading=Reading(discretize="supervised"))
    assert done.report.binned["t"].rule == "sturges"
    assert done.report.binned["a"].rule == "supervised"


def test_supervised_needs_a_target():
    with pytest.raises(ParameterError, match="needs a target"):
        ingest({"a": X, "t": T}, reading=Reading(discretize="supervised"))
    with pytest.raises(ParameterError, match="needs a target"):
        ingest({"a": X, "t": T}, reading=Reading(discretize={"a": "supervised"}))


def test_none_names_the_continuous_columns():
    with pytest.raises(DataError, match=r"these hold numbers, and discretize='none' forbids binning: 'a', 'b'; choose"):
        ingest({"a": X, "b": -X, "t": T}, "t", reading=Reading(discretize="none"))


def test_texts_cannot_be_binned():
    with pytest.raises(DataError, match="column 'a' is named in discretize, but it does not hold numbers"):
        ingest({"a": ["x", "y"] * 128, "t": T}, "t", reading=Reading(discretize={"a": "sturges"}))
