"""
What goes with the progression of diabetes?
===========================================

Ten measurements of 442 patients, and a number that says how far the disease had progressed a year later (Efron, Hastie,
Johnstone and Tibshirani 2004; in scikit-learn). The target is a number, and so are nine of the columns: nothing is cut.
"""

from sklearn.datasets import load_diabetes
from sklearn.linear_model import LassoCV, LinearRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import blankets as bl

table = load_diabetes(as_frame=True, scaled=False).frame.rename(columns={"target": "progression"})

ranking = bl.rank(table, "progression")
print(ranking)
ranking.plot(title="Information about the progression", subtitle="each measurement alone, with 90% intervals")

# %%
# Alone, nine of ten tell something. Most of that is the same: given the members, the others add nothing that 442
# patients could show. Effects are in the target's own units, per standard deviation.

blanket = bl.discover(table, "progression")
print(blanket)

# %%
# Few columns predict nearly as well as Lasso, which keeps most of them; the selection is inside the cross-validation.

features, target = table.drop(columns="progression"), table["progression"]
models = {
    "blanket": make_pipeline(bl.MarkovBlanketSelector(extra=0), StandardScaler(), LinearRegression()),
    "lasso": make_pipeline(StandardScaler(), LassoCV()),
}
for name, model in models.items():
    scores = cross_val_score(model, features, target, cv=5, scoring="r2")
    kept = (model.fit(features, target)[-1].coef_ != 0).sum()
    print(f"{name:8} R² {scores.mean():.3f} in the mean of five folds, {kept} of {features.shape[1]} columns")

# %%
# How many patients would show a correlation of 0.15, given the others?

print(bl.plan(correlation=0.15, power=0.9))
