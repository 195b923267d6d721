"""Machine labels beside gold ones, and known propensities: means, variances, tests and estimates from rows."""

import numpy as np
import pytest
from scipy import optimize, stats

import blankets as bl
from blankets.errors import LabelError, NotAnswerableError, ParameterError, RegimeWarning
from blankets.regimes import Channel, Surrogate
from blankets.stats import machine_scores, means_information, plug_in, predicted_share, weighted_powers, weighted_scores
from blankets.stats._cell_means import Fitted, drawn_law, equal_means, log_p_among, merged_levels
from machine_ratio import noncentrality_of


def everyone(x):
    return x, np.zeros(len(x), np.int64), np.ones(len(x), bool)


def machine_table(rng, n=4000, n_gold=400, strength=0.15):
    """One feature that matters, one on which the machine's errors depend, gold labels for some rows."""
    y = (rng.random(n) < 0.3).astype(int)
    cough = (rng.random(n) < 0.35 + strength * y).astype(int)
    ward = rng.integers(0, 2, n)
    said = np.where(rng.random(n) < np.where(ward == 1, 0.2, 0.03), 1 - y, y)
    return {"cough": cough, "ward": ward, "said": said, "ill": np.where(np.arange(n) < n_gold, y, np.nan)}, y


# ---------------------------------------------------------------- machine labels


def test_the_likelihood_ratio_is_that_of_a_general_optimizer():
    rng = np.random.default_rng(14)
    y, x = (rng.random(900) < 0.3).astype(int), rng.integers(0, 3, 900)
    said = np.where(rng.random(900) < np.where(x == 1, 0.25, 0.08), 1 - y, y)
    gold = np.where(np.arange(900) < 120, y, -1).astype(np.int16)
    scores = machine_scores(gold, said.astype(float))
    fitted = scores.fitted(scores.sums(*everyone(x)))
    seen = np.array(
        [[[np.sum((x == k) & (gold == c) & (said == v)) for v in (0, 1)] for c in (0, 1)] for k in range(3)]
    )
    rest = np.array([[np.sum((x == k) & (gold < 0) & (said == v)) for v in (0, 1)] for k in range(3)])

    def loss(p, wrong):  # p: shares of positives; wrong: of negatives and of positives, in each cell
        wrong = wrong.reshape(3, 2)
        q = np.stack([(1 - p)[:, None] * np.stack([1 - wrong[:, 0], wrong[:, 0]], 1),
                      p[:, None] * np.stack([wrong[:, 1], 1 - wrong[:, 1]], 1)], 1)  # fmt: skip
        return -np.sum(seen * np.log(q)) - np.sum(rest * np.log(q.sum(axis=1)))

    start, bounds = [0.1] * 6, [(1e-9, 1 - 1e-9)] * 6
    one = optimize.minimize(
        lambda t: loss(np.full(3, t[0]), t[1:]), [0.3, *start], bounds=bounds[:1] + bounds, tol=1e-12
    )
    free = optimize.minimize(lambda t: loss(t[:3], t[3:]), [0.3] * 3 + start, bounds=bounds[:3] + bounds, tol=1e-12)
    assert fitted.statistic == pytest.approx(2 * (one.fun - free.fun), abs=1e-3)
    assert fitted.dof == 2
    drawn = fitted.draw(np.random.RandomState(0), 4000)
    assert drawn[2].sum() / drawn[1].sum() == pytest.approx(one.x[0], abs=4 * 0.46 / np.sqrt(120 * 4000))


def test_with_every_label_gold_the_likelihood_ratio_is_g():
    rng = np.random.default_rng(15)
    y, x = rng.integers(0, 2, 600).astype(np.int16), rng.integers(0, 3, 600)
    scores = machine_scores(y, np.where(rng.random(600) < 0.8, y, 1 - y).astype(float))
    table = np.histogram2d(y, x, bins=(2, 3))[0]
    g = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")[0]
    assert scores.fitted(scores.sums(*everyone(x))).statistic == pytest.approx(g, abs=1e-3)


