"""Evidence, steps and scans of a search with the user's names in place of column numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from blankets.records import Bounds, Count, LogProbability, Probability, refuse
from blankets.results._words import count_of, digits, joined, p_is, size_of, symbol_of, why_not_tested
from blankets.stats import chi2_isf, selected_noncentrality

if TYPE_CHECKING:
    from blankets.independence import Evidence, EvidenceBatch

Action = Literal["admitted", "removed", "passed over"]
Positions = Annotated[NDArray[np.int64], Bounds(0)]

_LOG_CHANCE = math.log(0.05)  # logarithms of p-values above this are explained by chance

_LISTS = ("phases", "givens", "methods")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedEvidence:
    """One test of "x independent of y given a set", by name.

    Examples
    --------
    >>> e = NamedEvidence(
    ...     x="bmi", y="ill", given=("age",), statistic=23.1, dof=2, log_p=-11.55, effect=0.012, n_rows=960
    ... )
    >>> print(e.in_words("g"))
    G = 23.1 on 2 degrees of freedom, p = 9.6e-06, given age; information 0.0115 nats (small)
    """

    # x, y: columns
    x: str
    y: str
    given: tuple[str, ...] = ()  # the conditioning set
    # statistic, dof: the statistic, chi-square distributed under independence, and its degrees of freedom
    statistic: float
    dof: float
    log_p: LogProbability  # natural logarithm of the p-value
    effect: float  # conditional mutual information (or its counterpart), in nats
    n_rows: Count  # rows that the test used
    reliable: bool = True  # false: too few rows for the degrees of freedom; the test was not performed
    method: str = ""  # how the p-value was computed and why, if a test chooses between methods
    level: Probability = 1.0  # of a member that was chosen on these rows: the level at which it could enter

    def _check(self) -> None:
        if self.reliable and not self.n_rows:
            refuse("'n_rows' holds 0, but 'reliable' is true")

    @classmethod
    def of(cls, evidence: Evidence, names: Sequence[str], level: float = 1.0) -> NamedEvidence:
        """Give names to the columns of ``evidence``; ``level``: at which a member could enter."""
        return cls(
            x=names[evidence.x],
            y=names[evidence.y],
            given=tuple(names[z] for z in evidence.given),
            statistic=evidence.statistic,
            dof=evidence.dof,
            log_p=evidence.log_p,
            effect=evidence.effect,
            n_rows=evidence.n_rows,
            reliable=evidence.reliable,
            method=evidence.method,
            level=level,
        )

    @property
    def p(self) -> float:
        """The p-value (0.0 where it is below the smallest float; `log_p` is not)."""
        return math.exp(self.log_p)

    @property
    def size(self) -> str:
        """Cohen's word for `information`: very small, small, medium or large."""
        return size_of(self.information)

    @property
    def information(self) -> float:
        """The effect that is too large as often as too small, in nats: inside of every `interval`."""
        return self._limit(0.5) if self._tested else self.effect

    @property
    def _tested(self) -> bool:
        return math.isfinite(self.statistic) and self.dof > 0 and self.n_rows > 0

    def _limit(self, probability: float) -> float:
        """Return the effect at which the statistic is so probably beyond what was seen.

        If p > 0.05 by another law, the statistic is the chi-square with this p-value: such a law may know that chance
        alone brings statistics far above the degrees of freedom, such as those of rare levels where a number nearly
        separates the classes.
        """
        seen = self.statistic
        if self.log_p > _LOG_CHANCE:
            seen = min(seen, float(chi2_isf(self.p, self.dof)))
        cut = float(chi2_isf(self.level, self.dof)) if self.level < 1.0 else 0.0
        return selected_noncentrality(seen, self.dof, cut, probability) / (2.0 * self.n_rows)

    def interval(self, level: float = 0.9) -> tuple[float, float] | None:
        """Return the confidence interval of the effect in nats; None if there was no test.

        The statistic (G or X²) is approximately noncentral chi-square with noncentrality 2 N I, given that it was
        large enough for a member that was chosen on these rows; the interval inverts its distribution function in I.

        Examples
        --------
        A statistic below its degrees of freedom does not rule out independence:

        >>> e = NamedEvidence(x="age", y="ill", statistic=0.5, dof=1, log_p=-0.735, effect=0.00025, n_rows=1000)
        >>> low, high = e.interval()
        >>> low, round(high, 5)
        (0.0, 0.00274)
        """
        tail = (1.0 - level) / 2.0
        return (self._limit(tail), self._limit(1.0 - tail)) if self._tested else None

    def in_words(self, test: str = "", n_rows: int | None = None) -> str:
        """Say what was tested and the result; ``test`` ("g", "x2", ...) names the statistic.

        The number of rows is added if it is not ``n_rows``, that of the table.
        """
        given = f"given {joined(self.given)}" if self.given else "given no other column"
        if not self.reliable:
            return f"not tested {given}: {why_not_tested(self.method, self.n_rows)}"
        freedom = count_of(self.dof, "degree of freedom", "degrees of freedom")
        how = f" ({self.method})" if self.method else ""
        symbol = symbol_of(test, self.method)
        rows = f", {count_of(self.n_rows, 'row')}" if n_rows not in (None, self.n_rows) else ""
        return (
            f"{symbol} = {digits(self.statistic)} on {freedom}, {p_is(self.log_p)}{how}, "
            f"{given}{rows}; information {digits(self.information)} nats ({self.size})"
        )


