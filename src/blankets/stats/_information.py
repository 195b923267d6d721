"""Mutual information of count tables, its derivative, and the variance that follows from it.

A table has shape (..., strata, levels of y, levels of x); leading axes are a batch (many features at once),
a pair of features is one x of joint levels, and without a conditioning set there is one stratum. Two
measures, in nats: I = Σ p ln(p p_z / (p_x p_y)) (``loss="log"``) and its second-order companion, the
squared-loss information I₂ = ½ Σ (p - e)² / e with e = p_x p_y / p_z (``loss="squared"``); 2 N Î is G, and
2 N Î₂ is X².

Every estimator here is a smooth function T of the cell frequencies of one multinomial sample, so the delta
method gives its variance: Var(T) ≈ (Σ p φ² - (Σ p φ)²) / N with φ = ∂T/∂p (Agresti 2013, 16.1.4).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets.arguments import one_of
from blankets.errors import DataError
from blankets.stats._estimate import InformationEstimate, divided

Floats = NDArray[np.float64]
Loss = Literal["log", "squared"]

_LOSSES = ("log", "squared")
_CELLS = (-3, -2, -1)


def as_tables(counts: ArrayLike, n_y: int | None = None) -> Floats:
    """Return counts as floats of shape (..., strata, y, x); a plain (y, x) table is one stratum.

    ``n_y`` is the number of levels that y must have; without it, it needs at least two.

    Examples
    --------
    Three axes are one table with strata; many tables without strata have four.

    >>> as_tables(np.ones((5, 2, 3))).shape, as_tables(np.ones((2, 3))).shape, as_tables(np.ones((5, 1, 2, 3))).shape
    ((5, 2, 3), (1, 2, 3), (5, 1, 2, 3))
    """
    try:
        tables = np.asarray(counts, float)
    except (TypeError, ValueError):
        raise _no_tables(n_y, "these are not an array of numbers") from None
    if tables.ndim < 2 or (tables.shape[-2] != n_y if n_y else tables.shape[-2] < 2) or not tables.shape[-1]:
        raise _no_tables(n_y, f"these have shape {tables.shape}")
    return tables[np.newaxis] if tables.ndim == 2 else tables


def _no_tables(n_y: int | None, but: str) -> DataError:
    levels = "at least two levels of y" if n_y is None else f"{n_y} levels of y (negative, positive, unlabeled)"
    return DataError(
        f"count tables have axes (levels of y, levels of x), (strata, levels of y, levels of x), or (tables, strata, "
        f"levels of y, levels of x) where they are many, with {levels}, but {but}"
    )


def log_of_ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Return ln(numerator / denominator), 0 if either is 0 (such a cell has weight 0)."""
    ratio = divided(numerator, denominator)
    return np.log(ratio, out=np.zeros_like(ratio), where=ratio > 0)


def expected(p: Floats) -> Floats:
    """Return p_x p_y / p_z, the cells under conditional independence."""
    p_x, p_y = p.sum(axis=-2, keepdims=True), p.sum(axis=-1, keepdims=True)
    return divided(p_x * p_y, p_y.sum(axis=-2, keepdims=True))


def information(p: Floats, loss: Loss = "log") -> Floats:
    """Return I(X;Y|Z) of a joint distribution p of shape (..., z, y, x), in nats."""
    e = expected(p)
    if loss == "squared":
        return np.asarray(0.5 * divided((p - e) ** 2, e).sum(axis=_CELLS))
    return np.asarray((p * log_of_ratio(p, e)).sum(axis=_CELLS))


def on_a_line(effect: Floats, positives: Floats, levels: int) -> tuple[Floats, Floats]:
    """Return p(y, x) of shape (2, n, levels) with shares of positives on a line, and its information: ``effect``.

    If the line would leave 0 to 1 before, the information is smaller. Arrays have shape (n, 1).
    """
    line = np.linspace(-1.0, 1.0, levels)
    most = np.minimum(positives, 1.0 - positives) * (1.0 - 1e-6)

    def shares(slope: Floats) -> tuple[Floats, Floats]:
        q = positives + slope * line
        q = np.stack([1.0 - q, q]) / levels
        return q, information(np.moveaxis(q, 0, -2)[:, np.newaxis])[:, np.newaxis]

    low, high = np.zeros_like(most), most
    for _ in range(50):
        middle = (low + high) / 2.0
        enough = shares(middle)[1] >= effect
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return shares(high)


def derivative(p: Floats, loss: Loss = "log") -> Floats:
    """Return ∂I/∂p of each cell.

    With W = p / e it is ln W for I (methods (4.2)), and for I₂
    W + ½ (E[W|z] - E[W|x,z] - E[W|y,z]), both up to a constant, which does not change the delta method.
    """
    e = expected(p)
    if loss == "log":
        return log_of_ratio(p, e)
    w = divided(p, e)
    weighted = p * w
    by_x = divided(weighted.sum(axis=-2, keepdims=True), p.sum(axis=-2, keepdims=True))
    by_y = divided(weighted.sum(axis=-1, keepdims=True), p.sum(axis=-1, keepdims=True))
    by_z = divided(weighted.sum(axis=(-2, -1), keepdims=True), p.sum(axis=(-2, -1), keepdims=True))
    return np.asarray(w + 0.5 * (by_z - by_x - by_y))


