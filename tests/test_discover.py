"""From a table to a blanket: right answers, and sentences for wrong questions."""

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import blankets as bl
from blankets.errors import (
    ConstantColumnWarning,
    DataError,
    DuplicateColumnWarning,
    IdLikeColumnWarning,
    Interrupted,
    LabelError,
    ParameterError,
    RegimeWarning,
    TargetError,
    TooFewRowsWarning,
)
from blankets.search import ALGORITHMS
from blankets.simulate import random_dag, random_network
from blankets.study import Search, Wanted, open_study


@pytest.fixture(scope="module")
def network():
    """A strong network of twelve binary and three-valued variables."""
    rng = np.random.default_rng(5)
    graph = random_dag(12, rng, mean_degree=2.2, max_parents=2)
    return random_network(graph, {node: int(rng.integers(2, 4)) for node in graph}, rng, strength=0.03)


@pytest.fixture(scope="module")
def frame(network):
    return network.sample(20_000, np.random.default_rng(5))


def clinic(n=3000, seed=0):
    """Smoking and age cause cough; cough and pollen (its other cause) make fever visits likelier."""
    rng = np.random.default_rng(seed)
    smoker, pollen = rng.random(n) < 0.3, rng.random(n) < 0.5
    age = rng.normal(50, 12, n) + 8 * smoker
    cough = rng.random(n) < 0.05 + 0.55 * smoker + 0.25 * pollen
    return pd.DataFrame({"smoker": smoker, "age": age, "cough": cough, "pollen": pollen, "coin": rng.integers(0, 2, n)})


SOUND = sorted(entry.name for entry in bl.algorithms() if entry.sound and entry.finds == "blanket")


@pytest.mark.parametrize("algorithm", SOUND)
def test_every_sound_algorithm_recovers_most_of_a_strong_network(network, frame, algorithm):
    found = bl.discover_all(frame, algorithm=algorithm, alpha=0.001)
    truth = {node: network.blanket(node) for node in frame.names}
    false = sum(len(set(found[node].members) - truth[node]) for node in truth)
    missed = sum(len(truth[node] - set(found[node].members)) for node in truth)
    members = sum(map(len, truth.values()))
    assert members > 20
    assert false <= 0.1 * members
    assert missed <= 0.1 * members


def test_members_roles_and_spouse():
    blanket = bl.discover(clinic(seed=1), "smoker", algorithm="pcmb", roles=True)
    assert set(blanket.members) == {"cough", "age", "pollen"}
    assert blanket.roles["cough"] == "child"
    assert blanket.roles["pollen"] == "spouse"


@pytest.mark.parametrize("algorithm", ["iamb", "inter-iamb", "hiton-mb"])
def test_the_same_blanket_from_every_container(algorithm):
    pandas = clinic()
    answers = [
        bl.discover(table, "smoker", algorithm=algorithm).members
        for table in (pandas, pl.from_pandas(pandas), pandas.to_dict("series"))
    ]
    features = pandas.drop(columns="smoker")
    answers.append(bl.discover(features, y=pandas["smoker"], algorithm=algorithm).members)
    assert answers == [answers[0]] * 4


def test_sparse_and_dense_agree():
    rng = np.random.default_rng(0)
    X = (rng.random((800, 300)) < 0.1).astype(int)
    y = (X[:, 3] | X[:, 7]) ^ (rng.random(800) < 0.02)
    dense, by_column = bl.discover(X, y=y), bl.discover(sparse.csr_array(X), y=y)
    assert set(dense.members) == {"x3", "x7"}
    assert dense.members == by_column.members
    assert [dense.strengths[m].statistic for m in dense.members] == [
        by_column.strengths[m].statistic for m in dense.members
    ]


def test_number_of_threads_does_not_change_the_answer(frame):
    one, four = (bl.discover_all(frame, algorithm="pcmb", n_jobs=n) for n in (1, 4))
    for target in frame.names:
        assert one[target].members == four[target].members
        assert [d.evidence for d in one[target].decisions] == [d.evidence for d in four[target].decisions]


def test_the_same_seed_gives_the_same_answer(frame):
    runs = [bl.discover_all(frame, algorithm="kiamb", rng=1, n_jobs=n, options={"k": 0.5}) for n in (1, 3)]
    assert [b.members for b in runs[0].values()] == [b.members for b in runs[1].values()]


def test_auto_says_what_it_picked_and_why(frame):
    blanket = bl.discover(frame, frame.names[0])
    assert blanket.algorithm in SOUND
    assert blanket.why_algorithm == "of all searches it came nearest to the blankets of known networks."


def test_continuous_data_by_partial_correlation():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 2000))
    c = a + b + rng.normal(size=2000)
    table = {"a": a, "b": b, "c": c, "noise": rng.normal(size=2000)}
    blanket = bl.discover(table, "a", test="fisher-z", algorithm="pcmb", roles=True)
    assert blanket.roles == {"c": "child", "b": "spouse"}


