"""Ours, for the slides on HITON: what holds it back on Thrombin and on prostate cancer.

There slides-hiton finds HITON behind its rivals, and on prostate with more variables than RFE. Written down before the
run: (1) chance: all five splits in place of one or three; a test part of Thrombin has eight or nine active compounds.
(2) The number of variables: the rankings of UAF and RFE, cut to 4, 8, …, 128 variables, show what so few can do.
(3) HITON's own choices, one at a time: sizes of conditioning sets on Thrombin, level, bins and spouses on prostate;
with and without the wrapper. (4) Rows: half of them, on Thrombin. There HITON-PC stands for HITON-MB, which adds no
spouse in the split of slides-hiton and takes four times as long.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.papers import _page
from benchmarks.papers._experiment import Cell, Experiment, Finding, mean_and_error, ordered, plus_minus
from benchmarks.papers._hiton import HITON, data_of, eliminated, hiton, score_of, split, strongest
from benchmarks.papers.slides_hiton_rows import reasons as reasons_by_rows
from matplotlib.figure import Figure
from numpy.typing import NDArray

NAME = "slides-hiton-why"
PLAIN = "as it is"
RANKINGS = {"UAF": strongest, "RFE": eliminated}
LENGTHS = (4, 8, 16, 32, 64, 128)
WAYS: dict[str, dict[str, dict[str, Any]]] = {
    "thrombin": {
        PLAIN: {},
        "sets of two": {"max_given": 2},
        "half of the rows": {"every": 2},
    },
    "prostate": {
        PLAIN: {},
        "no spouses": {"algorithm": "hiton-pc"},
        "α 0.001": {"alpha": 0.001},
        "three bins": {"bins": 3},
    },
}
ALGORITHM = {"thrombin": "hiton-pc", "prostate": "hiton-mb"}
PRINTED = {"thrombin": (92.7, 32), "prostate": (95.2, 16)}  # HITON's score, as slides-hiton averages it, and variables


def cells(quick: bool) -> Sequence[Cell]:
    """List data sets, splits and ways to select."""
    return [
        {"data_set": name, "fold": fold, "way": way}
        for name, ways in WAYS.items()
        if not (quick and name == "thrombin")
        for way in (("rankings", PLAIN) if quick else ("rankings", *ways))
        for fold in range(2 if quick else 5)
    ]


def run(folder: Path, data_set: str, fold: int, way: str) -> list[dict[str, Any]]:
    """Return score and number of variables of one way to select, for both classifiers."""
    settings = {**HITON, "algorithm": ALGORITHM[data_set], **WAYS[data_set].get(way, {})}
    found = []

    def keep(method: str, classifier: str, chosen: NDArray[np.int64]) -> None:
        score = score_of(folder, data_set, fold, classifier, chosen, settings["every"])
        found.append({"classifier": classifier, "method": method, "n_features": len(chosen), "score": score})

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constant columns, convergence on separable data
        if way == "rankings":
            x, y, _ = data_of(folder, data_set)
            train, _ = split(folder, data_set, fold)
            for name, ranking in RANKINGS.items():
                order = ranking(x[train], y[train])
                for length, classifier in product(LENGTHS, ("svm", "knn")):
                    keep(name, classifier, order[:length])
            return found
        for classifier in ("svm", "knn"):
            blanket, wrapped = hiton(folder, data_set, fold, classifier, settings)
            keep("blanket", classifier, blanket)
            keep("HITON", classifier, wrapped)
    return found


def compare(rows: pd.DataFrame) -> list[Finding]:
    """Say, data set by data set, what each way makes of HITON's score."""
    findings = []
    for name, group in rows.groupby("data_set", sort=False):
        scores, sizes = table(group, "score"), table(group, "n_features").mean(axis=1)
        own = scores.loc[PLAIN, "HITON"]
        rival = best_length(scores)
        behind = scores.loc[rival] - own
        mean, error = mean_and_error(behind)
        printed, variables = PRINTED[str(name)]
        findings.append(
            Finding(
                f"{name}, five splits: HITON's score and variables",
                f"{printed} with {variables}; near the best",
                f"{plus_minus(own, 1)} with {sizes[PLAIN, 'HITON']:.0f}; {rival[1]} with {rival[0]} has "
                f"{plus_minus(scores.loc[rival], 1)}, {plus_minus(behind, 1)} more",
                ordered(-mean, 2 * error, holds="same ordering"),
                reason(scores, sizes) + _more(str(name)),
            )
        )
        for way in WAYS[str(name)]:
            if way == PLAIN or (way, "HITON") not in scores.index:
                continue
            gain = scores.loc[way, "HITON"] - own
            mean, error = mean_and_error(gain)
            findings.append(
                Finding(
                    f"{name}, HITON with {way}",
                    "expected: no better than as it is, if this does not hold it back",
                    f"{plus_minus(scores.loc[way, 'HITON'], 1)} with {sizes[way, 'HITON']:.0f} variables, "
                    f"{signed(gain)} (the blanket before the wrapper: "
                    f"{plus_minus(scores.loc[way, 'blanket'], 1)} with {sizes[way, 'blanket']:.0f})",
                    "differs" if mean > 2 * error else "agrees",
                    "this does hold it back" if mean > 2 * error else "",
                )
            )
    return findings


