"""`Labels`: which rows are labeled, and their classes.

**What counts as unlabeled.** Missing values (NaN, None, NA, null) in any container, always. The integer -1,
as in scikit-learn, if all other labels are non-negative integers, booleans or text. 0, only if the user says
that the labels are positive-unlabeled; so is "no" beside "yes". Labels {-1, +1} can mean two things; the user is asked
which. If all labels say no, the user is asked whether it is the class in question.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from blankets.caching import cached_property
from blankets.data import Categories, Column, Refused, factorize, read_column
from blankets.errors import LabelError, listed
from blankets.stats import RowScores
from blankets.voice import option

UNLABELED: Final = -1
AUTO: Final = "auto"

# What people write for "no" beside a "yes", in languages whose tables we have seen; "not ill" and "non-smoker" also.
NO_WORDS: Final = frozenset({"0", "no", "n", "false", "neg", "negative", "absent", "nein", "non", "nee", "nej", "não"})

MOST_CLASSES = 20  # a target with more distinct numbers is a measurement


@dataclass(frozen=True, eq=False)
class Labels:
    """Classes of the labeled rows.

    Examples
    --------
    >>> labels = read_labels([1, None, 0, 1, None])
    >>> labels.codes.tolist(), labels.classes, labels.n_labeled
    ([1, -1, 0, 1, -1], (0, 1), 3)
    """

    # (rows,): class of each row, -1 if it is unlabeled. With two classes 0 is negative and 1 positive.
    codes: NDArray[np.int16]
    classes: tuple[object, ...]  # what the user calls each class; ``classes[1]`` of two is the positive one
    saw: str = ""  # what the labels look like, in a sentence
    scores: RowScores | None = None  # what is known of the class of each row beyond its label

    def take(self, rows: NDArray[np.int64]) -> Labels:
        """Return the labels of some rows."""
        scores = None if self.scores is None else self.scores.take(rows)
        return replace(self, codes=self.codes[rows], scores=scores)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def labeled(self) -> NDArray[np.bool_]:
        """Which rows are labeled."""
        return self.codes >= 0

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Number of labeled rows of each class."""
        return np.bincount(self.codes.astype(np.int64) + 1, minlength=len(self.classes) + 1)[1:]

    @property
    def n_labeled(self) -> int:
        """Number of labeled rows."""
        return int(self.counts.sum())

    @property
    def n_unlabeled(self) -> int:
        """Number of unlabeled rows."""
        return len(self) - self.n_labeled

    @property
    def is_binary(self) -> bool:
        """Whether there are two classes, a positive and a negative one."""
        return len(self.classes) == 2

    @property
    def shares(self) -> tuple[float, float]:
        """Labeled negatives and labeled positives, as shares of all rows: b and a in the formulas."""
        if not self.is_binary:
            raise LabelError(f"there are {len(self.classes)} classes; name the positive one with {option('positive')}")
        negatives, positives = self.counts / len(self)
        return float(negatives), float(positives)

    @property
    def n_seen_classes(self) -> int:
        """Number of classes with at least one labeled row."""
        return int(np.count_nonzero(self.counts))


def read_labels(
    values: Any, *, positive: object = None, regime: object = AUTO, unlabeled_marker: object = AUTO
) -> Labels:
    """Read a label column from any container.

    ``values``: a list, NumPy array, pandas, polars or Arrow column. ``positive``: the positive class. Needed with more
    than two classes if labels are missing; with two classes the default is the last in order (1 of 0 and 1, True,
    "yes" of "no" and "yes"). ``regime``: why labels are missing, if it decides what a value means: under "pu" 0 is
    unlabeled. ``unlabeled_marker``: a value that means unlabeled, or None if only missing values do; by default the
    rules above.

    Raises
    ------
    LabelError
        If the values can mean two things, or have no meaning.

    Examples
    --------
    >>> read_labels(["spam", None, "spam"]).saw
    "2 of 3 rows are labeled: 2 as 'spam'"
    >>> read_labels([1, 0, 0], regime="pu").codes.tolist()
    [1, -1, -1]
    """
    codes, levels, missing = _coded(values, unlabeled_marker)
    return code_labels(codes, levels, missing, positive=positive, regime=regime, unlabeled_marker=unlabeled_marker)


def class_codes(values: Any, *, unlabeled_marker: object = AUTO) -> NDArray[np.int64]:
    """Return the class of each row as a number, for any number of classes, and -1 if it is unlabeled.

    Examples
    --------
    >>> class_codes(["a", None, "c", "b", "a"]).tolist()
    [0, -1, 2, 1, 0]
    """
    codes, levels, missing = _coded(values, unlabeled_marker)
    known, unlabeled = _known(codes, levels, missing, AUTO, unlabeled_marker)
    number = np.array([known.index(level) if level in known else UNLABELED for level in levels], np.int64)
    return np.where(unlabeled, UNLABELED, number[np.where(missing, 0, codes)])


