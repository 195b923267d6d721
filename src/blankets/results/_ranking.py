"""`Ranking`: features in order of their information about a target."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from blankets.errors import guarded
from blankets.records import Bounds, Call, Count, Saved, refuse
from blankets.results._answers import check_law
from blankets.results._text import Tabled
from blankets.results._words import NATS, as_frame, count_of, digits, format_p, shown
from blankets.stats import LARGEST, InformationEstimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST = 40  # most features that a table shows; the rest are counted


@guarded
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Ranking(Saved, Tabled):
    """Features in order of their information about the target.

    Attributes
    ----------
    target : str
        The target.
    names : tuple of str
        Features, the most informative first.
    information, standard_error : ndarray of shape (features,)
        In nats (units of information), in the order of ``names``: as measured, which chance makes too large.
    corrected : ndarray of shape (features,)
        The information that is too large as often as too small, inside of each interval.
    p : ndarray of shape (features,)
        P-value of independence of each feature.
    group : ndarray of int of shape (features,)
        The information of the features of one group does not differ significantly (10% level, as for two
        independent estimates) from that of its first feature.
    estimator : str
        What the features are ranked by.
    notes : tuple of str
        Assumptions and cautions.
    excluded : mapping of str to str
        Columns that were not ranked, and why.
    n_rows, call
        Rows that were used and the call that made it.

    Examples
    --------
    >>> import numpy as np
    >>> import blankets as bl
    >>> ill = np.arange(400) % 2
    >>> ranking = bl.rank({"cough": np.where(np.arange(400) % 5, ill, 1 - ill), "ill": ill}, "ill")
    >>> bl.Ranking.from_json(ranking.to_json()) == ranking
    True
    """

    _schema = "blankets/ranking"

    target: str
    names: tuple[str, ...]
    information: Annotated[NDArray[np.float64], Bounds(-LARGEST, LARGEST)]
    standard_error: Annotated[NDArray[np.float64], Bounds(0.0, known=False)]
    p: Annotated[NDArray[np.float64], Bounds(0.0, 1.0)]
    group: Annotated[NDArray[np.int64], Bounds(0)]
    estimator: str
    n_rows: Count
    notes: tuple[str, ...] = ()
    excluded: Mapping[str, str] = field(default_factory=dict)
    call: Call | None = None
    _law: InformationEstimate = field(repr=False)

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def interval(self, level: float = 0.9) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the confidence interval of each feature's information, in the order of ``names``."""
        return self._law.interval(level)

    @property
    def corrected(self) -> NDArray[np.float64]:
        """The information of each feature that is too large as often as too small."""
        return self._law.corrected

    def table(self) -> list[dict[str, object]]:
        """Return one row for each feature, the most informative first, with its 90% interval."""
        low, high = self.interval()
        columns = (self.information, self.corrected, self.standard_error, low, high, self.p, self.group)
        keys = ("name", "information", "corrected", "standard_error", "low_90", "high_90", "p", "group")
        return [
            dict(zip(keys, row, strict=True)) for row in zip(self.names, *map(np.ndarray.tolist, columns), strict=True)
        ]

    def _derived(self) -> dict[str, object]:
        low, high = self.interval()
        return {"corrected": self.corrected, "low_90": low, "high_90": high}

    def _check(self) -> None:
        n = len(self.names)
        for part in (self.information, self.standard_error, self.p, self.group):
            if part.shape != (n,):
                refuse(f"'names' holds {n} features, but there are numbers for {part.size}")
        check_law(self._law, n)

    def plot(self, ax: Axes | None = None, **details: Any) -> Axes:
        """Draw the information of the first features with its intervals; see `blankets.plots.plot_effects`."""
        from blankets.plots import plot_effects

        return plot_effects(self, ax=ax, **details)

    def to_frame(self) -> Any:
        """Return the ranking as a pandas data frame, one row for each feature."""
        return as_frame(self.table(), "a ranking")

    def _words(self) -> list[str]:
        return [NATS]

    def _notes(self) -> tuple[str, ...]:
        return self.notes

    def _title(self) -> str:
        return (
            f"{count_of(len(self), 'feature')} by their information about {shown(self.target)} ({self.estimator}, "
            f"{self.n_rows:,} rows)"
        )

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        (low, high), corrected = self.interval(), self.corrected
        rows = [
            [
                str(i + 1),
                shown(self.names[i]),
                digits(float(corrected[i])),
                f"{digits(float(low[i]))} to {digits(float(high[i]))}",
                format_p(math.log(max(float(self.p[i]), 1e-300))),
                str(int(self.group[i]) + 1),
            ]
            for i in range(min(len(self), _MOST))
        ]
        if len(self) > _MOST:
            rows.append(["", f"and {len(self) - _MOST} more", "", "", "", ""])
        return ["", "feature", "nats", "90% interval", "p", "group"], rows
