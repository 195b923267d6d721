"""Partial labels in scikit-learn: selectors that take them, splits that keep them, scorers that skip the gaps."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, get_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.semi_supervised import SelfTrainingClassifier

import blankets as bl
from blankets import LabeledStratifiedKFold, MarkovBlanketSelector, labeled_only
from blankets.errors import LabelError, ParameterError, RegimeWarning, TargetError
from blankets.estimators import InformationSelector


def study(n=3000, seed=0):
    """Two binary causes, two coins; y in {0, 1}."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, 4))
    y = (rng.random(n) < np.array([0.05, 0.35, 0.9])[X[:, 0] + X[:, 2]]).astype(int)
    return X, y


def hidden(y, mechanism, seed=1):
    """Hide labels as -1."""
    u = np.random.default_rng(seed).random(len(y))
    keep = {"pu": (y == 1) & (u < 0.5), "mcar": u < 0.3, "mar-c": u < np.where(y == 1, 0.5, 0.2)}[mechanism]
    return np.where(keep, y, -1)


CAUSES = [True, False, True, False]

# ---------------------------------------------------------------- selectors


@pytest.mark.parametrize(("labels", "prior"), [("pu", 0.4), ("pu", None), ("mcar", None), ("mar-c", "<0.5")])
def test_selector_under_partial_labels(labels, prior):
    X, y = study()
    selector = MarkovBlanketSelector(labels=labels, prior=prior, algorithm="iamb", extra=0).fit(X, hidden(y, labels))
    assert selector.get_support().tolist() == CAUSES
    assert selector.blanket_.settings["labels"] == labels


GAPS = {
    "-1": lambda y: y,
    "NaN": lambda y: np.where(y < 0, np.nan, y.astype(float)),
    "None": lambda y: np.array([None if v < 0 else int(v) for v in y], dtype=object),
    "list": lambda y: [None if v < 0 else int(v) for v in y],
    "pandas": lambda y: pd.Series(y).where(y >= 0),
    "pandas Int64": lambda y: pd.array([pd.NA if v < 0 else int(v) for v in y], dtype="Int64"),
    "polars": lambda y: pl.Series([None if v < 0 else int(v) for v in y]),
    "texts": lambda y: np.array([None if v < 0 else "no yes".split()[v] for v in y], dtype=object),
}


@pytest.mark.parametrize("form", GAPS)
@pytest.mark.parametrize("framed", [False, True], ids=["array", "frame"])
def test_gaps_of_every_kind_reach_the_search_unharmed(form, framed):
    X, y = study()
    y = hidden(y, "mcar")
    features = pd.DataFrame(X, columns=list("abcd")) if framed else X
    mine = MarkovBlanketSelector(labels="mcar", algorithm="iamb").fit(features, GAPS[form](y))
    reference = bl.discover(features, y=y, labels="mcar", algorithm="iamb")
    assert mine.blanket_.members == reference.members
    assert mine.blanket_.n_rows == reference.n_rows == np.count_nonzero(y >= 0)
    chosen = InformationSelector(labels="mcar", criterion="mim", k=2).fit(features, GAPS[form](y))
    assert chosen.get_support().tolist() == CAUSES


def test_selector_says_what_is_wrong_with_labels():
    X, y = study(400)
    with pytest.warns(RegimeWarning, match="read as positive-unlabeled data"):
        MarkovBlanketSelector().fit(X, np.where(y == 1, 1.0, np.nan))
    with pytest.raises(LabelError, match="say how labels went missing"):
        MarkovBlanketSelector().fit(X, hidden(y, "mcar"))
    with pytest.raises(TargetError, match="the target 'target' is missing in all of the 400 rows"):
        MarkovBlanketSelector().fit(X, np.full(400, np.nan))
    with pytest.raises(ValueError, match="infinity"):
        MarkovBlanketSelector().fit(X, np.where(y == 1, np.inf, 0))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        MarkovBlanketSelector().fit(X, y[:-1])


