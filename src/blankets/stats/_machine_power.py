"""The power of tests with a machine's labels beside gold ones, by drawing such studies (methods, section 14)."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from blankets.stats._cell_means import Floats, critical_value, log_p_among, merged_levels
from blankets.stats._machine_labels import LEAST, machine_design, machine_fitted, machine_independent

STUDIES = 10_000  # that are drawn: the power has a standard error of 0.005 at most
_UNDER = 30_000  # drawn under independence: what they leave open of the critical value changes the power by 0.007
_AT_ONCE = 2000  # so many tables fit into the cache of a processor


def machine_power(
    effect: float, positives: float, gold: float, rows: float, dof: int, says: ArrayLike, alpha: float
) -> float:
    """Return how often the test with a machine's labels finds an effect, of `STUDIES` studies that are drawn.

    Arguments as in `machine_noncentrality`. Studies under the nearest design without any effect tell the critical
    value. With few errors the noncentral chi-square distribution tells less.

    Examples
    --------
    >>> right = [[0.95, 0.05], [0.05, 0.95]]
    >>> from blankets.stats import attained_power, machine_noncentrality
    >>> round(float(attained_power(machine_noncentrality(0.0194, 0.5, 100, 2000, 4, right), 4, 0.01)), 2)
    0.54
    >>> round(machine_power(0.0194, 0.5, 100, 2000, 4, right, 0.01), 1)
    0.6
    """
    rng, n, rest = np.random.RandomState(0), round(gold), max(round(rows) - round(gold), 0)
    joint = machine_design(np.full((1, 1), effect), np.full((1, 1), positives), dof + 1, says)[0]
    without = machine_independent(n * joint, rest * joint.sum(axis=0)) / joint.shape[-1]
    law, found = (
        np.concatenate([_statistics(rng, some, n, rest) for _ in range(draws // _AT_ONCE)])
        for some, draws in ((without, _UNDER), (joint, STUDIES))
    )
    p_value = partial(log_p_among, dof=dof, drawn=law, of_likelihoods=True)
    return float(np.mean(found >= critical_value(p_value, alpha, law)))


def _statistics(rng: np.random.RandomState, joint: Floats, gold: int, rest: int, draws: int = _AT_ONCE) -> Floats:
    """Return the statistics of studies that are drawn from p(y, what the machine says, x)."""
    machine = joint.sum(axis=0)
    seen = rng.multinomial(gold, (joint / joint.sum()).ravel(), draws).reshape(draws, *joint.shape)
    others = rng.multinomial(rest, (machine / machine.sum()).ravel(), draws).reshape(draws, *machine.shape)
    n, said = seen.sum(axis=(1, 2)), seen[:, :, 1].sum(axis=1)
    every = said + others[:, 1]
    parts = [n + others.sum(axis=1), n, seen[:, 1].sum(axis=1), said, said, seen[:, 1, 1], every, every]
    sums = np.stack(parts).astype(float)
    return machine_fitted(merged_levels(sums, sums[1], LEAST), two_values=(0.0, 1.0)).statistic
