"""`Ranking`: features in order of their information about a target."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from blankets.data import Manifest, Reader, plain
from blankets.errors import MissingPackageError
from blankets.results._law import LARGEST, TOO_LARGE, Answer, law_from, law_to_dict
from blankets.results._text import aligned, html_table
from blankets.results._words import count_of, format_p, number, shown, wrapped
from blankets.stats import InformationEstimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Ranking"]

_MOST = 40  # features that a table shows; the rest are counted


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Ranking(Answer):
    """Features in order of their information about the target.

    Attributes
    ----------
    target : str
        The target.
    names : tuple of str
        Features, the most informative first.
    information, standard_error : ndarray of shape (features,)
        In nats, in the order of ``names``.
    p : ndarray of shape (features,)
        P-value of independence of each.
    group : ndarray of int of shape (features,)
        Features of one group cannot be told apart from its first: the difference is within what chance
        does to two independent estimates at the 10% level.
    estimator : str
        What the features are ranked by.
    n_rows : int
        Rows of the table.
    notes : tuple of str
        Assumptions and cautions.
    excluded : mapping of str to str
        Columns that were not ranked, and why.
    manifest : Manifest or None
        What the result was made with.

    Examples
    --------
    >>> import blankets as bl
    >>> ill = np.arange(400) % 2
    >>> ranking = bl.rank({"cough": np.where(np.arange(400) % 5, ill, 1 - ill), "ill": ill}, "ill")
    >>> bl.Ranking.from_json(ranking.to_json()) == ranking
    True
    """

    _schema = "blankets/ranking"

    target: str
    names: tuple[str, ...]
    information: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    p: NDArray[np.float64]
    group: NDArray[np.int64]
    estimator: str
    n_rows: int
    notes: tuple[str, ...] = ()
    excluded: Mapping[str, str] = field(default_factory=dict)
    manifest: Manifest | None = None
    _law: InformationEstimate = field(repr=False)

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def interval(self, level: float = 0.9) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the confidence interval of each feature's information, in the order of ``names``."""
        return self._law.interval(level)

    def _content(self) -> dict[str, Any]:
        low, high = self.interval()
        columns = zip(self.names, self.information, self.standard_error, low, high, self.p, self.group, strict=True)
        keys = ("name", "information", "standard_error", "low_90", "high_90", "p", "group")
        return {
            "target": self.target,
            "estimator": self.estimator,
            "n_rows": self.n_rows,
            "features": [dict(zip(keys, map(plain, row), strict=True)) for row in columns],
            "law": law_to_dict(self._law, len(self)),
            "notes": list(self.notes),
            "excluded": dict(self.excluded),
            "manifest": plain(self.manifest),
        }

    @classmethod
    def _read(cls, fields: Reader) -> Ranking:
        each, estimator = fields.each("features"), fields.one(str, "estimator")
        information = np.array([one.known_number("information", -LARGEST, LARGEST) for one in each], float)
        read = cls(
            target=fields.one(str, "target"),
            names=tuple(one.one(str, "name") for one in each),
            information=information,
            standard_error=np.array([one.number("standard_error", 0.0) for one in each], float),
            p=np.array([one.probability("p") for one in each], float),
            group=np.array([one.count("group") for one in each], np.int64),
            estimator=estimator,
            n_rows=fields.count("n_rows"),
            notes=fields.names("notes"),
            excluded=fields.names_by_name("excluded"),
            manifest=fields.manifest(),
            _law=law_from(fields.inside("law"), information, estimator),
        )
        for one, again in zip(each, read._content()["features"], strict=True):
            one.derived(again, "low_90", "high_90")
        return read

    def plot(self, ax: Axes | None = None, **details: Any) -> Axes:
        """Draw the information of the first features with its intervals; see `blankets.plots.plot_effects`."""
        from blankets.plots import plot_effects

        return plot_effects(self, ax=ax, **details)

    def to_pandas(self) -> Any:
        """Return the ranking as a pandas data frame."""
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingPackageError(
                "a ranking as a data frame needs the package 'pandas'; install it, or use to_dict()"
            ) from error

        return pd.DataFrame(self.to_dict()["features"])

    def __repr__(self) -> str:
        lines = [self._title(), *(f"  {line}" for line in aligned(*self._cells()))]
        if (self.information > self.interval()[1]).any():
            lines.append(wrapped(TOO_LARGE, "  "))
        return "\n".join([*lines, *(wrapped(note, "  note: ") for note in self.notes)])

    def _repr_html_(self) -> str:
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        return f"<div><strong>{escape(self._title())}</strong>{html_table(*self._cells())}<ul>{notes}</ul></div>"

    def _title(self) -> str:
        return (
            f"{count_of(len(self), 'feature')} by their information about {shown(self.target)} ({self.estimator}, "
            f"{self.n_rows:,} rows)"
        )

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        low, high = self.interval()
        rows = [
            [
                str(i + 1),
                shown(self.names[i]),
                number(float(self.information[i])),
                f"{number(float(low[i]))} to {number(float(high[i]))}",
                format_p(math.log(max(float(self.p[i]), 1e-300))),
                str(int(self.group[i]) + 1),
            ]
            for i in range(min(len(self), _MOST))
        ]
        if len(self) > _MOST:
            rows.append(["", f"and {len(self) - _MOST} more", "", "", "", ""])
        return ["", "feature", "nats", "90% interval", "p", "group"], rows
