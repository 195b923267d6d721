"""[T] Figure 9.1 and Table 9.2: filters when labels depend on the class, two positives labelled for one negative.

A tenth of the rows is labelled; the minority class is positive. 3-NN is trained on all rows of the training half (E5;
the other reading is in the rows too), on the codes of the features. Section 9.2 of the thesis, about the figure, cuts
numbers by Sturges' rule; 9.3 does not say, and five bins of equal width are what reproduces Table 9.2. Nor is it said
how the letters of splice became numbers: A, T, G, C comes nearest to the printed errors. Both are done both ways.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.papers._ecml import alike, higher
from benchmarks.papers._experiment import Cell, Experiment, Finding, mean_and_error, near, plus_minus
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.neighbors import KNeighborsClassifier

import blankets as bl
from blankets.data import Frame, ingest
from blankets.errors import BlanketsWarning
from blankets.simulate import hide_labels
from blankets.simulate.measures import kuncheva

CRITERIA = ("mim", "jmi")
K = 10
LABELLED = "labelled rows"
SURROGATE = "Ỹ0"  # by inequality (4.1) on all data sets: its right-hand side is .59 (E7)
APPROACHES = (LABELLED, "MCAR", "MAR-F", "Pos", SURROGATE)
COLUMNS = [(approach, criterion) for approach in (LABELLED, SURROGATE) for criterion in CRITERIA]
KRVSKP = (
    "by κ labelled rows keep more of the effect where p(y=1) is near a half (krvskp, .48: .089 against .077 of Ỹ0), "
    "and less elsewhere (landsat, .10: .25 against .67); ecml-2015-prior shows the crossing"
)
SAME = (
    "the printed errors are as near to each other, and so are the features: on waveform their consistency with those "
    "from all labels is above .9 for both (thesis-ch9-fig1)"
)
FIVE = "five bins"
CODINGS = dict.fromkeys(("landsat", "musk2", "waveform"), (FIVE, "Sturges")) | {"splice": ("ATGC", "ACGT")}

# misclassification error as printed, in the order of the columns
PRINTED = {
    "krvskp": (0.0715, 0.0674, 0.0831, 0.0671),
    "landsat": (0.1071, 0.0981, 0.1040, 0.0928),
    "musk2": (0.1013, 0.0879, 0.1030, 0.0802),
    "semeion": (0.0821, 0.0769, 0.0660, 0.0648),
    "splice": (0.1100, 0.1089, 0.1078, 0.1065),
    "waveform": (0.1554, 0.1455, 0.1583, 0.1451),
}
FILES = {name: f"classification/{name}{'40' if name == 'waveform' else ''}.csv.gz" for name in PRINTED}


@cache
def read(data: Path, name: str, coding: str) -> tuple[Frame, NDArray[np.int64]]:
    """Return the features, as codes, and the class: 1 for the minority."""
    table = pd.read_csv(data / FILES[name], keep_default_na=False)
    features = table.drop(columns="target")
    if name == "splice":  # 15 rows with an ambiguous letter are left out, as in the thesis
        clear = features.isin(list("ACGT")).all(axis=1)
        table, features = (
            table[clear],
            features[clear].replace({letter: str(coding.index(letter)) for letter in "ACGT"}),
        )
    rarest = table.target.value_counts().index[-1]
    rule: dict[str, Any] = {"discretise": "equal-width", "bins": 5} if coding == FIVE else {"discretise": "sturges"}
    return ingest(features, **rule).frame, (table.target == rarest).to_numpy(np.int64)


def labelled_rows(y: NDArray[np.int64], *seed: int) -> NDArray[np.bool_]:
    """Label a tenth of the rows, two positives for one negative."""
    positives = round(0.1 * len(y) * 2 / 3)
    count = {1: positives, 0: round(0.1 * len(y)) - positives}
    return hide_labels(y, "mar-c", count=count, rng=np.random.default_rng([92, *seed]))


def selected(
    frame: Frame, y: NDArray[np.int64], labelled: NDArray[np.bool_], approach: str, criterion: str
) -> tuple[str, ...]:
    """Return ten features."""
    known = np.where(labelled, y, -1)
    asked: dict[str, tuple[Frame, NDArray[np.int64], Any]] = {
        "all labels": (frame, y, "supervised"),
        LABELLED: (frame.take(labelled), y[labelled], "supervised"),
        "MCAR": (frame, known, "mcar"),
        "MAR-F": (frame, known, "mar-f"),
        "Pos": (frame, known, bl.SemiSupervised("mar-c", prior=float(y.mean()))),
        SURROGATE: (frame, np.where(labelled, y, 0), "supervised"),
    }
    table, classes, labels = asked[approach]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlanketsWarning)  # estimates that had to be repaired (D3)
        return bl.select(table, y=classes, labels=labels, criterion=criterion, k=K, n_threads=1).names


def run_consistency(data: Path, dataset: str, coding: str, versions: int) -> list[dict[str, Any]]:
    """Compare selections from partial labels with those from all labels."""
    frame, y = read(data, dataset, coding)
    found = []
    for criterion in CRITERIA:
        wanted = selected(frame, y, np.ones(len(y), bool), "all labels", criterion)
        for approach in APPROACHES:
            pairs = [
                (wanted, selected(frame, y, labelled_rows(y, version), approach, criterion))
                for version in range(versions)
            ]
            index = [kuncheva(pair, frame.n_columns) for pair in pairs]
            mean, error = mean_and_error(index)
            found.append({"criterion": criterion, "approach": approach, "consistency": mean, "error": error})
    return found


def run_error(data: Path, dataset: str, coding: str, split: int, versions: int) -> list[dict[str, Any]]:
    """Measure the error of 3-NN with the features selected in one half of the data on the other half."""
    frame, y = read(data, dataset, coding)
    order = np.random.default_rng([93, split]).permutation(len(y))
    train, test = order[: len(y) // 2], order[len(y) // 2 :]
    half = frame.take(train)
    errors: dict[frozenset[str], dict[str, float]] = {}
    found = []
    for version in range(versions):
        labelled = labelled_rows(y[train], split, version)
        for approach in (LABELLED, SURROGATE):
            for criterion in CRITERIA:
                names = selected(half, y[train], labelled, approach, criterion)
                codes = np.column_stack([frame.column(frame.index(name)) for name in names])
                key = frozenset(names)
                if key not in errors:
                    with_ties = _error_with_ties(codes, y, train, test) if dataset not in CODINGS else np.nan
                    errors[key] = {"error": _error(codes, y, train, test), "error_with_ties": with_ties}
                row = {"criterion": criterion, "approach": approach, **errors[key]}
                if version < 3:
                    row["error_trained_on_labelled"] = _error(codes, y, train[labelled], test)
                found.append(row)
    means = pd.DataFrame(found).groupby(["approach", "criterion"], sort=False).mean()
    return means.reset_index().to_dict("records")


def _error(codes: NDArray[Any], y: NDArray[np.int64], train: Any, test: Any) -> float:
    classifier = KNeighborsClassifier(3).fit(codes[train], y[train])
    return 1.0 - float(classifier.score(codes[test], y[test]))


def _error_with_ties(codes: NDArray[Any], y: NDArray[np.int64], train: Any, test: Any) -> float:
    """Let all rows vote that are as near as the third nearest, as some implementations of 3-NN do."""
    cells, cell_of = np.unique(codes, axis=0, return_inverse=True)
    n = np.bincount(cell_of[train], minlength=len(cells))
    positives = np.bincount(cell_of[train], weights=y[train], minlength=len(cells))
    distance = cdist(cells, cells, "sqeuclidean")
    order = distance.argsort(axis=1)
    third = (n[order].cumsum(axis=1) >= 3).argmax(axis=1)
    near_enough = distance <= distance[np.arange(len(cells)), order[np.arange(len(cells)), third], np.newaxis]
    positive = (near_enough @ positives) > 0.5 * (near_enough @ n)
    return float(np.mean(positive[cell_of[test]] != y[test]))


def compare_consistency(rows: pd.DataFrame) -> list[Finding]:
    """Check what the thesis reads off Figure 9.1: means over data sets, differences data set by data set."""
    findings, gains = [], {}
    for coding, other_coding in (("Sturges", FIVE), (FIVE, "Sturges")):
        for criterion in CRITERIA:
            here = rows[(rows.criterion == criterion) & (rows.coding != other_coding)]
            table = here.pivot(index="dataset", columns="approach", values="consistency")
            gains[coding, criterion] = (table[SURROGATE] - table[LABELLED]).rename(criterion.upper())
            if coding == "Sturges":
                what = f"{criterion.upper()}, consistency"
                pairs = [(ours, other) for ours in ("Pos", SURROGATE) for other in (LABELLED, "MCAR", "MAR-F")]
                findings += [higher(what, table[ours], table[other], KRVSKP) for ours, other in pairs]
                findings.append(alike(what, table[SURROGATE], table["Pos"], "the prior is exact for Pos only"))
        findings.append(
            higher(
                f"gain of Ỹ0 over labelled rows, {coding}",
                gains[coding, "jmi"],
                gains[coding, "mim"],
                "it depends on the number of bins, which makes tables of pairs sparse: with Sturges' rule it holds",
            )
        )
    return findings


def compare_error(rows: pd.DataFrame) -> list[Finding]:
    """Compare the printed errors, and the orderings that the thesis draws, split by split."""
    findings = []
    for (dataset, coding), group in rows.groupby(["dataset", "coding"], sort=False):
        ours = group.pivot(index="split", columns=["approach", "criterion"], values="error")[COLUMNS]
        named = {column: ours[column].rename(f"{column[1].upper()} by {column[0]}") for column in COLUMNS}
        first = coding == _codings(dataset)[0]
        findings.append(_errors(f"{dataset} ({coding})", dataset, named, _readings(group) if first else ""))
        if first:
            what, why = f"{dataset} ({coding}), error", KRVSKP if dataset == "krvskp" else SAME
            findings += [
                higher(what, named[LABELLED, "jmi"], named[SURROGATE, "jmi"], why, digits=4),
                higher(what, named[SURROGATE, "mim"], named[SURROGATE, "jmi"], SAME, digits=4),
            ]
    return findings


def _errors(what: str, dataset: str, named: dict[Any, pd.Series], readings: str) -> Finding:
    """Compare the four errors of a data set with the printed ones.

    The ordering that the thesis draws is that JMI with Ỹ0 is best; it is granted to errors within a tenth of the print.
    """
    printed = PRINTED[dataset]
    pairs = list(zip(named.values(), printed, strict=True))
    same = all(near(value, series, digits=4) for series, value in pairs)
    close = all(abs(series.mean() / value - 1) < 0.1 for series, value in pairs)
    best = min(named, key=lambda column: named[column].mean()) == (SURROGATE, "jmi")
    why = SAME if close else readings or f"{_codings(dataset)[0]}, the row above, comes nearer to the print"
    return Finding(
        f"{what}, " + " / ".join(str(series.name) for series in named.values()),
        " / ".join(f"{value:.4f}" for value in printed),
        " / ".join(plus_minus(series, 4) for series in named.values()),
        "agrees" if same else "same ordering" if close and best else "differs",
        "" if same or (close and best) else why,
    )


def _readings(group: pd.DataFrame) -> str:
    """Return the errors by other readings of the protocol."""
    means = (
        group.groupby(["approach", "criterion"])[["error_with_ties", "error_trained_on_labelled"]].mean().loc[COLUMNS]
    )
    ties, labelled = (" / ".join(f"{value:.4f}" for value in means[name]) for name in means)
    said = f"trained on labelled rows alone 3-NN has {labelled}"
    if means.error_with_ties.isna().all():
        return said
    return f"rows at equal distance are many, and which of them vote is not said: {ties} if all of them do; {said}"


def _codings(dataset: str) -> tuple[str, ...]:
    return CODINGS.get(dataset, ("as they are",))


def draw_consistency(rows: pd.DataFrame, figure: Figure) -> None:
    """Draw box plots over data sets, with means as diamonds."""
    axes = figure.subplots(1, 2, sharey=True)
    for ax, criterion in zip(axes, CRITERIA, strict=True):
        here = rows[(rows.criterion == criterion) & (rows.coding != FIVE)]
        table = here.pivot(index="dataset", columns="approach", values="consistency")
        boxes = [table[name] for name in APPROACHES]
        ax.boxplot(boxes, tick_labels=APPROACHES, showmeans=True, meanprops={"marker": "D"})
        ax.set_title(criterion.upper())
        ax.tick_params(axis="x", rotation=20)
    axes[0].set_ylabel("consistency with all labels")


def draw_error(rows: pd.DataFrame, figure: Figure) -> None:
    """Draw errors, ours as bars and printed ones as crosses."""
    ax = figure.subplots()
    rows = rows[[coding == _codings(name)[0] for name, coding in zip(rows.dataset, rows.coding, strict=True)]]
    names = list(rows.dataset.unique())
    for k, (approach, criterion) in enumerate(COLUMNS):
        ours = rows[(rows.approach == approach) & (rows.criterion == criterion)].groupby("dataset", sort=False).error
        at = np.arange(len(names)) + (k - 1.5) * 0.2
        ax.bar(at, ours.mean(), 0.2, yerr=2 * ours.sem(), label=f"{criterion.upper()}, {approach}", color=f"C{k}")
        label = "printed" if k == 0 else None
        ax.plot(at, [PRINTED[name][k] for name in names], "kx", markersize=5, label=label)
    ax.set_xticks(range(len(names)), names)
    ax.set_ylabel("misclassification error of 3-NN")
    figure.legend(loc="outside upper center", ncols=5, frameon=False)


def cells_consistency(quick: bool) -> Sequence[Cell]:
    """List the data sets, continuous ones twice; of letters the order plays no part."""
    versions = 5 if quick else 30
    chosen = {name: _codings(name) if FIVE in _codings(name) else _codings(name)[:1] for name in PRINTED}
    return [{"dataset": name, "coding": coding, "versions": versions} for name in PRINTED for coding in chosen[name]]


def cells_error(quick: bool) -> Sequence[Cell]:
    """List one split each; fewer labellings for the second coding."""
    splits = 2 if quick else 10
    versions = (2, 1) if quick else (30, 10)
    return [
        {"dataset": name, "coding": coding, "split": split, "versions": n}
        for name in PRINTED
        for coding, n in zip(_codings(name), versions, strict=False)
        for split in range(splits)
    ]


EXPERIMENTS = (
    Experiment(
        name="thesis-ch9-fig1",
        title="consistency of filters from class-dependent labels with those from all labels",
        source="[T] Figure 9.1",
        minutes=(2, 0.3),
        cells=cells_consistency,
        run=run_consistency,
        compare=compare_consistency,
        draw=draw_consistency,
        protocol=lambda quick: f"10 features of six data sets, {5 if quick else 30} labellings of a tenth of the rows",
        size=(9.0, 4.0),
        needs=tuple(FILES.values()),
    ),
    Experiment(
        name="thesis-ch9-table2",
        title="error of 3-NN with features selected from class-dependent labels",
        source="[T] Table 9.2",
        minutes=(6, 0.4),
        cells=cells_error,
        run=run_error,
        compare=compare_error,
        draw=draw_error,
        protocol=lambda quick: (
            f"10 features, {2 if quick else 10} random halves, {2 if quick else 30} labellings of each"
        ),
        size=(9.0, 4.0),
        needs=tuple(FILES.values()),
        remark=(
            "Settles ERRATA E4 and E5: 3-NN was trained on all labels of the training half, and numbers cut into five "
            "bins of equal width, not by Sturges' rule. Confirms E6: MIM with Ỹ0 is no better than with labelled rows "
            "on krvskp and waveform."
        ),
    ),
)
