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


@pytest.fixture(scope="module")
def answers():
    """Yes and no: two strong causes, four weak ones, four columns of noise."""
    rng = np.random.default_rng(5)
    x = rng.integers(0, 2, (500, 10))
    y = x @ [1.2, 1.2, 0.32, 0.32, 0.3, 0.3, 0, 0, 0, 0] + rng.logistic(0, 0.8, 500) > 1.8
    return pd.DataFrame(x, columns=[f"x{k}" for k in range(10)]), y.astype(int)


def _p(X, y, x, given):
    """The p-value of one more column in a linear regression, by the F-test."""
    of = [np.linalg.lstsq(np.column_stack([np.ones(len(y)), X[cols]]), y, rcond=None)[1][0]
          for cols in (given, [*given, x])]  # fmt: skip
    dof = len(y) - len(given) - 2
    return stats.f.sf((of[0] - of[1]) / of[1] * dof, 1, dof)


def test_the_strongest_given_all_that_are_kept_while_it_depends(answers):
    X, y = answers
    selector = bl.MarkovBlanketSelector().fit(X, y)
    kept, left = list(selector.blanket_.members), set(X).difference(selector.blanket_.members)
    while left and _p(X, y, best := min(left, key=lambda x: _p(X, y, x, kept)), kept) <= min(1 / X.shape[1], 0.157):
        kept.append(best)
        left.remove(best)
    assert len(selector.extra_) >= 2
    assert selector.extra_ == tuple(kept[len(selector.blanket_) :])


def test_the_support_says_who_is_a_member(answers):
    X, y = answers
    selector = bl.MarkovBlanketSelector().fit(X, y)
    n_members, n_extra = len(selector.blanket_), len(selector.extra_)
    assert selector.get_support().sum() == n_members + n_extra
    alone = selector.get_support(indices=True, members_only=True)
    assert {X.columns[k] for k in alone} == set(selector.blanket_.members)
    assert selector.transform(X).shape == (500, n_members + n_extra)


def test_members_alone(answers):
    X, y = answers
    selector = bl.MarkovBlanketSelector(extra=0).fit(X, y)
    assert selector.extra_ == ()
    assert selector.get_support().tolist() == selector.get_support(members_only=True).tolist()


def test_copies_of_members_are_not_kept(data):
    X, y = data
    selector = bl.MarkovBlanketSelector(extra=0.01).fit(X, y)
    assert selector.get_support().tolist() == [True, True] + [False] * 8


def test_without_members_columns_that_depend_by_themselves_are_kept(data, monkeypatch):
    # Closing asks for smaller p-values than alpha, so that a blanket can be empty where columns depend by themselves.
    X, y = data
    rng = np.random.default_rng(0)
    weak = pd.DataFrame({f"w{k}": y + rng.normal(0, 4.5, 400) for k in range(6)})
    strongest = min(weak, key=lambda name: stats.ttest_ind(weak[name][y == 1], weak[name][y == 0]).pvalue)
    found = bl.discover(X[["noise0", "noise1"]], y=y)
    assert not found.members
    monkeypatch.setattr("blankets.estimators._selector.discover", lambda *_, **__: found)
    assert bl.MarkovBlanketSelector().fit(weak, y).extra_[0] == strongest


def test_one_column_for_each_ten_rows(data):
    X, y = data
    few = bl.MarkovBlanketSelector(extra=10, alpha=0.05).fit(X[:40], y[:40])
    assert 0 < len(few.blanket_) <= 4
    assert len(few.blanket_) + len(few.extra_) == 4


def test_many_classes_for_which_rows_are_few():
    # All columns tell the 15 classes apart; with 240 rows no test is made given three of them.
    rng = np.random.default_rng(2)
    y = np.arange(240) % 15
    X = pd.DataFrame(rng.normal(size=(15, 30))[y] + rng.normal(size=(240, 30))).rename(columns="x{}".format)
    selector = bl.MarkovBlanketSelector().fit(X, y)
    assert len(selector.blanket_) < 5
    given = list(selector.blanket_.members)
    assert not bl.test(X.assign(y=y.astype(str)), selector.extra_[0], "y", given=given).reliable
    assert selector.get_support().sum() == 24


def test_of_columns_that_tell_nothing_about_one_is_kept_however_many_there_are():
    # The smallest of m p-values is at most 1 / m in 1 - (1 - 1 / m)^m of the tables, and one is in the mean; binomial
    # and Poisson, five standard errors.
    rng = np.random.default_rng(3)
    for m, draws in ((8, 60), (60, 30)):
        kept = np.array([len(bl.MarkovBlanketSelector().fit(rng.normal(size=(100, m)), rng.integers(0, 2, 100)).extra_)
                         for _ in range(draws)])  # fmt: skip
        expected = 1 - (1 - 1 / m) ** m
        assert abs(np.mean(kept > 0) - expected) < 5 * np.sqrt(expected * (1 - expected) / draws)
        assert abs(kept.mean() - 1) < 5 / np.sqrt(draws)


def test_a_row_of_weight_two_is_two_rows(answers):
    X, y = answers
    selector = bl.MarkovBlanketSelector(algorithm="iamb")
    twice = selector.fit(X, y, sample_weight=np.full(500, 2)).get_support()
    np.testing.assert_array_equal(twice, selector.fit(pd.concat([X, X]), np.tile(y, 2)).get_support())


@pytest.mark.parametrize("labels", [bl.SemiSupervised("mar-f"), "mcar"])
def test_where_labels_are_missing(answers, labels):
    X, y = answers
    rng = np.random.default_rng(1)
    assert bl.MarkovBlanketSelector(labels=labels).fit(X, np.where(rng.random(500) < 0.1, -1, y)).extra_


def test_a_question_that_labels_do_not_answer(data, monkeypatch):
    X, y = data

    def refuse(*_, **__):
        raise bl.errors.NotAnswerableError("these labels do not tell")

    monkeypatch.setattr("blankets.estimators._selector.open_study", refuse)
    with pytest.warns(RegimeWarning, match="no features are kept for prediction beside the members: these labels"):
        selector = bl.MarkovBlanketSelector(algorithm="iamb").fit(X, y)
    assert selector.extra_ == ()


def test_a_number_of_features_that_is_none(data):
    with pytest.raises(ParameterError, match="'extra' must be a number of features, 0 or more, but it is -1"):
        bl.MarkovBlanketSelector(extra=-1).fit(*data)
