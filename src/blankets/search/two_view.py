"""Two views of one blanket: small sets find members, the whole blanket decides about the rest.

Searches fail in two ways. Searches that condition on small sets lose columns that remove each other, and keep false
members if there are too few rows to condition at all. Searches that condition on the whole blanket lose weak members
behind strong ones. Here both are used:

1. *Small sets*: PCMB, with the fastest tests. Each neighborhood has a limit of tests; if that is not enough, sets are
   limited to two columns, and if that is not enough either, the neighborhood is not used. So are neighborhoods not used
   that are still unknown when all together have taken their limit. Members are kept only if
   there are enough rows to test them given two others (or all others): otherwise "no set separates it" means nothing.
2. *The whole blanket*: closing from there (`blankets.search.closing`), with calibrated tests, also in sparse tables.

Correct under faithfulness and perfect tests if no limit was reached: PCMB is correct, and closing changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import TypeVar, Unpack

import numpy as np

from blankets.independence import Columns, EvidenceBatch, IndependenceTest, Sets, sizes_of
from blankets.search._contract import Algorithm, Found, Trace, Trouble
from blankets.search._local import LocalSearch, Neighborhood, blanket_of, own_neighbors, symmetric
from blankets.search.closing import settle
from blankets.search.pcmb import pcd

_FEW = 12  # columns among which all sets may be tried
_FEW_IN_ALL = 2  # all their neighborhoods together may take so many times what one may
_VISITS = 4e7  # rows that the tests of a neighborhood may read, if that is enough for three scans
_CAPPED = 2  # largest conditioning set, if all sets are too many
_WIDE = 50_000  # with more columns, scans for each neighbor, and for their neighbors, take too long

T = TypeVar("T")


def two_view(
    tests: IndependenceTest,
    target: int,
    candidates: Sequence[int],
    *,
    alpha: float,
    trace: Trace,
    tests_a_column: int = 100,
) -> Found:
    """Return the Markov blanket of ``target`` among ``candidates``.

    ``tests_a_column``: limit of tests in the search for the neighbors of one column, and of all columns together, per
    other column; more if there are twelve or fewer. 0: only closing, from the empty set; this is also done with more
    than 50,000 columns.

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets.independence import DSeparation
    >>> tests = DSeparation(nx.DiGraph(["ab", "cb", "cd"]))  # a -> b <- c -> d
    >>> found = two_view(tests, 0, [1, 2, 3], alpha=0.01, trace=Trace())
    >>> found.members, found.roles
    ((1, 2), {1: 'child', 2: 'spouse'})
    """
    start = Found(members=())
    if tests_a_column and len(candidates) <= _WIDE:
        quick = tests.by_formula()  # the first view asks the same again
        rows = tests.looked_at or int(np.max(quick.scan(candidates, target).n_rows, initial=1))
        n = len(candidates)
        few = n <= _FEW
        most = max(tests_a_column * n, 2 * n * 2**n if few else 0)
        limits = most * (_FEW_IN_ALL if few else 1), min(most, max(int(_VISITS / rows), 3 * n))
        start = _by_small_sets(quick, target, candidates, alpha=alpha, trace=trace, limits=limits)
    members = settle(tests, target, candidates, start.members, alpha=alpha, trace=trace, stay=start.members)
    return replace(
        start, members=members, separators={x: given for x, given in start.separators.items() if x not in members}
    )


def _by_small_sets(
    tests: IndependenceTest,
    target: int,
    candidates: Sequence[int],
    *,
    alpha: float,
    trace: Trace,
    limits: tuple[int, int],
) -> Found:
    """Return what PCMB finds within limits of tests (in all, and in one neighborhood), without doubtful members."""
    in_all, most = limits
    search = LocalSearch(tests, target, candidates, alpha=alpha, max_given=_CAPPED, trace=trace)
    search.if_capped = Trouble.LIMITED
    limited: set[int] = set()
    known: dict[int, Neighborhood] = {}  # each with what it asked, whoever searched for it first

    def raw(x: int) -> Neighborhood:
        if x in known:
            return known[x]
        if sum(found.asked for found in known.values()) > in_all:
            limited.add(x)
            return _unknown(search, x, 0)
        known[x] = search.learn(("within", most), x, lambda own, y, log: _within(own, y, log, most))
        limited.update([x] if known[x].capped else [])
        return known[x]

    def neighbors(x: int) -> Neighborhood:
        return symmetric(raw, x)

    found = blanket_of(search, own_neighbors(search, neighbors, raw), neighbors, raw=raw)
    kept = tuple(x for x in found.members if _testable(tests, target, x, found.members))
    for x in found.members:
        if x not in kept:
            evidence = tests.test(x, target)
            trace.removed(evidence, "small sets", "rows are too few to test it given two other members")
    roles = {x: role for x, role in found.roles.items() if x in kept}
    # Sets that were not tried may be those that distinguish a spouse and a neighbor.
    return replace(
        found, members=kept, roles={} if limited else roles, common_children={} if limited else found.common_children
    )


def _testable(tests: IndependenceTest, target: int, x: int, members: Sequence[int]) -> bool:
    others = [z for z in members if z != x]
    return tests.deepest([x], target, others) >= min(_CAPPED, len(others))


def _within(search: LocalSearch, y: int, log: Trace, most: int) -> Neighborhood:
    """Return the neighbors of ``y`` that enough rows support, within the limit of tests; else none."""
    asked = 0
    for cap in (None, _CAPPED):
        limited = LimitedTests(search.tests, most)
        within = LocalSearch(limited, y, search.others(y), alpha=search.alpha, max_given=cap, trace=search.trace)
        try:
            found = pcd(within, y, log)
            sure = tuple(x for x in found.members if _testable(search.tests, y, x, found.members))
            doubtful = found.untested.union(x for x in found.members if x not in sure)
            asked += limited.asked
            return replace(found, members=sure, untested=doubtful, capped=cap is not None, asked=asked)
        except OutOfTests:
            asked += most
            log.decisions.clear()
            log.scans.clear()
    return _unknown(search, y, asked)


def _unknown(search: LocalSearch, y: int, asked: int) -> Neighborhood:
    """Return a neighborhood that would take too many tests: nothing is known of it."""
    return Neighborhood(members=(), untested=frozenset(search.others(y)), capped=True, asked=asked)


class OutOfTests(Exception):
    """A search has used all the tests that it was allowed."""


class LimitedTests(IndependenceTest):
    """Other tests, with a limit on their number; beyond it `OutOfTests` is raised.

    Requested tests are counted, not performed ones, so that the answer does not depend on what other searches
    have left in a cache.

    ``tests``: the tests to ask. ``most``: the limit.

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets.independence import DSeparation
    >>> tests = LimitedTests(DSeparation(nx.DiGraph(["ab", "bc"])), most=3)
    >>> len(tests.scan([1, 2], 0))
    2
    >>> tests.scan([1, 2], 0)
    Traceback (most recent call last):
    blankets.search.two_view.OutOfTests: 3 tests
    """

    def __init__(self, tests: IndependenceTest, most: int) -> None:
        self.tests, self.most, self.asked = tests, most, 0
        self.names = tests.names
        self.memo = tests.memo

    @property
    def n_tests(self) -> int:  # type: ignore[override]
        """Number of tests performed."""
        return self.tests.n_tests

    def scan(
        self, xs: Columns, y: int, given: Sequence[int] = (), *, even_if_unreliable: bool = False
    ) -> EvidenceBatch:
        """Test each of ``xs`` against ``y`` given one set."""
        self._ask(len(xs))
        return self.tests.scan(xs, y, given, even_if_unreliable=even_if_unreliable)

    def separate(self, xs: Columns, y: int, among: Sequence[int], **sets: Unpack[Sets]) -> EvidenceBatch:
        """Find the weakest dependence of each x over the subsets of a set; all subsets count at once."""
        smallest, largest = sizes_of(sets, self.deepest(xs, y, among))
        fixed = sets.get("containing") is not None
        sizes = range(max(smallest - fixed, 0), largest - fixed + 1)
        self._ask(len(xs) * sum(math.comb(len(among) - fixed, size) for size in sizes))
        return self.tests.separate(xs, y, among, **sets)

    def deepest(self, xs: Columns, y: int, among: Sequence[int]) -> int:
        """Return the bound of the tests."""
        return self.tests.deepest(xs, y, among)

    def remember(self, key: Hashable, work: Callable[[], T]) -> T:
        """Return the result of ``work``, computed once for each key."""
        return self.tests.remember(key, work)

    def _ask(self, n: int) -> None:
        self.asked += n
        if self.asked > self.most:
            raise OutOfTests(f"{self.most:,} tests")


ALGORITHMS = (
    Algorithm(
        name="two-view",
        run=two_view,
        reference="This library; see the page on algorithms. Its first view is that of Peña, Björkegren & Tegnér "
        "(2005), its second that of inter-IAMB (Tsamardinos, Aliferis & Statnikov 2003).",
        sound=True,
        roles=True,
        both_ends=True,
        when="The default: it came nearest to the true blankets of known networks, in a bounded time.",
    ),
)
