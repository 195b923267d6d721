"""A day's work in small: 4,000 searches one after another in one process, memory flat within 5%.

    python benchmarks/soak.py --check

Regimes, algorithms and tables change from call to call, so that caches which never forget would show. Memory is the
resident set after a collection; the first tenth of the calls fills what is meant to be kept (of 1,000 calls it did not:
a cache of 256 laws was full after 600).
"""

from __future__ import annotations

import gc
import os
import sys
import warnings

import numpy as np
import pandas as pd

import blankets as bl
from _timing import announce, parser, table, write_json
from blankets.errors import BlanketsWarning

ALLOWED = 1.05
SETTINGS = (
    {"algorithm": "iamb"},
    {"algorithm": "pcmb"},
    {"algorithm": "hiton-mb"},
    {"algorithm": "inter-iamb", "labels": "pu", "prior": 0.5},
    {"algorithm": "mmmb", "labels": "mcar"},
    {"algorithm": "iamb", "test": bl.Testing("g", dof="nominal")},
)


def one(number: int) -> None:
    """Search in a table of its own, as one of six kinds of user."""
    rng = np.random.default_rng(number)
    n_rows = int(rng.integers(200, 3_000))
    cause = rng.integers(0, 2, n_rows)
    columns = {f"x{j}": np.where(rng.random(n_rows) < 0.1 * j, cause, rng.integers(0, 3, n_rows)) for j in range(8)}
    settings = dict(SETTINGS[number % len(SETTINGS)])
    target = cause.astype(float)
    if "labels" in settings:
        hidden = rng.random(n_rows) < 0.6
        target[hidden | ((cause == 0) & (settings["labels"] == "pu"))] = np.nan
    blanket = bl.discover(pd.DataFrame({**columns, "target": target}), "target", **settings)
    blanket.to_json()


def resident() -> int:
    """Return the bytes of memory that the process holds."""
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def main() -> int:
    """Run the searches, print memory along the way, and compare its end with its beginning."""
    made = parser(__doc__)
    made.add_argument("--calls", type=int, default=4_000)
    made.add_argument("--check", action="store_true", help="fail if memory grew by more than 5%%")
    options = made.parse_args()
    here = announce("Memory over many searches in one process")
    warnings.simplefilter("ignore", BlanketsWarning)
    after = {}
    for number in range(1, options.calls + 1):
        one(number)
        if number % (options.calls // 10) == 0:
            after[number] = resident()
    first, last = after[min(after)], after[max(after)]
    print(table(["calls", "MB"], [[f"{calls:,}", f"{size / 1e6:.1f}"] for calls, size in after.items()]))
    print(f"grown by {last / first - 1:+.1%} since the first tenth; {ALLOWED - 1:.0%} are allowed")
    write_json(options.json, {"machine": here, "bytes": {str(calls): size for calls, size in after.items()}})
    return int(options.check and last > ALLOWED * first)


if __name__ == "__main__":
    sys.exit(main())
