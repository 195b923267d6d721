"""The call and the command line that give the same result again."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from blankets.questions.discover import algorithms, discover

if TYPE_CHECKING:
    from blankets.results import Blanket

__all__ = ["reproduce", "versions"]

_PLACEHOLDER = "data.csv"
_ALWAYS = ("algorithm", "alpha")  # said even where they are the defaults of today
_LISTS = ("keep", "exclude")
_OPTIONS = {
    name: f"--{name.replace('_', '-')}"
    for name in (
        *("algorithm", "alpha", "test", "dof", "reliability", "strength", "discretize", "n_bins", "missing"),
        *("labels", "surrogate", "positive", "unlabeled_marker"),
    )
} | {"rng": "--seed"}
_FLAGS = {"roles": ["--roles"], "force": ["--force"], "given_drivers": ["--no-given-drivers"]}
_NUMBER = r"([0-9.e-]+)"
# p(y=1) as it is told, in Python and on a command line.
_PRIORS = (
    (re.compile(_NUMBER), r"\1", r"\1"),
    (re.compile(rf"below {_NUMBER}"), r"'<\1'", r"<\1"),
    (re.compile(rf"above {_NUMBER}"), r"'>\1'", r">\1"),
    (re.compile(rf"between {_NUMBER} and {_NUMBER}"), r"(\1, \2)", r"\1-\2"),
    (re.compile(r"(Beta\([^()]*\))"), r"bl.\1", r"\1"),
)


@dataclass(frozen=True)
class _Term:
    """One argument: as Python, and as words of a command line (None: it cannot say it)."""

    python: str
    words: list[str] | None
    note: str = ""


def reproduce(blanket: Blanket, source: str = "") -> dict[str, str]:
    """Return the Python and the command line for the same search, and what must be supplied to them.

    The command line is empty where it cannot say what the call can.

    Examples
    --------
    >>> from blankets.results import Blanket
    >>> blanket = Blanket(target="ill", members=(), strengths={}, algorithm="fbed", columns=("age", "ill"), n_rows=9,
    ...                   settings={"alpha": 0.05, "test": "x2", "missing": "error", "k": 2})
    >>> told = reproduce(blanket, "my patients.csv")
    >>> print(told["cli"])
    blankets discover 'my patients.csv' --target ill --algorithm fbed --alpha 0.05 --test x2 --option k=2
    >>> print(told["python"].splitlines()[1])
    blanket = bl.discover('my patients.csv', 'ill', algorithm='fbed', alpha=0.05, test='x2', k=2)
    """
    file = source or _PLACEHOLDER
    terms = [_target(blanket), *_terms(blanket)]
    notes = [] if source else [f"{_PLACEHOLDER} stands for your data."]
    notes += [term.note for term in terms if term.note]
    said = ", ".join(term.python for term in terms)
    call = "bl.discover({0!r}, {1})"
    if _of_many(blanket):
        call = f"bl.discover_all({{0!r}}, {{1}})[{blanket.target!r}]"
    python = f"import blankets as bl\nblanket = {call.format(file, said)}"
    words = ["blankets", "discover", file if not file.startswith("-") else f"./{file}"]
    for term in terms:
        if term.words is None:
            notes.append("There is no command line for this.")
            return {"python": python, "cli": "", "note": " ".join(notes)}
        words += term.words
    return {"python": python, "cli": shlex.join(words), "note": " ".join(notes)}


def _of_many(blanket: Blanket) -> bool:
    """Whether the targets were searched together, so that each had random numbers of its own."""
    made = blanket.call
    return made is not None and made.function == "discover_all" and made.seed is not None


def _target(blanket: Blanket) -> _Term:
    name, made = blanket.target, blanket.call
    if made is not None and made.function == "discover" and made.options.get("target") is None:
        return _Term("y=y", None, "y stands for the values of the target, which were given apart from the table.")
    if made is not None and _of_many(blanket):
        return _Term(f"{made.options.get('targets')!r}", None)
    return _Term(f"{name!r}", ["--target", name] if not name.startswith("-") else [f"--target={name}"])


def _terms(blanket: Blanket) -> list[_Term]:
    """Return the arguments that a call must repeat: those that differ from today's defaults, and options."""
    usual = {name: parameter.default for name, parameter in inspect.signature(discover).parameters.items()}
    options = next((entry.options for entry in algorithms() if entry.name == blanket.algorithm), {})
    chosen: dict[str, Any] = {"algorithm": blanket.algorithm}
    for key, value in _as_asked(blanket).items():
        if key not in usual and key not in options:
            continue  # a finding, such as κ, and not a choice
        plain = list(value) if isinstance(value, tuple) else value
        default = usual.get(key, options.get(key))
        if key in _ALWAYS or plain != (list(default) if isinstance(default, tuple) else default):
            chosen[key] = plain
    order = list(usual)
    ordered = sorted(chosen.items(), key=lambda item: order.index(item[0]) if item[0] in order else len(order))
    apart = blanket.settings.get("sampling") == "case-control"
    return [
        _regime(chosen) if key == "labels" and apart else _term(key, value)
        for key, value in ordered
        if not (apart and key == "prior")
    ]


