"""The group of commands; errors and Ctrl-C become a message and an exit code."""

from __future__ import annotations

import gc
import os
import shlex
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path

import click

from blankets import __version__
from blankets.cli._options import Flags
from blankets.errors import BlanketsError, Interrupted, ParameterError, did_you_mean
from blankets.voice import spoken_by

WRONG_USAGE, BAD_DATA, STOPPED = 2, 3, 130
NAMES = (
    *("advise", "algorithms", "audit", "discover", "doctor", "explain", "latent", "pack", "plan", "planner", "rank"),
    *("refute", "select", "sensitivity", "simulate", "stability", "test", "versions"),
)
# The files of commands that have none of their own name.
HOMES = {"planner": "_plan", "test": "_testing", "versions": "_doctor"} | dict.fromkeys(
    ("advise", "audit", "explain", "latent", "rank", "refute", "select", "sensitivity", "stability"), "_questions"
)


class Commands(click.Group):
    """Commands, each loaded when it is first asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(NAMES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None if there is none of this name."""
        if cmd_name in NAMES and cmd_name not in self.commands:
            home = import_module(f"blankets.cli.{HOMES.get(cmd_name, f'_{cmd_name}')}")
            self.add_command(getattr(home, cmd_name))
        return super().get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first word names; where that is a file, say which command it needs."""
        if args[0] not in NAMES and Path(args[0]).exists():
            ctx.fail(f"A command comes before the file. Try: blankets discover {shlex.quote(args[0])}")
        if args[0] not in NAMES and (meant := did_you_mean(args[0], NAMES)):
            ctx.fail(f"No such command {args[0]!r}{meant}")
        return super().resolve_command(ctx, args)

    def all(self) -> list[click.Command]:
        """Return all commands."""
        found = (self.get_command(click.Context(self), name) for name in NAMES)
        return [command for command in found if command is not None]


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="blankets")
def commands() -> None:
    """Find Markov blankets: the features that matter for a target, and how sure we are of it.

    \b
    Examples:
      blankets audit patients.csv --target readmitted
      blankets discover patients.csv --target readmitted
      blankets discover patients.parquet --target readmitted --algorithm pcmb --explain age
      blankets discover patients.csv --target readmitted --json | jq .members
      blankets select patients.csv --target readmitted --criterion mrmr -k 20
      blankets discover patients.csv --target readmitted --report readmitted.html
      blankets rank patients.csv --target smoker --labels pu --prior 0.2
      blankets test patients.csv bmi --target smoker --given age
      blankets advise patients.csv --target smoker --labels pu --prior '<0.4'
      blankets pack visits/*.parquet -o visits.packed
      blankets refute result.json patients.csv --seed 1
      blankets stability patients.csv --target readmitted --seed 1
      blankets sensitivity patients.csv --target smoker --labels mar-c
      blankets latent survey.csv --target 'sick leave'
      blankets algorithms
      blankets plan --effect medium --power 0.95
      blankets planner
      blankets simulate alarm.bif --rows 5000 --seed 1 -o alarm.csv
      blankets doctor
    """


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        # JSON is the same however it was asked for.
        with nullcontext() if "--json" in words else spoken_by(Flags(commands.all)):
            code = commands.main(words, prog_name="blankets", standalone_mode=False, obj=words)
    except click.ClickException as error:
        if isinstance(error, click.NoSuchOption) and error.possibilities:  # click's are any that are a little alike
            got, near = error.option_name.strip("-"), error.possibilities
            near[:] = [option for option in near if did_you_mean(got, [option.strip("-")])]
        error.show()
        return error.exit_code
    except click.Abort as abort:  # click's name for Ctrl-C
        stopped = abort.__cause__ or abort.__context__  # older versions of click hide the cause
        click.echo(f"blankets: {stopped if isinstance(stopped, Interrupted) else 'stopped'}", err=True)
        return STOPPED
    except BlanketsError as error:
        click.echo(f"blankets: {error}", err=True)
        return WRONG_USAGE if isinstance(error, ParameterError) else BAD_DATA
    except OSError as error:
        click.echo(f"blankets: the answer cannot be written: {error.strerror}", err=True)
        return BAD_DATA
    return code if isinstance(code, int) else 0


def main() -> None:
    """Run the command line of this process."""
    code = run()
    try:
        sys.stdout.flush()
    except OSError:  # said above; Python would say it again at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    gc.freeze()  # the system frees all memory at once; Python would look through it for longer than many answers take
    sys.exit(code)
