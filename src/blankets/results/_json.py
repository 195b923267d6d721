"""A blanket as JSON and back; the mechanism is `blankets.data.Saved`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from blankets.data import Reader, plain, refuse, short
from blankets.errors import DataError
from blankets.results._evidence import NamedEvidence, PassedOver, Step
from blankets.results._missed import missed
from blankets.results._record import recorded
from blankets.stats import FalseMembers

if TYPE_CHECKING:
    from blankets.results._blanket import Blanket

__all__ = ["content_of", "read_blanket"]

_ROLES = {"parent", "child", "spouse", "neighbor"}
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


def content_of(blanket: Blanket) -> dict[str, Any]:
    """Return a blanket as plain values; the order of keys is the order of reading."""
    return {
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


def _evidence_to_dict(evidence: NamedEvidence) -> dict[str, Any]:
    return {name: plain(getattr(evidence, name)) for name in NamedEvidence.__slots__}


def read_blanket(fields: Reader) -> Blanket:
    """Make a blanket of what `content_of` returned."""
    from blankets.results._blanket import Blanket

    columns = fields.names("columns")
    strengths = [_evidence_from(item, "strengths") for item in fields.list_of(dict, "strengths")]
    blanket = Blanket(
        target=fields.one(str, "target"),
        members=fields.names("members"),
        roles=fields.names_by_name("roles"),
        common_children=fields.names_by_name("common_children"),
        strengths={e.x: e for e in strengths},
        algorithm=fields.one(str, "algorithm"),
        why_algorithm=fields.one(str, "why_algorithm"),
        finds=fields.one(str, "finds"),
        settings=recorded(fields, "settings"),
        columns=columns,
        excluded=fields.names_by_name("excluded"),
        n_rows=fields.count("n_rows"),
        n_tests=fields.count("n_tests"),
        seconds=fields.seconds(),
        warnings=fields.names("warnings"),
        data=recorded(fields, "data"),
        decisions=tuple(_step_from(item) for item in fields.list_of(dict, "decisions")),
        separators={
            name: Reader({"separators": among}).names("separators")
            for name, among in fields.one(dict, "separators").items()
        },
        passed_over=_passed_over_from(fields.one(dict, "passed_over"), len(columns)),
        false_members=_false_members_from(fields.since(2, "false_members")),
        manifest=fields.manifest(),
    )
    if blanket.members != tuple(blanket.strengths):
        refuse("'members' and 'strengths' do not speak of the same columns")
    if not (set(blanket.roles) <= set(blanket.members) and set(blanket.roles.values()) <= _ROLES):
        refuse("'roles' holds something else than roles of members")
    if not {blanket.target, *blanket.members} <= set(columns):
        refuse("the target and the members must be among 'columns'")
    return blanket


def _false_members_from(content: Any) -> FalseMembers | None:
    if content is None:
        return None
    fields = Reader(content) if isinstance(content, Mapping) else refuse(f"'false_members' holds {short(content)}")
    controls = fields.one_of(("level", "fdr"), "controls")
    numbers = {name: fields.number(name) for name in ("at_most", "expected", "alpha")}
    if not (0 < numbers["alpha"] <= 1 and all(0 <= numbers[name] < math.inf for name in ("at_most", "expected"))):
        refuse(f"'false_members' holds {short(content)}")
    return FalseMembers(n_tested=fields.count("n_tested"), controls=controls, **numbers)


def _evidence_from(item: Mapping[str, Any], where: str) -> NamedEvidence:
    try:
        fields = Reader(item)
        return NamedEvidence(
            x=fields.one(str, "x"),
            y=fields.one(str, "y"),
            given=fields.names("given"),
            statistic=fields.number("statistic"),
            dof=fields.number("dof"),
            log_p=fields.log_probability("log_p"),
            effect=fields.number("effect"),
            n_rows=fields.count("n_rows") or (0 if not fields.one(bool, "reliable") else fields.odd("n_rows")),
            reliable=fields.one(bool, "reliable"),
            method=fields.one(str, "method") if "method" in item else "",
        )
    except DataError as error:
        raise DataError(f"{error} (in {where!r})") from None


def _step_from(item: Mapping[str, Any]) -> Step:
    fields = Reader(item)
    action = fields.one_of(_ACTIONS, "action")
    return Step(action, fields.one(str, "phase"), _evidence_from(item, "decisions"), fields.one(str, "reason"))


def _passed_over_from(item: Mapping[str, Any], n_columns: int) -> PassedOver:
    fields = Reader(item)
    phases = fields.names("phases")
    givens = tuple(Reader({"givens": given}).names("givens") for given in fields.list_of(list, "givens"))
    if "method" not in item:  # written before tests chose between methods
        item = {**item, "methods": [""], "method": [0] * len(fields.one(list, "columns"))}
        fields = Reader(item)
    methods = fields.names("methods")
    arrays = {key: _array(fields.one(list, key), key, dtype) for key, dtype in _ARRAYS.items()}
    if len({len(array) for array in arrays.values()}) != 1:
        refuse("the arrays in 'passed_over' differ in length")
    for key, limit in (
        ("columns", n_columns),
        ("phase", len(phases)),
        ("given", len(givens)),
        ("method", len(methods)),
    ):
        if ((arrays[key] < 0) | (arrays[key] >= limit)).any():
            refuse(f"'passed_over' holds a position beyond the end of its {key!r}")
    known = np.isfinite(arrays["dof"]) & (arrays["log_p"] <= 0) & (arrays["n_rows"] > 0)
    if (arrays["reliable"] & ~known).any():
        refuse("'passed_over' holds a reliable test without degrees of freedom or a p-value, or of no rows")
    return PassedOver(**arrays, phases=phases, givens=givens, methods=methods)


def _array(values: Sequence[Any], key: str, dtype: type) -> np.ndarray[Any, Any]:
    allowed = {np.int64: (int,), np.bool_: (bool,), np.float64: (int, float, type(None))}[dtype]
    for value in values:
        if not isinstance(value, allowed) or (isinstance(value, bool) and dtype is not np.bool_):
            refuse(f"{key!r} in 'passed_over' holds {short(value)}")
    try:
        return np.array(values, dtype=dtype)  # None becomes NaN
    except OverflowError:
        refuse(f"{key!r} in 'passed_over' holds a number that is too large")
