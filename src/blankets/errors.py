"""The errors and warnings that users meet.

::

    ValueError
    └── BlanketsError              everything we raise on purpose
        ├── DataError              the table cannot be used as it is
        │   ├── MissingValuesError     feature values are missing and no policy was given
        │   └── TargetError            the target column is absent, constant, id-like, ...
        ├── LabelError             the labels contradict the label regime
        ├── ParameterError         an argument is outside its allowed values
        ├── NotAnswerableError     the label regime cannot answer this question
        ├── EngineError            a cluster, a database or a GPU cannot do its work
        ├── MissingPackageError    an optional package is needed (also an ImportError)
        └── InternalError          a mistake of ours; its cause is attached

    KeyboardInterrupt
    └── Interrupted                the user stopped a search; carries what was found so far

    UserWarning
    └── BlanketsWarning            the work goes on, but you should know
        ├── ConstantColumnWarning      a column has one value and was left out
        ├── DuplicateColumnWarning     a column repeats another one and was left out
        ├── IdLikeColumnWarning        almost every row has its own level; left out
        ├── ManyLevelsWarning          so many levels that tests will rarely be reliable
        ├── CutNumbersWarning          numbers were cut although nobody asked for it
        ├── TooFewRowsWarning          tests that could not be done for lack of rows
        ├── SearchStoppedWarning       a search ended before it converged
        └── RegimeWarning              an assumption about missing labels was made for you

A message says what was wrong, where, what was found, and what to do.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import wraps
from types import FrameType, MappingProxyType
from typing import Any, ParamSpec, TypeVar
from unicodedata import normalize

P = ParamSpec("P")
R = TypeVar("R")

FROM_THE_USER = "raised by the function given as 'progress'"
_NOT_THE_USER = ("blankets", "sklearn", "concurrent", "threading", "contextlib")


class BlanketsError(ValueError):
    """Root of all errors that `blankets` raises on purpose."""


class DataError(BlanketsError):
    """The table cannot be used as it is.

    Attributes
    ----------
    columns : mapping of str to str
        The columns that cannot be used, each with the reason, if the table could be used without them.
    """

    columns: Mapping[str, str] = MappingProxyType({})


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
        """Compose "unknown algorithm 'imab'; did you mean 'iamb'? Choose from ..."."""
        choices = sorted(allowed)
        hint = did_you_mean(str(got), choices) or ";"
        return cls(f"unknown {what} {_shown(got)}{hint} choose from {', '.join(choices)}")

    @classmethod
    def out_of_range(cls, name: str, got: object, expected: str) -> ParameterError:
        """Compose "'alpha' must be ... but is ..."."""
        return cls(f"{name!r} must be {expected}, but it is {_shown(got)}")


class NotAnswerableError(BlanketsError):
    """The label regime cannot answer this question; the message says what would make it answerable."""


class EngineError(BlanketsError):
    """The engine that counts, a cluster, a database or a GPU, cannot do its work."""


class MissingPackageError(BlanketsError, ImportError):
    """An optional package is needed for this."""

    @classmethod
    def needed_for(cls, task: str, package: str, extra: str) -> MissingPackageError:
        """Compose the message with the line that installs the package."""
        return cls(f"{task} needs the package {package!r}; install it with: pip install 'blankets[{extra}]'")


class InternalError(BlanketsError):
    """A mistake of ours, not of the user: an error of Python or of another package that nobody foresaw, its cause."""


class Interrupted(KeyboardInterrupt):
    """The user stopped a search (Ctrl-C); what it held at that moment is kept.

    A `KeyboardInterrupt`, so that loops that catch errors do not swallow it.

    Parameters
    ----------
    target : str
        Whose blanket was searched; empty if the search had not begun.
    members : iterable of str
        What the search held; not a finished answer.
    phase : str
        What was being done.
    found : Blankets, Stability or None
        Where there were many searches, the result of those that were finished.
    done : str
        What that is, in words.

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
        held = f"held so far: {listed(self.members)}" if self.members else "nothing was held yet"
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
    """A column carries the same values as an earlier one; blankets are not unique then."""


