"""Verma 2005 Tables 1 and 2: area under the ROC curve of eight searches, over their thresholds.

As on the slides, GS and the IAMB variants admit and remove by a threshold on the conditional mutual information; PC
by the level of a G test; KS gives a ranking, cut at every length. A point of the curve is the share of the blanket
found against the share of other features taken in; the curve goes on from the last point to (1, 1).

The slides name neither targets nor rows nor tables. Their decimals name the blankets, though: an area is a multiple of
1 / (2 × members × others), and for each target of Hailfinder one number of members fits all that is printed (see
`members_that_fit`): 2, 3, 4 and 5. Ours are the first four nodes with that many, in Alarm with each number, and 5,000
rows. Random networks: binary, each node with 0 to 10 parents drawn from those before it, tables drawn uniformly, and a
target with one of the two planted blankets. Conditioning sets are kept to three variables in PC, to one inside the nPC
variants, whose candidate blankets grow large at low thresholds; inter-IAMBnPC is not run on 1000 nodes. What the slides
leave open is varied as well: rows; a level of the G test as threshold; and the tables, flatter ones (concentration 3)
and additive ones in the planted blanket, where each parent shifts the log odds up or down, whatever the others are.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks._data import network
from benchmarks.papers._harness import Cell, Experiment, Finding, ordered
from benchmarks.papers._roc import PLANTED, answers_of, area_of, planted, tests_on

from blankets.independence import TableTests

SEARCHES = ("iamb", "inter-iamb", "inter-iamb-n-pc", "iamb-n-pc", "gs", "ks0", "ks1", "ks2", "pc")
LARGEST = {"pc": 50, "inter-iamb-n-pc": 200}  # nodes: beyond, one search takes many minutes
MAIN = {"rows": 5_000, "concentration": 1.0, "additive": 0.0, "sweep": "information"}
OTHERS = (
    {"rows": 1_000},
    {"rows": 10_000},
    {"sweep": "level"},
    {"concentration": 3.0},
    {"concentration": 3.0, "additive": 1.0},
    {"concentration": 3.0, "additive": 0.4},
)
# Alarm and the targets of Hailfinder, in percent
TABLE_1 = {
    "iamb": (86.70, 96.30, 96.23, 97.12, 78.04),
    "inter-iamb": (86.70, 96.30, 96.23, 97.12, 78.04),
    "inter-iamb-n-pc": (90.50, 100.00, 100.00, 97.12, 78.04),
    "iamb-n-pc": (89.30, 100.00, 100.00, 97.12, 78.04),
    "gs": (80.59, 96.30, 77.67, 72.12, 68.04),
    "ks0": (82.82, 100.00, 92.31, 88.73, 97.60),
    "ks1": (80.56, 70.28, 47.76, 82.84, 67.40),
    "ks2": (82.14, 99.53, 42.95, 45.59, 75.00),
    "pc": (95.20, 99.07, 98.11, 81.73, 96.08),
}
# Average over the columns (Table 1) or over 50, 200 and 1000 nodes (Table 2; PC: 50 only)
PRINTED = {
    "table 1": (90.88, 90.88, 93.13, 92.89, 78.94, 92.29, 69.77, 69.04, 94.04),
    "one spouse": (92.32, 91.46, 92.29, 92.57, 86.63, 96.08, 74.80, 86.80, 95.60),
    "four spouses": (86.68, 86.68, 83.14, 87.27, 74.22, 73.72, 81.65, 83.17, 96.43),
}
AT_50 = {"one spouse": (94.53, 95.60), "four spouses": (85.05, 96.43)}  # IAMB and PC


def members_that_fit(column: int) -> list[int]:
    """Return the sizes of blanket of a Hailfinder target for which each printed area can come about.

    KS ranks 55 features; in the other searches one more counts as a false one, presumably the target itself.

    >>> [members_that_fit(column) for column in (1, 2, 3, 4)]
    [[2], [3], [4], [5]]
    """

    def fits(search: str, members: int) -> bool:
        steps = 2 * members * (55 - members + (not search.startswith("ks")))
        printed = TABLE_1[search][column]
        return abs(100 * round(printed / 100 * steps) / steps - printed) < 0.00501

    return [members for members in range(1, 18) if all(fits(search, members) for search in SEARCHES)]


def cells(quick: bool) -> Sequence[Cell]:
    """List networks × searches, at the main setting and with one thing changed at a time."""
    networks, each = ({50: 3}, 1) if quick else ({50: 10, 200: 6, 1000: 4}, 4)
    found = []
    for other in ({}, *OTHERS):
        setting = {**MAIN, **other}
        if setting == MAIN or not (quick or other.keys() & {"concentration", "additive"}):
            found += [
                {"table": "table 1", "network": name, "size": 0, "draw": each, "search": search, **setting}
                for name, search in product(("alarm", "hailfinder"), SEARCHES)
            ]
        found += [
            {"table": table, "network": "random", "size": size, "draw": k, "search": search, **setting}
            for table, (size, n_networks) in product(PLANTED, networks.items())
            if size == 50 or setting == MAIN
            for k in range(n_networks)
            for search in SEARCHES
            if size <= LARGEST.get(search, 1000)
        ]
    return found


@cache
def _sample(
    data: Path | None, table: str, name: str, size: int, draw: int, rows: int, concentration: float, additive: float
) -> tuple[tuple[TableTests, TableTests], dict[str, set[str]]]:
    """Return the tests on a sample, and the targets with their true blankets.

    ``draw`` is a seed for random networks, elsewhere how many targets to take with blankets of the same size.
    """
    if name == "random":
        truth = planted(size, table, draw, concentration, additive)
        targets = ["T"]
    else:
        truth = network(data / "networks" if data else None, name)
        sizes = (
            {m for column in (1, 2, 3, 4) for m in members_that_fit(column)} if name == "hailfinder" else range(1, 9)
        )
        alike = [[node for node in truth.names if len(truth.blanket(node)) == size] for size in sizes]
        targets = [node for nodes in alike for node in nodes[:draw]]
    tests = tests_on(truth, rows, np.random.default_rng([2003, draw if name == "random" else 0, 7]))
    return tests, {target: set(truth.blanket(target)) for target in targets}


def run(
    data: Path | None,
    table: str,
    network: str,
    size: int,
    draw: int,
    search: str,
    rows: int,
    concentration: float,
    additive: float,
    sweep: str,
) -> list[dict[str, Any]]:
    """Return the area under the curve of one search for each target."""
    (tests, by_level), targets = _sample(data, table, network, size, draw, rows, concentration, additive)
    found = []
    for target, blanket in targets.items():
        place = tests.names.index(target)
        answers = answers_of(search, tests, by_level, place, sweep)
        named = [[tests.names[x] for x in answer] for answer in answers]
        area = area_of(named, blanket, len(tests.names) - 1)
        found.append({"target": target, "members": len(blanket), "area": 100 * area})
    return found


def at(rows: pd.DataFrame, setting: Cell) -> pd.DataFrame:
    """Return the rows at one setting."""
    for name, value in setting.items():
        rows = rows[rows[name] == value]
    return rows


def columns(rows: pd.DataFrame, table: str, of: str = "mean") -> pd.DataFrame:
    """Return mean areas: a column of the printed table for each number of members or nodes, a row for each search."""
    ours = rows[rows.table == table]
    column = ours["size"].where(ours.network == "random", ours.members.where(ours.network == "hailfinder", 0))
    return ours.groupby(["search", column]).area.agg(of).unstack().loc[list(SEARCHES)]


def errors_of(rows: pd.DataFrame, table: str) -> pd.Series:
    """Return the standard error of each search's mean over the columns."""
    errors = columns(rows, table, "sem")
    return np.sqrt((errors**2).sum(axis=1)) / errors.notna().sum(axis=1)


