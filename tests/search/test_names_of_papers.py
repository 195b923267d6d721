"""Algorithms and regimes are found under the names that papers write."""

import pytest

import blankets as bl
from blankets.search import find

TABLE = {"a": [0, 1] * 40, "b": [0, 1, 1, 1] * 20, "y": [0, 1, 0, 1, 1, 1, 0, 0] * 10}


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("IAMB", "iamb"),
        ("interIAMB", "inter-iamb"),
        ("Inter-IAMB", "inter-iamb"),
        ("IAMBnPC", "iamb-n-pc"),
        ("interIAMBnPC", "inter-iamb-n-pc"),
        ("HITON", "hiton-mb"),
        ("HITON_PC", "hiton-pc"),
        ("grow-shrink", "gs"),
        ("Grow Shrink", "gs"),
        ("Koller-Sahami", "ks"),
        ("PCMB", "pcmb"),
    ],
)
def test_names_of_algorithms(written, name):
    assert find(written).name == name


def test_sll_is_found_in_capitals():
    assert bl.discover(TABLE, "y", algorithm="SLL").algorithm == "sll"


@pytest.mark.parametrize("written", ["PU", "Pu", "positive unlabeled", "SCAR"])
def test_names_of_regimes(written):
    labels = {**TABLE, "y": [1 if y else None for y in TABLE["y"]]}
    assert bl.test(labels, "a", "y", labels=written).surrogate == "y0"
    assert bl.kappa(labels=written, prior=0.2, labeled=0.05) == bl.kappa(labels="pu", prior=0.2, labeled=0.05)
