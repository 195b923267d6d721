"""The errors and warnings that users see.

::

    ValueError
    └── BlanketsError              everything we raise on purpose
        ├── DataError              the table cannot be used as it is
        │   ├── MissingValuesError     feature values are missing and no policy was given
        │   └── TargetError            the target column is absent, constant, id-like, ...
        ├── LabelError             the labels contradict the label regime
        ├── ParameterError         an argument is outside its allowed values
        ├── NotAnswerableError     the label regime cannot answer this question
        ├── EngineError            a cluster or a database cannot do its work
        ├── ContractError          a test of your own breaks the rules of tests
        ├── MissingPackageError    an optional package is needed (also an ImportError)
        └── InternalError          a bug in this package; its cause is attached

    KeyboardInterrupt
    └── Interrupted                the user stopped a search; has what was found so far

    UserWarning
    └── BlanketsWarning            the work goes on, but you should know
        ├── ConstantColumnWarning      a column has one value and was left out
        ├── DuplicateColumnWarning     a column repeats another one and was left out
        ├── IdLikeColumnWarning        almost every row has its own level; left out
        ├── ManyLevelsWarning          so many levels that tests will rarely be reliable
        ├── CutNumbersWarning          numbers were cut although nobody asked for it
        ├── TooFewRowsWarning          tests that could not be done for lack of rows
        ├── KnowledgeWarning           the data contradict what you said to be known
        └── RegimeWarning              an assumption about missing labels was made for you

A message says what was wrong, where, what was found, and what to do.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import wraps
from types import FrameType
from typing import Any, TypeVar
from unicodedata import normalize

from blankets.voice import entry, option

F = TypeVar("F", bound=Callable[..., Any])

_NOT_OURS = "not of blankets, but raised by "  # a note on errors that come out as they are
_MAKING = ("__init__", "__post_init__", "__call__")
_NOT_THE_USER = ("blankets", "sklearn", "concurrent", "threading", "contextlib")


class BlanketsError(ValueError):
    """Root of all errors that `blankets` raises on purpose."""


class DataError(BlanketsError):
    """The table cannot be used as it is."""


class MissingValuesError(DataError):
    """Feature values are missing and the user has not said what to do with them."""


class TargetError(DataError):
    """The target column cannot be a target."""


class LabelError(BlanketsError):
    """The labels contradict the label regime."""


class ParameterError(BlanketsError):
    """An argument is outside its allowed values."""

    @classmethod
    def not_one_of(cls, what: str, got: object, allowed: Iterable[str]) -> ParameterError:
        """Make the message "unknown algorithm 'imab'; did you mean 'iamb'? Choose from ..."."""
        choices = sorted(allowed)
        hint = did_you_mean(str(got), choices) or ";"
        return cls(f"unknown {what} {_shown(got)}{hint} choose from {', '.join(choices)}")

    @classmethod
    def out_of_range(cls, name: str, got: object, expected: str) -> ParameterError:
        """Make the message "'alpha' must be ... but is ..."."""
        return cls(f"{name!r} must be {expected}, but it is {_shown(got)}")


class NotAnswerableError(BlanketsError):
    """The label regime cannot answer this question; the message says what would make it answerable."""


class EngineError(BlanketsError):
    """The engine that counts, a cluster or a database, cannot do its work."""


class ContractError(BlanketsError):
    """A test of the user's own breaks the rules of tests; the message says which."""


class MissingPackageError(BlanketsError, ImportError):
    """An optional package is needed for this."""

    @classmethod
    def needed_for(cls, task: str, package: str, extra: str) -> MissingPackageError:
        """Make the message with the command that installs the package."""
        return cls(f"{task} needs the package {package!r}; install it with: pip install 'blankets[{extra}]'")


class InternalError(BlanketsError):
    """A bug in this package, not a mistake of the user: an unexpected error, which is attached as its cause."""


