"""`MarkovBlanketSelector`: the blanket as a scikit-learn feature selector."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets.arguments import number
from blankets.errors import BlanketsError, BlanketsWarning, RegimeWarning, guarded, warn
from blankets.estimators._checks import TableSelector, checked, feature_names
from blankets.independence import AlwaysGiven, IndependenceTest, Knowledge, SeenQuick
from blankets.questions.discover import discover
from blankets.regimes import Regime
from blankets.study import Engine, Study, Testing, frame_with, independence_tests, keeps_numbers, open_study

_AKAIKE = 0.157  # p-value at which one function of a feature gains as much as it costs: chi-square above 2
_ROWS_A_FEATURE = 10  # a rule of thumb of regression models: fewer rows for each feature, and its coefficient is noise


@guarded
class MarkovBlanketSelector(TableSelector):
    """Select the features in the Markov blanket of the target, and others that help to predict it.

    In theory the blanket is all that a prediction needs. With few rows a model still gains from features whose sign is
    too weak for a member. So the feature with the smallest p-value given all that are kept is kept too, one after the
    other, while that p-value is at most ``extra`` divided by the number of features, and at most 0.157 (Akaike's
    criterion). ``extra=0`` selects the members alone.

    Parameters
    ----------
    extra : float
        How many features that tell nothing you accept, about, to have those that help to predict though they are no
        members. At most one feature is kept for each ten rows, members included. Members are always kept.
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
    extra_ : tuple of str
        Features kept for prediction only, in the order in which they were taken. They are not in the blanket.
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

    One of two weak causes is kept, although the rows are too few to call it a member.

    >>> numbers = np.random.default_rng(8).normal(size=(400, 5))
    >>> ill = numbers @ [1, 0.15, 0.15, 0, 0] + np.random.default_rng(9).normal(size=400) > 0
    >>> selector = MarkovBlanketSelector().fit(numbers, ill)
    >>> selector.get_support(), selector.get_support(members_only=True)
    (array([ True, False,  True, False, False]), array([ True, False, False, False, False]))

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
        extra: float = 1.0,
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
        self.extra = extra
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
        number("extra", self.extra, "a number of features, 0 or more", least=0.0)
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
            rng=self.random_state,
            **self._asking(),
            **self._reading(),
            sample_weight=weights,
            groups=which,
        )
        self.extra_ = self._for_prediction(X, y, weights, which)
        return self

    def get_support(self, indices: bool = False, *, members_only: bool = False) -> NDArray[Any]:  # noqa: FBT001, FBT002
        """Return which features are selected, as a mask or as numbers.

        Parameters
        ----------
        indices : bool
            Return their numbers in place of a mask.
        members_only : bool
            Leave out features that are kept for prediction only.
        """
        chosen = self._get_support_mask()
        if members_only:
            chosen = np.isin([str(name) for name in feature_names(self)], self.blanket_.members)
        return np.flatnonzero(chosen) if indices else chosen

    def _asking(self) -> dict[str, Any]:
        """Return what every question about the table is told."""
        engine = Engine(self.engine, self.address)
        return {"labels": self.labels, "prior": self.prior, "engine": engine, "n_jobs": self.n_jobs}

    def _for_prediction(
        self, X: Any, y: ArrayLike, weights: NDArray[Any] | None, groups: NDArray[Any] | None
    ) -> tuple[str, ...]:
        """Return features beside the members: the strongest given all that are kept, while it depends."""
        most = self.blanket_.n_rows // _ROWS_A_FEATURE
        if self.extra == 0 or len(self.blanket_) >= most:
            return ()
        asked = self._asking()
        asked["reading"] = self._reading() | {"sample_weight": weights, "groups": groups}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", BlanketsWarning)  # `discover` has warned
                with open_study(X, y=y, numbers=keeps_numbers(self.labels), knows_groups=True, **asked) as study:
                    return self._growing(study, most)
        except BlanketsError as error:
            warn(
                f"no features are kept for prediction beside the members: {error}; extra=0 asks for none", RegimeWarning
            )
            return ()

    def _growing(self, study: Study, most: int) -> tuple[str, ...]:
        """Return the features that enter. Nothing is said of them but that they help, so that few rows will do."""
        known = Knowledge.of(self.knowledge).at(study.names, study.report.left_out)
        kept = [study.index(name) for name in self.blanket_.members]
        n_members, together = len(kept), [x for some in known.groups.values() for x in some]
        aside = (*known.always, *known.forbidden, *together)  # in or out is known, or was decided for all of a group
        left = np.setdiff1d(study.features, [*kept, *aside])
        level = min(self.extra / max(len(study.features), 1), _AKAIKE)
        tests = AlwaysGiven(self._quick_tests(study, level), (*study.known_drivers, *known.always))
        while len(kept) < most and len(left):
            best = tests.scan(left, study.target, kept).strongest(level)
            if best is None:
                break
            kept.append(best.x)
            left = left[left != best.x]
        return tuple(study.names[x] for x in kept[n_members:])

    def _quick_tests(self, study: Study, level: float) -> IndependenceTest:
        """Return tests by inner products, which few rows do not stop; those of the study where rows come in groups."""
        column = study.stand_in()
        if study.weighs:
            return independence_tests(study, column, level=level)
        return SeenQuick(frame_with(study, column), reliability=0.0)

    def _selected(self) -> Sequence[str]:
        return (*self.blanket_.members, *self.extra_)
