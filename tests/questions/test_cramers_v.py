"""Cramér's V and φ: the value is SciPy's, the interval covers."""

import math

import numpy as np
import pytest
from scipy.stats.contingency import association

import blankets as bl
from blankets.errors import NotAnswerableError


@pytest.mark.parametrize(("levels", "classes"), [(2, 2), (4, 2), (3, 4)])
def test_it_is_that_of_scipy(levels, classes):
    rng = np.random.default_rng(levels)
    y = rng.integers(0, classes, 600)
    x = np.where(rng.random(600) < 0.3, y % levels, rng.integers(0, levels, 600))
    found = bl.mutual_information({"x": x.astype(str), "y": y.astype(str)}, "x", "y", loss="squared")
    counts = np.histogram2d(x, y, bins=(levels, classes))[0].astype(int)
    assert found.cramers_v == pytest.approx(association(counts, method="cramer"), rel=1e-9)
    assert ("φ" if min(levels, classes) == 2 else "Cramér's V") in str(found)
    assert bl.Estimate.from_json(found.to_json()).cramers_v == found.cramers_v


def test_the_interval_covers():
    rng, draws, held = np.random.default_rng(0), 300, 0
    joint = np.array([[0.25, 0.1], [0.15, 0.2], [0.1, 0.2]])
    expected = np.outer(joint.sum(1), joint.sum(0))
    truth = math.sqrt(((joint - expected) ** 2 / expected).sum())
    for _ in range(draws):
        cell = rng.choice(6, 500, p=joint.ravel())
        found = bl.mutual_information({"x": (cell // 2).astype(str), "y": cell % 2}, "x", "y", loss="squared", n_jobs=1)
        low, high = found.cramers_v_interval()
        held += low <= truth <= high
    assert abs(held / draws - 0.9) < 4 * math.sqrt(0.09 / draws)


def test_from_positives_alone_it_is_that_of_all_labels():
    rng = np.random.default_rng(1)
    y = rng.random(20_000) < 0.3
    x = rng.random(20_000) < np.where(y, 0.6, 0.3)
    seen = np.where(y & (rng.random(20_000) < 0.4), 1.0, np.nan)
    full = bl.mutual_information({"x": x, "y": y}, "x", "y", loss="squared").cramers_v
    low, high = bl.mutual_information(
        {"x": x, "y": seen}, "x", "y", loss="squared", labels="pu", prior=0.3
    ).cramers_v_interval(0.99)
    assert low < full < high < 2 * low


def test_it_needs_levels_and_the_squared_loss():
    table = {"x": np.arange(100) / 7, "y": np.arange(100) % 2}
    for how in ({"loss": "squared"}, {}):
        with pytest.raises(NotAnswerableError, match="Cramér's V is that of the squared-loss information"):
            bl.mutual_information(table, "x", "y", **how).cramers_v  # noqa: B018
