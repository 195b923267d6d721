"""
How many labels must we pay for?
================================

A registry has 3,000 patients; a review of the records would tell who smokes, at a price for each. Smokers are
between 10% and 40% of all, probably about 20%.
"""

import blankets as bl

smokers = bl.Beta(mode=0.2, low=0.1, high=0.4)
plan = bl.plan(effect="small", power=0.9, alpha=0.01, rows=3000, labels="pu", prior=smokers, rng=0)
print(plan)

# %%
# The power over the number of labels. The band is where nine tenths of the prior lie, and the line its safe side.

plan.plot(subtitle="3,000 rows, small effect, α = 0.01")

# %%
# Rows cost little and labels much, or the other way round? Lines of equal power over both.

plan.plot_contour(subtitle="small effect, α = 0.01")

# %%
# The table for the study protocol.

table = bl.planning_table(
    power=[0.8, 0.9, 0.95], effect=["small", "medium", "large"], alpha=0.01, rows=3000, labels="pu", prior=smokers
)
print(table)
