"""Shared by the estimators: input checks, tags, and how flat parameters become options of the library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import _safe_indexing, assert_all_finite, check_array
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from blankets.errors import errors_of, guarded

SCIKIT_LEARNS = "scikit-learn's checks of what it is given"  # its users know these errors
_READING = ("missing", "discretize", "n_bins", "keep", "exclude", "positive", "unlabeled_marker")


class TableEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator that takes any table with a target."""

    missing: str

    def _reading(self) -> dict[str, Any]:
        """Return how the table is read."""
        return {name: getattr(self, name) for name in _READING if hasattr(self, name)}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags


class TableSelector(SelectorMixin, TableEstimator):  # type: ignore[misc]
    """An estimator that selects columns by name."""

    _fitted: str
    """The attribute that `fit` sets."""

    def _selected(self) -> Sequence[str]:
        """Return the names of the selected columns."""
        raise NotImplementedError

    @guarded
    @errors_of(SCIKIT_LEARNS)
    def transform(self, X: Any) -> Any:
        """Return the selected columns; of a data frame they are taken by their place, whatever the others hold."""
        if not hasattr(X, "columns"):
            return super().transform(X)
        mask = self.get_support()
        validate_data(self, X, reset=False, skip_check_array=True)
        if not mask.any():
            return self._transform(np.empty((len(X), len(mask))))  # warns
        chosen = _safe_indexing(X, np.flatnonzero(mask), axis=1)
        return chosen if _get_output_config("transform", estimator=self)["dense"] != "default" else as_array(chosen)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_fitted(self, self._fitted)
        return np.isin([str(name) for name in feature_names(self)], self._selected())


def as_array(frame: Any) -> NDArray[Any]:
    """Return a data frame as one array: of numbers where it holds nothing else, otherwise of objects."""
    try:
        return np.asarray(check_array(frame, dtype=None, ensure_all_finite=False, ensure_min_samples=0))
    except (TypeError, ValueError):  # texts beside numbers, dates beside numbers, numbers that may be missing
        columns = [np.asarray(_safe_indexing(frame, j, axis=1), dtype=object) for j in range(frame.shape[1])]
        return np.stack(columns, axis=1)


check_fitted = errors_of(SCIKIT_LEARNS)(check_is_fitted)


@errors_of(SCIKIT_LEARNS)
def checked(
    estimator: BaseEstimator, X: Any, y: ArrayLike, *, allow_missing: bool, partial: bool = False
) -> tuple[Any, Any]:
    """Return features and target for `blankets.discover`; set the attributes that scikit-learn requires.

    A data frame is used as it is: converting it to one array would lose the types of its columns. With
    ``partial`` the target may have missing values, which scikit-learn would refuse, and keeps its name.
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
    """Return the names of the features seen in `fit`; x0, x1, ... if they had none."""
    if hasattr(estimator, "feature_names_in_"):
        return np.asarray(estimator.feature_names_in_, dtype=object)
    return np.array([f"x{j}" for j in range(estimator.n_features_in_)], dtype=object)
