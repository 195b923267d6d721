"""`Search`: one algorithm with its options, run on a target, and its outcome put into names."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from inspect import signature
from threading import Event
from typing import Any

import numpy as np

from blankets.counting import MemoryCounter
from blankets.errors import DuplicateColumnWarning, Interrupted, TooFewRowsWarning, listed, warn
from blankets.records import Call
from blankets.results import Blanket, describe, determined_sentence, emptied_sentence
from blankets.search import Algorithm, Found, Trace, check_options, choose, find, orient, resolve_roles
from blankets.study._setting import Setting

__all__ = ["Search", "checked", "picked", "sll"]

LOG = logging.getLogger("blankets")
FEW_CELLS = 10_000_000  # rows x columns: of fewer, results are put into names when they are asked for


@dataclass(frozen=True, eq=False)
class Search:
    """One algorithm with its options, ready to run on any target."""

    setting: Setting
    algorithm: Algorithm
    why: str
    alpha: float
    roles: bool
    options: dict[str, Any]
    rng: np.random.Generator
    tell: Callable[[str], None] | None
    call: Call
    stop: Event | None = None
    otherwise: Algorithm | None = None  # is run where near copies of each other leave nothing

    def blanket_of(self, target: int) -> Blanket:
        """Run the search and put its outcome into names."""
        began = time.perf_counter()
        tests, names = self.setting.tests, self.setting.tests.names
        tests_before = tests.n_tests_here
        trace = Trace(listener=self._listener(names[target]))
        try:
            found = self._run(target, trace)
        except KeyboardInterrupt:
            held = [names[x] for x in trace.members]
            raise Interrupted(names[target], held, trace.decisions[-1].phase if trace.decisions else "") from None
        blanket = describe(
            found,
            trace,
            names=names,
            target=target,
            evidence=tests.drop_one(found.members, target),
            algorithm=self.algorithm,
            why=self.why,
            settings={**self.setting.choices, "alpha": self.alpha, "roles": self.roles, **self.options},
            n_rows=self.setting.n_rows,
            n_tests=tests.n_tests_here - tests_before,
            seconds=time.perf_counter() - began,
            warnings=[*self.setting.said, *self._untestable(target), *self._never_together(target, found.members)],
            data=self.setting.report_as_data,
            excluded=self.setting.excluded,
            by_effect=self.setting.choices["strength"] == "information",
            call=self.call,
        )
        _log(blanket)
        if self.setting.n_rows * len(names) > FEW_CELLS or not isinstance(
            getattr(tests, "counter", None), MemoryCounter
        ):
            blanket.tell()  # it would keep the data, or ask an engine that may be gone
        sentence = determined_sentence(blanket) if _some_without_freedom(trace, found.members) else None
        if not found.members:
            sentence = sentence or emptied_sentence(blanket)
        if sentence is None:
            return blanket
        if not found.members and self.otherwise is not None:
            why = f"{self.algorithm.name} left nothing, as near copies put each other out; here one of them stays."
            return replace(self, algorithm=self.otherwise, why=why, otherwise=None).blanket_of(target)
        warn(sentence, DuplicateColumnWarning)
        return replace(blanket, warnings=(*blanket.warnings, sentence))

    def _run(self, target: int, trace: Trace) -> Found:
        tests = self.setting.tests
        candidates = [x for x in range(len(tests.names)) if x != target]
        options = {"rng": self.rng, **self.options} if "rng" in self.algorithm.options else self.options
        found = self.algorithm.run(tests, target, candidates, alpha=self.alpha, trace=trace, **options)
        return self._with_roles(found, target, trace) if self.roles else found

    def _with_roles(self, found: Found, target: int, trace: Trace) -> Found:
        """Tell neighbors from spouses, and parents from children where they can be told apart."""
        tests, alpha = self.setting.tests, self.alpha
        if not self.algorithm.roles:
            resolved = resolve_roles(tests, target, found.members, alpha=alpha, trace=trace)
            return replace(found, roles=resolved.roles, common_children=resolved.common_children)
        neighbors = [x for x in found.members if found.roles.get(x) != "spouse"]
        return replace(found, roles=orient(tests, target, neighbors, found.common_children, alpha=alpha))

    def _listener(self, target: str) -> Callable[[str], None] | None:
        """Return what hears of every step: it tells the user, and ends a search that another thread has stopped."""
        tell, stop = self.tell, self.stop
        if tell is None and stop is None:
            return None

        def listener(phase: str) -> None:
            if stop is not None and stop.is_set():
                raise KeyboardInterrupt
            if tell is not None:
                tell(f"{self.algorithm.name} on {target!r}: {phase}")

        return listener

    def _never_together(self, target: int, members: tuple[int, ...]) -> list[str]:
        """Warn where rows are too few to test any member given another: then nothing could be found redundant."""
        tests = self.setting.tests
        if len(members) < 2 or any(tests.deepest([x], target, [z for z in members if z != x]) for x in members):
            return []
        sentence = (
            f"{self.setting.n_rows:,} rows are too few to test any of the {len(members)} members given another one, so "
            f"that redundant ones could not be found: cut or merge their levels "
            f"(for example discretize='equal-frequency', bins=3), or lower 'reliability'"
        )
        warn(sentence, TooFewRowsWarning)
        return [sentence]

    def _untestable(self, target: int) -> list[str]:
        """Warn of columns that have too many levels for even a test without conditioning."""
        arities = self.setting.arities
        each = float(self.setting.choices["reliability"]) * (int(arities[target]) - 1)  # rows for a degree of freedom
        if each * (int(arities.max()) - 1) <= self.setting.n_rows:
            return []
        never = np.flatnonzero(each * (arities - 1) > self.setting.n_rows)
        beyond = [self.setting.tests.names[x] for x in never if x != target]
        if not beyond:
            return []
        sentence = (
            f"{self.setting.n_rows:,} rows are too few to test {listed(beyond)} against "
            f"{self.setting.tests.names[target]!r} at all: merge their levels, or lower 'reliability'"
        )
        warn(sentence, TooFewRowsWarning)
        return [sentence]


def picked(setting: Setting, target: int, options: Mapping[str, Any]) -> tuple[Algorithm, str, Algorithm | None]:
    """Pick an algorithm by rows, features and levels: with the reason, and another one if near copies leave nothing."""
    features = np.delete(setting.arities, target)
    name, why = choose(setting.n_rows, features, int(setting.arities[target]))
    iamb = find("iamb")
    return checked(name, options), why, iamb if name != iamb.name and set(options) <= set(iamb.options) else None


def checked(name: str, options: Mapping[str, Any]) -> Algorithm:
    """Return an algorithm by name, after a look at its options; what is none may be a misspelt argument."""
    algorithm = sll() if isinstance(name, str) and name == "sll" else find(name, others=("sll",))
    unknown = [option for option in options if option not in algorithm.options]
    check_options(algorithm, options, _arguments() if unknown else ())
    return algorithm


def _arguments() -> list[str]:
    """Return the arguments of the functions that pass on options of algorithms."""
    from blankets.questions.discover import discover
    from blankets.questions.stability import stability

    return [*signature(discover).parameters, *signature(stability).parameters]


def sll() -> Algorithm:
    """Return the one algorithm that scores networks instead of asking for independence."""
    from blankets.latent import SLL

    return SLL


def _some_without_freedom(trace: Trace, members: tuple[int, ...]) -> bool:
    """Tell whether a test given something outside had no degrees of freedom: a first look, before names are given."""
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
