"""The Python call and the command line that reproduce a result."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from blankets.records import is_kept

if TYPE_CHECKING:
    from blankets.records import Call
    from blankets.results import Blanket

_PLACEHOLDER = "data.csv"
_NOT_KEPT = "the result has no call"
_MEANING = {
    "y": "the values of the target, which were given apart from the table",
    "rng": "the generator that was handed over, in the state that it had",
    "prior": "what was said of p(y=1): {prior}",
}


def reproduce(blanket: Blanket, source: str = "") -> dict[str, str]:
    """Return the Python call and the command line for the same search, and what the user must add to them.

    The command line is empty if it cannot express the call; both are empty if the call is not known.

    Examples
    --------
    >>> from blankets.records import Call
    >>> from blankets.results import Blanket
    >>> call = Call.of("discover", {"target": "ill", "algorithm": "fbed", "test": "x2", "options": {"k": 2}})
    >>> told = reproduce(Blanket(target="ill", members=(), strengths={}, algorithm="fbed", settings={},
    ...                          columns=("age", "ill"), n_rows=9, call=call), "my patients.csv")
    >>> print(told["cli"])
    blankets discover 'my patients.csv' --target ill --algorithm fbed --test x2 --option k=2
    >>> print(told["python"].splitlines()[1])
    blanket = bl.discover('my patients.csv', "ill", algorithm="fbed", test="x2", options={"k": 2})
    """
    if blanket.call is None:
        return {"python": "", "cli": "", "note": f"The call is not on record: {_NOT_KEPT}."}
    call, file = _alone(blanket.call, blanket.target), source or _PLACEHOLDER
    python = call.to_python(repr(file)) + (f"[{blanket.target!r}]" if call.function == "discover_all" else "")
    notes = [] if source else [f"{_PLACEHOLDER} stands for your data."]
    gone = [name for name, value in call.options.items() if not is_kept(value)]
    gone += ["rng"] if isinstance(call.seed, str) else []
    notes += [f"{name} stands for {_MEANING.get(name, 'an object').format(**blanket.settings)}." for name in gone]
    notes += filter(None, [call.why_no_command])
    cli = call.to_command(file) or ""
    return {"python": f"import blankets as bl\nblanket = {python}", "cli": cli, "note": " ".join(notes)}


def _alone(call: Call, target: str) -> Call:
    """Return the search for one target; not with a seed: random numbers of a target depend on the other targets."""
    if call.function != "discover_all" or call.seed is not None:
        return call
    options = {name: value for name, value in call.options.items() if name != "targets"}
    return replace(call, function="discover", options={"target": target, **options})


def made_with(blanket: Blanket) -> list[list[str]]:
    """Return what the result was made with: versions, fingerprint of the data, seed."""
    made = blanket.call
    if made is None:
        return [["Not on record", _NOT_KEPT]]
    seed = "none was given" if made.seed is None else str(made.seed)
    return [*map(list, made.versions.items()), ["Fingerprint of the data", made.fingerprint], ["Seed", seed]]
