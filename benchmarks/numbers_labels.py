"""Numbers with partial labels: size of conditional tests, power under positive-unlabeled labels, and κ.

    python benchmarks/numbers_labels.py                 # about ten minutes
    python benchmarks/numbers_labels.py --draws 300     # a look

Each row has three given numbers z, a class with about 30% positives that depends on them, and a number x, which is a
function of z (linear, or squares with variances that move) and noise. Size: the class depends on z alone. Power: its
log odds have 0.6 x too, or 0.6 (x² - 1); x is then standard normal, whatever z ("alone"), or as for size and brought to
deviation 1 ("confounded"), where less than half of its variance is its own. Labels: 10% of the positives ("pu"), 20% of
all rows ("mcar"), 30% of positives and 5% of negatives ("mar-c"), or with a chance that depends on the first z
("mar-f"). κ: how far the mean statistic is from that of independence, with these labels and with all labels, beside the
κ that the regime gives.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

import blankets as bl

ROWS = 5000
LEVELS = (0.01, 0.05)
GIVEN = ["z0", "z1", "z2"]
Table = dict[str, NDArray[Any]]


def drawn(form: str, effect: str, rng: np.random.Generator) -> Table:
    """Return z, x and the class."""
    z = (rng.normal(size=(3, ROWS)) + 0.5 * rng.normal(size=ROWS)) / math.sqrt(1.25)
    part = (z**2 - 1) / 1.4 + 0.3 * z if form == "curved" else z
    scale = np.exp(0.4 * np.clip(z[0], -2.5, 2.5)) if form == "curved" else 1.0
    x = (form != "alone") * 0.6 * part.sum(axis=0) + scale * rng.normal(size=ROWS)
    x = (x - x.mean()) / x.std()
    more = {"": 0.0, "linear": 0.6 * x, "square": 0.6 * (x**2 - 1)}[effect]
    y = rng.random(ROWS) < 1 / (1 + np.exp(1.1 - 0.7 * part.sum(axis=0) - more))
    return {**{f"z{j}": v for j, v in enumerate(z)}, "x": x, "y": y.astype(float)}


def labeled(table: Table, regime: str, rng: np.random.Generator) -> Table:
    """Return the table with labels hidden as the regime has it."""
    y, n = table["y"], ROWS
    chance = {
        "pu": np.where(y == 1, 0.1, 0.0),
        "mcar": np.full(n, 0.2),
        "mar-c": np.where(y == 1, 0.3, 0.05),
        "mar-f": 0.4 / (1 + np.exp(-table["z0"])),
        "supervised": np.ones(n),
    }[regime]
    return {**table, "y": np.where(rng.random(n) < chance, y, np.nan)}


def asked(table: Table, regime: str, given: list[str]) -> Any:
    """Return the test of x and y."""
    prior = 0.33 if regime in ("pu", "mar-c") else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bl.test(table, "x", "y", given, labels=regime, prior=prior, n_jobs=1)


def main() -> None:
    """Print a line for each regime and form."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--regimes", nargs="+", default=["pu", "mcar", "mar-c", "mar-f"])
    parser.add_argument("--only", choices=["size", "power", "kappa"])
    choice = parser.parse_args()
    began = time.process_time()
    for regime in choice.regimes:
        for k, (form, effect) in enumerate(
            [("linear", ""), ("curved", ""), *((f, e) for f in ("alone", "confounded") for e in ("linear", "square"))]
        ):
            if (effect and regime != "pu") or choice.only not in (None, "power" if effect else "size"):
                continue
            rng = np.random.default_rng([choice.seed, k, len(regime)])
            tables = (labeled(drawn(form, effect, rng), regime, rng) for _ in range(choice.draws))
            p = np.array([asked(table, regime, GIVEN).p for table in tables])
            shares = "  ".join(f"{(p <= level).mean():.4f} at {level}" for level in LEVELS)
            what = f"power, {effect}, {form}" if effect else f"size, {form}"
            print(f"{regime:6} {what:26} {shares}  ({choice.draws} draws)", flush=True)
    if choice.only in (None, "kappa"):
        for regime in (r for r in choice.regimes if r != "mar-f"):
            rng = np.random.default_rng([choice.seed, 9])
            kept, whole, kappas = [], [], []
            for _ in range(max(choice.draws // 5, 20)):
                table = drawn("linear", "linear", rng)
                full, part = asked(table, "supervised", []), asked(labeled(table, regime, rng), regime, [])
                kept.append(part.statistic - part.dof)
                whole.append(full.statistic - full.dof)
                kappas.append(part.kappa)
            print(f"{regime:6} kappa by statistics {np.mean(kept) / np.mean(whole):.3f}, told {np.mean(kappas):.3f}")
    print(f"{time.process_time() - began:.0f} s of CPU time")


if __name__ == "__main__":
    main()
