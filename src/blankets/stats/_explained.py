"""How much functions of a column explain of a target, in nats; see methods, section 10.6.

Of a target with one function (a number, a class against the rest) that is -½ ln(1 - R²), R² the share of what is left
of the target that the column explains; of several classes, the same of Wilks' lambda. The variance is that of the
estimate's influence function over the rows, so that neither normal columns nor constant variances are assumed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from blankets.errors import ParameterError
from blankets.stats._canonical import DETERMINED
from blankets.stats._estimate import InformationEstimate
from blankets.stats._information import Loss

EXPLAINED = "explained variance"
_MOST = 1.0 - 1e-12  # a share of 1 would be infinite information
_SURPRISING = 3.0  # standard errors above what the prior allows, from which it must be wrong

Floats = NDArray[np.float64]


def explained_information(
    x: Floats, y: Floats, basis: Floats, *, kappa: float = 1.0, loss: Loss = "log"
) -> InformationEstimate:
    """Estimate how much x tells about y given a basis, without cutting; see methods (10.11).

    ``x``, ``y``, of shape (functions, rows): orthonormal functions of mean 0. ``basis``, of shape (size, rows): an
    orthonormal basis of the given functions. ``kappa``: the share of the target's R² that its surrogate keeps, methods
    (10.13); for a surrogate of two classes. ``loss``: nats, or half of the explained share itself.

    Examples
    --------
    >>> x = np.array([[1.0, 1.0, -1.0, -1.0]]) / 2
    >>> y = np.array([[1.0, 0.0, 0.0, -1.0]]) / np.sqrt(2)
    >>> round(float(explained_information(x, y, np.zeros((0, 4))).value), 4)  # R² = ½: half of ln 2
    0.3466
    """
    left_x, left_y = _orthonormal(residuals(x, basis)), _orthonormal(residuals(y, basis))
    n, dof = x.shape[1], float(len(left_x) * len(left_y))
    rows = max(n - 1 - len(basis) - (len(left_x) + len(left_y) + 1) / 2.0, 1.0)
    if len(y) == 1 and len(left_y):
        share, influence, scale = _behind(left_x, y[0], basis, kappa)
        slope = 1.0 / (1.0 - min(share, _MOST)) if loss == "log" else 1.0
        shares, influence = np.array([share]), slope * influence
        if kappa < 1.0:
            stretch, dof = _spread(left_x, left_y[0])
            scale *= stretch
    elif kappa != 1.0 and len(y) > 1:
        raise ParameterError("κ is that of a surrogate with two classes")
    else:
        shares, influence = _canonical(left_x, left_y, loss)
        scale = 1.0
    told = -np.log1p(-np.clip(shares, 0.0, _MOST)) if loss == "log" else np.clip(shares, 0.0, 1.0)
    value, scale = float(told.sum()) / 2.0, scale / (2.0 * rows)
    error = float(np.sqrt(influence @ influence)) / (2.0 * max(n, 1))
    return InformationEstimate(
        value=np.array(value),
        variance=np.array(error**2 * n / rows),
        statistic=np.array(value / scale),
        dof=np.array(dof),
        scale=np.array(scale),
        repaired=np.array(kappa < 1.0 and float(shares.max(initial=0.0)) > _MOST),
        contradicts_prior=np.array(kappa < 1.0 and len(y) == 1 and _too_much(left_x, y[0], basis, kappa)),
        estimator=EXPLAINED if loss == "log" else f"{EXPLAINED} (squared loss)",
    )


def _orthonormal(left: Floats) -> Floats:
    """Return what is left of functions as orthonormal rows, without directions that are determined."""
    size, vectors = np.linalg.eigh(left @ left.T)
    use = size > DETERMINED
    return np.asarray((vectors[:, use] / np.sqrt(size[use])).T @ left)


def _share(y: Floats, basis: Floats) -> tuple[float, Floats]:
    """Return R² of y on an orthonormal basis, and its influence in each row."""
    fit = (basis @ y) @ basis
    share = float(fit @ y)
    return share, len(y) * (2.0 * fit * y - fit * fit - share * y * y)


def _behind(left_x: Floats, y: Floats, basis: Floats, kappa: float) -> tuple[float, Floats, float]:
    """Return the partial R² of the target behind y, its influence, and by how much it is larger than that of y."""
    (all_of_it, of_all), (given, of_given) = _share(y, np.vstack([basis, left_x])), _share(y, basis)
    room = max(kappa - given, DETERMINED)
    share = (all_of_it - given) / room
    influence = (of_all - (1.0 - share) * of_given) / room
    return share, influence, max(1.0 - given, DETERMINED) / room


def _spread(left_x: Floats, left_y: Floats) -> tuple[float, float]:
    """Return the scale and the degrees of freedom of a chi-square with the mean and variance of a sum of squares.

    The squares are of what is left of x times what is left of y, whose variance may move with x: what stands for a
    class may tell less of it in some rows. Where it does not, they are 1 and the number of functions.
    """
    weights = np.linalg.eigvalsh((left_x * (len(left_y) * left_y) * left_y) @ left_x.T)
    total, squares = float(weights.sum()), float(weights @ weights)
    return (squares / total, total**2 / squares) if squares > 0.0 else (1.0, float(len(left_x)))


def _canonical(left_x: Floats, left_y: Floats, loss: Loss) -> tuple[Floats, Floats]:
    """Return squared canonical correlations, and the influence of what they tell together."""
    left, r, right = np.linalg.svd(left_x @ left_y.T, full_matrices=False)
    u, v, r = left.T @ left_x, right @ left_y, np.minimum(r, np.sqrt(_MOST))[:, None]
    slope = 1.0 / (1.0 - r**2) if loss == "log" else np.ones_like(r)
    influence = (slope * (2.0 * r * u * v - r**2 * (u**2 + v**2))).sum(axis=0) * left_x.shape[1]
    return r[:, 0] ** 2, influence


def _too_much(left_x: Floats, y: Floats, basis: Floats, kappa: float) -> bool:
    """Tell whether the columns explain more of the surrogate than the class itself could."""
    share, influence = _share(y, np.vstack([basis, left_x]))
    return share - _SURPRISING * float(np.sqrt(influence @ influence)) / len(y) > kappa


def residuals(functions: Floats, basis: Floats) -> Floats:
    """Return what an orthonormal basis, of shape (size, rows), leaves of functions, of shape (functions, rows)."""
    return functions - (functions @ basis.T) @ basis
