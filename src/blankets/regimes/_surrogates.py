"""Surrogates: what is counted in place of a target that is only partly known.

* ``listwise``: the labeled rows alone.
* ``ym`` (Ỹm): all rows, with "unlabeled" as a third class.
* ``y0`` (Ỹ0): all rows, unlabeled ones counted as negative.
* ``y1`` (Ỹ1): all rows, unlabeled ones counted as positive.
* ``full``: the target itself, if no label is missing.
* ``predicted``: gold labels of some rows, and a machine's labels of all; see `Predicted`.
* ``weighted``: labeled positives, each as often as its propensity says; see `PositiveUnlabeled`.
* ``pairwise``: counts with the target from labeled rows, other counts from all rows ("pairwise
  deletion", "available cases"). Only for comparison: its level is not known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets.errors import LabelError, ParameterError
from blankets.regimes._labels import Labels
from blankets.stats import NEGATIVE, POSITIVE, UNLABELED, as_tables


class Surrogate(StrEnum):
    """What is counted in place of the target."""

    FULL = "full"
    LISTWISE = "listwise"
    YM = "ym"
    Y0 = "y0"
    Y1 = "y1"
    PAIRWISE = "pairwise"
    PREDICTED = "predicted"
    WEIGHTED = "weighted"

    @property
    def words(self) -> str:
        """What a test with it counts, to complete "the test ..."."""
        return _WORDS[self]


_WORDS = {
    Surrogate.FULL: "uses the target as it is",
    Surrogate.LISTWISE: "uses the labeled rows alone",
    Surrogate.YM: "counts unlabeled rows as a class of their own",
    Surrogate.Y0: "counts unlabeled rows as negatives",
    Surrogate.Y1: "counts unlabeled rows as positives",
    Surrogate.PAIRWISE: "counts labeled rows for the target and all rows for the margins of features",
    Surrogate.PREDICTED: "uses the gold labels, and the machine's labels of all rows beside them",
    Surrogate.WEIGHTED: "counts each labeled positive as one divided by its propensity",
}


@dataclass(frozen=True, slots=True, eq=False)
class SurrogateColumn:
    """A column to count in place of the target."""

    surrogate: Surrogate  # which one
    codes: NDArray[np.uint8]  # (rows,): codes of all rows; 0 in rows that are not counted
    levels: tuple[object, ...]  # what the codes mean
    rows: NDArray[np.bool_] | None = None  # (rows,): which rows to count; None for all
    forced: bool = False  # whether it is not valid in this regime, but the user forced it
    note: str = ""  # why it was chosen, or why it is not valid

    @property
    def n_rows(self) -> int:
        """Number of rows to count."""
        return len(self.codes) if self.rows is None else int(np.count_nonzero(self.rows))


def surrogate_from(name: str | Surrogate) -> Surrogate:
    """Return the surrogate with this name.

    >>> surrogate_from("y0")
    <Surrogate.Y0: 'y0'>
    """
    try:
        return Surrogate(name)
    except (TypeError, ValueError):
        raise ParameterError.not_one_of("surrogate", name, [s.value for s in Surrogate]) from None


def surrogate_column(labels: Labels, surrogate: Surrogate, *, forced: bool = False, note: str = "") -> SurrogateColumn:
    """Build the column of a surrogate; the regime decides whether it is valid.

    Examples
    --------
    >>> from blankets.regimes._labels import read_labels
    >>> labels = read_labels([1, None, 0, 1])
    >>> surrogate_column(labels, Surrogate.Y1).codes.tolist()
    [1, 1, 0, 1]
    >>> column = surrogate_column(labels, Surrogate.LISTWISE)
    >>> column.n_rows, column.rows.tolist()
    (3, [True, False, True, True])
    """
    labeled = labels.labeled
    if surrogate in (Surrogate.FULL, Surrogate.LISTWISE, Surrogate.PAIRWISE, Surrogate.PREDICTED):
        codes = np.where(labeled, labels.codes, 0).astype(np.uint8)
        rows = None if surrogate is Surrogate.FULL else labeled
        return SurrogateColumn(surrogate, codes, labels.classes, rows, forced, note)
    if not labels.is_binary:
        raise LabelError(f"{surrogate.value!r} stands in for one of two classes, but there are {len(labels.classes)}")
    negative, positive = labels.classes
    filler = {Surrogate.YM: UNLABELED, Surrogate.Y1: POSITIVE}.get(surrogate, NEGATIVE)
    names = {
        Surrogate.YM: (negative, positive, "unlabeled"),
        Surrogate.Y1: (negative, f"{positive} or unlabeled"),
    }.get(surrogate, (f"{negative} or unlabeled", positive))
    codes = np.where(labeled, labels.codes, filler).astype(np.uint8)
    return SurrogateColumn(surrogate, codes, names, None, forced, note)


def label_column(labels: Labels, drivers: NDArray[np.int64] | None = None) -> SurrogateColumn:
    """Return negative, positive, unlabeled as 0, 1, 2: the column whose counts are label tables.

    ``drivers``: for each row the number of its joint values of K columns that labeling depends on; then there are 3 K
    levels, negative with each of these first.

    >>> from blankets.regimes import read_labels
    >>> label_column(read_labels([0, 1, None]), np.array([0, 1, 1])).codes.tolist()
    [0, 3, 5]
    """
    column = surrogate_column(labels, Surrogate.YM)
    if drivers is None or not len(drivers):
        return column
    k = int(drivers.max()) + 1
    codes = column.codes.astype(np.int64) * k + drivers
    levels = tuple(f"{level} at {w}" for level in column.levels for w in range(k))
    return replace(column, codes=codes.astype(np.uint8 if 3 * k <= 256 else np.int32), levels=levels)


def collapse(counts: ArrayLike, surrogate: Surrogate) -> NDArray[np.float64]:
    """Return label tables as tables of a surrogate.

    ``counts``, of shape (..., strata, 3, levels of x): label tables: negative, positive, unlabeled. With three axes the
    first is that of the strata, so that n tables without strata have shape (n, 1, 3, levels of x); a (3, levels of x)
    table is one stratum. ``surrogate``: what replaces the target.

    Examples
    --------
    >>> collapse([[1, 2], [3, 4], [50, 60]], Surrogate.Y0).tolist()
    [[[51.0, 62.0], [3.0, 4.0]]]
    """
    tables = as_tables(counts, n_y=3)
    negative, positive, unlabeled = (tables[..., k, :] for k in (NEGATIVE, POSITIVE, UNLABELED))
    if surrogate is Surrogate.YM:
        return tables
    if surrogate is Surrogate.Y0:
        negative = negative + unlabeled
    elif surrogate is Surrogate.Y1:
        positive = positive + unlabeled
    return np.stack([negative, positive], axis=-2)
