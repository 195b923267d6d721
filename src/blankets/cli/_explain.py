"""``blankets explain``: why a column is in a saved result or not."""

from __future__ import annotations

import click

from blankets.cli._arguments import json_option
from blankets.cli._output import show_json


@click.command()
@click.argument("result", type=click.Path(exists=True, dir_okay=False))
@click.argument("columns", nargs=-1, required=True, metavar="COLUMN...")
@json_option
def explain(result: str, columns: tuple[str, ...], *, as_json: bool) -> None:
    """Say why a COLUMN is in a blanket or not.

    RESULT is a file written by 'blankets discover --save'.

    \b
    Examples:
      blankets explain result.json age
      blankets explain result.json age postcode --json
    """
    from blankets.results import Blanket

    blanket = Blanket.load(result)
    explanations = [blanket.explain(column) for column in columns]
    if as_json:
        show_json([explanation.to_dict() for explanation in explanations])
        return
    for explanation in explanations:
        click.echo(str(explanation))
