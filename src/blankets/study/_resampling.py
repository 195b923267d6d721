"""Draw rows again, and find the members in each draw."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from threading import Event

import numpy as np
from numpy.typing import NDArray

from blankets.errors import BlanketsWarning, Interrupted
from blankets.study._groups import drawn_of_each, groups_drawn
from blankets.study._searching import FEW_CELLS, Search, Wanted
from blankets.study._study import Study, Tell
from blankets.study._work import Countdown, can_fork, carried_out, forked

_FORKS_PAY = 0.04  # seconds of work from which on it pays to begin processes


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

    def search(number: int) -> tuple[str, ...]:
        part = quiet.take(drawn[number])
        return Search.of(part, wanted, seeds[number], brief=True).members_of(part.target)

    found: dict[int, tuple[str, ...]] = {}
    tasks = [partial(search, number) for number in range(len(drawn))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlanketsWarning)  # the search of all rows has warned already
        n_jobs, count = study.place.n_jobs, Countdown(len(tasks), "draws", tell)
        try:
            if n_jobs > 1 and len(tasks) > 1 and can_fork():
                forked(tasks, found, n_jobs, count=count, least=_FORKS_PAY)
            else:  # in small tables most of a search is Python, and threads wait for each other
                small = study.n_rows * len(study.names) < FEW_CELLS
                carried_out(tasks, found, 1 if small else n_jobs, count=count, stop=Event())
        except KeyboardInterrupt:
            kept, done = [found[i] for i in sorted(found)], f"{len(found)} of {len(tasks)} draws are done"
            raise Interrupted(study.target_name, found=kept, done=done) from None
    return [found[i] for i in sorted(found)]
