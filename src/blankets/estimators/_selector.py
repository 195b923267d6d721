"""`MarkovBlanketSelector`: the blanket as a scikit-learn feature selector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from blankets.errors import ParameterError
from blankets.estimators._checks import checked, feature_names
from blankets.questions.discover import discover
from blankets.regimes import Regime

__all__ = ["MarkovBlanketSelector"]


class MarkovBlanketSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the features in the Markov blanket of the target.

    Parameters
    ----------
    algorithm : str
        A name from `blankets.algorithms`, or "auto".
    alpha : float
        Significance level of every test.
    test, dof, reliability, strength
        The test of independence: see `blankets.discover`.
    labels, prior, positive, unlabeled_marker
        Why labels are missing and what is known of p(y=1): see `blankets.discover`. As elsewhere in
        scikit-learn, -1 in ``y`` is an unlabeled row; so is a missing value, which scikit-learn's own
        splitters refuse. For positives collected apart from the others pass the regime,
        ``PositiveUnlabeled(prior, sampling="case-control")``.
    discretize, bins, missing
        How the features are read: see `blankets.data.ingest`.
    options : mapping, optional
        Options of the algorithm, for example ``{"k": 2}`` for "fbed".
    engine, address
        Where rows are counted, for example ``engine="dask"`` and the address of its scheduler: see
        `blankets.discover`.
    n_jobs : int, optional
        Number of threads; default all processors.
    random_state : int, Generator or None
        Seed, for algorithms that draw random numbers.

    Attributes
    ----------
    blanket_ : Blanket
        What was found, and why.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where they had names.

    Examples
    --------
    >>> import numpy as np
    >>> from blankets import MarkovBlanketSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 3, (400, 5))
    >>> y = (X[:, 1] + X[:, 3] + (rng.random(400) < 0.1)) % 2
    >>> selector = MarkovBlanketSelector(algorithm="inter-iamb").fit(X, y)
    >>> selector.get_support()
    array([False,  True, False,  True, False])
    >>> selector.transform(X).shape
    (400, 2)

    Only half of the positives are known; the other rows are marked with -1.

    >>> known = np.where((y == 1) & (rng.random(400) < 0.5), 1, -1)
    >>> MarkovBlanketSelector(algorithm="inter-iamb", labels="pu").fit(X, known).get_support()
    array([False,  True, False,  True, False])
    """

    def __init__(
        self,
        *,
        algorithm: str = "auto",
        alpha: float = 0.01,
        test: str = "auto",
        dof: str = "adjusted",
        reliability: float = 5.0,
        strength: str = "p-value",
        labels: str | Regime = "auto",
        prior: Any = None,
        positive: Any = None,
        unlabeled_marker: Any = "auto",
        discretize: str | Mapping[str, str] = "sturges",
        bins: int | None = None,
        missing: str = "error",
        options: Mapping[str, Any] | None = None,
        engine: str = "auto",
        address: str | None = None,
        n_jobs: int | None = None,
        random_state: np.random.Generator | int | None = None,
    ) -> None:
        self.algorithm = algorithm
        self.alpha = alpha
        self.test = test
        self.dof = dof
        self.reliability = reliability
        self.strength = strength
        self.labels = labels
        self.prior = prior
        self.positive = positive
        self.unlabeled_marker = unlabeled_marker
        self.discretize = discretize
        self.bins = bins
        self.missing = missing
        self.options = options
        self.engine = engine
        self.address = address
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Find the Markov blanket of ``y`` among the columns of ``X``.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The features, in any form that `blankets.discover` takes.
        y : array_like of shape (n_samples,)
            The target; missing values and -1 are unlabeled rows.

        Returns
        -------
        self
        """
        options = {} if self.options is None else self.options
        if not isinstance(options, Mapping):
            raise ParameterError.out_of_range("options", options, "a mapping of options to values")
        X, y = checked(self, X, y, allow_missing=self.missing != "error", partial=True)
        self.blanket_ = discover(
            X,
            y=y,
            algorithm=self.algorithm,
            alpha=self.alpha,
            test=self.test,
            dof=self.dof,
            reliability=self.reliability,
            strength=self.strength,
            labels=self.labels,
            prior=self.prior,
            positive=self.positive,
            unlabeled_marker=self.unlabeled_marker,
            discretize=self.discretize,
            bins=self.bins,
            missing=self.missing,
            engine=self.engine,
            address=self.address,
            n_jobs=self.n_jobs,
            rng=self.random_state,
            **options,
        )
        return self

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "blanket_")
        return np.isin([str(name) for name in feature_names(self)], self.blanket_.members)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags
