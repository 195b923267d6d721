"""`rank`: all features in order of their information about a target, under any label regime."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets.progress import Progress, shown
from blankets.regimes import Question, Regime
from blankets.results import Ranking
from blankets.stats import InformationEstimate, Loss, plug_in
from blankets.study._counted import Counted, counted_from, counted_where, label_tables, warn_of_constants
from blankets.study._under_reported import Names, under_reported_from

__all__ = ["rank"]

_FIELDS = ("value", "variance", "statistic", "dof", "scale", "repaired", "contradicts_prior")
_TOLD_APART = 1.6448536269514722  # two-sided 10% point of the normal distribution


def rank(
    data: Any,
    target: str | int | None = None,
    *,
    y: ArrayLike | None = None,
    labels: str | Regime = "auto",
    prior: object = None,
    positive: object = None,
    unlabeled_marker: object = "auto",
    surrogate: str | None = None,
    force: bool = False,
    loss: Loss = "log",
    under_reported: Names = (),
    engine: str = "auto",
    address: str | None = None,
    memory_limit: int | str | None = None,
    n_jobs: int | None = None,
    progress: Progress = False,
    **reading: Any,
) -> Ranking:
    """Rank all features by their information about the target, under any label regime.

    Without knowledge of p(y=1), positive-unlabeled features are ranked by their information about the
    surrogate. That orders them as the target would exactly for ``loss="squared"``, and nearly for "log".

    Parameters
    ----------
    data, target, y
        The table and its target, as for `discover`.
    labels, prior, positive, unlabeled_marker
        What is known of the labels, as for `discover`.
    surrogate : {"listwise", "ym", "y0", "y1"}, optional
        Rank by the information about this stand-in for the target, instead of estimating that about the target.
    force : bool
        Use a surrogate that is not valid; the result says so.
    loss : {"log", "squared"}
        Mutual information, or the squared-loss information that X² estimates.
    under_reported : dict of str to prior
        Binary features that say "yes" only where it was admitted, and their true shares of "yes", without which
        they cannot be compared with the others.
    engine, address, memory_limit
        Where rows are counted, as for `discover`; "sql" needs a target that is known in every row.
    n_jobs : int, optional
        Number of threads; default all processors.
    progress : bool or callable
        Show a progress line on a terminal, or call this with a sentence for every step.
    **reading
        How the table is read: see `blankets.data.ingest`.

    Returns
    -------
    Ranking

    Examples
    --------
    >>> import blankets as bl
    >>> rng = np.random.default_rng(0)
    >>> ill = rng.integers(0, 2, 500)
    >>> copies = {f"flip {p}": (ill + (rng.random(500) < p)) % 2 for p in (0.4, 0.1, 0.3)}
    >>> bl.rank({**copies, "ill": ill}, "ill").names
    ('flip 0.1', 'flip 0.3', 'flip 0.4')
    """
    asked = dict(locals())
    hidden = under_reported_from(under_reported)
    own = dict(reading)
    if hidden.priors:
        hidden.check(target, y, labels)
        hidden.check_engine(engine)
        reading["exclude"] = hidden.others("", reading.get("exclude", ()))
    known = {"y": y, "labels": labels, "prior": prior, "positive": positive, "unlabeled_marker": unlabeled_marker}
    where = {"engine": engine, "address": address, "memory_limit": memory_limit}
    with (
        shown(progress) as tell,
        counted_where(
            data,
            target,
            where=where,
            about_labels=known,
            surrogate=surrogate,
            force=force,
            n_jobs=n_jobs,
            reading=reading,
            tell=tell,
        ) as (source, counted),
    ):
        names = [counted.names[x] for x in counted.features]
        scores = _scores(counted, np.array(counted.features), loss)
        for name in hidden.priors:
            other, of_target = hidden.exchanged(source, name, own, about=(target, y, labels, ()))
            other.regime.require(Question.ESTIMATE)
            scores = _together(scores, _scores(counted_from(other), np.array([other.column(of_target)]), loss))
            names.append(name)
    order = np.argsort(-scores.value, kind="stable")
    ranked = _some(scores, order)
    warn_of_constants(counted.labels, [name for name, dof in zip(names, scores.dof, strict=True) if dof == 0])
    return Ranking(
        target=counted.names[counted.target],
        names=tuple(names[i] for i in order),
        information=ranked.value,
        standard_error=ranked.standard_error,
        p=ranked.p_value,
        group=_groups(ranked.value, ranked.standard_error),
        estimator=scores.estimator,
        n_rows=counted.n_rows,
        notes=(*counted.notes, *map(hidden.note, hidden.priors)),
        excluded={name: why for name, why in counted.report.left_out.items() if name not in hidden.priors},
        call=counted.call("rank", asked),
        _law=ranked,
    )


def _scores(counted: Counted, xs: NDArray[np.int64], loss: Loss) -> InformationEstimate:
    """Return what features are ranked by, block by block: the estimate, or the information about the stand-in."""
    words = []

    def summary(counts: NDArray[np.int32]) -> tuple[NDArray[np.float64], ...]:
        tables = label_tables(counts)
        if counted.stand_in is None:
            estimate = counted.regime.estimate(tables, counted.labels, loss=loss)
        else:
            estimate = plug_in(tables, loss=loss)
        words.append((estimate.estimator, estimate.strong_law))
        return tuple(np.broadcast_to(getattr(estimate, name), len(counts)).astype(float) for name in _FIELDS)

    *numbers, repaired, contradicts = counted.counter.summarize(summary, xs, counted.target)
    value, variance, statistic, dof, scale = numbers
    estimator, strong_law = words[0]
    return InformationEstimate(
        value=value,
        variance=variance,
        statistic=statistic,
        dof=dof,
        scale=scale,
        repaired=repaired > 0,
        contradicts_prior=contradicts > 0,
        estimator=estimator,
        strong_law=strong_law,
    )


def _together(one: InformationEstimate, other: InformationEstimate) -> InformationEstimate:
    """Put estimates about different features behind each other."""
    both: dict[str, Any] = {name: np.concatenate([getattr(one, name), getattr(other, name)]) for name in _FIELDS}
    estimators = dict.fromkeys([*one.estimator.split(" and "), other.estimator])
    return replace(one, **both, estimator=" and ".join(estimators))


def _some(estimate: InformationEstimate, at: NDArray[np.int64]) -> InformationEstimate:
    """Return some of the estimates."""
    return replace(estimate, **{name: getattr(estimate, name)[at] for name in _FIELDS})


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
