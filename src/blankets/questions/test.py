"""`test`: does a feature depend on a target, given others, under any label regime."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets.arguments import level_of
from blankets.data import ReadingOptions
from blankets.errors import NotAnswerableError, ParameterError
from blankets.independence import Evidence, IndependenceTest, Knowledge, own_tests, scored_sums
from blankets.questions._question import question
from blankets.questions.mutual_information import columns_asked, estimate_of, given_names
from blankets.regimes import Question, Regime, Surrogate, SurrogateColumn
from blankets.results import Estimate, TestResult
from blankets.stats import (
    EFFECT_SIZES,
    attained_power,
    correlation_information,
    detectable_effect,
    noncentrality,
    weighted_powers,
)
from blankets.study import (
    Engine,
    Names,
    Seed,
    Study,
    Testing,
    about_drivers,
    about_labels,
    about_rows,
    asked_given,
    independence_tests,
    keeps_numbers,
    label_tables,
    under_reported_from,
)


@question
def test(
    data: Any,
    x: str,
    target: str | int | None = None,
    given: Sequence[str] = (),
    *,
    y: ArrayLike | None = None,
    alpha: float = 0.01,
    test: Testing | IndependenceTest | str = "auto",
    knowledge: Knowledge | None = None,
    under_reported: Names = (),
    labels: Regime | str = "auto",
    prior: object = None,
    engine: Engine | str = "auto",
    n_jobs: int | None = None,
    rng: Seed = None,
    **reading: Unpack[ReadingOptions],
) -> TestResult:
    """Test whether a feature depends on the target, given others, under any label regime.

    The p-value does not depend on ``alpha``; power and detectable effects do.

    Parameters
    ----------
    x : str
        The feature.
    given : sequence of str
        Features to condition on.

    Returns
    -------
    TestResult

    Examples
    --------
    >>> import numpy as np
    >>> import blankets as bl
    >>> rng = np.random.default_rng(0)
    >>> smoker = rng.random(2000) < 0.2
    >>> cough = rng.random(2000) < np.where(smoker, 0.6, 0.2)
    >>> admits = np.where(smoker & (rng.random(2000) < 0.5), 1.0, np.nan)  # half of the smokers say so
    >>> result = bl.test({"cough": cough, "smoker": admits}, "cough", "smoker", labels="pu", prior=0.2)
    >>> result.dependent(), result.surrogate, round(result.kappa, 2)
    (True, 'y0', 0.42)
    """
    level_of(alpha)
    how = own_tests(test) or Testing.of(test)
    always = Knowledge.of(knowledge).always_given
    if x in always:
        raise ParameterError(f"{x!r} is in 'always_given' of Knowledge, so that it cannot be tested itself")
    given = given_names(x, given)
    given = (*given, *(z for z in always if z not in given))
    hidden = under_reported_from(under_reported)
    asked = hidden.asked(data, x, target, y, labels, prior, given, reading)
    with asked.opened(test=how, engine=engine, n_jobs=n_jobs, numbers=True, knows_groups=True, pools=True) as study:
        return replace(asked.put_back(_tested(study, asked.x, given, alpha, rng)), call=study.mark)


_NO_POWER = (
    "The power of this test is not known: how much a machine's labels add is worked out for counts only, and here a "
    "number is involved."
)
_POWER_BY_SHAPE = (
    "The power is a range, because an effect of one size may be in different levels (one that stands out, or some "
    "beside the others), and is harder to find in some than in others. The ends are the hardest and the easiest case."
)

test.__test__ = False  # type: ignore[attr-defined]  # not a test for pytest to collect


def _tested(study: Study, x: str, given: Sequence[str], alpha: float, rng: Seed) -> TestResult:
    """Test a column of a study against its target."""
    column = study.stand_in()
    at, conditioning = columns_asked(study, x, given)
    evidence = independence_tests(study, column, rng=rng).test(at, study.target, conditioning)
    of_numbers = study.testing.of_numbers
    if study.regime.name == "mar-f":  # the size of what was tested
        conditioning += [w for w in asked_given(study, column) if w != at and w not in conditioning]
    measured = of_numbers or study.measures([at, study.target, *conditioning])
    study = study if measured else study.without_numbers()
    free = evidence.dof if evidence.reliable else float("nan")
    kappa, form = _kappa(study, column, at, [] if measured else conditioning, free)
    n = evidence.n_rows if kappa is None or column is None or column.rows is None else study.n_rows
    lost, scores = 1.0 if kappa is None else kappa, study.labels.scores
    kappa = None if measured and scores is not None else kappa

    weighted = _weighted_sums(study, at, conditioning)

    def powers(effect: float) -> tuple[float, float]:
        if weighted is not None:
            return weighted_powers(weighted, effect, alpha)
        kept = lost if scores is None else scores.kappa(free, effect)
        return (float(attained_power(noncentrality(effect, n, kept), free, alpha)),) * 2

    # Power and intervals are those of independent rows, and of our own tests.
    equal = study.groups is None and study.survey is None and study.reading.missing != "weighted"
    equal = equal and study.copies == 1
    apart = equal and study.own is None
    knows_power = apart and not (measured and scores is not None)
    told = {}
    if kappa is not None and knows_power and free != 0.0:
        told = {size: powers(effect) for size, effect in EFFECT_SIZES.items()}
    if weighted is not None:  # no shape may have so large an effect
        told = {size: ends for size, ends in told.items() if ends[0] >= 0.0}
    sought = (0.8, 0.95) if free > 0 and n > 0 and knows_power and weighted is None else ()
    can_estimate = Question.ESTIMATE in study.regime.answers and apart and evidence.reliable and free != 0.0
    if measured:
        can_estimate = can_estimate and keeps_numbers(study.regime)
    about_power: tuple[str, ...] = (_POWER_BY_SHAPE,) if told and weighted is not None else ()
    if apart and measured and scores is not None and scores.of_likelihoods:
        about_power = (_NO_POWER,)
    return TestResult(
        x=x,
        target=study.target_name,
        given=tuple(given),
        test=study.test_name,
        statistic=evidence.statistic,
        dof=evidence.dof,
        log_p=evidence.log_p,
        n_rows=evidence.n_rows,
        reliable=evidence.reliable,
        method=evidence.method,
        surrogate=(Surrogate.FULL if column is None else column.surrogate).value,
        valid=column is None or not column.forced,
        why=study.regime.choose(study.labels).reason if column is None else column.note,
        kappa=kappa,
        kappa_form=form,
        alpha=alpha,
        powers={size: least for size, (least, _) in told.items()},
        greatest_powers={} if weighted is None else {size: greatest for size, (_, greatest) in told.items()},
        detectable={p: float(detectable_effect(p, n, free, alpha, lost)) for p in sought},
        estimate=_estimated(study, evidence, x, at, given, conditioning) if can_estimate else None,
        notes=(*about_labels(study), *about_drivers(study, of_test=True), *about_rows(study), *about_power),
    )


def _estimated(
    study: Study, evidence: Evidence, x: str, at: int, given: Sequence[str], conditioning: list[int]
) -> Estimate:
    """Estimate the information of a column about the target; of a partial correlation, that of normal columns."""
    if not study.testing.of_numbers:
        return estimate_of(study, x, at, given, conditioning)
    law = correlation_information(evidence.effect, evidence.n_rows - len(conditioning) - 3)
    return Estimate(
        x=x,
        target=study.target_name,
        given=tuple(given),
        value=evidence.effect,
        standard_error=float(law.standard_error),
        estimator=law.estimator,
        n_rows=evidence.n_rows,
        _law=law,
    )


def _weighted_sums(study: Study, at: int, conditioning: list[int]) -> NDArray[np.float64] | None:
    """Return the sums of a test with known propensities."""
    scores = study.labels.scores
    if scores is None or scores.of_likelihoods:
        return None
    return scores.merged(scored_sums(study.frame, scores, at, conditioning)[0])


def _kappa(
    study: Study, column: SurrogateColumn | None, at: int, conditioning: list[int], dof: float
) -> tuple[float | None, str]:
    """Return κ of this test, stratum by stratum where it is conditional, and how it was computed."""
    if Question.POWER not in study.regime.answers or (column is not None and column.forced):
        return None, ""
    used = None if column is None else column.surrogate
    if study.labels.scores is not None:
        return study.labels.scores.kappa(dof), "unconditional"
    if not conditioning or study.regime.plain or np.isnan(dof):  # NaN: it was not tested
        kappa = study.regime.kappa(study.labels, used)
        return kappa.value, kappa.form
    (block,) = study.counter_of_labels.tables([at], study.target, conditioning)
    try:
        stratified = study.regime.stratified_kappa(label_tables(block.counts), study.labels, used)
    except (NotAnswerableError, ParameterError):  # pairwise deletion has none
        kappa = study.regime.kappa(study.labels, used)
        return kappa.value, kappa.form
    return float(np.ravel(stratified.value)[0]), "by stratum"
