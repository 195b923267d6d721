"""`rank`: all features in order of their information about a target, under any label regime."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets.data import ReadingOptions
from blankets.questions._question import question
from blankets.regimes import Predicted, Question, Regime
from blankets.results import Ranking
from blankets.stats import N_CURVE, InformationEstimate, Loss, plug_in
from blankets.study import (
    ABOUT_EXPLAINED,
    Engine,
    Explained,
    Names,
    Progress,
    Study,
    about_rows,
    independence_tests,
    information_notes,
    keeps_numbers,
    label_tables,
    scored_estimate,
    under_reported_from,
    warn_of_constants,
    weighs_rows,
)

_FIELDS = ("value", "variance", "statistic", "dof", "scale", "law_variance", "repaired", "contradicts_prior")
_NO_CURVE = np.full((2, N_CURVE), np.nan)
_TOLD_APART = 1.6448536269514722  # two-sided 10% point of the normal distribution


@question
def rank(
    data: Any,
    target: str | int | None = None,
    *,
    y: ArrayLike | None = None,
    loss: Loss = "log",
    under_reported: Names = (),
    labels: Regime | str = "auto",
    prior: object = None,
    engine: Engine | str = "auto",
    n_jobs: int | None = None,
    progress: Progress = False,
    **reading: Unpack[ReadingOptions],
) -> Ranking:
    """Rank all features by their information about the target, under any label regime.

    With positive-unlabeled labels and unknown p(y=1), features are ranked by their information about the surrogate,
    a known column in place of the target. The order is exactly that for the target with ``loss="squared"``, and
    nearly with "log". If the regime names a ``surrogate``, features are ranked by the information about it.

    If the table holds numbers, nothing is cut: all features, categories too, are ranked by what functions of them
    explain of the target, -½ ln(1 - R²) (methods, section 10.6), so that they can be compared. Under "mar-f" and
    "noisy" labels, and with ``discretize=``, numbers are cut into levels.

    Parameters
    ----------
    loss : {"log", "squared"}
        Mutual information, or the squared-loss information that X² estimates.

    Returns
    -------
    Ranking

    Examples
    --------
    >>> import numpy as np
    >>> import blankets as bl
    >>> rng = np.random.default_rng(0)
    >>> ill = rng.integers(0, 2, 500)
    >>> copies = {f"flip {p}": (ill + (rng.random(500) < p)) % 2 for p in (0.4, 0.1, 0.3)}
    >>> bl.rank({**copies, "ill": ill}, "ill").names
    ('flip 0.1', 'flip 0.3', 'flip 0.4')
    """
    hidden = under_reported_from(under_reported)
    where: dict[str, Any] = {"engine": engine, "n_jobs": n_jobs}
    asked = hidden.asked(data, "", target, y, labels, prior, (), reading)
    numbers = keeps_numbers(asked.labels) and not weighs_rows(data, reading)
    with asked.opened(**where, progress=progress, numbers=numbers, knows_groups=True) as study:
        names = [study.names[x] for x in study.features]
        scores = _scores(study, np.array(study.features), loss)
        p = _p_values(study, scores)
    for name in hidden.priors:
        again = hidden.asked(data, name, target, y, labels, prior, (), reading)
        with again.opened(**where, numbers=study.has_numbers, knows_groups=True) as other:
            other.regime.require(Question.ESTIMATE)
            scores = _together(scores, _scores(other, np.array([other.index(again.x)]), loss))
        names.append(name)
    explained = (ABOUT_EXPLAINED, *about_rows(study)) if study.has_numbers else ()
    order = np.lexsort((-scores.value, -scores.corrected))  # many levels alone do not make a column informative
    ranked = _some(scores, order)
    warn_of_constants(study.labels, [name for name, dof in zip(names, scores.dof, strict=True) if dof == 0])
    return Ranking(
        target=study.target_name,
        names=tuple(names[i] for i in order),
        information=ranked.value,
        standard_error=ranked.standard_error,
        p=np.append(p, scores.p_value[len(p) :])[order],
        group=_groups(ranked.corrected, ranked.standard_error),
        estimator=scores.estimator,
        n_rows=study.n_rows,
        notes=(*information_notes(study), *explained, *map(hidden.note, hidden.priors)),
        excluded={name: why for name, why in study.set_aside.items() if name not in hidden.priors},
        call=study.mark,
        _law=ranked,
    )


def _p_values(study: Study, scores: InformationEstimate) -> NDArray[np.float64]:
    """Return the p-values; beside a machine's labels those of `test`: it allows for errors that no gold row shows."""
    if study.labels.scores is None or not isinstance(study.regime, Predicted):
        return scores.p_value
    tests = independence_tests(study, study.stand_in())
    p = np.exp(tests.scan(study.features, study.target, even_if_unreliable=True).log_p)
    return np.where(np.isnan(p), scores.p_value, p)