def test_rare_levels_are_tested_together():
    """Levels with too few gold rows are one; the least of the others joins them if they are still too few."""
    gold = np.array([[40.0, 3.0, 12.0, 4.0], [40.0, 6.0, 12.0, 4.0], [40.0, 0.0, 12.0, 30.0]])
    sums = np.stack([10.0 * gold, gold])
    found = merged_levels(sums, gold, 10.0)
    assert [sorted(filter(None, row)) for row in found[1].tolist()] == [[19, 40], [10, 12, 40], [12, 30, 40]]
    assert found.sum(axis=-1) == pytest.approx(sums.sum(axis=-1))
    assert found[0] == pytest.approx(10.0 * found[1])


def test_the_law_of_draws_follows_how_many_errors_a_fit_has():
    """Statistics that are c times chi-square, c a line in the root of the count: the law is that at the fit's count."""
    rng, n = np.random.default_rng(22), 40_000
    count = rng.poisson(9.0, n) + 1.0
    first, second = ((0.4 + 0.2 * np.sqrt(count)) * rng.chisquare(2, n) for _ in range(2))

    def fit(statistic, open_):
        return Fitted(statistic, np.full(np.shape(statistic), 2.0), open_, lambda rng, n: np.zeros(0))

    law = drawn_law(fit(np.array(1.0), np.array(16.0)), fit(first, count), fit(second, count))
    assert law.mean() == pytest.approx(2 * (0.4 + 0.2 * 4), rel=0.02)  # standard error 0.007
    assert np.corrcoef(law, count)[0, 1] == pytest.approx(0.0, abs=4 / np.sqrt(n))
    # Without a count, statistics are larger by as much as the second are smaller than the first.
    one = np.ones(n)
    law = drawn_law(fit(np.array(1.0), np.array(1.0)), fit(first, one), fit(0.8 * first, one))
    assert law == pytest.approx(first / 0.8, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("levels", "n_gold", "shift"), [(2, 100, 0.05), (5, 150, 0.028)])
def test_power_with_machine_labels_is_what_a_plan_promises(levels, n_gold, shift):
    rng, n, p = np.random.default_rng(21), 20 * n_gold, 0.3
    joint = np.outer([1 - p, p], np.full(levels, 1 / levels))  # p(y, x)
    joint += shift * np.outer([1, -1], np.linspace(1, -1, levels))
    effect = float((joint * np.log(joint / np.outer(joint.sum(axis=1), joint.sum(axis=0)))).sum())
    found = []
    for _ in range(1000):
        y, x = np.divmod(rng.choice(2 * levels, n, p=joint.ravel()), levels)
        said = np.where(rng.random(n) < 0.9, y, 1 - y).astype(float)
        scores = machine_scores(np.where(np.arange(n) < n_gold, y, -1).astype(np.int16), said)
        found.append(scores.test(scores.sums(*everyone(x)))[2] <= np.log(0.01))
    labels = bl.Predicted(accuracy=0.9, prior=p)
    planned = bl.plan(effect=effect, rows=n, labeled=n_gold, dof=levels - 1, labels=labels).power
    assert 0.5 < planned < 0.9
    assert np.mean(found) == pytest.approx(planned, abs=3 * np.sqrt(planned * (1 - planned) / 1000) + 0.02)


def test_the_share_of_positives_is_that_of_ppi_python():
    """ppi-python 0.2.3: ppi_mean_pointestimate(y[gold], f[gold], f[~gold]), ppi_mean_ci(..., alpha=0.1)."""
    rng = np.random.default_rng(7)
    y = (rng.random(1000) < 0.3).astype(float)
    f = np.where(rng.random(1000) < 0.85, y, 1 - y)
    gold = np.where(np.arange(1000) < 120, y, -1).astype(np.int16)
    share, error = predicted_share(gold, f)
    z = stats.norm.isf(0.05)
    assert share == pytest.approx(0.28428583, abs=1e-7)
    assert (share - z * error, share + z * error) == pytest.approx((0.22879284, 0.33977883), abs=1e-7)


