"""Labels as they are: level, power, coverage and blankets in each regime of labels, beside the naive way.

    python benchmarks/labels.py size|level|gold|power|promise|coverage|ppi|blankets [--draws N] [--seed N] [--only NAME]

Tables of 2 or 3 levels. Each line is a mechanism; "naive" counts unlabeled rows as negatives (propensity, drivers) or
takes the machine's labels for true (predicted). Wrong labels need no other test, so that they have no naive column.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import chi2, norm

import blankets as bl
from blankets.regimes import Channel, Surrogate
from blankets.simulate import as_columns
from blankets.stats import attained_power, machine_noncentrality, machine_scores, noncentrality, weighted_powers
from blankets.study import independence_tests, open_study

ALPHA = 0.01
ONLY: list[str] = []
FOLDER: list[Path] = []
N_COLUMNS = 50  # features tested in one table; they share the class, the labels and the driver


def columns_of(rng: np.random.Generator, y, driver, strength, tied) -> np.ndarray:
    """Draw features: tied to the driver by a correlation, and to the class by a shift of their first level."""
    score = tied * driver + np.sqrt(1 - tied**2) * rng.normal(size=(N_COLUMNS, len(y)))
    score = score + strength * y
    return np.digitize(score, [0.0, 0.9]).astype(np.int64)


class Mechanism:
    """A way to label: what the user says of it, and the labels."""

    def __init__(self, name: str, tied: float, labels: object, naive: object, hide: Callable, n: int = 2000):
        self.name, self.tied, self.labels, self.naive, self.hide, self.n = name, tied, labels, naive, hide, n


def mechanisms() -> Iterator[Mechanism]:
    """Yield the grid, or some of it."""
    return (mechanism for mechanism in _grid() if not ONLY or ONLY[0] in mechanism.name)


def _grid() -> Iterator[Mechanism]:
    for rho0, rho1 in ((0.1, 0.1), (0.3, 0.0), (0.0, 0.3), (0.3, 0.3)):

        def wrong(rng, y, d, x, rho0=rho0, rho1=rho1):
            return np.where(y == 1, rng.random(len(y)) >= rho1, rng.random(len(y)) < rho0).astype(float), {}

        yield Mechanism(f"noisy {rho0} {rho1}", 0.0, bl.Noisy(rho0, rho1), None, wrong)
    for tied in (0.4, 0.8):

        def by_level(rng, y, d, x):
            rate = np.where(d > 0, 0.8, 0.2)
            return np.where((y == 1) & (rng.random(len(y)) < rate), 1.0, np.nan), {"driver": (d > 0).astype(int)}

        def by_number(rng, y, d, x):
            return np.where((y == 1) & (rng.random(len(y)) < 1 / (1 + np.exp(-1.5 * d))), 1.0, np.nan), {"driver": d}

        driven = bl.PositiveUnlabeled(drivers="driver")
        yield Mechanism(f"driver, 2 levels, r {tied}", tied, driven, "pu", by_level)
        yield Mechanism(f"driver, a number, r {tied}", tied, driven, "pu", by_number)

        def weighed(rng, y, d, x):
            chance = 0.1 + 0.8 / (1 + np.exp(-1.5 * d))
            return np.where((y == 1) & (rng.random(len(y)) < chance), 1.0, np.nan), {"chance": chance}

        known = bl.PositiveUnlabeled(propensity="chance")
        yield Mechanism(f"propensity, r {tied}", tied, known, "pu", weighed)
    for right, worse, share in ((0.9, 0.3, 0.1), (0.8, 0.4, 0.1), (0.9, 0.3, 0.25), (0.95, 0.0, 0.1)):

        def machine(rng, y, d, x, right=right, worse=worse, share=share):
            # Errors depend on the driver, and so on all features that are tied to it.
            error = (1 - right) + worse * ((d > 0) & (y == 1))
            said = np.where(rng.random(len(y)) < error, 1 - y, y)
            return np.where(rng.random(len(y)) < share, y, np.nan), {"said": said}

        about = f"machine {right} right, +{worse} where x, gold {share}"
        yield Mechanism(about, 0.8, bl.Predicted("said"), "machine", machine)


def scanned(mechanism: Mechanism, table: dict, labels: object, level: float) -> tuple[np.ndarray, object]:
    """Return the log p-values of all features, and the study."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with open_study(table, "y", labels=labels, numbers=True) as study:
            tests = independence_tests(study, study.stand_in(), level=level)
            batch = tests.scan([study.index(f"x{j}") for j in range(N_COLUMNS)], study.target)
            return batch, study


