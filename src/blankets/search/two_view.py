"""Two views of one blanket: small sets propose members, the whole blanket decides.

Searches fail in two ways. Those that condition on subsets of neighbors lose columns that put each other out, and keep
false members where rows are too few to condition at all. Those that condition on the whole blanket lose weak members
behind strong ones. Here both views are taken:

1. *small sets*: the neighbors of the target by PCMB's search, checked from both ends, with the quickest tests. They
   are proposals and no more. Each neighborhood may ask for a number of tests; if that does not do, sets are limited
   to two columns, and if that does not do either, it proposes nothing;
2. *the whole blanket*: from the empty set, the strongest column given all members enters: a proposed one at level α,
   for which there is other evidence, any other one at α (k + 1) / m with k members and m columns. Members that the
   others make irrelevant leave. That is `closing` from the start, so that nothing is left to be closed.

Correct under faithfulness and perfect tests whatever is proposed, as inter-IAMB is: as long as a member of the
true blanket is missing it depends on the target given the members, and enters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from blankets.independence import IndependenceTest
from blankets.search._contract import Algorithm, Found, Trace
from blankets.search._limited import LimitedTests, OutOfTests
from blankets.search._local import LocalSearch, Neighborhood, blanket_of, symmetric
from blankets.search.closing import settle
from blankets.search.pcmb import pcd

__all__ = ["ALGORITHMS", "two_view"]

_FEWEST = 1000  # tests that each neighborhood may ask for at least
_CAPPED = 2  # columns given which a tie is tested, where all sets are too many


def two_view(
    tests: IndependenceTest,
    target: int,
    candidates: Sequence[int],
    *,
    alpha: float,
    trace: Trace,
    tests_a_column: int = 10,
) -> Found:
    """Return the Markov blanket of ``target`` among ``candidates``.

    Parameters
    ----------
    tests : IndependenceTest
        The questions.
    target : int
        Column.
    candidates : sequence of int
        Other columns.
    alpha : float
        Significance level.
    trace : Trace
        Told each decision.
    tests_a_column : int
        How many tests the search for the neighbors of one column may ask for, for each other column. 0: nothing is
        proposed.

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets.independence import DSeparation
    >>> tests = DSeparation(nx.DiGraph(["ab", "cb", "cd"]))  # a -> b <- c -> d
    >>> found = two_view(tests, 0, [1, 2, 3], alpha=0.01, trace=Trace())
    >>> found.members, found.roles
    ((1, 2), {1: 'child', 2: 'spouse'})
    """
    most = max(tests_a_column * len(candidates), _FEWEST) if tests_a_column else 0
    search = LocalSearch(tests.by_formula(), target, candidates, alpha=alpha, max_given=None, trace=Trace())

    def raw(x: int) -> Neighborhood:
        return search.learn(("within", most), x, lambda own, y, log: _within(own, y, log, most))

    trace.phase("proposals")
    own = symmetric(raw, target)
    members = settle(tests, target, candidates, (), alpha=alpha, trace=trace, trusted=own.members)
    deep = [x for x in (target, *raw(target).members) if _too_deep(search, raw(x))]
    if deep and most:
        trace.note(
            f"The search for neighbors through small sets stopped at {most:,} tests for "
            f"{tests.names[deep[0]]!r}{f' and {len(deep) - 1} more' if len(deep) > 1 else ''}, so that "
            f"fewer columns were proposed; who is in was decided given the whole blanket (option tests_a_column)."
        )

    def inside(x: int) -> Neighborhood:
        return replace(raw(x), members=tuple(z for z in raw(x).members if z in members))

    kept = replace(own, members=tuple(x for x in members if x in own.members))
    told = blanket_of(search, kept, inside)
    told = replace(told, members=members, separators={x: z for x, z in told.separators.items() if x not in members})
    limited = any(raw(x).capped or _too_deep(search, raw(x)) for x in (target, *raw(target).members))
    # Sets that were not tried may be those which tell a spouse from a neighbor.
    return replace(told, roles={}, common_children={}) if limited else told


def _within(search: LocalSearch, y: int, log: Trace, most: int) -> Neighborhood:
    """Return the neighbors of ``y`` by as many tests as are allowed; none, if they do not do."""
    for cap in (None, _CAPPED):
        limited = LimitedTests(search.tests, most)
        try:
            within = LocalSearch(
                limited, y, search.others(y), alpha=search.alpha, max_given=cap, trace=Trace(members=log.members)
            )
            return pcd(within, y, log)
        except OutOfTests:
            log.decisions.clear()
            log.scans.clear()
    return Neighborhood(members=(), untested=frozenset(search.others(y)), log=log)


def _too_deep(search: LocalSearch, found: Neighborhood) -> bool:
    return len(found.untested) == len(search.columns) - 1


ALGORITHMS = (
    Algorithm(
        name="two-view",
        run=two_view,
        reference="This library; see the page on algorithms. Its parts: Peña, Björkegren & Tegnér (2005), and "
        "inter-IAMB of Tsamardinos, Aliferis & Statnikov (2003).",
        sound=True,
        roles=False,
        when="The default: closed by construction, sparing of rows, and never much slower than IAMB.",
    ),
)
