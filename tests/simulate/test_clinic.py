"""The example data: made by its script, and its answer can be found without our own tests and algorithms."""

from __future__ import annotations

import csv
import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy.special import xlogy
from scipy.stats import chi2

EXAMPLES = Path(__file__).parents[2] / "examples"
ANSWER = {"heart_failure", "follow_up", "case_review", "bill_disputed", "insurance"}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_clinic", EXAMPLES / "make_clinic.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def codes() -> dict[str, np.ndarray]:
    """Codes of the file's columns; numbers in 12 bins of equal width (Sturges)."""
    with (EXAMPLES / "clinic.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns = {}
    for name in rows[0]:
        values = np.array([row[name] for row in rows])
        if name in ("age", "days_in_hospital"):
            numbers = values.astype(float)
            values = np.digitize(numbers, np.linspace(numbers.min(), numbers.max(), 13)[1:-1])
        columns[name] = np.unique(values, return_inverse=True)[1]
    return columns


def log_p(codes: dict[str, np.ndarray], x: str, given: list[str]) -> float:
    """Return the log p-value of the G test of x and readmitted given a set, dof adjusted for what is seen."""
    stratum = np.zeros(len(codes[x]), int)
    for z in given:
        stratum = np.unique(stratum * 100 + codes[z], return_inverse=True)[1]
    counts = np.zeros((stratum.max() + 1, codes[x].max() + 1, 2))
    np.add.at(counts, (stratum, codes[x], codes["readmitted"]), 1)
    by_x, by_y = counts.sum(axis=2, keepdims=True), counts.sum(axis=1, keepdims=True)
    n = counts.sum(axis=(1, 2), keepdims=True)
    g = 2 * (xlogy(counts, counts) - xlogy(counts, by_x * by_y / n)).sum()
    dof = ((by_x > 0).sum(axis=(1, 2)) - 1) @ ((by_y > 0).sum(axis=(1, 2)) - 1)
    nominal = codes[x].max() * np.prod([codes[z].max() + 1 for z in given])
    return chi2.logsf(g, dof) if dof and len(stratum) >= 5 * nominal else 0.0


@pytest.mark.parametrize("alpha", [0.05, 0.01, 0.001])
def test_a_plain_iamb_finds_the_answer(codes, alpha):
    blanket: list[str] = []
    while outside := [x for x in codes if x not in blanket and x != "readmitted"]:
        strengths = {x: log_p(codes, x, blanket) for x in outside}
        best = min(strengths, key=strengths.get)
        if strengths[best] > np.log(alpha):
            break
        blanket.append(best)
    for x in tuple(blanket):
        if log_p(codes, x, [z for z in blanket if z != x]) > np.log(alpha):
            blanket.remove(x)
    assert set(blanket) == ANSWER


def test_the_answer_is_that_of_the_network(script):
    network = script.clinic()
    assert network.blanket("readmitted") == ANSWER
    assert network.roles("readmitted") == {
        "heart_failure": "parent",
        "follow_up": "parent",
        "insurance": "spouse",
        "case_review": "child",
        "bill_disputed": "child",
    }
    assert network.vacuous_edges() == []
    assert network.information("insurance", "readmitted") < 1e-12
    for x in sorted(ANSWER):
        assert network.information(x, "readmitted", sorted(ANSWER - {x})) > 0.01
    for x in sorted(set(network.names) - ANSWER - {"readmitted"}):
        assert network.information(x, "readmitted", sorted(ANSWER)) < 1e-12


def test_the_readme_and_the_docstring_name_the_answer(script):
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    for name in ANSWER:
        assert f"| `{name}` |" in readme
        assert f"``{name}``" in script.__doc__


def test_the_file_is_what_the_script_writes(script, tmp_path):
    script.write(tmp_path / "clinic.csv")
    assert (tmp_path / "clinic.csv").read_bytes() == (EXAMPLES / "clinic.csv").read_bytes()


def test_the_file_is_plain(codes):
    assert all(len(column) == 2000 for column in codes.values())
    assert len(codes) == 16
    assert list(codes)[-1] == "readmitted"
    text = (EXAMPLES / "clinic.csv").read_text(encoding="utf-8")
    assert ",," not in text  # no missing values
    assert '"surgery, general"' in text  # quoted where needed
