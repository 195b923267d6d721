"""Rows that do not fit: from Parquet on disk to a blanket, and how long and how much memory that takes.

    python benchmarks/outofcore.py [--rows 20000000] [--features 50] [--folder DIR]

Writes a table with a planted blanket in 40 files (they are kept in DIR, if one is given), then discovers it in a
process of its own with a limit on memory, so that everything goes through packed codes on disk. Wanted for
20,000,000 x 50: at most 30 s, within 2 GB. Peak memory counts mapped pages of the store too, which the system may
drop at any time.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from _data import BLANKET, TARGET, planted
from _timing import announce, parser, table, write_json

FILES = 40
ARITIES = (2, 3, 4, 5, 6)
WORK = """
import json, resource, sys, time
import blankets as bl
bl.discover({"a": [0, 1] * 50, "b": [0, 1, 1, 0] * 25}, "a", algorithm="inter-iamb")
began, steps = time.perf_counter(), {}
def note(sentence):
    steps[sentence.split(":")[0]] = time.perf_counter() - began
found = bl.discover(sys.argv[1], sys.argv[2], algorithm="inter-iamb", alpha=1e-6, memory_limit="1 GB", progress=note)
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({"wall": time.perf_counter() - began, "cpu": used.ru_utime + used.ru_stime,
    "peak": used.ru_maxrss * 1024, "members": found.members, "steps": steps, "tests": found.n_tests}))
"""


def write(folder: Path, n_rows: int, n_features: int) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    for number in range(FILES):
        path = folder / f"part{number:02}.parquet"
        if not path.exists():
            frame = planted(n_rows // FILES, n_features, ARITIES, seed=number)
            columns = [pa.array(np.asarray(frame.column(j)).astype(np.int8)) for j in range(frame.n_columns)]
            parquet.write_table(pa.table(columns, names=list(frame.names)), path, row_group_size=250_000)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--rows", type=int, default=20_000_000)
    options.add_argument("--features", type=int, default=50)
    options.add_argument("--folder", type=Path)
    given = options.parse_args()
    here = announce("Out of core: from Parquet to a blanket")
    with tempfile.TemporaryDirectory() as made:
        folder = given.folder or Path(made)
        folder.mkdir(exist_ok=True)
        write(folder, given.rows, given.features)
        size = sum(path.stat().st_size for path in folder.iterdir())
        command = [sys.executable, "-c", WORK, str(folder), TARGET]
        done = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    row = {
        "rows": f"{given.rows:,}",
        "features": given.features,
        "Parquet MB": round(size / 1e6),
        "wall s": round(done["wall"], 1),
        "CPU s": round(done["cpu"], 1),
        "peak GB": round(done["peak"] / 1e9, 2),
        "learnt at s": round(done["steps"]["learning levels"], 1),
        "packed at s": round(done["steps"]["packing"], 1),
        "right": set(done["members"]) == set(BLANKET),
    }
    print(table(list(row), [[str(value) for value in row.values()]]))
    write_json(given.json, {"benchmark": "outofcore", "machine": here, "results": [row]})


if __name__ == "__main__":
    main()
