"""
Which measurements tell a malignant tumor?
===========================================

Thirty measurements of 569 cell samples (Wisconsin, in scikit-learn). Almost all of them are associated with
the diagnosis; few are needed once the others are known.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import blankets as bl

data = load_breast_cancer(as_frame=True)
table = data.data.assign(malignant=data.target == 0)

ranking = bl.rank(table, "malignant", discretize="equal-frequency", n_bins=3)
clear = (ranking.p < 0.01).sum()
print(f"{clear} of {len(ranking)} measurements are associated with the diagnosis at level 0.01")
ranking.plot(title="Information about the diagnosis", subtitle="each measurement alone, with 90% intervals")

# %%
# Most of them say the same. Once some of the four in the blanket are known, no other one adds anything that
# 569 rows could show; given all four, rows are too few to ask, and the answer says so.

blanket = bl.discover(table, "malignant", discretize="equal-frequency", n_bins=3, algorithm="iamb")
print(blanket)

# %%
# Nearly as good with few as with all: cross-validated accuracy, the selection inside the cross-validation.

selector = bl.MarkovBlanketSelector(algorithm="iamb", extra=0, discretize="equal-frequency", n_bins=3)
models = {
    "all 30": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
    "blanket": make_pipeline(selector, StandardScaler(), LogisticRegression(max_iter=2000)),
}
for name, model in models.items():
    scores = cross_val_score(model, data.data, data.target, cv=5)
    print(f"{name:8} {scores.mean():.3f} in the mean of five folds, {scores.min():.3f} to {scores.max():.3f}")
