"""One cell's part of G under independence, given its margins: the mean, and what varies, by degree.

The count o of a cell with margins r and c in a stratum of n rows is hypergeometric, and the cell's part of G is
2 (o ln(o/e) - (o - e)) with e = r c / n. Its expansion in the polynomials that are orthogonal under that law has a
coefficient for each degree. They are needed for every cell of every table, so they are looked up:

* strata of up to `SMALL` rows: exactly, for every n, r and c;
* otherwise as binomial counts with the same mean and variance, interpolated between numbers of draws and
  probabilities. Beyond `TABLED` draws the probability is small, and the number of draws hardly matters for the same e;
* expected counts from `SERIES` on: by a series in 1/e.

Means are within 3% of enumeration, mostly within 0.5%; where that may decide, cells are enumerated.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numba import njit
from numpy.typing import NDArray

from blankets.stats._contingency import _MOST_TERMS, _entropy_terms

__all__ = ["DEGREES", "ROOM", "Cells", "cell_tables", "put_cell", "put_exact_cell", "put_small_cell"]

DEGREES = 4  # polynomials of degree 1, 2, 3; what is left counts as degree 4
SMALL = 32
TABLED = 48
SERIES = 8.0
ROOM = 80  # counts that are enumerated
_STEPS = 128  # of the square root of the probability
_NEGLIGIBLE = 1e-13  # probabilities below this share of the largest are left out

Floats = NDArray[np.float64]
Cells = tuple[Floats, Floats, Floats, Floats]


@lru_cache(maxsize=1)
def cell_tables() -> Cells:
    """Return tables for small strata, by n, r and c, for binomial counts, by draws and probability, and of n ln n.

    The last axis of the first two holds the mean and the coefficients of degree 1 to 4. The fourth has
    √((m)_k / (n - m)_k) of a margin m, by k - 1, n and m, or 0 where its cells have no polynomial of degree k.
    """
    terms = _entropy_terms(_MOST_TERMS)
    return _small_strata(SMALL, terms), _binomials(TABLED, _STEPS, terms), terms[: 16 * ROOM], _small_roots()


def _small_roots() -> Floats:
    n, m = np.arange(SMALL + 1.0)[:, np.newaxis], np.arange(SMALL + 1.0)
    ratios = []
    for k in range(DEGREES):
        some = np.minimum(m, n - m) > k
        ratios.append(np.where(some, (m - k) / np.where(some, n - m - k, 1.0), 0.0))
    roots: Floats = np.sqrt(np.cumprod(ratios, axis=0))
    return roots


@njit(nogil=True, cache=True)
def put_small_cell(r: int, c: int, n: int, small: Floats, out: Floats, at: int) -> None:
    """Put mean and coefficients of a cell of a stratum of up to `SMALL` rows into ``out[:, at]``."""
    for k in range(DEGREES + 1):
        out[k, at] = small[n, r, c, k]


@njit(nogil=True, cache=True)
def put_cell(r: int, c: int, n: int, binomials: Floats, out: Floats, at: int) -> None:
    """Put mean and coefficients of a cell of a larger stratum into ``out[:, at]``."""
    e = r * c / n
    kept = (1.0 - r / n) * (1.0 - c / n) * n / (n - 1.0)  # the variance over e
    if e >= SERIES:
        _put_series(e, kept, (1.0 - 2.0 * r / n) * (1.0 - 2.0 * c / n), out, at)
        return
    scale, a = 1.0, 1.0 - kept
    if e > TABLED * a:
        scale, a = kept / (1.0 - e / TABLED), e / TABLED
    draws, step = e / a, math.sqrt(a) * _STEPS
    m, j = min(max(int(draws), 1), TABLED - 1), min(int(step), _STEPS - 1)
    more, right = min(draws - m, 1.0), step - j
    for k in range(DEGREES + 1):
        fewer = (1.0 - right) * binomials[m, j, k] + right * binomials[m, j + 1, k]
        other = (1.0 - right) * binomials[m + 1, j, k] + right * binomials[m + 1, j + 1, k]
        out[k, at] = scale * ((1.0 - more) * fewer + more * other)


@njit(nogil=True, cache=True)
def put_exact_cell(r: int, c: int, n: int, terms: Floats, weights: Floats, out: Floats, at: int) -> None:
    """Put mean and coefficients of a cell into ``out[:, at]`` by enumeration; ``weights`` is room for that."""
    e = r * c / n
    low = max(0, r + c - n)
    high = min(r, c, int(e + 12.0 * math.sqrt(e) + 20.0))
    if e >= SERIES or high - low >= len(weights):
        kept = (1.0 - r / n) * (1.0 - c / n) * n / (n - 1.0)
        _put_series(e, kept, (1.0 - 2.0 * r / n) * (1.0 - 2.0 * c / n), out, at)
        return
    _hypergeometric(low, high, r, c, n, weights)
    found = np.empty(DEGREES + 1)
    _expand(low, high, e, weights, terms, found)
    out[:, at] = found


@njit(nogil=True, cache=True)
def _hypergeometric(low: int, high: int, r: int, c: int, n: int, weights: Floats) -> None:
    """Put the probabilities of counts from ``low`` to ``high``, but for a factor, into ``weights``."""
    weights[0] = 1.0
    for o in range(low, high):
        weights[o + 1 - low] = weights[o - low] * ((r - o) * (c - o)) / ((o + 1.0) * (n - r - c + o + 1.0))


@njit(nogil=True, cache=True)
def _put_series(e: float, s: float, skew: float, out: Floats, at: int) -> None:
    """Expand δ²/e - δ³/3e² + δ⁴/6e³ with δ = o - e, of variance s e and skewness ``skew`` / √(s e)."""
    mean = s + (0.5 * s * s - s * skew / 3.0) / e
    root = math.sqrt(s / e)
    out[0, at] = mean
    out[1, at] = root * (skew - s)
    out[2, at] = math.sqrt(2.0) * mean
    out[3, at] = -math.sqrt(6.0) / 3.0 * s * root
    out[4, at] = math.sqrt(24.0) / 6.0 * s * s / e


@njit(nogil=True, cache=True)
def _small_strata(most: int, terms: Floats) -> Floats:
    """Return the table of all cells of strata of up to ``most`` rows."""
    out = np.zeros((most + 1, most + 1, most + 1, DEGREES + 1))
    weights = np.empty(most + 1)
    for n in range(2, most + 1):
        for r in range(1, n):
            for c in range(1, n):
                low, high = max(0, r + c - n), min(r, c)
                _hypergeometric(low, high, r, c, n, weights)
                _expand(low, high, r * c / n, weights, terms, out[n, r, c])
    return out


@njit(nogil=True, cache=True)
def _binomials(most: int, n_steps: int, terms: Floats) -> Floats:
    """Return the table of binomial counts of up to ``most`` draws at probabilities (j / steps)²."""
    out = np.zeros((most + 1, n_steps + 1, DEGREES + 1))
    weights = np.empty(most + 1)
    for m in range(1, most + 1):
        for j in range(1, n_steps):
            a = (j / n_steps) ** 2
            for o in range(m + 1):
                weights[o] = (
                    math.exp(math.lgamma(m + 1.0) - math.lgamma(o + 1.0) - math.lgamma(m - o + 1.0))
                    * math.pow(a, o)
                    * math.pow(1.0 - a, m - o)
                )
            _expand(0, m, m * a, weights, terms, out[m, j])
    return out


@njit(nogil=True, cache=True)
def _expand(low: int, high: int, e: float, weights: Floats, terms: Floats, out: Floats) -> None:
    """Put the mean of a cell's part of G and its coefficients by degree into ``out``."""
    log_e = math.log(e)
    moments = np.zeros(7)  # of the count around e
    along = np.zeros(4)  # of the cell's part of G with powers of the count
    square = 0.0
    for o in range(low, high + 1):
        power, part = weights[o - low], 2.0 * (terms[o] - o * log_e - (o - e))
        square += power * part * part
        for k in range(7):
            moments[k] += power
            if k < 4:
                along[k] += power * part
            power *= o - e
    _project(moments / moments[0], along / moments[0], square / moments[0], high - low, out)