def one_table(
    mechanism: Mechanism, rng, strength: float, prior: float = 0.3, *, tied: float | None = None
) -> tuple[dict, dict, np.ndarray]:
    """Draw a table: with what the user has, and with what the naive way has; ``tied`` instead of the mechanism's."""
    y, d = (rng.random(mechanism.n) < prior).astype(int), rng.normal(size=mechanism.n)
    columns = columns_of(rng, y, d, strength, mechanism.tied if tied is None else tied)
    seen, extra = mechanism.hide(rng, y, d, columns)
    features = {f"x{j}": column for j, column in enumerate(columns)}
    naive = {**features, "y": extra["said"] if "said" in extra else seen}
    return {**features, **extra, "y": seen}, naive, y


def size(draws: int, rng: np.random.Generator) -> None:
    """Print the level of tests, as multiples of alpha."""
    print(f"level as multiples of alpha = {ALPHA} (and 0.05), {draws} draws, {N_COLUMNS} share a table; standard error")
    for mechanism in mechanisms():
        p, wrong = [], []
        while len(p) * N_COLUMNS < draws:
            table, naive, _ = one_table(mechanism, rng, 0.0)
            p.append(scanned(mechanism, table, mechanism.labels, ALPHA)[0].log_p)
            if mechanism.naive is not None:
                word = "auto" if mechanism.naive == "machine" else mechanism.naive
                wrong.append(scanned(mechanism, naive, word, ALPHA)[0].log_p)
        p = np.exp(np.array(p))
        told = " ".join(of_tables(p <= alpha, alpha) for alpha in (ALPHA, 0.05))
        bad = f"naive {np.mean(np.concatenate(wrong) <= np.log(ALPHA)) / ALPHA:6.1f}" if wrong else ""
        print(f"  {mechanism.name:42} {told}   {bad}", flush=True)


def of_tables(rejected: np.ndarray, alpha: float) -> str:
    """Return a level as a multiple of alpha and its standard error: features of one table (row) are not independent."""
    each = rejected.mean(axis=1) / alpha
    return f"{each.mean():5.2f} ({each.std(ddof=1) / np.sqrt(len(each)):.2f})"


def level(draws: int, rng: np.random.Generator) -> None:
    """Print the level of tests with machine labels; each draw is a table of its own, with one feature."""
    print(f"level as multiples of alpha = {ALPHA} and 0.05, {draws} independent draws; standard error")
    for mechanism in mechanisms():
        if "machine" not in mechanism.name:
            continue
        joint, share = joint_of(mechanism, rng)
        sums = sums_from(rng, draws, round(share * mechanism.n), joint, round(1 / share))
        statistic = GOLD.fitted(np.moveaxis(sums, 0, 1)).statistic
        p = np.ones(draws)
        for k in np.flatnonzero(statistic > 0.5 * chi2.isf(0.05, 2)):  # others are far from both levels
            p[k] = np.exp(GOLD.test(sums[k])[2])
        told = " ".join(of_tables((p <= alpha)[:, np.newaxis], alpha) for alpha in (ALPHA, 0.05))
        print(f"  {mechanism.name:42} {told}", flush=True)


def joint_of(mechanism: Mechanism, rng: np.random.Generator, n: int = 4_000_000) -> tuple[np.ndarray, float]:
    """Return p(y, what the machine says, x) of a feature without effect, from many rows, and the share of gold rows."""
    y, d = (rng.random(n) < 0.3).astype(int), rng.normal(size=n)
    x = np.digitize(mechanism.tied * d + np.sqrt(1 - mechanism.tied**2) * rng.normal(size=n), [0.0, 0.9])
    seen, extra = mechanism.hide(rng, y, d, x)
    joint = np.bincount((y * 2 + extra["said"]) * 3 + x, minlength=12).reshape(2, 2, 3) / n
    return joint, float(round(np.mean(~np.isnan(seen)), 2))


