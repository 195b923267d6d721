"""Turn what a search found, in column numbers, into a `Blanket` with names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from blankets.results._blanket import Blanket
from blankets.results._evidence import NamedEvidence, PassedOver, Step
from blankets.results._false_members import Chances, false_members, least_dof, n_chances
from blankets.results._label_bias import LabelBias
from blankets.results._notes import note_words

if TYPE_CHECKING:
    from blankets.independence import Evidence
    from blankets.records import Call
    from blankets.results._audit import Finding
    from blankets.results._effects import Effects
    from blankets.search import Algorithm, Found, Trace

_NOTHING: Mapping[str, str] = {}
_NO_LEVELS: Mapping[int, float] = {}


class Reports(Protocol):
    """A report of what was done to the data when they were read."""

    def to_dict(self) -> dict[str, object]:
        """Return the report as plain lists, dicts, strings and numbers."""


def describe(
    found: Found,
    trace: Trace,
    *,
    names: Sequence[str],
    target: int,
    evidence: Iterable[Evidence],
    algorithm: Algorithm,
    why: str = "",
    settings: Mapping[str, Any],
    n_rows: int,
    n_tests: int,
    seconds: float,
    warnings: Sequence[str] = (),
    data: Mapping[str, Any] | Reports = _NOTHING,
    excluded: Mapping[str, str] = _NOTHING,
    by_effect: bool = False,
    effects: Callable[[Sequence[int]], Effects | None] = lambda _: None,
    checks: Callable[[Sequence[int]], tuple[Finding, ...]] = lambda _: (),
    call: Call | None = None,
    label_bias: Mapping[str, LabelBias] | None = None,
    measured: Collection[str] = (),
    n_classes: int = 2,
    deepest: int = 0,
    levels: Mapping[int, float] = _NO_LEVELS,
) -> Blanket:
    """Put the outcome of a search into names.

    ``found``, ``trace``: what the algorithm returned and told. ``names``: names of the searched columns, by number.
    ``target``: the target's number. ``evidence``: the final test of each member, given the others (see
    `blankets.search.evidence_of`). Where it is unreliable or absent, the test by which the member entered
    takes its place. ``algorithm``: the registry's entry. ``why``: why this algorithm was picked, if it was picked for
    the user. ``settings``: all choices, ``alpha`` and ``test`` among them; in JSON, values that it does not have become
    strings. ``n_rows``, ``n_tests``, ``seconds``: size of the table and effort.
    ``warnings``: sentences. ``data``: the report
    of the data room. Blankets of many targets may share one mapping.
    ``excluded``: columns that were not searched, and why ("it has a single value"). ``by_effect``: order the members by
    effect instead of p-value. ``effects``: works out the effects of members in the data's own terms. ``checks``: looks
    over the answer for what `audit` warns of. ``call``: the call that the search answers. ``label_bias``: what biased
    labeling would explain. ``measured``: columns of which functions are tested, and not levels.
    ``n_classes``: of the target. ``deepest``: most members given which a column can be tested. ``levels``: at which
    members that were chosen on these rows could enter.

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets.independence import DSeparation
    >>> from blankets.search import Trace, find
    >>> tests, trace = DSeparation(nx.DiGraph([("rain", "wet"), ("sprinkler", "wet")])), Trace()
    >>> found = find("iamb").run(tests, 0, [1, 2], alpha=0.01, trace=trace)
    >>> evidence = tests.drop_one(found.members, 0)
    >>> blanket = describe(found, trace, names=tests.names, target=0, evidence=evidence, algorithm=find("iamb"),
    ...                    settings={"alpha": 0.01}, n_rows=1, n_tests=tests.n_tests, seconds=0.0)
    >>> blanket.target, blanket.members
    ('rain', ('wet', 'sprinkler'))
    """
    final = _strengths(found, trace, evidence, by_effect=by_effect)
    later: dict[str, Callable[[Blanket], Any]] = {
        "strengths": lambda _: {names[x]: _named(e, x, target, names, levels.get(x, 1.0)) for x, e in final.items()},
        "decisions": lambda _: tuple(
            Step(d.action, d.phase, NamedEvidence.of(d.evidence, names), d.reason) for d in trace.decisions
        ),
        "passed_over": lambda _: PassedOver.last_look(trace.scans, names, target, found.members),
        "false_members": lambda blanket: false_members(
            blanket,
            algorithm,
            Chances(
                n_tests=n_chances(trace, target, len(names)),
                dof=least_dof(trace, target, len(names)),
                measured=measured,
                n_classes=n_classes,
                deepest=deepest,
            ),
        ),
        "effects": lambda _: effects(tuple(final)),
        "checks": lambda _: checks(tuple(final)),
        "undecided": lambda _: {names[x]: one for x, one in found.undecided.items()},
        "separators": lambda _: {names[x]: tuple(names[z] for z in zs) for x, zs in found.separators.items()},
    }
    return Blanket.to_be_told(
        later,
        target=names[target],
        members=tuple(names[x] for x in final),
        roles={names[x]: found.roles[x] for x in final if x in found.roles},
        directions={names[x]: found.directions[x] for x in final if x in found.directions},
        common_children={names[x]: names[child] for x, child in found.common_children.items()},
        algorithm=algorithm.name,
        why_algorithm=why,
        finds=algorithm.finds,
        settings=settings,
        columns=tuple(names),
        excluded=excluded,
        n_rows=n_rows,
        n_tests=n_tests,
        seconds=seconds,
        warnings=tuple(dict.fromkeys([*warnings, *map(note_words, trace.notes)])),
        troubles=tuple(note.trouble for note in trace.notes),
        data=data if isinstance(data, Mapping) else data.to_dict(),
        closed=found.closed,
        entered=tuple(names[x] for x in found.entered),
        left=tuple(names[x] for x in found.left),
        unchecked=tuple(names[x] for x in final if x in found.unchecked),
        partly=tuple(names[x] for x in found.partly),
        equivalents={names[x]: tuple(names[z] for z in zs) for x, zs in found.equivalents.items()},
        label_bias=label_bias or {},
        call=call,
    )


def _strengths(
    found: Found, trace: Trace, evidence: Iterable[Evidence], *, by_effect: bool
) -> dict[int, Evidence | None]:
    """Return each member's evidence, strongest first; members without evidence come last."""
    entered = {d.x: d.evidence for d in trace.decisions if d.action == "admitted"}
    last = {e.x: e for e in evidence if e.reliable}
    best = {x: last.get(x) or entered.get(x) for x in found.members}

    def strength(x: int) -> tuple[bool, float, float, int]:
        e = best[x]
        if e is None or not e.reliable:
            return True, 0.0, 0.0, x
        return False, -e.effect if by_effect else e.log_p, -e.statistic, x

    return {x: best[x] for x in sorted(best, key=strength)}


def _named(evidence: Evidence | None, x: int, target: int, names: Sequence[str], level: float) -> NamedEvidence:
    """Give names to the evidence; a member without evidence gets an unreliable test of unknown outcome."""
    if evidence is not None:
        return NamedEvidence.of(evidence, names, level)
    nan = float("nan")
    return NamedEvidence(
        x=names[x], y=names[target], statistic=nan, dof=nan, log_p=nan, effect=nan, n_rows=0, reliable=False
    )
