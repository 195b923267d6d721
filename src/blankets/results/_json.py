"""Results as JSON and back. What comes back is checked: a file may be old, cut off, or not ours at all."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

from blankets.data import Manifest
from blankets.errors import DataError
from blankets.results._evidence import NamedEvidence, PassedOver, Step
from blankets.results._missed import missed
from blankets.results._record import oddity
from blankets.stats import FalseMembers

if TYPE_CHECKING:
    from blankets.results._blanket import Blanket

__all__ = [
    "SCHEMA_VERSION",
    "Reader",
    "checked",
    "from_dict",
    "manifest_from",
    "parsed",
    "plain",
    "read",
    "to_dict",
    "write",
]

SCHEMA_VERSION = 2
"""Raised when the form changes; results of all earlier versions are read too.

1: the first. 2: with a manifest, and blankets with the expected number of false members.
"""

T = TypeVar("T")
_ROLES = {"parent", "child", "spouse", "neighbour"}
_ACTIONS = ("admitted", "removed", "passed over")
_ARRAYS = {
    "columns": np.int64,
    "phase": np.int64,
    "given": np.int64,
    "statistic": np.float64,
    "dof": np.float64,
    "log_p": np.float64,
    "n_rows": np.int64,
    "reliable": np.bool_,
    "method": np.int64,
}


def to_dict(blanket: Blanket) -> dict[str, Any]:
    """Return a blanket as plain values; the order of keys is the order of reading."""
    return {
        "schema": "blankets/blanket",
        "schema_version": SCHEMA_VERSION,
        "target": blanket.target,
        "members": list(blanket.members),
        "roles": dict(blanket.roles),
        "common_children": dict(blanket.common_children),
        "strengths": [_evidence_to_dict(e) for e in blanket.strengths.values()],
        "algorithm": blanket.algorithm,
        "why_algorithm": blanket.why_algorithm,
        "finds": blanket.finds,
        "settings": plain(blanket.settings),
        "n_rows": blanket.n_rows,
        "n_tests": blanket.n_tests,
        "seconds": blanket.seconds,
        "warnings": list(blanket.warnings),
        "excluded": dict(blanket.excluded),
        "data": plain(blanket.data),
        "columns": list(blanket.columns),
        "decisions": [
            {"action": s.action, "phase": s.phase, "reason": s.reason, **_evidence_to_dict(s.evidence)}
            for s in blanket.decisions
        ],
        "separators": {name: list(among) for name, among in blanket.separators.items()},
        "passed_over": {
            "phases": list(blanket.passed_over.phases),
            "givens": [list(given) for given in blanket.passed_over.givens],
            "methods": list(blanket.passed_over.methods),
            **{key: plain(getattr(blanket.passed_over, key)) for key in _ARRAYS},
        },
        "could_have_missed": _missed_to_dict(blanket),
        "false_members": None if blanket.false_members is None else plain(blanket.false_members.to_dict()),
        "manifest": None if blanket.manifest is None else blanket.manifest.to_dict(),
    }


def _missed_to_dict(blanket: Blanket) -> list[dict[str, Any]]:
    """Return what the search could have missed, columns of like tests together; derived, and not read back."""
    found = missed(blanket)
    like = np.unique(np.stack([found.dof, found.n_rows]), axis=1) if len(found.columns) else np.zeros((2, 0))
    groups = [np.flatnonzero((found.dof == dof) & (found.n_rows == n_rows)) for dof, n_rows in like.T]
    return [
        {
            **{f"effect_{100 * p:g}": plain(e[at[0]]) for p, e in zip(found.powers, found.effects, strict=True)},
            "dof": plain(found.dof[at[0]]),
            "n_rows": plain(found.n_rows[at[0]]),
            "columns": plain(found.columns[at]),
        }
        for at in groups
    ]


def plain(value: Any) -> Any:
    """Return ``value`` in the types that JSON has; NaN and infinities become None, the unknown a string.

    >>> plain({"alpha": np.float64(0.01), "keep": ("a",), "statistic": np.array([1.5, np.nan])})
    {'alpha': 0.01, 'keep': ['a'], 'statistic': [1.5, None]}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Manifest):
        return value.to_dict()
    if isinstance(value, Iterable):
        return [plain(item) for item in value]
    return str(value)


def _evidence_to_dict(evidence: NamedEvidence) -> dict[str, Any]:
    return {name: plain(getattr(evidence, name)) for name in NamedEvidence.__slots__}