class Interrupted(KeyboardInterrupt):
    """The user stopped a search (Ctrl-C); the members found so far are kept.

    It is a `KeyboardInterrupt`, so that loops that catch errors do not hide it.

    Parameters
    ----------
    target : str
        The target of the search; empty if the search had not begun.
    members : iterable of str
        The members at that moment; not a finished answer.
    phase : str
        The phase of the search.
    found : Blankets, Stability or None
        The result of the finished searches, if there were several.
    done : str
        What ``found`` is, in words.

    Examples
    --------
    >>> try:
    ...     raise Interrupted("ill", ["age"], "growing")
    ... except KeyboardInterrupt as stopped:
    ...     stopped.members
    ('age',)
    """

    def __init__(
        self, target: str, members: Iterable[str] = (), phase: str = "", found: Any = None, done: str = ""
    ) -> None:
        self.target, self.members, self.phase, self.found, self.done = target, tuple(members), phase, found, done
        during = f" while {phase}" if phase else ""
        held = f"found so far: {listed(self.members)}" if self.members else "nothing was found yet"
        kept = f"; {done}, and in the attribute 'found' of this interruption" if done else ""
        search = f"the search for the blanket of {target!r} is not finished ({held})"
        super().__init__(f"stopped{during}; {search if target else 'nothing was found yet'}{kept}")

    def __reduce__(self) -> tuple[type[Interrupted], tuple[str, tuple[str, ...], str, Any, str]]:
        return type(self), (self.target, self.members, self.phase, self.found, self.done)


class BlanketsWarning(UserWarning):
    """Root of all warnings that `blankets` gives."""


class ConstantColumnWarning(BlanketsWarning):
    """A column has a single value; it cannot depend on anything and is left out."""


class DuplicateColumnWarning(BlanketsWarning):
    """A column has the same values as an earlier one; then blankets are not unique."""


class IdLikeColumnWarning(BlanketsWarning):
    """Almost every row has its own level (an identifier, free text); the column is left out."""


class ManyLevelsWarning(BlanketsWarning):
    """A column has so many levels that few of its tests can be reliable."""


class ReadingWarning(BlanketsWarning):
    """How a table was read: what was recognized in it, and which columns cannot be used."""


class CutNumbersWarning(BlanketsWarning):
    """Numbers were cut into levels although nobody asked for it."""


class TooFewRowsWarning(BlanketsWarning):
    """Tests could not be performed because there are too few rows for their degrees of freedom."""


class KnowledgeWarning(BlanketsWarning):
    """The data contradict what the user said to be known (`Knowledge`)."""


class RegimeWarning(BlanketsWarning):
    """An assumption about the missing labels was made on the user's behalf."""


@contextmanager
def own_errors() -> Iterator[None]:
    """Raise only errors of this package: any other error becomes the cause of an `InternalError`.

    What is raised within `errors_of` comes out as it is.

    >>> with own_errors():
    ...     {}["age"]
    Traceback (most recent call last):
        ...
    blankets.errors.InternalError: this should not have happened: KeyError: 'age'; if what you gave ...
    """
    try:
        yield
    except (BlanketsError, Interrupted, Warning):
        raise
    except KeyboardInterrupt:
        raise Interrupted("") from None
    except Exception as error:
        if any(note.startswith(_NOT_OURS) for note in getattr(error, "__notes__", ())):
            raise
        raise _ours(error) from error


def _ours(error: Exception) -> BlanketsError:
    """Return an error of ours for one that nobody foresaw."""
    if isinstance(error, MemoryError):
        return EngineError(
            f"memory ran out{f' ({error})' if str(error) else ''}; take fewer columns ({option(columns=...)}, "
            f"{option(exclude=...)}) "
            f"or fewer threads (n_jobs=1), or write the table to disk with {entry('pack')} and give its path"
        )
    said = f"{type(error).__name__}: {_shortened(str(error))}"
    if isinstance(error, OSError):
        return EngineError(f"the system refused the work: {said}")
    return InternalError(
        f"this should not have happened: {said}; if what you gave is as documented, please report it with the output "
        f"of 'blankets doctor'"
    )


