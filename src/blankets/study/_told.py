"""Put groups, and columns that every test is given, into what a search found and recorded."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np

from blankets.independence import Evidence, EvidenceBatch, KnownColumns
from blankets.search import Found, Trace

T = TypeVar("T")
Given = tuple[int, ...]


def without(found: Found, columns: Collection[int]) -> Found:
    """Return the answer without some columns; evidence that was given them stays as it is."""
    if not columns:
        return found

    def kept(some: Mapping[int, T]) -> dict[int, T]:
        return {x: value for x, value in some.items() if x not in columns}

    def left(some: Iterable[int]) -> Given:
        return tuple(x for x in some if x not in columns)

    return replace(
        found,
        members=left(found.members),
        roles=kept(found.roles),
        common_children=kept(found.common_children),
        separators=kept(found.separators),
        entered=left(found.entered),
        left=left(found.left),
        evidence=tuple(e for e in found.evidence if e.x not in columns),
        unchecked=left(found.unchecked),
        partly=left(found.partly),
        undecided=kept(found.undecided),
        equivalents={x: others for x, some in kept(found.equivalents).items() if (others := left(some))},
    )


def told_to_user(found: Found, trace: Trace, known: KnownColumns) -> Found:
    """Return the answer with whole groups, and every set with the columns that are always given.

    The trace is changed in place.
    """
    if not known.groups and not known.always:
        return found

    def whole(columns: Iterable[int]) -> Given:
        return tuple(z for x in columns for z in known.whole(x))

    def spread(some: Mapping[int, T]) -> dict[int, T]:
        return {z: value for x, value in some.items() for z in known.whole(x)}

    def each(evidence: Evidence) -> list[Evidence]:
        given = (*whole(evidence.given), *known.always)
        return [evidence._replace(x=z, given=given) for z in known.whole(evidence.x)]

    trace.decisions[:] = [replace(d, evidence=e) for d in trace.decisions for e in each(d.evidence)]
    trace.scans[:] = [(phase, _spread_batch(batch, known)) for phase, batch in trace.scans]
    return replace(
        found,
        members=whole(found.members),
        roles=spread(found.roles),
        common_children=spread(found.common_children),
        separators={x: (*whole(given), *known.always) for x, given in spread(found.separators).items()},
        entered=whole(found.entered),
        left=whole(found.left),
        evidence=tuple(e for one in found.evidence for e in each(one)),
        unchecked=whole(found.unchecked),
        partly=whole(found.partly),
        undecided=spread(found.undecided),
        equivalents={x: whole(others) for x, others in spread(found.equivalents).items()},
    )


def _spread_batch(batch: EvidenceBatch, known: KnownColumns) -> EvidenceBatch:
    groups = [known.whole(x) for x in batch.xs.tolist()]
    at = np.repeat(np.arange(len(batch)), [len(group) for group in groups])
    more = batch.where(at)
    sets = [more.given] if isinstance(more.given, tuple) else more.given
    wider = [(*(z for x in given for z in known.whole(x)), *known.always) for given in sets]
    xs = np.array([z for group in groups for z in group], np.int64)
    return more.told_as(xs, batch.y, wider[0] if isinstance(more.given, tuple) else wider)
