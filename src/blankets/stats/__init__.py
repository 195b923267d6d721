"""Pure functions of count tables: statistics, degrees of freedom, tails, information, power."""

from blankets.stats._tail import log_chi2_sf

__all__ = ["log_chi2_sf"]
