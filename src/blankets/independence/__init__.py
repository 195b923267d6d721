"""Tests of independence: is x independent of y given a set, and if not, how strong is the dependence?"""

from blankets.independence._always import AlwaysGiven
from blankets.independence._calibrated import CalibratedTests, table_tests
from blankets.independence._checking import check_test
from blankets.independence._clustered import ClusteredTests
from blankets.independence._conditioned import ConditionedTests
from blankets.independence._contract import (
    Columns,
    IndependenceTest,
    Sets,
    sizes_of,
    subsets,
)
from blankets.independence._correlation import PartialCorrelation
from blankets.independence._determined import DeterminedTests, relations_of
from blankets.independence._dseparation import DSeparation
from blankets.independence._evidence import Evidence, EvidenceBatch
from blankets.independence._explaining import explained_by
from blankets.independence._knowledge import Knowledge, KnownColumns
from blankets.independence._mixed import MixedTests
from blankets.independence._numbers import NUMBER_METHODS, NumberTests, values_of
from blankets.independence._own import PValues, aligned, own_tests
from blankets.independence._pairwise import PairwiseTests
from blankets.independence._pooled import PooledTests
from blankets.independence._quick import QUICK_METHODS, QuickTests
from blankets.independence._routed import RoutedTests
from blankets.independence._scored import SCORED_METHODS, ScoredTests, scored_cells, scored_sums
from blankets.independence._seen import SeenQuick
from blankets.independence._surveyed import SurveyTests
from blankets.independence._tables import TableTests
from blankets.independence._tiered import TieredTests
from blankets.independence._together import TogetherTests
from blankets.independence._weighted_holes import WeightedHoles
from blankets.independence._weighting import SeenModel, Units, seen_in, strata_of_rows

__all__ = [
    "AlwaysGiven",
    "CalibratedTests",
    "ClusteredTests",
    "Columns",
    "ConditionedTests",
    "DSeparation",
    "DeterminedTests",
    "Evidence",
    "EvidenceBatch",
    "IndependenceTest",
    "Knowledge",
    "KnownColumns",
    "MixedTests",
    "NUMBER_METHODS",
    "NumberTests",
    "PValues",
    "PairwiseTests",
    "PartialCorrelation",
    "PooledTests",
    "QUICK_METHODS",
    "QuickTests",
    "RoutedTests",
    "SCORED_METHODS",
    "ScoredTests",
    "SeenModel",
    "SeenQuick",
    "Sets",
    "SurveyTests",
    "TableTests",
    "TieredTests",
    "TogetherTests",
    "Units",
    "WeightedHoles",
    "aligned",
    "check_test",
    "explained_by",
    "own_tests",
    "relations_of",
    "scored_cells",
    "scored_sums",
    "seen_in",
    "sizes_of",
    "strata_of_rows",
    "subsets",
    "table_tests",
    "values_of",
]
