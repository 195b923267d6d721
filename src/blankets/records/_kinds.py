"""Write options as plain data, and build the objects again from it.

An object of a class that was `named` is written as ``{"class": "PositiveUnlabeled", "prior": 0.2}``: no field of a
Python class can be called "class". For values that cannot be written, only the type is stored.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence, Set
from dataclasses import MISSING, fields
from typing import Any, TypeVar

import numpy as np

from blankets.errors import ParameterError

T = TypeVar("T", bound=type)
_KINDS: dict[str, type] = {}
PRIVATE = ("address", "checkpoint", "memory_limit")  # about the user's machine; answers do not depend on them
_SCIPY = "scipy.stats."
_OF_SCIPY = ("beta", "norm", "triang", "truncnorm", "uniform")


def named(kind: T) -> T:
    """Decorate a class so that its objects can be written with a call and built again.

    The class is a dataclass, built again from its fields, or it has a method ``_said`` that returns its arguments, or a
    shorthand (a number, a string, a pair) that users may write in its place.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @named
    ... @dataclass(frozen=True)
    ... class Dose:
    ...     milligrams: float
    ...     often: int = 1
    >>> as_data(Dose(5.0))
    {'class': 'Dose', 'milligrams': 5.0}
    >>> built({'class': 'Dose', 'milligrams': 5.0, 'often': 2})
    Dose(milligrams=5.0, often=2)
    """
    _KINDS[kind.__name__] = kind
    return kind


def is_named(value: object) -> bool:
    """Tell whether a value can be written with its class."""
    return _KINDS.get(type(value).__name__) is type(value)


def as_data(value: Any) -> Any:
    """Return a value in the types of JSON.

    >>> as_data({"alpha": np.float64(0.1), "keep": ("age",), "y": object()})
    {'alpha': 0.1, 'keep': ['age'], 'y': {'not kept': 'object'}}
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): as_data(item) for key, item in value.items()}
    if isinstance(value, Sequence | Set):
        return [as_data(item) for item in value]
    if is_named(value):
        said = value._said() if hasattr(value, "_said") else _fields_of(value)
        return {"class": type(value).__name__, **as_data(said)} if isinstance(said, Mapping) else as_data(said)
    return _of_scipy(value) or not_kept(value)


def _fields_of(value: Any) -> dict[str, object]:
    """Return the fields of a dataclass that differ from their defaults, without those about the user's machine."""
    said = {}
    for field in fields(value):
        usual = field.default if field.default_factory is MISSING else field.default_factory()
        held = getattr(value, field.name)
        if field.name not in PRIVATE and not (usual is not MISSING and type(held) is type(usual) and held == usual):
            said[field.name] = held
    return said


def _of_scipy(value: Any) -> dict[str, Any] | None:
    """Return a frozen distribution of SciPy by its name and numbers; None for anything else."""
    name = getattr(getattr(value, "dist", None), "name", None)
    if name not in _OF_SCIPY or not type(value).__module__.startswith("scipy.stats"):
        return None
    said = {"args": as_data(value.args), "kwds": as_data(value.kwds)}
    numbers = [*said["args"], *said["kwds"].values()]
    return {"class": f"{_SCIPY}{name}", **said} if all(isinstance(one, int | float) for one in numbers) else None


def built(data: Any) -> Any:
    """Return the value from which `as_data` made this; lists stay lists.

    >>> built({"class": "scipy.stats.beta", "args": [4, 9], "kwds": {}}).args
    (4, 9)
    """
    if isinstance(data, list):
        return [built(item) for item in data]
    if not isinstance(data, Mapping):
        return data
    inside = {key: built(item) for key, item in data.items()}
    if "class" not in inside:
        return inside
    name = inside.pop("class")
    if isinstance(name, str) and name.startswith(_SCIPY) and name.removeprefix(_SCIPY) in _OF_SCIPY:
        from scipy import stats

        return getattr(stats, name.removeprefix(_SCIPY))(*inside["args"], **inside["kwds"])
    if name not in _KINDS:
        raise ParameterError(f"this version of blankets has no {name!r}, which the call names; give that option again")
    return _KINDS[name](**inside)


def not_kept(value: object) -> dict[str, str]:
    """Return the mark for a value that is not written."""
    return {"not kept": type(value).__name__}


def is_kept(data: Any) -> bool:
    """Tell whether a value and everything in it was written."""
    if isinstance(data, Mapping):
        return "not kept" not in data and all(map(is_kept, data.values()))
    return not isinstance(data, list) or all(map(is_kept, data))


def as_python(data: Any, name: str) -> str:
    """Return Python code for a value; ``name`` is used for a value that was not stored.

    >>> as_python({"class": "PositiveUnlabeled", "prior": [0.1, 0.3]}, "labels")
    'bl.PositiveUnlabeled(prior=[0.1, 0.3])'
    """
    if isinstance(data, str):
        return json.dumps(data, ensure_ascii=not data.isprintable())
    if isinstance(data, list):
        return f"[{', '.join(as_python(item, name) for item in data)}]"
    if not isinstance(data, Mapping):
        return repr(data)
    if not is_kept(data):
        return name
    inside = {key: item for key, item in data.items() if key != "class"}
    if "class" not in data:
        return f"{{{', '.join(f'{as_python(key, name)}: {as_python(item, name)}' for key, item in inside.items())}}}"
    if data["class"].startswith(_SCIPY):
        said = [repr(one) for one in data["args"]] + [f"{key}={one!r}" for key, one in data["kwds"].items()]
        return f"{data['class']}({', '.join(said)})"
    return f"{_place(data['class'])}({', '.join(f'{key}={as_python(item, key)}' for key, item in inside.items())})"


def _place(name: str) -> str:
    """Return where users find a class: in the package itself, or in one of its subpackages."""
    if name not in _KINDS or hasattr(sys.modules["blankets"], name):
        return f"bl.{name}"
    return f"bl.{_KINDS[name].__module__.split('.')[1]}.{name}"
