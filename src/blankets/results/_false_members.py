"""How many members of a blanket are expected by chance, from the record of its search."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from blankets.results._words import count_of, digits
from blankets.stats import Admission, FalseMembers, expected_false_members

if TYPE_CHECKING:
    from blankets.independence import EvidenceBatch
    from blankets.results._blanket import Blanket
    from blankets.search import Algorithm, Trace

_SPOUSES = ("spouses", "colliders")  # phases in which a column is tested once for each child
_EDGES = "edges"  # phase that finds neighbors whose own neighbors become spouses without such a test


@dataclass(frozen=True, slots=True, kw_only=True)
class Chances:
    """What of a search decides how many members it finds by chance.

    ``n_tests``: tests with the target that could have admitted a column. ``dof``: for each column the fewest degrees of
    freedom of its tests with the target. ``measured``: columns of which functions are tested; if the target is one of
    them, functions of all are. ``n_classes``: of the target. ``deepest``: most members given which a column can be
    tested.
    """

    n_tests: float
    dof: NDArray[np.float64]
    measured: Collection[str] = ()
    n_classes: int = 2
    deepest: int = 0


def n_chances(trace: Trace, target: int, n_columns: int) -> float:
    """Count the tests with the target that could have admitted a column: one for each set it was scanned given.

    A search by subsets gives each column one chance, because all of its tests must be wrong; and one more for each
    child that might make it a spouse. Closing tests at a lower level, so that its tests count in part.
    """
    times = np.zeros(n_columns, np.int64)
    looks: dict[tuple[int, ...], EvidenceBatch] = {}
    closing = 0.0
    for phase, batch in trace.scans:
        key = None if batch.asked is None else tuple(sorted(batch.asked))
        if batch.y != target:
            continue
        usable = batch.reliable & (batch.dof > 0)
        if phase == "closing" and key is not None:
            closing += np.count_nonzero(usable) * min(1.0, (len(key) + 1) / (n_columns - 1))  # methods (16.1)
        elif key is None:
            times[batch.xs[batch.reliable]] = np.maximum(times[batch.xs[batch.reliable]], 1)
        elif key not in looks or len(batch) > len(looks[key]):
            looks[key] = batch
    for batch in looks.values():
        times[batch.xs[batch.reliable & (batch.dof > 0)]] += 1
    told = [d for d in trace.decisions if d.evidence.y == target and d.evidence.reliable]
    single = [d.x for d in told]
    times[single] = np.maximum(times[single], 1)
    edges = sum((d.action, d.phase) == ("admitted", _EDGES) for d in told)
    return float(times.sum()) + sum(d.phase in _SPOUSES for d in told) + edges * (n_columns - 1) + closing


def least_dof(trace: Trace, target: int, n_columns: int) -> NDArray[np.float64]:
    """Return the smallest degrees of freedom of the tests of each column with the target; NaN without any."""
    least = np.full(n_columns, np.inf)
    for _, batch in trace.scans:
        if batch.y == target:
            np.minimum.at(least, batch.xs, np.where(batch.reliable & (batch.dof > 0), batch.dof, np.inf))
    for decision in trace.decisions:
        evidence = decision.evidence
        if evidence.y == target and evidence.reliable and evidence.dof > 0:
            least[evidence.x] = min(least[evidence.x], evidence.dof)
    return np.where(np.isinf(least), np.nan, least)


def false_members(blanket: Blanket, algorithm: Algorithm, chances: Chances) -> FalseMembers | None:
    """Return the expected number of false members, from the last test of each column; None if no error rate is held."""
    controls = algorithm.controls
    alpha = blanket.settings.get("alpha")
    if controls == "nothing" or not isinstance(alpha, float) or blanket.settings.get("surrogate_is_valid") is False:
        return None
    position = {name: j for j, name in enumerate(blanket.columns)}
    log_p, dof = np.full((2, len(blanket.columns)), np.nan)
    looks = blanket.passed_over
    at = np.flatnonzero(looks.reliable)
    log_p[looks.columns[at]], dof[looks.columns[at]] = looks.log_p[at], looks.dof[at]
    told = [step.evidence for step in blanket.decisions if step.evidence.y == blanket.target]
    for evidence in (*told, *blanket.strengths.values()):
        if evidence.reliable and evidence.x in position:
            log_p[position[evidence.x]], dof[position[evidence.x]] = evidence.log_p, evidence.dof
    measured = blanket.target in chances.measured
    functions = np.array([measured or name in chances.measured for name in blanket.columns], np.bool_)
    own = np.fmin(chances.dof, dof)
    freedom = math.sqrt(np.nanmedian(own)) if measured and np.isfinite(own).any() else chances.n_classes - 1.0
    how = _admission(blanket, algorithm, chances, alpha, {x for x, j in position.items() if not functions[j]})
    known = expected_false_members(
        *(log_p, dof, alpha),
        n_chances=chances.n_tests,
        own_dof=own,
        how=replace(how, target_dof=max(freedom, 1.0), n_rows=max(blanket.n_rows, 1)),
        functions=functions,
    )
    if controls == "fdr":
        return replace(known, expected=None, at_most=None, controls="fdr")
    return known if algorithm.expectation else replace(known, expected=None)


def _admission(
    blanket: Blanket, algorithm: Algorithm, chances: Chances, alpha: float, by_tables: Collection[str]
) -> Admission:
    """Return how the search admits columns.

    A search through small sets admits a false member only if its tests given the others are wrong too: given true
    members (those that are clear even among so many columns) and given false ones; if neighbors are checked from both
    ends, also those at its own end. In a search that grows those are true that were clear when they entered.
    """
    clear = math.log(alpha / max(len(blanket.columns) - 1, 1))
    told = dict(blanket.strengths)
    if algorithm.looks_again:  # later members were chosen given the earlier ones, so that chance supports chance
        told |= {d.evidence.x: d.evidence for d in blanket.decisions if d.action == "admitted"}
    sure = sum(e.reliable and e.log_p <= clear for x, e in told.items() if x in blanket.members and x in by_tables)
    both = algorithm.both_ends or bool(blanket.settings.get("symmetric"))
    return Admission(
        ends=(2 if both else 1) if algorithm.roles else 0,
        together=algorithm.together,
        n_true=sure,
        deepest=chances.deepest if algorithm.looks_again else None,
        closes=blanket.closed,
    )


def false_members_sentence(blanket: Blanket) -> str:
    """Return the expected number of false members in words; empty where it is not known and all were checked."""
    return " ".join(filter(None, (_expected(blanket), _not_checked(blanket))))


def _not_checked(blanket: Blanket) -> str:
    """Say how many members may be redundant because they could not be tested; the error rate does not cover them."""
    if not blanket.unchecked:
        return ""
    them = "it" if len(blanket.unchecked) == 1 else "each of them"
    return (
        f"{len(blanket.unchecked):,} of the {count_of(len(blanket), 'member')} could not be checked for redundancy, "
        f"because there are too few rows: the others may make {them} redundant."
    )


def _expected(blanket: Blanket) -> str:
    known = blanket.false_members
    if known is None or not known.n_tested:
        return ""
    columns = count_of(known.n_tested, "column")
    if known.controls == "fdr":
        return (
            f"False discovery rate: {known.alpha:g} ({columns} tested). On average over many tables, at most that "
            "share of the members is false. It does not say how many are false here: if no column has to do with the "
            "target, all members are."
        )
    chances = f"{count_of(known.chances, 'chance')} at level {known.alpha:g}"
    return f"Expected false members: {expected_words(known)} ({columns}, {chances})."


def expected_words(known: FalseMembers) -> str:
    """Return the expected number and its bound, as far as they are known: "about 0.3, at most 2", "at most 2"."""
    bound = "" if known.at_most is None else f"at most {digits(known.at_most)}"
    return ", ".join(filter(None, (known.words, bound)))
