"""The HITON wrapper: drop the members of a blanket that a classifier does not need."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.model_selection import StratifiedGroupKFold, check_cv, cross_val_score
from sklearn.utils import _safe_indexing

from blankets.arguments import number, one_of
from blankets.errors import errors_of, guarded
from blankets.estimators._checks import TableSelector, check_fitted, checked, feature_names
from blankets.estimators._selector import MarkovBlanketSelector


@guarded
class HitonWrapper(MetaEstimatorMixin, TableSelector):  # type: ignore[misc]
    """Select the features of a blanket that a classifier needs.

    The last step of HITON: start from the Markov blanket, and remove one feature after another as long as the
    cross-validated score does not fall.

    Parameters
    ----------
    estimator : classifier
        The classifier; it is fitted on the selected columns of ``X`` as they are, so a pipeline that encodes
        them may be needed.
    selector : MarkovBlanketSelector, optional
        Finds the blanket; default HITON-MB.
    scoring : str or callable, optional
        A scikit-learn scorer; default the estimator's own score.
    cv : int or splitter
        Cross-validation; the same splits are used for every set of features.
    tolerance : float
        A score that is lower by at most this counts as not fallen.
    order : {"best", "weakest"}
        Which feature to remove next. "best": the one whose removal leaves the best score (on a tie, the weakest
        member of the blanket), until none can be removed. "weakest", as published: each member is tried once, the
        weakest first; for n features that takes n scores in place of up to n² / 2.

    Attributes
    ----------
    selector_ : MarkovBlanketSelector
        The fitted selector; ``selector_.blanket_`` is the blanket before features were dropped.
    scores_ : list of (tuple of str, float)
        Feature sets in the order of the search, with their mean scores.
    n_features_in_ : int
        Number of features seen in `fit`.

    References
    ----------
    Aliferis, Tsamardinos & Statnikov (2003), HITON: a novel Markov blanket algorithm for optimal variable
    selection, AMIA Annual Symposium Proceedings, 21-25.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import BernoulliNB
    >>> from blankets import HitonWrapper
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.integers(0, 2, 600)
    >>> X = np.column_stack([rng.integers(0, 2, 600)] + [(cause + (rng.random(600) < p)) % 2 for p in (0.1, 0.45)])
    >>> HitonWrapper(BernoulliNB()).fit(X, cause).get_support()
    array([False,  True, False])
    """

    missing: Literal["error"] = "error"

    def __init__(
        self,
        estimator: Any,
        *,
        selector: MarkovBlanketSelector | None = None,
        scoring: Any = None,
        cv: Any = 5,
        tolerance: float = 0.0,
        order: str = "best",
    ) -> None:
        self.estimator = estimator
        self.selector = selector
        self.scoring = scoring
        self.cv = cv
        self.tolerance = tolerance
        self.order = order

    def fit(self, X: Any, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Find the blanket of the classes ``y``, then drop columns of ``X`` while the score does not fall.

        ``groups``: which rows belong together; tests allow for that, and no group is in both parts of a split.
        """
        number("tolerance", self.tolerance, "a difference of scores, >= 0", least=0)
        one_of("order", self.order, ("best", "weakest"))
        usual = MarkovBlanketSelector(algorithm="hiton-mb", extra=0, missing=self.missing)
        selector = usual if self.selector is None else clone(self.selector)
        X, y = checked(self, X, y, allow_missing=selector.missing != "error")
        self.selector_ = selector.fit(X, y, groups=groups)
        names = [str(name) for name in feature_names(self)]
        kept = [names.index(member) for member in self.selector_.blanket_.members]
        with errors_of("the splitter that was given"):
            whole = groups is not None and isinstance(self.cv, int)
            splitter = StratifiedGroupKFold(self.cv) if whole else check_cv(self.cv, y, classifier=True)
            splits = list(splitter.split(X, y, groups))

        @errors_of("the estimator that was given, or by its scores")
        def score(columns: list[int]) -> float:
            part = _safe_indexing(X, columns, axis=1)
            return float(cross_val_score(clone(self.estimator), part, y, scoring=self.scoring, cv=splits).mean())

        best = score(kept) if kept else float("nan")
        self.scores_ = [(tuple(names[j] for j in kept), best)]
        left = list(kept)  # features that may still be removed, the strongest first
        while len(kept) > 1 and left:
            # From the weakest member up, so that the weakest is removed on a tie.
            tried = left[::-1] if self.order == "best" else [left.pop()]
            trials = [(score([k for k in kept if k != j]), j) for j in tried]
            reached, dropped = max(trials, key=lambda trial: trial[0])
            if reached >= best - self.tolerance:
                kept.remove(dropped)
                left = [j for j in left if j != dropped]
                best = max(best, reached)
                self.scores_.append((tuple(names[j] for j in kept), reached))
            elif self.order == "best":
                break
        self._support = np.isin(np.arange(len(names)), kept)
        return self

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_fitted(self, "selector_")
        return self._support
