"""`test`, `mutual_information` and `rank` under every label regime, against independent calculations."""

import sys

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency, ncx2
from sklearn.metrics import mutual_info_score

import blankets as bl
from blankets.errors import (
    DataError,
    LabelError,
    MissingPackageError,
    NotAnswerableError,
    ParameterError,
    RegimeWarning,
    TargetError,
)


def study(n=4000, seed=0):
    rng = np.random.default_rng(seed)
    smoker = rng.random(n) < 0.25
    age = rng.integers(0, 3, n)
    return pd.DataFrame(
        {
            "cough": np.where(rng.random(n) < np.where(smoker, 0.6, 0.25), "yes", "no"),
            "age": age,
            "coin": rng.integers(0, 2, n),
            "smoker": smoker.astype(float),
        }
    )


def hidden(table, mechanism, seed=1):
    """Hide labels: positives only, by lot, by class, or by age."""
    rng = np.random.default_rng(seed)
    y, u = table["smoker"], rng.random(len(table))
    keep = {
        "pu": (y == 1) & (u < 0.5),
        "mcar": u < 0.4,
        "mar-c": u < np.where(y == 1, 0.6, 0.2),
        "mar-f": u < np.where(table["age"] == 0, 0.7, 0.2),
    }[mechanism]
    return table.assign(smoker=y.where(keep))


SURROGATE = {"pu": "y0", "mcar": "listwise"}


@pytest.mark.parametrize("mechanism", ["pu", "mcar"])  # under mar-f tests are given what drives labeling
@pytest.mark.parametrize(("kind", "lambda_"), [("g", "log-likelihood"), ("x2", "pearson")])
def test_statistic_is_that_of_the_surrogate_column(mechanism, kind, lambda_):
    table = hidden(study(), mechanism)
    result = bl.test(table, "cough", "smoker", labels=mechanism, test=kind)
    seen = table if mechanism == "pu" else table.dropna(subset="smoker")
    reference = chi2_contingency(
        pd.crosstab(seen["cough"], seen["smoker"].fillna(0)), correction=False, lambda_=lambda_
    )
    assert result.statistic == pytest.approx(reference.statistic, rel=1e-10)
    assert (result.dof, result.n_rows, result.surrogate) == (reference.dof, len(seen), SURROGATE[mechanism])
    assert result.p == pytest.approx(reference.pvalue, rel=1e-8)


@pytest.mark.parametrize("surrogate", ["listwise", "ym", "y0", "y1"])
def test_every_surrogate_under_mar_c(surrogate):
    table = hidden(study(), "mar-c")
    result = bl.test(table, "cough", "smoker", labels=bl.SemiSupervised("mar-c", 0.25, surrogate=surrogate))
    fill = {"ym": 2, "y0": 0, "y1": 1}
    y = table["smoker"].dropna() if surrogate == "listwise" else table["smoker"].fillna(fill[surrogate])
    reference = chi2_contingency(
        pd.crosstab(table.loc[y.index, "cough"], y), correction=False, lambda_="log-likelihood"
    )
    assert result.statistic == pytest.approx(reference.statistic, rel=1e-10)
    assert result.valid


def test_soft_knowledge_decides_between_the_surrogates():
    table = hidden(study(), "mar-c")
    a, b = (table["smoker"] == 1).mean(), (table["smoker"] == 0).mean()
    threshold = 1 / (1 + np.sqrt((1 - a) * b / (a * (1 - b))))  # methods (3.7)
    low = bl.test(table, "cough", "smoker", labels="mar-c", prior=f"<{threshold - 0.02:.3f}")
    high = bl.test(table, "cough", "smoker", labels="mar-c", prior=f">{threshold + 0.02:.3f}")
    assert (low.surrogate, high.surrogate) == ("y0", "y1")
    assert "has more power" in low.why


def test_kappa_and_power_of_the_test():
    table = hidden(study(), "pu")
    result = bl.test(table, "cough", "smoker", labels="pu", prior=0.25, alpha=0.05)
    a = table["smoker"].notna().mean()
    kappa = 3 * a / (1 - a)
    assert result.kappa == pytest.approx(kappa)
    critical = 3.841458820694124
    assert result.powers["small"] == pytest.approx(ncx2.sf(critical, 1, 2 * kappa * 4000 * 0.005), rel=1e-9)
    assert ncx2.sf(critical, 1, 2 * kappa * 4000 * result.detectable[0.95]) == pytest.approx(0.95, rel=1e-6)


