"""The registry: every algorithm under the name that users write, and the choice of ``"auto"``.

A file of this folder without a leading underscore is an algorithm; the entries of its ``ALGORITHMS``
are registered. To add an algorithm, add a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import numpy as np

from blankets.errors import ParameterError, did_you_mean
from blankets.search._contract import Algorithm


def _registered() -> Iterator[Algorithm]:
    package = __name__.rpartition(".")[0]
    for module in iter_modules(import_module(package).__path__):
        if not module.name.startswith("_"):
            yield from getattr(import_module(f"{package}.{module.name}"), "ALGORITHMS", ())


ALGORITHMS: dict[str, Algorithm] = {found.name: found for found in sorted(_registered(), key=lambda found: found.name)}


def find(name: str, others: Iterable[str] = ()) -> Algorithm:
    """Return the algorithm with this name, in upper or lower case, with dashes, underscores or blanks.

    ``others``: names of algorithms outside the registry, for suggestions.

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

    ``others``: other arguments, for suggestions.

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


def choose(n_features: int) -> tuple[str, str]:
    """Return the algorithm that ``"auto"`` means, and a sentence that says why.

    It was chosen by measurements on networks and tables (see the page on algorithms): of all searches it came
    nearest to the true blankets, within a bounded time.

    Examples
    --------
    >>> choose(36)
    ('two-view', 'of all searches it came nearest to the blankets of known networks; there are 36 columns.')
    """
    columns = f"is {n_features:,} column" if n_features == 1 else f"are {n_features:,} columns"
    return "two-view", f"of all searches it came nearest to the blankets of known networks; there {columns}."
