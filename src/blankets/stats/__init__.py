"""Pure functions of count tables: statistics, degrees of freedom, tails, information, power."""

from blankets.kernels import COARSE
from blankets.stats._adjusted import OVERLAP, Predict, TreatmentEffect, e_value, predict_linear, treatment_effect
from blankets.stats._beside import HeldBeside, held_beside
from blankets.stats._by_chance import Admission
from blankets.stats._calibrated_block import METHODS, calibrated_formula, calibrated_of_block
from blankets.stats._canonical import DETERMINED, canonical_test, log_p_of_functions, whitening, wide_log_lambda
from blankets.stats._cell_means import Cells, RowScores, means_information
from blankets.stats._clusters import GROUPS_A_DEGREE, clustered_test, summed_cells
from blankets.stats._contingency import answers_of_block, formula_of, statistics_of_block
from blankets.stats._error_control import FalseMembers, adjusted_log_p, expected_false_members, holm
from blankets.stats._estimate import LARGEST, N_CURVE, InformationEstimate, divided, mixed_curves, noncentrality_at
from blankets.stats._explained import explained_information
from blankets.stats._given_functions import GivenFunctions, Values
from blankets.stats._held_fixed import GivenSet, Pair, Side, Verdict, held_fixed_test
from blankets.stats._imputed import pooled_d2, pooled_d3, pooled_regressions
from blankets.stats._information import Loss, as_tables, correlation_information, miller_madow, plug_in
from blankets.stats._labeling_bias import labeling_bias
from blankets.stats._logistic import logistic_fit
from blankets.stats._machine_labels import machine_noncentrality, machine_scores, predicted_share
from blankets.stats._machine_power import STUDIES, machine_power
from blankets.stats._machine_rows import MachineRows, bounded_functions, machine_rows_test
from blankets.stats._pairs import MOST_COLUMNS, TogetherPair, strongest_pair
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
from blankets.stats._propensities import weighted_powers, weighted_scores
from blankets.stats._regression import Regression, number_regression, odds_regression, risk_regression, told_by_others
from blankets.stats._score import Draws, Score, cauchy_combined
from blankets.stats._scored_estimate import NEGATIVE, POSITIVE, UNLABELED, scored_information
from blankets.stats._selected import cut_of_one, selected_effect, selected_noncentrality
from blankets.stats._special import chi2_isf
from blankets.stats._survey import survey_information, survey_test
from blankets.stats._tail import chi2_of_log_p, log_chi2_sf, log_p_of, settled, strongest_of, weaker_than

__all__ = [
    "Admission",
    "COARSE",
    "Cells",
    "DETERMINED",
    "Draws",
    "EFFECT_SIZES",
    "FalseMembers",
    "GROUPS_A_DEGREE",
    "GivenFunctions",
    "GivenSet",
    "HeldBeside",
    "InformationEstimate",
    "LARGEST",
    "Loss",
    "METHODS",
    "MOST_COLUMNS",
    "MachineRows",
    "NEGATIVE",
    "N_CURVE",
    "OVERLAP",
    "POSITIVE",
    "Pair",
    "Predict",
    "Regression",
    "RowScores",
    "STUDIES",
    "Sampling",
    "Score",
    "Side",
    "TogetherPair",
    "TreatmentEffect",
    "UNLABELED",
    "Values",
    "Verdict",
    "adjusted_log_p",
    "answers_of_block",
    "as_tables",
    "attained_power",
    "behind_mar_f",
    "bounded_functions",
    "calibrated_formula",
    "calibrated_of_block",
    "canonical_test",
    "cauchy_combined",
    "chi2_isf",
    "chi2_of_log_p",
    "clustered_test",
    "correlation_information",
    "critical_value",
    "cut_of_one",
    "detectable_effect",
    "divided",
    "e_value",
    "effect_from_w",
    "expected_false_members",
    "explained_information",
    "formula_of",
    "held_beside",
    "held_fixed_test",
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
    "scored_information",
    "selected_effect",
    "selected_noncentrality",
    "settled",
    "ss_information",
    "statistics_of_block",
    "strongest_of",
    "strongest_pair",
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