def test_conditional_kappa_is_by_stratum():
    table = hidden(study(), "pu")
    result = bl.test(table, "cough", "smoker", given=["age"], labels="pu", prior=0.25)
    assert result.kappa_form == "by stratum"
    assert 0 < result.kappa < 1


def test_an_invalid_surrogate_is_explained_and_can_be_forced():
    table = hidden(study(), "mar-f")
    with pytest.raises(LabelError, match=r"is not valid here: labeling depends on the features.*force=True"):
        bl.test(table, "cough", "smoker", labels=bl.SemiSupervised("mar-f", surrogate="y0"))
    forced = bl.test(table, "cough", "smoker", labels=bl.SemiSupervised("mar-f", surrogate="y0", force=True))
    assert not forced.valid
    assert "not valid" in repr(forced)


def test_supervised_estimate_is_scikit_learns():
    table = study()
    estimate = bl.mutual_information(table, "cough", "smoker")
    assert estimate.value == pytest.approx(mutual_info_score(table["cough"], table["smoker"]), rel=1e-10)


@pytest.mark.parametrize(("mechanism", "prior"), [("pu", 0.25), ("mcar", None), ("mar-c", 0.25), ("mar-f", None)])
def test_estimates_agree_with_full_labels(mechanism, prior):
    whole = study(60_000, seed=4)
    table = hidden(whole, mechanism)
    truth = bl.mutual_information(whole, "cough", "smoker")
    estimate = bl.mutual_information(table, "cough", "smoker", labels=mechanism, prior=prior)
    assert abs(estimate.value - truth.value) < 4 * estimate.standard_error
    low, high = estimate.interval(0.999)
    assert low < truth.value < high


def test_estimate_without_a_prior_says_what_is_missing():
    with pytest.raises(NotAnswerableError, match=r"p\(y=1\)"):
        bl.mutual_information(hidden(study(), "pu"), "cough", "smoker", labels="pu")


@pytest.mark.parametrize(("mechanism", "prior"), [("pu", 0.25), ("pu", None), ("mcar", None), ("mar-c", "<0.3")])
def test_ranking_under_partial_labels(mechanism, prior):
    ranking = bl.rank(hidden(study(20_000), mechanism), "smoker", labels=mechanism, prior=prior)
    assert ranking.names[0] == "cough"
    assert ranking.group[0] == 0
    assert ranking.group[1] == 1  # cough stands out ...
    assert ranking.group[2] == 1  # ... the other two cannot be told apart
    low, high = ranking.interval(0.9)
    assert (low <= np.maximum(ranking.information, 0)).all()  # methods (4.4) can be below 0
    assert (ranking.information <= high).all()


def test_ranking_values_are_the_estimates():
    table = hidden(study(), "pu")
    ranking = bl.rank(table, "smoker", labels="pu", prior=0.25)
    for name, value, error in zip(ranking.names, ranking.information, ranking.standard_error, strict=True):
        single = bl.mutual_information(table, name, "smoker", labels="pu", prior=0.25)
        assert value == pytest.approx(single.value, rel=1e-12)
        assert error == pytest.approx(single.standard_error, rel=1e-12)


def test_results_travel_as_json():
    import json

    table = hidden(study(), "pu")
    for result in (
        bl.test(table, "cough", "smoker", given=["age"], labels="pu", prior=0.25),
        bl.mutual_information(table, "cough", "smoker", labels="pu", prior=0.25),
        bl.rank(table, "smoker", labels="pu", prior=0.25),
    ):
        again = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        assert again["schema_version"] == 4
        assert "<script" not in result._repr_html_()


