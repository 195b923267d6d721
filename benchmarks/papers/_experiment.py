"""What a script of this folder says about its table or figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

Cell = Mapping[str, Any]
Verdict = Literal["agrees", "same ordering", "undecided", "differs"]


@dataclass(frozen=True)
class Finding:
    """One printed value, or one printed statement, next to ours.

    ``why`` explains a difference, from another experiment; the runner refuses a difference without one.
    """

    what: str
    printed: str
    ours: str
    verdict: Verdict
    why: str = ""


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper.

    ``cells(quick)`` lists settings (names to JSON values, which must say all that the numbers depend on, seeds
    and sizes included); ``run(data, **cell)`` returns the rows of one of them, as dictionaries to which the
    settings are added; ``compare(rows)`` returns the findings; ``draw(rows, figure)`` fills the figure.
    ``run`` is called in other processes, so it must be a function of the script. ``data`` is the folder given
    with ``--data``, or None. ``minutes`` are for two free cores: the full and the reduced protocol.
    ``words`` are columns whose entries look like numbers, or are empty, and must be read back as words.
    """

    name: str
    title: str
    source: str
    minutes: tuple[float, float]
    cells: Callable[[bool], Sequence[Cell]]
    run: Callable[..., list[dict[str, Any]]]
    compare: Callable[[pd.DataFrame], list[Finding]]
    draw: Callable[[pd.DataFrame, Figure], None]
    protocol: Callable[[bool], str]
    size: tuple[float, float] = (7.0, 4.0)
    needs: Sequence[str] = ()
    remark: str = ""
    words: Sequence[str] = ()

    def missing(self, data: Path | None) -> list[str]:
        """Return which of the needed files are not in the data folder."""
        return [name for name in self.needs if data is None or not (data / name).exists()]


def mean_and_error(values: Any) -> tuple[float, float]:
    """Return the mean and its standard error.

    >>> mean_and_error([1.0, 2.0, 3.0])
    (2.0, 0.5773502691896258)
    """
    numbers = np.asarray(values, float)
    error = numbers.std(ddof=1) / np.sqrt(len(numbers)) if len(numbers) > 1 else float("nan")
    return float(numbers.mean()), float(error)


def plus_minus(values: Any, digits: int = 2) -> str:
    """Write mean and standard error.

    >>> plus_minus([1.0, 2.0, 3.0])
    '2.00 ± 0.58'
    """
    mean, error = mean_and_error(values)
    return f"{mean:.{digits}f} ± {error:.{digits}f}" if error == error else f"{mean:.{digits}f}"


def near(printed: float, values: Any, *, digits: int = 2, errors: float = 2.0, printed_error: float = 0.0) -> bool:
    """Say whether a printed value lies within some standard errors of our mean, rounding of the print allowed for.

    ``printed_error`` is the standard error of the printed value itself, where the paper lets one work it out.
    """
    mean, error = mean_and_error(values)
    slack = 0.5 * 10.0**-digits + errors * np.hypot(np.nan_to_num(error), printed_error)
    return bool(abs(mean - printed) <= slack + 1e-12)


def ordered(difference: float, half: float, *, holds: Verdict = "agrees") -> Verdict:
    """Judge an ordering that is claimed by a difference and half the width of its interval.

    Within the interval nothing is decided, whatever the sign. ``holds`` is the verdict beyond it.

    >>> ordered(0.3, 0.2), ordered(0.1, 0.2), ordered(-0.1, 0.2), ordered(-0.3, 0.2)
    ('agrees', 'undecided', 'undecided', 'differs')
    """
    return holds if difference > half else "differs" if difference < -half else "undecided"
