"""Speed of information filters: 50 of 10,000 features at 5,000 rows, next to other tools in the same run.

    python benchmarks/peers_install.py
    python benchmarks/filters.py

Warm medians, wall and CPU time. JMI and mRMR must take at most 5 s on two free cores, for features of any usual number
of levels (14 is what Sturges' rule makes of a continuous column at 5,000 rows). Next to them

- the *reference*: the same greedy loop over a compiled loop that counts one table at a time from scratch, which stands
  for tools in C and C++ that cannot be installed with pip; on one thread, run once;
- mrmr-selection, which measures relevance and redundancy by F statistic and Pearson correlation: another answer, and
  cheaper sums; all cores;
- scikit-learn's mutual_info_classif, one univariate pass without any redundancy.

The other tools run in the environment that peers_install.py made; one that is missing is left out. *Found* counts the
planted Markov blanket of five features among the first ten selected.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from _data import BLANKET, TARGET, planted
from _reference import OneTableAtATime
from _timing import announce, measure, parser, seconds, table, write_json
from blankets.counting import Counter
from blankets.data import Frame
from blankets.errors import BlanketsWarning
from blankets.filters import PlugIn, find_criterion, greedy
from blankets.questions.select import select
from peers_install import ENVIRONMENT, python_of

LIMIT = 5.0
WORKER = Path(__file__).with_name("_filter_worker.py")
LEVELS: dict[str, tuple[int, ...]] = {"2": (2,), "3": (3,), "2 to 5": (2, 3, 4, 5), "14": (14,)}
REQUIRED = ("jmi", "mrmr")
OTHERS = ("mim", "mifs", "cife", "condred", "cmim", "disr", "icap")
PEERS = ("mrmr-selection", "scikit-learn")
Row = dict[str, Any]


@cache
def data(levels: str, n_features: int) -> Frame:
    return planted(5_000, n_features, LEVELS[levels])


def found(names: Sequence[str]) -> int:
    return len(set(names[:10]) & set(BLANKET))


def ours(levels: str, criterion: str, options: argparse.Namespace, n_jobs: int) -> Row:
    frame = data(levels, options.features)
    timing = measure(
        lambda: select(frame, TARGET, criterion=criterion, k=options.k, n_jobs=n_jobs), repeats=options.repeats
    )
    who = f"blankets, {n_jobs} thread{'s' if n_jobs > 1 else ''}"
    return row(levels, criterion, who, timing.wall, timing.cpu, found(timing.result.names))


def with_labels(levels: str, criterion: str, options: argparse.Namespace) -> Row:
    """Hide all labels but a third of the positives'."""
    frame = data(levels, options.features)
    target = frame.index(TARGET)
    truth = frame.column(target) > 0
    shown = truth & (np.random.default_rng(1).random(frame.n_rows) < 1 / 3)
    features = frame.select([j for j in range(frame.n_columns) if j != target])
    y, prior = np.where(shown, 1.0, np.nan), float(truth.mean())
    timing = measure(
        lambda: select(features, y=y, criterion=criterion, k=options.k, labels="pu", prior=prior, n_jobs=2),
        repeats=options.repeats,
    )
    who = "blankets, 2 threads, positive-unlabeled"
    return row(levels, criterion, who, timing.wall, timing.cpu, found(timing.result.names))


def reference(levels: str, criterion: str, options: argparse.Namespace) -> Row:
    frame = data(levels, options.features)
    target = frame.index(TARGET)
    counter: Counter = OneTableAtATime(frame)
    features = np.delete(np.arange(frame.n_columns), target)

    def work() -> list[str]:
        picks = greedy(PlugIn(counter, target), features, options.k, find_criterion(criterion))
        return [frame.names[x] for x in picks.columns]

    timing = measure(work, repeats=1, patience=LIMIT)
    return row(levels, criterion, "reference, 1 thread", timing.wall, timing.cpu, found(timing.result))