def delta_variance(p: Floats, phi: Floats, n_rows: Floats) -> Floats:
    """Return (Σ p φ² - (Σ p φ)²) / N over the last three axes, as a sum of squares that cannot be negative."""
    mean = (p * phi).sum(axis=_CELLS, keepdims=True)
    return divided(np.asarray((p * (phi - mean) ** 2).sum(axis=_CELLS)), n_rows)


def seen_dof(counts: Floats) -> Floats:
    """Return Σ over strata of (levels of x seen - 1)₊ (levels of y seen - 1)₊."""
    return np.asarray(seen_dof_by_stratum(counts).sum(axis=-1))


def seen_dof_by_stratum(counts: Floats) -> Floats:
    """Return the degrees of freedom of each stratum, shape (..., strata)."""
    seen_x = (counts.sum(axis=-2) > 0).sum(axis=-1)
    seen_y = (counts.sum(axis=-1) > 0).sum(axis=-1)
    return np.asarray(np.maximum(seen_x - 1, 0) * np.maximum(seen_y - 1, 0), float)


def checked_loss(loss: str) -> None:
    """Refuse an unknown loss."""
    one_of("loss", loss, _LOSSES)


def plug_in(counts: ArrayLike, *, loss: Loss = "log") -> InformationEstimate:
    """Estimate I(X;Y|Z) by the information of the observed frequencies.

    ``counts``, of shape (..., strata, levels of y, levels of x): counts of fully labeled rows. A (y, x) table is one
    stratum; with three axes the first is that of the strata, so that n tables without strata have shape (n, 1, y, x).
    ``loss``: Shannon's information, or the squared-loss information I₂.

    Returns: the variance by methods (4.2) (log), the delta method (squared). Near independence 2 N Î is χ²(dof, 2 N I),
    methods (4.3).

    Examples
    --------
    >>> estimate = plug_in([[30, 10], [20, 40]])
    >>> float(estimate.value.round(6))
    0.086305
    >>> [float(end.round(4)) for end in estimate.interval(0.9)]
    [0.0321, 0.1629]
    """
    checked_loss(loss)
    tables = as_tables(counts)
    n_rows = tables.sum(axis=_CELLS)
    p = divided(tables, n_rows[..., None, None, None])
    value = np.where(n_rows > 0, information(p, loss), np.nan)
    return InformationEstimate(
        value=value,
        variance=delta_variance(p, derivative(p, loss), n_rows),
        statistic=2.0 * n_rows * value,
        dof=seen_dof(tables),
        scale=divided(np.array(0.5), n_rows),
        estimator="plug-in" if loss == "log" else "plug-in (squared loss)",
    )


def miller_madow(counts: ArrayLike) -> InformationEstimate:
    """Estimate I(X;Y|Z) by the plug-in minus its first-order bias, (|X|-1)(|Y|-1)|Z| / 2N (methods (4.1)).

    It goes by numbers of levels; Miller and Madow themselves by the cells that were seen (errata D7). ``counts``, of
    shape (..., strata, levels of y, levels of x): counts of fully labeled rows, with axes as for `plug_in`.

    Examples
    --------
    >>> float(miller_madow([[30, 10], [20, 40]]).value.round(6))
    0.081305
    """
    tables = as_tables(counts)
    estimate, freedom = plug_in(tables), float((tables.shape[-1] - 1) * (tables.shape[-2] - 1) * tables.shape[-3])
    return estimate.less_bias(freedom * estimate.scale, "Miller–Madow")


def correlation_information(value: ArrayLike, n_rows: ArrayLike) -> InformationEstimate:
    """Return the estimate of information -½ ln(1 - r²) of normal columns with a (partial) correlation r.

    ``n_rows``: rows less the columns given, less three. The delta method with Var(r) = (1 - r²)² / n gives r² / n.

    Examples
    --------
    >>> estimate = correlation_information(-0.5 * np.log(1 - 0.3**2), 97)
    >>> [round(float(np.sqrt(1 - np.exp(-2 * end))), 3) for end in estimate.interval(0.95)]  # Fisher's z: .110, .469
    [0.108, 0.471]
    """
    value, n = np.asarray(value, float), np.maximum(np.asarray(n_rows, float), 1.0)
    return InformationEstimate(
        value=value,
        variance=-np.expm1(-2.0 * value) / n,
        statistic=2.0 * n * value,
        dof=np.ones_like(value),
        scale=0.5 / n,
        estimator="partial correlation",
    )
