"""
Two thousand columns, four of which matter
==========================================

In wide data chance alone makes columns significant. A smaller level, or the control of the false discovery rate,
keeps them out. The table is sparse and stays so.
"""

import numpy as np
from scipy import sparse

import blankets as bl
from blankets.plots import plot_effects

rng = np.random.default_rng(1)
n, width, members = 1_000, 2_000, [3, 141, 592, 1265]
X = sparse.random_array((n, width), density=0.15, rng=rng, format="csc")
X.data[:] = 1
odds = X[:, members].toarray() @ [1.7, 1.5, 1.3, 1.1] - 1.2
active = rng.random(n) < 1 / (1 + np.exp(-odds))

levels = [1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.05]
found = {alpha: bl.discover(X, y=active, algorithm="inter-iamb", alpha=alpha).members for alpha in levels}
for alpha, names in found.items():
    print(f"α = {alpha:<8g} {len(names):2} members: {', '.join(names)}")

# %%
# No level needs to be guessed if the false discovery rate is held down instead: at most one in ten members is
# expected to be false.

blanket = bl.discover(X, y=active, algorithm="iamb-fdr", alpha=0.1)
print(blanket.members)
plot_effects(blanket, subtitle="each given the others, with 90% intervals")
