"""A machine's labels in all rows, beside gold labels in some: shares of positives in cells (methods, section 14)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from operator import itemgetter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets.kernels import fit_machine
from blankets.stats._cell_means import Cells, Fitted, Floats, RowScores
from blankets.stats._estimate import divided
from blankets.stats._information import on_a_line
from blankets.stats._power import needed_noncentrality

Counts = NDArray[np.integer]

_CELLS = (-2, -1)
# These two came near the coverage and the level of simulated tables (benchmarks/labels.py).
_SHARED = 5.0  # gold rows that a cell borrows from the others for its variance
_USELESS = 0.5  # gold rows in which the machine tells nothing
LEAST = 5.0  # gold rows in a cell that is tested by itself; with ten the power is smaller and the level no better
_MOST_LEVELS = 12.0  # more of them change nothing in the noncentrality
_OFTEN, _LEVEL = 0.8, 0.01  # power and level of the test whose effect κ is of, if none is named


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
    two_values = _two_values(gold[known], f[known])
    fitted = partial(machine_fitted, two_values=two_values)
    said = [np.clip((f[gold == k].mean() - two_values[0]) / np.ptp(two_values), 0.0, 1.0) for k in (0, 1)]
    says = [[1.0 - g, g] for g in said]
    worth = partial(_worth, of_many=of_many, positives=p, gold=int(known.sum()), rows=len(f), says=says)
    scores = RowScores(values, machine_cells, fitted, itemgetter(1), known, worth, p, explained, LEAST)
    return replace(scores, of_likelihoods=True)


def _worth(
    dof: float, effect: float, *, of_many: float, positives: float, gold: int, rows: int, says: list[list[float]]
) -> float:
    """Return κ for an effect; ``of_many``, κ of weak effects, says which effect if none is named (NaN)."""
    if np.isnan(effect):
        effect = float(needed_noncentrality(_OFTEN, dof, _LEVEL)) / (2.0 * rows * of_many)
    return min(float(machine_noncentrality(effect, positives, gold, rows, dof, says)) / (2.0 * rows * effect), of_many)


def machine_noncentrality(
    effect: ArrayLike, positives: ArrayLike, gold: ArrayLike, rows: ArrayLike, dof: ArrayLike, says: ArrayLike
) -> Floats:
    """Return the noncentrality of the test with a machine's labels: the likelihood ratio at expected counts.

    All arguments may be arrays, but the last. ``effect``: nats with the class; levels are equally frequent, and their
    shares of positives on a line. ``positives``: p(y=1). ``gold``: gold labels, of ``rows``. ``dof``: degrees of
    freedom, one less than the levels. ``says``, of shape (2, 2): how often the machine says no and yes, for negatives
    and for positives.

    Examples
    --------
    With every label gold it is 2 N I; a machine that is right in nine of ten rows makes 100 gold labels worth 196.

    >>> right = [[0.9, 0.1], [0.1, 0.9]]
    >>> machine_noncentrality(0.03, 0.3, [2000, 100], 2000, 1, right).round(2).tolist()
    [120.0, 11.75]
    """
    arrays = np.broadcast_arrays(*(np.asarray(part, float) for part in (effect, positives, gold, rows, dof)))
    found, given = np.full(arrays[0].shape, np.nan), np.isfinite(arrays).all(axis=0)
    levels = np.minimum(arrays[4] + 1.0, _MOST_LEVELS)
    for n_levels in np.unique(levels[given]):
        at = given & (levels == n_levels)
        nats, p, n, total = (part[at, np.newaxis] for part in arrays[:4])
        joint, reached = machine_design(nats, p, int(n_levels), says)
        joint, n, total = joint[..., np.newaxis, :], n[..., np.newaxis], total[..., np.newaxis]
        statistic = _independent(n * joint, np.maximum(total - n, 0.0) * joint.sum(axis=0))[0]
        found[at] = statistic * divided(nats, reached)[:, 0]
    return found


def machine_design(effect: Floats, positives: Floats, levels: int, says: ArrayLike) -> tuple[Floats, Floats]:
    """Return p(y, what the machine says, x) of shape (2, 2, n, levels), and its information: ``effect`` if it can be.

    Levels are equally frequent, their shares of positives on a line. ``effect``, ``positives``: of shape (n, 1).
    """
    shares, reached = on_a_line(effect, positives, levels)
    return shares[:, np.newaxis] * np.reshape(says, (2, 2, 1, 1)), reached


def machine_cells(sums: Floats) -> Cells:
    """Return prediction-powered shares of positives, methods (14.5) and (14.6).

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
    total, n, y, f, ff, yf, f_all, ff_all = sums
    machine, mean_y, mean_f = divided(f_all, total), divided(y, n), divided(f, n)
    of_gold, of_machine, of_both = y - n * mean_y**2, ff - n * mean_f**2, yf - n * mean_y * mean_f  # within cells
    of_all = np.maximum(ff_all - total * machine**2, 0.0)
    within, useless, beside = (part.sum(axis=_CELLS, keepdims=True) for part in (of_both, of_all, of_machine))
    slope = divided(within, beside + _USELESS * divided(useless, total.sum(axis=_CELLS, keepdims=True)))
    mean = mean_y - slope * (mean_f - machine)
    # What gold labels leave open is the spread of gold - λ machine; a cell with few gold rows borrows some.
    left = np.maximum(of_gold - 2.0 * slope * of_both + slope**2 * of_machine, 0.0)
    free = n.sum(axis=_CELLS, keepdims=True) - (n > 0).sum(axis=_CELLS, keepdims=True) - 1.0
    pooled = divided(left.sum(axis=_CELLS, keepdims=True), np.maximum(free, 1.0))
    spread = divided(left + _SHARED * pooled, np.maximum(n - 1.0, 0.0) + _SHARED)
    gold = n.sum(axis=-1, keepdims=True)
    edge = divided(0.5 * np.ones_like(gold), gold)
    p = np.clip(divided((n * mean).sum(axis=-1, keepdims=True), gold), edge, 1.0 - edge)
    share, one = np.clip(mean, 0.0, 1.0), np.ones_like(total)
    open_ = np.maximum(divided(one, n) - divided(one, total), 0.0) * spread
    own, under_independence = (open_ + divided(q * (1.0 - q) * one, total) for q in (share, p))
    return Cells(total, mean, own, under_independence, n > 0)


