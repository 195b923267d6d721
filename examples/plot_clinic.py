"""
Who comes back to the hospital?
===============================

Two thousand discharged patients, fifteen columns, and one question: what matters for being readmitted?
"""

from pathlib import Path

import blankets as bl

here = Path(__file__).parent if "__file__" in globals() else Path("examples")
blanket = bl.discover(here / "clinic.csv", "readmitted", roles=True)
print(blanket)

# %%
# The neighbourhood as a picture: parents above, children below, spouses beside the children they share.

blanket.plot()
