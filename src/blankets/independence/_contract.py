"""The four questions that every search algorithm may ask.

**test** one pair; **scan** many x against one y; **drop-one** each member given the rest; **separate**
a pair by subsets of a set. An implementation answers `scan` in one batch; the other three follow from
it here, and may be overridden by faster ones.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import chain, combinations
from threading import get_ident
from typing import Any, TypedDict, TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from blankets.independence._evidence import Evidence, EvidenceBatch, Given
from blankets.stats import weaker_than

Columns = Sequence[int] | NDArray[np.int64]
T = TypeVar("T")


class Sets(TypedDict, total=False):
    """Which subsets `IndependenceTest.separate` tries; default: all."""

    containing: int | None  # only subsets with this element: the others were tried before
    # min_size, max_size: sizes of the smallest and the largest subset to try
    min_size: int
    max_size: int | None
    stop_at: float | None  # a significance level: the first subset that makes an x independent at it is the last


def sizes_of(sets: Sets, deepest: int) -> tuple[int, int]:
    """Return the smallest and the largest size to try, where larger ones than ``deepest`` are of no use.

    >>> sizes_of({"max_size": 3}, 5), sizes_of({"min_size": 1}, 2)
    ((0, 3), (1, 2))
    """
    most = sets.get("max_size")
    return sets.get("min_size", 0), deepest if most is None else min(most, deepest)


class IndependenceTest(ABC):
    """Answers, for numbered columns: is x independent of y given a set, and if not, how strong is the dependence?"""

    names: tuple[str, ...]  # names of the columns; everything else uses column numbers
    n_tests: int  # number of tests performed so far (unreliable ones are not performed)
    looked_at: int = 0  # rows that are counted for a test; it may use fewer, because values are missing
    memo: dict[Hashable, Any]  # results of algorithms on these data that may be needed again (see `remember`)

    @abstractmethod
    def scan(
        self, xs: Columns, y: int, given: Sequence[int] = (), *, even_if_unreliable: bool = False
    ) -> EvidenceBatch:
        """Test each of ``xs`` against ``y`` given one set, in one batch.

        ``xs``: candidates; none of them is ``y`` or in ``given``. ``y``: the other variable. ``given``: the
        conditioning set. ``even_if_unreliable``: compute the statistic even if there are too few rows to trust its
        p-value (for criteria that need only the information); such tests stay marked as unreliable.
        """

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Evidence:
        """Test one pair."""
        return self.scan((x,), y, given)[0]

    def drop_one(self, members: Sequence[int], y: int, only: Sequence[int] | None = None) -> EvidenceBatch:
        """Test each member, or ``only`` some of them, against ``y`` given all the other members."""
        members = tuple(members)
        asked = members if only is None else only
        return concatenated([self.scan((x,), y, tuple(z for z in members if z != x)) for x in asked])

    def separate(self, xs: Columns, y: int, among: Sequence[int], **sets: Unpack[Sets]) -> EvidenceBatch:
        """Find, for each of ``xs``, the subset of ``among`` given which its dependence on ``y`` is weakest.

        Subsets come smallest first, in the order of ``among``; the weakest dependence has the largest
        log p-value, then the smallest statistic, then comes first. Unreliable tests do not count: an x
        for which no test was performed stays unreliable.

        ``xs``: candidates; an x that is itself in ``among`` is separated by subsets without it. ``y``: the other
        variable. ``among``: the possible separating variables. ``sets``: which subsets are tried.
        """
        by_size = subsets(among, sets.get("containing"), *sizes_of(sets, self.deepest(xs, y, among)))
        return _weakest_over(self, np.array(xs, np.int64), y, by_size, sets.get("stop_at"))

    def enough_rows(self, xs: Columns, y: int, given: Sequence[int] = ()) -> NDArray[np.bool_]:
        """Return which of the tests of a scan are reliable."""
        return self.scan(xs, y, given).reliable

    def strongest_pair(self, xs: Columns, y: int, given: Sequence[int], level: float) -> Given | None:
        """Return the two of ``xs`` that tell most of ``y`` together given a set, beyond what each tells; or nothing.

        Nothing, the default: no two of them do, at a level for all pairs together, or it cannot be told at once. None:
        they are too many.
        """
        return ()

    def deepest(self, xs: Columns, y: int, among: Sequence[int]) -> int:
        """Return a bound on the size of subsets of ``among``: given larger ones, no test of ``xs`` is reliable."""
        return len(among)

    def at_level(self, level: float) -> IndependenceTest:
        """Return the same tests for decisions at another level; they are performed even in sparse tables.

        Only for tests whose p-values are right in sparse tables too; others are returned as they are.
        """
        return self

    def by_formula(self) -> IndependenceTest:
        """Return the same tests by the fastest formula, for a first answer; default: these tests."""
        return self

    def rows_for(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Return how many rows a test needs; NaN if that is not known."""
        return math.nan

    def never_causes(self, a: int, b: int) -> bool:
        """Tell whether it is known that no arrow leads from ``a`` to ``b``; default: nothing is known."""
        return False

    @property
    def n_tests_here(self) -> int:
        """Number of tests performed by this thread."""
        return self.n_tests

    def remember(self, key: Hashable, work: Callable[[], T]) -> T:
        """Return the result of ``work``, computed once for each key."""
        if key not in self.memo:
            self.memo[key] = work()
        return self.memo[key]  # type: ignore[no-any-return]


