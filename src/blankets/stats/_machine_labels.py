"""A machine's labels in all rows, beside gold labels in some: shares of positives in cells (methods, section 14)."""

from __future__ import annotations

from functools import partial
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets.stats._cell_means import Cells, Floats, RowScores
from blankets.stats._estimate import divided

Counts = NDArray[np.integer]

_CELLS = (-2, -1)
# These numbers came nearest to the level in simulated tables, after others had been tried (benchmarks/labels.py, gold).
_SHARED = 5.0  # gold rows that a cell borrows from the others for its variance
_BORROWED = 30.0  # gold rows of each class that a cell borrows from the others for the machine's errors
_USELESS = 0.5  # gold rows of each class in which the machine tells nothing
_UNSEEN = 1.0  # errors that gold rows of a cell may have missed, in each class
# What it costs to learn the machine's errors, in gold labels; these came near the power of simulated tables.
_LOST = 8.0  # with any machine and feature
_LOST_UNSEEN = 2.0  # for an error in each cell that gold rows may have missed; 4 if all of it were always allowed for
_ALL_LOST = 5.0  # a machine that explains less than the inverse of this costs less: it gets little weight
_NOISE = 2.0  # a machine's share in a cell that differs by less than the root of this, in standard errors, is noise


def machine_scores(gold: NDArray[np.int16], machine: Floats) -> RowScores:
    """Return the scores of a machine's labels in all rows beside gold labels in some.

    ``gold``: 0, 1, or -1 where there is no gold label. ``machine``: the machine's labels, or its probabilities.
    """
    known = gold >= 0
    y, f = np.where(known, gold, 0).astype(float), np.asarray(machine, float)
    values = np.stack([np.ones(len(f)), known, y, known * f, known * f**2, y * f, f, f**2]).astype(float)
    whole = machine_cells(values.sum(axis=1)[:, np.newaxis, np.newaxis])
    p = float(np.clip(whole.mean[0, 0], 1e-9, 1.0 - 1e-9))
    of_many = p * (1.0 - p) / (len(f) * max(float(whole.null_variance[0, 0]), 1e-300))
    share = max(float(known.mean()), 1e-300)
    explained = float(np.clip((1.0 - share / of_many) / (1.0 - min(share, 1.0 - 1e-9)), 0.0, 1.0 - 1e-9))
    kappa = of_many / (1.0 + (1.0 - share) * float(gold_labels_lost(explained, p)) / max(known.sum(), 1))
    draws = partial(machine_null_sums, two_values=_two_values(gold[known], f[known]))
    return RowScores(values, machine_cells, draws, itemgetter(1), known, kappa, p, explained)


def gold_labels_lost(explained: ArrayLike, positives: ArrayLike, dof: ArrayLike = 1.0) -> Floats:
    """Return how many gold labels it costs to learn the machine's errors: c of methods (14.12).

    ``explained``: share ρ² of the variance of the class that the machine explains. ``positives``: p(y=1). ``dof``:
    degrees of freedom of the test, one less than the levels whose errors must be learned.

    Examples
    --------
    >>> gold_labels_lost([0.0, 0.25, 0.64], 0.5).round(1).tolist()
    [0.0, 10.7, 16.9]
    """
    rho2, p, cells = np.asarray(explained, float), np.asarray(positives, float), np.asarray(dof, float) + 1.0
    lost = _LOST + _LOST_UNSEEN * cells * np.sqrt(rho2) / (1.0 - rho2)
    return np.asarray(np.minimum(_ALL_LOST * rho2, 1.0) * lost / (4.0 * p * (1.0 - p)))


