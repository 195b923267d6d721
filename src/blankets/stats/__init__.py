"""Pure functions of count tables: statistics, degrees of freedom, tails, information, power."""

from blankets.kernels import COARSE, FAR, LARGE, NOTHING
from blankets.stats._calibrated import cell_tables, log_p_from_moments, moments_of_block
from blankets.stats._calibrated_block import METHODS, calibrated_formula, calibrated_of_block, doubtful_tests, law_at
from blankets.stats._canonical import canonical_test, combined, log_p_of_functions, whitening, wide_log_lambda
from blankets.stats._cell_means import Cells, RowScores, equal_means, log_p_among, means_information, merged_levels
from blankets.stats._clusters import GROUPS_A_DEGREE, clustered_test, hotelling_log_p, log_f_sf, summed_cells
from blankets.stats._contingency import (
    answers_of_block,
    entropy_terms,
    formula_of,
    nominal_dof,
    statistics_of_block,
    table_statistics,
)
from blankets.stats._drawn import Drawn, draws_test
from blankets.stats._error_control import FalseMembers, adjusted_log_p, expected_false_members
from blankets.stats._estimate import (
    LARGEST,
    N_CURVE,
    InformationEstimate,
    divided,
    mixed_curves,
    noncentrality_at,
)
from blankets.stats._explained import EXPLAINED, explained_information
from blankets.stats._imputed import pooled_d2, pooled_d3, pooled_regressions
from blankets.stats._information import Loss, as_tables, miller_madow, plug_in
from blankets.stats._labeling_bias import labeling_bias
from blankets.stats._machine_labels import lost_for_errors, machine_scores, predicted_share
from blankets.stats._partial_labels import (
    NEGATIVE,
    POSITIVE,
    UNLABELED,
    Sampling,
    mar_f_information,
    mcar_information,
    neg_information,
    pos_information,
    scored_information,
    ss_information,
)
from blankets.stats._permutation import permutation_p, permutations_of_block
from blankets.stats._power import (
    EFFECT_SIZES,
    attained_power,
    critical_value,
    detectable_effect,
    effect_from_w,
    needed_alpha,
    needed_noncentrality,
    noncentrality,
    w_from_effect,
)
from blankets.stats._products import Basis, rows_test, rows_tests
from blankets.stats._propensities import weighted_scores
from blankets.stats._rare import (
    MOST_LEVELS,
    RARE,
    ROWS_A_FUNCTION,
    fitted_levels,
    logistic_fit,
    meetings_test,
    score_test,
)
from blankets.stats._regression import (
    Regression,
    number_regression,
    odds_regression,
    risk_regression,
    told_by_others,
)
from blankets.stats._special import chi2_isf, xlogy
from blankets.stats._survey import Surveyed, survey_information, survey_test
from blankets.stats._tail import log_chi2_sf, log_p_of, settled, strongest_of, weaker_than

__all__ = [
    "Basis",
    "COARSE",
    "Cells",
    "Drawn",
    "EFFECT_SIZES",
    "EXPLAINED",
    "FAR",
    "FalseMembers",
    "GROUPS_A_DEGREE",
    "InformationEstimate",
    "LARGE",
    "LARGEST",
    "Loss",
    "METHODS",
    "MOST_LEVELS",
    "NEGATIVE",
    "NOTHING",
    "N_CURVE",
    "POSITIVE",
    "RARE",
    "ROWS_A_FUNCTION",
    "Regression",
    "RowScores",
    "Sampling",
    "Surveyed",
    "UNLABELED",
    "adjusted_log_p",
    "answers_of_block",
    "as_tables",
    "attained_power",
    "calibrated_formula",
    "calibrated_of_block",
    "canonical_test",
    "cell_tables",
    "chi2_isf",
    "clustered_test",
    "combined",
    "critical_value",
    "detectable_effect",
    "divided",
    "doubtful_tests",
    "draws_test",
    "effect_from_w",
    "entropy_terms",
    "equal_means",
    "expected_false_members",
    "explained_information",
    "fitted_levels",
    "formula_of",
    "hotelling_log_p",
    "labeling_bias",
    "law_at",
    "log_chi2_sf",
    "log_f_sf",
    "log_p_among",
    "log_p_from_moments",
    "log_p_of",
    "log_p_of_functions",
    "logistic_fit",
    "lost_for_errors",
    "machine_scores",
    "mar_f_information",
    "mcar_information",
    "means_information",
    "meetings_test",
    "merged_levels",
    "miller_madow",
    "mixed_curves",
    "moments_of_block",
    "needed_alpha",
    "needed_noncentrality",
    "neg_information",
    "nominal_dof",
    "noncentrality",
    "noncentrality_at",
    "number_regression",
    "odds_regression",
    "permutation_p",
    "permutations_of_block",
    "plug_in",
    "pooled_d2",
    "pooled_d3",
    "pooled_regressions",
    "pos_information",
    "predicted_share",
    "risk_regression",
    "rows_test",
    "rows_tests",
    "score_test",
    "scored_information",
    "settled",
    "ss_information",
    "statistics_of_block",
    "strongest_of",
    "summed_cells",
    "survey_information",
    "survey_test",
    "table_statistics",
    "told_by_others",
    "w_from_effect",
    "weaker_than",
    "weighted_scores",
    "whitening",
    "wide_log_lambda",
    "xlogy",
]
