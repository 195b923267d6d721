"""Under-reported features: binary columns in which some true "yes" are recorded as "no".

A person who does not report smoking may still smoke. Such a column is like positive-unlabeled labels, but of a
feature. Independence and information are symmetric, so the feature takes the role of the target, and the target
the role of the feature. The methods for positive-unlabeled data then hold without change:

* a test that counts "not reported" as "no" has the right level; each row counts as much as κ fully reported rows;
* with the true share of "yes", the estimate of information is consistent.

They hold if every "yes" has the same chance to be reported, whatever the target (MAR-C of the feature). If ill
people report smoking more often, no method here can correct that. And a column that is conditioned on must be
reported in full: its "no" mixes true "no" with unreported "yes", so conditioning on it does not remove its
whole influence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from numpy.typing import ArrayLike

from blankets.arguments import names_in
from blankets.errors import NotAnswerableError, ParameterError, listed
from blankets.regimes import PositiveUnlabeled, Regime, Supervised
from blankets.results import Estimate, TestResult
from blankets.study._engine import Engine
from blankets.study._opening import open_study
from blankets.study._study import Study
from blankets.voice import option

Names = str | Iterable[str] | Mapping[str, object]
Answer = TypeVar("Answer", TestResult, Estimate)


@dataclass(frozen=True, slots=True)
class UnderReported:
    """The under-reported columns of a table."""

    priors: dict[str, object]  # for each column what is known about its true share of "yes"; None: nothing

    def note(self, name: str) -> str:
        """Say what is assumed."""
        return (
            f"{name!r} is assumed to be under-reported: some true yes were recorded as no, and every true yes is "
            "assumed to have the same chance to be recorded."
        )

    def asked(
        self,
        data: Any,
        x: str,
        target: str | int | None,
        y: ArrayLike | None,
        labels: str | Regime,
        prior: object,
        given: Sequence[str],
        reading: Mapping[str, Any],
    ) -> PairQuestion:
        """Return a question about ``x`` and the target, with their roles exchanged if ``x`` is under-reported."""
        own = dict(reading)
        if self.priors:
            proper = self.check(target, y, labels, given)
            own["exclude"] = [*names_in("exclude", own.get("exclude", ())), *(n for n in self.priors if n != x)]
            if x in self.priors:
                regime = PositiveUnlabeled(self.priors[x])
                return PairQuestion(
                    data, proper, x, None, regime, None, own, apart=True, exchanged=True, note=self.note(x)
                )
        return PairQuestion(data, x, target, y, labels, prior, own, apart=bool(self.priors))

    def check(self, target: object, y: ArrayLike | None, labels: str | Regime, given: Iterable[str] = ()) -> str:
        """Refuse questions that exchanged roles cannot answer; return the name of the target."""
        if y is not None or not isinstance(target, str):
            raise ParameterError("with under-reported features, 'target' must be the name of a column")
        if target in self.priors:
            raise ParameterError(f"{target!r} is the target: say that it is under-reported with {option(labels='pu')}")
        if not isinstance(labels, Supervised) and labels not in ("auto", "supervised"):
            raise NotAnswerableError(
                "an under-reported feature can be compared with a target that is known in every row; here the "
                "target's labels are missing too"
            )
        if unseen := [name for name in given if name in self.priors]:
            raise NotAnswerableError(
                f"a test cannot condition on {listed(unseen)}, which is under-reported: its rows without a yes mix "
                "true no with unrecorded yes"
            )
        return target


@dataclass(frozen=True, slots=True, eq=False)
class PairQuestion:
    """A question about a column and a target, ready for a study."""

    data: Any
    x: str
    target: str | int | None
    y: ArrayLike | None
    labels: str | Regime
    prior: object
    reading: Mapping[str, Any]
    apart: bool = False
    exchanged: bool = False
    note: str = ""

    def opened(self, **more: Any) -> AbstractContextManager[Study]:
        """Open the study that answers the question; ``more`` are further arguments of `open_study`."""
        if self.apart and Engine.of(more.get("engine", "auto")).kind == "sql":
            raise ParameterError(
                f"{option(engine='sql')} leaves the rows in their database: pack the query for 'under_reported'"
            )
        about: dict[str, Any] = {"labels": self.labels, "prior": self.prior, "reading": self.reading}
        return open_study(self.data, self.target, self.y, **about, **more)

    def put_back(self, answer: Answer) -> Answer:
        """Return an answer with the names of feature and target exchanged back."""
        if not self.exchanged:
            return answer
        x, target = answer.target, answer.x
        inner = getattr(answer, "estimate", None)
        if inner is not None:
            answer = replace(answer, estimate=replace(inner, x=x, target=target))  # type: ignore[call-arg]
        return replace(answer, x=x, target=target, notes=(self.note, *answer.notes))


def under_reported_from(names: Names) -> UnderReported:
    """Read the user's list of under-reported columns, or mapping from columns to their true shares of "yes".

    Examples
    --------
    >>> under_reported_from({"smoker": 0.3}).priors, under_reported_from("smoker").priors
    ({'smoker': 0.3}, {'smoker': None})
    """
    if isinstance(names, str):
        return UnderReported({names: None})
    if not isinstance(names, Mapping):
        names = dict.fromkeys(str(name) for name in names_in("under_reported", names))
    return UnderReported(dict(names))
