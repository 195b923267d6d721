"""`InformationSelector`: information filters as a scikit-learn feature selector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from blankets.errors import guarded
from blankets.estimators._checks import TableSelector, checked
from blankets.questions.select import Scoring, selected
from blankets.records import Call
from blankets.regimes import Regime
from blankets.study import Engine, keeps_numbers, open_study


@guarded
class InformationSelector(TableSelector):
    """Select features by an information criterion: mRMR, JMI and similar ones.

    Parameters
    ----------
    criterion : str
        How candidates are scored: see `blankets.select`.
    k : int
        Number of features to select; if there are fewer, all are selected, with a warning.
    labels, prior, positive, unlabeled_marker
        Why labels are missing and what is known of p(y=1): see `blankets.select`. As elsewhere in
        scikit-learn, -1 in ``y`` is an unlabeled row.
    beta, gamma : float, optional
        Weights of "mifs" (``beta``) and "linear" (both).
    missing, discretize, n_bins, keep, exclude
        How the features are read: see `blankets.Reading`.
    engine, address
        Where rows are counted, for example "dask" and the address of its scheduler: see `blankets.Engine`.
    n_jobs : int, optional
        Number of threads; default all processors.

    Attributes
    ----------
    selection_ : Selection
        The features in order of selection, with their scores.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if they had names.

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

    _fitted = "selection_"

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
        missing: Literal["testwise", "level", "drop", "error"] = "testwise",
        discretize: str | Mapping[str, Any] = "auto",
        n_bins: int | None = None,
        keep: Sequence[str] = (),
        exclude: Sequence[str] = (),
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
        self.missing = missing
        self.discretize = discretize
        self.n_bins = n_bins
        self.keep = keep
        self.exclude = exclude
        self.engine = engine
        self.address = address
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Select columns of ``X`` by their information about ``y``; rows with a missing ``y`` or -1 are unlabeled.

        ``sample_weight``: how many rows each row stands for, as whole numbers.
        """
        X, y = checked(self, X, y, allow_missing=self.missing != "error", partial=True)
        weights = None if sample_weight is None else np.asarray(sample_weight)
        scoring = Scoring.of(self.criterion, self.k, self.beta, self.gamma)
        with open_study(
            X,
            y=y,
            reading={**self._reading(), "sample_weight": weights},
            labels=self.labels,
            prior=self.prior,
            numbers=keeps_numbers(self.labels),
            engine=Engine(self.engine, self.address),
            n_jobs=self.n_jobs,
        ) as study:
            found = selected(study, scoring, at_most=True)
            call = Call.of("select", {"y": y, **self.get_params(deep=False)}, study.fingerprint)
        self.selection_ = replace(found, call=call)
        return self

    def _selected(self) -> Sequence[str]:
        return self.selection_.names
