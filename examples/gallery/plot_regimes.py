"""
Why labels are missing decides what may be done
===============================================

The same 6,000 patients, and labels that went missing in four ways. The rows that still have a label are a fair
sample in one of the four only; the library takes the test that is valid in each.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import blankets as bl

rng = np.random.default_rng(3)
n = 6_000
ill = rng.random(n) < 0.3
table = pd.DataFrame(
    {
        "fever": rng.random(n) < np.where(ill, 0.6, 0.3),
        "hospital": rng.choice(["city", "coast", "hills"], n),
        "left-handed": rng.random(n) < 0.1,
    }
)
reporting = table["hospital"].map({"city": 0.6, "coast": 0.2, "hills": 0.1}).to_numpy()
chance_of_a_label = {
    "mcar": np.full(n, 0.3),  # drawn by lot
    "mar-f": reporting,  # some hospitals report more
    "mar-c": np.where(ill, 0.5, 0.1),  # the ill come forward
    "pu": np.where(ill, 0.4, 0.0),  # only the ill are ever recorded
}

# %%
# Each regime has its own way to test and to estimate. The result says which, and why.

draw = rng.random(n)
rankings = {}
for regime, chance in chance_of_a_label.items():
    known = table.assign(ill=np.where(draw < chance, ill, np.nan))
    prior = None if regime in ("mcar", "mar-f") else 0.3
    rankings[regime] = bl.rank(known, "ill", labels=regime, prior=prior)
    tested = bl.test(known, "fever", "ill", labels=regime, prior=prior)
    print(
        f"{regime:6} {known['ill'].notna().sum():5} labels; fever: p = {tested.p:.2g}, {tested.surrogate}: {tested.why}"
    )

# %%
# The information about the illness, with 90% intervals. The line is what full labels tell.

full = bl.rank(table.assign(ill=ill), "ill")
truth = dict(zip(full.names, full.information, strict=True))
figure, axes = plt.subplots(1, 3, figsize=(9, 2.6), layout="constrained")
for ax, feature in zip(axes, ("fever", "hospital", "left-handed"), strict=True):
    for row, ranking in enumerate(rankings.values()):
        at = ranking.names.index(feature)
        low, high = (ends[at] for ends in ranking.interval())
        ax.plot([low, high], [row, row], color="#0072B2", alpha=0.4, linewidth=6, solid_capstyle="round")
        ax.plot(ranking.information[at], row, "o", color="#0072B2")
    ax.axvline(truth[feature], color="#555555", linestyle="--", linewidth=1)
    ax.set_yticks(range(len(rankings)), rankings if ax is axes[0] else [""] * len(rankings))
    ax.set(title=feature, ylim=(3.5, -0.5), xlim=(-0.002, 0.08), xlabel="nats")
