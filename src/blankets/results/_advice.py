"""`Advice`: which questions partly labeled data can answer, how, and what more labels would gain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from textwrap import fill

from blankets.errors import ParameterError, guarded, listed
from blankets.records import Call, Count, NonNegative, Probability, Saved, refuse
from blankets.results._text import aligned, html_table
from blankets.results._words import count_of, digits, shown, w_of, wrapped

_TASKS = {"test": "To test", "estimate": "To estimate", "rank": "To rank", "power": "Power"}


@dataclass(frozen=True, kw_only=True)
class Goal:
    """What is missing to test one effect with the wanted power."""

    effect: str  # "small", "medium" or "large"
    power: Probability  # the wanted power
    # number of additional labels that is enough, for the same rows, by kind of label; None if labeling all rows is
    # not enough
    more_labels: Mapping[str, Count | None]
    # number of additional rows that is enough, labeled as often as the present ones; None if no number is
    more_rows: Count | None


@guarded
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Advice(Saved):
    """What to do with data whose target is known for some rows only.

    Attributes
    ----------
    target : str
        The target.
    saw : str
        What the labels look like.
    regime : str
        Why labels are assumed to be missing: "supervised", "pu", "mcar", "mar-f" or "mar-c".
    sampling : str
        "one-sample", or "case-control" if labeled rows were collected separately.
    assumption : str
        What the regime means, in a sentence.
    prior : str or None
        What is known about p(y=1); None if nothing is known.
    n_rows, n_labeled : int
        Number of rows, and of labeled rows.
    recommendations : mapping of str to str
        What to do for each possible task: "test", "estimate", "rank".
    surrogate : str
        The column that tests count in place of the target.
    valid : tuple of str
        All surrogates with the right significance level.
    estimator : str or None
        The consistent estimator of information; None if more knowledge is needed.
    unanswerable : mapping of str to str
        What cannot be answered, and what knowledge would change that.
    levels : int
        Number of levels of a typical feature (the median).
    dof : float
        Degrees of freedom of its test.
    alpha : float
        Level of the test.
    kappa : float or None
        κ at the expected p(y=1): each row counts as much as κ rows with full labels.
    kappa_range : tuple of float, or None
        Smallest and largest κ over all possible p(y=1).
    effects : mapping of str to float
        Cohen's small, medium and large effect in nats (units of information).
    powers : mapping of str to float
        Power for each effect; empty if it is not known.
    power_ranges : mapping of str to tuple of float
        Range of each power over all possible p(y=1).
    goals : tuple of Goal
        How many more labels or rows are needed for each effect.
    assurance : float or None
        With an uncertain p(y=1): the probability that the numbers in `goals` are enough.
    safe_side : str
        Which wrong value of p(y=1) costs no power: "overestimate", "underestimate" or "".
    cautions : tuple of str
        Other cautions.
    call
        The call that made it.

    Examples
    --------
    >>> import blankets as bl
    >>> rows = range(200)
    >>> table = {"cough": [n % 3 % 2 for n in rows], "ill": [None if n % 4 else n % 8 // 4 for n in rows]}
    >>> advice = bl.advise(table, "ill", labels="mcar")
    >>> bl.Advice.from_json(advice.to_json()) == advice
    True
    """

    _schema = "blankets/advice"

    target: str
    saw: str
    regime: str
    sampling: str
    assumption: str
    prior: str | None
    n_rows: Count
    n_labeled: Count
    recommendations: Mapping[str, str]
    surrogate: str
    valid: tuple[str, ...]
    estimator: str | None
    unanswerable: Mapping[str, str] = field(default_factory=dict)
    levels: Count
    dof: NonNegative
    alpha: Probability
    kappa: NonNegative | None = None
    kappa_range: tuple[NonNegative, NonNegative] | None = None
    effects: Mapping[str, NonNegative] = field(default_factory=dict)
    powers: Mapping[str, Probability] = field(default_factory=dict)
    power_ranges: Mapping[str, tuple[Probability, Probability]] = field(default_factory=dict)
    goals: tuple[Goal, ...] = ()
    assurance: Probability | None = None
    safe_side: str = ""
    cautions: tuple[str, ...] = ()
    call: Call | None = None

    def goal(self, effect: str, power: float) -> Goal:
        """Return what is missing for one effect and power."""
        asked = {(goal.effect, goal.power): goal for goal in self.goals}
        if not isinstance(effect, str) or not isinstance(power, float) or (effect, power) not in asked:
            raise ParameterError(f"there is no goal of that effect and power; there are {listed(asked)}")
        return asked[effect, power]

    def _check(self) -> None:
        if not self.recommendations.keys() <= _TASKS.keys():
            refuse("'recommendations' holds an unknown task")
        if not self.powers.keys() <= self.effects.keys():
            refuse("'powers' holds an effect that 'effects' does not")
        if any(goal.more_labels.keys() != self.goals[0].more_labels.keys() for goal in self.goals):
            refuse("'goals' differ in the kinds of 'more_labels'")

    def __repr__(self) -> str:
        lines = [self._title(), *(_hanging(f"{head}: {text}" if head else text) for head, text in self._sentences())]
        if self.powers:
            lines += ["", wrapped(self._heading(), "  "), *(f"    {line}" for line in aligned(*self._cells()))]
            lines += [_hanging(text) for text in self._below()]
        return "\n".join([*lines, *(_hanging(f"Caution: {text}") for text in self.cautions)])

    def _repr_html_(self) -> str:
        said = "".join(
            f"<li>{f'<b>{escape(head)}</b>: ' if head else ''}{escape(text)}</li>" for head, text in self._sentences()
        )
        power = ""
        if self.powers:
            below = "<br>".join(escape(text) for text in self._below())
            power = f"<p>{escape(self._heading())}</p>{html_table(*self._cells())}<small>{below}</small>"
        cautions = "".join(f"<li>Caution: {escape(text)}</li>" for text in self.cautions)
        return f"<div><strong>{escape(self._title())}</strong><ul>{said}</ul>{power}<ul>{cautions}</ul></div>"

    def _title(self) -> str:
        return f"Advice on {shown(self.target)}: {self.saw}."

    def _sentences(self) -> Iterator[tuple[str, str]]:
        known = "" if self.prior is None else f" The share of positives, p(y=1), is assumed to be {self.prior}."
        yield "", f"{self.assumption}{known}"
        for task, text in self.recommendations.items():
            yield _TASKS[task], text
        for what, text in self.unanswerable.items():
            yield f"Not known, {what}", text

    def _heading(self) -> str:
        kept = ""
        if self.kappa is not None and self.surrogate != "full":
            kept = f"; each row counts as {digits(self.kappa)}"
            if self.kappa_range is not None and self.kappa_range[1] > self.kappa_range[0]:
                low, high = self.kappa_range
                kept += f" ({digits(low)} to {digits(high)})"
            kept += " labeled ones"
        freedom = count_of(self.dof, "degree of freedom", "degrees of freedom")
        return (
            f"Power of the test of a typical feature ({self.levels} levels, {freedom}) at level {self.alpha:g}{kept}:"
        )

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        kinds = list(self.goals[0].more_labels) if self.goals else []
        heads = ["effect", "Cohen's w", "power"]
        if self.goals:
            heads += ["wanted", *(f"more {kind}" for kind in kinds), "or more rows" if kinds else "more rows"]
        rows = []
        for effect, power in self.powers.items():
            low, high = self.power_ranges.get(effect, (power, power))
            spread = f" ({low:.2f} to {high:.2f})" if f"{low:.2f}" != f"{high:.2f}" else ""
            first = [effect, w_of(self.effects[effect]), f"{power:.2f}{spread}"]
            for goal in (goal for goal in self.goals if goal.effect == effect):
                more = [_count(goal.more_labels[kind]) for kind in kinds]
                rows.append([*first, f"{goal.power:g}", *more, _count(goal.more_rows)])
                first = ["", "", ""]
            rows += [] if self.goals else [first]
        return heads, rows

    def _below(self) -> Iterator[str]:
        if self.goals and self.surrogate != "full":
            yield "More labels: with the present rows. More rows: labeled as often as the present rows."
        if self.assurance is not None and self.goals:
            yield f"These numbers are enough with probability {self.assurance:g} over what is known of p(y=1)."
        if self.safe_side:
            yield (f"If you are not sure of p(y=1), {self.safe_side} it: that can cost labels or rows, but no power.")


def _hanging(text: str) -> str:
    """Return a paragraph as lines of at most 100 characters, all but the first indented."""
    return fill(text, 100, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def _count(number: int | None) -> str:
    return "out of reach" if number is None else f"{number:,}"
