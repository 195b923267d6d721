"""Rows as they are: what holes do to the level of tests, to blankets of known networks, and to time.

    python benchmarks/rows.py [size] [seen] [networks] [groups] [numbers] [weighted] [imputed] [twin] --networks DIR

*size*: how often a true null is rejected if values are missing, test by test ("testwise") and with "missing" as a
level, for holes that come by chance (MCAR) in the pair, in the confounder or in all, and for holes that depend on the
confounder, which is in the conditioning set (MAR); *seen*: the same of numbers, test by test. *networks*: distance (0
is best, from precision and recall) of the blankets of all nodes, 5,000 rows, with 0, 10 and 30% of all values missing,
test by test and with incomplete rows deleted, and the processor's time as a multiple of that for the table without
holes: of all nodes at once, each test of that, and of single nodes from a data frame (medians of turns). *groups*: how
often a true null is rejected if rows come in groups, by the score test of groups and by G; *numbers*: the same where
columns are numbers. *weighted*: the same if x is missing where a complete column and y say so, test by test and with
missing="weighted". *imputed*: the same for ten completed tables, pooled (D3 for categories, D2 for numbers). *twin*:
whether blankets of IAMB are those of a plain IAMB, written here, whose tests use locally complete rows as bnlearn does.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import blankets as bl
from _data import network
from blankets.counting import MemoryCounter
from blankets.data import Frame, ingest
from blankets.errors import BlanketsError, BlanketsWarning
from blankets.independence import CalibratedTests, ClusteredTests, NumberTests, Units
from blankets.simulate.measures import compare
from blankets.stats import calibrated_of_block, log_chi2_sf
from blankets.stats._contingency import table_statistics
from blankets.study import Testing

LEVELS = (0.01, 0.05)


def with_holes(where: str, share: float) -> np.ndarray:
    """Return p(x, y, z), the third level of each the missing values; x and y are independent given z."""
    joint = np.zeros((3, 3, 3))
    for z in range(2):
        given = np.where(np.arange(2) == z, 0.8, 0.2)
        often = share * (4 / 3 if z else 2 / 3) if where == "by confounder" else share
        in_pair = often if where in ("pair", "all", "by confounder") else 0.0
        in_z = share if where in ("confounder", "all") else 0.0
        one = np.array([*given * (1 - in_pair), in_pair])
        joint[:, :, z] += 0.5 * np.outer(one, one) * (1 - in_z)
        joint[:, :, 2] += 0.5 * np.outer(one, one) * in_z
    return joint


def sizes(n_rows: int, draws: int) -> None:
    """Print how often x and y are found dependent given z, as a multiple of the level."""
    print(f"rejections of a true null, as multiples of alpha ({n_rows} rows, {draws} draws)")
    print(f"{'missing':16}{'share':>6}" + "".join(f"{how:>10} {a:<5}" for how in ("testwise", "level") for a in LEVELS))
    judge = calibrated_of_block(n_rows, apart=True)
    for where in ("pair", "confounder", "all", "by confounder"):
        for share in (0.1, 0.3, 0.5):
            rng, told = np.random.default_rng([17, int(100 * share)]), []
            drawn = rng.multinomial(n_rows, with_holes(where, share).ravel(), draws).reshape(-1, 3, 3, 3)
            for tables in (drawn[:, :2, :2, :2], drawn):  # rows that have all values, or "missing" as a level
                counts = np.ascontiguousarray(tables, np.int32)
                statistic, dof = table_statistics(counts)
                log_p = judge(counts)[0]
                log_p = np.where(np.isnan(log_p), log_chi2_sf(statistic, dof), log_p)
                told += [np.mean(log_p <= np.log(level)) / level for level in LEVELS]
            print(f"{where:16}{share:6.0%}" + "".join(f"{value:16.2f}" for value in told), flush=True)
    print(f"one standard error: {np.sqrt(0.99 / 0.01 / draws):.2f} at 0.01, {np.sqrt(0.95 / 0.05 / draws):.2f} at 0.05")


def seen(n_rows: int, draws: int) -> None:
    """Print how often numbers x and y, independent given z, are found dependent, test by test."""
    print(f"{'missing':16}{'share':>6}" + "".join(f"{'testwise':>10} {a:<5}" for a in LEVELS))
    for where in ("pair", "confounder", "all", "by confounder"):
        for share in (0.1, 0.3, 0.5):
            rng, rejected = np.random.default_rng([19, int(100 * share)]), np.zeros(len(LEVELS))
            for _ in range(draws):
                z, *own = rng.normal(size=(3, n_rows))
                often = share * (1 + 0.8 * np.tanh(z)) if where == "by confounder" else share
                gone = rng.random((3, n_rows)) < often
                gone[:2] &= where != "confounder"
                gone[2] &= where in ("confounder", "all")
                columns = np.where(gone, np.nan, [z + own[0], z + own[1], z])
                frame = ingest(dict(zip("xyz", columns, strict=True)), numbers=True).frame
                rejected += NumberTests(frame).test(0, 1, (2,)).log_p <= np.log(LEVELS)
            told = rejected / draws / np.array(LEVELS)
            print(f"{where:16}{share:6.0%}" + "".join(f"{value:16.2f}" for value in told), flush=True)


def punched(frame: Frame, share: float, seed: int) -> Frame:
    """Return a frame in which a share of all values is missing completely at random."""
    rng = np.random.default_rng(seed)
    n = frame.n_columns
    columns = [np.where(rng.random(frame.n_rows) < share, frame.arities[j], frame.column(j)) for j in range(n)]
    return Frame.from_columns(columns, frame.names, frame.levels, frame.n_rows, frozenset(range(n)))


def only_complete(frame: Frame) -> Frame:
    """Return the rows without holes, in which every column has all its levels."""
    gaps = np.logical_or.reduce([frame.gaps(j) for j in range(frame.n_columns)])
    part = frame.take(~gaps)
    return Frame.from_columns([part.column(j) for j in range(part.n_columns)], part.names, part.levels, part.n_rows)


def distance(net, frame: Frame) -> float:
    """Return the mean distance of the blankets of all nodes."""
    try:
        found = bl.discover_all(frame, n_jobs=1)
    except BlanketsError:
        return 1.0
    return float(np.mean([compare(found[name].members, net.blanket(name)).distance for name in frame.names]))


def as_read(frame: Frame) -> pd.DataFrame:
    """Return the table as a data frame, from which a search of one node starts."""
    columns = {}
    for j, name in enumerate(frame.names):
        codes = frame.column(j).astype(int)
        columns[name] = pd.Categorical.from_codes(np.where(codes < frame.arities[j], codes, -1), list(frame.levels[j]))
    return pd.DataFrame(columns)


def turns(holey: Frame, frame: Frame, n_turns: int = 9) -> list[float]:
    """Return the time with holes over that without: of all nodes at once, of each test of that, of single nodes."""
    seconds, n_tests, read = np.empty((n_turns, 2, 2)), [0, 0], [as_read(holey), as_read(frame)]
    for turn in range(-1, n_turns):  # the first one does whatever is done once
        for k, table in enumerate((holey, frame)):
            began = time.process_time()
            n_tests[k] = bl.discover_all(table, n_jobs=1).n_tests
            seconds[turn, 0, k] = time.process_time() - began
            began = time.process_time()
            for name in table.names[::6]:
                bl.discover(read[k], name, n_jobs=1)
            seconds[turn, 1, k] = time.process_time() - began
    at_once, single = np.median(seconds[:, :, 0] / seconds[:, :, 1], axis=0).tolist()
    return [at_once, at_once * n_tests[1] / n_tests[0], single]


def networks(directory: Path | None, n_rows: int, draws: int) -> None:
    """Print distances of the blankets of known networks."""
    print(f"{'network':12}{'holes':>6}{'rows':>8}{'testwise':>10}{'drop':>8}{'time':>8}{'a test':>8}{'single':>8}")
    for name in ("alarm", "insurance"):
        net = network(directory, name)
        for share in (0.0, 0.1, 0.3):
            figures = []
            for seed in range(draws):
                frame = net.sample(n_rows, seed)
                holey = punched(frame, share, seed) if share else frame
                rows = only_complete(holey) if share else frame
                here = distance(net, holey)
                there = distance(net, rows) if share and rows.n_rows > 1 else here if not share else 1.0
                figures.append((rows.n_rows, here, there, *turns(holey, frame)))
            complete, here, there, *ratios = np.mean(figures, axis=0)
            told = "".join(f"{ratio:8.2f}" for ratio in ratios)
            print(f"{name:12}{share:6.0%}{complete:8.0f}{here:10.3f}{there:8.3f}{told}", flush=True)


def locally_complete(codes: np.ndarray, arities: np.ndarray, x: int, y: int, given: list[int], kind: str) -> float:
    """Return log p of G or X² with nominal degrees of freedom, from the rows that have x, y and all that is given.

    Written without the library: that is what bnlearn's ci.test does with missing values ("mi" and "x2").
    """
    rows = (codes[:, [x, y, *given]] < arities[[x, y, *given]]).all(axis=1)
    if not rows.any():
        return 0.0
    strata = np.unique(codes[rows][:, given], axis=0, return_inverse=True)[1].ravel() if given else np.zeros(rows.sum())
    shape = (int(strata.max()) + 1, arities[x], arities[y])
    at = (strata.astype(int), codes[rows, x], codes[rows, y])
    seen = np.bincount(np.ravel_multi_index(at, shape), minlength=math.prod(shape)).reshape(shape)
    total = seen.sum(axis=(1, 2), keepdims=True)
    expected = seen.sum(axis=1, keepdims=True) * seen.sum(axis=2, keepdims=True) / total
    some = expected > 0
    if kind == "g":
        part = seen[some] * np.log(np.where(seen[some] > 0, seen[some], 1) / expected[some])
        statistic = 2.0 * part.sum()
    else:
        statistic = ((seen[some] - expected[some]) ** 2 / expected[some]).sum()
    dof = (arities[x] - 1) * (arities[y] - 1) * math.prod(arities[given].tolist())
    return float(log_chi2_sf(statistic, dof))  # SciPy has no logarithm of p-values below 1e-308


def plain_iamb(codes: np.ndarray, arities: np.ndarray, y: int, kind: str, log_alpha: float) -> set[int]:
    """Return the blanket by IAMB, written as in its paper."""
    members: list[int] = []
    while True:
        others = [x for x in range(codes.shape[1]) if x != y and x not in members]
        log_p = [locally_complete(codes, arities, x, y, members, kind) for x in others]
        if not others or min(log_p) > log_alpha:
            break
        members.append(others[int(np.argmin(log_p))])
    for x in list(members):
        rest = [z for z in members if z != x]
        if locally_complete(codes, arities, x, y, rest, kind) > log_alpha:
            members = rest
    return set(members)


def twin(directory: Path | None, n_rows: int) -> None:
    """Print how many blankets of IAMB are those of a plain IAMB with tests of locally complete rows."""
    for name in ("alarm", "insurance"):
        frame = network(directory, name).sample(n_rows, 0)
        for share in (0.1, 0.3):
            holey = punched(frame, share, 0)
            codes = np.column_stack([holey.column(j) for j in range(holey.n_columns)]).astype(int)
            for kind in ("g", "x2"):
                how = Testing(kind, dof="nominal", reliability=0.0)
                found = bl.discover_all(holey, algorithm="iamb", test=how, alpha=0.01, close=False, n_jobs=1)
                same = 0
                for y, node in enumerate(holey.names):
                    plain = plain_iamb(codes, holey.arities, y, kind, math.log(0.01))
                    same += {holey.names[x] for x in plain} == set(found[node].members)
                told = f"{same} of {holey.n_columns} blankets are those of plain IAMB"
                print(f"{name:12}{share:5.0%} {kind:3} {told}", flush=True)


def groups(draws: int) -> None:
    """Print how often x and y, independent but alike within groups, are found dependent, as a multiple of the level."""
    print(
        f"{'levels':>6}{'icc':>6}{'strata':>8}" + "".join(f"{how:>9} {a:<5}" for how in ("groups", "G") for a in LEVELS)
    )
    for arity, icc, strata in ((2, 0.1, 1), (2, 0.3, 1), (2, 0.5, 1), (3, 0.3, 1), (2, 0.3, 4)):
        rng = np.random.default_rng(31)
        rejected = np.zeros((2, len(LEVELS)))
        for _ in range(draws):
            columns = []
            for _ in range(2):
                shares = np.cumsum(rng.dirichlet([(1 / icc - 1) / arity] * arity, 30), axis=1)
                levels = (rng.random((30, 10, 1)) > shares[:, np.newaxis]).sum(axis=2)
                columns.append(np.minimum(levels, arity - 1).ravel())
            z, group = rng.integers(0, strata, 300), np.repeat(np.arange(30), 10)
            counter = MemoryCounter(Frame.from_codes(np.column_stack([*columns, z, group])), 1)
            for k, tests in enumerate((ClusteredTests(counter), CalibratedTests(counter))):
                rejected[k] += tests.test(0, 1, (2,) if strata > 1 else ()).log_p <= np.log(LEVELS)
        told = (rejected / draws / np.array(LEVELS)).ravel()
        print(f"{arity:6}{icc:6}{strata:8}" + "".join(f"{value:15.2f}" for value in told), flush=True)


def clustered(icc: float, given: str, rng: np.random.Generator) -> tuple[dict[str, np.ndarray], tuple[int, ...]]:
    """Return numbers x and y that are independent (given z), 30 groups of ten rows, and what to condition on."""
    group = np.repeat(np.arange(30), 10)

    def column(share: float = icc) -> np.ndarray:
        return np.sqrt(share) * rng.normal(size=30)[group] + np.sqrt(1 - share) * rng.normal(size=300)

    if given == "nothing":
        return {"x": column(), "y": column()}, ()
    if given == "nothing, x constant":
        return {"x": column(1.0), "y": column()}, ()
    z = column(1.0 if given == "z constant" else icc)
    x, y = z + column(), z**2 + column() if given == "z, curved" else z + column()
    y = (y > 0).astype(int) if given == "z, y binary" else y
    return {"x": x, "y": y, "z": z}, (2,)


def numbers(draws: int) -> None:
    """Print how often numbers, independent but alike within groups, are found dependent, as a multiple of the level."""
    print(f"{'given':22}{'icc':>5}" + "".join(f"{how:>9} {a:<5}" for how in ("groups", "rows") for a in LEVELS))
    group = np.repeat(np.arange(30), 10)
    for given in ("nothing", "nothing, x constant", "z", "z, curved", "z, y binary", "z constant"):
        for icc in (0.1, 0.3, 0.5):
            rng, rejected = np.random.default_rng(41), np.zeros((2, len(LEVELS)))
            for _ in range(draws):
                columns, among = clustered(icc, given, rng)
                frame = ingest(columns, numbers=True).frame
                for k, groups in enumerate((group, None)):
                    tests = NumberTests(frame, units=Units(frame, groups=groups))
                    rejected[k] += tests.test(0, 1, among).log_p <= np.log(LEVELS)
            told = (rejected / draws / np.array(LEVELS)).ravel()
            print(f"{given:22}{icc:5}" + "".join(f"{value:15.2f}" for value in told), flush=True)


def gappy(n_rows: int, kind: str, rng: np.random.Generator, slope: float = 0.7) -> pd.DataFrame:
    """Return x, y, u and z: x comes from u and z, y from z; x is missing where u and y are high."""
    u, z = rng.normal(size=(2, n_rows))
    x, y = u + z + rng.normal(size=n_rows), z + rng.normal(size=n_rows)
    table = pd.DataFrame({"x": x, "y": y, "u": u, "z": z})
    if kind == "categories":
        table = (table > 0).astype(float)
        table[["x", "y"]] = ((table[["z"]].to_numpy() + (rng.random((n_rows, 2)) < 0.3)) % 2).astype(float)
        table["x"] = np.where(rng.random(n_rows) < 0.5, table["u"], table["x"])
    high = (table[["u", "y"]] - table[["u", "y"]].mean()).sum(axis=1)
    table.loc[rng.random(n_rows) < 1 / (1 + np.exp(-slope * high)), "x"] = np.nan
    return table


def weighted(n_rows: int, draws: int) -> None:
    """Print how often x and y, independent given z, are found dependent where gaps of x depend on y and u."""
    heads = "".join(f"{how:>10} {a:<5}" for how in ("testwise", "weighted") for a in LEVELS)
    print(f"{'columns':12}{'slope':>6}{heads}{'weighted tests made':>22}")
    for kind, slope in (("categories", 0.7), ("categories", 1.5), ("numbers", 0.7), ("numbers", 1.0)):
        rng, rejected, made = np.random.default_rng(43), np.zeros((2, len(LEVELS))), np.zeros((2, 1))
        for _ in range(draws):
            table = gappy(n_rows, kind, rng, slope)
            for k, missing in enumerate(("testwise", "weighted")):
                found = bl.test(table, "x", "y", ["z"], missing=missing, n_jobs=1)
                made[k] += found.reliable
                rejected[k] += found.reliable & (found.log_p <= np.log(LEVELS))
        told = (rejected / np.maximum(made, 1) / np.array(LEVELS)).ravel()
        rates = "".join(f"{value:16.2f}" for value in told)
        print(f"{kind:12}{slope:6}{rates}{made[1, 0] / draws:22.2f}", flush=True)


def completed(table: pd.DataFrame, kind: str, n_tables: int, rng: np.random.Generator) -> list[pd.DataFrame]:
    """Return tables in which x is drawn from its regression on all others, or from rows with the same values."""
    gone, others = table["x"].isna().to_numpy(), table.drop(columns="x").to_numpy()
    seen, tables = np.flatnonzero(~gone), []
    for _ in range(n_tables):
        some, values = rng.choice(seen, len(seen)), table["x"].to_numpy().copy()
        if kind == "numbers":
            design = np.column_stack([np.ones(len(table)), others])
            fit = np.linalg.lstsq(design[some], values[some], rcond=None)[0]
            values[gone] = design[gone] @ fit + rng.choice(values[some] - design[some] @ fit, gone.sum())
        else:
            cell = others.astype(int) @ (2 ** np.arange(others.shape[1]))
            share = [(values[some][cell[some] == c].sum() + 0.5) / ((cell[some] == c).sum() + 1) for c in range(8)]
            values[gone] = rng.random(gone.sum()) < np.array(share)[cell[gone]]
        tables.append(table.assign(x=values))
    return tables


def imputed(n_rows: int, draws: int) -> None:
    """Print the same for completed tables."""
    print(f"{'columns':12}" + "".join(f"{'pooled':>10} {a:<5}" for a in LEVELS))
    for kind in ("categories", "numbers"):
        rng, rejected = np.random.default_rng(47), np.zeros(len(LEVELS))
        for _ in range(draws):
            tables = completed(gappy(n_rows, kind, rng), kind, 10, rng)
            rejected += bl.test(tables, "x", "y", ["z"], n_jobs=1).log_p <= np.log(LEVELS)
        print(f"{kind:12}" + "".join(f"{value:16.2f}" for value in rejected / draws / np.array(LEVELS)), flush=True)


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=["size", "networks"], help="what to measure, see above")
    parser.add_argument("--networks", type=Path, help="folder with alarm.bif and insurance.bif")
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--draws", type=int, default=2000, help="tables for sizes")
    parser.add_argument("--samples", type=int, default=2, help="samples of each network")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", BlanketsWarning)
    if "size" in asked.what:
        sizes(2000, asked.draws)
    if "seen" in asked.what:
        seen(1000, asked.draws)
    if "groups" in asked.what:
        groups(asked.draws)
    if "numbers" in asked.what:
        numbers(asked.draws)
    if "weighted" in asked.what:
        weighted(1000, asked.draws)
    if "imputed" in asked.what:
        imputed(1000, asked.draws)
    if "twin" in asked.what:
        twin(asked.networks, asked.rows)
    if "networks" in asked.what:
        networks(asked.networks, asked.rows, asked.samples)


if __name__ == "__main__":
    main()
