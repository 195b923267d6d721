"""Sechidis & Brown 2015 Figures 5 to 7 (= Sechidis 2015 8.4 to 8.6): blankets where both classes are labeled.

Figure 5 labels N/20 rows of each class. Figures 6 and 7 label 200 of 2000 and 250 of 5000 rows (also 500, which may
have been meant: errata G4), with the classes as in the population, or with their ratio turned round.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.papers import _ecml
from benchmarks.papers._ecml import alike, blanket, classes, higher, interval, labelings, most_frequent, score
from benchmarks.papers._harness import Cell, Experiment, Finding, Verdict
from numpy.typing import NDArray

import blankets as bl
from blankets.data import Frame
from blankets.regimes import prefer_y0_below

CHOICE = {"Y": "0.35", "most powerful": "C0", "least powerful": "C1"}
LAX = (
    "nominal degrees of freedom are too many where strata are empty, so that a test beyond its level gains more than "
    "it loses: with adjusted ones (ecml-2015-fig7-dof) pairwise deletion is behind labeled rows on three of the four "
    "networks, and adds more on all"
)
WHY = {
    "listwise": (
        "p(y=1) decides: by κ Ỹ0 is ahead below .39 and behind above; of insurance's 10 targets "
        "4 lie above, the mean is .36 (printed: .32, ecml-2015-table1)"
    ),
    "pairwise": (
        f"from p(y=1) = .30 on pairwise deletion keeps more of the effect than Ỹ0, and misses less; and {LAX}"
    ),
}
FEW = "few data sets: the full protocol decides"
WAYS = {"Ỹ0 or Ỹ1": "C0", "listwise": "C2", "pairwise": "C3", "any, by κ": "C9"}


def by_power(prior: float, positives: float, negatives: float) -> tuple[str, str]:
    """Return the more and the less powerful of Ỹ0 and Ỹ1, by Corollary 1 (shares of all rows that are labeled)."""
    return ("y0", "y1") if prior < prefer_y0_below(positives, negatives) else ("y1", "y0")


def run_choice(data: Path | None, network: str, rows: int, trial: int, versions: int) -> list[dict[str, Any]]:
    """Find the blankets of one data set with Y, and with the better and the worse of Ỹ0 and Ỹ1."""
    known = _ecml.truth(data, network)
    frame = _ecml.sampled(known, rows, trial)
    found = []
    for k, (node, prior) in enumerate(_ecml.targets(known).items()):
        y = classes(frame, node)
        labeled = labelings(y, rows // 20, rows // 20, versions, trial, k)
        found.append(score(known, node, prior, "Y", blanket(frame, node, y, labels="supervised")))
        for method, surrogate in zip(list(CHOICE)[1:], by_power(prior, 0.05, 0.05), strict=True):
            members = most_frequent(frame, node, labeled, labels=bl.SemiSupervised("mar-c", surrogate=surrogate))
            found.append(score(known, node, prior, method, members))
    return found


def compare_choice(rows: pd.DataFrame) -> list[Finding]:
    """Check that the choice matters."""
    f = _ecml.per_trial(rows, "f")
    places = f.index.droplevel("trial").unique()
    return [
        higher(f"{name}, N = {size}, F", f.loc[name, size]["most powerful"], f.loc[name, size]["least powerful"], FEW)
        for name, size in places
    ]


def cells(quick: bool, ratio: str) -> Sequence[Cell]:
    """List one data set each."""
    sizes = {2000: (200,), 5000: (250, 500)}
    return [
        {**cell, "labeled": labeled, "ratio": ratio} for cell in _ecml.cells(quick) for labeled in sizes[cell["rows"]]
    ]


def cells_adjusted(quick: bool) -> Sequence[Cell]:
    """List the data sets of Figure 7 (a), to be tested with adjusted degrees of freedom, and barley with few levels."""
    versions = 3 if quick else 10
    found = [
        {**cell, "versions": versions, "dof": "adjusted", "levels": 0}
        for cell in cells(quick, "inverse")
        if cell["rows"] == 2000
    ]
    return found + [{**cell, "levels": 4} for cell in found if cell["network"] == "barley"]


def run(
    data: Path | None,
    network: str,
    rows: int,
    trial: int,
    versions: int,
    labeled: int,
    ratio: str,
    dof: str = "nominal",
    levels: int = 0,
) -> list[dict[str, Any]]:
    """Find the blankets of one data set in four ways, perhaps with levels merged."""
    how = {"dof": dof, "reliability": 5.0 if dof == "adjusted" else 0.0}
    known = _ecml.truth(data, network)
    frame = _ecml.sampled(known, rows, trial)
    features = merged(frame, levels) if levels else frame
    about = {"network": f"{network}, {levels} levels" if levels else network}
    if dof == "adjusted":
        about["allowed"] = allowed(features.arities, labeled)
    found = []
    for k, (node, prior) in enumerate(_ecml.targets(known).items()):
        positives = round(labeled * (prior if ratio == "population" else 1 - prior))
        negatives = labeled - positives
        y = labelings(classes(frame, node), positives, negatives, versions, trial, k)
        surrogate, _ = by_power(prior, positives / rows, negatives / rows)
        ways: list[dict[str, Any]] = [{"surrogate": surrogate}, {"surrogate": "listwise"}, {"surrogate": "pairwise"}]
        for method, way in zip(WAYS, [*ways, {"prior": prior}], strict=True):
            members = most_frequent(features, node, y, labels=bl.SemiSupervised("mar-c", **way), **how)
            found.append({**score(known, node, prior, method, members), **about})
    return found


def merged(frame: Frame, levels: int) -> Frame:
    """Return the columns with neighboring levels merged, into so many of about equal frequency."""
    codes = []
    for j, arity in enumerate(frame.arities):
        column, counts = frame.column(j), np.bincount(frame.column(j), minlength=arity)
        groups = (levels * (np.cumsum(counts) - counts / 2) / frame.n_rows).astype(np.int64)
        codes.append(np.unique(groups[column], return_inverse=True)[1] if arity > levels else column)
    return Frame.from_codes(np.column_stack(codes), frame.names)


def allowed(arities: NDArray[np.int64], labeled: int) -> float:
    """Return the share of tests of a class and a column given another that have five rows for a degree of freedom."""
    needed = 5 * np.outer(arities - 1, arities)
    return float((needed[~np.eye(len(arities), dtype=bool)] <= labeled).mean())


def compare_same_ratio(rows: pd.DataFrame) -> list[Finding]:
    """Check what the paper reads off Figure 6."""
    means = _ecml.per_trial(rows, "f", "labeled")
    groups = {place: means.loc[place] for place in means.index.droplevel("trial").unique()}
    by_target = rows.pivot(index=["network", "labeled", "trial", "target", "prior"], columns="method", values="f")
    loss = (by_target["listwise"] - by_target["Ỹ0 or Ỹ1"]).reset_index("prior", name="f")
    low, high = loss.f[loss.prior < 0.25].mean(), loss.f[loss.prior > 0.35].mean()
    why = (
        "labeled rows keep 1/(1-p) times the noncentrality that Ỹ0 keeps, p = p(y=1), so that the loss of F grows "
        f"with p: {low:.3f} for all targets with p < .25, {high:.3f} with p > .35"
    )
    findings = [
        alike(f"{name}, {labeled} labeled, F", f["Ỹ0 or Ỹ1"], f["listwise"], why)
        for (name, labeled), f in groups.items()
    ]
    gains = [interval(f["pairwise"] - f["listwise"]) for f in groups.values()]
    worse, better = (sum(sign * mean > half for mean, half in gains) for sign in (-1, 1))
    said = f"significantly worse in {worse} of {len(gains)} settings, better in {better}"
    printed = "pairwise unpredictable, often much worse than listwise"
    verdict: Verdict = "agrees" if worse > better else "same ordering" if worse and better else "differs"
    return [
        *findings,
        Finding(
            "pairwise and listwise, F", printed, said, verdict, "" if worse > better else f"unpredictable it is; {LAX}"
        ),
    ]


def compare_prior_change(rows: pd.DataFrame) -> list[Finding]:
    """Check what the paper reads off Figure 7."""
    means = _ecml.per_trial(rows, "f", "labeled")
    findings = []
    for name, labeled in means.index.droplevel("trial").unique():
        f = means.loc[name, labeled]
        for rival, why in WHY.items():
            findings.append(higher(f"{name}, {labeled} labeled, F", f["Ỹ0 or Ỹ1"], f[rival], why))
    for labeled, group in means.groupby("labeled"):
        f = group.groupby("trial").mean()
        for rival, why in WHY.items():
            findings.append(higher(f"mean of the networks, {labeled} labeled, F", f["Ỹ0 or Ỹ1"], f[rival], why))
    return findings


def compare_adjusted(rows: pd.DataFrame) -> list[Finding]:
    """Check that pairwise deletion gains nothing where degrees of freedom are those that the data leave."""
    means, additions = (_ecml.per_trial(rows, measure, "labeled") for measure in ("f", "additions"))
    shares = rows.groupby("network", sort=False).allowed.first()
    few = means.loc["barley, 4 levels"]
    mean, half = interval(few["listwise"] - few["pairwise"])
    why = (
        "columns of barley have up to 67 levels, and labeled rows allow few of its tests; share of those given one "
        f"other column: {', '.join(f'{name} {share:.2f}' for name, share in shares.items())}. With four levels, where "
        f"all are allowed, the difference is {mean:+.2f} ± {half:.2f}"
    )
    findings = []
    for name, labeled in means.index.droplevel("trial").unique():
        f, added = means.loc[name, labeled], additions.loc[name, labeled]
        findings += [
            higher(f"{name}, F", f["listwise"], f["pairwise"], why),
            higher(f"{name}, false additions", added["pairwise"], added["listwise"], why),
        ]
    return findings


REMARKS = {
    6: (
        "The share labeled keeps all of its power where labels are missing completely at random; that Ỹ0 comes near "
        "is what the figure shows. 500 of 5000 is not in the paper (errata G4)."
    ),
    7: (
        "The paper's statement about labeled rows holds on alarm, barley and hailfinder, at all sizes; on insurance "
        "it does not, because of its priors. On average over networks Ỹ0 is level with pairwise "
        "deletion or just ahead. *Any, by κ* is what `discover` takes when p(y=1) is known: labeled rows where they "
        "keep most. 500 of 5000 is not in the paper (errata G4)."
    ),
}


def _figure(number: int, ratio: str, title: str) -> Experiment:
    return Experiment(
        name=f"ecml-2015-fig{number}",
        title=title,
        source=f"Sechidis & Brown 2015 Figure {number} = Sechidis 2015 8.{number - 1}",
        minutes=(6, 0.3),
        cells=partial(cells, ratio=ratio),
        run=run,
        compare=compare_same_ratio if ratio == "population" else compare_prior_change,
        protocol=_ecml.protocol,
        needs=_ecml.NEEDS,
        remark=REMARKS[number],
    )


EXPERIMENTS = (
    Experiment(
        name="ecml-2015-fig5",
        title="both classes labeled: the more and the less powerful of Ỹ0 and Ỹ1",
        source="Sechidis & Brown 2015 Figure 5 = Sechidis 2015 8.4",
        minutes=(2, 0.2),
        cells=_ecml.cells,
        run=run_choice,
        compare=compare_choice,
        protocol=_ecml.protocol,
        needs=_ecml.NEEDS,
    ),
    _figure(6, "population", "labeled classes as in the population"),
    _figure(7, "inverse", "ratio of the labeled classes turned round (class-prior change)"),
    Experiment(
        name="ecml-2015-fig7-dof",
        title="class-prior change, tested with adjusted degrees of freedom",
        source="ours, for Sechidis & Brown 2015 Figure 7",
        minutes=(2, 0.3),
        cells=cells_adjusted,
        run=run,
        compare=compare_adjusted,
        protocol=lambda quick: (
            "As Figure 7 with N = 2000, but degrees of freedom are those that the levels seen in each stratum leave, "
            f"tests need five rows for each nominal one, and there are {3 if quick else 10} labelings; barley once "
            "more with neighboring levels merged into four of about equal frequency"
        ),
        needs=_ecml.NEEDS,
        remark=(
            "Nothing is printed for this; that column says what is expected if pairwise deletion gains in Figure 7 by "
            "exceeding its level. Ỹ0 has many false additions here: of a rare class adjusted degrees of freedom are "
            "too few."
        ),
    ),
)
