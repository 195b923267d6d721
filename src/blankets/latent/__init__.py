"""Structure learning and latent (hidden) variables: scores, the best DAG, SLL, (constrained) structural EM."""

from blankets.latent._best import BestDAG, best_dag
from blankets.latent._discover import LatentSearch
from blankets.latent._features import fit_feature
from blankets.latent._methods import Effort
from blankets.latent._result import Latent, LatentBlanket
from blankets.latent.sll import SLL, sll

__all__ = [
    "BestDAG",
    "Effort",
    "Latent",
    "LatentBlanket",
    "LatentSearch",
    "SLL",
    "best_dag",
    "fit_feature",
    "sll",
]
