"""Expected false members against those that occur, in tables where no column has to do with the target.

    python benchmarks/chance.py [--draws 100] [--alpha 0.05]

Rows: the design. Columns: for each algorithm the mean number of members that occurred (all of them false), what the
blankets expected, and the ratio of the two in brackets; "bound" where theory gives a bound only. Tests at level
0.05, so that some occur, unless another one is given.
"""

from __future__ import annotations

import argparse
import sys
import warnings

import numpy as np

import blankets as bl
from blankets.errors import BlanketsWarning

SEARCHES = ("auto", "iamb", "inter-iamb", "fbed", "iamb-fdr", "pcmb", "mmmb", "hiton-mb", "eemb", "stmb")
DESIGNS = ((300, 40, 2), (2000, 40, 3))  # rows, columns, levels


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--alpha", type=float, default=0.05)
    parser.add_argument("--searches", nargs="*", default=SEARCHES)
    options = parser.parse_args()
    print(f"| rows, columns, levels | {' | '.join(options.searches)} |\n|{' --- |' * (1 + len(options.searches))}")
    for n_rows, n_columns, n_levels in DESIGNS:
        cells = []
        for algorithm in options.searches:
            rng = np.random.default_rng([7, n_rows])
            occurred, said, bounds = [], [], []
            for _ in range(options.draws):
                table = {f"x{j}": rng.integers(0, n_levels, n_rows) for j in range(n_columns)}
                table["y"] = rng.integers(0, 2, n_rows)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", BlanketsWarning)
                    blanket = bl.discover(table, "y", algorithm=algorithm, alpha=options.alpha, roles=False, n_jobs=1)
                known = blanket.false_members
                occurred.append(len(blanket))
                none = known is None or known.at_most is None  # theory gives no number
                said.append(np.nan if none or known.expected is None else known.expected)
                bounds.append(np.nan if none else known.at_most)
            mean, expected, most = np.mean(occurred), np.mean(said), np.mean(bounds)
            what = "no number" if np.isnan(most) else f"bound {most:.2f}"
            cells.append(f"{mean:.2f}, {what if np.isnan(expected) else f'{expected:.2f} [{expected / mean:.2f}]'}")
        print(f"| {n_rows:,}, {n_columns}, {n_levels} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
