"""Koller & Sahami's feature selection: remove, one by one, the feature that adds least to the others.

A feature can be removed without loss if it has a Markov blanket among the remaining features. KS uses an
approximate one: M_i, the K features F_j given which F_i has least information about the class C, that is with
the smallest gamma_ij = E KL( p(C|F_i,F_j) || p(C|F_j) ) = I(C; F_i | F_j). The feature with the smallest
Delta(F_i|M_i) = I(C; F_i | M_i) is removed, until the wanted number is left (errata F10). With K = 0 this is
a backward ranking by I(C; F_i).

It is a ranking, not a test: ``alpha`` and reliability are not used, because information is compared and not
p-values. With larger K the estimates of information have more cells, and more noise. The pairwise gamma need
one scan and one row of a matrix for each feature.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from blankets.errors import ParameterError
from blankets.independence import Evidence, IndependenceTest
from blankets.search._contract import Algorithm, Found, Trace


def ks(
    tests: IndependenceTest,
    target: int,
    candidates: Sequence[int],
    *,
    alpha: float,
    trace: Trace,
    n_features: int = 10,
    n_conditioning: int = 1,
) -> Found:
    """Return the ``n_features`` features that are removed last, the most informative first.

    ``n_conditioning`` is the size K of the approximate blankets.
    """
    if not (isinstance(n_features, int | np.integer) and n_features >= 1):
        raise ParameterError.out_of_range("n_features", n_features, "a number of features to keep, at least 1")
    if not (isinstance(n_conditioning, int | np.integer) and n_conditioning >= 0):
        raise ParameterError.out_of_range("n_conditioning", n_conditioning, "0, 1, 2, ...")
    features = sorted(int(x) for x in candidates)
    gamma = _gamma(tests, target, features, trace) if n_conditioning else np.zeros((len(features), 0))

    def delta(i: int, kept: NDArray[np.int64]) -> tuple[Evidence, frozenset[int]]:
        others = kept[kept != i]
        nearest = others[np.argsort(gamma[i, others], kind="stable")[:n_conditioning]] if n_conditioning else others[:0]
        given = [features[j] for j in sorted(nearest)]
        return tests.scan([features[i]], target, given, even_if_unreliable=True)[0], frozenset(nearest.tolist())

    trace.phase("removing features")
    kept = np.arange(len(features))
    cost = {i: delta(i, kept) for i in kept.tolist()}
    while len(kept) > n_features:
        out = min(cost, key=lambda i: (cost[i][0].effect, -i))
        trace.removed(cost.pop(out)[0], "removing", "tells least about the target beyond its approximate blanket")
        kept = kept[kept != out]
        cost |= {i: delta(i, kept) for i, (_, nearest) in cost.items() if out in nearest}

    order = sorted(cost, key=lambda i: (-cost[i][0].effect, i))
    for i in order:
        trace.admitted(cost[i][0], "removing", f"among the last {len(order)} features")
    return Found(members=tuple(features[i] for i in order))


def _gamma(tests: IndependenceTest, target: int, features: list[int], trace: Trace) -> NDArray[np.float64]:
    """Return gamma[i, j] = I(target; F_i | F_j) in nats, shape (n_features, n_features); infinite for i = j."""
    n = len(features)
    gamma = np.full((n, n), np.inf)
    for j, given in enumerate(features):
        trace.phase(f"information beyond {tests.names[given]}")
        others = [i for i in range(n) if i != j]
        if others:
            scan = tests.scan([features[i] for i in others], target, [given], even_if_unreliable=True)
            gamma[others, j] = scan.effect
    return gamma


ALGORITHMS = (
    Algorithm(
        name="ks",
        run=ks,
        reference="Koller & Sahami (1996), Toward optimal feature selection, Proceedings of the 13th International "
        "Conference on Machine Learning, 284-292.",
        sound=False,
        roles=False,
        when="You want a fixed number of features, out of a few thousand at most; it is not a blanket.",
        controls="nothing",
    ),
)
