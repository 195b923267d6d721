"""Structure learning and latent variables: scores, the best DAG, SLL, (constrained) structural EM."""

from blankets.latent._best import BestDAG, best_dag
from blankets.latent._discover import discover_latent
from blankets.latent._result import Latent, LatentBlanket, SubspaceScore
from blankets.latent.sll import SLL, sll

__all__ = ["SLL", "BestDAG", "Latent", "LatentBlanket", "SubspaceScore", "best_dag", "discover_latent", "sll"]
