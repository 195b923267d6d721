"""Check arguments: each check returns the value, or refuses it with a message that names the argument.

Strings, numbers and booleans come from users, so anything may come: a column in place of a string, ``pd.NA`` in
place of a number. Comparing these raises errors of other packages, so the type is checked first.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from numbers import Integral, Real
from pathlib import Path

import numpy as np

from blankets.errors import ParameterError


def one_of(what: str, got: object, allowed: Iterable[str]) -> str:
    """Return a string that is one of the choices.

    >>> one_of("rule", "and", ("and", "or"))
    'and'
    >>> one_of("rule", ["xor"], ("and", "or"))
    Traceback (most recent call last):
        ...
    blankets.errors.ParameterError: unknown rule ['xor']; choose from and, or
    """
    words = tuple(allowed)
    if not isinstance(got, str) or got not in words:
        raise ParameterError.not_one_of(what, got, words)
    return got


def whole_number(name: str, got: object, least: int, meaning: str = "") -> int:
    """Return a whole number that is not too small.

    >>> whole_number("n_draws", 20, 1)
    20
    >>> whole_number("n_draws", 2.5, 1)
    Traceback (most recent call last):
        ...
    blankets.errors.ParameterError: 'n_draws' must be a whole number, at least 1, but it is 2.5
    """
    if not isinstance(got, Integral) or isinstance(got, bool) or not least <= int(got) < 1 << 63:
        raise ParameterError.out_of_range(name, got, meaning or f"a whole number, at least {least}")
    return int(got)


def number(
    name: str,
    got: object,
    meaning: str,
    *,
    least: float = -math.inf,
    above: float = -math.inf,
    below: float = math.inf,
    most: float = math.inf,
) -> float:
    """Return a finite number within bounds; ``least`` and ``most`` themselves are allowed.

    >>> number("k", 1, "a share", least=0, most=1)
    1.0
    >>> number("k", float("nan"), "a share", least=0, most=1)
    Traceback (most recent call last):
        ...
    blankets.errors.ParameterError: 'k' must be a share, but it is nan
    """
    try:
        value = float(got) if isinstance(got, Real) and not isinstance(got, bool) else math.nan
    except OverflowError:  # a whole number too large for a float
        value = math.nan
    if not (math.isfinite(value) and least <= value <= most and above < value < below):
        raise ParameterError.out_of_range(name, got, meaning)
    return value


def level_of(got: object) -> float:
    """Return a significance level.

    >>> level_of(0.01)
    0.01
    """
    return number("alpha", got, "a significance level between 0 and 1, both excluded", above=0.0, below=1.0)


def flag(name: str, got: object) -> bool:
    """Return a boolean.

    >>> flag("roles", True)
    True
    """
    if not isinstance(got, bool | np.bool_):
        raise ParameterError.out_of_range(name, got, "True or False")
    return bool(got)


def names_in(argument: str, value: Iterable[str | int]) -> Iterable[str | int]:
    """Return the columns that an argument names; a string is one name, not a list of letters.

    >>> names_in("exclude", "age")
    ('age',)
    """
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Iterable):
        raise ParameterError.out_of_range(argument, value, "a list of column names")
    return value


def path_of(name: str, got: object) -> Path:
    """Return the path of a file.

    >>> path_of("path", "result.json").name
    'result.json'
    """
    if not isinstance(got, str | Path):
        raise ParameterError.out_of_range(name, got, "the path of a file")
    return Path(got)


def threads_from(n_jobs: int | None) -> int:
    """Return the number of threads to use; None and -1 mean all processors.

    >>> threads_from(2)
    2
    """
    if n_jobs is None or (isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool) and n_jobs == -1):
        return os.cpu_count() or 1
    return whole_number("n_jobs", n_jobs, 1, "a number of threads, at least 1, or -1 for all processors")


def generator_from(rng: np.random.Generator | int | None, of: str = "") -> np.random.Generator:
    """Return a generator of random numbers from a seed, or the user's own generator.

    ``of``: the function that draws. The same integer then gives each function draws of its own: those of two functions
    that start from one stream depend on each other (labels hidden "at random" would depend on the rows).

    >>> int(generator_from(3).integers(10)) == int(np.random.default_rng(3).integers(10))
    True
    >>> bool(generator_from(3, "rows").random() == generator_from(3, "labels").random())
    False
    """
    try:
        if of and isinstance(rng, Integral) and not isinstance(rng, bool):
            return np.random.default_rng(np.random.SeedSequence(int(rng), spawn_key=tuple(of.encode())))
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise ParameterError.out_of_range(
            "rng", rng, "a seed (a whole number, at least 0), a Generator or None"
        ) from None
