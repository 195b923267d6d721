"""``blankets simulate``: draw data from a network."""

from __future__ import annotations

import csv
import sys
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

import click

from blankets.errors import DataError, MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from blankets.data import Frame


@click.command()
@click.argument("network", type=click.Path(exists=True, dir_okay=False))
@click.option("-n", "--rows", type=click.IntRange(min=1), required=True, help="How many rows to draw.")
@click.option("--seed", type=int, help="The same seed gives the same rows.")
@click.option(
    "-o", "--output", default="-", metavar="FILE", help="A .csv or .parquet file; default: CSV to standard output."
)
def simulate(network: str, rows: int, seed: int | None, output: str) -> None:
    """Draw rows from NETWORK, a Bayesian network in BIF format.

    \b
    Examples:
      blankets simulate alarm.bif --rows 5000 --seed 1 -o alarm.csv
      blankets simulate alarm.bif --rows 5000 --seed 1 | head
    """
    if output != "-" and not output.endswith((".csv", ".parquet")):
        raise click.BadParameter(f"{output!r} ends neither in .csv nor in .parquet", param_hint="'--output'")
    from blankets.simulate import Network

    frame = Network.from_bif(network).sample(rows, seed)
    try:
        (_write_parquet if output.endswith(".parquet") else _write_csv)(frame, output)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise DataError(f"cannot write {output!r}: {error.strerror or error}") from None
    if output != "-":
        click.echo(f"wrote {rows:,} rows of {frame.n_columns} columns to {output}", err=True)


def _write_csv(frame: Frame, path: str) -> None:
    from blankets.simulate import as_columns

    with _opened(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(frame.names)
        writer.writerows(zip(*as_columns(frame).values(), strict=True))


@contextmanager
def _opened(path: str) -> Iterator[IO[str]]:
    if path == "-":
        yield sys.stdout
        return
    with open(path, "w", newline="", encoding="utf-8") as file:
        yield file


def _write_parquet(frame: Frame, path: str) -> None:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingPackageError.needed_for("writing Parquet", "pyarrow", "arrow") from None
    columns = {}
    for j, name in enumerate(frame.names):
        levels = pa.array([str(level) for level in frame.levels[j]])
        columns[name] = pa.DictionaryArray.from_arrays(pa.array(frame.column(j).astype("int32")), levels)
    parquet.write_table(pa.table(columns), path)
