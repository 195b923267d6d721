"""What the scripts on Peña et al. 2005 Table 4 share: printed values, networks, public samples, scores of answers."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from benchmarks._data import network

import blankets as bl
from blankets.errors import BlanketsWarning
from blankets.simulate import Network
from blankets.simulate.measures import average, compare

ALPHA = 0.01
MEASURES = ("precision", "recall", "distance")

# (network, rows, algorithm): mean and standard deviation over ten databases of the measures, as printed
PRINTED = {
    ("alarm", 100, "inter-iamb"): ((0.85, 0.06), (0.46, 0.03), (0.54, 0.06)),
    ("alarm", 100, "pcmb"): ((0.79, 0.04), (0.49, 0.05), (0.51, 0.04)),
    ("alarm", 200, "inter-iamb"): ((0.87, 0.04), (0.59, 0.04), (0.42, 0.04)),
    ("alarm", 200, "pcmb"): ((0.94, 0.03), (0.56, 0.05), (0.38, 0.06)),
    ("alarm", 500, "inter-iamb"): ((0.91, 0.03), (0.73, 0.03), (0.30, 0.04)),
    ("alarm", 500, "pcmb"): ((0.94, 0.01), (0.72, 0.04), (0.25, 0.04)),
    ("alarm", 1000, "inter-iamb"): ((0.93, 0.03), (0.80, 0.01), (0.22, 0.02)),
    ("alarm", 1000, "pcmb"): ((0.99, 0.01), (0.79, 0.01), (0.17, 0.02)),
    ("alarm", 2000, "inter-iamb"): ((0.92, 0.04), (0.83, 0.01), (0.21, 0.04)),
    ("alarm", 2000, "pcmb"): ((1.00, 0.00), (0.83, 0.02), (0.14, 0.02)),
    ("alarm", 5000, "inter-iamb"): ((0.92, 0.02), (0.86, 0.01), (0.18, 0.02)),
    ("alarm", 5000, "pcmb"): ((1.00, 0.00), (0.86, 0.02), (0.11, 0.02)),
    ("alarm", 10000, "inter-iamb"): ((0.92, 0.04), (0.90, 0.01), (0.14, 0.03)),
    ("alarm", 10000, "pcmb"): ((1.00, 0.00), (0.91, 0.02), (0.07, 0.02)),
    ("alarm", 20000, "inter-iamb"): ((0.94, 0.00), (0.92, 0.00), (0.10, 0.00)),
    ("alarm", 20000, "pcmb"): ((1.00, 0.00), (0.92, 0.00), (0.05, 0.00)),
    ("pigs", 100, "inter-iamb"): ((0.82, 0.01), (0.59, 0.01), (0.48, 0.02)),
    ("pigs", 100, "pcmb"): ((0.83, 0.01), (0.81, 0.02), (0.29, 0.02)),
    ("pigs", 200, "inter-iamb"): ((0.80, 0.00), (0.82, 0.00), (0.37, 0.00)),
    ("pigs", 200, "pcmb"): ((0.97, 0.01), (0.96, 0.01), (0.07, 0.01)),
    ("pigs", 500, "inter-iamb"): ((0.82, 0.00), (0.84, 0.00), (0.34, 0.00)),
    ("pigs", 500, "pcmb"): ((0.98, 0.00), (1.00, 0.00), (0.02, 0.00)),
}
ALGORITHMS = ("inter-iamb", "pcmb")


@cache
def network_of(data: Path | None, name: str) -> Network:
    """Return a network by name."""
    return network(data / "networks" if data else None, name)


@cache
def public(data: Path | None, rows: int) -> pd.DataFrame:
    """Return the public samples of one size."""
    return pd.read_csv((data or Path()) / "mmhc_samples" / f"alarm1_s{rows}.csv.gz", dtype=str)


def scores(frame: Any, blankets: Mapping[str, set[str]], dof: str, reliability: float) -> list[dict[str, Any]]:
    """Find all blankets with both algorithms, and compare them with the true ones."""
    found = []
    how = {"alpha": ALPHA, "test": bl.Testing("g", dof=dof, reliability=reliability), "close": False}
    for algorithm in ALGORITHMS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BlanketsWarning)  # constant columns and too few rows: part of the protocol
            answers = bl.discover_all(frame, algorithm=algorithm, **how).blankets
        mean = average(
            compare(answers[name].members if name in answers else (), blanket) for name, blanket in blankets.items()
        )
        found.append(
            {
                "algorithm": algorithm,
                "precision": mean.precision_non_empty,
                "recall": mean.recall,
                "distance": mean.distance_non_empty,
                "empty": mean.n_empty,
            }
        )
    return found