def test_with_every_label_gold_the_test_is_pearsons_and_the_estimate_the_plug_in():
    rng = np.random.default_rng(0)
    y, x = rng.integers(0, 2, 500).astype(np.int16), rng.integers(0, 3, 500)
    cells = machine_scores(y, rng.random(500)).cells(*everyone(x))
    table = np.histogram2d(y, x, bins=(2, 3))[0]
    statistic, dof = equal_means(cells)
    assert statistic == pytest.approx(stats.chi2_contingency(table, correction=False)[0], rel=1e-9)
    assert dof == 2
    found, wanted = means_information(cells), plug_in(table)
    for name in ("value", "variance", "scale", "dof"):
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=1e-9)


def test_variance_of_shares_over_many_draws():
    rng = np.random.default_rng(1)
    means, told, null, alone = [], [], [], []
    for _ in range(400):
        y = (rng.random(1000) < 0.3).astype(int)
        x = rng.integers(0, 2, 1000)
        said = np.where(rng.random(1000) < np.where(x == 1, 0.2, 0.05), 1 - y, y).astype(float)
        gold = np.where(np.arange(1000) < 200, y, -1).astype(np.int16)
        cells = machine_scores(gold, said).cells(*everyone(x))
        means.append(cells.mean[0])
        told.append(cells.variance[0])
        null.append(cells.null_variance[0])
        alone.append([y[:200][x[:200] == k].mean() for k in (0, 1)])
    # The relative error of a variance from 400 draws is √(2/400) = 0.07.
    np.testing.assert_allclose(np.var(means, axis=0), np.mean(told, axis=0), rtol=0.25)
    # Under independence cells borrow from each other: the sum is right, and where the machine errs more it is larger.
    assert np.mean(null, axis=0).sum() == pytest.approx(np.var(means, axis=0).sum(), rel=0.25)
    assert np.mean(null, axis=0)[0] < 0.8 * np.mean(null, axis=0)[1]
    np.testing.assert_allclose(np.mean(means, axis=0), 0.3, atol=4 * 0.04 / 20)
    assert np.var(means, axis=0).sum() < 0.7 * np.var(alone, axis=0).sum()


def test_kappa_is_that_of_the_channel_of_the_machine():
    rng = np.random.default_rng(2)
    y = (rng.random(200_000) < 0.3).astype(np.int16)
    said = np.where(rng.random(len(y)) < 0.1, 1 - y, y).astype(float)
    gold = np.where(rng.random(len(y)) < 0.2, y, -1).astype(np.int16)
    rho2 = float(Channel.noisy(0.1, 0.1).kappa(Surrogate.FULL, 0.3))  # the squared correlation of class and machine
    assert machine_scores(gold, said).kappa() == pytest.approx(0.2 / (1 - 0.8 * rho2), rel=0.02)


def test_questions_with_machine_labels():
    table, y = machine_table(np.random.default_rng(3))
    labels = bl.Predicted("said", gold="ill")
    found = bl.discover(table, labels=labels, algorithm="iamb")
    assert found.members == ("cough",)
    assert found.n_rows == 4000
    assert bl.rank(table, "ill", labels=labels).names == ("cough", "ward")
    assert bl.select(table, "ill", k=1, labels=labels).names == ("cough",)
    mine = bl.mutual_information(table, "cough", "ill", ["ward"], labels=labels)
    truth = bl.mutual_information({**table, "ill": y}, "cough", "ill", ["ward"], exclude=["said"]).value
    low, high = mine.interval(0.99)
    assert low < truth < high
    alone = bl.mutual_information(table, "cough", "ill", ["ward"], labels="mcar", exclude=["said"])
    assert high - low < np.diff(alone.interval(0.99))[0]
    # The machine's labels taken for true find the ward, on which its errors depend.
    assert bl.test({**table, "ill": table["said"]}, "ward", "ill", exclude=["said"]).p < 1e-5
    assert bl.test(table, "ward", "ill", labels=labels).p > 0.001
    again = bl.test(table, "cough", "ill", labels=bl.Predicted(table["said"]), exclude=["said"])
    assert again.p == pytest.approx(bl.test(table, "cough", "ill", labels=labels).p, rel=1e-12)
    assert found.call.run(table).members == ("cough",)


