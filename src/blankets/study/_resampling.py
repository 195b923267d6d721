"""Draw rows again, and find the members in each draw."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from threading import Event

import numpy as np
from numpy.typing import NDArray

from blankets.errors import BlanketsWarning, Interrupted
from blankets.study._groups import drawn_of_each, groups_drawn
from blankets.study._searching import FEW_CELLS, Search, Wanted
from blankets.study._study import Study, Tell
from blankets.study._work import Countdown, can_fork, carried_out, forked

_HELP_PAYS = 0.04  # seconds of work from which on it pays to begin processes or threads


def rows_drawn(
    study: Study, n_resamples: int, method: str, fraction: float, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Return the row numbers of each draw, ascending; the same share of each class and of unlabeled rows.

    If rows belong to groups, whole groups are drawn.
    """
    if study.groups is not None:
        return groups_drawn(study.groups[: study.n_rows], n_resamples, method, fraction, rng)
    classes = study.strata[: study.n_rows]
    strata = [np.flatnonzero(classes == code) for code in np.unique(classes)]
    return [np.sort(rows) for rows in drawn_of_each(strata, n_resamples, method, fraction, rng)]


def members_over(
    study: Study,
    drawn: Sequence[NDArray[np.int64]],
    seeds: Sequence[np.random.Generator],
    wanted: Wanted,
    tell: Tell | None,
) -> list[tuple[str, ...]]:
    """Return the members found in each draw; if the user stops it, `Interrupted` has those found so far."""
    quiet = replace(study, tell=None)

    def prepared(number: int) -> Search:
        return Search.of(quiet.take(drawn[number]), wanted, seeds[number], brief=True)

    def searched(search: Search) -> tuple[str, ...]:
        return search.members_of(search.study.target)

    found: dict[int, tuple[str, ...]] = {}
    tasks = [lambda number=number: searched(prepared(number)) for number in range(len(drawn))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlanketsWarning)  # the search of all rows has warned already
        n_jobs, count = study.place.n_jobs, Countdown(len(tasks), "draws", tell)
        try:
            began = time.perf_counter()
            first = prepared(0)
            found[0] = searched(first)
            count.one_more()
            if (time.perf_counter() - began) * (len(tasks) - 1) < _HELP_PAYS:
                n_jobs = 1
            # Threads need no copies of memory, but wait for each other where most of a search is Python.
            if n_jobs > 1 and can_fork() and not first.leaves_lock:
                forked(tasks, found, n_jobs, count=count)
            else:
                small = study.n_rows * len(study.names) < FEW_CELLS and not first.leaves_lock
                carried_out(tasks, found, 1 if small else n_jobs, count=count, stop=Event())
        except KeyboardInterrupt:
            kept, done = [found[i] for i in sorted(found)], f"{len(found)} of {len(tasks)} draws are done"
            raise Interrupted(study.target_name, found=kept, done=done) from None
    return [found[i] for i in sorted(found)]
