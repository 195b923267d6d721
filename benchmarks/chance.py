"""Expected false members against those that occur, in tables where no column has to do with the target.

    python benchmarks/chance.py [--draws 400] [--alpha 0.05] [--seed 1] [--searches auto iamb] [--designs 300x40x2]

A design is rows x columns x levels; 0 levels: numbers, and "m": half of the columns are numbers. The target has two
classes, or is a number in a design of numbers. For each search: the mean number of members that occurred (all of them
false), what the blankets expected, the ratio of the two with its standard error, and the bound; "-" where theory gives
no number. It ends with the searches whose ratio is outside 1/1.5 to 1.5, or whose bound is none, by more than 2
standard errors. Searches that hold a false discovery rate state no number.
"""

from __future__ import annotations

import argparse
import sys
import warnings

import numpy as np
import pandas as pd

import blankets as bl
from blankets.errors import BlanketsWarning

FAMILIES = {
    "default": ("auto",),
    "grow and shrink": ("iamb", "inter-iamb", "fast-iamb", "kiamb", "gs", "fbed"),
    "small sets": ("pcmb", "ipc-mb", "mmmb", "hiton-mb", "eemb", "bamb", "stmb", "mbor", "pc", "mmpc", "hiton-pc"),
    "both": ("iamb-n-pc", "inter-iamb-n-pc"),
}
DESIGNS = ("300x40x2", "2000x40x3", "300x40x0", "1000x40xm")
WITHIN = 1.5


def drawn(design: str, rng: np.random.Generator) -> pd.DataFrame:
    """Return a table without any dependence; the target is y."""
    n_rows, n_columns, levels = design.split("x")
    numbers = {"0": int(n_columns), "m": int(n_columns) // 2}.get(levels, 0)
    n_levels = 3 if levels == "m" else int(levels)
    table = {f"x{j}": rng.normal(size=int(n_rows)) for j in range(numbers)}
    table |= {f"x{j}": rng.integers(0, n_levels, int(n_rows)) for j in range(numbers, int(n_columns))}
    y = rng.normal(size=int(n_rows)) if levels == "0" else rng.integers(0, 2, int(n_rows))
    return pd.DataFrame({**table, "y": y})


def counted(blanket: bl.Blanket) -> tuple[float, float, float]:
    """Return how many members there are, how many were expected, and the bound; NaN where there is no number."""
    known = blanket.false_members
    if known is None:
        return len(blanket), np.nan, np.nan
    return len(blanket), *(np.nan if n is None else n for n in (known.expected, known.at_most))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--alpha", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--searches", nargs="*", default=[name for family in FAMILIES.values() for name in family])
    parser.add_argument("--designs", nargs="*", default=DESIGNS)
    options = parser.parse_args()
    print("| design | search | occurred | expected | ratio | se | bound |\n|" + " --- |" * 7)
    off = []
    for design in options.designs:
        rng = np.random.default_rng([options.seed, *map(ord, design)])
        each: dict[str, list[tuple[float, float, float]]] = {name: [] for name in options.searches}
        for _ in range(options.draws):
            table = drawn(design, rng)
            for name, counts in each.items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", BlanketsWarning)
                    found = bl.discover(table, "y", algorithm=name, alpha=options.alpha, roles=False, n_jobs=1)
                counts.append(counted(found))
        for name, counts in each.items():
            occurred, expected, bound = np.mean(counts, axis=0)
            error = np.std([n for n, *_ in counts]) / np.sqrt(options.draws)
            ratio = expected / occurred if occurred else np.nan
            cells = (occurred, expected, ratio, ratio * error / max(occurred, 1e-9), bound)
            words = " | ".join("-" if np.isnan(cell) else f"{cell:.2f}" for cell in cells)
            print(f"| {design} | {name} | {words} |", flush=True)
            low, high = occurred - 2 * error, occurred + 2 * error
            if expected < low / WITHIN or expected > high * WITHIN or bound < low:
                off.append(f"{design} {name}")
    print("outside: " + (", ".join(off) or "none"))
    return int(bool(off))


if __name__ == "__main__":
    sys.exit(main())
