"""One column at a time: is it usable, is it continuous, and what are its codes.

**Continuous or categorical.** A column of numbers with at most 20 distinct values is categorical. With
more, it is a measurement and is binned, be they fractions or whole numbers: the tests are about
categories, and a category needs rows. In short tables fractions are a measurement already if there are
at least 10 distinct ones that make up more than half of the rows.

**Identifiers.** A column of categories is an identifier if it has more than 50 levels and more than one
for every five rows. Whole numbers are one if all are different although they lie so densely (within a
range of five times their number) that chance would have repeated some: n draws from m values are all
different with probability below exp(-n(n-1)/2m), here exp(-n/10).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.arguments import one_of
from blankets.data._audit import Audit
from blankets.data._binning import RULES, bin_codes, bin_labels, cut_points
from blankets.data._columns import Categories, Column, Mask, Numbers, distinct, factorize
from blankets.data._report import Binning
from blankets.errors import ParameterError

__all__ = ["Coding", "Settings", "encode_feature", "encode_target", "id_like_levels", "with_missing_level"]

FEW_VALUES = 20  # most distinct numbers that are still taken for categories
SEVERAL_VALUES = 10  # so many fractions are a measurement if they hardly repeat
MANY_LEVELS = 50
ROWS_PER_LEVEL = 5  # fewer rows than these for a level, on average, and it is an identifier
SMALL_TARGET = 10  # classes that a target may have however few the rows
MISSING_POLICIES = ("error", "level", "drop")

Rule = str | Sequence[float]


@dataclass(frozen=True, slots=True, eq=False)
class Coding:
    """Codes and levels of one column, and how they came about."""

    codes: NDArray[np.integer[Any]]
    levels: tuple[object, ...]
    binning: Binning | None = None
    missing_label: str | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """The user's wishes, checked."""

    discretize: str | Mapping[str, Rule] = "sturges"
    bins: int | None = None
    missing: str = "error"
    keep: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        one_of("policy for missing values", self.missing, MISSING_POLICIES)
        if not isinstance(self.discretize, str | Mapping):
            raise ParameterError.out_of_range(
                "discretize", self.discretize, "the name of a rule, or a mapping of column names to rules"
            )
        named = (self.discretize,) if isinstance(self.discretize, str) else self.discretize.values()
        allowed = {*RULES, "supervised", "none"} | (set() if isinstance(self.discretize, str) else {"categorical"})
        rules = {rule for rule in named if isinstance(rule, str)}
        for rule in named:
            if not isinstance(rule, str):
                given_cuts(rule)
        for rule in sorted(rules - allowed):
            raise ParameterError.not_one_of("rule for binning", rule, allowed)
        if self.bins is not None:
            self._check_bins(rules)

    def _check_bins(self, rules: set[str]) -> None:
        """Refuse numbers of bins that are too small, or that no rule heeds."""
        if not isinstance(self.bins, int | np.integer) or self.bins < 2:
            raise ParameterError.out_of_range("bins", self.bins, "a whole number of at least 2")
        if not rules & {"equal-width", "equal-frequency"}:
            raise ParameterError(
                "'bins' is for the rules 'equal-width' and 'equal-frequency'; Sturges' rule and the supervised one "
                "choose the number of bins themselves"
            )

    def rule_for(self, name: str) -> tuple[Rule, bool]:
        """Return the rule for a column, and whether it was asked for by the column's name."""
        if isinstance(self.discretize, str):
            return self.discretize, False
        return self.discretize.get(name, "sturges"), name in self.discretize


def given_cuts(rule: Sequence[float]) -> NDArray[np.float64]:
    """Return the user's cut points in ascending order."""
    try:
        cuts = np.asarray(rule, dtype=np.float64)
    except (TypeError, ValueError):
        cuts = np.array(np.nan)
    if cuts.ndim != 1 or not len(cuts) or not np.all(np.isfinite(cuts)):
        raise ParameterError.out_of_range("discretize", rule, "the name of a rule or a list of finite cut points")
    return np.unique(cuts)


def n_missing(column: Column) -> int:
    """Return the number of rows without a value."""
    return 0 if column.missing is None else int(np.count_nonzero(column.missing))


