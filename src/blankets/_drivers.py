"""What drives labelling: the features on which being labelled depends, found from all rows.

Whether a row is labelled is known for every row, so that its Markov blanket can be searched like that of any
other target. Labelling comes after everything else and has no effects among the features, so that its neighbours
are its causes; given these, labelled rows are a fair sample. Conditioning on them is our extension of the
methods of Sechidis for labels that go missing depending on features (MAR-F).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from blankets._study import Study
from blankets.counting import MemoryCounter
from blankets.independence import table_tests
from blankets.search import Trace, choose, find

__all__ = ["labelling_drivers"]


def labelling_drivers(study: Study, *, alpha: float, **options: Any) -> tuple[int, ...]:
    """Return the features on which it depends whether a row is labelled.

    Parameters
    ----------
    study : Study
        The table, with a target that is unlabelled in some rows.
    alpha : float
        Significance level of the tests.
    **options
        Options of `blankets.independence.table_tests`.

    Examples
    --------
    >>> from blankets._study import read_study
    >>> rng = np.random.default_rng(0)
    >>> ward, age, ill = rng.integers(0, 2, (3, 2000))
    >>> seen = np.where(rng.random(2000) < np.where(ward == 1, 0.8, 0.2), ill, np.nan)  # one ward reports more
    >>> study = read_study({"ward": ward, "age": age, "ill": seen}, "ill", None, labels="mar-f")
    >>> [study.frame.names[x] for x in labelling_drivers(study, alpha=0.01)]
    ['ward']
    """
    frame, features = study.frame, study.features
    labelled = study.labels.labelled.astype(np.uint8)
    shown = frame.with_column(frame.names[study.target], labelled, ("unlabelled", "labelled"))
    tests = table_tests(MemoryCounter(shown, study.n_threads), **options)
    algorithm, _ = choose(frame.n_rows, frame.arities[features], 2)
    found = find(algorithm).run(tests, study.target, features, alpha=alpha, trace=Trace())
    return tuple(sorted(x for x in found.members if found.roles.get(x) != "spouse"))