def gold(draws: int, rng: np.random.Generator) -> None:
    """Print the level of tests with few gold labels: the least, mean and largest over priors, levels and machines."""
    machines = (
        (0.8, 0.2),
        (0.9, 0.0),
        (0.9, 0.3),
        (0.97, 0.0),
    )  # right, and more often wrong where x is high and y = 1
    print(f"level as multiples of alpha = 0.01 and 0.05, {draws} draws a cell of the grid: least, mean, largest")
    for n_gold in (30, 46, 100, 200, 500):
        for levels in (2, 3, 5, 8):
            if n_gold < 5 * (levels - 1):
                continue  # such a test is not performed
            found = []
            for shape in ("even", "rare"):
                share = np.maximum(0.5 ** np.arange(levels), 0.04) if shape == "rare" else np.ones(levels)
                for prior in (0.1, 0.3, 0.5):
                    for right, worse in machines:
                        error = np.where(np.arange(levels) >= levels / 2, worse, 0.0)
                        sums = machine_sums(rng, draws, n_gold, share / share.sum(), prior, right, error)
                        p = np.array([np.exp(GOLD.test(table)[2]) for table in sums])
                        found.append([np.mean(p <= 0.01) / 0.01, np.mean(p <= 0.05) / 0.05])
            told = " | ".join(f"{c.min():5.2f} {c.mean():5.2f} {c.max():5.2f}" for c in np.array(found).T)
            print(f"  {n_gold:3} gold labels, {levels} levels: {told}", flush=True)


def machine_sums(rng, draws, n_gold, share, prior, right, worse, n_each=20) -> np.ndarray:
    """Draw the sums behind tests of a feature without effect: (draws, sums, 1, levels); a machine labels all rows."""
    wrong = np.stack([np.full(len(share), 1 - right), 1 - right + worse])  # of negatives, of positives
    said = np.stack([1 - wrong[0], wrong[0]]), np.stack([wrong[1], 1 - wrong[1]])
    joint = np.array([(1 - prior) * said[0], prior * said[1]]) * share  # (y, said, x)
    return sums_from(rng, draws, n_gold, joint, n_each)


def sums_from(rng, draws, n_gold, joint, n_each=20) -> np.ndarray:
    """Draw such sums from p(y, what the machine says, x)."""
    seen, rest = (
        rng.multinomial(n, joint.ravel(), draws).reshape(draws, *joint.shape).astype(float)
        for n in (n_gold, (n_each - 1) * n_gold)
    )
    every, f = seen + rest, seen[:, :, 1].sum(axis=1)
    f_all = every[:, :, 1].sum(axis=1)
    parts = [every.sum(axis=(1, 2)), seen.sum(axis=(1, 2)), seen[:, 1].sum(axis=1), f, f, seen[:, 1, 1], f_all, f_all]
    return np.stack(parts, axis=1)[:, :, np.newaxis]


GOLD = machine_scores(np.array([0, 1], np.int16), np.array([0.0, 1.0]))  # only what it does with sums is used


def truth(strength: float, prior: float = 0.3) -> float:
    """Return I(X;Y) of a feature that is tied to nothing else, exactly."""
    cuts = np.array([-np.inf, 0.0, 0.9, np.inf])
    p = np.stack([(1 - prior) * np.diff(norm.cdf(cuts)), prior * np.diff(norm.cdf(cuts - strength))])
    return float((p * np.log(p / np.outer(p.sum(axis=1), p.sum(axis=0)))).sum())


def power(draws: int, rng: np.random.Generator) -> None:
    """Print the power of tests and what κ promises; where it is known."""
    strength = 0.25
    effect = truth(strength)
    print(f"power at alpha = {ALPHA} for {effect:.4f} nats, {draws} draws")
    for mechanism in mechanisms():
        if "driver" in mechanism.name:
            continue  # κ is not known
        found, promised = [], []
        while len(found) * N_COLUMNS < draws:
            table, _, _ = one_table(mechanism, rng, strength, tied=0.0)  # κ is for features unrelated to labeling
            batch, study = scanned(mechanism, table, mechanism.labels, ALPHA)
            found.append(batch.log_p <= np.log(ALPHA))
            scores = study.labels.scores
            if "propensity" in mechanism.name:  # of the shapes that are the hardest and the easiest to find
                sums = scores.sums(table["x0"], np.zeros(mechanism.n, np.int64), np.ones(mechanism.n, bool))
                promised.append(weighted_powers(scores.merged(sums), effect, ALPHA))
                continue
            kappa = study.regime.kappa(study.labels).value if scores is None else scores.kappa(2.0, effect)
            promised.append(attained_power(noncentrality(effect, mechanism.n, kappa), 2, ALPHA))
        told = " to ".join(f"{each:.3f}" for each in np.ravel(np.mean(promised, axis=0)))
        print(f"  {mechanism.name:42} {np.mean(found):.3f} promised {told}", flush=True)


