"""The regimes: fully labeled, positive-unlabeled, and semi-supervised under three mechanisms.

==========  ==============================  =======================  =========================================
regime      a row is labeled depending on  valid surrogates         estimator
==========  ==============================  =======================  =========================================
supervised  (all rows are)                  the target itself        plug-in
pu          the class, positives only       y0 (ym is the same)      Pos, needs p(y=1)
mcar        nothing                         listwise, ym, y0, y1     MCAR
mar-f       the tested x alone              listwise                 MAR-F
mar-c       the class alone                 listwise, ym, y0, y1     Pos, Neg, SS, need p(y=1)
noisy       (labels may be wrong)           the labels as they are   scores that invert the channel
==========  ==============================  =======================  =========================================

Labeling that depends on both class and features (MNAR) is refused: then no surrogate has a known level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from blankets.arguments import flag, names_in, one_of
from blankets.data import Column, numbers_of
from blankets.errors import LabelError, NotAnswerableError, ParameterError, RegimeWarning, guarded, listed, warn
from blankets.records import named, not_kept
from blankets.regimes._contract import Choice, Floats, Kappa, Question, Regime
from blankets.regimes._kappa import kappa_case_control
from blankets.regimes._knowledge import ESTIMATOR, EVERYTHING, averaged_over_priors, needs_prior, with_prior
from blankets.regimes._labels import Labels
from blankets.regimes._prior import Prior, prior_from
from blankets.regimes._surrogates import Surrogate, surrogate_from
from blankets.stats import InformationEstimate, Loss, Sampling, miller_madow, plug_in, pos_information, weighted_scores
from blankets.voice import option


@guarded
@named
@dataclass(frozen=True)
class Supervised(Regime):
    """Every row is labeled.

    Examples
    --------
    It is what ``labels="auto"`` finds, and what ``labels="supervised"`` means.

    >>> import blankets as bl
    >>> bl.kappa(labels=bl.Supervised())
    1.0
    """

    name: ClassVar[str] = "supervised"
    plain: ClassVar[bool] = True  # type: ignore[misc]
    assumption: ClassVar[str] = "Every row is labeled."
    answers: ClassVar[frozenset[Question]] = EVERYTHING

    def invalid(self, surrogate: Surrogate) -> str:
        """Return why no surrogate is needed if no label is missing."""
        return "" if surrogate is Surrogate.FULL else "no label is missing, so nothing has to stand in for the target"

    def check(self, labels: Labels) -> None:
        """Refuse unlabeled rows and a single class."""
        if labels.n_unlabeled:
            raise LabelError(
                f"{labels.n_unlabeled} of {len(labels)} rows are unlabeled, but 'supervised' needs every label; "
                f"drop these rows, or say how labels went missing: {option(labels=('pu', 'mcar', 'mar-f', 'mar-c'))}"
            )
        if labels.n_seen_classes < 2:
            raise LabelError("all rows are of one class; there is nothing to compare")

    def choose(self, labels: Labels) -> Choice:
        """Return the target itself."""
        return Choice(Surrogate.FULL, "every row is labeled", kappas={Surrogate.FULL: 1.0})

    def kappa(self, labels: Labels, surrogate: str | Surrogate | None = None) -> Kappa:
        """Return 1."""
        return Kappa(1.0, 1.0, 1.0, Surrogate.FULL)

    def estimate(
        self, counts: ArrayLike, labels: Labels, *, estimator: str = "auto", loss: Loss = "log"
    ) -> InformationEstimate:
        """Return the plug-in (or "miller-madow") estimate from tables of shape (..., strata, classes, levels of x)."""
        one_of(ESTIMATOR, estimator, ("auto", "plug-in", "miller-madow"))
        return miller_madow(counts) if estimator == "miller-madow" else plug_in(counts, loss=loss)


@dataclass(frozen=True)
class Unsaid(Supervised):
    """Labels are missing, and the user has not said why; only `audit` accepts this."""

    name: ClassVar[str] = ""


@guarded
@named
@dataclass(frozen=True, init=False)
class PositiveUnlabeled(Regime):
    """Only positives are labeled, and every positive has the same chance to be labeled, or one that ``drivers`` decide.

    Parameters
    ----------
    prior : Prior, float, (low, high), str, distribution or None
        What is known about p(y=1) in the population. If the share of labeled positives in the sample is larger,
        there is a warning if chance can explain it, otherwise (a chance below 1 in 100) an error.
    sampling : {"one-sample", "case-control"}
        One sample in which some positives got labels, or positives collected separately from a background sample.
    drivers : sequence of str
        Columns that decide how often a positive is labeled (the distance to the next road, the ward). Every test with
        the target is given these too. Whether they are themselves in the blanket cannot be told from such labels.
    propensity : str or array-like of shape (rows,), optional
        The probability that a row would be labeled if it is positive, of every row: the name of a column (which is no
        feature), or one value for each row. A labeled row then counts as 1/propensity positives, and p(y=1) follows.
    surrogate : {"ym", "y0", "y1"}, optional
        What replaces the target; by default the most powerful valid surrogate.
    force : bool
        Use a surrogate that is not valid; results say so.

    Notes
    -----
    If labeling depends on the class and on drivers d alone, p(labeled | x, z, d) = p(y=1 | x, z, d) e(d): given d, x is
    independent of being labeled if and only if it is independent of the class (methods, section 13). If a driver is an
    effect of both x and the class, holding it fixed ties the two together: then x is found though it is no member.

    Examples
    --------
    A fifth of the rows is positive, and a quarter of these is labeled.

    >>> import blankets as bl
    >>> round(bl.kappa(labels=bl.PositiveUnlabeled(prior=0.2), labeled=0.05), 4)
    0.2105
    """

    name: ClassVar[str] = "pu"
    prior: Prior | None
    sampling: Sampling
    drivers: tuple[str, ...]
    propensity: object = field(compare=False)
    surrogate: str | None
    force: bool

    def __init__(
        self,
        prior: object = None,
        sampling: Sampling = "one-sample",
        *,
        drivers: str | Sequence[str] = (),
        propensity: object = None,
        surrogate: str | None = None,
        force: bool = False,
    ) -> None:
        known = prior_from(prior)
        if propensity is not None and (known is not None or drivers or surrogate or sampling != "one-sample"):
            raise ParameterError(
                f"{option('propensity')} says all that is needed: {option('prior')}, {option('drivers')}, "
                f"{option('surrogate')} and {option('sampling')} do not go with it"
            )
        object.__setattr__(self, "propensity", propensity)
        one_of("sampling", sampling, ("one-sample", "case-control"))
        object.__setattr__(self, "drivers", tuple(names_in("drivers", drivers)))
        object.__setattr__(self, "prior", known)
        object.__setattr__(self, "sampling", sampling)
        object.__setattr__(self, "surrogate", None if surrogate is None else surrogate_from(surrogate).value)
        object.__setattr__(self, "force", flag("force", force))

    def _said(self) -> dict[str, object]:
        held = self.propensity
        kept = held if held is None or isinstance(held, str) else not_kept(held)
        usual = PositiveUnlabeled()
        said = {item.name: getattr(self, item.name) for item in fields(self)}
        return {name: value for name, value in {**said, "propensity": kept}.items() if value != getattr(usual, name)}

    @property
    def beside(self) -> tuple[str, object] | None:  # type: ignore[override]
        """The propensities, if they are given."""
        return None if self.propensity is None else ("propensity", self.propensity)

    @property
    def assumption(self) -> str:
        """What is assumed."""
        if self.sampling == "case-control":
            return "The labeled rows are assumed to be a random sample of positives, collected apart from the others."
        if self.propensity is not None:
            return f"Only positives are labeled, each with the probability that {option('propensity')} gives."
        if self.drivers:
            return (
                f"Only positives are labeled, and how often is assumed to depend on {listed(self.drivers)} alone; "
                f"every test with the target is given {'that' if len(self.drivers) == 1 else 'these'} too."
            )
        return "Only positives are labeled, and every positive is assumed to have the same chance of a label."

    @property
    def answers(self) -> frozenset[Question]:
        """Tests and rankings always; other questions with a prior, if labeling depends on the class alone."""
        if self.propensity is not None:
            return EVERYTHING
        return with_prior(None if self.drivers else self.prior)

    def unlocked_by(self, question: Question) -> str:
        """Say that p(y=1) is needed, or how often positives are labeled."""
        if self.drivers:
            what = "information cannot be estimated" if question is Question.ESTIMATE else "power cannot be computed"
            plan = "; plan, before there are data, says what it assumes in its place"
            return (
                f"{what} where labeling depends on {listed(self.drivers)}: p(y=1) alone does not tell how often "
                f"positives are labeled at each of their values; tests and rankings need no more, and with "
                f"{option('propensity')} (that probability, for each row) the rest can be answered too"
                f"{plan if question is Question.POWER else ''}"
            )
        return needs_prior(question, self.prior)

    def invalid(self, surrogate: Surrogate) -> str:
        """Return why a surrogate is not valid."""
        return {
            Surrogate.FULL: "the class of unlabeled rows is not known",
            Surrogate.LISTWISE: "only one class is labeled",
            Surrogate.Y1: "no negative is labeled, so that it would have a single value",
        }.get(surrogate, "")

    def check(self, labels: Labels) -> None:
        """Refuse two labeled classes, no unlabeled row, and an impossible prior."""
        negatives = int(labels.counts[0]) if labels.is_binary else 0
        if not labels.n_unlabeled:
            raise LabelError(
                f"no row is unlabeled, but {option(labels='pu')} needs some; use {option(labels='supervised')}"
            )
        if not labels.is_binary or negatives:
            raise LabelError(
                f"{option(labels='pu')} is for one labeled class, but {negatives} rows are labeled "
                f"{labels.classes[0]!r}; if "
                f"these are known negatives use {option(labels=('mcar', 'mar-f', 'mar-c'))}, if they are "
                f"unlabeled pass "
                f"unlabeled_marker={labels.classes[0]!r}; if there are more classes, of which some have no label, name "
                f"the one that you ask about with {option('positive')}"
            )
        self.admissible(labels)

    def with_scores(self, labels: Labels, column: Column) -> Labels:
        """Return the labels with the weight of each row."""
        chance = numbers_of(column)
        if chance is None or not np.all((chance > 0.0) & (chance <= 1.0)):
            raise LabelError(f"{option('propensity')} must hold probabilities above 0, up to 1, one for each row")
        scores = weighted_scores(labels.labeled, chance)
        if scores.positives > 1.0 - 1e-6:
            raise LabelError(
                "with these propensities there would be more positives than rows: they are too small for so many labels"
            )
        _warn_of_extremes(1.0 / chance[labels.labeled])
        return replace(labels, scores=scores)

    def choose(self, labels: Labels) -> Choice:
        """Return Ỹ0, the only possible surrogate, or weighted rows."""
        if labels.scores is not None:
            why = "how often each positive is labeled is known"
            return Choice(Surrogate.WEIGHTED, why, kappas={Surrogate.WEIGHTED: labels.scores.kappa()})
        reason = "it is the only valid choice where only positives are labeled"
        prior = self.admissible(labels)
        kappas = {}
        if prior is not None:
            kappas = {Surrogate.Y0: float(self._kappa_at(labels, Surrogate.Y0, np.array([prior.mean]))[0])}
        return Choice(Surrogate.Y0, reason, kappas=kappas)

    def estimate(
        self, counts: ArrayLike, labels: Labels, *, estimator: str = "auto", loss: Loss = "log"
    ) -> InformationEstimate:
        """Return the estimate Pos, methods (4.7), from label tables of shape (..., strata, 3, levels of x)."""
        one_of(ESTIMATOR, estimator, ("auto", "pos"))
        if self.propensity is not None:
            raise NotAnswerableError("information with propensities is estimated from rows, not from counts")
        prior = self.known_prior(labels, Question.ESTIMATE)
        return averaged_over_priors(lambda p: pos_information(counts, p, sampling=self.sampling, loss=loss), prior)

    def _kappa_at(self, labels: Labels, surrogate: Surrogate, prior: Floats) -> Floats:
        _, a = labels.shares
        if self.sampling == "case-control":
            return kappa_case_control(a, prior)
        return super()._kappa_at(labels, Surrogate.Y0, prior)  # Ỹm is the same variable (errata B7)


def _warn_of_extremes(weights: Floats) -> None:
    """Warn if a few labeled rows have most of the weight."""
    worth = float(weights.sum() ** 2 / (weights**2).sum())
    if worth < 0.5 * len(weights):
        warn(
            f"propensities are as small as {1.0 / weights.max():.3g} among labeled rows, so that few rows have most of "
            f"the weight: the {len(weights):,} labeled rows are worth {worth:,.0f} of equal weight. Tests stay valid, "
            f"but have little power, and intervals are wide",
            RegimeWarning,
        )
