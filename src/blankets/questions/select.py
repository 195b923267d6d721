"""`select`: features in order of an information criterion, under any label regime."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from blankets.errors import BlanketsWarning, ParameterError, RegimeWarning, TooFewRowsWarning, listed, warn
from blankets.filters import (
    TIE,
    Criterion,
    InformationSource,
    PartialLabels,
    Picks,
    PlugIn,
    find_criterion,
    greedy,
    weights_for,
)
from blankets.progress import Progress, shown
from blankets.regimes import Regime, Supervised
from blankets.results import Selection
from blankets.study._counted import Counted, counted_where

__all__ = ["select", "selected"]


def select(
    data: Any,
    target: str | int | None = None,
    *,
    y: ArrayLike | None = None,
    criterion: str = "jmi",
    k: int = 10,
    labels: str | Regime = "auto",
    prior: object = None,
    positive: object = None,
    unlabeled_marker: object = "auto",
    surrogate: str | None = None,
    force: bool = False,
    beta: float | None = None,
    gamma: float | None = None,
    discretize: str | Mapping[str, str] = "sturges",
    bins: int | None = None,
    missing: str = "error",
    keep: Sequence[str] = (),
    exclude: Sequence[str] = (),
    engine: str = "auto",
    address: str | None = None,
    memory_limit: int | str | None = None,
    n_jobs: int | None = None,
    progress: Progress = False,
) -> Selection:
    """Select ``k`` features one after the other, each the best by an information criterion given those before it.

    Parameters
    ----------
    data : data frame, array, sparse matrix, path to a CSV or Parquet file, Frame, Store or SqlTable
        The table, as for `blankets.discover`.
    target : str or int, optional
        Name of the target column (its number, for an array without names).
    y : array_like, optional
        The target, where it is not a column of ``data``.
    criterion : str
        X is a candidate, Xj runs over the features selected so far; information is in nats.

        ========  ============================================
        mim       I(X;Y)
        jmi       Σ I(X,Xj;Y)
        cmi       I(X;Y|all Xj)
        mrmr      I(X;Y) - mean I(X;Xj)
        mifs      I(X;Y) - beta Σ I(X;Xj)
        cife      I(X;Y) - Σ I(X;Xj) + Σ I(X;Xj|Y)
        condred   I(X;Y) + Σ I(X;Xj|Y)
        linear    I(X;Y) - beta Σ I(X;Xj) + gamma Σ I(X;Xj|Y)
        cmim      min I(X;Y|Xj)
        disr      Σ I(X,Xj;Y) / H(X,Xj,Y)
        icap      I(X;Y) - Σ max(0, I(X;Xj) - I(X;Xj|Y))
        ========  ============================================

        The first feature is that of largest I(X;Y) for all of them.
    k : int
        Number of features to select.
    labels : str or Regime
        Why labels are missing: "supervised" (none is), "pu", "mcar", "mar-f", "mar-c", a regime, or "auto".
        Terms with the target are estimated accordingly; redundancy between features uses all rows.
    prior : Prior, float, (low, high), str, distribution or None
        What is known about p(y=1), for "pu" and "mar-c". Without it features are scored against a surrogate,
        unlabeled rows counted as negatives, positives or a class of their own, which ranks nearly alike.
    positive : object, optional
        The positive class, where labels are missing and there are more than two.
    unlabeled_marker : object
        A label that means unlabeled; by default missing values, and -1 where it cannot be a class.
    surrogate : {"listwise", "ym", "y0", "y1"}, optional
        Score features against this stand-in for the target, instead of estimating terms with the target.
    force : bool
        Use a surrogate that is not valid; the result says so.
    beta, gamma : float, optional
        Weights of "mifs" (``beta``, default 1) and "linear" (both).
    discretize, bins, missing, keep, exclude
        How the table is read: see `blankets.data.ingest`.
    engine, address, memory_limit
        Where rows are counted, as for `blankets.discover`; "sql" needs a target that is known in every row.
    n_jobs : int, optional
        Number of threads; default all processors. The answer does not depend on it.
    progress : bool or callable
        Show a progress line on a terminal, or call this with a sentence for every step.

    Returns
    -------
    Selection

    Notes
    -----
    The cost is k passes over all candidates. Equal scores (to 1e-12) are decided by column order.

    Examples
    --------
    "second" repeats what "first" says; "other" is weaker, and new.

    >>> import numpy as np
    >>> rng = np.random.default_rng(3)
    >>> a, b = rng.random((2, 800)) < 0.5
    >>> ill = rng.random(800) < 0.1 + 0.5 * a + 0.3 * b
    >>> table = {"first": a, "second": a ^ (rng.random(800) < 0.05), "other": b, "ill": ill}
    >>> select(table, "ill", criterion="mim", k=2).names
    ('first', 'second')
    >>> select(table, "ill", criterion="jmi", k=2).names
    ('first', 'other')
    """
    return selected(
        data,
        target,
        y,
        criterion=criterion,
        k=k,
        labels=labels,
        prior=prior,
        positive=positive,
        unlabeled_marker=unlabeled_marker,
        beta=beta,
        gamma=gamma,
        surrogate=surrogate,
        force=force,
        engine=engine,
        address=address,
        memory_limit=memory_limit,
        n_jobs=n_jobs,
        progress=progress,
        discretize=discretize,
        bins=bins,
        missing=missing,
        keep=keep,
        exclude=exclude,
    )


def selected(
    data: Any,
    target: str | int | None,
    y: ArrayLike | None,
    *,
    criterion: str,
    k: int,
    labels: str | Regime,
    prior: object,
    positive: object,
    unlabeled_marker: object,
    beta: float | None,
    gamma: float | None,
    surrogate: str | None = None,
    force: bool = False,
    engine: str = "auto",
    address: str | None = None,
    memory_limit: int | str | None = None,
    n_jobs: int | None = None,
    progress: Progress = False,
    at_most: bool = False,
    **reading: Any,
) -> Selection:
    """Do what `select` says; with ``at_most`` fewer than ``k`` features are all selected, and not an error."""
    asked = dict(locals())
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ParameterError.out_of_range("k", k, "a number of features, 1 or more")
    chosen = find_criterion(criterion)
    weights = weights_for(chosen, beta, gamma)
    began = time.perf_counter()
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
        ) as (_, counted),
    ):
        wanted = _checked_number(int(k), counted, at_most=at_most)
        source = _source(counted)
        listener = None if tell is None else lambda n: tell(f"{chosen.name}: {n} of {wanted} features")
        picks = greedy(source, np.array(counted.features, np.int64), wanted, chosen, weights=weights, listener=listener)
    own = {"k": int(k), **{name: getattr(weights, name) for name in chosen.weights}}
    about_labels: dict[str, Any] = {
        "labels": counted.regime.name,
        "prior": counted.regime.prior and str(counted.regime.prior),
    }
    if (column := counted.stand_in) is not None:
        about_labels |= {"surrogate": column.surrogate.value, "surrogate_is_valid": not column.forced}
    return Selection(
        target=counted.names[counted.target],
        names=tuple(counted.names[x] for x in picks.columns),
        scores=picks.scores,
        relevance=picks.relevance,
        criterion=chosen.name,
        formula=chosen.formula,
        settings={**own, **about_labels, **reading},
        labels=" ".join(counted.notes),
        n_rows=counted.n_rows,
        n_candidates=len(counted.features),
        seconds=time.perf_counter() - began,
        warnings=_notes(counted, source, chosen, picks),
        excluded=counted.report.left_out,
        data=counted.report.to_dict(),
        call=counted.call("select", asked),
    )


def _source(counted: Counted) -> InformationSource:
    """Return where terms with the target come from."""
    if counted.stand_in is None and not isinstance(counted.regime, Supervised):
        return PartialLabels(counted.counter, counted.target, counted.labels, counted.regime)
    return PlugIn(counted.counter, counted.target, counted.background)


def _checked_number(k: int, counted: Counted, *, at_most: bool) -> int:
    """Return how many features to select."""
    there = len(counted.features)
    if k <= there:
        return k
    why = f" ({listed(counted.report.left_out)} cannot be used)" if counted.report.left_out else ""
    if not at_most:
        raise ParameterError(f"k = {k} features cannot be selected: there are {there}{why}")
    warn(f"k = {k}, but there are {there} features{why}: all are selected", BlanketsWarning)
    return there


def _notes(counted: Counted, source: InformationSource, criterion: Criterion, picks: Picks) -> tuple[str, ...]:
    """Return what the user should know, and warn of it."""
    notes: dict[str, type[BlanketsWarning]] = {}
    if isinstance(source, PartialLabels) and source.contradicting:
        names = listed(counted.names[x] for x in source.contradicting)
        notes[f"p(y=1) = {counted.regime.prior} leaves fewer than no negatives in {names}: correct it"] = RegimeWarning
    lasting = np.flatnonzero(np.abs(picks.scores) > TIE)
    place = int(lasting[-1]) + 2 if len(lasting) else 1
    if criterion.name == "cmi" and 1 < place <= len(picks.scores):
        notes[
            f"from feature {place} on all scores are 0 and columns are taken in their order: the features before it "
            f"determine the target in these rows, or have too many configurations for them; 'jmi' looks at pairs only"
        ] = TooFewRowsWarning
    for sentence, category in notes.items():
        warn(sentence, category)
    return tuple(notes)
