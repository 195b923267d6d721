"""`Reading`: how to read a table; the options are checked once, for every function that reads one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from blankets.arguments import names_in, one_of, whole_number
from blankets.data._binning import COUNTED_RULES, RULES
from blankets.data._dialect import FileWishes, checked_encoding
from blankets.data._texts import Wording
from blankets.errors import ParameterError, did_you_mean, guarded
from blankets.voice import option

Rule = str | Sequence[float]
OF_ROWS = ("sample_weight", "groups", "survey_weight")  # options that may be a column of the table or values beside it
MISSING_POLICIES = ("testwise", "weighted", "level", "drop", "error")


class ReadingOptions(TypedDict, total=False):
    """The fields of `Reading` as keywords, for ``**reading: Unpack[ReadingOptions]``."""

    missing: Literal["testwise", "weighted", "level", "drop", "error"]
    discretize: str | Mapping[str, Rule]
    n_bins: int | None
    keep: Iterable[str | int]
    columns: Iterable[str | int] | None
    exclude: Iterable[str | int]
    positive: object
    unlabeled_marker: object
    sample_weight: object
    groups: object
    survey_weight: object
    ordered: Iterable[str] | Mapping[str, Sequence[object] | None] | None
    separator: str | None
    decimal: Literal[".", ","] | None
    date_order: Literal["dmy", "mdy"] | None
    encoding: str | None
    na: Iterable[str] | None
    sheet: str | int | None


@guarded
@dataclass(frozen=True, slots=True)
class Reading:
    """How a table is read.

    Parameters
    ----------
    missing : {"testwise", "weighted", "level", "drop", "error"}
        What to do with missing values in features. "testwise": each test uses the rows that have what it needs, and
        says how many these are; valid if the gaps come by chance, or depend only on columns in the test's own
        conditioning set. "weighted": the same, and where complete columns tell which rows have gaps, rows with a value
        stand for those without (weights 1 / P(seen)); valid if gaps depend on complete columns alone, the target
        included. "level": "missing" is a level like any other, for columns in which being missing is itself
        a state; given such a column, rows without a value count as alike although their values differ, so that a
        confounder with gaps is not held fixed. "drop": delete every row with a gap. "error": refuse the table.
    discretize : str or mapping of str to rule
        What to do with continuous columns. "auto": they stay numbers where tests take numbers, and are cut by
        "sturges" where rows are counted. "sturges" (equal width, log2 N + 1 bins), "equal-width",
        "equal-frequency" (both with ``n_bins``, default Sturges' number), "supervised" (Fayyad &
        Irani's MDLP, which uses the target; tests on such bins reject too often): they are cut. "none": they are
        never cut; where rows are counted, that is an error that names them. A mapping gives rules by column; there
        you can also give "categorical" (each number is a level), "number" (a number however few its values) or a list
        of cut points; columns not in it get "auto".
    n_bins : int, optional
        Number of bins for "equal-width" and "equal-frequency".
    keep : iterable of str or int
        Columns to keep even if they are constant, identifiers or copies.
    columns : iterable of str or int, optional
        The columns to use; default all. The target is always used.
    exclude : iterable of str or int
        Columns to leave out.
    positive : object
        The positive class; default: the second of two.
    unlabeled_marker : object
        The value that marks a row without a label; "auto": -1, if the other values are 0 and 1.
    sample_weight : str or array_like, optional
        How many rows each row stands for, whole numbers: the name of a column (of counts, in an aggregated table), or
        one value for each row. The answer is that for the table in which each row is repeated as often.
    groups : str or array_like, optional
        Which rows belong together, such as the visits of a patient: the name of a column, or one value for each row.
        Tests then allow for any dependence within a group, and rows are drawn by group. It is never a feature.
    survey_weight : str or array_like, optional
        How many of the population each row of a survey stands for, any positive numbers: the name of a column, or one
        value for each row. Tests are then those of the population, with the corrections of Rao and Scott; ``groups``
        says which rows were drawn together.
    ordered : list of str, or mapping of str to list, optional
        Columns whose levels have an order: names, where the values are numbers or the table declares the order, or a
        mapping of names to levels from lowest to highest (None: as for names). Default: what the table declares, and
        answers on a scale such as 1 to 5, if at least three columns have it, and in a table that holds numbers every
        feature with five or more different numbers; ``[]``: only what the table declares.
    separator : str, optional
        The character between the fields of a text file; default: as its first lines show.
    decimal : {".", ","}, optional
        The decimal mark of numbers stored as text; default: as the texts show.
    date_order : {"dmy", "mdy"}, optional
        What dates such as 03/04/2024 begin with, the day ("dmy") or the month ("mdy"); default: as other dates of the
        column show.
    encoding : str, optional
        The encoding of a text file, such as "cp1252"; default: UTF-8, UTF-16 with its mark, or else Windows-1252.
    na : list of str, optional
        Texts (or numbers, as "-9") that mean "missing" in every column, beside blanks, NA, NaN and null. Default: "?"
        and "." in files, and words such as "-", "none" or "unknown" where all other values are numbers or dates;
        ``[]``: none of these.
    sheet : str or int, optional
        The sheet of an Excel file, by name or by number from 1 on; default: the first.

    Examples
    --------
    >>> from blankets import Reading
    >>> Reading(missing="drop", exclude="id").exclude
    ('id',)
    >>> Reading.of({"mising": "drop"})
    Traceback (most recent call last):
        ...
    blankets.errors.ParameterError: there is no argument 'mising'; did you mean 'missing'?
    """

    missing: Literal["testwise", "weighted", "level", "drop", "error"] = "testwise"
    discretize: str | Mapping[str, Rule] = "auto"
    n_bins: int | None = None
    keep: Iterable[str | int] = ()
    columns: Iterable[str | int] | None = None
    exclude: Iterable[str | int] = ()
    positive: object = None
    unlabeled_marker: object = "auto"
    sample_weight: object = None
    groups: object = None
    survey_weight: object = None
    ordered: Iterable[str] | Mapping[str, Sequence[object] | None] | None = None
    separator: str | None = None
    decimal: Literal[".", ","] | None = None
    date_order: Literal["dmy", "mdy"] | None = None
    encoding: str | None = None
    na: Iterable[str] | None = None
    sheet: str | int | None = None

    def __post_init__(self) -> None:
        self._check_files()
        if self.ordered is not None:
            object.__setattr__(self, "ordered", _orders(self.ordered))
        if self.sample_weight is not None and self.survey_weight is not None:
            raise not_both()
        one_of("policy for missing values", self.missing, MISSING_POLICIES)
        rules = _rule_names(self.discretize)
        if not isinstance(self.discretize, str):
            plain = {
                name: r if isinstance(r, str) else tuple(given_cuts(r).tolist()) for name, r in self.discretize.items()
            }
            object.__setattr__(self, "discretize", plain)
        if self.n_bins is not None:
            object.__setattr__(self, "n_bins", whole_number("n_bins", self.n_bins, 2, "a whole number of at least 2"))
            if not rules & COUNTED_RULES:
                raise ParameterError(
                    "'n_bins' is for the rules 'equal-width' and 'equal-frequency'; Sturges' rule and the supervised "
                    "one choose the number of bins themselves"
                )
        for name in ("keep", "columns", "exclude"):
            if name != "columns" or self.columns is not None:
                object.__setattr__(self, name, tuple(names_in(name, getattr(self, name))))

    def _check_files(self) -> None:
        """Check what is said of files and of texts."""
        one_mark = isinstance(self.separator, str) and len(self.separator) == 1 and self.separator not in '"\r\n\0'
        if self.separator is not None and not one_mark:
            raise ParameterError.out_of_range("separator", self.separator, "one character, such as ';' or '\\t'")
        if self.decimal is not None:
            one_of("decimal mark", self.decimal, (".", ","))
            if self.decimal == self.separator:
                raise ParameterError(
                    f"{option('separator')} and {option('decimal')} are both {self.decimal!r}; they must differ"
                )
        if self.date_order is not None:
            one_of("order of dates", self.date_order, ("dmy", "mdy"))
        if self.encoding is not None:
            checked_encoding(self.encoding)
        if self.na is not None:
            words = [self.na] if isinstance(self.na, str) else list(self.na)
            if not all(isinstance(word, str) for word in words):
                raise ParameterError.out_of_range("na", self.na, "a list of texts that mean 'missing'")
            object.__setattr__(self, "na", tuple(words))
        number = isinstance(self.sheet, int) and not isinstance(self.sheet, bool) and self.sheet > 0
        if not (self.sheet is None or isinstance(self.sheet, str) or number):
            raise ParameterError.out_of_range("sheet", self.sheet, "the name of a sheet, or its number from 1 on")

    @property
    def leaves_holes(self) -> bool:
        """Whether missing values stay missing, and tests see to them."""
        return self.missing in ("testwise", "weighted")

    @property
    def of_files(self) -> FileWishes:
        """What is said of files and of texts."""
        na = None if self.na is None else frozenset(self.na)
        marker = self.unlabeled_marker if isinstance(self.unlabeled_marker, str) else None
        wording = Wording(self.decimal, self.decimal or ".", na, typed=False, marker=marker, date_order=self.date_order)
        return FileWishes(self.separator, self.encoding, self.sheet, wording)

    @property
    def said(self) -> dict[str, Any]:
        """The options that differ from their defaults as plain values; of values for each row, a hash."""
        return {
            name: plain(value)
            for name in (field.name for field in fields(self))
            if not _same(value := getattr(self, name), getattr(DEFAULT, name))
        }

    @property
    def cutting(self) -> Reading:
        """The same, where every number has levels too, also those that are never to be cut."""
        if isinstance(self.discretize, str):
            return replace(self, discretize="auto") if self.discretize == "none" else self
        levels = {"none": "auto", "number": "sturges"}
        rules = self.discretize.items()
        return replace(self, discretize={name: levels.get(str(rule), rule) for name, rule in rules})

    def leaves_uncut(self, name: str) -> bool:
        """Tell whether a column must never be cut."""
        return self.rule_for(name)[0] in ("none", "number")

    @property
    def says_words(self) -> bool:
        """Whether the user said which words mean that a value is missing."""
        return self.na is not None or not _same(self.unlabeled_marker, "auto")

    def order_of(self, name: str) -> tuple[object, ...] | None:
        """Return the levels of a column in the user's order: none if only its name was given; None if it was not."""
        if self.ordered is None or name not in self.ordered:
            return None
        return tuple(self.ordered[name] or ()) if isinstance(self.ordered, Mapping) else ()

    @classmethod
    def of(cls, value: Reading | Mapping[str, Any] | None = None) -> Reading:
        """Return a `Reading` from a mapping of its options (or from None: the defaults); a `Reading` stays as it is."""
        if isinstance(value, Reading):
            return value
        options = dict(value or {})
        known = [field.name for field in fields(cls)]
        for name in options:
            if name not in known:
                raise ParameterError(f"there is no argument {name!r}{did_you_mean(str(name), known)}")
        return cls(**options)

    @property
    def options(self) -> dict[str, Any]:
        """The options that differ from their defaults; values for each row are no options."""
        said = {name: value for name, value in asdict(self).items() if not _same(value, getattr(DEFAULT, name))}
        return {name: value for name, value in said.items() if name not in OF_ROWS or isinstance(value, str | int)}

    def rule_for(self, name: str) -> tuple[Rule, bool]:
        """Return the rule for a column of numbers, and whether the user gave it for this column."""
        if isinstance(self.discretize, str):
            return self.discretize, False
        return self.discretize.get(name, "auto"), name in self.discretize

    @property
    def supervised(self) -> bool:
        """Whether some rule uses the target."""
        return "supervised" in _rule_names(self.discretize)


def _orders(ordered: Any) -> tuple[str, ...] | dict[str, tuple[object, ...]]:
    """Return the user's ordered columns as names, or as a dict of names to levels."""
    if not isinstance(ordered, Mapping):
        return tuple(str(name) for name in names_in("ordered", ordered))
    found: dict[str, tuple[object, ...]] = {}
    for name, levels in ordered.items():
        if levels is None:
            found[str(name)] = ()
            continue
        plain = [] if isinstance(levels, str) or not isinstance(levels, Iterable) else list(levels)
        if len(plain) < 2 or len({str(level) for level in plain}) < len(plain):
            raise ParameterError.out_of_range(
                "ordered", {name: levels}, "names of columns, each with a list of at least two levels, lowest first"
            )
        found[str(name)] = tuple(plain)
    return found


def _rule_names(discretize: str | Mapping[str, Rule]) -> set[str]:
    """Return the names of the rules; refuse unknown rules and invalid cut points."""
    if not isinstance(discretize, str | Mapping):
        raise ParameterError.out_of_range(
            "discretize", discretize, "the name of a rule, or a mapping of column names to rules"
        )
    given = (discretize,) if isinstance(discretize, str) else tuple(discretize.values())
    allowed = {*RULES, "supervised", "none", "auto"}
    if not isinstance(discretize, str):
        allowed |= {"categorical", "number"}
    for rule in given:
        if not isinstance(rule, str):
            given_cuts(rule)
    names = {rule for rule in given if isinstance(rule, str)}
    for rule in sorted(names - allowed):
        raise ParameterError.not_one_of("rule for binning", rule, allowed)
    return names


def given_cuts(rule: Sequence[float]) -> NDArray[np.float64]:
    """Return the user's cut points in ascending order."""
    try:
        cuts = np.asarray(rule, dtype=np.float64)
    except (TypeError, ValueError):
        cuts = np.array(np.nan)
    if cuts.ndim != 1 or not len(cuts) or not np.all(np.isfinite(cuts)):
        raise ParameterError.out_of_range("discretize", rule, "the name of a rule or a list of finite cut points")
    return np.unique(cuts)


def plain(value: Any) -> Any:
    """Return an option as a value that JSON holds; of values for each row, a hash.

    >>> plain({"a": (1, 2.5)}), plain("text"), plain(np.arange(3))["rows"]
    ({'a': [1, 2.5]}, 'text', 3)
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    if not hasattr(value, "__len__"):
        return str(value)
    text = json.dumps([str(each) for each in value])
    return {"rows": len(value), "hash": hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()}


def not_both() -> ParameterError:
    """Say that rows are repeated or weighted."""
    return ParameterError(
        f"give {option('sample_weight')} (rows that are repeated) or {option('survey_weight')}, not both"
    )


def _same(one: object, other: object) -> bool:
    """Tell whether two values are the same, even if comparing them gives no boolean."""
    return type(one) is type(other) and bool(one == other)


DEFAULT = Reading()