def test_discover_all_of_a_list_and_its_network():
    found = bl.discover_all(clinic(), ["smoker", "cough"])
    assert list(found) == ["smoker", "cough"]
    everyone = bl.discover_all(clinic()).network()
    assert isinstance(everyone, nx.Graph)
    assert everyone.has_edge("smoker", "cough")
    assert everyone.degree("coin") == 0


def test_interruption_says_what_was_found(frame):
    def stop(sentence):
        if "growing" in sentence and len(seen) > 2:
            raise KeyboardInterrupt
        seen.append(sentence)

    seen = []
    with pytest.raises(Interrupted) as caught:
        bl.discover(frame, frame.names[1], algorithm="iamb", progress=stop)
    assert caught.value.members
    assert caught.value.target == frame.names[1]


def test_progress_tells_what_is_being_done(frame):
    told = []
    bl.discover(frame, frame.names[0], algorithm="inter-iamb", progress=told.append)
    assert any("inter-iamb on" in sentence for sentence in told)


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 1.5, float("nan")])
def test_alpha_outside_its_range(alpha):
    with pytest.raises(ParameterError, match="'alpha' must be a significance level between 0 and 1"):
        bl.discover(clinic(50), "smoker", alpha=alpha)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"algorithm": "interimab"}, "unknown algorithm 'interimab'; did you mean 'inter-iamb'"),
        ({"test": "chi2"}, "unknown test 'chi2'"),
        ({"dof": "nominal"}, r"'dof' is not an argument of its own: say test=bl\.Testing\(dof=\.\.\.\)"),
        ({"surrogate": "y0"}, r"say labels=bl\.PositiveUnlabeled\(surrogate=\.\.\.\) or bl\.SemiSupervised"),
        ({"checkpoint": "run"}, r"say engine=bl\.Engine\(checkpoint=\.\.\.\)"),
        ({"algorithm": "iamb", "options": {"k": 3}}, "algorithm 'iamb' has no option 'k'"),
        ({"algorithm": "fbed", "k": 3}, r"'k' is not an argument of its own: say options=\{'k': \.\.\.\}"),
        ({"options": "k"}, "'options' must be a mapping of options of the algorithm to values"),
        ({"missing": "ignore"}, "unknown"),
    ],
)
def test_wrong_words_get_the_right_ones(wrong, message):
    with pytest.raises(ParameterError, match=message):
        bl.discover(clinic(50), "smoker", **wrong)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"dof": "exact"}, "unknown dof 'exact'"),
        ({"strength": "weight"}, "unknown strength 'weight'"),
        ({"reliability": -1}, "'reliability' must be a number of rows for each degree of freedom, >= 0, but it is -1"),
        (
            {"dof": "nominal"},
            r"is for the formulas of 'g' and 'x2', .* use Testing\('g', dof='nominal'\)",
        ),
    ],
)
def test_tests_are_checked_when_they_are_described(wrong, message):
    with pytest.raises(ParameterError, match=message):
        bl.Testing(**wrong)


def test_wrong_names_are_refused_before_the_data_are_read():
    with pytest.raises(ParameterError, match="unknown algorithm"):
        bl.discover("there-is-no-such-file.csv", "y", algorithm="nonsense")


def test_no_target():
    with pytest.raises(TargetError, match="no target was named"):
        bl.discover(clinic(50))


def test_rows_without_a_target_are_left_out_unless_labels_are_said_to_be_missing():
    table = clinic(60)
    table["cough"] = table["cough"].astype("boolean")
    table.loc[3:7, "cough"] = pd.NA
    with pytest.warns(RegimeWarning, match="5 of 60 rows have no value of the target and are left out; say with"):
        blanket = bl.discover(table, "cough")
    rest = bl.discover(table.dropna(subset="cough"), "cough")
    assert (blanket.members, blanket.n_rows, blanket.data["unlabeled"]) == (rest.members, 55, 5)
    assert {x: e.log_p for x, e in blanket.strengths.items()} == {x: e.log_p for x, e in rest.strengths.items()}
    assert "Rows without a target, left out: 5." in repr(blanket)
    with pytest.raises(LabelError, match="5 of 60 rows are unlabeled, but 'supervised' needs every label"):
        bl.discover(table, "cough", labels="supervised")


def test_unknown_target_of_many():
    with pytest.raises(TargetError, match=r"'smokr' cannot be a target; did you mean 'smoker'"):
        bl.discover_all(clinic(60), ["smokr"])


