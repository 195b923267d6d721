"""What a missing label means: which rows may be counted, what replaces the target, what can be known."""

from blankets.regimes._channel import Channel
from blankets.regimes._contract import Question, Regime
from blankets.regimes._kappa import (
    kappa_case_control,
    kappa_of,
    prefer_y0_below,
    stratified_kappa,
    surrogate_breakpoints,
)
from blankets.regimes._knowledge import averaged_over_priors
from blankets.regimes._labels import UNLABELED, Labels, class_codes, code_labels, read_labels
from blankets.regimes._names import ASSUMED, regime_from, regime_name
from blankets.regimes._noisy import Noisy
from blankets.regimes._predicted import Predicted
from blankets.regimes._prior import (
    Beta,
    Between,
    Exact,
    FromDistribution,
    Prior,
    Restricted,
    between,
    greater_than,
    less_than,
    prior_from,
)
from blankets.regimes._prior_estimation import EstimatedPrior, estimate_prior
from blankets.regimes._regimes import PositiveUnlabeled, Supervised, Unsaid
from blankets.regimes._semi import SemiSupervised
from blankets.regimes._surrogates import (
    Surrogate,
    SurrogateColumn,
    collapse,
    label_column,
    surrogate_column,
    surrogate_from,
)

__all__ = [
    "ASSUMED",
    "Beta",
    "Between",
    "Channel",
    "EstimatedPrior",
    "Exact",
    "FromDistribution",
    "Labels",
    "Noisy",
    "PositiveUnlabeled",
    "Predicted",
    "Prior",
    "Question",
    "Regime",
    "Restricted",
    "SemiSupervised",
    "Supervised",
    "Surrogate",
    "SurrogateColumn",
    "UNLABELED",
    "Unsaid",
    "averaged_over_priors",
    "between",
    "class_codes",
    "code_labels",
    "collapse",
    "estimate_prior",
    "greater_than",
    "kappa_case_control",
    "kappa_of",
    "label_column",
    "less_than",
    "prefer_y0_below",
    "prior_from",
    "read_labels",
    "regime_from",
    "regime_name",
    "stratified_kappa",
    "surrogate_breakpoints",
    "surrogate_column",
    "surrogate_from",
]
