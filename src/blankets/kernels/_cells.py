"""One cell's part of G under independence, given its margins: its mean, and its variance by polynomial degree.

The count o of a cell with margins r and c in a stratum of n rows is hypergeometric, and the cell's part of G is
2 (o ln(o/e) - (o - e)) with e = r c / n. Its expansion in the polynomials that are orthogonal under this distribution
has a coefficient for each degree. Every cell of every table needs them, so they are taken from tables:

* strata of up to `SMALL` rows: exactly, for every n, r and c;
* otherwise as binomial counts with the same mean and variance, interpolated between numbers of draws and
  probabilities. Beyond `TABLED` draws the probability is small, and the number of draws hardly matters for the same e;
* expected counts from `SERIES` on: by a series in 1/e.

Means are within 3% of enumeration, mostly within 0.5%; if that could change a decision, cells are enumerated.
"""

from __future__ import annotations

from math import log, sqrt

from blankets.kernels._types import *

DEGREES: int64 = 4  # polynomials of degree 1, 2, 3; what is left counts as degree 4
SMALL: int64 = 32  # rows of a stratum whose cells are looked up exactly
TABLED: int64 = 48  # draws of the binomial counts by which the others are
STEPS: int64 = 128  # of the square root of their probability
SERIES: float64 = 8.0  # from this expected count on there is a series


@inner
def _put_expansion(
    low: int64, high: int64, e: float64, r: float64, c: float64, odds: float64, n: float64, out: NewReals2, at: int64
) -> void:
    """Put the mean of a cell's part of G and its coefficients by degree into ``out[at]``, from all its counts.

    One count is (r - o) (c - o) / ((o + 1) (n - r - c + o + 1)) as probable as the one before it; with ``odds`` it is
    binomial of r draws: (r - o) odds / (o + 1).
    """
    weight: float64 = 1.0
    total: float64 = 0.0
    m2: float64 = 0.0
    m3: float64 = 0.0
    m4: float64 = 0.0
    m5: float64 = 0.0
    m6: float64 = 0.0
    d0: float64 = 0.0
    d1: float64 = 0.0
    d2: float64 = 0.0
    d3: float64 = 0.0
    square: float64 = 0.0
    for k in range(low, high + 1):
        o: float64 = k
        d: float64 = o - e
        part: float64 = 2.0 * ((o * log(o / e) if k > 0 else 0.0) - d)
        power: float64 = weight * d * d
        total += weight
        m2 += power
        m3 += power * d
        m4 += power * d * d
        m5 += power * d * d * d
        m6 += power * d * d * d * d
        d0 += weight * part
        d1 += weight * d * part
        d2 += power * part
        d3 += power * d * part
        square += weight * part * part
        if odds > 0.0:
            weight *= (r - o) * odds / (o + 1.0)
        else:
            weight *= (r - o) * (c - o) / ((o + 1.0) * max(n - r - c + o + 1.0, 1.0))
    m2 /= total
    m3 /= total
    m4 /= total
    m5 /= total
    m6 /= total
    d0 /= total
    d1 /= total
    d2 /= total
    d3 /= total
    left: float64 = max(square / total - d0 * d0, 0.0)
    out[at, 0] = d0
    for k in range(1, DEGREES + 1):
        out[at, k] = 0.0
    if high == low or m2 <= 0.0:
        return
    # Orthogonalize 1, d, d^2, d^3 and project the part of G on them; the rest goes to the last degree.
    norm2: float64 = m4 - m3 * m3 / m2 - m2 * m2
    along2: float64 = d2 - m3 / m2 * d1 - m2 * d0
    shared: float64 = (m5 - m3 / m2 * m4 - m2 * m3) / norm2 if norm2 > 0.0 else 0.0
    norm3: float64 = m6 - shared * shared * norm2 - m4 * m4 / m2 - m3 * m3
    along3: float64 = d3 - shared * along2 - m4 / m2 * d1 - m3 * d0
    # Only with k + 2 counts or more there is a polynomial of degree k + 1; rounding must not create others.
    for k in range(DEGREES - 1):
        norm: float64 = m2 if k == 0 else norm2 if k == 1 else norm3
        own: float64 = d1 if k == 0 else along2 if k == 1 else along3
        if high - low > k and norm > 0.0:
            size: float64 = min(abs(own) / sqrt(norm), sqrt(left))
            out[at, k + 1] = size if own >= 0.0 else -size
            left = max(left - size * size, 0.0)
    if high - low >= DEGREES:
        out[at, DEGREES] = sqrt(left)


