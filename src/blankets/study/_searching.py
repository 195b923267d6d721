"""`Search`: one algorithm with its options, run on a target of a study, and its outcome put into names."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from threading import Event
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from blankets.arguments import flag, generator_from, level_of
from blankets.counting import MemoryCounter
from blankets.data import Frame
from blankets.errors import DuplicateColumnWarning, Interrupted, ParameterError, TooFewRowsWarning, listed, warn
from blankets.independence import IndependenceTest, Knowledge
from blankets.results import Blanket, Effects, bias_sentence, describe, determined_sentence, emptied_sentence
from blankets.search import (
    Algorithm,
    Found,
    Trace,
    check_options,
    choose,
    close,
    directions_of,
    evidence_of,
    find,
    levels_of_members,
    orient,
    resolve_roles,
    settle,
    squeezed,
    with_other_ends,
    with_required,
)
from blankets.study._about import about_rows
from blankets.study._asking import asked_given, independence_tests
from blankets.study._assumed import assumptions_said, settings_of
from blankets.study._checks import checked
from blankets.study._effects import Chosen, member_effects
from blankets.study._knowing import Knowing
from blankets.study._label_bias import label_biases
from blankets.study._one_hot import one_hot_sentences
from blankets.study._study import Seed, Study, Tell
from blankets.voice import option

LOG = logging.getLogger("blankets")
NOTHING_KNOWN = Knowledge()
FEW_CELLS = 10_000_000  # rows x columns: for smaller tables, results get their names when they are first used


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """The search that the user wants."""

    algorithm: Algorithm | None  # None: chosen by rows, features and levels
    options: Mapping[str, Any]  # options of the algorithm
    alpha: float  # the level of the tests
    roles: bool  # whether to find parents, children and spouses
    close: bool = True  # whether the answer is checked against the definition of a blanket, and repaired
    knowledge: Knowledge = NOTHING_KNOWN  # what the user knows beforehand
    audit: bool = False  # whether the answer is looked over for what `audit` warns of

    @classmethod
    def of(
        cls,
        algorithm: str,
        options: Mapping[str, Any] | None,
        alpha: float,
        *,
        roles: bool = False,
        close: bool = True,
        knowledge: Knowledge | Mapping[str, Any] | None = None,
        audit: bool = False,
    ) -> Self:
        """Check the user's options."""
        level_of(alpha)
        chosen = {} if options is None else options
        if not isinstance(chosen, Mapping):
            raise ParameterError.out_of_range("options", options, "a mapping of options of the algorithm to values")
        automatic = isinstance(algorithm, str) and algorithm == "auto"
        named = None if automatic else _checked(algorithm, chosen)
        known = Knowledge.of(knowledge)
        if named is not None and named.name == "sll" and not known.is_empty:
            raise ParameterError(
                f"{option('knowledge')} is for algorithms that test independence, but 'sll' scores networks"
            )
        return cls(named, chosen, alpha, flag("roles", roles), flag("close", close), known, flag("audit", audit))

    @property
    def about(self) -> dict[str, object]:
        """What identifies the answers in a checkpoint."""
        name = "auto" if self.algorithm is None else self.algorithm.name
        return {"algorithm": name, "options": dict(self.options), "alpha": self.alpha, "roles": self.roles} | (
            {} if self.knowledge.is_empty else {"knowledge": self.knowledge}
        )


