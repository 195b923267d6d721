"""G and X² of count tables, with the degrees of freedom that the data support (see `blankets.stats`).

A flat table has the axes x, y, strata; those of a block share their y and their strata. n ln n comes as fixed-point
numbers, whose sums are exact: in any order G is the same to the last bit.
"""

from __future__ import annotations

from math import log

import numpy as np

from blankets.kernels._formula import Formula, Law
from blankets.kernels._room import FEW_LEVELS, Room
from blankets.kernels._types import *

DIGITS: float64 = 1e-5  # a sum of floating-point numbers above this share of Σ n ln n keeps ten digits
UNITS: float64 = 1e11  # so does a sum of fixed-point numbers above this many of their smallest units


@inner
def term(n: uint32, terms: Ints, unit: float64) -> int64:
    """Return n ln n, from the table where it reaches that far; its last number tells the binary places."""
    if 0 <= n < terms.shape[0] - 1:  # one comparison: unsigned numbers are not below 0
        tabled: int64 = terms[n]
        return tabled
    return whole(n * log(n) / unit) if n > 0 else 0


@inner
def are_counts(tables: Counts2, n_x: int64, n_y: int64, n_z: int64) -> bint:
    """Whether flat tables have this shape, and no count is negative."""
    if n_x < 1 or n_y < 1 or n_z < 0 or tables.shape[1] != n_x * n_y * n_z:
        return False
    for i in range(tables.shape[0]):
        for cell in range(tables.shape[1]):
            if tables[i, cell] < 0:
                return False
    return True


@inner
def mixed(state: uint64, value: uint64) -> uint64:
    """Return a number that depends on all bits of two (a step of SplitMix64: Steele, Lea & Flood 2014)."""
    every: uint64 = 0xFFFFFFFFFFFFFFFF  # bits of a word, which compiled code has no more of
    gamma: uint64 = 0x9E3779B97F4A7C15
    first: uint64 = 0xBF58476D1CE4E5B9
    second: uint64 = 0x94D049BB133111EB
    state = ((state ^ value) + gamma) & every
    state = ((state ^ (state >> 30)) * first) & every
    state = ((state ^ (state >> 27)) * second) & every
    return state ^ (state >> 31)


@inner
def _put_kinds(z: int64, room: Room) -> void:
    """Set which different margins of y there are in a stratum, and how often each occurs."""
    found: int64 = 0
    for y in range(room.y_seen[z]):
        k: int64 = 0
        while k < found and room.y_values[z, k] != room.of_y[z, y]:
            k += 1
        if k == found:
            room.y_values[z, k] = room.of_y[z, y]
            room.y_times[z, k] = 0.0
            found += 1
        room.y_times[z, k] += 1.0
    room.y_kinds[z] = found


@inner
def put_y(tables: Counts2, i: int64, n_x: int64, n_y: int64, n_z: int64, judges: bint, room: Room) -> void:
    """Set the size of each stratum and the margins of y there: of the levels seen, then zeros.

    Who ``judges`` needs a key of them, too. Different levels may have the same margin: also which there are, and how
    often. A few levels come with the largest first: strata whose margins are the same numbers have the same key.
    """
    for z in range(n_z):
        size: int64 = 0
        seen: int64 = 0
        few: int64 = 1 << 62
        most: int64 = 0
        key: uint64 = 0
        for y in range(n_y):
            c: int64 = 0
            for x in range(n_x):
                c += tables[i, (x * n_y + y) * n_z + z]
            if c > 0:
                place: int64 = seen
                while n_y <= FEW_LEVELS and place > 0 and room.of_y[z, place - 1] < c:
                    room.of_y[z, place] = room.of_y[z, place - 1]
                    place -= 1
                room.of_y[z, place] = c
                size += c
                seen += 1
                few = min(few, c)
                most = max(most, c)
        for y in range(seen if judges else 0):
            key = mixed(key, room.of_y[z, y])
        for y in range(seen, n_y):
            room.of_y[z, y] = 0
        room.size[z] = size
        room.y_seen[z] = seen
        if judges:
            _put_kinds(z, room)
        room.y_few[z] = few
        room.y_most[z] = most
        room.y_keys[z] = key