def table(group: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return means over classifiers: a row for each way (or length of a ranking) and method, a column for a split."""
    way = group.way.where(group.way != "rankings", group.n_features)
    return group.groupby([way, "method", "fold"])[measure].mean().unstack("fold")


def signed(values: Any) -> str:
    """Write a mean with its sign, and its standard error."""
    mean, error = mean_and_error(values)
    return f"{mean:+.1f} ± {error:.1f}"


def best_length(scores: pd.DataFrame) -> tuple[int, str]:
    """Return length and name of the ranking with the best mean score."""
    return max(((length, name) for length in LENGTHS for name in RANKINGS), key=lambda place: scores.loc[place].mean())


def reason(scores: pd.DataFrame, sizes: pd.Series) -> str:
    """Compare HITON with rankings of its own length, and say what each change makes of it."""
    own, n_own = scores.loc[PLAIN, "HITON"], sizes[PLAIN, "HITON"]
    length = min(LENGTHS, key=lambda k: abs(np.log(k / n_own)))
    alike = ", ".join(
        f"{name} {plus_minus(scores.loc[length, name], 1)} (HITON {signed(own - scores.loc[length, name])})"
        for name in RANKINGS
    )
    ways = [way for way in scores.index.get_level_values(0).unique() if (way, "HITON") in scores.index and way != PLAIN]
    changed = [
        f"{way} {signed(scores.loc[way, 'HITON'] - own)} with {sizes[way, 'HITON']:.0f} variables" for way in ways
    ]
    rival = best_length(scores)
    return (
        f"over five splits it has {plus_minus(own, 1)} with {n_own:.0f} variables; rankings cut to {length} have "
        f"{alike}; the best length is {rival[0]} by {rival[1]}, {plus_minus(scores.loc[rival], 1)} (HITON "
        f"{signed(own - scores.loc[rival])}). Changed one at a time: no wrapper "
        f"{signed(scores.loc[PLAIN, 'blanket'] - own)} with {sizes[PLAIN, 'blanket']:.0f}"
        + "".join(f"; {said}" for said in changed)
    )


@cache
def reasons() -> Mapping[str, str]:
    """Return what the kept run says of each data set."""
    if not (_page.KEPT / f"{NAME}.csv").exists():
        return {}
    groups = _page.rows_of(EXPERIMENTS[0]).groupby("data_set")
    said = {str(name): reason(table(group, "score"), table(group, "n_features").mean(axis=1)) for name, group in groups}
    return {name: f"{text} ({NAME}){_more(name)}" for name, text in said.items()}


def _more(name: str) -> str:
    return f". {reasons_by_rows()[name]}" if name in reasons_by_rows() else ""


def draw(rows: pd.DataFrame, figure: Figure) -> None:
    """Draw score against number of variables: rankings as lines, HITONs as points."""
    names = list(dict.fromkeys(rows.data_set))
    for ax, name in zip(np.atleast_1d(figure.subplots(1, len(names))), names, strict=True):
        group = rows[rows.data_set == name]
        scores, sizes = table(group, "score"), table(group, "n_features").mean(axis=1)
        for k, ranking in enumerate(RANKINGS):
            line = scores.loc[[(length, ranking) for length in LENGTHS]]
            ax.errorbar(LENGTHS, line.mean(axis=1), line.sem(axis=1), color=f"C{k}", label=ranking, capsize=2)
        ways = [way for way in WAYS[name] if (way, "HITON") in scores.index]
        for k, way in enumerate(ways):
            own, place = scores.loc[way, "HITON"], sizes[way, "HITON"]
            ax.errorbar(place, own.mean(), own.sem(), fmt="o", color=f"C{k + 2}", label=f"HITON, {way}", capsize=2)
        score, variables = PRINTED[name]
        ax.plot(variables, score, "kx", label="printed")
        ax.set(xscale="log", title=name, xlabel="variables")
        ax.legend(fontsize="x-small")
    figure.axes[0].set_ylabel("score, percent")


EXPERIMENTS = (
    Experiment(
        name=NAME,
        title="what holds HITON back on Thrombin and prostate cancer",
        source="ours, for Verma 2005 HITON",
        minutes=(10, 0.5),
        cells=cells,
        run=run,
        compare=compare,
        draw=draw,
        needs=("highdim/prostate_singh.csv.gz", "highdim/thrombin_train_X.npz"),
        protocol=lambda quick: (
            "Prostate, two splits of five"
            if quick
            else "Five splits into training and test rows, means over a linear machine and nearest neighbors; "
            "rankings cut at six lengths; HITON with one thing changed at a time (on Thrombin: HITON-PC)"
        ),
        size=(9.0, 4.0),
        remark=(
            "Settings and comparisons were written down after slides-hiton had been seen, and blankets of the first "
            "split while taking the time; three more settings (a level of 0.05 on Thrombin, half of the rows and "
            "smaller sets on prostate) were dropped for want of time before their outcome was known. Errors are those "
            "of five splits of the same rows."
        ),
    ),
)
