"""Measures: small cases by hand, and every convention for empty sets."""

from __future__ import annotations

import math
from itertools import combinations

import pytest

from blankets.errors import ParameterError
from blankets.simulate.measures import average, compare, kuncheva, roc


def test_a_plain_case_by_hand():
    result = compare(found=["a", "b", "x"], truth=["a", "b", "c", "d"])
    assert (result.true_positives, result.false_positives, result.false_negatives) == (2, 1, 2)
    assert result.precision == pytest.approx(2 / 3)
    assert result.recall == pytest.approx(1 / 2)
    assert result.f == pytest.approx(2 * (2 / 3) * (1 / 2) / (2 / 3 + 1 / 2))
    assert result.distance == pytest.approx(math.sqrt((1 / 3) ** 2 + (1 / 2) ** 2))
    assert not result.exact
    assert not result.empty


@pytest.mark.parametrize(
    ("found", "truth", "precision", "recall", "f", "distance"),
    [
        ("", "ab", 1.0, 0.0, 0.0, 1.0),
        ("ab", "", 0.0, 1.0, 0.0, 1.0),
        ("", "", 1.0, 1.0, 1.0, 0.0),
        ("ab", "ba", 1.0, 1.0, 1.0, 0.0),
        ("ab", "cd", 0.0, 0.0, 0.0, math.sqrt(2)),
    ],
)
def test_conventions(found, truth, precision, recall, f, distance):
    result = compare(found, truth)
    assert (result.precision, result.recall, result.f) == (precision, recall, f)
    assert result.distance == pytest.approx(distance)
    assert result.exact == (set(found) == set(truth))
    assert result.empty == (found == "")


def test_averages_with_both_treatments_of_empty_answers():
    mean = average([compare("ab", "ab"), compare("", "ab"), compare("cx", "cd")])
    assert (mean.n_targets, mean.n_empty) == (3, 1)
    assert mean.precision == pytest.approx((1 + 1 + 0.5) / 3)
    assert mean.precision_non_empty == pytest.approx((1 + 0.5) / 2)
    assert mean.recall == pytest.approx((1 + 0 + 0.5) / 3)  # an empty answer counts as recall 0 in both
    assert mean.distance == pytest.approx((0 + 1 + math.sqrt(0.5)) / 3)
    assert mean.distance_non_empty == pytest.approx((0 + math.sqrt(0.5)) / 2)
    assert mean.f == pytest.approx((1 + 0 + 0.5) / 3)
    assert (mean.false_positives, mean.false_negatives) == pytest.approx((1 / 3, 3 / 3))
    assert mean.exact == pytest.approx(1 / 3)


def test_nothing_but_empty_answers():
    mean = average([compare("", "a")])
    assert math.isnan(mean.precision_non_empty)
    assert math.isnan(mean.distance_non_empty)
    assert mean.precision == 1.0


def test_averages_of_nothing_are_refused():
    with pytest.raises(ParameterError, match="nothing to average"):
        average([])


def test_kuncheva_by_hand():
    # n = 10, k = 3, r = 2: (2 * 10 - 9) / (3 * 7) = 11 / 21.
    assert kuncheva(["abc", "abd"], 10) == pytest.approx(11 / 21)
    assert kuncheva(["abc", "cba"], 10) == 1.0
    assert kuncheva(["abc", "abd", "abc"], 10) == pytest.approx((11 / 21 + 1 + 11 / 21) / 3)


def test_kuncheva_of_random_sets_is_zero_on_average():
    every = list(combinations(range(6), 2))
    values = [kuncheva([a, b], 6) for a in every for b in every]
    assert sum(values) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("selections", "message"),
    [
        (["ab"], "at least two selections, but there are 1"),
        (["ab", "abc"], "selections of one size, but these have 2, 3"),
        (["", ""], "undefined for 0 of 4 features"),
        (["abcd", "abcd"], "undefined for 4 of 4 features"),
    ],
)
def test_undefined_consistencies_are_refused(selections, message):
    with pytest.raises(ParameterError, match=message):
        kuncheva(selections, 4)


def test_roc_counts_members_and_others():
    curve = roc({0.1: "abx", 0.01: "a", 0.5: "abxyz"}, truth="abc", candidates="abcwxyz")
    assert curve["alpha"] == [0.01, 0.1, 0.5]
    assert curve["true_positive_rate"] == [1 / 3, 2 / 3, 2 / 3]
    assert curve["false_positive_rate"] == [0.0, 1 / 4, 3 / 4]
    assert math.isnan(roc({0.1: "a"}, truth="", candidates="ab")["true_positive_rate"][0])
    assert math.isnan(roc({0.1: "a"}, truth="ab", candidates="ab")["false_positive_rate"][0])
