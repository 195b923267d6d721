"""The registry: every algorithm under the name that users write, and the rule behind ``"auto"``.

A file of this folder without a leading underscore is an algorithm; what it lists in its ``ALGORITHMS``
is registered. To add an algorithm, add a file.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
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


def find(name: str, others: Iterable[str] = ()) -> Algorithm:
    """Return the algorithm of this name, in any case and with dashes, underscores or blanks.

    ``others`` are algorithms that live elsewhere, and may have been meant.

    Examples
    --------
    >>> find("inter_IAMB").name
    'inter-iamb'
    >>> find("imab")
    Traceback (most recent call last):
    blankets.errors.ParameterError: unknown algorithm 'imab'; did you mean 'iamb'? choose from ...
    """
    key = str(name).strip().lower().replace("_", "-").replace(" ", "-")
    if key not in ALGORITHMS:
        raise ParameterError.not_one_of("algorithm", name, [*ALGORITHMS, *others])
    return ALGORITHMS[key]


def check_options(algorithm: Algorithm, options: Mapping[str, Any], others: Iterable[str] = ()) -> None:
    """Refuse options that the algorithm does not have, and name those that it has.

    ``others`` are arguments that are no options, but may have been meant.

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
            hint = did_you_mean(option, [*allowed, *others]) or ";"
            raise ParameterError(
                f"algorithm {algorithm.name!r} has no option {option!r}{hint} it has {known or 'none'}"
            )
    for option, value in options.items():
        if isinstance(allowed[option], bool) and not isinstance(value, bool):
            raise ParameterError.out_of_range(option, value, "True or False")
    most = options.get("max_given")
    if most is not None and not (isinstance(most, int | np.integer) and most >= 0):
        raise ParameterError.out_of_range("max_given", most, "a whole number, at least 0, or None (no limit)")


_WIDE = 50_000  # features from which a scan for each neighbor, and for theirs, takes too long
_DEEP = 12  # conditioning variables; a search through the subsets of so many is 4096 tests for each candidate


def choose(n_rows: int, arities: Sequence[int] | NDArray[np.int64], target_arity: int) -> tuple[str, str]:
    """Return the algorithm that ``"auto"`` stands for, and why, in a sentence.

    The two-phase family conditions on small subsets of neighbors and checks each neighbor from both
    ends: of the same rows it makes the most, and among many features it lets in the fewest by chance. So
    PCMB is the rule. Two things speak against it. It scans all features once for each neighbor and each
    neighbor's neighbor, which very wide data make dear. And the number of subsets explodes where rows are
    so many that large ones can be tested; the *depth*, how many typical features a test can condition on
    and still have five rows for each nominal degree of freedom, tells when. Then an algorithm that conditions
    on the whole blanket is in its element, and IAMB-FDR is the one that does not collect false members.

    ``arities``: levels of each feature. ``target_arity``: levels of the target.

    Examples
    --------
    >>> choose(5000, [2, 3, 4] * 12, 2)[0]
    'pcmb'
    >>> choose(5000, [2] * 139_351, 2)[0]
    'iamb-fdr'
    """
    depth = _depth(n_rows, np.asarray(arities, float), target_arity)
    rows = f"{n_rows:,} rows allow tests that condition on {_counted(depth, 'typical feature')}"
    if len(arities) > _WIDE:
        return "iamb-fdr", (
            f"{len(arities):,} features are too many to be scanned once for each neighbor, and so many that some "
            f"would pass plain tests by chance; alpha is the false discovery rate here ({rows})."
        )
    if depth >= _DEEP:
        return "iamb-fdr", (
            f"{rows}, enough for whole blankets, while a search through subsets of that size could take too long; "
            "alpha is the false discovery rate here."
        )
    return "pcmb", (
        f"{rows}, so that an algorithm which conditions on small subsets of neighbors finds the most, "
        f"and {_counted(len(arities), 'feature')} can be scanned once for each neighbor."
    )


def _depth(n_rows: int, arities: NDArray[np.float64], target_arity: int) -> int:
    """Return how many features of typical arity a reliable test can condition on ."""
    typical = float(np.exp(np.log(np.maximum(arities, 2)).mean())) if len(arities) else 2.0
    strata = n_rows / (5 * (typical - 1) * max(target_arity - 1, 1))
    return max(math.floor(math.log(strata, typical) + 1e-9), 0) if strata >= 1 else 0


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"
