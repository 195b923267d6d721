"""Latent variables as features: a transformer and a classifier over random subspaces of columns."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from blankets.arguments import one_of
from blankets.data import Frame, Reading, ingest
from blankets.errors import DataError, errors_of, guarded
from blankets.estimators._checks import SCIKIT_LEARNS, TableEstimator, check_fitted, checked
from blankets.latent import Effort, fit_feature

COMBINE = ("svm", "average", "majority")


@guarded
class _OverSubspaces(TableEstimator):
    """Shared by transformer and classifier: one latent for each of many random sets of columns."""

    def __init__(
        self,
        *,
        n_subspaces: int = 20,
        subspace_size: int | None = None,
        arity: int = 2,
        n_restarts: int = 80,
        criterion: str = "bic",
        members: bool = False,
        discretize: str | Mapping[str, str] = "auto",
        n_bins: int | None = None,
        missing: str = "error",
        n_jobs: int | None = None,
        random_state: np.random.Generator | int | None = None,
    ) -> None:
        self.n_subspaces = n_subspaces
        self.subspace_size = subspace_size
        self.arity = arity
        self.n_restarts = n_restarts
        self.criterion = criterion
        self.members = members
        self.discretize = discretize
        self.n_bins = n_bins
        self.missing = missing
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit_features(self, X: Any, y: Any) -> Frame:
        """Fit the latents; return the training rows as codes."""
        if self.n_features_in_ < 2:
            raise DataError(f"a latent needs two features or more, but n_features={self.n_features_in_}")
        every = list(X.columns) if hasattr(X, "columns") else range(self.n_features_in_)
        table = ingest(X, y=y, reading=Reading.of({**self._reading(), "keep": every}))
        frame, target = table.frame, table.frame.n_columns - 1  # the target comes last
        columns = range(target)
        size = self.subspace_size or max(2, math.ceil(math.sqrt(len(columns))))
        effort = Effort(
            arity=self.arity,
            n_restarts=self.n_restarts,
            score=self.criterion,
            n_jobs=self.n_jobs or os.cpu_count() or 1,
        )
        features = []
        for own in np.random.default_rng(self.random_state).spawn(self.n_subspaces):
            members = sorted(int(j) for j in own.choice(columns, min(size, len(columns)), replace=False))
            features.append(fit_feature(frame, target, members, effort, own))
        self.encoder_ = table.encoder
        self.features_ = [feature for feature in features if feature is not None]
        beside = {name for feature in self.features_ for name in feature.members} if self.members else set()
        self.members_ = [name for name in frame.names if name in beside]
        return frame

    def _codes(self, X: Any) -> Frame:
        """Return new rows as codes; the target is not among them."""
        check_fitted(self, "features_")
        finite = "allow-nan" if self.missing != "error" else True
        with errors_of(SCIKIT_LEARNS):
            if hasattr(X, "columns"):
                validate_data(self, X, reset=False, skip_check_array=True)
            else:
                allowed = {"dtype": None, "accept_sparse": ("csc", "csr"), "ensure_all_finite": finite}
                X = validate_data(self, X, reset=False, **allowed)
        return self.encoder_.transform(X)

    def _matrix(self, frame: Frame) -> NDArray[np.float64]:
        """Return the states and probabilities of the latents, latent by latent, then the members as indicators."""
        blocks = [np.zeros((frame.n_rows, 0))]
        for feature in self.features_:
            shares = feature.posterior(frame)
            blocks.append(np.column_stack([shares.argmax(axis=1), shares[:, 1:]]))
        for name in self.members_:
            # A new level is none of the known levels.
            blocks.append(frame.column(frame.index(name))[:, np.newaxis] == np.arange(len(self._levels(name))))
        return np.column_stack(blocks).astype(np.float64)

    def _levels(self, name: str) -> tuple[object, ...]:
        return self.encoder_.levels[self.encoder_.names.index(name)]


@guarded
class LatentBlanketTransformer(TransformerMixin, _OverSubspaces):  # type: ignore[misc]
    """Turn rows into latent variables: their most probable states and the probabilities of their states.

    Each of many random sets of columns is treated as an observed blanket of the target, and one latent is fitted to
    it (LMB-CSEM). The target is used in `fit`; the values for a row never use its target.

    Parameters
    ----------
    n_subspaces : int
        Number of random sets of columns, one latent each.
    subspace_size : int, optional
        Columns in each set; default: the square root of the number of columns, rounded up.
    arity : int
        Number of states of each latent.
    n_restarts : int
        Number of starts of structural EM for each possible place of a latent.
    criterion : {"bic", "mi", "error", "cll"}
        How to choose between these places: observed-data BIC (the best on unseen rows of the five data sets of the
        paper), information about the target in the fitted model, training error, or conditional likelihood.
    members : bool
        Whether to add the observed members of the latent blankets as features, as indicators of their levels.
    discretize, n_bins, missing
        How the features are read: see `blankets.Reading`.
    n_jobs : int, optional
        Number of threads; default all processors.
    random_state : int, Generator or None
        Seed.

    Attributes
    ----------
    features_ : list of LatentFeature
        The latents.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where they had names.

    References
    ----------
    Gao & Ji (2016), Constrained local latent variable discovery, IJCAI, section 3.2.

    Examples
    --------
    >>> import numpy as np
    >>> from blankets import LatentBlanketTransformer
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> X = np.where(rng.random((300, 6)) < 0.25, 1 - y[:, np.newaxis], y[:, np.newaxis])
    >>> transformer = LatentBlanketTransformer(n_subspaces=3, n_restarts=2, random_state=0).fit(X, y)
    >>> transformer.transform(X).shape
    (300, 6)
    >>> transformer.get_feature_names_out().tolist()[:2]
    ['latent0', 'latent0_is_1']
    """

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Fit the latents of the columns of ``X``, any table, and of the target ``y``."""
        X, y = checked(self, X, y, allow_missing=self.missing != "error")
        self._fit_features(X, y)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the latents of each row.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The features.

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
            For each latent its most probable state and the probabilities of its states except the first; with
            ``members`` an indicator for each level of each observed member.
        """
        return self._matrix(self._codes(X))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns of `transform`.

        Parameters
        ----------
        input_features : ignored
            For compatibility.
        """
        check_fitted(self, "features_")
        names = []
        for k in range(len(self.features_)):
            names += [f"latent{k}", *(f"latent{k}_is_{state}" for state in range(1, self.arity))]
        for member in self.members_:
            names += [f"{member}_is_{level}" for level in self._levels(member)]
        return np.array(names, dtype=object)


