"""What labels tell of "every positive has the same chance of a label" (selected completely at random, SCAR).

If every positive is labeled with the same probability c, then p(labeled | x) = c p(y=1 | x) is at most c for all x, and
c = a / p(y=1), with a the labeled share of all rows. So each level of a column gives an upper limit of p(y=1), methods
(13.7): a / p(labeled | x). A p(y=1) above such a limit contradicts the assumption. Nothing else can be refuted: below
the limits every table is possible under SCAR, whatever drives labeling. So without knowledge of p(y=1) there is no
test.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from blankets.regimes import PositiveUnlabeled
from blankets.results import Finding, digits, shown
from blankets.study import Study
from blankets.voice import option, part

LEVEL = 0.01  # probability that the limit is below p(y=1) although labeling is at random


def largest_prior(study: Study) -> tuple[float, int, int]:
    """Return the upper limit of p(y=1) if labeling is at random among positives, and the column and level behind it.

    The limits of the labeled shares are those of Clopper and Pearson, with Bonferroni's correction over all levels.
    """
    from scipy.special import betaincinv  # late: loading it takes a third of the time of a short command

    frame, labeled = study.frame, study.labels.labeled
    features = [x for x in study.features if x not in frame.numbers]
    cells = sum(int(frame.arities[x]) for x in features) + 1
    n, total = study.n_rows, int(np.count_nonzero(labeled))
    share = float(betaincinv(total + 1, n - total, 1.0 - LEVEL / cells)) if total < n else 1.0
    best = (1.0, -1, -1)
    for x in features:
        gaps = frame.gaps(x)
        rows = np.ones(n, bool) if gaps is None else ~gaps
        codes, arity = frame.column(x)[rows], int(frame.arities[x])
        seen, there = (np.bincount(part, minlength=arity)[:arity] for part in (codes[labeled[rows]], codes))
        few = (seen > 0) & (there > 0)
        low = np.where(few, betaincinv(np.maximum(seen, 1), there - seen + 1, LEVEL / cells), 0.0)
        at = int(np.argmax(low))
        if low[at] > 0 and share / low[at] < best[0]:
            best = (share / float(low[at]), x, at)
    return best


def scar_findings(study: Study) -> Iterator[Finding]:
    """Yield what labels say of labeling at random, where only positives are labeled."""
    regime = study.regime
    plain = isinstance(regime, PositiveUnlabeled) and not regime.drivers and regime.propensity is None
    if not plain or regime.sampling == "case-control" or not study.labels.n_unlabeled:
        return
    limit, x, level = largest_prior(study)
    if x < 0:
        what = "Labels give no limit of p(y=1), so that they cannot contradict that every positive has the same chance "
        yield Finding(kind="labeling", columns=(), what=f"{what}of a label.", next_step=f"Nothing. {_blind()}")
        return
    name = study.names[x]
    where = f"{shown(name)} = {study.frame.levels[x][level]}"
    figures = {name: limit}
    bound = f"p(y=1) is at most {digits(limit)} (from the labeled share where {where})"
    if regime.prior is None:
        yield Finding(
            kind="labeling",
            columns=(name,),
            what=f"If every positive has the same chance of a label, {bound}. Whether that holds cannot be tested "
            f"without knowing p(y=1): every table is possible under it.",
            next_step=f"Say {option('prior')} if you know p(y=1), and {option('drivers')} if you know what "
            f"labeling depends on. {_blind()}",
            figures=figures,
        )
        return
    said = float(regime.prior.ppf(0.005))
    if said > limit:
        yield Finding(
            kind="labeling",
            columns=(name,),
            what=f"Positives do not all have the same chance of a label, or p(y=1) = {regime.prior} is wrong: with "
            f"labeling at random {bound}.",
            next_step=f"Correct {option('prior')}, or say what labeling depends on: {option(drivers=...)} "
            f"(perhaps {shown(name)}).",
            weight="act",
            figures=figures,
        )
        return
    yield Finding(
        kind="labeling",
        columns=(name,),
        what=f"Labels do not contradict that every positive has the same chance of a label: {bound}, and "
        f"{option('prior')} says "
        f"{regime.prior}.",
        next_step=f"Nothing. {_blind()}",
        figures=figures,
    )


def _blind() -> str:
    """Say what cannot be seen."""
    return (
        "This cannot see bias that keeps the labeled share of every level below that limit; `sensitivity` and "
        f"{part('label_bias')} say how much bias would explain each member."
    )
