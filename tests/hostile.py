"""Tables whose names try to be something else than text."""

import numpy as np

NAMES = (
    '<script>document.title="owned"</script>',
    '"><img src=x onerror=alert(1)>',
    "it's & co",
    "</script><!--",
    "a\u202eb",  # writes from right to left
    "x" * 120,
    "tab\there",
    "${alert(1)}",
    "名前",
    "lone \ud800 surrogate",
)
TARGET = "<b>ill</b>"


def hostile_table(n_rows=1500, n_columns=200, seed=3):
    """Return a table of many columns: hostile names tied to the target, the rest noise."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n_rows) < 0.4
    table = {name: np.where(rng.random(n_rows) < 0.3, ill, rng.random(n_rows) < 0.5).astype(int) for name in NAMES}
    for i in range(n_columns - len(NAMES) - 3):
        table[f"gene_{i:03d}"] = rng.integers(0, 3, n_rows)
    table["const<i>"] = np.zeros(n_rows, int)
    table["copy<i>"] = table["gene_000"]
    table[TARGET] = np.where(ill, "<i>yes</i>", "no")
    return table
