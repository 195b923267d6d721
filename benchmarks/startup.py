"""How long one waits before anything happens: import, --help, the first search.

    python benchmarks/startup.py --networks DIR

``--networks`` holds alarm.bif, plain or .gz (default: as in `speed.py`); without it Alarm is left out,
which ``--check`` counts as a fault, as it does bounds that are not kept. Every figure is
a fresh process: wall time, and CPU time of the process (user and system), medians; of calls in it wall time alone.
Python's own bytecode is written as usual (PYTHONDONTWRITEBYTECODE is ignored), because users have it.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from _data import sample
from _timing import announce, parser, seconds, table, write_json
from blankets.data import Frame

Rows = list[dict[str, Any]]
ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "clinic.csv"
SEARCH = ("discover", str(EXAMPLE), "--target", "readmitted")
HEAVY = ("numpy", "sklearn", "pandas", "matplotlib", "scipy.stats")

LOADED = f"import sys, json, blankets; print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))"
FIRST = f"import blankets; blankets.discover({str(EXAMPLE)!r}, 'readmitted')"

# As in a notebook: NumPy is there, and the same small question is asked three times.
THREE_CALLS = """
import json, time
import numpy as np
rng = np.random.default_rng(1)
table = {f"x{j}": rng.integers(0, 3, 500) for j in range(8)}
table["y"] = (table["x0"] + table["x1"] + rng.integers(0, 2, 500)) % 3
import blankets
taken = []
for _ in range(3):
    began = time.perf_counter()
    blankets.discover(table, "y")
    taken.append(time.perf_counter() - began)
print(json.dumps(taken))
"""
ALARM = """
import json, sys, time
import numpy as np
table = dict(np.load(sys.argv[1]))
began = time.perf_counter()
import blankets
blankets.discover_all(table)
print(json.dumps([time.perf_counter() - began]))
"""


@dataclass(frozen=True)
class Case:
    name: str
    command: tuple[str, ...]
    most: float | None


def timed(command: tuple[str, ...]) -> tuple[float, float, str]:
    """Run a fresh process; return wall time, CPU time and what it printed."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    done = subprocess.run(command, env=kept, capture_output=True, text=True, cwd=ROOT, check=False)
    wall = time.perf_counter() - began
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def run(case: Case, repeats: int) -> dict[str, Any]:
    runs = [timed(case.command) for _ in range(repeats)]
    wall, cpu = (statistics.median(run[k] for run in runs) for k in (0, 1))
    return {"case": case.name, "wall": wall, "cpu": cpu, "most": case.most}


def calls(names: tuple[str, ...], most: tuple[float, ...], command: tuple[str, ...], repeats: int) -> Rows:
    """Return what calls took inside of a fresh process, as it printed them: wall times alone."""
    runs = [json.loads(timed(command)[2]) for _ in range(repeats)]
    walls = [statistics.median(run[k] for run in runs) for k in range(len(names))]
    return [
        {"case": name, "wall": wall, "cpu": None, "most": bound}
        for name, wall, bound in zip(names, walls, most, strict=True)
    ]


def alarm(frame: Frame, repeats: int) -> Rows:
    """Return the first search for all blankets of Alarm."""
    with tempfile.TemporaryDirectory() as folder:
        codes = Path(folder) / "alarm.npz"
        np.savez(codes, **{name: frame.column(j) for j, name in enumerate(frame.names)})
        command = (sys.executable, "-c", ALARM, str(codes))
        return calls(("first discover_all of Alarm",), (0.6,), command, repeats)


def import_is_light() -> list[str]:
    """Return the heavy modules that `import blankets` loads, and should not."""
    return [f"import blankets loads {name}" for name in json.loads(timed((sys.executable, "-c", LOADED))[2])]


def main() -> int:
    options_of = parser(__doc__)
    options_of.add_argument("--networks", type=Path, help="folder with alarm.bif (or .bif.gz)")
    options_of.add_argument("--repeats", type=int, default=5)
    options_of.add_argument("--check", action="store_true", help="fail if a bound is not kept")
    options = options_of.parse_args()

    python = sys.executable
    program = str(Path(python).with_name("blankets"))
    cases = (
        Case("python -c pass (for comparison)", (python, "-c", "pass"), None),
        Case("import blankets", (python, "-c", "import blankets"), 0.05),
        Case("blankets --help", (program, "--help"), 0.3),
        Case("import and first discover", (python, "-c", FIRST), 0.6),
        Case("blankets discover (README)", (program, *SEARCH), 0.5),
    )
    here = announce("Start-up: fresh processes, medians")
    rows = [run(case, options.repeats) for case in cases]
    names = tuple(f"{k} call of a small question" for k in ("first", "second", "third"))
    rows += calls(names, (0.3, 0.05, 0.05), (python, "-c", THREE_CALLS), options.repeats)
    wrong = import_is_light()
    try:
        frame = sample(options.networks, "alarm", 5_000)
    except SystemExit as missing:
        wrong.append(f"Alarm was not measured: {missing}")
    else:
        rows += alarm(frame, options.repeats)
    heads = ["what", "wall", "CPU", "at most"]
    print(table(heads, [[r["case"], seconds(r["wall"]), seconds(r["cpu"]), seconds(r["most"])] for r in rows]))
    wrong += [f"{row['case']} took too long" for row in rows if row["most"] is not None and row["wall"] > row["most"]]
    print("\n" + ("\n".join(wrong) or f"All bounds are kept; import blankets loads none of {', '.join(HEAVY)}."))
    write_json(options.json, {"benchmark": "startup", "machine": here, "results": rows, "wrong": wrong})
    return int(options.check and bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
