"""`ingest`: from any table to a `Frame`, with everything that was done on the way on record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.arguments import names_in
from blankets.data._audit import Audit
from blankets.data._builder import FrameBuilder
from blankets.data._coding import Coding, Rule, Settings, encode_feature, encode_target, infinite, left_out, settled
from blankets.data._columns import Categories, Column, Mask, Refused
from blankets.data._encoder import Encoder
from blankets.data._frame import NARROW, DenseColumns, Frame, digest
from blankets.data._report import DataReport
from blankets.data._request import check_size, chosen_columns, find_column, separate_target
from blankets.data._room import check_room
from blankets.data._sparse import encode_sparse, note_gaps, rows_without_gaps, take_rows
from blankets.data._store import Store, is_store
from blankets.data._tables import Table, open_table
from blankets.errors import DataError, ParameterError, TargetError, did_you_mean

__all__ = ["Ingested", "ingest"]


@dataclass(frozen=True, eq=False)
class Ingested:
    """A table that has come in.

    Attributes
    ----------
    frame : Frame
        The codes.
    target : int or None
        Number of the target's column in the frame.
    encoder : Encoder
        Does the same to new rows.
    report : DataReport
        What was done.
    unlabeled : ndarray of bool of shape (rows,), or None
        Rows whose target is missing; there the target's code is 0 and means nothing. None if every
        row has a label, or there is no target.
    """

    frame: Frame
    target: int | None
    encoder: Encoder
    report: DataReport
    unlabeled: Mask | None = None


def ingest(
    data: Any,
    target: str | int | None = None,
    *,
    y: Any = None,
    discretize: str | Mapping[str, Rule] = "sturges",
    bins: int | None = None,
    missing: str = "error",
    keep: Iterable[str | int] = (),
    columns: Iterable[str | int] | None = None,
    exclude: Iterable[str | int] = (),
) -> Ingested:
    """Turn any table into a `Frame` of small integer codes.

    Parameters
    ----------
    data : table
        A pandas, polars or Arrow table, a NumPy array of shape (rows, columns), a SciPy sparse matrix
        (any format; it is never made dense), a dict of columns, a list of rows, the path of a CSV,
        TSV or Parquet file, or a `Frame` or a `Store` (or its path), whose columns pass unchanged and
        unchecked.
    target : str or int, optional
        Name of the target column; in matrices its number.
    y : array-like of shape (rows,), optional
        The target, if it is not in the table. It becomes the last column, under its own name if it
        has one, else "target".
    discretize : str or mapping of str to rule
        What to do with continuous columns: "sturges" (equal width, log2 N + 1 bins), "equal-width",
        "equal-frequency" (both with ``bins``, default Sturges' number), "supervised" (Fayyad &
        Irani's MDLP against the target; tests on such bins reject too often) or "none" (an error
        that names them). A mapping gives rules by column; there also "categorical" (each number a
        level) and a list of cut points; columns not in it get "sturges".
    bins : int, optional
        Number of bins for "equal-width" and "equal-frequency".
    missing : {"error", "level", "drop"}
        What to do with missing feature values (None, NaN, null, NA): an error that names the columns,
        a level of their own called "missing", or delete such rows.
    keep : iterable of str or int
        Columns to keep although they are constant, repeat another, or look like identifiers.
    columns : iterable of str or int, optional
        Features to use; default all.
    exclude : iterable of str or int
        Features not to use.

    Returns
    -------
    Ingested
        Frame, number of the target, encoder for new rows, report, and which rows lack a label.

    Warns
    -----
    ConstantColumnWarning, DuplicateColumnWarning, IdLikeColumnWarning
        Columns were left out: one value; the same codes as an earlier column (perhaps under other
        names of the levels); almost as many levels as rows.
    ManyLevelsWarning
        More than 50 levels.

    Raises
    ------
    DataError, MissingValuesError, TargetError
        The table cannot be used; all problems are in one message.

    Notes
    -----
    Numbers with more than 20 distinct values are continuous, whole ones too; with fewer they are
    categories, except fractions that hardly repeat (at least 10 distinct ones, and more than half as
    many as rows). Levels are in declared order for categorical types (their unused levels stay, and are
    reported) and sorted otherwise, so codes do not depend on the order of rows. In sparse columns
    code 0 is the value 0, and each other value is a level, however many there are (at most 255).
    An identifier is a column of texts or categories with more than 50 levels and fewer than five
    rows a level, or whole numbers that are all different although they lie densely.

    Examples
    --------
    >>> data = {"dose": ["low", "high", "low", "high"], "cured": [False, True, True, False]}
    >>> done = ingest(data, "cured")
    >>> done.frame.names, done.target, done.frame.levels
    (('dose', 'cured'), 1, (('high', 'low'), (False, True)))
    >>> done.frame.column(0).tolist()
    [1, 0, 1, 0]
    """
    if target is not None and y is not None:
        raise ParameterError("give the target as a column name or as y, not both")
    store = data if isinstance(data, Store) else Store.open(data) if is_store(data) else None
    if store is not None:
        _check_store(store, target)
        data = store.frame
    table = open_table(data)
    check_size(table)
    place = None if target is None else find_column(table, target, TargetError)
    kept = frozenset(table.names[find_column(table, name)] for name in names_in("keep", keep))
    settings = Settings(discretize, bins, missing, kept)
    if settings.rule_for("")[0] == "supervised" and target is None and y is None:
        raise ParameterError("discretize='supervised' needs a target to look at")
    order = chosen_columns(table, place, columns, exclude)
    work = _Work(table, order, place, settings, Audit())
    name, column = _target(table, order, place, y, work.audit)
    check_rules(discretize, table, name)
    if store is not None:
        if isinstance(column, Categories) and name == store.target:
            column = Categories(column.codes, column.levels, store.unlabeled, declared=True)
        return _from_store(store, _pass(store.frame, place, order, name, column))
    return _pass(data, place, order, name, column) if isinstance(data, Frame) else work.run(name, column)


def _check_store(store: Store, target: str | int | None) -> None:
    """Refuse targets that were left out when the store was packed, or that need it packed otherwise."""
    if isinstance(target, str) and target in store.report.left_out:
        why = store.report.left_out[target]
        raise TargetError(f"the target {target!r} was left out when the table was packed: {why}; pack it as a target")
    if store.unlabeled is not None and target != store.target:
        raise TargetError(
            f"the table was packed for the target {store.target!r}, which is missing in {store.report.unlabeled} "
            f"rows; pack it again for {target!r}"
        )


def _from_store(store: Store, done: Ingested) -> Ingested:
    """Add to a frame that has passed what is known from the time when it was packed."""
    labels = {name: label for name, label in store.encoder.missing_labels.items() if name in done.frame.names}
    encoder = replace(done.encoder, binned=store.report.binned, missing=store.encoder.missing, missing_labels=labels)
    report = replace(store.report, n_columns=done.report.n_columns, unlabeled=done.report.unlabeled)
    return replace(done, encoder=encoder, report=report)


def check_rules(discretize: str | Mapping[str, Rule], table: Table, target: str | None) -> None:
    """Refuse rules for columns that do not exist or are sparse."""
    if isinstance(discretize, str):
        return
    for name in discretize:
        if name == target:
            continue
        if name not in table.index:
            raise ParameterError(
                f"'discretize' names {name!r}, which is no column{did_you_mean(str(name), table.names)}"
            )
        if table.sparse is not None:
            raise ParameterError(f"'discretize' names {name!r}, but sparse columns are not binned; do it before")


def _target(
    table: Table, order: Sequence[int], place: int | None, y: Any, audit: Audit
) -> tuple[str | None, Column | None]:
    """Return the name and the column of the target, None where there is none or it cannot be read."""
    if y is not None:
        return separate_target(table, order, y)
    if place is None:
        return None, None
    try:
        return table.names[place], table.read(place)
    except Refused as reason:
        audit.target.append(f"the target {table.names[place]!r} {reason}")
        return table.names[place], None


def _pass(frame: Frame, place: int | None, order: Sequence[int], name: str | None, column: Column | None) -> Ingested:
    """Let a frame through, without the columns that the user does not want; only its target is looked at."""
    audit = Audit()
    coding = None if name is None or column is None else encode_target(name, column, Settings(), audit)
    audit.check(missing="error")
    audit.warn()
    frame = frame if len(order) == frame.n_columns else frame.select(order)
    if place is None and name is not None and coding is not None:
        frame = frame.with_column(name, coding.codes, coding.levels)
    size = frame.n_rows, frame.n_columns
    unlabeled = None if column is None else column.missing
    report = DataReport(
        n_rows=size[0],
        n_columns=size[1],
        n_rows_given=size[0],
        n_columns_given=size[1],
        binned=audit.binned,
        unlabeled=0 if unlabeled is None else int(np.count_nonzero(unlabeled)),
    )
    encoder = Encoder(frame.names, frame.levels, audit.binned, name, "error", {})
    return Ingested(frame, None if name is None else frame.index(name), encoder, report, unlabeled)


@dataclass(slots=True)
class _Work:
    """The way of one table: rows to delete, target, features, frame."""

    table: Table
    order: list[int]
    place: int | None
    settings: Settings
    audit: Audit

    def run(self, name: str | None, column: Column | None) -> Ingested:
        """Encode target and features and put them together."""
        rows = self._kept_rows() if self.settings.missing == "drop" else None
        column = column if rows is None or column is None else column.take(rows)
        coding = None if name is None or column is None else encode_target(name, column, self.settings, self.audit)
        target = None if name is None or coding is None else (name, coding)
        unlabeled = None if column is None else column.missing
        n_rows = self.table.n_rows if rows is None else int(np.count_nonzero(rows))
        if n_rows < 2:
            raise DataError(f"missing='drop' leaves {n_rows} of {self.table.n_rows} rows; choose missing='level'")
        labels: dict[str, str] = {}
        if self.table.sparse is not None:
            frame = self._sparse(target, rows, unlabeled)
        else:
            frame = self._dense(target, rows, n_rows, unlabeled, labels)
        self.audit.check(missing=self.settings.missing)
        self.audit.warn()
        width = len(self.table.names) if self.table.positional else None
        encoder = Encoder(frame.names, frame.levels, self.audit.binned, name, self.settings.missing, labels, width)
        report = self._report(frame, rows, unlabeled, extra=self.place is None and name is not None)
        return Ingested(frame, None if name is None else frame.index(name), encoder, report, unlabeled)

    def _kept_rows(self) -> Mask:
        """Return the rows without missing values in those features that will be used."""
        if self.table.sparse is not None:
            return rows_without_gaps(self.table.sparse[:, [j for j in self.order if j != self.place]])
        kept = np.ones(self.table.n_rows, dtype=bool)
        for j in self.order:
            if j == self.place:
                continue
            try:
                column = self.table.read(j)
            except Refused:
                continue  # reported when it is read again
            if column.missing is None or infinite(column):
                continue
            rule, asked = self.settings.rule_for(self.table.names[j])
            if not left_out(self.table.names[j], settled(column, rule, asked=asked), self.settings):
                self.audit.missing[self.table.names[j]] = int(np.count_nonzero(column.missing))
                kept &= ~column.missing
        return kept

    def _dense(
        self,
        target: tuple[str, Coding] | None,
        rows: Mask | None,
        n_rows: int,
        unlabeled: Mask | None,
        labels: dict[str, str],
    ) -> Frame:
        """Encode column by column into one frame."""
        check_room(n_rows, len(self.order) + 1)
        builder = FrameBuilder(n_rows, len(self.order) + 1)
        classes = None if target is None else Categories(target[1].codes, target[1].levels, unlabeled)
        twin = None if target is None or unlabeled is not None else _digest(target[1])
        for j in self.order:
            if j == self.place:
                if target is not None:
                    builder.add_target(target[0], target[1].codes, target[1].levels)
                continue
            name = self.table.names[j]
            try:
                column = self.table.read(j)
            except Refused as reason:
                self.audit.refuse(name, reason)
                continue
            coding = encode_feature(
                name, column if rows is None else column.take(rows), self.settings, self.audit, classes
            )
            if coding is None:
                continue
            if coding.missing_label is not None:
                labels[name] = coding.missing_label
            self._add(builder, name, coding, twin)
        if target is not None and self.place is None:
            builder.add_target(target[0], target[1].codes, target[1].levels)
        return builder.frame()

    def _add(self, builder: FrameBuilder, name: str, coding: Coding, twin: bytes | None) -> None:
        """Add a feature unless it repeats another; note what it repeats."""
        earlier = builder.add(name, coding.codes, coding.levels, even_if_repeated=name in self.settings.keep)
        if earlier is not None:
            self.audit.duplicates.setdefault(earlier, []).append(name)
            for noted in (self.audit.binned, self.audit.many_levels, self.audit.unused_levels):
                noted.pop(name, None)
        elif builder.last_digest == twin:
            self.audit.copies_of_target.append(name)

    def _sparse(self, target: tuple[str, Coding] | None, rows: Mask | None, unlabeled: Mask | None) -> Frame:
        """Encode the columns of a sparse matrix into a sparse block, and the target into a dense one."""
        features = np.array([j for j in self.order if j != self.place], np.int64)
        matrix = self.table.sparse if len(features) == len(self.table.names) else self.table.sparse[:, features]
        called = [self.table.names[j] for j in features.tolist()]
        note_gaps(matrix, called, self.audit)
        matrix = matrix if rows is None else take_rows(matrix, rows)
        twin = None if target is None or unlabeled is not None else target[1].codes
        done = encode_sparse(matrix, called, self.settings, self.audit, twin)
        at = features[done.columns]
        names = tuple(self.table.names[j] for j in at)
        zeros = np.zeros(len(at), np.int64)
        where = np.arange(len(at), dtype=np.int64)
        digests = {(0, k): made for k, made in enumerate(done.digests)}
        frame = Frame(names, tuple(done.levels), done.block.n_rows, (done.block,), zeros, where, digests)
        if target is None:
            return frame
        name, coding = target
        codes: NDArray[Any] = coding.codes.astype(np.uint8 if len(coding.levels) <= NARROW else np.int32)
        before = len(at) if self.place is None else int(np.searchsorted(at, self.place))
        return Frame(
            (*names[:before], name, *names[before:]),
            (*frame.levels[:before], coding.levels, *frame.levels[before:]),
            frame.n_rows,
            (done.block, DenseColumns(codes[np.newaxis, :])),
            np.insert(zeros, before, 1),
            np.insert(where, before, 0),
            digests,
        )

    def _report(self, frame: Frame, rows: Mask | None, unlabeled: Mask | None, *, extra: bool) -> DataReport:
        """Put on record what was done."""
        return self.audit.report(
            n_rows=frame.n_rows,
            n_columns=frame.n_columns,
            n_rows_given=self.table.n_rows,
            n_columns_given=len(self.order) + extra,
            dropped_rows=0 if rows is None else int(np.count_nonzero(~rows)),
            missing_policy=self.settings.missing,
            unlabeled=0 if unlabeled is None else int(np.count_nonzero(unlabeled)),
        )


def _digest(coding: Coding) -> bytes:
    """Return the hash that a feature with the same codes would have."""
    return digest(coding.codes.astype(np.uint8 if len(coding.levels) <= NARROW else np.int32))
