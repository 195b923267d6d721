"""Hide labels by a known mechanism, and change the shares of the classes.

A row is labeled (s = 1) with a probability that depends on nothing (MCAR), on a feature (MAR-F), on the
class (MAR-C), or on the class with positives only (PU). Each row can be drawn on its own, or an exact number
of rows can be drawn; at error rates of 1% the difference is visible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets.arguments import generator_from, one_of
from blankets.errors import LabelError, ParameterError, guarded, listed
from blankets.voice import option

Mechanism = Literal["mcar", "mar-f", "mar-c", "pu"]


@guarded
def hide_labels(
    y: ArrayLike,
    mechanism: Mechanism,
    *,
    rate: float | Mapping[object, float] | None = None,
    count: int | Mapping[object, int] | None = None,
    feature: ArrayLike | None = None,
    positive: object = 1,
    exact: bool = False,
    rng: np.random.Generator | int | None = None,
) -> NDArray[np.bool_]:
    """Choose the rows whose label stays visible.

    Parameters
    ----------
    y : array-like of shape (rows,)
        The true classes.
    mechanism : {"mcar", "mar-f", "mar-c", "pu"}
        What labeling depends on: nothing; a feature; the class; the class, with positives only.
    rate : float or mapping
        The probability that a row is labeled: p(s=1) for "mcar", p(s=1 | positive) for "pu" (both a
        number); a mapping from levels of the feature ("mar-f") or classes ("mar-c") to probabilities.
    count : int or mapping
        Instead of ``rate``, the exact number of labeled rows: in total, or of each level or class.
    feature : array-like of shape (rows,), optional
        The column that labeling depends on, for "mar-f".
    positive : object
        The class that is labeled under "pu".
    exact : bool
        With a ``rate``: label exactly that share of each group, rounded, instead of drawing for each row.
    rng : numpy.random.Generator, int or None
        Generator or seed.

    Returns
    -------
    ndarray of bool of shape (rows,)
        True if the label stays visible.

    Examples
    --------
    >>> import numpy as np
    >>> from blankets.simulate import hide_labels
    >>> y = np.repeat([0, 1], [80, 20])
    >>> labeled = hide_labels(y, "pu", count=5, rng=0)
    >>> int(labeled.sum()), int(labeled[y == 0].sum())
    (5, 0)
    >>> labeled = hide_labels(y, "mar-c", rate={0: 0.1, 1: 0.5}, exact=True, rng=0)
    >>> int(labeled[y == 0].sum()), int(labeled[y == 1].sum())
    (8, 10)
    """
    if (rate is None) == (count is None):
        raise ParameterError("give either 'rate' (probabilities) or 'count' (exact numbers) of labeled rows")
    generator = generator_from(rng, "hide_labels")
    classes = np.asarray(y)
    names, groups = _groups(classes, mechanism, feature, positive)
    what, given = ("rate", rate) if count is None else ("count", count)
    wanted = _for_each_group(given, what, names, mechanism)
    sizes = np.bincount(groups, minlength=len(names))
    if count is None:
        if not all(0 <= value <= 1 for value in wanted):
            raise ParameterError.out_of_range("rate", rate, "made of probabilities between 0 and 1")
        if not exact:
            return generator.random(len(groups)) < np.array(wanted)[groups]
        counts = [int(np.floor(value * size + 0.5)) for value, size in zip(wanted, sizes, strict=True)]
    else:
        counts = _checked_counts(wanted, names, sizes)
    labeled = np.zeros(len(groups), bool)
    for group, number in enumerate(counts):
        labeled[generator.choice(np.flatnonzero(groups == group), number, replace=False)] = True
    return labeled


def _groups(
    y: NDArray[np.generic], mechanism: str, feature: ArrayLike | None, positive: object
) -> tuple[list[object], NDArray[np.int64]]:
    """Return the groups of rows that share a labeling probability: their names, and the group of each row."""
    one_of("mechanism", mechanism, ("mcar", "mar-f", "mar-c", "pu"))
    if (feature is not None) != (mechanism == "mar-f"):
        raise ParameterError("'feature' is the column that decides under mechanism 'mar-f', and under it alone")
    if mechanism == "mcar":
        return ["all"], np.zeros(len(y), np.int64)
    if mechanism == "pu":
        is_positive = y == positive
        if not np.any(is_positive):
            raise LabelError(
                f"no row is of class {positive!r}; pass {option('positive')} one of {listed(np.unique(y).tolist())}"
            )
        return ["unlabeled", "positive"], np.asarray(is_positive, np.int64)
    column = y if feature is None else np.asarray(feature)
    if column.shape != y.shape:
        raise ParameterError(f"'feature' has {len(column)} rows, but 'y' has {len(y)}")
    names, groups = np.unique(column, return_inverse=True)
    return names.tolist(), groups


def _for_each_group(wanted: object, what: str, names: Sequence[object], mechanism: str) -> list[float]:
    """Return one number for each group: ``wanted`` itself for "mcar" and "pu", looked up otherwise."""
    if mechanism in ("mcar", "pu"):
        if not isinstance(wanted, int | float | np.number):
            raise ParameterError.out_of_range(what, wanted, f"one number under mechanism {mechanism!r}")
        return [float(wanted)] if mechanism == "mcar" else [0.0, float(wanted)]
    if not isinstance(wanted, Mapping) or set(wanted) != set(names):
        raise ParameterError.out_of_range(what, wanted, f"a mapping with the keys {listed(names)}")
    return [float(wanted[name]) for name in names]


def _checked_counts(wanted: list[float], names: Sequence[object], sizes: NDArray[np.int64]) -> list[int]:
    for value, name, size in zip(wanted, names, sizes, strict=True):
        if value != int(value) or not 0 <= value <= size:
            raise ParameterError(f"'count' asks for {value:g} labeled rows of {name!r}, but there are {size} rows")
    return [int(value) for value in wanted]
