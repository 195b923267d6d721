"""Cross-validation if most labels are missing: splits with labels of every class, scores of labeled rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import get_scorer
from sklearn.model_selection import BaseCrossValidator, StratifiedKFold
from sklearn.utils import _safe_indexing, check_random_state

from blankets.arguments import one_of
from blankets.errors import LabelError, errors_of, guarded
from blankets.estimators._checks import SCIKIT_LEARNS
from blankets.regimes import UNLABELED, class_codes

_PLACES = ("split", "train")

Scorer = Callable[..., Any]


@guarded
class LabeledStratifiedKFold(BaseCrossValidator):  # type: ignore[misc]
    """Folds with the same shares of labeled rows of each class, and of unlabeled rows, as in all rows.

    Every training set and every test set has labels of every class. Unlabeled rows are missing values or
    -1 in ``y``; scikit-learn's own splitters refuse missing values and treat -1 as a class.

    Parameters
    ----------
    n_splits : int
        Number of folds.
    shuffle : bool
        Whether to put rows in random order first.
    random_state : int, RandomState or None
        Seed of that order.
    unlabeled : {"split", "train"}
        Where unlabeled rows go. "split" treats them as a class of their own: the labeled shares, and what
        follows from p(y=1), are then the same in each training set, and test sets have rows that cannot be
        scored (see `labeled_only`). "train" puts all of them into every training set; test sets are fully
        labeled, so any scorer works.
    unlabeled_marker : object
        A value that means unlabeled, as for `blankets.discover`; needed if the only labels are -1 and +1.

    Examples
    --------
    >>> import numpy as np
    >>> from blankets import LabeledStratifiedKFold
    >>> y = np.array([1, 0, -1, -1] * 6)
    >>> for train, test in LabeledStratifiedKFold(3).split(np.zeros((24, 1)), y):
    ...     print(np.bincount(y[train] + 1), np.bincount(y[test] + 1))
    [8 4 4] [4 2 2]
    [8 4 4] [4 2 2]
    [8 4 4] [4 2 2]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = False,
        random_state: Any = None,
        unlabeled: str = "split",
        unlabeled_marker: object = "auto",
    ) -> None:
        one_of("place for unlabeled rows", unlabeled, _PLACES)
        with errors_of(SCIKIT_LEARNS):
            StratifiedKFold(n_splits, shuffle=shuffle, random_state=random_state)
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.unlabeled_marker = unlabeled_marker

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds."""
        return self.n_splits

    def split(self, X: Any, y: ArrayLike, groups: Any = None) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield the row numbers of each training and test set.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Not used.
        y : array_like of shape (n_samples,)
            The target; missing or -1 if a row is unlabeled.
        groups : object
            Not used.
        """
        codes = class_codes(y, unlabeled_marker=self.unlabeled_marker)
        counts = np.bincount(codes[codes >= 0])
        if counts.min() < self.n_splits:
            raise LabelError(
                f"a class has {counts.min()} labeled rows, which is too few for {self.n_splits} folds that all hold "
                f"labels of every class; take n_splits={max(counts.min(), 2)} or label more rows"
            )
        labeled, rest = np.flatnonzero(codes != UNLABELED), np.flatnonzero(codes == UNLABELED)
        rng = check_random_state(self.random_state)
        seed = rng.randint(np.iinfo(np.int32).max) if self.shuffle else None
        parts = np.array_split(rng.permutation(rest) if self.shuffle else rest, self.n_splits)
        folds = StratifiedKFold(self.n_splits, shuffle=self.shuffle, random_state=seed)
        everyone = np.arange(len(codes))
        for (_, at), part in zip(folds.split(labeled, codes[labeled]), parts, strict=True):
            held_out = np.zeros(len(codes), bool)
            held_out[labeled[at]] = True
            if self.unlabeled == "split":
                held_out[part] = True
            yield everyone[~held_out], everyone[held_out]


@guarded
class _LabeledOnly:
    """A scorer for labeled rows; a class, not a closure, so that it can be sent to other processes."""

    def __init__(self, scoring: str | Scorer) -> None:
        with errors_of(SCIKIT_LEARNS):
            self.scorer: Scorer = get_scorer(scoring)

    def __call__(self, estimator: Any, X: Any, y: ArrayLike, **more: Any) -> Any:
        column = np.asarray(y)
        labeled = ~np.array([value is None or value != value or _is_marker(value) for value in column.tolist()], bool)
        if not labeled.any():
            raise LabelError(f"none of {len(column)} rows is labeled, so there is nothing to score")
        rows = np.flatnonzero(labeled)
        weights = {name: value if value is None else _safe_indexing(value, rows) for name, value in more.items()}
        # Through a list, so that what is left gets the type it would have had without gaps.
        with errors_of("the estimator that was given, or by its score"):
            return self.scorer(estimator, _safe_indexing(X, rows), np.array(column[rows].tolist()), **weights)

    def __repr__(self) -> str:
        return f"labeled_only({self.scorer!r})"


@guarded
def labeled_only(scoring: str | Scorer) -> Scorer:
    """Return a scorer that uses only labeled rows.

    scikit-learn's scorers treat -1 as a class that is never predicted, and refuse missing labels.

    Parameters
    ----------
    scoring : str or callable
        A name such as "accuracy", or a scorer with the signature (estimator, X, y).

    Returns
    -------
    callable
        A scorer for ``cross_val_score``, ``GridSearchCV`` and similar functions: rows with a missing label or
        -1 are left out, for any classes.

    See Also
    --------
    LabeledStratifiedKFold : Splits whose test sets have labels of every class.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from blankets import labeled_only
    >>> X, y = np.zeros((6, 1)), np.array([1, 1, 0, -1, -1, -1])
    >>> model = DummyClassifier(strategy="constant", constant=1).fit(X, y)
    >>> round(labeled_only("accuracy")(model, X, y), 3)
    0.667
    """
    return _LabeledOnly(scoring)


def _is_marker(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == UNLABELED