@contextmanager
def errors_of(whose: str) -> Iterator[None]:
    """Let errors out as they are, however many of our functions they pass: those of a user's function, say."""
    try:
        yield
    except MemoryError:  # says the same, whoever asked for the memory
        raise
    except Exception as error:
        error.add_note(f"{_NOT_OURS}{whose}")
        raise


def guarded(thing: F) -> F:
    """Make a function, or the public methods of a class, raise our own errors only.

    A call that does not fit its signature is a TypeError, as always.
    """
    if not isinstance(thing, type):
        return _guarding(thing, BaseException)
    for name, value in list(vars(thing).items()):
        kind = type(value) if isinstance(value, classmethod | staticmethod) else None
        method = value.__func__ if kind else value
        if inspect.isfunction(method) and (name in _MAKING or not name.startswith("_")):
            # Ctrl-C goes on to the question that called it, which knows what was found.
            safe = _guarding(method, Exception)
            setattr(thing, name, kind(safe) if kind else safe)
    return thing


def _guarding(function: F, caught: type[BaseException]) -> F:
    if inspect.isgeneratorfunction(function):

        @wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            with own_errors():
                yield from function(*args, **kwargs)

    else:

        @wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except caught as error:
                at = error.__traceback__
                if isinstance(error, TypeError) and at is not None and at.tb_next is None:
                    raise  # the call itself, not what it called
                with own_errors():
                    raise

    called.is_guarded = True  # type: ignore[attr-defined]
    return called  # type: ignore[return-value]


def warn(sentence: str, category: type[BlanketsWarning]) -> None:
    """Warn at the line of the user's program, from anywhere in this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and not _is_users(frame):
        frame, level = frame.f_back, level + 1
    warnings.warn(sentence, category, stacklevel=level if _is_users(frame) else 2)


def _is_users(frame: FrameType) -> bool:
    """Tell whether a line of code belongs to the user's program; the outermost line of a script always does."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] not in _NOT_THE_USER


def did_you_mean(got: str, choices: Sequence[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest choice, or an empty string.

    A choice that differs only in case, in blanks around it or in the encoding of accents is the nearest.

    >>> did_you_mean("Age", ["wage", "age"])
    "; did you mean 'age'?"
    >>> did_you_mean("cats", ["auto", "none"]), did_you_mean("up", ["pu", "mcar"])
    ('', "; did you mean 'pu'?")
    """
    alike = [choice for choice in choices if _folded(choice) == _folded(got)]
    near = alike or get_close_matches(got, choices, n=1, cutoff=0.65) or [c for c in choices if _one_slip(got, c)]
    if not near:
        return ""
    same_to_the_eye = normalize("NFC", near[0]) == normalize("NFC", got)
    shown = ascii(near[0]) if same_to_the_eye else repr(near[0])
    return f"; did you mean {shown}?"


def _one_slip(got: str, choice: str) -> bool:
    """Tell whether a short word is another with one letter wrong, with its letters in another order, or its start."""
    wrong = sum(a != b for a, b in zip(got, choice, strict=False))
    return (len(got) == len(choice) > 1 and (wrong == 1 or sorted(got) == sorted(choice))) or (
        len(got) > 1 and choice.startswith(got)
    )


def _folded(text: str) -> str:
    return normalize("NFKC", text).strip().casefold()


def _shown(value: object) -> str:
    """Return a value as Python writes it, or its type if that would be long."""
    if getattr(value, "ndim", 0):
        return f"a {type(value).__name__}"
    return _shortened(repr(value), most=80)


def _shortened(text: str, most: int = 300) -> str:
    """Return a text on one line, shortened if it is long."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 3]}..."


def listed(names: Iterable[object], most: int = 8) -> str:
    """Return the names quoted and joined, at most ``most`` of them.

    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    names = list(names)
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
