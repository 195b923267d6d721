"""`LatentBlanketTransformer` and `LatentBlanketClassifier` as citizens of scikit-learn that do not leak the target."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from blankets.errors import DataError, ParameterError
from blankets.estimators import LatentBlanketClassifier, LatentBlanketTransformer
from sklearn_faults import own_faults

pytestmark = [
    pytest.mark.filterwarnings("ignore::blankets.errors.BlanketsWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
]

SMALL = {"n_subspaces": 8, "n_restarts": 1, "random_state": 0}


@parametrize_with_checks(
    [
        LatentBlanketTransformer(**SMALL),
        LatentBlanketClassifier(**SMALL),
        LatentBlanketClassifier(**SMALL, combine="average"),
    ],
    expected_failed_checks=own_faults,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def hidden_data(rng, n_rows=1200):
    """y -> h -> twelve noisy leaves, h hidden."""
    y = rng.integers(0, 2, n_rows)
    h = np.where(rng.random(n_rows) < 0.1, 1 - y, y)[:, np.newaxis]
    X = np.where(rng.random((n_rows, 12)) < 0.3, 1 - h, h)
    names = [f"leaf{k}" for k in range(12)]
    return pd.DataFrame(X, columns=names), np.array(["no", "yes"])[y], h[:, 0]


X, Y, H = hidden_data(np.random.default_rng(0))
TRAIN, TEST = slice(0, 800), slice(800, None)


@pytest.fixture(scope="module")
def transformer():
    return LatentBlanketTransformer(n_subspaces=6, n_restarts=4, random_state=1).fit(X[TRAIN], Y[TRAIN])


def test_features_follow_the_hidden_variable(transformer):
    features = transformer.transform(X[TEST])
    assert features.shape == (400, 12)
    states, chances = features[:, ::2], features[:, 1::2]
    assert set(np.unique(states)) <= {0.0, 1.0}
    assert np.array_equal(states, (chances > 0.5).astype(float))
    # Four leaves that are right with probability 0.7: their majority is right in at least 65% of rows (ties halved:
    # 0.2401 + 0.4116 + 0.2646 / 2 = 0.784).
    agreement = [max(np.mean(s == H[TEST]), np.mean(s != H[TEST])) for s in states.T]
    assert np.mean(agreement) > 0.74
    assert transformer.get_feature_names_out().tolist()[:2] == ["latent0", "latent0_is_1"]


def test_members_of_the_latent_blankets_as_indicators():
    options = {"n_subspaces": 12, "n_restarts": 2, "random_state": 1, "criterion": "bic", "subspace_size": 6}
    words = X.replace({0: "down", 1: "up"}).assign(direct=np.where(np.arange(len(Y)) % 4 == 0, "up", Y))
    plain, both = (LatentBlanketTransformer(**options, members=m).fit(words[TRAIN], Y[TRAIN]) for m in (False, True))
    features, names = both.transform(words[TEST]), both.get_feature_names_out().tolist()
    assert np.array_equal(features[:, :24], plain.transform(words[TEST]))
    assert "direct" in both.members_
    indicators = [(member, level) for member in both.members_ for level in sorted(set(words[member]))]
    assert names[24:] == [f"{member}_is_{level}" for member, level in indicators]
    for column, (member, level) in zip(features[:, 24:].T, indicators, strict=True):
        assert np.array_equal(column, words[member][TEST] == level)


def test_labels_of_unseen_rows_change_nothing(transformer):
    plain = transformer.transform(X[TEST])
    shuffled = np.random.default_rng(5).permutation(Y[TEST])
    for labels in (Y[TEST], shuffled):
        assert np.array_equal(transformer.transform(X[TEST].assign(target=labels)[list(X.columns)]), plain)
    # The encoder knows a column called "target"; if new rows bring one along, it is not looked at.
    frames = [transformer.encoder_.transform(X[TEST].assign(target=labels == "yes")) for labels in (Y[TEST], shuffled)]
    one, two = (np.column_stack([f.posterior(frame) for f in transformer.features_]) for frame in frames)
    assert np.array_equal(one, two)


def test_training_rows_are_treated_like_new_ones(transformer):
    again = LatentBlanketTransformer(n_subspaces=6, n_restarts=4, random_state=1)
    assert np.array_equal(again.fit_transform(X[TRAIN], Y[TRAIN]), transformer.transform(X[TRAIN]))


@pytest.mark.parametrize("combine", ["svm", "average", "majority"])
def test_classifiers_come_near_the_bayes_rate(combine):
    model = LatentBlanketClassifier(n_subspaces=12, n_restarts=3, combine=combine, random_state=0)
    model.fit(X[TRAIN], Y[TRAIN])
    # Twelve leaves tell h in all but about 5% of rows, h is y in 90%: the best rule is right in about 86%.
    assert model.score(X[TEST], Y[TEST]) > 0.8
    assert model.classes_.tolist() == ["no", "yes"]
    if combine == "svm":
        assert not hasattr(model, "predict_proba")
    else:
        shares = model.predict_proba(X[TEST])
        assert shares.sum(axis=1) == pytest.approx(1.0)
        assert np.array_equal(model.classes_[shares.argmax(axis=1)], model.predict(X[TEST]))


def test_pickled_and_threaded_answers_are_the_same(transformer):
    threaded = LatentBlanketTransformer(n_subspaces=6, n_restarts=4, random_state=1, n_jobs=3)
    expected = transformer.transform(X[TEST])
    assert np.array_equal(threaded.fit(X[TRAIN], Y[TRAIN]).transform(X[TEST]), expected)
    assert np.array_equal(pickle.loads(pickle.dumps(transformer)).transform(X[TEST]), expected)


def test_errors_say_what_to_do():
    with pytest.raises(DataError, match="a latent needs two features or more, but n_features=1"):
        LatentBlanketTransformer().fit(X[["leaf0"]], Y)
    with pytest.raises(DataError, match="there is only one class, 'yes'; a classifier needs two"):
        LatentBlanketClassifier().fit(X[:20], ["yes"] * 20)
    with pytest.raises(ParameterError, match="unknown combine 'vote'"):
        LatentBlanketClassifier(combine="vote").fit(X, Y)
    with pytest.raises(DataError, match="no set of columns admits a latent"):
        LatentBlanketClassifier(n_subspaces=0).fit(X, Y)
