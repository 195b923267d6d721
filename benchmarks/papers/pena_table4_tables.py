"""Ours, for Peña et al. 2005 Table 4: what other tables on Alarm's graph make of it.

On Alarm with few rows our recall is below print, with 5,000 rows above it, under every convention of the tests that
was tried. But Peña et al. 2005 names Herskovits's thesis for Alarm, not the file that we sample, and its standard
deviations over ten databases of 20,000 rows are 0.00 throughout: there was one such database, as the one of 20,000
cases that circulated. So its tables may be others. That tables differ between versions can be seen: Alarm1, ten public
samples of each size (``mmhc_samples``), has the same graph, and CATECHOL is 59% and 41% there, 90% and 10% here.

* ``alarm``, ``alarm1``: the tables of the public network, and those counted from all 65,000 rows of Alarm1, with
  levels matched family by family, parents first, as nearly as they can be; more databases than in pena-table4.
* ``dealt``: for each node the table of one version or the other, by lot. If tables explain the differences, then
  printed numbers lie among these: within two standard deviations over tables.
* ``nearest``: the one of 250 dealt sets that was nearest to print in a run on other databases. Tables fitted to the
  print: they show what numbers the graph allows, not what Peña et al. 2005 had.

Both versions and a hundred dealt sets had been looked at when this was written, with 500 and 5,000 rows; all databases
and the sixty dealt sets here are new ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from benchmarks.papers import _page
from benchmarks.papers._experiment import Cell, Experiment, Finding, plus_minus
from benchmarks.papers._pena import ALGORITHMS, MEASURES, PRINTED, network_of, public, scores
from matplotlib.figure import Figure
from numpy.typing import NDArray

from blankets.simulate import Network

NAME = "pena-table4-tables"
ROWS = (100, 200, 500, 1000, 2000, 5000)
NEAREST = 160  # which dealt set was nearest to print, in a run with other seeds
DEALT = range(1000, 1060)  # sets of tables


def cells(quick: bool) -> Sequence[Cell]:
    """List sets of tables: a version, or one dealt from both; and databases."""
    sizes = (500, 5000) if quick else ROWS
    whole = [(name, 0, range(10, 14 if quick else 60)) for name in ("alarm", "alarm1")]
    dealt = [("dealt", k, range(1 if quick else 4)) for k in (DEALT[:6] if quick else DEALT)]
    nearest = [("nearest", NEAREST, range(10, 12 if quick else 30))]
    return [
        {"version": version, "tables": tables, "rows": rows, "database": k}
        for version, tables, databases in (*whole, *dealt, *nearest)
        for rows in sizes
        for k in databases
    ]


def run(data: Path, version: str, tables: int, rows: int, database: int) -> list[dict[str, Any]]:
    """Find all blankets of one database with both algorithms."""
    here = network_of(data, "alarm")
    if version != "alarm":
        other = alarm1(data)
        drawn = np.random.default_rng([2006, tables]).random(len(here.names)) < (0 if version == "alarm1" else 0.5)
        chosen = {name: (here if own else other).tables[name] for name, own in zip(here.names, drawn, strict=True)}
        here = Network(here.levels, here.parents, chosen)
    frame = here.sample(rows, np.random.default_rng([2006, tables, rows, database]))
    return scores(frame, {name: here.blanket(name) for name in here.names}, "adjusted", 5.0)


@cache
def alarm1(data: Path) -> Network:
    """Return Alarm with the tables that the samples of Alarm1 have, in Alarm's own levels."""
    here = network_of(data, "alarm")
    samples = pd.concat([public(data, rows) for rows in (500, 1000, 5000)]).drop(columns="replicate")
    codes = {name: pd.factorize(samples[name], sort=True)[0] for name in samples}
    graph = nx.DiGraph(list(pd.read_csv(data / "mmhc_samples" / "alarm1_edges.csv.gz").itertuples(index=False)))
    same = nx.isomorphism.DiGraphMatcher(here.graph, graph).isomorphisms_iter()
    matched = (_matched(here, {name: codes[role[name]] for name in here.names}) for role in same)
    return Network(here.levels, here.parents, min(matched, key=lambda found: found[1])[0])


