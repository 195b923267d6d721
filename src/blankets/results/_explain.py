"""`Explanation`: why one column is in a blanket or not, from the record of the search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from math import inf, isfinite, log
from numbers import Integral
from typing import TYPE_CHECKING, Literal

from blankets.errors import DataError, ParameterError, did_you_mean, guarded
from blankets.records import plain
from blankets.results._evidence import NamedEvidence, Step
from blankets.results._missed import detectable_by, in_words
from blankets.results._text import bent_members, details, weak_sentence, why_undecided
from blankets.results._words import NATS, count_of, joined, shown, wrapped
from blankets.voice import option

if TYPE_CHECKING:
    from blankets.results._blanket import Blanket

_MOST_STEPS = 5
_ROLES = {
    "parent": "parent: {target} does not act on it",
    "child": "child: it does not act on {target}",
    "neighbor": "neighbor: a parent or a child of {target}; the search does not say which",
    "spouse": "spouse: another parent of a child of {target}",
}


@guarded
@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why one column is in a blanket or not; print it.

    Attributes
    ----------
    column, target : str
        The column asked about, and the target.
    verdict : {"member", "left out", "undecided", "excluded", "target"}
        The result for the column.
    headline : str
        The verdict as a sentence.
    lines : tuple of str
        The reasons, one sentence each.
    steps : tuple of Step
        What the search did to the column, in order, with the tests.
    evidence : NamedEvidence or None
        The decisive test: for a member the one given the other members, for a column left out the
        last one.
    detectable : dict of float to float
        For a column left out, the smallest effect in nats that its decisive test would have found
        with probability 0.8 and 0.95. Smaller effects could have been missed.

    Examples
    --------
    >>> from blankets import Explanation
    >>> print(Explanation(column="id", target="ill", verdict="excluded", headline="id was not searched.",
    ...                   lines=("Almost every row has its own level.",)))
    id was not searched.
      - Almost every row has its own level.
    """

    column: str
    target: str
    verdict: Literal["member", "left out", "undecided", "excluded", "target"]
    headline: str
    lines: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    evidence: NamedEvidence | None = None
    detectable: Mapping[float, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return "\n".join([self.headline, *(wrapped(line, "  - ") for line in (*self.lines, *self._footnote))])

    @property
    def _footnote(self) -> tuple[str, ...]:
        """What nats are, where the lines speak of them."""
        return (NATS,) if any(" nats" in line for line in self.lines) else ()

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{escape(line)}</li>" for line in (*self.lines, *self._footnote))
        return f"<p><strong>{escape(self.headline)}</strong></p><ul>{items}</ul>"

    def to_dict(self) -> dict[str, object]:
        """Return verdict and reasons as plain values."""
        return {
            "column": self.column,
            "target": self.target,
            "verdict": self.verdict,
            "headline": self.headline,
            "lines": list(self.lines),
            "detectable": {f"{power:g}": plain(effect) for power, effect in self.detectable.items()},
        }


def explain(blanket: Blanket, name: str) -> Explanation:
    """Explain why column ``name`` is in the blanket or not."""
    if isinstance(name, Integral):  # tables without names use column numbers
        name = str(name)
    if not isinstance(name, str):
        raise ParameterError.out_of_range("name", name, "the name of a column")
    what = "Markov blanket" if blanket.finds == "blanket" else "parents and children"
    column, target = shown(name), shown(blanket.target)
    steps = tuple(step for step in blanket.decisions if step.x == name)
    if name == blanket.target:
        headline = f"{column} is the target; its {what}: {joined(blanket.members) or 'no column'}."
        return Explanation(column=name, target=name, verdict="target", headline=headline, lines=tuple(details(blanket)))
    if name in blanket.members:
        return Explanation(
            column=name,
            target=blanket.target,
            verdict="member",
            headline=f"{column} is in the {what} of {target}.",
            lines=tuple(_member_lines(blanket, name, steps)),
            steps=steps,
            evidence=blanket.strengths[name],
        )
    if name in blanket.excluded:
        headline = f"{column} was not searched: {blanket.excluded[name]}."
        return Explanation(column=name, target=blanket.target, verdict="excluded", headline=headline)
    if name not in blanket.columns:
        everything = (*blanket.columns, *blanket.excluded)
        raise DataError(f"there is no column {name!r} in these data{did_you_mean(str(name), everything)}")
    looks = blanket.passed_over.of(blanket.columns.index(name), blanket.columns, blanket.target)
    history = (*steps, *looks)
    detectable = detectable_by((step.evidence for step in history), blanket.target, blanket.settings)
    undecided = name in blanket.undecided
    return Explanation(
        column=name,
        target=blanket.target,
        verdict="undecided" if undecided else "left out",
        headline=f"{column} is {'neither in nor out of' if undecided else 'not in'} the {what} of {target}.",
        lines=tuple(_outside_lines(blanket, name, history, detectable)),
        steps=history,
        evidence=history[-1].evidence if history else None,
        detectable=detectable,
    )


def _member_lines(blanket: Blanket, name: str, steps: tuple[Step, ...]) -> Iterator[str]:
    if blanket.effects is not None and (sentence := blanket.effects.sentence(name)):
        yield sentence
    if name in bent_members(blanket):
        yield "That does not show how the target depends on it: it may differ by the other members, or be curved."
    yield from _history(blanket, steps)
    final = blanket.strengths[name]
    if all(step.evidence != final for step in steps[-1:]):
        yield f"In the final blanket: {final.in_words(_test(blanket), blanket.n_rows)}."
    if name in blanket.entered:
        yield "The search had left it out; it entered by closing, because it depends on the target given all members."
    if name in blanket.weak:
        yield f"It is {weak_sentence(blanket)}"
    if name in blanket.unchecked:
        yield "Rows are too few to tell whether the other members make it redundant: it was not checked for that."
    if others := blanket.equivalents.get(name):
        yield f"{joined(others)} could take its place: given either of them, the other adds nothing."
    if role := blanket.roles.get(name):
        words = _ROLES[role].format(target=shown(blanket.target))
        child = blanket.common_children.get(name)
        yield f"Role: {words}{f', {shown(child)}' if child else ''}."


def _outside_lines(
    blanket: Blanket, name: str, history: tuple[Step, ...], detectable: Mapping[float, float]
) -> Iterator[str]:
    target = shown(blanket.target)
    if name in blanket.undecided:
        yield f"It is undecided: {why_undecided(blanket, name)}."
    if members := [a for a, others in blanket.equivalents.items() if name in others]:
        yield f"It could take the place of {joined(members)}: given either of them, the other adds nothing."
    if name in blanket.separators and name not in blanket.undecided:
        among = blanket.separators[name]
        known = f"Once {joined(among)} {'is' if len(among) == 1 else 'are'} known, it" if among else "On its own it"
        seen = f" that {count_of(blanket.n_rows, 'row')} could show" if blanket.n_rows else ""  # a graph has none
        yield f"{known} tells nothing {'more ' * bool(among)}about {target}{seen} (independent{_at_level(blanket)})."
    if not history:
        yield "The search never had to test it."
    yield from _history(blanket, history)
    weak = name in blanket.undecided and not blanket.cannot_say(name)
    if history and not weak and (doubt := _doubt(blanket, history)):
        yield doubt
    if detectable and all(isfinite(effect) for effect in detectable.values()):
        yield in_words(detectable, blanket.settings)


def _history(blanket: Blanket, steps: tuple[Step, ...]) -> Iterator[str]:
    if len(steps) > _MOST_STEPS:
        yield f"{len(steps) - _MOST_STEPS} earlier steps are in the attribute 'steps'."
    verbs = {"admitted": "Entered", "removed": "Removed", "passed over": "Passed over"}
    for step in steps[-_MOST_STEPS:]:
        reason = f", {step.reason}" if step.reason else ""
        other = step.evidence.y
        against = f"tested against {shown(other)}, " if other != blanket.target else ""
        words = step.evidence.in_words(_test(blanket), blanket.n_rows)
        yield f"{verbs[step.action]} in the phase {step.phase!r}{reason}: {against}{words}."


def _doubt(blanket: Blanket, history: tuple[Step, ...]) -> str:
    """Say what it means for a column left out if its test did not simply find independence."""
    if history[-1].phase == "knowledge":
        return ""
    alpha = blanket.settings.get("alpha")
    level = log(alpha) if isinstance(alpha, float) and 0 < alpha < 1 else -inf
    performed = [step.evidence for step in history if step.evidence.reliable and step.evidence.y == blanket.target]
    dependent = bool(performed) and performed[-1].log_p <= level
    if not history[-1].evidence.reliable:
        last = f"the last test that was performed says dependent{_at_level(blanket)}; " if dependent else ""
        more = "with more rows, fewer levels or a smaller 'reliability' it could be tested"
        if history[-1].evidence.method.startswith("not performed: "):  # more rows are not what it wants
            more = f"{option(missing='testwise')} would test it, without weights for the rows that have no value"
        return f"So there is no evidence of independence: {last}{more}."
    if dependent and history[-1].phase == "closing":
        return (
            f"This test alone says dependent{_at_level(blanket)}. But closing asks about all columns, and chance makes "
            "some of so many p-values small: it lets a column enter only at a smaller one."
        )
    if dependent:
        return f"This test alone says dependent{_at_level(blanket)}; the search preferred another column or stopped."
    return ""


def _at_level(blanket: Blanket) -> str:
    alpha = blanket.settings.get("alpha")
    return f" at level {alpha:g}" if isinstance(alpha, float) else ""


def _test(blanket: Blanket) -> str:
    return str(blanket.settings.get("test", ""))
