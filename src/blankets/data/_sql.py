"""`SqlTable`: the rows of a SQL query, by DuckDB: its own databases, Parquet, CSV, and attached databases."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any

from blankets.data._chunks import Chunks, ParquetChunks
from blankets.data._dialect import FileWishes
from blankets.data._file_errors import check_file
from blankets.data._tables import checked_names
from blankets.errors import EngineError, MissingPackageError, ParameterError, guarded
from blankets.voice import option


def quoted(name: str) -> str:
    """Return an identifier quoted for SQL, whatever its characters.

    >>> quoted('a"; DROP TABLE b')
    '"a""; DROP TABLE b"'
    """
    return '"' + name.replace('"', '""') + '"'


@guarded
class SqlTable(Chunks):
    """The rows of a SQL query, for `pack`, `discover` and the other questions.

    Parameters
    ----------
    query : str
        A SELECT statement.
    database : str, Path or DuckDB connection, optional
        A DuckDB file, or an open connection; not needed for queries of files.

    Examples
    --------
    >>> from blankets import SqlTable
    >>> table = SqlTable("SELECT range AS n, range % 2 = 0 AS even FROM range(10)")
    >>> table.names
    ('n', 'even')
    """

    unordered = True

    def __init__(self, query: str, database: Any = None) -> None:
        if not isinstance(query, str):
            raise ParameterError.out_of_range("query", query, "the text of a SELECT statement")
        self.query = query.strip().rstrip(";")
        self.database = database if isinstance(database, str | Path) else None
        self._connection = _connected(database)
        self._shared, self._lock = self._connection is database, RLock()
        with self._executed(f"SELECT * FROM {self.source} LIMIT 0") as answer:
            self.names = checked_names(tuple(column[0] for column in answer.description))

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Return the rows of a statement about `source`."""
        with self._executed(statement) as answer:
            found: list[tuple[Any, ...]] = answer.fetchall()
        return found

    @contextmanager
    def _executed(self, statement: str) -> Iterator[Any]:
        """Yield the answer to a statement; no cursor, as it would not see frames registered on an open connection."""
        with self._lock, sql_errors():
            yield (self._connection if self._shared else self._connection.cursor()).execute(statement)

    def content(self) -> str:
        """Return a hash of the rows that does not depend on their order, to check that they stay the same."""
        columns = ", ".join(quoted(name) for name in self.names)
        found = self.rows(
            f"SELECT count(*), sum(h::HUGEINT), bit_xor(h), sum((h >> 7)::HUGEINT * (h & 127)) "
            f"FROM (SELECT hash({columns}) AS h FROM {self.source})"
        )
        return hashlib.sha256(repr((self.names, found)).encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def source(self) -> str:
        """The query in brackets, to select from."""
        return f"({self.query}\n)"  # the query may end in a comment

    @contextmanager
    def settled(self, wishes: FileWishes) -> Iterator[Chunks]:
        """Write the rows to a temporary file: a query may give them in another order each time."""
        if (which := wishes.named()) is not None:
            raise ParameterError(f"{option(which)} is about files, but the table is a query; leave it out")
        with tempfile.TemporaryDirectory(prefix="blankets-") as folder:
            path = Path(folder) / "rows.parquet"
            file = str(path).replace("'", "''")
            self.rows(f"COPY (SELECT * FROM {self.source}) TO '{file}' (FORMAT parquet)")
            yield ParquetChunks([path], wishes)

    def chunks(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield batches of the rows, as Arrow."""
        with self.settled(FileWishes()) as rows:
            yield from rows.chunks(columns)

    def identity(self) -> list[Any]:
        """Return the query, and a hash of its rows."""
        return [self.query, self.content()]

    def bytes_needed(self) -> int:
        """One byte per value for the codes, and one column at a time as numbers, with copies."""
        return int(self.rows(f"SELECT count(*) FROM {self.source}")[0][0]) * (len(self.names) + 32)


def _connected(database: Any) -> Any:
    try:
        import duckdb
    except ImportError:
        raise MissingPackageError.needed_for("reading by SQL", "duckdb", "sql") from None
    if database is None:
        return duckdb.connect()
    if not isinstance(database, str | Path):
        if not hasattr(database, "execute"):
            raise ParameterError.out_of_range("database", database, "the path of a DuckDB file, or an open connection")
        return database
    check_file(Path(database), "database")
    with sql_errors():
        return duckdb.connect(str(database), read_only=True)


@contextmanager
def sql_errors() -> Iterator[None]:
    """Turn errors of the database into errors of this library."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        raise EngineError(f"the database says: {str(error).splitlines()[0]}") from error
