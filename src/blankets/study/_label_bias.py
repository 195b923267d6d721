"""The bias of labeling that would explain each member of a blanket away, where only positives are labeled."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from blankets.independence import Evidence, seen_in, strata_of_rows
from blankets.results import LabelBias
from blankets.stats import labeling_bias
from blankets.study._study import Study


def label_biases(study: Study, evidence: Iterable[Evidence]) -> dict[str, LabelBias]:
    """Return the bias that would explain each member, from its test and what that was given.

    ``evidence``: the tests of the members. Empty unless positives alone are labeled, with unknown propensities.
    """
    if study.regime.name != "pu" or study.labels.scores is not None or not study.labels.n_unlabeled:
        return {}
    return {study.names[e.x]: _bias(study, e) for e in evidence if e.reliable}


def _bias(study: Study, evidence: Evidence) -> LabelBias:
    given = tuple(dict.fromkeys((*evidence.given, *study.known_drivers)))
    rows = seen_in(study.frame, frozenset((evidence.x, *given)))
    strata = strata_of_rows((_codes(study, z)[0] for z in given), study.n_rows)
    codes, words = _codes(study, evidence.x)
    apart = study.regime.sampling == "case-control"
    found = labeling_bias(study.labels.labeled[rows], codes[rows], strata[rows], apart=apart)
    return LabelBias(level=words[found.level], ratio=0.0 if np.isnan(found.ratio) else found.ratio, gamma=found.gamma)


def _codes(study: Study, x: int) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], list[str]]:
    """Return the codes of a column and what they mean; a number is cut into four parts."""
    frame = study.frame
    if x not in frame.numbers:
        return frame.column(x).astype(np.int64), [str(level) for level in frame.levels[x]]
    values = frame.numbers[x].values
    cuts = np.unique(np.nanquantile(values, [0.25, 0.5, 0.75]))
    ends = [f"{cut:.3g}" for cut in cuts]
    words = [f"up to {ends[0]}", *(f"{a} to {b}" for a, b in pairwise(ends)), f"above {ends[-1]}"]
    return np.searchsorted(cuts, np.nan_to_num(values)).astype(np.int64), words