def machine_fitted(sums: Floats, *, two_values: tuple[float, float]) -> Fitted:
    """Return the likelihood ratio of independence, methods (14.7), and the law that fits best under it.

    ``two_values``: what the machine's labels are; 0 and 1, or what stands for its probabilities.
    """
    low, high = two_values
    total, n, y, f, _, yf, f_all, _ = sums

    def by_value(rows: Floats, of: Floats) -> Floats:
        """Return how many of the rows have the lower and the higher value, from the sum of f over them."""
        higher = np.clip((of - low * rows) / (high - low), 0.0, rows)
        return np.stack([rows - higher, higher])

    gold = np.stack([by_value(n - y, f - yf), by_value(y, yf)])
    statistic, shares = _independent(gold, by_value(total - n, f_all - f))
    dof = np.maximum((n > 0).sum(axis=-1) - 1.0, 0.0).sum(axis=-1)

    def draw(rng: np.random.RandomState, n_draws: int) -> Floats:
        positives, higher = shares[1].sum(axis=0), shares[:, 1] / shares.sum(axis=1)
        rows, among = (np.broadcast_to(np.rint(part).astype(np.int64), (n_draws, *part.shape)) for part in sums[:2])
        p = np.clip(positives, 0.0, 1.0)
        is_1 = rng.binomial(among, p)
        both, alone = rng.binomial(is_1, higher[1]), rng.binomial(among - is_1, higher[0])
        rest = rng.binomial(rows - among, np.clip(shares[:, 1].sum(axis=0), 0.0, 1.0))

        def power(k: int, of: Counts, higher: Counts) -> Floats:
            """Return the sum of f to the power k, where so many of the rows have the higher value."""
            return np.asarray(low**k * of + (high**k - low**k) * higher)

        seen, ever = both + alone, both + alone + rest
        of_gold = [power(1, among, seen), power(2, among, seen), power(1, is_1, both)]
        return np.stack([rows, among, is_1, *of_gold, power(1, rows, ever), power(2, rows, ever)]).astype(float)

    return Fitted(statistic, dof, _left_open(shares, n), draw)


def machine_independent(gold: Floats, rest: Floats) -> Floats:
    """Return the shares (y, what the machine says) in each level under which counts are the most likely, if x ⊥ y.

    ``gold``, of shape (2, 2, ..., strata, levels of x); ``rest``, the counts of rows without a gold label by what the
    machine says.
    """
    return _independent(gold, rest)[1]


def _left_open(shares: Floats, gold: Floats) -> Floats:
    """Return in how many gold rows the machine leaves the class open: if errors are rare, how many are expected."""
    return np.asarray((gold * (shares.prod(axis=0) / shares.sum(axis=0)).sum(axis=0)).sum(axis=_CELLS))


def _independent(gold: Floats, rest: Floats) -> tuple[Floats, Floats]:
    """Return the likelihood ratio statistic of equal shares of positives within strata, and the shares under them.

    ``gold``, of shape (classes, values, ..., strata, levels of x); ``rest``, of shape (values, ..., strata, levels).
    """
    shape, levels = gold.shape[2:], gold.shape[-1]
    told = np.ascontiguousarray(gold, float).reshape(4, -1), np.ascontiguousarray(rest, float).reshape(2, -1)
    ratios, shares = fit_machine(*told, levels)
    return np.maximum(ratios.reshape(shape[:-1]).sum(axis=-1), 0.0), shares.reshape(gold.shape)


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
