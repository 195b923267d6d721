"""What texts mean: numbers stored as text, dates, and words for "missing".

Text files have no types, so a text there is a number or a date if all values of its column are. A data frame has
types: there, texts with few distinct values and texts that are whole numbers may be codes, and stay texts.

Which words are missing values must not be guessed in silence. `BLANK` is no value of anything. `USUAL` words are
missing where all other values are numbers or dates, and the user is told; among texts only "?" and "." are, because
the others may be values ("none", "-" beside "+"). What the user names with ``na=`` is missing everywhere, and then
nothing else is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.data._columns import FEW_VALUES, Categories, Column, Numbers, Origin, either
from blankets.data._dates import dates_in

_BY_EXCEL = ("#NV", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?", "#NULL!")
BLANK = ("", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "Null", "<NA>", "#N/A", "NaT", *_BY_EXCEL)
USUAL = frozenset({"?", ".", "..", "...", "-", "--", "---", "*", "na", "n.a.", "k.a.", "none", "nil", "missing"})
USUAL |= {"unknown", "not available", "not known", "not applicable", "no data", "n.d.", "(blank)"}
OF_TEXTS = frozenset({"?", "."})  # these are missing values among texts as well
DOUBTFUL = frozenset({"?", "missing", "unknown", "not available", "not known", "no data", "(blank)", "--", "n.a."})
LARGE = 2**53  # beyond it, floating-point numbers do not tell all whole numbers apart
TRIED = 64  # texts that are looked at before all of them are


@dataclass(frozen=True, slots=True)
class Wording:
    """How the texts of a table are to be understood."""

    decimal: str | None = None  # the decimal mark that the user named
    prefer: str = "."  # the decimal mark where a text allows both
    na: frozenset[str] | None = None  # words for "missing" that the user named; None: the usual ones
    typed: bool = True  # whether the container has types
    marker: str | None = None  # the user's text for "unlabeled", which is no missing value
    date_order: str | None = None  # "dmy" or "mdy", if the user says which comes first

    def is_gap(self, text: str, *, among_texts: bool) -> bool:
        """Tell whether a text is a missing value, among texts or among other values."""
        if text == self.marker:
            return False
        if text in _BLANK and not (self.typed and among_texts):
            return True
        if self.na is not None:
            return text in self.na
        return (text in OF_TEXTS and not self.typed) if among_texts else text.lower() in USUAL


_BLANK = frozenset(BLANK)
TYPED, UNTYPED = Wording(), Wording(typed=False)


def understood(column: Column, wording: Wording = TYPED, *, texts_only: bool = False) -> Column:
    """Return a column of texts as the numbers or dates that they are, and without words for "missing".

    With ``texts_only`` it stays text in any case.

    >>> from blankets.data._readers import from_any
    >>> wages = understood(from_any(["1,200.50 €", "900 €", "?"]), Wording(typed=False))
    >>> wages.values.tolist(), wages.missing.tolist(), wages.origin.missing
    ([1200.5, 900.0, 0.0], [False, False, True], ('?',))
    """
    if isinstance(column, Numbers):
        return _without_codes(column, wording)
    if not column.levels or not all(isinstance(level, str) for level in column.levels):
        return column
    texts: list[str] = [str(level) for level in column.levels]
    if column.declared and wording.na is None:
        return column
    plain = texts if wording.typed else [text.strip() for text in texts]
    values = [text for text in plain if not wording.is_gap(text, among_texts=False)]
    if len(values) > (FEW_VALUES if wording.typed else 0) and not (texts_only or column.declared):
        codes = wording.typed and len(values) == len(plain) and all(text.isdigit() for text in values)
        read = None if codes else numbers_in(values, wording) or dates_in(values, wording.date_order)
        if read is not None:
            return _as_numbers(column, plain, read, wording)
    return _as_texts(column, plain, wording)


def _without_codes(column: Numbers, wording: Wording) -> Numbers:
    """Return numbers without those that the user named as words for "missing", such as -9."""
    read = [found for word in wording.na or () if (found := numbers_in([word], wording)) is not None]
    if not read or column.origin.kind not in ("", "labels"):
        return column
    missing = np.isin(column.values, np.concatenate([values for _, values in read]))
    return replace(column, missing=either(missing, column.missing))


def _as_numbers(column: Categories, texts: list[str], read: tuple[str, NDArray[Any]], wording: Wording) -> Numbers:
    """Give each row the number of its text."""
    kind, values = read
    gap = np.array([wording.is_gap(text, among_texts=False) for text in texts])
    of_level = np.zeros(len(texts), values.dtype)
    of_level[~gap] = values
    missing = either(gap[column.codes], column.missing)
    kept = np.flatnonzero(~gap).tolist()
    first = next((k for k in kept if not texts[k].isdigit()), kept[0])  # one that shows how it was read
    example = f"{texts[first]!r} = {of_level[first]:.10g}" if kind == "number" else ""
    words = _said(texts, gap, wording)
    return Numbers(of_level[column.codes], missing, Origin(kind, example, words))


def _as_texts(column: Categories, texts: list[str], wording: Wording) -> Categories:
    """Return a column that stays text, without blanks around its values and without words for "missing"."""
    gap = np.array([wording.is_gap(text, among_texts=True) for text in texts])
    if not gap.any() and texts == list(column.levels):
        return column
    origin = replace(column.origin, missing=_said(texts, gap, wording))
    kept = [text for text, is_gap in zip(texts, gap.tolist(), strict=True) if not is_gap]
    levels = tuple(dict.fromkeys(kept) if column.declared else sorted(set(kept)))
    place = {level: code for code, level in enumerate(levels)}
    codes = np.array([place.get(text, 0) for text in texts], np.int32)[column.codes]
    gaps = either(gap[column.codes], column.missing)
    return Categories(codes, levels, gaps, column.declared, column.ordered, origin)


def _said(texts: Sequence[str], gap: NDArray[np.bool_], wording: Wording) -> tuple[str, ...]:
    """Return the words for "missing" that the user did not name and that could be values."""
    if wording.na is not None:
        return ()
    return tuple(text for text, is_gap in zip(texts, gap.tolist(), strict=True) if is_gap and text not in _BLANK)


# --- numbers

_UNITS = "$€£¥₹₽₩₺%°"
_CODES = "EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|ZAR|kr|zł|Fr\\."
_UNIT = f"(?P<{{}}>[{_UNITS}]|{_CODES})"
_SPACES = "\u00a0\u202f "


def _pattern(decimal: str) -> re.Pattern[str]:
    """Return the pattern of a number with a decimal mark, perhaps in groups of three digits, with a unit."""
    group = {".": ",", ",": "."}[decimal]
    digits = rf"\d{{1,3}}(?:(?P<mark>[{group}'’{_SPACES}])\d{{3}}(?:(?P=mark)\d{{3}})*)|\d+"
    number = rf"(?:{digits})(?:[{decimal}]\d*)?|[{decimal}]\d+"
    before, after = _UNIT.format("before"), _UNIT.format("after")
    return re.compile(
        rf"(?P<open>\()?(?P<sign>[-+−–]?)\s*(?:{before}\s*)?(?P<inner>[-−]?)(?P<number>{number})"
        rf"(?P<power>[eE][-+]?\d+)?(?:\s*{after})?(?P<close>\))?"
    )


_PATTERNS = {mark: _pattern(mark) for mark in ".,"}


def numbers_in(texts: Sequence[str], wording: Wording = TYPED) -> tuple[str, NDArray[Any]] | None:
    """Return ("number", their values) if all texts are numbers with the same unit, or without one; else None.

    >>> numbers_in(["1.234,5", "-12", "(7)"])[1].tolist()
    [1234.5, -12.0, -7.0]
    """
    marks = (wording.decimal,) if wording.decimal else (wording.prefer, "," if wording.prefer == "." else ".")
    for mark in marks:
        values = _values(texts[:TRIED], mark, wording)
        if values is not None:
            values = _values(texts, mark, wording)
        if values is not None:
            whole = all(isinstance(value, int) for value in values)
            return "number", np.array(values, np.int64 if whole else np.float64)
    return None


def _values(texts: Iterable[str], mark: str, wording: Wording) -> list[float] | None:
    """Return the values of numbers with one decimal mark; None if a text is no number, or units differ."""
    values: list[float] = []
    units: set[str] = set()
    for text in texts:
        found = _PATTERNS[mark].fullmatch(text)
        if found is None or (found["open"] is None) != (found["close"] is None):
            return None
        units |= {unit for unit in (found["before"], found["after"]) if unit}
        digits = re.sub(rf"[^0-9{mark}]", "", found["number"]).replace(mark, ".")
        if wording.typed and len(digits) > 1 and digits[0] == "0" and digits[1] != ".":
            return None  # 007 and 01234 are codes
        negative = bool(found["open"]) ^ (found["sign"] not in ("", "+")) ^ bool(found["inner"])
        whole = "." not in digits and not found["power"]
        value = int(digits) if whole else float(digits + (found["power"] or ""))
        if whole and abs(value) > LARGE:
            return None
        values.append(-value if negative else value)
    return values if len(units) <= 1 else None


def decimal_mark(columns: Iterable[Sequence[str]], separator: str) -> str:
    """Return the decimal mark that some texts of each column suggest: a comma if one column allows nothing else.

    Where texts such as "1,234" allow both, the comma is one of thousands, unless semicolons separate the fields.

    >>> decimal_mark([["1,234", "7"], ["1,5", "20,25"]], ","), decimal_mark([["1,234", "7"]], ",")
    (',', '.')
    """
    both = False
    for texts in columns:
        if "," not in "\n".join(texts):
            continue
        values = [text for text in map(str.strip, texts) if not UNTYPED.is_gap(text, among_texts=False)]
        comma, point = (_values(values, mark, UNTYPED) is not None for mark in ",.")
        if comma and not point:
            return ","
        both |= comma and point
    return "," if both and separator == ";" else "."
