"""What drives labeling: the features on which being labeled depends, found from all rows.

Whether a row is labeled is known for every row, so that its Markov blanket can be searched like that of any
other target. Labeling comes after everything else and has no effects among the features, so that its neighbors
are its causes; given these, labeled rows are a fair sample. Conditioning on them is our extension of the
methods of Sechidis (2015) for labels that go missing depending on features (MAR-F).

**What it is good for.** Labeled rows as they are answer single questions wrongly: two unrelated features of
which one drives labeling with the target are tied among labeled rows (errata B6). Tests given the drivers are
valid, each of them, and so are the separating sets, neighbors and effects that rest on them. The blanket as a
whole is more robust: given all its members, nothing else tells about the target, labeled or not, so that with
perfect tests labeled rows as they are lead to the same blanket. With finite rows, searches that go through
small sets miss fewer members when they condition on the drivers. What counts unlabeled rows in (Ỹ0, Ỹ1, Ỹm,
pairwise deletion) takes drivers, and what they touch, for members.

**Limits.** A driver that the search misses is not conditioned on; many drivers leave few rows in each stratum.
"pc" and the "n-pc" algorithms orient edges by which sets separate, and may gain false members when all sets
hold the drivers.
"""

from __future__ import annotations

from blankets.search import Trace, choose, find
from blankets.study._study import Seed, Study

__all__ = ["labeling_drivers"]


def labeling_drivers(study: Study, *, alpha: float, level: float | None = None, rng: Seed = None) -> tuple[int, ...]:
    """Return the features on which it depends whether a row is labeled.

    ``study``: the table, with a target that is unlabeled in some rows. ``alpha``: significance level of the tests.
    ``level``: the level at which p-values are calibrated; default at all. ``rng``: seed of permutations, where tests
    need them.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> ward, age, ill = rng.integers(0, 2, (3, 2000))
    >>> seen = np.where(rng.random(2000) < np.where(ward == 1, 0.8, 0.2), ill, np.nan)  # one ward reports more
    >>> with Study.open({"ward": ward, "age": age, "ill": seen}, "ill", labels="mar-f") as study:
    ...     [study.names[x] for x in labeling_drivers(study, alpha=0.01)]
    ['ward']
    """
    tests = study.tests_of_labeling(level=level, rng=rng)
    algorithm, _ = choose(len(study.features))
    found = find(algorithm).run(tests, study.target, study.features, alpha=alpha, trace=Trace())
    return tuple(sorted(x for x in found.members if found.roles.get(x) != "spouse"))
