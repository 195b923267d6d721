"""`test` and `mutual_information`: questions about a feature and a target, under any label regime."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from blankets.arguments import generator_from, level_of, one_of
from blankets.errors import NotAnswerableError, ParameterError
from blankets.regimes import Question, Regime, Surrogate, SurrogateColumn
from blankets.results import Estimate, TestResult
from blankets.stats import Loss, attained_power, detectable_effect, noncentrality
from blankets.study._counted import label_tables, warn_of_constants
from blankets.study._study import Study, read_study
from blankets.study._under_reported import Names, UnderReported, under_reported_from

__all__ = ["mutual_information", "test"]


def test(
    data: Any,
    x: str,
    target: str | int | None = None,
    given: Sequence[str] = (),
    *,
    y: ArrayLike | None = None,
    labels: str | Regime = "auto",
    prior: object = None,
    positive: object = None,
    unlabeled_marker: object = "auto",
    surrogate: str | None = None,
    force: bool = False,
    test: str = "auto",
    dof: str = "adjusted",
    reliability: float = 5.0,
    alpha: float = 0.01,
    under_reported: Names = (),
    rng: np.random.Generator | int | None = None,
    **reading: Any,
) -> TestResult:
    """Test whether a feature depends on the target, given others, under any label regime.

    Parameters
    ----------
    data, target, y
        The table and its target, as for `discover`.
    x : str
        The feature.
    given : sequence of str
        Features to condition on.
    labels, prior, positive, unlabeled_marker, surrogate, force
        What is known of the labels, as for `discover`.
    test : {"auto", "g", "x2"}
        As for `discover`; whatever the level, the p-value of "auto" is the best that can be had.
    dof, reliability, alpha
        As for `discover`; ``alpha`` is the level at which power and detectable effects are stated.
    under_reported : str, list of str, or dict of str to prior
        Binary features that say "yes" only where it was admitted; with what is known of the true share of
        "yes", the power is known too. Valid if whether a "yes" is admitted depends on nothing else.
    rng : int, Generator or None
        Seed of permutations, where "auto" needs them (None: always the same).
    **reading
        How the table is read: see `blankets.data.ingest`.

    Returns
    -------
    TestResult

    Examples
    --------
    >>> import blankets as bl
    >>> rng = np.random.default_rng(0)
    >>> smoker = rng.random(2000) < 0.2
    >>> cough = rng.random(2000) < np.where(smoker, 0.6, 0.2)
    >>> admits = np.where(smoker & (rng.random(2000) < 0.5), 1.0, np.nan)  # half of the smokers say so
    >>> result = bl.test({"cough": cough, "smoker": admits}, "cough", "smoker", labels="pu", prior=0.2)
    >>> result.dependent(), result.surrogate, round(result.kappa, 2)
    (True, 'y0', 0.42)
    """
    asked = dict(locals())
    one_of("test", test, ("auto", "g", "x2"))
    level_of(alpha)
    how: dict[str, Any] = {
        "surrogate": surrogate,
        "force": force,
        "test": test,
        "dof": dof,
        "reliability": reliability,
        "alpha": alpha,
        "rng": rng,
    }
    given = _names(x, given)
    hidden = under_reported_from(under_reported)
    if x in hidden.priors:
        study, name = hidden.exchanged(data, x, reading, about=(target, y, labels, given))
        found = _exchanged_back(_tested(study, name, given, **how), x, name, hidden)
        return replace(found, call=study.call("test", asked))
    if hidden.priors:
        hidden.check(target, y, labels, given)
        reading["exclude"] = hidden.others(x, reading.get("exclude", ()))
    study = read_study(
        data, target, y, labels=labels, prior=prior, positive=positive, unlabeled_marker=unlabeled_marker, **reading
    )
    return replace(_tested(study, x, given, **how), call=study.call("test", asked))


test.__test__ = False  # type: ignore[attr-defined]  # not a test for pytest to collect


def _tested(
    study: Study,
    x: str,
    given: Sequence[str],
    *,
    surrogate: str | None,
    force: bool,
    test: str,
    dof: str,
    reliability: float,
    alpha: float,
    rng: np.random.Generator | int | None,
) -> TestResult:
    """Test a column of a study against its target."""
    column = study.surrogate(surrogate, force=force)
    at, conditioning = _columns(study, x, given)
    seed = 0 if rng is None else int(generator_from(rng).integers(1 << 62))
    answers = study.tests(column, statistic=test, dof=dof, reliability=reliability, seed=seed)
    evidence = answers.test(at, study.target, conditioning)
    kappa, form = _kappa(study, column, at, conditioning)
    free = evidence.dof if evidence.reliable else float("nan")
    n = evidence.n_rows if kappa is None or column.rows is None else study.frame.n_rows
    known = {} if kappa is None else {"small": 0.005, "medium": 0.045, "large": 0.125}
    lost = 1.0 if kappa is None else kappa
    return TestResult(
        x=x,
        target=study.frame.names[study.target],
        given=tuple(given),
        test=test,
        statistic=evidence.statistic,
        dof=evidence.dof,
        log_p=evidence.log_p,
        n_rows=evidence.n_rows,
        reliable=evidence.reliable,
        method=evidence.method,
        surrogate=column.surrogate.value,
        valid=not column.forced,
        why=column.note,
        kappa=kappa,
        kappa_form=form,
        alpha=alpha,
        powers={size: float(attained_power(noncentrality(i, n, lost), free, alpha)) for size, i in known.items()},
        detectable={p: float(detectable_effect(p, n, free, alpha, lost)) for p in (0.8, 0.95) if free > 0},
        estimate=_estimate_or_none(study, x, at, given, conditioning),
        notes=_notes(study),
    )


def mutual_information(
    data: Any,
    x: str,
    target: str | int | None = None,
    given: Sequence[str] = (),
    *,
    y: ArrayLike | None = None,
    labels: str | Regime = "auto",
    prior: object = None,
    positive: object = None,
    unlabeled_marker: object = "auto",
    estimator: str = "auto",
    loss: Loss = "log",
    under_reported: Names = (),
    **reading: Any,
) -> Estimate:
    """Estimate the information between a feature and the target, given others, under any label regime.

    Parameters
    ----------
    data, target, y
        The table and its target, as for `discover`.
    x : str
        The feature.
    given : sequence of str
        Features to condition on.
    labels, prior, positive, unlabeled_marker
        What is known of the labels, as for `discover`.
    estimator : str
        "auto" is the regime's consistent estimator; others are "plug-in" and "miller-madow" (all labels),
        "listwise" (MCAR), "pos", "neg", "ss" and "least-variance" (MAR-C).
    loss : {"log", "squared"}
        Mutual information, or the squared-loss information that X² estimates.
    under_reported : dict of str to prior
        Binary features that say "yes" only where it was admitted, and their true shares of "yes".
    **reading
        How the table is read: see `blankets.data.ingest`.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> import blankets as bl
    >>> table = {"dose": ["low", "high"] * 100, "cured": [0, 1, 0, 1, 0, 1, 1, 0] * 25}
    >>> estimate = bl.mutual_information(table, "dose", "cured")
    >>> round(estimate.value, 4), tuple(round(end, 3) for end in estimate.interval(0.9))
    (0.1308, (0.081, 0.192))
    """
    asked = dict(locals())
    given = _names(x, given)
    hidden = under_reported_from(under_reported)
    if x in hidden.priors:
        study, name = hidden.exchanged(data, x, reading, about=(target, y, labels, given))
        study.regime.require(Question.ESTIMATE)
        at, conditioning = _columns(study, name, given)
        found = _estimate(study, name, at, given, conditioning, estimator=estimator, loss=loss)
        notes = (hidden.note(x), *found.notes)
        return replace(found, x=x, target=name, notes=notes, call=study.call("mutual_information", asked))
    if hidden.priors:
        hidden.check(target, y, labels, given)
        reading["exclude"] = hidden.others(x, reading.get("exclude", ()))
    study = read_study(
        data, target, y, labels=labels, prior=prior, positive=positive, unlabeled_marker=unlabeled_marker, **reading
    )
    study.regime.require(Question.ESTIMATE)
    at, conditioning = _columns(study, x, given)
    estimate = _estimate(study, x, at, given, conditioning, estimator=estimator, loss=loss)
    warn_of_constants(study.labels, [] if np.any(estimate._law.dof > 0) else [x])
    return replace(estimate, call=study.call("mutual_information", asked))


def _exchanged_back(result: TestResult, x: str, target: str, hidden: UnderReported) -> TestResult:
    """Put the names of feature and target back in their places."""
    estimate = None if result.estimate is None else replace(result.estimate, x=x, target=target)
    return replace(result, x=x, target=target, estimate=estimate, notes=(hidden.note(x), *result.notes))


def _names(x: str, given: Sequence[str]) -> tuple[str, ...]:
    """Return the columns to condition on; a text is one name, not one for each letter."""
    if not isinstance(x, str):
        raise ParameterError.out_of_range("x", x, "the name of a column")
    if not isinstance(given, Iterable):
        raise ParameterError.out_of_range("given", given, "a list of column names")
    return (given,) if isinstance(given, str) else tuple(given)


def _columns(study: Study, x: str, given: Sequence[str]) -> tuple[int, list[int]]:
    """Return the numbers of the columns asked about."""
    numbers = [study.column(name) for name in (x, *given)]
    if study.target in numbers:
        raise ParameterError(f"{study.frame.names[study.target]!r} is the target; it cannot be tested against itself")
    if len(set(numbers)) < len(numbers):
        raise ParameterError("a column is named twice among the feature and what it is conditioned on")
    return numbers[0], numbers[1:]


def _estimate(
    study: Study,
    x: str,
    at: int,
    given: Sequence[str],
    conditioning: list[int],
    *,
    estimator: str = "auto",
    loss: Loss = "log",
) -> Estimate:
    (block,) = study.of_labels.tables([at], study.target, conditioning)
    estimate = study.regime.estimate(label_tables(block.counts), study.labels, estimator=estimator, loss=loss)
    notes = list(_notes(study))
    if np.any(estimate.repaired):
        notes.append("Cells implied to be below 0 were set to 0, or levels without a labeled row were left out.")
    if np.any(estimate.contradicts_prior):
        notes.append("Some implied cell is far below 0: the class prior does not fit these data.")
    return Estimate(
        x=x,
        target=study.frame.names[study.target],
        given=tuple(given),
        value=float(np.ravel(estimate.value)[0]),
        standard_error=float(np.ravel(estimate.standard_error)[0]),
        estimator=estimate.estimator,
        n_rows=study.frame.n_rows,
        notes=tuple(notes),
        _law=estimate,
    )


def _estimate_or_none(study: Study, x: str, at: int, given: Sequence[str], conditioning: list[int]) -> Estimate | None:
    if Question.ESTIMATE not in study.regime.answers:
        return None
    return _estimate(study, x, at, given, conditioning)


def _kappa(study: Study, column: SurrogateColumn, at: int, conditioning: list[int]) -> tuple[float | None, str]:
    """Return κ of this test, stratum by stratum where it is conditional, and how it was computed."""
    if Question.POWER not in study.regime.answers or column.forced:
        return None, ""
    if not conditioning or column.surrogate is Surrogate.FULL:
        kappa = study.regime.kappa(study.labels, column.surrogate)
        return kappa.value, kappa.form
    (block,) = study.of_labels.tables([at], study.target, conditioning)
    try:
        stratified = study.regime.stratified_kappa(label_tables(block.counts), study.labels, column.surrogate)
    except (NotAnswerableError, ParameterError):  # listwise and Ỹm have no form by stratum under MAR-C
        kappa = study.regime.kappa(study.labels, column.surrogate)
        return kappa.value, kappa.form
    return float(np.ravel(stratified.value)[0]), "by stratum"


def _notes(study: Study) -> tuple[str, ...]:
    """Return what was assumed about missing labels."""
    return (study.regime.describe(study.labels),) if study.labels.n_unlabeled else ()
