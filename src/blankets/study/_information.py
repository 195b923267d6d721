"""What `rank`, `select` and `mutual_information` share: label tables, information without cutting, notes, a warning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from blankets.arguments import one_of
from blankets.data import Frame, Store, is_store
from blankets.errors import NotAnswerableError, ParameterError, RegimeWarning, listed, warn
from blankets.independence import explained_by, scored_cells, seen_in, strata_of_rows
from blankets.regimes import (
    Labels,
    PositiveUnlabeled,
    Prior,
    Question,
    Regime,
    SemiSupervised,
    Surrogate,
    SurrogateColumn,
    averaged_over_priors,
    kappa_of,
    regime_name,
    surrogate_column,
)
from blankets.results import joined
from blankets.stats import InformationEstimate, Loss, MachineRows, RowScores, means_information, survey_information
from blankets.study._about import about_labels, about_rows
from blankets.study._study import Study
from blankets.study._testing import at_most_rows
from blankets.voice import entry, option


def information_notes(study: Study) -> tuple[str, ...]:
    """Return notes on what was assumed about missing labels, and what replaces the target."""
    column = study.informing
    if column is None:
        return (*about_labels(study), *about_drivers(study), *(about_rows(study) if study.weighs else ()))
    forced = " It is not valid here; you asked for it anyway." if column.forced else ""
    stands = f"In place of the target, the estimate {column.surrogate.words}: {column.note}.{forced}"
    return (*about_labels(study), stands)


def about_drivers(study: Study, *, of_test: bool = False) -> tuple[str, ...]:
    """Say on which features labeling depends, where labels are MAR-F, and what follows."""
    if study.regime.name != "mar-f" or not study.regime.given_drivers or not study.labels.n_unlabeled:
        return ()
    found = "as you say" if study.regime.drivers else "as all rows show"
    if not (names := [study.names[w] for w in study.drivers]):
        return ("No feature was found on which labeling depends.",)
    what = "the test is given that too" if of_test else "labeled rows are weighed by it"
    return (f"Labeling depends on {joined(names)}, {found}; {what}.",)


def keeps_numbers(labels: str | Regime) -> bool:
    """Tell whether information can be estimated without cutting numbers, as far as the user has said it.

    Where labeling depends on features, or positives were collected apart, only tables of levels have an estimate.
    """
    if isinstance(labels, PositiveUnlabeled):
        return labels.sampling == "one-sample" and labels.propensity is None
    name = labels.name if isinstance(labels, Regime) else regime_name(labels)
    return name not in ("mar-f", "noisy")


def frame_with(study: Study, column: SurrogateColumn | None) -> Frame:
    """Return the rows that have a surrogate, with it in place of the target; at most 100,000 of them."""
    if column is None:
        return at_most_rows(study.frame)
    frame = study.frame.with_column(study.target_name, column.codes, column.levels)
    return at_most_rows(frame if column.rows is None else frame.take(column.rows))


class Explained(NamedTuple):
    """The rows in which a target, or its surrogate, is explained."""

    frame: Frame
    background: Frame  # the rows in which features explain each other
    surrogate: Surrogate | None = None  # what stands for the target, if R² of the target itself follows from its own
    prior: Prior | None = None  # p(y=1), for κ of the surrogate
    share: float = 0.0  # labeled positives (Ỹ0) or negatives (Ỹ1) as a share of all rows
    kept: float = 1.0  # the share of the target's R² that what stands for it keeps, if no prior tells it

    @classmethod
    def of(cls, study: Study) -> Explained:
        """Return the rows for a study, at most 100,000 of them."""
        if study.labels.scores is not None:
            return cls._predicted(study, study.labels.scores)
        column, known = study.informing, None
        if column is None and study.labels.n_unlabeled:
            column, known = _class_column(study)
        frame = frame_with(study, column)
        background = frame if column is None or column.rows is None else at_most_rows(study.frame)
        if column is None or known is None:
            return cls(frame, background)
        negatives, positives = study.labels.shares
        return cls(
            frame, background, column.surrogate, known, positives if column.surrogate is Surrogate.Y0 else negatives
        )

    @classmethod
    def _predicted(cls, study: Study, scores: RowScores) -> Explained:
        """Return the rows in which a machine's labels and gold ones tell the class together, methods (14.18)."""
        response = MachineRows.of(scores, np.zeros((0, study.n_rows))).response
        frame = at_most_rows(study.frame.with_response(study.target, response))
        positives = scores.positives
        return cls(frame, frame, kept=min(positives * (1.0 - positives) / float(response.var()), 1.0))

    def estimates(
        self, xs: Sequence[int], y: int, given: Sequence[int] = (), *, loss: Loss = "log"
    ) -> list[InformationEstimate]:
        """Estimate the information of columns about the target, given one set."""
        if self.prior is None:
            return explained_by(self.frame, xs, y, given, kappa=self.kept, loss=loss)

        def at(x: int, prior: float) -> InformationEstimate:
            return explained_by(self.frame, [x], y, given, kappa=self.kappa(prior), loss=loss)[0]

        negatives = self.surrogate is Surrogate.Y1
        return [averaged_over_priors(partial(at, x), self.prior, of_negatives=negatives) for x in xs]

    def rows_with(self, columns: Sequence[int]) -> int:
        """Return how many rows have a value of all these columns."""
        gaps = [gap for j in columns if (gap := self.frame.gaps(j)) is not None]
        return int(np.count_nonzero(~np.logical_or.reduce(gaps))) if gaps else self.frame.n_rows

    def kappa(self, prior: float | None = None) -> float:
        """Return the share of the target's R² that its surrogate keeps."""
        if self.surrogate is None or self.prior is None:
            return self.kept
        name = "positives" if self.surrogate is Surrogate.Y0 else "negatives"
        return float(kappa_of(self.surrogate, self.prior.mean if prior is None else prior, **{name: self.share}))


