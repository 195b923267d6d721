"""Coverage of 90% intervals of information, in every regime of labels, over levels, rows and effects.

    python benchmarks/coverage.py [--draws 1000] [--all]

Prints, for each regime, how many cells of the grid are between 0.87 and 0.93, those below, and the worst. The grid: 2
to 10 levels, 200 to 5,000 rows, effects from 0.005 to 0.2 nats, three shapes of the table (seeds); a class of 35%.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit

from blankets.stats import (
    InformationEstimate,
    mar_f_information,
    mcar_information,
    neg_information,
    plug_in,
    pos_information,
    ss_information,
)

Floats = NDArray[np.float64]

LEVELS, ROWS, EFFECTS = (2, 3, 5, 8, 10), (200, 500, 1000, 2000, 5000), (0.005, 0.02, 0.05, 0.1, 0.2)
PRIOR, LOW, HIGH = 0.35, 0.87, 0.93
_STRONGEST = 6.0  # log odds a unit of the tilt
Regime = tuple[Callable[[Floats], Floats], Callable[[Floats], InformationEstimate]]


def joint(n_levels: int, effect: float, rng: np.random.Generator) -> Floats:
    """Return p(y, x), shape (2, levels), with p(y=1) = `PRIOR` and this information."""
    px = rng.dirichlet(np.full(n_levels, 5.0))
    tilt = rng.normal(size=n_levels)

    def tilted(strength: float) -> Floats:
        at = brentq(lambda b: px @ _logistic(b + strength * tilt) - PRIOR, -60, 60)
        p1 = _logistic(at + strength * tilt)
        return np.stack([px * (1 - p1), px * p1])

    if information(tilted(_STRONGEST)) < effect:  # this shape cannot share as much
        return joint(n_levels, effect, rng)
    return tilted(brentq(lambda s: information(tilted(s)) - effect, 0.0, _STRONGEST))


def _logistic(x: Floats) -> Floats:
    return np.asarray(expit(x))


def information(q: Floats) -> float:
    """Return the information of a joint distribution."""
    return float((q * np.log(q / np.outer(q.sum(axis=1), q.sum(axis=0)))).sum())


def _shares(by_class: tuple[float, float] | None = None) -> Callable[[Floats], Floats]:
    """Return p(labeled | y, x): by class, or rising with x from 0.2 to 0.7."""
    return lambda q: (
        np.broadcast_to(np.linspace(0.2, 0.7, q.shape[1]), q.shape)
        if by_class is None
        else np.broadcast_to(np.array(by_class)[:, None], q.shape)
    )


REGIMES: dict[str, Regime] = {
    "supervised": (_shares((1.0, 1.0)), lambda t: plug_in(t[..., :2, :])),
    "mcar": (_shares((0.4, 0.4)), mcar_information),
    "mar-f": (_shares(), mar_f_information),
    "mar-c, ss": (_shares((0.25, 0.5)), lambda t: ss_information(t, PRIOR)),
    "mar-c, pos": (_shares((0.25, 0.5)), lambda t: pos_information(t, PRIOR)),
    "mar-c, neg": (_shares((0.25, 0.5)), lambda t: neg_information(t, PRIOR)),
    "pu": (_shares((0.0, 0.3)), lambda t: pos_information(t, PRIOR)),
}


def cells(regime: Regime, seeds: int, draws: int) -> Iterator[tuple[int, int, float, int, float, float]]:
    """Yield levels, rows, effect, seed, coverage and median width of the intervals of one cell."""
    labeled, estimate = regime
    for n_levels in LEVELS:
        for effect in EFFECTS:
            for seed in range(seeds):
                rng = np.random.default_rng([seed, n_levels, int(1000 * effect)])
                q = joint(n_levels, effect, rng)
                share = labeled(q)
                p = np.concatenate([q * share, (q * (1 - share)).sum(axis=0, keepdims=True)])
                for n_rows in ROWS:
                    tables = rng.multinomial(n_rows, p.ravel(), draws).reshape(draws, 1, 3, n_levels)
                    low, high = estimate(tables.astype(float)).interval(0.9)
                    held = float(((low <= effect) & (effect <= high)).mean())
                    yield n_levels, n_rows, effect, seed, held, float(np.nanmedian(high - low))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=list(REGIMES))
    parser.add_argument("--all", action="store_true", help="print the mean over shapes of every cell")
    options = parser.parse_args()
    print("| regime | within | below 0.87 | above 0.93 | lowest (levels, rows, effect) | mean |\n|" + " --- |" * 6)
    for name in options.only:
        found = list(cells(REGIMES[name], options.seeds, options.draws))
        held = np.array([cell[4] for cell in found])
        noise = 2 * np.sqrt(0.9 * 0.1 / options.draws)  # of the coverage of one cell
        low, high = (held < LOW - noise).mean(), (held > HIGH + noise).mean()
        at = int(held.argmin())
        words = f"{held[at]:.3f} ({found[at][0]}, {found[at][1]:,}, {found[at][2]:g})"
        print(f"| {name} | {1 - low - high:.0%} | {low:.0%} | {high:.0%} | {words} | {held.mean():.3f} |", flush=True)
        for n_levels in LEVELS if options.all else ():
            for n_rows in ROWS:
                by = [[c[4] for c in found if c[:3] == (n_levels, n_rows, e)] for e in EFFECTS]
                print(f"    {n_levels:2d} {n_rows:5d}  " + " ".join(f"{np.mean(values):.2f}" for values in by))
    return 0


if __name__ == "__main__":
    sys.exit(main())
