"""The protocol of Sechidis & Brown 2015 appendix A (= Sechidis 2015 chapter 8), shared by its figures.

Which state is positive and how ties are broken follows errata G1 and G3; exact numbers of rows are labeled (G5).
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks._data import network
from benchmarks.papers._harness import Cell, Finding, Verdict, ordered
from numpy.typing import NDArray
from scipy.stats import t as student

import blankets as bl
from blankets.data import Frame
from blankets.errors import BlanketsWarning
from blankets.simulate import Network, hide_labels
from blankets.simulate.measures import compare

NETWORKS = ("alarm", "insurance", "barley", "hailfinder")
NEEDS = tuple(f"networks/{name}.bif.gz" for name in NETWORKS)
ALPHA = 0.10

Classes = NDArray[np.int64]


def cells(quick: bool) -> Sequence[Cell]:
    """List one data set each."""
    trials, versions = (3, 5) if quick else (10, 30)
    return [
        {"network": name, "rows": rows, "trial": trial, "versions": versions}
        for name in NETWORKS
        for rows in ((2000,) if quick else (2000, 5000))
        for trial in range(trials)
    ]


def protocol(quick: bool) -> str:
    """Say what the cells are."""
    return (
        f"IAMB, G test with the printed (nominal) degrees of freedom and every test performed, α = {ALPHA}, "
        f"{3 if quick else 10} data sets of {'2000' if quick else '2000 and 5000'} rows, {5 if quick else 30} "
        "labelings of each, of whose blankets the most frequent one counts; means over the targets of a network, "
        "95% intervals over data sets"
    )


@cache
def truth(data: Path | None, name: str) -> Network:
    """Return a network."""
    return network(data / "networks" if data else None, name)


def sampled(known: Network, rows: int, trial: int) -> Frame:
    """Draw the rows of a trial."""
    return known.sample(rows, np.random.default_rng([2015, rows, trial]))


@cache
def targets(known: Network) -> dict[str, float]:
    """Return the targets, each with p(y=1): parent, child and spouse in the blanket, .15 <= p <= .50 in two digits.

    Positive is the first state of the file.
    """
    priors = {node: float(known.marginal(node)[0]) for node in known.names if has_all_roles(known, node)}
    return {node: prior for node, prior in priors.items() if 0.15 <= round(prior, 2) <= 0.50}


def has_all_roles(known: Network, node: str) -> bool:
    """Tell whether there is a parent, a child and a spouse in the blanket."""
    return len(set(known.roles(node).values())) == 3


def classes(frame: Frame, target: str, positive: Sequence[int] = (0,)) -> Classes:
    """Return 1 for rows in a positive state, 0 for the others."""
    return np.isin(frame.column(frame.index(target)), positive).astype(np.int64)


def labelings(y: Classes, positives: int, negatives: int, versions: int, *about: int) -> list[Classes]:
    """Return labels of which all but these numbers of each class are hidden (-1), several times."""
    seeds = [np.random.default_rng([2015, *about, version]) for version in range(versions)]
    shown = [hide_labels(y, "mar-c", count={0: negatives, 1: positives}, rng=rng) for rng in seeds]
    return [np.where(labeled, y, -1) for labeled in shown]


def blanket(frame: Frame, target: str, y: Classes, **how: Any) -> frozenset[str]:
    """Return what IAMB finds with ``y`` in place of the target."""
    return frozenset(searched(frame, target, y, **how).members)


def searched(frame: Frame, target: str, y: Classes, **how: Any) -> bl.Blanket:
    """Return what IAMB finds with ``y`` in place of the target, and how."""
    test = bl.Testing("g", dof=how.pop("dof", "nominal"), reliability=how.pop("reliability", 0.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlanketsWarning)  # columns that are constant among few labeled rows
        return bl.discover(
            frame, y=y, exclude=[target], algorithm="iamb", alpha=ALPHA, test=test, close=False, n_jobs=1, **how
        )


def most_frequent(frame: Frame, target: str, versions: Sequence[Classes], **how: Any) -> frozenset[str]:
    """Return the blanket found most often over labelings of the same rows; of equally frequent ones the first."""
    return Counter(blanket(frame, target, y, **how) for y in versions).most_common(1)[0][0]


def score(known: Network, target: str, prior: float, method: str, found: frozenset[str]) -> dict[str, Any]:
    """Return a row: what was added, what was omitted, and F."""
    agreement = compare(found, known.blanket(target))
    return {
        "target": target,
        "prior": round(prior, 4),
        "method": method,
        "additions": agreement.false_positives,
        "omissions": agreement.false_negatives,
        "f": agreement.f,
    }


def per_trial(rows: pd.DataFrame, measure: str, panel: str = "rows") -> pd.DataFrame:
    """Return means over targets: one row a network, panel of the figure and data set, one column a method."""
    return rows.groupby(["network", panel, "trial", "method"], sort=False)[measure].mean().unstack("method")


def interval(values: Any, together: int = 1) -> tuple[float, float]:
    """Return the mean and half the width of its 95% interval, by Student's t.

    ``together`` intervals hold all at once with at least 95% (Bonferroni).
    """
    numbers = np.asarray(values, float)
    error = numbers.std(ddof=1) / np.sqrt(len(numbers))
    return float(numbers.mean()), float(student.ppf(1 - 0.025 / together, len(numbers) - 1) * error)


def higher(what: str, better: pd.Series, worse: pd.Series, why: str, digits: int = 2) -> Finding:
    """Compare two methods, of which the first is said to be higher, data set by data set.

    A difference within its 95% interval is undecided; ``why`` is for differences that are not above zero.
    """
    mean, half = interval(better - worse)
    said, ours = f"{better.name} above {worse.name}", _both(better, worse, digits)
    return Finding(what, said, ours, ordered(mean, half), "" if mean > 0 else why)


def alike(what: str, one: pd.Series, other: pd.Series, why: str, digits: int = 2) -> Finding:
    """Compare two methods that are said not to differ significantly.

    Agreement is that of paired differences; the paper looks at 95% intervals of each, and whether they overlap.
    """
    mean, half = interval(one - other)
    (mean_one, half_one), (mean_other, half_other) = interval(one), interval(other)
    overlap = abs(mean_one - mean_other) <= half_one + half_other
    verdict: Verdict = "agrees" if abs(mean) <= half else "same ordering" if overlap else "differs"
    why = "" if verdict == "agrees" else f"{'intervals overlap; ' if overlap else ''}{why}"
    return Finding(
        what, f"{one.name} and {other.name} not significantly different", _both(one, other, digits), verdict, why
    )


def _both(one: pd.Series, other: pd.Series, digits: int) -> str:
    values = {one.name: interval(one), other.name: interval(other), "difference": interval(one - other)}
    return ", ".join(f"{name} {mean:.{digits}f} ± {half:.{digits}f}" for name, (mean, half) in values.items())
