"""Doors that are hard to break: damaged files, random frames, kill -9 at random moments, forks among threads, Ctrl-C.

    python benchmarks/fuzz_doors.py --check
    python benchmarks/fuzz_doors.py --only damage --rounds 2000 --seed 7
    nice python benchmarks/fuzz_doors.py --only kills --rounds 100 --seconds 3600   # 100 of each of four

What may come out is an answer equal to that of the undamaged twin, or an error of ours. Other errors, answers that
differ silently, deaths and calls of more than ten seconds are counted as bad, and the first of them are shown. Each
part stops after ``--seconds``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from pyarrow import parquet
from scipy import sparse

import blankets as bl
from blankets.errors import BlanketsError, InternalError

LONGEST = 10.0  # seconds for a call
ROUNDS = {"damage": 2_000, "frames": 10_000, "kills": 100, "forks": 1_000, "stops": 60}
SHOWN = 5

warnings.simplefilter("ignore")


def table(seed: int = 0, n_rows: int = 300) -> dict[str, np.ndarray]:
    """Return columns of which some tell about the last one."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 3, n_rows), rng.integers(0, 2, n_rows)
    t = ((a > 0) ^ (rng.random(n_rows) < 0.15)).astype(int)
    return {"a": a, "b": b, "c": np.where(rng.random(n_rows) < 0.5, t, b), "t": t}


def answer(data: Any, **options: Any) -> Any:
    """Return what all blankets of a table are, with their numbers."""
    found = bl.discover_all(data, algorithm="iamb", test="g", n_jobs=1, **options)
    return {name: (one.members, [s.statistic for s in one.strengths.values()]) for name, one in found.items()}


class Tally:
    """What came of many calls."""

    def __init__(self, part: str, *, may_refuse: bool = True) -> None:
        self.may_refuse = may_refuse
        self.part, self.seen, self.bad, self.began = part, Counter(), [], time.monotonic()

    def call(self, what: str, ask: Callable[[], Any], expected: Any = None) -> None:
        """Ask once; compare the answer with the expected one, if there is one."""
        began = time.monotonic()
        try:
            got = ask()
            same = expected is None or got == expected
            self.add(what, "answer" if same else "DIFFERENT", "" if same else f"{got} for {expected}")
        except InternalError as error:
            self.add(what, "INTERNAL", repr(error.__cause__))
        except BlanketsError as error:
            self.add(what, "refused" if self.may_refuse else "REFUSED", repr(error))
        except Exception as error:  # noqa: BLE001  # the point of it
            self.add(what, "FOREIGN", repr(error))
        if time.monotonic() - began > LONGEST:
            self.add(what, "SLOW", f"{time.monotonic() - began:.0f} s")

    def add(self, what: str, outcome: str, detail: str = "") -> None:
        """Count one outcome."""
        self.seen[outcome] += 1
        if outcome.isupper():
            self.bad.append(f"{what}: {outcome} {detail[:200]}")

    def within(self, rounds: int, seconds: float) -> Iterator[int]:
        """Yield numbers until there were enough of them, or the time is over."""
        for number in range(rounds):
            if time.monotonic() - self.began > seconds:
                return
            yield number

    def told(self) -> dict[str, Any]:
        """Print the tally and return it."""
        print(
            f"{self.part}: {dict(self.seen)} in {time.monotonic() - self.began:.0f} s; bad: {len(self.bad)}", flush=True
        )
        for line in list(dict.fromkeys(self.bad))[:SHOWN]:
            print(f"  {line}", flush=True)
        return {"part": self.part, **self.seen, "bad": len(self.bad)}


# ---- damaged files


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """Return bytes of which some were flipped, lost, repeated, moved, or made something else."""
    if not content:
        return b"x"
    at, length = int(rng.integers(len(content))), int(rng.integers(1, 40))
    way = rng.integers(6)
    if way == 0:
        return content[:at] + bytes([content[at] ^ 1 << int(rng.integers(8))]) + content[at + 1 :]
    if way == 1:
        return content[:at]
    if way == 2:
        return content[:at] + rng.bytes(length) + content[at:]
    if way == 3:
        return content[:at] + content[at + length :]
    if way == 4:
        return content[:at] + content[at : at + length] * 2 + content[at + length :]
    return content[:at] + rng.bytes(length) + content[at + length :]


