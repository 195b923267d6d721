"""`select`: from any table, under any label regime, to a `Selection`."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from blankets.counting import MemoryCounter
from blankets.data import Frame
from blankets.errors import (
    BlanketsWarning,
    DataError,
    LabelError,
    NotAnswerableError,
    ParameterError,
    RegimeWarning,
    TargetError,
    TooFewRowsWarning,
)
from blankets.filters import CRITERIA, PlugIn
from blankets.questions.select import select
from blankets.results import Selection
from filters.naive import naive_selection


@pytest.fixture(scope="module")
def table():
    """A copy of the best feature, a weaker one that is new, and noise; 3,000 rows."""
    rng = np.random.default_rng(3)
    n = 3000
    first, other = rng.integers(0, 2, n), rng.integers(0, 3, n)
    second = np.where(rng.random(n) < 0.9, first, 1 - first)
    ill = (rng.random(n) < 0.15 + 0.5 * first + 0.1 * other).astype(int)
    noise = rng.choice(["a", "b", "c"], n)
    return pd.DataFrame({"noise": noise, "first": first, "second": second, "other": other, "ill": ill})


def without_labels(table, labeled):
    """Return the table with the target missing where ``labeled`` is False."""
    return table.assign(ill=table["ill"].where(labeled))


@pytest.mark.parametrize("criterion", sorted(set(CRITERIA) - {"linear"}))
def test_agrees_with_exhaustive_calculation(table, criterion):
    selection = select(table, "ill", criterion=criterion, k=4)
    names = ["noise", "first", "second", "other"]
    order, scores = naive_selection([table[name].tolist() for name in names], table["ill"].tolist(), 4, criterion)
    assert selection.names == tuple(names[j] for j in order)
    assert selection.scores == pytest.approx(scores, abs=1e-11)


def test_what_it_says(table):
    selection = select(table, "ill", criterion="mrmr", k=2, exclude=["noise"])
    assert selection.names == ("first", "other")
    assert (selection.target, selection.criterion, selection.n_rows, selection.n_candidates) == ("ill", "mrmr", 3000, 3)
    assert selection.settings["k"] == 2
    assert selection.settings["exclude"] == ("noise",)
    assert selection.labels == ""
    assert selection.data["n_rows"] == 3000


def test_containers_agree(table):
    numbers = table.drop(columns="noise")
    matrix = numbers.to_numpy()
    expected = select(numbers, "ill", k=3)
    as_array = select(matrix, 3, k=3)
    apart = select(numbers.drop(columns="ill"), y=numbers["ill"], k=3)
    as_sparse = select(sparse.csr_array(matrix[:, :3]), y=matrix[:, 3], k=3)
    order = [numbers.columns.get_loc(name) for name in expected.names]
    assert apart.names == expected.names
    assert [int(name[1:]) for name in as_array.names] == order
    assert [int(name[1:]) for name in as_sparse.names] == order
    assert as_sparse.scores == pytest.approx(expected.scores, abs=1e-12)


def test_weights_are_kept(table):
    assert select(table, "ill", criterion="mifs", k=1).settings["beta"] == 1.0
    free = select(table, "ill", criterion="linear", beta=0.3, gamma=0.2, k=3)
    assert (free.settings["beta"], free.settings["gamma"]) == (0.3, 0.2)
    assert "beta" not in select(table, "ill", k=1).settings


def test_steps_are_told(table):
    said = []
    select(table, "ill", k=2, progress=said.append)
    assert said == ["jmi: 1 of 2 features", "jmi: 2 of 2 features"]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"criterion": "jmii"}, ParameterError, r"unknown criterion 'jmii'; did you mean 'jmi'\?"),
        ({"k": 5}, ParameterError, r"k = 5 features cannot be selected: there are 4$"),
        ({"k": 0}, ParameterError, r"'k' must be a number of features, 1 or more, but it is 0"),
        ({"k": 2.5}, ParameterError, r"'k' must be .* but it is 2\.5"),
        ({"k": True}, ParameterError, r"'k' must be .* but it is True"),
        ({"beta": 1.0}, ParameterError, r"'beta' is no weight of 'jmi'"),
        ({"target": None}, TargetError, r"no target was named"),
        ({"target": "il"}, TargetError, r"did you mean 'ill'\?"),
        ({"labels": "pu"}, LabelError, r"no row is unlabeled|labels='pu' is for one labeled class|supervised"),
        ({"labels": "mnar"}, NotAnswerableError, r"MNAR"),
        ({"labels": "mcar"}, LabelError, r"no row is unlabeled"),
    ],
)
def test_refusals(table, arguments, error, message):
    words = table.assign(ill=np.where(table["ill"] == 1, "ill", "well"))
    with pytest.raises(error, match=message):
        select(words, **{"target": "ill", "k": 2, **arguments})


def test_k_counts_only_features_that_can_be_used(table):
    with (
        pytest.warns(BlanketsWarning, match="single value"),
        pytest.raises(ParameterError, match=r"there are 4 \('flat' cannot be used\)"),
    ):
        select(table.assign(flat=1), "ill", k=5)


# Labels -----------------------------------------------------------------------------------------------


def test_supervised_wants_all_labels(table):
    gaps = without_labels(table, np.arange(3000) % 2 == 0)
    with pytest.raises(LabelError, match="1500 of 3000 rows are unlabeled"):
        select(gaps, "ill", labels="supervised", k=2)
    with pytest.warns(RegimeWarning, match="1,500 of 3,000 rows have no value of the target and are left out"):
        left = select(gaps, "ill", k=2)
    rest = select(gaps.dropna(subset="ill"), "ill", k=2)
    assert left.table() == rest.table()


def test_positive_unlabeled_without_a_prior_is_the_surrogate(table):
    rng = np.random.default_rng(1)
    labeled = (table["ill"] == 1) & (rng.random(3000) < 0.4)
    selection = select(without_labels(table, labeled), "ill", labels="pu", k=3)
    surrogate = select(table.assign(ill=labeled.astype(int)), "ill", k=3)
    assert selection.names == surrogate.names
    assert selection.scores == pytest.approx(surrogate.scores, abs=1e-12)
    assert "counts unlabeled rows as negatives" in selection.labels
    assert f"{labeled.sum()} of 3000 rows are labeled" in selection.labels


def test_zero_is_unlabeled_under_pu(table):
    rng = np.random.default_rng(1)
    labeled = (table["ill"] == 1) & (rng.random(3000) < 0.4)
    zeros = select(table.assign(ill=labeled.astype(int)), "ill", labels="pu", prior=0.5, k=3)
    gaps = select(without_labels(table, labeled), "ill", labels="pu", prior=0.5, k=3)
    assert zeros.names == gaps.names
    assert zeros.scores == gaps.scores
    assert "p(y=1), is assumed to be 0.5" in gaps.labels
    assert gaps.settings["prior"] == "0.5"


def test_auto_says_what_it_assumes(table):
    labeled = (table["ill"] == 1) & (np.arange(3000) % 3 == 0)
    with pytest.warns(RegimeWarning, match="read as positive-unlabeled data"):
        selection = select(without_labels(table, labeled), "ill", k=2)
    assert selection.settings["labels"] == "pu"


def test_soft_knowledge_chooses_the_surrogate(table):
    rng = np.random.default_rng(2)
    labeled = rng.random(3000) < np.where(table["ill"] == 1, 0.2, 0.2)
    gaps = without_labels(table, labeled)
    rare = select(gaps, "ill", labels="mar-c", prior="<0.3", k=2)
    common = select(gaps, "ill", labels="mar-c", prior=">0.7", k=2)
    assert "counts unlabeled rows as negatives" in rare.labels
    assert "counts unlabeled rows as positives" in common.labels
    nothing = select(gaps, "ill", labels="mar-c", k=2)
    assert "a class of their own" in nothing.labels
    third = table["ill"].where(labeled, 2).to_numpy()
    expected = select(table.drop(columns="ill"), y=third, k=2)
    assert nothing.scores == pytest.approx(expected.scores, abs=1e-12)


@pytest.mark.parametrize(("labels", "prior"), [("mcar", None), ("mar-f", None), ("mar-c", 0.5), ("pu", 0.5)])
@pytest.mark.parametrize("criterion", ["jmi", "mrmr", "cmim"])
def test_a_third_of_the_labels_still_finds_the_new_feature(table, criterion, labels, prior):
    rng = np.random.default_rng(4)
    labeled = rng.random(3000) < 0.35
    if labels == "pu":
        labeled &= table["ill"] == 1
    selection = select(without_labels(table, labeled), "ill", criterion=criterion, labels=labels, prior=prior, k=2)
    assert set(selection.names) == {"first", "other"}


def test_redundancy_uses_all_rows(table):
    labeled = np.arange(3000) < 300
    gaps = without_labels(table, labeled)
    selection = select(gaps, "ill", criterion="mrmr", labels="mcar", k=4)
    features = table.drop(columns="ill")
    codes = np.column_stack([features["noise"].astype("category").cat.codes, features.drop(columns="noise")])
    everyone = PlugIn(MemoryCounter(Frame.from_codes(codes)), 0)
    order = [features.columns.get_loc(name) for name in selection.names]
    redundancy = everyone.redundancy(np.array([order[1]]), order[0])[0]
    assert selection.scores[1] == pytest.approx(selection.relevance[1] - redundancy, abs=1e-12)


def test_multi_class_needs_a_positive_class_only_where_labels_are_missing(table):
    grade = table["ill"] + (table["other"] > 1)
    three = table.assign(ill=grade)
    assert set(select(three, "ill", k=2)) == {"first", "other"}
    gaps = three.assign(ill=grade.where(np.arange(3000) % 2 == 0))
    with pytest.raises(LabelError, match="say which class is the positive one"):
        select(gaps, "ill", labels="mcar", k=2)
    named = select(gaps, "ill", labels="mcar", positive=2, k=2)
    assert set(named.names) == {"first", "other"}
    binary = select(three, "ill", labels="supervised", positive=2, k=2)
    expected = select(table.assign(ill=(grade == 2).astype(int)), "ill", k=2)
    assert binary.scores == pytest.approx(expected.scores, abs=1e-12)


def test_minus_one_is_unlabeled_or_a_question(table):
    labeled = np.arange(3000) % 2 == 0
    marked = table.assign(ill=table["ill"].where(labeled, -1))
    gaps = select(without_labels(table, labeled), "ill", labels="mcar", k=3)
    assert select(marked, "ill", labels="mcar", k=3).scores == gaps.scores
    signs = table.assign(ill=2 * table["ill"] - 1)
    with pytest.raises(LabelError, match="the labels are -1 and \\+1"):
        select(signs, "ill", k=2)
    assert select(signs, "ill", labels="supervised", k=2).scores == select(table, "ill", k=2).scores
    assert select(signs, "ill", unlabeled_marker=None, k=2).scores == select(table, "ill", k=2).scores


def test_an_impossible_prior_is_told():
    x = [1] * 390 + [0] * 10 + [1] * 60 + [0] * 540
    y = [1.0] * 400 + [np.nan] * 600
    with pytest.warns(RegimeWarning, match=r"p\(y=1\) = 0\.9 leaves a negative number of negatives in 'x': correct it"):
        selection = select({"x": x, "y": y}, "y", labels="pu", prior=0.9, k=1)
    assert len(selection.warnings) == 1


def test_cmi_says_when_it_has_nothing_left():
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 3, (80, 12))
    order, scores = naive_selection(codes[:, :11].T.tolist(), codes[:, 11].tolist(), 11, "cmi")
    place = next(n for n, score in enumerate(scores, start=1) if score < 1e-12)
    with pytest.warns(TooFewRowsWarning, match=f"from feature {place} on all scores are 0 and columns are taken in"):
        selection = select(codes, 11, criterion="cmi", k=11)
    assert selection.names == tuple(f"x{x}" for x in order)
    spent = selection.names[place - 1 :]
    assert list(spent) == sorted(spent, key=lambda name: int(name[1:]))


# The result -------------------------------------------------------------------------------------------


def example(**changes):
    content = {
        "target": "ill",
        "names": ("<b>age</b>", "dose"),
        "scores": (0.08, 0.05),
        "relevance": (0.08, 0.03),
        "criterion": "jmi",
        "n_rows": 500,
        "n_candidates": 7,
    }
    return Selection(**{**content, **changes})


def test_selection_is_a_sequence_of_names():
    selection = example()
    assert list(selection) == ["<b>age</b>", "dose"]
    assert len(selection) == 2
    assert "dose" in selection
    assert "weight" not in selection
    assert selection.table()[1] == {"feature": "dose", "score": 0.05, "relevance": 0.03}
    assert selection != "something else"


def test_html_is_escaped():
    html = example(target="<i>", labels="<script>", warnings=("<u>",), excluded={"<s>": "id"})._repr_html_()
    for wicked in ("<b>", "<i>", "<script>", "<u>", "<s>"):
        assert wicked not in html
    assert "&lt;b&gt;age&lt;/b&gt;" in html


def test_repr_tells_all():
    text = repr(
        example(
            labels="All is well.",
            warnings=("mind the gap",),
            excluded={"id": "one row a level"},
            data={"binned": {"dose": {"rule": "sturges", "cuts": [1.5]}}},
        )
    )
    assert text.startswith("2 of 7 features for ill, by jmi\n")
    for part in ("All is well.", "note: mind the gap", "Not looked at: id", "by the rule sturges: dose", "500 rows"):
        assert part in text


def test_long_and_empty_selections_print():
    names = tuple(f"x{j}" for j in range(60))
    text = repr(example(names=names, scores=(0.1,) * 60, relevance=(0.1,) * 60, n_candidates=90))
    assert "and 20 more" in text
    assert "x39" in text
    assert "x40" not in text
    assert repr(example(names=(), scores=(), relevance=())).startswith("0 of 7 features")


def test_json_round_trip(table, tmp_path):
    selection = select(table, "ill", k=3)
    path = tmp_path / "selection.json"
    content = json.loads(selection.to_json(path, indent=2))
    assert content["schema"] == "blankets/selection"
    assert content["schema_version"] == 4
    assert content["names"] == list(selection.names)
    assert Selection.load(path) == selection
    assert Selection.from_json(selection.to_json()) == selection


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "blankets/blanket"}, "the key 'schema' with the value 'blankets/selection' is missing"),
        ({"schema_version": 99}, "schema version is 99"),
        ({"names": ["age"]}, "'names', 'scores' and 'relevance' differ in length"),
        ({"scores": ["high", "low"]}, "'scores' holds"),
    ],
)
def test_json_that_is_not_ours(change, message):
    with pytest.raises(DataError, match=message):
        Selection.from_dict({**example().to_dict(), **change})


def test_the_number_of_features_by_another_name_is_answered_with_ours():
    with pytest.raises(ParameterError, match=r"there is no argument 'n_features'; did you mean 'k'\?"):
        select({"a": [0, 1] * 50, "t": [0, 0, 1, 1] * 25}, "t", n_features=3)
