"""Pure functions of count tables: statistics, degrees of freedom, tails, information, power."""

from blankets.stats._calibrated import LARGE, log_p_from_moments, moments_of_block
from blankets.stats._contingency import nominal_dof, statistics_of_block, table_statistics
from blankets.stats._estimate import InformationEstimate, IntervalMethod, divided, noncentrality_at
from blankets.stats._information import Loss, as_tables, information, joint_levels, miller_madow, plug_in
from blankets.stats._partial_labels import (
    NEGATIVE,
    POSITIVE,
    UNLABELLED,
    Sampling,
    mar_f_information,
    mcar_information,
    neg_information,
    pos_information,
    ss_information,
)
from blankets.stats._permutation import permutation_p, permutations_of_block
from blankets.stats._power import EFFECT_SIZES, attained_power, detectable_effect, noncentrality
from blankets.stats._tail import log_chi2_sf

__all__ = [
    "EFFECT_SIZES",
    "InformationEstimate",
    "IntervalMethod",
    "LARGE",
    "Loss",
    "NEGATIVE",
    "POSITIVE",
    "Sampling",
    "UNLABELLED",
    "as_tables",
    "attained_power",
    "detectable_effect",
    "divided",
    "information",
    "joint_levels",
    "log_chi2_sf",
    "log_p_from_moments",
    "mar_f_information",
    "mcar_information",
    "miller_madow",
    "moments_of_block",
    "neg_information",
    "nominal_dof",
    "noncentrality",
    "noncentrality_at",
    "permutation_p",
    "permutations_of_block",
    "plug_in",
    "pos_information",
    "ss_information",
    "statistics_of_block",
    "table_statistics",
]