def _class_column(study: Study) -> tuple[SurrogateColumn, Prior | None]:
    """Return what stands for labels of which some are missing: labeled rows (MCAR), or one class and its prior."""
    regime, labels = study.regime, study.labels
    if isinstance(regime, SemiSupervised) and regime.mechanism == "mcar":
        return surrogate_column(labels, Surrogate.LISTWISE), None
    prior = regime.known_prior(labels, Question.ESTIMATE)
    one = Surrogate.Y0
    if isinstance(regime, SemiSupervised):
        one = max((Surrogate.Y0, Surrogate.Y1), key=lambda each: regime.kappa(labels, each).value)
    return surrogate_column(labels, one), prior


ABOUT_EXPLAINED = (
    "Information without cutting: -½ ln(1 - R²), where R² is the share of the target that functions of a column "
    "explain. It is the mutual information if what is left is normal."
)

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
    return [means_information(scored_cells(study.frame, scores, x, given), loss=loss, estimator=words) for x in xs]


def weighs_rows(data: Any, options: Mapping[str, Any]) -> bool:
    """Tell whether options of reading give rows weights, or put them in groups; then information is that of tables."""
    store = data if isinstance(data, Store) else Store.open(data) if is_store(data) else None
    reading = options if store is None else {**store.packed, **options}
    said = any(reading.get(name) is not None for name in ("groups", "survey_weight"))
    return said or reading.get("missing") == "weighted"


def _surveyed(study: Study, x: int, given: tuple[int, ...], loss: Loss) -> InformationEstimate:
    """Estimate the information of one column from rows that have weights, or come in groups."""
    columns, frame = (x, study.target, *given), study.frame
    if study.labels.n_unlabeled or not study.regime.plain or loss != "log" or study.measures(columns):
        raise NotAnswerableError(
            f"with {option('groups')}, {option('survey_weight')} and {option(missing='weighted')}, information "
            f"is estimated "
            f"for categories, complete "
            f"labels and {option(loss='log')} only; cut numbers with {option(discretize='sturges')}, or ask "
            f"{entry('test')}"
        )
    rows, weights = seen_in(frame, frozenset(columns)), study.weights_of(frame.names[j] for j in columns)
    weights = np.ones(frame.n_rows) if weights is None else weights
    rows &= weights > 0
    strata = strata_of_rows((frame.column(z)[rows] for z in given), int(np.count_nonzero(rows)))
    one, other = (frame.column(j)[rows].astype(np.int64) for j in columns[:2])
    return survey_information(one, other, strata, weights[rows], None if study.groups is None else study.groups[rows])


def label_tables(counts: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return tables of shape (k, levels of x, levels of y, strata) as (k, strata, levels of y, levels of x)."""
    return counts.transpose(0, 3, 2, 1)


def warn_of_constants(labels: Labels, names: Sequence[str]) -> None:
    """Warn of features with a single value among the rows that an estimate uses."""
    if names and labels.n_unlabeled:
        warn(
            f"{listed(names)} {'has' if len(names) == 1 else 'have'} a single value among the labeled rows, so that "
            f"nothing can be said about their information",
            RegimeWarning,
        )
