"""Speed of whole searches: warm, median of five runs, wall and CPU time, next to targets and published numbers.

    python benchmarks/speed.py --networks DIR --data DIR
    python benchmarks/speed.py --only alarm
    python benchmarks/speed.py --defaults --networks DIR    # also with the default test, and as it comes
    python benchmarks/speed.py --turns --networks DIR       # one thread and several, as it comes, taking turns

``--networks`` holds alarm.bif and pigs.bif, plain or .gz (default: the examples that come with pgmpy); ``--data``
holds highdim/thrombin_train_X.npz and highdim/thrombin_train_y.csv.gz, without which Thrombin is left out. *Target*
is what must hold on two free cores, *aim* what the counting engine is built for. Numbers of others (R's bnlearn, the
C++ tool CausalFS, scikit-learn; same kind of machine) are printed in the last column. A case that takes longer than
``--limit`` seconds is given up.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import blankets as bl
from _data import BLANKET, TARGET, planted, sample
from _timing import Timing, TooLong, announce, limited, markdown, measure, parser, seconds, table, write_json
from blankets.counting import MemoryCounter
from blankets.data import Frame, ingest
from blankets.errors import BlanketsWarning
from blankets.independence import TableTests

Work = Callable[[], Any]
ALPHA = 0.01
# How a search is asked for: by the chi-square formula, with the default test, and with all defaults.
WAYS: dict[str, dict[str, Any]] = {
    "g": {"test": "g", "close": False},
    "default test": {"close": False},
    "as it comes": {},
}
DRAWS = 100
SINGLE = ("stability-search", "thrombin-load")  # cases that have no threads to choose


@dataclass(eq=False)
class Bench:
    """Data of the cases, made when first needed."""

    networks: Path | None
    data: Path | None
    n_jobs: int
    small: bool
    way: str = "g"

    def how(self, algorithm: str) -> dict[str, Any]:
        named = {} if self.way == "as it comes" else {"algorithm": algorithm}
        return {"alpha": ALPHA, "n_jobs": self.n_jobs, **named, **WAYS[self.way]}

    def all_blankets(self, network: str, n_rows: int, algorithm: str) -> Work:
        frame, how = sample(self.networks, network, n_rows), self.how(algorithm)
        return lambda: bl.discover_all(frame, **how)

    def one_blanket(self, frame: Frame, algorithm: str, target: str = TARGET) -> Work:
        how = self.how(algorithm)
        return lambda: bl.discover(frame, target, **how)

    def drawn(self, n_resamples: int) -> Work:
        """Return a search of a table of 5,000 x 40, and of its draws if there are any."""
        frame, n_jobs = planted(5_000, 40, (2, 3, 4)), self.n_jobs
        if not n_resamples:
            return lambda: bl.discover(frame, TARGET, n_jobs=1)
        return lambda: bl.stability(frame, TARGET, n_resamples=n_resamples, n_jobs=n_jobs, rng=0)

    def thrombin_blanket(self, algorithm: str) -> Work:
        return self.one_blanket(self.thrombin, algorithm, self.thrombin.names[-1])

    @cached_property
    def wide(self) -> Frame:
        return planted(5_000, 5_000 if self.small else 50_000, (3,))

    @cached_property
    def tall(self) -> Frame:
        return planted(200_000 if self.small else 2_000_000, 50, (2, 3, 4, 5, 6))

    def load_thrombin(self) -> Frame:
        from scipy.sparse import load_npz

        assert self.data is not None
        features = load_npz(self.data / "highdim" / "thrombin_train_X.npz")
        with gzip.open(self.data / "highdim" / "thrombin_train_y.csv.gz", "rt", encoding="utf-8") as lines:
            labels = [row["target"] for row in csv.DictReader(lines)]
        return ingest(features, y=labels).frame  # the target comes last

    @cached_property
    def thrombin(self) -> Frame:
        return self.load_thrombin()

    def thrombin_scan(self) -> Work:
        """Return a scan of all features, with the strongest one's p-value and all those that decide."""
        frame = self.thrombin
        tests = TableTests(MemoryCounter(frame, self.n_jobs))
        xs = np.arange(frame.n_columns - 1)
        return lambda: tests.scan(xs, frame.n_columns - 1).strongest(ALPHA)


@dataclass(frozen=True)
class Case:
    name: str
    what: str
    work: Callable[[Bench], Work]
    target: float | None = None
    aim: float | None = None
    others: str = ""