def id_like_levels(n_levels: int, n_rows: int) -> bool:
    """Tell whether so many levels in so many rows are those of an identifier."""
    return n_levels > MANY_LEVELS and n_levels * ROWS_PER_LEVEL > n_rows


def settled(column: Column, rule: Rule, *, asked: bool) -> Column:
    """Turn numbers into categories where they are few, so that `Numbers` from here on means continuous."""
    if isinstance(column, Categories) or (asked and rule not in ("categorical", "none")):
        return column
    if rule == "categorical":
        return factorize(column)
    categories = factorize(column, FEW_VALUES)
    if categories is None:
        return column
    n = len(categories.levels)
    hardly_repeated = n >= SEVERAL_VALUES and 2 * n > len(column) - n_missing(column)
    fractions = any(isinstance(level, float) for level in categories.levels)
    return column if hardly_repeated and fractions else categories


def is_identifier(column: Column) -> bool:
    """Tell whether a settled column names rows instead of describing them (see the top of this file)."""
    if isinstance(column, Categories):
        return id_like_levels(int(np.count_nonzero(column.counts())), len(column) - n_missing(column))
    values = column.present
    n = len(values)
    if n <= MANY_LEVELS or (values.dtype.kind == "f" and not np.all(values == np.floor(values))):
        return False
    spread = float(values.max()) - float(values.min())
    return spread < ROWS_PER_LEVEL * n and len(distinct(values)) == n


def is_constant(column: Column, *, missing_counts: bool) -> bool:
    """Tell whether a settled column has at most one value, a missing one included if that is to be a level."""
    gaps = n_missing(column)
    if isinstance(column, Categories):
        seen = int(np.count_nonzero(column.counts()))
    else:
        values = column.present
        seen = 0 if not len(values) else 1 + int(values.min() != values.max())
    return seen == 0 or seen + (gaps > 0 and missing_counts) < 2


def infinite(column: Column) -> int:
    """Return the number of infinite values."""
    if isinstance(column, Categories) or column.values.dtype.kind != "f":
        return 0
    return int(np.count_nonzero(np.isinf(column.present)))


def left_out(name: str, column: Column, settings: Settings, audit: Audit | None = None) -> bool:
    """Tell whether a settled feature is left out as constant or as an identifier, and note it."""
    if name in settings.keep:
        return False
    if is_constant(column, missing_counts=settings.missing == "level"):
        reasons = None if audit is None else audit.constant
    elif is_identifier(column):
        reasons = None if audit is None else audit.id_like
    else:
        return False
    if reasons is not None:
        reasons.append(name)
    return True


def encode_feature(
    name: str, column: Column, settings: Settings, audit: Audit, classes: Categories | None = None
) -> Coding | None:
    """Return the codes of a feature, or None if it is left out or unusable (the audit knows why).

    ``classes`` are the codes of the target, for supervised binning.
    """
    if endless := infinite(column):
        audit.infinite[name] = endless
        return None
    rule, asked = settings.rule_for(name)
    column = settled(column, rule, asked=asked)
    if left_out(name, column, settings, audit):
        return None
    if gaps := n_missing(column):
        audit.missing[name] = gaps
        if settings.missing == "error":
            return None
    if isinstance(column, Categories):
        if asked and rule not in ("categorical", "none"):
            audit.refuse(name, "is named in discretize, but it does not hold numbers")
            return None
        note_levels(name, column, audit)
        coding = Coding(column.codes, column.levels)
    else:
        binned = bin_column(name, column, rule, audit, bins=settings.bins, classes=classes)
        if binned is None:
            return None
        coding = binned
    coding = coding if column.missing is None else with_missing_level(coding, column.missing)
    if len(coding.levels) > MANY_LEVELS:
        audit.many_levels[name] = len(coding.levels)
    return coding


def note_levels(name: str, column: Categories, audit: Audit) -> None:
    """Note declared levels that no row has."""
    if column.declared:
        unused = tuple(column.levels[k] for k in np.flatnonzero(column.counts() == 0))
        if unused:
            audit.unused_levels[name] = unused


