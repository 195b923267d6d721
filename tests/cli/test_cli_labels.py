"""``blankets test``, ``rank`` and ``advise``, and the label options that commands share."""

import csv
import json

import numpy as np
import pytest

import blankets as bl
from blankets.cli._main import run


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Patients; smokers are known for some rows: by lot ("drawn"), if they admit it ("admits"), as -1 and 9."""
    rng = np.random.default_rng(5)
    n = 2000
    smoker = rng.random(n) < 0.3
    cough = (rng.random(n) < np.where(smoker, 0.7, 0.2)).astype(int)
    age = rng.integers(0, 3, n)
    coin = rng.integers(0, 2, n)
    u = rng.random(n)
    known = np.where(smoker & (u < 0.5), "1", "")
    drawn = np.where(u < 0.4, np.where(smoker, "yes", "no"), "")
    marked = np.where(u < 0.4, smoker.astype(int), 9)
    path = tmp_path_factory.mktemp("data") / "patients.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["cough", "age", "coin", "admits", "drawn", "marked"])
        writer.writerows(zip(cough, age, coin, known, drawn, marked, strict=True))
    return str(path)


def others(*used):
    return [word for name in ("admits", "drawn", "marked") if name not in used for word in ("--exclude", name)]


def output(arguments, capsys):
    assert run(arguments) == 0
    return capsys.readouterr()


def test_the_table_of_tests(table, capsys):
    arguments = ["test", table, "cough", "coin", "-t", "admits", "--labels", "pu", "--prior", "0.3", *others("admits")]
    said = output(arguments, capsys)
    lines = said.out.splitlines()
    assert lines[0].split()[:4] == ["column", "G", "dof", "p"]
    result = bl.test(table, "cough", "admits", labels="pu", prior=0.3, exclude=["drawn", "marked"])
    assert lines[1].split()[:3] == ["cough", f"{result.statistic:.3g}", "1"]
    assert " yes " in lines[1]
    assert " no " in lines[2]
    assert "The test counts unlabeled rows as negatives: " in said.out
    assert said.err == ""


def test_json_of_tests(table, capsys):
    arguments = ["test", table, "cough", "coin", "-t", "drawn", "--given", "age", "--labels", "mcar", "--test", "x2"]
    content = json.loads(output([*arguments, *others("drawn"), "--json"], capsys).out)
    for item, x in zip(content, ("cough", "coin"), strict=True):
        expected = bl.test(table, x, "drawn", ["age"], labels="mcar", test="x2", exclude=["admits", "marked"])
        assert item["statistic"] == pytest.approx(expected.statistic)
        assert (item["x"], item["given"], item["surrogate"]) == (x, ["age"], "listwise")


def test_a_forced_surrogate(table, capsys):
    arguments = ["test", table, "cough", "-t", "drawn", "--labels", "mar-f", "--surrogate", "y0", *others("drawn")]
    assert run(arguments) == 3
    assert "is not valid here" in capsys.readouterr().err
    assert "by a test that is not valid here" in output([*arguments, "--force"], capsys).out


def test_ranking(table, capsys):
    arguments = ["rank", table, "-t", "admits", "--labels", "pu", "--prior", "0.3", *others("admits")]
    said = output(arguments, capsys).out
    assert said.startswith(
        "3 features by their information about admits (Pos (labeled positives with the prior), 2,000 rows)"
    )
    content = json.loads(output([*arguments, "--json"], capsys).out)
    expected = bl.rank(table, "admits", labels="pu", prior=0.3, exclude=["drawn", "marked"])
    assert content["names"] == list(expected.names)
    assert content["information"][0] == pytest.approx(expected.information[0])
    assert content["schema_version"] == 4


@pytest.mark.parametrize("command", [["rank"], ["select", "-k", "2"]])
def test_a_surrogate_for_rankings_and_selections(table, command, capsys):
    arguments = [command[0], table, "-t", "drawn", "--labels", "mar-f", *command[1:], *others("drawn")]
    assert "In place of the target" not in output(arguments, capsys).out
    assert run([*arguments, "--surrogate", "y0"]) == 3
    assert "is not valid here" in capsys.readouterr().err
    said = output([*arguments, "--surrogate", "y0", "--force"], capsys).out
    assert "It is not valid here; you asked for it anyway." in " ".join(said.split())


def test_advice(table, capsys):
    arguments = ["advise", table, "-t", "admits", "--labels", "pu", "--prior", "0.2-0.4", *others("admits")]
    said = output([*arguments, "--seed", "1"], capsys).out
    assert said.startswith("Advice on admits: ")
    assert "effect" in said
    content = json.loads(output([*arguments, "--seed", "1", "--json"], capsys).out)
    expected = bl.advise(table, "admits", labels="pu", prior=(0.2, 0.4), rng=1, exclude=["drawn", "marked"])
    assert {**content, "call": None} == {**expected.to_dict(), "call": None}  # "0.2-0.4" is (0.2, 0.4)


def test_what_auto_assumed_is_a_note(table, capsys):
    said = output(["advise", table, "-t", "admits", *others("admits")], capsys)
    assert "note: " in said.err
    assert "read as positive-unlabeled data" in said.err
    assert output(["advise", table, "-t", "admits", "-q", *others("admits")], capsys).err == ""


@pytest.mark.parametrize("command", ["discover", "select", "rank", "advise"])
def test_shared_label_options(table, command, capsys):
    marker = ["--labels", "mcar", "--unlabeled-marker", "9", "--positive", "1"]
    output([command, table, "-t", "marked", *marker, *others("marked"), "--json", *more(command)], capsys)
    apart = ["--labels", "pu", "--sampling", "case-control", "--prior", "0.3", *others("admits")]
    output([command, table, "-t", "admits", *apart, "--json", *more(command)], capsys)


def more(command):
    return ["-k", "1"] if command == "select" else []


def test_the_marker_and_the_positive_class_reach_the_labels(table, capsys):
    marker = ["--labels", "mcar", "--unlabeled-marker", "9", "--positive", "0"]
    said = output(["advise", table, "-t", "marked", *marker, *others("marked"), "--json"], capsys)
    reference = bl.advise(
        table, "marked", labels="mcar", unlabeled_marker=9, positive=0, exclude=["admits", "drawn"]
    ).to_dict()
    assert json.loads(said.out) == reference
    assert reference["n_labeled"] < 2000


def test_sampling_makes_a_regime(table, capsys):
    apart = ["advise", table, "-t", "admits", "--sampling", "case-control", "--prior", "0.3", *others("admits")]
    content = json.loads(output([*apart, "--json"], capsys).out)
    assert content["sampling"] == "case-control"
    a = content["n_labeled"] / 2000
    assert content["kappa"] == pytest.approx(0.7 / 0.3 * a * (1 - a))
    assert run([*apart[:-4], "--labels", "mcar"]) == 2
    assert "'sampling' is for --labels pu" in capsys.readouterr().err


def test_an_estimated_prior_is_said(table, capsys):
    arguments = ["rank", table, "-t", "admits", "--labels", "pu", "--prior", "estimate:tice", "--json"]
    said = output([*arguments, *others("admits")], capsys)
    assert "estimated by tice assuming that" in said.err
    prior = bl.estimate_prior(table, "admits", method="tice", rng=0, exclude=["drawn", "marked"])
    assert str(prior) in said.err
    assert any("estimated by tice" in note for note in json.loads(said.out)["notes"])
    assert output([*arguments, *others("admits"), "-q"], capsys).err == ""


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["rank", "-t", "admits", "--labels", "pu", "--prior", "1.5"], 2, "'prior' must be"),
        (["rank", "-t", "admits", "--labels", "pu", "--prior", "0.01"], 3, "but the labels show"),
        (["rank", "-t", "admits", "--labels", "pu", "--prior", "estimate:guess"], 2, "unknown method to estimate"),
        (["advise", "-t", "drawn"], 3, "say how labels went missing"),
        (["advise", "-t", "admits", "--labels", "scan"], 2, "unknown label regime 'scan'"),
        (["advise", "-t", "admit"], 3, "did you mean 'admits'"),
        (["test", "cuogh", "-t", "admits", "--labels", "pu"], 3, "did you mean 'cough'"),
        (["test", "-t", "admits"], 2, "Missing argument 'COLUMN...'"),
    ],
)
def test_refusals(table, arguments, code, message, capsys):
    command, *rest = arguments
    used = rest[rest.index("-t") + 1]
    assert run([command, table, *rest, *others(used, "admits" if used == "admit" else used)]) == code
    said = capsys.readouterr()
    assert message in said.err
    assert said.out == ""


@pytest.mark.parametrize("command", ["test", "rank", "advise"])
def test_help_has_examples(command, capsys):
    assert "Examples:" in output([command, "--help"], capsys).out


def test_what_is_said_of_labels_needs_their_regime(table, capsys):
    assert run(["rank", str(table), "--target", "smoker", "--surrogate", "y0"]) == 2
    assert "say with --labels why labels are missing: it is needed for --surrogate\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "labels", "beside"),
    [
        (["--labels", "pu", "--driver", "age"], bl.PositiveUnlabeled(drivers=["age"]), []),
        (["--labels", "pu", "--propensity", "chance"], bl.PositiveUnlabeled(propensity="chance"), ["chance"]),
        (["--labels", "noisy", "--false-positive", "0.1", "--false-negative", "0.2"], bl.Noisy(0.1, 0.2), []),
        (["--labels", "predicted", "--machine", "said"], bl.Predicted("said"), ["said"]),
    ],
)
def test_labels_that_are_biased_wrong_or_of_a_machine(options, labels, beside, tmp_path, capsys):
    rng, n = np.random.default_rng(11), 1500
    ill, age, u = rng.random(n) < 0.3, rng.integers(0, 2, n), rng.random(n)
    columns = {
        "cough": (rng.random(n) < np.where(ill, 0.7, 0.2)).astype(int),
        "age": age,
        "chance": 0.4 + 0.2 * age,
        "said": np.where(rng.random(n) < 0.1, ~ill, ill).astype(int),
        "seen": np.where(ill & (u < 0.4 + 0.2 * age), "1", "") if labels.name == "pu" else ill.astype(int).astype(str),
    }
    if labels.name == "predicted":
        columns["seen"] = np.where(u < 0.2, columns["seen"], "")
    dropped = {"chance", "said"} - set(beside)
    with (tmp_path / "t.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([name for name in columns if name not in dropped])
        writer.writerows(zip(*(v for name, v in columns.items() if name not in dropped), strict=True))
    path = str(tmp_path / "t.csv")
    (told,) = json.loads(output(["test", path, "cough", "-t", "seen", *options, "--json"], capsys).out)
    wanted = bl.test(path, "cough", "seen", labels=labels)
    assert told["statistic"] == pytest.approx(wanted.statistic, rel=1e-12)
    assert wanted.dependent()
