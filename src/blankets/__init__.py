"""Markov blankets: the smallest set of features that matters for a target, and how sure we are of it.

::

    import blankets as bl

    blanket = bl.discover(table, "ill")     # any data frame, array, or path to a CSV or Parquet file
    blanket.members                         # strongest first
    blanket.explain("age")                  # why it is in, or not

Names are imported when they are first used, so ``import blankets`` is fast.
"""

from __future__ import annotations

from importlib import import_module
from logging import NullHandler, getLogger
from typing import TYPE_CHECKING, Any

from blankets.caching import loaded_late

if TYPE_CHECKING:
    from blankets import errors, simulate
    from blankets.data import Reading, SqlTable, Store
    from blankets.estimators import (
        HitonWrapper,
        InformationSelector,
        LabeledStratifiedKFold,
        LatentBlanketClassifier,
        LatentBlanketTransformer,
        MarkovBlanketSelector,
        labeled_only,
    )
    from blankets.independence import DSeparation, Knowledge
    from blankets.latent import BestDAG, LatentBlanket, best_dag
    from blankets.planning import Plan, PlanningTable, kappa, plan, plan_blanket, planning_table
    from blankets.questions.adjust import adjust
    from blankets.questions.advise import advise
    from blankets.questions.audit import audit
    from blankets.questions.confirm import confirm
    from blankets.questions.discover import algorithms, discover, discover_all
    from blankets.questions.discover_latent import discover_latent
    from blankets.questions.estimate_prior import estimate_prior
    from blankets.questions.mutual_information import mutual_information
    from blankets.questions.pack import pack
    from blankets.questions.rank import rank
    from blankets.questions.refute import refute
    from blankets.questions.select import select
    from blankets.questions.sensitivity import sensitivity
    from blankets.questions.stability import stability
    from blankets.questions.test import test
    from blankets.records import Call
    from blankets.regimes import (
        Beta,
        Noisy,
        PositiveUnlabeled,
        Predicted,
        SemiSupervised,
        Supervised,
        between,
        greater_than,
        less_than,
    )
    from blankets.results import (
        Adjustment,
        Advice,
        Assumptions,
        Blanket,
        Blankets,
        Confirmation,
        DataAudit,
        Effects,
        Estimate,
        Explanation,
        Ranking,
        Refutation,
        Selection,
        Sensitivity,
        Stability,
        TestResult,
    )
    from blankets.stats import FalseMembers
    from blankets.study import Engine, Testing

__version__ = "0.2.0"

__all__ = [
    "Adjustment",
    "Advice",
    "Assumptions",
    "BestDAG",
    "Beta",
    "Blanket",
    "Blankets",
    "Call",
    "Confirmation",
    "DSeparation",
    "DataAudit",
    "Effects",
    "Engine",
    "Estimate",
    "Explanation",
    "FalseMembers",
    "HitonWrapper",
    "InformationSelector",
    "Knowledge",
    "LabeledStratifiedKFold",
    "LatentBlanket",
    "LatentBlanketClassifier",
    "LatentBlanketTransformer",
    "MarkovBlanketSelector",
    "Noisy",
    "Plan",
    "PlanningTable",
    "PositiveUnlabeled",
    "Predicted",
    "Ranking",
    "Reading",
    "Refutation",
    "Selection",
    "SemiSupervised",
    "Sensitivity",
    "SqlTable",
    "Stability",
    "Store",
    "Supervised",
    "TestResult",
    "Testing",
    "adjust",
    "advise",
    "algorithms",
    "audit",
    "best_dag",
    "between",
    "confirm",
    "discover",
    "discover_all",
    "discover_latent",
    "errors",
    "estimate_prior",
    "greater_than",
    "kappa",
    "labeled_only",
    "less_than",
    "mutual_information",
    "pack",
    "plan",
    "plan_blanket",
    "planning_table",
    "rank",
    "refute",
    "select",
    "sensitivity",
    "simulate",
    "stability",
    "test",
]

_ROOMS = ("errors", "simulate")
_HOMES = {
    ".data": "Reading SqlTable Store",
    ".estimators": "HitonWrapper InformationSelector LabeledStratifiedKFold LatentBlanketClassifier "
    "LatentBlanketTransformer MarkovBlanketSelector labeled_only",
    ".independence": "DSeparation Knowledge",
    ".latent": "BestDAG LatentBlanket best_dag",
    ".planning": "Plan PlanningTable kappa plan plan_blanket planning_table",
    ".questions.discover": "algorithms discover discover_all",
    ".records": "Call",
    ".regimes": "Beta Noisy PositiveUnlabeled Predicted SemiSupervised Supervised between greater_than less_than",
    ".results": "Adjustment Advice Assumptions Blanket Blankets Confirmation DataAudit Effects Estimate Explanation "
    "Ranking Refutation Selection Sensitivity Stability TestResult",
    ".stats": "FalseMembers",
    ".study": "Engine Testing",
}
_ELSEWHERE = {name for names in _HOMES.values() for name in names.split()}
# Each of the other names is a question, in the file with this name.
_HOMES |= {f".questions.{name}": name for name in __all__ if name not in _ELSEWHERE.union(_ROOMS)}
_late = loaded_late(__name__, _HOMES)


getLogger("blankets").addHandler(NullHandler())  # silent unless the user's program configures logging


def __getattr__(name: str) -> Any:
    return import_module(f"blankets.{name}") if name in _ROOMS else _late(name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
