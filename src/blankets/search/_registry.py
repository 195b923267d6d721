"""The registry: every algorithm under the name that users write, and the choice of ``"auto"``.

A file of this folder without a leading underscore is an algorithm; the entries of its ``ALGORITHMS``
are registered. To add an algorithm, add a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import numpy as np

from blankets.caching import cached_property
from blankets.errors import ParameterError, did_you_mean
from blankets.search._contract import Algorithm


class _Registry(Mapping[str, Algorithm]):
    """All algorithms by name; one with a file of its own is found without reading the files of the others."""

    def __getitem__(self, name: str) -> Algorithm:
        own = name.replace("-", "_")
        found = _read(own) if own in _files() else {}
        return found[name] if name in found else self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    @cached_property
    def _all(self) -> dict[str, Algorithm]:
        return dict(sorted((name, entry) for file in _files() for name, entry in _read(file).items()))


@cache
def _files() -> tuple[str, ...]:
    listed = iter_modules(import_module(_PACKAGE).__path__)
    return tuple(module.name for module in listed if not module.name.startswith("_"))


def _read(file: str) -> dict[str, Algorithm]:
    return {found.name: found for found in getattr(import_module(f"{_PACKAGE}.{file}"), "ALGORITHMS", ())}


_PACKAGE = __name__.rpartition(".")[0]
ALGORITHMS = _Registry()


# Names that papers use for an algorithm as a whole, without what stands between words.
LONG_NAMES = {"growshrink": "gs", "hiton": "hiton-mb", "kollersahami": "ks", "peterclark": "pc"}


def squeezed(name: object) -> str:
    """Return a name in lower case without dashes, underscores and blanks.

    >>> squeezed("inter-IAMB") == squeezed("interIAMB")
    True
    """
    return re.sub(r"[-_\s]+", "", str(name)).lower()


def find(name: str, others: Iterable[str] = ()) -> Algorithm:
    """Return the algorithm with this name, in any case, with or without dashes, underscores or blanks.

    ``others``: names of algorithms outside the registry, for suggestions.

    Examples
    --------
    >>> find("inter_IAMB").name, find("IAMBnPC").name, find("grow-shrink").name
    ('inter-iamb', 'iamb-n-pc', 'gs')
    >>> find("imab")
    Traceback (most recent call last):
    blankets.errors.ParameterError: unknown algorithm 'imab'; did you mean 'iamb'? choose from ...
    """
    if name in ALGORITHMS:
        return ALGORITHMS[name]
    key = squeezed(name)
    try:
        return ALGORITHMS[LONG_NAMES.get(key) or {squeezed(each): each for each in ALGORITHMS}[key]]
    except KeyError:
        raise ParameterError.not_one_of("algorithm", name, [*ALGORITHMS, *others]) from None


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
            hint = did_you_mean(option, [*allowed]) or ";"
            raise ParameterError(
                f"algorithm {algorithm.name!r} has no option {option!r}{hint} it has {known or 'none'}"
            )
    for option, value in options.items():
        if isinstance(allowed[option], bool) and not isinstance(value, bool):
            raise ParameterError.out_of_range(option, value, "True or False")
    most = options.get("max_given")
    if most is not None and not (isinstance(most, int | np.integer) and most >= 0):
        raise ParameterError.out_of_range("max_given", most, "a whole number, at least 0, or None (no limit)")


def choose() -> tuple[str, str]:
    """Return the algorithm that ``"auto"`` means, and a sentence that says why.

    It was chosen by measurements on networks and tables (see the page on algorithms): of all searches it came
    nearest to the true blankets, within a bounded time.

    Examples
    --------
    >>> choose()
    ('two-view', 'of all searches it came nearest to the blankets of known networks.')
    """
    return "two-view", "of all searches it came nearest to the blankets of known networks."