def machine_cells(sums: Floats) -> Cells:
    """Return prediction-powered shares of positives, methods (14.5) to (14.7).

    m = mean of gold - λ (mean of the machine on gold rows - mean of the machine on all rows). λ is one number for all
    cells: the slope of gold labels on the machine's within cells, which makes the variance the least (Angelopoulos,
    Duchi & Zrnic 2023). With λ = 0 it is the share among gold rows. No assumption is made on the machine's errors.

    ``sums``, of shape (8, ..., strata, levels of x): rows, gold rows, gold positives, and sums over gold rows of the
    machine's label f, f², f times gold; over all rows of f and f².

    Examples
    --------
    The machine is right on all gold rows: then the share is nearly that of the machine in all rows, 0.625.

    >>> gold, machine = np.array([0, 1, 0, 1, -1, -1, -1, -1]), np.array([0, 1, 0, 1, 1, 1, 1, 0])
    >>> round(float(machine_scores(gold, machine).positives), 2)
    0.61
    """
    total, n, y, f, ff, yf = sums[:6]
    null = _null(sums)
    # What gold labels leave open is the spread of gold - λ machine; a cell with few gold rows borrows some.
    mean_y, mean_f = divided(y, n), divided(f, n)
    of_gold, of_machine, of_both = y - n * mean_y**2, ff - n * mean_f**2, yf - n * mean_y * mean_f  # within cells
    left = np.maximum(of_gold - 2.0 * null.slope * of_both + null.slope**2 * of_machine, 0.0)
    free = n.sum(axis=_CELLS, keepdims=True) - (n > 0).sum(axis=_CELLS, keepdims=True) - 1.0
    pooled = divided(left.sum(axis=_CELLS, keepdims=True), np.maximum(free, 1.0))
    spread = divided(left + _SHARED * pooled, np.maximum(n - 1.0, 0.0) + _SHARED)
    share, p = np.clip(null.mean, 0.0, 1.0), null.positives
    one = np.ones(())
    gap = np.maximum(divided(one, n) - divided(one, total), 0.0)
    own = gap * spread + divided(share * (1.0 - share), total)
    under_independence = gap * null.spread + divided(p * (1.0 - p) * np.ones_like(total), total)
    return Cells(total, null.mean, own, under_independence, n > 0)


class _Null(NamedTuple):
    """The machine in each cell, as it would be if x were independent of y given z."""

    slope: Floats  # λ, the same in all cells
    mean: Floats  # m
    positives: Floats  # p(y=1 | z)
    # in_positives, in_negatives: the mean of the machine's labels in each class
    in_positives: Floats
    in_negatives: Floats
    spread: Floats  # the variance of y - λ f


def _null(sums: Floats) -> _Null:
    """Fit the machine's means in each class, methods (14.7).

    Cells borrow from each other. All rows tell the machine's mean in a cell: if it differs from what the two classes
    have on average, the machine is taken to err more often there, so that its errors do not look like an effect; but
    only as far as the gold rows of the cell may have missed such errors.
    """
    total, n, y, f, ff, yf, f_all, ff_all = sums
    machine = divided(f_all, total)
    spread = np.maximum(divided(ff_all, total) - machine**2, 0.0)
    within = [(of - divided(of_one * f, n)).sum(axis=_CELLS, keepdims=True) for of, of_one in ((yf, y), (ff, f))]
    average = divided((total * spread).sum(axis=_CELLS, keepdims=True), total.sum(axis=_CELLS, keepdims=True))
    slope = divided(within[0], within[1] + _USELESS * average)
    mean = divided(y, n) - slope * (divided(f, n) - machine)

    gold = n.sum(axis=-1, keepdims=True)
    edge = divided(0.5 * np.ones_like(gold), gold)
    p = np.clip(divided((n * mean).sum(axis=-1, keepdims=True), gold), edge, 1.0 - edge)
    overall = divided(f_all.sum(axis=_CELLS, keepdims=True), total.sum(axis=_CELLS, keepdims=True))
    classes = ((yf, y), (f - yf, n - y))
    pooled = [
        (of.sum(axis=_CELLS, keepdims=True) + _USELESS * overall) / (rows.sum(axis=_CELLS, keepdims=True) + _USELESS)
        for of, rows in classes
    ]
    high, low = ((of + _BORROWED * all_) / (rows + _BORROWED) for (of, rows), all_ in zip(classes, pooled, strict=True))
    off = machine - p * high - (1.0 - p) * low
    off = off - divided((total * off).sum(axis=-1, keepdims=True), total.sum(axis=-1, keepdims=True))
    off = off * np.maximum(0.0, 1.0 - divided(_NOISE * divided(spread, total), off**2))
    least, most = yf / (y + _UNSEEN), (f - yf + _UNSEEN) / (n - y + _UNSEEN)
    high = np.maximum(high + divided(np.minimum(off, 0.0), p), np.minimum(high, least))
    low = np.minimum(low + divided(np.maximum(off, 0.0), 1.0 - p), np.maximum(low, most))
    left = p * (1.0 - p) * (1.0 - 2.0 * slope * (high - low)) + slope**2 * spread
    return _Null(slope, mean, p, high, low, np.maximum(left, 0.0))


