"""Results as pictures (matplotlib, imported when something is drawn)."""

from blankets.plots._blanket import plot_blanket

__all__ = ["plot_blanket"]
