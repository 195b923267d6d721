"""Errors of reading files, in words."""

from __future__ import annotations

import csv
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from blankets.data._dialect import not_text
from blankets.errors import BlanketsError, DataError, did_you_mean
from blankets.voice import entry

_READING = (OSError, EOFError, csv.Error, zlib.error, ValueError)  # and errors of the packages that read files
_READERS = ("pyarrow", "python_calamine", "pyreadstat", "pyo3_runtime")


def check_file(path: Path, what: str = "file") -> None:
    """Refuse a path that is not a plain file; reading a pipe, for example, could wait forever."""
    with file_errors(path):
        if not path.is_file():
            raise DataError(no_file(path, what))


def no_file(path: Path, what: str = "file") -> str:
    """Say that there is no such file, and suggest a similar name."""
    if path.exists() and not path.is_dir():
        return f"{str(path)!r} is a pipe or a device, not a file; save its content as one"
    if path.is_dir():
        return f"{str(path)!r} is a folder; give the path of one CSV or Parquet file, or pack them with {entry('pack')}"
    if re.match(r"\w\w+:/", str(path)):
        address = re.sub(r"/[^/@]*@", "/...@", str(path))  # without the password
        return f"{address!r} is an address, not a file; download the data, and give the path of the file"
    there = islice(path.parent.iterdir(), 1000) if path.parent.is_dir() else ()
    near = [p.name for p in there if did_you_mean(path.stem, [p.stem])]  # '.csv' alone makes no two names alike
    return f"there is no {what} {str(path)!r}{did_you_mean(path.name, near)}"


@contextmanager
def file_errors(path: Path, but: type[Exception] | tuple[()] = ()) -> Iterator[None]:
    """Turn errors of reading into a `DataError` that names the file, except errors ``but``."""
    try:
        yield
    except but:
        raise
    except FileNotFoundError as error:
        raise DataError(no_file(path)) from error
    except UnicodeDecodeError as error:
        raise DataError(f"{str(path)!r} {not_text()}") from error
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # a reader written in Rust panics with one that is no Exception
        known = isinstance(error, _READING) or type(error).__module__.startswith(_READERS)
        if isinstance(error, BlanketsError | MemoryError) or not known:
            raise
        raise DataError(f"{str(path)!r} cannot be read: {reason(error)}") from error


def reason(error: BaseException) -> str:
    """Return what went wrong: the reader's own message if it can be understood."""
    said = str(error).splitlines()[0] if str(error) else type(error).__name__
    if "UTF8" in said:
        return f"it {not_text()}"
    if "straddl" in said:  # a row did not end within a block of a megabyte or more
        return (
            "a row is longer than one million characters: a quotation mark may have been left open, or a column holds "
            "long texts, which no test can use; correct the file, or write it without that column"
        )
    return said
