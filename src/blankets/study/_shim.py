"""Until data/ takes a `Reading`."""
from blankets.data import Reading
def old(reading: Reading, *only: str) -> dict:
    """."""
    said = {"discretize": reading.discretize, "bins": reading.n_bins, "missing": reading.missing, "keep": reading.keep, "columns": reading.columns, "exclude": reading.exclude}
    return {k: v for k, v in said.items() if not only or k in only}
