"""`WeightedBlocks`: tests without cutting where rows have weights, come in groups, or stand for others."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from blankets.arguments import number
from blankets.counting import GIVEN, Functions, functions_of_column, on_one_core, reweighted
from blankets.data import Frame
from blankets.independence._contract import Columns, CountedTests, Tally
from blankets.independence._evidence import EvidenceBatch, Given
from blankets.independence._weighting import REFUSED, Units, Weighting
from blankets.stats import GROUPS_A_DEGREE, Drawn, canonical_test, draws_test, whitening

METHODS = (
    "not performed",
    "nothing to test: the conditioning set determines one of the two",
    "products of residuals, weighted, with the variance that rows show",
    "products of residuals summed up within groups, with the variance that groups show",
    REFUSED,
)
_DRAWS_A_FUNCTION = 8.0  # rows, or groups, for each function conditioned on, beyond one for each column
_KEPT = 16  # sets of rows whose functions are kept

Floats = NDArray[np.float64]


class WeightedBlocks(CountedTests):
    """Tests of products of weighted residuals, summed up within groups.

    ``frame``: the table. ``units``: what its rows stand for. ``reliability``: a test is performed if there are this
    many rows, counted by what they are worth, for each function conditioned on and for each pair of functions tested;
    and, where rows come in groups, five groups for each pair (0: all tests that can be done are). ``strength``: what
    `EvidenceBatch.strongest` compares.

    Examples
    --------
    Ten rows of each of 40 patients have almost the same value:

    >>> from blankets.data import ingest
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat(np.arange(40), 10)
    >>> x, y = rng.normal(size=(2, 40))[:, group] + 0.1 * rng.normal(size=(2, 400))
    >>> frame = ingest({"x": x, "y": y}, numbers=True).frame
    >>> tests = WeightedBlocks(frame, Units(frame, groups=group))
    >>> tests.test(0, 1).dependent(0.01), WeightedBlocks(frame, Units(frame)).test(0, 1).dependent(0.01)
    (False, True)
    """

    def __init__(self, frame: Frame, units: Units, *, reliability: float = 5.0, strength: str = "p-value") -> None:
        self.frame, self.names, self.units = frame, frame.names, units
        self.reliability = number("reliability", reliability, "a number of rows for each function, >= 0", least=0.0)
        self.by_effect = strength == "information"
        self.tally, self.memo = Tally(), {}
        self._kept: OrderedDict[tuple[frozenset[int], frozenset[int]], _Part] = OrderedDict()
        self._lock = Lock()

    @on_one_core()
    def scan(
        self, xs: Columns, y: int, given: Sequence[int] = (), *, even_if_unreliable: bool = False
    ) -> EvidenceBatch:
        """Test each of ``xs`` against ``y`` given one set, on the rows that have a value of all of them."""
        columns, given = np.asarray(xs, np.int64), tuple(given)
        statistic, log_p, effect = np.full((3, len(columns)), np.nan)
        dof, n_rows, method = np.zeros(len(columns)), np.zeros(len(columns), np.int64), np.zeros(len(columns), np.int8)
        enough = np.zeros(len(columns), np.bool_)
        for i, x in enumerate(columns.tolist()):
            part = self._part(x, y, given)
            n_rows[i] = part.n_rows
            widths, reliable = part.widths(x, y, given, self.reliability)
            if widths is not None and ((reliable and part.trusted) or even_if_unreliable):
                log_p[i], statistic[i], dof[i], effect[i] = part.tested(x, y, given, widths)
                method[i] = 1 if dof[i] == 0 else 2 if self.units.groups is None else 3
            enough[i] = reliable and part.trusted
            method[i] = method[i] if enough[i] else METHODS.index(REFUSED) if reliable else 0
        self.tally.add(int(np.count_nonzero(enough)))
        return EvidenceBatch(
            columns,
            y,
            given,
            statistic=statistic,
            dof=dof,
            n_rows=n_rows,
            reliable=enough,
            log_p=log_p,
            effect=effect,
            by_effect=self.by_effect,
            method=method,
            methods=METHODS,
        )

    def rows_for(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Return how many rows the rule of reliability asks for, with one function of each given number."""
        numbers = self.frame.numbers
        widths = [1 if z in numbers else int(self.frame.arities[z]) - 1 for z in (x, y, *given)]
        return float(self.reliability * (sum(widths[2:]) + widths[0] * widths[1]))

    def _part(self, x: int, y: int, given: Given) -> _Part:
        """Return the rows that have a value of some columns, with the functions of these, kept for the next test."""
        holes = self.frame.holes.intersection((x, y, *given))
        modeled = bool(holes) and self.units.model is not None
        key = (frozenset([x, y, *given]) if modeled else frozenset(), holes)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = _Part(self.frame, self.units.of(x, y, given), self.units.groups)
                while len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
            return self._kept[key]


