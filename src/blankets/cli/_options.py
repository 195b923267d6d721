"""Rewrite messages of the library, which name arguments, with options of the command line."""

from __future__ import annotations

import re
import shlex

import click

_LIST, _WORDS, _NUMBER = r"\[[^\]]*\]", r"'[^']*'(?:, '[^']*')*(?:,? or '[^']*')?", r"-?[\d.]*\d"
_ONE = r"\{'[^']*': '[^']*'\}"  # a column and its rule
_WORD = re.compile(r"'([^']*)'")
_CALL = re.compile(r"\bbl\.(advise|audit|discover|plan|rank|refute|select|sensitivity|stability|test)\b(?!\()")
_PARTS = re.compile(r"\bblanket\.(checks|effects|undecided)\b")
_KNOWLEDGE = re.compile(r"\bknowledge=bl\.Knowledge\(([a-z_]+)=((?:'[^']*'|[^')])+)\)")
_ARGUMENT = re.compile(rf"\b([a-z_]+)=({_LIST}|{_ONE}|{_WORDS}|{_NUMBER}|None\b|)")


def in_options(sentence: str, *commands: click.Command) -> str:
    """Return a sentence with options of some commands in place of arguments.

    >>> command = click.Command("read", params=[click.Option(["--missing"]), click.Option(["--exclude"])])
    >>> in_options("choose missing='level', or leave columns out with exclude=[...]; see y=...", command)
    'choose --missing level, or leave columns out with --exclude COLUMN; see y=...'
    >>> in_options("say knowledge=bl.Knowledge(together=[['size (cm)', 'size (in)']]).")
    "say --knowledge FILE, a file with the line together = [['size (cm)', 'size (in)']]."
    >>> in_options("3 more in blanket.checks; see also bl.audit, and blanket.explain(name)")
    '3 more in --json; see also blankets audit, and --explain NAME'
    """
    sentence = _KNOWLEDGE.sub(r"--knowledge FILE, a file with the line \1 = \2", sentence)
    sentence = sentence.replace("blanket.explain() ", "--verbose ")
    sentence = _PARTS.sub("--json", _CALL.sub(r"blankets \1", sentence)).replace(
        "blanket.explain(name)", "--explain NAME"
    )
    params = (param for command in commands for param in command.params)
    options = {param.name: param for param in params if isinstance(param, click.Option)}

    def option(found: re.Match[str]) -> str:
        name, value = found.groups()
        if name not in options:
            return found.group()
        words, flag = _WORD.findall(value), options[name].opts[-1]
        if value.startswith("{"):
            return f"{flag} {shlex.quote('='.join(words))}"
        if len(words) > 1 and value.startswith("[") and options[name].multiple:
            return " ".join(f"{flag} {shlex.quote(word)}" for word in words)
        if len(words) == 1 or value == "[]":
            value = shlex.quote(words[0] if words else "")
        value = "COLUMN" if value == "[...]" else value.strip("[]").replace("'", "") if len(words) > 1 else value
        return f"{flag} {value}".rstrip()

    return _ARGUMENT.sub(option, sentence)
