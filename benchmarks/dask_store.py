"""A default search over a large store, on this machine and on two Dask workers of it.

    python benchmarks/dask_store.py [--rows 100000000] [--features 50] [--folder DIR]

The table, with a planted blanket, is written as Parquet in 40 parts and packed; parts and store are kept in DIR, if one
is given. Then the same default call asks the store, and Dask; and both do the rounds of counting of `dask_rounds.py`
(each a scan of all features given one set). Dask's time includes the start of its workers.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import blankets as bl
from _data import BLANKET, TARGET
from _timing import announce, parser, seconds, table, write_json
from blankets.counting import DaskCounter, MemoryCounter, connect
from blankets.data import Store
from dask_rounds import GIVEN, rounds
from outofcore import write


def timed(work: Callable[[], bl.Blanket]) -> tuple[float, bl.Blanket]:
    """Return the seconds that a search takes, and what it found."""
    began = time.perf_counter()
    found = work()
    return time.perf_counter() - began, found


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--rows", type=int, default=100_000_000)
    options.add_argument("--features", type=int, default=50)
    options.add_argument("--folder", type=Path)
    given = options.parse_args()
    here = announce("A large store: one machine, and two Dask workers")
    with tempfile.TemporaryDirectory() as made:
        folder = given.folder or Path(made)
        parts, store = folder / "parts", folder / "rows.store"
        parts.mkdir(parents=True, exist_ok=True)
        write(parts, given.rows, given.features)
        packed = 0.0
        if not store.exists():
            began = time.perf_counter()
            bl.pack(parts, store)
            packed = time.perf_counter() - began
        alone, one = timed(lambda: bl.discover(store, TARGET))
        spread, two = timed(lambda: bl.discover(store, TARGET, engine="dask"))
        opened = Store.open(store)
        in_pages = rounds(MemoryCounter(opened.frame, n_jobs=2), 1)[0] / len(GIVEN)
        with connect(n_workers=2) as client:
            by_dask = rounds(DaskCounter(client, opened), 1)[0] / len(GIVEN)
    row = {
        "rows": f"{given.rows:,}",
        "packing": seconds(packed),
        "one machine": seconds(alone),
        "Dask": seconds(spread),
        "tests": f"{one.n_tests:,}",
        "a round": seconds(in_pages),
        "by Dask": seconds(by_dask),
        "same": str(one.members == two.members),
        "right": str(set(one.members) == set(BLANKET)),
    }
    print(table(list(row), [list(row.values())]))
    write_json(given.json, {"benchmark": "dask_store", "machine": here, "results": [row]})


if __name__ == "__main__":
    main()
