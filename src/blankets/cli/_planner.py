"""``blankets planner``: a page for planning a study."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("planner.html"),
    show_default=True,
    help="The file to write.",
)
@click.option("--open/--no-open", "show", default=None, help="Open it in the browser; default: at a terminal.")
def planner(*, output: Path, show: bool | None) -> None:
    """Write a page with sliders for sample size and labels; it works offline and can be sent by mail.

    \b
    Examples:
      blankets planner
      blankets planner -o study.html --no-open
    """
    import sys

    from blankets.report import planner as write

    file = write(output)
    click.echo(str(file))
    if sys.stdout.isatty() if show is None else show:
        click.launch(file.absolute().as_uri())
