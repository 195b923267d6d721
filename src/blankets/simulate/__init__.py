"""Simulation: networks with a known answer, hidden labels, variables with a given effect, measures of success."""

from blankets.simulate import measures
from blankets.simulate._biased_labels import flip_labels, label_positives
from blankets.simulate._effect import most_information, sample_given_class, variable_with_information
from blankets.simulate._labeling import hide_labels
from blankets.simulate._network import Network, as_columns
from blankets.simulate._random import edge_strengths, random_dag, random_network

__all__ = [
    "Network",
    "as_columns",
    "edge_strengths",
    "flip_labels",
    "hide_labels",
    "label_positives",
    "measures",
    "most_information",
    "random_dag",
    "random_network",
    "sample_given_class",
    "variable_with_information",
]