def test_left_out_columns_are_named_and_explained():
    table = clinic(200)
    table["ward"] = "A"
    table["copy"] = table["cough"]
    table["id"] = [f"patient {i}" for i in range(200)]
    with (
        pytest.warns(ConstantColumnWarning, match="'ward'"),
        pytest.warns(DuplicateColumnWarning, match="'copy'"),
        pytest.warns(IdLikeColumnWarning, match="'id'"),
    ):
        blanket = bl.discover(table, "smoker")
    for column in ("ward", "copy", "id"):
        assert column in blanket.excluded
        assert "not searched" in str(blanket.explain(column)) or "left out" in str(blanket.explain(column))


def test_constant_column_cannot_be_a_target_of_many():
    table = clinic(60).assign(ward="A")
    with pytest.warns(ConstantColumnWarning), pytest.raises(TargetError, match="'ward' cannot be a target: it has a"):
        bl.discover_all(table, ["ward"])


def test_columns_that_no_test_can_reach_are_named():
    rng = np.random.default_rng(0)
    table = {
        "y": rng.integers(0, 3, 120),
        "post code": rng.integers(0, 20, 120).astype(str),
        "x": rng.integers(0, 2, 120),
    }
    with pytest.warns(TooFewRowsWarning, match="120 rows are too few to test 'post code' against 'y' at all"):
        blanket = bl.discover(table, "y", algorithm="iamb")
    assert any("post code" in sentence for sentence in blanket.warnings)


def test_counts_that_no_test_can_reach_may_be_said_to_be_numbers():
    rng = np.random.default_rng(0)
    flow = rng.integers(50, 62, 24)
    table = {"flow": flow, "loss": flow + rng.normal(size=24)}
    with pytest.warns(TooFewRowsWarning, match=r"say that they are numbers, with discretize=\{'flow': 'number'\}"):
        assert bl.discover(table, "loss", ordered=[]).members == ()
    assert bl.discover(table, "loss", discretize={"flow": "number"}).members == ("flow",)
    assert bl.discover(table, "loss").members == ("flow",)  # by the scores of its levels


def test_a_table_without_features():
    with pytest.raises(DataError, match="no feature columns besides the target"):
        bl.discover({"y": [0, 1] * 20}, "y")


def test_a_marker_of_unlabeled_rows_can_be_named():
    table = clinic(800)
    table["smoker"] = np.where(table["smoker"], "yes", "?")
    blanket = bl.discover(table, "smoker", labels="pu", unlabeled_marker="?", algorithm="iamb")
    assert blanket.settings["surrogate"] == "y0"
    assert "cough" in blanket.members


def test_the_score_based_algorithm_is_one_of_them():
    assert "sll" in {entry.name for entry in bl.algorithms()}
    blanket = bl.discover(clinic().drop(columns="age"), "smoker", algorithm="sll")
    assert set(blanket.members) == {"cough", "pollen"}


def test_members_that_could_not_be_tested_together_are_doubted():
    rng = np.random.default_rng(2)
    t = rng.integers(0, 3, 150)
    table = {name: (4 * t + rng.integers(0, 8, 150)) % 12 for name in ("one", "other")}
    with pytest.warns(TooFewRowsWarning, match="150 rows are too few to test any of the 2 members given another one"):
        blanket = bl.discover({**table, "t": t}, "t", algorithm="pcmb", test=bl.Testing(reliability=3), close=False)
    assert len(blanket) == 2


def test_arguments_that_do_not_exist():
    with pytest.raises(ParameterError, match=r"there is no argument 'missin'; did you mean 'missing'\?"):
        bl.rank(clinic(50), "smoker", missin="drop")


def test_columns_that_go_by_number_are_explained_by_number():
    table = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (200, 3)))
    assert bl.discover(table, 0).explain(2).column == "2"


@pytest.mark.parametrize(("misspelt", "meant"), [("alhpa", "alpha"), ("max_gven", "max_given")])
def test_a_misspelt_argument_is_recognized(misspelt, meant):
    table = {name: [0, 1] * 50 for name in "ab"} | {"t": [0, 1, 1, 0] * 25}
    with pytest.raises(ParameterError, match=rf"there is no argument '{misspelt}'; did you mean '{meant}'\?"):
        bl.discover(table, "t", algorithm="pcmb", keep="b", **{misspelt: 1})


def test_p_values_are_right_at_every_level_where_a_rate_of_false_discoveries_is_controlled():
    """Such a search compares p-values with many levels; the others, and what "auto" picks, with alpha alone."""
    data = dict(zip("abc", np.random.default_rng(0).integers(0, 2, (3, 50)), strict=True))
    with open_study(data, "a") as study:
        found = [Search.of(study, Wanted.of(name, None, 0.01)) for name in ("auto", *ALGORITHMS)]
    for search in found:
        assert search.tests.level == (None if search.algorithm.controls == "fdr" else 0.01)
    assert sum(search.tests.level is None for search in found) >= 4
