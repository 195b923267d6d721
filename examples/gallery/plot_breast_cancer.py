"""
Which measurements tell a malignant tumour?
===========================================

Thirty measurements of 569 cell samples (Wisconsin, in scikit-learn). Almost all of them are associated with
the diagnosis; few are needed once the others are known.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import blankets as bl

data = load_breast_cancer(as_frame=True)
table = data.data.assign(malignant=data.target == 0)

ranking = bl.rank(table, "malignant", discretise="equal-frequency", bins=3)
print(f"{(ranking.p < 0.01).sum()} of {len(ranking)} measurements are associated with the diagnosis at level 0.01")

blanket = bl.discover(table, "malignant", discretise="equal-frequency", bins=3, algorithm="iamb")
print(blanket)

# %%
# As good with few as with all: cross-validated accuracy, the selection inside the cross-validation.

selector = bl.MarkovBlanketSelector(algorithm="iamb", discretise="equal-frequency", bins=3)
models = {
    "all 30": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
    "blanket": make_pipeline(selector, StandardScaler(), LogisticRegression(max_iter=2000)),
}
scores = {name: cross_val_score(model, data.data, data.target, cv=5) for name, model in models.items()}

figure, axes = plt.subplots(figsize=(5, 2))
axes.boxplot(list(scores.values()), orientation="horizontal", tick_labels=list(scores))
axes.set_xlabel("accuracy in five folds")
figure.tight_layout()
