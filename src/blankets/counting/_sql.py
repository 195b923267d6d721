"""Counting by SQL, where rows may not leave the database: one statement a request, tables come back.

A statement is a UNION ALL of one GROUP BY for each candidate. (Grouping sets do not share work either, and
take three times the memory.) Levels and ranges are asked for once, and decide how columns are coded by
the rules of `blankets.data.ingest`; numbers are cut into bins within the statement. Columns that repeat
others are not looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blankets.counting._partition import PartitionedCounter, Request, Tables
from blankets.data import Audit, Column, DataReport, Recipe, Settings, SqlTable, Summary, decide, joined_bins, quoted
from blankets.errors import DataError, ParameterError, TargetError, did_you_mean

__all__ = ["SqlCounter"]

FEW, MANY = 21, 100_001  # levels to ask for: one more than numbers, or texts, may have
NUMBERS = ("INT", "FLOAT", "DOUBLE", "REAL", "DECIMAL")


@dataclass(frozen=True, slots=True, eq=False)
class _Coded:
    """A column as an expression whose value is text, and what code each text has (None: missing)."""

    expression: str
    codes: Mapping[str | None, int]
    levels: tuple[object, ...]


class SqlCounter(PartitionedCounter):
    """Counts the rows of a query within the database.

    Parameters
    ----------
    table : SqlTable
        The query.
    target : str, optional
        A column that has to be there, and may not be missing anywhere.
    discretize, bins, missing, keep, exclude
        As for `blankets.data.ingest`; rules for bins are "sturges", "equal-width" and lists of cut points, policies
        for missing values "error" and "level".

    Examples
    --------
    >>> table = SqlTable("SELECT range % 2 AS a, range % 4 < 2 AS b FROM range(8)")
    >>> [block.counts.squeeze(-1).tolist() for block in SqlCounter(table).tables([0], 1)]
    [[[[2, 2], [2, 2]]]]
    """

    def __init__(
        self,
        table: SqlTable,
        target: str | None = None,
        *,
        discretize: str | Mapping[str, Any] = "sturges",
        bins: int | None = None,
        missing: str = "error",
        keep: Iterable[str] = (),
        exclude: Iterable[str] = (),
    ) -> None:
        if missing == "drop":
            raise ParameterError("rows are not dropped where they are counted in place; say so in the query's WHERE")
        if target is not None and target not in table.names:
            raise TargetError(f"there is no target column {target!r}{did_you_mean(target, table.names)}")
        self.table, self._settings, audit = table, Settings(discretize, bins, missing, frozenset(keep)), Audit()
        self.n_rows = int(table.rows(f"SELECT count(*) FROM {table.source}")[0][0])
        if self.n_rows < 2:
            raise DataError(f"the query has {self.n_rows} rows; dependence shows only between several")
        types = dict(table.rows(f"SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM {table.source})"))
        unwanted = set(exclude)
        columns = {
            name: coded
            for name in table.names
            if name not in unwanted and (coded := self._coded(name, types[name], audit)) is not None
        }
        if target is not None and (target in audit.missing or target not in columns):
            why = (
                "has missing values" if target in audit.missing else "is constant, or almost each row has its own value"
            )
            raise TargetError(f"the target {target!r} {why}; where labels are missing, pack the query first")
        audit.check(missing=missing)
        audit.warn()
        self._columns = list(columns.values())
        self.names, self.levels = tuple(columns), tuple(coded.levels for coded in self._columns)
        self.arities = np.array([len(values) for values in self.levels], np.int64)
        self.report: DataReport = audit.report(
            n_rows=self.n_rows,
            n_columns=len(columns),
            n_rows_given=self.n_rows,
            n_columns_given=len(table.names) - len(unwanted),
            missing_policy=missing,
        )

    def ask(self, requests: Sequence[Request]) -> list[Tables]:
        """Let the database count, one statement a request."""
        return [self._answer(request) for request in requests]

    def _answer(self, request: Request) -> Tables:
        cells = [self._columns[j] for j in (request.y, *request.given)]
        keys = ", ".join(f"{coded.expression} AS c{k}" for k, coded in enumerate(cells))
        columns = [self._columns[x] for x in request.xs]
        counted = f"{keys}, count(*) AS n FROM {self.table.source} GROUP BY ALL"
        parts = [f"SELECT {k} AS k, {x.expression} AS x, {counted}" for k, x in enumerate(columns)]
        found: dict[tuple[int, ...], list[tuple[int, int, int, int]]] = {}
        for k, x, y, *given, n in self.table.rows(" UNION ALL ".join(parts)):
            stratum = tuple(coded.codes[z] for coded, z in zip(cells[1:], given, strict=True))
            found.setdefault(stratum, []).append((k, columns[k].codes[x], cells[0].codes[y], n))
        widest = int(self.arities[request.xs].max())
        counts = np.zeros((len(columns), widest, int(self.arities[request.y]), len(found)), np.int32)
        for s, stratum in enumerate(sorted(found)):
            for k, x, y, n in found[stratum]:
                counts[k, x, y, s] += n
        return Tables(counts, np.array(sorted(found), np.int32).reshape(len(found), len(request.given)))

    def _coded(self, name: str, kind: str, audit: Audit) -> _Coded | None:
        """Ask for the levels or the range of a column, and decide how it is coded."""
        numbers = any(word in kind for word in NUMBERS) and "[" not in kind
        if not numbers and kind not in ("VARCHAR", "BOOLEAN") and not kind.startswith("ENUM"):
            audit.refuse(name, f"is of type {kind}; convert it to text or numbers in the query or leave it out")
            return None
        summary, texts = self._summary(name, numbers=numbers)
        if self._is_identifier(name, summary):
            audit.id_like.append(name)
            return None
        recipe = decide(name, summary, self._settings, audit, _not_in_place(name))
        if recipe is None:
            return None
        if recipe.binning is None:
            known = recipe.levels if recipe.missing_label is None else recipe.levels[:-1]
            codes: dict[str | None, int] = {texts[level]: code for code, level in enumerate(known)}
            return _Coded(f"CAST({quoted(name)} AS VARCHAR)", _with_gap(codes, recipe), recipe.levels)
        return self._binned(name, recipe, audit)

    def _summary(self, name: str, *, numbers: bool) -> tuple[Summary, dict[object, str]]:
        column, rule = quoted(name), self._settings.rule_for(name)[0]
        every = numbers and rule == "categorical"
        most = FEW if numbers and not every else MANY
        value = f"CAST({column} AS DOUBLE)" if numbers else column
        there = f"FROM {self.table.source} WHERE {column} IS NOT NULL" + (f" AND NOT isnan({value})" if numbers else "")
        found = self.table.rows(
            f"SELECT {column}, CAST({column} AS VARCHAR), count(*) {there} GROUP BY ALL LIMIT {most}"
        )
        summary = Summary(every_number=every, n_rows=self.n_rows, kind="numbers" if numbers else "texts")
        levels = {_plain(level): int(n) for level, _, n in found}
        summary.levels = levels if len(found) < most else None
        summary.n_missing = self.n_rows - int(self.table.rows(f"SELECT count(*) {there}")[0][0])
        if numbers and found:
            summary.low, summary.high, whole, endless = self.table.rows(
                f"SELECT min({value}), max({value}), bool_and({value} = floor({value})), "
                f"count(*) FILTER (isinf({value})) {there}"
            )[0]
            summary.whole, summary.n_infinite, summary.all_different = bool(whole), int(endless), False
        return summary, {_plain(level): text for level, text, _ in found}

    def _is_identifier(self, name: str, summary: Summary) -> bool:
        """Tell whether continuous whole numbers are all different although they lie densely."""
        if not summary.continuous or summary.n_infinite or name in self._settings.keep:
            return False
        summary.all_different = True
        if not summary.may_be_identifier:
            return False
        n_different = int(self.table.rows(f"SELECT count(DISTINCT {quoted(name)}) FROM {self.table.source}")[0][0])
        summary.all_different = n_different == summary.n
        return summary.all_different

    def _binned(self, name: str, recipe: Recipe, audit: Audit) -> _Coded | None:
        """Cut numbers within the statement; bins without rows are joined with their neighbors."""
        expression = _bins(name, recipe)
        counts = np.zeros(len(recipe.levels) + 1, np.int64)
        for code, n in self.table.rows(f"SELECT {expression}, count(*) FROM {self.table.source} GROUP BY ALL"):
            counts[-1 if code is None else int(code)] += n
        joined, _ = joined_bins(name, recipe, counts, audit)
        if joined is None:
            return None
        codes: dict[str | None, int] = {str(code): code for code in range(len(joined.levels))}
        return _Coded(_bins(name, joined), _with_gap(codes, joined), joined.levels)


def _plain(level: Any) -> object:
    """Return a number as `blankets.data` names it: an integer where it is whole."""
    if isinstance(level, str | bool):
        return level
    return int(level) if float(level).is_integer() else float(level)


def _with_gap(codes: dict[str | None, int], recipe: Recipe) -> dict[str | None, int]:
    """Add the code of missing values, NaN included."""
    gap = len(recipe.levels) - 1
    return codes if recipe.missing_label is None else {"nan": gap, **codes, None: gap}


def _bins(name: str, recipe: Recipe) -> str:
    """Return the number of a bin as text, in SQL; NaN is missing as NULL is."""
    column = f"CAST({quoted(name)} AS DOUBLE)"
    cuts = () if recipe.binning is None else recipe.binning.cuts
    steps = "".join(f" WHEN {column} < {cut!r} THEN '{k}'" for k, cut in enumerate(cuts))
    return f"CASE WHEN {column} IS NULL OR isnan({column}) THEN NULL{steps} ELSE '{len(cuts)}' END"


def _not_in_place(name: str) -> Callable[[], Column]:
    def refuse() -> Column:
        raise ParameterError(
            f"column {name!r} would have to leave the database for its bins to be found; choose discretize='sturges', "
            f"'equal-width' or cut points, or pack the query first"
        )

    return refuse