def test_probabilities_and_names_of_classes():
    rng = np.random.default_rng(4)
    table, _ = machine_table(rng)
    chance = np.clip(0.8 * table["said"] + 0.2 * rng.random(4000), 0, 1)
    said = bl.test(table, "cough", "ill", labels=bl.Predicted("said"))
    assert bl.test({**table, "said": chance}, "cough", "ill", labels=bl.Predicted("said")).p == pytest.approx(
        said.p, abs=0.1
    )
    words = {**table, "said": np.where(table["said"], "yes", "no")}
    words["ill"] = [None if np.isnan(v) else "yes" if v else "no" for v in table["ill"]]
    one = bl.test(words, "cough", "ill", labels=bl.Predicted("said"))
    assert one.p == pytest.approx(bl.test(table, "cough", "ill", labels=bl.Predicted("said")).p, rel=1e-12)
    with pytest.raises(LabelError, match="the machine's labels hold 'maybe'"):
        bl.test({**words, "said": ["maybe", "yes"] * 2000}, "cough", "ill", labels=bl.Predicted("said"))
    with pytest.raises(LabelError, match="or probabilities between 0 and 1"):
        bl.test({**table, "said": 3.0 * chance}, "cough", "ill", labels=bl.Predicted("said"))


def test_a_ranking_has_the_p_values_of_the_test():
    # Estimates know the errors that were seen; the test allows for others, so that few errors do not make it liberal.
    rng = np.random.default_rng(9)
    table = machine_table(rng)[0] | {"age": rng.normal(size=4000)}
    ranking = bl.rank(table, "ill", labels=bl.Predicted("said"))
    for name, p in zip(ranking.names, ranking.p, strict=True):
        assert p == pytest.approx(bl.test(table, name, "ill", labels=bl.Predicted("said")).p, rel=1e-9)


def test_a_machine_that_tells_nothing_is_not_used():
    """Answers are those of gold labels alone: never worse."""
    rng = np.random.default_rng(11)
    table, _ = machine_table(rng, n=1000, n_gold=60)
    for said in (rng.integers(0, 2, 1000), np.ones(1000)):
        useless, alone = {**table, "said": said}, {"labels": "mcar", "exclude": ["said"]}
        found = bl.test(useless, "cough", "ill", labels=bl.Predicted("said"))
        assert found.p == bl.test(useless, "cough", "ill", **alone).p
        assert "the gold ones alone are used" in " ".join(found.notes)
        told = bl.mutual_information(useless, "cough", "ill", labels=bl.Predicted("said"))
        assert told.interval(0.9) == bl.mutual_information(useless, "cough", "ill", **alone).interval(0.9)


def test_answers_say_where_errors_are_few():
    """Methods (14.17): tables that show no error, or one, cannot be rejected."""
    table, y = machine_table(np.random.default_rng(17), n=1000, n_gold=60)
    for errors, few in ((2, True), (6, False)):
        said = np.where(np.arange(1000) < errors, 1 - y, y)
        told = " ".join(bl.test({**table, "said": said}, "cough", "ill", labels=bl.Predicted("said")).notes)
        assert ("the machine errs in 2 gold rows, too few to learn how it errs" in told) == few


