"""Two tables with several rows for each subject: recordings of voices (Parkinson's), conformations of molecules (musk).

    python benchmarks/subjects.py --data DIR [--draws 10] [--no-folds] [--only parkinsons]

Reads parkinsons.csv.gz with parkinsons_subjects.csv.gz, and musk2.csv.gz with musk2_molecule_ids.csv.gz: features,
`target`, and beside them one column that says whose row it is (UCI; the Python package mil has musk2). Prints the
members that are found if rows count as independent draws and with groups=, how many are found on average after the
labels have been dealt to the subjects anew (none is right), and the accuracy of a logistic regression on the members,
selected anew in each of five folds, if folds are made of rows and if they are made of subjects.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler

import blankets as bl
from blankets.errors import BlanketsWarning

TABLES = {"parkinsons": "parkinsons_subjects", "musk2": "musk2_molecule_ids"}


def members(table: pd.DataFrame, groups: np.ndarray | None) -> list[str]:
    """Return the members of the target."""
    return list(bl.discover(table, "target", groups=groups, n_jobs=1).members)


def dealt(target: pd.Series, subjects: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return labels that were dealt to the subjects anew."""
    of_subject = target.groupby(subjects).first()
    return pd.Series(rng.permutation(of_subject.to_numpy()), of_subject.index)[subjects].to_numpy()


def accuracy(table: pd.DataFrame, subjects: np.ndarray, *, by_subject: bool, grouped: bool) -> float:
    """Return the accuracy in five folds; members are found without the rows that are predicted."""
    splitter = (StratifiedGroupKFold if by_subject else StratifiedKFold)(5, shuffle=True, random_state=0)
    right, target = [], table["target"].to_numpy()
    for train, test in splitter.split(table, target, subjects):
        found = members(table.iloc[train].reset_index(drop=True), subjects[train] if grouped else None)
        if not found:
            right.append(DummyClassifier().fit(target[train], target[train]).score(target[test], target[test]))
            continue
        scaler = StandardScaler().fit(table[found].iloc[train])
        model = LogisticRegression(max_iter=2000, class_weight="balanced")
        model.fit(scaler.transform(table[found].iloc[train]), target[train])
        right.append(model.score(scaler.transform(table[found].iloc[test]), target[test]))
    return float(np.mean(right))


def study(name: str, directory: Path, draws: int, *, folds: bool) -> None:
    """Print all figures of one table."""
    table = pd.read_csv(directory / f"{name}.csv.gz")
    subjects = pd.factorize(pd.read_csv(directory / f"{TABLES[name]}.csv.gz").iloc[:, -1])[0]
    usual = table["target"].value_counts(normalize=True).max()
    print(f"{name}: {len(table)} rows of {subjects.max() + 1} subjects, the most frequent class {usual:.2f}")
    for words, groups in (("rows as independent draws", None), ("groups=subjects", subjects)):
        began = time.process_time()
        found = members(table, groups)
        seconds = time.process_time() - began
        rng = np.random.default_rng(0)
        by_chance = [
            len(members(table.assign(target=dealt(table["target"], subjects, rng)), groups)) for _ in range(draws)
        ]
        told = [np.nan, np.nan]
        if folds:
            told = [accuracy(table, subjects, by_subject=by, grouped=groups is not None) for by in (False, True)]
        print(f"  {words}: {len(found)} members ({', '.join(found[:8])}), {seconds:.1f} s of the processor")
        print(f"    labels dealt anew: {np.mean(by_chance):.1f} members on average of {draws} draws")
        print(f"    accuracy, folds of rows {told[0]:.2f}, folds of subjects {told[1]:.2f}", flush=True)


def main() -> None:
    """Run both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the four files")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--no-folds", action="store_true", help="leave out the accuracy, which takes longest")
    parser.add_argument("--only", choices=TABLES)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", BlanketsWarning)
    for name in [asked.only] if asked.only else TABLES:
        study(name, asked.data, asked.draws, folds=not asked.no_folds)


if __name__ == "__main__":
    main()
