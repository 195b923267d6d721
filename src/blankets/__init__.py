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
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blankets import errors, simulate
    from blankets._discover import algorithms, discover, discover_all
    from blankets.estimators import HitonWrapper, MarkovBlanketSelector
    from blankets.independence import DSeparation
    from blankets.results import Blanket, Blankets, Explanation

__version__ = "0.1.0"

__all__ = [
    "Blanket",
    "Blankets",
    "DSeparation",
    "Explanation",
    "HitonWrapper",
    "MarkovBlanketSelector",
    "algorithms",
    "discover",
    "discover_all",
    "errors",
    "simulate",
]

_HOME = {
    "Blanket": "blankets.results",
    "Blankets": "blankets.results",
    "DSeparation": "blankets.independence",
    "Explanation": "blankets.results",
    "HitonWrapper": "blankets.estimators",
    "MarkovBlanketSelector": "blankets.estimators",
    "algorithms": "blankets._discover",
    "discover": "blankets._discover",
    "discover_all": "blankets._discover",
}
_ROOMS = ("errors", "simulate")


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
