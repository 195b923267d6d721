"""Is x independent of y given z, for columns of any kind? What z does to both is taken out (methods, section 10.4).

1. *What is taken out.* The base is the first function of every given column. Beside it stand blocks: curves, products,
   cells. A block is taken where it explains more of a function of x, or of y, than chance (`Fit.offer`): double
   selection, so that what matters for either side is taken out of both. Curves of what is predicted of a function
   (its *index*) follow; then even functions of what is left of a number, whose means may depend on z as well.
2. *The test.* Three questions about products of what is left, each a `Score`; see `questions`.
3. *The check.* Before x and y are called dependent: do surfaces over all of z explain more? Did rows allow all that
   mattered? Do the residuals of a row go with those of its neighbors in z? Where they do, z was *not held fixed*.

What depends on one column and z alone is a `Side`: it is made once, for all partners.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from blankets.caching import cached_property
from blankets.stats._given_functions import (
    INDEX_KNOTS,
    SHARE,
    Block,
    GivenFunctions,
    Key,
    beside,
    orthonormal,
    rotated,
    spline,
    unit,
)
from blankets.stats._score import Draws, Score, cauchy_combined
from blankets.stats._tail import chi2_of_log_p

# A block that is left out on both sides with gains g moves the standardized sum by g / √n: at most a tenth of a
# standard error (methods, section 10.3).
_NO_MATTER = 0.1
# Chance takes about one function for so many rows: with 50 power is lost, with 500 many weak products are not seen
# (benchmarks/number_tests.py; methods, section 10.3).
_ROWS_A_CHANCE = 100
_LOOKED_AT = 0.6  # share of what a block must gain, from which on it is compared with all that was taken
_NEW = 1e-3  # of a function's variance that what was taken must leave
_DETERMINED = 1e-8  # share of a variance below which what is left of a function is rounding
_PREDICTED = 1e-3  # share of a variance that z must predict for a curve of what it predicts
_INDICES = 8  # functions of a column whose predictions get a curve
_MOST_OFFERED = 2000  # functions; beyond, pairs only of columns that matter by themselves
_MOST_PAIRED = 8  # such columns; no triples of them
_FITTED, _WEIGHTED = 4, 4  # predictions that weigh products, and functions that are weighed
_QUESTIONS = (0.5, 0.25, 0.25)  # weights of the three questions in Cauchy's combination: half for the plain one
_CENTERS, _MOST_CENTERS, _WIDTH = (20, 8, 5), 200, 1.5  # of surfaces: n / 20, ... centers; widths next to distances
_NEIGHBORS = 5  # rows nearest in z
_BIASED, _SURE = 0.25, 2.3  # share of T² that goes with neighbors, and its t, from which on z was not held fixed

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


class Offered:
    """Blocks that are offered together, beside a base: their functions as one matrix.

    ``blocks``: those that rows allow. ``refused``: the others. ``base``: an orthonormal basis.
    """

    def __init__(self, blocks: Sequence[Block], base: Floats) -> None:
        self.refused = [block.key for block in blocks if block.rows is None]
        self.blocks = [block for block in blocks if block.rows is not None and len(block.rows)]
        parts = [block.rows for block in self.blocks if block.rows is not None]
        self.sizes = np.array([len(rows) for rows in parts], float)
        # Four-byte numbers are enough to choose what is looked at; what is taken is made of the blocks themselves.
        self.rows = np.concatenate(parts, dtype=np.float32) if parts else np.zeros((0, base.shape[1]), np.float32)
        self.start = np.cumsum([0, *map(len, parts)])[:-1]
        along = self.rows @ base.T.astype(np.float32)
        self.share = np.maximum(1.0 - np.einsum("ij,ij->i", along, along), _NEW)

    @property
    def n_functions(self) -> int:
        """How many functions are offered."""
        return len(self.rows)

    def explained(self, residual: Floats, draws: Draws, free: int) -> Floats:
        """Return what each block explains of a residual beside the base, next to chance, shape (blocks,)."""
        short = residual.astype(np.float32)
        along = (self.rows @ short).astype(np.float64) ** 2 / self.share
        if draws.plain:
            along /= max(float(residual @ residual) / max(free, 1), 1e-300)
        else:
            along /= draws.noise(self.rows, short, free)
        return np.add.reduceat(along, self.start) if len(self.start) else along


class GivenSet:
    """What all tests given one set share: the base, and the blocks that are offered beside it.

    ``functions``: of the columns. ``columns``: those that are given.
    """

    def __init__(self, functions: GivenFunctions, columns: Sequence[int]) -> None:
        self.functions, self.columns = functions, tuple(columns)
        self.draws, self.n_rows = functions.draws, functions.n_rows
        base = [self.draws.constant[None], *(self.draws.weighted(functions.first(j)) for j in self.columns)]
        self.basis = orthonormal(np.vstack(base))
        self.floor = _NO_MATTER * math.sqrt(self.draws.worth)
        self._paired: dict[tuple[int, ...], Offered] = {}  # the last one

    @property
    def nbytes(self) -> int:
        """How much memory it takes, with what is offered."""
        return self.basis.nbytes + 4 * self.n_rows * min(self.functions.n_functions(self.columns), _MOST_OFFERED)

    @cached_property
    def _many(self) -> bool:
        return self.functions.n_functions(self.columns) > _MOST_OFFERED

    def made(self, paired: Sequence[int] | None = None) -> Offered:
        """Return the blocks as one matrix; ``paired``: only pairs of these."""
        return Offered(self.functions.blocks(self.columns, paired), self.basis)

    @cached_property
    def _all(self) -> Offered:
        return self.made()

    def offered(self, functions: Floats) -> Offered:
        """Return the blocks for a column; of many given columns only pairs of those that matter for it by themselves.

        ``functions``: the first ones of the column.
        """
        if not self._many:
            return self._all
        paired = sorted(self.columns, key=lambda j: -self._matters(j, functions))[:_MOST_PAIRED]
        key = tuple(sorted(paired))
        if key not in self._paired:
            self._paired = {key: Offered(self.functions.blocks(self.columns, paired), self.basis)}
        return self._paired[key]

    def _matters(self, j: int, functions: Floats) -> float:
        """Return how much a column explains of functions by itself."""
        own = self.draws.weighted(self.functions.first(j))
        return float(((functions @ own.T) ** 2).sum())

    @cached_property
    def places(self) -> Floats:
        """Where each row lies in z."""
        return self.functions.places(self.columns)

    @cached_property
    def near(self) -> Places:
        """The rows nearest to each in z, shape (rows, neighbors)."""
        from scipy.spatial import cKDTree

        place = self.places.T
        found = cKDTree(place).query(place, _NEIGHBORS + 1)[1]
        own = found == np.arange(self.n_rows)[:, None]
        return np.asarray(np.where(own, found[:, -1:], found)[:, :_NEIGHBORS])

    @cached_property
    def splits(self) -> Floats:
        """What products may differ by."""
        return self.functions.splits(self.columns)

    @cached_property
    def surfaces(self) -> list[Block]:
        """Gaussian bumps over all of z together, coarse to fine."""
        from scipy.spatial import cKDTree

        place, made = self.places, []
        order = np.random.default_rng(0).permutation(self.n_rows)
        for m in sorted({min(self.n_rows // share, _MOST_CENTERS) for share in _CENTERS}):
            if m < 3:
                continue
            centers = place[:, order[:m]]
            width = _WIDTH * float(np.median(cKDTree(centers.T).query(centers.T, 3)[0][:, -1])) or 1.0
            far = (centers**2).sum(axis=0)[:, None] + (place**2).sum(axis=0) - 2.0 * centers.T @ place
            bumps = self.draws.weighted(unit(np.exp(-0.5 * np.maximum(far, 0.0) / width**2)))
            left = bumps - (bumps @ self.basis.T) @ self.basis
            made.append(Block((f"surface of {m} bumps", self.columns), orthonormal(left, 1e-4)))
        return made


@dataclass(eq=False)
class Fit:
    """A base, and the blocks that were taken beside it."""

    given: GivenSet
    basis: Floats
    n_offered: int = 1
    taken: list[Key] = field(default_factory=list)
    refused: list[Key] = field(default_factory=list)  # they matter, and rows do not allow them

    @property
    def new(self) -> Floats:
        """What was taken beside the base."""
        return self.basis[len(self.given.basis) :]

    @cached_property
    def chance(self) -> float:
        """The p-value that a block must reach: chance takes one function in a hundred rows."""
        return min(0.5, self.given.n_rows / _ROWS_A_CHANCE / max(self.n_offered, 1))

    def needed(self, d: Floats | float) -> Floats:
        """Return what a block of d functions must gain: more than matters, and more than chance."""
        return np.asarray(np.maximum(self.given.floor, chdtri(np.asarray(d, float), self.chance) - d))

    def residual(self, functions: Floats) -> Floats:
        """Return what the fit leaves of functions; nothing of those that it determines."""
        left = functions - (functions @ self.basis.T) @ self.basis
        before, after = (np.einsum("ij,ij->i", f, f) for f in (functions, left))
        left[after <= _DETERMINED * before] = 0.0
        return left

    def leverage(self) -> Floats:
        """Return the share of each draw that the fit takes."""
        return self.given.draws.taken(self.basis)

    def offer(self, functions: Floats, offered: Offered) -> None:
        """Take blocks, best first, while they explain more of any function than chance would."""
        left, draws = self.residual(functions), self.given.draws
        if not len(functions) or not len(offered.blocks):
            return
        free, sizes = self.given.n_rows - len(self.basis), offered.sizes
        z = np.max([offered.explained(each, draws, free) for each in left], axis=0)
        at = np.flatnonzero(z > _LOOKED_AT * (self.needed(sizes) + sizes))
        first = True
        for i in at[np.argsort(-(z[at] - sizes[at]) / np.sqrt(sizes[at]), kind="stable")].tolist():
            block = offered.blocks[i]
            if block.key in self.taken or not (first or self._still(block, left)):
                continue
            if self.take(block, left):
                left, first = self.residual(functions), False

    def _still(self, block: Block, left: Floats) -> bool:
        """Tell whether a block may matter for what the last one has left."""
        if block.rows is None or not self.given.draws.plain:
            return block.rows is not None
        d = len(block.rows)
        told = (block.rows @ left.T) ** 2
        variance = np.einsum("ij,ij->i", left, left) / max(self.given.n_rows - len(self.basis), 1)
        return bool(
            (told.sum(axis=0) / np.maximum(variance, 1e-300)).max() > _LOOKED_AT * _LOOKED_AT * (self.needed(d) + d)
        )

    def take(self, block: Block, residual: Floats) -> bool:
        """Take a block if it matters for a residual and rows allow it; remember it if they do not."""
        rows, n, draws = block.rows, self.given.n_rows, self.given.draws
        if rows is None or not len(rows):
            return False
        along = rows @ self.basis.T
        left = np.eye(len(rows)) - along @ along.T
        if draws.plain and not self._may_gain(left, rows @ residual.T, residual):
            return False
        values, vectors = np.linalg.eigh(left)
        use = values > _NEW
        if not use.any():
            return False
        turn = (vectors[:, use] / np.sqrt(values[use])).T
        d, size = int(np.count_nonzero(use)), len(self.basis) + int(np.count_nonzero(use))
        told = (turn @ (rows @ residual.T)) ** 2
        if draws.plain:
            whole = np.einsum("ij,ij->i", residual, residual)
            total = told.sum(axis=0)
            gain = float((total / np.maximum(whole - total, 1e-12 * whole + 1e-300) * max(n - size, 1) - d).max())
        else:
            made = turn @ rows - (turn @ along) @ self.basis
            z = [told[:, k] / draws.noise(made, residual[k], n - size) for k in range(len(residual))]
            gain = max(float(each.sum()) for each in z) - d
        if gain <= float(self.needed(d)):
            return False
        if size > n / SHARE or size > draws.worth / SHARE:
            self.refused.append(block.key)
            return False
        made = turn @ rows - (turn @ along) @ self.basis
        made -= (made @ self.basis.T) @ self.basis
        self.basis = np.vstack([self.basis, rotated(made)])
        self.taken.append(block.key)
        return True

    def _may_gain(self, left: Floats, along: Floats, residual: Floats) -> bool:
        """Tell whether a block may gain enough: a bound, which takes a quarter of the time of what it does gain.

        ``left``: inner products of what was taken leaves of its functions. Its trace is at most how many are new.
        """
        ridge = _NEW / 10.0
        told = np.einsum("ij,ij->j", along, np.linalg.solve(left + ridge * np.eye(len(left)), along)) * 1.1
        whole = np.einsum("ij,ij->i", residual, residual)
        new = max(math.floor(float(np.trace(left))), 1)
        most = float((told / np.maximum(whole - told, 1e-12 * whole + 1e-300)).max()) * self.given.n_rows
        return most > new + float(self.needed(float(new)))

    def follow_indices(self, functions: Floats) -> None:
        """Offer curves of what is predicted of each function."""
        draws = self.given.draws
        for i, each in enumerate(functions[:_INDICES]):
            left = self.residual(each[None])
            fitted = draws.unweighted(each[None] - left)[0]
            if fitted.var() > _PREDICTED:
                curve = beside(draws.weighted(spline(np.round(fitted, 9), INDEX_KNOTS)), self.basis)  # not of rounding
                self.take(Block((f"index {i}", self.given.columns), curve), left)


def even(fit: Fit, functions: Floats) -> Floats:
    """Return even functions of what is left of functions, standardized by a log spread that is linear in the base.

    If x = m(z) + s(z) ε, they are independent of z whatever m is; so a bent x given a line of z has mean 0 too.
    """
    draws, n = fit.given.draws, fit.given.n_rows
    base = fit.given.basis if len(fit.given.basis) <= n / 10 else draws.constant[None]
    made = []
    for left in draws.unweighted(fit.residual(functions)):
        size = np.log(np.abs(left) + 0.1 * np.abs(left).mean() + 1e-300)
        fitted = draws.unweighted((draws.weighted(size[None]) @ base.T) @ base)[0]
        made.append((2.0 * (_ranks(left / np.exp(fitted)) - 0.5) / n - 1.0) ** 2)
    return unit(np.array(made)) if made else functions[:0]


def _ranks(values: Floats) -> Floats:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2.0)[place])


class Side:
    """One column given a set, fitted by itself: its functions, and what was taken out for it.

    ``alone``: nothing is taken out beside the base.

    Examples
    --------
    >>> from blankets.stats._given_functions import Values
    >>> rng = np.random.default_rng(0)
    >>> a, b, e = rng.normal(size=(3, 500))
    >>> data = [Values(v, is_number=True) for v in (a, b, a * b + e)]
    >>> functions = GivenFunctions(data.__getitem__, Draws(500))
    >>> Side(GivenSet(functions, (0, 1)), 2).taken
    [('product', (0, 1))]
    """

    def __init__(self, given: GivenSet, column: int, *, alone: bool = False) -> None:
        functions, draws = given.functions, given.draws
        self.column = column
        first = draws.weighted(functions.first(column))
        lead = functions.leading(column)
        self.first, self.second = first[:lead], first[lead:]
        self.is_number = functions.values(column).is_number
        fit = Fit(given, given.basis)
        offers = bool(len(first) and given.columns) and not alone
        if offers:
            # Of an order the scores: levels are asked only beside scores or even functions, of which z is taken out.
            offered = given.offered(self.first)
            fit.n_offered, fit.refused = offered.n_functions, list(offered.refused)
            fit.offer(self.first, offered)
            fit.follow_indices(self.first)
            fit.offer(self.first, offered)
        if self.is_number:
            self.second = draws.weighted(even(fit, self.first))
            if offers:
                both = np.vstack([self.first, self.second])
                fit.refused = list(offered.refused)
                fit.offer(both, offered)
                fit.follow_indices(both)
        self.new, self.refused, self.taken = fit.new, fit.refused, fit.taken
        self.n_offered = fit.n_offered

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return self.new.nbytes + self.first.nbytes + self.second.nbytes


class Verdict(NamedTuple):
    """The answer of a test."""

    log_p: float
    dof: int  # of the plain question
    held: bool  # whether what is given could be held fixed
    taken: tuple[Key, ...]  # what was taken out beside the base
    refused: tuple[Key, ...]  # what would have to be, and could not
    question: int  # which question decided
    information: float = 0.0  # what the first functions tell about each other, in nats


class Pair:
    """A test of two sides given a set."""

    def __init__(self, given: GivenSet, x: Side, y: Side) -> None:
        self.given, self.x, self.y = given, x, y
        self.fit = fit = Fit(given, given.basis, max(x.n_offered, y.n_offered))
        fit.basis = np.vstack([given.basis, y.new])
        fit.taken, fit.refused = list(y.taken), [*x.refused, *y.refused]
        if len(x.new):
            more = beside(x.new, fit.basis, 1e-6 / given.n_rows)
            fit.basis = np.vstack([fit.basis, more])
            fit.taken += [key for key in x.taken if key not in fit.taken]
        if len(fit.basis) > given.draws.worth / 2.0:
            fit.refused.append(("both", given.columns))
        self._decided: tuple[float, int, int] | None = None
        self._scores: list[Score] = []

    def questions(self) -> Iterator[tuple[float, Floats, Floats]]:
        """Yield weight and factors (a, b) of products whose mean is 0 under independence.

        First products of residuals; then the same weighted by what z predicts, and with even functions (of an order:
        the indicators of levels); then weighted by splits of z, which show effects that differ between parts.
        """
        draws = self.given.draws
        first_x, first_y, second_x, second_y = (
            self.fit.residual(f) for f in (self.x.first, self.y.first, self.x.second, self.y.second)
        )
        plain = _pairs(first_x, first_y)
        yield _QUESTIONS[0], *plain
        fitted = np.vstack([self.x.first - first_x, self.y.first - first_y])
        more = [
            _weighted(plain, unit(draws.unweighted(fitted)[:_FITTED])),
            _pairs(first_x, second_y),
            _pairs(second_x, first_y),
        ]
        # Of two orders these would be products of all levels. Many seldom meet, and then no spread shows how far they
        # are from 0: .04 and .15 were rejected at .01 and .05 (seven levels given seven, benchmarks/number_tests.py).
        if self.x.is_number or self.y.is_number:
            more.append(_pairs(second_x, second_y))
        if sum(len(a) for a, _ in more):
            yield _QUESTIONS[1], *_stacked([plain, *more])
        if len(self.given.splits):
            yield _QUESTIONS[2], *_stacked([plain, _weighted(plain, self.given.splits)])

    @property
    def decided(self) -> tuple[float, int, int]:
        """Log p, degrees of freedom of the plain question, and which question decided."""
        if self._decided is None:
            self._decided = self._decide()
        return self._decided

    def _decide(self) -> tuple[float, int, int]:
        taken, weights, scores = self.fit.leverage(), [], []
        for weight, a, b in self.questions():
            weights.append(weight)
            scores.append(Score(self.given.draws.summed(a * b), taken))
        if not scores[0].dof:
            return 0.0, 0, 0
        each = [score.log_p for score in scores]
        self._scores = scores
        return cauchy_combined(each, weights), scores[0].dof, int(np.argmin(each))

    def verdict(self, *, held: bool = True) -> Verdict:
        """Return the answer as it stands."""
        log_p, dof, question = self.decided
        return Verdict(log_p, dof, held, tuple(self.fit.taken), tuple(self.fit.refused), question, self.information())

    def refit(self) -> bool:
        """Take surfaces over all of z, where they explain more of a function; tell whether any was taken."""
        before = len(self.fit.basis)
        functions = np.vstack([self.x.first, self.y.first, self.x.second, self.y.second])
        for block in self.given.surfaces:
            self.fit.take(block, self.fit.residual(functions))
        if len(self.fit.basis) == before:
            return False
        self._decided = None
        return True

    def biased(self) -> bool:
        """Tell whether residuals of rows go with those of their neighbors in z, as much as that matters.

        True dependence leaves that at 0, because rows are independent. What it is weighted by are the products of the
        question that decided.
        """
        question = self.decided[2]
        _, a, b = list(self.questions())[question]
        near, direction, draws = self.given.near, self._scores[question].direction, self.given.draws
        apart = np.ones(near.shape) if draws.groups is None else draws.groups[near] != draws.groups[:, None]
        mean_a, mean_b = ((f[:, near] * apart).mean(axis=2) for f in (a, b))  # rows of one group do go together
        own = direction @ draws.summed((a * mean_b + b * mean_a) / 2.0)
        share = float(own.sum()) / max(float((direction @ (a * b)).sum()), 1e-300)
        return share > _BIASED and float(own.sum()) > _SURE * math.sqrt(float(own @ own))

    def information(self) -> float:
        """Return what x tells about y given z, in nats.

        What the first functions tell about each other, -½ Σ log(1 - ρ²), less chance; where another question shows
        more, what its χ² stands for.
        """
        log_p, dof, _ = self.decided
        shown = (chi2_of_log_p(log_p, float(dof)) - dof) / (2.0 * self.given.draws.worth)
        x, y = (self.fit.residual(f) for f in (self.x.first, self.y.first))
        if not len(x) or not len(y):
            return max(shown, 0.0)
        (a, b), free = (_whitened(f) for f in (x, y)), self.given.draws.worth - len(self.fit.basis)
        rho2 = np.clip(np.linalg.svd(a @ b.T, compute_uv=False) ** 2, 0.0, 1.0 - 1e-15)
        told = -0.5 * float(np.log1p(-rho2).sum())
        return max(told - len(a) * len(b) / (2.0 * max(free, 1.0)), shown, 0.0)


def _whitened(functions: Floats) -> Floats:
    values, vectors = np.linalg.eigh(functions @ functions.T)
    use = values > 1e-10 * max(float(values[-1]), 1e-300)
    return np.asarray((vectors[:, use] / np.sqrt(values[use])).T @ functions)


def _pairs(these: Floats, others: Floats) -> tuple[Floats, Floats]:
    return np.repeat(these, len(others), axis=0), np.tile(others, (len(these), 1))


def _stacked(parts: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    return np.vstack([a for a, _ in parts]), np.vstack([b for _, b in parts])


def _weighted(factors: tuple[Floats, Floats], weights: Floats) -> tuple[Floats, Floats]:
    a, b = factors[0][:_WEIGHTED], factors[1][:_WEIGHTED]
    return (a[:, None, :] * weights).reshape(-1, weights.shape[1]), np.repeat(b, len(weights), axis=0)


def held_fixed_test(given: GivenSet, x: Side, y: Side, *, level: float, check: bool = True) -> Verdict:
    """Test two columns given a set.

    ``level``: what the p-value will be compared with: at or below it the fit is checked, if ``check``.

    Examples
    --------
    What three causes do together, in a sum of which only the whole is seen, is held fixed:

    >>> from blankets.stats._given_functions import Values
    >>> rng = np.random.default_rng(1)
    >>> z, (e, f) = rng.normal(size=(3, 1000)), rng.normal(size=(2, 1000))
    >>> data = [Values(v, is_number=True) for v in (*z, z.sum(axis=0) + e, z.sum(axis=0) + f)]
    >>> given = GivenSet(GivenFunctions(data.__getitem__, Draws(1000)), (0, 1, 2))
    >>> bool(held_fixed_test(given, Side(given, 3), Side(given, 4), level=0.01).log_p > np.log(0.01))
    True
    """
    pair, log_level = Pair(given, x, y), math.log(level)

    def asks() -> bool:
        log_p, dof, _ = pair.decided
        return check and dof > 0 and log_p <= log_level and bool(given.columns)

    if asks():
        pair.refit()
    return pair.verdict(held=not asks() or not (pair.fit.refused or pair.biased()))
