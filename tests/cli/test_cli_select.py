"""``blankets select``: what goes where, with which exit code."""

import csv
import json

import numpy as np
import pytest

from blankets.cli._main import run
from blankets.questions.select import select
from blankets.results import Selection


@pytest.fixture
def table(tmp_path):
    """rain -> wet <- sprinkler, and a moon that matters to nobody; only some wet days are known, the rest is blank."""
    rng = np.random.default_rng(5)
    rain, sprinkler, moon = (rng.random((3, 2000)) < [[0.3], [0.4], [0.5]]).astype(int)
    wet = (rng.random(2000) < np.where(rain | sprinkler, 0.8, 0.1)).astype(int)
    grade = wet + rain
    known = np.where((wet == 1) & (rng.random(2000) < 0.5), "yes", "")
    path = tmp_path / "weather.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["rain", "sprinkler", "moon", "wet", "known", "grade"])
        writer.writerows(zip(rain, sprinkler, moon, wet, known, grade, strict=True))
    return str(path)


FEATURES = ["--exclude", "known", "--exclude", "grade"]


def test_prints_the_selection(table, capsys):
    assert run(["select", table, "-t", "wet", "-k", "2", "-c", "mrmr", *FEATURES]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("2 of 3 features for wet, by mrmr = I(X;Y) - Σ I(X;Xj) / |S|")
    assert "sprinkler" in said.out
    assert "moon" not in said.out
    assert said.err == ""


def test_json_is_one_document_and_save_keeps_it(table, tmp_path, capsys):
    saved = tmp_path / "selection.json"
    arguments = ["select", table, "-t", "wet", "-k", "2", *FEATURES, "--json", "--save", str(saved)]
    assert run(arguments) == 0
    content = json.loads(capsys.readouterr().out)
    expected = select(table, "wet", k=2, exclude=["known", "grade"])
    assert content["names"] == list(expected.names)
    assert content["scores"] == pytest.approx(expected.scores)
    assert Selection.load(saved).to_dict() == content


def test_labels_and_prior(table, capsys):
    arguments = ["select", table, "-t", "known", "-k", "2", "--exclude", "wet", "--exclude", "grade"]
    assert run([*arguments, "--labels", "pu", "--prior", "0.5", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert set(content["names"]) == {"rain", "sprinkler"}
    assert content["settings"]["prior"] == "0.5"
    assert run(arguments) == 0
    assert "note: " in capsys.readouterr().err  # "auto" says what it assumed


def test_the_positive_class_is_a_number_where_classes_are(table, capsys):
    arguments = ["select", table, "-t", "grade", "-k", "1", "--exclude", "wet", "--exclude", "known", "--json"]
    assert run([*arguments, "--labels", "supervised", "--positive", "2"]) == 0
    assert json.loads(capsys.readouterr().out)["names"] == ["rain"]


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (["-c", "mrrm"], 2, "unknown criterion 'mrrm'; did you mean 'mrmr'?"),
        (["-k", "9"], 2, "k = 9 features cannot be selected: there are 3"),
        (["--beta", "1"], 2, "'beta' is no weight of 'jmi'"),
        (["--labels", "pu", "--prior", "2"], 2, "'prior' must be"),
        (["--labels", "mcar"], 3, "no row is unlabeled"),
        (["--save", "nowhere/else.json"], 2, "there is no folder 'nowhere'"),
    ],
)
def test_refusals(table, more, code, message, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert run(["select", table, "-t", "wet", "-k", "2", *FEATURES, *more]) == code
    said = capsys.readouterr()
    assert message in said.err
    assert said.out == ""


def test_help_has_examples(capsys):
    assert run(["select", "--help"]) == 0
    assert "Examples:" in capsys.readouterr().out
