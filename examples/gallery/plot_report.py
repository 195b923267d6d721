"""
A page to mail
==============

Everything about a blanket as one HTML file: the answer in a sentence with what it assumes, the neighborhood as a
graph, effects with intervals, why each column is in or out, the state of the data, and the call that gives it again.
It loads nothing from anywhere, prints well, and has a planner for the next study at its end.
"""

import tempfile
from pathlib import Path

import blankets as bl
from blankets.plots import plot_effects

table = next(path for path in (Path("../clinic.csv"), Path("examples/clinic.csv")) if path.exists())
blanket = bl.discover(table, "readmitted", roles=True)
stability = bl.stability(table, "readmitted", n_resamples=20, rng=0)

with tempfile.TemporaryDirectory() as folder:
    page = blanket.report(Path(folder) / "readmitted.html", source=table.name, stability=stability)
    print(f"{page.name}: {page.stat().st_size / 1000:.0f} kB")

# %%
# .. figure:: /images/report.png
#    :alt: The report: the answer in a sentence, what it assumes, the neighborhood as a graph, the effects
#    :width: 100%
#    :figclass: scrolls
#
# The same words are there without a page. Why is the insurance of a patient in the blanket?

blanket.explain("insurance")

# %%
# What could have been missed: the smallest effect that the test which settled a column would have found with
# probability 0.95.

for row in blanket.could_have_missed()[:5]:
    print(f"{row['column']:18} {row['effect_95']:.4f} nats")

# %%
# A single picture of it, for a talk.

plot_effects(blanket, title="What matters for readmission", subtitle="each given the others, with 90% intervals")