def _coded(
    values: Any, unlabeled_marker: object
) -> tuple[NDArray[np.integer[Any]], tuple[object, ...], NDArray[np.bool_]]:
    """Read a column as codes, levels, and a mask of missing rows."""
    try:
        column = read_column(_without_mixed_marker(values, unlabeled_marker))
    except Refused as refused:
        raise LabelError(f"the label column {refused}") from None
    categories = _as_categories(column)
    missing = np.zeros(len(categories), bool) if categories.missing is None else categories.missing
    return categories.codes, categories.levels, missing


def code_labels(
    codes: NDArray[np.integer[Any]],
    levels: tuple[object, ...],
    missing: NDArray[np.bool_],
    *,
    positive: object = None,
    regime: object = AUTO,
    unlabeled_marker: object = AUTO,
) -> Labels:
    """Read a label column that is already coded: `read_labels` for a column of a frame.

    ``levels[codes[i]]`` is the value of row i; codes of ``missing`` rows are not used.
    """
    mode = str(getattr(regime, "name", regime))
    known, unlabeled = _known(codes, levels, missing, mode, unlabeled_marker, positive)
    others: list[object] = []
    if mode == "pu" and unlabeled.any() and _is_among(positive, known):
        # Rows of other labeled classes may stand for these classes alone, not for all that is not positive.
        others, known = [level for level in known if level != positive], [positive]
        unlabeled = unlabeled | np.isin(codes, [k for k, level in enumerate(levels) if _is_among(level, others)])
    if unlabeled.any() and positive is None and len(known) == 1 and says_no(known[0]):
        raise LabelError(
            f"all labels are {known[0]!r}: rows are negative or unlabeled. If {known[0]!r} is the class that you ask "
            f"about, say {option(positive=known[0])}; it then takes the place of the positives, and "
            f"{option('prior')} is its share. If "
            f"no label is missing, and the gaps mean the other class, write that into them"
        )
    classes, code_of = _classes(known, positive, partial=bool(unlabeled.any()), mode=mode)
    if len(classes) > np.iinfo(np.int16).max:
        raise LabelError(f"the target has {len(classes):,} classes, too many; merge rare ones")
    table = np.array([code_of.get(level, UNLABELED) for level in levels], np.int16)
    out = np.where(unlabeled, np.int16(UNLABELED), table[np.where(missing, 0, codes)])
    told = f"; rows labeled {listed(others)} count as unlabeled ones do" if others else ""
    return Labels(out.astype(np.int16), classes, _sentence(out, classes) + told)


def _known(
    codes: NDArray[np.integer[Any]],
    levels: tuple[object, ...],
    missing: NDArray[np.bool_],
    mode: str,
    unlabeled_marker: object,
    positive: object = None,
) -> tuple[list[object], NDArray[np.bool_]]:
    """Return the levels that are classes, in order, and which rows are unlabeled."""
    present = np.bincount(codes[~missing], minlength=len(levels)) > 0
    seen = [level for level, here in zip(levels, present, strict=True) if here]
    seen.sort(key=lambda level: (isinstance(level, str), level))  # the order of a dictionary has no meaning
    marker = _marker(seen, mode, unlabeled_marker, positive, gaps=bool(missing.any()))
    known = [level for level in seen if level not in marker]
    if not known:
        raise LabelError(f"0 of {len(codes)} rows are labeled; without any label nothing can be said about the target")
    return known, missing | np.isin(codes, [k for k, level in enumerate(levels) if level in marker])


def _without_mixed_marker(values: Any, marker: object) -> Any:
    """Return text labels with None in place of the integer -1 (scikit-learn's mark for unlabeled rows)."""
    if (
        not isinstance(marker, str)
        or marker != AUTO
        or not (isinstance(values, list | tuple) or str(getattr(values, "dtype", "")) == "object")
    ):
        return values
    items = list(values)
    if not any(isinstance(v, str) for v in items):
        return values
    return [None if type(v) is not str and isinstance(v, int | np.integer) and v == UNLABELED else v for v in items]


def _as_categories(column: Column) -> Categories:
    if isinstance(column, Categories):
        return column
    categories = factorize(column)
    fractions = [level for level in categories.levels if isinstance(level, float)]
    if len(categories.levels) > MOST_CLASSES and (fractions or len(categories.levels) > len(column) / 5):
        raise LabelError(
            f"the label column holds {len(categories.levels)} different numbers, such as "
            f"{listed(categories.levels, 3)}: a measurement, not classes; bin it first, for example into low and high"
        )
    return categories


