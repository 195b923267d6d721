"""Rows that belong together: what is said of them, and how they are drawn."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from blankets.data import Frame
from blankets.errors import DataError, IdLikeColumnWarning, TooFewRowsWarning, warn
from blankets.voice import option

FEW_GROUPS = 30
FEWEST_SUBJECTS = 20  # with fewer values a column is a category
ROWS_A_SUBJECT = 1.5  # from so many rows for each value on, on average, rows are repeated
IDENTIFIERS = re.compile(
    r"(^|[\W_])(id|ids|patient|subject|person|participant|individual|respondent|household|molecule)([\W_]|id|no|nr|$)"
    r"|^[psuch]id$|^id(case|num)|^(nr|subj)$"
    r"|(^|[\W_])(country|countries|village|school|family|litter|brood|student|pupil|animal|rat|pig)([\W_]|$)",
    re.I,
)
_DIGITS = str.maketrans("123456789", "000000000")
FEWEST_SHARED = 2  # columns that are the same in all rows of a value, from which rows of a value belong together
MOST_SHARING, MOST_CELLS = 50, 20_000_000  # columns asked about, and cells looked at, to find that
TURNING = 0.1  # of the values of a number: how often what they share must turn up or down to be no function of it

Ints = NDArray[np.int64]


def warn_of_few_groups(groups: Ints | None, name: str) -> None:
    """Warn where groups are so few that p-values are rough; refuse a single one."""
    n = 0 if groups is None else len(np.unique(groups))
    if n == 1:
        raise DataError(
            f"{name!r} puts all rows into one group, and p-values come from how groups differ; name the column that "
            f"tells who a row is about, or leave {option('groups')} out"
        )
    if 0 < n < FEW_GROUPS:
        warn(
            f"{name!r} makes {n} groups of the rows. p-values come from how groups differ, and below {FEW_GROUPS} "
            f"groups they are rough; few columns can be told apart",
            TooFewRowsWarning,
        )


def likely_subjects(frame: Frame, target: int | None = None) -> dict[str, int]:
    """Return columns whose names say that they tell who a row is about, and that repeat: how many values they have.

    >>> frame = Frame.from_codes(np.arange(100)[:, np.newaxis] // 2, names=["patient_id"])
    >>> likely_subjects(frame)
    {'patient_id': 50}
    """
    found: dict[str, int] = {}
    shapes = set("\n".join(frame.names).translate(_DIGITS).split("\n"))  # x1 to x139351 are one question, not as many
    if not any(map(IDENTIFIERS.search, shapes)):
        return found
    for j, name in enumerate(frame.names):
        if j == target or not IDENTIFIERS.search(name):
            continue
        n = len(np.unique(frame.values(j)))
        if _repeats(n, frame.n_rows):
            found[name] = n
    return found


def sharing(frame: Frame, target: int | None = None) -> tuple[str, int, tuple[str, ...]] | None:
    """Return the column whose values share most, how many it has, and what they share; None if none do.

    Values share a column if it is the same in all rows of a value.

    So it is with patients whose sex stands in each of their visits, or with villages, whatever the columns are called.
    Columns that only repeat it do not count, nor functions of a number, such as age groups of an age.

    >>> patient = np.repeat(np.arange(40), 3)
    >>> sex, trial, visit = patient % 2, patient // 2 % 3, np.tile(np.arange(3), 40)
    >>> frame = Frame.from_codes(np.stack([patient, sex, trial, visit], axis=1), names=["who", "sex", "trial", "visit"])
    >>> sharing(frame)
    ('who', 40, ('sex', 'trial'))
    """
    columns = [j for j in range(frame.n_columns) if j != target]
    if frame.n_rows * len(columns) ** 2 > MOST_SHARING * MOST_CELLS:
        return None
    if not any(j in frame.numbers or frame.arities[j] >= FEWEST_SUBJECTS for j in columns):
        return None
    best: tuple[str, int, tuple[str, ...]] | None = None
    values = {j: np.unique(frame.values(j), return_inverse=True)[1] for j in columns}
    for j in columns:
        n = int(values[j].max()) + 1
        if not _repeats(n, frame.n_rows):
            continue
        order = np.argsort(values[j], kind="stable")
        starts = np.searchsorted(values[j][order], np.arange(n))
        alike = [k for k in columns if k != j and _shared(values[k][order], starts, is_number=j in frame.numbers)]
        if len(alike) >= FEWEST_SHARED and (best is None or len(alike) > len(best[2])):
            best = frame.names[j], n, tuple(frame.names[k] for k in alike)
    return best


def _shared(values: Ints, starts: Ints, *, is_number: bool) -> bool:
    """Tell whether a column is the same in all rows of each value of another, and is neither its copy nor its function.

    ``values``: of the column, sorted by the other; ``starts``: where each value of the other begins.
    """
    low = np.minimum.reduceat(values, starts)
    if np.any(low != np.maximum.reduceat(values, starts)):
        return False
    levels = np.bincount(low)
    levels = levels[levels > 0]
    if len(levels) < 2 or 2 * len(levels) > len(low) or levels.max() > (1 - TURNING) * len(low):
        return False  # constant, nearly so, or a copy
    steps = np.sign(np.diff(low))
    steps = steps[steps != 0]
    return not is_number or bool(np.count_nonzero(steps[1:] != steps[:-1]) >= TURNING * len(low))


def repeated_at_reading(levels: Mapping[str, int], n_rows: int) -> dict[str, int]:
    """Return those columns, left out as identifiers, whose names say that they tell who a row is about.

    >>> repeated_at_reading({"patient_id": 200, "individual": 150, "text": 200, "case_id": 590}, 600)
    {'patient_id': 200, 'individual': 150}
    """
    return {name: n for name, n in levels.items() if IDENTIFIERS.search(name) and _repeats(n, n_rows)}


def _repeats(n: int, n_rows: int) -> bool:
    return n >= FEWEST_SUBJECTS and n_rows >= ROWS_A_SUBJECT * n


def warn_of_subjects(frame: Frame, target: int | None) -> None:
    """Warn where rows seem to belong to subjects, and nobody said so."""
    for name, n in likely_subjects(frame, target).items():
        warn(
            f"{name!r} seems to tell who a row is about: {n:,} values in {frame.n_rows:,} rows. Tests take rows for "
            f"independent draws; if rows of one value belong together, say {option(groups=name)}, and otherwise "
            f"{option(exclude=[name])}",
            IdLikeColumnWarning,
        )


def groups_drawn(groups: Ints, n_resamples: int, method: str, fraction: float, rng: np.random.Generator) -> list[Ints]:
    """Return the row numbers of each draw, ascending; whole groups are drawn, never rows.

    >>> rng = np.random.default_rng(0)
    >>> [rows.tolist() for rows in groups_drawn(np.array([0, 0, 1, 1, 2, 2]), 2, "pairs", 0.5, rng)]
    [[4, 5], [0, 1]]
    """
    order = np.argsort(groups, kind="stable")
    edges = np.flatnonzero(np.diff(groups[order])) + 1
    members = np.split(order, edges)
    drawn = drawn_of_each([np.arange(len(members))], n_resamples, method, fraction, rng)
    return [np.sort(np.concatenate([members[k] for k in some])) for some in drawn]


def drawn_of_each(
    strata: list[Ints], n_resamples: int, method: str, fraction: float, rng: np.random.Generator
) -> list[Ints]:
    """Return what is drawn each time, the same share of each stratum."""
    draws: list[Ints] = []
    while len(draws) < n_resamples:
        if method == "bootstrap":
            parts = [[rng.choice(rows, len(rows))] for rows in strata]
        else:
            parts = [_apart(rows, max(1, int(fraction * len(rows))), rng) for rows in strata]
        both = method == "pairs"
        draws += [np.concatenate([part[k] for part in parts]) for k in range(1 + both)]
    return draws[:n_resamples]


def _apart(rows: Ints, size: int, rng: np.random.Generator) -> list[Ints]:
    """Return some of the rows, and as many of the others (of the same ones too, if they are too few)."""
    by_key = np.argpartition(rng.random(len(rows), np.float32), min(size, len(rows) - 1))
    return [rows[by_key[:size]], rows[by_key[-size:]]]


def order_by_groups(groups: Ints, rng: np.random.Generator) -> Ints:
    """Return an order of the rows in which groups have changed places and rows of a group stay neighbors.

    Groups of unequal sizes do not fit each other's places; then a part of one group takes the place of another.

    >>> order_by_groups(np.array([0, 1, 0, 1]), np.random.default_rng(1)).tolist() in ([0, 1, 2, 3], [1, 0, 3, 2])
    True
    """
    places = np.argsort(groups, kind="stable")
    rank = rng.permutation(int(groups.max()) + 1)
    order = np.empty(len(groups), np.int64)
    order[places] = np.argsort(rank[groups], kind="stable")
    return order
