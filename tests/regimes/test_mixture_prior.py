"""p(y=1) from labels of both classes whose shares say nothing of it."""

import math

import numpy as np
import pytest

import blankets as bl
from blankets.errors import LabelError, ParameterError


def table(rng, n, prior, positives, negatives, effect=0.25):
    """Four features of three levels, and labels of so many rows of each class."""
    y = (rng.random(n) < prior).astype(int)
    strength = effect * (1 - 0.15 * np.arange(4))[:, np.newaxis]
    features = (rng.random((4, n)) < np.where(y == 1, 0.5 + strength, 0.5 - strength / 2)).astype(int)
    features += rng.random((4, n)) < 0.3
    seen = np.full(n, np.nan)
    for c, count in ((1, positives), (0, negatives)):
        seen[rng.permutation(np.flatnonzero(y == c))[:count]] = c
    return {**{f"x{j}": column for j, column in enumerate(features)}, "y": seen}, float(y.mean())


# The shares of labels say .5, .77, .2 and .9 of the rows are positive.
@pytest.mark.parametrize(("prior", "labels"), [(0.2, (60, 60)), (0.5, (200, 60)), (0.8, (60, 240)), (0.1, (180, 20))])
def test_intervals_cover_the_share_in_all_rows(prior, labels):
    rng, draws, held, values = np.random.default_rng(int(100 * prior)), 60, 0, []
    for _ in range(draws):
        found = bl.estimate_prior(table(rng, 1500, prior, *labels)[0], "y", labels="mar-c", rng=rng)
        held += found.ppf(0.05) <= prior <= found.ppf(0.95)
        values.append(found.value)
    assert abs(held / draws - 0.9) <= 4 * math.sqrt(0.09 / draws)
    assert abs(np.median(values) - prior) < 4 * 1.25 * np.std(values) / math.sqrt(draws)


def test_with_the_best_function_the_error_is_that_of_known_densities():
    """One feature of two levels: π = (q - q0) / (q1 - q0), with the variance of the three shares."""
    rng, n, m, values = np.random.default_rng(0), 4000, 150, []
    for _ in range(150):
        y = rng.random(n) < 0.3
        x = (rng.random(n) < np.where(y, 0.8, 0.2)).astype(int)
        seen = np.full(n, np.nan)
        for c in (0, 1):
            seen[rng.permutation(np.flatnonzero(y == c))[:m]] = c
        values.append(bl.estimate_prior({"x": x, "y": seen}, "y", labels="MAR-C", rng=rng).value)
    # The variance of q - π q1 - (1 - π) q0; a labeled row is among all rows, too: cov(q, q1) = .16 / n.
    q = 0.3 * 0.8 + 0.7 * 0.2
    expected = math.sqrt((q * (1 - q) - 2 * 0.16) / n + (0.3**2 + 0.7**2) * 0.16 / m) / 0.6
    assert np.std(values) == pytest.approx(expected, rel=4 / math.sqrt(2 * 150))
    assert np.mean(values) == pytest.approx(0.3, abs=4 * expected / math.sqrt(150))


def test_the_estimate_is_used_where_the_prior_is_not_known():
    known, share = table(np.random.default_rng(2), 6000, 0.3, 400, 400)
    with_truth = bl.rank(known, "y", labels="mar-c", prior=share)
    estimated = bl.rank(known, "y", labels="mar-c", prior="estimate")
    assert estimated.names[0] == with_truth.names[0]
    assert estimated.information == pytest.approx(with_truth.information, rel=0.4)
    assert all(estimated.standard_error >= 0.9 * with_truth.standard_error)


def test_refusals():
    known, _ = table(np.random.default_rng(3), 500, 0.3, 5, 40)
    with pytest.raises(LabelError, match="labeled rows of both classes, 10 of each at least"):
        bl.estimate_prior(known, "y", labels="mar-c")
    with pytest.raises(ParameterError, match="prior='estimate' is for labels='pu' and labels='mar-c'"):
        bl.rank(known, "y", labels="mcar", prior="estimate")
    with pytest.raises(ParameterError, match="unknown method to estimate the prior 'roc'"):
        bl.estimate_prior(table(np.random.default_rng(3), 500, 0.3, 20, 40)[0], "y", labels="mar-c", method="roc")
