"""The fit of a machine's labels: the same as Newton's method in NumPy, and no better one in any stratum."""

import numpy as np
import pytest

from blankets.stats import machine_scores
from kernels.test_kernels import BOTH

TRACE = 1e-4


def fitted(gold, rest, steps=200):
    """Return the log of the ratio and the shares: one stratum each, all levels at once, until all steps are small."""
    gold = gold + TRACE
    value = gold.sum(axis=0)
    free = (value + rest) / (value + rest).sum(axis=0)
    of_all = (value + rest).sum(axis=-1, keepdims=True)
    q = of_all / of_all.sum(axis=0) * gold.sum(axis=-1, keepdims=True) / value.sum(axis=-1, keepdims=True)
    q = np.broadcast_to(q, gold.shape)
    for _ in range(steps):
        either = q.sum(axis=0)
        slope, (a0, a1), h = gold / q + rest / either, gold / q**2, rest / either**2
        det = a0 * a1 + h * (a0 + a1)
        inverse = np.array([[a1 + h, -h], [-h, a0 + h]]) / det
        both, told = inverse.sum(axis=2), (inverse * slope).sum(axis=(1, 2))
        whole = both[0, 0] * both[1, 1] - both[0, 1] ** 2
        over = (both[0].sum(axis=0) * told[1] - both[1].sum(axis=0) * told[0]) / whole
        toward = over.sum(axis=-1, keepdims=True) / (both.sum(axis=(0, 1)) / whole).sum(axis=-1, keepdims=True)
        t0, t1 = told[0] + toward, told[1] - toward
        of_class = [(both[1, 1] * t0 - both[0, 1] * t1) / whole, (both[0, 0] * t1 - both[0, 1] * t0) / whole]
        step = (inverse * (slope - np.array(of_class)[:, np.newaxis])).sum(axis=1)
        most = np.max(-step / q, axis=(0, 1, -1), keepdims=True)[0, 0]
        q = q + step * np.minimum(1.0, 0.95 / np.maximum(most, 1e-9))
        if np.max(np.abs(step) / q) < 1e-9:
            break
    return loglik(gold, rest, free * gold / value) - loglik(gold, rest, q), q


def loglik(gold, rest, q):
    """Return the log likelihood of strata at some shares."""
    return (gold * np.log(q)).sum(axis=(0, 1, -1)) + (rest * np.log(q.sum(axis=0))).sum(axis=(0, -1))


def tables(rng, strata, levels):
    """Draw counts of gold rows and others: cells with one row, a few and many, errors that are rare and frequent."""
    gold = rng.poisson(rng.choice([0.3, 3.0, 20.0], (2, 2, strata, levels))).astype(float)
    rest = rng.poisson(rng.choice([1.0, 10.0, 100.0], (2, strata, levels))).astype(float)
    rest[0] += gold.sum(axis=(0, 1)) + rest.sum(axis=0) == 0
    return gold, rest


@BOTH
@pytest.mark.parametrize("levels", [1, 2, 5])
def test_the_fit_is_that_of_numpy(k, levels):
    gold, rest = tables(np.random.default_rng(levels), 40, levels)
    ratios, shares = k.fit_machine(gold.reshape(4, -1), rest.reshape(2, -1), levels)
    wanted, q = fitted(gold, rest)
    # A step below 1e-6 leaves 1e-12 of a share, and less of the likelihood; some end after 30 steps, at 1e-7.
    np.testing.assert_allclose(ratios, 2.0 * wanted, atol=1e-6)
    np.testing.assert_allclose(np.reshape(shares, q.shape).sum(axis=(0, 1)), 1.0, atol=1e-9)
    positives = np.reshape(shares, q.shape)[1].sum(axis=0)
    np.testing.assert_allclose(positives, np.repeat(positives[:, :1], levels, axis=1), atol=1e-9)
    found = loglik(gold + TRACE, rest, np.reshape(shares, q.shape))
    np.testing.assert_allclose(found, loglik(gold + TRACE, rest, q), atol=1e-6)


@BOTH
def test_cells_without_rows_count_for_nothing(k):
    gold, rest = tables(np.random.default_rng(8), 10, 3)
    wide = [np.insert(part, [0, 2], 0.0, axis=-1) for part in (gold, rest)]
    (ratios, shares), (again, q) = (
        k.fit_machine(g.reshape(4, -1), r.reshape(2, -1), g.shape[-1]) for g, r in ((gold, rest), wide)
    )
    np.testing.assert_allclose(again, ratios, atol=1e-8)
    np.testing.assert_allclose(np.reshape(q, (4, 10, 5))[..., [1, 2, 4]], np.reshape(shares, (4, 10, 3)), atol=1e-6)
    assert np.isfinite(q).all()
    nothing = k.fit_machine(np.zeros((4, 3)), np.zeros((2, 3)), 3)
    assert nothing[0] == [0.0]


def test_a_stratum_is_fitted_as_if_it_were_alone():
    """One step for all strata, as short as the most cautious of them needs, did not arrive with 30 strata."""
    rng, strata = np.random.default_rng(6), 30
    gold, rest = tables(rng, strata, 4)
    n, y, f = gold.sum(axis=(0, 1)), gold[1].sum(axis=0), gold[:, 1].sum(axis=0)
    every = f + rest[1]
    sums = np.stack([n + rest.sum(axis=0), n, y, f, f, gold[1, 1], every, every])
    scores = machine_scores(np.array([0, 1], np.int16), np.array([0.0, 1.0]))
    assert scores.fitted(sums).statistic == pytest.approx(2.0 * fitted(gold, rest)[0].sum(), abs=1e-4)
