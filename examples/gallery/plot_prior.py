"""
What if the class prior is wrong?
=================================

Where labeling depends on the class, what you know of p(y=1) decides which test has more power. How much does the
blanket depend on it? Ask for the blanket as a function of the prior.
"""

import numpy as np
import pandas as pd

import blankets as bl

rng = np.random.default_rng(5)
n = 3_000
ill = rng.random(n) < 0.4
labeled = rng.random(n) < np.where(ill, 0.35, 0.25)
table = pd.DataFrame(
    {
        "fever": rng.random(n) < np.where(ill, 0.6, 0.25),
        "cough": rng.random(n) < np.where(ill, 0.45, 0.3),
        "travel": rng.random(n) < np.where(ill, 0.27, 0.2),
        "commute": rng.random(n) < np.where(ill, 0.36, 0.3),
        "ward": rng.choice(["A", "B", "C"], n),
        "ill": np.where(labeled, ill, np.nan),
    }
)
found = bl.sensitivity(table, "ill", labels="mar-c", alpha=0.01)
print(found)

# %%
# Filled where a column is a member. Members that hold whatever the prior can be reported without it.

found.plot(used=0.4)
