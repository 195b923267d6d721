"""Structure learning and latent variables: scores, the best DAG, SLL, (constrained) structural EM."""

from blankets.latent._best import BestDAG, best_dag

__all__ = ["BestDAG", "best_dag"]