@dataclass(frozen=True, eq=False)
class Search:
    """One algorithm with its options, ready to run on any target."""

    study: Study  # the table
    tests: IndependenceTest  # what the algorithm asks
    knows: Knowing  # what the user knows, which these tests take into account
    arities: NDArray[np.int64]  # numbers of levels of all columns; for the target, those of its surrogate
    n_rows: int  # rows that tests with the target may use
    settings: Mapping[str, Any]  # all choices
    said: tuple[str, ...]  # what is assumed, in sentences
    wanted: Wanted  # what the user asked for
    algorithm: Algorithm  # the algorithm to run
    why: str  # why this one, if it was picked for the user
    rng: np.random.Generator  # for algorithms that draw random numbers
    drivers: tuple[int, ...] = ()  # columns on which labeling depends, known or found
    tell: Tell | None = None  # called with a sentence for each step
    stop: Event | None = None  # set when another thread was stopped

    @classmethod
    def of(cls, study: Study, wanted: Wanted, rng: Seed = None, *, brief: bool = False) -> Self:
        """Prepare a search: the surrogate of the target, the algorithm, the tests; ``brief``: nothing will be said."""
        named = wanted.algorithm
        column = study.stand_in(None if named is None else named.surrogate)
        arities = study.arities.copy()
        if column is not None:
            arities[study.target] = len(column.levels)
        n_rows = study.n_rows if column is None or study.labels.scores is not None else column.n_rows
        chosen, why = named, ""
        if chosen is None:
            picked, why = choose()
            chosen = _checked(picked, wanted.options)
        # A false discovery rate compares p-values with many levels, and not with alpha alone.
        level = None if chosen.controls == "fdr" else wanted.alpha
        drivers = asked_given(study, column)
        knows = Knowing.of(
            study,
            wanted.knowledge,
            lambda wider: independence_tests(wider, column, level=level, rng=rng),
        )
        settings = settings_of(study, column, drivers) | ({"knowledge": knows.words} if knows.words else {})
        said: tuple[str, ...] = ()
        if not brief:
            offered = one_hot_sentences(study, knows.known)
            said = (*assumptions_said(study, column, drivers), *about_rows(study), *study.report.notes, *offered)
        return cls(
            study=study,
            tests=knows.tests,
            knows=knows,
            arities=arities,
            n_rows=n_rows,
            settings=settings,
            said=said,
            wanted=wanted,
            algorithm=chosen,
            why=why,
            rng=generator_from(rng),
            drivers=drivers,
            tell=study.tell,
        )

    def _effects(
        self, target: int, members: Sequence[int], found: Found, levels: Mapping[int, float]
    ) -> Effects | None:
        """Return the effects of members, given what every test with the target is given.

        That are columns of the user, and those on which labeling depends; those that were found may be members.
        """
        drivers = self.drivers if target == self.study.column else ()
        always = dict.fromkeys(x for x in (*self.knows.known.always, *drivers) if x not in members)
        p = {e.x: e.log_p for e in found.evidence if e.reliable}
        chosen = {x: Chosen(math.log(level), p.get(x, math.nan)) for x, level in levels.items() if level > 0}
        return member_effects(self.study, target, members, tuple(always), chosen)

    def blanket_of(self, target: int, others: Collection[int] = (), alone: Collection[int] = ()) -> Blanket:
        """Run the search and return its result with names.

        ``others``: columns that have the target in their blankets; ``alone``: weak members that do not.
        """
        began = time.perf_counter()
        tests, names = self.tests, self.tests.names
        tests_before = tests.n_tests_here
        trace = Trace(listener=self._listener(names[target]))
        try:
            found, against = self._run(target, trace, others, alone)
        except KeyboardInterrupt:
            held = [names[x] for x in trace.members]
            raise Interrupted(names[target], held, trace.decisions[-1].phase if trace.decisions else "") from None
        levels = levels_of_members(
            found,
            trace,
            self.algorithm,
            alpha=self.wanted.alpha,
            n_columns=len(names) - 1,
            known=self.knows.required(target),
        )
        same = target == self.study.column and names == self.study.names  # groups of columns have other names
        biases = label_biases(self.study, found.evidence) if same else {}
        blanket = describe(
            found,
            trace,
            names=names,
            target=target,
            evidence=found.evidence,
            label_bias=biases,
            algorithm=self.algorithm,
            why=self.why,
            settings={
                **self.settings,
                **{"alpha": self.wanted.alpha, "roles": self.wanted.roles, "close": self.wanted.close},
                **self.wanted.options,
            },
            n_rows=self.n_rows,
            n_tests=tests.n_tests_here - tests_before,
            seconds=time.perf_counter() - began,
            warnings=[
                *(*self.said, *against, *self._untestable(target, found.members)),
                *(*self._never_together(target, found), *([bias_sentence(biases)] if biases else ())),
            ],
            data=self.study.report_as_data,
            excluded=self.study.set_aside | self.knows.excluded,
            by_effect=self.study.testing.strength == "information",
            effects=lambda members: self._effects(target, members, found, levels),
            checks=lambda members: checked(self.study.one_table, target, members) if self.wanted.audit else (),
            call=self.study.mark,
            measured=self.study.measured,
            n_classes=int(self.study.arities[target]) if same else 2,
            deepest=self._deepest(target),
            levels=levels,
        )
        _log(blanket)
        in_memory = self.study.has_numbers or isinstance(getattr(tests, "counter", None), MemoryCounter)
        if self.n_rows * len(names) > FEW_CELLS or not in_memory:
            blanket.tell()  # otherwise it would keep the data in memory, or use an engine that may be closed
        if found.closed:
            return blanket
        unfree = _some_without_freedom(trace, (*found.members, *self.knows.known.always))
        sentence = determined_sentence(blanket) if unfree else None
        if not found.members:
            sentence = sentence or emptied_sentence(blanket)
        if sentence is None:
            return blanket
        warn(sentence, DuplicateColumnWarning)
        return replace(blanket, warnings=(*blanket.warnings, sentence))

    def _deepest(self, target: int) -> int:
        """Return the most members given which the search could test a column; 0 if it does not ask that again."""
        if not self.algorithm.looks_again:
            return 0
        others = [x for x in range(len(self.tests.names)) if x != target]
        return self.tests.deepest(others, target, others)

    def members_of(self, target: int) -> tuple[str, ...]:
        """Run the search and return the names of the members only, which takes less time."""
        if self.knows.words:  # they may have other names
            return self.blanket_of(target).members
        trace = Trace(brief=True, listener=self._listener(self.tests.names[target]))
        found, candidates = self._searched(target, trace)
        members, alpha = found.members, self.wanted.alpha
        if self._closes:
            members = settle(self.tests, target, candidates, members, alpha=alpha, trace=trace, stay=members)
        return tuple(self.tests.names[x] for x in members)

    @property
    def _closes(self) -> bool:
        """Whether the answer must be a whole blanket, and the p-values allow to check that."""
        valid = self.settings.get("surrogate") != "pairwise" and self.settings.get("surrogate_is_valid") is not False
        blanket = self.algorithm.finds == "blanket" and self.algorithm.controls != "nothing"
        return self.wanted.close and blanket and valid

    @property
    def asks_both_ends(self) -> bool:
        """Whether columns that find each other from one end only are asked again; where this was measured."""
        return self._closes and self.study.has_numbers and self.algorithm.name == choose()[0]

    def _run(
        self, target: int, trace: Trace, others: Collection[int], alone: Collection[int]
    ) -> tuple[Found, list[str]]:
        """Search and close; return the answer, and what the data say against what is known."""
        tests, knows, alpha = self.tests, self.knows, self.wanted.alpha
        found, candidates = self._searched(target, trace)
        required = knows.required(target)
        if others or alone:
            found = with_other_ends(tests, target, candidates, found, others, alone, alpha=alpha, trace=trace)
        if self._closes:
            found = close(tests, target, candidates, found, alpha=alpha, trace=trace, required=required)
        else:
            found = with_required(tests, target, found, required, alpha=alpha, trace=trace)
        if self.wanted.roles or knows.known.directed:
            found = knows.with_directions(self._with_roles(found, target, trace), target)
            checked = [x for x in found.members if x not in found.unchecked]
            found = replace(found, directions=directions_of(tests, target, checked, alpha=alpha))
        else:  # a direction rests on more than membership does: nobody is told one unasked
            found = replace(found, roles={}, common_children={})
        if not found.evidence:
            found = replace(found, evidence=evidence_of(tests, target, found.members, alpha=alpha))
        return knows.told(found, target, trace, alpha)

    def _searched(self, target: int, trace: Trace) -> tuple[Found, list[int]]:
        """Run the algorithm; return what it found, and among which columns."""
        alone = (*self.study.one_class, *self.study.one_valued) if target == self.study.column else ()
        aside = {*self.study.known_drivers, *alone}
        candidates = [x for x in self.knows.candidates(target) if x not in aside]
        options = {"rng": self.rng, **self.wanted.options} if "rng" in self.algorithm.options else self.wanted.options
        alpha = self.wanted.alpha
        return self.algorithm.run(self.tests, target, candidates, alpha=alpha, trace=trace, **options), candidates

    def _with_roles(self, found: Found, target: int, trace: Trace) -> Found:
        """Find neighbors and spouses, and parents and children where the data can show it."""
        tests, alpha = self.tests, self.wanted.alpha
        checked = [x for x in found.members if x not in found.unchecked]
        # Columns that entered by a test given all members, or are required, have no role: neighbors they need not be.
        if found.entered or any(x not in found.roles for x in checked):
            resolved = resolve_roles(tests, target, checked, alpha=alpha, trace=trace)
            return replace(found, roles=resolved.roles, common_children=resolved.common_children)
        neighbors = [x for x in checked if found.roles.get(x) != "spouse"]
        return replace(found, roles=orient(tests, target, neighbors, found.common_children, alpha=alpha))

    def _listener(self, target: str) -> Callable[[str], None] | None:
        """Return a function for every step: it reports progress, and ends the search if another thread was stopped."""
        tell, stop = self.tell, self.stop
        if tell is None and stop is None:
            return None

        def listener(phase: str) -> None:
            if stop is not None and stop.is_set():
                raise KeyboardInterrupt
            if tell is not None:
                tell(f"{self.algorithm.name} on {target!r}: {phase}")

        return listener

    def _never_together(self, target: int, found: Found) -> list[str]:
        """Warn if there are too few rows to test any member given another: redundant members were not found."""
        tests, members = self.tests, found.members
        if found.closed and not found.unchecked:
            return []
        if len(members) < 2 or any(tests.deepest([x], target, [z for z in members if z != x]) for x in members):
            return []
        sentence = (
            f"{self.n_rows:,} rows are too few to test any of the {len(members)} members given another one, so "
            f"that redundant ones could not be found: cut or merge their levels "
            f"(for example {option(discretize='equal-frequency')}, {option(n_bins=3)}), or lower 'reliability'"
        )
        warn(sentence, TooFewRowsWarning)
        return [sentence]

    def _untestable(self, target: int, members: Collection[int]) -> list[str]:
        """Warn of columns with too many levels for any test, even without conditioning; some are members all the same.

        A copy of the target is dependent beyond doubt, however few the rows.
        """
        if self.study.own is not None:  # it decides itself what it can test
            return []
        arities = self.arities
        each = self.study.testing.reliability * (int(arities[target]) - 1)  # rows for a degree of freedom
        if each * (int(arities.max()) - 1) <= self.n_rows:
            return []
        never = np.flatnonzero(each * (arities - 1) > self.n_rows)
        beyond = [self.tests.names[x] for x in never if x != target and x not in members]
        if not beyond:
            return []
        table = self.study.table
        levels = dict(zip(table.names, table.levels, strict=True)) if isinstance(table, Frame) else {}
        numeric = {name for name, of in levels.items() if all(isinstance(level, Real) for level in of)}
        rules = {name: "number" for name in beyond if name in numeric}
        sentence = (
            f"{self.n_rows:,} rows are too few to test {listed(beyond)} against "
            f"{self.tests.names[target]!r} at all: merge their levels, or lower 'reliability'"
            + f"; or say that they are numbers, with {option(discretize=rules)}"
            * bool(rules)
        )
        warn(sentence, TooFewRowsWarning)
        return [sentence]


