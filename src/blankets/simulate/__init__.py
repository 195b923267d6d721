"""Simulation: networks with a known answer, hidden labels, variables of a given effect, measures of success."""

from blankets.simulate._network import Network, as_columns

__all__ = ["Network", "as_columns"]