def read(path: str | Path) -> bytes:
    """Return the content of a file."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise DataError(f"cannot read {str(path)!r}: {error.strerror or error}") from None


def write(content: Mapping[str, Any], path: str | Path | None, indent: int | None) -> str:
    """Return ``content`` as a JSON document; with ``path`` also write it there."""
    document = json.dumps(content, indent=indent, ensure_ascii=False, allow_nan=False)
    if any("\ud800" <= letter <= "\udfff" for letter in document):  # half a letter, which UTF-8 has no bytes for
        document = json.dumps(content, indent=indent, allow_nan=False)
    if path is not None:
        Path(path).write_text(document + "\n", encoding="utf-8")
    return document


def parsed(document: str | bytes) -> Any:
    """Return the content of a JSON document."""
    try:
        return json.loads(document)
    except (ValueError, RecursionError) as error:
        raise DataError(f"this is not a saved result: it is not JSON ({error})") from None


def from_dict(content: Mapping[str, Any]) -> Blanket:
    """Read what `to_dict` wrote."""
    from blankets.results._blanket import Blanket

    fields = checked(content, "blankets/blanket")
    columns = tuple(fields.names("columns"))
    strengths = [_evidence_from(item, "strengths") for item in fields.list_of(dict, "strengths")]
    blanket = Blanket(
        target=fields.one(str, "target"),
        members=tuple(fields.names("members")),
        roles=fields.names_by_name("roles"),
        common_children=fields.names_by_name("common_children"),
        strengths={e.x: e for e in strengths},
        algorithm=fields.one(str, "algorithm"),
        why_algorithm=fields.one(str, "why_algorithm"),
        finds=fields.one(str, "finds"),
        settings=fields.one(dict, "settings"),
        columns=columns,
        excluded=fields.names_by_name("excluded"),
        n_rows=fields.count("n_rows"),
        n_tests=fields.count("n_tests"),
        seconds=fields.seconds(),
        warnings=tuple(fields.names("warnings")),
        data=fields.one(dict, "data"),
        decisions=tuple(_step_from(item) for item in fields.list_of(dict, "decisions")),
        separators={
            name: tuple(Reader({"separators": among}).names("separators"))
            for name, among in fields.one(dict, "separators").items()
        },
        passed_over=_passed_over_from(fields.one(dict, "passed_over"), len(columns)),
        false_members=_false_members_from(_since_second(content, "false_members")),
        manifest=manifest_from(content),
    )
    if blanket.members != tuple(blanket.strengths):
        _refuse("'members' and 'strengths' do not speak of the same columns")
    if not (set(blanket.roles) <= set(blanket.members) and set(blanket.roles.values()) <= _ROLES):
        _refuse("'roles' holds something else than roles of members")
    for part, said in (("data", blanket.data), ("settings", blanket.settings)):
        if (key := oddity(part, said)) is not None:
            _refuse(f"{key!r} in {part!r} holds {_short(said[key])}")
    if not {blanket.target, *blanket.members} <= set(columns):
        _refuse("the target and the members must be among 'columns'")
    return blanket


def checked(content: object, schema: str) -> Reader:
    """Return a reader of ``content`` after a look at its schema and version."""
    if not isinstance(content, Mapping) or content.get("schema") != schema:
        _refuse(f"the key 'schema' with the value {schema!r} is missing")
    version = content.get("schema_version")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        _refuse(
            f"its schema version is {version}, and this version of blankets reads up to {SCHEMA_VERSION}; install a "
            "newer one"
        )
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        _refuse(f"its schema version is {version!r}, which there never was")
    return Reader(content)


def manifest_from(content: Mapping[str, Any]) -> Manifest | None:
    """Return the manifest of a result; those of the first version have none."""
    found = _since_second(content, "manifest")
    return None if found is None else Manifest.from_dict(found)


def _since_second(content: Mapping[str, Any], key: str) -> Any:
    """Return what is under a key that the second version of the schema brought."""
    if key not in content and content["schema_version"] >= 2:
        _refuse(f"{key!r} is missing")
    return content.get(key)


def _false_members_from(content: Any) -> FalseMembers | None:
    if content is None:
        return None
    fields = Reader(content) if isinstance(content, Mapping) else _refuse(f"'false_members' holds {_short(content)}")
    controls = fields.one_of(("level", "fdr"), "controls")
    numbers = {name: fields.number(name) for name in ("at_most", "expected", "alpha")}
    if not (0 < numbers["alpha"] <= 1 and all(0 <= numbers[name] < math.inf for name in ("at_most", "expected"))):
        _refuse(f"'false_members' holds {_short(content)}")
    return FalseMembers(n_tested=fields.count("n_tested"), controls=controls, **numbers)


def _refuse(why: str) -> NoReturn:
    raise DataError(f"this is not a saved result: {why}")


class Reader:
    """Takes values out of a mapping, each of the type that it must have."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self.content = content

    def one(self, kind: type[T] | tuple[type, ...], key: str) -> Any:
        """Return the value under ``key``."""
        if key not in self.content:
            _refuse(f"{key!r} is missing")
        value = self.content[key]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            _refuse(f"{key!r} holds {_short(value)}")
        return value

    def list_of(self, kind: type[T], key: str) -> list[T]:
        """Return the list under ``key``, all of its items of one kind."""
        items: list[T] = self.one(list, key)
        for item in items:
            if not isinstance(item, kind):
                _refuse(f"{key!r} holds {_short(item)}")
        return items

    def names(self, key: str) -> list[str]:
        """Return the list of strings under ``key``."""
        return self.list_of(str, key)

    def names_by_name(self, key: str) -> dict[str, str]:
        """Return the mapping of strings to strings under ``key``."""
        mapping: dict[str, str] = self.one(dict, key)
        for value in mapping.values():
            if not isinstance(value, str):
                _refuse(f"{key!r} holds {_short(value)}")
        return dict(mapping)

    def count(self, key: str) -> int:
        """Return the number of things under ``key``."""
        value: int = self.one(int, key)
        if not 0 <= value < 1 << 63:
            _refuse(f"{key!r} holds {_short(value)}")
        return value

    def number(self, key: str) -> float:
        """Return the number under ``key``; None stands for "not known"."""
        value = self.one((int, float, type(None)), key)
        if value is not None and not abs(value) < math.inf:
            _refuse(f"{key!r} holds {_short(value)}")
        try:
            return math.nan if value is None else float(value)
        except OverflowError:
            _refuse(f"{key!r} holds a number that is too large")

    def numbers_by_name(self, key: str) -> dict[str, float]:
        """Return the mapping of strings to numbers under ``key``."""
        within = Reader(self.one(dict, key))
        return {name: within.number(name) for name in within.content}

    def one_of(self, words: Iterable[str], key: str) -> Any:
        """Return the word under ``key``, which is one of some."""
        word = self.one(str, key)
        return word if word in words else _refuse(f"{key!r} holds {_short(word)}")

    def seconds(self) -> float:
        """Return the time taken."""
        seconds = self.number("seconds")
        return seconds if seconds >= 0 else _refuse(f"'seconds' holds {_short(self.content['seconds'])}")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _evidence_from(item: Mapping[str, Any], where: str) -> NamedEvidence:
    try:
        fields = Reader(item)
        return NamedEvidence(
            x=fields.one(str, "x"),
            y=fields.one(str, "y"),
            given=tuple(fields.names("given")),
            statistic=fields.number("statistic"),
            dof=fields.number("dof"),
            log_p=_log_probability(fields),
            effect=fields.number("effect"),
            n_rows=fields.count("n_rows"),
            reliable=fields.one(bool, "reliable"),
            method=fields.one(str, "method") if "method" in item else "",
        )
    except DataError as error:
        raise DataError(f"{error} (in {where!r})") from None