def damage(rounds: int, seconds: float, seed: int, folder: Path) -> Tally:
    """Damage one file of a store, a checkpoint, a result, a CSV or a Parquet file, and ask."""
    tally, data = Tally("damage"), table()
    frame = pd.DataFrame(data)
    store, answers, result = folder / "store", folder / "answers", folder / "result.json"
    csv, columns = folder / "table.csv", folder / "table.parquet"
    bl.pack(data, store)
    clean = answer(data)
    answer(data, engine=bl.Engine(checkpoint=answers))
    bl.discover(data, "t", n_jobs=1).to_json(result)
    frame.to_csv(csv, index=False)
    parquet.write_table(pa.Table.from_pandas(frame), columns)
    parts = sorted(path for path in store.iterdir() if path.is_file())
    asked: list[tuple[Path, Callable[[], Any], Any]] = [
        *((part, lambda: answer(store), clean) for part in parts),
        *[(answers, lambda: answer(data, engine=bl.Engine(checkpoint=answers)), clean)] * 2,
        (result, lambda: bl.Blanket.load(result).members and None, None),
        (csv, lambda: answer(csv), None),
        (columns, lambda: answer(columns), None),
    ]
    for number in tally.within(rounds, seconds):
        path, ask, expected = asked[number % len(asked)]
        whole = path.read_bytes()
        path.write_bytes(damaged(whole, np.random.default_rng([seed, number])))
        tally.call(f"{path.name} {number}", ask, expected)
        path.write_bytes(whole)
    return tally


# ---- random frames


def kinds(codes: np.ndarray, rng: np.random.Generator) -> dict[str, Any]:
    """Return a column of codes as all kinds of values that tell them apart."""
    text = np.array(["no", "yes", "ä ß", "", "x\0y"])[codes]
    return {
        "int8": codes.astype(np.int8),
        "uint64": codes.astype(np.uint64) + np.uint64(2**63),
        "int64": codes.astype(np.int64) - 2**40,
        "float32": codes.astype(np.float32),
        "float64": codes * 0.5 - 1.0,
        "float16": codes.astype(np.float16),
        "text": text,
        "object": text.astype(object),
        "bytes": text.astype(object) if rng.random() < 0.5 else np.char.encode(text, "utf-8"),
        "bool": codes > 0 if codes.max() < 2 else codes,
        "datetime": np.datetime64("2020-01-01", "s") + codes * np.timedelta64(1, "D"),
        "timedelta": codes * np.timedelta64(1, "h"),
        "python": [int(code) for code in codes],
        "category": pd.Categorical.from_codes(codes, categories=[f"k{i}" for i in range(codes.max() + 1)]),
        "Int64": pd.array(codes, dtype="Int64"),
        "Float64": pd.array(codes, dtype="Float64"),
        "string": pd.array(text, dtype="string"),
        "arrow": pd.array(codes.tolist(), dtype=pd.ArrowDtype(pa.int32())),
    }


def polars_kinds(codes: np.ndarray) -> dict[str, Any]:
    """Return a column as polars has it."""
    words, series = [f"k{code}" for code in codes], pl.Series(codes)
    return {
        "Categorical": pl.Series(words, dtype=pl.Categorical),
        "Enum": pl.Series(words, dtype=pl.Enum([f"k{i}" for i in range(codes.max() + 1)])),
        "Int128": pl.Series(codes.tolist(), dtype=pl.Int128),
        "Decimal": pl.Series(codes.tolist()).cast(pl.Decimal(10, 2)),
        "Date": series.cast(pl.Int32).cast(pl.Date),
        "Duration": series.cast(pl.Duration),
        "Binary": pl.Series([word.encode() for word in words]),
        "UInt8": series.cast(pl.UInt8),
    }


def containers(codes: dict[str, np.ndarray], rng: np.random.Generator) -> Iterator[tuple[str, Any, str | int]]:
    """Yield the same table in every container, each column as a random kind."""
    drawn = {}
    for name, column in codes.items():
        made = kinds(column, rng)
        kind = str(rng.choice(list(made)))
        drawn[name] = (kind, made[kind])
    said = ",".join(kind for kind, _ in drawn.values())
    values = {name: value for name, (_, value) in drawn.items()}
    yield f"dict {said}", values, "t"
    yield f"pandas {said}", pd.DataFrame(values), "t"
    of_polars = {name: polars_kinds(column) for name, column in codes.items()}
    picked = {name: str(rng.choice(list(made))) for name, made in of_polars.items()}
    yield f"polars {picked}", pl.DataFrame({name: of_polars[name][kind] for name, kind in picked.items()}), "t"
    plain = pd.DataFrame(codes)
    yield (
        "arrow dictionary",
        pa.table({n: pa.array([f"k{i}" for i in c]).dictionary_encode() for n, c in codes.items()}),
        "t",
    )
    yield "arrow", pa.table({n: pa.array(c, type=pa.uint16()) for n, c in codes.items()}), "t"
    form = rng.choice(["csr_array", "csc_array", "coo_array", "csr_matrix", "csc_matrix"])
    yield f"scipy {form}", getattr(sparse, form)(plain.to_numpy()), len(codes) - 1
    order = rng.choice(["C", "F"])
    kind = rng.choice([np.int16, np.float64, np.uint32, np.bool_ if plain.to_numpy().max() < 2 else np.int64])
    yield f"array {order} {kind}", np.asarray(plain, kind, order=order), len(codes) - 1


