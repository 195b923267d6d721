"""What was wrong, or worth knowing, about the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from blankets.results import count_of, joined

if TYPE_CHECKING:
    from blankets.results import Blanket

_LEFT_OUT = {
    "constant": ("Constant", "left out: a single value, or none"),
    "without_cut": ("Without a cut", "left out: binning put all rows into one bin"),
    "id_like": ("Like an identifier", "left out: almost every row has its own level"),
}


def health(blanket: Blanket) -> list[dict[str, str]]:
    """Return findings about the data, each with a ``tone``: "fine", "note" (know this) or "loss" (data unused)."""
    data = blanket.data
    if not data:
        return [_finding("note", "No record", "The result does not say how its data were read.")]
    return [*_size(blanket, data), *_left_out(blanket, data), *_peculiar(data), *_unused(data)]


def _finding(tone: str, what: str, detail: str) -> dict[str, str]:
    return {"tone": tone, "what": what, "detail": detail}


def _size(blanket: Blanket, data: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    given, dropped = data.get("n_rows_given", blanket.n_rows), data.get("dropped_rows", 0)
    missing = data.get("missing", {})
    if dropped:
        detail = f"{dropped:,} of {given:,} were deleted for missing values in {joined(tuple(missing))}."
        yield _finding("loss", "Rows", detail)
    else:
        yield _finding("fine", "Rows", f"All {given:,} were used.")
    if missing and not dropped:
        cells = sum(missing.values())
        how = "counted as a level of its own" if data.get("missing_policy") == "level" else "as the policy says"
        if (complete := data.get("complete_rows")) is not None:
            how = f"{count_of(complete, 'row')} complete; each test used the rows that have what it needs"
        yield _finding("note", "Missing values", f"{count_of(cells, 'cell')} in {joined(tuple(missing))}, {how}.")
    elif not missing:
        yield _finding("fine", "Missing values", "None in the columns used.")
    if unlabeled := data.get("unlabeled"):
        gone = ", which were left out" if data.get("unlabeled_left_out") else ""
        yield _finding("note", "Target", f"It is missing in {count_of(unlabeled, 'row')}{gone}.")
    if copies := data.get("copies_of_target"):
        yield _finding("note", "Copies of the target", f"{joined(copies)}: the same as the target in every row.")


def _left_out(blanket: Blanket, data: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    told: set[str] = set()
    for key, (what, why) in _LEFT_OUT.items():
        if names := data.get(key):
            told.update(names)
            yield _finding("loss", what, f"{joined(names)}; {why}.")
    if repeated := data.get("duplicates"):
        told.update(copy for copies in repeated.values() for copy in copies)
        pairs = [f"{copy} (the same as {name})" for name, copies in repeated.items() for copy in copies]
        yield _finding("loss", "Duplicates", f"{joined(pairs, 5)}; left out because they carry the same information.")
    if others := [name for name in blanket.excluded if name not in told]:
        yield _finding("note", "Not searched", f"{joined(others)}.")
    if not (told or others):
        yield _finding("fine", "Columns", "None is constant, a duplicate or like an identifier.")


def _peculiar(data: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    if many := data.get("many_levels"):
        names = [f"{name} ({levels:,})" for name, levels in many.items()]
        yield _finding("note", "Many levels", f"{joined(names)}: few tests with them can be reliable.")
    if numbers := data.get("numbers"):
        yield _finding("fine", "Numbers", f"{joined(numbers)}; tested without cutting.")
    if ordered := data.get("ordered"):
        yield _finding("fine", "Levels in order", f"{joined(ordered)}; tests use their order.")
    if binned := data.get("binned"):
        names = [f"{name} ({len(how['cuts']) + 1} levels, {how['rule']})" for name, how in binned.items()]
        yield _finding("note", "Cut into levels", f"{joined(names)}; continuous columns.")


def _unused(data: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    if unused := data.get("unused_levels"):
        names = [f"{name} ({joined([str(level) for level in levels], 3)})" for name, levels in unused.items()]
        yield _finding("note", "Levels without rows", f"{joined(names, 5)}.")
