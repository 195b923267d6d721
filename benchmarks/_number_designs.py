"""Designs in which x and y depend on z, and on each other through z alone; for number_tests.py."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Column = NDArray[Any]  # floats are numbers, unsigned integers levels in order, other integers levels
Rng = np.random.Generator


class Drawn(NamedTuple):
    """Columns z, how to draw x and y, and what rows are."""

    z: list[Column]
    x: Callable[[], Column]
    y: Callable[[], Column]
    weights: Column | None = None
    groups: Column | None = None


Design = Callable[[int, Rng], Drawn]
Mean = Callable[[int, Rng], tuple[list[Column], Column]]


def logistic(value: Column) -> Column:
    """Return chances from log odds."""
    return np.asarray(1.0 / (1.0 + np.exp(-value)))


def classes(utility: Column, rng: Rng) -> Column:
    """Return a class for each row of utilities, shape (rows, classes)."""
    return np.asarray((utility + rng.gumbel(size=utility.shape)).argmax(axis=1))


def both(mean: Mean, noise: float = 1.0, n_classes: int = 0, positives: float = 0.5) -> Design:
    """Return a design whose x and y have the same mean; y is a class if ``n_classes``."""

    def design(n: int, rng: Rng) -> Drawn:
        z, m = mean(n, rng)

        def number() -> Column:
            return np.asarray(m + noise * rng.normal(size=n))

        def level() -> Column:
            if n_classes > 2:
                return classes(np.outer(m - m.mean(), np.linspace(-1.5, 1.5, n_classes)), rng)
            utility = 1.7 * (m - m.mean()) + rng.logistic(size=n)
            return np.asarray(utility > np.quantile(utility, 1 - positives)).astype(np.int64)

        return Drawn(z, number, level if n_classes else number)

    return design


def linear(k: int, r2: float) -> Mean:
    """A sum of k normal columns."""

    def mean(n: int, rng: Rng) -> tuple[list[Column], Column]:
        z = rng.normal(size=(k, n))
        return list(z), z.sum(axis=0) * math.sqrt(r2 / (1 - r2) / k)

    return mean


def of_normals(k: int, made: Callable[[Column], Column]) -> Mean:
    """A function of k normal columns."""

    def mean(n: int, rng: Rng) -> tuple[list[Column], Column]:
        z = rng.normal(size=(k, n))
        return list(z), made(z)

    return mean


def cells(*sizes: int, strength: float = 0.5) -> Mean:
    """Categories whose cells all have means of their own."""

    def mean(n: int, rng: Rng) -> tuple[list[Column], Column]:
        z = [rng.integers(0, k, n) for k in sizes]
        return z, strength * np.random.default_rng(4).normal(size=sizes)[tuple(z)]

    return mean


def slopes(strength: float, rows: int = 5) -> Mean:
    """A slope for each level."""

    def mean(n: int, rng: Rng) -> tuple[list[Column], Column]:
        site, z = rng.integers(0, rows, n), rng.normal(size=n)
        return [site, z], strength * np.resize([1.0, -1.0, 0.5, -0.5, 0.0], rows)[site] * z

    return mean


def levels(k: int, *, tail: bool = False, strength: float = 1.0) -> Mean:
    """Many levels with means of their own, even or with a long tail."""

    def mean(n: int, rng: Rng) -> tuple[list[Column], Column]:
        z = np.minimum((2 * rng.pareto(1, n)).astype(int), k - 1) if tail else rng.integers(0, k, n)
        return [z], strength * rng.normal(size=k)[z]

    return mean


def dated(years: float, made: Callable[[Column], Column] = lambda t: np.sin(2 * np.pi * t)) -> Mean:
    """A curve of a date."""

    def mean(n: int, rng: Rng) -> tuple[list[Column], Column]:
        t = np.sort(rng.integers(0, int(365.25 * years), n)) / 365.25
        return [t], made(t)

    return mean


def bmi(n: int, rng: Rng) -> tuple[list[Column], Column]:
    """Height and weight, of which the body mass index matters."""
    height, weight = 1.7 + 0.1 * rng.normal(size=n), np.exp(4.3 + 0.2 * rng.normal(size=n))
    return [height, weight], (weight / height**2 - 25) / 5


def of_uniform(made: Callable[[Column], Column], low: float = -3.0, high: float = 3.0) -> Mean:
    """A curve of one even column."""

    def mean(n: int, rng: Rng) -> tuple[list[Column], Column]:
        z = rng.uniform(low, high, n)
        return [z], made(z)

    return mean


def spread(k: int, *, curved: bool) -> Design:
    """Variances of x and y that move with the first of k columns."""

    def design(n: int, rng: Rng) -> Drawn:
        z = rng.normal(size=(k, n))
        m = ((z**2 - 1) / 1.4 + 0.3 * z if curved else z).sum(axis=0) / math.sqrt(k)
        scale = np.exp(0.5 * np.clip(z[0], -2.5, 2.5))
        return Drawn(list(z), *2 * (lambda: m + scale * rng.normal(size=n),))

    return design


def alike(made: Callable[[int, Rng], Column], drawn: Callable[[Column, Rng], Column]) -> Design:
    """x and y are drawn alike, given one column."""

    def design(n: int, rng: Rng) -> Drawn:
        z = made(n, rng)
        return Drawn([z], *2 * (lambda: drawn(z, rng),))

    return design


def zero_inflated(z: Column, rng: Rng) -> Column:
    """Numbers that are 0 or long-tailed."""
    there = rng.random(len(z)) < logistic(1.5 * z - 1.5)
    return np.where(there, np.exp(0.5 * z + rng.normal(size=len(z))), 0.0)


def mixed(n: int, rng: Rng) -> Drawn:
    """Four numbers and four categories, and a class."""
    z, c = rng.normal(size=(4, n)), rng.integers(0, 4, (4, n))
    m = 0.4 * z.sum(axis=0) + 0.5 * np.array([0, 1, -0.5, 0.7])[c].sum(axis=0)
    return Drawn([*z, *c], lambda: m + rng.normal(size=n), lambda: (rng.random(n) < logistic(m)).astype(int))


def two_categories(mean: Mean, k: int = 4) -> Design:
    """x and y have k levels each, whose log odds follow a mean."""

    def design(n: int, rng: Rng) -> Drawn:
        z, m = mean(n, rng)
        utility = np.outer(m, np.linspace(-1, 1.2, k))
        return Drawn(z, *2 * (lambda: classes(utility, rng),))

    return design


def in_order(m: int, form: str) -> Design:
    """Seven levels in order, of x, y and z."""

    def in_levels(values: Column, width: float) -> Column:
        return np.clip(np.floor((values + width / 2) / width * 7), 0, 6).astype(np.uint8)

    def design(n: int, rng: Rng) -> Drawn:
        z = [in_levels(v, 4.4) for v in (rng.normal(size=(m, n)) + 0.5 * rng.normal(size=n)) / math.sqrt(1.25)]
        numbers = np.array([(v - v.mean()) / v.std() for v in z])
        scale = np.exp(0.5 * np.clip(numbers[0], -2.5, 2.5)) if form == "spread" else 1.0
        mean = (numbers**2 - 1 if form == "squares" else numbers).sum(axis=0) / math.sqrt(m)
        return Drawn(z, *2 * (lambda: in_levels(mean + 0.8 * scale * rng.normal(size=n), 5.0),))

    return design


def in_groups(mean: Mean, size: int, own: float = 0.7) -> Design:
    """Rows of a group share a part of x, and one of y; the first column of z is shared, too."""

    def design(n: int, rng: Rng) -> Drawn:
        group = np.arange(n) // size
        z, m = mean(n, rng)
        more = rng.normal(size=group[-1] + 1)[group]

        def drawn() -> Column:
            return np.asarray(m + more + own * rng.normal(size=group[-1] + 1)[group] + rng.normal(size=n))

        return Drawn([*z, more], drawn, drawn, groups=group)

    return design


def sampled(mean: Mean, chance: Callable[[Column, Column, Column], Column]) -> Design:
    """Rows of a survey, drawn with a chance that may depend on z, x and y; weights undo that. One x for each draw."""

    def design(n: int, rng: Rng) -> Drawn:
        z, m = mean(20 * n, rng)
        x, y = m + rng.normal(size=(2, 20 * n))
        p = chance(z[0], x, y)
        at = rng.choice(20 * n, n, replace=False, p=p / p.sum())
        return Drawn([v[at] for v in z], lambda: x[at], lambda: y[at], weights=1.0 / p[at])

    return design


def grid_point(kinds: tuple[str, str], form: str, m: int) -> Design:
    """Kinds of columns and confounding; of z every third is cut, every third skewed."""

    def index(z: Column, rng: Rng) -> Column:
        weights = rng.uniform(0.5, 1.0, len(z)) * rng.choice([-1, 1], len(z))
        parts = (z**2 - 1) / 1.4 + 0.3 * z if form == "curved" else z
        return np.asarray(weights @ parts / math.sqrt(weights @ weights))

    def column(kind: str, m: Column, scale: Column | float, rng: Rng) -> Column:
        n = len(m)
        latent = m + 0.7 * scale * rng.logistic(size=n)
        rate = np.exp(1.2 + 0.5 * np.clip(m, -4, 3) + 0.3 * (scale - 1) * rng.normal(size=n))
        return {
            "normal": lambda: m + scale * rng.normal(size=n),
            "heavy": lambda: m + scale * rng.standard_t(2.5, n) / 1.5,
            "skewed": lambda: np.exp(0.8 * m + 0.8 * scale * rng.normal(size=n)),
            "count": lambda: rng.poisson(rate).astype(float),
            "four": lambda: (0.8 * rng.gumbel(size=(n, 4)) + np.outer(m, [0, 1, -0.8, 0.5])).argmax(axis=1),
            "ordered": lambda: np.digitize(latent, [-1.2, -0.3, 0.5, 1.4]).astype(np.uint8),
            "two": lambda: (latent > 0).astype(int),
            "rare": lambda: (latent > np.quantile(latent, 0.98)).astype(int),
        }[kind]()

    def design(n: int, rng: Rng) -> Drawn:
        z = (rng.normal(size=(m, n)) + 0.5 * rng.normal(size=n)) / math.sqrt(1.25)
        z[1::3] = np.digitize(z[1::3], [-0.5, 0.3]) - 1
        scale = np.exp(0.5 * np.clip(z[0], -2.5, 2.5)) if form == "hetero" else 1.0
        of_y, of_x = index(z, rng), index(z, rng)
        told = [v.astype(int) + 1 if j % 3 == 1 else np.exp(v) if j % 3 == 2 else v for j, v in enumerate(z)]
        return Drawn(told, lambda: column(kinds[1], of_x, scale, rng), lambda: column(kinds[0], of_y, scale, rng))

    return design


PRODUCT = of_normals(2, lambda z: z[0] * z[1])


def sex_and_age(n: int, rng: Rng) -> tuple[list[Column], Column]:
    """A slope of age in one sex."""
    sex, age = rng.integers(0, 2, n), rng.normal(size=n)
    return [sex, age], sex * age


def scales(n: int, rng: Rng) -> tuple[list[Column], Column]:
    """Whether just one of two scales is high."""
    a, b = rng.integers(1, 6, (2, n)).astype(float)
    return [a, b], np.where((a > 3) ^ (b > 3), 1.5, -0.5)


def ages(n: int, rng: Rng) -> tuple[list[Column], Column]:
    """Steps at 18 and 65 years."""
    z = rng.integers(0, 95, n).astype(float)
    return [z], 2.0 * ((z >= 18) & (z < 65)) + 0.02 * z


def places(n: int, rng: Rng) -> tuple[list[Column], Column]:
    """Six towns on a map."""
    towns = np.random.default_rng(5).uniform(-3, 3, (6, 2))
    at = rng.uniform(-3, 3, (n, 2))
    return list(at.T), 2 * np.exp(-2 * ((at[:, None] - towns) ** 2).sum(axis=2)).sum(axis=1)


def site_seasons(n: int, rng: Rng) -> tuple[list[Column], Column]:
    """A season that starts later in each of four sites."""
    site, t = rng.integers(0, 4, n), rng.uniform(0, 2, n)
    return [site, t], np.sin(2 * np.pi * (t + site / 4))


def week(n: int, rng: Rng) -> tuple[list[Column], Column]:
    """Hours of workdays and of weekends."""
    day, hour = rng.integers(0, 7, n), rng.integers(0, 24, n).astype(float)
    return [day, hour], np.where(day < 5, np.sin(hour / 24 * 4 * np.pi), np.cos(hour / 24 * 2 * np.pi))


def nearly_alike(n: int, rng: Rng) -> tuple[list[Column], Column]:
    """Two columns that are nearly alike, and their difference."""
    a, b = rng.normal(size=(2, n))
    return [a, a + 0.05 * b], 3 * a + 5 * (0.05 * b)


def shares(n: int, rng: Rng) -> tuple[list[Column], Column]:
    """Shares of a whole."""
    z = rng.dirichlet([2, 2, 2, 2], n).T
    return list(z[:3]), 4 * z[0] * z[3] + 2 * z[1]


def outliers(n: int, rng: Rng) -> tuple[list[Column], Column]:
    """One in a hundred values is 50 times what it should be."""
    z = rng.normal(size=n)
    return [np.where(rng.random(n) < 0.01, 50 * z, z)], z


def three_rounded(n: int, rng: Rng) -> tuple[list[Column], Column]:
    """A sum of three rounded columns."""
    z = rng.normal(size=(3, n))
    return list(np.round(z)), np.round(z).sum(axis=0)


def one_level_curves(n: int, rng: Rng) -> tuple[list[Column], Column]:
    """A curve in a tenth of the rows."""
    rare, z = (rng.random(n) < 0.1).astype(int), rng.normal(size=n)
    return [rare, z], np.where(rare, 3 * np.sin(2 * z), 0.5 * z)


def one_normal(n: int, rng: Rng) -> Column:
    """A normal column."""
    return np.asarray(rng.normal(size=n))


SUMS = {f"{k} normal, R² {r2}": both(linear(k, r2)) for k in (1, 2, 3, 5, 8, 12) for r2 in (0.5, 0.8, 0.95)}
SUMS |= {f"{k} normal, R² .8, two classes": both(linear(k, 0.8), n_classes=2) for k in (3, 8)}
SUMS |= {
    "3 normal, R² .5, 2% positive": both(linear(3, 0.5), n_classes=2, positives=0.02),
    "3 normal, R² .5, ten classes": both(linear(3, 0.5), n_classes=10),
}
TOGETHER = {f"{c} a b": both(of_normals(2, lambda z, c=c: c * z[0] * z[1])) for c in (0.15, 0.3, 1.0)}
TOGETHER |= {
    "a b and lines": both(of_normals(2, lambda z: z[0] * z[1] + 0.5 * (z[0] + z[1]))),
    "a b, two classes": both(PRODUCT, n_classes=2),
    "a b + c d + e": both(of_normals(5, lambda z: 0.7 * z[0] * z[1] + 0.5 * z[2] * z[3] + 0.5 * z[4])),
    "a b c": both(of_normals(3, lambda z: z.prod(axis=0))),
    "age × sex": both(sex_and_age),
    "age × sex, two classes": both(sex_and_age, n_classes=2),
    "slopes of 5 sites": both(slopes(1.0)),
    "BMI": both(bmi, noise=0.5),
    "max(a, b)": both(of_normals(2, lambda z: z.max(axis=0)), noise=0.7),
    "exclusive or of two scales": both(scales),
    "8 weak products": both(of_normals(8, lambda z: 0.175 * (z * np.roll(z, 1, axis=0)).sum(axis=0))),
    "bump of two": both(of_normals(2, lambda z: 3 * np.exp(-((z[0] - 0.5) ** 2) - (z[1] + 0.5) ** 2))),
}
CELLS = {f"cells {k} × {k}": both(cells(k, k)) for k in (4, 6, 8)}
CELLS |= {
    "cells 6 × 6, two classes": both(cells(6, 6), n_classes=2),
    "weak cells 8 × 8": both(cells(8, 8, strength=0.25)),
    "cells 4 × 4 × 2": both(cells(4, 4, 2, strength=0.7)),
}
CURVES = {f"season of {k} years": both(dated(k)) for k in (1, 2, 3, 5, 8)}
CURVES |= {
    "season of 3 years and trend": both(dated(3, lambda t: np.sin(2 * np.pi * t) + t)),
    "sin(3z)": both(of_uniform(lambda z: np.sin(3 * z)), noise=0.5),
    "step": both(of_normals(1, lambda z: 2.0 * (z[0] > 0.8))),
    "step, beside two lines": both(of_normals(3, lambda z: 2.0 * (z[0] > 0.8) + z[1])),
    "z², little noise": both(of_normals(1, lambda z: z[0] ** 2), noise=0.1),
    "z, hardly any noise": both(of_normals(1, lambda z: z[0]), noise=0.02),
    "8 curves": both(of_normals(8, lambda z: 0.3 * (z**2 - 1).sum(axis=0))),
}
LEVELS = {f"{k} levels": both(levels(k)) for k in (40, 100)}
LEVELS |= {f"{k} levels, long tail": both(levels(k, tail=True)) for k in (40, 100)}
LEVELS |= {
    "100 levels, long tail, two classes": both(levels(100, tail=True), n_classes=2),
    "weak 40 levels, long tail": both(levels(40, tail=True, strength=0.35)),
}
TAILS = {f"spread, {k} columns": spread(k, curved=False) for k in (1, 3, 8)}
TAILS |= {f"spread and curves, {k} columns": spread(k, curved=True) for k in (1, 3, 8)}
TAILS |= {
    "zero-inflated": alike(lambda n, rng: rng.gamma(1, 1, n), zero_inflated),
    "Poisson": alike(lambda n, rng: rng.gamma(0.5, 1, n), lambda z, rng: rng.poisson(z).astype(float)),
    "Cauchy": alike(lambda n, rng: rng.standard_cauchy(n), lambda z, rng: z + rng.standard_cauchy(len(z))),
    "lognormal z": alike(
        lambda n, rng: np.exp(1.5 * rng.normal(size=n)), lambda z, rng: z + 3 * rng.normal(size=len(z))
    ),
    "lognormal x and y": alike(one_normal, lambda z, rng: np.exp(z + 1.5 * rng.normal(size=len(z)))),
    "spread that is exp(z)": alike(one_normal, lambda z, rng: np.exp(z) * rng.normal(size=len(z))),
    "ties": alike(
        lambda n, rng: rng.integers(1, 8, n).astype(float),
        lambda z, rng: np.round(np.array([0, 2, -1, 3, 0, -2, 1.5, 0])[z.astype(int)] + rng.normal(size=len(z))),
    ),
    "4 numbers, 4 categories, two classes": mixed,
}
ORDERED = {
    f"seven levels in order, {m} given, {form}": in_order(m, form)
    for m in (1, 3, 8)
    for form in ("lines", "squares", "spread")
}
ROWS = {
    "groups of 10, line": in_groups(linear(1, 0.5), 10),
    "groups of 10, a b": in_groups(PRODUCT, 10),
    "groups of 25, line": in_groups(linear(1, 0.5), 25),
    "weights that follow z": sampled(linear(2, 0.5), lambda z, x, y: logistic(z)),
    "weights that follow x and y": sampled(linear(2, 0.5), lambda z, x, y: np.where(x * y > 0, 0.3, 0.1)),
    "weights that follow y, a b": sampled(PRODUCT, lambda z, x, y: logistic(0.7 * y)),
}
FRESH = {
    "a / b": both(of_normals(2, lambda z: z[0] / (1 + np.abs(z[1])) * 2)),
    "exp(a + b)": both(of_normals(2, lambda z: np.exp(0.7 * (z[0] + z[1])))),
    "sign of a + b": both(of_normals(2, lambda z: 1.5 * np.sign(z[0] + z[1]))),
    "sin(2(a + b))": both(of_normals(2, lambda z: np.sin(2 * (z[0] + z[1])))),
    "a where b > 0": both(of_normals(2, lambda z: z[0] * (z[1] > 0))),
    "distance of two": both(of_normals(2, lambda z: 1.5 * np.abs(z[0] - z[1]))),
    "18 and 65 years": both(ages),
    "six towns on a map": both(places),
    "a season for each of 4 sites": both(site_seasons),
    "hours of workdays and weekends": both(week),
    "two columns nearly alike": both(nearly_alike),
    "shares of a whole": both(shares),
    "1% outliers in z": both(outliers),
    "three rounded columns": both(three_rounded),
    "curve of a tenth of the rows": both(one_level_curves),
    "a b, four levels both": two_categories(PRODUCT),
    "season of 3 years, four levels both": two_categories(dated(3)),
    "3 normal, three levels both": two_categories(of_normals(3, lambda z: 1.5 * z.sum(axis=0)), 3),
    "a b c d": both(of_normals(4, lambda z: z.prod(axis=0))),
    "all of three above 0": both(of_normals(3, lambda z: 2.5 * (z > 0).all(axis=0))),
}
DESIGNS = {
    "sums": SUMS,
    "what acts together": TOGETHER,
    "cells": CELLS,
    "curves and dates": CURVES,
    "many levels": LEVELS,
    "tails and spreads": TAILS,
    "levels in order": ORDERED,
    "groups and weights": ROWS,
    "not tried before": FRESH,
}
KINDS = ("normal", "heavy", "skewed", "count", "ordered", "two", "rare", "four")
FORMS = ("linear", "curved", "hetero")
GRID_SIZES = ((300, 1), (300, 3), (1000, 3), (300, 8), (1000, 8), (3000, 3))


def points(rows: list[int]) -> Iterator[tuple[str, str, int, Design]]:
    """Yield family, name, rows and design: of the grid each point at its own number of rows."""
    for n in rows:
        for family, some in DESIGNS.items():
            yield from ((family, name, n, design) for name, design in some.items())
    for k, pair in enumerate(combinations_with_replacement(KINDS, 2)):
        for i, form in enumerate(FORMS):
            for turn in (0, 1):
                n, m = GRID_SIZES[(2 * k + i + 3 * turn) % len(GRID_SIZES)]
                if n in rows:
                    yield f"grid, {form}", f"{pair[0]}; {pair[1]}; given {m}", n, grid_point(pair, form, m)
