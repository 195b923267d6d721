"""`InformationSelector` as a citizen of scikit-learn."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

from blankets.errors import BlanketsWarning, ParameterError
from blankets.estimators import InformationSelector
from blankets.questions.select import select
from sklearn_faults import own_faults


# Data of the checks are random and small: fewer features than k, continuous columns of 20 rows.
@pytest.mark.filterwarnings("ignore::blankets.errors.BlanketsWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@parametrize_with_checks(
    [
        InformationSelector(),
        InformationSelector(criterion="mrmr", k=1, missing="level"),
        InformationSelector(criterion="cmi", k=3, discretize="equal-frequency", n_bins=3),
    ],
    expected_failed_checks=own_faults,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_selects_what_select_selects(data):
    X, y = data
    selector = InformationSelector(criterion="mrmr", k=2).fit(X, y)
    assert selector.selection_.names == select(X, y=y, criterion="mrmr", k=2).names
    assert selector.get_feature_names_out().tolist() == ["color", "shape"]
    framed = clone(selector).set_output(transform="pandas").fit_transform(X, y)
    assert framed.columns.tolist() == ["color", "shape"]


def test_in_a_pipeline_with_grid_search(data):
    X, y = data
    model = make_pipeline(
        InformationSelector().set_output(transform="pandas"),
        OneHotEncoder(handle_unknown="ignore"),
        LogisticRegression(),
    )
    grid = {"informationselector__criterion": ["jmi", "mim"], "informationselector__k": [1, 2]}
    search = GridSearchCV(model, grid, cv=3, scoring="neg_log_loss", error_score="raise").fit(X.drop(columns="size"), y)
    assert search.best_params_["informationselector__k"] == 2


def test_unlabeled_rows_are_minus_one(data):
    X, y = data
    rng = np.random.default_rng(1)
    positives_only = np.where((y == 1) & (rng.random(len(y)) < 0.5), 1, -1)
    selector = InformationSelector(k=2, labels="pu", prior=float(y.mean())).fit(X, positives_only)
    assert selector.selection_.settings["labels"] == "pu"
    assert selector.get_support().tolist() == [True, False, True, False]
    some = np.where(rng.random(len(y)) < 0.4, y, -1)
    assert InformationSelector(k=2, labels="mcar").fit(X, some).get_support().tolist() == [True, False, True, False]


def test_fewer_features_than_k(data):
    X, y = data
    with pytest.warns(BlanketsWarning, match="k = 10, but there are 4 features: all are selected"):
        selector = InformationSelector().fit(X, y)
    assert selector.get_support().all()


def test_sparse_matrix_stays_sparse():
    rng = np.random.default_rng(1)
    X = sparse.csr_array((rng.random((600, 40)) < 0.2).astype(float))
    y = X[:, [5]].toarray().ravel().astype(int) ^ (rng.random(600) < 0.05)
    selector = InformationSelector(k=1).fit(X, y)
    assert np.flatnonzero(selector.get_support()).tolist() == [5]
    assert sparse.issparse(selector.transform(X))


def test_clone_and_pickle_keep_everything(data):
    X, y = data
    selector = InformationSelector(criterion="mifs", beta=0.5, k=3)
    assert clone(selector).get_params() == selector.get_params()
    again = pickle.loads(pickle.dumps(selector.fit(X, y)))
    assert again.selection_ == selector.selection_
    assert (again.get_support() == selector.get_support()).all()


def test_before_fit_and_wrong_parameters(data):
    with pytest.raises(NotFittedError):
        InformationSelector().get_support()
    with pytest.raises(ParameterError, match="unknown criterion 'mrmrr'; did you mean 'mrmr'"):
        InformationSelector(criterion="mrmrr").fit(*data)
    with pytest.raises(ParameterError, match="'k' must be a number of features"):
        InformationSelector(k=0).fit(*data)
