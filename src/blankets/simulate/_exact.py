"""Exact probabilities of a network by variable elimination: the truth of a simulation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import rel_entr

from blankets.errors import DataError

Factor = tuple[tuple[str, ...], NDArray[np.float64]]  # variables, one axis each

MOST_CELLS = 2**26  # most cells of an intermediate table: half a gigabyte


def eliminate(factors: list[Factor], keep: Sequence[str]) -> NDArray[np.float64]:
    """Multiply the factors and sum over all variables except ``keep``; axes in the order of ``keep``."""
    while out := {variable for variables, _ in factors for variable in variables} - set(keep):
        # The variable whose elimination connects the fewest others comes first; names decide ties.
        coupled = {v: set().union(*(vs for vs, _ in factors if v in vs)) for v in out}
        variable = min(out, key=lambda v: (len(coupled[v]), v))
        touched = [factor for factor in factors if variable in factor[0]]
        factors = [factor for factor in factors if variable not in factor[0]]
        factors.append(_product(touched, sorted(coupled[variable] - {variable})))
    return _product(factors, keep)[1]


def _product(factors: list[Factor], keep: Sequence[str]) -> Factor:
    """Multiply factors and sum over the variables that are not kept."""
    sizes = {v: n for variables, table in factors for v, n in zip(variables, table.shape, strict=True)}
    if np.prod([float(n) for n in sizes.values()]) > MOST_CELLS or len(sizes) > 50:
        raise DataError(f"an exact marginal would need a table over {len(sizes)} nodes at once; sample instead")
    number = {variable: j for j, variable in enumerate(sizes)}
    operands: list[object] = []
    for variables, table in factors:
        operands += [table, [number[v] for v in variables]]
    return tuple(keep), np.einsum(*operands, [number[v] for v in keep])  # type: ignore[call-overload]


def conditional_information(joint: NDArray[np.float64]) -> float:
    """Return I(X; Y | Z) in nats of a joint distribution of shape (x, y, z)."""
    p_z = joint.sum(axis=(0, 1))
    expected = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True) / np.where(p_z > 0, p_z, 1.0)
    return max(0.0, float(rel_entr(joint, expected).sum()))
