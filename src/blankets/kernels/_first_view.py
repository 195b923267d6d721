"""The members of a blanket through small sets, in one call: neighbors, the neighbors of these, and spouses.

This is the first view of `blankets.search.two_view`, step by step in the same order, for who wants its members alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from blankets.kernels._neighbors import ADMITTED, ASKED, ENDED, LONG, grow_neighbors
from blankets.kernels._questions import test_columns
from blankets.kernels._room import Formula, Table
from blankets.kernels._tail import chi2_tails
from blankets.kernels._types import *


@inner
class FirstView:
    """The limits of a first view, and what is known so far.

    Parameters
    ----------
    table : Table
    formula : Formula
    columns : list of int
        The target and the candidates, in ascending order.
    log_alpha : float
    in_all, most : float
        Tests after which no neighborhood is searched for any more, and those of one neighborhood.
    capped : int
        Largest set where all of them are too many; of a member that is kept, given so many others there are rows to
        test it.
    patience : int
        Rows x tests of one neighborhood.
    """

    table: Table
    formula: Formula
    columns: list  # type: ignore[type-arg]
    log_alpha: float64
    in_all: float64
    most: float64
    capped: int64
    patience: int64
    unknown: tuple  # type: ignore[type-arg]  # a neighborhood of which nothing is known
    known: dict  # type: ignore[type-arg]  # of each column: members, sets that separate others, columns not tested
    asked: float64
    performed: int64
    long: bint  # it takes too long for one call

    def __init__(
        self,
        table: Table,
        formula: Formula,
        columns: list,  # type: ignore[type-arg]
        log_alpha: float64,
        in_all: float64,
        most: float64,
        capped: int64,
        patience: int64,
    ) -> None:
        self.table, self.formula, self.columns, self.log_alpha = table, formula, columns, log_alpha
        self.in_all, self.most, self.capped, self.patience = in_all, most, capped, patience
        self.unknown, self.known = ((), {}, frozenset(columns)), {}
        self.asked, self.performed, self.long = 0.0, 0, False


def _has_rows(view_of: FirstView, x: int, y: int, others: list[int]) -> bool:
    """Tell whether there are enough rows to test ``x`` given some of the others, those with the fewest levels."""
    arities = view_of.table.arities
    each: float64 = view_of.formula.reliability * (arities[y] - 1) * (arities[x] - 1)  # rows for a stratum
    strata: float64 = 1.0
    for arity in sorted([arities[z] for z in others])[: view_of.capped]:
        strata *= arity
        if each * strata > view_of.table.n_rows:
            return False
    return True


def _answers_of(view_of: FirstView, xs: Any, y: int, given: Any) -> tuple[Any, Any, Any, Any]:
    """Return statistics, degrees of freedom, log p-values and which tests were performed."""
    n_tests, statistic, dof, _, _, performed = test_columns(view_of.table, view_of.formula, xs, y, given)
    view_of.long = view_of.long or n_tests < 0
    view_of.performed += n_tests
    return statistic, dof, np.asarray(chi2_tails(statistic, dof)), performed


def _grown(view_of: FirstView, y: int, capped: bool) -> tuple[int, Any, dict[int, Any], set[int], float]:
    """Search for the neighbors of a column; return why that came back, and what it found, and asked."""
    xs = np.array([x for x in view_of.columns if x != y], np.int64)
    n: float64 = xs.shape[0]
    if n > view_of.most:
        return ASKED, (), {}, set(), n
    statistic, dof, log_p, performed = _answers_of(view_of, xs, y, np.empty(0, np.int64))
    at = np.flatnonzero(~(performed & (log_p > view_of.log_alpha)))
    answers = np.full((4, at.shape[0]), np.nan)
    answers[0], answers[1], answers[2] = statistic[at], dof[at], log_p[at]
    why, members, steps, untested, _, asked, n_tests = grow_neighbors(
        view_of.table,
        view_of.formula,
        xs[at],
        y,
        answers,
        performed[at].view(np.uint8),
        view_of.log_alpha,
        view_of.capped if capped else at.shape[0],
        view_of.most - n,
        view_of.patience,
    )
    view_of.performed += n_tests
    separators = {step[2]: step[3] for step in steps if step[0] != ADMITTED}
    return why, members, separators, set(untested), n + asked


def _neighborhood(view_of: FirstView, y: int) -> Any:
    """Return the neighbors of a column that enough rows support, sets that separate others, and those not tested."""
    if y in view_of.known:
        return view_of.known[y]
    if view_of.long or view_of.asked > view_of.in_all:
        return view_of.unknown
    view_of.known[y] = view_of.unknown
    for capped in (False, True):
        why, members, separators, untested, asked = _grown(view_of, y, capped)
        if why == LONG or view_of.long:
            view_of.long = True
            break
        if why == ENDED:
            view_of.asked += asked
            sure = [x for x in members if _has_rows(view_of, x, y, [z for z in members if z != x])]
            view_of.known[y] = sure, separators, untested.union([x for x in members if x not in sure])
            break
        view_of.asked += view_of.most
    return view_of.known[y]


def _separator(found: Any, x: int) -> Any:
    """Return the set that separated a column in a neighborhood; None for a member and for one not tested."""
    members, separators, untested = found
    if x in separators:
        return separators[x]
    return None if x in members or x in untested else ()


def _mutual(view_of: FirstView, y: int) -> Any:
    """Return the neighborhood of a column without those of which it is no neighbor."""
    members, separators, untested = _neighborhood(view_of, y)
    separators, untested, kept = dict(separators), set(untested), []
    for x in members:
        other = _neighborhood(view_of, x)
        if y in other[0]:
            kept.append(x)
            continue
        given = _separator(other, y)
        if given is None:
            untested.add(x)
        else:
            separators[x] = given
    return kept, separators, untested


def _spouses(view_of: FirstView, target: int, own: Any) -> list[int]:
    """Return the neighbors of neighbors that depend on the target given the neighbor that they share."""
    spouses: list[int] = []
    for y in own[0]:
        groups: dict[Any, list[int]] = {}
        for x in _neighborhood(view_of, y)[0]:
            given = None if x == target or x in own[0] or x in spouses else _separator(own, x)
            if given is not None and y not in given:
                groups.setdefault(given, []).append(x)
        for given, xs in groups.items():
            *_, log_p, performed = _answers_of(view_of, np.array(xs, np.int64), target, np.sort(np.array([*given, y])))
            tied = np.flatnonzero(performed & (log_p <= view_of.log_alpha))
            spouses += [xs[i] for i in tied if y in _neighborhood(view_of, xs[i])[0]]
    return spouses


@door
def first_view(
    table: Table,
    formula: Formula,
    target: int64,
    columns: Ints,
    log_alpha: float64,
    in_all: float64,
    most: float64,
    capped: int64,
    patience: int64,
) -> tuple[int, Any, int]:
    """Return the members of the blanket of ``target`` among ``columns``, ascending numbers of which it is one.

    Returns why it came back (`ENDED`, or `LONG`: nothing else counts), members, and how many tests were performed.
    """
    view_of: FirstView = FirstView(
        table, formula, np.asarray(columns).tolist(), log_alpha, in_all, most, capped, patience
    )
    own = _mutual(view_of, target)
    found = [*own[0], *_spouses(view_of, target, own)]
    members = [x for x in found if _has_rows(view_of, x, target, [z for z in found if z != x])]
    return LONG if view_of.long else ENDED, members, view_of.performed
