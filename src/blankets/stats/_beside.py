"""What a regression must hold fixed beside its own columns (methods, section 17)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blankets.stats._given_functions import Block, GivenFunctions, Key, beside, orthonormal, unit
from blankets.stats._held_fixed import Fit, GivenSet, Offered

_SAME = 1e-4  # share of a function's variance that the columns of a regression must leave

Floats = NDArray[np.float64]


class _Designed(GivenSet):
    """A set whose base is the columns of a regression; the first functions of what is given are offered beside it."""

    def __init__(self, functions: GivenFunctions, columns: Sequence[int], design: Floats) -> None:
        super().__init__(functions, columns)
        first, constant = self.basis, self.draws.constant[None]
        self.basis = orthonormal(np.vstack([constant, self.draws.weighted(unit(design))]))
        self.own = Block(("first functions", self.columns), beside(first, self.basis, _SAME))

    def made(self, paired: Sequence[int] | None = None) -> Offered:
        """Return the blocks as one matrix; ``paired``: only pairs of these."""
        return Offered([self.own, *self.functions.blocks(self.columns, paired)], self.basis)


@dataclass(frozen=True, eq=False)
class HeldBeside:
    """What a regression must hold fixed beside its own columns.

    ``predicted``, of shape (functions, rows): what it predicts of each function tested. ``taken``, of shape (rows,):
    the share of each row that it takes. ``blocks``: what it is.
    """

    predicted: Floats
    taken: Floats
    blocks: tuple[Key, ...]


def held_beside(functions: GivenFunctions, columns: Sequence[int], design: Floats, tested: Floats) -> HeldBeside | None:
    """Return what a regression must hold fixed beside ``design``; None if it holds fixed all that matters.

    ``columns``: what is given. ``design``, of shape (any, rows): the columns by which the regression holds it.
    ``tested``: functions of the column whose effect is asked and of the target. A block is taken if it explains more of
    one of them than chance. A regression on what it predicts of them has the coefficients of one on all that was taken:
    what is left of a column beside its own prediction is left of it beside everything.

    Examples
    --------
    A bend of age, of which a regression on age knows nothing:

    >>> from blankets.stats import Draws, Values
    >>> rng = np.random.default_rng(0)
    >>> age, dose, pain = rng.normal(size=(3, 500))
    >>> dose, pain = dose + age**2, pain + age**2
    >>> table = GivenFunctions([Values(age, is_number=True)].__getitem__, Draws(500))
    >>> held_beside(table, [0], age[None], np.array([dose, pain])).blocks
    (('curve 5', (0,)), ('curve 15', (0,)))
    """
    given = _Designed(functions, columns, design)
    tested = given.draws.weighted(tested - tested.mean(axis=1, keepdims=True))
    scaled = tested / np.maximum(np.sqrt((tested**2).mean(axis=1, keepdims=True)), 1e-300)
    fit, offered = Fit(given, given.basis), given.offered(scaled)
    fit.n_offered = offered.n_functions
    fit.offer(scaled, offered)
    fit.follow_indices(scaled)
    fit.offer(scaled, offered)
    if not len(fit.new):
        return None
    predicted = given.draws.unweighted((tested @ fit.new.T) @ fit.new)
    return HeldBeside(predicted, np.einsum("ij,ij->j", fit.new, fit.new), tuple(fit.taken))
