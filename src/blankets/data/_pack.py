"""Write chunks of rows to a store: read once to learn levels and ranges, once more to write codes.

Columns of numbers that are cut by Sturges' rule are written with all bins; empty bins are joined with their
neighbors afterwards, as in `blankets.data.ingest`. The whole target is read at once.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.data._blocks import NARROW, code_type, digest
from blankets.data._chunks import ChangedTypes, Chunks
from blankets.data._coding import Coding, LeftOut, decide, left_out
from blankets.data._columns import Column, Mask, Numbers, Refused
from blankets.data._findings import Findings, Repeats, warn_of_dropping
from blankets.data._frame import Frame
from blankets.data._ingested import Ingested, Target
from blankets.data._orders import found_orders, on_scales
from blankets.data._reading import DEFAULT, Reading
from blankets.data._request import AskedColumns, check_rows
from blankets.data._store import Store, is_store
from blankets.data._store_writer import StoreWriter
from blankets.data._summary import Summary
from blankets.data._tables import table_of
from blankets.data._units import refuse_units
from blankets.errors import DataError, EngineError
from blankets.voice import option

Tell = Callable[[str], None]


def pack_chunks(
    chunks: Chunks,
    path: Path,
    target: str | None = None,
    *,
    reading: Reading = DEFAULT,
    tell: Tell | None = None,
    n_jobs: int | None = None,
) -> Store:
    """Write a table that comes in chunks as a store; ``target`` and ``reading`` are those of `ingest`."""
    refuse_units(reading, "a table that is read piece by piece", "read it into memory, or repeat its rows")
    before = chunks.identity()
    how = {name: value for name, value in reading.options.items() if name not in ("positive", "unlabeled_marker")}
    fingerprint = _fingerprint([before, target, how, "with numbers"])
    if (store := reusable(path, fingerprint)) is not None:
        return store
    # The number of rows is known only after reading.
    table = replace(table_of(chunks.names, 2, lambda j: chunks.whole(chunks.names[j])), notes=chunks.notes)
    asked = AskedColumns.of(table, target, None, reading)
    with ThreadPoolExecutor(n_jobs or os.cpu_count() or 1) as pool, chunks.settled() as rows:
        work = _Packing(rows, asked, pool, tell or (lambda _: None))
        store = work.run(path, fingerprint, unchanged=lambda: chunks.identity() == before)
    work.findings.warn()
    return store


def reusable(path: Path, fingerprint: str) -> Store | None:
    """Return the existing store, if it was made from the same source in the same way."""
    if not is_store(path):
        return None
    try:
        store = Store.open(path)
    except (DataError, EngineError):
        return None
    return store if store.fingerprint == fingerprint else None


def _fingerprint(about: list[Any]) -> str:
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


def pack_ingested(done: Ingested, path: Path, uncut: Frame | None = None) -> Store:
    """Write a table that has been read in memory as a store; ``uncut``: the same table with its numbers."""
    frame = done.frame
    target = None if done.target is None else frame.names[done.target]
    there = {} if uncut is None else {uncut.names[j]: number for j, number in uncut.numbers.items()}
    labeled = done.encoder.missing_labels  # a number with a level for missing values is no number
    numbers = {j: there[name] for j, name in enumerate(frame.names) if name in there and name not in labeled}
    found = {} if uncut is None else {uncut.names[j]: uncut.levels[j] for j in uncut.ordered}
    scales = {name for alike in on_scales(found).values() for name in alike}
    ordered = frame.ordered | {frame.index(name) for name in scales}
    several = {frame.index(name) for name in found} - ordered
    fingerprint = _fingerprint([frame.fingerprint(), target, [n.digest().hex() for n in numbers.values()]])
    if (store := reusable(path, fingerprint)) is not None:
        return store
    wide = [width > NARROW for width in frame.widths.tolist()]
    with StoreWriter(path, frame.n_rows, wide, list(numbers)) as writer:
        for j in range(frame.n_columns):
            writer.write(j, 0, frame.column(j))
        for j, number in numbers.items():
            writer.write_number(j, 0, number.values)
        return writer.finish(
            range(frame.n_columns),
            frame.names,
            frame.levels,
            target=target,
            unlabeled=done.unlabeled,
            report=done.report,
            missing_labels=dict(done.encoder.missing_labels),
            fingerprint=fingerprint,
            digests=[digest(frame.column(j)) for j in range(frame.n_columns)],
            holes=frame.holes,
            ordered=frozenset(ordered),
            several=frozenset(several),
        )


class _Packing:
    """The steps for one table, from chunks to a store."""

    def __init__(self, chunks: Chunks, asked: AskedColumns, pool: ThreadPoolExecutor, tell: Tell) -> None:
        self.chunks, self.asked, self.reading = chunks, asked, asked.reading
        self.features = [asked.table.names[j] for j in asked.features]
        self.pool, self.tell = pool, tell
        self.findings = Findings(notes=list(asked.table.notes))
        self.n_given = 0
        self.rows: Mask | None = None

    def run(self, path: Path, fingerprint: str, *, unchanged: Callable[[], bool]) -> Store:
        """Learn, decide, write."""
        summaries = self._learnt()
        check_rows(self.n_given)
        if self.reading.missing == "drop":
            summaries = self._after_dropping(summaries)
        target = self._read_target()
        codings = self._decided(summaries, target)
        if len(codings) > (target is not None):
            self.findings.leave_out(self.asked.named)
        self.findings.check(missing=self.reading.missing)
        names = [name for j in self.asked.order if (name := self.asked.table.names[j]) in codings]
        n_rows = self.n_given if self.rows is None else int(np.count_nonzero(self.rows))
        wide, numbers = [codings[name].width > NARROW for name in names], self._numbers(names, codings, target)
        with StoreWriter(path, n_rows, wide, numbers) as writer:
            digests = self._written(writer, names, codings, target)
            self._join_empty_bins(writer, names, codings, digests, summaries)
            if not unchanged():
                raise DataError("the files have changed while they were read; pack them again")
            repeats = Repeats(self.findings, self.asked.keep, None if target is None else target.digest)
            kept = [
                name
                for name in names
                if name in codings and (name == self.asked.target or repeats.new(name, digests[name]))
            ]
            for name in kept:
                if name != self.asked.target:
                    self.findings.use(name, codings[name])
            declared = {name for name in kept if codings[name].kind == "ordered"}
            found = found_orders(
                {name: codings[name].levels for name in kept if codings[name].binning is None},
                self.reading,
                self.asked.target,
                declared,
                beside_numbers=any(names[j] in kept for j in numbers),
            )
            unlabeled = None if target is None else target.unlabeled
            report = self.findings.report(
                n_rows=n_rows,
                n_columns=len(kept),
                n_rows_given=self.n_given,
                n_columns_given=len(self.asked.order),
                dropped_rows=self.n_given - n_rows,
                missing_policy="testwise" if self.reading.leaves_holes else self.reading.missing,
                unlabeled=0 if unlabeled is None else int(np.count_nonzero(unlabeled)),
            )
            return writer.finish(
                [names.index(name) for name in kept],
                kept,
                [codings[name].levels for name in kept],
                target=self.asked.target,
                unlabeled=unlabeled,
                report=report,
                missing_labels={n: label for n in kept if (label := codings[n].missing_label) is not None},
                fingerprint=fingerprint,
                digests=[digests[name] for name in kept],
                holes=frozenset(k for k, name in enumerate(kept) if codings[name].holes),
                ordered=frozenset(k for k, name in enumerate(kept) if name in declared or name in found.scales),
                several=frozenset(k for k, name in enumerate(kept) if name in found.several),
            )

    def _numbers(self, names: Sequence[str], codings: Mapping[str, Coding], target: Target | None) -> list[int]:
        """Return the columns whose values are kept beside their codes: those that nobody asked to cut."""
        unlabeled = target is not None and target.unlabeled is not None
        return [
            j
            for j, name in enumerate(names)
            if codings[name].binning is not None
            and codings[name].missing_label is None
            and self.reading.rule_for(name)[0] == "auto"
            and not (name == self.asked.target and unlabeled)
        ]

    def _parts(self, names: Sequence[str], doing: str) -> Iterator[tuple[int, Any]]:
        """Yield chunks, each with the number of its first kept row, and report progress; none without columns."""
        import pyarrow as pa

        if not names:  # pyarrow would read all columns
            return
        given = start = 0
        total = f" of {self.n_given:,}" if self.n_given else ""
        for chunk in self.chunks.chunks(names):
            n = chunk.num_rows
            if self.rows is not None:
                chunk = chunk.filter(pa.array(self.rows[given : given + n]))
            given += n
            yield start, chunk
            start += chunk.num_rows
            self.tell(f"{doing}: {given:,}{total} rows")
        self.n_given = given

    def _learnt(self) -> dict[str, Summary]:
        """Return the summaries of the features over all chunks."""
        while True:
            summaries = {name: Summary.asked(name, self.reading, parts=True) for name in self.features}
            bad: dict[str, str] = {}
            try:
                for _, chunk in self._parts(self.features, "learning levels"):
                    list(self.pool.map(partial(self._learn, chunk, summaries, bad), self.features))
            except ChangedTypes:
                continue
            for name in [name for name in self.features if name in bad]:
                self.findings.refuse(name, bad[name])
                del summaries[name]
            return summaries

    def _learn(self, chunk: Any, summaries: Mapping[str, Summary], bad: dict[str, str], name: str) -> None:
        """Add the column of a chunk to its summary."""
        if name in bad:
            return
        try:
            summaries[name].add(self.chunks.column(name, chunk.column(name)))
        except Refused as reason:
            bad[name] = str(reason)

    def _after_dropping(self, summaries: dict[str, Summary]) -> dict[str, Summary]:
        """Find the rows without missing values in features that will be used, and learn again from these."""
        gappy = [
            name
            for name, summary in summaries.items()
            if summary.n_missing
            and left_out(summary, self.reading, self._whole(name), keep=name in self.asked.keep) is None
        ]
        if not gappy:
            return summaries
        masks: list[NDArray[np.bool_]] = []
        for _, chunk in self._parts(gappy, "looking for missing values"):
            kept = np.ones(chunk.num_rows, dtype=bool)
            for name in gappy:
                missing = self.chunks.column(name, chunk.column(name)).missing
                if missing is not None:
                    kept &= ~missing
            masks.append(kept)
        self.findings.missing.update({name: summaries[name].n_missing for name in gappy})
        rows = np.concatenate(masks)
        left = int(np.count_nonzero(rows))
        if left < 2:
            raise DataError(
                f"{option(missing='drop')} leaves {left} of {len(rows)} rows; choose {option(missing='testwise')}"
            )
        warn_of_dropping(left, len(rows))
        self.rows, refused = rows, self.findings.refused
        self.findings.refused = {}
        again = self._learnt()
        self.findings.refused = refused
        return {name: summary for name, summary in again.items() if name in summaries}

    def _whole(self, name: str) -> Callable[[], Column]:
        def read() -> Column:
            while True:
                try:
                    column = self.chunks.whole(name)
                except ChangedTypes:
                    continue
                return column if self.rows is None else column.take(self.rows)

        return read

    def _read_target(self) -> Target | None:
        """Read the whole target and code it."""
        name = self.asked.target
        if name is None:
            return None
        try:
            column = self._whole(name)()
        except Refused as reason:
            self.findings.target.append(f"the target {name!r} {reason}")
            return None
        return Target.read(name, column, self.reading, self.findings)

    def _decided(self, summaries: Mapping[str, Summary], target: Target | None) -> dict[str, Coding]:
        """Return how each column is coded."""
        codings = {} if target is None else {target.name: target.coding}
        classes = None if target is None else target.classes
        for name, summary in summaries.items():
            try:
                found = decide(name, summary, self.reading, self._whole(name), classes, keep=name in self.asked.keep)
            except Refused as reason:
                self.findings.refuse(name, reason)
                continue
            coding = self.findings.decided(name, found, summary)
            if coding is not None:
                codings[name] = coding
        return codings

    def _written(
        self, writer: StoreWriter, names: list[str], codings: Mapping[str, Coding], target: Target | None
    ) -> dict[str, bytes]:
        """Write the codes of all columns; return a hash of each."""
        hashes = {name: hashlib.blake2b(digest_size=16) for name in names}
        place = {name: j for j, name in enumerate(names)}
        bad: dict[str, str] = {}

        def write(start: int, chunk: Any, name: str) -> None:
            try:
                column = self.chunks.column(name, chunk.column(name))
                codes = codings[name].codes(column)
            except Refused as reason:
                bad[name] = str(reason)
                return
            if place[name] in writer.number_at:
                gone = np.full(len(column), np.nan)
                writer.write_number(place[name], start, column.floats() if isinstance(column, Numbers) else gone)
            narrow = np.ascontiguousarray(codes, code_type(codings[name].width))
            writer.write(place[name], start, narrow)
            hashes[name].update(narrow.data)

        features = [name for name in names if target is None or name != target.name]
        written = 0
        for start, chunk in self._parts(features, "packing"):
            written = start + chunk.num_rows
            if written > writer.n_rows:
                raise DataError("there are more rows than at the first reading: the files have changed")
            list(self.pool.map(partial(write, start, chunk), features))
        if bad:
            name, reason = next(iter(bad.items()))
            raise DataError(f"column {name!r} {reason}")
        if features and written != writer.n_rows:
            raise DataError(f"there were {writer.n_rows:,} rows at the first reading, and there are {written:,} now")
        if target is not None:
            writer.write(place[target.name], 0, target.codes)
            hashes[target.name].update(np.ascontiguousarray(target.codes).data)
            if place[target.name] in writer.number_at and isinstance(column := self._whole(target.name)(), Numbers):
                writer.write_number(place[target.name], 0, column.floats())
        return {name: made.digest() for name, made in hashes.items()}

    def _join_empty_bins(
        self,
        writer: StoreWriter,
        names: list[str],
        codings: dict[str, Coding],
        digests: dict[str, bytes],
        summaries: Mapping[str, Summary],
    ) -> None:
        """Join each bin without rows with its neighbor; leave out columns with one bin left."""
        for name in [name for name in names if not codings[name].checked]:
            j, coding = names.index(name), codings.pop(name)
            counts = sum(np.bincount(codes, minlength=len(coding.levels)) for _, codes in writer.read(j))
            done, new = coding.without_empty_bins(np.asarray(counts))
            if isinstance(done, LeftOut):
                self.findings.decided(name, done, summaries[name])
                continue
            codings[name] = done
            if new is not None:
                writer.change(j, new)
                made = hashlib.blake2b(digest_size=16)
                for _, codes in writer.read(j):
                    made.update(codes.data)
                digests[name] = made.digest()
