"""Count tables of partly labeled data, thousands at once, for the figures of Sechidis 2015 that need many samples.

Rows are independent, and each throws its own coin for its label, so that the counts of a sample of N rows are one
draw of a multinomial over (labeled or not, class, level of x): the same law as drawing rows, at no cost in N.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from blankets.regimes import Surrogate, collapse
from blankets.simulate import variable_with_information
from blankets.stats import Loss, critical_value, plug_in

Floats = NDArray[np.float64]

SURROGATES = {
    "labeled": Surrogate.LISTWISE,
    "Ym": Surrogate.YM,
    "Y0": Surrogate.Y0,
    "Y1": Surrogate.Y1,
}
NAMES = {"Y": "Y (unobservable)", "labeled": "labeled rows", "Ym": "Ỹm", "Y0": "Ỹ0", "Y1": "Ỹ1"}
COLORS = {"Y": "black", "labeled": "C0", "Ym": "C1", "Y0": "C2", "Y1": "C3"}


def features(n: int, prior: float, arity: int, effect: float, rng: np.random.Generator, least: float = 0.0) -> Floats:
    """Draw p(x, y) of n features with I(X;Y) = effect, shape (n, 2, arity), and p(x) nowhere below ``least``."""
    share = np.array([[1.0 - prior], [prior]])
    found: list[Floats] = []
    while len(found) < n:
        joint = share * variable_with_information(prior, arity, effect, rng)
        if joint.sum(axis=0).min() >= least:
            found.append(joint)
    return np.array(found)


def mcar(joint: Floats, labeled: float) -> Floats:
    """Return p(s=1|x,y) when labeling depends on nothing."""
    return np.full(joint.shape, labeled)


def mar_f(joint: Floats, labeled: float) -> Floats:
    """Return p(s=1|x,y) that makes x uniform among the labeled rows."""
    p_x = joint.sum(axis=-2, keepdims=True)
    return np.broadcast_to(np.minimum(labeled / joint.shape[-1] / p_x, 1.0), joint.shape)


def mar_c(joint: Floats, negatives: float, positives: float) -> Floats:
    """Return p(s=1|x,y) that makes labeled negatives and labeled positives given shares of all rows."""
    p_y = joint.sum(axis=-1, keepdims=True)
    return np.broadcast_to(np.minimum(np.array([[negatives], [positives]]) / p_y, 1.0), joint.shape)


def sample(joint: Floats, rate: Floats, rows: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw one sample for each feature: its full tables (n, 1, 2, arity), its label tables (n, 1, 3, arity)."""
    cells = np.stack([joint * rate, joint * (1.0 - rate)], axis=1)
    counts = rng.multinomial(rows, cells.reshape(len(joint), -1)).reshape(cells.shape)
    return _tables(counts.astype(float))


def sample_exact(joint: Floats, labeled: int, rows: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw samples in which exactly so many positives are labeled and nothing else is."""
    given_y = joint / joint.sum(axis=-1, keepdims=True)
    positives = rng.binomial(rows, joint[:, 1].sum(axis=-1))
    cells = np.zeros((len(joint), 2, *joint.shape[1:]))
    cells[:, 0, 1] = rng.multinomial(labeled, given_y[:, 1])
    cells[:, 1, 1] = rng.multinomial(positives - labeled, given_y[:, 1])
    cells[:, 1, 0] = rng.multinomial(rows - positives, given_y[:, 0])
    return _tables(cells)


def population(joint: Floats, rate: Floats) -> tuple[Floats, Floats]:
    """Return what `sample` divided by the number of rows becomes with ever more rows."""
    return _tables(np.stack([joint * rate, joint * (1.0 - rate)], axis=1))


def _tables(cells: Floats) -> tuple[Floats, Floats]:
    labels = np.concatenate([cells[:, 0], cells[:, 1].sum(axis=1, keepdims=True)], axis=1)
    return cells.sum(axis=1)[:, np.newaxis], labels[:, np.newaxis]


def tables_of(name: str, full: Floats, labels: Floats) -> Floats:
    """Return the tables that a surrogate sees."""
    return full if name == "Y" else collapse(labels, SURROGATES[name])


def accepts(tables: Floats, alpha: float, loss: Loss = "log") -> NDArray[np.bool_]:
    """Say whether the G-test (the X²-test for squared loss) with nominal degrees of freedom keeps independence."""
    strata, n_y, n_x = tables.shape[-3:]
    dof = (n_x - 1) * (n_y - 1) * strata
    return plug_in(tables, loss=loss).statistic < critical_value(dof, alpha)
