"""Counting by SQL, if rows must not leave the database: one statement per request, and only counts come back.

A statement is a UNION ALL of one GROUP BY for each candidate. (Grouping sets do not share work either, and
take three times the memory.) Levels and ranges are queried once, and columns are coded by the rules of
`blankets.data.ingest`; numbers are cut into bins within the statement. Columns that repeat others are not
detected.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

import numpy as np

from blankets.caching import cached_property
from blankets.counting._partition import PartitionedCounter, Request, Tables
from blankets.data import (
    DEFAULT,
    AskedColumns,
    Coding,
    DataReport,
    Findings,
    Reading,
    Refused,
    SqlTable,
    Summary,
    decide,
    decide_target,
    quoted,
    refuse_units,
    table_of,
)
from blankets.errors import EngineError, ParameterError, TargetError
from blankets.voice import option

NUMBERS = ("INT", "FLOAT", "DOUBLE", "REAL", "DECIMAL")


@dataclass(frozen=True, slots=True, eq=False)
class _Coded:
    """A column as an SQL expression with text values, and the code of each text (None: missing)."""

    name: str
    expression: str
    codes: Mapping[str | None, int]
    levels: tuple[object, ...]
    holes: bool = False  # whether missing values have the code beyond the levels

    def code(self, text: str | None) -> int:
        """Return the code of a text."""
        if text not in self.codes:
            raise EngineError(
                f"column {self.name!r} has the value {text!r}, which was not there when its levels were read: the "
                f"rows of the query have changed; ask again, or pack the query first"
            )
        return self.codes[text]


class SqlCounter(PartitionedCounter):
    """Counts the rows of a query within the database.

    ``table``: the query. ``target``: a column that must exist and have no missing values. ``reading``: as for
    `blankets.data.ingest`; rules for bins are "sturges", "equal-width" and lists of cut points, policies for missing
    values all but "drop".

    Examples
    --------
    >>> table = SqlTable("SELECT range % 2 AS a, range % 4 < 2 AS b FROM range(8)")
    >>> [block.counts.squeeze(-1).tolist() for block in SqlCounter(table).tables([0], 1)]
    [[[[2, 2], [2, 2]]]]
    """

    def __init__(self, table: SqlTable, target: str | None = None, *, reading: Reading = DEFAULT) -> None:
        if reading.missing == "drop":
            raise ParameterError(f"{option(engine='sql')} does not delete rows; filter them in the WHERE of the query")
        if reading.na:
            raise ParameterError(
                f"{option('na')} is not built for {option(engine='sql')}; write nullif(column, 'word') in the query"
            )
        refuse_units(reading, f"{option(engine='sql')}", "count with sum(...) GROUP BY in a table in memory")
        self.table, self._reading, findings = table, reading, Findings()
        self.n_rows = int(table.rows(f"SELECT count(*) FROM {table.source}")[0][0])
        asked = AskedColumns.of(table_of(table.names, self.n_rows, partial(_leave, table.names)), target, None, reading)
        types = dict(table.rows(f"SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM {table.source})"))
        columns: dict[str, _Coded] = {}
        for name in [table.names[j] for j in asked.order]:
            try:
                coded = self._coded(name, types[name], asked, findings)
            except Refused as reason:
                if name == target:
                    raise TargetError(f"the target {name!r} {reason}") from None
                findings.refuse(name, reason)
                continue
            if coded is not None:
                columns[name] = coded
        if len(columns) > (target is not None):
            findings.leave_out(asked.named)
        findings.check(missing=reading.missing)
        findings.warn()
        self._columns = list(columns.values())
        self.names, self.levels = tuple(columns), tuple(coded.levels for coded in self._columns)
        self.arities = np.array([len(values) for values in self.levels], np.int64)
        self.holes = frozenset(j for j, coded in enumerate(self._columns) if coded.holes)
        self.report: DataReport = findings.report(
            n_rows=self.n_rows,
            n_columns=len(columns),
            n_rows_given=self.n_rows,
            n_columns_given=len(asked.order),
            missing_policy=reading.missing,
        )

    @cached_property
    def fingerprint(self) -> str:
        """What identifies these rows and how they are read."""
        about = self.table.query, self.table.content(), self.names, self.levels
        return hashlib.sha256(repr(about).encode("utf-8", "surrogatepass")).hexdigest()

    def ask(self, requests: Sequence[Request]) -> list[Tables]:
        """Let the database count, one statement per request."""
        return [self._answer(request) for request in requests]

    def _answer(self, request: Request) -> Tables:
        cells = [self._columns[j] for j in (request.y, *request.given)]
        keys = ", ".join(f"{coded.expression} AS c{k}" for k, coded in enumerate(cells))
        columns = [self._columns[x] for x in request.xs]
        counted = f"{keys}, count(*) AS n FROM {self.table.source} GROUP BY ALL"
        parts = [f"SELECT {k} AS k, {x.expression} AS x, {counted}" for k, x in enumerate(columns)]
        found: dict[tuple[int, ...], list[tuple[int, int, int, int]]] = {}
        for k, x, y, *given, n in self.table.rows(" UNION ALL ".join(parts)):
            pairs = [(columns[k], x), *zip(cells, (y, *given), strict=True)]
            row = [coded.code(value) for coded, value in pairs]
            if any(code == len(coded.levels) for code, (coded, _) in zip(row, pairs, strict=True)):
                continue  # a hole
            found.setdefault(tuple(row[2:]), []).append((k, row[0], row[1], n))
        widest = int(self.arities[request.xs].max())
        counts = np.zeros((len(columns), widest, int(self.arities[request.y]), len(found)), np.int32)
        for s, stratum in enumerate(sorted(found)):
            for k, x, y, n in found[stratum]:
                counts[k, x, y, s] += n
        return Tables(counts, np.array(sorted(found), np.int32).reshape(len(found), len(request.given)))

    def _coded(self, name: str, kind: str, asked: AskedColumns, findings: Findings) -> _Coded | None:
        """Query the levels or the range of a column, and decide how it is coded."""
        numbers = any(word in kind for word in NUMBERS) and "[" not in kind
        if not numbers and kind not in ("VARCHAR", "BOOLEAN") and not kind.startswith("ENUM"):
            raise Refused(f"is of type {kind}; convert it to text or numbers in the query or leave it out")
        summary, texts = self._summary(name, numbers=numbers)
        whole = partial(_leave, (name,), 0)
        if name != asked.target:
            coding = decide(name, summary, self._reading, whole, keep=name in asked.keep)
        elif summary.n_missing:
            raise Refused("has missing values; where labels are missing, pack the query first")
        else:
            coding = decide_target(name, summary, self._reading, whole)
        if isinstance(coding, Coding) and coding.binning is not None:
            counts = np.zeros(len(coding.levels) + 1, np.int64)
            binned = _bins(name, coding)
            for code, n in self.table.rows(f"SELECT {binned}, count(*) FROM {self.table.source} GROUP BY ALL"):
                counts[-1 if code is None else int(code)] += n
            coding, _ = coding.without_empty_bins(counts)
        is_target = name == asked.target
        used = (findings.use_target if is_target else findings.decided)(name, coding, summary)
        if used is None:
            return None
        if not is_target:
            findings.use(name, used)
        code_of = {level: code for code, level in enumerate(used.known)}
        codes: dict[str | None, int] = {str(code): code for code in code_of.values()}
        if used.binning is None:
            codes = {text: code_of[level] for text, level in texts.items()}
        missing = len(used.levels) if used.holes else len(used.levels) - 1
        gap = {"nan": missing, None: missing} if used.holes or used.missing_label is not None else {}
        expression = f"CAST({quoted(name)} AS VARCHAR)" if used.binning is None else _bins(name, used)
        return _Coded(name, expression, {**gap, **codes}, used.levels, used.holes)

    def _summary(self, name: str, *, numbers: bool) -> tuple[Summary, dict[str, object]]:
        """Return the summary of a column from the database, and the level of each of its texts."""
        column, summary = quoted(name), Summary.asked(name, self._reading, parts=True)
        most = summary.most_numbers if numbers else summary.most_levels
        value = f"CAST({column} AS DOUBLE)" if numbers else column
        there = f"FROM {self.table.source} WHERE {column} IS NOT NULL" + (f" AND NOT isnan({value})" if numbers else "")
        found = self.table.rows(
            f"SELECT {column}, CAST({column} AS VARCHAR), count(*) {there} GROUP BY ALL LIMIT {(most or 0) + 1}"
        )
        summary.n_rows, summary.kind = self.n_rows, "numbers" if numbers else "texts"
        summary.n_missing = self.n_rows - int(self.table.rows(f"SELECT count(*) {there}")[0][0])
        texts = {text: _as_level(level) for level, text, _ in found}  # 0.0 and -0.0 are one level
        counts = Counter[Any]()
        for level, _, n in found:
            counts[_as_level(level)] += int(n)
        summary.levels = tuple(sorted(counts)) if len(found) <= (most or 0) else None
        summary.counts = np.array([counts[level] for level in summary.levels or ()], np.int64)
        if numbers and found:
            summary.low, summary.high, whole, summary.n_infinite = self.table.rows(
                f"SELECT min({value}), max({value}), bool_and({value} = floor({value})), "
                f"count(*) FILTER (isinf({value})) {there}"
            )[0]
            summary.whole = bool(whole)
            if summary.dense:
                summary.repeats = self.table.rows(f"SELECT count(DISTINCT {column}) {there}")[0][0] < summary.n
        return summary, texts


def _as_level(level: Any) -> object:
    """Return a number as a level of `blankets.data`: an integer if it is whole."""
    if isinstance(level, str | bool):
        return level
    return int(level) if float(level).is_integer() else float(level)


def _bins(name: str, coding: Coding) -> str:
    """Return the number of a bin as text, in SQL; NaN is missing as NULL is."""
    column = f"CAST({quoted(name)} AS DOUBLE)"
    cuts = () if coding.binning is None else coding.binning.cuts
    steps = "".join(f" WHEN {column} < {cut!r} THEN '{k}'" for k, cut in enumerate(cuts))
    return f"CASE WHEN {column} IS NULL OR isnan({column}) THEN NULL{steps} ELSE '{len(cuts)}' END"


def _leave(names: Sequence[str], j: int) -> NoReturn:
    """Refuse rules that would read a whole column from the database."""
    raise ParameterError(
        f"column {names[j]!r} would have to leave the database for its bins to be found; choose "
        f"{option(discretize='sturges')}, "
        f"'equal-width' or cut points, or pack the query first"
    )
