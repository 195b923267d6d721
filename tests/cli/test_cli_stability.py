"""``blankets stability`` and ``blankets sensitivity``."""

import json

import numpy as np
import pytest

import blankets as bl
from blankets.cli._main import run
from blankets.results import Stability


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A fully labeled file, and one in which the ill come forward more often."""
    rng = np.random.default_rng(0)
    ill = (rng.random(1200) < 0.3).astype(int)
    cough, moon = ill ^ (rng.random(1200) < 0.2), rng.integers(0, 2, 1200)
    seen = rng.random(1200) < np.where(ill == 1, 0.6, 0.2)
    folder = tmp_path_factory.mktemp("tables")
    paths = []
    for name, labels in (("full", ill.astype(str)), ("partial", np.where(seen, ill.astype(str), ""))):
        rows = [f"{c},{m},{i}" for c, m, i in zip(cough, moon, labels, strict=True)]
        path = folder / f"{name}.csv"
        path.write_text("\n".join(["cough,moon,ill", *rows]) + "\n")
        paths.append(str(path))
    return paths


def test_stability_prints_frequencies(files, capsys):
    full, _ = files
    assert run(["stability", full, "-t", "ill", "--draws", "6", "--seed", "1", "--algorithm", "iamb"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Stability of the Markov blanket of ill over 6 subsamples of 50% of the rows\n")
    assert any(line.split()[:2] == ["cough", "100%"] for line in out.splitlines())


def test_stability_as_json_and_saved(files, tmp_path, capsys):
    full, partial = files
    saved = tmp_path / "found.json"
    arguments = ["-t", "ill", "-n", "4", "--method", "pairs", "--seed", "1", "--json", "--save", str(saved)]
    assert run(["stability", full, *arguments]) == 0
    found = Stability.from_json(capsys.readouterr().out)
    assert found["cough"] == 1.0
    assert Stability.from_json(saved.read_text()) == found
    expected = bl.stability(full, "ill", n_resamples=4, method="pairs", rng=1)
    assert dict(found) == dict(expected)
    assert run(["stability", partial, "-t", "ill", "-n", "2", "--labels", "mar-c", "--prior", "0.3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["settings"]["labels"] == "mar-c"
    assert run(["stability", full, "-t", "ill", "--save", str(tmp_path / "no" / "where.json")]) == 2
    assert "there is no folder" in capsys.readouterr().err


def test_sensitivity_prints_ranges(files, capsys):
    _, partial = files
    assert run(["sensitivity", partial, "-t", "ill", "--labels", "mar-c", "--prior", "0.2-0.5", "--at", "0.3"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Markov blanket of ill as a function of p(y=1): 1 answer\n")
    assert "At p(y=1) = 0.3: each row counts as " in out
    assert run(["sensitivity", partial, "-t", "ill", "--labels", "mar-c", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["ranges"][0]["members"] == ["cough"]


def test_sensitivity_of_a_fully_labeled_column_is_refused(files, capsys):
    assert run(["sensitivity", files[0], "-t", "ill"]) == 3
    assert "every row is labeled" in capsys.readouterr().err


def test_conditioning_on_what_drives_labeling_can_be_left_out(tmp_path, capsys):
    rng = np.random.default_rng(0)
    ward, ill = rng.integers(0, 2, (2, 2000))
    seen = np.where(rng.random(2000) < np.where(ward == 1, 0.8, 0.2), ill.astype(str), "")
    path = tmp_path / "wards.csv"
    path.write_text("\n".join(["ward,ill", *(f"{w},{i}" for w, i in zip(ward, seen, strict=True))]) + "\n")
    arguments = ["discover", str(path), "-t", "ill", "--labels", "mar-f", "--json"]
    assert run(arguments) == 0
    assert json.loads(capsys.readouterr().out)["settings"]["drivers"] == ["ward"]
    assert run([*arguments, "--no-given-drivers"]) == 0
    assert "drivers" not in json.loads(capsys.readouterr().out)["settings"]