CASES = (
    Case(
        "alarm-iamb",
        "Alarm, 37 targets, 5,000 rows, IAMB",
        lambda b: b.all_blankets("alarm", 5_000, "iamb"),
        0.040,
        0.015,
        "bnlearn 0.19 s, CausalFS 0.19 s",
    ),
    Case(
        "alarm-pcmb",
        "Alarm, 37 targets, 5,000 rows, PCMB",
        lambda b: b.all_blankets("alarm", 5_000, "pcmb"),
        0.200,
        0.060,
        "CausalFS 0.96 s",
    ),
    Case(
        "pigs-inter-iamb",
        "Pigs, 441 targets, 5,000 rows, inter-IAMB",
        lambda b: b.all_blankets("pigs", 5_000, "inter-iamb"),
        3.0,
        1.5,
        "bnlearn 20 to 37 s, CausalFS 46 s",
    ),
    Case(
        "pigs-pcmb",
        "Pigs, 441 targets, 500 rows, PCMB",
        lambda b: b.all_blankets("pigs", 500, "pcmb"),
        None,
        1.8,
        "CausalFS 18 s",
    ),
    Case(
        "wide",
        "Wide, 5,000 x 50,000 of 3 levels, inter-IAMB",
        lambda b: b.one_blanket(b.wide, "inter-iamb"),
        None,
        2.0,
        "bnlearn 87 s (35 s CPU)",
    ),
    Case(
        "tall",
        "Tall, 2,000,000 x 50 of 2 to 6 levels, inter-IAMB",
        lambda b: b.one_blanket(b.tall, "inter-iamb"),
        None,
        5.0,
        "bnlearn 20 s (7 s CPU)",
    ),
    Case("thrombin-load", "Thrombin, load and pack", lambda b: b.load_thrombin, None, 5.0),
    Case(
        "thrombin-scan",
        "Thrombin, 139,351 features (92,735 different), scan",
        lambda b: b.thrombin_scan(),
        None,
        0.015,
        "scikit-learn's mutual_info_classif 139 s",
    ),
    Case(
        "thrombin-inter-iamb",
        "Thrombin, inter-IAMB",
        lambda b: b.thrombin_blanket("inter-iamb"),
        None,
        1.0,
        "bnlearn 622 s (329 s CPU), paper 3102 s",
    ),
    Case(
        "thrombin-pcmb",
        "Thrombin, PCMB",
        lambda b: b.thrombin_blanket("pcmb"),
        None,
        30.0,
        "paper 8631 s",
    ),
    Case("stability-search", "5,000 x 40, one search", lambda b: b.drawn(0)),
    Case("stability-draws", f"The same, stability over {DRAWS} draws (target: 20 searches)", lambda b: b.drawn(DRAWS)),
    Case("thrombin-hiton-mb", "Thrombin, HITON-MB", lambda b: b.thrombin_blanket("hiton-mb"), None, 30.0),
)


def run(case: Case, bench: Bench, options: argparse.Namespace) -> dict[str, Any]:
    """Measure one case."""
    what = f"{case.what} (a tenth of it)" if bench.small and case.name in ("wide", "tall") else case.what
    what = what if bench.way == "g" else f"{what}, {bench.way}"
    row: dict[str, Any] = {"case": case.name, "what": what, "way": bench.way, "target": case.target, "aim": case.aim}
    row["others"] = case.others
    work = case.work(bench)
    try:
        with limited(options.limit):
            timing = measure(work, repeats=options.repeats, patience=options.limit / 2)
    except TooLong:
        return {**row, "wall": None, "cpu": None, "runs": 0, "note": f"given up after {options.limit:.0f} s"}
    return {**row, "wall": timing.wall, "cpu": timing.cpu, "runs": timing.runs, **answer(case, timing)}


def turns(case: Case, bench: Bench, options: argparse.Namespace) -> list[str]:
    """Measure one case with one thread and with several, in turns: so what else the machine does disturbs both."""
    bench.way, threads, times = "as it comes", bench.n_jobs, {}
    for bench.n_jobs in (1, threads):
        times[bench.n_jobs] = case.work(bench), list[Timing]()
    for k in range(options.repeats):
        for work, timings in list(times.values())[:: 1 if k % 2 else -1]:
            timings.append(replace(measure(work, repeats=1), result=None))
    one, many = (Timing.median(timings) for _, timings in times.values())
    found = [case.what, *map(seconds, (one.wall, many.wall)), f"{many.wall / one.wall:.2f}"]
    return [*found, *map(seconds, (one.cpu, many.cpu)), f"{many.cpu / one.cpu:.2f}"]


