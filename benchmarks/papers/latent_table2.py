"""Gao & Ji 2016 Table 2: latent blankets as features for a linear SVM, against mRMR and the observed blanket of SLL.

Half of the rows train, half test. LMB-CSEM takes 20 random subspaces of ⌈√d⌉ columns, 80 restarts, and one latent
each; the blankets with a latent are the features: observed members as indicators, latents as states and probabilities
(computed without the label, which the paper's P(H | T, MB) would leak). mRMR selects as many features as there are
latents. Numbers are split into five intervals of equal width by the training rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.papers._harness import Cell, Experiment, Finding, Verdict, mean_and_error, near, ordered, plus_minus
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

import blankets as bl
from blankets.data import Reading, ingest
from blankets.errors import BlanketsWarning

SETS = {
    "congress": "congress",
    "heart": "heart_statlog",
    "krvskp": "krvskp",
    "breast": "breast_wdbc",
    "parkinsons": "parkinsons",
}
ARMS = ("mRMR", "SLL", "LMB-CSEM")
PRINTED = {  # mRMR, SLL, LMB-CSEM, in percent
    "congress": (6.4, 7.3, 5.9),
    "heart": (16.5, 18.1, 14.3),
    "krvskp": (24.1, 11.3, 9.4),
    "breast": (5.3, 6.0, 4.2),
    "parkinsons": (19.4, 25.5, 18.4),
}
FEW = (1, 2, 3, 5, 10)  # mRMR with fewer features
PROTOCOL = {"latents": 20, "criterion": "error", "discretize": "equal-width", "bins": 5, "restarts": 80}
FEWER = {**PROTOCOL, "restarts": 20}
VARIANTS = {
    "the paper's": PROTOCOL,
    "20 restarts": FEWER,
    "place by BIC": {**FEWER, "criterion": "bic"},
    "60 latents": {**FEWER, "latents": 60},
    "3 intervals": {**FEWER, "bins": 3},
    "10 intervals": {**FEWER, "bins": 10},
    "SLL otherwise": {**FEWER, "latents": 0},
}


def cells(quick: bool) -> Sequence[Cell]:
    """List one split each: data set, variant, seed."""
    n_splits = {"20 restarts": 3} if quick else {name: 5 if name == "the paper's" else 2 for name in VARIANTS}
    return [
        {"set": name, "variant": variant, "split": split, **VARIANTS[variant]}
        for variant, n in n_splits.items()
        for name in SETS
        for split in range(n)
    ]


def run(
    data: Path | None,
    set: str,
    variant: str,
    split: int,
    latents: int,
    criterion: str,
    discretize: str,
    bins: int,
    restarts: int,
) -> list[dict[str, Any]]:
    """Train and test all arms on one split."""
    table = pd.read_csv(Path(data or ".") / "classification" / f"{SETS[set]}.csv.gz", keep_default_na=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlanketsWarning)  # few rows, constant columns, new levels: part of the protocol
        train, test = train_test_split(table, test_size=0.5, stratify=table["target"], random_state=split)
        effort = {"n_subspaces": latents, "n_restarts": restarts, "criterion": criterion, "random_state": split}
        arms = _arms(
            train, test, effort, {"discretize": discretize, "n_bins": bins}, few=latents == PROTOCOL["latents"]
        )
        labels = train["target"].to_numpy(), test["target"].to_numpy()
        return [{"arm": arm, "error": 100 * _error(*pair, *labels)} for arm, pair in arms.items()]


def _arms(
    train: pd.DataFrame, test: pd.DataFrame, effort: dict[str, Any], reading: dict[str, Any], *, few: bool
) -> dict[str, list[NDArray[Any]]]:
    """Return the features of training and test rows, as numbers, for every arm."""
    x = [rows.drop(columns="target") for rows in (train, test)]
    every = list(x[0].columns)
    encoder = ingest(train, "target", reading=Reading(keep=every, **reading)).encoder
    coded = [encoder.transform(rows) for rows in (train, test)]
    n_levels = {name: len(levels) for name, levels in zip(encoder.names, encoder.levels, strict=True)}

    def indicators(names: Sequence[str]) -> list[NDArray[Any]]:
        return [
            np.column_stack(
                [np.zeros(frame.n_rows)]
                + [frame.column(frame.index(name)) == level for name in names for level in range(n_levels[name])]
            )
            for frame in coded
        ]

    def blanket(**how: Any) -> list[NDArray[Any]]:
        options = {"max_parents": 3, **how}
        return indicators(
            bl.discover(train, "target", algorithm="sll", options=options, close=False, **reading).members
        )

    if effort["n_subspaces"] == 0:
        return {"SLL, BDeu": blanket(score="bdeu"), "SLL, 2 parents": blanket(max_parents=2)}
    most = min(PROTOCOL["latents"], len(every))
    ranked = bl.select(train, "target", criterion="mrmr", k=most, keep=every, **reading).names
    seen = blanket()
    transformer = bl.LatentBlanketTransformer(members=True, n_jobs=1, **effort, **reading)
    found = [transformer.fit(x[0], train["target"]).transform(rows) for rows in x]
    latents = [rows[:, : 2 * len(transformer.features_)] for rows in found]
    arms = {
        "mRMR": indicators(ranked),
        "SLL": seen,
        "LMB-CSEM": found,
        "latents alone": latents,
        "SLL and latents": [np.column_stack(pair) for pair in zip(seen, latents, strict=True)],
        "all columns": indicators(every),
    }
    return arms | ({f"mRMR, {k} features": indicators(ranked[:k]) for k in FEW} if few else {})


def _error(train: NDArray[Any], test: NDArray[Any], y_train: NDArray[Any], y_test: NDArray[Any]) -> float:
    return float(np.mean(SVC(kernel="linear").fit(train, y_train).predict(test) != y_test))


def compare_with_print(rows: pd.DataFrame) -> list[Finding]:
    """Compare each printed error, the means, and what the paper draws from them."""
    own = rows[rows.variant == rows.variant.iloc[0]]
    findings = [_one(rows, name, arm) for name in PRINTED for arm in ARMS]
    means = own.groupby(["arm", "split"]).error.mean()
    for k, arm in enumerate(ARMS):
        printed = float(np.mean([values[k] for values in PRINTED.values()]))
        ours = means[arm]
        ordered = means["LMB-CSEM"].mean() < min(means["mRMR"].mean(), means["SLL"].mean())
        verdict: Verdict = "agrees" if near(printed, ours, digits=1) else "same ordering" if ordered else "differs"
        why = "" if verdict != "differs" else _without_chess(own) if arm == "mRMR" else _by_variant(rows)
        findings.append(
            Finding(f"mean, {arm}: error, %", f"{printed:.1f} (mean of the rows)", plus_minus(ours, 1), verdict, why)
        )
    return [*findings, *_statements(rows, own, means)]


def _one(rows: pd.DataFrame, name: str, arm: str) -> Finding:
    """Compare one printed number, which comes from one split: our spread over splits is its error too."""
    printed = PRINTED[name][ARMS.index(arm)]
    here = rows[rows["set"] == name]
    ours = here[(here.variant == here.variant.iloc[0]) & (here.arm == arm)].error
    mean, error = mean_and_error(ours)
    slack = 2 * error * np.sqrt(len(ours) + 1) + 0.05
    same = abs(mean - printed) <= slack
    others = pd.concat(
        [
            here[here.arm == arm].groupby("variant").error.mean(),
            here[here.arm.str.startswith(f"{arm},")].groupby("arm").error.mean(),
        ]
    )
    nearest = (others - printed).abs().idxmin()
    why = (
        "the paper leaves open how numbers are split, how SLL scores and how many features mRMR has; nearest to it of "
        f"what was tried here: {nearest}, {others[nearest]:.1f}"
    )
    verdict: Verdict = "agrees" if same else "differs"
    return Finding(f"{name}, {arm}: error, %", f"{printed}", plus_minus(ours, 1), verdict, "" if same else why)


def _by_variant(rows: pd.DataFrame) -> str:
    """Say the means of all arms in all variants."""
    means = rows[rows.arm.isin([*ARMS, "latents alone", "SLL and latents"])].groupby(["variant", "arm"]).error.mean()
    said = []
    for variant in means.index.unique(0):
        arms = ", ".join(f"{arm} {error:.1f}" for arm, error in means[variant].items())
        said.append(f"{variant}: {arms}")
    return "; ".join(said)


def _without_chess(own: pd.DataFrame) -> str:
    """Say what the printed mean of mRMR rests on."""
    by_set = own.groupby(["set", "arm"]).error.mean().unstack()
    two = by_set.loc["krvskp", "mRMR, 2 features"]
    then = by_set["mRMR"].mean() + (two - by_set.loc["krvskp", "mRMR"]) / len(by_set)
    below = then - by_set["LMB-CSEM"].mean()
    return (
        f"the printed mean rests on the 24.1 of krvskp, which two features give ({two:.1f}); with two features there, "
        f"the mean of mRMR is {then:.1f}, and latent blankets are {below:.1f} points below it"
    )


def _statements(rows: pd.DataFrame, own: pd.DataFrame, means: pd.Series) -> list[Finding]:
    """Check what the paper concludes."""
    by_set = own.groupby(["set", "arm"]).error.mean().unstack()
    better = [name for name in PRINTED if by_set.loc[name, "LMB-CSEM"] < by_set.loc[name, "SLL"]]
    others = [name for name in PRINTED if name not in better]
    gain, over_mrmr = means["SLL"] - means["LMB-CSEM"], means["mRMR"] - means["LMB-CSEM"]
    beside = means["SLL"] - means["SLL and latents"]
    few = f"not in {', '.join(others)}, where the blanket of SLL leaves little to gain; the means: {_by_variant(rows)}"
    return [
        _gain("latent blankets below the observed blanket of SLL, on average", 3.2, gain, _by_variant(rows)),
        _gain("latent blankets below mRMR, on average", 3.9, over_mrmr, _without_chess(own)),
        Finding(
            "latent blankets below the observed blanket of SLL",
            "in all five sets",
            f"in {len(better)}: {', '.join(better)}",
            "differs" if others else "agrees",
            few if others else "",
        ),
        Finding(
            "the blanket of SLL and latents together, against the blanket alone",
            "“latent variables can complement the observed feature set”",
            f"{plus_minus(beside, 1)} points below",
            "agrees" if beside.mean() > 0 else "differs",
            "" if beside.mean() > 0 else _by_variant(rows),
        ),
    ]


def _gain(what: str, printed: float, ours: pd.Series, why: str) -> Finding:
    mean, error = mean_and_error(ours)
    verdict = "agrees" if near(printed, ours, digits=1) else ordered(mean, 2 * error, holds="same ordering")
    said = f"{printed} points (of the rows)"
    return Finding(what, said, f"{plus_minus(ours, 1)} points", verdict, "" if verdict == "agrees" else why)


EXPERIMENTS = (
    Experiment(
        name="latent-table2",
        title="latent blankets as features on five sets",
        source="Gao & Ji 2016 Table 2",
        minutes=(3, 0.5),
        cells=cells,
        run=run,
        compare=compare_with_print,
        protocol=lambda quick: (
            f"{3 if quick else 5} half/half splits (variants: 2, with 20 restarts), linear SVM (C = 1), five "
            f"intervals of equal width, 20 latents, {20 if quick else 80} restarts, the latent's place by training "
            "error; a printed number, from one split, agrees if it is within two standard deviations of our splits"
        ),
        needs=tuple(f"classification/{name}.csv.gz" for name in SETS.values()),
        remark=(
            "Errata H1 is confirmed: the printed means are not those of the printed rows, which are used here. The "
            "printed 24.1% of mRMR on krvskp, which makes most of the gain over mRMR, is what two features give; with "
            "as many as there are latents it is far lower. The printed 25.5% of SLL on parkinsons is about what an "
            "empty blanket gives: 24.6% of the rows are of the smaller class."
        ),
    ),
)
