"""Rankings and selections through a surrogate that the user names, and wherever the rows are counted."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mutual_info_score

import blankets as bl
from blankets.counting import MemoryCounter
from blankets.errors import LabelError, NotAnswerableError, ParameterError, RegimeWarning, TargetError
from blankets.estimators import InformationSelector
from filters.naive import entropy, information

N = 900


@pytest.fixture(scope="module")
def complete():
    rng = np.random.default_rng(20)
    a, b, c = rng.integers(0, 3, (3, N))
    ill = (rng.random(N) < 0.15 + 0.2 * a + 0.1 * b).astype(int)
    echo = np.where(rng.random(N) < 0.8, a, rng.integers(0, 3, N))
    return pd.DataFrame({"c": c, "b": b, "echo": echo, "a": a, "ill": ill})


@pytest.fixture(scope="module")
def hidden(complete):
    """A third of the ill and a tenth of the healthy have a label."""
    rng = np.random.default_rng(21)
    known = rng.random(N) < np.where(complete["ill"] == 1, 1 / 3, 0.1)
    return complete.assign(ill=complete["ill"].where(known).astype("Int64"))


def stand_in(table, surrogate):
    """Return the rows and the column that stand in for the target, by their definition."""
    target = table["ill"]
    if surrogate == "listwise":
        return table[target.notna()], target[target.notna()].astype(int)
    return table, target.fillna({"y0": 0, "y1": 1, "ym": 2}[surrogate]).astype(int)


FEATURES = ["c", "b", "echo", "a"]
SURROGATES = ["listwise", "ym", "y0", "y1"]


@pytest.mark.parametrize("prior", [None, 0.45])
@pytest.mark.parametrize("surrogate", SURROGATES)
def test_a_ranking_through_a_surrogate_is_by_the_information_about_it(hidden, surrogate, prior):
    rows, y = stand_in(hidden, surrogate)
    ranking = bl.rank(hidden, "ill", labels=bl.SemiSupervised("mar-c", prior, surrogate=surrogate))
    expected = {name: mutual_info_score(rows[name], y) for name in FEATURES}
    assert list(ranking.names) == sorted(FEATURES, key=expected.get, reverse=True)
    np.testing.assert_allclose(ranking.information, [expected[name] for name in ranking], rtol=1e-9)
    assert ranking.estimator == "plug-in"
    assert ranking.n_rows == N
    assert ranking.notes[1].endswith(": it was asked for.")
    assert ranking.call.options["labels"]["surrogate"] == surrogate


def test_without_a_prior_the_regimes_own_surrogate_ranks_and_the_notes_say_so(hidden):
    ranking = bl.rank(hidden, "ill", labels="mar-c")
    through = bl.rank(hidden, "ill", labels=bl.SemiSupervised("mar-c", surrogate="ym"))
    np.testing.assert_array_equal(ranking.information, through.information)
    assert "In place of the target, the estimate counts unlabeled rows as a class of their own" in ranking.notes[1]
    assert "nothing is known about p(y=1)" in ranking.notes[1]
    estimated = bl.rank(hidden, "ill", labels="mar-c", prior=0.45)
    assert estimated.estimator == "Pos (labeled positives with the prior)"
    assert len(estimated.notes) == 1


def test_the_squared_loss_of_a_surrogate(hidden):
    """Squared-loss information is Pearson's X² over twice the rows."""
    from scipy.stats import chi2_contingency

    ranking = bl.rank(hidden, "ill", loss="squared", labels=bl.SemiSupervised("mar-c", surrogate="y0"))
    rows, y = stand_in(hidden, "y0")
    for name, value in zip(ranking.names, ranking.information, strict=True):
        x2 = chi2_contingency(pd.crosstab(rows[name], y), correction=False).statistic
        assert value == pytest.approx(x2 / (2 * N))


def twin_score(criterion, table, surrogate, name, chosen):
    """Terms with the target, interaction too, from the rows of the surrogate; redundancy from all rows."""
    rows, y = stand_in(table, surrogate)
    x, others = rows[name].tolist(), [rows[other].tolist() for other in chosen]
    relevance = information(x, y.tolist())
    if not chosen:
        return relevance
    within = [information(x, other, [y.tolist()]) for other in others]
    redundancy = [information(table[name].tolist(), table[other].tolist()) for other in chosen]
    joint = [information(list(zip(x, other, strict=True)), y.tolist()) for other in others]
    pairs = [entropy(table[name].tolist(), table[other].tolist()) for other in chosen]
    whole = [pair + entropy(y.tolist()) - i for pair, i in zip(pairs, joint, strict=True)]
    return {
        "jmi": sum(joint),
        "mrmr": relevance - sum(redundancy) / len(chosen),
        "cife": relevance + sum(i - relevance for i in (information(x, y.tolist(), [other]) for other in others)),
        "condred": relevance + sum(within),
        "disr": sum(i / h for i, h in zip(joint, whole, strict=True)),
        "cmi": information(x, y.tolist(), others),
    }[criterion]