def places(data: Any, target: str | int, names: list[str]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return where in the table the members of a blanket stand, and the columns that were left out with a reason."""
    found = bl.discover(data, target, algorithm="iamb", test="g", n_jobs=1)
    members, out = (
        tuple(names.index(x) if x in names else int(str(x).lstrip("x")) for x in some)
        for some in (found.members, found.excluded)
    )
    return members, out


def frames(rounds: int, seconds: float, seed: int, folder: Path) -> Tally:
    """Ask about one table in all containers; the blanket is that of its codes without the columns left out."""
    tally = Tally("frames")

    def right(data: Any, target: str | int, codes: dict[str, Any]) -> bool:
        members, out = places(data, target, names)
        rest = {name: values for j, (name, values) in enumerate(codes.items()) if j not in out}
        return places(rest, "t", names) == (members, ())

    for number in tally.within(rounds, seconds):
        rng = np.random.default_rng([seed, number])
        if sum(tally.seen.values()) >= rounds:
            break
        codes = table(int(rng.integers(1 << 31)), int(rng.integers(60, 300)))
        names = list(codes)
        for what, data, target in containers(codes, rng):
            tally.call(f"{number} {what}", partial(right, data, target, codes), True)
    return tally


# ---- kill -9


def killed(work: Callable[[], Any], after: float) -> None:
    """Do some work in a process that is killed after a while."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def kills(rounds: int, seconds: float, seed: int, folder: Path) -> Tally:
    """Kill work that writes; what is there afterwards is the old or the new, and the work can be done again."""
    tally, rng = Tally("kills", may_refuse=False), np.random.default_rng(seed)
    tall, other = table(1, 60_000), table(2, 60_000)
    blanket = bl.discover(tall, "t", algorithm="iamb", n_jobs=1)
    page, saved, store, answers = (folder / name for name in ("page.html", "saved.json", "packed", "kept"))
    old = blanket.report(page).read_bytes()
    blanket.to_json(saved)
    text = saved.read_text()
    bl.pack(other, store)
    whole = {"old": answer(other), "new": answer(tall)}

    def packed() -> Any:
        assert answer(store) in whole.values()
        bl.pack(tall, store)
        first = answer(store)
        bl.pack(other, store)
        return first

    def resumed() -> Any:
        found = answer(tall, engine=bl.Engine(checkpoint=answers))
        answers.unlink()
        return found

    works: dict[str, tuple[Callable[[], Any], Callable[[], Any], Any]] = {
        "pack": (lambda: bl.pack(tall, store), packed, whole["new"]),
        "checkpoint": (lambda: answer(tall, engine=bl.Engine(checkpoint=answers)), resumed, whole["new"]),
        "to_json": (lambda: [blanket.to_json(saved) for _ in range(50)], lambda: saved.read_text(), text),
        "report": (lambda: [blanket.report(page) for _ in range(50)], lambda: page.read_bytes(), old),
    }
    times = {}
    for name, (work, _, _) in works.items():
        began = time.monotonic()
        work()
        times[name] = time.monotonic() - began
    answers.unlink(missing_ok=True)
    for number in tally.within(rounds * len(works), seconds):
        name = list(works)[number % len(works)]
        work, look, expected = works[name]
        killed(work, float(rng.random() * times[name]))
        tally.add(name, f"{name} killed")
        tally.call(f"{name} {number}", look, expected)
    for path in folder.glob(".*.part"):  # what a killed process left, later
        os.utime(path, (0, 0))
    for work, look, expected in works.values():
        work()
        tally.call("at last", look, expected)
    allowed = {page.name, saved.name, store.name, answers.name}
    for path in folder.iterdir():
        if path.name not in allowed:
            tally.add(path.name, "LEFT BEHIND")
    return tally


# ---- forks among threads


def mixed(data: Any, store: Path) -> list[Callable[[], Any]]:
    """Return questions of several kinds whose answers can be compared."""
    return [
        lambda: answer(data),
        lambda: answer(store),
        lambda: bl.discover(data, "t").members,
        lambda: bl.rank(data, "t").names,
        lambda: bl.test(data, "a", "t", given=["b"]).statistic,
        lambda: bl.mutual_information(data, "a", "t").value,
        lambda: bl.plan(effect=0.02, power=0.9).rows,
    ]


def forks(rounds: int, seconds: float, seed: int, folder: Path) -> Tally:
    """Fork while threads ask; a child asks too, and has ten seconds."""
    tally, data, stop = Tally("forks", may_refuse=False), table(seed), threading.Event()
    bl.pack(data, folder / "store")
    questions = mixed(data, folder / "store")
    expected = [ask() for ask in questions]

    def busy(first: int) -> None:
        number = first
        while not stop.is_set():
            tally.call("thread", questions[number % len(questions)], expected[number % len(questions)])
            number += 1

    threads = [threading.Thread(target=busy, args=(first,)) for first in range(3)]
    for thread in threads:
        thread.start()
    for number in tally.within(rounds, seconds):
        ask, same = questions[number % len(questions)], expected[number % len(questions)]
        child = os.fork()
        if child == 0:
            signal.alarm(int(LONGEST) * 3)  # four processes share what cores there are
            try:
                ended = 0 if ask() == same else 3
            except BaseException:  # noqa: BLE001
                ended = 4
            os._exit(ended)
        status = os.waitpid(child, 0)[1]
        tally.add(f"child {number}", "child" if status == 0 else "CHILD", f"status {status}")
    stop.set()
    for thread in threads:
        thread.join()
    return tally


# ---- Ctrl-C

STOPPED = """
import signal, sys, tempfile, warnings
signal.signal(signal.SIGINT, signal.default_int_handler)
warnings.simplefilter("ignore")
import numpy as np
import blankets as bl
rng = np.random.default_rng(0)
table = {f"x{i}": rng.integers(0, 3, 3000) for i in range(30)}
table["t"] = (table["x0"] + table["x1"] + (rng.random(3000) < 0.2)) % 3
folder = tempfile.mkdtemp()
work = {
    "discover": lambda: bl.discover(table, "t"),
    "discover_all": lambda: bl.discover_all(table, algorithm="iamb"),
    "stability": lambda: bl.stability(table, "t", algorithm="iamb", n_resamples=20),
    "rank": lambda: bl.rank(table, "t"),
    "pack": lambda: bl.pack(table, f"{folder}/store"),
    "report": lambda: bl.discover(table, "t", algorithm="iamb").report(f"{folder}/page.html"),
    "plan": lambda: bl.planning_table(effect="small", power=[0.8, 0.9], labels="pu", prior=0.2, labeled=0.1),
    "fit": lambda: bl.MarkovBlanketSelector(algorithm="iamb").fit(np.column_stack(list(table.values())), table["t"]),
}[sys.argv[1]]
if sys.argv[2] == "loaded":
    work()
try:
    print("ready", flush=True)
    while True:
        work()
except BaseException as stopped:
    print(type(stopped).__name__, flush=True)
"""


def stops(rounds: int, seconds: float, seed: int, folder: Path) -> Tally:
    """Press Ctrl-C at random moments, the loading of modules among them: an interruption comes out, nothing else."""
    tally, rng = Tally("stops"), np.random.default_rng(seed)
    works = [line.split('"')[1] for line in STOPPED.splitlines() if line.startswith('    "')]
    for number in tally.within(rounds, seconds):
        name = works[number % len(works)]
        command = [sys.executable, "-c", STOPPED, name, "loaded" if rng.random() < 0.7 else "new"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            child.stdout.readline()
            time.sleep(float(rng.choice([0.01, 0.3, 3.0]) * rng.random()))
            child.send_signal(signal.SIGINT)
            try:
                said, problem = child.communicate(timeout=LONGEST * 6)
            except subprocess.TimeoutExpired:
                child.kill()
                said, problem = "HUNG", ""
        good = said.strip() in ("Interrupted", "KeyboardInterrupt") and not problem
        tally.add(f"{name} {number}", said.strip() if good else "BAD", f"{said} {problem[-150:]}")
    return tally


PARTS = {"damage": damage, "frames": frames, "kills": kills, "forks": forks, "stops": stops}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", choices=PARTS, help="one part")
    options.add_argument("--rounds", type=int, help="how many of each kind")
    options.add_argument("--seed", type=int, default=0, help="another one: other damage, frames and moments")
    options.add_argument("--seconds", type=float, default=600.0, help="the most for each part")
    options.add_argument("--json", help="write the counts to this file")
    options.add_argument("--check", action="store_true", help="fail if anything is bad")
    given = options.parse_args()
    told = []
    for name in [given.only] if given.only else PARTS:
        folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
        try:
            told.append(PARTS[name](given.rounds or ROUNDS[name], given.seconds, given.seed, folder).told())
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    if given.json:
        Path(given.json).write_text(json.dumps(told, indent=1))
    if given.check and any(part["bad"] for part in told):
        sys.exit(1)


if __name__ == "__main__":
    main()