def test_what_predicted_refuses():
    table, y = machine_table(np.random.default_rng(5), n=500, n_gold=100)
    labels = bl.Predicted("said", gold="ill")
    with pytest.raises(ParameterError, match="gold='ill' is the target, but another one is named"):
        bl.test(table, "cough", "ward", labels=labels)
    with pytest.raises(LabelError, match="every row has a gold label"):
        bl.test({**table, "ill": y}, "cough", labels=labels)
    with pytest.raises(LabelError, match="gold labels of two classes are needed"):
        bl.test({**table, "ill": np.where(y == 1, 1, np.nan)}, "cough", labels=labels)
    with pytest.raises(NotAnswerableError, match=r"machine= is not built for groups="):
        bl.test(table, "cough", labels=labels, groups=np.arange(500) // 2)


# ---------------------------------------------------------------- propensities


def weighted_table(rng, n=4000):
    y, d = rng.random(n) < 0.3, rng.normal(size=n)
    tied = (0.8 * d + 0.6 * rng.normal(size=n) > 0).astype(int)
    child = (rng.random(n) < np.where(y, 0.6, 0.3)).astype(int)
    chance = 0.1 + 0.8 / (1 + np.exp(-1.5 * d))
    seen = np.where(y & (rng.random(n) < chance), 1.0, np.nan)
    return {"tied": tied, "child": child, "chance": chance, "seen": seen}, y


def test_with_one_propensity_for_all_the_estimate_is_pos():
    rng = np.random.default_rng(6)
    y, x = rng.random(2000) < 0.3, rng.integers(0, 3, 2000)
    labeled = y & (rng.random(2000) < 0.4)
    cells = weighted_scores(labeled, np.full(2000, 0.4)).cells(*everyone(x))
    table = np.array([np.zeros(3), *(np.bincount(x[rows], minlength=3) for rows in (labeled, ~labeled))])
    # With the propensity 0.4 known, p(y=1) is the labeled share divided by 0.4.
    wanted = bl.mutual_information(
        {"x": x, "s": np.where(labeled, 1.0, np.nan)}, "x", "s", labels="pu", prior=labeled.mean() / 0.4
    )
    found = means_information(cells)
    assert found.value == pytest.approx(wanted.value, rel=1e-9)
    assert found.scale == pytest.approx(float(wanted._law.scale[0]), rel=0.02)
    p = labeled.mean() / 0.4
    closed = (1 - p) / p * labeled.mean() / (1 - labeled.mean())  # methods (3.3)
    assert weighted_scores(labeled, np.full(2000, 0.4)).kappa() == pytest.approx(closed, rel=1e-9)
    pearson = stats.chi2_contingency(table[1:], correction=False)[0]
    assert equal_means(cells)[0] == pytest.approx(pearson, rel=1e-9)


def test_powers_are_those_of_the_shapes_that_are_hardest_and_easiest_to_find():
    """One propensity for all: the statistic is Pearson's of labeled rows, which SciPy draws and judges here."""
    rng, n, p, e, draws = np.random.default_rng(16), np.array([2000, 700]), 0.2, 0.4, 20_000
    part, found = n[0] / n.sum(), []
    for sign in (1.0, -1.0):

        def shares(size, sign=sign):
            return np.array([p + sign * size * (1 - part), p - sign * size * part])

        def nats(size, shares=shares):
            q = shares(size)
            return n @ (q * np.log(q / p) + (1 - q) * np.log((1 - q) / (1 - p))) / n.sum()

        q = shares(optimize.brentq(lambda size: nats(size) - 0.004, 0.0, 0.15))
        labeled = rng.binomial(n, e * q, size=(draws, 2))
        pooled = labeled.sum(axis=1, keepdims=True) / n.sum()
        pearson = ((labeled - n * pooled) ** 2 / (n * pooled * (1 - pooled))).sum(axis=1)
        found.append(float((stats.chi2.sf(pearson, 1) <= 0.01).mean()))
    sums = np.array([n, p * n, p * n / e, n / e, n / e**2])[:, np.newaxis, :]
    assert abs(found[0] - found[1]) > 0.02
    assert weighted_powers(sums, 0.004, 0.01) == pytest.approx((min(found), max(found)), abs=0.025)
    assert np.isnan(weighted_powers(sums, 0.4, 0.01)).all()  # no shares have so large an effect


def test_power_with_propensities_is_a_range():
    table, _ = weighted_table(np.random.default_rng(17))
    told = bl.test(table, "child", "seen", labels=bl.PositiveUnlabeled(propensity="chance"))
    assert "The ends are the hardest and the easiest case" in " ".join(str(told).split())
    assert 0.0 < told.powers["small"] < told.greatest_powers["small"] <= told.powers["medium"] <= 1.0
    assert f"{told.powers['small']:.2f} to {told.greatest_powers['small']:.2f} (small)" in str(told)
    assert bl.TestResult.from_json(told.to_json()) == told


def test_questions_with_propensities():
    table, y = weighted_table(np.random.default_rng(7))
    labels = bl.PositiveUnlabeled(propensity="chance")
    found = bl.discover(table, "seen", labels=labels, algorithm="iamb")
    assert found.members == ("child",)
    assert "tied" in bl.discover(table, "seen", labels="pu", exclude=["chance"], algorithm="iamb").members
    truth = bl.mutual_information({**table, "seen": y}, "child", "seen", exclude=["chance"]).value
    low, high = bl.mutual_information(table, "child", "seen", labels=labels).interval(0.99)
    assert low < truth < high
    assert bl.rank(table, "seen", labels=labels).names == ("child", "tied")
    assert bl.test(table, "tied", "seen", labels=labels).p > 0.001
    assert found.call.run(table).members == ("child",)


def test_what_propensities_must_be():
    table, _ = weighted_table(np.random.default_rng(8), 1000)
    with pytest.raises(LabelError, match="must hold probabilities above 0, up to 1"):
        bl.test(table, "child", "seen", labels=bl.PositiveUnlabeled(propensity=2 * table["chance"]))
    with pytest.raises(LabelError, match="there would be more positives than rows"):
        bl.test(table, "child", "seen", labels=bl.PositiveUnlabeled(propensity=np.full(1000, 0.01)))
    with pytest.raises(ParameterError, match="propensity= says all that is needed"):
        bl.PositiveUnlabeled(prior=0.2, propensity="chance")
    few = np.where(np.arange(1000) % 50 == 0, 0.01, 0.9)
    with pytest.warns(RegimeWarning, match=r"labeled rows are worth .* of equal weight"):
        bl.test(table, "child", "seen", labels=bl.PositiveUnlabeled(propensity=few), exclude=["chance"])


def test_advice_on_gold_and_machine_labels():
    table, _ = machine_table(np.random.default_rng(9), n_gold=200)
    advice = bl.advise(table, "ill", labels=bl.Predicted("said"))
    share, codes = 200 / 4000, np.nan_to_num(table["ill"], nan=-1).astype(np.int16)
    rho2 = machine_scores(codes, table["said"]).explained
    assert rho2 == pytest.approx(np.corrcoef(table["ill"][:200], table["said"][:200])[0, 1] ** 2, abs=0.02)
    # A machine that errs alike in both classes, and explains as much. κ is that of an effect with a power of 0.8.
    p = predicted_share(codes, table["said"])[0]
    wrong = optimize.brentq(lambda e: Channel.noisy(e, e).kappa(Surrogate.FULL, p) - rho2, 0.001, 0.499)
    weak = share / (1 - (1 - share) * rho2)
    effect = stats_needed(0.8) / (2 * 4000 * weak)
    kept = noncentrality_of(200, 4000, effect, p, wrong) / stats_needed(0.8)
    assert 0.8 < kept < 1
    assert advice.kappa == pytest.approx(weak * kept, rel=0.03)
    worth = (1 - rho2) / (rho2 * share**2)  # the ratio of the derivatives of κN by gold and by machine labels
    assert f"as much as {worth:,.0f} more rows with a machine's label" in advice.cautions[-1]
    goal = advice.goal("small", 0.8)
    assert 0 < goal.more_labels["gold labels"] < goal.more_rows
    gold = 200 + goal.more_labels["gold labels"]
    assert noncentrality_of(gold, 4000, 0.005, p, wrong) == pytest.approx(stats_needed(0.8), rel=0.01)
    assert goal.more_labels["machine labels"] is None or goal.more_labels["machine labels"] > 0
    table, _ = machine_table(np.random.default_rng(9), n=1000, n_gold=700)
    more = bl.advise(table, "ill", labels=bl.Predicted("said")).goal("small", 0.8).more_labels["machine labels"]
    rho2 = machine_scores(np.nan_to_num(table["ill"], nan=-1).astype(np.int16), table["said"]).explained
    wrong = optimize.brentq(lambda e: Channel.noisy(e, e).kappa(Surrogate.FULL, 0.3) - rho2, 0.001, 0.499)
    assert noncentrality_of(700, 1000 + more, 0.005, 0.3, wrong) == pytest.approx(stats_needed(0.8), rel=0.01)
    wrong = bl.advise({"cough": table["cough"], "ill": table["said"]}, "ill", labels=bl.Noisy(0.1, 0.1))
    assert wrong.surrogate == "full"
    assert wrong.estimator == "labels with errors, by their rates"


def stats_needed(power, alpha=0.01):
    """Return the noncentrality of one degree of freedom that reaches a power, by SciPy."""
    critical = stats.chi2.isf(alpha, 1)
    return optimize.brentq(lambda nc: stats.ncx2.sf(critical, 1, nc) - power, 0.1, 100)


def test_a_file_with_machine_labels(tmp_path):
    table, _ = machine_table(np.random.default_rng(10), n=1000, n_gold=200)
    lines = [";".join("" if v != v else f"{v:g}" for v in row) for row in zip(*table.values(), strict=True)]
    path = tmp_path / "said.csv"
    path.write_text("\n".join([";".join(table), *lines]), encoding="utf-8")
    found = bl.test(path, "cough", "ill", labels=bl.Predicted("said"), separator=";")
    assert found.p == pytest.approx(bl.test(table, "cough", "ill", labels=bl.Predicted("said")).p, rel=1e-12)


# ---------------------------------------------------------------- level with few labels


def test_the_tail_of_draws_is_that_of_chi_square_where_they_are_chi_square():
    drawn = np.random.default_rng(11).chisquare(3, 50_000)
    for statistic in (1.0, 6.0, 12.0, 30.0):
        # 50,000 draws place the 3% point within 0.1: e^(-0.05 * 1.2) for larger statistics, and a stretch within 3%.
        assert log_p_among(statistic, 3.0, drawn) == pytest.approx(stats.chi2.logsf(statistic, 3), abs=0.06, rel=0.05)
    assert log_p_among(30.0, 3.0, 2.0 * drawn) == pytest.approx(stats.chi2.logsf(15.0, 3), rel=0.05)
    assert log_p_among(30.0, 3.0, 0.5 * drawn) > stats.chi2.logsf(60.0, 3)  # never compressed


def test_the_far_tail_of_a_ratio_of_likelihoods_falls_as_chi_square():
    drawn = 1.3 * np.random.default_rng(11).chisquare(2, 50_000)
    # Stretched down to 0.01%, 1.3 times 18.42; from there on half a nat for each unit (chi-square, two degrees). 1,500
    # draws tell the stretch within 3%, which is 0.12 there; 500 the 1% point, 0.05.
    assert log_p_among(1.3 * 18.42, 2.0, drawn, of_likelihoods=True) == pytest.approx(np.log(1e-4), abs=0.4)
    far = [log_p_among(t, 2.0, drawn, of_likelihoods=True) for t in (30.0, 60.0, 300.0)]
    np.testing.assert_allclose(np.diff(far), [-15.0, -120.0], rtol=1e-9)
    assert log_p_among(300.0, 2.0, drawn) == pytest.approx(-300 / 2.6, rel=0.05)  # of other statistics: as stretched


def test_draws_are_the_same_in_all_versions_of_numpy(monkeypatch):
    """NumPy keeps the stream of a RandomState, and may change that of a Generator (NEP 19)."""
    rng, n = np.random.default_rng(15), 600
    y, x = (rng.random(n) < 0.3).astype(np.int16), rng.integers(0, 2, n)
    said = np.where(rng.random(n) < 0.15, 1 - y, y).astype(float)
    machine = machine_scores(np.where(np.arange(n) < 80, y, -1).astype(np.int16), said)
    weighted = weighted_scores(y == 1, np.where(x, 0.5, 0.9))
    monkeypatch.setattr(np.random, "default_rng", None)
    for scores in (machine, weighted):
        sums = scores.sums(*everyone(y.astype(np.int64)))
        assert scores.test(sums) == scores.test(sums)
        assert scores.test(sums)[2] < -4.0  # far enough out that tables were drawn


def test_drawn_tables_have_the_moments_of_independence():
    rng = np.random.default_rng(12)
    n, gold = 3000, 300
    y, x = (rng.random(n) < 0.3).astype(np.int16), rng.integers(0, 2, n)
    chance = np.clip(np.where(y, rng.beta(8, 3, n), rng.beta(2, 6, n)), 0, 1)  # a machine's probabilities
    scores = machine_scores(np.where(np.arange(n) < gold, y, -1).astype(np.int16), chance)
    sums = scores.sums(*everyone(x))
    drawn = scores.fitted(sums).draw(np.random.RandomState(0), 4000)
    assert drawn.shape == (8, 4000, 1, 2)
    np.testing.assert_array_equal(drawn[:2, 0], sums[:2])
    for k in (2, 3, 4, 5, 6, 7):  # here x tells nothing, so that draws are as the data, up to what gold rows leave open
        size = sums[1] if k < 6 else sums[0]
        np.testing.assert_allclose(drawn[k].mean(axis=0) / size, sums[k] / size, atol=4 * 0.46 / np.sqrt(150))
    weighted = weighted_scores(y == 1, np.where(x, 0.5, 0.9))
    sums = weighted.sums(*everyone(x))
    drawn = weighted.fitted(sums).draw(np.random.RandomState(0), 4000)
    null = weighted.from_sums(sums).null_variance * sums[0] ** 2
    np.testing.assert_allclose(drawn[1].var(axis=0), null, rtol=4 * np.sqrt(2 / 4000))
    share = sums[1].sum() / sums[0].sum()
    np.testing.assert_allclose(drawn[1].mean(axis=0), share * sums[0], atol=4 * np.sqrt(null.max() / 4000))


@pytest.mark.parametrize(("n_gold", "levels"), [(46, 2), (100, 8)])
def test_level_with_few_gold_labels_and_errors_that_depend_on_the_feature(n_gold, levels):
    """With the law of Johansen (1980), as it was, 46 gold labels gave up to 3.5 times the level, and 100 a tenth."""
    rng, n, alpha, draws = np.random.default_rng([n_gold, levels]), 20 * n_gold, 0.05, 150
    rejected = 0
    for _ in range(draws):
        y, x = (rng.random(n) < 0.3).astype(int), rng.integers(0, levels, n)
        wrong = 0.1 + 0.3 * ((x >= levels / 2) & (y == 1))
        said = np.where(rng.random(n) < wrong, 1 - y, y).astype(float)
        scores = machine_scores(np.where(np.arange(n) < n_gold, y, -1).astype(np.int16), said)
        rejected += scores.test(scores.sums(*everyone(x)))[2] <= np.log(alpha)
    error = np.sqrt(1.4 * alpha / draws)
    assert 0.3 * alpha - 4 * error <= rejected / draws <= 1.4 * alpha + 4 * error


def test_the_statistic_has_its_own_name():
    table, _ = machine_table(np.random.default_rng(13), n=1000, n_gold=200)
    told = str(bl.test(table, "cough", "ill", labels=bl.Predicted("said")))
    assert "T = " in told
    assert "T: differences between estimated shares of positives" in told.replace("\n  ", " ")


def test_strata_of_one_level_change_nothing():
    rng = np.random.default_rng(2)
    n = 900
    strata, x = rng.integers(0, 2, n), rng.integers(0, 3, n)
    y = rng.random(n) < 0.3 + 0.13 * x
    chance = np.where(strata, 0.8, 0.5)
    known = y & (rng.random(n) < chance)
    alone = weighted_scores(known[:800], chance[:800])
    beside = weighted_scores(known, chance)
    strata[800:], x[800:] = 2 + np.arange(100), 1  # a hundred strata of one row each
    sums = beside.sums(x, strata, np.ones(n, bool))
    assert sums.shape == (5, 102, 3)
    assert beside.merged(sums).shape == (5, 2, 4)  # and these are drawn
    few = alone.test(alone.sums(x[:800], strata[:800], np.ones(800, bool)))
    assert few[1] == 4
    assert beside.test(sums)[:2] == pytest.approx(few[:2], rel=1e-12)
