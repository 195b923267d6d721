"""What a result was made with: the call, versions, the seed, and a fingerprint that knows the data again."""

import json
import platform
import shlex
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import click
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.stats
from scipy.stats import beta

import blankets as bl
from blankets.cli import commands
from blankets.cli._main import run
from blankets.data import Frame, ingest
from blankets.errors import ParameterError
from blankets.records import Call, as_data, built, named, plain, read
from blankets.regimes import Between, EstimatedPrior, FromDistribution, Restricted
from saved_examples import positives_only, some_labels, table


def columns(n=300):
    rng = np.random.default_rng(5)
    a = rng.integers(0, 2, n)
    return {
        "a": a,
        "b": np.where(rng.random(n) < 0.1, 1 - a, a),
        "c": np.array(["low", "mid", "high"])[rng.integers(0, 3, n)],
    }


def fingerprint(data, **more):
    return bl.discover(data, "a", algorithm="iamb", **more).call.fingerprint


def test_the_same_table_in_other_containers_has_the_same_fingerprint(tmp_path):
    table = pd.DataFrame(columns())
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_parquet(tmp_path / "t.parquet")
    bl.pack(table, tmp_path / "packed", target="a")
    bl.pack(tmp_path / "t.csv", tmp_path / "packed too", target="a")
    same = [
        columns(),
        table,
        table.astype({"a": "float64", "b": "int8"}),
        pl.from_pandas(table),
        tmp_path / "t.csv",
        tmp_path / "t.parquet",
        tmp_path / "packed",
        tmp_path / "packed too",
        ingest(table, "a").frame,
    ]
    assert len({fingerprint(data) for data in same}) == 1
    assert len(fingerprint(table)) == 64


def test_another_table_has_another_fingerprint():
    table = pd.DataFrame(columns())
    one_cell = table.assign(b=np.where(table.index == 7, 1 - table.b, table.b))
    renamed, other_level = table.rename(columns={"b": "d"}), table.assign(c=table.c.str.replace("mid", "middle"))
    different = [table, one_cell, renamed, other_level, table[["c", "b", "a"]], table.iloc[::-1], table.iloc[:-1]]
    assert len({fingerprint(data) for data in different}) == len(different)


def test_which_labels_are_missing_belongs_to_the_data():
    table = pd.DataFrame(columns()).astype({"a": float})
    gone = [table.assign(a=table.a.where(np.arange(300) % k > 0)) for k in (3, 4)]
    found = {fingerprint(data, labels="mcar") for data in gone}
    assert len(found | {fingerprint(table)}) == 3


@pytest.mark.filterwarnings("ignore::blankets.errors.DuplicateColumnWarning")
def test_sparse_matrices_have_the_same_fingerprint_in_any_format():
    from scipy.sparse import coo_array, csc_array, csr_matrix

    codes = (np.random.default_rng(1).random((50, 5)) < 0.2).astype(np.int64)
    codes[:, 4] = codes[:, 1]  # left out as a repetition
    frames = [ingest(kind(codes)).frame for kind in (csc_array, csr_matrix, coo_array)]
    wide = csc_array(codes)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    frames.append(ingest(wide).frame)
    frames.append(ingest(csc_array(codes[:, :4])).frame)
    assert len({frame.fingerprint() for frame in frames}) == 1
    fresh = frames[0].take(np.arange(50))  # whose hashes are not known from reading
    assert fresh.fingerprint() == frames[0].fingerprint()
    assert ingest(csc_array(1 - codes)).frame.fingerprint() != frames[0].fingerprint()


def test_digests_follow_their_columns():
    frame = Frame.from_codes(np.random.default_rng(0).integers(0, 2, (30, 3)), names=["a", "b", "c"])
    frame.fingerprint()
    changed = frame.with_column("b", 1 - frame.column(1), (0, 1))
    fresh = np.stack([frame.column(0), 1 - frame.column(1), frame.column(2)], axis=1)
    assert changed.fingerprint() == Frame.from_codes(fresh, names=["a", "b", "c"]).fingerprint()
    added = frame.with_column("d", frame.column(0), (0, 1))
    assert added.fingerprint() != frame.with_column("d", frame.column(1), (0, 1)).fingerprint()
    part = frame.select([2, 0])
    assert part.fingerprint() == Frame.from_codes(fresh[:, [2, 0]], names=["c", "a"]).fingerprint()
    assert (
        frame.take(np.arange(20)).fingerprint()
        == Frame.from_codes(
            np.stack([frame.column(j)[:20] for j in range(3)], axis=1), names=["a", "b", "c"], arities=[2, 2, 2]
        ).fingerprint()
    )


