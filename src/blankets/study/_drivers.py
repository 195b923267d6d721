"""Labeling drivers: the features that decide whether a row is labeled, found from all rows.

It is known for every row whether it is labeled. So the Markov blanket of "is labeled" can be searched like that
of any other target. Labeling comes after everything else and has no effects among the features, so its neighbors
are its causes, the drivers. Given the drivers, labeled rows are a fair sample. Conditioning on them is our
extension of the methods of Sechidis (2015) for labels that are missing depending on features (MAR-F).

**Use.** Labeled rows alone can answer single questions wrongly: if a feature and the target are independent, but
both influence a driver, they are dependent among labeled rows (errata B6). Each test given the drivers is valid,
and so are the separating sets, neighbors and effects that follow from such tests. The blanket as a whole is more
robust: given all members, nothing else has information about the target, labeled or not. So with perfect tests
labeled rows alone lead to the same blanket. With finite rows, searches through small sets miss fewer members if
they condition on the drivers. Methods that also count unlabeled rows (Ỹ0, Ỹ1, Ỹm, pairwise deletion) wrongly
report drivers, and columns related to them, as members.

**Limits.** A driver that the search misses is not conditioned on. Many drivers leave few rows in each stratum (each
combination of their values). "pc" and the "n-pc" algorithms orient edges by the separating sets, and may gain false
members if all sets contain the drivers.
"""

from __future__ import annotations

from blankets.search import Trace, choose, find
from blankets.study._asking import labeling_tests
from blankets.study._study import Study

ALPHA = 0.01  # the default level of `discover`


def labeling_drivers(study: Study, *, alpha: float = ALPHA) -> tuple[int, ...]:
    """Return the features that decide whether a row is labeled.

    ``study``: the table, with a target that is unlabeled in some rows. ``alpha``: significance level of the tests.

    Examples
    --------
    >>> import numpy as np
    >>> from blankets.study import open_study
    >>> rng = np.random.default_rng(0)
    >>> ward, age, ill = rng.integers(0, 2, (3, 2000))
    >>> seen = np.where(rng.random(2000) < np.where(ward == 1, 0.8, 0.2), ill, np.nan)  # one ward reports more
    >>> with open_study({"ward": ward, "age": age, "ill": seen}, "ill", labels="mar-f") as study:
    ...     [study.names[x] for x in labeling_drivers(study)]
    ['ward']
    """
    tests = labeling_tests(study, level=alpha)
    algorithm, _ = choose()
    found = find(algorithm).run(tests, study.target, study.features, alpha=alpha, trace=Trace())
    return tuple(sorted(x for x in found.members if found.roles.get(x) != "spouse"))
