"""Run experiments: cells in worker processes, finished ones kept, results to CSV, figure and page."""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import pkgutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.papers import _page
from benchmarks.papers._experiment import Cell, Experiment, Finding

if TYPE_CHECKING:
    import pandas as pd

HERE = Path(__file__).parent
KEPT = HERE.parent / "results" / "papers"


def experiments() -> dict[str, Experiment]:
    """Return the experiments of all scripts of this folder, by name."""
    found: dict[str, Experiment] = {}
    for module in pkgutil.iter_modules([str(HERE)]):
        if not module.name.startswith("_"):
            for made in importlib.import_module(f"benchmarks.papers.{module.name}").EXPERIMENTS:
                found[made.name] = made
    return found


def key(cell: Cell) -> str:
    """Return a name for a cell's file."""
    return hashlib.sha256(json.dumps(cell, sort_keys=True).encode()).hexdigest()[:16]


def work(run: Callable[..., list[dict[str, Any]]], data: Path | None, cell: Cell) -> tuple[list[dict[str, Any]], float]:
    """Run one cell (in a worker process); return its rows and seconds."""
    began = time.perf_counter()
    rows = run(data, **cell)
    return [{**cell, **row} for row in rows], time.perf_counter() - began


def collect(experiment: Experiment, data: Path | None, cells: Sequence[Cell], n_workers: int) -> list[dict[str, Any]]:
    """Return the rows of all cells, running those that are not on disk, and keeping each as soon as it is done."""
    folder = KEPT / experiment.name
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{key(cell)}.json" for cell in cells]
    waiting = [k for k, path in enumerate(paths) if not path.exists()]
    print(f"{experiment.name}: {len(cells)} cells, {len(cells) - len(waiting)} of them done before", flush=True)
    began = time.perf_counter()
    if waiting:
        for library in ("OPENBLAS", "OMP"):  # the processes share the cores; inherited by the workers
            os.environ[f"{library}_NUM_THREADS"] = "1"
        with ProcessPoolExecutor(n_workers, mp_context=get_context("spawn")) as pool:
            tasks = {pool.submit(work, experiment.run, data, cells[k]): k for k in waiting}
            try:
                for n, task in enumerate(as_completed(tasks), 1):
                    rows, seconds = task.result()
                    _write(paths[tasks[task]], rows)
                    left = (time.perf_counter() - began) / n * (len(waiting) - n)
                    said = ", ".join(f"{value}" for value in cells[tasks[task]].values())
                    print(f"  {n} of {len(waiting)}, {seconds:.1f} s: {said}; about {left:.0f} s left", flush=True)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    return [row for path in paths for row in json.loads(path.read_text("utf-8"))]


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    unfinished = path.with_suffix(".part")
    unfinished.write_text(json.dumps(rows), encoding="utf-8")
    unfinished.replace(path)  # all or nothing, also if killed here


def carry_out(experiment: Experiment, data: Path | None, quick: bool, n_workers: int) -> list[Finding]:
    """Run an experiment and write its CSV, figure and findings."""
    import pandas as pd

    rows = pd.DataFrame(collect(experiment, data, experiment.cells(quick), n_workers))
    return write_up(experiment, rows, quick=quick, code=_commit())


def once_more(experiment: Experiment) -> list[Finding]:
    """Write figure and findings anew from the kept CSV, which stays as it is, and so does the commit that made it."""
    kept = json.loads((_page.KEPT / f"{experiment.name}.json").read_text("utf-8"))
    return write_up(experiment, _page.rows_of(experiment), quick=kept["quick"], code=kept["code"])


def write_up(experiment: Experiment, rows: pd.DataFrame, *, quick: bool, code: str) -> list[Finding]:
    """Judge the rows, draw the figure, and keep it all."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib.figure import Figure

    findings = experiment.compare(rows)
    for finding in findings:
        if finding.verdict == "differs" and not finding.why:
            raise ValueError(f"{experiment.name}: “{finding.what}” differs, and the script does not say why")
    figure = Figure(figsize=experiment.size, layout="constrained")
    experiment.draw(rows, figure)
    _page.keep(experiment, rows, figure, findings, quick=quick, code=code)
    return findings


def _commit() -> str:
    """Return the commit of the code that runs, marked if code has changed since."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], capture_output=True, text=True, cwd=HERE, check=False).stdout.strip()

    commit, changed = git("rev-parse", "--short", "HEAD"), git("status", "--porcelain", "--", ":/src", ":/benchmarks")
    return f"{commit}-dirty" if commit and changed else commit or "unknown"


def show(experiment: Experiment, findings: Sequence[Finding]) -> None:
    """Print the comparison."""
    print(f"\n{experiment.source}: {experiment.title}")
    for finding in findings:
        print(f"  {finding.what}: printed {finding.printed}; ours {finding.ours}; {finding.verdict}", end="")
        print(f" ({finding.why})" if finding.why else "")
    print(flush=True)


def main() -> int:
    """Run what the command line asks for."""
    known = experiments()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description="The papers, reproduced.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="see --list")
    parser.add_argument("--list", action="store_true", help="say what there is, and how long it takes")
    parser.add_argument("--all", action="store_true", help="run all of them")
    parser.add_argument("--quick", action="store_true", help="a reduced protocol")
    parser.add_argument("--again", action="store_true", help="run nothing: findings and figures anew from kept CSVs")
    parser.add_argument("--fresh", action="store_true", help="forget finished cells first")
    parser.add_argument("--data", type=Path, help="folder with networks/, classification/, highdim/ and so on")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes (default: cores)")
    options = parser.parse_args()
    if options.list:
        for experiment in known.values():
            full, quick = experiment.minutes
            print(f"{experiment.name:22} {experiment.source:26} {full:g} min, quick {quick:g} min: {experiment.title}")
        return 0
    unknown = [name for name in options.names if name not in known]
    if unknown or not (options.names or options.all):
        parser.error(f"name one of {', '.join(known)}, or say --all" if not unknown else f"there is no {unknown[0]!r}")
    return run([known[name] for name in (known if options.all else options.names)], options)


def run(chosen: Sequence[Experiment], options: argparse.Namespace) -> int:
    """Run experiments one after another; return 1 if one could not be run."""
    failed = []
    for experiment in chosen:
        if options.again:
            show(experiment, once_more(experiment))
            continue
        if missing := experiment.missing(options.data):
            failed.append(f"{experiment.name}: say where {', '.join(missing)} is with --data DIR")
            print(failed[-1], flush=True)
            continue
        if options.fresh:
            for cell in experiment.cells(options.quick):
                (KEPT / experiment.name / f"{key(cell)}.json").unlink(missing_ok=True)
        show(experiment, carry_out(experiment, options.data, options.quick, options.workers))
    _page.write()
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
