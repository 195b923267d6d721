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
