"""``blankets simulate``: draw data from a network."""

from __future__ import annotations

import csv
import sys
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

import click

from blankets.errors import DataError, MissingPackageError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from blankets.data import Frame

    Hidden = tuple[str, NDArray[np.bool_]] | None  # a column, and its rows without a label


@click.command()
@click.argument("network", type=click.Path(exists=True, dir_okay=False))
@click.option("-n", "--rows", type=click.IntRange(min=1), required=True, help="How many rows to draw.")
@click.option("--seed", type=int, help="The same seed gives the same rows.")
@click.option(
    "-o", "--output", default="-", metavar="FILE", help="A .csv or .parquet file; default: CSV to standard output."
)
@click.option("--target", metavar="COLUMN", help="The column whose labels are hidden.")
@click.option(
    "--hide",
    metavar="HOW",
    help="Keep some labels of --target: mcar:RATE, pu:CLASS=RATE, mar-c:CLASS=RATE,... or mar-f:COLUMN:LEVEL=RATE,...",
)
def simulate(network: str, rows: int, seed: int | None, output: str, target: str | None, hide: str | None) -> None:
    """Draw rows from NETWORK, a Bayesian network in BIF format; with --hide, with some labels missing.

    \b
    Examples:
      blankets simulate alarm.bif --rows 5000 --seed 1 -o alarm.csv
      blankets simulate alarm.bif --rows 5000 --seed 1 | head
      blankets simulate alarm.bif --rows 5000 --target HYPOVOLEMIA --hide pu:TRUE=0.25 -o some.csv
    """
    if output != "-" and not output.endswith((".csv", ".parquet")):
        raise click.BadParameter(f"{output!r} ends neither in .csv nor in .parquet", param_hint="'--output'")
    from blankets.simulate import Network

    if (target is None) != (hide is None):
        raise click.UsageError("--hide and --target go together: how labels are hidden, and of which column")
    frame = Network.from_bif(network).sample(rows, seed)
    hidden = None if hide is None or target is None else (target, ~_kept(frame, target, hide, seed))
    try:
        (_write_parquet if output.endswith(".parquet") else _write_csv)(frame, output, hidden)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise DataError(f"cannot write {output!r}: {error.strerror or error}") from None
    if output != "-":
        click.echo(f"wrote {rows:,} rows of {frame.n_columns} columns to {output}", err=True)


def _kept(frame: Frame, target: str, hide: str, seed: int | None) -> NDArray[np.bool_]:
    """Return the rows whose label stays visible."""
    from blankets.simulate import as_columns, hide_labels

    mechanism, _, how = hide.partition(":")
    column, _, rates = how.rpartition(":") if mechanism == "mar-f" else ("", "", how)
    columns = {name: [str(level) for level in values] for name, values in as_columns(frame).items()}
    for name in (target, column) if column else (target,):
        if name not in columns:
            raise DataError(f"there is no column {name!r}{did_you_mean(name, frame.names)}")
    try:
        pairs = [pair.rpartition("=") for pair in rates.split(",")]
        rate = {level: float(number) for level, _, number in pairs}
    except ValueError:
        raise click.BadParameter(
            f"{rates!r} holds no rates such as 0.1 or yes=0.5,no=0.1", param_hint="'--hide'"
        ) from None
    how_many: dict[str, Any] = {"rate": rate}
    if mechanism in ("mcar", "pu"):
        ((level, number),) = list(rate.items())[:1]
        how_many = {"rate": number} | ({"positive": level} if mechanism == "pu" else {})
    feature = {"feature": columns[column]} if column else {}
    return hide_labels(columns[target], mechanism, rng=seed, **how_many, **feature)  # type: ignore[arg-type]


def _write_csv(frame: Frame, path: str, hidden: Hidden) -> None:
    from blankets.simulate import as_columns

    columns: dict[str, Any] = dict(as_columns(frame))
    if hidden is not None:
        name, gone = hidden
        columns[name] = ["" if out else level for out, level in zip(gone, columns[name], strict=True)]
    with _opened(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(frame.names)
        writer.writerows(zip(*columns.values(), strict=True))


@contextmanager
def _opened(path: str) -> Iterator[IO[str]]:
    if path == "-":
        yield sys.stdout
        return
    with open(path, "w", newline="", encoding="utf-8") as file:
        yield file


def _write_parquet(frame: Frame, path: str, hidden: Hidden) -> None:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingPackageError.needed_for("writing Parquet", "pyarrow", "arrow") from None
    columns = {}
    for j, name in enumerate(frame.names):
        levels = pa.array([str(level) for level in frame.levels[j]])
        mask = None if hidden is None or hidden[0] != name else hidden[1]
        columns[name] = pa.DictionaryArray.from_arrays(pa.array(frame.column(j).astype("int32"), mask=mask), levels)
    parquet.write_table(pa.table(columns), path)
