"""HITON, its rivals and its data sets, for the scripts on the slides about it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse, load_npz
from sklearn.feature_selection import chi2, f_classif
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import blankets as bl
from blankets.errors import BlanketsWarning

HITON = {"algorithm": "hiton-mb", "alpha": 0.01, "bins": 2, "max_given": 3, "order": "weakest", "every": 1}
METHODS = ("UAF", "RFE", "HITON", "ALL")
# Percent (area under the ROC curve; arrhythmia: accuracy) by classifier, and number of variables, as METHODS
PRINTED: dict[str, Any] = {
    "thrombin": {
        "svm": (96.12, 93.29, 93.23, 93.69),
        "knn": (87.25, 89.71, 92.23, 88.21),
        "variables": (34837, 8709, 32, 139351),
    },
    "arrhythmia": {
        "tree": (73.94, 72.85, 71.87, 73.94),
        "knn": (63.22, 63.45, 65.30, 63.22),
        "variables": (279, 96, 63, 279),
    },
    "lung": {
        "svm": (99.32, 98.57, 97.83, 99.07),
        "knn": (95.57, 91.49, 96.06, 97.59),
        "variables": (330, 19, 16, 12600),
    },
    "prostate": {
        "svm": (98.50, 98.95, 99.10, 99.40),
        "knn": (77.52, 86.53, 91.36, 76.94),
        "variables": (706, 87, 16, 779),
    },
    "ohsumed": {"svm": None, "knn": None, "variables": None},
}
# Splits, and how many of them slides-hiton takes: as printed, but three on prostate
FOLDS = {"thrombin": (5, 1), "arrhythmia": (10, 10), "lung": (5, 5), "prostate": (5, 3), "ohsumed": (5, 1)}


@cache
def data_of(folder: Path, name: str) -> tuple[Any, NDArray[np.int64], str]:
    """Return features, target and the measure; "ohsumed C04" is Ohsumed with another target."""
    kind, _, one = name.partition(" ")
    if kind in {"thrombin", "ohsumed"}:
        stem, usual = ("thrombin_train", "A") if kind == "thrombin" else ("ohsumed_single23", "C16")
        features = csr_matrix(load_npz(folder / "highdim" / f"{stem}_X.npz")).astype(float)
        target = pd.read_csv(folder / "highdim" / f"{stem}_y.csv.gz").target
        return features, (target == (one or usual)).to_numpy().astype(int), "roc_auc"
    path = {
        "arrhythmia": "classification/arrhythmia",
        "lung": "highdim/lung_gordon",
        "prostate": "highdim/prostate_singh",
    }
    table = pd.read_csv(folder / f"{path[name]}.csv.gz")
    target = table.pop("target").astype("category")
    common = target.isin(target.value_counts()[lambda n: n >= 10].index).to_numpy()
    numbers = table.loc[common].astype(float)
    numbers = numbers.fillna(numbers.median()).to_numpy()
    codes = target[common].cat.remove_unused_categories().cat.codes.to_numpy().astype(int)
    return numbers, codes, "accuracy" if name == "arrhythmia" else "roc_auc"


def _machine() -> Any:
    return make_pipeline(MaxAbsScaler(), LinearSVC(C=1.0, class_weight="balanced", max_iter=5000, random_state=0))


def _neighbors() -> Any:
    return make_pipeline(MaxAbsScaler(), KNeighborsClassifier(5))


def _tree() -> Any:
    return DecisionTreeClassifier(min_samples_leaf=3, random_state=0)


CLASSIFIERS = {"svm": _machine, "knn": _neighbors, "tree": _tree}


def split(folder: Path, data_set: str, fold: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return training and test rows."""
    y = data_of(folder, data_set)[1]
    splits = StratifiedKFold(FOLDS[data_set.split()[0]][0], shuffle=True, random_state=2003).split(np.zeros(len(y)), y)
    return list(splits)[fold]


def score_of(folder: Path, data_set: str, fold: int, classifier: str, chosen: NDArray[np.int64], every: int) -> float:
    """Return what a classifier reaches on the test rows, in percent."""
    x, y, measure = data_of(folder, data_set)
    if not len(chosen):
        return 50.0
    train, test = split(folder, data_set, fold)
    return reached(CLASSIFIERS[classifier](), x[:, chosen], y, measure, thinned(y, train, every), test)


def reached(
    model: Any, x: Any, y: NDArray[np.int64], measure: str, train: NDArray[np.int64], test: NDArray[np.int64]
) -> float:
    """Return what a classifier that saw some rows reaches on others, in percent."""
    return 100 * float(cross_val_score(model, x, y, scoring=measure, cv=[(train, test)])[0])


