"""``blankets algorithms``: the list of algorithms, and when to use each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from blankets.cli._arguments import json_option
from blankets.cli._output import show_json, show_table

if TYPE_CHECKING:
    from blankets.search import Algorithm


@click.command()
@json_option
def algorithms(*, as_json: bool) -> None:
    """List the algorithms.

    "exact" says whether the algorithm finds the true blanket if every test is right and the data are
    faithful to a network; "roles" whether it distinguishes neighbors and spouses.

    \b
    Examples:
      blankets algorithms
      blankets algorithms --json | jq '.[] | select(.sound) | .name'
    """
    from blankets import algorithms as every

    if as_json:
        show_json([_entry(entry) for entry in every()])
        return
    rows = []
    for entry in every():
        options = ", ".join(f"{option}={value}" for option, value in entry.options.items())
        marks = ["yes" if flag else "no" for flag in (entry.sound, entry.roles)]
        rows.append([entry.name, entry.finds, *marks, options, entry.when])
    show_table(["name", "finds", "exact", "roles", "options", "when to use it"], rows)


def _entry(algorithm: Algorithm) -> dict[str, object]:
    from blankets.records import plain

    fields = ("name", "finds", "sound", "roles", "options", "when", "reference")
    return {field: plain(getattr(algorithm, field)) for field in fields}
