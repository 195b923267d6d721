"""`question`: what every public function shares: the words for shared options, errors of our own, and the call
kept in its result.

A line ``$labels`` in the docstring of a question stands for the description of ``labels`` below, so that an option
that several functions take is described once.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from blankets.data import ReadingOptions
from blankets.errors import Interrupted, ParameterError, did_you_mean, own_errors
from blankets.records import Call
from blankets.results import Blankets
from blankets.search import ALGORITHMS

__all__ = ["SHARED", "described", "question"]

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])

SHARED = {
    "data": """\
data : data frame, array, sparse matrix, path to a CSV or Parquet file, Frame, Store or SqlTable
    The table; also a folder, a glob or a list of files, and the path of a store (see `pack`). Columns may be
    categorical, text, numbers or booleans; continuous ones are cut into levels (not for ``test="fisher-z"``).""",
    "target": """\
target : str or int, optional
    Name of the target column (its number, for an array without names).""",
    "y": """\
y : array_like, optional
    The target, where it is not a column of ``data``.""",
    "algorithm": """\
algorithm : str
    A name from `algorithms`, or "auto": the one that came nearest to the blankets of known networks, "two-view".""",
    "options": """\
options : mapping, optional
    Options of the algorithm, for example ``{"k": 2}`` for "fbed".""",
    "alpha": """\
alpha : float
    Significance level of every test: dependent if p <= alpha.""",
    "test": """\
test : {"auto", "g", "x2", "fisher-z"} or Testing
    How independence is tested; a word stands for `Testing` with its defaults.""",
    "labels": """\
labels : str or Regime
    Why labels of the target are missing: "supervised" (none is), "pu" (only positives are labeled), "mcar",
    "mar-f", "mar-c", or a regime such as ``bl.PositiveUnlabeled(prior=0.2)``, which can also say what is
    counted in place of the target. Rows without a label have a missing target, or -1. "auto" takes the regime that
    the labels suggest, if only one fits.""",
    "prior": """\
prior : float, str, (low, high), distribution or None
    What is known about p(y=1), the share of positives: 0.2, "<0.4", (0.1, 0.3), ``bl.Beta(...)``; a regime object
    has its own.""",
    "under_reported": """\
under_reported : str, list of str, or dict of str to prior
    Binary features in which some true "yes" were recorded as "no". With the true share of "yes", power and
    information can be computed too. Valid if it depends on nothing else which "yes" were recorded.""",
    "engine": """\
engine : {"auto", "memory", "dask", "sql"} or Engine
    Where rows are counted; a word stands for `Engine` with its defaults. The answer does not depend on it.""",
    "n_jobs": """\
n_jobs : int, optional
    Number of threads; None or -1: all processors. The answer does not depend on it.""",
    "progress": """\
progress : bool or callable
    Show a progress line on a terminal, or call this with a sentence for every step.""",
    "rng": """\
rng : int, Generator or None
    Seed, or generator, of all random numbers.""",
    "reading": """\
**reading
    How the table is read: ``missing``, ``discretize``, ``n_bins``, ``keep``, ``columns``, ``exclude``, ``positive``,
    ``unlabeled_marker``; see `Reading`.""",
}

# Where options live that are fields of an object or options of an algorithm.
_PLACES = {
    "test=bl.Testing({}=...)": ("dof", "reliability", "strength"),
    "engine=bl.Engine({}=...)": ("address", "memory_limit", "checkpoint"),
    "labels=bl.PositiveUnlabeled({0}=...) or bl.SemiSupervised(..., {0}=...)": ("surrogate", "force", "given_drivers"),
    "options={{'{}': ...}}": tuple(sorted({name for entry in ALGORITHMS.values() for name in entry.options})),
}

_PLACE = re.compile(r"^( *)\$(\w+)$", re.MULTILINE)


def question(function: Callable[P, R]) -> Callable[P, R]:
    """Make a public function of one that returns a result: describe its shared options, keep the call.

    Whatever goes wrong in it comes out as an error of ours.
    """
    signature = inspect.signature(function)

    @wraps(function)
    def asked(*args: P.args, **kwargs: P.kwargs) -> R:
        given = signature.bind(*args, **kwargs).arguments
        _check_names(given.get("reading", {}), signature)
        try:
            with own_errors():
                result = function(*args, **kwargs)
        except Interrupted as stopped:
            if isinstance(stopped.found, Blankets) or hasattr(stopped.found, "call"):
                _keep(stopped.found, function.__name__, given)
            raise
        _keep(result, function.__name__, given)
        return result

    return described(asked)


def described(function: F) -> F:
    """Put the descriptions of shared options into the docstring of a function."""
    if function.__doc__ is not None:  # python -OO has none
        function.__doc__ = _PLACE.sub(_description, function.__doc__)
    return function


def _description(found: re.Match[str]) -> str:
    return "\n".join(found[1] + line for line in SHARED[found[2]].splitlines())


def _check_names(reading: Mapping[str, Any], signature: inspect.Signature) -> None:
    """Refuse arguments that the function does not have, and say where they belong or what may have been meant."""
    for name in reading:
        if name in ReadingOptions.__annotations__:
            continue
        place = next((where for where, names in _PLACES.items() if name in names), "")
        if place and place.partition("=")[0] in signature.parameters:
            raise ParameterError(f"{name!r} is not an argument of its own: say {place.format(name)}")
        known = [*signature.parameters, *ReadingOptions.__annotations__, *(n for ns in _PLACES.values() for n in ns)]
        raise ParameterError(f"there is no argument {name!r}{did_you_mean(name, known)}")


def _keep(result: Any, function: str, given: Mapping[str, Any]) -> None:
    """Complete the call of a result that was just made: the question has left the table's fingerprint in it.

    The result is changed in place: a copy would work out all that a blanket tells only when it is asked.
    """
    made = list(result.values()) if isinstance(result, Blankets) else [result]
    known = next((one.call.fingerprint for one in made if one.call is not None), "")
    call = Call.of(function, given, known)
    for one in made:
        object.__setattr__(one, "call", call)
