"""What the commands write: tables on standard output, notes on standard error."""

from __future__ import annotations

import shlex
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from blankets.cli._arguments import arguments
from blankets.errors import BlanketsWarning, Interrupted

if TYPE_CHECKING:
    from blankets.records import Saved
    from blankets.results import Blanket, Finding


def progress_line(first: str, *, quiet: bool) -> AbstractContextManager[Callable[[str], None] | None]:
    """Return a context with a progress line; the library is loaded here, not for ``--help``."""
    from blankets.study import status_line

    return status_line(first, quiet=quiet)


@contextmanager
def notes(*, quiet: bool) -> Iterator[set[str]]:
    """Write the library's warnings as "note: ..." at the end; other warnings stay as Python writes them.

    Yields a set for sentences that are written elsewhere.
    """
    said, elsewhere = dict[str, None](), set[str]()
    with warnings.catch_warnings():
        warnings.simplefilter("always", BlanketsWarning)
        others = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *where: object, **more: object) -> None:
            if issubclass(category, BlanketsWarning):
                said[" ".join(str(message).split())] = None
            else:
                others(message, category, *where, **more)  # type: ignore[arg-type]

        warnings.showwarning = show
        try:
            yield elsewhere
        finally:
            for sentence in () if quiet else said:
                if sentence not in elsewhere:
                    click.echo(f"note: {sentence}", err=True)


def show_blanket(blanket: Blanket) -> None:
    """Print a blanket; in a terminal with a title in bold."""
    if not sys.stdout.isatty():
        click.echo(str(blanket))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for i, line in enumerate(str(blanket).splitlines()):
        # Text, not markup: a column may be called "[red]".
        console.print(Text(line, style="bold" if i == 0 else "", overflow="fold"))


def show_next(findings: Iterable[Finding]) -> None:
    """Print the command that does what findings ask for: ``discover``, with the options that they name."""
    context = click.get_current_context(silent=True)
    if context is None or context.obj is None:  # nobody typed a command
        return
    asked = [one for one in findings if one.weight == "act"]
    out = dict.fromkeys(name for one in asked for name in one.fix.get("exclude", ()))
    added = [word for name in out for word in ("--exclude", name)]
    # The widest groups hold the others: visits belong to patients.
    groups = {one.figures[one.fix["groups"]]: one.fix["groups"] for one in asked if "groups" in one.fix}
    if groups and groups[min(groups)] not in out:
        added += ["--groups", groups[min(groups)]]
    if added or context.info_name != "discover":
        words = shlex.join(["blankets", "discover", *context.obj[1:], *added])
        click.echo(f"  {'If you agree' if added else 'Next'}, run:\n    {words}")


def show_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table, fitted to the terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*headings, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    # A pipe has no width; 120 keeps each sentence to two or three lines.
    Console(highlight=False, width=None if sys.stdout.isatty() else 120).print(table)


def check_folder(path: Path | None, option: str) -> None:
    """Refuse a path whose folder does not exist, before the work begins."""
    if path is not None and not path.absolute().parent.is_dir():
        raise click.BadParameter(f"there is no folder {str(path.parent)!r}", param_hint=f"'{option}'")


def show_json(content: object) -> None:
    """Print plain data as one JSON document."""
    import json

    click.echo(json.dumps(content, ensure_ascii=False, allow_nan=False))


def show(found: Saved, *, as_json: bool) -> None:
    """Print a result."""
    click.echo(found.to_json() if as_json else repr(found))


def ask(
    question: str, file: str, target: str | None, choices: Mapping[str, Any], *, quiet: bool, save: Path | None = None
) -> Any:
    """Return the answer of a function of the library about a file, and save it if wanted.

    Its warnings become notes, unless the result itself has them; the findings of an interrupted search are printed.
    """
    check_folder(save, "--save")
    with notes(quiet=quiet) as elsewhere, progress_line("reading the data", quiet=quiet) as progress:
        import blankets

        given = arguments(file, target, choices)
        try:
            found = getattr(blankets, question)(file, target, **given, progress=progress or False)
        except Interrupted as stopped:
            if stopped.found is not None:
                click.echo(repr(stopped.found))
            raise
        elsewhere.update(getattr(found, "warnings", ()))
    if save is not None:
        found.to_json(save, indent=2)
    return found
