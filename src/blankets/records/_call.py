"""`Call`: the call that made a result, stored so that anybody can repeat it later."""

from __future__ import annotations

import platform
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from blankets.errors import ParameterError, guarded
from blankets.records._kinds import PRIVATE, as_data, as_python, built, is_kept, not_kept
from blankets.voice import option

if TYPE_CHECKING:
    import click

PACKAGES = ("blankets", "numpy", "scipy")
# Not stored: the table itself, options that do not change the answer, and facts about the user's machine.
_NOT_SAID = ("data", "source", "progress", "study", *PRIVATE)
_MOST_NUMBERS = 100  # most numbers of a list that is stored; longer ones have a number for each row
_POSITIONAL = ("x", "target", "targets")
_COMMANDS = {"discover_latent": "latent"}
_GENERATOR = "a generator"
_REGIMES = {"PositiveUnlabeled": "pu", "Supervised": "supervised", "Noisy": "noisy", "Predicted": "predicted"}
_SHARES = ("prior", "false_positive", "false_negative")  # what may be known roughly


@guarded
@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The call that made a result; it can be shown as Python or as a command line, and be run again.

    Attributes
    ----------
    function : str
        The function that was called.
    options : mapping of str to object
        The given arguments, as plain data; objects as ``{"class": "PositiveUnlabeled", "prior": 0.2}``, values that
        are not stored (the table is never stored) as ``{"not kept": "ndarray"}``.
    seed : int, str or None
        The seed of random numbers: "a generator" if the user gave one, None if nothing was given.
    fingerprint : str
        A hash of the table as it was counted: names, levels and codes of all columns used, and which labels are
        missing. The same table has the same fingerprint as a data frame, an array, a file or a store; as a sparse
        matrix it has another. For an SQL source it is a hash of the query; empty if it is not known.
    versions : mapping of str to str
        Versions of Python and of the packages that compute.

    Examples
    --------
    >>> from blankets import Call
    >>> call = Call.of("discover", {"target": "ill", "labels": "pu", "prior": 0.2, "rng": 7}, fingerprint="ab12")
    >>> print(call.to_python())
    bl.discover(data, "ill", labels="pu", prior=0.2, rng=7)
    >>> print(call.to_command("my patients.csv"))
    blankets discover 'my patients.csv' --target ill --labels pu --prior 0.2 --seed 7
    """

    function: str
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int | str | None = None
    fingerprint: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, function: str, given: Mapping[str, Any], fingerprint: str = "") -> Call:
        """Return the call of a function with the given arguments.

        Parameters
        ----------
        function : str
            A public function of the package.
        given : mapping
            The arguments by name; those under "reading" belong to the function itself.
        fingerprint : str
            The hash of the table.
        """
        said = {**given, **(given.get("reading") or {})}
        seed = said.pop("rng", None)
        for name in (*_NOT_SAID, "reading"):
            said.pop(name, None)
        return cls(
            function=function,
            options={name: _kept(name, value) for name, value in said.items()},
            seed=int(seed) if isinstance(seed, int | np.integer) else None if seed is None else _GENERATOR,
            fingerprint=fingerprint,
            versions=_versions(),
        )

    def to_python(self, data: str = "data") -> str:
        """Return the call as one line of Python, where ``bl`` is this package.

        Parameters
        ----------
        data : str
            Python code for the table. A value that was not stored is shown by its name, as in ``y=y``.

        Examples
        --------
        >>> call = Call.of("test", {"x": "age", "target": "ill", "given": ["sex"], "rng": np.random.default_rng()})
        >>> print(call.to_python("'patients.csv'"))
        bl.test('patients.csv', "age", "ill", given=["sex"], rng=rng)
        """
        options = dict(self.options)
        words = [data]
        if self.function in ("refute", "confirm"):
            words = [as_python(options.pop("blanket", not_kept(None)), "blanket"), data]
        words += [as_python(options.pop(name), name) for name in _POSITIONAL if name in options]
        words += [f"{name}={as_python(value, name)}" for name, value in options.items()]
        if self.seed is not None:
            words.append(f"rng={self.seed}" if isinstance(self.seed, int) else "rng=rng")
        return f"bl.{self.function}({', '.join(words)})"

    def to_command(self, data: str = "table.csv") -> str | None:
        """Return the call as a command line; None if that is not possible, and `why_no_command` says why.

        Parameters
        ----------
        data : str
            The file.
        """
        try:
            return shlex.join(self._words(data))
        except _NoCommandError:
            return None

    @property
    def why_no_command(self) -> str:
        """Why there is no command line for the call; empty if there is one."""
        try:
            self._words("")
        except _NoCommandError as error:
            return str(error)
        return ""

    def run(self, data: Any, **changes: Any) -> Any:
        """Run the call again.

        Parameters
        ----------
        data : table
            The table; it is not stored with a result.
        **changes
            Arguments to change, and arguments that were not stored.

        Raises
        ------
        ParameterError
            If a value is needed that was not kept.
        """
        import blankets

        return getattr(blankets, self.function)(data=data, **self.arguments(**changes))

    def arguments(self, **changes: Any) -> dict[str, Any]:
        """Return the arguments of the call as objects, with some changed; without the table.

        Raises
        ------
        ParameterError
            If a value is needed that was not kept.
        """
        given = {**self.options, **({} if self.seed is None else {"rng": self.seed})}
        again = {name: value for name, value in given.items() if name not in changes}
        gone = [name for name, value in again.items() if not is_kept(value) or (name, value) == ("rng", _GENERATOR)]
        if gone:
            raise ParameterError(
                f"{', '.join(map(repr, gone))} was not kept with the call; give it again, as {option(gone[0])}..."
            )
        return {**built(again), **changes}

    def _words(self, data: str) -> list[str]:
        """Return the words of the command line."""
        import click

        from blankets.cli import commands

        command = commands.get_command(click.Context(commands), _COMMANDS.get(self.function, self.function))
        if command is None or self.function in ("refute", "confirm"):
            raise _NoCommandError(f"There is no command for {self.function}.")
        options = [each for each in command.params if isinstance(each, click.Option)]
        given = list(self._flat())
        words = ["blankets", str(command.name), data if not data.startswith("-") else f"./{data}"]
        if any(each.required and each.name not in dict(given) for each in options):
            raise _NoCommandError("The target was given apart from the table, which a command line cannot do.")
        x = [str(value) for name, value in given if name == "x"]
        words += [word for word in x if not word.startswith("-")]
        for name, value in given:
            if name != "x" and value is not None:
                words += _option(name, value, options)
        return words + [word for name in x if name.startswith("-") for word in ("--", name)]

    def _flat(self) -> Iterator[tuple[str, Any]]:
        """Yield the options with their names on the command line, objects field by field."""
        for name, value in self.options.items():
            kind = value.get("class", "") if isinstance(value, Mapping) else ""
            if name == "labels" and kind:
                yield name, _REGIMES.get(kind) or value["mechanism"]
                if value.get("missing"):
                    raise _NoCommandError("On the command line, --missing is about features, not about noisy labels.")
                gone = {"class", "mechanism", "missing"}
                if value.get("gold") == self.options.get("target"):  # the target is gold, unless something else is said
                    gone.add("gold")
                yield from ((inner, each) for inner, each in value.items() if inner not in gone)
            elif kind == "Knowledge":
                raise _NoCommandError("On the command line, --knowledge reads what is known from a file.")
            elif kind and name != "prior":
                yield from ((name if inner == "kind" else inner, v) for inner, v in value.items() if inner != "class")
            elif name == "options":
                yield from (("pairs", f"{key}={_word(each, key)}") for key, each in value.items())
            else:
                yield name, value
        if self.seed is not None:
            yield "rng", self.seed


class _NoCommandError(Exception):
    """The command line cannot express this."""


def _option(name: str, value: Any, options: Iterable[click.Option]) -> list[str]:
    """Return the words for one option."""
    flag = f"--{name.replace('_', '-')}"
    option = next((each for each in options if each.name == name or flag in each.opts), None)
    if option is None:
        raise _NoCommandError(f"The command line has no option for {name!r}.")
    if option.is_flag:
        return [option.opts[-1]] if value else option.secondary_opts[-1:]
    if option.multiple and isinstance(value, list):
        return [word for each in value for word in (option.opts[-1], _word(each, name))]
    word = _word(value, name)
    return [option.opts[-1], word] if not word.startswith("-") else [f"{option.opts[-1]}={word}"]


def _word(value: Any, name: str) -> str:
    """Return one value as a word."""
    if isinstance(value, str) and (name, value) != ("rng", _GENERATOR):
        return value
    if name in _SHARES and isinstance(value, list):
        return f"{value[0]}-{value[1]}"
    if name in _SHARES and isinstance(value, Mapping) and value.get("class") == "Beta":
        return as_python(value, name).removeprefix("bl.")
    if isinstance(value, Mapping | list | str):
        raise _NoCommandError(f"The command line cannot say {name!r} as it was given.")
    return str(value).lower() if isinstance(value, bool | None) else str(value)


def _kept(name: str, value: Any) -> Any:
    """Return an argument as data, unless it has values for the rows."""
    some = value.tolist() if isinstance(value, np.ndarray) else value
    of_rows = isinstance(some, list | tuple) and len(some) > _MOST_NUMBERS and not all(isinstance(v, str) for v in some)
    return not_kept(value) if of_rows or (name == "y" and value is not None) else as_data(value)


def _versions() -> dict[str, str]:
    """Return the versions of loaded packages; searching all installed packages would take a tenth of a second."""
    loaded = {name: getattr(sys.modules.get(name), "__version__", None) for name in PACKAGES}
    return {"python": platform.python_version(), **{name: str(v) for name, v in loaded.items() if v is not None}}
