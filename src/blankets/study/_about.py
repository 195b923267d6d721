"""What a study says of its rows and labels, and what it warns of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from blankets.counting import SqlCounter
from blankets.data import Frame
from blankets.errors import CutNumbersWarning, RegimeWarning, listed, warn
from blankets.study._testing import MOST_ROWS
from blankets.voice import option

if TYPE_CHECKING:
    from blankets.study._study import Study


def about_rows(study: Study) -> tuple[str, ...]:
    """Tell what was done about rows that belong together, have the weights of a survey, or are very many."""
    said = []
    if study.survey is not None:
        said.append(
            "Rows have the weights of a survey: tests are those of the population, corrected by Rao and Scott "
            "(products of residuals are weighted where a number is involved)."
        )
    if study.measures_some and study.n_rows > MOST_ROWS:
        said.append(f"Tests of numbers looked at {MOST_ROWS:,} of the {study.n_rows:,} rows, drawn at random.")
    if study.groups is not None:
        said.append(
            f"The {study.n_rows:,} rows belong to {study.n_groups:,} groups ({study.group_name}): tests allow for any "
            f"dependence within a group, and take groups for independent draws."
        )
    if study.copies > 1:
        said.append(
            f"Missing values were imputed before: tests of {study.copies} completed tables are pooled (by D3, and "
            f"by D2 where a number is involved, which finds less), and so are effects (Rubin's rules)."
        )
    return (*said, *_about_holes(study))


def _about_holes(study: Study) -> tuple[str, ...]:
    """Tell what weights for missing values come from."""
    if (model := study.seen_model) is None:
        return ()
    told = {x: sorted(by, key=by.__getitem__) for x, by in model.telling.items() if by}
    words = [f"{study.names[x]} (by {listed(study.names[z] for z in by[:3])})" for x, by in told.items()]
    if not words:
        return ("No complete column tells where values are missing, so that all rows with a value weigh the same.",)
    return (
        f"Rows with a value stand for those without one, weighted by complete columns that tell of the gaps, in "
        f"{', '.join(words)}. Gaps that depend on anything else, or on the missing value itself, are not "
        f"corrected. A test in which few rows would stand for very many is not made; "
        f"{option(missing='testwise')} makes "
        f"it, without this correction.",
    )


def about_labels(study: Study) -> tuple[str, ...]:
    """Tell what was assumed about missing labels."""
    return (study.regime.describe(study.labels),) if study.labels.n_unlabeled or not study.regime.plain else ()


def cut_unasked(study: Study) -> list[str]:
    """Return the numbers that were cut although nobody asked for it."""
    return [name for name in study.report.binned if study.reading.rule_for(name)[0] == "auto"]


def warn_of_cuts(study: Study) -> None:
    """Name the numbers that were cut although nobody asked for it, and say why."""
    if study.place.store is not None:
        why = "this table was packed without the values of its numbers (pack it again to have them tested uncut)"
    elif isinstance(study.table, SqlCounter):
        why = (
            f"numbers are tested as they are in memory only ({MOST_ROWS:,} rows drawn at random, as a table in "
            f"memory, are as many as such tests look at); in a database they are counted"
        )
    else:
        return
    if binned := cut_unasked(study):
        warn(
            f"{why}, so these were cut into levels: {listed(binned)}. Say {option(discretize='sturges')} or "
            f"another rule if "
            f"that is what you want",
            CutNumbersWarning,
        )


def single_valued(study: Study, rows: NDArray[np.bool_]) -> tuple[int, ...]:
    """Return the features with a single value among some rows."""
    part = study.frame.take(rows)
    return tuple(x for x in study.features if np.ptp(_seen(part, x)) == 0)


def warn_of_single_values(study: Study, rows: NDArray[np.bool_]) -> None:
    """Warn of features with a single value among the rows that may be compared."""
    if constant := [study.names[x] for x in single_valued(study, rows)]:
        have, them = ("has", "it") if len(constant) == 1 else ("have", "them")
        warn(
            f"{listed(constant)} {have} a single value among the {np.count_nonzero(rows):,} labeled rows, so that no "
            f"test with the target can find {them}",
            RegimeWarning,
        )


def _seen(frame: Frame, x: int) -> NDArray[Any]:
    """Return the codes, or numbers, of the rows that have a value; one that means nothing if none has."""
    gaps = frame.gaps(x)
    values = frame.values(x) if gaps is None else frame.values(x)[~gaps]
    return values if len(values) else np.zeros(1, np.int64)
