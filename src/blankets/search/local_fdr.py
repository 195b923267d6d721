"""MMPC-FDR and HITON-PC-FDR: parents and children at a controlled false discovery rate.

A search by subsets keeps a variable only if none of the tested sets separates it from the target. If it is not a
neighbor, one of these sets separates it, and its largest p-value is at least the p-value of that test. So the largest
p-value is a conservative p-value of "not a neighbor". The largest p-values of all variables are judged together by
the procedure of Benjamini and Yekutieli, which is valid under any dependence. Variables that the search refused have
a p-value above ``alpha`` and cannot be discoveries; they count among the tested variables.

This controls errors among neighbors. A spouse is found through a child that was found in the same data, and there is no
such theory for that; for whole blankets use IAMB-FDR or FBED-FDR.

References
----------
Tsamardinos & Brown (2008), Bounding the false discovery rate in local Bayesian network learning, AAAI, 1100-1105.
Li & Wang (2009), Controlling the false discovery rate of the association/causality structure learned with the PC
algorithm, Journal of Machine Learning Research 10, 475-514, for all edges of a network.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from blankets.independence import IndependenceTest
from blankets.search._contract import Algorithm, Found, Trace
from blankets.search._local import LocalSearch, Neighbors, found, own_neighbors
from blankets.search.hiton import hiton_neighbors
from blankets.search.mmpc import mmpc_neighbors
from blankets.stats import adjusted_log_p


def _search(
    neighbors_by: Callable[..., tuple[Neighbors, Neighbors]],
    tests: IndependenceTest,
    target: int,
    candidates: Sequence[int],
    *,
    alpha: float,
    trace: Trace,
    symmetric: bool = True,
    max_given: int | None = None,
) -> Found:
    """Return the parents and children found at level ``alpha`` that are discoveries at that rate.

    ``symmetric`` and ``max_given``: as for the plain searches; the corrected form is the default here.
    """
    search = LocalSearch(tests, target, candidates, alpha=alpha, max_given=max_given, trace=trace)
    return _controlled(search, *neighbors_by(search, symmetric=symmetric), symmetric=symmetric)


mmpc_fdr = partial(_search, mmpc_neighbors)
hiton_pc_fdr = partial(_search, hiton_neighbors)


def _controlled(search: LocalSearch, raw: Neighbors, neighbors: Neighbors, *, symmetric: bool) -> Found:
    """Keep the neighbors whose largest p-values are discoveries among all candidates that could be tested."""
    own, target = own_neighbors(search, neighbors, raw), search.target
    weakest = list(search.tests.separate(own.members, target, raw(target).members, max_size=search.max_given))
    log_p = np.array([evidence.log_p for evidence in weakest])
    if symmetric:  # the set that separates a false neighbor may be found from its own side
        ends = [search.tests.separate([target], x, raw(x).members, max_size=search.max_given)[0] for x in own.members]
        log_p = np.fmax(log_p, [evidence.log_p for evidence in ends])
    turned_away = len(search.others(target)) - len(own.members) - len(own.untested)
    adjusted = adjusted_log_p(np.concatenate([log_p, np.zeros(turned_away)]))[: len(log_p)]
    kept = []
    for evidence, value in zip(weakest, adjusted, strict=True):
        if value > math.log(search.alpha):  # a variable that could not be tested stays (NaN)
            search.trace.removed(evidence, "false discovery rate", "not a discovery at this false discovery rate")
        else:
            kept.append(evidence.x)
    around = {y: raw(y) for y in kept} if symmetric else None
    return found(search, tuple(kept), {}, own.separators, around)


_REFERENCE = (
    "Tsamardinos & Brown (2008), Bounding the false discovery rate in local Bayesian network learning, AAAI, 1100-1105."
)

ALGORITHMS = (
    Algorithm(
        name="mmpc-fdr",
        run=mmpc_fdr,
        reference=_REFERENCE,
        sound=True,
        finds="neighbors",
        roles=True,
        when="Parents and children among many features, with few false ones.",
        controls="fdr",
    ),
    Algorithm(
        name="hiton-pc-fdr",
        run=hiton_pc_fdr,
        reference=_REFERENCE,
        sound=True,
        finds="neighbors",
        roles=True,
        when="Parents and children among many features, with few false ones; to compare with mmpc-fdr.",
        controls="fdr",
    ),
)
