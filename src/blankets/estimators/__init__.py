"""scikit-learn estimators: selectors that find Markov blankets, and latent variables as features."""

from blankets.estimators._information import InformationSelector
from blankets.estimators._latent import LatentBlanketClassifier, LatentBlanketTransformer
from blankets.estimators._partial import LabeledStratifiedKFold, labeled_only
from blankets.estimators._selector import MarkovBlanketSelector
from blankets.estimators._wrapper import HitonWrapper

__all__ = [
    "HitonWrapper",
    "InformationSelector",
    "LabeledStratifiedKFold",
    "LatentBlanketClassifier",
    "LatentBlanketTransformer",
    "MarkovBlanketSelector",
    "labeled_only",
]
