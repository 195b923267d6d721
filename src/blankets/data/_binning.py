"""Cut continuous values into a few bins, by a named rule.

A rule proposes cut points c1 < c2 < ...; the bins are x < c1, c1 <= x < c2, ..., x >= ck, so new data
outside the range of the first data fall into the outer bins. A bin without rows is joined with its
neighbor: this changes no count, but an empty level would cost degrees of freedom.

References
----------
Sturges (1926), The choice of a class interval.
Fayyad & Irani (1993), Multi-interval discretization of continuous-valued attributes for classification
learning.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.errors import ParameterError
from blankets.voice import option

Floats = NDArray[np.float64]


def sturges_bins(n: int) -> int:
    """Return Sturges' number of bins for ``n`` values, log2 n + 1, rounded up.

    >>> sturges_bins(1000)
    11
    """
    return math.ceil(math.log2(n) + 1)


def equal_width(values: Floats, bins: int) -> Floats:
    """Return the inner borders of ``bins`` intervals of equal width over the range of the values."""
    low, high = float(values.min()), float(values.max())
    share = np.arange(1, bins, dtype=np.float64) / bins
    return low * (1 - share) + high * share  # high - low itself may overflow


def equal_frequency(values: Floats, bins: int) -> Floats:
    """Return the quantiles that divide the values into ``bins`` bins of about equal size.

    Tied values stay together, so bins can be fewer and less equal; if the lowest value alone fills a
    bin, the first cut is just above it.
    """
    cuts = np.quantile(values, np.arange(1, bins) / bins)
    above = values[values > values.min()]
    return np.unique(np.maximum(cuts, above.min() if len(above) else cuts[0]))


RULES: dict[str, Callable[[Floats, int], Floats]] = {
    "sturges": equal_width,
    "equal-width": equal_width,
    "equal-frequency": equal_frequency,
}
COUNTED_RULES = {"equal-width", "equal-frequency"}  # rules with a number of bins that the user may choose


def cut_points(
    values: NDArray[np.number[Any]],
    rule: str,
    bins: int | None = None,
    classes: NDArray[np.integer[Any]] | None = None,
) -> Floats:
    """Return the cut points of one column by the named rule; at least one row lies in each bin.

    ``values``, of shape (rows,): finite numbers. ``rule``: ``"supervised"`` is `mdlp_cuts`. ``bins``: wanted number
    of bins; default Sturges' number. ``classes``, of shape (rows,): codes of the target, for ``"supervised"``.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if rule == "supervised":
        if classes is None:
            raise ParameterError(f"{option(discretize='supervised')} needs a target to look at")
        return mdlp_cuts(numbers, classes)
    cuts = RULES[rule](numbers, sturges_bins(len(numbers)) if bins is None else bins)
    return without_empty_bins(numbers, cuts)


def without_empty_bins(values: Floats, cuts: Floats) -> Floats:
    """Remove the upper border of each bin without rows (for the last bin, the lower border)."""
    counts = np.bincount(bin_codes(values, cuts), minlength=len(cuts) + 1)
    kept = cuts[counts[:-1] > 0]
    return kept if counts[-1] else kept[:-1]


def bin_codes(values: NDArray[np.number[Any]], cuts: Floats) -> NDArray[np.int64]:
    """Return the number of the bin of each value.

    >>> bin_codes(np.array([1.0, 2.5, 9.0]), np.array([2.5, 7.0])).tolist()
    [0, 1, 2]
    """
    return np.searchsorted(cuts, values, side="right")


def bin_labels(cuts: Sequence[float] | Floats) -> tuple[str, ...]:
    """Return readable names of the bins, with enough digits to distinguish the cut points.

    >>> bin_labels([2.5, 7.0])
    ('< 2.5', '[2.5, 7)', '>= 7')
    """
    if not len(cuts):
        return ("any value",)
    for digits in range(4, 18):
        borders = [f"{cut:.{digits}g}" for cut in cuts]
        if len(set(borders)) == len(borders):
            break
    inner = [f"[{low}, {high})" for low, high in pairwise(borders)]
    return (f"< {borders[0]}", *inner, f">= {borders[-1]}")


def mdlp_cuts(values: Floats, classes: NDArray[np.integer[Any]]) -> Floats:
    """Cut where the classes differ most, as long as the description length of the classes falls.

    The cuts depend on the target: tests on columns binned in this way reject too often. Use them for
    description and prediction, not for p-values.

    ``values``, of shape (rows,): finite numbers. ``classes``, of shape (rows,): codes of the target.

    Returns: cut points midway between neighboring values; empty if no cut gains enough information.

    Examples
    --------
    >>> x = np.array([1.0, 2, 3, 4, 11, 12, 13, 14])
    >>> mdlp_cuts(x, np.array([0, 0, 0, 0, 1, 1, 1, 1])).tolist()
    [7.5]
    """
    distinct, place = np.unique(values, return_inverse=True)
    counts = np.zeros((len(distinct), int(classes.max(initial=0)) + 1), np.int64)
    np.add.at(counts, (place, classes), 1)
    below = np.cumsum(counts, axis=0)
    below = np.vstack([np.zeros_like(below[:1]), below])
    at = sorted(_accepted_cuts(below, 0, len(distinct)))
    return np.array([_midway(float(distinct[k - 1]), float(distinct[k])) for k in at], dtype=np.float64)


def _accepted_cuts(below: NDArray[np.int64], first: int, last: int) -> Iterator[int]:
    """Yield the accepted cuts among distinct values first ... last - 1, each as the first value above it.

    ``below[k]`` has the class counts of the k smallest distinct values.
    """
    todo = [(first, last)]
    while todo:
        first, last = todo.pop()
        if last - first < 2:
            continue
        whole = below[last] - below[first]
        left = below[first + 1 : last] - below[first]
        right = whole - left
        n_left, n_right, n = left.sum(axis=1), right.sum(axis=1), whole.sum()
        split = (n_left * _entropy(left) + n_right * _entropy(right)) / n
        best = int(np.argmin(split))
        if _pays(whole, left[best], right[best], float(split[best])):
            cut = first + 1 + best
            yield cut
            todo += [(first, cut), (cut, last)]


def _pays(whole: NDArray[np.int64], left: NDArray[np.int64], right: NDArray[np.int64], split: float) -> bool:
    """Apply the criterion of Fayyad & Irani (section 3), here in nats: the gain must exceed the cost."""
    n = int(whole.sum())
    k, k_left, k_right = (int(np.count_nonzero(part)) for part in (whole, left, right))
    h, h_left, h_right = (float(_entropy(part[np.newaxis])[0]) for part in (whole, left, right))
    price = math.log(n - 1) + math.log(3**k - 2) - (k * h - k_left * h_left - k_right * h_right)
    return h - split > price / n


def _entropy(counts: NDArray[np.int64]) -> Floats:
    """Return the entropy in nats of each row of class counts; shape (rows, classes) to (rows,)."""
    n = counts.sum(axis=1)
    return np.asarray(np.log(n) - (counts * np.log(np.maximum(counts, 1))).sum(axis=1) / n)


def _midway(low: float, high: float) -> float:
    """Return the middle of two values, or the upper one if there is no number between them."""
    middle = low / 2 + high / 2
    return middle if low < middle <= high else high
