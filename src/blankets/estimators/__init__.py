"""The scikit-learn face: selectors that find Markov blankets."""

from blankets.estimators._selector import MarkovBlanketSelector
from blankets.estimators._wrapper import HitonWrapper

__all__ = ["HitonWrapper", "MarkovBlanketSelector"]
