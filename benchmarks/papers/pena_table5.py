"""Peña et al. 2005 Table 5: Thrombin, 139,351 binary features of 1,909 compounds.

The compounds on which Peña et al. 2005 measured accuracy could not be had; ours is the balanced accuracy of naive Bayes
over five folds of the training compounds, with the features found anew in each fold, so the printed accuracies, on
compounds from another distribution, are not expected. Peña et al. 2005 breaks ties at random; we put the columns in
random order, since ties go by it. Features are numbered from 1, as in the competition.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.papers._harness import Cell, Experiment, Finding, plus_minus
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, load_npz

import blankets as bl
from blankets.errors import BlanketsWarning

FILES = ("highdim/thrombin_train_X.npz", "highdim/thrombin_train_y.csv.gz")
ALGORITHMS = ("inter-iamb", "pcmb")
PRINTED = {"inter-iamb": ("8.00 ± 0.00", "0.52 ± 0.02", 3102.0), "pcmb": ("4.00 ± 1.00", "0.60 ± 0.02", 8631.0)}
WINNER = (10695, 16794, 79651, 91839)
NAMED = (10695, 16794, 79651, 91839, 12810, 28852, 106279)
BEST = (12810, 28852, 79651, 91839, 106279)  # the features of PCMB's best two runs; the last one or 109171
CHECK = (
    "the five features that Peña et al. 2005 print are an answer of AlgorithmPCD; AlgorithmPC as printed then asks "
    "each of them in turn, and a feature with an equal column (106279 has some) drops the activity, since given its "
    "equal nothing varies"
)
FOLDS = 5
ALPHA = 0.01


def cells(quick: bool) -> Sequence[Cell]:
    """List runs: a random order of the columns each; and two sets of features that are printed."""
    n_orders = 2 if quick else 4
    runs = [{"algorithm": name, "order": k} for k in range(n_orders) for name in ALGORITHMS]
    return [*({"algorithm": name, "order": 0} for name in ("winner", "best")), *runs]


@cache
def _thrombin(data: Path) -> tuple[csc_matrix, NDArray[np.bool_]]:
    features = csc_matrix(load_npz(data / FILES[0]))
    return features, (pd.read_csv(data / FILES[1]).target == "A").to_numpy()


def run(data: Path, algorithm: str, order: int) -> list[dict[str, Any]]:
    """Find the features on all rows, and again in each fold for the accuracy."""
    features, active = _thrombin(data)
    began = time.perf_counter()
    found = _find(features, active, algorithm, order)
    seconds = time.perf_counter() - began
    fold = _folds(active, order)
    scores = []
    for k in range(FOLDS):
        chosen = _find(features[fold != k], active[fold != k], algorithm, order)
        scores.append(_balanced_accuracy(features[:, chosen].toarray() > 0, active, fold == k))
    return [
        {
            **_told(data, found),
            "accuracy": float(np.mean(scores)),
            "seconds": seconds,
        }
    ]


def _told(data: Path, found: Sequence[int]) -> dict[str, Any]:
    """Name the features, and those that Peña et al. 2005 name among them, or columns equal to those."""
    numbers = [j + 1 for j in found]
    return {
        "features": " ".join(map(str, numbers)),
        "n_features": len(numbers),
        "named": " ".join(str(feature) for feature in NAMED if not _equal(data, feature).isdisjoint(numbers)),
    }


def _find(features: csc_matrix, active: NDArray[np.bool_], algorithm: str, order: int) -> list[int]:
    """Return the column numbers of the blanket of activity."""
    if algorithm in ("winner", "best"):
        return [j - 1 for j in (WINNER if algorithm == "winner" else BEST)]
    shuffled = np.random.default_rng(order).permutation(features.shape[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlanketsWarning)  # constant and duplicate columns abound
        found = bl.discover(
            features[:, shuffled],
            y=active,
            algorithm=algorithm,
            alpha=ALPHA,
            test=bl.Testing("g", dof="adjusted"),
            close=False,
        )
    return [int(shuffled[int(name.removeprefix("x"))]) for name in found.members]


@cache
def _equal(data: Path, feature: int) -> frozenset[int]:
    """Return the features with the same column, by number."""
    features, _ = _thrombin(data)
    column = features[:, [feature - 1]]
    same = np.flatnonzero(np.diff(features.indptr) == column.nnz)
    shared = np.asarray(features[:, same].T @ column.astype(np.int64).todense()).ravel()
    return frozenset((same[shared == column.nnz] + 1).tolist())


def _folds(active: NDArray[np.bool_], seed: int) -> NDArray[np.int64]:
    """Deal the rows of each class to folds in turn, in random order."""
    fold = np.empty(len(active), np.int64)
    rng = np.random.default_rng([seed, 1])
    for side in (True, False):
        rows = rng.permutation(np.flatnonzero(active == side))
        fold[rows] = np.arange(len(rows)) % FOLDS
    return fold


def _balanced_accuracy(x: NDArray[np.bool_], active: NDArray[np.bool_], held_out: NDArray[np.bool_]) -> float:
    """Return the mean of both classes' accuracies of naive Bayes on held-out rows; without features, of a guess."""
    if not x.shape[1]:
        return 0.5
    from sklearn.metrics import balanced_accuracy_score
    from sklearn.naive_bayes import BernoulliNB

    model = BernoulliNB().fit(x[~held_out], active[~held_out])
    return float(balanced_accuracy_score(active[held_out], model.predict(x[held_out])))


