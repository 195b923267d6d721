"""Survey weights: the figures are those of svychisq of R's package survey (4.1, R 4.2.2), by this code:

library(survey)
for (k in 1:10) {
  i <- 1:(150 + 30 * k)
  u <- (i * i * (k + 2) + 17 * i) %% 1009
  d <- data.frame(x = factor(u %% (2 + k %% 3)), y = factor((u %/% 7 + (i %% 5) * (u %% 2)) %% (2 + k %% 2)),
                  w = 1 + ((37 * i + 11 * k) %% 29) / 7, g = i %% 37)
  for (design in list(svydesign(ids = ~1, weights = ~w, data = d), svydesign(ids = ~g, weights = ~w, data = d))) {
    f <- svychisq(~x + y, design, statistic = "F")
    c <- svychisq(~x + y, design, statistic = "Chisq")
    cat(k, f$statistic, f$parameter, f$p.value, c$statistic, c$parameter, c$p.value, "\\n")
  }
}
"""

import numpy as np
import pytest
from scipy.stats import chi2, chi2_contingency

from blankets.counting import MemoryCounter
from blankets.data import Frame
from blankets.independence import SurveyTests
from blankets.stats import survey_test

FIGURES = """
1 0.48170169733 3.9934038692 714.81929258 0.74889438327 2.2230848575 4 0.74921896024
1 0.51599980636 3.7505563865 135.02002992 0.71247883912 2.2230848575 4 0.7239888599
2 1.3266093686 2.999376705 626.86973134 0.26468014534 4.621264515 3 0.2636505847
2 1.4225966036 2.7697168686 99.70980727 0.24237361193 4.621264515 3 0.23396187082
3 1.5810330136 1.9970420545 477.29305103 0.2068716071 3.6913344053 2 0.205762433
3 1.4389513148 1.9883664933 71.581193758 0.2439709196 3.6913344053 2 0.23717635163
4 0.62019427365 1.9994979397 537.86494578 0.53818487151 1.4361223778 2 0.53783993932
4 0.53836544507 1.8007523344 64.827084038 0.56785242407 1.4361223778 2 0.58370156531
5 0.41642772503 5.9952104871 1792.5679356 0.86838117199 2.8913995092 6 0.86862807922
5 0.37366810202 5.1447757368 185.21192652 0.87100135921 2.8913995092 6 0.89615024684
6 8.4674517798 1 329 0.003861856859 9.7494472968 1 0.0036155757928
6 7.5759707898 1 36 0.009206996736 9.7494472968 1 0.0059151513422
7 2.5291429027 3.9942384968 1433.9316204 0.039049863863 11.757543334 4 0.038509168788
7 2.5091175465 3.4241335307 123.26880711 0.054155506863 11.757543334 4 0.039817807162
8 1.3437353776 2.9977579104 1166.1278272 0.25868517374 4.668231593 3 0.2581140882
8 1.4627970035 2.611863474 94.027085064 0.23307877452 4.668231593 3 0.22246422721
9 0.28779504259 1.9987273088 837.46674239 0.74984970053 0.6656680222 2 0.74991527718
9 0.27473043869 1.9621205148 70.636338533 0.75641068308 0.6656680222 2 0.75977690208
10 0.96621931795 1.9998627606 897.93837952 0.38090930759 2.2410405108 2 0.38051894318
10 1.229038819 1.6668846052 60.007845787 0.29437999835 2.2410405108 2 0.29257365882
"""
ROWS = [[float(word) for word in line.split()] for line in FIGURES.strip().splitlines()]


def table(k):
    i = np.arange(1, 151 + 30 * k)
    u = (i * i * (k + 2) + 17 * i) % 1009
    x, y = u % (2 + k % 3), (u // 7 + (i % 5) * (u % 2)) % (2 + k % 2)
    return x, y, 1 + ((37 * i + 11 * k) % 29) / 7, i % 37


@pytest.mark.parametrize("number", range(20))
def test_both_orders_are_those_of_the_package_survey(number):
    k, f, freedom, rest, p, pearson, dof, p_first = ROWS[number]
    x, y, weights, groups = table(int(k))
    found = survey_test(x, y, np.zeros_like(x), weights, groups if number % 2 else None)
    n = 37 if number % 2 else len(x)
    assert found.pearson == pytest.approx(pearson, rel=1e-6)
    assert found.dof == dof
    assert found.statistic / found.dof == pytest.approx(f, rel=1e-6)
    assert (found.freedom, found.freedom * (n - 1)) == pytest.approx((freedom, rest), rel=1e-6)
    assert np.exp(found.log_p) == pytest.approx(p, rel=1e-6)
    assert chi2.sf(found.statistic, found.dof) == pytest.approx(p_first, rel=1e-6)


def test_strata_add_up():
    """X² and contrasts of strata add up; with one stratum it is the table alone."""
    x, y, weights, _ = table(1)
    z = np.arange(len(x)) % 2
    both = survey_test(x, y, z, weights)
    parts = [survey_test(x[z == s], y[z == s], np.zeros_like(x[z == s]), weights[z == s]) for s in (0, 1)]
    shares = [weights[z == s].sum() / weights.sum() * len(x) / np.count_nonzero(z == s) for s in (0, 1)]
    assert both.dof == sum(part.dof for part in parts)
    expected = sum(share * part.pearson for share, part in zip(shares, parts, strict=True))
    assert both.pearson == pytest.approx(expected)


def test_equal_weights_are_pearsons_test():
    x, y, _, _ = table(4)
    found = survey_test(x, y, np.zeros_like(x), np.full(len(x), 2.5))
    plain = chi2_contingency(np.histogram2d(x, y, bins=(x.max() + 1, y.max() + 1))[0], correction=False)
    assert found.pearson == pytest.approx(plain.statistic)


def test_rows_without_a_value_are_left_out():
    x, y, weights, _ = table(6)
    gaps = np.arange(len(x)) % 4 == 0
    frame = Frame.from_columns([np.where(gaps, 2, x), y], ["x", "y"], [(0, 1), (0, 1)], len(x), frozenset({0}))
    evidence = SurveyTests(MemoryCounter(frame, 1), weights).test(0, 1)
    alone = survey_test(x[~gaps], y[~gaps], np.zeros_like(x[~gaps]), weights[~gaps])
    assert (evidence.log_p, evidence.n_rows) == (alone.log_p, np.count_nonzero(~gaps))


def test_the_level_holds_where_weights_go_with_the_columns():
    """Rows with large weights are drawn rarely; in the population x and y are independent, in the draw they are not."""
    rng = np.random.default_rng(1)
    rejected, draws = 0, 400
    for _ in range(draws):
        x, y = rng.integers(0, 2, (2, 2000))
        drawn = rng.random(2000) < np.where(x == y, 0.5, 0.1)
        weights = np.where(x == y, 2.0, 10.0)[drawn]
        found = survey_test(x[drawn], y[drawn], np.zeros(drawn.sum(), np.int64), weights)
        rejected += found.log_p <= np.log(0.05)
    assert abs(rejected / draws - 0.05) < 3 * np.sqrt(0.05 * 0.95 / draws)
