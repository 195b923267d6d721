"""`DataReport`: what was done to a table when it was read, as data and as sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from itertools import pairwise

from blankets.errors import listed
from blankets.records import Known, refuse, short

MISSING_IS_A_LEVEL = (
    "Given such a column, rows without a value count as alike although their values differ: what it confounds stays "
    "confounded there."
)


@dataclass(frozen=True, slots=True)
class Binning:
    """How a continuous column was cut."""

    rule: str  # "sturges", "equal-width", "equal-frequency", "supervised" or "given"
    cuts: tuple[Known, ...]  # cut points c1 < c2 < ...; bins are x < c1, c1 <= x < c2, ..., x >= ck

    def _check(self) -> None:
        if any(low >= high for low, high in pairwise(self.cuts)):
            refuse(f"'cuts' holds {short(list(self.cuts))}")


@dataclass(frozen=True, slots=True, kw_only=True)
class DataReport:
    """What was done to a table when it was read."""

    # n_rows, n_columns: size of the table as it is used, the target included
    n_rows: int
    n_columns: int
    # n_rows_given, n_columns_given: size of the table as the user gave it (after ``columns`` and ``exclude``)
    n_rows_given: int
    n_columns_given: int
    dropped_rows: int = 0  # rows deleted for missing feature values
    constant: tuple[str, ...] = ()  # columns left out because they have at most one value
    # columns left out because binning (mostly supervised binning) put all rows into one bin
    without_cut: tuple[str, ...] = ()
    id_like: tuple[str, ...] = ()  # columns left out because almost every row has its own level
    # those of them with several rows of some levels, and how many levels they have
    repeated_ids: Mapping[str, int] = field(default_factory=dict)
    # for each kept column, the later columns that have the same information and were left out
    duplicates: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    copies_of_target: tuple[str, ...] = ()  # columns that equal the target; they are kept
    # columns with so many levels that few tests can be reliable
    many_levels: Mapping[str, int] = field(default_factory=dict)
    binned: Mapping[str, Binning] = field(default_factory=dict)  # continuous columns and how they were cut
    numbers: tuple[str, ...] = ()  # continuous columns that stay numbers
    ordered: tuple[str, ...] = ()  # categories whose levels have an order
    # used feature columns with missing values, and in how many of the given rows
    missing: Mapping[str, int] = field(default_factory=dict)
    missing_policy: str = "error"  # what was done about those
    # declared levels that no row has; they count in the nominal degrees of freedom
    unused_levels: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    unlabeled: int = 0  # rows whose target is missing
    unlabeled_left_out: bool = False  # whether these rows were left out
    complete_rows: int | None = None  # rows that have a value in every column, where each test finds its own rows
    unusable: Mapping[str, str] = field(default_factory=dict)  # columns left out because they cannot be used, and why
    notes: tuple[str, ...] = ()  # how the table was read, in sentences

    @property
    def left_out(self) -> dict[str, str]:
        """Columns that were left out, and why.

        >>> DataReport(n_rows=9, n_columns=2, n_rows_given=9, n_columns_given=3, constant=("c",)).left_out
        {'c': 'it has a single value, or none'}
        """
        reasons = dict.fromkeys(self.constant, "it has a single value, or none")
        reasons |= dict.fromkeys(self.without_cut, "binning found no cut in it")
        reasons |= dict.fromkeys(self.id_like, "almost every row has its own level")
        reasons |= {name: f"it {reason}" for name, reason in self.unusable.items()}
        return reasons | {copy: f"it repeats {name!r}" for name, copies in self.duplicates.items() for copy in copies}

    def to_dict(self) -> dict[str, object]:
        """Return the report as plain dicts, lists and numbers, ready for JSON."""
        plain: dict[str, object] = {}
        for one in fields(self):  # `asdict` would copy every number of missing values by itself
            value = getattr(self, one.name)
            plain[one.name] = (
                list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, Mapping) else value
            )
        plain["binned"] = {name: {"rule": b.rule, "cuts": list(b.cuts)} for name, b in self.binned.items()}
        for name in ("duplicates", "unused_levels"):
            plain[name] = {column: list(values) for column, values in getattr(self, name).items()}
        return plain

    def lines(self) -> list[str]:
        """Return the report as sentences, the most important first; only about what happened."""
        gone = f"{self.dropped_rows} of {self.n_rows_given} rows were deleted for missing values in"
        told = [
            (True, f"{self.n_rows} rows and {self.n_columns} columns are used."),
            (self.dropped_rows, f"{gone} {listed(self.missing)}."),
            (
                self.missing_policy == "level" and self.missing,
                f"Missing is a level of {listed(self.missing)}. {MISSING_IS_A_LEVEL}",
            ),
            (
                self.complete_rows is not None,
                f"Values are missing in {listed(self.missing)}; {self.complete_rows} rows are complete, and each test "
                f"uses the rows that have what it needs.",
            ),
            (self.unlabeled and not self.unlabeled_left_out, f"The target is missing in {self.unlabeled} rows."),
            (self.unlabeled_left_out, f"{self.unlabeled} rows without a target were left out."),
            (self.copies_of_target, f"Equal to the target: {listed(self.copies_of_target)}."),
            (self.constant, f"Left out, a single value or none: {listed(self.constant)}."),
            (self.without_cut, f"Left out, no cut found by binning: {listed(self.without_cut)}."),
            (self.id_like, f"Left out, almost every row has its own level: {listed(self.id_like)}."),
            *((True, sentence) for sentence in self._duplicate_lines()),
            (self.many_levels, f"So many levels that few tests will be reliable: {listed(self.many_levels)}."),
            (self.numbers, f"Numbers, tested without cutting: {listed(self.numbers)}."),
            (self.ordered, f"Levels in order: {listed(self.ordered)}."),
            *((True, sentence) for sentence in self._binning_lines()),
            *((True, sentence) for sentence in self.notes),
            (self.unused_levels, f"Declared levels that no row has: in {listed(self.unused_levels)}."),
        ]
        return [sentence for happened, sentence in told if happened]

    def _duplicate_lines(self, most: int = 8) -> list[str]:
        """Return one sentence for each of the first columns that have copies."""
        groups = [f"Left out, the same as {name!r}: {listed(same)}." for name, same in self.duplicates.items()]
        rest = len(groups) - most
        return groups if rest <= 0 else [*groups[:most], f"Left out too, copies of {rest} further columns."]

    def _binning_lines(self) -> list[str]:
        """Return one sentence for each rule of binning."""
        by_rule: dict[str, list[str]] = {}
        for name, binning in self.binned.items():
            by_rule.setdefault(binning.rule, []).append(name)
        how = {rule: "at the given cut points" if rule == "given" else f"by the rule {rule!r}" for rule in by_rule}
        return [f"Continuous, cut into bins {how[rule]}: {listed(names)}." for rule, names in by_rule.items()]