def answer(case: Case, timing: Timing) -> dict[str, Any]:
    """Return what the search did: the number of tests, and how much of a planted blanket it found."""
    done: dict[str, Any] = {}
    if isinstance(timing.result, bl.Blankets | bl.Blanket):
        done["tests"] = timing.result.n_tests
    if isinstance(timing.result, bl.Blanket):
        members = timing.result.members
        done["note"] = f"{len(members)} members"
        if case.name in ("wide", "tall"):
            done["note"] = f"{len(set(members) & set(BLANKET))} of {len(BLANKET)} found, {len(members)} members"
    return done


def shown(row: dict[str, Any]) -> list[str]:
    bound = row["aim"] if row["aim"] is not None else row["target"]
    of_bound = f"{row['wall'] / bound:.2f}" if row["wall"] is not None and bound is not None else "-"
    of_g = f"{row['of g']:.2f}" if "of g" in row else ""
    tests = f"{row['tests']:,}" if "tests" in row else ""
    goal = " / ".join(seconds(row[key]) for key in ("target", "aim"))
    others = f"({row['others']})" if row["others"] else ""
    cells = [row["what"], seconds(row["wall"]), seconds(row["cpu"]), str(row["runs"]), goal, of_bound, of_g, tests]
    return [*cells, row.get("note", ""), others]


def main() -> int:
    options_of = parser(__doc__)
    options_of.add_argument("--networks", type=Path, help="folder with alarm.bif and pigs.bif (or .bif.gz)")
    options_of.add_argument("--data", type=Path, help="folder with highdim/thrombin_train_X.npz and its labels")
    options_of.add_argument("--only", metavar="NAME", help=f"one case or group: {', '.join(c.name for c in CASES)}")
    options_of.add_argument("--defaults", action="store_true", help="also with the default test, and as it comes")
    options_of.add_argument("--turns", action="store_true", help="one thread and several, taking turns, as it comes")
    options_of.add_argument("--repeats", type=int, default=5)
    options_of.add_argument("--threads", type=int, default=2)
    options_of.add_argument("--limit", type=float, default=300.0, help="seconds after which a case is given up")
    options_of.add_argument("--small", action="store_true", help="a tenth of Wide and Tall: to see that it works")
    options_of.add_argument("--markdown", action="store_true", help="print the table for the README")
    options = options_of.parse_args()
    chosen = [case for case in CASES if options.only is None or case.name.startswith(options.only)]
    if options.data is None:
        chosen = [case for case in chosen if not case.name.startswith("thrombin")]
    if not chosen:
        sys.exit("there is no such case, or it needs --data DIR")

    here = announce("Whole searches: warm, medians, against target / aim on two free cores")
    bench = Bench(options.networks, options.data, options.threads, options.small)
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlanketsWarning)  # too few rows for some columns: part of the protocol
        if options.turns:
            heads = [
                "case",
                "wall, 1",
                f"wall, {options.threads}",
                "ratio",
                "CPU, 1",
                f"CPU, {options.threads}",
                "ratio",
            ]
            several = [case for case in chosen if case.name not in SINGLE]
            print(table(heads, [turns(case, bench, options) for case in several]))
            return 0
        for case in chosen:
            searches = options.defaults and not case.name.startswith(("thrombin-load", "thrombin-scan", "stability"))
            by_g = None
            for bench.way in WAYS if searches else ("g",):
                rows.append(run(case, bench, options))
                by_g = by_g or rows[-1]["cpu"]
                if by_g and rows[-1]["cpu"] and bench.way != "g":
                    rows[-1]["of g"] = rows[-1]["cpu"] / by_g
                said = f"{seconds(rows[-1]['wall'])} ({seconds(rows[-1]['cpu'])} CPU)"
                print(f"  {case.name}, {bench.way}: {said}", flush=True)
    heads = ["case", "wall", "CPU", "runs", "target / aim", "of aim", "CPU of g", "tests", "answer", "others"]
    written = markdown if options.markdown else table
    print("\n" + written(heads, [shown(row) for row in rows]))
    write_json(options.json, {"benchmark": "speed", "machine": here, "results": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
