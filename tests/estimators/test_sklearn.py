"""`MarkovBlanketSelector` and `HitonWrapper` as citizens of scikit-learn."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

from blankets import HitonWrapper, MarkovBlanketSelector
from blankets.errors import MissingValuesError, ParameterError
from sklearn_faults import own_faults

# Data of the checks are random: many features go unselected, and continuous columns of 20 rows are no harm.
pytestmark = [
    pytest.mark.filterwarnings("ignore:No features were selected:UserWarning"),
    pytest.mark.filterwarnings("ignore::blankets.errors.BlanketsWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
    pytest.mark.filterwarnings("ignore:The least populated class:UserWarning"),
]


@parametrize_with_checks(
    [
        MarkovBlanketSelector(),
        MarkovBlanketSelector(algorithm="inter-iamb", missing="level"),
        MarkovBlanketSelector(algorithm="hiton-mb", discretize="equal-frequency", n_bins=3),
        HitonWrapper(LogisticRegression(), cv=2),
    ],
    expected_failed_checks=own_faults,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_selects_the_blanket_of_a_mixed_frame(data):
    X, y = data
    selector = MarkovBlanketSelector().fit(X, y)
    assert selector.get_feature_names_out().tolist() == ["color", "shape"]
    assert selector.blanket_.members == ("color", "shape")
    assert selector.feature_names_in_.tolist() == ["color", "size", "shape", "noise"]


@pytest.mark.parametrize("series", [lambda name, y: pd.Series(y, name=name), pl.Series], ids=["pandas", "polars"])
def test_a_series_keeps_its_name(data, series):
    X, y = data
    assert MarkovBlanketSelector().fit(X, series("fruit", y)).blanket_.target == "fruit"
    assert MarkovBlanketSelector().fit(X, series("color", y)).blanket_.target == "target"  # a column is called so


def test_options_that_are_none(data):
    with pytest.raises(
        ParameterError, match="'options' must be a mapping of options of the algorithm to values, but it is 'k'"
    ):
        MarkovBlanketSelector(options="k").fit(*data)


def test_output_in_the_users_container(data):
    X, y = data
    selector = MarkovBlanketSelector().set_output(transform="pandas").fit(X, y)
    pd.testing.assert_frame_equal(selector.transform(X), X[["color", "shape"]], check_dtype=False)
    as_polars = MarkovBlanketSelector().set_output(transform="polars").fit(pl.from_pandas(X), y)
    assert as_polars.transform(pl.from_pandas(X)).columns == ["color", "shape"]


def test_in_a_pipeline_with_grid_search(data):
    X, y = data
    model = make_pipeline(
        MarkovBlanketSelector().set_output(transform="pandas"),
        OneHotEncoder(handle_unknown="ignore"),
        LogisticRegression(),
    )
    grid = {"markovblanketselector__algorithm": ["iamb", "pcmb"], "markovblanketselector__alpha": [0.001, 0.05]}
    search = GridSearchCV(model, grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.6
    assert search.best_estimator_[0].get_support()[[0, 2]].all()


def test_clone_and_pickle_keep_everything(data):
    X, y = data
    selector = MarkovBlanketSelector(algorithm="fbed", options={"k": 2}, alpha=0.02)
    assert clone(selector).get_params() == selector.get_params()
    fitted = selector.fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.get_support() == fitted.get_support()).all()
    assert again.blanket_.members == fitted.blanket_.members


def test_sparse_matrix_stays_sparse():
    rng = np.random.default_rng(1)
    X = sparse.csr_array((rng.random((600, 40)) < 0.2).astype(float))
    y = X[:, [5]].toarray().ravel().astype(int) ^ (rng.random(600) < 0.05)
    selector = MarkovBlanketSelector().fit(X, y)
    assert selector.get_support(indices=True, members_only=True).tolist() == [5]
    assert sparse.issparse(selector.transform(X))


def test_missing_values_follow_the_policy(data):
    X, y = data
    X = X.assign(size=X["size"].where(X.index % 7 > 0))
    with pytest.raises(MissingValuesError, match="size"):
        MarkovBlanketSelector(missing="error").fit(X, y)
    assert MarkovBlanketSelector().fit(X, y).get_support()[0]
    assert MarkovBlanketSelector(missing="level").fit(X, y).get_support()[0]


def test_dates_beside_numbers():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 300)
    frame = pd.DataFrame(
        {"day": pd.Timestamp("2020-01-01") + pd.to_timedelta(y * 30, unit="D"), "x": y + rng.random(300)}
    )
    selector = MarkovBlanketSelector(extra=1.0).fit(frame, y)
    assert selector.transform(frame).tolist() == frame.to_numpy()[:, selector.get_support()].tolist()


def test_before_fit():
    with pytest.raises(NotFittedError):
        MarkovBlanketSelector().get_support()


def test_options_of_the_algorithm_are_checked(data):
    with pytest.raises(ParameterError, match="has no option 'depth'"):
        MarkovBlanketSelector(algorithm="fbed", options={"depth": 2}).fit(*data)


def noisy_copies():
    rng = np.random.default_rng(3)
    cause = rng.integers(0, 2, 900)
    flips = (0.05, 0.3, 0.47)
    return np.column_stack([(cause + (rng.random(900) < p)) % 2 for p in flips] + [rng.integers(0, 2, 900)]), cause


def test_wrapper_never_ends_below_the_blanket():
    X, y = noisy_copies()
    wrapper = HitonWrapper(BernoulliNB(), cv=5).fit(X, y)
    scores = [score for _, score in wrapper.scores_]
    assert scores == sorted(scores)  # with no tolerance, no step may lower the score
    sizes = [len(names) for names, _ in wrapper.scores_]
    assert sizes == list(range(sizes[0], sizes[-1] - 1, -1))
    assert wrapper.get_support()[0]
    assert not wrapper.get_support()[3]


def test_wrapper_scores_are_cross_validated_scores():
    X, y = noisy_copies()
    wrapper = HitonWrapper(BernoulliNB(), cv=4, scoring="balanced_accuracy").fit(X, y)
    names, score = wrapper.scores_[-1]
    columns = [int(name[1:]) for name in names]
    reference = cross_val_score(BernoulliNB(), X[:, columns], y, cv=4, scoring="balanced_accuracy").mean()
    assert score == pytest.approx(reference, rel=1e-12)


def test_wrapper_as_published_considers_each_member_once_the_weakest_first():
    X, y = noisy_copies()
    tried = []

    def scoring(model, part, target):
        tried.append(part.shape[1])
        return model.score(part, target)

    wrapper = HitonWrapper(BernoulliNB(), cv=[(np.arange(300), np.arange(300, 600))], scoring=scoring, order="weakest")
    members = [int(name[1:]) for name in wrapper.fit(X, y).selector_.blanket_.members]
    assert len(tried) <= 1 + len(members)

    def score(columns):
        return BernoulliNB().fit(X[:300, columns], y[:300]).score(X[300:600, columns], y[300:600])

    kept, best = list(members), score(members)
    for x in reversed(members):  # the slide, word for word
        fewer = [k for k in kept if k != x]
        if fewer and score(fewer) >= best:
            kept, best = fewer, score(fewer)
    assert np.flatnonzero(wrapper.get_support()).tolist() == sorted(kept)
    assert wrapper.scores_[-1] == (tuple(f"x{j}" for j in kept), pytest.approx(best))
    with pytest.raises(ParameterError, match="unknown order 'strongest'"):
        HitonWrapper(BernoulliNB(), order="strongest").fit(X, y)


def test_wrapper_tolerance_trades_score_for_fewer_features():
    X, y = noisy_copies()
    strict, lenient = (HitonWrapper(BernoulliNB(), tolerance=t).fit(X, y).get_support().sum() for t in (0.0, 0.4))
    assert lenient == 1
    assert lenient <= strict
    with pytest.raises(ParameterError, match="'tolerance' must be"):
        HitonWrapper(BernoulliNB(), tolerance=-1).fit(X, y)