class Tally:
    """Counts over several threads: each thread has its own count, so that none is lost.

    Examples
    --------
    >>> tally = Tally()
    >>> tally.add(3)
    >>> tally.total, tally.here
    (3, 3)
    """

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}

    def add(self, n: int) -> None:
        """Add to the count of this thread."""
        me = get_ident()
        self._counts[me] = self._counts.get(me, 0) + n

    @property
    def total(self) -> int:
        """The count of all threads."""
        return sum(list(self._counts.values()))

    @property
    def here(self) -> int:
        """The count of this thread."""
        return self._counts.get(get_ident(), 0)


class CountedTests(IndependenceTest):
    """Tests that several threads may use at once, counted in ``tally``."""

    tally: Tally

    @property
    def n_tests(self) -> int:  # type: ignore[override]
        """Number of tests performed so far."""
        return self.tally.total

    @property
    def n_tests_here(self) -> int:
        """Number of tests performed by this thread."""
        return self.tally.here


def subsets(
    among: Iterable[int], containing: int | None = None, min_size: int = 0, max_size: int | None = None
) -> Iterator[Iterator[Given]]:
    """Yield, for each size, the subsets of ``among`` (only those with ``containing``, if given).

    >>> [s for size in subsets([1, 2, 3], max_size=2) for s in size]
    [(), (1,), (2,), (3,), (1, 2), (1, 3), (2, 3)]
    >>> [s for size in subsets([1, 2, 3], containing=2) for s in size]
    [(2,), (1, 2), (2, 3), (1, 2, 3)]
    """
    among = tuple(among)
    largest = len(among) if max_size is None else min(max_size, len(among))
    fixed = () if containing is None else (containing,)
    rest = tuple(z for z in among if z != containing)
    for size in range(max(len(fixed), min_size), largest + 1):
        chosen = combinations(rest, size - len(fixed))
        yield (tuple(z for z in among if z in fixed or z in some) if fixed else some for some in chosen)


