"""Partial labels at the public edge: conditional tests, copies and constants among features, estimated priors."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import chi2_contingency

import blankets as bl
from blankets.errors import DataError, DuplicateColumnWarning, LabelError, ParameterError, RegimeWarning
from blankets.regimes import regime_from


def study(n=4000, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 3, n)
    smoker = rng.random(n) < np.array([0.1, 0.3, 0.4])[age]
    cough = rng.random(n) < np.where(smoker, 0.55, 0.25) + 0.05 * age
    return pd.DataFrame({"cough": cough, "age": age, "coin": rng.integers(0, 2, n), "smoker": smoker.astype(float)})


def hidden(mechanism, table=None, seed=1):
    table = study() if table is None else table
    y, u = table["smoker"], np.random.default_rng(seed).random(len(table))
    keep = {
        "pu": (y == 1) & (u < 0.5),
        "mcar": u < 0.4,
        "mar-c": u < np.where(y == 1, 0.6, 0.2),
        "mar-f": u < np.where(table["age"] == 0, 0.7, 0.2),
    }[mechanism]
    return table.assign(smoker=y.where(keep))


CASES = [
    ("pu", "y0"),
    *((mechanism, surrogate) for mechanism in ("mcar", "mar-c") for surrogate in ("listwise", "ym", "y0", "y1")),
    ("mar-f", "listwise"),
]


@pytest.mark.parametrize(("mechanism", "surrogate"), CASES)
@pytest.mark.parametrize(("kind", "lambda_"), [("g", "log-likelihood"), ("x2", "pearson")])
def test_conditional_statistics_are_sums_over_strata_of_scipys(mechanism, surrogate, kind, lambda_):
    table = hidden(mechanism)
    result = bl.test(
        table,
        "cough",
        "smoker",
        ["age"],
        test=bl.Testing(kind, reliability=0),
        labels=regime_from(mechanism, prior=0.3, surrogate=surrogate),
    )
    seen = table.dropna(subset="smoker") if surrogate == "listwise" else table
    y = seen["smoker"].fillna({"ym": 2, "y0": 0, "y1": 1}.get(surrogate, -1))
    tables = [pd.crosstab(seen["cough"][seen["age"] == z], y[seen["age"] == z]) for z in (0, 1, 2)]
    parts = [chi2_contingency(part, correction=False, lambda_=lambda_) for part in tables]
    assert result.statistic == pytest.approx(sum(part.statistic for part in parts), rel=1e-10)
    assert result.dof == sum(part.dof for part in parts)
    assert result.valid


# ---------------------------------------------------------------- labels among the features

COPIES = {
    "0 for no label": lambda y: y.fillna(0),
    "flag": lambda y: y.notna(),
    "reversed": lambda y: np.where(y.isna(), "known not", "known"),
}


@pytest.mark.parametrize("copy", COPIES)
@pytest.mark.parametrize(
    "ask",
    [
        lambda t: bl.discover(t, "smoker", labels="pu"),
        lambda t: bl.rank(t, "smoker", labels="pu"),
        lambda t: bl.test(t, "cough", "smoker", labels="pu"),
        lambda t: bl.advise(t, "smoker", labels="pu"),
    ],
    ids=["discover", "rank", "test", "advise"],
)
def test_the_labels_once_more_as_a_feature(copy, ask):
    table = hidden("pu")
    table.insert(1, "label", COPIES[copy](table["smoker"]))
    with pytest.warns(DuplicateColumnWarning, match=r"equal to the labels of 'smoker' in all rows.*'label'; a test of"):
        ask(table)


def test_copies_with_gaps_in_both_classes_and_near_copies():
    table = hidden("mcar")
    table["label"] = table["smoker"]
    with pytest.warns(DuplicateColumnWarning, match="'label'"):
        bl.rank(table, "smoker", labels="mcar", missing="level")
    near = hidden("pu")
    near["label"] = near["smoker"].fillna(0)
    near.loc[near.index[-1], "label"] = 1 - near["label"].iloc[-1]
    bl.rank(near, "smoker", labels="pu")  # one row differs: no warning, which would be an error here


def test_a_copy_in_a_sparse_matrix():
    table = hidden("pu")
    y = table["smoker"].to_numpy()
    X = sparse.csr_array(np.column_stack([table["cough"], table["coin"], np.nan_to_num(y)]).astype(float))
    with pytest.warns(DuplicateColumnWarning, match="gaps included: 'x2'"):
        bl.rank(X, y=y, labels="pu")


def test_a_target_beside_a_table_that_has_it_too():
    table = hidden("pu")
    with pytest.raises(DataError, match=r"y is called 'smoker', and the table has such a column too; leave that out"):
        bl.rank(table, y=table["smoker"], labels="pu")


# ---------------------------------------------------------------- constant among the labeled rows


@pytest.mark.parametrize("mechanism", ["mcar", "mar-f"])
def test_features_constant_among_labeled_rows_are_named(mechanism):
    table = hidden(mechanism)
    table["ward"] = np.where(table["smoker"].isna(), table["coin"], 0)
    said = r"'ward' has a single value among the labeled rows, so that nothing can be said"
    with pytest.warns(RegimeWarning, match=said):
        ranking = bl.rank(table, "smoker", labels=mechanism)
    assert ranking.names[-1] == "ward" or ranking.p[ranking.names.index("ward")] == 1
    with pytest.warns(RegimeWarning, match=said):
        bl.mutual_information(table, "ward", "smoker", labels=mechanism)
    said = r"'ward' has a single value among the [\d,]+ labeled rows"
    with pytest.warns(RegimeWarning, match=said):
        blanket = bl.discover(table, "smoker", labels=mechanism)
    assert blanket.excluded["ward"].startswith("it has a single value in the rows that have a label")
    with pytest.warns(RegimeWarning, match=said):
        found = bl.test(table, "ward", "smoker", labels=mechanism)
    assert found.is_empty()
    assert "ward and smoker: there is nothing to compare" in str(found)
    assert not found.powers


# ---------------------------------------------------------------- a prior estimated from the table


def with_recognizable_positives(n=6000, seed=3):
    """A fifth of the rows is positive; half of these are told by color alone; 40% are labeled."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.2
    return pd.DataFrame(
        {
            "color": np.where(y & (rng.random(n) < 0.5), "red", rng.choice(["blue", "green"], n)),
            "coin": rng.integers(0, 2, n),
            "ill": np.where(y & (rng.random(n) < 0.4), "yes", None),
        }
    )


