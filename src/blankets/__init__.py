"""Markov blankets: the minimal set of features that matters for a target, and how sure we are of it.

::

    import blankets as bl

    blanket = bl.discover(table, "ill")     # any data frame, array, or path to a CSV or Parquet file
    blanket.members                         # strongest first
    blanket.explain("age")                  # why it is in, or not

Names are imported when they are first used, so that ``import blankets`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from logging import NullHandler, getLogger
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blankets import errors, simulate
    from blankets.data import Manifest, SqlTable, Store
    from blankets.estimators import (
        HitonWrapper,
        InformationSelector,
        LabeledStratifiedKFold,
        LatentBlanketClassifier,
        LatentBlanketTransformer,
        MarkovBlanketSelector,
        labeled_only,
    )
    from blankets.independence import DSeparation
    from blankets.latent import BestDAG, LatentBlanket, best_dag, discover_latent
    from blankets.planning import Plan, PlanningTable, kappa, plan, plan_blanket, planning_table
    from blankets.questions.advise import advise
    from blankets.questions.ask import mutual_information, test
    from blankets.questions.audit import audit
    from blankets.questions.discover import algorithms, discover, discover_all
    from blankets.questions.estimate_prior import estimate_prior
    from blankets.questions.rank import rank
    from blankets.questions.refute import refute
    from blankets.questions.select import select
    from blankets.questions.sensitivity import sensitivity
    from blankets.questions.stability import stability
    from blankets.regimes import Beta, PositiveUnlabeled, SemiSupervised, Supervised, between, greater_than, less_than
    from blankets.results import (
        Advice,
        Assumptions,
        Blanket,
        Blankets,
        DataAudit,
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
    from blankets.study._engine import pack

__version__ = "0.1.0"

__all__ = [
    "Advice",
    "Assumptions",
    "BestDAG",
    "Beta",
    "Blanket",
    "Blankets",
    "DSeparation",
    "DataAudit",
    "Estimate",
    "Explanation",
    "FalseMembers",
    "HitonWrapper",
    "InformationSelector",
    "LabeledStratifiedKFold",
    "LatentBlanket",
    "LatentBlanketClassifier",
    "LatentBlanketTransformer",
    "Manifest",
    "MarkovBlanketSelector",
    "Plan",
    "PlanningTable",
    "PositiveUnlabeled",
    "Ranking",
    "Refutation",
    "Selection",
    "SemiSupervised",
    "Sensitivity",
    "SqlTable",
    "Stability",
    "Store",
    "Supervised",
    "TestResult",
    "advise",
    "algorithms",
    "audit",
    "best_dag",
    "between",
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

_HOME = {
    "Advice": "blankets.results",
    "Assumptions": "blankets.results",
    "BestDAG": "blankets.latent",
    "Beta": "blankets.regimes",
    "Blanket": "blankets.results",
    "Blankets": "blankets.results",
    "DSeparation": "blankets.independence",
    "DataAudit": "blankets.results",
    "Estimate": "blankets.results",
    "Explanation": "blankets.results",
    "FalseMembers": "blankets.stats",
    "HitonWrapper": "blankets.estimators",
    "InformationSelector": "blankets.estimators",
    "LabeledStratifiedKFold": "blankets.estimators",
    "LatentBlanket": "blankets.latent",
    "LatentBlanketClassifier": "blankets.estimators",
    "LatentBlanketTransformer": "blankets.estimators",
    "Manifest": "blankets.data",
    "MarkovBlanketSelector": "blankets.estimators",
    "Plan": "blankets.planning",
    "PlanningTable": "blankets.planning",
    "PositiveUnlabeled": "blankets.regimes",
    "Ranking": "blankets.results",
    "Refutation": "blankets.results",
    "Selection": "blankets.results",
    "SemiSupervised": "blankets.regimes",
    "Sensitivity": "blankets.results",
    "SqlTable": "blankets.data",
    "Stability": "blankets.results",
    "Store": "blankets.data",
    "Supervised": "blankets.regimes",
    "TestResult": "blankets.results",
    "advise": "blankets.questions.advise",
    "algorithms": "blankets.questions.discover",
    "audit": "blankets.questions.audit",
    "best_dag": "blankets.latent",
    "between": "blankets.regimes",
    "discover": "blankets.questions.discover",
    "discover_all": "blankets.questions.discover",
    "discover_latent": "blankets.latent",
    "estimate_prior": "blankets.questions.estimate_prior",
    "greater_than": "blankets.regimes",
    "kappa": "blankets.planning",
    "labeled_only": "blankets.estimators",
    "less_than": "blankets.regimes",
    "mutual_information": "blankets.questions.ask",
    "pack": "blankets.study._engine",
    "plan": "blankets.planning",
    "plan_blanket": "blankets.planning",
    "planning_table": "blankets.planning",
    "rank": "blankets.questions.rank",
    "refute": "blankets.questions.refute",
    "select": "blankets.questions.select",
    "sensitivity": "blankets.questions.sensitivity",
    "stability": "blankets.questions.stability",
    "test": "blankets.questions.ask",
}
_ROOMS = ("errors", "simulate")


getLogger("blankets").addHandler(NullHandler())  # silent unless the user's program wants to hear


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"blankets.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'blankets' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value  # the next look does not come here
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
