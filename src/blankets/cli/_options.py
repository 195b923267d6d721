"""How the command line names things: options as flags, functions as commands."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from types import EllipsisType

import click

from blankets.voice import alternatives


class Flags:
    """The voice of the command line: options are those of the command that runs."""

    def __init__(self, every: Callable[[], list[click.Command]]) -> None:
        self._every = every

    def _options(self) -> dict[str, click.Option]:
        context = click.get_current_context(silent=True)
        own = [] if context is None or isinstance(context.command, click.Group) else [context.command]
        # What an audit asks for is done by `discover`.
        wanted = own if own and context is not None and context.info_name != "audit" else self._every()
        params = [param for command in (*wanted, *own) for param in command.params]
        return {param.name or "": param for param in params if isinstance(param, click.Option)}

    def option(self, name: str, value: object) -> str | None:
        """Name an option by its flag, where the command has one."""
        if name == "knowledge" and isinstance(value, Mapping):
            lines = "; ".join(f"{key} = {_toml(each)}" for key, each in value.items())
            return f"--knowledge FILE, a file with the line {lines}"
        known = self._options().get(name)
        if known is None:
            return None
        flag = known.opts[-1]
        if value is None:
            return flag
        if isinstance(value, EllipsisType):
            return f"{flag} COLUMN"
        if isinstance(value, tuple):
            return f"{flag} {alternatives([_word(each) for each in value])}"
        return shlex.join(flags(flag, value))

    def entry(self, name: str) -> str | None:
        """Name a function by its command."""
        command = {"discover_latent": "latent"}.get(name, name)
        return f"blankets {command}" if command in _COMMANDS else None

    def part(self, words: str) -> str | None:
        """Name what a blanket tells by the option that prints it."""
        return _PARTS.get(words)


_COMMANDS = (
    *("advise", "audit", "discover", "latent", "pack", "plan", "rank", "refute", "select", "sensitivity"),
    *("stability", "test"),
)
_PARTS = {
    "explain()": "--verbose",
    "explain(name)": "--explain NAME",
    "refute(data)": "blankets refute",
} | dict.fromkeys(
    ("checks", "decisions", "effects", "equivalents", "label_bias", "undecided", "could_have_missed()"), "--json"
)


def flags(flag: str, value: object) -> list[str]:
    """Return a flag and its value as words of a command line.

    >>> flags("--exclude", ["a", "b"]), flags("--discretize", {"age": "number"})
    (['--exclude', 'a', '--exclude', 'b'], ['--discretize', 'age=number'])
    """
    if isinstance(value, Mapping):
        return [word for key, each in value.items() for word in (flag, f"{key}={_word(each)}")]
    if isinstance(value, list):
        return [word for each in value or [""] for word in (flag, _word(each))]
    return [flag, _word(value)]


def _word(value: object) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))  # levels in order
    return str(value)


def _toml(value: object) -> str:
    return json.dumps(value, ensure_ascii=False).replace('"', "'")
