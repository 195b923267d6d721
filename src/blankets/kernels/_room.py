"""Room for kernels to work in."""

from __future__ import annotations

from typing import Any

import numpy as np

from blankets.kernels._formula import MOST_LEVELS, Formula, Table
from blankets.kernels._types import *

MOST_LANES: int64 = 32  # levels that are counted at once
SLOT_ROWS: int64 = 255  # rows that a count of one byte can hold
DRAWN_AT_ONCE: int64 = 8  # permutations that are drawn beside one another
MOST_KNOWN: int64 = 1024  # permuted tables whose answers are remembered
# Strata whose mean and variance of G are remembered, at first and at most: powers of 2, as logarithms.
FIRST_KNOWN: int64 = 11
LAST_KNOWN: int64 = 17
# What a level of x adds to the moments of G in a stratum: its mean and parts of the variance, and by degree of
# polynomials one for all levels of y, and two for each. So many numbers are remembered: 2 MiB.
FEW_LEVELS: int64 = 4  # of x: with more, few strata have the same margins as another, and levels are remembered
EACH_DEGREE: int64 = 4
ROW_PARTS: int64 = 6
KNOWN_PARTS: int64 = 1 << 18
MOST_SPARE: int64 = 1 << 18  # numbers of an array that holds the rows of one question and the columns of another
MOST_KEPT: int64 = 1 << 22  # joint codes of rows that are kept for the next question: 16 MiB


@inner
class Lanes:
    """Room to count many levels of columns at once (see `blankets.kernels._rows`).

    Attributes
    ----------
    slots, n_slots, owner, latest, totals
        The slot of each row: its cell, or one more where the cell's slots are full. How many there are; 0: not yet.
        The cell of each further slot, the latest slot of each cell, and its rows.
    columns, levels, places, table
        What each lane counts and where its counts go; counts of lanes by slots.
    """

    slots: NewCodes
    n_slots: int64
    owner: NewCodes
    latest: NewCodes
    totals: NewCounts
    columns: NewInts
    levels: NewBytes
    places: NewInts
    table: NewBytes

    def __init__(self) -> None:
        self.slots = self.owner = self.latest = view(np.empty(0, np.uint32))
        self.totals, self.table = view(np.empty(0, np.int32)), view(np.empty(0, np.uint8))
        self.columns, self.places = (view(np.empty(MOST_LANES, np.int64)) for _ in range(2))
        self.levels, self.n_slots = view(np.empty(MOST_LANES, np.uint8)), 0

    def fit(self, n_rows: int64, n_cells: int64) -> None:
        """Make room for so many rows and cells."""
        most = n_cells + n_rows // SLOT_ROWS + 1
        if self.slots.shape[0] < n_rows:
            self.slots = view(np.empty(n_rows, np.uint32))
        if self.owner.shape[0] < most:
            self.owner, self.latest = (view(np.empty(most, np.uint32)) for _ in range(2))
            self.totals, self.table = view(np.empty(most, np.int32)), view(np.empty(most * MOST_LANES, np.uint8))


def _both(rows: int, columns: int, old: Any) -> tuple[int, int]:
    """Return a shape for what is asked and what was, so that questions that alternate need no new arrays."""
    both = max(rows, old[0]), max(columns, old[1])
    return both if both[0] * both[1] <= MOST_SPARE else (rows, columns)


