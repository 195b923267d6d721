"""Rounds of counting on two Dask workers of this machine, next to the same rounds in memory.

    python benchmarks/dask_rounds.py [--rows 5000000] [--features 50]

A round is a scan of all features against the target given one set. Wanted: Dask's rounds cost in all at most 1.5
times those in memory plus 50 ms each; counts are compared. Starting the cluster and loading the rows are told apart.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

from _data import TARGET, planted
from _timing import announce, parser, seconds, table, write_json
from blankets.counting import Counter, DaskCounter, MemoryCounter, connect
from blankets.data import ingest, pack_ingested
from blankets.stats import statistics_of_block

ARITIES = (2, 3, 4, 5, 6)
GIVEN = ((), (0,), (1,), (0, 1), (0, 3), (0, 1, 3), (0, 1, 4), (0, 1, 3, 4))


def rounds(counter: Counter, repeats: int) -> tuple[float, list[tuple[np.ndarray, ...]]]:
    """Return the seconds that all rounds take together, after one that warms up, and what they found."""
    y = counter.names.index(TARGET)
    summary = statistics_of_block(counter.n_rows, "g")
    asked = [([x for x in range(len(counter.names)) if x != y and x not in given], given) for given in GIVEN]
    found = [counter.summarize(summary, xs, y, given) for xs, given in asked]
    began = time.perf_counter()
    for _ in range(repeats):
        for xs, given in asked:
            counter.summarize(summary, xs, y, given)
    return time.perf_counter() - began, found


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--rows", type=int, default=5_000_000)
    options.add_argument("--features", type=int, default=50)
    options.add_argument("--repeats", type=int, default=2)
    given = options.parse_args()
    here = announce("Dask: two worker processes")
    frame = planted(given.rows, given.features, ARITIES)
    n = given.repeats * len(GIVEN)
    memory, expected = rounds(MemoryCounter(frame, n_jobs=2), given.repeats)
    with tempfile.TemporaryDirectory() as folder:
        store = pack_ingested(ingest(frame), Path(folder) / "store")
        began = time.perf_counter()
        with connect(n_workers=2) as client:
            started = time.perf_counter() - began
            dask, found = rounds(DaskCounter(client, store), given.repeats)
    same = all(
        np.array_equal(a, b) for one, two in zip(expected, found, strict=True) for a, b in zip(one, two, strict=True)
    )
    allowed = 1.5 * memory + 0.05 * n
    row = [f"{given.rows:,}", str(n), seconds(memory / n), seconds(dask / n), seconds(started), seconds(allowed / n)]
    heads = ["rows", "rounds", "in memory, a round", "Dask, a round", "start", "allowed", "same"]
    print(table(heads, [[*row, str(same)]]))
    content = {"memory": memory, "dask": dask, "rounds": n, "start": started, "allowed": allowed, "same": same}
    write_json(given.json, {"benchmark": "dask_rounds", "machine": here, "results": [content]})


if __name__ == "__main__":
    main()
