"""Test the members of a blanket on rows that had no part in the search."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from blankets.results import Confirmation
from blankets.study._in_time import rows_in_time
from blankets.study._resampling import rows_drawn
from blankets.study._searching import Search, Wanted
from blankets.study._study import Study

Ints = NDArray[np.int64]


def confirmed_on(study: Study, wanted: Wanted, members: Sequence[str], *, alpha: float, how: str = "") -> Confirmation:
    """Test each member given the others on the rows of a study."""
    search = Search.of(study, wanted, 0, brief=True)
    at = [search.tests.names.index(name) for name in members if name in search.tests.names]
    tests = search.tests.at_level(alpha)
    found = [one for one in tests.drop_one(at, study.target) if one.reliable] if at else []
    p = {search.tests.names[one.x]: one.log_p for one in found}
    return Confirmation(
        target=study.target_name,
        members=tuple(members),
        log_p={name: p[name] for name in members if name in p},
        alpha=alpha,
        how=how,
        n_rows=search.n_rows,
    )


def rows_apart(study: Study, share: float, rng: np.random.Generator) -> tuple[Ints, Ints, str]:
    """Return the rows to search, those to confirm with, and how they were divided.

    By groups, where rows have them; the last rows, where rows follow each other in time; otherwise at random, the same
    share of each class.
    """
    n = study.n_rows
    if study.groups is None and any(rows_in_time(study, study.target, ())):
        first = np.arange(n - round(share * n))
        how = "These are the last rows of the table, whose rows follow each other in time."
    else:
        (first,) = rows_drawn(study, 1, "subsample", 1.0 - share, rng)
        whole = "whole groups" if study.groups is not None else "rows"
        how = f"These are {whole} set aside at random before the search."
    return first, np.setdiff1d(np.arange(n), first), how
