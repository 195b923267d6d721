"""
Would other rows have told the same?
====================================

178 wines, thirteen chemical measurements, three growers (in scikit-learn). With so few rows a blanket can hang on a
handful of bottles: find it again in halves of the rows, many times.
"""

from sklearn.datasets import load_wine

import blankets as bl

data = load_wine(as_frame=True)
table = data.data.assign(grower=data.target_names[data.target])

blanket = bl.discover(table, "grower", algorithm="inter-iamb", discretize="equal-frequency", n_bins=3)
print(blanket.members)

# %%
# How often each measurement is a member, over complementary halves of the rows.

found = bl.stability(
    table, "grower", algorithm="inter-iamb", discretize="equal-frequency", n_bins=3, n_resamples=100, rng=0
)
found.plot()

# %%
# Three growers can be told apart by many pairs of measurements. That a member comes and goes does not make it
# irrelevant: others that say the same take its place. What holds in nearly all halves is what these rows can show.

print(found)