def test_numbers_that_are_not_binned_have_one_too():
    rng = np.random.default_rng(0)
    numbers = pd.DataFrame(rng.normal(size=(80, 3)), columns=list("abc"))
    prints = {fingerprint(data, test="fisher-z") for data in (numbers, pl.from_pandas(numbers), numbers + 1e-9)}
    assert len(prints) == 2


def test_a_call_tells_function_versions_and_seed():
    made = bl.discover(columns(), "a", algorithm="kiamb", alpha=0.05, options={"k": 0.5}, rng=11).call
    assert (made.function, made.seed) == ("discover", 11)
    assert (made.options["alpha"], made.options["options"]) == (0.05, {"k": 0.5})
    assert made.versions["python"] == platform.python_version()
    assert (made.versions["numpy"], made.versions["blankets"]) == (np.__version__, bl.__version__)
    assert "scipy" in made.versions
    assert not {"data", "progress", "rng", "address", "checkpoint"} & set(made.options)


def test_what_cannot_be_written_down_is_named():
    assert Call.of("discover", {"rng": np.random.default_rng(0)}).seed == "a generator"
    assert Call.of("discover", {"rng": None}).seed is None
    odd = {"alpha": np.float64(0.1), "prior": float("nan"), "keep": ("a",), "y": np.zeros(3), "where": Path("/home/me")}
    call = Call.of("discover", {**odd, "reading": {"missing": "drop"}})
    assert call.options == {
        "alpha": 0.1,
        "prior": "nan",
        "keep": ["a"],
        "y": {"not kept": "ndarray"},
        "where": {"not kept": type(Path()).__name__},
        "missing": "drop",
    }
    assert read(Call, json.loads(json.dumps(plain(call)))) == call


@named
@dataclass(frozen=True)
class Place:
    kind: str
    address: str | None = None
    slots: int = 2


def test_nothing_of_the_users_machine_is_kept():
    given = {"data": "/home/me/patients.csv", "checkpoint": "/home/me/kept", "engine": Place("dask", "tcp://me:1")}
    call = Call.of("discover", {**given, "target": "ill", "address": "tcp://me:1"})
    assert call.options == {"engine": {"class": "Place", "kind": "dask"}, "target": "ill"}
    of_rows = Call.of("discover", {"groups": np.arange(300), "weights": [0.5] * 300, "keep": ["a"] * 300}).options
    assert (of_rows["groups"], of_rows["weights"]) == ({"not kept": "ndarray"}, {"not kept": "list"})
    assert len(of_rows["keep"]) == 300
    assert call.to_command() == "blankets discover table.csv --engine dask --target ill"


PRIORS = [
    0.2,
    "<0.4",
    ">0.1",
    (0.1, 0.3),
    Between(0.0, 0.3),
    bl.Beta(mode=0.2, low=0.1, high=0.5, concentration=8.0),
    beta(4, b=9),
    EstimatedPrior(0.2, np.linspace(0.1, 0.31, 5), "tice"),
    Restricted(bl.between(0.1, 0.3), 0.15, 0.4),
    Restricted(FromDistribution(beta(4, 9)), 0.15, 0.4),
]


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("regime", [bl.PositiveUnlabeled, partial(bl.SemiSupervised, "mar-c")])
def test_regimes_and_priors_are_built_again(regime, prior):
    """As data, and as the Python that the call says."""
    labels = regime(prior=prior)
    data = json.loads(json.dumps(as_data(labels)))
    said = Call(function="discover", options={"labels": data}).to_python()
    code = said.removeprefix("bl.discover(data, labels=").removesuffix(")")
    for again in (built(data), eval(code, {"bl": bl, "scipy": scipy})):
        assert type(again) is type(labels)
        assert (again.name, again.prior.is_soft) == (labels.name, labels.prior.is_soft)
        np.testing.assert_array_equal(again.prior.ppf([0.05, 0.5, 0.9]), labels.prior.ppf([0.05, 0.5, 0.9]))


def test_a_call_says_itself_in_python():
    given = {
        "target": 'the "ill"\n',
        "labels": "pu",
        "prior": 0.2,
        "keep": ["a"],
        "discretize": {"b": "none"},
        "rng": 3,
    }
    said = Call.of("discover", given).to_python("'t.csv'")
    assert said == (
        """bl.discover('t.csv', "the \\"ill\\"\\n", labels="pu", prior=0.2, keep=["a"], """
        """discretize={"b": "none"}, rng=3)"""
    )
    for y in ([1, 0, 1], np.ones(2)):
        assert Call.of("rank", {"y": y}).to_python() == "bl.rank(data, y=y)"
    assert Call.of("refute", {"blanket": bl, "n_resamples": 2}).to_python() == "bl.refute(blanket, data, n_resamples=2)"


