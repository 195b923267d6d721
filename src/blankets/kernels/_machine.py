"""The fit of a machine's labels beside gold ones under independence (see `stats._machine_labels`)."""

from __future__ import annotations

from math import log

import numpy as np

from blankets.kernels._types import *

TRACE: float64 = 1e-4  # of a gold row, added to each count: a limit of the fit has a logarithm then
FIT_STEPS: int64 = 30  # of Newton's method at most; 10 to 20 are needed
FIT_NEAR: float64 = 1e-6  # the largest relative step after which there is no other
KEPT: float64 = 0.95  # of the way to a share of zero, at most

# Shares of a cell are numbered 2y + f, with the class y and what the machine says, f. What a step needs of a cell:
SLOPE: int64 = 0  # four slopes of the log likelihood; then the step
INVERSE: int64 = 4  # of the four shares
I00: int64 = 8  # for each f, the inverse of minus the second derivatives
I01: int64 = 10
I11: int64 = 12
S00: int64 = 14  # these summed over f
S01: int64 = 15
S11: int64 = 16
T0: int64 = 17  # their products with the slopes, summed over f
T1: int64 = 18
DET: int64 = 19  # the inverse of the determinant of S
PER_CELL: int64 = 20


@inner
def _start_of(gold: Reals2, rest: Reals2, first: int64, levels: int64, cells: NewInts, q: NewReals2) -> int64:
    """Set the shares of a stratum to those of all its cells together, and which cells have rows; return how many."""
    n: int64 = 0
    for c in range(first, first + levels):
        if gold[0, c] + gold[1, c] + gold[2, c] + gold[3, c] + rest[0, c] + rest[1, c] > 0.0:
            cells[n] = c
            n += 1
    every: float64 = 4.0 * TRACE * levels
    for c in range(first, first + levels):
        every += gold[0, c] + gold[1, c] + gold[2, c] + gold[3, c] + rest[0, c] + rest[1, c]
    for f in range(2):
        of_0: float64 = TRACE * levels
        of_1: float64 = TRACE * levels
        others: float64 = 0.0
        for c in range(first, first + levels):
            of_0 += gold[f, c]
            of_1 += gold[2 + f, c]
            others += rest[f, c]
        said: float64 = (of_0 + of_1 + others) / every / (of_0 + of_1)
        for c in range(first, first + levels):
            q[f, c] = said * of_0
            q[2 + f, c] = said * of_1
    return n


@inner
def _curves_of(gold: Reals2, rest: Reals2, c: int64, q: Reals2, room: NewReals, at: int64) -> void:
    """Set slopes of the log likelihood of a cell, the inverse of minus its second derivatives, and sums of both."""
    for k in range(S00, DET):
        room[at + k] = 0.0
    for f in range(2):
        u0: float64 = 1.0 / q[f, c]
        u1: float64 = 1.0 / q[2 + f, c]
        both: float64 = 1.0 / (q[f, c] + q[2 + f, c])
        other: float64 = rest[f, c] * both
        bend: float64 = other * both
        down: float64 = (gold[f, c] + TRACE) * u0
        up: float64 = (gold[2 + f, c] + TRACE) * u1
        a0: float64 = down * u0
        a1: float64 = up * u1
        unit: float64 = 1.0 / (a0 * a1 + bend * (a0 + a1))
        room[at + INVERSE + f] = u0
        room[at + INVERSE + 2 + f] = u1
        room[at + SLOPE + f] = down + other
        room[at + SLOPE + 2 + f] = up + other
        room[at + I00 + f] = (a1 + bend) * unit
        room[at + I01 + f] = -bend * unit
        room[at + I11 + f] = (a0 + bend) * unit
        room[at + S00] += room[at + I00 + f]
        room[at + S01] += room[at + I01 + f]
        room[at + S11] += room[at + I11 + f]
        room[at + T0] += room[at + I00 + f] * (down + other) + room[at + I01 + f] * (up + other)
        room[at + T1] += room[at + I01 + f] * (down + other) + room[at + I11 + f] * (up + other)
    room[at + DET] = 1.0 / (room[at + S00] * room[at + S11] - room[at + S01] * room[at + S01])


