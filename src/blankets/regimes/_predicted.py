"""`Predicted`: a machine's labels in all rows, beside gold labels in some (methods, section 14)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets.arguments import number
from blankets.data import Categories, Column, numbers_of
from blankets.errors import LabelError, NotAnswerableError, ParameterError, guarded, listed
from blankets.records import named, not_kept
from blankets.regimes._contract import Choice, Question, Regime
from blankets.regimes._knowledge import EVERYTHING
from blankets.regimes._labels import Labels
from blankets.regimes._prior import Prior, prior_from
from blankets.regimes._surrogates import Surrogate
from blankets.stats import InformationEstimate, Loss, machine_scores, predicted_share
from blankets.voice import option

_NINETY = 1.6448536269514722  # two-sided 10% point of the normal distribution
# Errors in the gold rows: with fewer, tests reject less often than their level says; methods (14.17) and the numbers
# after it.
_FEW_ERRORS = 6
# n r², with r the correlation of gold and machine labels: chi-square with one degree of freedom where the machine knows
# nothing, above 4 in 4.6% of the draws.
_CHANCE = 4.0


@guarded
@named
@dataclass(frozen=True, init=False)
class Predicted(Regime):
    """A machine's labels in every row, beside gold labels in rows that were drawn at random.

    Parameters
    ----------
    machine : str or array-like of shape (rows,)
        The machine's labels, or its probabilities of the positive class: the name of a column, or one value for each
        row. That column is no feature.
    gold : str, optional
        The column of gold labels, missing where there is none; by default the target.
    accuracy : float or (float, float), optional
        For `plan`, before there are data: how often the machine is right, or its sensitivity and specificity.
    prior : Prior, float, (low, high), str, distribution or None
        For `plan`: p(y=1). With data it follows from the labels.

    Notes
    -----
    Nothing is assumed of the machine's errors; they may depend on anything. What is assumed is that the rows with a
    gold label were drawn at random. The machine's labels of all rows, corrected by the gold rows, take the place of
    gold labels as far as they predict these (prediction-powered inference, Angelopoulos et al. 2023).

    Examples
    --------
    >>> import numpy as np
    >>> import blankets as bl
    >>> rng = np.random.default_rng(0)
    >>> ill = rng.integers(0, 2, 2000)
    >>> said = np.where(rng.random(2000) < 0.9, ill, 1 - ill)  # right in nine of ten rows
    >>> gold = np.where(np.arange(2000) < 200, ill, np.nan)
    >>> cough = rng.random(2000) < np.where(ill, 0.45, 0.3)
    >>> table = {"cough": cough, "said": said, "ill": gold}
    >>> [bl.test(table, "cough", "ill", labels=labels).dependent() for labels in ("mcar", bl.Predicted("said"))]
    [False, True]
    """

    name: ClassVar[str] = "predicted"
    assumption: ClassVar[str] = (
        "Every row has a machine's label; rows with a gold label are assumed to be drawn at random, and nothing is "
        "assumed of the machine's errors."
    )
    answers: ClassVar[frozenset[Question]] = EVERYTHING
    machine: object = field(compare=False)
    gold: str | None
    accuracy: tuple[float, float] | None
    prior: Prior | None

    def __init__(
        self, machine: object = None, *, gold: str | None = None, accuracy: object = None, prior: object = None
    ) -> None:
        if (machine is None and accuracy is None) or (gold is not None and not isinstance(gold, str)):
            raise ParameterError("Predicted(...) needs the machine's labels; gold= is the name of a column")
        object.__setattr__(self, "machine", machine)
        object.__setattr__(self, "gold", gold)
        object.__setattr__(self, "accuracy", _accuracy(accuracy))
        object.__setattr__(self, "prior", prior_from(prior))

    def _said(self) -> dict[str, object]:
        machine = self.machine if self.machine is None or isinstance(self.machine, str) else not_kept(self.machine)
        said = {"machine": machine, "gold": self.gold, "accuracy": self.accuracy, "prior": self.prior}
        return {name: value for name, value in said.items() if value is not None}

    @property
    def beside(self) -> tuple[str, object] | None:  # type: ignore[override]
        """The machine's labels."""
        return None if self.machine is None else ("machine", self.machine)

    def invalid(self, surrogate: Surrogate) -> str:
        """Return why a surrogate is not used."""
        return "" if surrogate is Surrogate.PREDICTED else "gold and machine labels are used together"

    def check(self, labels: Labels) -> None:
        """Refuse labels without gold of both classes, or without rows that only the machine labeled."""
        if self.machine is None:
            raise LabelError(
                "accuracy= alone is for plan; with data say where the machine's labels are: Predicted('said')"
            )
        if not labels.n_unlabeled:
            raise LabelError(
                f"every row has a gold label, so that the machine's are not needed; leave out {option('labels')}"
            )
        if not labels.is_binary or labels.n_seen_classes < 2:
            raise LabelError(
                f"gold labels of two classes are needed, but there is one, {labels.classes[-1]!r}: nothing corrects "
                f"the machine's labels of the other class"
            )

    def with_scores(self, labels: Labels, column: Column) -> Labels:
        """Return the labels with the machine's beside them; without, if these tell no more of gold ones than chance."""
        machine = _machine(column, labels)
        gold, said = (values[labels.codes >= 0].astype(float) for values in (labels.codes, machine))
        if not (np.ptp(said) and np.ptp(gold)) or len(gold) * np.corrcoef(gold, said)[0, 1] ** 2 < _CHANCE:
            told = "the machine's tell no more of them than chance may, so that the gold ones alone are used"
            return replace(labels, saw=f"{labels.saw}; {told}")
        share, error = predicted_share(labels.codes, machine)
        low, high = max(share - _NINETY * error, 0.0), min(share + _NINETY * error, 1.0)
        told = f"{labels.saw}; with the machine's, {share:.3g} of all rows are {labels.classes[1]!r} (90% interval "
        told += f"{low:.3g} to {high:.3g})"
        if (errors := int(np.count_nonzero((said >= 0.5) != (gold == 1)))) < _FEW_ERRORS:
            told += f"; the machine errs in {errors} gold rows, too few to learn how it errs: tests are too careful"
        return replace(labels, scores=machine_scores(labels.codes, machine), saw=told)

    def choose(self, labels: Labels) -> Choice:
        """Return gold and machine labels together."""
        kappas = {} if labels.scores is None else {Surrogate.PREDICTED: labels.scores.kappa()}
        return Choice(
            Surrogate.PREDICTED, "the machine's labels of all rows are corrected by the gold ones", kappas=kappas
        )

    def estimate(
        self, counts: ArrayLike, labels: Labels, *, estimator: str = "auto", loss: Loss = "log"
    ) -> InformationEstimate:
        """Refuse: counts alone do not have the machine's labels; a study estimates from rows."""
        raise NotAnswerableError("information with machine labels is estimated from rows, not from counts")


