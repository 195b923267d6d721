"""`Noisy`: labels that may be wrong, with known rates of errors (methods, section 14)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets.arguments import flag, one_of
from blankets.errors import LabelError, ParameterError, guarded
from blankets.records import named
from blankets.regimes._channel import Channel, slope_of_score
from blankets.regimes._contract import Choice, Floats, Kappa, Question, Regime
from blankets.regimes._kappa import IMPOSSIBLE, StratifiedKappa, stratified_kappa
from blankets.regimes._knowledge import ESTIMATOR, EVERYTHING, averaged, needs_prior, two_points, with_prior
from blankets.regimes._labels import Labels
from blankets.regimes._prior import Exact, Prior, prior_from
from blankets.regimes._surrogates import Surrogate, surrogate_from
from blankets.stats import UNLABELED, InformationEstimate, Loss, as_tables, divided, scored_information
from blankets.voice import option

Missing = Literal["mcar", "mar-c"]

_SHORT = 1e-9  # p(y=1) is kept this far from 0 and 1
BY_RATES = "labels with errors, by their rates"
_GRID = (np.arange(1000) + 0.5) / 1000.0
_TAIL = 0.005  # rates of errors beyond these quantiles are not believed


@named
@dataclass(frozen=True, slots=True)
class Never:
    """A rate of 0."""

    support = (0.0, 0.0)
    mean = 0.0
    is_exact = True
    is_soft = False

    def ppf(self, probability: ArrayLike) -> Floats:
        """Return 0."""
        return np.zeros(np.shape(probability))

    def __str__(self) -> str:
        return "0"

    def _said(self) -> float:
        return 0.0


Rate = Prior | Never


@guarded
@named
@dataclass(frozen=True, init=False)
class Noisy(Regime):
    """Labels that may be wrong; errors depend on the class alone.

    Parameters
    ----------
    false_positive : float, (low, high), str or distribution
        P(label 1 | y = 0): how often a negative is labeled as positive. A number, a range, ``"<0.1"``, a `Beta`.
    false_negative : float, (low, high), str or distribution
        P(label 0 | y = 1): how often a positive is labeled as negative.
    missing : {"mcar", "mar-c"}, optional
        Why some rows have no label at all: by chance, or depending on the class. Default: every row has one.
    prior : Prior, float, (low, high), str, distribution or None
        What is known about p(y=1), for ``missing="mar-c"`` and for `plan`; otherwise it follows from the labels and
        the two rates.
    surrogate : str, optional
        What replaces the target if labels are missing; by default the most powerful valid surrogate.
    force : bool
        Use a surrogate that is not valid; results say so.

    Notes
    -----
    A test with such labels has the right level, whatever the rates, as long as errors do not depend on features given
    the class. The rates tell what it costs (κ), and give back the information about the true class.

    Examples
    --------
    A fifth of the rows is positive, and a tenth of the labels is wrong: then a row counts as about half a row.

    >>> import blankets as bl
    >>> round(bl.kappa(labels=bl.Noisy(0.1, 0.1, prior=0.2)), 4)
    0.5322
    """

    name: ClassVar[str] = "noisy"
    false_positive: Rate
    false_negative: Rate
    missing: Missing | None
    prior: Prior | None
    surrogate: str | None
    force: bool

    def __init__(
        self,
        false_positive: object,
        false_negative: object,
        *,
        missing: str | None = None,
        prior: object = None,
        surrogate: str | None = None,
        force: bool = False,
    ) -> None:
        rates = {"false_positive": _rate(false_positive), "false_negative": _rate(false_negative)}
        least = [float(rate.ppf(_TAIL)) for rate in rates.values()]
        if rates["false_positive"].mean + rates["false_negative"].mean >= 1.0 or sum(least) >= 1.0:
            raise ParameterError(
                f"{option('false_positive')} is {rates['false_positive']} and {option('false_negative')} is "
                f"{rates['false_negative']}: with "
                f"a sum of 1 labels tell nothing about the class, with more they point to the other one; correct the "
                f"rates, or exchange the classes with {option('positive')}"
            )
        if missing is not None:
            one_of("missing", missing, ("mcar", "mar-c"))
        known = prior_from(prior)
        chosen = None if surrogate is None else surrogate_from(surrogate).value
        values = {**rates, "missing": missing, "prior": known, "surrogate": chosen, "force": flag("force", force)}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def assumption(self) -> str:
        """What is assumed."""
        gone = {
            None: "",
            "mcar": " Whether a row is labeled is assumed to depend on nothing at all (MCAR).",
            "mar-c": " Whether a row is labeled is assumed to depend on its class alone (MAR-C).",
        }
        return (
            f"Labels may be wrong: of the negatives a share of {self.false_positive} is labeled positive, of the "
            f"positives a share of {self.false_negative} negative, and errors are assumed not to depend on features "
            f"within a class.{gone[self.missing]}"
        )

    @property
    def answers(self) -> frozenset[Question]:
        """Everything; estimates if the rates are more than bounds, and p(y=1) is known under MAR-C."""
        open_ = frozenset({Question.ESTIMATE}) if self._is_bound else frozenset()
        return (with_prior(self.prior) if self.missing == "mar-c" else EVERYTHING) - open_

    def unlocked_by(self, question: Question) -> str:
        """Return why a question cannot be answered and what would help."""
        if self._is_bound and question is Question.ESTIMATE:
            return (
                f"information cannot be estimated from bounds of the rates of errors ({self.false_positive}, "
                f"{self.false_negative}): give numbers, ranges such as (0.05, 0.15), or distributions"
            )
        return needs_prior(question, self.prior)

    def invalid(self, surrogate: Surrogate) -> str:
        """Return why a surrogate is not valid."""
        if self.missing is None:
            return "" if surrogate is Surrogate.FULL else "no label is missing, so nothing has to stand in for it"
        return "the class of unlabeled rows is not known" if surrogate is Surrogate.FULL else ""

    def check(self, labels: Labels) -> None:
        """Refuse labels that contradict the channel, and missing ones without a reason."""
        if self.prior is not None and self.missing != "mar-c":
            raise LabelError(
                f"p(y=1) follows from the labels and the rates of errors; leave out {option('prior')}, which is for "
                f"{option(missing='mar-c')} and for plan"
            )
        if labels.n_unlabeled and self.missing is None:
            raise LabelError(
                f"{labels.n_unlabeled} of {len(labels)} rows are unlabeled: say why, with Noisy(..., "
                f"{option(missing='mcar')}) "
                f"or {option(missing='mar-c')}; or leave these rows out"
            )
        if not labels.n_unlabeled and self.missing is not None:
            raise LabelError(f"no row is unlabeled, but {option(missing=self.missing)} says so; leave it out")
        if not labels.is_binary or labels.n_seen_classes < 2:
            raise LabelError("labels that may be wrong need rows of two classes; there is one, or there are more")
        self._check_share(labels)
        self.admissible(labels)

    def _check_share(self, labels: Labels) -> None:
        """Refuse rates of errors under which the labels would be too unlikely."""
        from scipy.special import bdtr  # late: loading it takes a third of the time of a short command

        n, positives = labels.n_labeled, int(labels.counts[1])
        low, high = float(self.false_positive.ppf(_TAIL)), 1.0 - float(self.false_negative.ppf(_TAIL))
        if bdtr(positives, n, low) < IMPOSSIBLE or bdtr(n - positives, n, 1.0 - high) < IMPOSSIBLE:
            raise LabelError(
                f"{positives:,} of {n:,} labels are positive ({positives / n:.4g}), but with the given rates of errors "
                f"it would be between {low:.4g} and {high:.4g}, whatever p(y=1): correct {option('false_positive')} or "
                f"{option('false_negative')}"
            )

    def admissible(self, labels: Labels) -> Prior | None:
        """Return what is known about p(y=1); it follows from the labels, unless these are missing by class."""
        b, a = labels.shares
        positives, negatives = _labeled_of_class(a, b, self.false_positive.mean, self.false_negative.mean)
        if self.missing == "mar-c":
            return None if self.prior is None else self.prior.within(max(positives, 0.0), 1.0 - max(negatives, 0.0))
        return Exact(float(np.clip(positives / (a + b), _SHORT, 1.0 - _SHORT)))

    def choose(self, labels: Labels) -> Choice:
        """Return the labels as they are, or the most powerful surrogate if some are missing."""
        prior = self.admissible(labels)
        some = (Surrogate.LISTWISE, Surrogate.YM, Surrogate.Y0, Surrogate.Y1) if self.missing else (Surrogate.FULL,)
        kappas: dict[Surrogate, float] = {}
        if prior is not None:
            kappas = {s: float(self._kappa_at(labels, s, np.array([prior.mean]))[0]) for s in some}
        if self.missing is None:
            why = "every row has a label, and wrong ones do not depend on features within a class"
            return Choice(Surrogate.FULL, why, kappas=kappas)
        if self.missing == "mcar":
            why = "when labels are missing completely at random, labeled rows lose the least power"
            return Choice(Surrogate.LISTWISE, why, kappas=kappas)
        if not kappas:
            why = "nothing is known about p(y=1), and a third class for unlabeled rows keeps all that labels tell"
            return Choice(Surrogate.YM, why, settled=False)
        best = max((Surrogate.Y0, Surrogate.Y1, Surrogate.LISTWISE), key=kappas.__getitem__)
        why = f"it keeps the most of the effect: each row counts as much as {kappas[best]:.3g} rows with right labels"
        return Choice(best, why, kappas=kappas)

    def kappa(self, labels: Labels, surrogate: str | Surrogate | None = None) -> Kappa:
        """Return κ of the surrogate; its range is over the rates of errors, and over p(y=1) if that is not known."""
        self.known_prior(labels, Question.POWER)
        wanted = self.choose(labels).surrogate if surrogate is None else surrogate_from(surrogate)
        found = []
        for rho0, rho1 in product(*(rate.ppf([0.025, 0.975]) for rate in (self.false_positive, self.false_negative))):
            for p in self._priors(labels, rho0, rho1):
                found.append(float(self._channel(labels.shares, p, rho0, rho1).kappa(wanted, p)))
        prior = self.known_prior(labels, Question.POWER).mean
        value = float(self._kappa_at(labels, wanted, np.array([prior]))[0])
        return Kappa(value, min(value, *found), max(value, *found), wanted)

    def stratified_kappa(
        self, counts: ArrayLike, labels: Labels, surrogate: str | Surrogate | None = None
    ) -> StratifiedKappa:
        """Return κ of conditional tests from their label tables (errata B4), at the expected rates and prior."""
        p = self.known_prior(labels, Question.POWER).mean
        wanted = self.choose(labels).surrogate if surrogate is None else surrogate_from(surrogate)
        channel = self._channel(labels.shares, p, self.false_positive.mean, self.false_negative.mean)
        return stratified_kappa(_three(counts), wanted, p, channel=channel)

    def estimate(
        self, counts: ArrayLike, labels: Labels, *, estimator: str = "auto", loss: Loss = "log"
    ) -> InformationEstimate:
        """Return the estimate of the true class by inverting the channel, methods (14.3).

        ``counts``, of shape (..., strata, 2 or 3, levels of x): negative, positive, and unlabeled if some labels are.
        """
        one_of(ESTIMATOR, estimator, ("auto", "channel"))
        prior = self.known_prior(labels, Question.ESTIMATE)
        tables = _three(counts)
        if self.missing != "mar-c":  # labeled rows are a fair sample
            tables = np.where(np.arange(3)[:, np.newaxis] < UNLABELED, tables, 0.0)

        def at(rho0: float, rho1: float, p: float | None = None) -> InformationEstimate:
            return _inverted(tables, rho0, rho1, p, loss)

        known = [self.false_positive, self.false_negative, *([prior] if self.missing == "mar-c" else [])]
        return averaged(at, list(_nodes(known)))

    @property
    def _is_bound(self) -> bool:
        return self.false_positive.is_soft or self.false_negative.is_soft

    def _priors(self, labels: Labels, rho0: float, rho1: float) -> list[float]:
        """Return values of p(y=1) to try with these rates of errors."""
        if self.missing == "mar-c":
            low, high = self.known_prior(labels, Question.POWER).support
            return [float(p) for p in np.linspace(low, high, 21)[1:-1]] if high > low else [low]
        b, a = labels.shares
        positives, _ = _labeled_of_class(a, b, rho0, rho1)
        return [float(np.clip(positives / (a + b), _SHORT, 1.0 - _SHORT))]

    def _kappa_at(self, labels: Labels, surrogate: Surrogate, prior: Floats) -> Floats:
        channel = self._channel(labels.shares, prior, self.false_positive.mean, self.false_negative.mean)
        return channel.kappa(surrogate, prior)

    def _channel(self, shares: tuple[float, float], prior: ArrayLike, rho0: float, rho1: float) -> Channel:
        """Return the channel; ``shares``: labeled negatives and labeled positives."""
        b, a = shares
        if self.missing != "mar-c":
            return Channel.noisy(rho0, rho1, positives=a + b, negatives=a + b)
        p = np.asarray(prior, float)
        positives, negatives = _labeled_of_class(a, b, rho0, rho1)
        seen = np.clip(positives / p, 0.0, 1.0), np.clip(negatives / (1.0 - p), 0.0, 1.0)
        return Channel.noisy(rho0, rho1, positives=seen[0], negatives=seen[1])


def _inverted(tables: Floats, rho0: float, rho1: float, prior: float | None, loss: Loss) -> InformationEstimate:
    """Return the estimate at known rates; ``prior``: p(y=1) if labels are missing by class, otherwise None."""
    if prior is None:
        score = [(label - rho0) / (1.0 - rho0 - rho1) for label in (0.0, 1.0)]
        return scored_information(tables, [*score, 0.0], loss=loss, estimator=BY_RATES)

    def score_at(shares: NDArray[Any]) -> NDArray[Any]:
        positives, negatives = _labeled_of_class(shares[..., 1], shares[..., 0], rho0, rho1)
        channel = Channel.noisy(rho0, rho1, positives=positives / prior, negatives=negatives / (1.0 - prior))
        return channel.score(Surrogate.YM, np.full(positives.shape, prior))

    rows = tables.sum(axis=(-3, -1))
    shares = divided(rows, rows.sum(axis=-1, keepdims=True))
    slope = slope_of_score(score_at, shares)
    return scored_information(tables, score_at(shares), slope, loss=loss, estimator=BY_RATES)


def _labeled_of_class(positives: Any, negatives: Any, rho0: float, rho1: float) -> tuple[Any, Any]:
    """Return the shares of labeled rows that are truly positive and truly negative."""
    total = 1.0 - rho0 - rho1
    return (
        (positives * (1.0 - rho0) - negatives * rho0) / total,
        (negatives * (1.0 - rho1) - positives * rho1) / total,
    )


def _nodes(known: list[Rate]) -> Iterator[tuple[float, tuple[float, ...]]]:
    """Yield the weight and the values at which an estimate is averaged: first the expected ones, with weight 0."""
    yield 0.0, tuple(rate.mean for rate in known)
    each = [two_points(np.array([rate.mean]) if rate.is_exact else rate.ppf(_GRID)) for rate in known]
    for chosen in product(*(list(zip(*points, strict=True)) for points in each)):
        yield float(np.prod([weight for _, weight in chosen])), tuple(float(value) for value, _ in chosen)


def _three(counts: ArrayLike) -> Floats:
    """Return label tables; without unlabeled rows these have two classes."""
    tables = as_tables(counts)
    if tables.shape[-2] == 2:
        tables = np.concatenate([tables, np.zeros_like(tables[..., :1, :])], axis=-2)
    return tables


def _rate(value: object) -> Rate:
    """Return what is known of a rate of errors; 0 is allowed."""
    if isinstance(value, Never) or (isinstance(value, int | float) and not isinstance(value, bool) and value == 0):
        return Never()
    try:
        found = prior_from(value)
    except ParameterError:
        found = None
    if found is None:
        raise ParameterError.out_of_range(
            "rate of errors", value, "a share such as 0.1 or 0, a range (low, high), '<0.1' or a Beta"
        )
    return found