def test_selector_takes_a_regime_and_a_marker():
    X, y = study()
    apart = np.concatenate([X[y == 1][:400], X])
    known = np.concatenate([np.ones(400, int), np.full(len(X), -1)])
    regime = bl.PositiveUnlabeled(prior=0.4, sampling="case-control")
    selector = MarkovBlanketSelector(labels=regime, algorithm="iamb", extra=0).fit(apart, known)
    assert selector.get_support().tolist() == CAUSES
    assert clone(selector).labels == regime
    marked = np.where(hidden(y, "mcar") < 0, 9, y)
    selector = MarkovBlanketSelector(labels="mcar", unlabeled_marker=9, algorithm="iamb", extra=0).fit(X, marked)
    assert selector.blanket_.n_rows == np.count_nonzero(marked != 9)
    three = np.where(hidden(y, "mcar") < 0, -1, y + X[:, 1] * y)
    selector = MarkovBlanketSelector(labels="mcar", positive=0, algorithm="iamb", extra=0).fit(X, three)
    assert selector.get_support().tolist() == CAUSES


# ---------------------------------------------------------------- splits


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("place", ["split", "train"])
def test_folds_partition_and_keep_labels_of_every_class(shuffle, place):
    rng = np.random.default_rng(2)
    y = rng.choice([-1, 0, 1, 2], 400, p=[0.8, 0.1, 0.06, 0.04])
    folds = LabeledStratifiedKFold(5, shuffle=shuffle, random_state=3 if shuffle else None, unlabeled=place)
    seen = np.zeros(400, int)
    for train, test in folds.split(np.zeros((400, 1)), y):
        seen[test] += 1
        assert sorted([*train, *test]) == list(range(400))
        for part, share in ((train, 0.8), (test, 0.2)):
            for k in (0, 1, 2):
                assert abs(np.sum(y[part] == k) - share * np.sum(y == k)) < 1
        held = np.sum(y[test] == -1)
        assert held == 0 if place == "train" else abs(held - 0.2 * np.sum(y == -1)) < 1
    assert np.array_equal(seen, (y >= 0).astype(int) if place == "train" else np.ones(400, int))
    assert folds.get_n_splits() == 5


def test_folds_are_reproducible():
    y = np.array([0, 1, -1, -1] * 25)
    X = np.zeros((100, 1))

    def tests(seed):
        folds = LabeledStratifiedKFold(4, shuffle=True, random_state=seed)
        return [test.tolist() for _, test in folds.split(X, y)]

    assert tests(1) == tests(1)
    assert tests(1) != tests(2)


@pytest.mark.parametrize("form", GAPS)
def test_folds_are_the_same_whatever_marks_a_gap(form):
    y = np.array([0, 1, -1, -1] * 25)
    X = np.zeros((100, 1))
    reference = [test.tolist() for _, test in LabeledStratifiedKFold(4).split(X, y)]
    assert [test.tolist() for _, test in LabeledStratifiedKFold(4).split(X, GAPS[form](y))] == reference


def test_few_unlabeled_rows_and_none():
    y = np.array([0, 1] * 10 + [-1])
    sizes = [np.sum(y[test] == -1) for _, test in LabeledStratifiedKFold(5).split(np.zeros((21, 1)), y)]
    assert sorted(sizes) == [0, 0, 0, 0, 1]
    assert len(list(LabeledStratifiedKFold(5).split(np.zeros((20, 1)), y[:-1]))) == 5


def test_refusals_of_the_splitter():
    X = np.zeros((30, 1))
    with pytest.raises(LabelError, match=r"a class has 3 labeled rows, which is too few for 5 folds.*n_splits=3"):
        list(LabeledStratifiedKFold(5).split(X, [1] * 3 + [0] * 10 + [-1] * 17))
    with pytest.raises(LabelError, match="is -1 the negative class, or does it mean unlabeled"):
        list(LabeledStratifiedKFold(5).split(X, [1, -1] * 15))
    assert len(list(LabeledStratifiedKFold(5, unlabeled_marker=-1).split(X, [1, -1] * 15))) == 5
    with pytest.raises(LabelError, match="0 of 30 rows are labeled"):
        list(LabeledStratifiedKFold(5).split(X, [np.nan] * 30))
    with pytest.raises(ParameterError, match="unknown place for unlabeled rows 'tran'; did you mean 'train'"):
        LabeledStratifiedKFold(unlabeled="tran")
    with pytest.raises(ValueError, match="n_splits=1"):
        LabeledStratifiedKFold(1)