def _accuracy(value: object) -> tuple[float, float] | None:
    """Return sensitivity and specificity."""
    if value is None:
        return None
    both = value if isinstance(value, tuple | list) and len(value) == 2 else (value, value)
    meaning = "how often the machine is right, between 0.5 and 1, or its sensitivity and specificity"
    found = tuple(number("accuracy", one, meaning, least=0.0, most=1.0) for one in both)
    if sum(found) <= 1.0:
        raise ParameterError.out_of_range("accuracy", value, meaning)
    return found[0], found[1]


def _machine(column: Column, labels: Labels) -> NDArray[np.float64]:
    """Return the machine's labels as numbers: 1 for the positive class, 0 for the other, or probabilities."""
    negative, positive = labels.classes
    strange: list[object] = []
    if isinstance(column, Categories):
        strange = [level for level in column.levels if level not in (negative, positive)]
        if not strange:
            of_level = np.array([float(level == positive) for level in column.levels])
            return np.asarray(of_level[column.codes])
    values = numbers_of(column)
    if values is None:
        raise LabelError(
            f"the machine's labels hold {listed(strange)}, but the gold ones are {negative!r} and {positive!r}"
        )
    if not np.all((values >= 0.0) & (values <= 1.0)):
        raise LabelError("the machine's labels must be the classes of the gold ones, or probabilities between 0 and 1")
    return values
