"""Pure functions of count tables: statistics, degrees of freedom, tails, information, power."""

from blankets.stats._contingency import nominal_dof, statistics_of_block, table_statistics
from blankets.stats._tail import log_chi2_sf

__all__ = ["log_chi2_sf", "nominal_dof", "statistics_of_block", "table_statistics"]