@inner
class Room:
    """Arrays to work in; one for each call at a time, kept for the next by the formula.

    Attributes
    ----------
    tables, lanes
        Counts of a group of candidates, and what they are counted with.
    cells, n_levels, n_strata, codes, n_codes, columns, depth, new
        The cell of each row, as an array of one row, and how many levels of y and strata there are. Row d of ``codes``
        has the joint codes of the first d of the ``columns`` that are conditioned on; there are ``n_codes[d]`` of them.
        What codes are renumbered by.
    masks, in_chunk, in_cell, cell_first, cell_arity, x_first, x_arity
        Rows of each cell as bits, their numbers; planes and levels of what is counted.
    size, y_part, y_seen, of_y, y_few, y_most, y_keys, enough, strong, free
        What tables of the same y and strata share (see `share_strata`); degrees of freedom.
    y_kinds, y_values, y_times
        How many different margins of y there are in each stratum, which, and how often each occurs.
    rows, order, rarest, n_varying, known_strata, n_known, shift
        Margins of x in the strata that can vary, and which these are; mean and variance of G in the latest strata,
        after a key of their margins (and a place so that none crosses a line of the cache). How many strata were put
        there, and by how many bits a key is shifted to its place.
    row_keys, row_parts, row_shift, across, part
        What the latest levels of x add to mean and variance of G in a stratum, by a key of the level's margin and
        those of y (see `blankets.kernels._moments`); their sums; parts of cells.
    margins
        Those of y, for permutations, which may exchange x and y.
    keys, states, sums, before, known, known_p
        What permutations need (see `blankets.kernels._permute`), and answers to the latest of them.
    at, kind, start
        Candidates in the order in which they are counted.
    places, given
        A set that is conditioned on, as places and as columns.
    """

    tables: NewCounts2
    lanes: Lanes
    cells: NewCodes2
    n_levels: int64
    n_strata: int64
    codes: NewCodes2
    n_codes: NewInts
    columns: NewInts
    depth: int64
    new: NewCodes
    masks: NewWords2
    in_chunk: NewCounts
    in_cell: NewCounts
    cell_first: NewInts
    cell_arity: NewInts
    x_first: NewInts
    x_arity: NewInts
    size: NewCounts
    y_part: NewInts
    y_seen: NewCounts
    of_y: NewInts2
    y_few: NewInts
    y_most: NewInts
    y_keys: NewWords
    y_kinds: NewInts
    y_values: NewInts2
    y_times: NewReals2
    enough: float64
    strong: bint
    free: int64
    rows: NewInts2
    margins: NewInts2
    order: NewInts
    rarest: NewInts
    n_varying: int64
    part: NewReals2
    row_keys: NewWords
    row_parts: NewReals2
    row_shift: int64
    across: NewReals
    known_strata: NewReals2
    n_known: int64
    shift: int64
    keys: NewWords
    states: NewWords
    sums: NewInts
    before: NewInts
    known: NewWords
    known_p: NewReals
    observed: int64
    state: uint64
    hits: int64
    larger: int64
    n_drawn: int64
    mean: float64
    variance: float64
    interpolated: bint
    least: float64
    movable: int64
    log_p: float64
    at: NewInts
    kind: NewInts
    start: NewInts
    places: NewInts
    given: NewInts
    skip: NewBytes
    owner: object

    def __init__(self) -> None:
        ints, counts, codes = np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.uint32)
        self.tables, self.lanes, self.new = view(np.empty((0, 0), np.int32)), Lanes(), view(codes)
        self.cells = self.codes = view(np.empty((0, 0), np.uint32))
        self.masks = view(np.empty((0, 0), np.uint64))
        self.n_codes = self.columns = self.x_first = self.x_arity = self.at = self.kind = view(ints)
        self.cell_first = self.cell_arity = self.places = self.given = self.y_part = view(ints)
        self.start = view(np.empty(2 * MOST_LEVELS + 3, np.int64))
        self.in_chunk = self.in_cell = self.size = self.y_seen = view(counts)
        self.rows = self.margins = self.of_y = self.y_values = view(np.empty((0, 0), np.int64))
        self.y_kinds, self.part, self.skip = view(ints), view(np.empty((0, 5))), view(np.empty(0, np.uint8))
        self.y_times = self.row_parts = view(np.empty((0, 0)))
        self.across, self.row_shift = view(np.empty(0)), 63
        self.keys = self.y_keys = self.row_keys = view(np.empty(0, np.uint64))
        self.order = self.rarest = self.y_few = self.y_most = view(ints)
        self.known_strata, self.n_known, self.shift = view(np.zeros((1 << FIRST_KNOWN, 4))), 0, 64 - FIRST_KNOWN
        self.states, self.sums = view(np.empty(DRAWN_AT_ONCE, np.uint64)), view(ints)
        self.before = self.sums
        self.known, self.known_p = view(np.zeros(MOST_KNOWN, np.uint64)), view(np.empty(MOST_KNOWN))
        self.depth, self.owner, self.strong = 0, None, False

    def fit(self, table: Table, n_xs: int64, n_given: int64) -> None:
        """Make room for so many candidates given so many columns of a table."""
        if self.owner is not table.mark or self.codes.shape[0] <= n_given:
            self.owner, self.depth = table.mark, 0
            n_rows = table.codes.shape[1]
            if self.codes.shape[0] <= n_given or self.codes.shape[1] < n_rows:
                self.codes = view(np.empty((n_given + 1, n_rows), np.uint32))
                self.n_codes, self.columns = (view(np.ones(n_given + 1, np.int64)) for _ in range(2))
                self.cells = view(np.empty((1, n_rows), np.uint32))
            for r in range(n_rows):
                self.codes[0, r] = 0
            self.n_codes[0] = 1
        if self.cell_first.shape[0] <= n_given:
            self.cell_first, self.cell_arity = (view(np.empty(n_given + 1, np.int64)) for _ in range(2))
            self.places, self.given = (view(np.empty(n_given + 1, np.int64)) for _ in range(2))
        if self.at.shape[0] < n_xs:
            self.at, self.kind = (view(np.empty(n_xs, np.int64)) for _ in range(2))
            self.x_first, self.x_arity = (view(np.empty(n_xs, np.int64)) for _ in range(2))
            self.skip = view(np.empty(n_xs, np.uint8))

    def grow(self, n: int64, counts: int64, n_cells: int64, n_strata: int64, n_x: int64, n_y: int64) -> None:
        """Make room for ``n`` tables of so many counts."""
        if self.tables.shape[0] < n or self.tables.shape[1] < counts:
            self.tables = view(np.empty(_both(n, counts, self.tables.shape), np.int32))
        self.lanes.fit(self.codes.shape[1], n_cells)
        # What tables share must stay where it is when a wider x comes: it depends on y and the strata alone.
        if self.of_y.shape[0] < n_strata or self.of_y.shape[1] < n_y:
            strata, _ = shape = _both(n_strata, n_y, self.of_y.shape)
            self.size, self.y_seen = (view(np.empty(strata, np.int32)) for _ in range(2))
            self.y_part, self.y_few, self.y_most = (view(np.empty(strata, np.int64)) for _ in range(3))
            self.of_y, self.y_values = (view(np.empty(shape, np.int64)) for _ in range(2))
            self.y_keys, self.y_kinds = view(np.empty(strata, np.uint64)), view(np.empty(strata, np.int64))
            self.y_times = view(np.empty(shape))
        width = ROW_PARTS + 2 * EACH_DEGREE * n_y
        if self.row_parts.shape[1] < width:
            bits = max((KNOWN_PARTS // width).bit_length() - 1, 1)
            self.row_keys, self.row_parts = view(np.zeros(1 << bits, np.uint64)), view(np.empty((1 << bits, width)))
            self.across, self.part, self.row_shift = view(np.empty(width)), view(np.empty((width, 5))), 64 - bits
        most = max(n_x, n_y)
        if self.rows.shape[0] < n_strata or self.rows.shape[1] < most:
            strata, widest = shape = _both(n_strata, most, self.rows.shape)
            self.rows, self.margins = (view(np.empty(shape, np.int64)) for _ in range(2))
            self.sums, self.before = (view(np.empty(DRAWN_AT_ONCE * widest, np.int64)) for _ in range(2))
            self.keys = view(np.empty(strata, np.uint64))
            self.order, self.rarest = (view(np.empty(strata, np.int64)) for _ in range(2))

    def grow_masks(self, n_cells: int64, words: int64) -> None:
        """Make room for the rows of so many cells as bits."""
        if self.masks.shape[0] < n_cells or self.masks.shape[1] != words:
            self.masks = view(np.empty((n_cells, words), np.uint64))
            self.in_chunk, self.in_cell = (view(np.empty(n_cells, np.int32)) for _ in range(2))


@inner
def has_room(room: Room, n: int64, counts: int64, n_cells: int64, n_strata: int64, n_x: int64, n_y: int64) -> bint:
    """Make room for tables; tell whether there is memory enough."""
    if (
        room.tables.shape[0] >= n
        and room.tables.shape[1] >= counts
        and room.lanes.slots.shape[0] >= room.codes.shape[1]
        and room.lanes.owner.shape[0] > n_cells + room.codes.shape[1] // SLOT_ROWS
        and room.of_y.shape[0] >= n_strata
        and room.of_y.shape[1] >= n_y
        and room.rows.shape[0] >= n_strata
        and room.rows.shape[1] >= max(n_x, n_y)
        and room.row_parts.shape[1] >= ROW_PARTS + 2 * EACH_DEGREE * n_y
    ):
        return True
    with gil:
        try:
            room.grow(n, counts, n_cells, n_strata, n_x, n_y)
            return True
        except MemoryError:
            return False


@inner
def has_masks(room: Room, n_cells: int64, words: int64) -> bint:
    """Make room for the rows of cells as bits; tell whether there is memory enough."""
    if room.masks.shape[0] >= n_cells and room.masks.shape[1] == words:
        return True
    with gil:
        try:
            room.grow_masks(n_cells, words)
            return True
        except MemoryError:
            return False


@inner
def has_codes(room: Room, n_codes: int64) -> bint:
    """Make room for so many joint codes to be renumbered; tell whether there is memory enough."""
    if room.new.shape[0] >= n_codes:
        return True
    with gil:
        try:
            room.new = view(np.empty(n_codes, np.uint32))
            return True
        except MemoryError:
            return False


@inner
def grow_known(room: Room) -> void:
    """Make room for four times as many known strata, if there is memory enough; those known are forgotten."""
    with gil:
        room.n_known = 0
        try:
            room.known_strata = view(np.zeros((4 * room.known_strata.shape[0], 4)))
            room.shift -= 2
        except MemoryError:
            pass


def taken(formula: Formula, table: Table, n_xs: int64, n_given: int64) -> Room:
    """Return room for a question about a table."""
    room: Room = formula.rooms.pop() if formula.rooms else Room()
    room.fit(table, n_xs, n_given)
    return room


def given_back(formula: Formula, room: Room) -> None:
    """Keep room for the next question, unless it is large."""
    if room.codes.shape[0] * room.codes.shape[1] <= MOST_KEPT:
        formula.rooms.append(room)
