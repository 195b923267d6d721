"""Information filters: one expression for each criterion, one greedy loop, any label regime."""

from blankets.filters._criteria import CRITERIA, Criterion, Weights, find_criterion, weights_for
from blankets.filters._explained import ExplainedInformation
from blankets.filters._greedy import TIE, Picks, greedy
from blankets.filters._partial import PartialLabels, RowScored
from blankets.filters._source import InformationSource, PlugIn

__all__ = [
    "CRITERIA",
    "Criterion",
    "ExplainedInformation",
    "InformationSource",
    "PartialLabels",
    "Picks",
    "PlugIn",
    "RowScored",
    "TIE",
    "Weights",
    "find_criterion",
    "greedy",
    "weights_for",
]
