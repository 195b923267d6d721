"""What `rank`, `select` and `mutual_information` share: label tables, notes, a warning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from blankets.errors import RegimeWarning, listed, warn
from blankets.regimes import Labels
from blankets.study._study import Study


def information_notes(study: Study) -> tuple[str, ...]:
    """Return notes on what was assumed about missing labels, and what replaces the target."""
    column = study.informing
    if column is None:
        return study.about_labels
    forced = " It is not valid here; you asked for it anyway." if column.forced else ""
    stands = f"In place of the target, the estimate {column.surrogate.words}: {column.note}.{forced}"
    return (*study.about_labels, stands)


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
