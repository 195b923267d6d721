"""`Frame`: a table as small integer codes, and numbers, the form of all data after reading.

Every column is a sequence of codes 0 ... arity - 1 (arity: the number of levels); ``levels`` says what
the codes mean. Columns are stored in *blocks*: narrow dense codes (one byte per row), wide dense codes
(columns of more than 256 levels) and sparse columns (mostly code 0). Arrays give the block of a column and
its position in the block, so that 139,351 columns are three arrays and not 139,351 objects.

A column of numbers that were not cut has no levels; its values are in ``numbers``, and all its codes are 0.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.caching import cached_property
from blankets.data._blocks import NARROW, DenseColumns, NumberColumn, SparseColumns, code_type
from blankets.errors import DataError, did_you_mean


@dataclass(frozen=True, eq=False)
class Frame:
    """A table of columns as integer codes, or as numbers.

    ``names``: one name per column, all different. ``levels``: ``levels[j][code]`` is what the user called that code in
    column j. ``n_rows``: number of rows. ``blocks``: where the codes are. ``block_of``, ``position``, of shape
    (columns,): column j is ``blocks[block_of[j]].column(position[j])``. ``digests``: hashes of columns by block and
    position, if they are known (from reading the table). ``holes``: columns in which some rows have no value. The code
    of such a row is the number of levels, one beyond the last, and counters leave these rows out. ``numbers``: the
    columns that are numbers, NaN where there is no value; these have no levels, and code 0 in all rows. ``ordered``:
    the columns whose levels have an order.

    Examples
    --------
    >>> frame = Frame.from_codes([[0, 1], [1, 1], [0, 0]], names=["a", "b"])
    >>> frame.n_rows, frame.names, frame.arities.tolist()
    (3, ('a', 'b'), [2, 2])
    >>> frame.column(frame.index("b")).tolist()
    [1, 1, 0]
    """

    names: tuple[str, ...]
    levels: tuple[tuple[object, ...], ...]
    n_rows: int
    blocks: tuple[DenseColumns | SparseColumns, ...]
    block_of: NDArray[np.int64]
    position: NDArray[np.int64]
    digests: dict[tuple[int, int], bytes] = field(default_factory=dict, repr=False)
    holes: frozenset[int] = frozenset()
    numbers: Mapping[int, NumberColumn] = field(default_factory=dict, repr=False)
    ordered: frozenset[int] = frozenset()
    _index: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_index", dict(zip(self.names, range(len(self.names)), strict=True)))

    @classmethod
    def from_columns(
        cls,
        columns: Sequence[NDArray[np.integer]],
        names: Sequence[str],
        levels: Sequence[tuple[object, ...]],
        n_rows: int,
        holes: frozenset[int] = frozenset(),
    ) -> Frame:
        """Build a frame from one array of codes per column; narrow and wide columns get a block each."""
        wide = np.array([len(values) + (j in holes) > NARROW for j, values in enumerate(levels)], dtype=bool)
        blocks: list[DenseColumns] = []
        block_of = np.zeros(len(names), np.int64)
        position = np.zeros(len(names), np.int64)
        for is_wide, dtype in ((False, np.uint8), (True, np.int32)):
            here = np.flatnonzero(wide == is_wide)
            if not len(here):
                continue
            codes = np.empty((len(here), n_rows), dtype)
            for k, j in enumerate(here.tolist()):
                codes[k] = columns[j]
            block_of[here], position[here] = len(blocks), np.arange(len(here))
            blocks.append(DenseColumns(codes))
        return cls(tuple(names), tuple(levels), n_rows, tuple(blocks), block_of, position, holes=holes)

    @classmethod
    def from_codes(
        cls,
        codes: Sequence[Sequence[int]] | NDArray[np.integer],
        names: Sequence[str] | None = None,
        arities: Sequence[int] | None = None,
        levels: Sequence[tuple[object, ...]] | None = None,
    ) -> Frame:
        """Build a frame from a matrix of codes of shape (rows, columns), for example a simulation.

        ``arities`` (or ``levels``) declare the alphabets; without them they are taken from the data.
        """
        matrix = np.asarray(codes)
        if matrix.ndim != 2:
            raise DataError(f"a matrix of codes has two axes (rows, columns), but this one has {matrix.ndim}")
        n_rows, n_columns = matrix.shape
        names = [f"x{j}" for j in range(n_columns)] if names is None else list(names)
        if levels is None:
            sizes = (matrix.max(axis=0, initial=0) + 1).tolist() if arities is None else arities
            levels = [tuple(range(int(size))) for size in sizes]
        return cls.from_columns(list(matrix.T), names, levels, n_rows)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.names)

    @cached_property
    def arities(self) -> NDArray[np.int64]:
        """Number of levels of each column, shape (columns,)."""
        return np.fromiter(map(len, self.levels), np.int64, len(self.levels))

    @cached_property
    def widths(self) -> NDArray[np.int64]:
        """Number of codes of each column, shape (columns,): its levels, and one for rows without a value."""
        if not self.holes:
            return self.arities
        widths = self.arities.copy()
        widths[list(self.holes)] += 1
        return widths

    def gaps(self, j: int) -> NDArray[np.bool_] | None:
        """Return which rows have no value of column ``j``; None if all have.

        >>> frame = Frame.from_columns([np.array([0, 2, 1])], ["a"], [("no", "yes")], 3, frozenset({0}))
        >>> frame.gaps(0).tolist()
        [False, True, False]
        """
        if j not in self.holes:
            return None
        if j in self.numbers:
            return np.isnan(self.numbers[j].values)
        return np.asarray(self.column(j) == len(self.levels[j]))

    def filled(self) -> Frame:
        """Return a frame without holes: a row without a value has the first level, or the mean, instead.

        For questions about other columns, and about rows that have all values.
        """
        if not self.holes:
            return self
        made = self
        for j in self.holes:
            gaps = self.gaps(j)
            if j not in self.numbers and gaps is not None:
                made = made.replaced(j, np.where(gaps, 0, self.column(j)), self.levels[j])
        numbers = {j: number.filled() if j in self.holes else number for j, number in self.numbers.items()}
        return replace(made, numbers=numbers, holes=frozenset(), ordered=self.ordered)

    @cached_property
    def complete(self) -> NDArray[np.bool_] | None:
        """Which rows have a value in every column; None if no column has holes."""
        gaps = [gap for j in sorted(self.holes) if (gap := self.gaps(j)) is not None]
        return ~np.logical_or.reduce(gaps) if gaps else None

    @property
    def n_complete(self) -> int | None:
        """Number of these rows; None if no column has holes."""
        return None if self.complete is None else int(np.count_nonzero(self.complete))

    def index(self, name: str) -> int:
        """Return the number of the column called ``name``."""
        try:
            return self._index[name]
        except KeyError:
            raise DataError(f"there is no column {name!r}{did_you_mean(str(name), self.names)}") from None

    def column(self, j: int) -> NDArray[np.uint8] | NDArray[np.int32]:
        """Return the codes of column ``j``, shape (rows,)."""
        codes: NDArray[np.uint8] | NDArray[np.int32] = self.blocks[self.block_of[j]].column(int(self.position[j]))
        return codes

    def values(self, j: int) -> NDArray[Any]:
        """Return the numbers of column ``j``, or its codes if it is a category, shape (rows,)."""
        return self.numbers[j].values if j in self.numbers else self.column(j)

    def select(self, columns: Sequence[int]) -> Frame:
        """Return some columns only; their codes are shared, not copied.

        >>> Frame.from_codes([[0, 1, 1], [1, 0, 1]], names=["a", "b", "c"]).select([0, 2]).names
        ('a', 'c')
        """
        js = list(columns)
        names, levels = tuple(self.names[j] for j in js), tuple(self.levels[j] for j in js)
        numbers = {k: self.numbers[j] for k, j in enumerate(js) if j in self.numbers} if self.numbers else {}
        holes = frozenset(k for k, j in enumerate(js) if j in self.holes)
        ordered = frozenset(k for k, j in enumerate(js) if j in self.ordered)
        where = self.block_of[js], self.position[js]
        return Frame(names, levels, self.n_rows, self.blocks, *where, self.digests, holes, numbers, ordered)

    def take(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Frame:
        """Return the frame with some rows only; levels stay as declared."""
        chosen = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows.astype(np.int64, copy=False)
        blocks = tuple(block.take(chosen) for block in self.blocks)
        numbers = {j: number.take(chosen) for j, number in self.numbers.items()}
        where = self.block_of, self.position
        return Frame(self.names, self.levels, len(chosen), blocks, *where, {}, self.holes, numbers, self.ordered)

    def with_column(
        self, name: str, codes: NDArray[np.integer], levels: tuple[object, ...], *, holes: bool = False
    ) -> Frame:
        """Return a frame in which column ``name`` is new or has been replaced; other columns are shared.

        ``holes``: whether rows without a value are among its codes.

        >>> frame = Frame.from_codes([[0, 1], [1, 1], [0, 0]], names=["a", "b"])
        >>> frame.with_column("b", np.array([0, 1, 2]), ("low", "mid", "high")).arities.tolist()
        [2, 3]
        """
        if name in self._index:
            return self.replaced(self._index[name], codes, levels, holes=holes)
        block_of, position = np.append(self.block_of, 0), np.append(self.position, 0)
        names, all_levels = (*self.names, name), (*self.levels, levels)
        kept = self.digests, self.holes, self.numbers, self.ordered
        wider = Frame(names, all_levels, self.n_rows, self.blocks, block_of, position, *kept)
        return wider.replaced(self.n_columns, codes, levels, holes=holes)

    def replaced(self, j: int, codes: NDArray[np.integer], levels: tuple[object, ...], *, holes: bool = False) -> Frame:
        """Return a frame in which column ``j`` has other codes and levels; other columns are shared."""
        row: NDArray[Any] = np.array(codes, code_type(len(levels) + holes))
        block_of, position = self.block_of.copy(), self.position.copy()
        block_of[j], position[j] = len(self.blocks), 0
        all_levels, blocks = (*self.levels[:j], levels, *self.levels[j + 1 :]), (*self.blocks, DenseColumns(row[None]))
        gappy = self.holes - {j} | ({j} if holes else set())
        numbers = {k: number for k, number in self.numbers.items() if k != j}
        kept = dict(self.digests), gappy, numbers, self.ordered - {j}
        return Frame(self.names, all_levels, self.n_rows, blocks, block_of, position, *kept)

    def with_response(self, j: int, values: NDArray[np.float64]) -> Frame:
        """Return a frame in which numbers whose mean is that of a class stand for column ``j``.

        >>> frame = Frame.from_codes([[0, 1], [1, 1], [0, 0]], names=["a", "b"])
        >>> frame.with_response(1, np.array([0.9, 1.2, -0.1])).numbers[1].stands_for_class
        True
        """
        made = self.replaced(j, np.zeros(self.n_rows, np.uint8), (0,))
        return replace(made, numbers={**made.numbers, j: NumberColumn(values, stands_for_class=True)})

    def reordered(self, j: int, rows: NDArray[np.int64], name: str | None = None) -> Frame:
        """Return a frame in which column ``j``, or a copy of it called ``name``, has its rows in another order.

        >>> frame = Frame.from_codes([[0, 1], [1, 1], [0, 0]], names=["a", "b"])
        >>> frame.reordered(1, np.array([2, 0, 1]), "c").column(2).tolist()
        [0, 1, 1]
        """
        called = self.names[j] if name is None else name
        made = self.with_column(called, self.column(j)[rows], self.levels[j], holes=j in self.holes)
        at = made.index(called)
        numbers = {**made.numbers, at: self.numbers[j].take(rows)} if j in self.numbers else made.numbers
        return replace(made, numbers=numbers, ordered=made.ordered | {at} if j in self.ordered else made.ordered)

    def without_numbers(self) -> Frame:
        """Return the frame for counting: each number is one level, and nobody may ask about it."""
        if not self.numbers:
            return self
        levels = tuple((0,) if j in self.numbers else some for j, some in enumerate(self.levels))
        return replace(self, levels=levels, numbers={}, holes=self.holes - self.numbers.keys())

    def fingerprint(self) -> str:
        """Return a hash of names, levels and codes, to tell whether two frames hold the same data.

        It depends neither on the container nor on whether numbers are those of Python or of NumPy; sparse columns
        have another hash than dense ones.
        """
        made = hashlib.sha256(repr((self.n_rows, self.names)).encode("utf-8", "surrogatepass"))
        named: dict[str, bytes] = {}
        texts: dict[int, bytes] = {}
        for k, levels in {id(levels): levels for levels in self.levels}.items():  # columns of a wide table share them
            if (text := repr(levels)) not in named:
                named[text] = repr([_named(level) for level in levels]).encode("utf-8", "surrogatepass")
            texts[k] = named[text]
        made.update(b"".join([texts[k] for k in map(id, self.levels)]))
        for place in zip(self.block_of.tolist(), self.position.tolist(), strict=True):
            known = self.digests.get(place)
            if known is None:
                block = self.blocks[place[0]]
                known = block.digest(place[1])
                if not isinstance(block, SparseColumns):  # these keep their own
                    self.digests[place] = known
            made.update(known)
        for j in sorted(self.numbers):
            made.update(self.numbers[j].digest())
        if self.ordered:
            made.update(repr(sorted(self.ordered)).encode())
        return made.hexdigest()


def _named(level: object) -> object:
    """Return a level in a form that is the same for all containers: 2 for np.int64(2) and 2.0."""
    value = level.item() if isinstance(level, np.generic) else level
    return int(value) if isinstance(value, float) and value.is_integer() else value