def peer(levels: str, tool: str, options: argparse.Namespace) -> Row:
    frame = data(levels, options.features)
    target = frame.index(TARGET)
    features = [j for j in range(frame.n_columns) if j != target]
    what = "mrmr" if tool == "mrmr-selection" else "mim"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        np.savez(path, codes=np.column_stack([frame.column(j) for j in features]), y=frame.column(target))
        command = [str(python_of(options.env)), str(WORKER), tool, str(path), str(options.k)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=options.limit)
        except subprocess.TimeoutExpired:
            return row(levels, what, tool, None, None, None, f"given up after {options.limit:.0f} s")
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        return row(levels, what, tool, None, None, None, lines[-1][:60])
    answer = json.loads(done.stdout.splitlines()[-1])
    names = [frame.names[features[j]] for j in answer["selected"]]
    return row(levels, what, f"{tool} {answer['version']}", answer["wall"], answer["cpu"], found(names))


def row(
    levels: str, what: str, who: str, wall: float | None, cpu: float | None, hits: int | None, note: str = ""
) -> Row:
    return {"levels": levels, "criterion": what, "who": who, "wall": wall, "cpu": cpu, "found": hits, "note": note}


def runs_of(levels: str, options: argparse.Namespace) -> list[Callable[[], Row]]:
    """Return what is to be measured on one table."""
    runs: list[Callable[[], Row]] = []
    for criterion in REQUIRED:
        runs += [partial(ours, levels, criterion, options, n) for n in (2, 1)]
        runs.append(partial(reference, levels, criterion, options))
    if levels == "2":
        runs.append(partial(with_labels, levels, "jmi", options))
    if options.all:
        runs += [partial(ours, levels, criterion, options, 2) for criterion in OTHERS]
    if python_of(options.env).exists():
        runs += [partial(peer, levels, tool, options) for tool in PEERS]
    return runs


def main() -> int:
    options_of = parser(__doc__)
    options_of.add_argument("--features", type=int, default=10_000)
    options_of.add_argument("--k", type=int, default=50)
    options_of.add_argument("--levels", choices=sorted(LEVELS), help="one kind of features; default: all kinds")
    options_of.add_argument("--all", action="store_true", help="all criteria, not only JMI and mRMR")
    options_of.add_argument("--repeats", type=int, default=3)
    options_of.add_argument("--limit", type=float, default=300.0, help="seconds after which another tool is given up")
    options_of.add_argument("--env", type=Path, default=ENVIRONMENT, help="environment of the other tools")
    options_of.add_argument("--check", action="store_true", help=f"fail if JMI or mRMR takes more than {LIMIT:g} s")
    options = options_of.parse_args()
    if not python_of(options.env).exists():
        print("the other tools are left out; install them with: python benchmarks/peers_install.py")

    here = announce(f"{options.k} of {options.features:,} features at 5,000 rows; JMI and mRMR: at most {LIMIT:g} s")
    rows: list[Row] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlanketsWarning)
        for levels in [options.levels] if options.levels else LEVELS:
            for run in runs_of(levels, options):
                rows.append(run())
                print(
                    f"  {levels} levels, {rows[-1]['criterion']}, {rows[-1]['who']}: {seconds(rows[-1]['wall'])}",
                    flush=True,
                )
    heads = ["levels and criterion", "tool", "wall", "CPU", "found", ""]
    cells = [
        [
            f"{r['levels']}, {r['criterion']}",
            r["who"],
            seconds(r["wall"]),
            seconds(r["cpu"]),
            "-" if r["found"] is None else f"{r['found']} of 5",
            r["note"],
        ]
        for r in rows
    ]
    print("\n" + table(heads, cells))
    write_json(options.json, {"benchmark": "filters", "machine": here, "results": rows})
    mine = [r for r in rows if r["who"] == "blankets, 2 threads" and r["criterion"] in REQUIRED]
    return int(options.check and any(r["wall"] > LIMIT for r in mine))


if __name__ == "__main__":
    sys.exit(main())
