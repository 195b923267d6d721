"""A table of words, numbers and categories, and classes that follow from two of its columns."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="package")
def data():
    rng = np.random.default_rng(0)
    n = 1500
    X = pd.DataFrame(
        {
            "color": rng.choice(["red", "green", "blue"], n),
            "size": rng.normal(size=n),
            "shape": pd.Categorical(rng.choice(["round", "square"], n)),
            "noise": rng.integers(0, 4, n),
        }
    )
    logit = 2.0 * (X["color"] == "red") + 1.5 * (X["shape"] == "round") - 1.7
    y = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(int)
    return X, y.to_numpy()