@dataclass(frozen=True, slots=True)
class Step:
    """One decision of a search: what was done to ``evidence.x``, in which phase, because of which test.

    Examples
    --------
    >>> e = NamedEvidence(x="bmi", y="ill", statistic=23.1, dof=2, log_p=-11.55, effect=0.012, n_rows=960)
    >>> step = Step("admitted", "growing", e, "the strongest")
    >>> step.x, step.evidence.size
    ('bmi', 'small')
    """

    action: Action  # what was done
    phase: str  # which part of the algorithm did it
    evidence: NamedEvidence  # the test behind it
    reason: str = ""  # the algorithm's reason, in a few words

    @property
    def x(self) -> str:
        """The column that the decision is about."""
        return self.evidence.x


@dataclass(frozen=True, eq=False)
class PassedOver:
    """The last test of each column that the search left out, as arrays.

    If there were too few rows for the last test of a column, the last test that was performed is here too.
    With 139,351 features an object for each would be too slow; `of` makes those that are needed.

    Examples
    --------
    >>> import numpy as np
    >>> from blankets.independence import EvidenceBatch
    >>> scan = EvidenceBatch(np.array([1, 2]), 0, (), statistic=np.array([0.5, 1.5]), dof=np.ones(2), n_rows=50,
    ...                      reliable=np.ones(2, dtype=bool))
    >>> record = PassedOver.last_look([("growing", scan)], names=["ill", "bmi", "hair"], target=0, members=[])
    >>> [step.evidence.statistic for step in record.of(2, ["ill", "bmi", "hair"], "ill")]
    [1.5]
    """

    columns: Positions  # (n,): positions in the list of all column names, in the order of events
    # phase, given (n,): positions in ``phases`` and ``givens``
    phase: Positions
    given: Positions
    # statistic, dof, log_p (n,): as in `NamedEvidence`; NaN where a test was not performed
    statistic: NDArray[np.float64]
    dof: NDArray[np.float64]
    log_p: NDArray[np.float64]
    n_rows: Positions  # (n,): rows that each test used
    reliable: NDArray[np.bool_]  # (n,): whether each test was performed
    phases: tuple[str, ...] = ()  # phases of the search
    givens: tuple[tuple[str, ...], ...] = ()  # conditioning sets
    # (n,): how each p-value was computed, as a position in ``methods``
    method: Positions = field(default_factory=lambda: np.zeros(0, np.int64))
    methods: tuple[str, ...] = ("",)  # the methods, in words; the first is empty

    def _check(self) -> None:
        if len({getattr(self, each.name).shape for each in fields(self) if each.name not in _LISTS}) != 1:
            refuse("the arrays in 'passed_over' differ in length")
        for name, words in (("phase", self.phases), ("given", self.givens), ("method", self.methods)):
            if (getattr(self, name) >= len(words)).any():
                refuse(f"'passed_over' points beyond the end of its {name!r}")
        known = np.isfinite(self.dof) & (self.log_p <= 0) & (self.n_rows > 0)
        if (self.reliable & ~known).any():
            refuse("'passed_over' holds a reliable test without degrees of freedom or a p-value, or of no rows")

    @classmethod
    def last_look(
        cls, scans: Sequence[tuple[str, EvidenceBatch]], names: Sequence[str], target: int, members: Sequence[int]
    ) -> PassedOver:
        """Keep, of all ``scans`` about the target, the last evidence on each column that is not a member."""
        looked, done = np.zeros((2, len(names)), dtype=bool)
        done[[target, *members]] = True
        phases: dict[str, int] = {}
        givens: dict[tuple[int, ...], int] = {}
        methods: dict[str, int] = {"": 0}
        parts: list[tuple[NDArray[Any], ...]] = []
        for phase, batch in reversed(scans):
            if batch.y != target:
                continue
            at = np.flatnonzero(~done[batch.xs] & (batch.reliable | ~looked[batch.xs]))
            if not len(at):
                continue
            xs, reliable = batch.xs[at], batch.reliable[at]
            looked[xs] = True
            done[xs[reliable]] = True
            if isinstance(batch.given, list):
                sets = np.array([givens.setdefault(batch.given[i], len(givens)) for i in at])
            else:
                sets = np.full(len(at), givens.setdefault(batch.given, len(givens)))
            in_phase = np.full(len(at), phases.setdefault(phase, len(phases)))
            tests = (batch.statistic[at], batch.dof[at], batch.log_p[at])
            rows = np.broadcast_to(batch.n_rows, len(batch))[at]
            parts.append((xs, in_phase, sets, *tests, rows, reliable, _methods_of(batch, at, methods)))
            if done.all():
                break
        if not parts:
            return cls.nothing()
        # The parts were collected from the last scan to the first; they are kept in the order of events.
        joined_up = (np.concatenate(column[::-1]) for column in zip(*parts, strict=True))
        xs, in_phase, sets, statistic, dof, log_p, rows, reliable, method = joined_up
        named = tuple(tuple(names[z] for z in given) for given in givens)
        kept = (xs, in_phase, sets, statistic, dof, log_p, rows, reliable)
        return cls(*kept, tuple(phases), named, method, tuple(methods))

    @classmethod
    def nothing(cls) -> PassedOver:
        """Return the record of a search that left no column out."""
        whole, real = np.zeros(0, np.int64), np.zeros(0)
        return cls(whole, whole, whole, real, real, real, whole, np.zeros(0, bool))

    def __len__(self) -> int:
        return len(self.columns)

    def independent_of(self, names: Sequence[str], members: Sequence[str], alpha: float) -> set[str]:
        """Return the columns that their last test, given all members, found independent."""
        whole = np.array([set(members) <= set(given) for given in self.givens], np.bool_)
        at = np.flatnonzero(self.reliable)
        last = np.full(len(names), -1)
        last[self.columns[at]] = at  # in the order of events
        seen = np.flatnonzero(last >= 0)
        found = seen[whole[self.given[last[seen]]] & (self.log_p[last[seen]] > math.log(alpha))]
        return {names[x] for x in found}

    def last(self, names: Sequence[str]) -> dict[str, float]:
        """Return the log p-value of the last test of each column that was performed."""
        at = np.flatnonzero(self.reliable)  # in the order of events
        return {names[x]: float(log_p) for x, log_p in zip(self.columns[at], self.log_p[at], strict=True)}

    def of(self, column: int, names: Sequence[str], target: str) -> tuple[Step, ...]:
        """Return the last test of one column; if it was not performed, the last performed one comes before it."""
        return tuple(self._step(int(i), names, target) for i in np.flatnonzero(self.columns == column))

    def _step(self, i: int, names: Sequence[str], target: str) -> Step:
        statistic, rows = float(self.statistic[i]), int(self.n_rows[i])
        evidence = NamedEvidence(
            x=names[self.columns[i]],
            y=target,
            given=self.givens[self.given[i]],
            statistic=statistic,
            dof=float(self.dof[i]),
            log_p=float(self.log_p[i]),
            effect=statistic / (2 * max(rows, 1)),
            n_rows=rows,
            reliable=bool(self.reliable[i]),
            method=self.methods[self.method[i]] if len(self.method) else "",
        )
        return Step("passed over", self.phases[self.phase[i]], evidence)


def _methods_of(batch: EvidenceBatch, at: NDArray[np.int64], methods: dict[str, int]) -> NDArray[np.int64]:
    """Return how the p-values of some tests were computed, as positions in ``methods``; new methods are added to it."""
    if batch.method is None:
        return np.zeros(len(at), np.int64)
    place = np.array([methods.setdefault(words, len(methods)) for words in batch.methods], np.int64)
    return place[batch.method[at]]
