"""Two versions of the package in one run: the same cases of `speed.py`, taking turns.

    python benchmarks/side_by_side.py "PYTHON OLD/benchmarks/speed.py" "PYTHON benchmarks/speed.py" --networks DIR

The two commands are those that run `speed.py` of the older and of the newer version; where a version needs an
environment of its own, name its Python, or begin with ``env PYTHONPATH=...``. Every case runs in fresh processes, old
and new in turns, ``--rounds`` times. Printed are the medians over rounds of the medians of `speed.py`, wall and CPU
time, and what the newer one takes of the older one's; where the number of tests differs, also for each test. On one
thread (the default) CPU time is what to read on a busy machine.
"""

from __future__ import annotations

import json
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from _timing import announce, parser, seconds, table, write_json

WORST = 1.1


def measured(command: list[str]) -> list[dict[str, Any]]:
    """Run `speed.py` in a fresh process and return its results."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "found.json"
        done = subprocess.run([*command, "--json", str(found)], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{shlex.join(command)} failed:\n{done.stdout}{done.stderr}")
        return json.loads(found.read_text("utf-8"))["results"]  # type: ignore[no-any-return]


def compared(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the medians of both over rounds, and the ratios."""
    row: dict[str, Any] = {"case": new[0]["case"], "tests": [side[0].get("tests") for side in (old, new)]}
    for kind in ("wall", "cpu"):
        before, after = (statistics.median(run[kind] for run in side) for side in (old, new))
        row |= {f"old {kind}": before, f"new {kind}": after, f"{kind} ratio": after / before}
    before, after = row["tests"]
    row["a test"] = row["cpu ratio"] * before / after if before and after else None
    return row


def main() -> int:
    options_of = parser(__doc__)
    options_of.add_argument("old")
    options_of.add_argument("new")
    options_of.add_argument("--networks")
    options_of.add_argument("--data")
    options_of.add_argument("--only", default="", help="a case, or how the names of several begin")
    options_of.add_argument("--rounds", type=int, default=3)
    options_of.add_argument("--threads", type=int, default=1)
    options_of.add_argument("--repeats", type=int, default=3)
    options_of.add_argument("--check", action="store_true", help=f"fail if CPU time is more than {WORST} times the old")
    options = options_of.parse_args()

    from speed import CASES

    given = [f"--{name}={value}" for name in ("networks", "data") if (value := getattr(options, name))]
    given += [f"--threads={options.threads}", f"--repeats={options.repeats}"]
    here = announce("Old and new in turns: medians")
    rows = []
    for case in CASES:
        if case.name.startswith(options.only) and (options.data or not case.name.startswith("thrombin")):
            runs: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
            for _ in range(options.rounds):
                for side, command in zip(runs, (options.old, options.new), strict=True):
                    results = measured([*shlex.split(command), *given, "--only", case.name])
                    side.extend(run for run in results if run["case"] == case.name)
            rows.append(compared(*runs))
            print(f"  {case.name}: {rows[-1]['cpu ratio']:.2f} of the CPU time", flush=True)
    heads = ["case", "wall, old", "wall, new", "ratio", "CPU, old", "CPU, new", "ratio", "tests, old", "new", "a test"]
    cells = []
    for r in rows:
        times = [seconds(r["old wall"]), seconds(r["new wall"]), f"{r['wall ratio']:.2f}"]
        times += [seconds(r["old cpu"]), seconds(r["new cpu"]), f"{r['cpu ratio']:.2f}"]
        tests = ["-" if n is None else f"{n:,}" for n in r["tests"]]
        cells.append([r["case"], *times, *tests, "-" if r["a test"] is None else f"{r['a test']:.2f}"])
    print("\n" + table(heads, cells))
    write_json(options.json, {"benchmark": "side by side", "machine": here, "results": rows})
    return int(options.check and any(r["cpu ratio"] > WORST for r in rows))


if __name__ == "__main__":
    sys.exit(main())