def _weakest_over(
    tests: IndependenceTest,
    columns: NDArray[np.int64],
    y: int,
    by_size: Iterable[Iterable[Given]],
    stop_at: float | None,
) -> EvidenceBatch:
    """Scan the undecided columns given each set in turn and keep the weakest evidence of each."""
    n = len(columns)
    statistic, dof, log_p, effect = np.full(n, np.nan), np.zeros(n), np.full(n, np.nan), np.full(n, np.nan)
    reliable = np.zeros(n, dtype=bool)
    where: list[Given] = [()] * n
    settled = np.zeros(n, dtype=bool)
    log_alpha = math.inf if stop_at is None else math.log(stop_at)
    n_rows = np.ones(n, np.int64)
    method, held = np.zeros(n, np.int8), np.ones(n, bool)
    methods: tuple[str, ...] = ("",)

    for given in chain.from_iterable(by_size):
        at = np.flatnonzero(~settled & ~np.isin(columns, given))
        if not len(at):
            continue
        batch = tests.scan(columns[at], y, given)
        batch_log_p = batch.log_p  # first: a lazy batch knows only then what is reliable
        unheld = at[~batch._held() & ~reliable[at]]
        held[unheld] = False
        weaker = batch.reliable & (~reliable[at] | weaker_than(batch_log_p, batch.statistic, log_p[at], statistic[at]))
        new = at[weaker]
        statistic[new], dof[new], log_p[new] = batch.statistic[weaker], batch.dof[weaker], batch.log_p[weaker]
        effect[new] = batch.effect[weaker]
        n_rows[new] = batch.n_rows if isinstance(batch.n_rows, int) else batch.n_rows[weaker]
        methods = tuple(dict.fromkeys((*methods, *batch.methods)))  # batches may number their methods differently
        method[new] = _number_of_method(batch, methods)[weaker]
        reliable[new], held[new] = True, True
        for i, k in zip(new.tolist(), np.flatnonzero(weaker).tolist(), strict=True):
            where[i] = batch.given_of(k)  # which may be more than was asked for
        settled[new] |= log_p[new] > log_alpha
        if settled.all():
            break
    return EvidenceBatch(
        columns,
        y,
        where,
        statistic=statistic,
        dof=dof,
        n_rows=n_rows,
        reliable=reliable,
        log_p=log_p,
        effect=effect,
        method=method,
        methods=methods,
        held=held,
    )


def concatenated(batches: list[EvidenceBatch], asked: Given | None = None) -> EvidenceBatch:
    """Put batches about the same y, each with its own conditioning set, into one.

    ``asked``: the set that was asked for, if it is one.
    """
    methods = tuple(dict.fromkeys(("", *(word for b in batches for word in b.methods))))
    told = [_number_of_method(b, methods) for b in batches]
    return EvidenceBatch(
        np.array([x for b in batches for x in b.xs], np.int64),
        batches[0].y if batches else -1,
        [b.given_of(i) for b in batches for i in range(len(b))],
        statistic=np.array([s for b in batches for s in b.statistic], float),
        dof=np.array([d for b in batches for d in b.dof], float),
        n_rows=np.concatenate([np.broadcast_to(b.n_rows, len(b)) for b in batches]) if batches else 1,
        reliable=np.array([r for b in batches for r in b.reliable], bool),
        log_p=np.array([p for b in batches for p in b.log_p], float),
        effect=np.array([e for b in batches for e in b.effect], float),
        by_effect=batches[0].by_effect if batches else False,
        method=np.concatenate(told) if len(methods) > 1 else None,
        methods=methods if len(methods) > 1 else (),
        asked=asked,
        held=np.concatenate([b._held() for b in batches]) if any(b.held is not None for b in batches) else None,
    )


def side_by_side(second: NDArray[np.bool_], batches: list[EvidenceBatch], asked: Given | None = None) -> EvidenceBatch:
    """Put batches about some columns, then about the ``second`` ones, into the order of all columns."""
    order = np.argsort(np.argsort(second, kind="stable"), kind="stable")
    return concatenated(batches, asked).where(order)


def _number_of_method(batch: EvidenceBatch, methods: tuple[str, ...]) -> NDArray[np.int8]:
    """Return the position of each test's method among the methods of several batches; without a method: 0, no words."""
    if batch.method is None:
        return np.zeros(len(batch), np.int8)
    place = np.array([methods.index(word) for word in batch.methods], np.int8)
    return place[batch.method]