def promise(draws: int, rng: np.random.Generator) -> None:
    """Print the power with few gold labels and a machine, and what `plan` promises, at an effect for a power of 0.8."""
    print(f"power of tests at alpha = {ALPHA}, {draws} draws, what plan promises and draws (and κ of weak effects)")
    for n_gold in (50, 100, 200, 500):
        for right, prior, levels in product((0.8, 0.9, 0.95), (0.1, 0.3, 0.5), (2, 3, 5)):
            rho2 = float(Channel.noisy(1 - right, 1 - right).kappa(Surrogate.FULL, prior))
            n = 20 * n_gold
            of_many = 0.05 / (1 - 0.95 * rho2)
            shift = np.outer([-1, 1], np.linspace(1, -1, levels)) * prior * (1 - prior) / levels
            none = np.outer([1 - prior, prior], np.full(levels, 1 / levels))
            at = [none + s * shift for s in np.linspace(0.01, 0.99 / max(prior, 1 - prior), 200)]
            nats = np.array([(p * np.log(p / none)).sum() for p in at])  # margins stay
            k = int(np.searchsorted(attained_power(noncentrality(nats, n, of_many), levels - 1, ALPHA), 0.8))
            if k == len(at):
                continue  # no effect is large enough
            said = np.array([[right, 1 - right], [1 - right, right]])
            sums = sums_from(rng, draws, n_gold, at[k][:, np.newaxis] * said[:, :, np.newaxis])
            found = np.mean([GOLD.test(table)[2] <= np.log(ALPHA) for table in sums])
            labels = bl.Predicted(accuracy=right, prior=prior)
            told = bl.plan(effect=float(nats[k]), alpha=ALPHA, dof=levels - 1, rows=n, labeled=n_gold, labels=labels)
            plain = float(attained_power(noncentrality(nats[k], n, of_many), levels - 1, ALPHA))
            about = f"{n_gold:3} gold, {right:4} right, p(y=1) {prior}, {levels} levels"
            print(
                f"  {about}: {found:.3f}, promised {told.power:.3f}, drawn {told.drawn_power:.3f} ({plain:.3f})",
                flush=True,
            )


def coverage(draws: int, rng: np.random.Generator) -> None:
    """Print how often 90% intervals hold the truth, in regimes that can estimate."""
    for strength in (0.0, 0.15, 0.4):
        effect = truth(strength) if strength else 0.0
        wanted = 0.9 if effect else 0.95  # nothing lies below 0: methods (4.15)
        print(f"coverage of 90% intervals, {effect:.4f} nats, {draws} draws; it is to be {wanted}")
        for mechanism in mechanisms():
            if "driver" in mechanism.name:
                continue  # not estimated
            inside, n = [], 0
            while n < draws:
                table, _, _ = one_table(mechanism, rng, strength, tied=0.0)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    ranking = bl.rank(table, "y", labels=mechanism.labels)
                    low, high = ranking.intervals(0.9) if hasattr(ranking, "intervals") else ranking._law.interval(0.9)
                inside.append((low <= effect) & (effect <= high))
                n += len(low)
            print(f"  {mechanism.name:42} {np.mean(np.concatenate(inside)):.3f}", flush=True)


