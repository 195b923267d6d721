"""The other tools on the same data, side by side in one run, with how right their answers are.

    python benchmarks/peers_install.py
    python benchmarks/peers.py --networks DIR

- IAMB on nodes of Alarm: ``blankets``; pyCausalFS and causal-learn (their own IAMB, G² test); pgmpy and pyAgrum, which
  have tests but no blankets (a plain IAMB loop over their G test).
- PCMB: ``blankets`` and pyCausalFS.
- one univariate pass: a scan, against one call a feature of each tool's test, and scikit-learn's mutual_info_classif.

Next to them the *reference*: our searches over a compiled loop that counts one table at a time from scratch, which
stands for tools in C and C++ (bnlearn, CausalFS) that cannot be installed with pip. Times are per target (or per
feature), so that a tool that is stopped after ``--limit`` seconds still compares. Tools run in the environment that
peers_install.py made, a missing one is left out. Precision and recall are those of the targets that a tool finished.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import blankets as bl
from _data import frame_of, network, noise
from _reference import OneTableAtATime
from _timing import announce, measure, parser, seconds, table, write_json
from blankets.counting import Counter, MemoryCounter
from blankets.data import Frame
from blankets.errors import BlanketsWarning
from blankets.independence import TableTests
from blankets.search import Trace, find
from blankets.simulate import Network
from blankets.simulate.measures import average, compare
from peers_install import ENVIRONMENT, python_of

ALPHA = 0.01
WORKER = Path(__file__).with_name("_peer_worker.py")
SEARCHERS = {"iamb": ("pyCausalFS", "causal-learn", "pgmpy", "pyagrum"), "pcmb": ("pyCausalFS",)}
TESTERS = ("scikit-learn", "pyCausalFS", "causal-learn", "pgmpy", "pyagrum")
OWN_LOOP = ("pgmpy", "pyagrum")  # tests only: IAMB over them is a loop of ours
Rows = list[dict[str, Any]]


def ours(frame: Frame, targets: list[str], algorithm: str, n_jobs: int) -> dict[str, Any]:
    timing = measure(
        lambda: bl.discover_all(frame, targets, algorithm=algorithm, alpha=ALPHA, test="g", n_jobs=n_jobs),
        patience=60,
    )
    found = {target: set(timing.result[target].members) for target in targets}
    return {"wall": timing.wall, "cpu": timing.cpu, "done": len(targets), "found": found}


def bare(counter: Counter, targets: list[str], algorithm: str) -> dict[str, Any]:
    """Run a search straight over a counter, one target after the other, without shared tests or reports."""
    run, names = find(algorithm).run, counter.names

    def search() -> dict[str, set[str]]:
        found = {}
        for target in targets:
            y = names.index(target)
            others = [x for x in range(len(names)) if x != y]
            members = run(TableTests(counter), y, others, alpha=ALPHA, trace=Trace()).members
            found[target] = {names[x] for x in members}
        return found

    timing = measure(search, patience=60)
    return {"wall": timing.wall, "cpu": timing.cpu, "done": len(targets), "found": timing.result}


def other(tool: str, task: str, data: Path, options: argparse.Namespace) -> dict[str, Any] | str:
    """Run another tool in its environment; return what it found, or why there is nothing."""
    command = [str(python_of(options.env)), str(WORKER), tool, task, str(data), str(options.limit)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10 * options.limit + 120)
    except subprocess.TimeoutExpired:
        return "not one target in time"
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        return "not installed" if "PackageNotFoundError" in done.stderr else lines[-1][:80]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def right(found: Mapping[str, set[str]], truth: Network) -> dict[str, float]:
    """Return average precision and recall against the true blankets."""
    mean = average(compare(members, truth.blanket(target)) for target, members in found.items())
    return {"precision": mean.precision, "recall": mean.recall}


def searches(algorithm: str, truth: Network, options: argparse.Namespace) -> Rows:
    """Compare searches on some nodes of a network."""
    frame = truth.sample(options.rows, 0)
    targets = list(truth.names[: options.targets])
    rows: Rows = []
    for name, found in (
        ("blankets, two threads", ours(frame, targets, algorithm, 2)),
        ("blankets, one thread", ours(frame, targets, algorithm, 1)),
        ("our search alone, one thread", bare(MemoryCounter(frame, 1), targets, algorithm)),
        ("reference: one table at a time", bare(OneTableAtATime(frame), targets, algorithm)),
    ):
        rows.append({"tool": name, **found, **right(found["found"], truth)})
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.npz"
        codes = np.array([frame.column(j) for j in range(frame.n_columns)]).T
        np.savez(data, codes=codes, arities=frame.arities, targets=np.arange(len(targets)))
        for tool in SEARCHERS[algorithm]:
            done = other(tool, algorithm, data, options)
            if isinstance(done, str):
                rows.append({"tool": tool, "note": done})
                continue
            found = {frame.names[int(t)]: {frame.names[x] for x in xs} for t, xs in done.pop("blankets").items()}
            label = f"{tool} {done['version']}" + (" (test; loop by us)" if tool in OWN_LOOP else "")
            rows.append({"tool": label, **done, "found": found, **right(found, truth)})
    return rows


def univariate(options: argparse.Namespace) -> Rows:
    """Compare one pass over many features."""
    n = options.features
    codes = noise(options.rows, (3,) * (n + 1))
    frame = frame_of(codes, (3,) * (n + 1))
    rows: Rows = []
    xs = np.arange(1, n + 1)
    counters: tuple[tuple[str, Counter], ...] = (
        ("blankets, two threads", MemoryCounter(frame, 2)),
        ("blankets, one thread", MemoryCounter(frame, 1)),
        ("reference: one table at a time", OneTableAtATime(frame)),
    )
    for name, counter in counters:
        tests = TableTests(counter)
        timing = measure(lambda tests=tests: tests.scan(xs, 0, even_if_unreliable=True).log_p)  # type: ignore[misc]
        rows.append({"tool": name, "wall": timing.wall, "cpu": timing.cpu, "done": n})
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.npz"
        np.savez(data, codes=codes.T, arities=frame.arities, targets=np.array([0]))
        for tool in TESTERS:
            done = other(tool, "univariate", data, options)
            rows.append({"tool": tool, "note": done} if isinstance(done, str) else {"tool": tool, **done})
    return rows


def shown(rows: Rows, each: str) -> str:
    """Return a table of times per target or feature and ratios to the first row."""
    heads = ["tool", f"wall / {each}", f"CPU / {each}", "x wall", "x CPU", f"{each}s", "precision", "recall", ""]
    first = rows[0]
    cells = []
    for row in rows:
        if "wall" not in row:
            cells.append([row["tool"], *[""] * 7, row["note"]])
            continue
        times = [row[key] / row["done"] for key in ("wall", "cpu")]
        ratios = [t / (first[key] / first["done"]) for t, key in zip(times, ("wall", "cpu"), strict=True)]
        agreement = [f"{row[key]:.2f}" if key in row else "" for key in ("precision", "recall")]
        cells.append(
            [row["tool"], *map(seconds, times), *(f"{x:,.1f}" for x in ratios), str(row["done"]), *agreement, ""]
        )
    return table(heads, cells)


def main() -> int:
    options_of = parser(__doc__)
    options_of.add_argument("--networks", type=Path, help="folder with alarm.bif (or .bif.gz)")
    options_of.add_argument("--env", type=Path, default=ENVIRONMENT, help="environment of the other tools")
    options_of.add_argument("--rows", type=int, default=5_000)
    options_of.add_argument("--targets", type=int, default=37, help="how many nodes of Alarm")
    options_of.add_argument("--features", type=int, default=2_000, help="of the univariate pass")
    options_of.add_argument("--limit", type=float, default=60.0, help="seconds for each tool and task")
    options_of.add_argument("--only", choices=(*SEARCHERS, "univariate"))
    options = options_of.parse_args()
    if not python_of(options.env).exists():
        sys.exit(f"there is no environment in {options.env}: run peers_install.py, or say where with --env DIR")

    here = announce(f"Side by side, {options.rows:,} rows")
    content: dict[str, Any] = {"benchmark": "peers", "machine": here}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlanketsWarning)
        for algorithm in SEARCHERS:
            if options.only in (None, algorithm):
                rows = searches(algorithm, network(options.networks, "alarm"), options)
                print(f"{algorithm.upper()}, Alarm\n{shown(rows, 'target')}\n", flush=True)
                content[algorithm] = [{k: v for k, v in row.items() if k != "found"} for row in rows]
        if options.only in (None, "univariate"):
            content["univariate"] = univariate(options)
            print(
                f"Univariate pass, {options.features:,} features of 3 levels\n{shown(content['univariate'], 'feature')}"
            )
    write_json(options.json, content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