def test_names_are_escaped():
    table = study(300).rename(columns={"cough": "<script>alert(1)</script>"})
    for result in (bl.test(table, "<script>alert(1)</script>", "smoker"), bl.rank(table, "smoker")):
        assert "<script>" not in result._repr_html_()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda t: bl.test(t, "cuogh", "smoker"), DataError, "no column 'cuogh'; did you mean 'cough'"),
        (lambda t: bl.test(t, "smoker", "smoker"), ParameterError, "cannot be tested against itself"),
        (lambda t: bl.test(t, "cough", "smoker", given=["cough"]), ParameterError, "named twice"),
        (lambda t: bl.test(t, "cough"), TargetError, "no target was named"),
        (lambda t: bl.test(t, "cough", "smoker", test="t"), ParameterError, "unknown test 't'"),
        (lambda t: bl.test(t, "cough", "smoker", labels="pu", prior=1.5), ParameterError, "between 0 and 1"),
        (lambda t: bl.test(hidden(t, "pu"), "cough", "smoker", labels="pu", prior=0.05), LabelError, "labeled"),
        (lambda t: bl.test(hidden(t, "pu"), "cough", "smoker", labels="supervised"), LabelError, "are unlabeled"),
        (lambda t: bl.test(hidden(t, "pu"), "cough", "smoker", labels="mcar"), LabelError, "two classes"),
        (lambda t: bl.test(t.assign(smoker=np.nan), "cough", "smoker", labels="pu"), DataError, "missing|label"),
        (lambda t: bl.test(t.assign(smoker=2 * t["smoker"] - 1), "cough", "smoker"), LabelError, "is -1 the negative"),
        (
            lambda t: bl.test(t.assign(smoker=t["age"].where(t["coin"] > 0)), "cough", "smoker", labels="mcar"),
            LabelError,
            "positive=",
        ),
    ],
)
def test_wrong_questions_get_sentences(call, error, message):
    with pytest.raises(error, match=message):
        call(study(400))


def test_one_labeled_class_is_taken_for_pu_with_a_warning():
    table = hidden(study(400), "pu")
    with pytest.warns(RegimeWarning, match="read as positive-unlabeled data"):
        assert bl.test(table, "cough", "smoker").surrogate == "y0"


def test_a_feature_constant_among_labeled_rows_is_named():
    table = hidden(study(400), "mcar")
    table["ward"] = np.where(table["smoker"].isna(), table["coin"], 0)
    with pytest.warns(RegimeWarning, match=r"'ward' has a single value among the \d+ labeled rows"):
        bl.test(table, "cough", "smoker", labels="mcar")


def test_scikit_learns_marker_and_pu_zeros():
    table = hidden(study(), "pu")
    reference = bl.test(table, "cough", "smoker", labels="pu").statistic
    marked = table.assign(smoker=table["smoker"].fillna(-1).astype(int))
    zeros = table.assign(smoker=table["smoker"].fillna(0).astype(int))
    assert bl.test(marked, "cough", "smoker", labels="pu").statistic == reference
    assert bl.test(zeros, "cough", "smoker", labels="pu").statistic == reference


def test_a_named_positive_class_makes_two_of_many():
    table = study()
    many = table.assign(kind=np.where(table["smoker"] == 1, "smoker", np.where(table["coin"] == 1, "never", "former")))
    result = bl.test(many.drop(columns="smoker"), "cough", "kind", positive="smoker")
    assert result.statistic == pytest.approx(bl.test(table, "cough", "smoker").statistic, rel=1e-12)


def test_what_was_measured_may_lie_above_its_interval_but_is_not_printed_as_the_size():
    rng = np.random.default_rng(0)
    table = {"a": rng.integers(0, 12, 200), "t": rng.integers(0, 12, 200)}  # 121 degrees of freedom: bias of 0.3 nats
    found = bl.mutual_information(table, "a", "t")
    low, high = found.interval()
    assert found.value > high
    assert low <= found.corrected <= high
    assert f"{found.corrected:.3g} nats (small)" in str(found)
    assert "Size: small" in str(bl.test(table, "a", "t", test=bl.Testing(reliability=0)))
    assert f"{found.corrected:.3g}" in str(bl.rank(table, "t"))


def test_a_ranking_without_pandas(monkeypatch):
    ranking = bl.rank({"a": [0, 1] * 50, "t": [0, 1, 1, 0] * 25}, "t")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingPackageError, match="a ranking as a data frame needs the package 'pandas'; install it"):
        ranking.to_frame()
