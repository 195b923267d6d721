"""One cell's part of G under independence, given its margins: its mean, and its variance by polynomial degree.

The count o of a cell with margins r and c in a stratum of n rows is hypergeometric, and the cell's part of G is
2 (o ln(o/e) - (o - e)) with e = r c / n. Its expansion in the polynomials that are orthogonal under this distribution
has a coefficient for each degree. Every cell of every table needs them, so they are taken from tables:

* strata of up to `SMALL` rows: exactly, for every n, r and c;
* otherwise as binomial counts with the same mean and variance, interpolated between numbers of draws and
  probabilities. Beyond `TABLED` draws the probability is small, and the number of draws hardly matters for the same e;
* expected counts from `SERIES` on: by a series in 1/e.

Means are within 3% of enumeration, mostly within 0.5%; if that could change a decision, cells are enumerated
(`exact_cells`).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from blankets import kernels
from blankets.kernels import DEGREES, SERIES, SMALL, STEPS, TABLED
from blankets.stats._special import log_gamma, xlogy

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@lru_cache(maxsize=1)
def cell_tables() -> kernels.Cells:
    """Return the tables; computing them takes 50 ms, once."""
    small = _small_strata()
    return kernels.Cells(small, _binomials(), small[..., 0].astype(np.float32), _small_roots())


def _small_roots() -> Floats:
    roots = np.zeros((SMALL + 1, SMALL + 1, DEGREES + 1))
    for n in range(1, SMALL + 1):
        kernels.fill_roots(n, roots[n])
    return roots


@lru_cache(maxsize=1)
def _small_strata() -> Floats:
    n, r, c = (axis.ravel() for axis in np.indices((SMALL + 1,) * 3))
    some = (r >= 1) & (c >= 1) & (r < n) & (c < n)
    table = np.zeros((len(n), DEGREES + 1))
    table[some] = _enumerated(n[some], r[some], c[some], np.minimum(r, c)[some])
    return table.reshape((SMALL + 1,) * 3 + (-1,))


def _binomials() -> Floats:
    """Return cells with binomial counts of 1 to `TABLED` draws, at probabilities (j / steps)²."""
    m, j = (axis.ravel() for axis in np.mgrid[1 : TABLED + 1, 1:STEPS])
    a, o = ((j / STEPS) ** 2)[:, np.newaxis], np.arange(TABLED + 1)
    draws = m[:, np.newaxis]
    rest = np.maximum(draws - o, 0)
    log_weight = log_gamma(draws + 1) - log_gamma(o + 1) - log_gamma(rest + 1) + xlogy(o, a) + xlogy(rest, 1 - a)
    weight = np.where(o <= draws, np.exp(log_weight), 0.0)
    table = np.zeros((TABLED + 1, STEPS + 1, DEGREES + 1))
    table[m, j] = _expanded(weight, np.zeros_like(m), m * a[:, 0], m)
    return table


def exact_cells(r: Ints, c: Ints, n: Ints) -> Floats:
    """Return mean and coefficients of cells, shape (cells, DEGREES + 1), by enumeration.

    Counts above e + 12 √e + 20, which have no weight, are left out; expected counts from `SERIES` on use the series.
    """
    out = np.zeros((len(n), DEGREES + 1))
    e = r * c / n
    few = n <= SMALL
    out[few] = _small_strata()[n[few], r[few], c[few]]
    many = ~few & (e >= SERIES)
    out[many] = _series(e[many], r[many] / n[many], c[many] / n[many], n[many])
    at = np.flatnonzero(~few & ~many)
    for start in range(0, len(at), 4096):  # some megabytes
        some = at[start : start + 4096]
        most = np.minimum(np.minimum(r[some], c[some]), (e[some] + 12.0 * np.sqrt(e[some]) + 20.0).astype(np.int64))
        out[some] = _enumerated(n[some], r[some], c[some], most)
    return out


def _series(e: Floats, r: Floats, c: Floats, n: Ints) -> Floats:
    """Expand δ²/e - δ³/3e² + δ⁴/6e³ with δ = o - e, of variance s e and skewness ``skew`` / √(s e)."""
    s, skew = (1.0 - r) * (1.0 - c) * n / (n - 1.0), (1.0 - 2.0 * r) * (1.0 - 2.0 * c)
    mean, root = s + (0.5 * s * s - s * skew / 3.0) / e, np.sqrt(s / e)
    degree_3, degree_4 = -math.sqrt(6.0) / 3.0 * s * root, math.sqrt(24.0) / 6.0 * s * s / e
    return np.stack([mean, root * (skew - s), math.sqrt(2.0) * mean, degree_3, degree_4], axis=1)


def _enumerated(n: Ints, r: Ints, c: Ints, high: Ints) -> Floats:
    """Return mean and coefficients from the hypergeometric probabilities of all counts up to ``high``."""
    low = np.maximum(0, r + c - n)
    o = low[:, np.newaxis] + np.arange(int((high - low).max(initial=0)) + 1)
    r, c, n, last = (numbers[:, np.newaxis] for numbers in (r, c, n, high))
    ratio = np.where(o < last, (r - o) * (c - o) / ((o + 1.0) * np.maximum(n - r - c + o + 1, 1)), 0.0)
    weight = np.ones(o.shape)
    np.cumprod(ratio[:, :-1], axis=1, out=weight[:, 1:])
    return _expanded(weight, low, (r * c / n)[:, 0], high - low)


def _expanded(weight: Floats, low: Ints, e: Floats, span: Ints) -> Floats:
    """Return the mean of each cell's part of G and its coefficients by degree.

    ``weight`` (cells, counts) are the probabilities, up to a factor, of the counts from ``low`` on.
    """
    o, e = low[:, np.newaxis] + np.arange(float(weight.shape[1])), e[:, np.newaxis]
    part, d = 2.0 * (xlogy(o, o / e) - (o - e)), o - e
    weight = weight / weight.sum(axis=1, keepdims=True)
    moments, along, power = [], [], weight
    for k in range(7):
        moments.append(power.sum(axis=1))
        if k < DEGREES:
            along.append((power * part).sum(axis=1))
        power = power * d
    return _projected(moments, along, (weight * part * part).sum(axis=1), span)


def _projected(moments: list[Floats], along: list[Floats], square: Floats, span: Ints) -> Floats:
    """Orthogonalize 1, δ, δ², δ³ and project the cells' parts of G on them; the rest goes to the last degree."""
    _, _, m2, m3, m4, m5, m6 = moments
    d0, d1, d2, d3 = along
    with np.errstate(divide="ignore", invalid="ignore"):
        norm2 = m4 - m3 * m3 / m2 - m2 * m2
        along2 = d2 - m3 / m2 * d1 - m2 * d0
        shared = np.where(norm2 > 0.0, (m5 - m3 / m2 * m4 - m2 * m3) / norm2, 0.0)
        norm3 = m6 - shared * shared * norm2 - m4 * m4 / m2 - m3 * m3
        along3 = d3 - shared * along2 - m4 / m2 * d1 - m3 * d0
        left = np.maximum(square - d0 * d0, 0.0)
        out = [d0]
        for k, (norm, own) in enumerate(((m2, d1), (norm2, along2), (norm3, along3))):
            # Only with k + 2 counts or more there is such a polynomial; rounding must not create others.
            size = np.where((span > k) & (norm > 0.0), np.minimum(np.abs(own) / np.sqrt(norm), np.sqrt(left)), 0.0)
            out.append(np.copysign(size, own))
            left = np.maximum(left - size * size, 0.0)
    out.append(np.where(span >= DEGREES, np.sqrt(left), 0.0))
    return np.stack(out, axis=1)