def _matched(here: Network, codes: dict[str, NDArray[np.int64]]) -> tuple[dict[str, NDArray[np.float64]], float]:
    """Name the levels of each node, parents first, so that its table comes nearest to ours; return the distance too."""
    tables, named, distance = {}, {}, 0.0
    for node in nx.lexicographical_topological_sort(here.graph):
        own, parents = here.tables[node], [named[parent] for parent in here.parents[node]]
        order, counts, apart = min(_namings(own, parents, codes[node]), key=lambda naming: naming[2])
        named[node], distance = order[codes[node]], distance + apart
        seen = counts.sum(axis=-1, keepdims=True)
        tables[node] = np.where(seen > 0, counts / np.maximum(seen, 1), own)  # parents never seen so: as ours
    return tables, distance


def _namings(
    own: NDArray[np.float64], parents: list[NDArray[np.int64]], codes: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64], float]]:
    """Give each way to name the levels of a node: its counts, and how far their shares are from our table."""
    cell = np.ravel_multi_index((*parents, codes), own.shape)
    unnamed = np.bincount(cell, minlength=own.size).reshape(own.shape).astype(float)
    for naming in permutations(range(own.shape[-1])):
        order = np.array(naming)
        counts = unnamed[..., np.argsort(order)]
        seen = counts.sum(axis=-1)
        apart = np.abs(counts / np.maximum(seen, 1)[..., None] - own).sum(axis=-1) / 2
        yield order, counts, float((apart * seen).sum() / seen.sum())


def compare(rows: pd.DataFrame) -> list[Finding]:
    """Say of each printed triple whether it lies among those of dealt tables."""
    findings = [_versions(rows)]
    for (size, algorithm), group in rows.groupby(["rows", "algorithm"], sort=False):
        printed = dict(zip(MEASURES, PRINTED["alarm", size, algorithm], strict=True))
        dealt = group[group.version == "dealt"].groupby("tables")[list(MEASURES)].mean()
        spread = {m: np.hypot(2 * dealt[m].std(), 2 * sd / np.sqrt(10)) + 0.005 for m, (_, sd) in printed.items()}
        out = [m for m, (value, _) in printed.items() if abs(dealt[m].mean() - value) > spread[m]]
        means = group.groupby("version")[list(MEASURES)].mean()
        told = [f"{name} {triple(means.loc[name])}" for name in ("alarm", "alarm1", "nearest")]
        findings.append(
            Finding(
                f"{size} rows, {algorithm}, precision / recall / distance",
                triple([value for value, _ in printed.values()]),
                f"dealt tables {triple(dealt.mean())}, standard deviations {triple(dealt.std())}; {'; '.join(told)}",
                "differs" if out else "agrees",
                f"{' and '.join(out)} beyond two deviations of dealt tables; Alarm's own come nearer" if out else "",
            )
        )
    return [*findings, _fitted(rows)]


def triple(values: Any) -> str:
    """Write precision, recall and distance."""
    return " / ".join(f"{value:.2f}" for value in values)


def _versions(rows: pd.DataFrame) -> Finding:
    """Say whether the two versions differ in what started this: the recall of PCMB with 500 rows."""
    recall = rows[(rows.rows == 500) & (rows.algorithm == "pcmb")].groupby("version").recall
    alarm, other = (recall.get_group(name) for name in ("alarm", "alarm1"))
    difference, error = other.mean() - alarm.mean(), np.hypot(other.sem(), alarm.sem())
    apart = abs(difference) > 2 * error
    dealt = rows[(rows.rows == 500) & (rows.algorithm == "pcmb") & (rows.version == "dealt")].groupby("tables").recall
    spread = f"these two do not, dealt ones do: from {dealt.mean().min():.2f} to {dealt.mean().max():.2f}"
    return Finding(
        "500 rows, pcmb, recall: do versions of the tables differ?",
        "expected: yes, if tables explain the printed 0.72",
        f"Alarm's {plus_minus(alarm)}, Alarm1's {plus_minus(other)}, difference {difference:.2f} ± {error:.2f}",
        "agrees" if apart else "differs",
        "" if apart else spread,
    )


