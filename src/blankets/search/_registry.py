"""The registry: every algorithm under the name that users write, and the rule behind ``"auto"``.

A file of this folder without a leading underscore is an algorithm; what it lists in its ``ALGORITHMS``
is registered. To add an algorithm, add a file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.errors import ParameterError, did_you_mean
from blankets.search._contract import Algorithm

__all__ = ["ALGORITHMS", "check_options", "choose", "find"]


def _registered() -> Iterator[Algorithm]:
    package = __name__.rpartition(".")[0]
    for module in iter_modules(import_module(package).__path__):
        if not module.name.startswith("_"):
            yield from getattr(import_module(f"{package}.{module.name}"), "ALGORITHMS", ())


ALGORITHMS: dict[str, Algorithm] = {found.name: found for found in sorted(_registered(), key=lambda found: found.name)}


def find(name: str) -> Algorithm:
    """Return the algorithm of this name, in any case and with dashes, underscores or blanks.

    Examples
    --------
    >>> find("inter_IAMB").name
    'inter-iamb'
    >>> find("imab")
    Traceback (most recent call last):
    blankets.errors.ParameterError: unknown algorithm 'imab'; did you mean 'iamb'?; choose from ...
    """
    key = str(name).strip().lower().replace("_", "-").replace(" ", "-")
    if key not in ALGORITHMS:
        raise ParameterError.not_one_of("algorithm", name, ALGORITHMS)
    return ALGORITHMS[key]


def check_options(algorithm: Algorithm, options: Mapping[str, Any]) -> None:
    """Refuse options that the algorithm does not have, and name those that it has.

    Examples
    --------
    >>> check_options(find("iamb"), {"k": 3})
    Traceback (most recent call last):
    blankets.errors.ParameterError: algorithm 'iamb' has no option 'k'; it has none
    """
    allowed = algorithm.options
    for option in options:
        if option not in allowed:
            known = ", ".join(f"{name}={default!r}" for name, default in allowed.items())
            raise ParameterError(
                f"algorithm {algorithm.name!r} has no option {option!r}{did_you_mean(option, list(allowed))}; "
                f"it has {known or 'none'}"
            )


_WIDE = 2_000  # features from which one scan is dear enough that a scan for each neighbour is too many
_DEEP = 12  # conditioning variables; a subset search through so many is 4096 tests for each candidate


def choose(n_rows: int, arities: Sequence[int] | NDArray[np.int64], target_arity: int) -> tuple[str, str]:
    """Return the algorithm that ``"auto"`` stands for, and why, in a sentence.

    What decides is the *depth*: how many typical features a test can condition on and still have five
    rows for each nominal degree of freedom. Grow-shrink algorithms condition on the whole blanket and
    can find no more members than that; the two-phase family conditions on small subsets of neighbours,
    finds more from the same rows, but scans all features once for each neighbour.

    Parameters
    ----------
    n_rows : int
        Rows.
    arities : sequence of int
        Levels of each feature.
    target_arity : int
        Levels of the target.

    Examples
    --------
    >>> choose(5000, [2, 3, 4] * 12, 2)[0]
    'pcmb'
    >>> choose(5000, [2] * 139_351, 2)[0]
    'inter-iamb'
    """
    depth = _depth(n_rows, np.asarray(arities, float), target_arity)
    rows = f"{n_rows:,} rows allow tests that condition on {_counted(depth, 'typical feature')}"
    if len(arities) > _WIDE:
        return "inter-iamb", (
            f"{len(arities):,} features are too many to be scanned once for each neighbour, and interleaved "
            f"shrinking keeps the conditioning sets small ({rows})."
        )
    if depth >= _DEEP:
        return "inter-iamb", (
            f"{rows}, enough to condition on whole blankets; searches through their subsets would only take longer."
        )
    return "pcmb", (
        f"{rows}, so that an algorithm which conditions on small subsets of neighbours finds the most, "
        f"and {_counted(len(arities), 'feature')} can be scanned once for each neighbour."
    )


def _depth(n_rows: int, arities: NDArray[np.float64], target_arity: int) -> int:
    """Return how many features of typical arity a reliable test can condition on ."""
    typical = float(np.exp(np.log(np.maximum(arities, 2)).mean())) if len(arities) else 2.0
    strata = n_rows / (5 * (typical - 1) * max(target_arity - 1, 1))
    return max(math.floor(math.log(strata, typical) + 1e-9), 0) if strata >= 1 else 0


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"
