"""Nested prediction: columns are selected inside five folds, then a model predicts the rest of the rows.

    python benchmarks/prediction.py --tables DIR [--only NAME ...] [--rows 600] [--processes 16]

Prints, for each table of DIR (CSV, plain or .gz; the class is the column "class" or the last one) and of scikit-learn,
the share of columns that each selector keeps and the accuracy of boosting and of a linear model; then mean accuracies,
areas under the ROC curve (of several classes the mean over pairs), ranks by both (1 is best), and how far the default
is ahead of each, with the standard error over tables. Selectors: the default `MarkovBlanketSelector`, its members alone
(``extra=0``), mRMR and the best by information (as many columns as the default keeps), Boruta (where it is installed),
L1, and recursive elimination with cross-validation on tables with at most 60 columns. Ranks leave out the members
alone, and "more", the selector with ``extra=3``.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn import datasets
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import RFECV, SelectKBest, mutual_info_classif
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import blankets as bl

Columns = NDArray[np.int64]
Select = Callable[[pd.DataFrame, NDArray[np.int64], int], Columns]
MOST_COLUMNS = 60  # for recursive elimination
FOLDS = 5


def default(x: pd.DataFrame, y: NDArray[np.int64], k: int) -> Columns:
    """Return the columns that the default selector keeps."""
    return bl.MarkovBlanketSelector(n_jobs=1).fit(x, y).get_support(indices=True)


def members(x: pd.DataFrame, y: NDArray[np.int64], k: int) -> Columns:
    """Return the default blanket."""
    return bl.MarkovBlanketSelector(extra=0, n_jobs=1).fit(x, y).get_support(indices=True)


def more(x: pd.DataFrame, y: NDArray[np.int64], k: int) -> Columns:
    """Return the columns that the selector keeps if it may keep three that tell nothing."""
    return bl.MarkovBlanketSelector(extra=3, n_jobs=1).fit(x, y).get_support(indices=True)


def mrmr(x: pd.DataFrame, y: NDArray[np.int64], k: int) -> Columns:
    """Return the first columns by mRMR."""
    found = bl.select(x, y=y, k=k, criterion="mrmr")
    return np.array([x.columns.get_loc(name) for name in found.names], np.int64)


def by_information(x: pd.DataFrame, y: NDArray[np.int64], k: int) -> Columns:
    """Return the columns that tell most by themselves."""
    chosen = SelectKBest(lambda a, b: mutual_info_classif(a, b, random_state=0), k=k).fit(x, y)
    return np.flatnonzero(chosen.get_support())


def l1(x: pd.DataFrame, y: NDArray[np.int64], k: int) -> Columns:
    """Return the columns that an L1 penalty leaves."""
    model = LogisticRegressionCV(Cs=5, cv=3, penalty="l1", solver="saga", max_iter=200)
    coefficients = model.fit(StandardScaler().fit_transform(x), y).coef_
    return np.flatnonzero((np.abs(coefficients) > 1e-6).any(axis=0))


def eliminated(x: pd.DataFrame, y: NDArray[np.int64], k: int) -> Columns:
    """Return the columns that recursive elimination leaves."""
    chosen = RFECV(LogisticRegression(max_iter=200), step=0.2, cv=3).fit(StandardScaler().fit_transform(x), y)
    return np.flatnonzero(chosen.get_support())


def boruta(x: pd.DataFrame, y: NDArray[np.int64], k: int) -> Columns:
    """Return the columns that tell more than shuffled ones, by random forests (Kursa & Rudnicki 2010)."""
    from boruta import BorutaPy

    forest = RandomForestClassifier(max_depth=5, class_weight="balanced")
    chosen = BorutaPy(forest, n_estimators=60, max_iter=30, random_state=0).fit(x.to_numpy(), y)
    return np.flatnonzero(chosen.support_)


SELECTORS: dict[str, Select] = {
    "default": default, "members": members, "more": more, "mRMR": mrmr, "information": by_information,
    "L1": l1, "RFECV": eliminated,
}  # fmt: skip
if importlib.util.find_spec("boruta") is not None:
    SELECTORS["Boruta"] = boruta


def tables(folder: Path | None, only: list[str], rows: int | None) -> dict[str, tuple[pd.DataFrame, NDArray[np.int64]]]:
    """Return numeric columns and classes."""
    loaded = {name: getattr(datasets, f"load_{name}")(as_frame=True).frame for name in ("wine", "iris")}
    for path in sorted(folder.glob("*.csv*")) if folder else ():
        loaded[path.name.partition(".")[0]] = pd.read_csv(path).dropna(axis=1)
    found = {}
    for name, table in loaded.items():
        if only and name not in only:
            continue
        if rows is not None and len(table) > rows:
            table = table.sample(rows, random_state=0)
        target = next((c for c in ("target", "class") if c in table.columns), str(table.columns[-1]))
        coded = table.drop(columns=target).apply(lambda c: c if c.dtype.kind in "ifb" else pd.factorize(c)[0])
        found[name] = coded.astype(float), pd.factorize(table[target])[0].astype(np.int64)
    return found


def measures(x: pd.DataFrame, y: NDArray[np.int64], fold: int) -> dict[str, list[float]]:
    """Return, for each selector, the share of columns kept, accuracies and areas under the curve of both models."""
    warnings.simplefilter("ignore")
    train, rest = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(x, y))[fold]
    kept, k = {}, 1
    for name, select in SELECTORS.items():
        if name == "RFECV" and x.shape[1] > MOST_COLUMNS:
            continue
        columns = select(x.iloc[train], y[train], k)
        k = max(len(columns), 1) if name == "default" else k
        chosen = columns if len(columns) else np.arange(1)
        right, areas = [], []
        linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))
        for model in (HistGradientBoostingClassifier(max_iter=60, random_state=0), linear):
            values = x.to_numpy()[:, chosen]
            told = model.fit(values[train], y[train]).predict_proba(values[rest])
            right.append(float((model.classes_[told.argmax(axis=1)] == y[rest]).mean()))
            areas.append(area(y[rest], told, model.classes_))
        kept[name] = [len(columns) / x.shape[1], *right, *areas]
    return kept


def area(y: NDArray[np.int64], told: NDArray[np.float64], classes: NDArray[np.int64]) -> float:
    """Return the area under the ROC curve; NaN if a class has no row."""
    if len(np.unique(y)) < len(classes):
        return float("nan")
    return float(roc_auc_score(y, told[:, 1] if len(classes) == 2 else told, multi_class="ovo"))


def summary(found: list[dict[str, NDArray[np.float64]]]) -> None:
    """Print means over tables, ranks, and paired differences."""
    every = np.array([[one.get(s, np.full(5, np.nan)) for s in SELECTORS] for one in found])  # table, selector, measure
    print(f"| mean share kept | {' | '.join(format(mean, '.0%') for mean in np.nanmean(every[..., 0], axis=0))} |")
    for what, of in (("accuracy", slice(1, 3)), ("area under the curve", slice(3, 5))):
        values = np.moveaxis(every[..., of], 2, 1)  # table, model, selector
        compared = np.where(np.isin(list(SELECTORS), ["members", "more"]), np.nan, -values.round(6)).reshape(
            -1, len(SELECTORS)
        )
        ranks = rankdata(compared, axis=1, nan_policy="omit")
        ahead = values.mean(axis=1)[:, :1] - values.mean(axis=1)
        error = np.nanstd(ahead, axis=0, ddof=1) / np.sqrt(np.isfinite(ahead).sum(axis=0))
        means = np.nanmean(values, axis=(0, 1))
        print(f"| mean {what} | {' | '.join(format(mean, '.4f') for mean in means)} |")
        print(f"| mean rank by it | {' | '.join(format(mean, '.2f') for mean in np.nanmean(ranks, axis=0))} |")
        words = [f"{d:+.4f} ± {e:.4f}" for d, e in zip(np.nanmean(ahead, axis=0), error, strict=True)]
        print(f"| default ahead by | {' | '.join(words)} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", type=Path, help="folder with CSV files, plain or .gz")
    parser.add_argument("--only", nargs="*", default=[], help="names of tables")
    parser.add_argument("--rows", type=int, help="rows to draw from larger tables")
    parser.add_argument("--processes", type=int, default=1, help="folds at a time")
    options = parser.parse_args()
    print(f"| table (rows, columns) | {' | '.join(SELECTORS)} |\n|{' --- |' * (1 + len(SELECTORS))}")
    loaded = tables(options.tables, options.only, options.rows)
    found = []
    with ProcessPoolExecutor(options.processes) as pool:
        asked = [(x, y, fold) for x, y in loaded.values() for fold in range(FOLDS)]
        every = pool.map(measures, *zip(*asked, strict=True))
        for name, (x, _) in loaded.items():
            folds = [next(every) for _ in range(FOLDS)]
            one = {s: np.mean([scores[s] for scores in folds], axis=0) for s in folds[0]}
            found.append(one)
            words = ["{:.0%}: {:.3f}, {:.3f}".format(*one[s][:3]) if s in one else "-" for s in SELECTORS]
            print(f"| {name} ({len(x):,}, {x.shape[1]}) | {' | '.join(words)} |", flush=True)
    summary(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
