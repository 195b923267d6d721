"""Machine labels beside gold ones, tested from rows without cutting numbers (methods, section 14)."""

import numpy as np
import pytest
from scipy import optimize, stats

import blankets as bl
from blankets.stats import MachineRows, Score, bounded_functions, machine_rows_test, machine_scores
from blankets.stats._machine_rows import _ratio


def scores_of(y, said, gold):
    return machine_scores(np.where(gold, y, -1).astype(np.int16), said.astype(float))


def functions(*columns):
    """Return columns as orthonormal functions of mean 0."""
    made = np.array([c - c.mean() for c in columns]).reshape(len(columns), -1)
    return np.ascontiguousarray(np.linalg.qr(made.T)[0].T)


def test_the_response_has_the_mean_of_the_class_whatever_the_errors():
    rng, n, found = np.random.default_rng(1), 800, []
    for _ in range(400):
        x = rng.normal(size=n)
        y = (rng.random(n) < 0.3).astype(int)
        said = np.where(rng.random(n) < np.where(x > 0, 0.3, 0.02), 1 - y, y)  # the machine is wrong where x is high
        known = MachineRows.of(scores_of(y, said, np.arange(n) < 80), np.zeros((0, n)))
        found.append([known.response[x > 0].mean() - y[x > 0].mean(), known.response[x <= 0].mean() - y[x <= 0].mean()])
    error = np.std(found, axis=0) / np.sqrt(400)
    assert (np.abs(np.mean(found, axis=0)) < 4 * error).all()


def test_what_is_left_of_a_gold_label_is_that_of_a_fit_without_it():
    rng, n = np.random.default_rng(2), 60
    z, y = rng.normal(size=(1, n)), rng.integers(0, 2, n)
    said, gold = np.where(rng.random(n) < 0.2, 1 - y, y), np.arange(n) < 25
    known = MachineRows.of(scores_of(y, said, gold), z)
    design = np.column_stack([np.ones(n), z[0], said])
    others = gold & (np.arange(n) != 7)
    fit = np.linalg.lstsq(design[others], y[others], rcond=None)[0]
    assert known.left[7] == pytest.approx(y[7] - design[7] @ fit, rel=1e-9)
    assert known.other[7] == pytest.approx(1 - y[7] - design[7] @ fit, rel=1e-9)
    assert known.response[:25] == pytest.approx(known.predicted[:25] + known.left * n / 25, rel=1e-9)


def test_the_likelihood_ratio_is_that_of_a_general_optimizer():
    """Weights of rows that have a mean of zero and are the most likely: Owen (1988)."""
    rng = np.random.default_rng(3)
    u, c = rng.normal(0.2, 1.0, size=(25, 2)), np.ones(25)
    zero = [{"type": "eq", "fun": lambda p: p.sum() - 1}, {"type": "eq", "fun": lambda p: p @ u}]
    best = optimize.minimize(
        lambda p: -np.log(25 * p).sum(), np.full(25, 1 / 25), bounds=[(1e-9, 1)] * 25, constraints=zero, tol=1e-12
    )
    statistic, dof = _ratio(u, c)
    assert statistic == pytest.approx(2 * best.fun, rel=1e-5)
    assert dof == 2
    # A row of almost no weight makes a mean of zero possible, where all others are on one side: p of it is 0.1.
    one = np.concatenate([np.full(50, 1.0), [-9.0]])[:, np.newaxis]
    weights = np.concatenate([np.ones(50), [1e-9]])
    assert _ratio(one, weights)[0] == pytest.approx(-2 * 50 * np.log(0.9), rel=1e-4)


def basis_of(given, n):
    """Return an orthonormal basis of the constant and given functions."""
    return np.linalg.qr(np.vstack([np.ones((1, n)), given]).T)[0].T


def few_errors(rng, n=1000, n_gold=60):
    """Return a table without any effect, where a good machine errs in two gold rows, all of them high in x."""
    x, y = rng.normal(size=n), (rng.random(n) < 0.3).astype(int)
    wrong = (y == 1) & (x > np.quantile(x, 0.8)) & (rng.random(n) < 2 / n_gold / 0.06)
    return x, scores_of(y, np.where(wrong, 0, y), np.arange(n) < n_gold)