@pytest.mark.parametrize("criterion", ["jmi", "mrmr", "cife", "condred", "disr", "cmi"])
@pytest.mark.parametrize("surrogate", SURROGATES)
def test_a_selection_through_a_surrogate_is_that_of_a_slow_twin(hidden, criterion, surrogate):
    selection = bl.select(
        hidden, "ill", k=4, criterion=criterion, labels=bl.SemiSupervised("mar-c", 0.45, surrogate=surrogate)
    )
    for place, name in enumerate(selection.names):
        before = selection.names[:place]
        scores = {x: twin_score(criterion, hidden, surrogate, x, before) for x in FEATURES if x not in before}
        assert max(scores, key=scores.get) == name
        assert selection.scores[place] == pytest.approx(scores[name], abs=1e-9)
    assert selection.settings["surrogate"] == surrogate
    assert selection.settings["surrogate_is_valid"] is True
    assert selection.labels.endswith(": it was asked for.")


def test_positives_collected_apart_say_nothing_of_redundancy(complete):
    """The records' first column repeats the others among the labeled rows alone; the background decides."""
    records = complete[complete["ill"] == 1].assign(ill=1.0)
    records = records.assign(c=records["a"])
    both = pd.concat([records, complete.assign(ill=np.nan)], ignore_index=True)
    regime = bl.PositiveUnlabeled(sampling="case-control", surrogate="y0")
    picked = bl.select(both, "ill", k=2, criterion="mifs", labels=regime)
    y = both["ill"].notna().tolist()
    first, second = picked.names
    redundancy = information(complete[first].tolist(), complete[second].tolist())
    assert picked.scores[1] == pytest.approx(information(both[second].tolist(), y) - redundancy, abs=1e-9)


@pytest.mark.parametrize("criterion", ["mrmr", "mifs", "cife", "condred", "icap", "linear"])
@pytest.mark.parametrize("regime", ["pu", "mar-c", bl.PositiveUnlabeled("<0.6"), bl.PositiveUnlabeled(drivers="a")])
def test_what_a_surrogate_keeps_is_not_weighed_against_whole_information(hidden, criterion, regime):
    positives = hidden.assign(ill=hidden["ill"].where(hidden["ill"] == 1))
    table = hidden if regime == "mar-c" else positives
    weights = {"beta": 1.0, "gamma": 0.5} if criterion == "linear" else {}
    with pytest.raises(NotAnswerableError, match=r"an unknown part \(κ\).*'cmi', 'cmim', 'disr', 'jmi', 'mim'"):
        bl.select(table, "ill", k=2, criterion=criterion, labels=regime, **weights)


def test_with_the_prior_redundancy_weighs_what_it_weighs_with_all_labels():
    """Something that tells much and repeats a little comes before noise, as with full labels."""
    rng = np.random.default_rng(0)
    n = 20_000
    first, noise = rng.random((2, n)) < 0.5
    second = np.where(rng.random(n) < 0.6, first, ~first)
    y = rng.random(n) < 0.05 + 0.4 * first + 0.15 * second
    table = {"first": first, "second": second, "noise": noise}
    seen = np.where(y & (rng.random(n) < 0.1), 1.0, np.nan)
    prior = float(y.mean())
    for labels, of_y in (("supervised", y), (bl.PositiveUnlabeled(prior), seen)):
        assert bl.select({**table, "y": of_y}, "y", k=2, criterion="mrmr", labels=labels).names == ("first", "second")
    alone = bl.PositiveUnlabeled(surrogate="y0")  # it is the target then
    assert bl.select({**table, "y": seen}, "y", k=2, criterion="mrmr", labels=alone).names == ("first", "noise")


