"""`ingest`: turn any table into a `Frame`, with a report of everything that was done."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from blankets.data._blocks import NumberColumn, take_rows
from blankets.data._builder import FrameBuilder
from blankets.data._coding import code, decide, left_out
from blankets.data._columns import Categories, Column, Mask, Numbers, Refused
from blankets.data._data_report import DataReport
from blankets.data._encoder import Encoder
from blankets.data._findings import Findings, Repeats, warn_of_dropping
from blankets.data._frame import Frame
from blankets.data._ingested import Ingested, Target
from blankets.data._orders import found_orders
from blankets.data._reading import DEFAULT, Reading
from blankets.data._request import AskedColumns
from blankets.data._room import check_room
from blankets.data._sparse import encode_sparse, note_gaps, rows_without_gaps, sparse_digest
from blankets.data._store import Store, is_store
from blankets.data._summary import Summary
from blankets.data._tables import open_table
from blankets.data._units import column_for
from blankets.errors import DataError, TargetError
from blankets.voice import option

Rows = NDArray[np.int64]  # those that are used, some perhaps several times

AS_IT_IS = Reading(na=())  # for a table that was read before


def ingest(
    data: Any,
    target: str | int | None = None,
    *,
    y: Any = None,
    reading: Reading = DEFAULT,
    numbers: bool = False,
    number_target: bool | None = None,
) -> Ingested:
    """Turn any table into a `Frame` of small integer codes, and of numbers where these may stay so.

    ``data``: A pandas, polars or Arrow table, a NumPy array of shape (rows, columns), a SciPy sparse matrix (any
    format; it is never made dense), a dict of columns, a list of rows, the path of a CSV, TSV or Parquet file, or a
    `Frame` or a `Store` (or its path), whose columns pass unchanged and unchecked. ``target``: name of the target
    column; in matrices its number. ``y``, of shape (rows,): the target, if it is not in the table. It becomes the last
    column, with its own name if it has one, else "target". ``reading``: how columns are chosen and read. ``numbers``:
    whether numbers may stay numbers, where ``reading`` does not say how to cut them. ``number_target``: whether the
    target may.

    Returns: frame, column number of the target, encoder for new rows, report, and which rows have no label.

    Warns
    -----
    ConstantColumnWarning, DuplicateColumnWarning, IdLikeColumnWarning
        Columns were left out: one value; the same codes as an earlier column (perhaps with other
        names of the levels); almost as many levels as rows.
    ManyLevelsWarning
        More than 50 levels.

    Raises
    ------
    DataError, MissingValuesError, TargetError
        The table cannot be used; all problems are in one message.

    Notes
    -----
    Numbers with more than 20 distinct values are continuous, also whole numbers; with fewer they are
    categories, except in short tables (at least 10 distinct ones, and fewer than five rows for each).
    Levels are in declared order for categorical types (their unused levels stay, and are reported) and
    sorted otherwise, so codes do not depend on the order of rows. In sparse columns
    code 0 is the value 0, and each other value is a level (at most 255). An identifier is a column of
    text or categories with more than 50 levels and fewer than five rows per level, or of whole numbers
    that are all different although they are in a narrow range.

    Examples
    --------
    >>> data = {"dose": ["low", "high", "low", "high"], "cured": [False, True, True, False]}
    >>> done = ingest(data, "cured")
    >>> done.frame.names, done.target, done.frame.levels
    (('dose', 'cured'), 1, (('high', 'low'), (False, True)))
    >>> done.frame.column(0).tolist()
    [1, 0, 1, 0]
    """
    store = data if isinstance(data, Store) else Store.open(data) if is_store(data) else None
    if store is not None:
        _check_store(store, target)
        cut = _cut(store, reading, target if number_target is False else None)
        data = store.measured(cut, target) if numbers else store.frame
    table = open_table(data, reading.of_files)
    if store is not None:
        table = replace(table, emptied=bool(store.report.left_out))
    asked = AskedColumns.of(table, target, y, reading)
    work = _Work(asked, numbers, numbers and number_target is not False)
    column = work.target_column()
    if store is not None:
        if isinstance(column, Categories) and asked.target == store.target:
            column = Categories(column.codes, column.levels, store.unlabeled, declared=True)
        return _from_store(store, _pass(data, asked, column))
    return _pass(data, asked, column) if isinstance(data, Frame) else work.run(column)


def _check_store(store: Store, target: str | int | None) -> None:
    """Refuse targets that were left out when the store was packed, or that need another way of packing."""
    if isinstance(target, str) and target in store.report.left_out:
        why = store.report.left_out[target]
        raise TargetError(f"the target {target!r} was left out when the table was packed: {why}; pack it as a target")
    if store.unlabeled is not None and target != store.target:
        raise TargetError(
            f"the table was packed for the target {store.target!r}, which is missing in {store.report.unlabeled} "
            f"rows; pack it again for {target!r}"
        )


def _cut(store: Store, reading: Reading, target: str | int | None) -> list[str]:
    """Return the numbers of a store that are cut: those that the user asks to cut, and perhaps the target."""
    names = [store.layout.names[j] for j in store.numbers]
    target = store.layout.names[target] if isinstance(target, int) else target
    return [name for name in names if name == target or reading.rule_for(name)[0] != "auto"]


def _from_store(store: Store, done: Ingested) -> Ingested:
    """Add to an accepted frame what was stored when it was packed."""
    labels = {name: label for name, label in store.encoder.missing_labels.items() if name in done.frame.names}
    numbers = tuple(done.frame.names[j] for j in sorted(done.frame.numbers))
    cut = {name: how for name, how in store.report.binned.items() if name not in numbers}
    encoder = replace(done.encoder, binned=cut, missing=store.encoder.missing, missing_labels=labels)
    now = done.report
    report = replace(
        store.report,
        binned=cut,
        numbers=numbers,
        n_columns=now.n_columns,
        unlabeled=now.unlabeled,
        complete_rows=now.complete_rows,
    )
    return replace(done, encoder=encoder, report=report)


def _pass(frame: Frame, asked: AskedColumns, column: Column | None) -> Ingested:
    """Accept a frame, without the columns that the user excludes; only its target is checked."""
    findings, name = Findings(), asked.target
    stays = asked.place is not None and asked.place in frame.numbers
    rows = asked.units.chosen(None, frame.n_rows)
    if rows is not None:
        check_room(len(rows), frame.n_columns)
        frame, column = frame.take(rows), None if column is None else column.take(rows)
    target = None if name is None or column is None else Target.read(name, column, AS_IT_IS, findings, numbers=stays)
    findings.check(missing="error")
    findings.warn()
    frame = frame if len(asked.order) == frame.n_columns else frame.select(asked.order)
    if target is not None and (asked.place is None or frame.index(target.name) in frame.holes):
        frame = frame.with_column(target.name, target.codes, target.coding.levels)
    unlabeled = None if column is None else column.missing
    gaps = {
        frame.names[j]: int(np.count_nonzero(gap)) for j in sorted(frame.holes) if (gap := frame.gaps(j)) is not None
    }
    policy = "testwise" if gaps else "error"
    report = DataReport(
        n_rows=frame.n_rows,
        n_columns=frame.n_columns,
        n_rows_given=frame.n_rows,
        n_columns_given=frame.n_columns,
        binned=findings.binned,
        unlabeled=0 if column is None else column.n_missing,
        missing=gaps,
        missing_policy=policy,
        complete_rows=frame.n_complete,
    )
    encoder = Encoder(frame.names, frame.levels, findings.binned, name, policy, {})
    at = None if name is None else frame.index(name)
    return Ingested(frame, at, encoder, report, unlabeled, *asked.units.of_rows(rows))


class _Read(NamedTuple):
    """A feature that was read."""

    summary: Summary
    column: Column
    settled: Column  # the column as its summary returned it
    number: NumberColumn | None  # the same, if it is a measurement


@dataclass(slots=True)
class _Work:
    """The steps for one table: rows to delete, target, features, frame."""

    asked: AskedColumns
    numbers: bool = False  # whether numbers may stay numbers
    number_target: bool = False  # whether the target may
    findings: Findings = field(init=False)
    missing_labels: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.findings = Findings(notes=list(self.asked.table.notes))

    def target_column(self) -> Column | None:
        """Read the column of the target; None if there is none, or if it cannot be read."""
        if self.asked.place is None:
            return self.asked.beside
        try:
            return self.asked.table.read(self.asked.place)
        except Refused as reason:
            self.findings.target.append(f"the target {self.asked.target!r} {reason}")
            return None

    def run(self, column: Column | None) -> Ingested:
        """Encode target and features and put them together."""
        asked, table, findings = self.asked, self.asked.table, self.findings
        kept = self._kept_rows() if asked.reading.missing == "drop" else None
        rows, n_given = asked.units.chosen(kept, table.n_rows), asked.units.n_rows(table.n_rows)
        n_rows = n_given if rows is None else len(rows)
        if n_rows < 2:
            raise DataError(
                f"{option(missing='drop')} leaves {n_rows} of {n_given} rows; choose {option(missing='testwise')}"
            )
        warn_of_dropping(n_rows, n_given)
        column = column if rows is None or column is None else column.take(rows)
        name, target = asked.target, None
        if name is not None and column is not None:
            may_stay = self.number_target and table.sparse is None and not asked.reading.supervised
            target = Target.read(name, column, asked.reading, findings, numbers=may_stay)
        frame = (self._dense if table.sparse is None else self._sparse)(target, rows, n_rows)
        if frame.n_columns > (target is not None):
            findings.leave_out(asked.named)
        findings.check(missing=asked.reading.missing)
        frame = self._with_orders(frame)
        findings.warn()
        width = len(table.names) if table.positional else None
        policy, labels = asked.reading.missing, self.missing_labels
        coded = "testwise" if asked.reading.leaves_holes else policy
        encoder = Encoder(frame.names, frame.levels, findings.binned, name, coded, labels, width)
        report = findings.report(
            n_rows=n_rows,
            n_columns=frame.n_columns,
            n_rows_given=n_given,
            n_columns_given=len(asked.order) + (asked.beside is not None),
            dropped_rows=n_given - n_rows,
            missing_policy=policy,
            unlabeled=0 if column is None else column.n_missing,
            complete_rows=frame.n_complete,
        )
        unlabeled = None if column is None else column.missing
        at = None if name is None else frame.index(name)
        return Ingested(frame, at, encoder, report, unlabeled, *asked.units.of_rows(rows))

    def _with_orders(self, frame: Frame) -> Frame:
        """Give columns the order that their levels seem to have."""
        if not self.numbers:
            return frame
        levels = dict(zip(frame.names, frame.levels, strict=True))
        beside = bool(frame.numbers)
        ordered = frozenset(frame.names[j] for j in frame.ordered)
        found = found_orders(levels, self.asked.reading, self.asked.target, ordered, beside_numbers=beside)
        names = (*found.scales, *found.several)
        self.findings.ordered += names
        self.findings.notes += found.notes
        return replace(frame, ordered=frame.ordered | {frame.index(name) for name in names})

    def _kept_rows(self) -> Mask:
        """Return the rows without missing values in the features that will be used."""
        table, reading = self.asked.table, self.asked.reading
        if table.sparse is not None:
            return rows_without_gaps(table.sparse[:, self.asked.features])
        kept = np.ones(table.n_rows, dtype=bool)
        for j in self.asked.features:
            try:
                column = table.read(j)
            except Refused:
                continue  # reported when it is read again
            if column.missing is None:
                continue
            name, summary = table.names[j], Summary.asked(table.names[j], reading)
            summary.add(column)
            if left_out(summary, reading, lambda: column, keep=name in self.asked.keep) is None:  # noqa: B023
                weights = self.asked.units.weights
                gaps = column.missing if weights is None else weights[column.missing]
                self.findings.missing[name] = int(gaps.sum())
                kept &= ~column.missing
        return kept

    def _dense(self, target: Target | None, rows: Rows | None, n_rows: int) -> Frame:
        """Encode column by column into one frame."""
        check_room(n_rows, len(self.asked.order) + 1)
        builder = FrameBuilder(n_rows, len(self.asked.order) + 1)
        repeats = Repeats(self.findings, self.asked.keep, None if target is None else target.digest)
        every = self._reads(rows)
        for j in self.asked.order:
            if j != self.asked.place:
                self._add(builder, repeats, j, next(every), None if target is None else target.classes)
            elif target is not None:
                target.add_to(builder)
        if target is not None and self.asked.place is None:
            target.add_to(builder)
        return builder.frame()

    def _reads(self, rows: Rows | None) -> Iterator[_Read | Refused]:
        """Read all features in their order, by several threads where the table allows it."""
        features, together, cores = self.asked.features, self.asked.table.together, min(os.cpu_count() or 1, 4)
        if not together or cores == 1:
            yield from (self._read(j, rows) for j in features)
            return
        parts = [list(some) for _, some in groupby(features, lambda j: j // together)]
        with ThreadPoolExecutor(cores) as pool:
            begun: deque[Future[list[_Read | Refused]]] = deque()
            for part in [*parts, *[[]] * cores]:  # so many are read ahead
                begun.append(pool.submit(lambda js: [self._read(j, rows) for j in js], part))
                if len(begun) > cores:
                    yield from begun.popleft().result()

    def _read(self, j: int, rows: Rows | None) -> _Read | Refused:
        """Read a feature, or return why it cannot be read."""
        summary = Summary.asked(self.asked.table.names[j], self.asked.reading)
        try:
            column = self.asked.table.read(j)
            column = column if rows is None else column.take(rows)
            settled = summary.add(column)
        except Refused as reason:
            return reason
        number = None
        if self.numbers and summary.continuous and isinstance(column, Numbers):
            number = NumberColumn.of(column)
            number.digest()
        return _Read(summary, column, settled, number)

    def _add(
        self, builder: FrameBuilder, repeats: Repeats, j: int, read: _Read | Refused, classes: Categories | None
    ) -> None:
        """Decide about a feature, and add it unless it is left out or repeats another."""
        name, reading = self.asked.table.names[j], self.asked.reading
        try:
            if isinstance(read, Refused):
                raise read
            summary, column, settled, number = read
            keep = name in self.asked.keep
            coding = decide(name, summary, reading, lambda: column, classes, keep=keep, numbers=self.numbers)
        except Refused as reason:
            self.findings.refuse(name, reason)
            return
        coding, codes = code(coding, column, settled)
        used = self.findings.decided(name, coding, summary)
        if used is None:
            return
        if used.is_number and isinstance(column, Numbers):
            number = NumberColumn.of(column) if number is None else number
            added = builder.add_number(name, number, repeats.new, holes=column.missing is not None)
        else:
            ordered = used.kind == "ordered"
            added = builder.add(name, codes, used.levels, repeats.new, holes=used.holes, ordered=ordered)
        if added:
            self.findings.use(name, used)
            if used.missing_label is not None:
                self.missing_labels[name] = used.missing_label

    def _sparse(self, target: Target | None, rows: Rows | None, n_rows: int) -> Frame:
        """Encode the columns of a sparse matrix into a sparse block, and the target into a dense one."""
        table, features = self.asked.table, self.asked.features
        matrix = table.sparse if len(features) == len(table.names) else table.sparse[:, features]
        called = [table.names[j] for j in features]
        note_gaps(matrix, called, self.findings)
        matrix = matrix if rows is None else take_rows(matrix, rows)
        twin = None if target is None or target.unlabeled is not None else sparse_digest(target.codes)
        testwise = self.asked.reading.leaves_holes
        done = encode_sparse(matrix, called, Repeats(self.findings, self.asked.keep, twin), testwise=testwise)
        if target is None:
            return done
        frame = done.with_column(target.name, target.codes, target.coding.levels)
        if self.asked.place is None:
            return frame
        before = sum(table.index[name] < self.asked.place for name in done.names)
        last = done.n_columns
        return frame.select([*range(before), last, *range(before, last)])


def column_beside(data: Any, option: str, value: object, reading: Reading = DEFAULT) -> Column:
    """Return the column that an option names, or whose values it holds; every row needs a value.

    ``reading``: how the file is read, if the table is one.

    Examples
    --------
    >>> column_beside({"x": [1, 2], "chance": [0.5, 0.25]}, "propensity", "chance").values.tolist()
    [0.5, 0.25]
    """
    store = data if isinstance(data, Store) else Store.open(data) if is_store(data) else None
    column, _ = column_for(open_table(data if store is None else store.frame, reading.of_files), option, value)
    return column
