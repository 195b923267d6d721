"""`question`: the decorator of every public function. It describes shared options and stores the call in the result.

The docstring of a question describes its own options. Options of several functions are described here once, and
copied into each docstring.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

from blankets.data import ReadingOptions
from blankets.errors import Interrupted, ParameterError, did_you_mean, own_errors
from blankets.records import Call
from blankets.results import Blankets
from blankets.search import ALGORITHMS

_HEAD = "Parameters\n----------\n"

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])

SHARED = {
    "data": """\
data : data frame, array, sparse matrix, path to a file (CSV, Excel, Parquet ...), Frame, Store or SqlTable
    The table; also a folder, a glob or a list of files, and the path of a store (see `pack`); in `discover`,
    `discover_all` and `test` also a test that knows its columns, such as `DSeparation`. Columns may be
    categorical, text, numbers or booleans. Numbers stay numbers where the test takes them (``test="auto"``); where
    rows are counted they are cut into levels.""",
    "target": """\
target : str or int, optional
    Name of the target column (its number, for an array without names).""",
    "y": """\
y : array_like, optional
    The target, where it is not a column of ``data``.""",
    "algorithm": """\
algorithm : str
    A name from `algorithms`, or "auto": "two-view", which came nearest to the true blankets of known networks.""",
    "options": """\
options : mapping, optional
    Options of the algorithm, for example ``{"k": 2}`` for "fbed".""",
    "alpha": """\
alpha : float
    Significance level of every test: dependent if p <= alpha.""",
    "test": """\
test : {"auto", "g", "x2", "fisher-z"} or Testing
    How independence is tested; a string means `Testing` with its defaults. In `discover`, `discover_all`
    and `test` also a test of your own: an object with ``names`` and ``scan``; see
    `blankets.independence.check_test`.""",
    "roles": """\
roles : bool
    Also find which members are neighbors and which are spouses, if the algorithm does not say so itself, and
    which neighbors are parents or children, where the data can show it.""",
    "close": """\
close : bool
    Check the answer against the definition of a blanket and repair it: every other column is tested given the
    members, and enters if it is dependent. False: the algorithm exactly as published.""",
    "knowledge": """\
knowledge : Knowledge, optional
    What is known beforehand: the order of columns in time, members that are required or forbidden, columns that belong
    together, columns that every test is given (`test` uses only these); see `Knowledge`.""",
    "labels": """\
labels : str or Regime
    Why labels of the target are missing: "supervised" (none is missing), "pu" (only positives are labeled), "mcar"
    (by chance), "mar-f" (depends on features), "mar-c" (depends on the class), or a regime such as
    ``bl.PositiveUnlabeled(prior=0.2)``, which can also say what to count in place of the target (the surrogate).
    Rows without a label have a missing target, or -1. "auto": the regime that the labels suggest, if only one fits.""",
    "prior": """\
prior : float, str, (low, high), distribution or None
    What is known about p(y=1), the share of positives: 0.2, "<0.4", (0.1, 0.3), ``bl.Beta(...)``. If ``labels`` is a
    regime object, give the prior there.""",
    "under_reported": """\
under_reported : str, list of str, or dict of str to prior
    Binary features in which some true "yes" were recorded as "no". With the true share of "yes", power and
    information can be computed too. This is valid only if every "yes" had the same chance to be recorded.""",
    "engine": """\
engine : {"auto", "memory", "dask", "sql"} or Engine
    Where rows are counted; a string means `Engine` with its defaults. Counts do not depend on it. Numbers stay
    numbers in memory only.""",
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
    ``unlabeled_marker``, ``sample_weight``, ``groups``, ``survey_weight``, ``ordered``, ``separator``, ``decimal``,
    ``date_order``, ``encoding``, ``na``, ``sheet``; see `Reading`.""",
}

_RENAMED = {"n_features": "k", "n_threads": "n_jobs", "n_draws": "n_resamples", "n_bootstrap": "n_resamples"}


@cache
def _places() -> dict[str, tuple[str, ...]]:
    """Return options that are fields of an object, or options of an algorithm, by where to give them."""
    return {
        "test=bl.Testing({}=...)": ("dof", "reliability", "strength"),
        "knowledge=bl.Knowledge({}=...)": ("tiers", "required", "forbidden", "together", "always_given"),
        "engine=bl.Engine({}=...)": ("address", "memory_limit", "checkpoint"),
        "labels=bl.PositiveUnlabeled({0}=...) or bl.SemiSupervised(..., {0}=...)": (
            "surrogate",
            "force",
            "given_drivers",
        ),
        "options={{'{}': ...}}": tuple(sorted({name for entry in ALGORITHMS.values() for name in entry.options})),
    }


def question(function: Callable[P, R]) -> Callable[P, R]:
    """Make a public function: describe its shared options, and store the call in its result.

    All errors in it are raised as errors of this library.
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

    asked.is_guarded = True  # type: ignore[attr-defined]
    return described(asked)


def described(function: F) -> F:
    """Put the descriptions of shared options into the docstring of a function, in the order of its parameters."""
    if function.__doc__ is not None:  # python -OO has none
        summary, own, rest = _sections(inspect.cleandoc(function.__doc__))
        said = {name: part for part in own for name in re.split(r",\s*", part.split(" :")[0].split("\n")[0])}
        said = {name.lstrip("*"): part for name, part in said.items()}
        parts = [said.get(name) or SHARED[name] for name in inspect.signature(function).parameters]
        function.__doc__ = f"{summary}\n\n{_HEAD}{chr(10).join(dict.fromkeys(parts))}\n\n{rest}"
    return function


def _sections(doc: str) -> tuple[str, list[str], str]:
    """Split a docstring: the text before the parameters, the description of each, the text after them."""
    before, _, after = doc.partition(_HEAD) if _HEAD in doc else doc.partition("\n\nReturns\n")
    if _HEAD not in doc:
        return before, [], f"Returns\n{after}"
    section, rest = after.split("\n\nReturns\n", 1)
    return before.rstrip(), re.split(r"\n(?=\S)", section), f"Returns\n{rest}"


def _check_names(reading: Mapping[str, Any], signature: inspect.Signature) -> None:
    """Refuse unknown arguments, and say where they belong or which name may have been meant."""
    for name in reading:
        if name in ReadingOptions.__annotations__:
            continue
        place = next((where for where, names in _places().items() if name in names), "")
        if place and place.partition("=")[0] in signature.parameters:
            raise ParameterError(f"{name!r} is not an argument of its own: say {place.format(name)}")
        known = [*signature.parameters, *ReadingOptions.__annotations__, *(n for ns in _places().values() for n in ns)]
        known = [other for other in known if other != name]  # a field of an object that this function does not take
        raise ParameterError(f"there is no argument {name!r}{did_you_mean(_RENAMED.get(name, name), known)}")


def _keep(result: Any, function: str, given: Mapping[str, Any]) -> None:
    """Complete the call stored in a new result: the question has already stored the table's fingerprint there.

    The result is changed in place: a copy would compute the fields that a blanket computes only on demand.
    """
    made = list(result.values()) if isinstance(result, Blankets) else [result]
    known = next((one.call.fingerprint for one in made if one.call is not None), "")
    call = Call.of(function, given, known)
    for one in made:
        object.__setattr__(one, "call", call)
