"""From chunks of rows to a store: read once to learn levels and ranges, once more to write codes.

Columns of numbers that Sturges' rule cuts are written with all its bins; bins that turn out to have no
rows are joined with their neighbors afterwards, as `blankets.data.ingest` does. The target is read whole.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.data._audit import Audit
from blankets.data._chunks import ChangedTypes, Chunks
from blankets.data._coding import Coding, Rule, Settings, encode_target
from blankets.data._columns import Categories, Column, Mask, Refused
from blankets.data._frame import NARROW, digest
from blankets.data._ingest import Ingested, check_rules
from blankets.data._learn import Recipe, Summary, decide, joined_bins, leave_out
from blankets.data._readers import from_arrow
from blankets.data._report import DataReport
from blankets.data._request import chosen_columns, find_column
from blankets.data._store import Store, StoreWriter, is_store
from blankets.data._tables import named
from blankets.errors import DataError, ParameterError, TargetError

__all__ = ["pack_chunks", "pack_ingested", "reusable"]

Tell = Callable[[str], None]


def pack_chunks(
    chunks: Chunks,
    path: Path,
    target: str | None = None,
    *,
    discretize: str | Mapping[str, Rule] = "sturges",
    bins: int | None = None,
    missing: str = "error",
    keep: Iterable[str] = (),
    columns: Iterable[str] | None = None,
    exclude: Iterable[str] = (),
    tell: Tell | None = None,
    n_jobs: int | None = None,
) -> Store:
    """Write a table that comes in chunks as a store; parameters are those of `blankets.data.ingest`."""
    keep, exclude = tuple(keep), tuple(exclude)
    columns = None if columns is None else tuple(columns)
    before = chunks.identity()
    asked = {"target": target, "discretize": discretize, "bins": bins, "missing": missing, "keep": keep}
    fingerprint = _fingerprint(before, {**asked, "columns": columns, "exclude": exclude})
    if (store := reusable(path, fingerprint)) is not None:
        return store
    table = named(chunks.names, 2, lambda j: chunks.whole(chunks.names[j]))
    place = None if target is None else find_column(table, target, TargetError)
    settings = Settings(discretize, bins, missing, frozenset(table.names[find_column(table, name)] for name in keep))
    if settings.rule_for("")[0] == "supervised" and target is None:
        raise ParameterError("discretize='supervised' needs a target to look at")
    check_rules(discretize, table, target)
    order = [table.names[j] for j in chosen_columns(table, place, columns, exclude)]
    with ThreadPoolExecutor(n_jobs or os.cpu_count() or 1) as pool, chunks.settled() as rows:
        work = _Packing(rows, order, target, settings, pool, tell or (lambda _: None))
        store = work.run(path, fingerprint, unchanged=lambda: chunks.identity() == before)
    work.audit.warn()
    return store


def reusable(path: Path, fingerprint: str) -> Store | None:
    """Return the store that is there, if it was made of the same source in the same way."""
    if not is_store(path):
        return None
    try:
        store = Store.open(path)
    except DataError:
        return None
    return store if store.fingerprint == fingerprint else None


def _fingerprint(identity: Any, asked: Mapping[str, Any]) -> str:
    plain = json.dumps([identity, asked], default=_plain, sort_keys=True)
    return hashlib.sha256(plain.encode()).hexdigest()


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else np.asarray(value).tolist()


def pack_ingested(done: Ingested, path: Path) -> Store:
    """Write a table that has been read in memory as a store."""
    frame = done.frame
    target = None if done.target is None else frame.names[done.target]
    fingerprint = _fingerprint([frame.fingerprint(), target], {})
    if (store := reusable(path, fingerprint)) is not None:
        return store
    with StoreWriter(path, frame.n_rows, [len(values) > NARROW for values in frame.levels]) as writer:
        for j in range(frame.n_columns):
            writer.write(j, 0, frame.column(j))
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
        )


@dataclass(slots=True)
class _Target:
    """The target, read whole."""

    name: str
    coding: Coding
    unlabeled: Mask | None

    @property
    def classes(self) -> Categories:
        """Its codes as a column, for supervised binning."""
        return Categories(self.coding.codes, self.coding.levels, self.unlabeled)


class _Packing:
    """The way of one table from chunks to a store."""

    def __init__(
        self,
        chunks: Chunks,
        order: list[str],
        target: str | None,
        settings: Settings,
        pool: ThreadPoolExecutor,
        tell: Tell,
    ) -> None:
        self.chunks, self.order, self.target, self.settings = chunks, order, target, settings
        self.features = [name for name in order if name != target]
        self.pool, self.tell = pool, tell
        self.audit = Audit()
        self.n_given = 0
        self.rows: Mask | None = None

    def run(self, path: Path, fingerprint: str, *, unchanged: Callable[[], bool]) -> Store:
        """Learn, decide, write."""
        summaries = self._learnt()
        if self.n_given < 2:
            rows = "no rows" if self.n_given == 0 else "a single row"
            raise DataError(f"the table has {rows}; dependence shows only between several")
        if self.settings.missing == "drop":
            summaries = self._after_dropping(summaries)
        target = self._read_target()
        recipes = self._decided(summaries, target)
        self.audit.check(missing=self.settings.missing)
        names = [name for name in self.order if name in recipes or (target is not None and name == target.name)]
        levels = [recipes[n].levels if n in recipes else target.coding.levels for n in names]  # type: ignore[union-attr]
        n_rows = self.n_given if self.rows is None else int(np.count_nonzero(self.rows))
        with StoreWriter(path, n_rows, [len(values) > NARROW for values in levels]) as writer:
            digests = self._written(writer, names, recipes, target)
            self._join_empty_bins(writer, names, recipes, digests)
            if not unchanged():
                raise DataError("the files have changed while they were read; pack them again")
            kept = self._kept(names, recipes, digests, target)
            return writer.finish(
                [names.index(name) for name in kept],
                kept,
                [recipes[n].levels if n in recipes else target.coding.levels for n in kept],  # type: ignore[union-attr]
                target=self.target,
                unlabeled=None if target is None else target.unlabeled,
                report=self._report(kept, n_rows, target),
                missing_labels={n: r.missing_label for n, r in recipes.items() if r.missing_label is not None},
                fingerprint=fingerprint,
                digests=[digests[name] for name in kept],
            )

    def _parts(self, names: Sequence[str], doing: str) -> Iterator[tuple[int, Any]]:
        """Yield chunks with their first row among the rows that are kept, telling how far it has come."""
        given = start = 0
        total = f" of {self.n_given:,}" if self.n_given else ""
        for chunk in self.chunks.chunks(names):
            n = chunk.num_rows
            if self.rows is not None:
                here = self.rows[given : given + n]
                chunk = chunk.filter(_as_arrow(here))
            given += n
            yield start, chunk
            start += chunk.num_rows
            self.tell(f"{doing}: {given:,}{total} rows")
        self.n_given = given

    def _learnt(self) -> dict[str, Summary]:
        """Return what all chunks teach about the features."""
        while True:
            summaries = {n: Summary(every_number=self.settings.rule_for(n)[0] == "categorical") for n in self.features}
            bad: dict[str, str] = {}
            try:
                for _, chunk in self._parts(self.features, "learning levels"):
                    list(self.pool.map(partial(_learn, chunk, summaries, bad), self.features))
            except ChangedTypes:
                continue
            for name in self.features:
                if name in bad:
                    self.audit.refuse(name, bad[name])
                    del summaries[name]
            return summaries

    def _after_dropping(self, summaries: dict[str, Summary]) -> dict[str, Summary]:
        """Find the rows without missing values in features that will be used, and learn again from these."""
        gappy = [
            n for n, s in summaries.items() if s.n_missing and not s.n_infinite and not self._goes(n, s, summaries)
        ]
        if not gappy:
            return summaries
        masks: list[NDArray[np.bool_]] = []
        for _, chunk in self._parts(gappy, "looking for missing values"):
            kept = np.ones(chunk.num_rows, dtype=bool)
            for name in gappy:
                missing = from_arrow(chunk.column(name)).missing
                if missing is not None:
                    kept &= ~missing
            masks.append(kept)
        self.audit.missing.update({name: summaries[name].n_missing for name in gappy})
        rows = np.concatenate(masks)
        left = int(np.count_nonzero(rows))
        if left < 2:
            raise DataError(f"missing='drop' leaves {left} of {len(rows)} rows; choose missing='level'")
        self.rows, refused = rows, self.audit.refused
        self.audit.refused = {}
        again = self._learnt()
        self.audit.refused = refused
        return {name: summary for name, summary in again.items() if name in summaries}

    def _goes(self, name: str, summary: Summary, summaries: dict[str, Summary]) -> bool:
        """Tell whether a feature with gaps would be left out anyway."""
        if summary.continuous and summary.may_be_identifier:
            return decide(name, summary, replace(self.settings, missing="level"), Audit(), self._whole(name)) is None
        return leave_out(name, summary, self.settings, None)

    def _whole(self, name: str) -> Callable[[], Column]:
        def read() -> Column:
            while True:
                try:
                    column = self.chunks.whole(name)
                except ChangedTypes:
                    continue
                return column if self.rows is None else column.take(self.rows)

        return read

    def _read_target(self) -> _Target | None:
        """Read the target whole and code it."""
        if self.target is None:
            return None
        try:
            column = self._whole(self.target)()
        except Refused as reason:
            self.audit.target.append(f"the target {self.target!r} {reason}")
            return None
        coding = encode_target(self.target, column, self.settings, self.audit)
        return None if coding is None else _Target(self.target, coding, column.missing)

    def _decided(self, summaries: Mapping[str, Summary], target: _Target | None) -> dict[str, Recipe]:
        """Return how each feature is coded."""
        recipes = {}
        classes = None if target is None else target.classes
        for name, summary in summaries.items():
            try:
                recipe = decide(name, summary, self.settings, self.audit, self._whole(name), classes)
            except Refused as reason:
                self.audit.refuse(name, reason)
                continue
            if recipe is not None:
                recipes[name] = recipe
        return recipes

    def _written(
        self, writer: StoreWriter, names: list[str], recipes: Mapping[str, Recipe], target: _Target | None
    ) -> dict[str, Any]:
        """Write the codes of all columns; return a hash of each."""
        hashes = {name: hashlib.blake2b(digest_size=16) for name in names}
        bad: dict[str, str] = {}

        def write(start: int, chunk: Any, name: str) -> None:
            try:
                codes = recipes[name].codes(from_arrow(chunk.column(name)))
            except Refused as reason:
                bad[name] = str(reason)
                return
            writer.write(names.index(name), start, codes)
            hashes[name].update(codes.data)

        features = [name for name in names if name in recipes]
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
            raise DataError(f"there were {writer.n_rows:,} rows at the first reading and are {written:,} now")
        if target is not None:
            codes = target.coding.codes.astype(np.uint8 if len(target.coding.levels) <= NARROW else np.int32)
            writer.write(names.index(target.name), 0, codes)
            hashes[target.name].update(codes.data)
        return {name: made.digest() for name, made in hashes.items()}

    def _join_empty_bins(
        self, writer: StoreWriter, names: list[str], recipes: dict[str, Recipe], digests: dict[str, Any]
    ) -> None:
        """Join each bin without rows with its neighbor; leave out columns of which one bin remains."""
        for name in [name for name in names if name in recipes and not recipes[name].checked]:
            j = names.index(name)
            counts = sum(np.bincount(codes, minlength=len(recipes[name].levels)) for _, codes in writer.read(j))
            recipe, new = joined_bins(name, recipes[name], np.asarray(counts), self.audit)
            if recipe is None:
                del recipes[name]
                continue
            recipes[name] = recipe
            if new is not None:
                writer.change(j, new)
                made = hashlib.blake2b(digest_size=16)
                for _, codes in writer.read(j):
                    made.update(codes.data)
                digests[name] = made.digest()

    def _kept(
        self, names: list[str], recipes: Mapping[str, Recipe], digests: Mapping[str, Any], target: _Target | None
    ) -> list[str]:
        """Return the columns that do not repeat an earlier one, and note those that do."""
        twin = None if target is None or target.unlabeled is not None else digests[target.name]
        seen: dict[Any, str] = {}
        kept = []
        for name in names:
            if target is not None and name == target.name:
                kept.append(name)
                continue
            if name not in recipes:
                continue
            earlier = seen.setdefault(digests[name], name)
            if earlier != name and name not in self.settings.keep:
                self.audit.duplicates.setdefault(earlier, []).append(name)
                for noted in (self.audit.binned, self.audit.many_levels, self.audit.unused_levels):
                    noted.pop(name, None)
                continue
            if digests[name] == twin:
                self.audit.copies_of_target.append(name)
            kept.append(name)
        return kept

    def _report(self, kept: Sequence[str], n_rows: int, target: _Target | None) -> DataReport:
        gaps = None if target is None else target.unlabeled
        return self.audit.report(
            n_rows=n_rows,
            n_columns=len(kept),
            n_rows_given=self.n_given,
            n_columns_given=len(self.order),
            dropped_rows=self.n_given - n_rows,
            missing_policy=self.settings.missing,
            unlabeled=0 if gaps is None else int(np.count_nonzero(gaps)),
        )


def _learn(chunk: Any, summaries: Mapping[str, Summary], bad: dict[str, str], name: str) -> None:
    """Let a summary take in its column of a chunk."""
    if name in bad:
        return
    try:
        summaries[name].add(from_arrow(chunk.column(name)))
    except Refused as reason:
        bad[name] = str(reason)


def _as_arrow(mask: NDArray[np.bool_]) -> Any:
    import pyarrow as pa

    return pa.array(mask)