class IdLikeColumnWarning(BlanketsWarning):
    """Almost every row has a level of its own (an identifier, a free text); left out."""


class ManyLevelsWarning(BlanketsWarning):
    """A column has so many levels that few of its tests can be reliable."""


class CutNumbersWarning(BlanketsWarning):
    """Numbers were cut into levels although nobody asked for it."""


class TooFewRowsWarning(BlanketsWarning):
    """Tests could not be performed because there are too few rows for their degrees of freedom."""


class SearchStoppedWarning(BlanketsWarning):
    """A search ended before it converged, for example because it began to cycle."""


class RegimeWarning(BlanketsWarning):
    """An assumption about the missing labels was made on the user's behalf."""


@contextmanager
def own_errors() -> Iterator[None]:
    """Let out errors and warnings of this package only: of any other error, make one of ours that has it as its cause.

    What a user's function raises is the user's, and comes out as it is.

    >>> with own_errors():
    ...     {}["age"]
    Traceback (most recent call last):
        ...
    blankets.errors.InternalError: this should not have happened: KeyError: 'age'; please report it with ...
    """
    try:
        yield
    except (BlanketsError, Interrupted, Warning):
        raise
    except KeyboardInterrupt:
        raise Interrupted("") from None
    except MemoryError as error:
        raise EngineError(
            f"memory ran out{f' ({error})' if str(error) else ''}; take fewer columns (columns=[...], exclude=[...]) "
            f"or fewer threads (n_jobs=1), or write the table to disk with bl.pack and give its path"
        ) from error
    except OSError as error:
        raise EngineError(f"the system did not let us work: {type(error).__name__}: {error}") from error
    except Exception as error:
        if FROM_THE_USER in getattr(error, "__notes__", ()):
            raise
        said = f"{type(error).__name__}: {_shortened(str(error))}"
        raise InternalError(
            f"this should not have happened: {said}; please report it with the output of 'blankets versions'"
        ) from error


def guarded(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function raise our own errors only; a call that does not fit its signature is a TypeError, as always."""
    signature = inspect.signature(function)

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        signature.bind(*args, **kwargs)
        with own_errors():
            return function(*args, **kwargs)

    return called


def warn(sentence: str, category: type[BlanketsWarning]) -> None:
    """Warn at the line of the user's program, however deep in this package the reason was found."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and not _is_users(frame):
        frame, level = frame.f_back, level + 1
    warnings.warn(sentence, category, stacklevel=level if _is_users(frame) else 2)


def _is_users(frame: FrameType) -> bool:
    """Tell whether a line of code belongs to the user's program; the outermost one of a script does too."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] not in _NOT_THE_USER


def did_you_mean(got: str, choices: Sequence[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest choice, or an empty string.

    A choice that differs only in case, in blanks around it or in how its accents are written is the nearest.

    >>> did_you_mean("Age", ["wage", "age"])
    "; did you mean 'age'?"
    """
    alike = [choice for choice in choices if _folded(choice) == _folded(got)]
    near = alike or get_close_matches(got, choices, n=1, cutoff=0.5)
    if not near:
        return ""
    same_to_the_eye = normalize("NFC", near[0]) == normalize("NFC", got)
    shown = ascii(near[0]) if same_to_the_eye else repr(near[0])
    return f"; did you mean {shown}?"


def _folded(text: str) -> str:
    return normalize("NFKC", text).strip().casefold()


def _shown(value: object) -> str:
    """Return a value as it is written, or what it is where that would be long."""
    if getattr(value, "ndim", 0):
        return f"a {type(value).__name__}"
    return _shortened(repr(value), most=80)


def _shortened(text: str, most: int = 300) -> str:
    """Return a text in one line, cut if it is long."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 3]}..."


def listed(names: Iterable[object], most: int = 8) -> str:
    """Return the names quoted and joined, cut after ``most`` of them.

    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    names = list(names)
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