def _log_probability(fields: Reader) -> float:
    log_p = fields.number("log_p")
    if log_p > 0:
        _refuse(f"'log_p' holds {log_p!r}, which is the logarithm of no probability")
    return log_p


def _step_from(item: Mapping[str, Any]) -> Step:
    fields = Reader(item)
    action = fields.one_of(_ACTIONS, "action")
    return Step(action, fields.one(str, "phase"), _evidence_from(item, "decisions"), fields.one(str, "reason"))


def _passed_over_from(item: Mapping[str, Any], n_columns: int) -> PassedOver:
    fields = Reader(item)
    phases = tuple(fields.names("phases"))
    givens = tuple(tuple(Reader({"givens": given}).names("givens")) for given in fields.list_of(list, "givens"))
    if "method" not in item:  # written before tests chose between methods
        item = {**item, "methods": [""], "method": [0] * len(fields.one(list, "columns"))}
        fields = Reader(item)
    methods = tuple(fields.names("methods"))
    arrays = {key: _array(fields.one(list, key), key, dtype) for key, dtype in _ARRAYS.items()}
    if len({len(array) for array in arrays.values()}) != 1:
        _refuse("the arrays in 'passed_over' differ in length")
    for key, limit in (
        ("columns", n_columns),
        ("phase", len(phases)),
        ("given", len(givens)),
        ("method", len(methods)),
    ):
        if ((arrays[key] < 0) | (arrays[key] >= limit)).any():
            _refuse(f"'passed_over' holds a position beyond the end of its {key!r}")
    known = np.isfinite(arrays["dof"]) & (arrays["log_p"] <= 0)
    if (arrays["reliable"] & ~known).any():
        _refuse("'passed_over' holds a reliable test without degrees of freedom or a p-value")
    return PassedOver(**arrays, phases=phases, givens=givens, methods=methods)


def _array(values: Sequence[Any], key: str, dtype: type) -> np.ndarray[Any, Any]:
    allowed = {np.int64: (int,), np.bool_: (bool,), np.float64: (int, float, type(None))}[dtype]
    for value in values:
        if not isinstance(value, allowed) or (isinstance(value, bool) and dtype is not np.bool_):
            _refuse(f"{key!r} in 'passed_over' holds {_short(value)}")
    try:
        return np.array(values, dtype=dtype)  # None becomes NaN
    except OverflowError:
        _refuse(f"{key!r} in 'passed_over' holds a number that is too large")
