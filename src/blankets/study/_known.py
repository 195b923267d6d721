"""What a user says about the target and its labels, and what it cannot be combined with."""

from __future__ import annotations

from dataclasses import dataclass, replace

from numpy.typing import ArrayLike

from blankets.data import Ingested, Reading
from blankets.errors import LabelError, ParameterError, RegimeWarning, listed, warn
from blankets.independence import IndependenceTest
from blankets.regimes import Labels, Regime, Supervised, Unsaid, regime_from
from blankets.study._engine import Engine
from blankets.study._testing import Testing
from blankets.voice import option


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """What the user says about the target."""

    y: ArrayLike | None
    labels: str | Regime
    prior: object
    reading: Reading
    lenient: bool
    asks: bool
    numbers: bool = False  # whether numbers may stay numbers
    pooled: bool = False  # whether several completed tables are read as one

    @property
    def number_target(self) -> bool:
        """Whether the target may stay a number: nothing was said of classes or of missing labels."""
        return self.numbers and not any(self._said().values())

    def with_outcome(self, read: Ingested) -> Ingested:
        """Leave out rows without a target if nothing was said about missing labels; tell that.

        Where one class alone is labeled, the others may be the rows without a label: that is for the regime to say.
        """
        gaps, at = read.unlabeled, read.target
        if gaps is None or at is None or not gaps.any() or not self._leaves_out(read):
            return read
        is_number = at in read.frame.numbers
        codes = read.frame.column(at)[~gaps]
        if not is_number and (not len(codes) or codes.min() == codes.max()):
            return read
        frame = read.frame.take(~gaps)
        report = replace(read.report, n_rows=len(codes), unlabeled_left_out=True)
        if report.complete_rows is not None:
            complete = None if read.frame.complete is None else int(read.frame.complete[~gaps].sum())
            report = replace(report, complete_rows=None if complete == len(codes) else complete)
        advice = f"say with {option('labels')} if they are to count as unlabeled"
        if is_number:
            advice = "the answer is right if it is missing by chance, or for reasons that other columns hold"
        warn(
            f"{report.unlabeled:,} of {read.frame.n_rows:,} rows have no value of the target and are left out; "
            f"{advice}",
            RegimeWarning,
        )
        units = read.units.of_rows(~gaps)
        frame = replace(frame, holes=frame.holes - {at}) if is_number else frame
        return replace(read, frame=frame, unlabeled=None, report=report, units=units)

    def _leaves_out(self, read: Ingested) -> bool:
        """Tell whether rows without a target are left out: nothing was said of why it is missing.

        The audit looks at such rows too, unless there are more than two classes, of which none is the positive one.
        """
        said = not isinstance(self.labels, str) or self.labels != "auto" or self.prior is not None
        at = read.target or 0
        of_two = at not in read.frame.numbers and len(read.frame.levels[at]) <= 2
        return not (said or self.asks or (self.lenient and (of_two or self.reading.positive is not None)))

    def regime(self, labels: Labels) -> Regime:
        """Return the regime of the labels, and check that the labels agree with it."""
        try:
            regime = regime_from(self.labels, labels, prior=self.prior)
        except LabelError:  # the user has to say why labels are missing
            if not self.lenient:
                raise
            return Unsaid()
        if not self.lenient:
            regime.check(labels)
        return regime

    def check_complete(self, what: str, instead: str, **others: bool) -> None:
        """Refuse options about missing labels if every row must have a label."""
        asked = {**self._said(), **others}
        if any(asked.values()):
            raise ParameterError(
                f"{what} is for a target that every row has, and cannot take "
                f"{listed(name for name in asked if asked[name])}; {instead}"
            )

    def _said(self) -> dict[str, bool]:
        """Return what is said of classes or of missing labels."""
        complete = isinstance(self.labels, Supervised) or (
            isinstance(self.labels, str) and self.labels in ("auto", "supervised")
        )
        marker = self.reading.unlabeled_marker
        marked = not (isinstance(marker, str) and marker == "auto")
        positive = self.reading.positive is not None
        said = {"labels": not complete, "prior": self.prior is not None, "positive": positive}
        return said | {"unlabeled_marker": marked}


def check_testing(testing: Testing, own: IndependenceTest | None, known: Known, engine: Engine) -> None:
    """Refuse what a test cannot be combined with."""
    if own is not None:
        check_own(known, engine)
    if testing.of_numbers:
        known.check_complete(f"{option(test='fisher-z')}", f"take {option(test=('auto', 'g', 'x2'))}")
        if not engine.is_plain:
            raise ParameterError(
                f"{option(test='fisher-z')} needs all numbers in memory; a cluster, a database and checkpoints "
                f"are for counts"
            )


def check_own(known: Known, engine: Engine, *, alone: bool = False) -> None:
    """Refuse what a test of the user's own cannot take into account; ``alone``: there is no table beside it."""
    reading = known.reading
    known.check_complete("a test of your own", "leave that out", y=alone and known.y is not None)
    if engine.kind not in ("auto", "memory") or reading.groups is not None or reading.survey_weight is not None:
        raise ParameterError(
            f"a test of your own has its own rows; leave out {option('engine')}, {option('groups')} and "
            f"{option('survey_weight')}"
        )
    if alone and reading.options:
        raise ParameterError(f"a test in place of a table is not read; leave out {listed(reading.options)}")
