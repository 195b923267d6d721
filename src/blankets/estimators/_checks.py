"""Input checks that the estimators share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

__all__ = ["checked", "feature_names"]


def checked(
    estimator: BaseEstimator, X: Any, y: ArrayLike, *, allow_missing: bool, partial: bool = False
) -> tuple[Any, Any]:
    """Return features and target as `blankets.discover` takes them; set what scikit-learn wants to be set.

    A data frame is passed on as it is: making one array of it would lose the types of its columns. With
    ``partial`` the target may have gaps, whose meaning is not scikit-learn's to judge, and keeps its name.
    """
    if hasattr(X, "columns"):
        validate_data(estimator, X, y, skip_check_array=True)
        check_consistent_length(X, y)
        keeps_name = partial and getattr(y, "name", None) not in (None, *X.columns)
        return X, y if keeps_name else column_or_1d(y)
    allowed = {
        "dtype": None,
        "accept_sparse": ("csc", "csr"),
        "ensure_all_finite": "allow-nan" if allow_missing else True,
        "ensure_min_samples": 2,
    }
    if y is None or not partial:
        X, y = validate_data(estimator, X, y, **allowed)
        return X, column_or_1d(y)
    X = validate_data(estimator, X, **allowed)
    target = column_or_1d(y, warn=True)
    check_consistent_length(X, target)
    assert_all_finite(target, allow_nan=True, input_name="y")
    return X, target


def feature_names(estimator: BaseEstimator) -> NDArray[np.object_]:
    """Return the names of the features seen in `fit`, x0, x1, ... where they had none."""
    if hasattr(estimator, "feature_names_in_"):
        return np.asarray(estimator.feature_names_in_, dtype=object)
    return np.array([f"x{j}" for j in range(estimator.n_features_in_)], dtype=object)