@inner
def _direction_of(n: int64, room: NewReals) -> void:
    """Set the step of Newton's method in the place of the slopes of the ``n`` cells of a stratum.

    Each cell has two multipliers, of the shares of negatives and of positives; these are the same in all cells.
    """
    over: float64 = 0.0
    under: float64 = 0.0
    for i in range(n):
        at: int64 = PER_CELL * i
        of_0: float64 = room[at + S00] + room[at + S01]
        of_1: float64 = room[at + S01] + room[at + S11]
        over += (of_0 * room[at + T1] - of_1 * room[at + T0]) * room[at + DET]
        under += (of_0 + of_1) * room[at + DET]
    toward: float64 = over / under  # of the share of positives
    for i in range(n):
        at = PER_CELL * i
        t0: float64 = (room[at + T0] + toward) * room[at + DET]
        t1: float64 = (room[at + T1] - toward) * room[at + DET]
        m0: float64 = room[at + S11] * t0 - room[at + S01] * t1
        m1: float64 = room[at + S00] * t1 - room[at + S01] * t0
        for f in range(2):
            e0: float64 = room[at + SLOPE + f] - m0
            e1: float64 = room[at + SLOPE + 2 + f] - m1
            room[at + SLOPE + f] = room[at + I00 + f] * e0 + room[at + I01 + f] * e1
            room[at + SLOPE + 2 + f] = room[at + I01 + f] * e0 + room[at + I11 + f] * e1


@inner
def _moved(cells: Ints, n: int64, q: NewReals2, room: Reals) -> float64:
    """Take the step as far as shares stay positive; return the largest relative one."""
    most: float64 = FIT_NEAR
    largest: float64 = 0.0
    for i in range(n):
        for k in range(4):
            relative: float64 = room[PER_CELL * i + SLOPE + k] * room[PER_CELL * i + INVERSE + k]
            most = max(most, -relative)
            largest = max(largest, abs(relative))
    length: float64 = min(1.0, KEPT / most)
    for i in range(n):
        for k in range(4):
            q[k, cells[i]] += length * room[PER_CELL * i + SLOPE + k]
    return largest


@inner
def _ratio_of(gold: Reals2, rest: Reals2, c: int64, q: Reals2) -> float64:
    """Return twice the log of the ratio of the likelihoods of a cell: free shares over those of independence."""
    told: float64 = 0.0
    every: float64 = gold[0, c] + gold[1, c] + gold[2, c] + gold[3, c] + 4.0 * TRACE + rest[0, c] + rest[1, c]
    for f in range(2):
        both: float64 = gold[f, c] + gold[2 + f, c] + 2.0 * TRACE
        free: float64 = (both + rest[f, c]) / every
        for k in range(2):
            n: float64 = gold[2 * k + f, c] + TRACE
            told += n * log(free * n / both / q[2 * k + f, c])
        if rest[f, c] > 0.0:
            told += rest[f, c] * log(free / (q[f, c] + q[2 + f, c]))
    return 2.0 * told


@door
def fit_machine(gold: Reals2, rest: Reals2, levels: int64) -> tuple[Reals, Reals]:
    """Return likelihood ratios of equal shares of positives in the cells of each stratum, and the shares under them.

    In a cell the class and the machine's label have four shares; gold rows tell both, the others the label only. Under
    independence the positives of the cells of a stratum are one share, and the errors are free. The logarithm of the
    likelihood is concave in the shares. Cells without rows count for nothing.

    ``gold``, of shape (4, cells): counts of gold rows by class and what the machine says; ``rest``, of shape (2,
    cells): of the others by what it says. Each ``levels`` cells are a stratum. Shares have the shape of ``gold``.
    """
    n: int64 = gold.shape[1]
    if gold.shape[0] != 4 or rest.shape[0] != 2 or rest.shape[1] != n or levels < 1 or n % levels:
        raise ValueError("every cell has four counts of gold rows and two of others, and belongs to a whole stratum")
    ratios, shares, numbers = np.empty(n // levels), np.empty((4, n)), np.empty(PER_CELL * levels)
    places = np.empty(levels, np.int64)
    ratio: NewReals = view(ratios)
    q: NewReals2 = view(shares)
    room: NewReals = view(numbers)
    cells: NewInts = view(places)
    with nogil:
        for z in range(n // levels):
            m: int64 = _start_of(gold, rest, z * levels, levels, cells, q)
            for _ in range(FIT_STEPS if m else 0):
                for i in range(m):
                    _curves_of(gold, rest, cells[i], q, room, PER_CELL * i)
                _direction_of(m, room)
                if _moved(cells, m, q, room) < FIT_NEAR:
                    break
            ratio[z] = 0.0
            for i in range(m):
                ratio[z] += _ratio_of(gold, rest, cells[i], q)
    return ratios, shares