def test_invalid_surrogates_are_refused_or_marked(hidden, complete):
    for ask in (bl.rank, lambda *a, **k: bl.select(*a, k=2, **k)):
        with pytest.raises(LabelError, match=r"is not valid here: labeling depends on the features.*force=True"):
            ask(hidden, "ill", labels=bl.SemiSupervised("mar-f", surrogate="y0"))
        with pytest.raises(NotAnswerableError, match="pairwise deletion is a test"):
            ask(hidden, "ill", labels=bl.SemiSupervised("mcar", surrogate="pairwise"))
        with pytest.raises(ParameterError, match="unknown surrogate 'y2'"):
            bl.SemiSupervised("mcar", surrogate="y2")
        with pytest.raises(LabelError, match="no row is unlabeled, but labels='mcar' needs some"):
            ask(complete, "ill", labels=bl.SemiSupervised("mcar", surrogate="y0"))
    marked = bl.rank(hidden, "ill", labels=bl.SemiSupervised("mar-f", surrogate="y0", force=True))
    assert marked.notes[1].endswith("It is not valid here; you asked for it anyway.")
    chosen = bl.select(hidden, "ill", k=1, labels=bl.SemiSupervised("mar-f", surrogate="y0", force=True))
    assert chosen.settings["surrogate_is_valid"] is False
    assert chosen.labels.endswith("It is not valid here; you asked for it anyway.")


def test_features_without_a_value_among_labeled_rows_are_named(hidden):
    table = hidden.assign(c=np.where(hidden["ill"].notna(), 0, hidden["c"]))
    with pytest.warns(RegimeWarning, match="'c' has a single value among the labeled rows"):
        bl.rank(table, "ill", labels=bl.SemiSupervised("mcar", surrogate="listwise"))


# Engines


def same(one, two):
    if isinstance(one, bl.Ranking):
        assert one.table() == two.table()
        for part in ("law", "estimator", "n_rows", "notes"):
            assert one.to_dict()[part] == two.to_dict()[part]
    else:
        assert (one.names, one.scores, one.relevance, one.n_rows) == (two.names, two.scores, two.relevance, two.n_rows)
    return True


ASKED = [(bl.rank, {}), (bl.select, {"k": 3, "criterion": "mrmr"}), (bl.select, {"k": 3, "criterion": "jmi"})]


