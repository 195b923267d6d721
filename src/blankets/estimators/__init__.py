"""The scikit-learn face: selectors that find Markov blankets, and latent variables as features."""

from blankets.estimators._information import InformationSelector
from blankets.estimators._latent import LatentBlanketClassifier, LatentBlanketTransformer
from blankets.estimators._partial import LabelledStratifiedKFold, labelled_only
from blankets.estimators._selector import MarkovBlanketSelector
from blankets.estimators._wrapper import HitonWrapper

__all__ = [
    "HitonWrapper",
    "InformationSelector",
    "LabelledStratifiedKFold",
    "LatentBlanketClassifier",
    "LatentBlanketTransformer",
    "MarkovBlanketSelector",
    "labelled_only",
]
