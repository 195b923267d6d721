"""`Knowing`: what the user knows, put around the tests of a search, and what the data say against it.

Before a search it makes the layers of tests (`blankets.independence`); after it, it compares the answer with what is
known, and puts groups and columns that are always given back into the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Self, TypeGuard

import numpy as np

from blankets.data import Frame
from blankets.errors import KnowledgeWarning, ParameterError, listed, warn
from blankets.independence import (
    AlwaysGiven,
    Evidence,
    IndependenceTest,
    Knowledge,
    KnownColumns,
    TieredTests,
    TogetherTests,
)
from blankets.results import joined, p_is, shown
from blankets.search import Found, Trace, resolve_roles
from blankets.study._study import Study, Table
from blankets.study._told import told_to_user, without
from blankets.voice import option

Tests = Callable[[Study], IndependenceTest]


@dataclass(frozen=True, eq=False, kw_only=True)
class Knowing:
    """What is known in one search, and its tests."""

    tests: IndependenceTest  # what is asked of the data
    undirected: IndependenceTest  # the same, without what is known of directions
    words: str = ""  # what is known, in a sentence
    known: KnownColumns = field(default_factory=KnownColumns)

    @classmethod
    def of(cls, study: Study, knowledge: Knowledge, tests_of: Tests) -> Self:
        """Put the knowledge around the tests of a study; ``tests_of`` makes these."""
        if knowledge.is_empty:
            tests = tests_of(study)
            return cls(tests=tests, undirected=tests)
        known = knowledge.at(study.names, [*study.report.left_out, *map(str, study.reading.exclude)])
        _check_target(study, knowledge, known)
        wider, parts = _with_combinations(study, known.groups)
        tests = tests_of(wider)
        if known.always:
            tests = AlwaysGiven(tests, known.always)
        if parts:
            tests = TogetherTests(tests, parts, len(study.names))
        undirected = tests
        if known.directed:
            tests = TieredTests(tests, known.tier, known.never_causes)
        return cls(tests=tests, undirected=undirected, words=knowledge.in_words(), known=known)

    @property
    def excluded(self) -> dict[str, str]:
        """The columns that are neither in nor out, and why."""
        return {self.tests.names[z]: "every test is given it (always_given)" for z in self.known.always}

    def candidates(self, target: int) -> list[int]:
        """Return the columns that a search may see besides the target."""
        silent = self.known.silent
        return [x for x in range(len(self.tests.names)) if x != target and x not in silent]

    def targets(self, wanted: list[int], *, named: bool) -> list[int]:
        """Return the columns that can be targets; refuse others if the user named them."""
        cannot = self.known.silent.union(self.known.groups)
        if named and (wrong := [self.tests.names[x] for x in wanted if x in cannot]):
            raise ParameterError(
                f"{listed(wrong)} is in 'together' or 'always_given' of Knowledge, and cannot be a target"
            )
        return [x for x in wanted if x not in cannot]

    @property
    def no_targets(self) -> tuple[str, ...]:
        """A sentence about groups, of which no blanket is sought."""
        groups = [x for some in self.known.groups.values() for x in some]
        return (f"No blanket was sought of {self._all(groups)}: they belong together.",) if groups else ()

    def required(self, target: int) -> tuple[int, ...]:
        """Return the columns that must be members of the target's blanket."""
        linked = [b if a == target else a for a, b in sorted(self.known.arrows) if target in (a, b)]
        return tuple(x for x in dict.fromkeys((*self.known.required, *linked)) if x not in self.known.always)

    def with_directions(self, found: Found, target: int) -> Found:
        """Correct the roles that cannot be, by what is known: a spouse needs a child that the target can cause."""
        if not self.known.directed:
            return found
        never, roles = self.tests.never_causes, dict(found.roles)
        children = {x: c for x, c in found.common_children.items() if not (never(target, c) or never(x, c))}
        roles = {x: role for x, role in roles.items() if role != "spouse" or x in children}
        if all(never(target, x) for x in self.candidates(target)):  # nothing is an effect of the target
            able = (x for x in found.members if x not in found.unchecked and not never(x, target))
            roles |= dict.fromkeys(able, "parent")
        return replace(found, roles=roles, common_children=children)

    def told(self, found: Found, target: int, trace: Trace, alpha: float) -> tuple[Found, list[str]]:
        """Return the answer for the user, and sentences about what the data say against what is known."""
        if not self.words:
            return found, []
        said = list(self._contradictions(found, target, alpha))
        for sentence in said:
            warn(sentence, KnowledgeWarning)
        for evidence in found.evidence:
            if evidence.x in self.known.forbidden:
                trace.removed(evidence, "knowledge", "you said that it is no member (forbidden)")
        found = without(found, self.known.forbidden)
        return told_to_user(found, trace, self.known), [self.words, *said]

    # --- contradictions --------------------------------------------------------------------------------------------

    def _contradictions(self, found: Found, target: int, alpha: float) -> Iterator[str]:
        names, evidence = self.tests.names, {e.x: e for e in found.evidence}
        y = shown(names[target])
        for x in self.required(target):
            if x in evidence and evidence[x].independent(alpha):
                yield (
                    f"{self._named(x)} is required, but the data do not need it: given the other members it is "
                    f"independent of {y} ({_p(evidence[x])})"
                )
        for x in self.known.forbidden:
            if x in found.members:
                tested = x in evidence and evidence[x].reliable
                how = f" ({_p(evidence[x])} given the other members)" if tested else ""
                yield (
                    f"{self._named(x)} is forbidden, but by the data it belongs to the blanket{how}. The other "
                    f"members were tested given it; to leave it out of every test say {option(exclude=[names[x]])}"
                )
        if self.known.directed:
            yield from self._against_directions(found, target, alpha, evidence)

    def _against_directions(
        self, found: Found, target: int, alpha: float, evidence: Mapping[int, Evidence]
    ) -> Iterator[str]:
        """Compare the directions that are known with those that the data alone show."""
        checked = [x for x in found.members if x not in found.unchecked]
        alone = resolve_roles(self.undirected, target, checked, alpha=alpha, trace=Trace())
        yield from self._impossible(alone, target)
        needed = {*alone.roles, *self.required(target)}
        for x in checked:
            if x not in needed and x in evidence and evidence[x].independent(alpha):
                yield (
                    f"{self._named(x)} is a member only by the order that you gave: given the other members it is "
                    f"independent of {self.tests.names[target]!r} ({_p(evidence[x])})"
                )

    def _impossible(self, alone: Found, target: int) -> Iterator[str]:
        """Name the arrows that the data show and that are said not to exist."""
        never, names = self.tests.never_causes, self.tests.names
        arrows: list[tuple[int, int]] = []
        for x, role in alone.roles.items():
            if role == "spouse":
                arrows += [(target, alone.common_children[x]), (x, alone.common_children[x])]
            elif never(x, target) and never(target, x):
                two = f"{names[x]!r} and {names[target]!r}"
                yield f"you said that no arrow links {two}, but the other members do not separate them"
            elif role != "neighbor":
                arrows.append((x, target) if role == "parent" else (target, x))
        for cause, effect in dict.fromkeys(arrows):
            if never(cause, effect):
                yield (
                    f"the data show an arrow from {names[cause]!r} to {names[effect]!r}, but you said that there is "
                    f"none; the answer follows you"
                )

    def _named(self, x: int) -> str:
        return ", ".join(repr(self.tests.names[z]) for z in self.known.whole(x))

    def _all(self, columns: Iterable[int]) -> str:
        return joined([self.tests.names[x] for x in columns])


