"""Markov blanket algorithms: one a file, each a plain function of an `IndependenceTest`."""

from blankets.search._contract import Algorithm, Decision, Found, Trace

__all__ = ["Algorithm", "Decision", "Found", "Trace"]
