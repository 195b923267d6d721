"""
Nine in ten labels are missing
==============================

Only some of the positives are known. Which features matter is found all the same; what is lost is power,
and how much is known beforehand.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import blankets as bl
from blankets.plots import plot_roc
from blankets.simulate.measures import roc

rng = np.random.default_rng(0)
smoker = rng.random(10_000) < 0.2
table = pd.DataFrame(
    {
        "cough": rng.random(10_000) < np.where(smoker, 0.45, 0.25),
        "coffee": rng.random(10_000) < np.where(smoker, 0.65, 0.55),
        "city": rng.choice(["north", "south", "west"], 10_000),
        "admits": np.where(smoker & (rng.random(10_000) < 0.3), 1.0, np.nan),
    }
)
ranking = bl.rank(table, "admits", labels="pu", prior=0.2)
print(ranking)

# %%
# Estimates with their 90% intervals, next to what full labels would have told.

full = bl.rank(table.assign(admits=smoker), "admits")
low, high = ranking.interval()
at = np.arange(len(ranking))
figure, axes = plt.subplots(figsize=(6, 2.5))
axes.errorbar(
    ranking.information, at, xerr=[ranking.information - low, high - ranking.information], fmt="o", label="PU"
)
axes.plot([full.information[full.names.index(name)] for name in ranking.names], at, "kx", label="all labels")
axes.set_yticks(at, ranking.names)
axes.set_xlabel("information about smoking (nats)")
axes.legend()
figure.tight_layout()

# %%
# How much is lost? Two hundred features, sixty of which matter a little, and the share of each kind that is found as
# the level α rises. Twice the labels are worth a good part of the way to full labels.

weight = np.concatenate([np.linspace(0.02, 0.12, 60), np.zeros(140)])
shifted = np.where(smoker[:, None], 0.5 + weight / 2, 0.5 - weight / 2)
features = pd.DataFrame(rng.random(shifted.shape) < shifted, columns=[f"f{i}" for i in range(200)]).iloc[:3000]
truth, levels = features.columns[:60], np.geomspace(1e-6, 1, 60)
curves = {}
for name, share in {
    "all labels": None,
    "60% of positives": 0.6,
    "30% of positives": 0.3,
    "10% of positives": 0.1,
}.items():
    labels = smoker[:3000] if share is None else np.where(smoker & (rng.random(10_000) < share), 1.0, np.nan)[:3000]
    ranked = bl.rank(features.assign(smoker=labels), "smoker", labels="supervised" if share is None else "pu")
    p = dict(zip(ranked.names, ranked.p, strict=True))
    name = "all labels" if share is None else f"{share:.0%} of positives"
    curves[name] = roc({a: [f for f in features if p[f] <= a] for a in levels}, truth, features.columns)
plot_roc(curves, marks=())
