"""Why two numbers of [PU] Figures 2 and 3 come out a little off: the vote, and the κ of conditional tests.

The blanket with Y is one answer, the one with Ỹ0 a vote of many, which drops what chance adds: labellings taken one by
one are compared with the vote here. And N/κ rows restore the power of tests by the κ of the printed theorem; the κ of
a test given the rest of the blanket, exact by strata (ERRATA B4), is smaller for some targets (barley's tables are too
large for that).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.papers import _ecml
from benchmarks.papers._ecml import NETWORKS, alike, blanket, classes, higher, labellings, most_frequent, score
from benchmarks.papers._experiment import Cell, Experiment, Finding
from matplotlib.figure import Figure

from blankets.regimes import Surrogate, collapse, kappa_of, stratified_kappa
from blankets.simulate import Network
from blankets.stats import plug_in

ROWS, SHARE = 2000, 0.05
FEW = "few data sets: the full protocol decides"
LOW = 0.5  # targets below are said to be far from the theorem
ONE, VOTE, AT_KAPPA, AT_EXACT = "Ỹ0, one labelling", "Ỹ0, the vote", "Ỹ0 at N/κ", "Ỹ0 at N/κ by strata"


def cells(quick: bool) -> Sequence[Cell]:
    """List one data set each."""
    trials, versions = (2, 3) if quick else (10, 10)
    return [{"network": name, "trial": k, "versions": versions} for name in NETWORKS for k in range(trials)]


@cache
def exact_kappa(known: Network, target: str) -> float:
    """Return the median, over members, of κ of the test given the others, in units of the κ of the theorem."""
    prior = _ecml.targets(known)[target]
    members = sorted(known.blanket(target))
    shares = []
    for x in members:
        joint = known.marginal(x, target, *(name for name in members if name != x))
        joint = joint.reshape(*joint.shape[:2], -1).T  # strata, states of the target, levels of x
        positive, everyone = joint[:, 0] * SHARE / prior, joint.sum(axis=1)
        tables = np.stack([np.zeros_like(positive), positive, everyone - positive], axis=1)
        tables = tables[tables.sum(axis=(1, 2)) > 0]
        if plug_in(collapse(tables, Surrogate.Y0)).value > 1e-6:  # else the others tell all: there is nothing to keep
            kappa = stratified_kappa(tables, Surrogate.Y0, prior)
            shares.append(float(kappa.value / kappa.unconditional))
    return float(np.median(shares))


def run(data: Path | None, network: str, trial: int, versions: int) -> list[dict[str, Any]]:
    """Find the blankets of one data set, and of larger ones."""
    known = _ecml.truth(data, network)
    frame = _ecml.sampled(known, ROWS, trial)
    found = []
    for k, (node, prior) in enumerate(_ecml.targets(known).items()):
        exact = exact_kappa(known, node) if network != "barley" else math.nan
        y = classes(frame, node)
        rows = [score(known, node, prior, "Y", blanket(frame, node, y, labels="supervised"))]
        each = [
            blanket(frame, node, labels, labels="pu")
            for labels in labellings(y, round(SHARE * ROWS), 0, versions, trial, k)
        ]
        rows += [score(known, node, prior, ONE, members) for members in each]
        rows.append(score(known, node, prior, VOTE, Counter(each).most_common(1)[0][0]))
        kappa = float(kappa_of(Surrogate.Y0, prior, positives=SHARE))
        sizes = {AT_KAPPA: kappa, AT_EXACT: kappa * min(exact, 1.0)} if exact == exact else {}
        for method, share in sizes.items():
            n = math.ceil(ROWS / share)
            more = _ecml.sampled(known, n, trial)
            many = labellings(classes(more, node), round(SHARE * n), 0, versions, trial, k)
            rows.append(score(known, node, prior, method, most_frequent(more, node, many, labels="pu")))
        found += [{**row, "exact": round(exact, 4)} for row in rows]
    return found


def compare(rows: pd.DataFrame) -> list[Finding]:
    """Check that the vote drops additions, and that N/κ lacks rows where κ by strata is low."""
    findings = []
    additions = rows.groupby(["network", "trial", "method"], sort=False).additions.mean().unstack("method")
    for name in NETWORKS:
        added = additions.loc[name]
        findings.append(higher(f"{name}, false additions", added[ONE], added[VOTE], FEW))
    known = rows.dropna(subset="exact")
    for low, group in known.groupby(known.exact < LOW):
        omitted = group.groupby(["trial", "method"], sort=False).omissions.mean().unstack("method")
        n = len(group[["network", "target"]].drop_duplicates())
        which = f"{n} targets with κ by strata {'below' if low else 'at least'} {LOW:g} of that of the theorem"
        at_kappa, at_exact, full = omitted[AT_KAPPA], omitted[AT_EXACT], omitted["Y"]
        if low:
            findings.append(higher(f"{which}, false omissions", at_kappa, full, FEW))
            findings.append(alike(f"{which}, false omissions", at_exact, full, FEW))
        else:
            findings.append(alike(f"{which}, false omissions", at_kappa, full, FEW))
    return findings


def draw(rows: pd.DataFrame, figure: Figure) -> None:
    """Draw what N/κ omits over Y, against the exact κ of each target."""
    left, right = figure.subplots(1, 2)
    known = rows.dropna(subset="exact")
    by_target = known.groupby(["network", "target", "exact", "method"]).omissions.mean().unstack("method").reset_index()
    for k, name in enumerate(NETWORKS):
        here = by_target[by_target.network == name]
        left.plot(here.exact, here[AT_KAPPA] - here["Y"], "o", color=f"C{k}")
        added = rows[rows.network == name].groupby("method").additions.mean()
        right.bar(np.arange(3) + 0.2 * (k - 1.5), added[["Y", ONE, VOTE]], 0.2, color=f"C{k}", label=name)
    left.axhline(0, color="0.6", linewidth=0.8)
    left.set(xlabel="κ by strata / κ of the theorem (median of members)", ylabel="omissions at N/κ less those of Y")
    figure.legend(*right.get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False)
    right.set_xticks(range(3), ["Y", "Ỹ0, one\nlabelling", "Ỹ0,\nthe vote"])
    right.set_ylabel("false additions")


EXPERIMENTS = (
    Experiment(
        name="ecml-2015-why",
        title="the vote, and κ by strata: what Figures 2 and 3 leave over",
        source="ours, for [PU] Figures 2, 3",
        minutes=(2, 0.3),
        cells=cells,
        run=run,
        compare=compare,
        draw=draw,
        protocol=lambda quick: (
            f"As Figures 2 and 3 with N = {ROWS}, {2 if quick else 10} data sets, {3 if quick else 10} labellings"
        ),
        size=(9.0, 3.8),
        needs=_ecml.NEEDS,
        remark=(
            "Nothing is printed for this; that column says what is expected. Confirms ERRATA B4 on networks: the κ of "
            "Theorem 3 is too large for tests given a blanket that tells the class, and N/κ rows then are too few. "
            "Labellings one by one add more than Y does, except on alarm: the agreement of Figure 2 owes to the vote."
        ),
    ),
)
