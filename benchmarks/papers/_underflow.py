"""Tests as a program of 2005 may have seen them: small p-values are 0, and ties are broken at random."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.independence import EvidenceBatch, IndependenceTest


class Underflow(IndependenceTest):
    """Tests as of a program whose p-values are 0 below a limit, and which breaks ties at random."""

    def __init__(self, tests: IndependenceTest, smallest: float, rng: np.random.Generator) -> None:
        self.tests, self.names, self.memo, self.n_tests = tests, tests.names, {}, 0
        self.limit, self.rng = math.log(smallest) if smallest else -math.inf, rng

    def scan(
        self,
        xs: Sequence[int] | NDArray[np.int64],
        y: int,
        given: Sequence[int] = (),
        *,
        even_if_unreliable: bool = False,
    ) -> EvidenceBatch:
        """Test each x against y given one set."""
        return self._as_told(self.tests.scan(xs, y, given, even_if_unreliable=even_if_unreliable))

    def separate(
        self, xs: Sequence[int] | NDArray[np.int64], y: int, among: Sequence[int], **settings: Any
    ) -> EvidenceBatch:
        """Find each x's weakest evidence: the limit is the same before and after the largest p-value is taken."""
        return self._as_told(self.tests.separate(xs, y, among, **settings))

    def _as_told(self, found: EvidenceBatch) -> EvidenceBatch:
        return EvidenceBatch(
            found.xs,
            found.y,
            found.given,
            statistic=self.rng.random(len(found)),  # decides between equal p-values
            dof=found.dof,
            n_rows=found.n_rows,
            reliable=found.reliable,
            log_p=np.maximum(found.log_p, self.limit),
            effect=found.effect,
        )
