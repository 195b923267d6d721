"""`SemiSupervised`: rows of both classes are labeled, and some rows are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from blankets.arguments import flag, names_in, one_of
from blankets.errors import LabelError, NotAnswerableError, ParameterError, guarded, listed
from blankets.records import named
from blankets.regimes._contract import Choice, Question, Regime
from blankets.regimes._kappa import prefer_y0_below
from blankets.regimes._knowledge import ESTIMATOR, EVERYTHING, averaged_over_priors, needs_prior, with_prior
from blankets.regimes._labels import Labels
from blankets.regimes._prior import Exact, Prior, prior_from
from blankets.regimes._surrogates import Surrogate, collapse, surrogate_from
from blankets.stats import (
    InformationEstimate,
    Loss,
    mar_f_information,
    mcar_information,
    neg_information,
    plug_in,
    pos_information,
    ss_information,
)
from blankets.voice import option

Mechanism = Literal["mcar", "mar-f", "mar-c"]
MECHANISMS = ("mcar", "mar-f", "mar-c")
MNAR = (
    "labels missing depending on the class and on features at once (MNAR) cannot be handled: no surrogate has a known "
    "level and no estimator is consistent, whatever the number of rows; it helps to know what drives labeling: if it "
    "is the class alone use 'mar-c' (or 'pu'), if it is recorded features alone use 'mar-f'"
)


@guarded
@named
@dataclass(frozen=True, init=False)
class SemiSupervised(Regime):
    """Rows of both classes are labeled, and some rows are not.

    Parameters
    ----------
    mechanism : {"mcar", "mar-f", "mar-c"}
        What labeling depends on: nothing; only the tested feature and the conditioning columns; only the class.
    prior : Prior, float, (low, high), str, distribution or None
        What is known about p(y=1). Under "mcar" it follows from the labeled rows, under "mar-f" it is not needed.
    surrogate : {"listwise", "ym", "y0", "y1", "pairwise"}, optional
        What replaces the target; by default the most powerful valid surrogate. "pairwise" deletion has no guaranteed
        level; use it for comparison (it is the default of the algorithm "bassum").
    force : bool
        Use a surrogate that is not valid; results say so.
    given_drivers : bool
        For "mar-f": first find the features on which labeling depends, from all rows. Every test with the target is
        given them, and every estimate weighs labeled rows by them, because only then these are a fair sample. Say
        False for "pc" and the "n-pc" algorithms, which orient edges by separating sets and may gain false members.
    drivers : sequence of str
        For "mar-f": the features on which labeling depends, if you know them. They are then not searched.

    Examples
    --------
    Positives are rare, but have half of the labels: unlabeled rows count as negatives.

    >>> import blankets as bl
    >>> table = {"cough": [n % 3 == 0 for n in range(100)], "ill": [1] * 10 + [0] * 10 + [None] * 80}
    >>> result = bl.test(table, "cough", "ill", labels=bl.SemiSupervised("mar-c", prior="<0.4"))
    >>> result.surrogate, result.why
    ('y0', 'p(y=1) is below 0.5, where counting unlabeled rows as negatives has more power')
    """

    mechanism: Mechanism
    prior: Prior | None
    surrogate: str | None
    force: bool
    given_drivers: bool
    drivers: tuple[str, ...]

    def __init__(
        self,
        mechanism: str,
        prior: object = None,
        *,
        surrogate: str | None = None,
        force: bool = False,
        given_drivers: bool = True,
        drivers: str | Sequence[str] = (),
    ) -> None:
        if one_of("mechanism", mechanism, (*MECHANISMS, "mnar")) == "mnar":
            raise NotAnswerableError(MNAR)
        object.__setattr__(self, "mechanism", mechanism)
        object.__setattr__(self, "prior", prior_from(prior))
        object.__setattr__(self, "surrogate", None if surrogate is None else surrogate_from(surrogate).value)
        object.__setattr__(self, "force", flag("force", force))
        object.__setattr__(self, "given_drivers", flag("given_drivers", given_drivers))
        object.__setattr__(self, "drivers", tuple(names_in("drivers", drivers)))
        if self.drivers and (mechanism != "mar-f" or not given_drivers):
            raise ParameterError(
                f"{option('drivers')} is for labels that depend on features, 'mar-f', with given_drivers=True"
            )

    @property
    def name(self) -> str:
        """The mechanism."""
        return self.mechanism

    @property
    def assumption(self) -> str:
        """What is assumed."""
        on = {
            "mcar": "nothing at all (MCAR)",
            "mar-f": f"{listed(self.drivers) if self.drivers else 'recorded features'} alone (MAR-F)",
            "mar-c": "its class alone (MAR-C)",
        }
        return f"Whether a row is labeled is assumed to depend on {on[self.mechanism]}."

    @property
    def answers(self) -> frozenset[Question]:
        """Everything under MCAR; no power under MAR-F; estimates and power under MAR-C with a prior."""
        if self.mechanism == "mcar":
            return EVERYTHING
        return EVERYTHING - {Question.POWER} if self.mechanism == "mar-f" else with_prior(self.prior)

    def unlocked_by(self, question: Question) -> str:
        """Return why a question cannot be answered and what would help."""
        if self.mechanism == "mar-f":
            return (
                "power cannot be computed when labeling depends on features (MAR-F): what the labeled rows keep of it "
                "depends on how labeling and the effect are spread over the levels of x; if labels were missing "
                "completely at random (mechanism='mcar') it would be the labeled share"
            )
        return needs_prior(question, self.prior)

    def invalid(self, surrogate: Surrogate) -> str:
        """Return why a surrogate is not valid."""
        if surrogate is Surrogate.FULL:
            return "the class of unlabeled rows is not known"
        if self.mechanism == "mar-f" and surrogate is not Surrogate.LISTWISE:
            return (
                "labeling depends on the features, so that being unlabeled is itself related to x even where the "
                "class is not"
            )
        return ""

    def check(self, labels: Labels) -> None:
        """Refuse one labeled class, no unlabeled row, and an impossible prior."""
        if not labels.n_unlabeled:
            raise LabelError(
                f"no row is unlabeled, but {option(labels=self.mechanism)} needs some; use "
                f"{option(labels='supervised')}"
            )
        if not labels.is_binary or labels.n_seen_classes < 2:
            raise LabelError(
                f"{option(labels=self.mechanism)} needs labeled rows of two classes, but there is one, "
                f"{labels.classes[-1]!r}; use {option(labels='pu')}"
            )
        self.admissible(labels)

    def admissible(self, labels: Labels) -> Prior | None:
        """Return what is known about p(y=1); under MCAR from the labeled rows."""
        if self.mechanism == "mcar" and self.prior is None:
            b, a = labels.shares
            return Exact(a / (a + b))
        return super().admissible(labels)

    def choose(self, labels: Labels) -> Choice:
        """Return the most powerful valid surrogate, by methods (3.7) under MAR-C."""
        if self.mechanism == "mar-f":
            return Choice(Surrogate.LISTWISE, "where labeling depends on features only labeled rows may be compared")
        prior = self.admissible(labels)
        kappas = {}
        if prior is not None:
            some = (Surrogate.LISTWISE, Surrogate.YM, Surrogate.Y0, Surrogate.Y1)
            kappas = {s: float(self._kappa_at(labels, s, np.array([prior.mean]))[0]) for s in some}
        if self.mechanism == "mcar":
            why = "when labels are missing completely at random, labeled rows lose the least power"
            return Choice(Surrogate.LISTWISE, why, kappas=kappas)
        return self._by_class(labels, prior, kappas)

    def _by_class(self, labels: Labels, prior: Prior | None, kappas: dict[Surrogate, float]) -> Choice:
        """Choose under MAR-C."""
        if prior is None:
            why = (
                "nothing is known about p(y=1), which decides whether unlabeled rows should count as negatives or as "
                "positives: a third class for them keeps at least as much of the effect as the better of the two, for "
                "twice the degrees of freedom"
            )
            return Choice(Surrogate.YM, why, settled=False)
        b, a = labels.shares
        threshold = prefer_y0_below(a, b)
        best = max((Surrogate.Y0, Surrogate.Y1, Surrogate.LISTWISE), key=kappas.__getitem__)
        if prior.is_exact and best is Surrogate.LISTWISE:
            why = (
                f"labeling is so even that labeled rows alone keep the most: each row of all counts {kappas[best]:.3g}"
            )
            return Choice(best, why, kappas=kappas)
        below = prior.decides(threshold)
        settled = below is not None
        if below is None:
            below = bool(prior.cdf(threshold) >= 0.5)
        chosen, side, counted = (
            (Surrogate.Y0, "below", "negatives") if below else (Surrogate.Y1, "at least", "positives")
        )
        doubt = "" if settled else "probably "
        why = f"p(y=1) is {doubt}{side} {threshold:.3g}, where counting unlabeled rows as {counted} has more power"
        return Choice(chosen, why, settled=settled, kappas=kappas)

    def estimate(
        self, counts: ArrayLike, labels: Labels, *, estimator: str = "auto", loss: Loss = "log"
    ) -> InformationEstimate:
        """Return the consistent estimate from label tables of shape (..., strata, 3, levels of x).

        ``estimator`` may be "listwise" under MCAR, and "pos", "neg", "ss" or "least-variance" (Pos or Neg,
        feature by feature: errata D6) under MAR-C; "auto" takes Pos or Neg by methods (3.7).
        """
        if self.mechanism == "mcar":
            one_of(ESTIMATOR, estimator, ("auto", "mcar", "listwise"))
            if estimator == "listwise" or loss == "squared":
                return plug_in(collapse(counts, Surrogate.LISTWISE), loss=loss)
            return mcar_information(counts)
        if self.mechanism == "mar-f":
            one_of(ESTIMATOR, estimator, ("auto", "mar-f"))
            return mar_f_information(counts, loss=loss)
        return self._estimate_by_class(counts, labels, estimator, loss)

    def _estimate_by_class(self, counts: ArrayLike, labels: Labels, estimator: str, loss: Loss) -> InformationEstimate:
        one_of(ESTIMATOR, estimator, ("auto", "pos", "neg", "ss", "least-variance"))
        prior = self.known_prior(labels, Question.ESTIMATE)
        if estimator == "ss":
            if loss != "log":
                raise ParameterError(f"estimator 'ss' is defined for {option(loss='log')} only; take 'pos' or 'neg'")
            return averaged_over_priors(lambda p: ss_information(counts, p), prior)
        pos = averaged_over_priors(lambda p: pos_information(counts, p, loss=loss), prior)
        neg = averaged_over_priors(lambda p: neg_information(counts, p, loss=loss), prior, of_negatives=True)
        if estimator == "least-variance":
            names = ("value", "variance", "statistic", "dof", "scale", "repaired", "contradicts_prior", "law_variance")
            first = ~(neg.variance < pos.variance)
            mixed = {name: np.where(first, getattr(pos, name), getattr(neg, name)) for name in names}
            curve = np.where(np.asarray(first)[..., np.newaxis, np.newaxis], pos.curve, neg.curve)
            return replace(pos, **mixed, curve=curve, estimator="Pos or Neg, by least variance")
        b, a = labels.shares
        below = prior.mean < prefer_y0_below(a, b)
        return pos if estimator == "pos" or (estimator == "auto" and below) else neg
