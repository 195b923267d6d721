"""Nested prediction of numbers: columns are selected inside five folds, then a linear model predicts the other rows.

    python benchmarks/numbers_prediction.py
    python benchmarks/numbers_prediction.py --classes DIR   # classes of the CSV files of DIR, by AUC

Tables of scikit-learn and statsmodels with a number as target. Prints, for each, R² over the rows left out and the
share of columns kept: the default blanket (`MarkovBlanketSelector`) before a linear model, Lasso with its penalty by
cross-validation, and ridge regression on all columns. With ``--classes``, the area under the ROC curve (mean over
pairs of classes) of logistic regression on the blanket, and of that with an L1 penalty by cross-validation; the class
is the column "class" or the last one, and 1,000 rows are drawn from longer tables.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.linear_model import LassoCV, LogisticRegression, RidgeCV
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from blankets.estimators import MarkovBlanketSelector

MOST_ROWS = 2000
ALPHAS = np.logspace(-3, 4, 15)


def tables() -> dict[str, tuple[pd.DataFrame, np.ndarray]]:
    """Return features and a number for each table."""
    from statsmodels import datasets as more

    diabetes, wine = datasets.load_diabetes(as_frame=True).frame, datasets.load_wine(as_frame=True).data
    cancer = datasets.load_breast_cancer(as_frame=True).data
    star = more.star98.load_pandas().data
    star = star.assign(share=star.NABOVE / (star.NABOVE + star.NBELOW)).drop(columns=["NABOVE", "NBELOW"])
    found = {
        "diabetes": (diabetes, "target"),
        "wine": (wine, "alcohol"),
        "cancer": (cancer[[c for c in cancer if c.startswith("mean")]], "mean smoothness"),
        "star98": (star, "share"),
        "anes96": (more.anes96.load_pandas().data, "income"),
        "randhie": (more.randhie.load_pandas().data, "mdvis"),
        "statecrime": (more.statecrime.load_pandas().data, "violent"),
        "fair": (more.fair.load_pandas().data, "affairs"),
    }
    drawn = {name: (frame.sample(min(len(frame), MOST_ROWS), random_state=0), y) for name, (frame, y) in found.items()}
    return {name: (frame.drop(columns=y), frame[y].to_numpy(float)) for name, (frame, y) in drawn.items()}


def classes_of(folder: Path) -> dict[str, tuple[pd.DataFrame, np.ndarray]]:
    """Return features and classes for each file; classes with fewer than ten rows are left out."""
    found = {}
    for path in sorted(folder.glob("*.csv*")):
        table = pd.read_csv(path)
        target = "class" if "class" in table else str(table.columns[-1])
        if len(table.columns) < 4:  # groups of rows, no table
            continue
        table = table[table.groupby(target)[target].transform("size") >= 10].dropna(axis=1)
        table = table.sample(min(len(table), 1000), random_state=0)
        table = table[table.groupby(target)[target].transform("size") >= 6]
        x = table.drop(columns=target).apply(lambda c: c if c.dtype.kind in "ifb" else pd.factorize(c)[0])
        found[path.name.partition(".")[0]] = x.astype(float), pd.factorize(table[target])[0]
    return found


def of_classes(folder: Path) -> None:
    """Print a line for each table of classes, and means."""
    print(f"{'table':16} {'rows':>5} {'columns':>7}  {'blanket':>12}  {'L1':>12}")
    means = []
    for name, (x, y) in classes_of(folder).items():
        scores, began = [], time.process_time()
        for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(x, y):
            inside, outside = x.iloc[train], x.iloc[test]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                columns = MarkovBlanketSelector(n_jobs=1).fit(inside, y[train]).get_support()
                plain = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))
                lasso = LogisticRegression(penalty="l1", solver="liblinear")
                lasso = GridSearchCV(OneVsRestClassifier(lasso), {"estimator__C": [0.02, 0.1, 0.5]}, cv=3)
                lasso = make_pipeline(StandardScaler(), lasso).fit(inside, y[train])
            some = columns if columns.any() else np.arange(x.shape[1]) == 0
            told = plain.fit(inside.loc[:, some], y[train]).predict_proba(outside.loc[:, some])
            parts = lasso[-1].best_estimator_.estimators_
            kept = np.mean(np.any([np.abs(part.coef_[0]) > 0 for part in parts], axis=0))
            both = (auc(y[test], told), columns.mean(), auc(y[test], lasso.predict_proba(outside)), kept)
            scores.append(both)
        mean = np.mean(scores, axis=0)
        means.append(mean)
        told = f"{mean[0]:.3f} ({mean[1]:4.0%})  {mean[2]:.3f} ({mean[3]:4.0%})"
        print(f"{name:16} {len(y):5} {x.shape[1]:7}  {told}  {time.process_time() - began:.0f} s", flush=True)
    mean = np.mean(means, axis=0)
    print(f"{'mean':30}  {mean[0]:.3f} ({mean[1]:4.0%})  {mean[2]:.3f} ({mean[3]:4.0%})")


def auc(y: np.ndarray, told: np.ndarray) -> float:
    """Return the area under the ROC curve, of several classes the mean over pairs."""
    return float(roc_auc_score(y, told[:, 1]) if told.shape[1] == 2 else roc_auc_score(y, told, multi_class="ovo"))


def main() -> None:
    """Print a line for each table, and means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--classes", type=Path, help="folder with CSV files, plain or .gz")
    if (folder := parser.parse_args().classes) is not None:
        return of_classes(folder)
    means = []
    print(f"{'table':11} {'rows':>5} {'columns':>7}  {'blanket':>14}  {'lasso':>14}  {'ridge, all':>10}")
    for name, (x, y) in tables().items():
        guesses = {how: np.empty(len(y)) for how in ("blanket", "lasso", "ridge")}
        kept = {"blanket": 0.0, "lasso": 0.0}
        began = time.process_time()
        for train, test in KFold(5, shuffle=True, random_state=0).split(x):
            inside, outside = x.iloc[train], x.iloc[test]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                selector = MarkovBlanketSelector(n_jobs=1).fit(inside, y[train])
                columns = selector.get_support()
                lasso = make_pipeline(StandardScaler(), LassoCV(cv=5, random_state=0)).fit(inside, y[train])
            ridge = make_pipeline(StandardScaler(), RidgeCV(ALPHAS))
            guesses["ridge"][test] = ridge.fit(inside, y[train]).predict(outside)
            guesses["lasso"][test] = lasso.predict(outside)
            guesses["blanket"][test] = y[train].mean()
            if columns.any():
                fitted = ridge.fit(inside.loc[:, columns], y[train])
                guesses["blanket"][test] = fitted.predict(outside.loc[:, columns])
            kept["blanket"] += columns.mean() / 5
            kept["lasso"] += np.mean(np.abs(lasso[-1].coef_) > 0) / 5
        r2 = {how: r2_score(y, guess) for how, guess in guesses.items()}
        means.append([r2["blanket"], kept["blanket"], r2["lasso"], kept["lasso"], r2["ridge"]])
        told = "  ".join(f"{r2[how]:6.3f} ({kept[how]:4.0%})" for how in kept)
        seconds = time.process_time() - began
        print(f"{name:11} {len(y):5} {x.shape[1]:7}  {told}  {r2['ridge']:10.3f}  {seconds:.0f} s", flush=True)
    mean = np.mean(means, axis=0)
    print(f"{'mean':25}  {mean[0]:6.3f} ({mean[1]:4.0%})  {mean[2]:6.3f} ({mean[3]:4.0%})  {mean[4]:10.3f}")


if __name__ == "__main__":
    main()
