"""One greedy loop for all criteria."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from blankets.filters._criteria import Criterion, Weights
from blankets.filters._source import Columns, InformationSource

TIE = 1e-12
"""Scores that differ by at most this are equal; then the first in column order is selected (errata E3)."""


@dataclass(frozen=True, slots=True)
class Picks:
    """The selected features."""

    columns: tuple[int, ...]  # in order of selection
    scores: tuple[float, ...]  # the score of each when it was selected; those of different steps need not be comparable
    relevance: tuple[float, ...]  # I(X;Y) of each, in nats


def greedy(
    source: InformationSource,
    candidates: Columns,
    k: int,
    criterion: Criterion,
    *,
    weights: Weights | None = None,
    start: Sequence[int] = (),
    listener: Callable[[int], None] | None = None,
) -> Picks:
    """Select ``k`` of the candidates, one after the other, each with the best score given those before it.

    ``source``: information among features and with the target. ``candidates``: column numbers. ``k``: how many to
    select, at most as many as there are candidates. ``criterion``: how candidates are scored. ``weights``: weights, for
    criteria that have them. ``start``: features that are selected already; they are none of the candidates, and not
    among the picks. ``listener``: called after each feature with the number of features selected.

    Examples
    --------
    The second column repeats the first, and the third is weaker but new: mRMR does not select the copy.

    >>> from blankets.counting import MemoryCounter
    >>> from blankets.data import Frame
    >>> from blankets.filters import PlugIn, find_criterion
    >>> rows = [[0, 0, 0, 0], [0, 0, 1, 0], [1, 1, 0, 1], [1, 1, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0]] * 4
    >>> source = PlugIn(MemoryCounter(Frame.from_codes(rows)), target=3)
    >>> greedy(source, np.arange(3), 2, find_criterion("mrmr")).columns
    (0, 2)
    """
    weights = weights or Weights()
    remaining = np.sort(np.asarray(candidates, np.int64))
    relevance = score = source.relevance(remaining)
    terms = np.full(len(remaining), criterion.start)
    selected: list[int] = []  # with the features of ``start``
    scores: list[float] = []
    for x in start[:-1]:
        selected.append(x)
        if criterion.term is not None:
            terms = criterion.gather(terms, criterion.term(source, remaining, selected, weights))
    selected.extend(start[-1:])
    while len(scores) < min(k, len(candidates)):
        if selected:
            if criterion.term is not None:
                terms = criterion.gather(terms, criterion.term(source, remaining, selected, weights))
            score = criterion.score(relevance, terms, len(selected))
        best = int(np.argmax(score >= score.max() - TIE))  # the first of the largest, up to rounding
        selected.append(int(remaining[best]))
        scores.append(float(score[best]))
        remaining, relevance, terms = (np.delete(values, best) for values in (remaining, relevance, terms))
        if listener is not None:
            listener(len(scores))
    picked = selected[len(start) :]
    return Picks(tuple(picked), tuple(scores), tuple(source.relevance(np.array(picked, np.int64)).tolist()))