@pytest.mark.parametrize(
    ("function", "given", "line"),
    [
        ("discover", {"target": "a b", "alpha": 0.05, "roles": True},
         "discover t.csv --target 'a b' --alpha 0.05 --roles"),
        ("discover", {"target": "-a", "keep": ["b", "c"]}, "discover t.csv --target=-a --keep b --keep c"),
        ("discover", {"target": "a", "roles": False}, "discover t.csv --target a"),
        ("discover", {"target": "a", "options": {"k": 0.5, "order": None}, "rng": 3},
         "discover t.csv --target a --option k=0.5 --option order=none --seed 3"),
        ("discover", {"target": "a", "labels": bl.PositiveUnlabeled("<0.4", "case-control")},
         "discover t.csv --target a --labels pu --prior '<0.4' --sampling case-control"),
        ("rank", {"target": "a", "labels": bl.SemiSupervised("mar-c", (0.1, 0.3))},
         "rank t.csv --target a --labels mar-c --prior 0.1-0.3"),
        ("discover", {"target": "a", "labels": bl.Noisy(0.1, (0.05, 0.2))},
         "discover t.csv --target a --labels noisy --false-positive 0.1 --false-negative 0.05-0.2"),
        ("discover", {"target": "a", "labels": bl.Predicted("m", gold="a")},
         "discover t.csv --target a --labels predicted --machine m"),
        ("test", {"x": "b", "target": "a", "given": ["c"], "test": "g"}, "test t.csv b --target a --given c --test g"),
        ("test", {"x": "-b", "target": "a"}, "test t.csv --target a -- -b"),
        ("select", {"target": "a", "k": 3}, "select t.csv --target a --number 3"),
        ("discover_latent", {"target": "a", "n_restarts": 2}, "latent t.csv --target a --restarts 2"),
        ("audit", {}, "audit t.csv"),
    ],
)  # fmt: skip
def test_a_call_says_itself_on_the_command_line(function, given, line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").touch()
    call = Call.of(function, given)
    assert (call.to_command("t.csv"), call.why_no_command) == (f"blankets {line}", "")
    name, *words = shlex.split(line)
    taken = commands.get_command(click.Context(commands), name).make_context(name, words).params
    assert taken["file"] == "t.csv"


@pytest.mark.parametrize(
    ("function", "given", "why"),
    [
        ("mutual_information", {"x": "b", "target": "a"}, "There is no command for mutual_information."),
        ("refute", {}, "There is no command for refute."),
        ("discover", {"y": np.zeros(3)}, "The target was given apart from the table, which a command line cannot do."),
        (
            "discover",
            {"target": "a", "discretize": {"b": "none"}},
            "The command line cannot say 'discretize' as it was",
        ),
        (
            "discover",
            {"target": "a", "rng": np.random.default_rng()},
            "The command line cannot say 'rng' as it was given.",
        ),
        ("discover", {"target": "a", "prior": beta(4, 9)}, "The command line cannot say 'prior' as it was given."),
        (
            "discover",
            {"target": "a", "labels": bl.Noisy(0.1, 0.1, missing="mcar")},
            "On the command line, --missing is about features, not about noisy labels.",
        ),
        ("discover", {"target": "a", "luck": 3}, "The command line has no option for 'luck'."),
    ],
)
def test_why_there_is_no_command_line(function, given, why):
    call = Call.of(function, given)
    assert call.to_command() is None
    assert call.why_no_command.startswith(why)


def test_a_call_is_run_again():
    table = columns()
    found = bl.discover(table, "a", algorithm="iamb", alpha=0.05)
    call = Call.of("discover", {"target": "a", "algorithm": "iamb", "alpha": 0.05}, found.call.fingerprint)
    again = call.run(table)
    assert (again.members, again.call.fingerprint) == (found.members, call.fingerprint)
    assert call.run(table, alpha=1e-300, target="c").settings["alpha"] == 1e-300
    apart = Call.of("rank", {"y": table["a"], "rng": np.random.default_rng()})
    with pytest.raises(ParameterError, match=r"'y', 'rng' was not kept with the call; give it again, as y=\.\.\."):
        apart.run({"b": table["b"]})
    ranked = Call.of("rank", {"y": table["a"]}).run({"b": table["b"]}, y=table["a"])
    assert ranked.information[0] == bl.rank(table, "a", exclude=["c"]).information[0]
    assert Call.of("refute", {"n_resamples": 1}).run(table, blanket=found).members == found.members


def test_a_call_of_another_version_says_what_it_does_not_know():
    with pytest.raises(ParameterError, match="this version of blankets has no 'Hunch', which the call names"):
        Call(function="discover", options={"labels": {"class": "Hunch"}}).run(columns())


@pytest.mark.parametrize(
    ("call", "ask"),
    [
        ("discover_all", lambda t: bl.discover_all(t, ["a"], algorithm="iamb")["a"]),
        ("test", lambda t: bl.test(t, "b", "a")),
        ("mutual_information", lambda t: bl.mutual_information(t, "b", "a")),
        ("rank", lambda t: bl.rank(t, "a")),
        ("select", lambda t: bl.select(t, "a", k=1)),
        ("stability", lambda t: bl.stability(t, "a", n_resamples=2, rng=0)),
        ("advise", lambda t: bl.advise(t, "a")),
        ("discover_latent", lambda t: bl.discover_latent(t, "a", blanket=["b"], n_restarts=1)),
    ],
)
def test_every_result_has_one(call, ask):
    result = ask(columns())
    assert (result.call.function, result.call.fingerprint) == (call, fingerprint(columns()))
    assert type(result).from_json(result.to_json()).call == result.call


def test_sensitivity_has_one():
    table = pd.DataFrame(columns())
    table["a"] = table.a.where((np.arange(300) % 3 > 0) | (table.a == 1)).astype(float)
    found = bl.sensitivity(table, "a", labels="mar-c", algorithm="iamb", rng=1)
    assert (found.call.function, found.call.seed) == ("sensitivity", 1)
    assert found.to_dict()["call"]["options"]["algorithm"] == "iamb"


def test_a_page_of_a_result_without_a_call(tmp_path):
    blanket = bl.discover(columns(), "a", algorithm="iamb")
    page = replace(blanket, call=None).report(tmp_path / "without.html").read_text("utf-8")
    assert "the result has no call" in page
    page = blanket.report(tmp_path / "with.html").read_text("utf-8")
    assert "Fingerprint of the data" in page
    assert "False members expected" in page


ASKED = [
    (table, lambda d: bl.discover(d, "ill")),
    (
        table,
        lambda d: bl.discover(d, "ill", algorithm="kiamb", options={"k": 0.5}, roles=True, exclude=["moon"], rng=3),
    ),
    (table, lambda d: bl.discover(d, "ill", test=bl.Testing("g", dof="nominal", reliability=7.0))),
    (positives_only, lambda d: bl.discover(d, "ill", labels=bl.PositiveUnlabeled(0.45), engine=bl.Engine("memory"))),
    (positives_only, lambda d: bl.rank(d, "ill", labels="pu", prior=(0.4, 0.6))),
    (positives_only, lambda d: bl.advise(d, "ill", labels="pu", prior="<0.6", rng=1)),
    (some_labels, lambda d: bl.test(d, "cough", "ill", ["town"], labels=bl.SemiSupervised("mar-c", surrogate="y0"))),
    (some_labels, lambda d: bl.sensitivity(d, "ill", labels="mar-c", algorithm="iamb", rng=1)),
    (table, lambda d: bl.select(d, "ill", k=2, missing="drop")),
    (table, lambda d: bl.stability(d, "ill", n_resamples=4, algorithm="iamb", rng=1)),
    (table, lambda d: bl.audit(d, "ill")),
]


@pytest.mark.parametrize(("make", "ask"), ASKED)
def test_every_way_of_making_a_call_again_gives_the_same(make, ask, tmp_path, monkeypatch, capsys):
    """Its Python, itself, and its command line, which reads the table from a file."""
    monkeypatch.chdir(tmp_path)
    data = make()
    data.to_csv("table.csv", index=False)
    result = ask(data)
    kind, words = type(result), shlex.split(result.call.to_command("table.csv"))
    assert run([*words[1:], "--json", "-q"]) == 0
    said = json.loads(capsys.readouterr().out)
    by_command = kind.from_dict(said[0] if isinstance(said, list) else said)
    in_python = eval(result.call.to_python(), {"bl": bl, "data": data})
    assert result.call == in_python.call
    wanted = {**result.to_dict(), "seconds": 0.0, "call": None}
    for again in (result.call.run(data), in_python, by_command):
        assert again.call.fingerprint == result.call.fingerprint
        assert {**wanted, **again.to_dict(), "seconds": 0.0, "call": None} == wanted
