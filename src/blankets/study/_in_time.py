"""Do rows follow each other in time? Then they are no independent draws, and p-values are too small."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from blankets.counting import standardized
from blankets.data import Frame
from blankets.results import Finding, digits, joined, shown
from blankets.study._study import Study
from blankets.voice import option

# A correlation with the row before of so many standard errors, of the target and of another column: chance does that in
# 4e-9 of pairs, and series with a correlation of 0.6 do it in all but 1e-5 of tables of 200 rows.
SURE = 4.0
FEWEST_ROWS, MOST_ROWS = 50, 100_000
MOST_COLUMNS, MOST_MEMBERS, MOST_LEVELS, KNOTS = 100, 10, 20, 5
_ROUNDING = 1e-9  # variance that rounding leaves of what others tell exactly

Floats = NDArray[np.float64]


def rows_in_time(study: Study, target: int, members: Sequence[int]) -> Iterator[Finding]:
    """Yield that rows resemble the rows before them, in the target and in other columns.

    What the order of rows has by another column does no harm: in a table that is sorted by the target, or by a member,
    nothing is left of it in what this one leaves of the other.
    """
    frame = study.frame
    n = min(frame.n_rows, MOST_ROWS)
    if study.groups is not None or study.survey is not None or n < FEWEST_ROWS:
        return
    others = [j for j in range(frame.n_columns) if j != target and j not in members]
    columns = [*members, *others][:MOST_COLUMNS]
    bound = SURE / np.sqrt(n)
    y = _functions(frame, target, n)
    bent = [_bent(_functions(frame, j, n)) for j in members[:MOST_MEMBERS]]
    of_target = serial_correlation(_left(y, np.vstack(bent)[: n // 10] if bent else y[:0]))
    if not of_target > bound:
        return
    curves = _bent(y)
    each = {j: serial_correlation(_left(_functions(frame, j, n), curves)) for j in columns}
    found = {study.names[j]: r for j, r in each.items() if r > bound}
    if not found:
        return
    name = shown(study.names[target])
    first = digits(max(found.values()), 2)
    yield Finding(
        kind="rows in time",
        columns=tuple(found),
        what=f"Rows resemble the rows before them, in {name} (correlation {digits(of_target, 2)}) and in "
        f"{joined(list(found), 4)} (up to {first}), as series in time do. Tests take rows for independent draws: "
        f"unrelated series look dependent.",
        next_step=f"If rows are in time: number stretches of it in a column (months, runs), and give that as "
        f"{option('groups')}.",
        weight="act",
        figures={study.names[target]: of_target, **found},
    )


def serial_correlation(functions: Floats) -> float:
    """Return the correlation of rows with the rows before them, of functions of shape (k, rows) together.

    Examples
    --------
    >>> round(serial_correlation(np.sin(np.arange(600.0) / 10)[None]), 2)
    0.99
    """
    centered = functions - functions.mean(axis=1, keepdims=True)
    whole = float((centered**2).sum())
    some = whole > _ROUNDING * centered.size
    return float((centered[:, 1:] * centered[:, :-1]).sum()) / whole if some else 0.0


def _functions(frame: Frame, j: int, n: int) -> Floats:
    """Return a number (0 where it is missing), or indicators of the most frequent levels, on the first rows."""
    if j in frame.numbers:
        values = frame.numbers[j].values[:n]
        known = np.isfinite(values)
        made = np.zeros((1, n))
        made[0, known] = np.clip(standardized(values[known]), -SURE, SURE)
        return made
    codes = frame.column(j)[:n].astype(np.int64)
    frequent = np.argsort(-np.bincount(codes), kind="stable")[:MOST_LEVELS]
    return np.equal.outer(frequent, codes).astype(np.float64)


def _bent(functions: Floats) -> Floats:
    """Return functions with curves of a number: straight lines from its quantiles on."""
    if len(functions) > 1:
        return functions
    knots = np.quantile(functions[0], np.linspace(0.0, 1.0, KNOTS + 2)[1:-1])
    return np.vstack([functions, np.maximum(functions - knots[:, None], 0.0)])


def _left(functions: Floats, given: Floats) -> Floats:
    """Return what a linear regression on others, and a constant, leaves."""
    design = np.vstack([np.ones(functions.shape[1]), given]).T
    return np.asarray(functions - (design @ np.linalg.lstsq(design, functions.T, rcond=None)[0]).T)
