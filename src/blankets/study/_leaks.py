"""How well one column tells the target: `tells` finds those that nearly do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from blankets.counting import ranks, standardized
from blankets.results import digits, joined, shown
from blankets.study._effect_columns import drawn_rows
from blankets.study._study import Study

LEAK = 0.9  # share of the information in the target from which a column leaks
CUT = 0.98  # balanced accuracy from which cuts of a number give the classes
STRAIGHT = 0.99  # squared correlation (of values or ranks) from which a number tells another one
FEWEST = 10  # rows that each class needs

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """How well one column tells the target."""

    right: float  # share of the rows in which a guess from the column is right, or of the variance that it explains
    cuts: tuple[float, ...] = ()  # for a number: the cuts that give the classes
    of_variance: bool = False  # whether ``right`` is a share of the variance

    def words(self, name: str, target: str) -> str:
        """Say it in a sentence."""
        share = f"{min(self.right, 0.999):.1%}" if self.right < 1.0 else "100%"
        if self.of_variance:
            return f"{shown(name)} alone explains {share} of the variance of {shown(target)}."
        if self.cuts:
            cuts = joined([digits(cut, 4) for cut in self.cuts])
            return f"{shown(name)} cut at {cuts} gives the classes of {shown(target)} in {share} of the rows."
        return f"{shown(name)} alone tells {shown(target)} in {share} of the rows."


def tells(study: Study, target: int, columns: Iterable[int]) -> dict[str, Told]:
    """Return the columns that nearly tell the target, and how."""
    frame = study.frame
    is_number = target in frame.numbers
    if is_number:
        y: NDArray[Any] = frame.numbers[target].values
        known = np.isfinite(y)
    else:
        y, known = classes_of(study, target)
    rows = drawn_rows(np.flatnonzero(known))
    copies = study.report.copies_of_target if target == study.column else ()
    found = {name: Told(right=1.0) for j in columns if (name := frame.names[j]) in copies}
    for j in columns:
        if frame.names[j] in found:
            continue
        x = frame.numbers[j].values[rows] if j in frame.numbers else frame.column(j)[rows].astype(np.int64)
        there = np.isfinite(x) if j in frame.numbers else x < len(frame.levels[j])
        told = how_told(x[there], y[rows][there], x_number=j in frame.numbers, y_number=is_number)
        if told is not None:
            found[frame.names[j]] = told
    return found


def classes_of(study: Study, target: int) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the class of each row, as a code, and which rows have one."""
    own = target == study.column and len(study.labels.codes)
    y = (study.labels.codes if own else study.frame.column(target)).astype(np.int64)
    return y, (y >= 0) & (y < max(len(study.frame.levels[target]), len(study.labels.classes)))


def how_told(x: NDArray[Any], y: NDArray[Any], *, x_number: bool, y_number: bool) -> Told | None:
    """Return how well values of a column tell those of the target; None if they do not nearly."""
    if len(x) < 2 * FEWEST:
        return None
    if y_number:
        share = _explained(x, y) if x_number else _between(x, y)
        return Told(right=share, of_variance=True) if share >= STRAIGHT else None
    there = np.bincount(y)
    if np.count_nonzero(there) < 2 or there[there > 0].min() < FEWEST:
        return None
    codes = (np.cumsum(there > 0) - 1)[y]
    return cuts_that_tell(x, codes) if x_number else _levels_that_tell(x, codes)


def _explained(x: Floats, y: Floats) -> float:
    """Return the squared correlation of two numbers, or of their ranks if that is larger."""
    pairs = ((x, y), (ranks(x)[0], ranks(y)[0]))
    return max(float(np.mean(standardized(a) * standardized(b))) ** 2 for a, b in pairs)


def _between(x: Ints, y: Floats) -> float:
    """Return the share of the variance of a number that levels explain, less what chance does."""
    y = standardized(y)
    counts = np.bincount(x)
    means = np.bincount(x, y) / np.maximum(counts, 1)
    left, whole = float(np.mean((y - means[x]) ** 2)), float(np.var(y))
    free = len(y) - np.count_nonzero(counts)
    return 1.0 - left / whole * (len(y) - 1) / free if whole > 0 and free > 0 else 0.0


def _levels_that_tell(x: Ints, y: Ints) -> Told | None:
    """Return how well levels tell classes, if they hold most of the information in them."""
    n, wide = len(x), int(y.max()) + 1
    table = np.bincount(x * wide + y, minlength=(int(x.max()) + 1) * wide).reshape(-1, wide).astype(float)

    def entropy(counts: Floats) -> float:
        return float(np.log(n) - xlogy(counts, counts).sum() / n)

    of_y = entropy(table.sum(axis=0))
    shared = entropy(table.sum(axis=1)) + of_y - entropy(table)
    # A column with many levels seems to tell everything; the share to be expected by chance is known.
    by_chance = (np.count_nonzero(table.sum(axis=1)) - 1) * (table.shape[1] - 1) / (2 * n)
    if shared < LEAK * of_y or shared - by_chance < LEAK / 2 * of_y:
        return None
    return Told(right=float(table.max(axis=1).sum() / n))


def told_by_others(x: Ints, y: Ints) -> float:
    """Return the share of rows whose class is that of most other rows of their level: a row alone tells nothing."""
    wide = int(y.max()) + 2
    table = np.bincount(x * wide + y, minlength=(int(x.max()) + 1) * wide).reshape(-1, wide)
    second, most = np.sort(table, axis=1)[:, -2:].T
    return float(most[most - 1 > second].sum() / len(x))


def cuts_that_tell(x: Floats, y: Ints) -> Told | None:
    """Return the cuts of a number that give the classes, as an assay value does that defines them; None if none do.

    Each cut separates classes with smaller values from the others, right for 98% of the rows of either side.

    >>> hba1c = np.array([5.1, 5.4, 6.1, 6.2, 6.6, 7.9, 8.4, 9.0])
    >>> cuts_that_tell(hba1c, (hba1c >= 6.5).astype(int))
    Told(right=1.0, cuts=(6.4,), of_variance=False)
    """
    n_classes = int(y.max()) + 1
    by_value = np.argsort(np.bincount(y, standardized(x)) / np.bincount(y))  # the classes, smallest values first
    place = np.empty(n_classes, np.int64)
    place[by_value] = np.arange(n_classes)
    order = np.argsort(x, kind="stable")
    values, classes = x[order], place[y[order]]
    ends = np.flatnonzero(values[1:] > values[:-1])  # a cut may be after each of these
    if not len(ends):
        return None
    cuts, guess = [], np.zeros(len(x), np.int64)
    for k in range(1, n_classes):
        above = classes >= k
        n_above = np.count_nonzero(above)
        low = np.cumsum(~above)[ends] / (len(x) - n_above)  # rows of lower classes below the cut
        high = 1.0 - np.cumsum(above)[ends] / n_above
        best = int(np.argmax(low + high))
        if low[best] + high[best] < 2.0 * CUT:
            return None
        cuts.append(float(values[ends[best]] / 2.0 + values[ends[best] + 1] / 2.0))
        guess += values > cuts[-1]
    return Told(right=float(np.mean(guess == classes)), cuts=tuple(cuts))
