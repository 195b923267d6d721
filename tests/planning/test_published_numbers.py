"""All numbers that chapter 7 of the thesis prints, and the corrections that its errata require.

Reference: Sechidis, Hypothesis Testing and Feature Selection in Semi-Supervised Data (PhD thesis,
University of Manchester, 2015), Tables 7.1 to 7.4, Figures 7.1 to 7.4 and 7.8 to 7.11. The one printed
number that its own method does not give is 1430 (Figure 7.1b, read off a grid of tens): it is 1427.
"""

import numpy as np
import pytest

from blankets.planning import plan, planning_table

POWERS = (0.70, 0.80, 0.90, 0.95, 0.99)
EFFECTS = ("small", "medium", "large")
PU = {"labels": "pu", "prior": 0.2, "shape": "spread"}

TABLE_7_1A = [[962, 107, 39], [1168, 130, 47], [1488, 166, 60], [1782, 198, 72], [2404, 268, 97]]
TABLE_7_1B = [[4566, 508, 183], [5548, 617, 222], [7068, 786, 283], [8462, 941, 339], [11415, 1269, 457]]
TABLE_7_2 = [[223, 27, 10], [267, 33, 12], [331, 41, 15], [388, 49, 18], [501, 66, 24]]
TABLE_7_3A = [[1830, 204, 74], [2143, 239, 86], [2613, 291, 105], [3031, 337, 122], [3890, 433, 156]]
TABLE_7_3B = [[8691, 966, 348], [10179, 1131, 408], [12409, 1379, 497], [14395, 1600, 576], [18474, 2053, 739]]
TABLE_7_4 = [[420, 51, 19], [484, 59, 22], [578, 72, 26], [658, 83, 31], [814, 106, 39]]


@pytest.mark.parametrize(
    ("printed", "question"),
    [
        pytest.param(TABLE_7_1A, {"arity": 2}, id="7.1a"),
        pytest.param(TABLE_7_1B, {"arity": 2, "labeled": 0.05, **PU}, id="7.1b"),
        pytest.param(TABLE_7_2, {"arity": 2, "rows": 3000, **PU}, id="7.2"),
        pytest.param(TABLE_7_3A, {"arity": 10}, id="7.3a"),
        pytest.param(TABLE_7_3B, {"arity": 10, "labeled": 0.05, **PU}, id="7.3b"),
        pytest.param(TABLE_7_4, {"arity": 10, "rows": 5000, **PU}, id="7.4"),
    ],
)
def test_tables(printed, question):
    table = planning_table(power=POWERS, effect=EFFECTS, alpha=0.01, **question)
    np.testing.assert_array_equal(table.answers, printed)


@pytest.mark.parametrize(
    ("arity", "question", "printed"),
    [
        (2, {}, 227),
        (2, {"labeled": 0.05, **PU}, 1077),
        (2, {"rows": 1000, **PU}, 54),
        (10, {}, 367),
        (10, {"labeled": 0.05, **PU}, 1743),
        (10, {"rows": 1000, **PU}, 85),
    ],
)
def test_running_example(arity, question, printed):
    assert plan(effect=0.053, power=0.99, alpha=0.01, arity=arity, **question).answer == printed


@pytest.mark.parametrize(("arity", "printed"), [(2, 101), (10, 160)])
def test_labels_for_a_weak_effect(arity, printed):
    assert plan(effect=0.02, power=0.95, alpha=0.01, arity=arity, rows=1000, **PU).answer == printed


@pytest.mark.parametrize(("arity", "corrected"), [(2, 1427), (10, 2310)])
def test_figures_7_1b_and_7_8b(arity, corrected):
    assert plan(effect=0.04, power=0.99, alpha=0.01, arity=arity, labeled=0.05, **PU).answer == corrected


def test_exact_effect_of_the_noise_example():
    # errata C2: with I = 0.053200 instead of its three decimals.
    exact = {"effect": 0.053200, "power": 0.99, "alpha": 0.01}
    assert plan(arity=2, **exact).answer == 226
    assert plan(arity=2, labeled=0.05, **PU, **exact).answer == 1073
    assert plan(arity=2, rows=1000, **PU, **exact).answer == 54
    assert plan(arity=10, **exact).answer == 366
    assert plan(arity=10, labeled=0.05, **PU, **exact).answer == 1737
    assert plan(arity=10, rows=1000, **PU, **exact).answer == 84


def test_the_correction_factor_of_the_example():
    assert plan(effect=0.053, power=0.99, alpha=0.01, arity=2, labeled=0.05, **PU).kappa == pytest.approx(4 / 19)
