"""How much columns tell about a target, without cutting: estimates with intervals, column by column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from blankets.counting import MemoryMoments, functions_of_column
from blankets.data import Frame
from blankets.independence._inner_products import project
from blankets.stats import InformationEstimate, Loss, explained_information

_FEWEST = 5  # rows without which nothing is said


def explained_by(
    frame: Frame, xs: Sequence[int], y: int, given: Sequence[int] = (), *, kappa: float = 1.0, loss: Loss = "log"
) -> list[InformationEstimate]:
    """Estimate how much each of ``xs`` tells about ``y`` given one set, on the rows that have all of them.

    ``kappa``: the share of the target's R² that ``y``, its surrogate, keeps.

    Examples
    --------
    >>> from blankets.data import ingest
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=2000)
    >>> frame = ingest({"x": x, "y": 0.75 * x + rng.normal(size=2000)}, numbers=True).frame
    >>> (told,) = explained_by(frame, [0], 1)
    >>> low, high = told.interval(0.9)
    >>> bool(low < -np.log(1 - 0.36) / 2 < high)  # of normal columns with correlation 0.6
    True
    """
    fixed = _Fixed(frame, y, given)
    found = []
    for x in xs:
        rows, at, gaps = fixed, x, frame.gaps(x)
        if gaps is not None:
            rows, at = _Fixed(frame.select([x, y, *given]).take(~gaps), 1, range(2, 2 + len(given))), 0
        found.append(explained_information(rows.of(at), rows.of_y, rows.basis, kappa=kappa, loss=loss))
    return found


class _Fixed:
    """What stays the same for all columns: the rows that have y and the given columns, and their functions."""

    def __init__(self, frame: Frame, y: int, given: Sequence[int]) -> None:
        gaps = [gap for j in (y, *given) if (gap := frame.gaps(j)) is not None]
        self.frame = frame.take(~np.logical_or.reduce(gaps)) if gaps else frame
        self.of_y = self.of(y, of_target=True)
        self.basis = np.zeros((0, self.frame.n_rows))
        if len(given) and self.frame.n_rows >= _FEWEST:
            moments = MemoryMoments(self.frame.select(given).filled())
            known = project(moments, tuple(range(len(given))))
            rows = [moments.rows(z, k) for z, k in zip(known.given, known.widths, strict=True)]
            self.basis = np.asarray(known.root.T @ np.vstack(rows))

    def of(self, x: int, *, of_target: bool = False) -> NDArray[np.float64]:
        """Return the functions of a column that are tested, of a target the first ones of them; none in a few rows."""
        if self.frame.n_rows < _FEWEST:
            return np.zeros((0, self.frame.n_rows))
        made = functions_of_column(self.frame.select([x]).filled(), 0)
        return made.values[: made.first] if of_target else made.values