def compare(rows: pd.DataFrame) -> list[Finding]:
    """Give the means next to the printed ones, and check what the slides conclude from them."""
    findings = []
    for table, printed in PRINTED.items():
        main = at(rows, MAIN)
        means = columns(main, table).mean(axis=1)
        errors = errors_of(main, table)
        print_of = dict(zip(SEARCHES, printed, strict=True))
        said = ", ".join(f"{search} {print_of[search]:.0f}" for search in SEARCHES)
        ours = ", ".join(f"{search} {means[search]:.0f} ± {errors[search]:.0f}" for search in SEARCHES)
        rank = resemblance(main, table)
        findings.append(
            Finding(
                f"{table}, area in percent",
                said,
                f"{ours}; Spearman's ρ with the print {rank:.2f}",
                "same ordering" if rank > 0.5 else "differs",
                "" if rank > 0.5 else _of_settings(rows, table),
            )
        )
        findings += [_claim(rows, table, *claim) for claim in CLAIMS[table]]
    return findings


def resemblance(rows: pd.DataFrame, table: str) -> float:
    """Return Spearman's ρ between printed and our areas."""
    printed = pd.Series(dict(zip(SEARCHES, PRINTED[table], strict=True)))
    return float(printed.corr(columns(rows, table).mean(axis=1), method="spearman"))


