"""The input and output of an algorithm.

An algorithm is a plain function::

    def iamb(tests, target, candidates, *, alpha, trace) -> Found

of an `IndependenceTest`, a column and candidate columns (all by number). It returns what it found, and
records in the `Trace` each decision with its test. Progress bars, log lines and `Blanket.explain`
use the trace; an algorithm prints nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from math import nan
from typing import Any, Literal

from blankets.independence import Evidence, EvidenceBatch

Role = Literal["neighbor", "parent", "child", "spouse"]
# What holds of a member although causes may be hidden: the target does not act on it, it does not act on the target, or
# the target acts on it.
Direction = Literal["not an effect", "not a cause", "effect"]
Action = Literal["admitted", "removed", "passed over"]


class Doubt(StrEnum):
    """Why a column is neither in nor out."""

    FEW_ROWS = "few rows"  # rows are too few, or too full of gaps, to test it given the members
    WEAK = "weak"  # it depends on the target given the members, but not clearly enough among so many columns
    NOT_HELD_FIXED = "not held fixed"  # the members could not be held fixed in its test


@dataclass(frozen=True, slots=True)
class Undecided:
    """A column that is neither in nor out."""

    reason: Doubt
    rows: float = nan  # the number of rows that would decide it, where it is known


class Trouble(StrEnum):
    """What went wrong in a search, so that its answer may be less than it promises."""

    CYCLED = "cycled"  # it came back to a blanket it had held before, and was stopped there
    NOT_INTERLEAVED = "not interleaved"  # it came back to where it had been, and went on without interleaving
    CAPPED = "capped"  # sets of more than ``most`` columns were not tried
    LIMITED = "limited"  # it reached its limit of tests: sets of at most ``most`` columns were tried there
    KEPT = "kept"  # columns kept removing each other in closing, until none was removed any more
    BEYOND_ROWS = "beyond rows"  # rows are too few to test any other column given the ``members``
    PAIRS_NOT_ASKED = "pairs not asked"  # of ``most`` columns outside, pairs that act only together were not looked for
    ONLY_TOGETHER = "only together"  # two ``columns`` tell something of the target only together
    NO_ROLE = "no role"  # the tests among members contradict each other about some ``columns``


@dataclass(frozen=True, slots=True)
class Note:
    """One thing that the user should know about a search."""

    trouble: Trouble
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What an algorithm found about one target."""

    members: tuple[int, ...]  # the blanket (or the neighbors, for algorithms that stop there), in the order of entry
    # If the algorithm can find them. "neighbor" is a parent or child; it is not known which.
    roles: Mapping[int, Role] = field(default_factory=dict)
    directions: Mapping[int, Direction] = field(default_factory=dict)  # what holds although causes may be hidden
    # for a spouse, the child through which it was found
    common_children: Mapping[int, int] = field(default_factory=dict)
    # for variables left out, a set that separates them from the target, if one was recorded
    separators: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    # Whether every column left out was tested given the members (see `blankets.search.closing`); then:
    closed: bool = False
    # entered, left: columns added and columns removed by closing
    entered: tuple[int, ...] = ()
    left: tuple[int, ...] = ()
    evidence: tuple[Evidence, ...] = ()  # the test of each member given the others, or as many as rows allow
    unchecked: tuple[int, ...] = ()  # members that could not be tested given the others, for redundancy
    # columns that are out because some of the members separate them from the target; there are too few rows to
    # test them given all members
    partly: tuple[int, ...] = ()
    # columns that are neither in nor out
    undecided: Mapping[int, Undecided] = field(default_factory=dict)
    # for a member, the columns that could replace it
    equivalents: Mapping[int, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Decision:
    """One step of a search: what was done to a variable, in which phase, because of which test."""

    action: Action
    phase: str
    evidence: Evidence
    reason: str = ""

    @property
    def x(self) -> int:
        """The variable that the decision is about."""
        return self.evidence.x


@dataclass(slots=True)
class Trace:
    """Collects the decisions of one search and passes them to a listener."""

    listener: Callable[[str], None] | None = None
    decisions: list[Decision] = field(default_factory=list)  # admissions and removals, in order
    # phase and evidence of the scans whose candidates were not admitted, as arrays: with 139,351 features an
    # object for each would be too slow
    scans: list[tuple[str, EvidenceBatch]] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)  # what the user should know
    # the members at this moment (for a user who interrupts the search)
    members: list[int] = field(default_factory=list)
    brief: bool = False  # only the members are wanted: how they were found, and roles, may be left out

    def admitted(self, evidence: Evidence, phase: str, reason: str = "") -> None:
        """Record that ``evidence.x`` has become a member."""
        self.decisions.append(Decision("admitted", phase, evidence, reason))
        if evidence.x not in self.members:
            self.members.append(evidence.x)
        self._tell(phase)

    def removed(self, evidence: Evidence, phase: str, reason: str = "") -> None:
        """Record that the member ``evidence.x`` has been removed."""
        self.decisions.append(Decision("removed", phase, evidence, reason))
        if evidence.x in self.members:
            self.members.remove(evidence.x)
        self._tell(phase)

    def passed_over(self, evidence: Evidence | EvidenceBatch, phase: str, reason: str = "") -> None:
        """Record that candidates were tested and not admitted."""
        if isinstance(evidence, Evidence):
            self.decisions.append(Decision("passed over", phase, evidence, reason))
        else:
            self.scans.append((phase, evidence))
        self._tell(phase)

    def note(self, trouble: Trouble, **facts: Any) -> None:
        """Record something that the user should know."""
        self.notes.append(Note(trouble, facts))

    def phase(self, phase: str) -> None:
        """Record the current phase."""
        self._tell(phase)

    def _tell(self, phase: str) -> None:
        if self.listener is not None:
            self.listener(phase)


@dataclass(frozen=True, slots=True, kw_only=True)
class Algorithm:
    """An entry of the registry."""

    name: str  # as the user writes it, for example ``"inter-iamb"``
    run: Callable[..., Found]  # ``run(tests, target, candidates, *, alpha, trace, **options) -> Found``
    reference: str  # the paper it comes from
    sound: bool  # whether it returns the true blanket under faithfulness and perfect tests
    finds: Literal["blanket", "neighbors"] = "blanket"  # what the members are
    roles: bool  # whether it distinguishes neighbors and spouses
    when: str  # one sentence: when to use it
    # what it counts in place of a partly labeled target, if that is part of the published algorithm; by
    # default the most powerful valid surrogate
    surrogate: str | None = None
    both_ends: bool = False  # whether neighbors must find each other
    together: bool = False  # whether columns that separate each other all leave, and not the weaker ones
    looks_again: bool = False  # whether it looks at all columns again after each that it takes, until none depends
    # what ``alpha`` is: the level of each test, the false discovery rate among the members, or nothing
    controls: Literal["level", "fdr", "nothing"] = "level"
    expectation: bool = True  # whether there is a theory of how many members it finds by chance, or only a bound

    @property
    def options(self) -> dict[str, Any]:
        """Options beyond ``alpha`` and their defaults."""
        return dict(_options_of(self.run))


@cache
def _options_of(run: Callable[..., Found]) -> tuple[tuple[str, Any], ...]:
    parameters = inspect.signature(run).parameters.values()
    own = (p for p in parameters if p.kind is p.KEYWORD_ONLY and p.name not in ("alpha", "trace"))
    return tuple((p.name, p.default) for p in own)
