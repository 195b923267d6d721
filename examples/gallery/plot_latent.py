"""
The variable that nobody measured
=================================

Insomnia, headache, back pain and sick leave go together. Because one brings about the other, or because something
that was never recorded brings about all four?
"""

import numpy as np

import blankets as bl

rng = np.random.default_rng(0)
n = 3_000
stress = rng.random(n) < 0.4  # never recorded
table = {
    "insomnia": rng.random(n) < np.where(stress, 0.85, 0.15),
    "headache": rng.random(n) < np.where(stress, 0.8, 0.2),
    "back pain": rng.random(n) < np.where(stress, 0.7, 0.25),
    "sick leave": rng.random(n) < np.where(stress, 0.75, 0.1),
    "left-handed": rng.random(n) < 0.1,
}
found = bl.discover_latent(table, "sick leave", n_restarts=5, rng=0)
found.plot()

# %%
# What the latent variable says about each person, from the observed columns alone. It never saw ``stress``, and
# tells the stressed from the others.

found.plot_posterior(table, by=np.where(stress, "stressed", "not stressed"))

# %%
print(found)
