"""Dates, durations and times of day as numbers of days, from whatever container.

A date is the number of days since 1970-01-01, with hours as a fraction of a day; where there is a time zone, of the
instant in UTC. A test does not see where days are counted from.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.data._columns import Mask, Numbers, Origin, Refused
from blankets.voice import option

SECONDS = 86_400  # of a day
PER_DAY = {"D": 1, "s": SECONDS, "ms": SECONDS * 10**3, "us": SECONDS * 10**6, "ns": SECONDS * 10**9}
FINER = ("ps", "fs", "as")
MIXED_ZONES = (
    "holds dates some of which have a time zone; give all of them one, or none of them, or leave the column out"
)


def of_ticks(ticks: NDArray[Any], per_day: int, kind: str, missing: Mask | None) -> Numbers:
    """Return whole numbers of some unit of time as days: whole ones where all dates are at midnight.

    >>> of_ticks(np.array([86_400, 129_600]), 86_400, "date", None).values.tolist()
    [1.0, 1.5]
    """
    ticks = ticks.astype(np.int64, copy=False)
    if missing is not None:
        ticks = np.where(missing, 0, ticks)
    whole, rest = np.divmod(ticks, per_day)
    days = whole if kind == "date" and not rest.any() else whole + rest / per_day
    return Numbers(days, missing, Origin(kind))


def from_numpy_dates(values: NDArray[Any]) -> Numbers:
    """Read NumPy's ``datetime64`` or ``timedelta64``."""
    kind = values.dtype.kind
    unit, step = np.datetime_data(values.dtype)
    if unit not in PER_DAY or step != 1:
        unit = "ns" if unit in FINER else "s"
        values = values.astype(f"{kind}8[{unit}]")
    gaps = np.isnat(values)
    name = "date" if kind == "M" else "duration"
    return of_ticks(values.astype(np.int64), PER_DAY[unit], name, gaps if gaps.any() else None)


def from_date_objects(values: NDArray[np.object_], missing: Mask, kind: str) -> Numbers:
    """Read Python's dates, times of day or durations, or NumPy's."""
    present = values[~missing]
    if kind == "date":
        days = _days([_without_zone(v) for v in present], {getattr(v, "tzinfo", None) is None for v in present})
    elif kind == "time":
        days = np.array([_part_of_day(v) for v in present], np.float64)
    else:
        ours = np.timedelta64
        days = np.array([v / ours(1, "D") if isinstance(v, ours) else v.total_seconds() / SECONDS for v in present])
    filled = np.zeros(len(values), days.dtype)
    filled[~missing] = days
    return Numbers(filled, missing if missing.any() else None, Origin(kind))


def _without_zone(value: Any) -> Any:
    if getattr(value, "tzinfo", None) is None:
        return value
    return value.astimezone(datetime.UTC).replace(tzinfo=None)


def _days(values: Sequence[Any], naive: set[bool]) -> NDArray[Any]:
    """Return dates without a time zone as days."""
    if len(naive) > 1:
        raise Refused(MIXED_ZONES)
    return from_numpy_dates(np.array(values, "M8[us]")).values


def _part_of_day(value: Any) -> float:
    return float(value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6) / SECONDS


# --- texts

_ISO = re.compile(r"\d{4}[-/]\d{1,2}[-/]\d{1,2}([T ].*)?")
_CLOCK = re.compile(r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?")
_PARTS = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?:[T ,]+(\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?))?")
_NAMED = ("%d-%b-%Y", "%d %b %Y", "%d %B %Y", "%d. %B %Y", "%b %d, %Y", "%B %d, %Y", "%d%b%Y", "%d-%b-%y")
_Parse = Callable[[str], datetime.datetime]


def dates_in(texts: Sequence[str], order: str | None = None) -> tuple[str, NDArray[Any]] | None:
    """Return what texts are ("date" or "time") and their days, if all of them are dates or times of day; else None.

    The year comes first, or the order of day and month can be told from the values, or ``order`` says it ("dmy" or
    "mdy"); `Refused` where it cannot be told.

    >>> dates_in(["1970-01-02", "1970-01-31"])
    ('date', array([ 1, 30]))
    >>> dates_in(["31/01/1970", "02/01/1970"])
    ('date', array([30,  1]))
    """
    first = texts[0]
    if _CLOCK.fullmatch(first):
        times = _all(texts, _clock)
        return None if times is None else ("time", np.array([_part_of_day(t) for t in times], np.float64))
    dates: list[datetime.datetime] | None = None
    if _ISO.fullmatch(first):
        dates = _all([_padded(text) for text in texts], datetime.datetime.fromisoformat)
    elif _PARTS.fullmatch(first):
        dates = _by_order(texts, order)
    elif any(c.isalpha() for c in first) and any(c.isdigit() for c in first):
        makers: Iterable[_Parse] = (_strptime(form) for form in _NAMED)
        dates = next((made for maker in makers if (made := _all(texts, maker)) is not None), None)
    if dates is None:
        return None
    return "date", _days([_without_zone(d) for d in dates], {d.tzinfo is None for d in dates})


def _strptime(form: str) -> _Parse:
    return lambda text: datetime.datetime.strptime(text, form)


def _padded(text: str) -> str:
    """Return an ISO date with slashes, or with months and days of one digit, as the standard writes it."""
    day, *clock = re.split(r"(?=[T ])", text, maxsplit=1)
    parts = re.split(r"[-/]", day)
    return "-".join([parts[0], *(part.zfill(2) for part in parts[1:])]) + "".join(clock)


def _by_order(texts: Sequence[str], order: str | None) -> list[datetime.datetime] | None:
    """Return dates that begin with the day or with the month; `Refused` if both would do."""
    found = [_PARTS.fullmatch(text) for text in texts]
    if any(match is None for match in found):
        return None
    parts = [match.groups() for match in found if match is not None]
    by_order = {
        "dmy": lambda p: _date(p[3], p[2], p[0], p[4]),
        "mdy": lambda p: _date(p[3], p[0], p[2], p[4]),
    }
    if order is not None:
        return _all(parts, by_order[order])
    day_first = _all(parts, by_order["dmy"])
    month_first = None if parts[0][1] == "." else _all(parts, by_order["mdy"])
    if day_first is not None and month_first is not None and day_first != month_first:
        raise Refused(_unclear().format(texts[0]))
    return day_first or month_first


def _date(year: str, month: str, day: str, clock: str | None) -> datetime.datetime:
    full = int(year) if len(year) == 4 else int(year) + (1900 if int(year) > 68 else 2000)
    date = datetime.date(full, int(month), int(day))
    time = datetime.time() if clock is None else _clock(clock)
    return datetime.datetime.combine(date, time)


def _clock(text: str) -> datetime.time:
    return datetime.time.fromisoformat(text if text[1:2] != ":" else f"0{text}")


def _all(values: Sequence[Any], convert: Callable[[Any], Any]) -> list[Any] | None:
    """Return all values converted; None if one cannot be."""
    try:
        return [convert(value) for value in values]
    except (ValueError, OverflowError):
        return None


def _unclear() -> str:
    """Say that day and month cannot be told apart."""
    return (
        f"holds dates in which day and month cannot be told apart, such as {{!r}}; say {option(date_order='dmy')} "
        f"(day first) or "
        f"{option(date_order='mdy')} (month first), or leave the column out"
    )
