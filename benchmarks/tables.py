"""Real tables: does the answer hold? Every column outside the default blanket, tested given the blanket.

Prints, for each table, members, equivalents, columns that are undecided or tested given some members only, and
the columns that are none of these although p < alpha / columns given the blanket: there must be none.

    python benchmarks/tables.py [--tables DIR] [--only NAME ...] [--targets 2 --seed 1]

The tables are those that come with scikit-learn and statsmodels (where it is installed), and each CSV file (plain or
.gz) in DIR with its column "class" or its last one as the target; with ``--targets`` so many columns drawn at random
are targets instead. An internal error counts as broken; what the package refuses is printed with its reason.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets

import blankets as bl
from blankets.errors import BlanketsError, BlanketsWarning, InternalError

ALPHA = 0.01
OF_STATSMODELS = (
    "anes96",
    "fair",
    "heart",
    "modechoice",
    "randhie",
    "spector",
    "star98",
    "ccard",
    "cancer",
    "scotland",
)


def drawn(folder: Path | None, n: int, seed: int) -> Iterator[tuple[str, pd.DataFrame, str]]:
    """Yield name, table as it is and target, for targets that are drawn from all columns of each file."""
    rng = np.random.default_rng(seed)
    for path in sorted(folder.glob("*.csv*")) if folder else ():
        table = pd.read_csv(path, low_memory=False)
        for target in rng.choice(table.columns, min(n, table.shape[1]), replace=False):
            yield f"{path.name.partition('.')[0]}, {target}", table, str(target)


def loaded(folder: Path | None) -> Iterator[tuple[str, pd.DataFrame, str]]:
    """Yield name, table and target."""
    for name in ("iris", "wine", "breast_cancer", "digits", "diabetes"):
        yield name, getattr(datasets, f"load_{name}")(as_frame=True).frame, "target"
    if importlib.util.find_spec("statsmodels") is not None:
        import statsmodels.api as sm

        for name in OF_STATSMODELS:
            table = getattr(sm.datasets, name).load_pandas().data.dropna()
            yield name, table, str(table.columns[0])
            yield f"{name} (last column)", table, str(table.columns[-1])
    for path in sorted(folder.glob("*.csv*")) if folder else ():
        table = pd.read_csv(path)
        target = "class" if "class" in table.columns else str(table.columns[-1])
        yield path.name.partition(".")[0], table.dropna(axis=1), target


def broken(table: pd.DataFrame, blanket: bl.Blanket) -> list[str]:
    """Return the columns outside that depend on the target given the blanket, and are not said to be anything."""
    known = {blanket.target, *blanket.members, *blanket.undecided, *blanket.excluded}
    known |= {b for others in blanket.equivalents.values() for b in others}
    left = [x for x in blanket.columns if x not in known]
    level = ALPHA / max(len(blanket.columns) - 1, 1)
    wrong = []
    for x in left:
        asked = table[[x, blanket.target, *blanket.members]]  # the others need not be read
        tested = bl.test(asked, x, blanket.target, given=list(blanket.members))
        if tested.reliable and tested.p < level:
            wrong.append(x)
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", type=Path, help="folder with CSV files, plain or .gz")
    parser.add_argument("--only", nargs="*", help="names of tables")
    parser.add_argument("--targets", type=int, default=0, help="columns drawn as targets of each file")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    heads = ("table", "rows", "columns", "members", "unchecked", "equivalents", "undecided", "partly", "broken", "s")
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    failed = 0
    chosen = drawn(options.tables, options.targets, options.seed) if options.targets else loaded(options.tables)
    for name, table, target in chosen:
        if options.only and name not in options.only:
            continue
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BlanketsWarning)
            try:
                blanket = bl.discover(table, target)
            except BlanketsError as error:
                failed += isinstance(error, InternalError)
                print(f"| {name} | {len(table)} | {table.shape[1] - 1} | {error} |", flush=True)
                continue
            seconds = time.process_time() - began
            wrong = broken(table, blanket)
        failed += bool(wrong)
        cells = (name, *table.shape, len(blanket), len(blanket.unchecked), sum(map(len, blanket.equivalents.values())))
        cells += (len(blanket.undecided), len(blanket.partly), ", ".join(wrong) or "-", f"{seconds:.2f}")
        print(f"| {' | '.join(map(str, cells))} |", flush=True)
    print(f"{failed} broken" if failed else "none is broken")
    return int(failed > 0)


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(main())