def _scores(study: Study, xs: NDArray[np.int64], loss: Loss) -> InformationEstimate:
    """Return the scores of features, block by block: the estimate, or the information about the surrogate."""
    if not len(xs):
        none: dict[str, Any] = dict.fromkeys(_FIELDS, np.empty(0))
        return InformationEstimate(**none, estimator="no estimate", curve=_NO_CURVE[None][:0])
    if study.has_numbers:
        given = study.known_drivers
        return _stacked(Explained.of(study).estimates(xs.tolist(), study.target, given, loss=loss))
    if study.labels.scores is not None or study.weighs:
        return _stacked(scored_estimate(study, xs.tolist(), loss=loss))
    words = []

    def summary(counts: NDArray[np.int32]) -> tuple[NDArray[np.float64], ...]:
        tables = label_tables(counts)
        if study.informing is None:
            estimate = study.regime.estimate(tables, study.labels, loss=loss)
        else:
            estimate = plug_in(tables, loss=loss)
        words.append(estimate.estimator)
        single = (np.broadcast_to(getattr(estimate, name), len(counts)).astype(float) for name in _FIELDS)
        return (*single, *_curves(estimate, len(counts)).reshape(len(counts), -1).T)

    found = study.information_counter.summarize(summary, xs, study.target, study.known_drivers)
    *numbers, repaired, contradicts = found[: len(_FIELDS)]
    parts: dict[str, Any] = dict(zip(_FIELDS, (*numbers, repaired > 0, contradicts > 0), strict=True))
    curve = np.stack(found[len(_FIELDS) :], axis=-1).reshape(len(xs), *_NO_CURVE.shape)
    return InformationEstimate(**parts, estimator=words[0], curve=curve)


def _curves(estimate: InformationEstimate, n: int) -> NDArray[np.float64]:
    """Return the curve of each of n estimates."""
    return np.broadcast_to(estimate.curve, (n, *_NO_CURVE.shape))


def _stacked(found: Sequence[InformationEstimate]) -> InformationEstimate:
    """Join estimates of single features."""
    parts: dict[str, Any] = {name: np.array([np.ravel(getattr(one, name))[0] for one in found]) for name in _FIELDS}
    curve = np.concatenate([_curves(one, 1) for one in found])
    return InformationEstimate(**parts, estimator=found[0].estimator, curve=curve)


def _together(one: InformationEstimate, other: InformationEstimate) -> InformationEstimate:
    """Join the estimates for different features."""
    both: dict[str, Any] = {name: np.concatenate([getattr(one, name), getattr(other, name)]) for name in _FIELDS}
    estimators = dict.fromkeys([*one.estimator.split(" and "), other.estimator])
    curve = np.concatenate([_curves(each, len(each.value)) for each in (one, other)])
    return replace(one, **both, estimator=" and ".join(estimators), curve=curve)


def _some(estimate: InformationEstimate, at: NDArray[np.int64]) -> InformationEstimate:
    """Return a subset of the estimates."""
    curve = _curves(estimate, len(estimate.value))[at]
    parts: dict[str, Any] = {name: getattr(estimate, name)[at] for name in _FIELDS}
    return replace(estimate, **parts, curve=curve if np.isfinite(curve).any() else _NO_CURVE)


def _groups(value: NDArray[np.float64], error: NDArray[np.float64]) -> NDArray[np.int64]:
    """Number the groups of features that cannot be told apart from the first of their group."""
    group = np.zeros(len(value), np.int64)
    first = 0
    errors = np.nan_to_num(error, nan=np.inf)
    for i in range(1, len(value)):
        apart = value[first] - value[i] > _TOLD_APART * np.hypot(errors[first], errors[i])
        first = i if apart else first
        group[i] = group[i - 1] + apart
        if np.isinf(errors[first]):
            first = i  # nothing can be told apart from a feature whose error is not known
    return group
