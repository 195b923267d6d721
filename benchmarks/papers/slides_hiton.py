"""[S], HITON: few variables and as good a classifier, on near relatives of the data sets of Aliferis and others.

Thrombin (the training compounds alone), arrhythmia, Ohsumed (other abstracts, target C16), lung cancer (Gordon) and
prostate cancer (Singh; gene expression, not mass spectra). Each method selects inside the training folds: all
features; UAF, the univariate filter, and RFE, recursive elimination by a linear machine, each with the number of
features chosen by inner cross-validation among halvings; HITON-MB with its wrapper. Classifiers: linear SVM, k-NN.
Conditioning sets have one variable at most: the expression data have a hundred rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.papers._experiment import Cell, Experiment, Finding, plus_minus
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse, load_npz
from sklearn.feature_selection import chi2, f_classif
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import LinearSVC

import blankets as bl
from blankets.errors import BlanketsWarning

ALPHA, DEEPEST = 0.01, 1
METHODS = ("UAF", "RFE", "HITON", "ALL")
# Average over classifiers in percent (area under the ROC curve; arrhythmia: accuracy) and number of variables
PRINTED = {
    "thrombin": ((91.69, 91.68, 92.7, 90.95), (34837, 8709, 32, 139351)),
    "arrhythmia": ((65.15, 65.73, 65.85, 65.15), (279, 96, 63, 279)),
    "lung": ((98.17, 96.25, 97.60, 98.33), (330, 19, 16, 12600)),
    "prostate": ((91.55, 94.75, 96.14, 91.87), (706, 87, 16, 779)),
    "ohsumed": (None, None),
}
FOLDS = 5


def cells(quick: bool) -> Sequence[Cell]:
    """List data sets, methods and folds."""
    sets = ("arrhythmia",) if quick else tuple(PRINTED)
    return [
        {"data_set": name, "method": method, "fold": fold}
        for name in sets
        for method in METHODS
        for fold in range(FOLDS if name == "arrhythmia" else 2)
    ]


@cache
def _data(folder: Path, name: str) -> tuple[Any, NDArray[np.int64], str]:
    """Return features, target and the measure."""
    if name in {"thrombin", "ohsumed"}:
        stem, one = ("thrombin_train", "A") if name == "thrombin" else ("ohsumed_single23", "C16")
        features = csr_matrix(load_npz(folder / "highdim" / f"{stem}_X.npz")).astype(float)
        target = pd.read_csv(folder / "highdim" / f"{stem}_y.csv.gz").target
        return features, (target == one).to_numpy().astype(int), "roc_auc"
    path = {
        "arrhythmia": "classification/arrhythmia",
        "lung": "highdim/lung_gordon",
        "prostate": "highdim/prostate_singh",
    }
    table = pd.read_csv(folder / f"{path[name]}.csv.gz")
    target = table.pop("target").astype("category")
    common = target.isin(target.value_counts()[lambda n: n >= 2 * FOLDS].index).to_numpy()
    numbers = table.loc[common].astype(float)
    numbers = numbers.fillna(numbers.median()).to_numpy()
    codes = target[common].cat.remove_unused_categories().cat.codes.to_numpy().astype(int)
    return numbers, codes, "accuracy" if name == "arrhythmia" else "roc_auc"


def _machine() -> Any:
    return make_pipeline(MaxAbsScaler(), LinearSVC(C=1.0, class_weight="balanced", max_iter=5000, random_state=0))


def _neighbours() -> Any:
    return make_pipeline(MaxAbsScaler(), KNeighborsClassifier(5))


def run(folder: Path, data_set: str, method: str, fold: int) -> list[dict[str, Any]]:
    """Select on the training rows of one fold and score both classifiers on the others."""
    x, y, measure = _data(folder, data_set)
    splits = list(StratifiedKFold(FOLDS, shuffle=True, random_state=2003).split(np.zeros(len(y)), y))
    train, test = splits[fold]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constant columns, convergence on separable data
        chosen = SELECT[method](x[train], y[train], measure)
        scores = [_score(make(), x[:, chosen], y, train, test, measure) for make in (_machine, _neighbours)]
    return [{"score": 100 * float(np.mean(scores)), "n_features": len(chosen)}]


def _score(model: Any, x: Any, y: NDArray[np.int64], train: Any, test: Any, measure: str) -> float:
    return float(cross_val_score(model, x, y, scoring=measure, cv=[(train, test)])[0]) if x.shape[1] else 0.5


def _halvings(order: NDArray[np.int64], x: Any, y: NDArray[np.int64], measure: str) -> NDArray[np.int64]:
    """Return the best leading part of a ranking, by inner cross-validation over halvings of its length."""
    sizes = [len(order)]
    while sizes[-1] > 4:
        sizes.append(sizes[-1] // 2)
    inner = StratifiedKFold(3, shuffle=True, random_state=0)
    means = [cross_val_score(_machine(), x[:, order[:k]], y, scoring=measure, cv=inner).mean() for k in sizes]
    best = max(range(len(sizes)), key=lambda i: (means[i], i))  # the smaller on a tie
    return order[: sizes[best]]


def all_features(x: Any, y: NDArray[np.int64], measure: str) -> NDArray[np.int64]:
    """Keep everything."""
    return np.arange(x.shape[1])


def univariate(x: Any, y: NDArray[np.int64], measure: str) -> NDArray[np.int64]:
    """Rank by association with the target, one feature at a time."""
    strength = np.nan_to_num((chi2 if issparse(x) else f_classif)(x, y)[0], nan=-1.0)
    return _halvings(np.argsort(-strength, kind="stable"), x, y, measure)


def recursive(x: Any, y: NDArray[np.int64], measure: str) -> NDArray[np.int64]:
    """Rank by recursive elimination: half of the features with the smallest weights go each time."""
    kept, out = np.arange(x.shape[1]), []
    while len(kept) > 4:
        weights = np.abs(_machine().fit(x[:, kept], y)[-1].coef_).max(axis=0)
        order = np.argsort(-weights, kind="stable")
        out.append(kept[order[len(kept) // 2 :]])
        kept = kept[order[: len(kept) // 2]]
    return _halvings(np.concatenate([kept, *reversed(out)]), x, y, measure)


def hiton(x: Any, y: NDArray[np.int64], measure: str) -> NDArray[np.int64]:
    """HITON-MB, then the wrapper around the linear machine; continuous features are cut at their medians."""
    coding = {} if issparse(x) else {"discretise": "equal-frequency", "bins": 2}
    selector = bl.MarkovBlanketSelector(
        algorithm="hiton-mb",
        alpha=ALPHA,
        test="g",
        dof="adjusted",
        options={"max_given": DEEPEST, "interleave": "semi"},
        n_threads=1,
        **coding,
    )
    wrapper = bl.HitonWrapper(_machine(), selector=selector, scoring=measure, cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlanketsWarning)
        return np.flatnonzero(wrapper.fit(x, y).get_support())


SELECT = {"ALL": all_features, "UAF": univariate, "RFE": recursive, "HITON": hiton}


def compare(rows: pd.DataFrame) -> list[Finding]:
    """Compare score and number of variables by data set, and the two conclusions of the slides."""
    findings = []
    for name, group in rows.groupby("data_set", sort=False):
        scores, counts = PRINTED[name]
        ours = {m: group[group.method == m] for m in METHODS}
        means = {m: ours[m].score.mean() for m in METHODS}
        sizes = {m: ours[m].n_features.mean() for m in METHODS}
        fewest = min(sizes, key=sizes.get) == "HITON"
        findings.append(
            Finding(
                f"{name}: HITON keeps the fewest variables",
                _listed(counts, "{:,.0f}") if counts else "not on the slides",
                ", ".join(f"{m} {sizes[m]:,.0f}" for m in METHODS),
                "same ordering" if fewest else "differs",
                "" if fewest else SMALLER,
            )
        )
        near_best = max(means.values()) - means["HITON"] <= 2 * ours["HITON"].score.sem() + 1
        findings.append(
            Finding(
                f"{name}: HITON's features classify about as well as the best",
                _listed(scores, "{:.1f}") if scores else "not on the slides",
                ", ".join(f"{m} {plus_minus(ours[m].score, 1)}" for m in METHODS),
                "same ordering" if near_best else "differs",
                "" if near_best else LOWER,
            )
        )
    return findings


def _listed(values: Sequence[float], form: str) -> str:
    return ", ".join(f"{method} {form.format(value)}" for method, value in zip(METHODS, values, strict=True))


SMALLER = "recursive elimination may stop at a handful of variables when its inner folds are separable"
LOWER = "other data than the paper's, and two folds; the spread over folds is in the CSV"


def draw(rows: pd.DataFrame, figure: Figure) -> None:
    """Draw score against number of variables, one panel a data set."""
    names = list(dict.fromkeys(rows.data_set))
    for ax, name in zip(np.atleast_1d(figure.subplots(1, len(names))), names, strict=True):
        for k, method in enumerate(METHODS):
            ours = rows[(rows.data_set == name) & (rows.method == method)]
            ax.errorbar(
                ours.n_features.mean(), ours.score.mean(), 2 * ours.score.sem(), fmt="o", color=f"C{k}", label=method
            )
        ax.set(xscale="log", title=name, xlabel="variables")
    figure.axes[0].set_ylabel("score, percent")
    figure.axes[0].legend(fontsize="small")


EXPERIMENTS = (
    Experiment(
        name="slides-hiton",
        title="HITON with its wrapper against other selections",
        source="[S] HITON results",
        minutes=(15, 1),
        cells=cells,
        run=run,
        compare=compare,
        draw=draw,
        needs=("classification/arrhythmia.csv.gz", "highdim/prostate_singh.csv.gz"),
        protocol=lambda quick: (
            f"{'Arrhythmia' if quick else 'Five data sets'}, {FOLDS} folds (two but for arrhythmia), α = {ALPHA}"
        ),
        size=(10.0, 3.2),
    ),
)