def _fitted(rows: pd.DataFrame) -> Finding:
    """Say how near the nearest dealt tables come to all printed numbers, and our version of Alarm."""
    apart = {}
    for version in ("alarm", "nearest"):
        means = rows[rows.version == version].groupby(["rows", "algorithm"])[list(MEASURES)].mean()
        apart[version] = np.array(
            [
                means.loc[place, measure] - PRINTED["alarm", *place][k][0]
                for place in means.index
                for k, measure in enumerate(MEASURES)
            ]
        )
    size = {version: float(np.sqrt(np.mean(values**2))) for version, values in apart.items()}
    largest = {version: float(np.abs(values).max()) for version, values in apart.items()}
    nearer = size["nearest"] < size["alarm"]
    return Finding(
        "all printed rows up to 5000: are there tables that come nearer than Alarm's?",
        "expected: yes, if tables explain the differences",
        f"root mean square of the difference {size['nearest']:.3f}, largest {largest['nearest']:.2f}; Alarm's tables "
        f"{size['alarm']:.3f}, {largest['alarm']:.2f}",
        "agrees" if nearer else "differs",
        "" if nearer else "none of the 250 sets that were tried",
    )


@cache
def reasons() -> Mapping[tuple[int, str], str]:
    """Return what the kept run says of each printed triple."""
    if not (_page.KEPT / f"{NAME}.csv").exists():
        return {}
    rows = _page.rows_of(EXPERIMENTS[0])
    groups = rows[rows.version == "dealt"].groupby(["rows", "algorithm", "tables"])[list(MEASURES)].mean()
    return {
        place: f"tables dealt from two public versions of Alarm have {triple(group.mean())}, with standard deviations "
        f"of {triple(group.std())} between them ({NAME})"
        for place, group in groups.groupby(["rows", "algorithm"])
    }


def draw(rows: pd.DataFrame, figure: Figure) -> None:
    """Draw recall over rows: dealt tables as a band, versions as lines, print as crosses."""
    for ax, algorithm in zip(figure.subplots(1, 2, sharey=True), ALGORITHMS, strict=True):
        group = rows[rows.algorithm == algorithm]
        dealt = group[group.version == "dealt"].groupby(["tables", "rows"]).recall.mean().unstack("tables")
        middle, half = dealt.mean(axis=1), 2 * dealt.std(axis=1)
        ax.fill_between(middle.index, middle - half, middle + half, alpha=0.25, label="dealt tables, two deviations")
        for name in ("alarm", "alarm1", "nearest"):
            line = group[group.version == name].groupby("rows").recall.mean()
            ax.plot(line.index, line, marker="o", ms=3, label=f"{name}'s tables" if name != "nearest" else name)
        ax.plot(middle.index, [PRINTED["alarm", n, algorithm][1][0] for n in middle.index], "kx", label="printed")
        ax.set(xscale="log", xlabel="rows", title=algorithm)
    figure.axes[0].set_ylabel("recall")
    figure.axes[0].legend(fontsize="small")


EXPERIMENTS = (
    Experiment(
        name=NAME,
        title="what other tables on Alarm's graph make of it",
        source="ours, for Peña et al. 2005 Table 4",
        minutes=(5, 0.2),
        cells=cells,
        run=run,
        compare=compare,
        draw=draw,
        needs=("mmhc_samples/alarm1_edges.csv.gz", "networks/alarm.bif.gz"),
        protocol=lambda quick: (
            "As pena-table4; 50 databases of each version, 60 sets of tables dealt from both with four databases each, "
            "20 of the nearest"
            if not quick
            else "As pena-table4, 500 and 5000 rows, few databases"
        ),
        remark=(
            "The printed recall of PCMB with 500 rows, 0.72, is one standard deviation above dealt tables, and our "
            "0.64 in pena-table4 was a little unlucky: 50 databases of the same tables have 0.66. No set of tables "
            "that was tried has both the high recall with few rows and the low one with 5000; the nearest comes within "
            "0.05 of all 36 printed numbers, where Alarm's own are up to 0.09 away. Which tables Peña et al. 2005 had "
            "cannot be "
            "known. Also tried, without a section of their own: X² in place of G, p-values that are 0 below 1e-16 or "
            "3e-7, tests without degrees of freedom skipped, reliability by adjusted degrees (two databases each)."
        ),
    ),
)
