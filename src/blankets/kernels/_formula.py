"""What kernels are asked about and by which rule: a table, a law and its moments, and the formula of a test."""

from __future__ import annotations

import numpy as np

from blankets.kernels._types import *

MOST_LEVELS: int64 = 256  # of codes of a byte


@inner
class Table:
    """A table in memory, as codes, as bits, or both.

    Parameters
    ----------
    codes : ndarray of uint8 of shape (columns, rows)
        No columns: there are only bits.
    arities : ndarray of int64 of shape (columns,)
        Levels of each column. Rows without a value have the code beyond the last one.
    planes : ndarray of uint64 of shape (chunks, planes, words)
        Bits of all levels but the first, of the columns that have them.
    totals : ndarray of int32 of shape (planes,)
        How many are set.
    first : ndarray of int64 of shape (columns,)
        Number of each column's first plane; -1 for columns that have none.
    n_rows : int
    bits_win_below : int
        Cells x (levels - 1) up to which bits are counted.
    renumber_above : int
        Number of joint codes above which strata are renumbered to those that occur.
    holes : ndarray of uint8 of shape (columns,), optional
        Whether some rows have no value; by default all have.
    weights : ndarray of int32 of shape (rows of codes,), optional
        How many of the ``n_rows`` each row of codes stands for, where all rows are different; by default itself.
    """

    codes: Bytes2
    arities: Ints
    planes: Words3
    totals: Counts
    first: Ints
    n_rows: int64
    bits_win_below: int64
    renumber_above: int64
    holes: Bytes
    holey: bint
    weights: Counts
    mark: object  # by which room knows the table that it was used for, without keeping it in memory

    def __init__(
        self,
        codes: Bytes2,
        arities: Ints,
        planes: Words3,
        totals: Counts,
        first: Ints,
        n_rows: int64,
        bits_win_below: int64,
        renumber_above: int64,
        holes: Bytes | None = None,
        weights: Counts | None = None,
    ) -> None:
        n, each = arities.shape[0], np.empty(0, np.int32) if weights is None else weights
        gaps = np.zeros(n, np.uint8) if holes is None else np.ascontiguousarray(holes, np.uint8)
        if gaps.shape[0] != n:
            raise ValueError("every column has holes or not")
        n_codes = n_rows if weights is None else each.shape[0]
        if codes.shape[0] not in (0, n) or codes.shape[1] != n_codes or first.shape[0] != n or n_rows < 1:
            raise ValueError("codes, levels and bits are to be of the same columns and rows")
        n_bits = 64 * planes.shape[0] * planes.shape[2]
        if planes.shape[1] != totals.shape[0] or (totals.shape[0] and n_bits < n_rows):
            raise ValueError("every plane needs its total, and a bit for every row")
        for p in range(totals.shape[0]):
            if totals[p] < 0 or totals[p] > n_rows:
                raise ValueError(f"bit plane {p} has {totals[p]} bits for {n_rows} rows")
        for x in range(n):
            width = arities[x] + int(gaps[x])
            if arities[x] < 1 or (codes.shape[0] and width > MOST_LEVELS):
                raise ValueError(f"column {x} has {arities[x]} levels")
            if first[x] >= 0 and first[x] + max(width - 1, 1) > totals.shape[0]:
                raise ValueError(f"column {x} has planes that are not there")
        self.codes, self.arities, self.planes, self.totals = view(codes), view(arities), view(planes), view(totals)
        self.first, self.n_rows = view(first), n_rows
        self.bits_win_below, self.renumber_above = bits_win_below, renumber_above
        self.holes, self.holey, self.weights = view(gaps), bool(gaps.any()), view(each)
        self.mark = object()


@inner
class Law:
    """What decides how closely a G is looked at (see `blankets.stats`).

    Parameters
    ----------
    limits : ndarray of shape (degrees of freedom, 4)
        The G that is far below and far above the level: in dense tables, and in any table.
    small, large : float
        Log p-values by moments below and above which a table of few rows is not near the level.
    far : float
        Squared distance from the mean, in variances, that is far.
    level : float
        0 if every p-value is to be trusted.
    """

    limits: Reals2
    small: float64
    large: float64
    far: float64
    level: float64

    def __init__(self, limits: Reals2, small: float64, large: float64, far: float64, level: float64) -> None:
        self.limits, self.small, self.large, self.far, self.level = view(limits), small, large, far, level


@inner
class Cells:
    """Mean and coefficients of one cell's part of G, to be looked up (see `blankets.stats`).

    Parameters
    ----------
    small : ndarray of shape (33, 33, 33, 5)
        Of small strata, by n, r and c.
    binomials : ndarray of shape (49, 129, 5)
        Of binomial counts, by draws and probability.
    roots : ndarray of shape (33, 33, 5)
        Of small strata, by n, a margin m and k: √((m)_k / (n - m)_k).
    """

    small: Reals4
    binomials: Reals3
    roots: Reals3

    def __init__(self, small: Reals4, binomials: Reals3, roots: Reals3) -> None:
        self.small, self.binomials, self.roots = view(small), view(binomials), view(roots)


@inner
class Formula:
    """How tables are tested.

    Parameters
    ----------
    terms : ndarray of int64
        n ln n (see `blankets.stats._contingency.entropy_terms`).
    full : bool
        Whether the terms reach the number of rows.
    reliability : float
        Rows for each nominal degree of freedom from which a test is performed.
    want_x2 : bool
        X² instead of G.
    nominal : bool
        Nominal degrees of freedom for p-values.
    law : Law, optional
        How G is judged given the margins; by default it is left to the chi-square distribution.
    cells : Cells, optional
        To look up for that.
    screens : bool
        Leave to the chi-square distribution what is far from the level by any law.
    draws : int
        Permutations of a table whose G takes few values, at most; 0: such tables are left as they are.
    seed : int
        Of the permutations.
    later : bool
        Leave tables for later that are not far from the level, as after one that is far below it.
    rooms : list, optional
        Where to look for room to work in, and leave it; by default nobody else does.
    """

    terms: Ints
    unit: float64  # of the terms
    full: bint
    reliability: float64
    want_x2: bint
    nominal: bint
    judges: bint
    screens: bint
    draws: int64
    later: bint
    seed: uint64
    law: Law  # if it judges
    cells: Cells
    rooms: list  # type: ignore[type-arg]

    def __init__(
        self,
        terms: Ints,
        full: bint,
        reliability: float64,
        want_x2: bint,
        nominal: bint,
        law: Law | None = None,
        cells: Cells | None = None,
        screens: bint = True,
        draws: int64 = 0,
        seed: uint64 = 0,
        later: bint = False,
        rooms: list | None = None,  # type: ignore[type-arg]
    ) -> None:
        if terms.shape[0] < 2:
            raise ValueError("there are no terms")
        self.terms, self.full, self.reliability, self.want_x2, self.nominal = (
            view(terms),
            full,
            reliability,
            want_x2,
            nominal,
        )
        self.unit = 2.0 ** -terms[terms.shape[0] - 1]
        self.judges, self.screens = law is not None and cells is not None, screens
        self.draws, self.seed, self.later, self.rooms = draws, seed, later, [] if rooms is None else rooms
        self.law, self.cells = law, cells  # type: ignore[assignment]

    def is_judge(self) -> bool:
        """Tell whether answers have a log p-value and a method."""
        return self.judges