def _p(evidence: Evidence) -> str:
    return p_is(evidence.log_p)


def _check_target(study: Study, knowledge: Knowledge, known: KnownColumns) -> None:
    """Refuse knowledge that cannot be about this target."""
    if study.column is None:
        if knowledge.members:
            raise ParameterError(
                f"Knowledge names {listed(knowledge.members)} as members of a blanket, but here every column has its "
                f"own; give arrows, such as required=[('cause', 'effect')]"
            )
        return
    for what, columns in (
        ("required", known.required),
        ("forbidden", known.forbidden),
        ("always_given", known.always),
        ("together", [x for some in known.groups.values() for x in some]),
    ):
        if study.target in columns:
            raise ParameterError(f"the target {study.target_name!r} cannot be in {what!r} of Knowledge")


def _with_combinations(study: Study, groups: Mapping[int, tuple[int, ...]]) -> tuple[Study, dict[int, tuple[int, ...]]]:
    """Add a column of the combinations of each group of categories; return for each group what to test."""
    parts: dict[int, tuple[int, ...]] = {}
    table = study.table
    for speaker, columns in groups.items():
        if study.own is not None or study.place.cluster is not None or not _are_categories(table, columns):
            parts[speaker] = columns
            continue
        codes = np.column_stack([table.column(j) for j in columns])
        seen, combination = np.unique(codes, axis=0, return_inverse=True)
        longer = (table.names[speaker] + "+" * k for k in range(1, table.n_columns + 2))
        name = next(free for free in longer if free not in table.names)
        parts[speaker] = (table.n_columns,)
        table = table.with_column(name, combination.ravel(), tuple(map(str, seen.tolist())))
    return (study if table is study.table else replace(study, table=table)), parts


def _are_categories(table: Table, columns: Iterable[int]) -> TypeGuard[Frame]:
    if not isinstance(table, Frame):
        return False
    return not any(j in table.numbers or j in table.ordered or j in table.holes for j in columns)
