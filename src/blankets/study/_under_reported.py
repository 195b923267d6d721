"""Under-reported features: binary columns that say "yes" only where it was admitted.

Who does not say that he smokes may smoke. Such a column is to the feature what positive-unlabeled labels are to a
target, and independence and information are symmetric: so the feature takes the place of the target, with the
target as the column that it is tested against. The methods for positive-unlabeled data then hold as they are:

* a test that counts "not admitted" as "no" has its level, and keeps κ of the power;
* with the true share of "yes", information is estimated consistently.

They hold if whether a "yes" is admitted depends on nothing else, the target least of all (MAR-C of the feature).
Where the ill admit more readily that they smoke, no method here can tell. And a column that is conditioned on
must be reported in full: within its "no" the unadmitted are mixed with the others, and what they explain is left
unexplained.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from blankets.arguments import names_in
from blankets.errors import NotAnswerableError, ParameterError, listed
from blankets.regimes import PositiveUnlabeled, Regime, Supervised
from blankets.study._study import Study, read_study

__all__ = ["UnderReported", "under_reported_from"]

Names = str | Iterable[str] | Mapping[str, object]


@dataclass(frozen=True, slots=True)
class UnderReported:
    """The under-reported columns of a table.

    Attributes
    ----------
    priors : dict of str to object
        For each what is known about its true share of "yes"; None where nothing is.
    """

    priors: dict[str, object]

    def regime(self, name: str) -> PositiveUnlabeled:
        """Return the regime of a column that takes the place of the target."""
        return PositiveUnlabeled(self.priors[name])

    def others(self, name: str, exclude: Iterable[str] = ()) -> list[str]:
        """Return what is to be left out of the table while one column takes the place of the target."""
        return [*exclude, *(other for other in self.priors if other != name)]

    def note(self, name: str) -> str:
        """Say what is assumed."""
        return (
            f"{name!r} is taken to be under-reported: of the rows that should say yes some do, and which of them is "
            "taken to depend on nothing else."
        )

    def exchanged(
        self, data: Any, name: str, reading: Mapping[str, Any], *, about: tuple[Any, Any, Any, Sequence[str]]
    ) -> tuple[Study, str]:
        """Return the study in which a column takes the place of the target, and the name of the target proper."""
        target, y, labels, given = about
        proper = self.check(target, y, labels, given)
        reading = {**reading, "exclude": self.others(name, reading.get("exclude", ()))}
        return read_study(data, name, None, labels=self.regime(name), **reading), proper

    def check_engine(self, engine: str) -> None:
        """Refuse to exchange the roles of columns that stay in a database."""
        if engine == "sql":
            raise ParameterError("engine='sql' leaves the rows in their database: pack the query for 'under_reported'")

    def check(self, target: object, y: ArrayLike | None, labels: str | Regime, given: Iterable[str] = ()) -> str:
        """Refuse what exchanging the roles cannot answer; return the name of the target."""
        if y is not None or not isinstance(target, str):
            raise ParameterError("with under-reported features, 'target' must be the name of a column")
        if target in self.priors:
            raise ParameterError(f"{target!r} is the target: say that it is under-reported with labels='pu'")
        if not isinstance(labels, Supervised) and labels not in ("auto", "supervised"):
            raise NotAnswerableError(
                "an under-reported feature can be compared with a target that is known in every row; here the "
                "target's labels are missing too"
            )
        if unseen := [name for name in given if name in self.priors]:
            raise NotAnswerableError(
                f"nothing can be conditioned on {listed(unseen)}, which is under-reported: among the rows that do not "
                "say yes, the unadmitted are mixed with the others"
            )
        return target


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
