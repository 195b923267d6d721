"""Answers of tests of functions of columns, of which rows are asked about some only when these are needed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from blankets.independence._evidence import Evidence, EvidenceBatch, Given, LazyBatch

Places = NDArray[np.int64]
Floats = NDArray[np.float64]

BLOCK_METHODS = (
    "",
    "there is nothing to test: the given columns determine one of the two",
    "inner products of functions of the columns: far from the level",
    "products of residuals, with the variance that they show",
    "a rare level, by the law of its own draws",
    "two rare levels, by the exact law of their draws",
    "inner products of functions of the columns: far from the level, as residuals in a part of the rows say too",
    "inner products of functions of the columns: far from the level if variances do not move with what is given, "
    "which was not checked because there are too many rows",
    "products of residuals and inner products, the larger of two p-values: few rows decide",
    "inner products of functions of the columns: the quick test of a search",
    "a number and a rare level, by the law of the number, whose variance moves with what is given",
    "scores of ordered levels, because there are too few rows to test each level",
)
NOTHING, FAR, ROWS, RARE_LEVEL, MEET, PART, UNCHECKED, LARGER, QUICK, SPREAD, SCORES = range(1, 12)


class AskedTests(Protocol):
    """Tests by inner products that ask rows when they are told to."""

    level: float | None
    again: bool  # whether rows are asked far from the level too: if no level is known, or if no column is dependent

    def asked(self, xs: Places, y: int, given: Given, log_p: Floats, *, far: bool) -> tuple[Floats, NDArray[np.int8]]:
        """Return log p-values and methods by rows; ``log_p``: what inner products say."""


class BlockBatch(LazyBatch):
    """Evidence from inner products and from rows; rows are asked when they are needed if that takes long.

    ``tests``: whom to ask. ``near``, ``far``, of shape (n,): tests that were not asked: near the level, because
    that takes long, and far from it.
    """

    __slots__ = ("_far", "_near", "_settled", "_tests")
    given: Given
    _log_p: Floats
    _method: NDArray[np.int8]

    def __init__(
        self, *about: Any, tests: AskedTests, near: NDArray[np.bool_], far: NDArray[np.bool_], **evidence: Any
    ) -> None:
        super().__init__(*about, **evidence)
        self._tests, self._near, self._far, self._settled = tests, near, far, not (tests.again or near.any())

    @classmethod
    def of_parts(
        cls, xs: Places, y: int, given: Given, parts: Iterable[tuple[Places, BlockBatch]], tests: AskedTests
    ) -> BlockBatch:
        """Put answers from several sets of rows together; each comes with its places among ``xs``."""
        places, batches = zip(*parts, strict=True)
        at = np.argsort(np.concatenate(places))
        rows = np.concatenate([np.full(len(b), b.n_rows) for b in batches])[at]
        made = {
            name: np.concatenate([getattr(b, f"_{name}" if name in ("log_p", "method") else name) for b in batches])[at]
            for name in ("statistic", "dof", "reliable", "log_p", "effect", "method")
        }
        return cls(
            xs,
            y,
            given,
            n_rows=batches[0].n_rows if len(batches) == 1 else rows,
            by_effect=batches[0].by_effect,
            methods=batches[0].methods,
            tests=tests,
            near=np.concatenate([b._near for b in batches])[at],
            far=np.concatenate([b._far for b in batches])[at],
            **made,
        )

    def strongest(self, alpha: float) -> Evidence | None:
        """Return the strongest dependent test, or None if none is dependent.

        Tests near the level are asked in the order of their p-values by inner products, until these are larger than
        the smallest p-value by rows.
        """
        if self.by_effect or self._settled:
            return super().strongest(alpha)
        there, log_alpha = self.reliable & ~self._near, math.log(alpha)
        best = float(self._log_p[there].min(initial=math.inf))
        at = np.flatnonzero(self._near)
        for i in at[np.argsort(self._log_p[at], kind="stable")].tolist():
            if best <= log_alpha and best < self._log_p[i]:
                break
            self._ask(np.array([i]), far=False)
            there[i], best = True, min(best, float(self._log_p[i]))
        if best > log_alpha:
            return super().strongest(alpha)  # all were asked: now those far from the level are
        at = np.flatnonzero(there)
        return EvidenceBatch.__getitem__(
            self, int(at[np.lexsort((self.xs[at], -self.statistic[at], self._log_p[at]))][0])
        )

    def _settle(self) -> None:
        if self._settled:
            return
        self._ask(np.flatnonzero(self._near), far=False)
        level = self._tests.level
        dependent = level is not None and bool(np.any(self._log_p[self.reliable] <= math.log(level)))
        if self._tests.again and not dependent:
            self._ask(np.flatnonzero(self._far), far=True)
        self._settled = True  # set last: another thread may be reading

    def _ask(self, at: Places, *, far: bool) -> None:
        if len(at):
            answers = self._tests.asked(self.xs[at], self.y, self.given, self._log_p[at], far=far)
            self._log_p[at], self._method[at] = answers
            self._near[at] = False
