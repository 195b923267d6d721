"""What `rank`, `select` and `mutual_information` share: label tables, notes, a warning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from blankets.arguments import one_of
from blankets.errors import NotAnswerableError, ParameterError, RegimeWarning, listed, warn
from blankets.independence import scored_cells, seen_in
from blankets.regimes import Labels
from blankets.stats import InformationEstimate, Loss, means_information, survey_information
from blankets.study._study import Study


def information_notes(study: Study) -> tuple[str, ...]:
    """Return notes on what was assumed about missing labels, and what replaces the target."""
    column = study.informing
    if column is None:
        return (*study.about_labels, *(study.about_rows if study.weighs else ()))
    forced = " It is not valid here; you asked for it anyway." if column.forced else ""
    stands = f"In place of the target, the estimate {column.surrogate.words}: {column.note}.{forced}"
    return (*study.about_labels, stands)


_SCORED = {"predicted": "gold labels, with the machine's beside them", "pu": "labeled rows weighted by propensity"}


def scored_estimate(
    study: Study, xs: Sequence[int], given: Sequence[int] = (), *, estimator: str = "auto", loss: Loss = "log"
) -> list[InformationEstimate]:
    """Estimate the information of columns about a target that is known through scores of rows."""
    one_of("estimator in this regime", estimator, ("auto",))
    if study.weighs:
        return [_surveyed(study, x, tuple(given), loss) for x in xs]
    scores = study.labels.scores
    if scores is None:
        raise ParameterError("this study has no scores of rows")
    words = _SCORED[study.regime.name]
    return [means_information(scored_cells(study.frame, scores, x, given)[0], loss=loss, estimator=words) for x in xs]


def _surveyed(study: Study, x: int, given: tuple[int, ...], loss: Loss) -> InformationEstimate:
    """Estimate the information of one column from rows that have weights, or come in groups."""
    columns, frame = (x, study.target, *given), study.frame
    if study.labels.n_unlabeled or not study.regime.plain or loss != "log" or study.measures(columns):
        raise NotAnswerableError(
            "with groups=, survey_weight= and missing='weighted', information is estimated for categories, complete "
            "labels and loss='log' only; cut numbers with discretize='sturges', or ask bl.test"
        )
    rows, weights = seen_in(frame, frozenset(columns)), study.weights_of(frame.names[j] for j in columns)
    weights = np.ones(frame.n_rows) if weights is None else weights
    rows &= weights > 0
    strata = np.zeros(frame.n_rows, np.int64)
    for z in given:
        strata = np.unique(strata * int(frame.widths[z]) + frame.column(z), return_inverse=True)[1]
    strata = np.unique(strata[rows], return_inverse=True)[1]
    one, other = (frame.column(j)[rows].astype(np.int64) for j in columns[:2])
    return survey_information(one, other, strata, weights[rows], None if study.groups is None else study.groups[rows])


def label_tables(counts: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return tables of shape (k, levels of x, levels of y, strata) as (k, strata, levels of y, levels of x)."""
    return counts.transpose(0, 3, 2, 1)


def warn_of_constants(labels: Labels, names: Sequence[str]) -> None:
    """Warn of features with a single value among the rows that an estimate uses."""
    if names and labels.n_unlabeled:
        warn(
            f"{listed(names)} have a single value among the labeled rows, so that nothing can be said about their "
            f"information",
            RegimeWarning,
        )