def _checked(name: str, options: Mapping[str, Any]) -> Algorithm:
    """Return an algorithm by name, and check its options."""
    algorithm = sll() if squeezed(name) == "sll" else find(name, others=("sll",))
    check_options(algorithm, options)
    return algorithm


def sll() -> Algorithm:
    """Return the algorithm that scores networks instead of testing independence."""
    from blankets.latent import SLL

    return SLL


def _some_without_freedom(trace: Trace, members: tuple[int, ...]) -> bool:
    """Tell whether a test given a column outside had no degrees of freedom: a quick check, before names are given."""
    inside = frozenset(members)
    if any(d.evidence.dof == 0 and not inside.issuperset(d.evidence.given) for d in trace.decisions):
        return True
    batches = (b for _, b in trace.scans if isinstance(b.given, list) or not inside.issuperset(b.given))
    return any((batch.reliable & (batch.dof == 0)).any() for batch in batches)


def _log(blanket: Blanket) -> None:
    """Log the answer as information, every decision for debugging."""
    LOG.info("%s: %s by %s, %d tests", blanket.target, blanket.members, blanket.algorithm, blanket.n_tests)
    if LOG.isEnabledFor(logging.DEBUG):
        for step in blanket.decisions:
            LOG.debug(
                "%s: %s %s, p = %.3g, given %s", step.phase, step.x, step.action, step.evidence.p, step.evidence.given
            )
