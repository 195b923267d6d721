"""
Who comes back to the hospital?
===============================

Two thousand discharged patients, fifteen columns, and one question: what matters for being readmitted?
"""

from pathlib import Path

import blankets as bl

table = next(path for path in (Path("../clinic.csv"), Path("examples/clinic.csv")) if path.exists())
blanket = bl.discover(table, "readmitted", roles=True)
print(blanket)

# %%
# The neighborhood as a picture: parents above, children below, spouses beside the children they share.

blanket.plot()
