"""``blankets simulate --hide``: rows of which some have no label."""

import csv

import numpy as np
import pytest
from click.testing import CliRunner

from blankets.cli._simulate import simulate
from blankets.simulate import Network

ROWS = 4000


@pytest.fixture(scope="module")
def bif(tmp_path_factory):
    path = tmp_path_factory.mktemp("bif") / "two.bif"
    levels = {"ward": ("a", "b"), "ill": ("no", "yes")}
    Network(levels, {"ill": ("ward",)}, {"ward": [0.5, 0.5], "ill": [[0.9, 0.1], [0.5, 0.5]]}).to_bif(path)
    return str(path)


def drawn(bif, *how):
    ran = CliRunner().invoke(simulate, [bif, "-n", str(ROWS), "--seed", "3", *how])
    assert ran.exit_code == 0, ran.output
    rows = list(csv.DictReader(ran.output.splitlines()))
    return np.array([row["ward"] for row in rows]), np.array([row["ill"] for row in rows])


def share(rows):
    """Return a share and four of its standard errors."""
    p = float(np.mean(rows))
    return p, 4 * np.sqrt(p * (1 - p) / len(rows))


def test_labels_are_kept_at_the_rates_said(bif):
    ward, truth = drawn(bif)
    for how, rates in (
        ("mcar:0.1", {("a", "no"): 0.1, ("a", "yes"): 0.1, ("b", "no"): 0.1, ("b", "yes"): 0.1}),
        ("pu:yes=0.4", {("a", "no"): 0.0, ("a", "yes"): 0.4, ("b", "no"): 0.0, ("b", "yes"): 0.4}),
        ("mar-c:yes=0.6,no=0.2", {("a", "no"): 0.2, ("a", "yes"): 0.6, ("b", "no"): 0.2, ("b", "yes"): 0.6}),
        ("mar-f:ward:a=0.3,b=0.7", {("a", "no"): 0.3, ("a", "yes"): 0.3, ("b", "no"): 0.7, ("b", "yes"): 0.7}),
    ):
        again, ill = drawn(bif, "--target", "ill", "--hide", how)
        assert np.array_equal(again, ward)
        assert np.array_equal(ill[ill != ""], truth[ill != ""])
        for (where, class_), rate in rates.items():
            found, within = share(ill[(ward == where) & (truth == class_)] != "")
            assert abs(found - rate) <= within


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (["--hide", "mcar:0.1"], "--hide and --target go together"),
        (["--target", "ill", "--hide", "mcar:often"], "holds no rates such as 0.1"),
        (["--target", "il", "--hide", "mcar:0.1"], "there is no column 'il'; did you mean 'ill'"),
        (["--target", "ill", "--hide", "mnar:0.1"], "mechanism"),
    ],
)
def test_refusals(bif, how, message):
    ran = CliRunner().invoke(simulate, [bif, "-n", "50", *how])
    assert ran.exit_code != 0
    assert message in ran.output + str(ran.exception)


def test_parquet_has_gaps_too(bif, tmp_path):
    from pyarrow import parquet

    path = tmp_path / "some.parquet"
    ran = CliRunner().invoke(simulate, [bif, "-n", "500", "--target", "ill", "--hide", "mcar:0.5", "-o", str(path)])
    assert ran.exit_code == 0, ran.output
    table = parquet.read_table(path)
    assert 150 < table["ill"].null_count < 350
    assert table["ward"].null_count == 0
