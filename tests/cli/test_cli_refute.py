"""``blankets refute``: a saved blanket, its table, and what is left of the blanket."""

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

import blankets as bl
from blankets.cli._main import run

N = 800


def written(path, labels, **columns):
    rows = zip(*columns.values(), labels, strict=True)
    path.write_text("\n".join([",".join([*columns, "ill"]), *(",".join(map(str, row)) for row in rows)]) + "\n")
    return str(path)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A table and a result, fully labeled and with some of the ill known only."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("tables")
    ill = (rng.random(N) < 0.4).astype(int)
    columns = {"cough": ill ^ (rng.random(N) < 0.2), "moon": rng.integers(0, 2, N)}
    known = np.where((ill == 1) & (rng.random(N) < 0.6), "1", "")
    full = written(folder / "full.csv", ill, **columns)
    partial = written(folder / "partial.csv", known, **columns)
    saved = [str(folder / name) for name in ("full.json", "partial.json")]
    assert run(["discover", full, "-t", "ill", "--save", saved[0], "-q"]) == 0
    arguments = ["--labels", "pu", "--prior", "0.4", "--positive", "1"]
    assert run(["discover", partial, "-t", "ill", *arguments, "--save", saved[1], "-q"]) == 0
    return full, saved[0], partial, saved[1]


@pytest.fixture(autouse=True)
def _without_a_learned_prediction(monkeypatch):
    """It takes seconds, and has tests of its own."""
    monkeypatch.setattr("blankets.questions.refute.second_opinion", lambda *_: None)


def test_a_blanket_that_stands(files, tmp_path, capsys):
    full, saved, _, _ = files
    assert run(["refute", saved, full, "-n", "3", "--seed", "1", "--save", str(tmp_path / "tried.json")]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Attempts to refute the blanket of ill: it stands, 4 passed, 3 not asked\n")
    assert "3 draws each" in out
    tried = bl.refute(bl.Blanket.load(saved), full, n_resamples=3, rng=1)
    assert json.loads((tmp_path / "tried.json").read_text())["trials"] == [asdict(trial) for trial in tried]


def test_as_json_where_labels_are_missing(files, capsys):
    _, _, partial, saved = files
    assert run(["refute", saved, partial, "--draws", "2", "--seed", "1", "--json", "-q"]) == 0
    content = json.loads(capsys.readouterr().out)
    verdicts = {trial["name"]: trial["verdict"] for trial in content["trials"]}
    assert content["stands"] is True
    assert verdicts["same data"] == verdicts["priors"] == verdicts["fewer labels"] == "passed"
    assert content["call"]["seed"] == 1


def test_what_the_call_no_longer_knows_can_be_said_again(files, tmp_path, capsys):
    """The prior was an object that is gone."""
    _, _, partial, saved = files
    content = json.loads(Path(saved).read_text())
    content["call"]["options"]["prior"] = {"not kept": "rv_frozen"}
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(content))
    arguments = ["refute", str(changed), partial, "-n", "1", "--seed", "1"]
    assert run(arguments) == 2
    assert "'prior' was not kept with the call; give it again, as --prior..." in capsys.readouterr().err
    assert run([*arguments, "--json", "--prior", "0.4"]) == 0
    assert json.loads(capsys.readouterr().out)["trials"][0]["verdict"] == "passed"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["{saved}", "{partial}"], 3, "these are not the data of the blanket of 'ill'"),
        (["{full}", "{full}"], 3, "this is not a saved result"),
        (["{saved}"], 2, "Missing argument 'FILE'"),
        (["{saved}", "{full}", "--draws", "0"], 2, "'n_resamples' must be a whole number, at least 1"),
        (["{saved}", "{full}", "--save", "no/where.json"], 2, "there is no folder 'no'"),
    ],
)
def test_refusals(files, arguments, code, message, capsys):
    names = dict(zip(("full", "saved", "partial"), files, strict=False))
    assert run(["refute", *(argument.format(**names) for argument in arguments)]) == code
    assert message in " ".join(capsys.readouterr().err.split())
