"""Pure functions of count tables: statistics, degrees of freedom, tails, information, power."""

from blankets.kernels import COARSE
from blankets.stats._adjusted import OVERLAP, Predict, TreatmentEffect, e_value, predict_linear, treatment_effect
from blankets.stats._by_chance import Admission
from blankets.stats._calibrated_block import METHODS, calibrated_formula, calibrated_of_block
from blankets.stats._canonical import DETERMINED, canonical_test, log_p_of_functions, whitening, wide_log_lambda
from blankets.stats._cell_means import Cells, RowScores, means_information
from blankets.stats._clusters import GROUPS_A_DEGREE, clustered_test, summed_cells
from blankets.stats._contingency import answers_of_block, formula_of, statistics_of_block
from blankets.stats._drawn import Drawn, draws_test
from blankets.stats._error_control import FalseMembers, adjusted_log_p, expected_false_members, holm
from blankets.stats._estimate import LARGEST, N_CURVE, InformationEstimate, divided, mixed_curves, noncentrality_at
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
from blankets.stats._products import Basis, rows_tests
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
from blankets.stats._regression import Regression, number_regression, odds_regression, risk_regression, told_by_others
from blankets.stats._scored_estimate import NEGATIVE, POSITIVE, UNLABELED, scored_information
from blankets.stats._selected import cut_of_one, selected_effect, selected_noncentrality
from blankets.stats._special import chi2_isf
from blankets.stats._spread import FUNCTIONS_OF_VARIANCE, ROWS_A_VARIANCE, SpreadNumber, spread_number, spread_test
from blankets.stats._survey import survey_information, survey_test
from blankets.stats._tail import log_chi2_sf, log_p_of, settled, strongest_of, weaker_than

__all__ = [
    "Admission",
    "Basis",
    "COARSE",
    "Cells",
    "DETERMINED",
    "Drawn",
    "EFFECT_SIZES",
    "FUNCTIONS_OF_VARIANCE",
    "FalseMembers",
    "FittedLevels",
    "GROUPS_A_DEGREE",
    "InformationEstimate",
    "LARGEST",
    "Loss",
    "METHODS",
    "MOST_LEVELS",
    "MachineRows",
    "NEGATIVE",
    "N_CURVE",
    "OVERLAP",
    "POSITIVE",
    "Predict",
    "RARE",
    "ROWS_A_FUNCTION",
    "ROWS_A_FUNCTION_OF_SEVERAL",
    "ROWS_A_VARIANCE",
    "Regression",
    "RowScores",
    "STUDIES",
    "Sampling",
    "SpreadNumber",
    "TreatmentEffect",
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
    "chi2_isf",
    "clustered_test",
    "correlation_information",
    "critical_value",
    "cut_of_one",
    "detectable_effect",
    "divided",
    "draws_test",
    "e_value",
    "effect_from_w",
    "expected_false_members",
    "explained_information",
    "fitted_levels",
    "formula_of",
    "holm",
    "labeling_bias",
    "log_chi2_sf",
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
    "predict_linear",
    "predicted_share",
    "risk_regression",
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
    "told_by_others",
    "treatment_effect",
    "w_from_effect",
    "weaker_than",
    "weighted_powers",
    "weighted_scores",
    "whitening",
    "wide_log_lambda",
]