@pytest.mark.parametrize(("method", "most"), [("roc", 0.25), ("tice", 0.35)])
def test_estimated_prior_of_a_table(method, most):
    table = with_recognizable_positives()
    prior = bl.estimate_prior(table, "ill", method=method, n_resamples=10, rng=0)
    # c = 0.4 from about 600 recognized rows has a standard error of 5%, and the estimate uses a lower bound of it.
    assert 0.18 < prior.value < most
    assert str(prior).startswith("about 0.")
    assert f"estimated by {method} assuming that some recognizable group" in str(prior)
    same = bl.estimate_prior(table.drop(columns="ill"), y=table["ill"].to_numpy(), method=method, n_resamples=10, rng=0)
    assert same.value == prior.value


def test_estimated_prior_flows_into_every_question():
    table = with_recognizable_positives()
    prior = bl.estimate_prior(table, "ill", n_resamples=10, rng=0)
    a = table["ill"].notna().mean()
    result = bl.test(table, "color", "ill", labels="pu", prior=prior)
    assert result.kappa == pytest.approx((1 - prior.value) / prior.value * a / (1 - a))
    for said in (
        result.notes,
        bl.rank(table, "ill", labels="pu", prior=prior).notes,
        bl.mutual_information(table, "color", "ill", labels="pu", prior=prior).notes,
        bl.discover(table, "ill", labels="pu", prior=prior).warnings,
    ):
        assert any("estimated by roc assuming" in sentence for sentence in said)
    plan = bl.plan(effect="medium", power=0.9, rows=3000, labels="pu", prior=prior, rng=0)
    assert plan.draws is not None
    assert "estimated by roc" in plan.prior


def test_estimated_prior_of_positives_collected_apart():
    table = with_recognizable_positives()
    positives, rest = table[table["ill"].notna()], table.drop(columns="ill")
    apart = pd.concat([positives, rest.assign(ill=None)], ignore_index=True)  # the background is the population
    prior = bl.estimate_prior(apart, "ill", sampling="case-control", n_resamples=5, rng=0)
    assert 0.18 < prior.value < 0.24


def test_refusals_of_prior_estimation():
    table = with_recognizable_positives(400)
    with pytest.raises(ParameterError, match="unknown method to estimate the prior 'guess'"):
        bl.estimate_prior(table, "ill", method="guess")
    with pytest.raises(LabelError, match="'pu' is for one labeled class, but"):
        bl.estimate_prior(hidden("mcar"), "smoker", unlabeled_marker=None)
    with pytest.raises(ParameterError, match="unknown sampling 'two'"):
        bl.estimate_prior(table, "ill", sampling="two")
    with pytest.raises(LabelError, match="no row is unlabeled"):
        bl.estimate_prior(study(400), "coin", positive=1, unlabeled_marker=None, exclude=["smoker"])


@pytest.mark.parametrize(("rows", "warned"), [(8, True), (12, False)])
def test_an_estimate_that_rests_on_few_labeled_rows_of_a_level_says_so(rows, warned):
    # "rare" has all that x tells. With 6 or 7 such rows 85% of 90% intervals hold the truth, 87% and more from ten on.
    x = np.repeat(["rare", "b", "c"], [40, 130, 130])
    y = np.r_[np.ones(rows - 1), 0, np.full(40 - rows, np.nan), np.tile([1, 0, 0, np.nan, np.nan], 52)]
    estimate = bl.mutual_information({"x": x, "y": y}, "x", "y", labels="mar-f")
    said = [note for note in estimate.notes if f"rests on {rows} labeled rows with x = rare" in note]
    assert bool(said) == warned
    even = bl.mutual_information({"x": np.tile(["b", "c"], 150), "y": y}, "x", "y", labels="mar-f")
    assert not any("rests on" in note for note in even.notes)
