"""What `MarkovBlanketSelector` keeps beside the members of the blanket."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import blankets as bl
from blankets.errors import ParameterError, RegimeWarning


@pytest.fixture(scope="module")
def data():
    """Two causes, two noisy copies of each, four columns of noise."""
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(2, 400))
    copies = {f"{name}{k}": value + rng.normal(0, 0.6, 400) for name, value in (("a", a), ("b", b)) for k in (1, 2)}
    noise = {f"noise{k}": rng.normal(size=400) for k in range(4)}
    return pd.DataFrame({"a": a, "b": b, **copies, **noise}), (a + b + rng.normal(0, 0.7, 400) > 0).astype(int)


def test_relevant_columns_beside_the_members_up_to_half(data):
    X, y = data
    selector = bl.MarkovBlanketSelector().fit(X, y)
    assert set(selector.blanket_.members) == {"a", "b"}
    assert len(selector.extra_) == 3
    assert set(selector.extra_) < {"a1", "a2", "b1", "b2"}
    # The definition of mRMR, from the terms that `mutual_information` estimates: relevance minus mean redundancy.
    table = X.assign(y=y.astype(str))
    relevance = {x: bl.mutual_information(table, x, "y").value for x in ("a1", "a2", "b1", "b2")}
    redundancy = {x: np.mean([_told(X, z, x) for z in "ab"]) for x in relevance}
    assert selector.extra_[0] == max(relevance, key=lambda x: relevance[x] - redundancy[x])


def _told(X, x, about):
    """What functions of one number tell of another, by a polynomial of the same degree."""
    fitted = np.polynomial.Polynomial.fit(X[x], X[about], 3)(X[x])
    return -0.5 * np.log(1 - np.corrcoef(fitted, X[about])[0, 1] ** 2)


def test_the_support_says_who_is_a_member(data):
    X, y = data
    selector = bl.MarkovBlanketSelector().fit(X, y)
    assert selector.get_support().sum() == 5
    assert selector.get_support(members_only=True).tolist() == [True, True] + [False] * 8
    assert selector.get_support(indices=True, members_only=True).tolist() == [0, 1]
    assert selector.transform(X).shape == (400, 5)


def test_members_alone(data):
    X, y = data
    selector = bl.MarkovBlanketSelector(share=0).fit(X, y)
    assert selector.extra_ == ()
    assert selector.get_support().tolist() == selector.get_support(members_only=True).tolist()


def test_columns_that_tell_nothing_stay_out(data):
    X, y = data
    everything = bl.MarkovBlanketSelector(share=1).fit(X, y)
    assert everything.get_support().tolist() == [True] * 6 + [False] * 4


def test_without_members_columns_that_depend_by_themselves_are_kept(data, monkeypatch):
    # Closing asks for smaller p-values than alpha, so that a blanket can be empty where columns depend by themselves.
    X, y = data
    rng = np.random.default_rng(0)
    weak = pd.DataFrame({f"w{k}": y + rng.normal(0, 4.5, 400) for k in range(6)})
    by_themselves = {name for name in weak if stats.ttest_ind(weak[name][y == 1], weak[name][y == 0]).pvalue < 0.01}
    found = bl.discover(X[["noise0", "noise1"]], y=y)
    assert not found.members
    monkeypatch.setattr("blankets.estimators._selector.discover", lambda *_, **__: found)
    selector = bl.MarkovBlanketSelector().fit(weak, y)
    assert by_themselves
    assert set(selector.extra_) == by_themselves


def test_one_column_for_each_ten_rows(data):
    X, y = data
    few = bl.MarkovBlanketSelector(share=1, alpha=0.05).fit(X[:40], y[:40])
    assert 0 < len(few.blanket_) <= 4
    assert len(few.blanket_) + len(few.extra_) == 4


def test_nothing_is_kept_where_nothing_depends(data):
    X, y = data
    alone = bl.MarkovBlanketSelector().fit(X[[f"noise{k}" for k in range(4)]], y)
    assert not alone.get_support().any()


def test_weights_and_groups_are_allowed(data):
    X, y = data
    selector = bl.MarkovBlanketSelector(algorithm="iamb")
    assert len(selector.fit(X, y, groups=np.arange(400) // 2).extra_) == 3
    assert selector.fit(X, y, sample_weight=np.full(400, 2)).extra_


def test_a_question_that_labels_do_not_answer(data, monkeypatch):
    X, y = data

    def refuse(*_, **__):
        raise bl.errors.NotAnswerableError("these labels do not tell")

    monkeypatch.setattr("blankets.estimators._selector.rank", refuse)
    with pytest.warns(RegimeWarning, match="no features are kept for prediction beside the members: these labels"):
        selector = bl.MarkovBlanketSelector(algorithm="iamb").fit(X, y)
    assert selector.extra_ == ()


def test_a_share_that_is_none(data):
    with pytest.raises(ParameterError, match="'share' must be a share of the features, from 0 to 1, but it is 2"):
        bl.MarkovBlanketSelector(share=2).fit(*data)
