"""The answer of a test of independence: one `Evidence`, or an `EvidenceBatch` of many.

There are three answers, not two: *dependent*, *independent*, or *unreliable*: too few rows for the degrees
of freedom, so the test was not performed. Check `dependent` and `independent` separately; for an
unreliable test both are False. So it does not admit a candidate, does not remove a member, and is not used
as a separating set.

Strength is compared by log p-values (p itself underflows to 0.0); ties are decided by the larger statistic,
then by the earlier column.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from blankets.stats import log_chi2_sf, log_p_of, strongest_of

Given = tuple[int, ...]
T = TypeVar("T", bound=np.generic)


class Evidence(NamedTuple):
    """One test of "x independent of y given a set"."""

    # x, y: columns
    x: int
    y: int
    statistic: float  # chi-square distributed under independence; NaN if the test was not performed
    dof: float  # degrees of freedom of the p-value; 0 means nothing to test
    log_p: float  # natural logarithm of the p-value
    effect: float  # conditional mutual information (or its counterpart), in nats
    n_rows: int  # rows that the test used
    given: Given = ()  # the conditioning set
    reliable: bool = True  # false: too few rows for the degrees of freedom; the test was not performed
    method: str = ""  # how the p-value was computed and why, if a test chooses between methods
    held: bool = True  # false: what is given could not be held fixed, so that p says nothing; then it is unreliable too

    @property
    def p(self) -> float:
        """The p-value (0.0 where it is below the smallest float; `log_p` is not)."""
        return math.exp(self.log_p)

    def dependent(self, alpha: float) -> bool:
        """Whether the test was performed and p <= alpha."""
        return self.reliable and self.log_p <= math.log(alpha)

    def independent(self, alpha: float) -> bool:
        """Whether the test was performed and p > alpha."""
        return self.reliable and self.log_p > math.log(alpha)


class EvidenceBatch:
    """Tests of many x against one y, as arrays; element i is about ``xs[i]``.

    ``xs``, of shape (n,): columns. ``given``: the conditioning set of all tests, or one for each. ``statistic``,
    ``dof``, of shape (n,): the statistic is NaN if a test was not performed. ``n_rows``, of shape (n,): rows that the
    tests used. ``reliable``, of shape (n,): whether each test was performed. ``log_p``, of shape (n,): log p-values; by
    default the chi-square tail, computed when first used. ``effect``, of shape (n,): information in nats; by default
    statistic / (2 rows), which is exact for G. ``by_effect``: whether `strongest` compares effects (information)
    rather than p-values. ``method``, of shape (n,): how each p-value was computed, as a position in ``methods``.
    ``methods``: the methods, in words. ``asked``: the set that was asked for, where a layer was given more. ``held``,
    of shape (n,): false where what is given could not be held fixed; default: it could.
    """

    __slots__ = (
        "_asked",
        "_effect",
        "_log_p",
        "_method",
        "by_effect",
        "dof",
        "given",
        "held",
        "methods",
        "n_rows",
        "reliable",
        "statistic",
        "xs",
        "y",
    )

    def __init__(
        self,
        xs: NDArray[np.int64],
        y: int,
        given: Given | list[Given],
        *,
        statistic: NDArray[np.float64],
        dof: NDArray[np.float64],
        n_rows: int | NDArray[np.int64],
        reliable: NDArray[np.bool_],
        log_p: NDArray[np.float64] | None = None,
        effect: NDArray[np.float64] | None = None,
        by_effect: bool = False,
        method: NDArray[np.int8] | None = None,
        methods: tuple[str, ...] = (),
        asked: Given | None = None,
        held: NDArray[np.bool_] | None = None,
    ) -> None:
        self.xs, self.y, self.given = xs, y, given
        self.held: NDArray[np.bool_] | None = held
        self.statistic, self.dof, self.n_rows, self.reliable = statistic, dof, n_rows, reliable
        self._log_p, self._effect, self.by_effect = log_p, effect, by_effect
        self._method, self.methods, self._asked = method, methods, asked

    def __len__(self) -> int:
        return len(self.xs)

    def __iter__(self) -> Iterator[Evidence]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, i: int) -> Evidence:
        if self._log_p is None:
            log_p = log_p_of(float(self.statistic[i]), float(self.dof[i]))
        else:
            log_p = float(self._log_p[i])
        return Evidence(  # by position: this is asked for each member and each decision
            int(self.xs[i]),
            self.y,
            float(self.statistic[i]),
            float(self.dof[i]),
            log_p,
            self._effect_of(i),
            self.rows_of(i),
            self.given[i] if isinstance(self.given, list) else self.given,
            bool(self.reliable[i]),
            "" if self._method is None else self.methods[self._method[i]],
            True if self.held is None else bool(self.held[i]),
        )

    def _effect_of(self, i: int) -> float:
        if self._effect is None:
            return float(self.statistic[i]) / (2 * max(self.rows_of(i), 1))
        return float(self._effect[i])

    def _rows(self) -> NDArray[np.int64]:
        return np.full(len(self), self.n_rows) if isinstance(self.n_rows, int) else self.n_rows

    def _held(self) -> NDArray[np.bool_]:
        return np.ones(len(self), bool) if self.held is None else self.held

    def rows_of(self, i: int) -> int:
        """Return how many rows test ``i`` used."""
        return self.n_rows if isinstance(self.n_rows, int) else int(self.n_rows[i])

    def given_of(self, i: int) -> Given:
        """Return the conditioning set of test ``i``."""
        return self.given[i] if isinstance(self.given, list) else self.given

    @property
    def asked(self) -> Given | None:
        """The one set that was asked for; None if each test has its own, as in a search through subsets."""
        return self._asked if self._asked is not None or isinstance(self.given, list) else self.given

    @property
    def log_p(self) -> NDArray[np.float64]:
        """Log p-values; NaN if a test was not performed."""
        if self._log_p is None:
            self._log_p = log_chi2_sf(self.statistic, self.dof)
        return self._log_p

    @property
    def method(self) -> NDArray[np.int8] | None:
        """How each p-value was computed, as a position in ``methods``."""
        return self._method

    @property
    def effect(self) -> NDArray[np.float64]:
        """Conditional mutual information in nats."""
        if self._effect is None:
            self._effect = self.statistic / (2 * np.maximum(self.n_rows, 1))
        return self._effect

    def dependent(self, alpha: float) -> NDArray[np.bool_]:
        """Return which tests were performed and have p <= alpha."""
        return self.reliable & (self.log_p <= math.log(alpha))

    def independent(self, alpha: float) -> NDArray[np.bool_]:
        """Return which tests were performed and have p > alpha."""
        return self.reliable & (self.log_p > math.log(alpha))

    def strongest(self, alpha: float) -> Evidence | None:
        """Return the strongest dependent test, or None if none is dependent.

        With ``by_effect`` it is the one with the largest effect among the dependent tests: the largest effect of
        all may be insignificant while another one is significant (errata F1).
        """
        if self._log_p is None and not self.by_effect:
            i = strongest_of(self.statistic, self.dof, self.reliable, self.xs)
            strongest = self[i] if i >= 0 else None
            return strongest if strongest is not None and strongest.dependent(alpha) else None
        return self.first(self.dependent(alpha))

    def first(self, among: NDArray[np.bool_]) -> Evidence | None:
        """Return the strongest of the tests in ``among``, or None if there are none."""
        at = among.nonzero()[0]
        if not len(at):
            return None
        strength = -self.effect[at] if self.by_effect else self.log_p[at]
        best = at[strength == strength.min()]
        if len(best) > 1:
            among = np.zeros(len(self), np.bool_)
            among[best] = True
            best = self.order(among)
        return self[int(best[0])]

    def order(self, among: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """Return the positions of ``among`` (default: the performed tests) from strongest to weakest."""
        at = np.flatnonzero(self.reliable if among is None else among)
        if self.by_effect:
            return at[np.lexsort((self.xs[at], -self.effect[at]))]
        return at[np.lexsort((self.xs[at], -self.statistic[at], self.log_p[at]))]

    def where(self, mask: NDArray[np.bool_] | Sequence[int] | NDArray[np.int64]) -> EvidenceBatch:
        """Return a batch of some of the tests."""
        at = np.asarray(mask)
        at = at.nonzero()[0] if at.dtype == np.bool_ else at.astype(np.int64, copy=False)
        return EvidenceBatch(
            self.xs[at],
            self.y,
            [self.given[i] for i in at.tolist()] if isinstance(self.given, list) else self.given,
            statistic=self.statistic[at],
            dof=self.dof[at],
            n_rows=self.n_rows if isinstance(self.n_rows, int) else self.n_rows[at],
            reliable=self.reliable[at],
            log_p=None if self._log_p is None else self._log_p[at],
            effect=None if self._effect is None else self._effect[at],
            by_effect=self.by_effect,
            method=None if self._method is None else self._method[at],
            methods=self.methods,
            asked=self._asked,
            held=None if self.held is None else self.held[at],
        )

    def put(self, at: NDArray[np.int64], new: EvidenceBatch, some: NDArray[np.int64] | slice = slice(None)) -> None:
        """Replace the tests at some positions by others of the same columns; for a batch that `where` returned.

        ``some``: which of the new ones; default: all.
        """
        if not len(at):
            return
        if not isinstance(self.given, list):
            self.given = [self.given] * len(self)
        self._asked = None
        taken = range(len(new))[some] if isinstance(some, slice) else some.tolist()
        for i, k in zip(at.tolist(), taken, strict=True):
            self.given[i] = new.given_of(k)
        if not (self._effect is None and new._effect is None):
            self._effect = self.effect  # made of the rows that go
            self._effect[at] = new.effect[some]
        if not (isinstance(self.n_rows, int) and isinstance(new.n_rows, int) and self.n_rows == new.n_rows):
            self.n_rows = self._rows()
            self.n_rows[at] = new._rows()[some]
        if self.held is not None or new.held is not None:
            self.held = self._held()
            self.held[at] = new._held()[some]
        self.log_p[at] = new.log_p[some]
        self.statistic[at], self.dof[at], self.reliable[at] = new.statistic[some], new.dof[some], new.reliable[some]
        if self._method is None or new.method is None:
            self._method = None
        else:
            self._method[at] = new.method[some]
        self.methods = max(self.methods, new.methods, key=len)  # tests that were not performed have no methods

    def told_as(self, xs: NDArray[np.int64], y: int, given: Given | list[Given]) -> EvidenceBatch:
        """Return the same tests under the columns that were asked for, where a layer asked for others."""
        batch = self.where(np.arange(len(self)))  # a copy: this one may be in a cache
        batch.xs, batch.y, batch.given = xs, y, given
        batch._asked = self._asked if isinstance(given, list) else None
        return batch


class LazyBatch(EvidenceBatch):
    """Evidence whose p-values are computed when they are first used; a subclass writes `_settle`."""

    __slots__ = ()

    @abstractmethod
    def _settle(self) -> None:
        """Compute all p-values, if that was not done."""

    @property
    def log_p(self) -> NDArray[np.float64]:
        """Log p-values; NaN if a test was not performed."""
        self._settle()
        return super().log_p

    @property
    def method(self) -> NDArray[np.int8] | None:
        """How each p-value was computed, as a position in ``methods``."""
        self._settle()
        return self._method

    def __getitem__(self, i: int) -> Evidence:
        self._settle()
        return super().__getitem__(i)

    def where(self, mask: NDArray[np.bool_] | Sequence[int] | NDArray[np.int64]) -> EvidenceBatch:
        """Return a batch of some of the tests."""
        self._settle()
        return super().where(mask)
