"""What a regime answers: which surrogates are valid, which to use, what it costs, and what cannot be known."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets.data import Column
from blankets.errors import LabelError, NotAnswerableError, ParameterError, guarded
from blankets.regimes._kappa import StratifiedKappa, kappa_of, least_share, stratified_kappa
from blankets.regimes._labels import Labels
from blankets.regimes._prior import Exact, Prior
from blankets.regimes._surrogates import Surrogate, SurrogateColumn, surrogate_column, surrogate_from
from blankets.stats import InformationEstimate, Loss, Sampling, attained_power, noncentrality
from blankets.voice import option

Floats = NDArray[np.float64]


_OWN = (Surrogate.PAIRWISE, Surrogate.PREDICTED, Surrogate.WEIGHTED)  # baselines, and what one regime alone has


class Question(StrEnum):
    """What a user may ask about features and a target."""

    TEST = "test"
    RANK = "rank"
    ESTIMATE = "estimate"
    POWER = "power"


@dataclass(frozen=True, slots=True)
class Kappa:
    """κ: with a surrogate, each row counts as much as κ rows with full labels; a range if the prior is uncertain."""

    value: float  # κ at the expected prior
    # low, high: its range over all possible priors
    low: float
    high: float
    surrogate: Surrogate  # the surrogate it belongs to
    form: str = "unconditional"  # what was assumed to compute it


@dataclass(frozen=True, slots=True)
class Choice:
    """The surrogate that a regime chooses, and why."""

    surrogate: Surrogate  # the surrogate to use
    reason: str  # why, in a sentence
    settled: bool = True  # false if what is known about p(y=1) does not decide between the candidates
    # κ of the candidates at the expected prior; empty if it is not known
    kappas: Mapping[Surrogate, float] = field(default_factory=dict)

    def powers(self, *, effect: float, n_rows: int, dof: int, alpha: float) -> dict[Surrogate, float]:
        """Return the power of the test with each candidate, for an effect in nats on the true target.

        ``dof``: degrees of freedom of the test with full labels; Ỹm has twice as many (errata B14).
        """
        return {
            surrogate: float(
                attained_power(
                    noncentrality(effect, n_rows, kappa), dof * (2 if surrogate is Surrogate.YM else 1), alpha
                )
            )
            for surrogate, kappa in self.kappas.items()
        }


@guarded
class Regime(ABC):
    """Why labels are missing, and what follows from it."""

    prior: Prior | None = None  # what is known about p(y=1)
    sampling: Sampling = "one-sample"  # how the labeled rows were collected
    # what replaces the target, if the user chose it; None: the most powerful valid surrogate
    surrogate: str | None = None
    force: bool = False  # whether to use a surrogate even if it is not valid; results say so
    # whether tests with the target condition on the features that drive labeling, if labels depend on features
    given_drivers: bool = True
    drivers: tuple[str, ...] = ()  # columns that decide how often a positive is labeled, as the user knows
    # the option and the value that is a column beside the table, or its name; None: labels are all that is needed
    beside: tuple[str, object] | None = None
    plain: bool = False  # whether the target is known, and right, in every row

    @property
    @abstractmethod
    def name(self) -> str:
        """The name as the user writes it, for example "pu"."""

    @property
    @abstractmethod
    def assumption(self) -> str:
        """What is assumed about the missing labels, in a sentence."""

    @property
    @abstractmethod
    def answers(self) -> frozenset[Question]:
        """The questions that can be answered with what is known."""

    def unlocked_by(self, question: Question) -> str:
        """Return why a question cannot be answered and what knowledge would make it possible; "" where all can be."""
        return ""

    @abstractmethod
    def invalid(self, surrogate: Surrogate) -> str:
        """Return why a test with a surrogate would not have the right level, or "" if it has."""

    @abstractmethod
    def check(self, labels: Labels) -> None:
        """Raise LabelError if the labels contradict the regime or its prior."""

    @abstractmethod
    def choose(self, labels: Labels) -> Choice:
        """Return the most powerful valid surrogate, as far as it follows from what is known of p(y=1)."""

    @abstractmethod
    def estimate(
        self, counts: ArrayLike, labels: Labels, *, estimator: str = "auto", loss: Loss = "log"
    ) -> InformationEstimate:
        """Return the consistent estimate of I(X;Y|Z) from label tables of shape (..., strata, 3, levels of x)."""

    @property
    def valid(self) -> tuple[Surrogate, ...]:
        """The surrogates with which a test has the right level."""
        return tuple(s for s in Surrogate if s not in _OWN and not self.invalid(s))

    def require(self, question: Question) -> None:
        """Raise NotAnswerableError if the question cannot be answered; the error says what would help."""
        if question not in self.answers:
            raise NotAnswerableError(self.unlocked_by(question))

    def stand_in(self, labels: Labels, *, usual: str | None = None) -> SurrogateColumn:
        """Return the column to count in place of the target.

        ``labels``: the labels. ``usual``: the surrogate that an algorithm prefers, used if labels are missing and
        the user did not choose one.
        """
        self.check(labels)
        choice = self.surrogate if self.surrogate is not None or not labels.n_unlabeled else usual
        if choice is None or self.beside is not None:  # what is known of each row leaves no choice
            chosen = self.choose(labels)
            return surrogate_column(labels, chosen.surrogate, note=chosen.reason)
        wanted = surrogate_from(choice)
        if wanted in (Surrogate.PREDICTED, Surrogate.WEIGHTED):
            raise ParameterError(
                f"{option(surrogate=wanted.value)} belongs to labels=bl.Predicted(...) or {option('propensity')}"
            )
        if wanted in (Surrogate.LISTWISE, Surrogate.PAIRWISE) and labels.n_seen_classes < 2:
            raise LabelError("only one class is labeled, so among the labeled rows there is nothing to compare")
        why = self.invalid(wanted)
        if why and not self.force:
            valid = " or ".join(repr(s.value) for s in self.valid)
            raise LabelError(
                f"a test that {wanted.words} is not valid here: {why}; use {valid}, or add force=True to "
                f"use it anyway; the result is then marked"
            )
        if wanted is Surrogate.PAIRWISE:
            why = why or "the statistic of pairwise deletion is not chi-square in general; it is a baseline"
        return surrogate_column(labels, wanted, forced=bool(why), note=why or "it was asked for")

    def admissible(self, labels: Labels) -> Prior | None:
        """Return what is known about p(y=1), given also the shares of labeled rows.

        Raises
        ------
        LabelError
            If so many rows of a class are labeled that chance cannot explain it with the given p(y=1).
        """
        if labels.scores is not None:
            return Exact(labels.scores.positives)
        if self.prior is None or self.sampling == "case-control":
            return self.prior
        b, a = labels.shares
        if self.prior_is_short(labels):
            negatives, positives = labels.counts.tolist()
            return self.prior.within(least_share(positives, len(labels)), 1.0 - least_share(negatives, len(labels)))
        return self.prior.within(a, 1.0 - b)

    def prior_is_short(self, labels: Labels) -> str:
        """Say which class has more labeled rows than p(y=1) allows, if chance can explain it; "" if there is none.

        In the population p(y=1) bounds the share of labeled positives: p(y=1,s=1) <= p(y=1). If nearly all
        positives are labeled, their share is above p(y=1) in about half of all samples.
        """
        if self.prior is None or self.sampling == "case-control":
            return ""
        b, a = labels.shares
        n, (negatives, positives) = len(labels), labels.counts.tolist()
        if self.prior.meets(a, 1.0 - b):
            return ""
        if not self.prior.meets(least_share(positives, n), 1.0 - least_share(negatives, n)):
            return ""
        which, share = ("positives", a) if self.prior.cdf(a) >= 0.5 else ("negatives", b)
        return f"{share:.4g} of the rows are labeled {which}"

    def known_prior(self, labels: Labels, question: Question) -> Prior:
        """Return the admissible prior for a question that needs a prior, or raise NotAnswerableError."""
        prior = self.admissible(labels)
        if prior is None or question not in self.answers:
            raise NotAnswerableError(self.unlocked_by(question))
        return prior

    def kappa(self, labels: Labels, surrogate: str | Surrogate | None = None) -> Kappa:
        """Return κ of the surrogate (default: the chosen one).

        Raises
        ------
        NotAnswerableError
            If κ is not known; the error says what would help.
        """
        if labels.scores is not None:
            value = labels.scores.kappa()
            return Kappa(value, value, value, self.choose(labels).surrogate)
        prior = self.known_prior(labels, Question.POWER)
        wanted = self.choose(labels).surrogate if surrogate is None else surrogate_from(surrogate)
        low, high = prior.support
        at = np.linspace(low, high, 201)[1:-1] if high > low else np.array([low])
        values = self._kappa_at(labels, wanted, at)
        value = float(self._kappa_at(labels, wanted, np.array([prior.mean]))[0])
        return Kappa(value, float(min(values.min(), value)), float(max(values.max(), value)), wanted)

    def stratified_kappa(
        self, counts: ArrayLike, labels: Labels, surrogate: str | Surrogate | None = None
    ) -> StratifiedKappa:
        """Return κ of conditional tests from their label tables (errata B4), at the expected prior."""
        if labels.scores is not None:
            raise NotAnswerableError(
                "how much a row counts (κ) in a conditional test is not known for these labels; κ without a "
                "conditioning set is a guide"
            )
        prior = self.known_prior(labels, Question.POWER)
        wanted = self.choose(labels).surrogate if surrogate is None else surrogate_from(surrogate)
        return stratified_kappa(counts, wanted, prior.mean, sampling=self.sampling)

    def with_scores(self, labels: Labels, column: Column) -> Labels:
        """Return the labels with what a column beside them tells of each row."""
        return labels

    def describe(self, labels: Labels) -> str:
        """Return sentences on what the labels look like and what is assumed."""
        known = "" if self.prior is None else f" The share of positives, p(y=1), is assumed to be {self.prior}."
        if more := self.prior_is_short(labels):
            known += f" That {more} can be chance."
        return f"{labels.saw}. {self.assumption}{known}"

    def _kappa_at(self, labels: Labels, surrogate: Surrogate, prior: Floats) -> Floats:
        b, a = labels.shares  # the shares cannot exceed p(y=1) and 1 - p(y=1), also if they do in the sample
        kappa = kappa_of(surrogate, prior, positives=np.minimum(a, prior), negatives=np.minimum(b, 1.0 - prior))
        return np.asarray(np.minimum(kappa, 1.0))  # where every row of a class is labeled, rounding may pass 1
