"""What `rank`, `select` and `mutual_information` share: label tables, notes, a warning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from blankets.arguments import one_of
from blankets.errors import ParameterError, RegimeWarning, listed, warn
from blankets.independence import scored_cells
from blankets.regimes import Labels
from blankets.stats import InformationEstimate, Loss, means_information
from blankets.study._study import Study


def information_notes(study: Study) -> tuple[str, ...]:
    """Return notes on what was assumed about missing labels, and what replaces the target."""
    column = study.informing
    if column is None:
        return study.about_labels
    forced = " It is not valid here; you asked for it anyway." if column.forced else ""
    stands = f"In place of the target, the estimate {column.surrogate.words}: {column.note}.{forced}"
    return (*study.about_labels, stands)


_SCORED = {"predicted": "gold labels, with the machine's beside them", "pu": "labeled rows weighted by propensity"}


def scored_estimate(
    study: Study, xs: Sequence[int], given: Sequence[int] = (), *, estimator: str = "auto", loss: Loss = "log"
) -> list[InformationEstimate]:
    """Estimate the information of columns about a target that is known through scores of rows."""
    one_of("estimator in this regime", estimator, ("auto",))
    scores = study.labels.scores
    if scores is None:
        raise ParameterError("this study has no scores of rows")
    words = _SCORED[study.regime.name]
    return [means_information(scored_cells(study.frame, scores, x, given), loss=loss, estimator=words) for x in xs]


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
