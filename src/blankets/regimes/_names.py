"""Find a regime by its name, or from the labels themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from blankets.errors import LabelError, NotAnswerableError, ParameterError, RegimeWarning, warn
from blankets.regimes._contract import Regime
from blankets.regimes._labels import Labels
from blankets.regimes._noisy import Noisy
from blankets.regimes._predicted import Predicted
from blankets.regimes._prior import prior_from
from blankets.regimes._regimes import PositiveUnlabeled, Supervised
from blankets.regimes._semi import MNAR, SemiSupervised
from blankets.stats import Sampling
from blankets.voice import option

NAMES = ("auto", "supervised", "pu", "mcar", "mar-f", "mar-c", "noisy", "predicted")
ALIASES = {"full": "supervised", "positive-unlabeled": "pu", "scar": "pu"}

MECHANISMS_EXPLAINED = """\
  'mcar'   Labeling depends on nothing: the rows to label were drawn at random.
           Labeled rows then look like all rows; they alone are compared.
  'mar-f'  Labeling depends on recorded features: for example, only some hospitals report.
           Labeled rows alone may be compared, given the features that drive labeling.
  'mar-c'  Labeling depends on the class: for example, positives are reported more often.
           Say what you know of p(y=1) (prior=): it decides which test is the most powerful.
  'mnar'   Labeling depends on class and features at once.
           No method here is valid then; find out what drives labeling, or label rows at random."""

ASSUMED = {
    "pu": "only positives are labeled, and every positive has the same chance of a label",
    "mcar": "which rows are labeled depends on nothing",
    "mar-f": "which rows are labeled depends on features only, not on the class itself",
    "mar-c": "which rows are labeled depends on their class only, not on features",
    "noisy": "labels may be wrong, and errors depend on the class alone",
    "predicted": "a machine labeled every row, and gold labels were drawn at random",
}
"""What each regime takes to hold."""


def regime_name(spec: Any) -> Any:
    """Return a regime's name as we write it, in place of "PU" or "Positive Unlabeled"; all else as it is.

    >>> regime_name("PU"), regime_name("mar_f")
    ('pu', 'mar-f')
    """
    if not isinstance(spec, str):
        return spec
    key = re.sub(r"[\s_]+", "-", spec.strip().lower())
    return ALIASES.get(key, key)


def regime_from(
    spec: str | Regime = "auto",
    labels: Labels | None = None,
    *,
    prior: object = None,
    sampling: Sampling | None = None,
    **how: Any,
) -> Regime:
    """Return a regime by its name, or the one that the labels suggest.

    ``spec``: "supervised", "pu", "mcar", "mar-f", "mar-c", a regime itself, or "auto": supervised if nothing is
    missing, positive-unlabeled (with a `RegimeWarning` that says so) if only one class is labeled; if both classes are
    labeled and labels are missing, the user must say why. ``labels``: the labels, for "auto". ``prior``: what is known
    of p(y=1). ``sampling``: for "pu", how the labeled rows were collected. ``**how``: ``surrogate``, ``force``,
    ``given_drivers``, ``drivers``, ``propensity``, ``false_positive``, ``false_negative``, ``missing``, ``machine``
    and ``accuracy`` of the regime.

    Examples
    --------
    >>> regime_from("pu", prior=0.2).prior
    0.2
    """
    if isinstance(spec, Regime):
        if prior is not None or sampling is not None or how:
            raise ParameterError(f"give {option('prior')} and the like to {type(spec).__name__}(...), not beside it")
        return spec
    if not isinstance(spec, str):
        raise ParameterError.not_one_of("label regime", spec, NAMES)
    prior = prior_from(prior)  # a wrong value is refused even if it is not used
    name = regime_name(spec)
    if name == "auto":
        return _suggested(labels, prior, sampling)
    if name == "mnar":
        raise NotAnswerableError(MNAR)
    if name in ("semi", "semi-supervised"):
        raise LabelError(f"say how labels go missing, with {option('labels')} one of\n{MECHANISMS_EXPLAINED}")
    if name not in NAMES:
        raise ParameterError.not_one_of("label regime", spec, NAMES)
    return _named(name, prior, sampling, how)


# The regimes that an option belongs to; the first is named in messages.
_HOME = {
    "given_drivers": ("mar-f", "mcar", "mar-c"),
    "drivers": ("pu", "mar-f"),
    "propensity": ("pu",),
    "false_positive": ("noisy",),
    "false_negative": ("noisy",),
    "missing": ("noisy",),
    "machine": ("predicted",),
    "accuracy": ("predicted",),
}


def _named(name: str, prior: object, sampling: Sampling | None, how: Mapping[str, Any]) -> Regime:
    """Return the regime with this name, and check its options."""
    if sampling and name != "pu":
        raise ParameterError(f"'sampling' is for {option(labels='pu')}: the other regimes are about one sample")
    for given in how:
        if given in _HOME and name not in _HOME[given]:
            raise ParameterError(
                f"{given!r} is for {option(labels=_HOME[given][0])}, and not for {option(labels=name)}"
            )
    if name == "supervised" and how:
        raise ParameterError(f"{next(iter(how))!r} is for missing labels, and not for {option(labels='supervised')}")
    if name == "pu":
        return PositiveUnlabeled(prior, sampling or "one-sample", **how)
    if name in ("noisy", "predicted"):
        return _with_errors(name, prior, how)
    return _supervised(prior) if name == "supervised" else SemiSupervised(name, prior, **how)


def _with_errors(name: str, prior: object, how: Mapping[str, Any]) -> Regime:
    """Return the regime of labels that may be wrong."""
    if name == "predicted":
        if not {"machine", "accuracy"} & set(how):
            raise ParameterError(
                f"{option(labels='predicted')} needs the machine's labels: labels=bl.Predicted('said')"
            )
        return Predicted(prior=prior, **how)
    if not {"false_positive", "false_negative"} <= set(how):
        raise ParameterError(
            f"{option(labels='noisy')} needs the rates of errors: labels=bl.Noisy(false_positive=0.1, "
            f"{option(false_negative=0.05)})"
        )
    return Noisy(prior=prior, **how)


def _supervised(prior: object) -> Supervised:
    if prior is not None:
        warn(f"p(y=1) is said to be {prior}; with a label in every row nothing depends on it", RegimeWarning)
    return Supervised()


def _suggested(labels: Labels | None, prior: object, sampling: Sampling | None) -> Regime:
    if labels is None:
        raise ParameterError(f"{option(labels='auto')} needs the labels to look at")
    if not labels.n_unlabeled:
        return _supervised(prior)
    if labels.n_seen_classes == 1 and np.count_nonzero(labels.labeled) == 1:
        raise LabelError(
            f"{labels.saw}, and {labels.n_unlabeled} rows are not: one row alone tells nothing of the others; pass "
            f"{option(labels='pu')} if it is a labeled positive"
        )
    if labels.n_seen_classes == 1:
        regime = PositiveUnlabeled(prior, sampling or "one-sample")
        warn(
            f"{labels.saw}, and the others are not: this is read as positive-unlabeled data. {regime.assumption} Pass "
            f"{option(labels='pu')} to confirm this.",
            RegimeWarning,
        )
        return regime
    raise LabelError(
        f"{labels.saw}, and {labels.n_unlabeled} rows are not: say how labels went missing, with "
        f"{option('labels')} one of\n"
        f"{MECHANISMS_EXPLAINED}"
    )