class _Part:
    """The rows of a test, their weights, and the functions of columns among them."""

    def __init__(self, frame: Frame, weighting: Weighting, groups: NDArray[np.int64] | None) -> None:
        rows = np.flatnonzero(weighting.rows)
        weights = weighting.weights[rows]
        self.frame = frame if len(rows) == frame.n_rows else frame.take(weighting.rows)
        self.n_rows, total = len(rows), float(weights.sum())
        self.worth = total**2 / max(float((weights**2).sum()), 1e-300)
        group = None if groups is None else np.unique(groups[rows], return_inverse=True)[1]
        self.drawn = Drawn(np.sqrt(weights / max(total, 1e-300)), group)
        self.n_groups = None if group is None else int(group.max(initial=-1)) + 1
        self._equal = bool(np.ptp(weights) == 0.0) if len(weights) else True
        self.trusted = weighting.trusted
        self._functions: dict[int, Functions] = {}
        self._bases: OrderedDict[Given, Floats] = OrderedDict()

    def widths(self, x: int, y: int, given: Given, reliability: float) -> tuple[tuple[int, int] | None, bool]:
        """Return how many functions of the two can be tested, None if no test can be done, and whether rows suffice."""
        if self.n_rows < 4:
            return None, False
        of_x, of_y, basis = self.functions(x), self.functions(y), self.basis(given)
        groups = self.worth if self.n_groups is None else self._free(basis)
        a_pair = reliability if self.n_groups is None else min(reliability, 1.0) * GROUPS_A_DEGREE
        possible: tuple[int, int] | None = None
        for kx, ky in ((of_x.tested, of_y.tested), (of_x.first, of_y.first)):
            size, pairs = len(basis), kx * ky
            if min(self.worth - size, groups) <= pairs + 3:
                continue
            possible = (kx, ky)
            if self.worth >= reliability * (size + pairs) and groups >= a_pair * pairs:
                return possible, True
        return possible, False

    def tested(self, x: int, y: int, given: Given, widths: tuple[int, int]) -> tuple[float, float, float, float]:
        """Return log p, T², degrees of freedom and information."""
        of_x, of_y, basis = self.functions(x), self.functions(y), self.basis(given)
        one, other = of_x.values[: widths[0]], of_y.values[: widths[1]]
        if not (len(one) and len(other)):  # among these rows it does not vary
            return 0.0, 0.0, 0.0, 0.0
        first = (min(of_x.first, widths[0]), min(of_y.first, widths[1]))
        log_p, statistic, dof = draws_test(one, other, first, basis, self.drawn)
        information = canonical_test((basis @ one.T)[None], basis @ other.T, (one @ other.T)[None], self.n_rows)[2]
        return log_p, statistic, dof, float(information[0])

    def _free(self, basis: Floats) -> float:
        """Return the number of groups, less what the given functions take of them."""
        return float((1.0 - np.minimum(self.drawn.leverage(basis), 1.0)).sum())

    def _few_groups_taken(self, basis: Floats) -> bool:
        """Tell whether there are enough groups for what a basis takes of them; functions within groups take little."""
        return self.n_groups is None or (self.n_groups - 1 - self._free(basis)) * _DRAWS_A_FUNCTION <= self.n_groups

    def functions(self, x: int) -> Functions:
        """Return the functions of a column, of weighted mean 0 and orthonormal, multiplied by the roots of weights."""
        if x not in self._functions:
            made = functions_of_column(self.frame, x, GIVEN)
            made = replace(made, made=made.values)  # for all rows: they will be asked for often
            self._functions[x] = made if self._equal else reweighted(made, self.drawn.unit)
        return self._functions[x]

    def basis(self, given: Given) -> Floats:
        """Return an orthonormal basis of the given functions, as many of each number as rows or groups allow."""
        given = tuple(sorted(given))
        if given not in self._bases:
            made = [self.functions(z) for z in given]
            for degree in range(GIVEN, 0, -1):
                widths = [min(degree, len(f)) if f.graded else len(f) for f in made]
                parts = (f.values[:k] for f, k in zip(made, widths, strict=True))
                rows = np.vstack([np.zeros((0, self.n_rows)), *parts])
                basis = np.asarray(whitening(rows @ rows.T).T @ rows)
                if len(basis) * _DRAWS_A_FUNCTION <= self.worth and self._few_groups_taken(basis):
                    break
            self._bases[given] = basis
            while len(self._bases) > _KEPT:
                self._bases.popitem(last=False)
        return self._bases[given]
