"""``blankets warm-up``: compile everything now."""

from __future__ import annotations

import click

from blankets.progress import told

__all__ = ["warm_up"]


@click.command("warm-up")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def warm_up(*, quiet: bool) -> None:
    """Compile the kernels of all searches for this machine, once; it takes a minute.

    Otherwise each is compiled when it is first worth that. For images and shared installations.

    \b
    Examples:
      blankets warm-up
    """
    with told("compiling", quiet=quiet):
        import blankets

        blankets.warm_up()