def compare(rows: pd.DataFrame) -> list[Finding]:
    """Compare number of features, accuracy and time, and look for the features that are named."""
    findings, fewer = [], "as for the number of features"
    means = rows.groupby("algorithm").accuracy.mean()
    other = (
        "printed on 634 later compounds of another distribution, which could not be had: on them the winner's four "
        f"features have 0.67 as printed, in our folds {means['winner']:.2f}"
    )
    for algorithm, (count, accuracy, seconds) in PRINTED.items():
        ours = rows[rows.algorithm == algorithm]
        low, high = ours.n_features.min(), ours.n_features.max()
        near = low - 0.5 <= float(count.split()[0]) <= high + 0.5
        spread = f"{plus_minus(ours.n_features)} ({low} to {high})"
        slower = rank_of_time(rows)
        findings += [
            Finding(
                f"{algorithm}, features",
                count,
                spread,
                "agrees" if near else "differs",
                "" if near else CHECK,
            ),
            Finding(
                f"{algorithm}, balanced accuracy",
                f"{accuracy} (other compounds)",
                f"{plus_minus(ours.accuracy)} (cross-validated)",
                "differs",
                other,
            ),
            Finding(
                f"{algorithm}, seconds",
                f"{seconds:.0f}",
                f"{ours.seconds.median():.1f} (one thread, loading and packing included)",
                "same ordering" if slower else "differs",
                "" if slower else "PCMB asks each neighbor in turn only while some are left to ask",
            ),
        ]
    better = means["pcmb"] > means["inter-iamb"]
    findings.append(
        Finding(
            "PCMB's features predict better than inter-IAMB's",
            "0.60 against 0.52",
            f"{means['pcmb']:.2f} against {means['inter-iamb']:.2f}; with the features printed for PCMB "
            f"{means['best']:.2f}, with the winner's four {means['winner']:.2f}",
            "same ordering" if better else "differs",
            "" if better else fewer,
        )
    )
    return [*findings, *(_feature(rows, feature, fewer) for feature in NAMED)]


def _feature(rows: pd.DataFrame, feature: int, fewer: str) -> Finding:
    """Say in how many runs a feature that Peña et al. 2005 name was found."""
    counts = {
        name: sum(str(feature) in found.split() for found in group.named.fillna("").astype(str))
        for name, group in rows.groupby("algorithm")
    }
    n = int((rows.algorithm == "pcmb").sum())
    by_paper, found = feature in BEST, counts["pcmb"] > 0
    return Finding(
        "feature 106279 or 109171, or a column equal to them" if feature == BEST[-1] else f"feature {feature}",
        "in PCMB's best two runs" if by_paper else "the competition's winner's, not PCMB's",
        f"inter-IAMB {counts['inter-iamb']} of {n} runs, PCMB {counts['pcmb']} of {n}",
        "agrees" if found == by_paper else "differs",
        "" if found == by_paper else fewer,
    )


def rank_of_time(rows: pd.DataFrame) -> bool:
    """Say whether PCMB took longer than inter-IAMB, as printed."""
    medians = rows.groupby("algorithm").seconds.median()
    return bool(medians["pcmb"] > medians["inter-iamb"])


EXPERIMENTS = (
    Experiment(
        name="pena-table5",
        title="Thrombin",
        source="Peña et al. 2005 Table 5",
        minutes=(7, 1.5),
        cells=cells,
        run=run,
        compare=compare,
        needs=FILES,
        protocol=lambda quick: (
            f"{2 if quick else 4} random orders of the columns, α = {ALPHA}, {FOLDS} folds with the features found "
            "anew in each"
        ),
    ),
)
