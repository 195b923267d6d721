"""Power of tests with known propensities, beside what `test` promises: the least and the greatest over shapes.

    python benchmarks/propensities.py [--settings 12] [--draws 8000] [--seed 0] [--jobs 1]

Settings are drawn before anything is seen: 2 to 5 levels of any frequencies, any shares of positives, 600 to 6,000
rows, 80 to 1,000 labels, propensities that are unrelated to x. Tables in which a rare level is merged are left out:
they test another effect. The promise is the mean of that of ten tables, each of which knows the frequencies and not
the shares.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from blankets.stats import attained_power, noncentrality, weighted_powers, weighted_scores

ALPHA, TOLD = 0.01, 10
Floats = NDArray[np.float64]


class Setting(NamedTuple):
    """What tables are drawn from."""

    rows: int
    frequencies: Floats
    shares: Floats  # of positives, in each level
    lowest: float  # propensity

    def propensities(self, rng: np.random.Generator, n: int) -> Floats:
        """Return propensities of n rows."""
        return np.asarray(self.lowest + (1.0 - self.lowest) * rng.random(n) ** 2)

    @property
    def effect(self) -> float:
        """Information in nats."""
        q, p = self.shares, float(self.frequencies @ self.shares)
        return float(self.frequencies @ (q * np.log(q / p) + (1.0 - q) * np.log((1.0 - q) / (1.0 - p))))


def setting(rng: np.random.Generator) -> Setting:
    """Draw a setting in which the test can find something, and does not always."""
    while True:
        levels, rows = int(rng.integers(2, 6)), int(np.exp(rng.uniform(np.log(600), np.log(6000))))
        p, frequencies, lowest = rng.uniform(0.08, 0.5), rng.dirichlet(np.full(levels, 3.0)), rng.uniform(0.05, 0.5)
        shape = rng.normal(size=levels)
        shape -= frequencies @ shape
        shares = p + rng.uniform(0.02, 0.5) * p * shape / np.sqrt(frequencies @ shape**2)
        drawn = Setting(rows, frequencies, shares, lowest)
        chance = drawn.propensities(rng, 4000)
        labels = rows * p * chance.mean()
        if not (shares.min() > 0.002 and shares.max() < 0.95 and 80 < labels < 1000):
            continue
        kappa = (1.0 - p) / ((1.0 / chance).mean() - p)
        power = float(attained_power(noncentrality(drawn.effect, rows, kappa), levels - 1, ALPHA))
        if frequencies.min() * labels > 12 and 0.3 < power < 0.93:
            return drawn


def simulated(seed: tuple[int, int], draws: int) -> dict[str, Any]:
    """Return the power that is seen and promised in one setting."""
    rng = np.random.default_rng(seed)
    chosen, hits, told = setting(rng), [], []
    levels, n = len(chosen.shares), chosen.rows
    for _ in range(draws):
        x, chance = rng.choice(levels, n, p=chosen.frequencies), chosen.propensities(rng, n)
        scores = weighted_scores((rng.random(n) < chosen.shares[x]) & (rng.random(n) < chance), chance)
        sums = scores.sums(x, np.zeros(n, np.int64), np.ones(n, bool))
        _, dof, log_p = scores.test(sums)
        if dof == levels - 1:
            hits.append(log_p <= np.log(ALPHA))
            if len(told) < TOLD:
                told.append(weighted_powers(scores.merged(sums), chosen.effect, ALPHA))
    power = float(np.mean(hits))
    least, greatest = np.mean(told, axis=0)
    error = float(np.hypot(np.sqrt(power * (1 - power) / len(hits)), np.std(told, axis=0).max() / np.sqrt(len(told))))
    about = f"{n} rows, levels {chosen.frequencies.round(2)}, shares {chosen.shares.round(2)}"
    outside = min(power - least, 0.0) + max(power - greatest, 0.0)
    return {"about": about, "power": power, "promised": (least, greatest), "outside": outside, "error": error}


def main() -> None:
    """Print a line for each setting."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--settings", type=int, default=12)
    parser.add_argument("--draws", type=int, default=8000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    choice = parser.parse_args()
    seeds, more = [(choice.seed, i) for i in range(choice.settings)], []
    with ProcessPoolExecutor(choice.jobs) as pool:
        for one in pool.map(simulated, seeds, [choice.draws] * len(seeds)):
            more.append(one["outside"])
            least, greatest = one["promised"]
            told = f"power {one['power']:.3f}, promised {least:.3f} to {greatest:.3f}"
            told += f", outside by {more[-1]:+.3f} ({one['error']:.3f})"
            print(f"  {told}: {one['about']}", flush=True)
    print(f"outside of what was promised: {min(more):+.3f} to {max(more):+.3f}")


if __name__ == "__main__":
    main()