def test_level_where_the_machine_errs_in_few_rows_on_one_side():
    rng, rejected, naive, draws = np.random.default_rng(4), 0, 0, 400
    for _ in range(draws):
        x, scores = few_errors(rng)
        known, basis = MachineRows.of(scores, np.zeros((0, len(x)))), basis_of(np.zeros((0, len(x))), len(x))
        of_x, w = functions(x, x**2), functions(known.response)
        rejected += machine_rows_test(of_x, 1, known, basis)[0] <= np.log(0.01)
        naive += Score(of_x * w, np.full(len(x), 1 / len(x))).log_p <= np.log(0.01)
    assert rejected / draws <= 0.01 + 3 * np.sqrt(0.01 / draws)
    assert naive / draws > 0.05  # why products of residuals are not enough


def test_level_where_errors_depend_on_x_and_there_are_many_given_a_number():
    rng, rejected, draws, n = np.random.default_rng(5), 0, 400, 2000
    for _ in range(draws):
        z = rng.normal(size=n)
        x, y = 0.7 * z + rng.normal(size=n), (rng.random(n) < stats.logistic.cdf(z - 0.9)).astype(int)
        said = np.where(rng.random(n) < 0.1 + 0.3 * (x > 0), 1 - y, y)
        scores = scores_of(y, said, np.arange(n) < 400)
        given = functions(z, z**2, z**3)
        known = MachineRows.of(scores, given * np.sqrt(n))
        rejected += machine_rows_test(functions(x), 1, known, basis_of(given, n))[0] <= np.log(0.05)
    assert rejected / draws == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / draws))


def test_ranks_have_three_quarters_of_the_weight():
    """The Cauchy combination (Liu & Xie 2020) of the p-values of both functions alone."""
    rng = np.random.default_rng(12)
    for _ in range(5):
        x, scores = few_errors(rng, n_gold=200)
        both, basis = bounded_functions(x), basis_of(np.zeros((0, len(x))), len(x))
        assert np.abs(both).max() * np.sqrt(len(x)) == pytest.approx(np.sqrt(3.0), rel=0.01)  # as of even numbers
        known = MachineRows.of(scores, np.zeros((0, len(x))))
        told = machine_rows_test(both, 1, known, basis)
        line, bent = (machine_rows_test(both[[k]], 1, known, basis) for k in (0, 1))
        cauchy = stats.cauchy.sf(0.75 * stats.cauchy.isf(np.exp(line[0])) + 0.25 * stats.cauchy.isf(np.exp(bent[0])))
        assert np.exp(told[0]) == pytest.approx(cauchy, rel=1e-9)
        assert told[1:3] == pytest.approx((line[1] + bent[1], 2.0))


def numbers_table(rng, n=4000, n_gold=300, strength=0.9):
    z = rng.normal(size=n)
    x, noise = 0.5 * z + rng.normal(size=n), rng.normal(size=n)
    y = (rng.random(n) < stats.logistic.cdf(z + strength * x - 0.9)).astype(int)
    said = np.where(rng.random(n) < np.where((noise > 0) & (y == 1), 0.25, 0.05), 1 - y, y)
    gold = np.arange(n) < n_gold
    return {"z": z, "x": x, "noise": noise, "said": said, "y": np.where(gold, y, np.nan)}


def test_numbers_are_not_cut_beside_machine_labels():
    table = numbers_table(np.random.default_rng(6))
    labels = bl.Predicted("said", gold="y")
    found = bl.discover(table, labels=labels)
    assert set(found.members) == {"x", "z"}
    told = bl.test(table, "x", "y", ["z"], labels=labels)
    assert told.reliable
    assert "errors that were not seen are possible" in str(told).replace("\n  ", " ")
    alone = bl.test(table, "x", "y", ["z"], labels="mcar", exclude=["said"])
    assert told.p < alone.p
    assert bl.test(table, "noise", "y", ["z"], labels=labels).p > 0.001  # the machine's errors depend on it
    assert bl.test({**table, "y": table["said"]}, "noise", "y", ["z"], exclude=["said"]).p < 0.001


