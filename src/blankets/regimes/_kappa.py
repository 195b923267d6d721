"""κ: the share of a test's noncentrality λ that a surrogate keeps: λ(surrogate) = κ λ(full labels).

The noncentrality determines the power; with κ, each row counts as much as κ rows with full labels. If labeling
depends only on the class (or on nothing), the surrogate Ỹ has information about x only through y:
p(x|ỹ) - p(x) = (p(y=1|ỹ) - p(y=1)) (p(x|y=1) - p(x|y=0)), and so

    I₂(X;Ỹ) = κ I₂(X;Y)   with   κ = Var(E[Y|Ỹ]) / Var(Y),

exactly, for every effect. Sechidis (2015), Theorems 4.4 and 4.8, are special cases; κ of Ỹm under class-dependent
labeling is new here. For G, whose noncentrality is 2 N I, κ is the limit of weak effects (errata B2). The same is
true for labeled rows alone if the classes are labeled at different rates.

**Conditional tests.** Within a stratum (one combination z of the conditioning values) the same holds with
p(y=1|z) for p(y=1). The κ of the whole test is the mean of κ_z, weighted by the effect of each stratum,
p(z) I₂(X;Y|z). Sechidis (2015), Theorem 4.11, uses the unconditional κ, an approximation that can be wrong by
a factor of six (errata B4).

**Case-control sampling.** n₁ positives from p(x|y=1), n₀ background rows from p(x), a = n₁ / (n₁ + n₀). For
the pooled rows, 2 I₂(X;Ỹ0) = a (1-a) Σ (p(x|y=1) - p(x))² / p̄(x), with p̄ = a p(x|y=1) + (1-a) p(x);
and 2 I₂(X;Y) = p₁/(1-p₁) Σ (p(x|y=1) - p(x))² / p(x). For weak effects p̄ ≈ p, which leaves
κ ≈ (1-p₁)/p₁ · a (1-a). It can be above 1: collecting positives on purpose can be better than a random sample.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets.regimes._channel import Channel
from blankets.regimes._surrogates import Surrogate, collapse
from blankets.stats import POSITIVE, UNLABELED, Sampling, as_tables, divided, plug_in

Floats = NDArray[np.float64]

# Labeled rows of a class contradict p(y=1) if so many have a probability below this: the one-sided limit of Clopper &
# Pearson (1934) at the default level of tests.
IMPOSSIBLE = 0.01


def kappa_of(
    surrogate: Surrogate, prior: ArrayLike, *, positives: ArrayLike = 0.0, negatives: ArrayLike = 0.0
) -> Floats:
    """Return κ of a surrogate if labeling depends only on the class, elementwise.

    ``surrogate``: what replaces the target. ``prior``: p(y=1). ``positives``, ``negatives``: labeled positives and
    labeled negatives as shares of all rows: a = p(y=1,s=1), b = p(y=0,s=1).

    Examples
    --------
    The example of Sechidis (2015), 7.1.1: a fifth of the rows positive, a quarter of these labeled.

    >>> round(float(kappa_of(Surrogate.Y0, 0.2, positives=0.05)), 4)
    0.2105
    """
    p, a, b = np.broadcast_arrays(*(np.asarray(v, float) for v in (prior, positives, negatives)))
    if surrogate is Surrogate.FULL:
        return np.ones(p.shape)
    return np.asarray(Channel.by_class(positives=a / p, negatives=b / (1.0 - p)).kappa(surrogate, p))


def least_share(n: int, of: int) -> float:
    """Return the smallest share in the population for which ``n`` or more rows in a sample are not too unlikely.

    Examples
    --------
    >>> round(least_share(81, 400), 4), round(least_share(30, 100), 4), least_share(0, 10)
    (0.1577, 0.1983, 0.0)
    """
    from scipy.special import betaincinv

    return float(betaincinv(n, of - n + 1, IMPOSSIBLE)) if n else 0.0


def kappa_case_control(share: ArrayLike, prior: ArrayLike) -> Floats:
    """Return κ of Ỹ0 if labeled positives, ``share`` of all rows, were collected separately from the background.

    Examples
    --------
    >>> round(float(kappa_case_control(0.5, 0.2)), 4)
    1.0
    """
    a, p = np.asarray(share, float), np.asarray(prior, float)
    return np.asarray((1.0 - p) / p * a * (1.0 - a))


def prefer_y0_below(positives: float, negatives: float) -> float:
    """Return the p(y=1) below which Ỹ0 has more power than Ỹ1, the right-hand side of methods (3.7).

    Examples
    --------
    >>> round(prefer_y0_below(0.125, 0.125), 3)
    0.5
    """
    a, b = positives, negatives
    if a == 0.0 or b == 0.0:
        return 1.0 if b == 0.0 else 0.0
    return float(1.0 / (1.0 + np.sqrt((1.0 - a) * b / (a * (1.0 - b)))))


def surrogate_breakpoints(positives: float, negatives: float) -> tuple[float, ...]:
    """Return the values of p(y=1) at which two of Ỹ0, Ỹ1 and labeled rows alone have the same κ, ascending.

    Between these values the most powerful surrogate under class-dependent labeling does not change. Ỹ0 and Ỹ1 are
    equal at methods (3.7), Ỹ0 and labeled rows at (1 - p)² = b (1 - a) / (a + b), Ỹ1 and labeled rows at
    p² = a (1 - b) / (a + b).

    Examples
    --------
    >>> [round(p, 3) for p in surrogate_breakpoints(0.1, 0.2)]
    [0.225, 0.4, 0.516]
    """
    a, b = positives, negatives
    with_y0 = 1.0 - np.sqrt(b * (1.0 - a) / (a + b))
    with_y1 = np.sqrt(a * (1.0 - b) / (a + b))
    return tuple(sorted({float(with_y0), prefer_y0_below(a, b), float(with_y1)}))


@dataclass(frozen=True, slots=True, eq=False)
class StratifiedKappa:
    """κ of conditional tests, stratum by stratum."""

    by_stratum: Floats  # (..., strata): κ_z
    weights: Floats  # (..., strata): share of the effect in each stratum
    value: Floats  # (...): κ̄, the κ of the conditional test
    unconditional: Floats  # the κ of the unconditional test, to compare with

    @property
    def safe(self) -> Floats:
        """Smallest κ_z: the κ for planning if the whole effect may be in any one stratum."""
        return np.asarray(self.by_stratum.min(axis=-1))


def stratified_kappa(
    counts: ArrayLike,
    surrogate: Surrogate,
    prior: ArrayLike,
    *,
    sampling: Sampling = "one-sample",
    effects: ArrayLike | None = None,
    channel: Channel | None = None,
) -> StratifiedKappa:
    """Return κ of conditional tests (errata B4).

    ``counts``, of shape (..., strata, 3, levels of x): label tables: negative, positive, unlabeled. ``surrogate``: what
    replaces the target. ``prior``: p(y=1) of the population. ``sampling``: how the labeled positives were collected.
    ``effects``, of shape (..., strata): i₂(X;Y|z), if it is known or assumed; by default it is estimated as
    Î₂(X;Ỹ|z) / κ_z. ``channel``: P(label | class), by default that of labels that are right and missing by class.

    Examples
    --------
    Two equally frequent strata, p(y=1|z) 0.1 and 0.3, a quarter of the positives labeled, x related to y in
    the same way in both (I₂ in proportion to p(y=1|z) p(y=0|z)):

    >>> counts = [[[0, 0], [125, 125], [4875, 4875]], [[0, 0], [375, 375], [4625, 4625]]]
    >>> kappa = stratified_kappa(counts, Surrogate.Y0, 0.2, effects=[0.09, 0.21])
    >>> round(float(kappa.value), 4), round(float(kappa.unconditional), 4)
    (0.2017, 0.2105)
    """
    tables, share = as_tables(counts, n_y=3), np.asarray(prior, float)
    if sampling == "case-control":
        p_z, by_stratum, whole = _apart(tables, share)
    else:
        p_z, by_stratum, whole = _by_channel(tables, surrogate, share, channel)
    everyone = tables.sum(axis=(-2, -1))
    tested_z = divided(everyone, everyone.sum(axis=-1, keepdims=True))
    if effects is None:
        seen = collapse(tables, surrogate)
        squared = plug_in(seen[..., np.newaxis, :, :], loss="squared").value  # Î₂(X;Y|z); NaN for empty strata
        observed = np.nan_to_num(squared) * divided(seen.sum(axis=(-2, -1)), everyone)
        full = divided(observed, by_stratum)
    else:
        full = np.broadcast_to(np.asarray(effects, float), by_stratum.shape)
    weights = p_z * full
    nothing = weights.sum(axis=-1, keepdims=True) == 0
    weights = np.where(nothing, p_z, divided(weights, weights.sum(axis=-1, keepdims=True)))
    # The test sees stratum z as often as it is in the sample, which case-control sampling changes.
    value = (weights * divided(tested_z, p_z) * by_stratum).sum(axis=-1)
    return StratifiedKappa(by_stratum, weights, value, np.broadcast_to(whole, value.shape))


def _by_channel(
    tables: Floats, surrogate: Surrogate, share: Floats, channel: Channel | None
) -> tuple[Floats, Floats, Floats]:
    """Return p(z), κ_z and the κ of the unconditional test: p(y=1|z) is the mean score of the stratum."""
    rows = tables.sum(axis=-1)
    everyone = rows.sum(axis=-1)
    if channel is None:
        b, a, _ = np.moveaxis(divided(rows.sum(axis=-2), everyone.sum(axis=-1)[..., np.newaxis]), -1, 0)
        channel = Channel.by_class(positives=divided(a, share), negatives=divided(b, 1.0 - share))
    all_rows = Surrogate.YM if surrogate in (Surrogate.LISTWISE, Surrogate.FULL) else surrogate
    score = channel.score(all_rows, share)[..., np.newaxis, :]
    in_z = np.clip((divided(rows, everyone[..., np.newaxis]) * score).sum(axis=-1), 0.0, 1.0)
    in_strata = Channel(channel.matrix[..., np.newaxis, :, :])
    p_z = divided(everyone, everyone.sum(axis=-1, keepdims=True))
    return p_z, in_strata.kappa(surrogate, in_z), channel.kappa(surrogate, share)


def _apart(tables: Floats, share: Floats) -> tuple[Floats, Floats, Floats]:
    """Return p(z), κ_z and the κ of the unconditional test, where labeled positives were collected separately."""
    rows = tables.sum(axis=-1)
    labeled, everyone, background = rows[..., POSITIVE], rows.sum(axis=-1), rows[..., UNLABELED]
    p_z = divided(background, background.sum(axis=-1, keepdims=True))
    r_z = divided(labeled, labeled.sum(axis=-1, keepdims=True))
    in_z = np.clip(divided(share[..., np.newaxis] * r_z, p_z), 0.0, 1.0)  # p(y=1|z)
    a_z, total = divided(labeled, everyone), divided(labeled.sum(axis=-1), everyone.sum(axis=-1))
    return p_z, divided(1.0 - in_z, in_z) * a_z * (1.0 - a_z), kappa_case_control(total, share)