@njit(nogil=True, cache=True)
def _project(moments: Floats, along: Floats, square: float, span: int, out: Floats) -> None:
    """Orthogonalise 1, δ, δ², δ³ and project the cell's part of G on them; the rest goes to the last degree."""
    m2, m3, m4, m5, m6 = moments[2], moments[3], moments[4], moments[5], moments[6]
    d0, d1, d2, d3 = along[0], along[1], along[2], along[3]
    left = max(square - d0 * d0, 0.0)
    norm2 = m4 - m3 * m3 / m2 - m2 * m2
    along2 = d2 - m3 / m2 * d1 - m2 * d0
    shared = (m5 - m3 / m2 * m4 - m2 * m3) / norm2 if norm2 > 0.0 else 0.0
    norm3 = m6 - shared * shared * norm2 - m4 * m4 / m2 - m3 * m3
    along3 = d3 - shared * along2 - m4 / m2 * d1 - m3 * d0
    norms, alongs = (m2, norm2, norm3), (d1, along2, along3)
    out[0] = d0
    for k in range(DEGREES - 1):
        out[k + 1] = 0.0
        if span > k and norms[k] > 0.0:  # k + 2 counts are possible
            # Rounding must not find more than there is.
            out[k + 1] = math.copysign(min(abs(alongs[k]) / math.sqrt(norms[k]), math.sqrt(left)), alongs[k])
            left = max(left - out[k + 1] * out[k + 1], 0.0)
    out[DEGREES] = math.sqrt(left) if span >= DEGREES else 0.0
