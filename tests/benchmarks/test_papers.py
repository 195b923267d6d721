"""The first cell of each experiment of the papers runs, on small tables in place of the data sets.

That algorithms are the published ones is checked where a paper prints an answer that closing would change.
"""

import gzip
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import random_array, save_npz

from blankets.simulate import random_dag, random_network

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks.papers._harness import KEPT, Experiment, experiments, ordered

# Numbers of repetitions of a cell, and what they become here.
FEWER = {
    **{"runs": 20, "repeats": 20, "draws": 200, "generations": 20, "at_independence": 20, "restarts": 2},
    **{"repetitions": 1, "versions": 2, "latents": 2},
}
THROMBIN = 139_351
KNOWN = experiments()


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Return a folder with small tables under the names of the data sets."""
    folder, rng = tmp_path_factory.mktemp("data"), np.random.default_rng(0)
    for part in ("networks", "classification", "highdim", "mmhc_samples"):
        (folder / part).mkdir()
    for k, name in enumerate(("alarm", "insurance", "barley", "hailfinder", "pigs")):
        network = random_network(random_dag(20, rng=k, mean_degree=4), rng=k, strength=0.02)
        (folder / "networks" / f"{name}.bif.gz").write_bytes(gzip.compress(network.to_bif().encode()))
    needed = {file for experiment in KNOWN.values() for file in experiment.needs}
    for file in sorted(needed | {"highdim/thrombin_train_y.csv.gz"}):
        if file.startswith("classification") or "prostate" in file:
            y = rng.integers(0, 2, 120)
            table = {f"v{j}": np.round(rng.normal(size=120) + y * (j < 3), 1) for j in range(12)}
            pd.DataFrame({**table, "target": np.where(y == 1, "a", "b")}).to_csv(folder / file, index=False)
        elif file.endswith("_y.csv.gz"):
            pd.DataFrame({"target": ["A", "I"] * 30}).to_csv(folder / file, index=False)
        elif file.endswith(".npz"):
            save_npz(folder / file, random_array((60, THROMBIN), density=1e-3, format="csr", rng=rng).astype(bool))
        elif file.startswith("mmhc"):
            pd.DataFrame({"from": ["a"], "to": ["b"]}).to_csv(folder / file, index=False)
    return folder


@pytest.mark.filterwarnings("ignore::blankets.errors.BlanketsWarning")
@pytest.mark.parametrize("experiment", KNOWN.values(), ids=KNOWN)
def test_the_first_cell_runs(experiment, data):
    assert not experiment.missing(data)
    assert experiment.cells(False)
    cell = {
        name: min(value, FEWER[name]) if name in FEWER else value for name, value in experiment.cells(True)[0].items()
    }
    rows = pd.DataFrame(experiment.run(data, **cell))
    assert len(rows)
    assert experiment.protocol(True)
    assert {*experiment.words} <= {*rows.columns, *cell}


def test_the_page_has_a_section_for_each_experiment_and_no_other():
    assert {path.stem for path in KEPT.glob("*.json")} == set(KNOWN)
    page = (KEPT.parent / "reproduction.md").read_text("utf-8")
    assert all(f"({name})=" in page for name in KNOWN)
    size = sum(path.stat().st_size for path in KEPT.iterdir())
    assert size < 2e6


def test_planning_numbers_are_those_printed():
    """Tables 7.1 to 7.4: the only experiment whose full protocol takes a second; it differs in Figure 7.1b alone."""
    experiment = KNOWN["thesis-ch7"]
    assert isinstance(experiment, Experiment)
    rows = [{**cell, **row} for cell in experiment.cells(False) for row in experiment.run(None, **cell)]
    verdicts = {finding.what: finding.verdict for finding in experiment.compare(pd.DataFrame(rows))}
    differs = [what for what, verdict in verdicts.items() if verdict == "differs"]
    assert len(verdicts) > 40
    assert len(differs) <= 1


def test_an_ordering_within_its_interval_is_undecided():
    assert [ordered(d, 0.2) for d in (0.3, 0.1, -0.1, -0.3)] == ["agrees", "undecided", "undecided", "differs"]
