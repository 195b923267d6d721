"""The call and the command line that give the same result again."""

from __future__ import annotations

import inspect
import platform
import re
import shlex
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from blankets._discover import discover
from blankets.search import ALGORITHMS

if TYPE_CHECKING:
    from blankets.results import Blanket

__all__ = ["reproduce", "versions"]

_PLACEHOLDER = "data.csv"
_ALWAYS = ("algorithm", "alpha")  # said even where they are the defaults of today
_LISTS = ("keep", "exclude")
_OPTIONS = (
    *("algorithm", "alpha", "test", "dof", "reliability", "strength", "discretise", "bins", "missing"),
    *("labels", "prior", "surrogate"),
)
_FLAGS = ("roles", "force")
_PRIORS = (
    (re.compile(r"below ([0-9.e-]+)"), r"<\1"),
    (re.compile(r"above ([0-9.e-]+)"), r">\1"),
    (re.compile(r"between ([0-9.]+) and ([0-9.]+)"), r"\1-\2"),
)
_PACKAGES = ("blankets", "numpy", "scipy", "numba", "narwhals")


def reproduce(blanket: Blanket, source: str = "") -> dict[str, str]:
    """Return the Python and the command line for the same search; the latter is empty where there is none.

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
    chosen = _chosen(blanket)
    said = ", ".join(f"{key}={value!r}" for key, value in chosen.items())
    file = source or _PLACEHOLDER
    python = f"import blankets as bl\nblanket = bl.discover({file!r}, {blanket.target!r}, {said})"
    note = "" if source else f"{_PLACEHOLDER} stands for your data."
    return {"python": python, "cli": _command(file, blanket.target, chosen), "note": note}


def _chosen(blanket: Blanket) -> dict[str, Any]:
    """Return the settings that a call must repeat: those that differ from today's defaults, and options."""
    usual = {name: parameter.default for name, parameter in inspect.signature(discover).parameters.items()}
    chosen: dict[str, Any] = {"algorithm": blanket.algorithm}
    entry = ALGORITHMS.get(blanket.algorithm)
    options = {} if entry is None else entry.options
    for key, value in _as_asked(blanket.settings).items():
        if key not in usual and key not in options:
            continue  # a finding, such as κ, and not a choice
        plain = list(value) if isinstance(value, tuple) else value
        default = usual.get(key, options.get(key))
        if key in _ALWAYS or plain != (list(default) if isinstance(default, tuple) else default):
            chosen[key] = plain
    order = list(usual)
    return dict(sorted(chosen.items(), key=lambda item: order.index(item[0]) if item[0] in order else len(order)))


def _as_asked(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings under the names and in the form in which a call takes them."""
    asked = dict(settings)
    if asked.pop("surrogate_is_valid", True) is False:
        asked["force"] = True
    if asked.get("surrogate") == "full":
        del asked["surrogate"]
    for pattern, form in _PRIORS:
        if found := pattern.fullmatch(str(asked.get("prior"))):
            asked["prior"] = found.expand(form)
    return asked


def _command(file: str, target: str, chosen: Mapping[str, Any]) -> str:
    words = ["blankets", "discover", file if not file.startswith("-") else f"./{file}"]
    words += ["--target", target] if not target.startswith("-") else [f"--target={target}"]
    for key, value in chosen.items():
        if isinstance(value, Mapping) or (key not in _LISTS and isinstance(value, list)):
            return ""  # more than a command line can say
        if key in _FLAGS:
            words += [f"--{key}"]
        elif key in _LISTS:
            words += [word for name in value for word in (f"--{key}", str(name))]
        elif key in _OPTIONS:
            words += [f"--{key}", f"{value}"]
        else:
            words += ["--option", f"{key}={str(value).lower() if isinstance(value, bool | None) else value}"]
    return shlex.join(words)


def versions() -> list[list[str]]:
    """Return the versions of what computes, as they are now."""
    found = [["Python", platform.python_version()]]
    for package in _PACKAGES:
        try:
            found.append([package, version(package)])
        except PackageNotFoundError:
            continue
    return found
