"""Bases of what is given, and inner products of the functions of columns with them (methods, section 10)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blankets.counting import GIVEN, Moments
from blankets.independence._evidence import Given
from blankets.stats import canonical_test, log_p_of_functions, whitening, wide_log_lambda

ROWS_GIVEN = 8.0  # rows for each function conditioned on, beyond one for each column
PROJECTED = 4096  # functions of all columns that are projected at once: wide tables have few copies of anything

Floats = NDArray[np.float64]


class Projection(NamedTuple):
    """What a set of given columns explains."""

    given: Given
    widths: tuple[int, ...]  # functions of each given column
    root: Floats  # (functions, size): makes an orthonormal basis of them

    @property
    def size(self) -> int:
        """Number of functions in the basis."""
        return int(self.root.shape[1])

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return self.root.nbytes + 500


class Products(NamedTuple):
    """Inner products that tell about some columns and y; columns have numbers of their own here."""

    explained: Floats  # (size, tested functions): of the basis of what is given, with those of the columns
    across: Floats  # (functions of y, tested functions)
    xs: NDArray[np.int64]
    y: int
    start: NDArray[np.int64]  # where the tested functions of each column begin
    first: NDArray[np.int64]  # how many of these are tested alone too

    def of(self, x: int) -> slice:
        """Return where the functions of a column are."""
        return slice(int(self.start[x]), int(self.start[x + 1]))

    @classmethod
    def of_few(cls, moments: Moments, known: Projection, xs: NDArray[np.int64], y: int) -> Products:
        """Return those of some columns alone, of which many others are not asked."""
        columns = np.append(xs, y)
        at = np.concatenate([np.arange(moments.start[x], moments.start[x + 1]) for x in columns.tolist()])
        start = np.concatenate([[0], np.cumsum(np.diff(moments.start)[columns])])
        across = np.ascontiguousarray(moments.across(y, moments.tested(y), at), np.float64)
        explained = explained_of(moments, known, at)
        return cls(explained, across, np.arange(len(xs)), len(xs), start, moments.first[columns])

    def of_some(self, at: NDArray[np.bool_] | NDArray[np.int64]) -> Products:
        """Return the same for some of the columns."""
        return self._replace(xs=self.xs[at])


def project(
    moments: Moments, given: Given, rows_a_function: float = ROWS_GIVEN, rows: int = 0, most: int = GIVEN
) -> Projection:
    """Return an orthonormal basis of a set: as many functions of each number as rows allow, ``most`` at most."""
    if not given:
        return Projection((), (), np.zeros((0, 0)))
    widths = given_widths(moments, given, rows_a_function, rows, most)
    return Projection(given, widths, _whitening(moments.among(given, widths), widths))


def given_widths(
    moments: Moments, given: Given, rows_a_function: float = ROWS_GIVEN, rows: int = 0, most: int = GIVEN
) -> tuple[int, ...]:
    """Return how many functions of each given column rows allow, ``most`` at most."""
    for degree in range(most, 0, -1):
        widths = moments.widths(given, degree)
        if sum(widths) * rows_a_function <= (rows or moments.n_rows):
            break
    return tuple(widths)


def explained_of(moments: Moments, known: Projection, at: NDArray[np.int64] | None = None) -> Floats:
    """Return inner products of the basis of a set with the tested functions of all columns, or those ``at`` places."""
    size = int(moments.start[-1]) if at is None else len(at)
    explained = np.empty((known.size, size))
    if known.size:
        across = [moments.across(z, k, at) for z, k in zip(known.given, known.widths, strict=True)]
        for begin in range(0, size, PROJECTED):
            here = slice(begin, begin + PROJECTED)
            explained[:, here] = known.root.T @ np.vstack([each[:, here] for each in across])
    return explained


def of_each(told: Products) -> tuple[Floats, Floats, Floats, NDArray[np.int64]]:
    """Return inner products: of the basis with xs and with y, of xs with y; and how many functions each x has."""
    start, q = told.start, len(told.explained)
    widths = np.diff(start)[told.xs]
    most = int(widths.max(initial=0))
    there = np.arange(most) < widths[:, None]
    at = np.where(there, start[told.xs][:, None] + np.arange(most), 0)
    both = np.vstack([told.explained, told.across])
    of_x = np.where(there[None], both[:, at], 0.0).transpose(1, 0, 2)  # (candidates, given and y, functions of x)
    return of_x[:, :q], told.explained[:, told.of(told.y)], of_x[:, q:].transpose(0, 2, 1), widths


def of_wide(told: Products, n_rows: int) -> Floats:
    """Return what a scan of functions does where x or y has more functions than the given columns and the other one."""
    of_y, q = told.explained[:, told.of(told.y)], len(told.explained)
    twice, statistic, dof = np.zeros((3, 2, len(told.xs)))  # of all functions, and of the first ones
    for i, x in enumerate(told.xs.tolist()):
        of_x, product = told.explained[:, told.of(x)], told.across[:, told.of(x)].T
        firsts = (min(int(told.first[x]), product.shape[0]), min(int(told.first[told.y]), product.shape[1]))
        for which, (kx, ky) in enumerate((product.shape, firsts)):
            if not kx * ky or (which and firsts == product.shape):
                continue
            sides = (of_x[:, :kx], of_y[:, :ky], product[:kx, :ky])
            if kx > ky:
                sides = (sides[1], sides[0], sides[2].T)
            twice[which, i], dof[which, i] = wide_log_lambda(*sides), kx * ky
            statistic[which, i] = max(n_rows - 1 - q - (kx + ky + 1) / 2.0, 0.0) * twice[which, i]
    log_p = log_p_of_functions(statistic[0], dof[0], statistic[1], dof[1])
    dof[0, np.isnan(twice).any(axis=0)] = np.nan
    return np.array([statistic[0], dof[0], log_p, twice[0] / 2.0])


def by_directions(told: Products, n_rows: int) -> Floats:
    """Return the same where the given columns determine almost all of some directions."""
    explained, explained_y, across, widths = of_each(told)
    statistic, dof, effect = canonical_test(explained, explained_y, across, n_rows, across.shape[1] - widths)
    firsts, first_y = np.minimum(told.first[told.xs], widths), int(told.first[told.y])
    few = int(firsts.max(initial=0))
    alone = (np.arange(few) < firsts[:, None])[:, None, :]
    explained = np.where(alone, explained[:, :, :few], 0.0)
    across = np.where(alone.transpose(0, 2, 1), across[:, :few, :first_y], 0.0)
    simple, fewer, _ = canonical_test(explained, explained_y[:, :first_y], across, n_rows, few - firsts)
    return np.array([statistic, dof, log_p_of_functions(statistic, dof, simple, fewer), effect])


def _whitening(gram: Floats, widths: Sequence[int]) -> Floats:
    """Return `whitening` of the functions of several columns; a column with many keeps its own, which are orthonormal.

    So it is the others whose directions are sought: what the column leaves of them.
    """
    z = int(np.argmax(widths))
    if 2 * widths[z] <= len(gram):
        return whitening(gram)
    begin = sum(widths[:z])
    own = np.arange(begin, begin + widths[z])
    others = np.delete(np.arange(len(gram)), own)
    told = gram[np.ix_(own, others)]
    rest = whitening(gram[np.ix_(others, others)] - told.T @ told)
    root = np.zeros((len(gram), len(own) + rest.shape[1]))
    root[own, : len(own)] = np.eye(len(own))
    root[own, len(own) :], root[others, len(own) :] = -told @ rest, rest
    return root