@inner
def _put_series(e: float64, kept: float64, skew: float64, out: NewReals2, at: int64) -> void:
    """Put the expansion of d^2/e - d^3/3e^2 + d^4/6e^3, d = o - e, of variance ``kept`` e, into ``out[at]``."""
    root: float64 = sqrt(kept / e)
    mean: float64 = kept + (0.5 * kept * kept - kept * skew / 3.0) / e
    out[at, 0] = mean
    out[at, 1] = root * (skew - kept)
    out[at, 2] = sqrt(2.0) * mean
    out[at, 3] = -sqrt(6.0) / 3.0 * kept * root
    out[at, 4] = sqrt(24.0) / 6.0 * kept * kept / e


@inner
def put_cell(
    r: int64, c: int64, n: int64, degrees: int64, exact: bint, binomials: Reals3, out: NewReals2, at: int64
) -> void:
    """Put the mean of a cell of a stratum of more than `SMALL` rows, and its coefficients, into ``out[at]``.

    If it is to be ``exact``, its counts are enumerated; those above e + 12 sqrt(e) + 20 have no weight.
    """
    rows: float64 = n
    product: float64 = r * c
    e: float64 = product / rows
    kept: float64 = (1.0 - r / rows) * (1.0 - c / rows) * rows / (rows - 1.0)  # the variance over e
    if e >= SERIES:
        _put_series(e, kept, (1.0 - 2.0 * r / rows) * (1.0 - 2.0 * c / rows), out, at)
        return
    if exact:
        high: int64 = min(min(r, c), whole(e + 12.0 * sqrt(e) + 20.0))
        _put_expansion(max(0, r + c - n), high, e, r, c, 0.0, rows, out, at)
        return
    scale: float64 = 1.0
    a: float64 = 1.0 - kept
    if e > TABLED * a:
        scale = kept / (1.0 - e / TABLED)
        a = e / TABLED
    draws: float64 = e / a
    step: float64 = sqrt(a) * STEPS
    m: int64 = min(max(whole(draws), 1), TABLED - 1)
    j: int64 = min(max(whole(step), 0), STEPS - 1)
    more: float64 = min(draws - m, 1.0)
    right: float64 = step - j
    for k in range(degrees + 1):
        fewer: float64 = (1.0 - right) * binomials[m, j, k] + right * binomials[m, j + 1, k]
        other: float64 = (1.0 - right) * binomials[m + 1, j, k] + right * binomials[m + 1, j + 1, k]
        out[at, k] = scale * ((1.0 - more) * fewer + more * other)


@inner
def put_root(m: int64, n: int64, out: NewReals2, at: int64) -> void:
    """Put sqrt((m)_k / (n - m)_k) of a margin m of a stratum into ``out[at, k]``, for k = 1 to `DEGREES`."""
    root: float64 = 1.0
    for k in range(1, DEGREES + 1):
        root *= 0.0 if min(m, n - m) < k else sqrt((m - k + 1.0) / (n - m - k + 1.0))
        out[at, k] = root


@door
def fill_cells(small: NewReals2, binomials: NewReals2, roots: NewReals2) -> None:
    """Fill the tables of cells (see `Cells`), whose axes but the last are one here."""
    n_small: int64 = SMALL + 1
    if small.shape[0] != n_small * n_small * n_small or binomials.shape[0] != (TABLED + 1) * (STEPS + 1):
        raise ValueError("the tables of cells do not have this shape")
    if roots.shape[0] != n_small * n_small or min(small.shape[1], binomials.shape[1], roots.shape[1]) <= DEGREES:
        raise ValueError("the tables of cells do not have this shape")
    with nogil:
        for n in range(1, n_small):
            for m in range(n + 1):
                put_root(m, n, roots, n * n_small + m)
            rows: float64 = n
            for r in range(1, n):
                for c in range(1, n):
                    e: float64 = r * c / rows
                    at: int64 = (n * n_small + r) * n_small + c
                    _put_expansion(max(0, r + c - n), min(r, c), e, r, c, 0.0, rows, small, at)
        for draws in range(1, TABLED + 1):
            for j in range(1, STEPS):
                root: float64 = j / (1.0 * STEPS)
                share: float64 = root * root
                at = draws * (STEPS + 1) + j
                _put_expansion(0, draws, draws * share, draws, 0.0, share / (1.0 - share), 0.0, binomials, at)
