"""`pack`: a table as packed codes on disk."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from blankets.arguments import path_of
from blankets.data import (
    Chunks,
    Reading,
    ReadingOptions,
    Store,
    ingest,
    is_store,
    open_chunks,
    pack_chunks,
    pack_ingested,
)
from blankets.errors import guarded
from blankets.questions._question import described
from blankets.study import Progress, is_files, watched


@described
@guarded
def pack(
    source: Any,
    path: str | Path,
    *,
    target: str | None = None,
    n_jobs: int | None = None,
    progress: Progress = False,
    **reading: Unpack[ReadingOptions],
) -> Store:
    """Write a table as packed codes to a folder; `discover` and the other functions then count without loading it.

    Files are read in chunks, once to learn the levels and once to write the codes, so they may be larger than
    memory. The answers are those that the table itself would give. Numbers are written as they are too, 8 bytes a
    row, unless you say how to cut them: tests that need not cut them read the rows they look at from there.

    Parameters
    ----------
    source : path, folder, glob, list of paths, SqlTable, or any table
        CSV or Parquet files with the same columns; each file may have levels of its own.
    path : str or Path
        The folder to make. If it exists and was made from the same files (paths, sizes, times of change) in the
        same way, it is used as it is; a store of something else is replaced.
    target : str, optional
        A column in which values may be missing, because they are labels.

    Returns
    -------
    Store
        Give it, or its path, to `discover` in place of the table.

    Notes
    -----
    Memory holds one chunk of all columns, and sometimes one whole column: the target, columns cut by
    quantiles or by the target, and numbers that may be identifiers. Columns of text with more than 100,000
    levels are left out as identifiers.

    Examples
    --------
    >>> import blankets as bl
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     store = bl.pack({"dose": ["low", "high"] * 50, "cured": [0, 0, 1, 1] * 25}, f"{folder}/trial")
    ...     store.frame.n_rows, store.frame.names
    (100, ('dose', 'cured'))
    """
    how = Reading.of(reading)
    path = path_of("path", path)
    with watched(progress) as tell:
        if isinstance(source, Chunks) or is_files(source):
            chunks = source if isinstance(source, Chunks) else open_chunks(source, how)
            return pack_chunks(chunks, path, target, tell=tell, n_jobs=n_jobs, reading=how)
        store = source if isinstance(source, Store) else Store.open(source) if is_store(source) else None
        how = how if store is None else store.read_as(how)
        measured = ingest(source, target, reading=how, numbers=True)
        with warnings.catch_warnings():  # the same again, as codes
            warnings.simplefilter("ignore")
            coded = ingest(source, target, reading=replace(how.cutting, keep=measured.frame.names))
        report = replace(measured.report, binned=coded.report.binned)
        return pack_ingested(replace(coded, report=report), path, measured.frame, how)