# ---------------------------------------------------------------- scores


@pytest.mark.parametrize("form", sorted(set(GAPS) - {"texts"}))
@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "neg_log_loss", get_scorer("balanced_accuracy")])
def test_scores_are_those_of_the_labeled_rows(form, scoring):
    X, y = study(600)
    model = LogisticRegression().fit(X, y)
    partly = hidden(y, "mcar")
    expected = get_scorer(scoring)(model, X[partly >= 0], y[partly >= 0])
    assert labeled_only(scoring)(model, X, GAPS[form](partly)) == pytest.approx(expected, rel=1e-12)


def test_own_scorers_weights_and_pickles():
    X, y = study(600)
    partly, weight = hidden(y, "mcar"), np.random.default_rng(0).random(600)
    model = LogisticRegression().fit(X, y)

    def own(estimator, X, y):
        return balanced_accuracy_score(y, estimator.predict(X))

    rows = partly >= 0
    assert labeled_only(own)(model, X, partly) == own(model, X[rows], y[rows])
    weighted = get_scorer("accuracy")(model, X[rows], y[rows], sample_weight=weight[rows])
    assert labeled_only("accuracy")(model, X, partly, sample_weight=weight) == pytest.approx(weighted, rel=1e-12)
    again = pickle.loads(pickle.dumps(labeled_only("accuracy")))
    assert again(model, X, partly) == get_scorer("accuracy")(model, X[rows], y[rows])
    assert repr(again).startswith("labeled_only(")
    with pytest.raises(LabelError, match="none of 5 rows is labeled"):
        again(model, X[:5], np.full(5, -1))
    with pytest.raises(ValueError, match="acuracy"):
        labeled_only("acuracy")


def pipeline(labels):
    # SelfTrainingClassifier is scikit-learn's own reader of -1.
    forest = RandomForestClassifier(10, random_state=0)
    return make_pipeline(MarkovBlanketSelector(labels=labels, extra=0), SelfTrainingClassifier(forest))


@pytest.mark.parametrize("place", ["split", "train"])
def test_cross_validation_of_a_pipeline(place):
    X, y = study()
    partly = hidden(y, "mcar")
    folds = LabeledStratifiedKFold(4, unlabeled=place)
    done = cross_validate(
        pipeline("mcar"),
        X,
        partly,
        cv=folds,
        scoring=labeled_only("accuracy"),
        return_indices=True,
        return_estimator=True,
        error_score="raise",
    )
    for k, model in enumerate(done["estimator"]):
        assert model[0].get_support().tolist() == CAUSES
        test = done["indices"]["test"][k]
        test = test[partly[test] >= 0]
        assert done["test_score"][k] == np.mean(model.predict(X[test]) == y[test])
    assert done["test_score"].mean() > 0.7
    # What the wrapper is for: left alone, the scorer counts each unlabeled row as a mistake.
    plain = cross_val_score(pipeline("mcar"), X, partly, cv=LabeledStratifiedKFold(4), scoring="accuracy")
    assert plain.mean() < 0.5


def test_grid_search_over_regimes():
    X, y = study()
    grid = {"markovblanketselector__labels": ["mcar", "mar-c"], "markovblanketselector__alpha": [0.001, 0.05]}
    search = GridSearchCV(
        pipeline("mcar"), grid, cv=LabeledStratifiedKFold(3), scoring=labeled_only("roc_auc"), error_score="raise"
    ).fit(X, hidden(y, "mcar"))
    assert search.best_score_ > 0.75
    assert search.best_estimator_[0].get_support()[[0, 2]].all()
