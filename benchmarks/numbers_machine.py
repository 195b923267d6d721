"""Numbers beside a machine's labels: level and power of tests, over how the machine errs.

    python benchmarks/numbers_machine.py level|few|power [--draws 1000] [--seed 0] [--jobs 1]

x is a number, and so are the given ones, which x and the class depend on (log odds 0.7 for each). The machine errs in
10% of the rows: alike everywhere ("none"), along the ranks of x ("line"), at both ends ("square"), or only in the
highest fifth ("high"). "level": 18 to 109 errors in the gold rows. "few": 2 to 30 of them, also all on one side, false
negatives (where these would be more than there are positives, fewer).
"power": the log odds of the class have x too; beside it, that of gold labels alone.
"""

from __future__ import annotations

import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import blankets as bl

LEVELS = (0.01, 0.05)


class Cell(NamedTuple):
    """A way to draw tables."""

    rows: int
    gold: int
    given: int
    form: str = "none"
    wrong: float = 0.1  # share of the rows in which the machine errs
    one_side: bool = False  # whether it errs in positives alone
    strength: float = 0.0  # log odds of the class for a deviation of x

    def drawn(self, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        """Return a table."""
        n = self.rows
        z = rng.normal(size=(self.given, n))
        x = (rng.normal(size=n) + 0.6 * z.sum(axis=0)) / np.sqrt(1.0 + 0.36 * self.given)
        y = (rng.random(n) < 1.0 / (1.0 + np.exp(1.0 - 0.7 * z.sum(axis=0) - self.strength * x))).astype(int)
        rank = np.argsort(np.argsort(x)) / n
        shape = {
            "none": np.ones(n),
            "line": 0.2 + 1.6 * rank,
            "square": 3.0 * (2.0 * rank - 1.0) ** 2,
            "high": 5.0 * (rank > 0.8),
        }[self.form]
        errs = y / y.mean() if self.one_side else np.ones(n)
        wrong = rng.random(n) < self.wrong * shape * errs
        gold = np.where(np.arange(n) < self.gold, y, np.nan)
        return {**{f"z{j}": one for j, one in enumerate(z)}, "x": x, "said": np.where(wrong, 1 - y, y), "y": gold}


def p_values(cell: Cell, draws: int, seed: tuple[int, ...], *, alone: bool = False) -> NDArray[np.float64]:
    """Return p-values of drawn tables: with the machine, and with gold labels ``alone``."""
    rng, found = np.random.default_rng(seed), []
    given = [f"z{j}" for j in range(cell.given)]
    for _ in range(draws):
        table = cell.drawn(rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            told = [bl.test(table, "x", "y", given, labels=bl.Predicted("said"), n_jobs=1).p]
            if alone:
                told.append(bl.test(table, "x", "y", given, labels="mcar", exclude=["said"], n_jobs=1).p)
        found.append(told)
    return np.array(found)


def cells(what: str) -> list[Cell]:
    """Return the cells of a question."""
    given = (0, 1, 3)
    if what == "level":
        designs = ((5000, 250), (5000, 1000), (1000, 200))
        return [Cell(*d, g, form) for d, g, form in product(designs, given, ("none", "line", "square"))]
    if what == "power":
        designs = ((4000, 200, 0.1), (4000, 200, 0.05), (2000, 400, 0.2), (2000, 200, 0.35), (4000, 200, 0.02))
        return [Cell(n, k, g, wrong=w, strength=0.55) for (n, k, w), g in product(designs, given)]
    few = ((1000, 60, 2), (1000, 60, 4), (2000, 200, 10), (2000, 200, 20))
    some = [(Cell(n, k, 0, "high", e / k), e) for n, k, e in few]
    some += [(Cell(n, k, 0, "line", e / k), e) for n, k, e in ((2000, 200, 8), (1000, 100, 10), (1000, 100, 30))]
    some += [(Cell(4000, 200, 0, "none", 0.03), 6), (Cell(4000, 300, 0, "square", 0.03), 9)]
    return [c._replace(given=g, one_side=side) for (c, _), g, side in product(some, (0, 3), (False, True))]


def main() -> None:
    """Print a line for each cell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["level", "few", "power"])
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    choice = parser.parse_args()
    wanted, alone = cells(choice.what), choice.what == "power"
    ask = partial(p_values, alone=alone)
    seeds = [(choice.seed, i) for i in range(len(wanted))]
    shares = []
    with ProcessPoolExecutor(choice.jobs) as pool:
        for cell, p in zip(wanted, pool.map(ask, wanted, [choice.draws] * len(wanted), seeds), strict=True):
            about = f"{cell.rows} rows, {cell.gold} gold, given {cell.given}, {cell.form:6} {cell.wrong:.3f}"
            about += " one side" if cell.one_side else ""
            if alone:
                told = "{:.3f} with the machine, {:.3f} gold alone, at 0.01".format(*(p <= 0.01).mean(axis=0))
            else:
                shares.append([(p <= level).mean() / level for level in LEVELS])
                told = "{:.2f} of 0.01, {:.2f} of 0.05".format(*shares[-1])
            print(f"  {about:55} {told}", flush=True)
    if shares:
        mean, least, most = (f(shares, axis=0).round(2).tolist() for f in (np.mean, np.min, np.max))
        print(f"mean {mean}, least {least}, largest {most}; {choice.draws} draws a cell")


if __name__ == "__main__":
    main()
