"""`Channel`: P(label | class) into negative, positive and unlabeled; the rest follows from it (methods, section 14).

If a label depends on the class y alone, a *surrogate* Ỹ (the label, with some of its three values put together, or left
out) is related to x only through y, and everything follows from the matrix m(label | y) and p = p(y=1):

* **validity**: x independent of y given z implies x independent of Ỹ given z.
* **κ** = P(counted) Var(E[Y|Ỹ] | counted) / Var(Y), methods (14.2): each row counts as much as κ rows with full labels.
* **the estimator**: the score w(Ỹ) = p + (E[Y|Ỹ] - p) / κ has E[w | y] = y, so that the mean of w among rows with x
  and z is p(y=1 | x, z), methods (14.3). Of all scores of Ỹ with that property it has the least variance.

Supervised, positive-unlabeled, MCAR, MAR-C and wrong labels are such matrices. Under MAR-F labels depend on x: the
channel is one for each level of x, and only labeled rows may be compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets.errors import NotAnswerableError
from blankets.regimes._surrogates import Surrogate
from blankets.stats import divided

Floats = NDArray[np.float64]

_TINY = 1e-30  # step of the derivative along the imaginary axis; no digit is lost, whatever its size

# What becomes of negative, positive and unlabeled: the value that is counted, -1 for rows that are not.
_MERGED = {
    Surrogate.FULL: (0, 1, -1),
    Surrogate.LISTWISE: (0, 1, -1),
    Surrogate.YM: (0, 1, 2),
    Surrogate.Y0: (0, 1, 0),
    Surrogate.Y1: (0, 1, 1),
}


@dataclass(frozen=True, slots=True, eq=False)
class Channel:
    """The probabilities of labels, given the class.

    Examples
    --------
    A fifth of the rows is positive, and a quarter of these is labeled; or every row is, and every tenth label is wrong:

    >>> known_positives = Channel.by_class(positives=0.25)
    >>> round(float(known_positives.kappa(Surrogate.Y0, 0.2)), 4)
    0.2105
    >>> round(float(Channel.noisy(0.1, 0.1).kappa(Surrogate.FULL, 0.2)), 4)
    0.5322
    """

    matrix: NDArray[Any]  # (..., 2, 3): P(labeled negative, labeled positive, unlabeled) of each class

    @classmethod
    def noisy(
        cls, false_positive: ArrayLike, false_negative: ArrayLike, *, positives: ArrayLike = 1.0, negatives: Any = 1.0
    ) -> Channel:
        """Return the channel of labels that may be wrong, and may be missing depending on the class.

        ``false_positive``, ``false_negative``: P(label 1 | y=0), P(label 0 | y=1). ``positives``, ``negatives``: the
        probability that a row of the class is labeled at all.
        """
        rho0, rho1, c1, c0 = np.broadcast_arrays(
            *map(np.asarray, (false_positive, false_negative, positives, negatives))
        )
        rows = [[c0 * (1.0 - rho0), c0 * rho0, 1.0 - c0], [c1 * rho1, c1 * (1.0 - rho1), 1.0 - c1]]
        return cls(np.stack([np.stack(row, axis=-1) for row in rows], axis=-2))

    @classmethod
    def by_class(cls, *, positives: ArrayLike = 0.0, negatives: ArrayLike = 0.0) -> Channel:
        """Return the channel of labels that are right, and missing depending on the class."""
        return cls.noisy(0.0, 0.0, positives=positives, negatives=negatives)

    def kappa(self, surrogate: Surrogate, prior: ArrayLike) -> NDArray[Any]:
        """Return κ of a surrogate at p(y=1), methods (14.2)."""
        p = np.asarray(prior)
        share, mean = self._merged(surrogate, p)
        counted = share.sum(axis=-1)
        among = _over((share * mean).sum(axis=-1), counted)[..., np.newaxis]
        return np.asarray(_over((share * (mean - among) ** 2).sum(axis=-1), p * (1.0 - p)))

    def score(self, surrogate: Surrogate, prior: ArrayLike) -> NDArray[Any]:
        """Return w of negative, positive and unlabeled, shape (..., 3), with E[w | y] = y: methods (14.3).

        It is for surrogates that count every row; what listwise leaves out has no score.
        """
        p = np.asarray(prior)
        _, mean = self._merged(surrogate, p)
        w = p[..., np.newaxis] + _over(mean - p[..., np.newaxis], self.kappa(surrogate, p)[..., np.newaxis])
        return np.asarray(w[..., list(_MERGED[surrogate])])

    def _merged(self, surrogate: Surrogate, p: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the probability of each value of a surrogate, and E[Y] given it."""
        if surrogate not in _MERGED:
            raise NotAnswerableError("the power of pairwise deletion is not known: its statistic is not chi-square")
        into = np.array(_MERGED[surrogate])
        kept = (into[:, np.newaxis] == np.arange(into.max() + 1)).astype(float)
        joint = np.stack([1.0 - p, p], axis=-1)[..., np.newaxis] * (self.matrix @ kept)
        share = joint.sum(axis=-2)
        return share, _over(joint[..., 1, :], share)


def slope_of_score(score: Any, shares: Floats) -> Floats:
    """Return how a score changes with the shares of labels, (..., label, share), where it is computed from them.

    ``score``: a function of the shares, shape (..., 3), made of rational operations. The derivative is exact: the
    function is evaluated a tiny step along the imaginary axis.
    """
    steps = np.eye(shares.shape[-1]) * _TINY * 1j
    return np.stack([score(shares + step).imag / _TINY for step in steps], axis=-1)


def _over(numerator: NDArray[Any], denominator: NDArray[Any]) -> NDArray[Any]:
    """Return the ratio, 0 if the denominator is 0; also of complex numbers."""
    if not (np.iscomplexobj(numerator) or np.iscomplexobj(denominator)):
        return divided(numerator, denominator)
    nothing = np.asarray(denominator) == 0
    return np.where(nothing, 0.0, numerator / np.where(nothing, 1.0, denominator))
