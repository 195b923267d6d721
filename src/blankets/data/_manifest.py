"""`Manifest`: what a result was made with, so that somebody else, or oneself a year later, can make it again."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from blankets.errors import DataError

__all__ = ["Manifest", "manifest_of"]

PACKAGES = ("blankets", "numpy", "scipy", "narwhals")
NOT_SAID = ("data", "source", "y", "progress", "study")  # the table itself, and what no answer depends on


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a result was made with.

    Attributes
    ----------
    call : str
        The function that was called.
    arguments : dict
        Its arguments, except the table; objects as texts.
    versions : dict of str to str
        Versions of Python and of the packages that compute.
    fingerprint : str
        A hash of the table as it was counted: names, levels and codes of all columns used, and which labels are
        missing. The same table has the same fingerprint as a data frame, an array, a file or a store; as a sparse
        matrix it has another one. Of an SQL source it is a hash of the query; empty where it is not known.
    seed : int, str or None
        The seed of random numbers: "a generator" if one was handed over, None if none was given.

    Examples
    --------
    >>> manifest = manifest_of("discover", {"target": "ill", "alpha": 0.01, "rng": 7}, fingerprint="ab12")
    >>> manifest.seed, manifest.arguments, sorted(manifest.versions)[:2]
    (7, {'target': 'ill', 'alpha': 0.01}, ['blankets', 'narwhals'])
    >>> Manifest.from_dict(manifest.to_dict()) == manifest
    True
    """

    call: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    fingerprint: str = ""
    seed: int | str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "call": self.call,
            "arguments": dict(self.arguments),
            "versions": dict(self.versions),
            "fingerprint": self.fingerprint,
            "seed": self.seed,
        }

    @classmethod
    def from_dict(cls, content: object) -> Manifest:
        """Read what `to_dict` wrote; raises DataError if it is anything else."""
        kinds = {"call": str, "arguments": dict, "versions": dict, "fingerprint": str, "seed": int | str | None}
        if not isinstance(content, Mapping):
            raise DataError("this is not a saved result: 'manifest' is not a mapping")
        for name, kind in kinds.items():
            if name not in content or not isinstance(content[name], kind):
                raise DataError(f"this is not a saved result: {name!r} in 'manifest' is missing or odd")
        if not all(isinstance(value, str) for value in content["versions"].values()):
            raise DataError("this is not a saved result: 'versions' in 'manifest' is missing or odd")
        try:
            json.dumps(content["arguments"], allow_nan=False)
        except (TypeError, ValueError):
            raise DataError("this is not a saved result: 'arguments' in 'manifest' is missing or odd") from None
        return cls(**{name: content[name] for name in kinds})


def manifest_of(call: str, arguments: Mapping[str, Any], fingerprint: str) -> Manifest:
    """Return the manifest of a call, from all of its arguments (its ``locals()`` at the start)."""
    said = {**arguments, **(arguments.get("options") or {}), **(arguments.get("reading") or {})}
    seed = said.pop("rng", None)
    for name in (*NOT_SAID, "options", "reading"):
        said.pop(name, None)
    return Manifest(
        call=call,
        arguments={name: _plain(value) for name, value in said.items()},
        versions=_versions(),
        fingerprint=fingerprint,
        seed=int(seed) if isinstance(seed, int | np.integer) else None if seed is None else "a generator",
    )


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; what it does not have is a text."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Iterable):
        return [_plain(item) for item in value]
    return str(value)


def _versions() -> dict[str, str]:
    """Return the versions of what is loaded; asking for those of installed packages takes a tenth of a second."""
    loaded = {name: getattr(sys.modules.get(name), "__version__", None) for name in PACKAGES}
    return {"python": platform.python_version(), **{name: str(v) for name, v in loaded.items() if v is not None}}