@pytest.fixture(scope="module")
def folder(hidden, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hidden")
    for number, start in enumerate(range(0, N, 400)):
        hidden.iloc[start : start + 400].to_parquet(folder / f"part{number}.parquet", index=False)
    return folder


@pytest.mark.parametrize(("ask", "how"), ASKED)
@pytest.mark.parametrize(
    "known",
    [
        {"labels": "mcar"},
        {"labels": "mar-c", "prior": 0.4},
        {"labels": bl.SemiSupervised("mar-c", surrogate="listwise")},
    ],
)
def test_folders_stores_and_small_memory_give_the_same(hidden, folder, tmp_path, monkeypatch, ask, how, known):
    expected = ask(hidden, "ill", **how, **known)
    assert same(ask(folder, "ill", **how, **known), expected)
    store = bl.pack(folder, tmp_path / "store", target="ill")
    assert same(ask(store, "ill", **how, **known), expected)
    hidden.to_csv(tmp_path / "hidden.csv", index=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    told = []
    small = bl.Engine(memory_limit="1 kB")
    assert same(ask(tmp_path / "hidden.csv", "ill", **how, **known, engine=small, progress=told.append), expected)
    assert any("packing: 900 of 900 rows" in sentence for sentence in told)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hidden.csv", "store"]
    monkeypatch.setattr("blankets.study._engine.TALL", 100)
    monkeypatch.setattr(MemoryCounter, "summarize", None)  # nobody counts in one piece
    assert same(ask(store, "ill", **how, **known), expected)


def test_a_cluster_counts_the_same(hidden, folder):
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster:
        where = {"engine": bl.Engine("dask", cluster.scheduler_address)}
        for ask, how in ASKED:
            for known in ({"labels": "mcar"}, {"labels": bl.SemiSupervised("mar-c", surrogate="listwise")}):
                expected = ask(hidden, "ill", **how, **known)
                assert same(ask(folder, "ill", **how, **known, **where), expected)
                assert same(ask(hidden, "ill", **how, **known, **where), expected)


@pytest.mark.parametrize(("ask", "how"), ASKED)
def test_a_database_counts_the_same(complete, tmp_path, ask, how):
    complete.to_parquet(tmp_path / "complete.parquet", index=False)
    query = bl.SqlTable(f"SELECT * FROM read_parquet('{tmp_path}/complete.parquet')")
    expected = ask(complete, "ill", **how)
    assert same(ask(query, "ill", **how, engine="sql"), expected)
    assert same(ask(query, "ill", **how), expected)


def test_what_a_database_cannot_do(complete, hidden, tmp_path):
    hidden.to_parquet(tmp_path / "hidden.parquet", index=False)
    complete.to_parquet(tmp_path / "complete.parquet", index=False)
    gaps = bl.SqlTable(f"SELECT * FROM read_parquet('{tmp_path}/hidden.parquet')")
    query = bl.SqlTable(f"SELECT * FROM read_parquet('{tmp_path}/complete.parquet')")
    for ask in (bl.rank, bl.select, bl.discover):
        with pytest.raises(TargetError, match="'ill' has missing values; where labels are missing, pack the query"):
            ask(gaps, "ill", engine="sql")
        with pytest.raises(ParameterError, match="cannot take 'labels', 'prior'; leave out engine='sql', or pack"):
            ask(query, "ill", engine="sql", labels="pu", prior=0.5)
        with pytest.raises(ParameterError, match="cannot take 'y'"):
            ask(query, y=complete["ill"], engine="sql")
        with pytest.raises(ParameterError, match=r"give the data as bl\.SqlTable"):
            ask(complete, "ill", engine="sql")
        with pytest.raises(TargetError, match="no target was named"):
            ask(query, engine="sql")
    assert bl.rank(query, "ill", engine="sql", columns=["a"]).names == ("a",)
    with pytest.raises(ParameterError, match="pack the query for 'under_reported'"):
        bl.rank(query, "ill", engine="sql", under_reported={"b": 0.2})
    assert bl.rank(query, "ill", engine="sql", labels="supervised").names[0] == "a"
    assert bl.rank(query, "ill", columns=["a", "b"]).names == ("a", "b")


def test_engines_are_checked_as_everywhere(hidden):
    for ask in (bl.rank, bl.select):
        with pytest.raises(ParameterError, match="unknown engine 'dusk'; did you mean 'dask'"):
            ask(hidden, "ill", labels="mcar", engine="dusk")
        with pytest.raises(ParameterError, match="'address' is that of a Dask cluster"):
            ask(hidden, "ill", labels="mcar", engine=bl.Engine(address="tcp://127.0.0.1:1"))
    with pytest.raises(ParameterError, match="there is no argument 'exlude'; did you mean 'exclude'"):
        bl.rank(hidden, "ill", labels="mcar", exlude=["a"])


def test_the_selector_counts_where_it_is_told(complete):
    few = complete.iloc[:300]
    here = InformationSelector(k=2).fit(few[FEATURES], few["ill"])
    there = InformationSelector(k=2, engine="memory").fit(few[FEATURES], few["ill"])
    assert there.selection_.call.options["engine"] == "memory"
    assert same(there.selection_, here.selection_)


def test_under_reported_features_are_ranked_from_stores_too(complete, tmp_path):
    table = complete.assign(smokes=(complete["a"] == 2) & (np.arange(N) % 2 == 0))
    store = bl.pack(table, tmp_path / "store", target="ill")
    asked = {"under_reported": {"smokes": 0.35}}
    assert same(bl.rank(store, "ill", **asked), bl.rank(table, "ill", **asked))


@pytest.mark.parametrize("criterion", ["mim", "jmi", "cmi", "mrmr", "mifs", "cife", "cmim", "disr", "icap"])
def test_select_goes_on_from_where_it_stopped(criterion):
    rng = np.random.default_rng(11)
    columns = {f"x{j}": rng.integers(0, 3, 300) for j in range(6)}
    columns["y"] = (columns["x1"] + columns["x4"] + (rng.random(300) < 0.4)) % 3
    whole = bl.select(columns, "y", criterion=criterion, k=5)
    for at in (1, 2, 4):
        rest = bl.select(columns, "y", criterion=criterion, k=5 - at, start=whole.names[:at])
        assert rest.names == whole.names[at:]
        assert rest.scores == pytest.approx(whole.scores[at:])
        assert rest.n_candidates == 6 - at
        assert tuple(rest.settings["start"]) == whole.names[:at]


def test_select_cannot_start_from_what_is_no_feature():
    table = {"a": [0, 1] * 20, "b": [0, 0, 1, 1] * 10, "y": [0, 1, 1, 0] * 10}
    with pytest.raises(bl.errors.ParameterError, match="start= holds the target 'y'; it lists features"):
        bl.select(table, "y", k=1, start=["y"])
    with pytest.raises(bl.errors.DataError, match="there is no column 'c'"):
        bl.select(table, "y", k=1, start=["c"])
    with pytest.raises(bl.errors.ParameterError, match="k = 2 features cannot be selected: there are 1"):
        bl.select(table, "y", k=2, start=["a"])


@pytest.mark.filterwarnings("ignore::blankets.errors.BlanketsWarning")
def test_no_column_that_can_be_ranked():
    found = bl.rank({"constant": np.ones(60), "y": np.arange(60) % 2}, "y")
    assert (found.names, set(found.excluded)) == ((), {"constant"})