def _is_whole(level: object) -> bool:
    return isinstance(level, int) and not isinstance(level, bool)


def says_no(level: object) -> bool:
    """Tell whether a value says that something is not so.

    >>> [says_no(level) for level in (0, False, "No", "not ill", "ill", 2)]
    [True, True, True, True, False, False]
    """
    if not isinstance(level, str):
        return isinstance(level, int | float) and level == 0
    word = level.strip().casefold()
    return word in NO_WORDS or word.startswith(("not ", "no ", "non-"))


def _marker(seen: list[object], mode: str, marker: object, positive: object, *, gaps: bool) -> list[object]:
    """Return the levels that mean unlabeled."""
    if marker is None:
        return []
    if not isinstance(marker, str) or marker != AUTO:
        if not _is_among(marker, seen):
            raise LabelError(f"no row carries the marker {marker!r} of unlabeled rows; the values are {listed(seen)}")
        return [marker]
    whole = [level for level in seen if _is_whole(level)]
    if whole == seen and set(seen) == {-1, 1}:
        return _plus_minus_one(mode, gaps=gaps)
    found: list[object] = []
    rest = [level for level in seen if not (_is_whole(level) and level == UNLABELED)]
    if len(rest) < len(seen) and all(
        isinstance(level, str | bool) or (isinstance(level, int) and level >= 0) for level in rest
    ):
        found, seen = [UNLABELED], rest
    nos = [level for level in seen if says_no(level)]
    if mode == "pu" and len(seen) == 2 and len(nos) == 1:
        if _is_among(positive, nos):  # the class that is asked about
            nos = [level for level in seen if level not in nos]
        if gaps or found:
            raise LabelError(
                f"under 'pu' a {nos[0]!r} means unlabeled, but here other rows are marked as unlabeled too: if "
                f"{nos[0]!r} is a known negative use {option(labels=('mcar', 'mar-f', 'mar-c'))}, and if it means "
                f"unlabeled pass "
                f"unlabeled_marker={nos[0]!r}"
            )
        found = nos
    return found


def _is_among(value: object, levels: list[object]) -> bool:
    """Tell whether a value is one of some levels; False for an array or ``pd.NA``, which cannot be compared."""
    try:
        return value in levels
    except (TypeError, ValueError):
        return False


def _plus_minus_one(mode: str, *, gaps: bool) -> list[object]:
    """Decide what labels {-1, +1} mean, if the regime leaves only one meaning."""
    if mode == "pu":
        return [UNLABELED]  # only positives are labeled, so -1 is not a class
    if mode == "supervised" or (mode != AUTO and gaps):
        return []  # -1 is a class: nothing is unlabeled, or only missing values are
    raise LabelError(
        "the labels are -1 and +1: is -1 the negative class, or does it mean unlabeled? Pass unlabeled_marker=None "
        f"(or {option(labels='supervised')}) for a class, unlabeled_marker=-1 (or {option(labels='pu')}) for unlabeled"
    )


def _classes(
    known: list[object], positive: object, *, partial: bool, mode: str
) -> tuple[tuple[object, ...], dict[object, int]]:
    """Return the classes and the code of each known level: negative 0 and positive 1, or all in order."""
    if positive is not None and not _is_among(positive, known):
        raise LabelError(f"no row is labeled {positive!r}; pass {option('positive')} one of {listed(known)}")
    if positive is None and len(known) > 2:
        if not partial and mode in (AUTO, "supervised"):
            return tuple(known), {level: k for k, level in enumerate(known)}
        raise LabelError(
            f"the labels have {len(known)} classes, and some rows are unlabeled: say which class is the positive one, "
            f"with {option('positive')} one of {listed(known)}; the others are then negative"
        )
    if len(known) == 1 and not partial:
        raise LabelError(
            f"all rows are labeled {known[0]!r}, so there is nothing to compare; if unlabeled rows were dropped "
            f"earlier, keep them with a missing label and use {option(labels='pu')}"
        )
    chosen = known[-1] if positive is None else positive
    others = [level for level in known if level != chosen]
    negative = others[0] if len(others) == 1 else _not(chosen)
    return (negative, chosen), {**dict.fromkeys(others, 0), chosen: 1}


def _not(positive: object) -> object:
    """Name the negative class after the positive one."""
    if isinstance(positive, bool):
        return not positive
    return 0 if positive == 1 else f"not {positive}"


def _sentence(codes: NDArray[np.int16], classes: tuple[object, ...]) -> str:
    counts = np.bincount(codes[codes >= 0], minlength=len(classes))
    parts = [f"{count} as {name!r}" for name, count in zip(classes, counts, strict=True) if count]
    return f"{int(counts.sum())} of {len(codes)} rows are labeled: {', '.join(parts)}"