def machine_null_sums(
    sums: Floats, rng: np.random.Generator, n_draws: int, *, two_values: tuple[float, float]
) -> Floats:
    """Draw sums under independence: gold labels with p(y=1 | z), the machine's by its means in each class.

    ``two_values``: what the machine's labels are drawn from; 0 and 1, or what stands for its probabilities.
    """
    null, (low, high) = _null(sums), two_values
    rows, n = (np.broadcast_to(np.rint(part).astype(np.int64), (n_draws, *part.shape)) for part in sums[:2])
    shares = [
        np.clip((mean - low) / (high - low), 0.0, 1.0) for mean in (null.in_positives, null.in_negatives)
    ]  # of the higher value
    p = null.positives
    y = rng.binomial(n, p)
    both, alone = rng.binomial(y, shares[0]), rng.binomial(n - y, shares[1])
    rest = rng.binomial(rows - n, p * shares[0] + (1.0 - p) * shares[1])

    def power(k: int, among: Counts, higher: Counts) -> Floats:
        """Return the sum of f to the power k, where so many of the rows have the higher value."""
        return np.asarray(low**k * among + (high**k - low**k) * higher)

    seen, ever = both + alone, both + alone + rest
    return np.stack(
        [
            rows,
            n,
            y,
            power(1, n, seen),
            power(2, n, seen),
            power(1, y, both),
            power(1, rows, ever),
            power(2, rows, ever),
        ]
    ).astype(float)


def _two_values(gold: NDArray[np.int16], machine: Floats) -> tuple[float, float]:
    """Return two numbers, of which labels are drawn that have the machine's means and variances in both classes.

    For a variable of the values l and h with mean s the variance is (s - l)(h - s): two classes determine l and h.
    """
    of_class = [machine[gold == k] for k in (1, 0)]
    if not all(len(values) for values in of_class):
        return 0.0, 1.0
    (s, of_s), (g, of_g) = ((float(values.mean()), float(values.var())) for values in of_class)
    if abs(s - g) < 1e-6:
        return 0.0, 1.0
    total = (of_s - of_g + s**2 - g**2) / (s - g)
    product = s * total - s**2 - of_s
    root = np.sqrt(max(total**2 / 4.0 - product, 1e-12))
    return float(total / 2.0 - root), float(total / 2.0 + root)


def predicted_share(gold: NDArray[np.int16], machine: Floats) -> tuple[float, float]:
    """Return the share of positives by gold and machine labels, and its standard error (PPI++).

    The gold share is corrected by λ times the difference of the machine's mean between the other rows and the gold
    rows, with the λ of Angelopoulos, Duchi & Zrnic (2023), between 0 and 1. ``gold``: 0, 1, or -1 where there is none.

    Examples
    --------
    >>> gold, machine = np.array([0, 1, 0, 1, -1, -1, -1, -1]), np.array([0, 1, 0, 1, 1, 1, 1, 0])
    >>> [round(number, 4) for number in predicted_share(gold, machine)]
    [0.6167, 0.1673]
    """
    known = gold >= 0
    y, f, others = gold[known].astype(float), np.asarray(machine, float)[known], np.asarray(machine, float)[~known]
    n, rest = len(y), len(others)
    spread = float(np.var(np.concatenate([f, others]), ddof=1))
    slope = float(np.mean((y - y.mean()) * (f - f.mean()))) / ((1.0 + n / rest) * spread) if spread else 0.0
    slope = min(max(slope, 0.0), 1.0)
    estimate = float(y.mean() + slope * (others.mean() - f.mean()))
    return estimate, float(np.sqrt(slope**2 * others.var() / rest + (y - slope * f).var() / n))