def thinned(y: NDArray[np.int64], rows: NDArray[np.int64], every: int) -> NDArray[np.int64]:
    """Return one of some rows of each class."""
    return np.concatenate([rows[y[rows] == one][::every] for one in np.unique(y)])


def drawn(
    y: NDArray[np.int64], rows: NDArray[np.int64], n_active: int, n_others: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return so many rows of each class, by lot, or all where there are fewer."""
    active = y[rows] == 1
    return np.sort(
        np.concatenate([rng.permutation(rows[active])[:n_active], rng.permutation(rows[~active])[:n_others]])
    )


def strongest(x: Any, y: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rank by association with the target, one feature at a time."""
    strength = np.nan_to_num((chi2 if issparse(x) else f_classif)(x, y)[0], nan=-1.0)
    return np.argsort(-strength, kind="stable")


def eliminated(x: Any, y: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rank by recursive elimination: half of the features with the smallest weights go each time."""
    kept, out = np.arange(x.shape[1]), []
    while len(kept) > 4:
        weights = np.abs(_machine().fit(x[:, kept], y)[-1].coef_).max(axis=0)
        order = np.argsort(-weights, kind="stable")
        out.append(kept[order[len(kept) // 2 :]])
        kept = kept[order[: len(kept) // 2]]
    return np.concatenate([kept, *reversed(out)])


def halvings(order: NDArray[np.int64], x: Any, y: NDArray[np.int64], model: Any, measure: str) -> NDArray[np.int64]:
    """Return the best leading part of a ranking, by inner cross-validation over halvings of its length."""
    sizes = [len(order)]
    while sizes[-1] > 4:
        sizes.append(sizes[-1] // 2)
    inner = StratifiedKFold(3, shuffle=True, random_state=0)
    means = [cross_val_score(model, x[:, order[:k]], y, scoring=measure, cv=inner).mean() for k in sizes]
    best = max(range(len(sizes)), key=lambda i: (means[i], i))  # the smaller on a tie
    return order[: sizes[best]]


def all_features(x: Any, y: NDArray[np.int64], model: Any, measure: str) -> NDArray[np.int64]:
    """Keep everything."""
    return np.arange(x.shape[1])


def univariate(x: Any, y: NDArray[np.int64], model: Any, measure: str) -> NDArray[np.int64]:
    """Keep the strongest."""
    return halvings(strongest(x, y), x, y, model, measure)


def recursive(x: Any, y: NDArray[np.int64], model: Any, measure: str) -> NDArray[np.int64]:
    """Keep those that were eliminated last."""
    return halvings(eliminated(x, y), x, y, model, measure)


SELECT = {"ALL": all_features, "UAF": univariate, "RFE": recursive}


def search(x: Any, y: NDArray[np.int64], settings: Mapping[str, Any]) -> FrozenEstimator:
    """Search the blanket on some rows."""
    selector = bl.MarkovBlanketSelector(
        algorithm=settings["algorithm"],
        alpha=settings["alpha"],
        test="g",
        dof="adjusted",
        close=False,
        extra=0,
        options={"max_given": settings["max_given"], "interleave": "semi"},
        n_jobs=1,
        **({} if issparse(x) else {"discretize": "equal-frequency", "n_bins": settings["bins"]}),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlanketsWarning)
        return FrozenEstimator(selector.fit(x, y))


def wrapped(
    selector: FrozenEstimator, x: Any, y: NDArray[np.int64], model: Any, measure: str, order: str
) -> NDArray[np.int64]:
    """Return what the wrapper around a classifier leaves of a blanket."""
    wrapper = bl.HitonWrapper(model, selector=selector, scoring=measure, cv=3, order=order)
    return np.flatnonzero(wrapper.fit(x, y).get_support())


@cache
def searched(folder: Path, data_set: str, fold: int, settings: frozenset[tuple[str, Any]]) -> FrozenEstimator:
    """Search the blanket on the training rows of a fold, once for all classifiers."""
    x, y, _ = data_of(folder, data_set)
    chosen = dict(settings)
    train = thinned(y, split(folder, data_set, fold)[0], chosen["every"])
    return search(x[train], y[train], chosen)


def hiton(
    folder: Path, data_set: str, fold: int, classifier: str, settings: Mapping[str, Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the blanket by HITON, and what the wrapper around the classifier leaves of it."""
    x, y, measure = data_of(folder, data_set)
    train = thinned(y, split(folder, data_set, fold)[0], settings["every"])
    selector = searched(folder, data_set, fold, frozenset(settings.items()))
    left = wrapped(selector, x[train], y[train], CLASSIFIERS[classifier](), measure, settings["order"])
    return np.flatnonzero(selector.get_support()), left