def test_functions_of_a_number_have_bounds_whatever_is_given(monkeypatch):
    """Even numbers are at most the root of 3 standard deviations from their mean; what z leaves of ranks is not."""
    seen = []

    def spy(x, *others):
        seen.append(x)
        return machine_rows_test(x, *others)

    monkeypatch.setattr("blankets.independence._scored.machine_rows_test", spy)
    rng, n = np.random.default_rng(13), 3000
    z = rng.normal(size=n)
    x, y = np.exp(z + rng.normal(size=n)), (rng.random(n) < 0.3).astype(int)
    table = {
        "z": z,
        "x": x,
        "said": np.where(rng.random(n) < 0.1, 1 - y, y),
        "y": np.where(np.arange(n) < 300, y, np.nan),
    }
    for given in ([], ["z"]):
        bl.test(table, "x", "y", given, labels=bl.Predicted("said", gold="y"))
    ranks = stats.rankdata(x) - n / 2
    left = ranks - np.polyval(np.polyfit(z, ranks, 3), z)
    assert np.abs(left).max() > 2.2 * left.std()
    for functions_of_x in seen:
        assert np.abs(functions_of_x).max() * np.sqrt(n) == pytest.approx(np.sqrt(3.0), rel=0.02)


def test_information_of_numbers_beside_machine_labels():
    """As from the true class, within the width of its interval."""
    rng, labels = np.random.default_rng(9), bl.Predicted("said", gold="y")
    table = numbers_table(rng)
    truth = numbers_table(np.random.default_rng(10), 200_000, 200_000)
    del truth["said"]
    for x, given in (("x", []), ("x", ["z"]), ("noise", [])):
        low, high = bl.mutual_information(table, x, "y", given, labels=labels).interval(0.99)
        assert low <= bl.mutual_information(truth, x, "y", given).value <= high
    assert set(bl.rank(table, "y", labels=labels).names[:2]) == {"x", "z"}
    assert set(bl.select(table, "y", k=2, labels=labels, criterion="mrmr").names) == {"x", "z"}
    told = bl.test(table, "x", "y", ["z"], labels=labels)
    assert not told.powers
    assert not told.detectable
    assert "The power of this test is not known" in str(told)


def test_p_values_of_a_ranking_where_the_machine_errs_in_some_rows_alone():
    rng, p, draws, n = np.random.default_rng(11), [], 150, 1500
    for _ in range(draws):
        x = rng.normal(size=n)
        y = (rng.random(n) < 0.3).astype(int)
        said = np.where(rng.random(n) < 0.45 * (np.abs(x) > 1.4), 1 - y, y)
        table = {"x": x, "said": said, "y": np.where(np.arange(n) < 300, y, np.nan)}
        p.append(bl.rank(table, "y", labels=bl.Predicted("said")).p[0])
    assert np.mean(np.array(p) <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / draws)


def test_rows_without_a_value_are_left_out():
    rng = np.random.default_rng(7)
    table, labels = numbers_table(rng), bl.Predicted("said", gold="y")
    gap = rng.random(4000) < 0.2
    holes = {**table, "x": np.where(gap, np.nan, table["x"])}
    found = bl.test(holes, "x", "y", ["z"], labels=labels)
    seen = bl.test({name: column[~gap] for name, column in table.items()}, "x", "y", ["z"], labels=labels)
    assert found.n_rows == seen.n_rows == np.count_nonzero(~gap)
    assert found.p == pytest.approx(seen.p, rel=1e-9)


def test_few_gold_labels_are_too_few_for_many_numbers():
    rng = np.random.default_rng(8)
    table = numbers_table(rng, n=600, n_gold=24) | {f"z{j}": rng.normal(size=600) for j in range(4)}
    labels = bl.Predicted("said", gold="y")
    told = bl.test(table, "x", "y", ["z", *(f"z{j}" for j in range(4))], labels=labels)
    assert not told.reliable
