"""Koller & Sahami's elimination against a twin that computes information from entropies of rows."""

import numpy as np
import pytest

from blankets.counting import MemoryCounter
from blankets.data import Frame
from blankets.errors import ParameterError
from blankets.independence import TableTests
from blankets.search import ALGORITHMS, Trace

KS = ALGORITHMS["ks"].run


def entropy(columns):
    """Plug-in entropy of the joint variable, in nats."""
    if columns.shape[1] == 0:
        return 0.0
    p = np.unique(columns, axis=0, return_counts=True)[1] / len(columns)
    return float(-(p * np.log(p)).sum())


def information(data, x, y, given):
    """I(x; y | given) by four entropies."""
    given = list(given)
    return sum(
        sign * entropy(data[:, columns])
        for sign, columns in ((1, [x, *given]), (1, [y, *given]), (-1, [x, y, *given]), (-1, given))
    )


def naive_ks(data, target, n_features, n_conditioning):
    """Remove the feature with the smallest Delta, everything recomputed each time; the order of removal."""
    kept, removed = [x for x in range(data.shape[1]) if x != target], []
    while len(kept) > n_features:
        delta = {}
        for i in kept:
            others = sorted((j for j in kept if j != i), key=lambda j: (information(data, i, target, [j]), j))
            delta[i] = information(data, i, target, others[:n_conditioning])
        removed.append(min(kept, key=lambda i: delta[i]))
        kept.remove(removed[-1])
    return kept, removed


def rows(seed, n=300):
    """Seven features, some of them noisy copies of each other, and a target that needs three of them."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 3, (n, 8))
    for j in (1, 3, 5):
        copied = rng.random(n) < 0.6
        x[copied, j] = x[copied, j - 1]
    x[:, 7] = (x[:, 0] + (x[:, 2] > 1) + (rng.random(n) < 0.3) + x[:, 4] // 2) % 3
    return x


@pytest.mark.parametrize("n_conditioning", [0, 1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_against_the_naive_twin(seed, n_conditioning):
    data = rows(seed)
    trace = Trace()
    tests = TableTests(MemoryCounter(Frame.from_codes(data)))
    options = {"n_features": 2, "n_conditioning": n_conditioning}
    found = KS(tests, 7, list(range(7)), alpha=0.05, trace=trace, **options)
    kept, removed = naive_ks(data, 7, 2, n_conditioning)
    assert [d.x for d in trace.decisions if d.action == "removed"] == removed
    assert sorted(found.members) == kept
    first = trace.decisions[0].evidence
    assert first.effect == pytest.approx(information(data, first.x, 7, first.given), rel=1e-9, abs=1e-12)


def test_information_counts_even_where_rows_are_few():
    """It is a ranking: the reliability rule of tests has no say."""
    data = rows(9, n=40)
    tests = TableTests(MemoryCounter(Frame.from_codes(data)), reliability=1000.0)
    assert not tests.test(0, 7).reliable
    found = KS(tests, 7, list(range(7)), alpha=0.05, trace=Trace(), n_features=3, n_conditioning=2)
    assert sorted(found.members) == naive_ks(data, 7, 3, 2)[0]


def test_more_features_wanted_than_there_are():
    tests = TableTests(MemoryCounter(Frame.from_codes(rows(0))))
    trace = Trace()
    found = KS(tests, 7, [4, 0, 2], alpha=0.05, trace=trace, n_conditioning=5)
    assert sorted(found.members) == [0, 2, 4]
    effects = [d.evidence.effect for d in trace.decisions]
    assert effects == sorted(effects, reverse=True)


def test_one_feature_has_no_approximate_blanket():
    tests = TableTests(MemoryCounter(Frame.from_codes(rows(0))))
    assert KS(tests, 7, [3], alpha=0.05, trace=Trace()).members == (3,)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_features": 0}, r"'n_features' must be a number of features to keep, at least 1, but it is 0"),
        ({"n_conditioning": -1}, r"'n_conditioning' must be 0, 1, 2, \.\.\., but it is -1"),
    ],
)
def test_refuses(options, message):
    tests = TableTests(MemoryCounter(Frame.from_codes(rows(0))))
    with pytest.raises(ParameterError, match=message):
        KS(tests, 7, [0, 1], alpha=0.05, trace=Trace(), **options)
