"""`advise`: which test, which estimator, what cannot be known, and what more labels would gain.

The guidance of Sechidis (2015), Table 10.1, as a statement about the user's own data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import median_low
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from blankets.arguments import number
from blankets.data import ReadingOptions
from blankets.errors import DataError, NotAnswerableError
from blankets.planning import FEW_LABELS, ROWS_PER_DOF, plan
from blankets.questions._question import question
from blankets.regimes import (
    Channel,
    Noisy,
    PositiveUnlabeled,
    Predicted,
    Prior,
    Question,
    Regime,
    SemiSupervised,
    Surrogate,
    prefer_y0_below,
)
from blankets.results import Advice, Goal, joined
from blankets.stats import EFFECT_SIZES, attained_power, detectable_effect, noncentrality
from blankets.study import Engine, Seed, Study, open_study, scored_estimate
from blankets.voice import entry, option

WANTED = (0.8, 0.95)

_MANY = 100_000  # rows with a machine's label for each gold one: more change nothing
_POSITIVES, _NEGATIVES, _ROWS = "labeled positives", "labeled negatives", "labeled rows"


@question
def advise(
    data: Any,
    target: str | int | None = None,
    *,
    y: ArrayLike | None = None,
    alpha: float = 0.01,
    assurance: float = 0.9,
    n_draws: int = 2000,
    labels: Regime | str = "auto",
    prior: object = None,
    engine: Engine | str = "auto",
    n_jobs: int | None = None,
    rng: Seed = None,
    **reading: Unpack[ReadingOptions],
) -> Advice:
    """Say what can be done with these labels: which test and estimator, the power, and the gain of more labels.

    Parameters
    ----------
    assurance : float
        With an uncertain p(y=1): the probability with which the numbers of labels and rows must be enough.
    n_draws : int
        Number of draws from an uncertain p(y=1).

    Returns
    -------
    Advice
        The power is for a typical feature: one with the median number of levels, tested without
        conditioning. Use `plan` for any other.

    See Also
    --------
    plan : Power and sample size in general, also before there are data.
    estimate_prior : Estimate an unknown p(y=1) from positives and unlabeled rows.

    References
    ----------
    Sechidis (2015), Hypothesis testing and feature selection in semi-supervised data, Table 10.1.

    Examples
    --------
    >>> import numpy as np
    >>> import blankets as bl
    >>> rng = np.random.default_rng(0)
    >>> smoker = rng.random(3000) < 0.2
    >>> cough = rng.random(3000) < np.where(smoker, 0.6, 0.2)
    >>> admits = np.where(smoker & (rng.random(3000) < 0.1), 1.0, np.nan)  # a tenth of the smokers say so
    >>> advice = bl.advise({"cough": cough, "smoker": admits}, "smoker", labels="pu", prior=0.2)
    >>> advice.surrogate, advice.estimator, round(advice.powers["medium"], 2)
    ('y0', 'Pos (labeled positives with the prior)', 0.95)
    >>> advice.goal("small", 0.8).more_labels
    {'labeled positives': 218}
    """
    number("alpha", alpha, f"between 0 and {min(WANTED)}, both excluded", above=0, below=min(WANTED))
    with open_study(
        data, target, y, reading=reading, labels=labels, prior=prior, engine=engine, n_jobs=n_jobs, asks=True
    ) as study:
        if not study.features:
            raise DataError(f"no feature is left beside the target {study.target_name!r}")
        drawing = _Drawing(assurance, n_draws, 0 if rng is None else rng)
        return replace(_Adviser(study, alpha, drawing).advice(), call=study.mark)


@dataclass(frozen=True, slots=True)
class _Drawing:
    """How plans are drawn from an uncertain p(y=1)."""

    assurance: float
    n_draws: int
    rng: Seed


class _Adviser:
    """Computes the parts of the advice."""

    def __init__(self, study: Study, alpha: float, drawing: _Drawing) -> None:
        self.study, self.alpha, self.drawing = study, alpha, drawing
        self.regime, self.labels = study.regime, study.labels
        self.column = study.regime.stand_in(study.labels)
        arities = study.arities[study.features]
        self.levels = int(median_low(arities.tolist()))
        self.dofs = (arities - 1) * (len(self.column.levels) - 1)
        self.dof = (self.levels - 1) * (len(self.column.levels) - 1)
        self.n_rows = study.n_rows

    def advice(self) -> Advice:
        regime, known = self.regime, self.regime.admissible(self.labels)
        power = self._power()
        goals, refused = self._goals() if power else ((), {})
        return Advice(
            target=self.study.target_name,
            saw=self.labels.saw,
            regime=regime.name,
            sampling=regime.sampling,
            assumption=regime.assumption,
            prior=None if regime.prior is None else str(known),
            n_rows=self.n_rows,
            n_labeled=self.labels.n_labeled,
            recommendations=self._recommendations(),
            surrogate=self.column.surrogate.value,
            valid=tuple(s.value for s in regime.valid),
            estimator=self._estimator(),
            unanswerable=self._unanswerable() | refused,
            levels=self.levels,
            dof=float(self.dof),
            alpha=self.alpha,
            effects=dict(EFFECT_SIZES),
            goals=goals,
            assurance=self.drawing.assurance if self._uncertain else None,
            safe_side={"y0": "overestimate", "y1": "underestimate"}.get(self.column.surrogate.value, ""),
            cautions=self._cautions(),
            **power,
        )

    @property
    def _uncertain(self) -> bool:
        """Whether p(y=1) is a distribution, from which plans are drawn."""
        known = self.regime.admissible(self.labels)
        return known is not None and not (known.is_exact or known.is_soft)

    def _estimator(self) -> str | None:
        if Question.ESTIMATE not in self.regime.answers:
            return None
        if self.labels.scores is not None:
            return scored_estimate(self.study, self.study.features[:1])[0].estimator
        n_classes = len(self.labels.classes) if not self.labels.n_unlabeled else 3
        return self.regime.estimate(np.ones((1, n_classes, 2)), self.labels).estimator

    def _recommendations(self) -> dict[str, str]:
        """Return what to do for each task: the rows of Table 10.1."""
        surrogate, estimator = self.column.surrogate, self._estimator()
        # With one labeled class Ỹm is Ỹ0 by another name (errata B7).
        others = [s.value for s in self.regime.valid if s is not surrogate and self.regime.name != "pu"]
        also = f" Also valid: {', '.join(others)}." if others else ""
        said = {"test": f"a test that {surrogate.words}, because {self.column.note}.{also}"}
        if estimator is not None:
            said["estimate"] = f"{estimator}, which is consistent here, with intervals."
            said["rank"] = f"by {estimator}."
        else:
            said["rank"] = (
                f"by the information about what is counted in place of the target ({surrogate.value}): "
                f"{option(loss='squared')} "
                "orders features as the target would, the logarithmic loss nearly so."
            )
        return said

    def _unanswerable(self) -> dict[str, str]:
        """Return the questions without an answer, and what would help."""
        missing = [q for q in Question if q not in self.regime.answers]
        words = {Question.ESTIMATE: "how strong a dependence is", Question.POWER: "the power of the tests"}
        said = {words[question]: f"{self.regime.unlocked_by(question)}." for question in missing}
        if not self.regime.choose(self.labels).settled:
            b, a = self.labels.shares
            said["which test is the most powerful"] = (
                f"say whether p(y=1) is below {prefer_y0_below(a, b):.3g}: below it y0 is, above it y1; "
                f"a bound such as {option(prior='<0.4')} is enough for that."
            )
        return said

    def _power(self) -> dict[str, Any]:
        """Return κ and the power against Cohen's effects, where they are known."""
        if Question.POWER not in self.regime.answers:
            return {}
        kappa = self.regime.kappa(self.labels, self.column.surrogate)

        def power(size: str, kept: float) -> float:
            if self.regime.name == "predicted":  # κ depends on the effect
                return self._power_with_machine(size, self.n_rows)
            return float(attained_power(noncentrality(EFFECT_SIZES[size], self.n_rows, kept), self.dof, self.alpha))

        return {
            "kappa": kappa.value,
            "kappa_range": (kappa.low, kappa.high),
            "powers": {size: power(size, kappa.value) for size in EFFECT_SIZES},
            "power_ranges": {size: (power(size, kappa.low), power(size, kappa.high)) for size in EFFECT_SIZES},
        }

    def _goals(self) -> tuple[tuple[Goal, ...], dict[str, str]]:
        """Return what is missing for each effect and power, or why that is not known."""
        try:
            return tuple(self._goal(effect, power) for effect in EFFECT_SIZES for power in WANTED), {}
        except NotAnswerableError as error:
            return (), {"how many labels are needed": f"{error}."}

    def _goal(self, effect: str, power: float) -> Goal:
        if self.regime.name == "pu" and self.labels.scores is not None:
            raise NotAnswerableError(
                f"how much more labels gain depends on how likely they are: use plan with {option(labels='pu')}, "
                f"{option('prior')} and "
                f"{option('labeled')} p(y=1) times the harmonic mean of their propensities"
            )
        rows = self._plan(effect, power, labeled=self._shares()).answer
        more_rows = None if rows is None else max(0, int(rows) - self.n_rows)
        kinds = self._kinds()
        if more_rows == 0:
            bought = [*kinds, *(["machine labels"] if self.regime.name == "predicted" else [])]
            return Goal(effect=effect, power=power, more_labels=dict.fromkeys(bought, 0), more_rows=0)
        if self.regime.sampling == "case-control":
            needed = {_POSITIVES: self._positives_apart(effect, power)}
        else:
            needed = {
                kind: self._plan(effect, power, rows=self.n_rows, surrogate=surrogate).answer
                for kind, (surrogate, _) in kinds.items()
            }
        more = {kind: None if n is None else max(0, int(n) - kinds[kind][1]) for kind, n in needed.items()}
        if self.regime.name == "predicted":
            more["machine labels"] = self._machine_labels(effect, power)
        return Goal(effect=effect, power=power, more_labels=more, more_rows=more_rows)

    def _plan(self, effect: str, power: float, *, surrogate: str | None = None, **given: Any) -> Any:
        return plan(
            effect=effect,
            power=power,
            alpha=self.alpha,
            dof=self.dof,
            labels=self._narrowed(),
            surrogate=None if isinstance(self.regime, Noisy | Predicted) else surrogate or self.column.surrogate.value,
            target_arity=len(self.labels.classes),
            **given,
            assurance=self.drawing.assurance,
            n_draws=self.drawing.n_draws,
            rng=self.drawing.rng,
        )

    def _narrowed(self) -> Regime:
        """Return the regime, with p(y=1) limited to what the labels allow."""
        known = self.regime.admissible(self.labels)
        if isinstance(self.regime, Noisy):
            return replace(self.regime, prior=known)
        if isinstance(self.regime, Predicted):
            return Predicted(accuracy=_as_right_as(self._explained, known), prior=known)
        if isinstance(self.regime, PositiveUnlabeled):
            return PositiveUnlabeled(known, self.regime.sampling)
        return SemiSupervised(self.regime.mechanism, known) if isinstance(self.regime, SemiSupervised) else self.regime

    def _shares(self) -> Any:
        """Return labels as shares of all rows, in the form that `plan` takes for the regime."""
        if not self.labels.n_unlabeled:
            return None
        b, a = self.labels.shares
        known = self.regime.admissible(self.labels)
        if known is not None and self.regime.prior_is_short(self.labels):
            a, b = min(a, known.mean), min(b, 1.0 - known.mean)  # not more labels than rows of the class
        if self.regime.name == "mar-c":
            return {"positives": a, "negatives": b}
        return a + b

    def _kinds(self) -> dict[str, tuple[str, int]]:
        """Return the kinds of label that could be added: the surrogate that uses them, and how many there are."""
        if not self.labels.n_unlabeled:
            return {}
        negatives, positives = (int(n) for n in self.labels.counts)
        return {
            "pu": {_POSITIVES: ("y0", positives)},
            "mcar": {_ROWS: ("listwise", negatives + positives)},
            "mar-c": {_POSITIVES: ("y0", positives), _NEGATIVES: ("y1", negatives)},
            "predicted": {"gold labels": ("predicted", negatives + positives)},
            "noisy": {_ROWS: ("full", negatives + positives)},
        }[self.regime.name]

    @property
    def _explained(self) -> float:
        """The share ρ² of the variance of the class that the machine explains."""
        return 0.0 if self.labels.scores is None else self.labels.scores.explained

    def _power_with_machine(self, effect: str, rows: int) -> float:
        """Return the power with the present gold labels, and so many rows."""
        labels, n = self._narrowed(), self.labels.n_labeled
        return plan(effect=effect, alpha=self.alpha, dof=self.dof, rows=rows, labeled=n, labels=labels).power

    def _machine_labels(self, effect: str, power: float) -> int | None:
        """Return how many more rows with a machine's label alone are enough; None if no number is."""
        low, high = self.n_rows - 1, self.n_rows
        while self._power_with_machine(effect, high) < power:
            if high > _MANY * self.labels.n_labeled:
                return None
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            short = self._power_with_machine(effect, middle) < power
            low, high = (middle, high) if short else (low, middle)
        return high - self.n_rows

    def _positives_apart(self, effect: str, power: float) -> int | None:
        """Return the number of positives needed in addition to the present background rows.

        κ N = (1-p₁)/p₁ n₁ n₀ / (n₁ + n₀) must reach λ / 2I, the number of rows needed with full labels.
        """
        p = self._largest_prior()
        full = float(detectable_effect(power, 1, self.dof, self.alpha)) / EFFECT_SIZES[effect]
        harmonic, background = full * p / (1.0 - p), self.labels.n_unlabeled
        if harmonic >= background:
            return None
        return math.ceil(round(harmonic * background / (background - harmonic), 9))

    def _largest_prior(self) -> float:
        """Return the largest p(y=1) to allow for, to be on the safe side."""
        known: Prior = self.regime.known_prior(self.labels, Question.POWER)
        if known.is_exact:
            return known.mean
        return known.support[1] if known.is_soft else float(known.ppf(self.drawing.assurance))

    def _cautions(self) -> tuple[str, ...]:
        said = []
        unreliable = int(np.count_nonzero(ROWS_PER_DOF * self.dofs > self.column.n_rows))
        if unreliable:
            said.append(
                f"{unreliable} of {len(self.dofs)} features have so many levels that {self.column.n_rows:,} rows are "
                f"too few to test them ({ROWS_PER_DOF} for each degree of freedom): merge levels, or use fewer bins."
            )
        if self.column.surrogate is not Surrogate.FULL and self.labels.n_labeled < FEW_LABELS:
            said.append(
                f"With only {self.labels.n_labeled} labels the power is rough; for a feature with a rare level it can "
                f"be off by 0.05."
            )
        if self.regime.name == "mar-f":
            found = [self.study.names[w] for w in self.study.drivers]
            said.append(
                f"Labeling depends on {joined(found)}: each test with the target is given that too, and estimates "
                "weigh labeled rows by it."
                if found
                else f"No feature was found on which labeling depends; then {option(labels='mcar')} answers more "
                f"questions. If "
                f"you know one, say {option(drivers=...)} of bl.SemiSupervised."
            )
        if self.regime.name == "predicted":
            share, rho2 = self.labels.n_labeled / self.n_rows, self._explained
            worth = (1.0 - rho2) / max(rho2 * share**2, 1e-12)
            said.append(
                f"One more gold label gains as much as {worth:,.0f} more row{'s' * (round(worth) != 1)} with a "
                f"machine's label: buy gold labels if they cost less than that."
                if worth < 1e6
                else "More machine labels gain nothing here: buy gold labels."
            )
        if self.regime.name in ("pu", "mar-c") and self.regime.prior is not None:
            said.append(
                f"κ is that of unconditional tests; given other features it can be much smaller ({entry('test')} "
                f"computes it)."
            )
        return tuple(said)


def _as_right_as(explained: float, prior: Prior | None) -> float:
    """Return how often a machine that explains this share of the class is right, if it errs alike in both classes."""
    p = 0.5 if prior is None else prior.mean
    low, high = 0.5, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        known = float(Channel.noisy(1.0 - middle, 1.0 - middle).kappa(Surrogate.FULL, p))
        low, high = (middle, high) if known < explained else (low, middle)
    return max(high, 0.5 + 1e-6)
