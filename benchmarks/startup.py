"""How long one waits before anything happens: import, --help, the first search with warm and with cold kernels.

    python benchmarks/startup.py

Every figure is a fresh process: wall time, and CPU time of the process (user and system), medians. The kernels
are compiled into a folder of this benchmark's own, all of them (`blankets warm-up`) or none, so that "warm" is warm,
"cold" is cold and nothing else is touched. Python's own bytecode is written as usual (PYTHONDONTWRITEBYTECODE is
ignored), because users have it.
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

from _timing import announce, parser, seconds, table, write_json

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "clinic.csv"
SEARCH = ("discover", str(EXAMPLE), "--target", "readmitted")
HEAVY = ("numba", "sklearn", "pandas", "matplotlib", "scipy.stats")

LOADED = f"import sys, json, blankets; print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))"
FIRST = f"import blankets; blankets.discover({str(EXAMPLE)!r}, 'readmitted')"


@dataclass(frozen=True)
class Case:
    name: str
    command: tuple[str, ...]
    most: float | None
    cold: bool = False  # an empty kernel cache for every run


def environment(kernels: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "NUMBA_CACHE_DIR": str(kernels)}


def timed(command: tuple[str, ...], kernels: Path) -> tuple[float, float, str]:
    """Run a fresh process; return wall time, CPU time and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    done = subprocess.run(command, env=environment(kernels), capture_output=True, text=True, cwd=ROOT, check=False)
    wall = time.perf_counter() - began
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def run(case: Case, warm: Path, repeats: int) -> dict[str, Any]:
    walls, cpus = [], []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as empty:
            wall, cpu, _ = timed(case.command, Path(empty) if case.cold else warm)
        walls.append(wall)
        cpus.append(cpu)
    return {"case": case.name, "wall": statistics.median(walls), "cpu": statistics.median(cpus), "most": case.most}


def import_is_light() -> list[str]:
    """Return what `import blankets` does and should not: heavy modules it loads, kernels it compiles."""
    with tempfile.TemporaryDirectory() as empty:
        loaded = json.loads(timed((sys.executable, "-c", LOADED), Path(empty))[2])
        compiled = [str(path) for path in Path(empty).rglob("*.nb?")]
    wrong = [f"import blankets loads {name}" for name in loaded]
    return wrong + ([f"import blankets compiles {len(compiled)} kernels"] if compiled else [])


def main() -> int:
    options_of = parser(__doc__)
    options_of.add_argument("--repeats", type=int, default=5)
    options_of.add_argument("--check", action="store_true", help="fail if a bound is not kept")
    options = options_of.parse_args()

    python = sys.executable
    program = str(Path(python).with_name("blankets"))
    cases = (
        Case("python -c pass (for comparison)", (python, "-c", "pass"), None),
        Case("import blankets", (python, "-c", "import blankets"), 1.0),
        Case("blankets --help", (program, "--help"), 0.3),
        Case("import and first discover, warm kernels", (python, "-c", FIRST), 2.0),
        Case("blankets discover (README), warm kernels", (program, *SEARCH), None),
        Case("blankets discover (README), cold kernels", (program, *SEARCH), 12.0, cold=True),
    )
    here = announce("Start-up: fresh processes, medians", warm=False)
    with tempfile.TemporaryDirectory() as warm:
        timed((program, "warm-up", "--quiet"), Path(warm))
        rows = [run(case, Path(warm), min(options.repeats, 3) if case.cold else options.repeats) for case in cases]
    wrong = import_is_light()
    heads = ["what", "wall", "CPU", "at most"]
    print(table(heads, [[r["case"], seconds(r["wall"]), seconds(r["cpu"]), seconds(r["most"])] for r in rows]))
    print(
        "\n" + ("; ".join(wrong) if wrong else f"import blankets loads none of {', '.join(HEAVY)} and compiles nothing")
    )
    write_json(options.json, {"benchmark": "startup", "machine": here, "results": rows, "heavy": wrong})
    late = [row for row in rows if row["most"] is not None and row["wall"] > row["most"]]
    return int(options.check and bool(wrong or late))


if __name__ == "__main__":
    sys.exit(main())
