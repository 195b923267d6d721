"""Plan a study: solve for power, rows, labels, effect, level or degrees of freedom."""

from blankets.planning._assumptions import FEW_LABELS, ROWS_PER_DOF
from blankets.planning._blanket import plan_blanket
from blankets.planning._kappa import kappa
from blankets.planning._plan import plan
from blankets.planning._result import Plan
from blankets.planning._table import PlanningTable, planning_table

__all__ = [
    "FEW_LABELS",
    "Plan",
    "PlanningTable",
    "ROWS_PER_DOF",
    "kappa",
    "plan",
    "plan_blanket",
    "planning_table",
]