@inner
def share_strata(tables: Counts2, i: int64, n_x: int64, n_y: int64, n_z: int64, formula: Formula, room: Room) -> void:
    """Set what tables with the same y and strata share, from one of them.

    For each stratum its size n, n ln n - Σ_y c ln c, and the levels of y seen; and the value from which a sum of
    tabled n ln n has enough digits. None of them is known to be strong yet.
    """
    room.strong = formula.later
    entropy: float64 = 0.0
    n_varying: int64 = 0
    put_y(tables, i, n_x, n_y, n_z, formula.judges, room)
    for z in range(n_z):
        size: int64 = room.size[z]
        part: int64 = term(size, formula.terms, formula.unit)
        for y in range(room.y_seen[z]):
            part -= term(room.of_y[z, y], formula.terms, formula.unit)
        room.y_part[z] = part
        n_varying += room.y_seen[z] > 1
        if room.y_seen[z] > 1 and not formula.full:
            entropy += size * log(size)
    room.enough = UNITS * formula.unit * n_varying if formula.full else DIGITS * entropy


@inner
def put_margins(tables: Counts2, i: int64, n_x: int64, n_y: int64, n_z: int64, room: Room) -> void:
    """Set the margins of x in the strata that can vary, in ``order``: of the levels seen, then zeros.

    Set also the smallest product of a margin of x and one of y there, the smallest expected count, and how many rows
    can be moved. Those of y are known. A few levels come with the largest first, and with a key of all margins, else 0.
    """
    if not cython.compiled:
        room.n_varying, room.movable, room.least = 0, 0, INFINITY
        for z in range(n_z):
            margins = np.asarray(tables)[i, : n_x * n_y * n_z].reshape(n_x, n_y, n_z)[:, :, z].sum(axis=1).tolist()
            seen = [r for r in margins if r > 0]
            if room.y_seen[z] < 2 or len(seen) < 2:
                continue
            k, key = room.n_varying, room.y_keys[z] if len(seen) <= FEW_LEVELS else 0
            seen = sorted(seen, reverse=True) if key else seen
            for x in range(n_x):
                room.rows[k, x] = seen[x] if x < len(seen) else 0
                key = ((key ^ seen[x]) * 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF if key and x < len(seen) else key
            room.keys[k], room.order[k], room.rarest[k] = key, z, min(seen) * room.y_few[z]
            room.least = min(room.least, room.rarest[k] / room.size[z])
            room.movable += room.size[z] - max(*seen, room.y_most[z])
            room.n_varying += 1
        return
    room.n_varying = margins_of_strata(
        cython.address(tables[i, 0]),
        n_x,
        n_y,
        n_z,
        cython.address(room.y_seen[0]),
        cython.address(room.size[0]),
        cython.address(room.y_few[0]),
        cython.address(room.y_most[0]),
        cython.address(room.y_keys[0]),
        FEW_LEVELS,
        room.rows.shape[1],
        cython.address(room.rows[0, 0]),
        cython.address(room.order[0]),
        cython.address(room.rarest[0]),
        cython.address(room.keys[0]),
        cython.address(room.least),
        cython.address(room.movable),
        cython.address(room.known_strata[0, 0]),
        room.shift,
    )


@inner
def _half_of_g(tables: Counts2, i: int64, n_x: int64, n_y: int64, n_z: int64, formula: Formula, room: Room) -> int64:
    """Return half of G as a sum of tabled n ln n, and set the adjusted degrees of freedom."""
    if not cython.compiled:
        counts = np.asarray(tables)[i, : n_x * n_y * n_z].reshape(n_x, n_y, n_z)
        margin = counts.sum(axis=1)
        part = np.vectorize(lambda n: term(int(n), formula.terms, formula.unit), otypes=[np.int64])
        seen, of_y = (margin > 0).sum(axis=0) - 1, np.asarray(room.y_seen)[:n_z] - 1
        counted = (seen > 0) & (of_y > 0)
        room.free = int((seen * of_y)[counted].sum())
        total = np.asarray(room.y_part)[:n_z] + part(counts).sum(axis=(0, 1)) - part(margin).sum(axis=0)
        return int(total[counted].sum())
    return sum_of_strata(
        cython.address(tables[i, 0]),
        n_x,
        n_y,
        n_z,
        cython.address(formula.terms[0]),
        formula.terms.shape[0] - 1,
        formula.unit,
        cython.address(room.y_part[0]),
        cython.address(room.y_seen[0]),
        cython.address(room.free),
    )


@inner
def statistic_of(
    tables: Counts2, i: int64, n_x: int64, n_y: int64, n_z: int64, formula: Formula, room: Room
) -> float64:
    """Return the statistic of a table whose strata are known, and set its adjusted degrees of freedom.

    G is first summed from tabled n ln n. That leaves few digits where G is very small; then, and for X², the sum is
    taken cell by cell.
    """
    g: float64 = 2.0 * formula.unit * _half_of_g(tables, i, n_x, n_y, n_z, formula, room)
    if formula.want_x2 or g < room.enough:
        return _cell_by_cell(tables, i, n_x, n_y, n_z, formula.want_x2, room)
    return g


@inner
def _cell_by_cell(tables: Counts2, i: int64, n_x: int64, n_y: int64, n_z: int64, want_x2: bint, room: Room) -> float64:
    """Return G or X² as the sum over cells of its definition."""
    total: float64 = 0.0
    for z in range(n_z):
        for y in range(n_y):
            c: int64 = 0
            for x in range(n_x):
                c += tables[i, (x * n_y + y) * n_z + z]
            n: float64 = room.size[z]
            if c <= 0 or n <= 0.0:
                continue
            share: float64 = c / n
            for x in range(n_x):
                r: int64 = 0
                for k in range(n_y):
                    r += tables[i, (x * n_y + k) * n_z + z]
                if r > 0:
                    total += _cell(tables[i, (x * n_y + y) * n_z + z], r * share, want_x2)
    return total


@inner
def _cell(o: float64, e: float64, want_x2: bint) -> float64:
    """Return the cell's part of X², or of G as 2 (o ln(o/e) - (o - e)): the o - e of a stratum sum to zero."""
    d: float64 = (o - e) / e
    s: float64 = d * d
    if want_x2:
        return s * e
    if o <= 0.0:
        return 2.0 * e
    if abs(d) > 0.1:
        return 2.0 * (o * log(o / e) - (o - e))
    # (1+d) ln(1+d) - d = Σ (-d)^k / (k (k-1)) for k >= 2: no difference of nearly equal numbers. Up to k = 14,
    # even and odd ones apart; what is left out is below 1e-15 of it.
    even: float64 = s * (1.0 / 56.0 + s * (1.0 / 90.0 + s * (1.0 / 132.0 + s / 182.0)))
    even = 1.0 / 2.0 + s * (1.0 / 12.0 + s * (1.0 / 30.0 + even))
    odd: float64 = s * (1.0 / 42.0 + s * (1.0 / 72.0 + s * (1.0 / 110.0 + s / 156.0)))
    odd = 1.0 / 6.0 + s * (1.0 / 20.0 + odd)
    return 2.0 * e * s * (even - d * odd)


@inner
def is_doubtful(statistic: float64, free: int64, law: Law) -> bint:
    """Whether a G with something to test is not far from the level, by any law that it may have."""
    if free <= 0 or statistic != statistic:
        return False
    near: bint = free >= law.limits.shape[0] or law.limits[free, 2] <= statistic <= law.limits[free, 3]
    return near


@door
def doubtful_of(statistic: Reals, dof: Reals, law: Law) -> Ints:
    """Return the positions of those G that are not far from the level, by any law that they may have."""
    if statistic.shape[0] != dof.shape[0]:
        raise ValueError("every statistic has its degrees of freedom")
    found = np.empty(statistic.shape[0], np.int64)
    at: NewInts = view(found)
    n: int64 = 0
    with nogil:
        for i in range(statistic.shape[0]):
            free: int64 = whole(dof[i])
            if is_doubtful(statistic[i], free, law):
                at[n] = i
                n += 1
    return found[:n]
