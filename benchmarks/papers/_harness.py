"""What all scripts of this folder share: experiments, their cells run in processes and kept, the page from them."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

HERE = Path(__file__).parent
DONE = HERE.parent / "results" / "papers"  # cells that were run
DOCS = HERE.parents[1] / "docs"
KEPT = DOCS / "reproduction"
Cell = Mapping[str, Any]
Verdict = Literal["agrees", "same ordering", "undecided", "differs"]
VERDICTS = get_args(Verdict)


@dataclass(frozen=True)
class Finding:
    """One printed value, or one printed statement, next to ours; ``why`` explains a difference, which must have one."""

    what: str
    printed: str
    ours: str
    verdict: Verdict
    why: str = ""


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper.

    ``cells(quick)`` lists settings (names to JSON values, which must say all that the numbers depend on, seeds
    and sizes included); ``run(data, **cell)`` returns the rows of one of them, as dictionaries to which the
    settings are added; ``compare(rows)`` returns the findings. ``run`` is called in other processes, so it must be a
    function of the script. ``data`` is the folder given with ``--data``, or None. ``minutes`` are for two free cores:
    the full and the reduced protocol. ``words`` are columns whose entries look like numbers, or are empty.
    """

    name: str
    title: str
    source: str
    minutes: tuple[float, float]
    cells: Callable[[bool], Sequence[Cell]]
    run: Callable[..., list[dict[str, Any]]]
    compare: Callable[[pd.DataFrame], list[Finding]]
    protocol: Callable[[bool], str]
    needs: Sequence[str] = ()
    remark: str = ""
    words: Sequence[str] = ()

    def missing(self, data: Path | None) -> list[str]:
        """Return which of the needed files are not in the data folder."""
        return [name for name in self.needs if data is None or not (data / name).exists()]


def mean_and_error(values: Any) -> tuple[float, float]:
    """Return the mean and its standard error.

    >>> mean_and_error([1.0, 2.0, 3.0])
    (2.0, 0.5773502691896258)
    """
    numbers = np.asarray(values, float)
    error = numbers.std(ddof=1) / np.sqrt(len(numbers)) if len(numbers) > 1 else float("nan")
    return float(numbers.mean()), float(error)


def plus_minus(values: Any, digits: int = 2) -> str:
    """Write mean and standard error: "2.00 ± 0.58"."""
    mean, error = mean_and_error(values)
    return f"{mean:.{digits}f} ± {error:.{digits}f}" if error == error else f"{mean:.{digits}f}"


def near(printed: float, values: Any, *, digits: int = 2, errors: float = 2.0, printed_error: float = 0.0) -> bool:
    """Say whether a printed value lies within some standard errors of our mean, rounding of the print allowed for.

    ``printed_error`` is the standard error of the printed value itself, where the paper lets one work it out.
    """
    mean, error = mean_and_error(values)
    slack = 0.5 * 10.0**-digits + errors * np.hypot(np.nan_to_num(error), printed_error)
    return bool(abs(mean - printed) <= slack + 1e-12)


def ordered(difference: float, half: float, *, holds: Verdict = "agrees") -> Verdict:
    """Judge an ordering that is claimed by a difference and half the width of its interval.

    Within the interval nothing is decided, whatever the sign. ``holds`` is the verdict beyond it.

    >>> ordered(0.3, 0.2), ordered(0.1, 0.2), ordered(-0.1, 0.2), ordered(-0.3, 0.2)
    ('agrees', 'undecided', 'undecided', 'differs')
    """
    return holds if difference > half else "differs" if difference < -half else "undecided"


def experiments() -> dict[str, Experiment]:
    """Return the experiments of all scripts of this folder, by name."""
    names = [module.name for module in iter_modules([str(HERE)]) if not module.name.startswith("_")]
    found = [made for name in names for made in import_module(f"benchmarks.papers.{name}").EXPERIMENTS]
    return {made.name: made for made in found}


