"""Nested prediction of numbers: columns are selected inside five folds, then a linear model predicts the other rows.

    python benchmarks/numbers_prediction.py

Tables of scikit-learn and statsmodels with a number as target. Prints, for each, R² over the rows left out and the
share of columns kept: the default blanket (`MarkovBlanketSelector`) before a linear model, Lasso with its penalty by
cross-validation, and ridge regression on all columns.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.linear_model import LassoCV, RidgeCV
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold
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


def main() -> None:
    """Print a line for each table, and means."""
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
