"""Structure learning and latent variables: scores, the best DAG, SLL, (constrained) structural EM."""

from blankets.latent._best import BestDAG, best_dag
from blankets.latent._discover import LatentSearch
from blankets.latent._features import LatentFeature, fit_feature
from blankets.latent._methods import Effort
from blankets.latent._result import Latent, LatentBlanket, SubspaceScore
from blankets.latent.sll import SLL, sll

__all__ = [
    "BestDAG",
    "Effort",
    "Latent",
    "LatentBlanket",
    "LatentFeature",
    "LatentSearch",
    "SLL",
    "SubspaceScore",
    "best_dag",
    "fit_feature",
    "sll",
]