def bin_column(
    name: str,
    column: Numbers,
    rule: Rule,
    audit: Audit,
    *,
    bins: int | None = None,
    classes: Categories | None = None,
) -> Coding | None:
    """Cut a continuous column by its rule; None if the rule is "none" or finds no cut."""
    if not isinstance(rule, str):
        cuts, called = given_cuts(rule), "given"
    elif rule == "none":
        audit.continuous.append(name)
        return None
    else:
        values, codes = column.present, None
        if rule == "supervised" and classes is not None:
            known = _both_known(column.missing, classes.missing, len(column))
            values, codes = column.values[known], classes.codes[known]
        number = bins if rule in ("equal-width", "equal-frequency") else None
        cuts, called = cut_points(values, rule, number, codes), rule
    binned = Categories(bin_codes(column.values, cuts), bin_labels(cuts), column.missing, declared=True)
    if is_constant(binned, missing_counts=False):
        audit.without_cut.append(name)
        return None
    note_levels(name, binned, audit)
    audit.binned[name] = Binning(called, tuple(cuts.tolist()))
    return Coding(binned.codes, binned.levels, audit.binned[name])


def _both_known(one: Mask | None, other: Mask | None, n: int) -> Mask:
    """Return the rows where neither is missing."""
    known = np.ones(n, dtype=bool)
    for missing in (one, other):
        if missing is not None:
            known &= ~missing
    return known


def with_missing_level(coding: Coding, missing: Mask) -> Coding:
    """Give the missing rows a level of their own, the last one."""
    label = "missing" if "missing" not in coding.levels else "(missing)"
    codes = np.where(missing, len(coding.levels), coding.codes.astype(np.int64))
    return Coding(codes, (*coding.levels, label), coding.binning, label)


def encode_target(name: str, column: Column, settings: Settings, audit: Audit) -> Coding | None:
    """Return the codes of the target (0 where it is missing), or None if it cannot be one."""
    n = len(column) - n_missing(column)
    rule, asked = settings.rule_for(name)
    rule = "sturges" if rule == "supervised" else rule  # it cannot supervise itself
    if n == 0:
        audit.target.append(f"the target {name!r} is missing in all of the {len(column)} rows")
    elif endless := infinite(column):
        audit.target.append(f"the target {name!r} is infinite in {endless} rows")
    elif is_constant(column := settled(column, rule, asked=asked), missing_counts=True):
        audit.target.append(f"the target {name!r} has the same value in all rows; nothing can depend on it")
    elif isinstance(column, Numbers) and not is_identifier(column):
        return _encode_measured(name, column, rule, settings.bins, audit)
    else:
        return _encode_classes(name, column, n, audit)
    return None


def _encode_measured(name: str, column: Numbers, rule: Rule, bins: int | None, audit: Audit) -> Coding | None:
    """Return the codes of a continuous target."""
    coding = bin_column(name, column, rule, audit, bins=bins)
    if name in audit.without_cut:
        audit.without_cut.remove(name)
        audit.target.append(f"all values of the target {name!r} fall into one bin; choose other cut points")
    return coding if coding is None or column.missing is None else _labeled(coding, column.missing)


def _encode_classes(name: str, column: Column, n: int, audit: Audit) -> Coding | None:
    """Return the codes of a categorical target, unless almost every row is its own class."""
    column = factorize(column) if isinstance(column, Numbers) else column
    n_classes = int(np.count_nonzero(column.counts()))
    if n_classes > max(n / ROWS_PER_LEVEL, SMALL_TARGET):
        audit.target.append(
            f"the target {name!r} has {n_classes} classes in {n} labeled rows, like an identifier; join classes, "
            f"bin it or choose another target"
        )
        return None
    if n_classes > MANY_LEVELS:
        audit.many_classes = f"the target {name!r} has {n_classes} classes; few tests will be reliable"
    note_levels(name, column, audit)
    coding = Coding(column.codes, column.levels)
    return coding if column.missing is None else _labeled(coding, column.missing)


def _labeled(coding: Coding, missing: Mask) -> Coding:
    """Give the rows without a label a valid code, which nobody may read."""
    return Coding(np.where(missing, 0, coding.codes), coding.levels, coding.binning)
