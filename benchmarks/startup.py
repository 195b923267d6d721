"""How long one waits before anything happens: import, --help, the first search.

    python benchmarks/startup.py

Every figure is a fresh process: wall time, and CPU time of the process (user and system), medians. Python's own
bytecode is written as usual (PYTHONDONTWRITEBYTECODE is ignored), because users have it.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from _timing import announce, parser, seconds, table, write_json

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "clinic.csv"
SEARCH = ("discover", str(EXAMPLE), "--target", "readmitted")
HEAVY = ("numpy", "sklearn", "pandas", "matplotlib", "scipy.stats")

LOADED = f"import sys, json, blankets; print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))"
FIRST = f"import blankets; blankets.discover({str(EXAMPLE)!r}, 'readmitted')"


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


def import_is_light() -> list[str]:
    """Return the heavy modules that `import blankets` loads, and should not."""
    return [f"import blankets loads {name}" for name in json.loads(timed((sys.executable, "-c", LOADED))[2])]


def main() -> int:
    options_of = parser(__doc__)
    options_of.add_argument("--repeats", type=int, default=5)
    options_of.add_argument("--check", action="store_true", help="fail if a bound is not kept")
    options = options_of.parse_args()

    python = sys.executable
    program = str(Path(python).with_name("blankets"))
    cases = (
        Case("python -c pass (for comparison)", (python, "-c", "pass"), None),
        Case("import blankets", (python, "-c", "import blankets"), 0.1),
        Case("blankets --help", (program, "--help"), 0.3),
        Case("import and first discover", (python, "-c", FIRST), 0.6),
        Case("blankets discover (README)", (program, *SEARCH), 0.5),
    )
    here = announce("Start-up: fresh processes, medians")
    rows = [run(case, options.repeats) for case in cases]
    wrong = import_is_light()
    heads = ["what", "wall", "CPU", "at most"]
    print(table(heads, [[r["case"], seconds(r["wall"]), seconds(r["cpu"]), seconds(r["most"])] for r in rows]))
    print("\n" + ("; ".join(wrong) if wrong else f"import blankets loads none of {', '.join(HEAVY)}"))
    write_json(options.json, {"benchmark": "startup", "machine": here, "results": rows, "heavy": wrong})
    late = [row for row in rows if row["most"] is not None and row["wall"] > row["most"]]
    return int(options.check and bool(wrong or late))


if __name__ == "__main__":
    sys.exit(main())