def _votes(classifier: LatentBlanketClassifier) -> bool:
    return bool(classifier.combine != "svm")


@guarded
class LatentBlanketClassifier(ClassifierMixin, _OverSubspaces):  # type: ignore[misc]
    """Classify by latent variables.

    The latents of `LatentBlanketTransformer` are features of a linear support vector machine, or their networks vote.

    Parameters
    ----------
    combine : {"svm", "average", "majority"}
        A linear support vector machine on states and probabilities of the latents; the average of the networks'
        p(target | features); or the majority of their predictions.
    C : float
        Inverse of the regularization of the support vector machine.
    members : bool
        Whether the support vector machine also uses the observed members of the latent blankets.
    n_subspaces, subspace_size, arity, n_restarts, criterion, discretize, n_bins, missing, n_jobs, random_state
        As for `LatentBlanketTransformer`.

    Attributes
    ----------
    classes_ : ndarray
        The classes.
    features_ : list of LatentFeature
        The latents.

    Examples
    --------
    >>> import numpy as np
    >>> from blankets import LatentBlanketClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> X = np.where(rng.random((300, 6)) < 0.25, 1 - y[:, np.newaxis], y[:, np.newaxis])
    >>> classifier = LatentBlanketClassifier(n_subspaces=5, n_restarts=2, random_state=0).fit(X[:200], y[:200])
    >>> bool(classifier.score(X[200:], y[200:]) > 0.8)
    True
    """

    def __init__(
        self,
        *,
        combine: str = "svm",
        C: float = 1.0,
        n_subspaces: int = 20,
        subspace_size: int | None = None,
        arity: int = 2,
        n_restarts: int = 80,
        criterion: str = "bic",
        members: bool = True,
        discretize: str | Mapping[str, str] = "auto",
        n_bins: int | None = None,
        missing: str = "error",
        n_jobs: int | None = None,
        random_state: np.random.Generator | int | None = None,
    ) -> None:
        super().__init__(
            n_subspaces=n_subspaces,
            subspace_size=subspace_size,
            arity=arity,
            n_restarts=n_restarts,
            criterion=criterion,
            members=members,
            discretize=discretize,
            n_bins=n_bins,
            missing=missing,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.combine = combine
        self.C = C

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Fit latents and classifier to the columns of ``X``, any table, and to the classes ``y``."""
        from sklearn.svm import SVC

        one_of("combine", self.combine, COMBINE)
        X, y = checked(self, X, y, allow_missing=self.missing != "error")
        with errors_of(SCIKIT_LEARNS):
            check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise DataError(f"there is only one class, {self.classes_.tolist()[0]!r}; a classifier needs two")
        frame = self._fit_features(X, codes)
        if not self.features_:
            raise DataError("no set of columns admits a latent; give more columns or a larger 'subspace_size'")
        if self.combine == "svm":
            self.machine_ = SVC(kernel="linear", C=self.C).fit(self._matrix(frame), codes)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row of ``X``."""
        frame = self._codes(X)
        codes = self.machine_.predict(self._matrix(frame)) if self.combine == "svm" else self._shares(frame).argmax(1)
        predicted: NDArray[Any] = self.classes_[codes]
        return predicted

    @available_if(_votes)  # type: ignore[untyped-decorator]
    @guarded
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability (or share of votes) of each class for each row of ``X``; not for ``combine="svm"``."""
        return self._shares(self._codes(X))

    def _shares(self, frame: Frame) -> NDArray[np.float64]:
        predictions = np.array([feature.prediction(frame) for feature in self.features_])
        if self.combine == "majority":
            predictions = np.eye(len(self.classes_))[predictions.argmax(axis=2)]
        shares: NDArray[np.float64] = predictions.mean(axis=0)
        return shares
