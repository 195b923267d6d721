"""`MarkovBlanketSelector`: the blanket as a scikit-learn feature selector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from blankets.errors import guarded
from blankets.estimators._checks import TableSelector, checked
from blankets.independence import Knowledge
from blankets.questions.discover import discover
from blankets.regimes import Regime
from blankets.study import Engine, Testing


@guarded
class MarkovBlanketSelector(TableSelector):
    """Select the features in the Markov blanket of the target.

    Parameters
    ----------
    algorithm : str
        A name from `blankets.algorithms`, or "auto".
    options : mapping, optional
        Options of the algorithm, for example ``{"k": 2}`` for "fbed".
    alpha : float
        Significance level of every test.
    close : bool
        Check the answer against the definition of a blanket, and repair it. False: the algorithm as published.
    knowledge : Knowledge, optional
        What is known beforehand of the features: see `blankets.Knowledge`.
    test, dof, reliability, strength
        The test of independence: see `blankets.Testing`.
    labels, prior, positive, unlabeled_marker
        Why labels are missing and what is known of p(y=1): see `blankets.discover`. As elsewhere in
        scikit-learn, -1 in ``y`` is an unlabeled row; so is a missing value, which scikit-learn's own
        splitters refuse. For positives that were collected separately give the regime,
        ``PositiveUnlabeled(prior, sampling="case-control")``.
    missing, discretize, n_bins, keep, exclude
        How the features are read: see `blankets.Reading`.
    engine, address
        Where rows are counted, for example "dask" and the address of its scheduler: see `blankets.Engine`.
    n_jobs : int, optional
        Number of threads; default all processors.
    random_state : int, Generator or None
        Seed, for algorithms that draw random numbers.

    Attributes
    ----------
    blanket_ : Blanket
        The blanket, with the reasons.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if they had names.

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

    _fitted = "blanket_"

    def __init__(
        self,
        *,
        algorithm: str = "auto",
        options: Mapping[str, Any] | None = None,
        alpha: float = 0.01,
        close: bool = True,
        knowledge: Knowledge | None = None,
        test: str = "auto",
        dof: str = "adjusted",
        reliability: float = 5.0,
        strength: str = "p-value",
        labels: str | Regime = "auto",
        prior: Any = None,
        positive: Any = None,
        unlabeled_marker: Any = "auto",
        missing: Literal["testwise", "weighted", "level", "drop", "error"] = "testwise",
        discretize: str | Mapping[str, Any] = "auto",
        n_bins: int | None = None,
        keep: Sequence[str] = (),
        exclude: Sequence[str] = (),
        engine: str = "auto",
        address: str | None = None,
        n_jobs: int | None = None,
        random_state: np.random.Generator | int | None = None,
    ) -> None:
        self.algorithm = algorithm
        self.options = options
        self.alpha = alpha
        self.close = close
        self.knowledge = knowledge
        self.test = test
        self.dof = dof
        self.reliability = reliability
        self.strength = strength
        self.labels = labels
        self.prior = prior
        self.positive = positive
        self.unlabeled_marker = unlabeled_marker
        self.missing = missing
        self.discretize = discretize
        self.n_bins = n_bins
        self.keep = keep
        self.exclude = exclude
        self.engine = engine
        self.address = address
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Find the blanket of ``y`` among the columns of ``X``; missing values and -1 in ``y`` are unlabeled rows.

        ``sample_weight``: how many rows each row stands for, as whole numbers. ``groups``: which rows belong together,
        such as the visits of a patient. In a pipeline or a search over parameters ask for them with
        ``set_fit_request(groups=True)``, as scikit-learn routes all metadata.
        """
        X, y = checked(self, X, y, allow_missing=self.missing != "error", partial=True)
        weights, which = (None if rows is None else np.asarray(rows) for rows in (sample_weight, groups))
        self.blanket_ = discover(
            X,
            y=y,
            algorithm=self.algorithm,
            options=self.options,
            alpha=self.alpha,
            close=self.close,
            knowledge=self.knowledge,
            test=Testing(self.test, self.dof, self.reliability, self.strength),
            labels=self.labels,
            prior=self.prior,
            engine=Engine(self.engine, self.address),
            n_jobs=self.n_jobs,
            rng=self.random_state,
            **self._reading(),
            sample_weight=weights,
            groups=which,
        )
        return self

    def _selected(self) -> Sequence[str]:
        return self.blanket_.members