def work(run: Callable[..., list[dict[str, Any]]], data: Path | None, cell: Cell) -> list[dict[str, Any]]:
    """Run one cell; return its rows, with its settings."""
    return [{**cell, **row} for row in run(data, **cell)]


def collect(experiment: Experiment, data: Path | None, cells: Sequence[Cell], n_workers: int) -> list[dict[str, Any]]:
    """Return the rows of all cells, running those that are not on disk, and keeping each as soon as it is done."""
    folder = DONE / experiment.name
    folder.mkdir(parents=True, exist_ok=True)
    keys = [hashlib.sha256(json.dumps(cell, sort_keys=True).encode()).hexdigest()[:16] for cell in cells]
    paths = [folder / f"{key}.json" for key in keys]
    waiting = [k for k, path in enumerate(paths) if not path.exists()]
    print(f"{experiment.name}: {len(cells)} cells, {len(cells) - len(waiting)} of them done before", flush=True)
    for library in ("OPENBLAS", "OMP"):  # the processes share the cores; inherited by the workers
        os.environ[f"{library}_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(n_workers, mp_context=get_context("spawn")) as pool:
        tasks = {pool.submit(work, experiment.run, data, cells[k]): k for k in waiting}
        for task in as_completed(tasks):
            unfinished = paths[tasks[task]].with_suffix(".part")
            unfinished.write_text(json.dumps(task.result()), encoding="utf-8")
            unfinished.replace(paths[tasks[task]])  # all or nothing, also if killed here
    return [row for path in paths for row in json.loads(path.read_text("utf-8"))]


def write_up(experiment: Experiment, rows: pd.DataFrame, *, quick: bool, code: str) -> None:
    """Judge the rows, print the comparison, and keep it all; a reduced protocol never replaces the full one."""
    findings = experiment.compare(rows)
    for finding in findings:
        if finding.verdict == "differs" and not finding.why:
            raise ValueError(f"{experiment.name}: “{finding.what}” differs, and the script does not say why")
        print(f"  {finding.what}: printed {finding.printed}; ours {finding.ours}; {finding.verdict} {finding.why}")
    KEPT.mkdir(exist_ok=True)
    summary = KEPT / f"{experiment.name}.json"
    if quick and summary.exists() and not json.loads(summary.read_text("utf-8"))["quick"]:
        return
    packed: Any = {"method": "gzip", "mtime": 0}  # the same rows give the same bytes
    rows.to_csv(KEPT / f"{experiment.name}.csv.gz", index=False, float_format="%.4g", compression=packed)
    said = {name: getattr(experiment, name) for name in ("title", "source", "remark")}
    content = {**said, "protocol": experiment.protocol(quick), "quick": quick, "code": code}
    content["findings"] = [asdict(finding) for finding in findings]
    summary.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def commit() -> str:
    """Return the commit of the code that runs, marked if code has changed since."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], capture_output=True, text=True, cwd=HERE, check=False).stdout.strip()

    now, changed = git("rev-parse", "--short", "HEAD"), git("status", "--porcelain", "--", ":/src", ":/benchmarks")
    return f"{now}-dirty" if now and changed else now or "unknown"


HEAD = """# The papers, reproduced

Every row below comes from a run of the code in `benchmarks/papers`, at the settings and the commit stated in its
section, and can be had again by its command. Sections with an earlier commit than `5b21786b` keep the rows of that
run, judged anew; they were not run again since. DATA is a folder with the data sets named in the script. Since
that commit algorithms are those that were published: no closing afterwards (`close=False`), no features
beside the blanket (`extra=0`). A test
runs the first cell of each experiment. *Agrees*: the printed value lies within two standard errors of ours. *Same
ordering*: the numbers differ, the conclusion drawn from them does not. *Undecided*: one thing is said to exceed
another, and our difference lies within its 95% interval, whatever its sign. *Differs*: with the reason. Sources: Peña,
Björkegren and Tegnér 2005, *Scalable, efficient and correct learning of Markov boundaries*; Verma 2005, slides on KS,
GS, IAMB and HITON, with the tables of Tsamardinos and others 2003 and Aliferis and others 2003; Sechidis 2015,
*Hypothesis testing and feature selection in semi-supervised data* (thesis); Sechidis and Brown 2015, *Markov blanket
discovery in positive-unlabeled and semi-supervised data*; Gao and Ji 2016, *Constrained local latent variable
discovery*. What the papers get wrong, and what is done about it, is in the [errata](explanation/errata.md).
"""


def write_page() -> None:
    """Write the page anew from all that is kept."""
    sections = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(KEPT.glob("*.json"))}
    heads = ("id", "source", "run at", *VERDICTS)
    lines = [HEAD, f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for name, section in sections.items():
        counts = Counter(finding["verdict"] for finding in section["findings"])
        at = section["code"] + (", reduced" if section["quick"] else "")
        cells = (f"[{name}](#{name})", section["source"], at, *(str(counts[verdict]) for verdict in VERDICTS))
        lines.append(f"| {' | '.join(cells)} |")
    for name, section in sections.items():
        lines += _section(name, section)
    (DOCS / "reproduction.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _section(name: str, section: dict[str, Any]) -> list[str]:
    command = f"python -m benchmarks.papers {name}{' --quick' if section['quick'] else ''} --data DATA"
    reduced = " (a reduced protocol)" if section["quick"] else ""
    lines = ["", f"({name})=", f"## {name}", ""]
    lines.append(
        f"**{section['source']}: {section['title']}.** {section['protocol']}{reduced}. `{command}`, code at "
        f"{section['code']}, numbers in [{name}.csv.gz](reproduction/{name}.csv.gz)."
    )
    lines += ["", "| what | printed | ours | verdict |", "|---|---|---|---|"]
    for finding in section["findings"]:
        verdict = finding["verdict"] + (f": {finding['why']}" if finding["why"] else "")
        cells = (finding["what"], finding["printed"], finding["ours"], verdict)
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return lines + (["", section["remark"]] if section["remark"] else [])


def main() -> int:
    """Run what the command line asks for; return 1 if an experiment could not be run."""
    known = experiments()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description="The papers, reproduced.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="see --list")
    parser.add_argument("--list", action="store_true", help="say what there is, and how long it takes")
    parser.add_argument("--all", action="store_true", help="run all of them")
    parser.add_argument("--quick", action="store_true", help="a reduced protocol")
    parser.add_argument("--again", action="store_true", help="run nothing: findings and the page anew from kept rows")
    parser.add_argument("--data", type=Path, help="folder with networks/, classification/, highdim/ and so on")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes (default: cores)")
    options = parser.parse_args()
    for experiment in known.values() if options.list else ():
        full, quick = experiment.minutes
        print(f"{experiment.name:22} {experiment.source:26} {full:g} min, quick {quick:g} min: {experiment.title}")
    if unknown := [name for name in options.names if name not in known]:
        parser.error(f"there is no {unknown[0]!r}; name one of {', '.join(known)}, or say --all")
    failed = 0
    for experiment in (known[name] for name in (known if options.all else options.names)):
        if options.again:
            told = json.loads((KEPT / f"{experiment.name}.json").read_text("utf-8"))
            words = dict.fromkeys(experiment.words, "")
            kept = pd.read_csv(KEPT / f"{experiment.name}.csv.gz", dtype=dict.fromkeys(words, str)).fillna(words)
            write_up(experiment, kept, quick=told["quick"], code=told["code"])
        elif missing := experiment.missing(options.data):
            print(f"{experiment.name}: say where {', '.join(missing)} is with --data DIR", flush=True)
            failed = 1
        else:
            rows = collect(experiment, options.data, experiment.cells(options.quick), options.workers)
            write_up(experiment, pd.DataFrame(rows), quick=options.quick, code=commit())
    write_page()
    return failed


if __name__ == "__main__":
    sys.exit(main())