def _as_asked(blanket: Blanket) -> dict[str, Any]:
    """Return what was chosen, under the names under which a call takes it."""
    asked = dict(blanket.settings)
    if asked.pop("surrogate_is_valid", True) is False:
        asked["force"] = True
    if asked.get("surrogate") == "full":
        del asked["surrogate"]
    if (made := blanket.call) is not None:
        asked |= {key: made.options[key] for key in ("positive", "unlabeled_marker") if key in made.options}
        asked |= {key: False for key in ("given_drivers",) if made.options.get(key) is False}
        asked["rng"] = made.seed
    return asked


def _term(key: str, value: Any) -> _Term:
    if key == "prior":
        return _prior(str(value))
    if key == "rng" and not isinstance(value, int):
        return _Term("rng=rng", None, "rng stands for the generator that was handed over, in the state that it had.")
    python = f"{key}={value!r}"
    if isinstance(value, Mapping) or (key not in _LISTS and isinstance(value, list)):
        return _Term(python, None)
    if key in _FLAGS:
        return _Term(python, _FLAGS[key])
    if key in _LISTS:
        return _Term(python, [word for name in value for word in ("--" + key, str(name))])
    if key in _OPTIONS:
        return _Term(python, [_OPTIONS[key], f"{value}"])
    text = str(value).lower() if isinstance(value, bool | None) else value
    return _Term(python, ["--option", f"{key}={text}"])


def _prior(said: str) -> _Term:
    for pattern, python, word in _PRIORS:
        if found := pattern.fullmatch(said):
            return _Term(f"prior={found.expand(python)}", ["--prior", found.expand(word)])
    return _Term("prior=prior", None, f"prior stands for what was said of p(y=1): {said}.")


def _regime(chosen: Mapping[str, Any]) -> _Term:
    """Return the regime of positives that were collected apart from the other rows."""
    prior = _prior(str(chosen["prior"])) if chosen.get("prior") is not None else _Term("", [])
    inside = ", ".join(filter(None, [prior.python, "sampling='case-control'"]))
    words = None if prior.words is None else ["--labels", "pu", *prior.words, "--sampling", "case-control"]
    return _Term(f"labels=bl.PositiveUnlabeled({inside})", words, prior.note)


def versions(blanket: Blanket) -> list[list[str]]:
    """Return what the result was made with: versions, fingerprint of the data, seed."""
    made = blanket.call
    if made is None:
        return [["Not on record", "the result was made by a version that kept no call"]]
    seed = "none was given" if made.seed is None else str(made.seed)
    return [*map(list, made.versions.items()), ["Fingerprint of the data", made.fingerprint], ["Seed", seed]]
