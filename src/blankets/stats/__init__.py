"""Pure functions of count tables: statistics, degrees of freedom, tails, information, power."""

from blankets.kernels import COARSE, FAR, LARGE, NOTHING
from blankets.stats._by_chance import Admission
from blankets.stats._calibrated import cell_tables
from blankets.stats._calibrated_block import METHODS, calibrated_formula, calibrated_of_block, law_at
from blankets.stats._canonical import (
    DETERMINED,
    canonical_test,
    combined,
    log_p_of_functions,
    whitening,
    wide_log_lambda,
)
from blankets.stats._cell_means import (
    Cells,
    Fitted,
    RowScores,
    drawn_law,
    equal_means,
    log_p_among,
    means_information,
    merged_levels,
)
from blankets.stats._clusters import GROUPS_A_DEGREE, clustered_test, hotelling_log_p, summed_cells
from blankets.stats._contingency import (
    answers_of_block,
    entropy_terms,
    flat_tables,
    formula_of,
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
from blankets.stats._explained import explained_information
from blankets.stats._imputed import pooled_d2, pooled_d3, pooled_regressions
from blankets.stats._information import Loss, as_tables, correlation_information, miller_madow, plug_in
from blankets.stats._labeling_bias import labeling_bias
from blankets.stats._machine_labels import machine_noncentrality, machine_scores, predicted_share
from blankets.stats._machine_power import STUDIES, machine_power
from blankets.stats._machine_rows import MachineRows, bounded_functions, machine_rows_test
from blankets.stats._partial_labels import (
    Sampling,
    behind_mar_f,
    mar_f_information,
    mcar_information,
    neg_information,
    pos_information,
    ss_information,
)
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
from blankets.stats._propensities import weighted_powers, weighted_scores
from blankets.stats._rare import (
    MOST_LEVELS,
    RARE,
    ROWS_A_FUNCTION,
    ROWS_A_FUNCTION_OF_SEVERAL,
    FittedLevels,
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
from blankets.stats._scored_estimate import NEGATIVE, POSITIVE, UNLABELED, scored_information
from blankets.stats._selected import cut_of_one, selected_effect, selected_noncentrality
from blankets.stats._special import chi2_isf, xlogy
from blankets.stats._spread import FUNCTIONS_OF_VARIANCE, ROWS_A_VARIANCE, SpreadNumber, spread_number, spread_test
from blankets.stats._survey import Surveyed, survey_information, survey_test
from blankets.stats._tail import log_chi2_sf, log_p_of, settled, strongest_of, weaker_than

__all__ = [
    "Admission",
    "Basis",
    "COARSE",
    "Cells",
    "DETERMINED",
    "Drawn",
    "EFFECT_SIZES",
    "FAR",
    "FUNCTIONS_OF_VARIANCE",
    "FalseMembers",
    "Fitted",
    "FittedLevels",
    "GROUPS_A_DEGREE",
    "InformationEstimate",
    "LARGE",
    "LARGEST",
    "Loss",
    "METHODS",
    "MOST_LEVELS",
    "MachineRows",
    "NEGATIVE",
    "NOTHING",
    "N_CURVE",
    "POSITIVE",
    "RARE",
    "ROWS_A_FUNCTION",
    "ROWS_A_FUNCTION_OF_SEVERAL",
    "ROWS_A_VARIANCE",
    "Regression",
    "RowScores",
    "STUDIES",
    "Sampling",
    "SpreadNumber",
    "Surveyed",
    "UNLABELED",
    "adjusted_log_p",
    "answers_of_block",
    "as_tables",
    "attained_power",
    "behind_mar_f",
    "bounded_functions",
    "calibrated_formula",
    "calibrated_of_block",
    "canonical_test",
    "cell_tables",
    "chi2_isf",
    "clustered_test",
    "combined",
    "correlation_information",
    "critical_value",
    "cut_of_one",
    "detectable_effect",
    "divided",
    "drawn_law",
    "draws_test",
    "effect_from_w",
    "entropy_terms",
    "equal_means",
    "expected_false_members",
    "explained_information",
    "fitted_levels",
    "flat_tables",
    "formula_of",
    "hotelling_log_p",
    "labeling_bias",
    "law_at",
    "log_chi2_sf",
    "log_p_among",
    "log_p_of",
    "log_p_of_functions",
    "logistic_fit",
    "machine_noncentrality",
    "machine_power",
    "machine_rows_test",
    "machine_scores",
    "mar_f_information",
    "mcar_information",
    "means_information",
    "meetings_test",
    "merged_levels",
    "miller_madow",
    "mixed_curves",
    "needed_alpha",
    "needed_noncentrality",
    "neg_information",
    "noncentrality",
    "noncentrality_at",
    "number_regression",
    "odds_regression",
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
    "selected_effect",
    "selected_noncentrality",
    "settled",
    "spread_number",
    "spread_test",
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
    "weighted_powers",
    "weighted_scores",
    "whitening",
    "wide_log_lambda",
    "xlogy",
]