def ppi(draws: int, rng: np.random.Generator) -> None:
    """Print gold labels for the same power, and widths of intervals, over accuracy and share of gold."""
    n, prior, strength = 4000, 0.3, 0.3
    print(f"share of gold labels that a machine saves for the same power (by κ; power seen), {draws} draws a cell")
    for accuracy in (float(ONLY[0]),) if ONLY and ONLY[0] else (0.5, 0.7, 0.8, 0.9, 0.95):
        line = []
        for share in (0.05, 0.1, 0.25, 0.5):
            with_, alone, wide = [], [], []
            n_gold = int(share * n)
            some = np.arange(1, n_gold + 1)  # gold labels with the machine, for the power of n_gold alone
            effect, says = truth(strength), [[accuracy, 1 - accuracy], [1 - accuracy, accuracy]]
            kept = machine_noncentrality(effect, prior, some, n, 2, says)
            fewer = min(int(np.searchsorted(kept, noncentrality(effect, n_gold))) + 1, n_gold) / n_gold
            for _ in range(max(draws // N_COLUMNS, 1)):
                y = (rng.random(n) < prior).astype(int)
                said = np.where(rng.random(n) < accuracy, y, 1 - y)
                columns = columns_of(rng, y, rng.normal(size=n), strength, 0.0)
                table = {f"x{j}": column for j, column in enumerate(columns)}
                mine = {**table, "said": said, "y": np.where(np.arange(n) < round(fewer * n_gold), y, np.nan)}
                gold = {**table, "y": np.where(np.arange(n) < n_gold, y, np.nan)}
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    both = bl.rank({**gold, "said": said}, "y", labels=bl.Predicted("said"))
                    one = bl.rank(gold, "y", labels="mcar")
                    a = scanned(None, mine, bl.Predicted("said"), ALPHA)[0]
                    b = scanned(None, gold, "mcar", ALPHA)[0]
                order = {name: i for i, name in enumerate(one.names)}
                low, high = both._law.interval(0.9)
                low1, high1 = (end[[order[name] for name in both.names]] for end in one._law.interval(0.9))
                wide.append(np.mean(high - low) / np.mean(high1 - low1))
                with_.append(np.mean(a.log_p <= np.log(ALPHA)))
                alone.append(np.mean(b.log_p <= np.log(ALPHA)))
            told = f"{1 - fewer:4.0%} saved, power {np.mean(with_):.2f} / {np.mean(alone):.2f}"
            told += f", width {np.mean(wide):.2f}"
            line.append(told)
        print(f"  right {accuracy:4}: " + " | ".join(line), flush=True)


def blankets(draws: int, rng: np.random.Generator) -> None:
    """Print F1 of blankets where labeling depends on another column: plain Ỹ0, and given that column.

    Beside it what others would have: the members that the plain way finds, less those that are false ("no false"), as
    many labels at random, and all labels.
    """
    from _data import network

    for name in ("alarm", "insurance", "hailfinder"):
        one = network(FOLDER[0] if FOLDER else None, name)
        table = as_columns(one.sample(5000, rng))
        found: dict[str, list[float]] = {way: [] for way in ("plain", "driven", "no false", "at random", "all")}
        # Of a target with more than two levels, one is the positive class: what matters for it is in the same blanket.
        some = [node for node in table if len(np.unique(table[node])) <= 4 and len(one.blanket(node)) > 1]
        for target in rng.permutation(some)[:draws]:
            members = set(one.blanket(target))
            others = [node for node in table if node not in members and node != target]
            driver = max(others, key=lambda node: len(one.blanket(node)))
            y = table[target] == max(np.unique(table[target]), key=lambda v: -abs(np.mean(table[target] == v) - 0.3))
            levels = np.unique(table[driver], return_inverse=True)[1]
            chance = 0.1 + 0.8 * levels / max(levels.max(), 1)
            seen = np.where(y & (rng.random(len(y)) < chance), 1.0, np.nan)
            if np.nansum(seen) < 50:
                continue
            some_at_random = np.full(len(y), np.nan)
            some_at_random[rng.choice(np.flatnonzero(y), int(np.nansum(seen)), replace=False)] = 1.0
            ways = {
                "plain": (seen, "pu"),
                "driven": (seen, bl.PositiveUnlabeled(drivers=driver)),
                "at random": (some_at_random, "pu"),
                "all": (y.astype(int), "auto"),
            }
            for way, (column, labels) in ways.items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    got = set(bl.discover({**table, target: column}, target, labels=labels).members)
                found[way].append(2 * len(got & members) / max(len(got) + len(members), 1))
                if way == "plain":
                    found["no false"].append(2 * len(got & members) / (len(got & members) + len(members)))
        told = ", ".join(f"{way} {np.mean(values):.3f}" for way, values in found.items())
        gain = np.subtract(found["driven"], found["plain"])
        told += f"; gain {gain.mean():.3f} ± {gain.std() / np.sqrt(len(gain)):.3f}"
        print(f"  {name:12} mean F1 of {len(found['plain'])} blankets: {told}", flush=True)


COMMANDS = {
    "size": size,
    "level": level,
    "gold": gold,
    "power": power,
    "promise": promise,
    "coverage": coverage,
    "ppi": ppi,
    "blankets": blankets,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=COMMANDS)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--networks", type=Path, help="folder with alarm.bif, insurance.bif and hailfinder.bif")
    parser.add_argument("--only", default="", help="mechanisms whose name contains this; ppi: one accuracy")
    given = parser.parse_args()
    ONLY.append(given.only)
    FOLDER.extend([given.networks] if given.networks else [])
    COMMANDS[given.what](given.draws, np.random.default_rng(given.seed))