def _claim(rows: pd.DataFrame, table: str, said: str, better: str, worse: str) -> Finding:
    """Check one conclusion, at 50 nodes where PC is compared, and see on what it depends."""
    small = {"size": 50} if better == "pc" and table != "table 1" else {}
    ours = at(rows, {**MAIN, **small})
    means = columns(ours, table).mean(axis=1)
    printed = dict(zip(SEARCHES, PRINTED[table], strict=True)) | dict(
        zip(("iamb", "pc"), AT_50[table], strict=True) if small else ()
    )
    lead, error = _lead(ours, table, better, worse)
    verdict = ordered(lead, 2 * error, holds="same ordering")
    return Finding(
        f"{table}: {said}",
        f"{printed[better]:.1f} against {printed[worse]:.1f}",
        f"{means[better]:.1f} against {means[worse]:.1f}, {lead:+.1f} ± {error:.1f}",
        verdict,
        "" if verdict == "same ordering" else _of_settings(rows, table, better, worse),
    )


def _lead(rows: pd.DataFrame, table: str, better: str, worse: str) -> tuple[float, float]:
    """Return the mean difference over the columns of the printed table, and its standard error, target by target."""
    ours = rows[(rows.table == table) & rows.search.isin([better, worse])]
    first = ours[ours.search == better].set_index(["network", "size", "draw", "target"])
    second = ours[ours.search == worse].set_index(["network", "size", "draw", "target"])
    differences = first.assign(area=first.area - second.area).dropna(subset="area").reset_index()
    both = pd.concat([differences.assign(search=search) for search in SEARCHES])
    return float(columns(both, table).mean(axis=1)[better]), float(errors_of(both, table)[better])


def _of_settings(rows: pd.DataFrame, table: str, better: str = "", worse: str = "") -> str:
    """Say how an ordering, or the resemblance to the print, comes out when what the slides leave open is varied."""
    told, held = [], 0
    for other in ({}, *OTHERS):
        ours = at(rows, {**MAIN, **other} | ({} if table == "table 1" else {"size": 50}))
        if not (ours.table == table).any():
            continue
        means = columns(ours, table).mean(axis=1)
        name = ", ".join(f"{key} {value}" for key, value in other.items()) or "as it is"
        value = f"ρ {resemblance(ours, table):.2f}"
        if better:
            each = ours[ours.table == table].set_index(["network", "draw", "target", "search"]).area.unstack()
            ahead = int((each[better] > each[worse]).sum())
            value = f"{means[better]:.1f} against {means[worse]:.1f}, ahead in {ahead} of {len(each)}"
        held += int(means[better] > means[worse] if better else resemblance(ours, table) > 0.5)
        told.append(f"{name}: {value}")
    where = "" if table == "table 1" else " (50 nodes)"
    return f"holds in {held} of {len(told)} settings of what the slides leave open{where}: {'; '.join(told)}"


CLAIMS = {
    "table 1": (
        ("IAMB beats GS", "iamb", "gs"),
        ("PC, which learns the whole network, beats IAMB", "pc", "iamb"),
        ("PC in the shrinking phase helps", "iamb-n-pc", "iamb"),
    ),
    "one spouse": (
        ("IAMB beats GS", "iamb", "gs"),
        ("univariate ranking (KS, K = 0) beats IAMB", "ks0", "iamb"),
        ("PC beats IAMB at 50 nodes", "pc", "iamb"),
    ),
    "four spouses": (
        ("IAMB beats GS", "iamb", "gs"),
        ("IAMB beats univariate ranking, which cannot see spouses", "iamb", "ks0"),
        ("PC beats IAMB at 50 nodes", "pc", "iamb"),
    ),
}


EXPERIMENTS = (
    Experiment(
        name="slides-tables",
        title="Area under the ROC curve of KS, GS, the IAMB variants and PC",
        source="Verma 2005 Tables 1 and 2",
        minutes=(12, 1),
        cells=cells,
        run=run,
        compare=compare,
        remark=(
            "The decimals of the print tell that Hailfinder's columns are single targets with blankets of 2, 3, 4 and "
            "5 members. An earlier run of ours took nodes with four members or more: those are harder, which made IAMB "
            "72 instead of the printed 91 and put GS before it. Rows, tables and the kind of threshold were varied "
            "after that run had been seen, and the additive tables chosen because the print has KS with K = 0, which "
            "sees a parent by itself, near the top: uniform tables hide parents behind each other."
        ),
        protocol=lambda quick: (
            f"The first {1 if quick else 4} nodes of Alarm with blankets of each size, and of Hailfinder of 2 to 5; "
            f"{'3 random networks of 50' if quick else '10, 6 and 4 random networks of 50, 200 and 1000'} nodes for "
            f"each planted blanket; {MAIN['rows']} rows; rows, tables and thresholds varied (random networks: 50 nodes)"
        ),
    ),
)
