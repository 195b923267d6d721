"""Recognize one variable in several columns: dummies (one-hot columns), of which each row has at most one."""

from __future__ import annotations

import re

import numpy as np

from blankets.data import Frame
from blankets.independence import KnownColumns
from blankets.results import joined
from blankets.study._study import Study

_MOST_COLUMNS = 5_000  # with more columns, names are not looked at
_PREFIX = re.compile(r"^(.+?)(?:_|=|\.|:|\[| )[^_=.:\[]+\]?$")  # "smoking_never", "stage=II", "site[T.b]"
_BY_CHANCE = 20.0  # rows with two dummies at once, expected if these were independent; fewer prove nothing
_OFF_ON = ({"0", "1"}, {"False", "True"}, {"0.0", "1.0"})


def one_hot_sentences(study: Study, known: KnownColumns) -> tuple[str, ...]:
    """Return a sentence for each set of columns that look like one variable and were not said to belong together."""
    frame = study.table
    if not isinstance(frame, Frame) or frame.n_columns > _MOST_COLUMNS or study.drawn:
        return ()
    apart = known.silent.union(known.groups, () if study.column is None else (study.column,))
    by_prefix: dict[str, list[int]] = {}
    for j, name in enumerate(frame.names):
        if j not in apart and (found := _PREFIX.match(name)) and _is_dummy(frame, j):
            by_prefix.setdefault(found[1], []).append(j)
    groups = [some for some in by_prefix.values() if len(some) > 1 and _exclude_each_other(frame, some)]
    return tuple(_sentence([frame.names[j] for j in some]) for some in groups)


def _sentence(names: list[str]) -> str:
    inside = ", ".join(map(repr, names)) if len(names) <= 6 else f"{names[0]!r}, ..., {names[-1]!r}"
    return (
        f"{joined(names, 6)} look like one variable in {len(names)} columns: no row has two of them. To have them in "
        f"or out as one, say knowledge=bl.Knowledge(together=[[{inside}]])."
    )


def _is_dummy(frame: Frame, j: int) -> bool:
    if j in frame.numbers or j in frame.holes:
        return False
    return len(frame.levels[j]) == 2 and {str(level) for level in frame.levels[j]} in _OFF_ON


def _exclude_each_other(frame: Frame, columns: list[int]) -> bool:
    """Tell whether no row has two of the dummies, and this is not by chance."""
    rows, share = np.zeros(frame.n_rows, np.int64), np.zeros(len(columns))
    for k, j in enumerate(columns):  # most sets of columns end at the second
        one = next(code for code, level in enumerate(frame.levels[j]) if str(level) in ("1", "True", "1.0"))
        on = np.asarray(frame.column(j) == one)
        rows += on
        if rows.max(initial=0) > 1:
            return False
        share[k] = on.mean()
    expected = frame.n_rows * (share.sum() ** 2 - (share**2).sum()) / 2
    return bool(expected >= _BY_CHANCE)
