"""`adjust`: which columns to adjust for, and how large the effect of a treatment is given them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from blankets.arguments import generator_from
from blankets.data import ReadingOptions
from blankets.errors import BlanketsWarning, DataError, ParameterError
from blankets.independence import Knowledge
from blankets.questions._question import question
from blankets.questions.discover import discover
from blankets.results import AdjustedEffect, Adjustment, count_of, joined
from blankets.stats import OVERLAP, Predict, TreatmentEffect, e_value, predict_linear, treatment_effect
from blankets.study import Seed, Study, design_of, open_study, values_of

Floats = NDArray[np.float64]

FEWEST_ROWS = 50
FARTHEST = 0.01  # propensities beyond it and 1 less it count as that
# VanderWeele & Ding (2017): a difference of d standard deviations is about a risk ratio of exp(0.91 d).
OF_DIFFERENCE = 0.91


@question
def adjust(
    data: Any,
    treatment: str,
    outcome: str,
    *,
    before: Iterable[str] | None = None,
    learner: Any = None,
    alpha: float = 0.01,
    knowledge: Knowledge | None = None,
    rng: Seed = None,
    **reading: Unpack[ReadingOptions],
) -> Adjustment:
    """Find the columns to adjust for, and estimate the effect of a treatment on an outcome given them.

    Among columns that the treatment does not act on, the Markov blanket of the outcome (with the treatment in it) is
    the adjustment set of least variance (Witte, Henckel, Maathuis & Didelez 2020). A weak confounder may be missing
    from it, so that the effect is given the union with the blanket of the treatment; the other is printed beside it.
    That no confounder is hidden cannot be tested: the E-value says how strong one would have to be.

    Parameters
    ----------
    treatment : str
        A column of two classes, or a number.
    outcome : str
        A number, or a column of two classes.
    before : iterable of str, optional
        Columns that the treatment does not act on: what was known when it was decided. With tiers in ``knowledge``
        these say it; with neither, all other columns are taken for it, and the answer says so.
    learner : estimator, or pair of estimators, optional
        Of scikit-learn: what predicts outcome and treatment from the columns; default linear and logistic regression.

    Returns
    -------
    Adjustment

    Examples
    --------
    >>> import numpy as np
    >>> import blankets as bl
    >>> rng = np.random.default_rng(1)
    >>> age, lot, diet = rng.normal(size=(3, 2000))
    >>> drug = rng.random(2000) < 1 / (1 + np.exp(-age - lot))
    >>> table = {"age": age, "lot": lot, "diet": diet, "drug": drug, "score": 2 * drug + age + diet}
    >>> table["score"] = table["score"] + rng.normal(size=2000)
    >>> found = bl.adjust(table, "drug", "score", before=["age", "lot", "diet"], rng=0)
    >>> dict(sorted(found.roles.items()))
    {'age': 'confounder', 'diet': 'precision', 'lot': 'instrument'}
    >>> found.effect.low < 2 < found.effect.high
    True
    """
    if treatment == outcome:
        raise ParameterError("treatment and outcome must be two columns")
    pool = None if before is None else tuple(dict.fromkeys([before] if isinstance(before, str) else before))
    if pool is not None and (both := [name for name in (treatment, outcome) if name in pool]):
        raise ParameterError(f"'before' holds {joined(both)}: it lists what can be adjusted for")
    generator = generator_from(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlanketsWarning)  # about columns that are not used; the notes say what matters
        with open_study(
            data, outcome, None, reading=reading, labels="supervised", numbers=True, knows_groups=True
        ) as study:
            names = _pool(study, treatment, outcome, pool, Knowledge.of(knowledge))
            aside = [*(name for name in study.names if name not in {treatment, outcome, *names})]
            same: dict[str, Any] = {**reading, "alpha": alpha, "audit": False}
            same["exclude"] = tuple(dict.fromkeys((*_listed(reading.get("exclude", ())), *aside)))
            required = Knowledge(required=[treatment])
            of_outcome = [x for x in discover(data, outcome, knowledge=required, **same).members if x != treatment]
            same["exclude"] = (*same["exclude"], outcome)
            of_treatment = discover(data, treatment, **same).members
            return _estimated(study, treatment, outcome, names, of_outcome, of_treatment, learner, generator, pool)


def _listed(names: Any) -> tuple[Any, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _pool(
    study: Study, treatment: str, outcome: str, before: Sequence[str] | None, knowledge: Knowledge
) -> tuple[str, ...]:
    """Return the columns that can be adjusted for; refuse those after the treatment."""
    study.index(treatment)
    tier = {name: k for k, names in enumerate(knowledge.tiers) for name in names}
    here = tier.get(treatment, len(tier))
    later = [name for name, k in tier.items() if k > here]
    if before is not None:
        if wrong := [name for name in before if name in later]:
            raise ParameterError(
                f"{joined(wrong)} come after {treatment} by your tiers: columns on which a treatment acts are refused"
            )
        for name in before:
            if name not in study.set_aside:
                study.index(name)
        return tuple(name for name in before if name not in study.set_aside)
    others = [name for name in study.names if name not in (treatment, outcome)]
    return tuple(name for name in others if (name in tier and tier[name] <= here) or (not tier and name not in later))


def _estimated(
    study: Study,
    treatment: str,
    outcome: str,
    before: Sequence[str],
    of_outcome: Sequence[str],
    of_treatment: Sequence[str],
    learner: Any,
    rng: np.random.Generator,
    pool: Sequence[str] | None,
) -> Adjustment:
    roles: dict[str, Any] = {}
    for name in before:
        if name in of_outcome or name in of_treatment:
            both = name in of_outcome and name in of_treatment
            roles[name] = "confounder" if both else "precision" if name in of_outcome else "instrument"
    t, of_t, classes = values_of(study, treatment)
    y, of_y, events = values_of(study, outcome)
    known = of_t & of_y
    designs = {}
    for name in roles:
        designs[name], there = design_of(study, name)
        known &= there
    if np.count_nonzero(known) < FEWEST_ROWS or np.ptp(t[known]) == 0:
        raise DataError(
            f"{count_of(int(np.count_nonzero(known)), 'row')} with all of these values are too few for an effect of "
            f"{treatment}; {FEWEST_ROWS} with different treatments would do"
        )
    groups = None if study.groups is None else study.groups[known]
    predict = _predictors(learner)
    sets = {"all of these": list(roles), "the efficient set": [n for n, r in roles.items() if r != "instrument"]}
    if sets["all of these"] == sets["the efficient set"]:
        del sets["the efficient set"]
    seed = int(rng.integers(1 << 31))
    found: dict[str, TreatmentEffect] = {}
    for words, some in {**sets, "nothing": []}.items():
        columns = np.column_stack([np.zeros((len(t), 0)), *(designs[name] for name in some)])[known]
        how = predict if some else (predict_linear, predict_linear)
        of: dict[str, Predict] = dict(zip(("of_outcome", "of_treatment"), how, strict=True))
        fold = np.random.default_rng(seed)  # the same folds for each
        found[words] = treatment_effect(y[known], t[known], columns, groups=groups, rng=fold, **of)
    effects = [
        AdjustedEffect(
            given=words, measure="difference", estimate=one.difference[0], low=one.difference[1], high=one.difference[2]
        )
        for words, one in found.items()
    ] + [
        AdjustedEffect(given=words, measure="risk ratio", estimate=one.ratio[0], low=one.ratio[1], high=one.ratio[2])
        for words, one in found.items()
        if one.ratio is not None
    ]
    first = next(iter(found.values()))
    explained = _explained_away(first, float(np.std(y[known])), float(np.std(t[known])) if not classes else 1.0)
    chances = first.propensities
    notes = ["That no confounder is missing from the table cannot be tested."]
    if lost := int(len(known) - np.count_nonzero(known)):
        notes.append(f"{count_of(lost, 'row')} without some of these values were left out.")
    if chances is not None and (far := int(np.count_nonzero(np.abs(chances - 0.5) > 0.5 - FARTHEST))):
        notes.append(
            f"{count_of(far, 'row')} with a chance of treatment below 0.01 or above 0.99: the effect is a guess there."
        )
    if events:
        notes.append(f"The difference is that of the risk of {outcome} = {events[1]}.")
    return Adjustment(
        treatment=treatment,
        outcome=outcome,
        compared=f"{classes[1]} vs {classes[0]}" if classes else "one unit more",
        roles=roles,
        effects=tuple(effects),
        before=tuple(before),
        assumed=pool is None and len(before) == len(study.names) - 2,
        overlap=float("nan") if chances is None else float(np.mean(np.abs(chances - 0.5) <= 0.5 - OVERLAP)),
        e_value=explained[0],
        e_value_limit=explained[1],
        n_rows=int(np.count_nonzero(known)),
        notes=tuple(notes),
        call=study.mark,
    )


def _explained_away(effect: TreatmentEffect, spread: float, unit: float) -> tuple[float, float]:
    """Return the E-values of the estimate and of the end of its interval that is nearer to no effect."""
    if effect.ratio is not None:
        ratios = effect.ratio
    else:
        ratios = tuple(float(np.exp(OF_DIFFERENCE * d * unit / max(spread, 1e-300))) for d in effect.difference)  # type: ignore[assignment]
    estimate, low, high = ratios
    limit = low if estimate > 1 else high
    return e_value(estimate), e_value(limit) if (limit - 1) * (estimate - 1) > 0 else 1.0


def _predictors(learner: Any) -> tuple[Predict, Predict]:
    """Return what predicts outcome and treatment."""
    if learner is None:
        return predict_linear, predict_linear
    pair = learner if isinstance(learner, tuple | list) else (learner, learner)
    if len(pair) != 2 or not all(hasattr(one, "fit") and hasattr(one, "predict") for one in pair):
        raise ParameterError.out_of_range("learner", learner, "an estimator with fit and predict, or a pair of them")
    return _predictor(pair[0]), _predictor(pair[1])


def _predictor(estimator: Any) -> Predict:
    from sklearn.base import clone

    def predict(columns: Floats, values: Floats, others: Floats) -> Floats:
        if not columns.shape[1] or values.min() == values.max():
            return np.full(len(others), values.mean())
        two = hasattr(estimator, "predict_proba") and np.isin(values, (0.0, 1.0)).all()
        if hasattr(estimator, "predict_proba") and not two:
            raise ParameterError("a classifier cannot predict a number; give a pair of learners: outcome, treatment")
        fitted = clone(estimator).fit(columns, values.astype(int) if two else values)
        return np.asarray(fitted.predict_proba(others)[:, 1] if two else fitted.predict(others), float)

    return predict
