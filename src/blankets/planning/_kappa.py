"""`kappa`: how much each row counts in a test if labels are missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from blankets.errors import ParameterError, guarded
from blankets.planning._question import as_amount, as_count, or_nan
from blankets.planning._study import Labeled, PlannedStudy


@guarded
def kappa(
    *,
    labels: Any,
    labeled: Labeled = None,
    prior: Any = None,
    rows: int | None = None,
    sampling: str | None = None,
    surrogate: str | None = None,
    strata_priors: Sequence[float] | None = None,
    strata_shares: Sequence[float] | None = None,
    assurance: float = 0.9,
) -> float:
    """Return κ: with missing labels, each row counts as much as κ rows with full labels.

    So N/κ rows are needed in place of N rows with full labels.

    Parameters
    ----------
    labels : str or regime
        What a missing label means: "pu", "mcar", "mar-c", or a regime object ("supervised": κ is 1).
    labeled : float, int or dict
        Labels as a share of all rows (0.05), or their number (then ``rows`` is needed); counted as for `plan`:
        in positives (PU), in labeled rows (MCAR), under MAR-C ``{"positives": ..., "negatives": ...}``.
    prior : float, bounds or distribution, optional
        p(y=1), if the regime is given by name.
    rows : int, optional
        Rows in the sample, if labels are given as a number.
    sampling : {"one-sample", "case-control"}, optional
        As for `plan`.
    surrogate : {"y0", "y1", "ym", "listwise"}, optional
        What is counted in place of the target; default: the surrogate with the largest κ.
    strata_priors, strata_shares : sequence of float, optional
        For a conditional test: p(y=1|z) of each stratum (each combination of conditioning values), and the share of
        the effect in each (default: equal shares). The answer is then κ̄, the mean of κ over the strata, weighted by
        these shares.
    assurance : float
        If the prior is a distribution: the probability with which κ is at least the answer. For a bound such as
        "<0.4" the worst value is used.

    Returns
    -------
    float
        Between 0 and 1; it may be larger if positives were collected separately.

    Notes
    -----
    λ = 2 κ N I is exact for X², and holds for G in the limit of weak effects. The test with "ym" has twice the
    degrees of freedom of the others, which costs power in addition to κ; `plan` takes this into account.

    See Also
    --------
    plan : Solve for rows, labels, power or effect; ``plan.kappa`` is the κ of its answer.

    Examples
    --------
    A fifth of all rows is positive and a quarter of these is labeled; then 1/κ = 4.75 times the rows are needed.

    >>> from blankets import kappa
    >>> round(kappa(labels="pu", prior=0.2, labeled=0.05), 4)
    0.2105

    Given a column with much information about the class, if the effect is in the stratum with many positives:

    >>> round(kappa(labels="pu", prior=0.2, labeled=0.05, strata_priors=[0.025, 0.9], strata_shares=[0, 1]), 4)
    0.0323
    """
    n = as_count(rows, "rows", 2)
    if not isinstance(strata_priors, Sequence | np.ndarray | None):
        raise ParameterError.out_of_range("strata_priors", strata_priors, "p(y=1|z) of each stratum")
    study = PlannedStudy(
        labels=labels,
        labeled=labeled,
        prior=prior,
        sampling=sampling,
        surrogate=surrogate,
        target_arity=2,
        strata=1 if strata_priors is None else len(strata_priors),
        strata_priors=strata_priors,
        strata_shares=strata_shares,
        assurance=assurance,
        n_draws=2000,
        rng=0,
    )
    if any(given is None for given in study.labels_given.values()):
        raise ParameterError("κ depends on the labels; give 'labeled' as a share of all rows (such as 0.05)")
    amounts = labeled.values() if isinstance(labeled, Mapping) else () if labeled is None else (labeled,)
    if n is None and any(as_amount(amount).is_count for amount in amounts):
        raise ParameterError("κ depends on the share of rows that is labeled; give 'rows' with a number of labels")
    return study.kappa(or_nan(n))
