"""`InformationSelector`: information filters as a scikit-learn feature selector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from blankets.estimators._checks import checked, feature_names
from blankets.questions.select import selected
from blankets.regimes import Regime

__all__ = ["InformationSelector"]


class InformationSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select features by an information criterion: mRMR, JMI and their kin.

    Parameters
    ----------
    criterion : str
        How candidates are scored: see `blankets.select`.
    k : int
        Number of features to select; where there are fewer, all are selected, with a warning.
    labels, prior, positive, unlabeled_marker
        Why labels are missing and what is known of p(y=1): see `blankets.select`. As elsewhere in
        scikit-learn, -1 in ``y`` is an unlabeled row.
    beta, gamma : float, optional
        Weights of "mifs" (``beta``) and "linear" (both).
    discretize, bins, missing
        How the features are read: see `blankets.data.ingest`.
    engine, address
        Where rows are counted, for example ``engine="dask"``: see `blankets.select`.
    n_jobs : int, optional
        Number of threads; default all processors.

    Attributes
    ----------
    selection_ : Selection
        The features in order of selection, with their scores.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where they had names.

    Examples
    --------
    >>> import numpy as np
    >>> from blankets.estimators import InformationSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 3, (400, 5))
    >>> y = (X[:, 1] + X[:, 3] + (rng.random(400) < 0.1)) // 2
    >>> selector = InformationSelector(criterion="mrmr", k=2).fit(X, y)
    >>> selector.get_support()
    array([False,  True, False,  True, False])
    >>> selector.transform(X).shape
    (400, 2)
    """

    def __init__(
        self,
        *,
        criterion: str = "jmi",
        k: int = 10,
        labels: str | Regime = "auto",
        prior: Any = None,
        positive: Any = None,
        unlabeled_marker: Any = "auto",
        beta: float | None = None,
        gamma: float | None = None,
        discretize: str | Mapping[str, str] = "sturges",
        bins: int | None = None,
        missing: str = "error",
        engine: str = "auto",
        address: str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.k = k
        self.labels = labels
        self.prior = prior
        self.positive = positive
        self.unlabeled_marker = unlabeled_marker
        self.beta = beta
        self.gamma = gamma
        self.discretize = discretize
        self.bins = bins
        self.missing = missing
        self.engine = engine
        self.address = address
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Select columns of ``X`` by what they tell about ``y``.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The features, in any form that `blankets.select` takes.
        y : array_like of shape (n_samples,)
            The target; missing values and -1 are unlabeled rows.

        Returns
        -------
        self
        """
        X, y = checked(self, X, y, allow_missing=self.missing != "error", partial=True)
        self.selection_ = selected(X, None, y, at_most=True, **self.get_params(deep=False))
        return self

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "selection_")
        return np.isin([str(name) for name in feature_names(self)], self.selection_.names)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags
