"""Tests without cutting: which test answers, what it finds, and that both ways to ask give one answer."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats
from statsmodels.multivariate.cancorr import CanCorr

import blankets as bl
from blankets import discover
from blankets.counting import MemoryCounter, MemoryMoments, _moments
from blankets.data import NumberColumn, ingest
from blankets.data._builder import FrameBuilder
from blankets.errors import ParameterError
from blankets.independence import BLOCK_METHODS as METHODS
from blankets.independence import BlockTests, CalibratedTests, MixedTests, _blocks, _row_tests
from blankets.independence._inner_products import explained_of, project

N = 600


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(1)
    z, town = rng.normal(size=N), rng.integers(0, 3, N)
    table = {
        "z": z,
        "bent": z**2 + rng.normal(size=N),
        "also": z**2 + np.exp(z / 2) * rng.normal(size=N),
        "town": np.array(list("abc"))[town],
        "ill": (z + rng.logistic(size=N) > 0),
        "rare": np.where(rng.random(N) < 0.02 + 0.04 * (z > 1), "yes", "no"),
        "sign": np.where(rng.random(N) < 0.015, "yes", "no"),
        "half": np.where(rng.random(N) < 0.5, town, rng.integers(0, 3, N)),
    }
    return ingest(table, numbers=True).frame


@pytest.fixture(scope="module")
def tests(frame):
    measured = np.array([j in frame.numbers for j in range(frame.n_columns)])
    tables = CalibratedTests(MemoryCounter(frame.without_numbers()))
    return MixedTests(tables, BlockTests(MemoryMoments(frame)), measured)


def at(tests, *names):
    return [tests.names.index(name) for name in names]


def test_curved_dependence_is_seen_and_taken_out(tests):
    z, bent, also = at(tests, "z", "bent", "also")
    assert tests.test(bent, also).p < 1e-10
    assert tests.test(bent, z).p < 1e-10  # their correlation is 0
    assert abs(np.corrcoef(tests.blocks.moments.rows(z, 1)[0], tests.blocks.moments.rows(bent, 1)[0])[0, 1]) < 0.1
    assert tests.test(bent, also, [z]).p > 0.01


def test_a_linear_test_of_two_numbers_agrees_with_pearsons(frame):
    tests = BlockTests(MemoryMoments(frame))
    z, ill = at(tests, "z", "ill")
    r = np.corrcoef(frame.numbers[z].values, frame.column(ill))[0, 1]
    evidence = tests.test(ill, z)
    assert evidence.effect > -0.5 * np.log(1 - r**2)  # the square tells a little more
    assert evidence.effect < -0.5 * np.log(1 - r**2) + 0.01
    assert stats.pearsonr(frame.numbers[z].values, frame.column(ill)).pvalue < 1e-10 > evidence.p


def test_questions_of_categories_alone_are_answered_by_counting(tests):
    town, half, ill, z = at(tests, "town", "half", "ill", "z")
    for x, y, given in [(town, half, ()), (half, ill, (town,))]:
        counted, asked = tests.tables.test(x, y, given), tests.test(x, y, given)
        assert (asked.log_p, asked.statistic, asked.method) == (counted.log_p, counted.statistic, counted.method)
    assert tests.test(town, half, [z]).method in METHODS


def test_one_scan_takes_columns_of_both_kinds(tests):
    xs = at(tests, "town", "z", "ill", "bent")
    y = at(tests, "half")[0]
    batch = tests.scan(xs, y)
    assert batch.xs.tolist() == xs
    for evidence in batch:
        alone = tests.test(evidence.x, y)
        assert (evidence.log_p, evidence.method) == (alone.log_p, alone.method)


@pytest.mark.parametrize(
    ("x", "y", "given", "method"),
    [
        ("bent", "also", ["z"], 3),
        ("rare", "bent", ["z"], 10),
        ("bent", "rare", ["z"], 10),
        ("rare", "sign", ["z"], 5),
        ("town", "also", ["z"], 3),
    ],
)
def test_each_p_value_says_how_it_was_found_and_does_not_depend_on_who_asks(frame, x, y, given, method):
    tests = BlockTests(MemoryMoments(frame))
    tests._window = (-np.inf, 0.0)  # rows decide everything
    one, other, z = at(tests, x, y, *given)
    asked, turned = tests.test(one, other, [z]), tests.test(other, one, [z])
    assert asked.method == turned.method == METHODS[method]
    assert asked.log_p == pytest.approx(turned.log_p, rel=1e-6)


def test_far_from_the_level_inner_products_decide(frame):
    tests = BlockTests(MemoryMoments(frame), level=0.01)
    z, bent, town = at(tests, "z", "bent", "town")
    assert tests.test(bent, z).method == METHODS[2]
    every = BlockTests(MemoryMoments(frame), level=None)
    assert every.test(bent, z).method == METHODS[3]
    assert tests.at_level(0.001).level == 0.001
    assert tests.test(town, bent).dof == 4


def test_too_few_rows_are_a_third_answer(frame):
    few = frame.take(np.arange(30))
    tests = BlockTests(MemoryMoments(few))
    z, bent, also, town = at(tests, "z", "bent", "also", "town")
    assert tests.test(bent, z).reliable  # 4 pairs of functions, 20 rows
    unreliable = tests.test(bent, also, [z, town])
    assert not unreliable.reliable
    assert np.isnan(unreliable.statistic)
    assert tests.rows_for(bent, also, [z, town]) == 5 * (4 + 1 + 2)
    assert tests.deepest([bent], also, [z, town]) == 1
    assert not np.isnan(tests.scan([bent], also, [z, town], even_if_unreliable=True).statistic[0])


def test_a_column_that_the_given_ones_determine_has_nothing_to_test():
    z = np.random.default_rng(0).normal(size=200)
    frame = ingest({"z": z, "twice": 2 * z + 1, "x": z + 1.0 * (z > 0)}, numbers=True).frame
    evidence = BlockTests(MemoryMoments(frame)).test(1, 2, [0])
    assert (evidence.dof, evidence.method) == (0, METHODS[1])
    assert evidence.independent(0.01)


def test_reliability_is_a_number(frame):
    with pytest.raises(ParameterError, match="reliability"):
        BlockTests(MemoryMoments(frame), reliability=-1)


def test_the_quick_formula_asks_no_rows(tests):
    z, *others = at(tests, "z", "bent", "also", "ill")
    quick, slow = tests.by_formula().scan(others, z), tests.scan(others, z)
    assert {evidence.method for evidence in quick} == {METHODS[9]}
    assert {evidence.method for evidence in slow} == {METHODS[3]}
    # Apart from that it is the same test.
    assert quick.statistic.tolist() == slow.statistic.tolist()
    assert tests.by_formula().at_level(0.01).test(others[0], z).method == METHODS[3]


def moved(n=2000):
    """Return a table in which x tells of y in one group of rows, and varies most in the other, where y hardly does."""
    rng = np.random.default_rng(0)
    group, x, z = rng.random(n) < 0.5, rng.normal(size=n), rng.normal(size=n)
    y = rng.random(n) < np.where(group, 1 / (1 + np.exp(0.8 - 0.3 * x)), 0.01)
    return {"x": np.where(group, x, 30 * x), "z": z, "group": np.where(group, "a", "b"), "y": np.where(y, "yes", "no")}


def logistic(there, given, more):
    """Return the p-values of what is more in a logistic regression: by likelihood ratio, and by score."""
    null = sm.GLM(there, sm.add_constant(given), family=sm.families.Binomial()).fit()
    full = sm.GLM(there, np.column_stack([sm.add_constant(given), more]), family=sm.families.Binomial()).fit()
    score = null.score_test(exog_extra=more)[1]
    return stats.chi2.sf(null.deviance - full.deviance, more.shape[1]), float(np.squeeze(score))


def test_two_rows_of_a_hundred_that_have_both_rare_levels_are_not_certain():
    # Two rows of 100 are both among three others with the chance 3/4950. Inner products do not know how few they are.
    table = {"z": np.random.default_rng(0).normal(size=100)}
    for name, rows in (("x", [17, 60]), ("y", [17, 60, 80])):
        table[name] = np.where(np.isin(np.arange(100), rows), "yes", "no")
    tests = BlockTests(MemoryMoments(ingest(table, numbers=True).frame), level=0.01)
    evidence = tests.test(1, 2, [0])
    assert tests.by_formula().test(1, 2, [0]).p < 1e-12
    assert evidence.method == METHODS[5]
    # Of two rows, a fit on z explains a part.
    assert 0.1 * 3 / 4950 < evidence.p < 0.01


def test_a_level_without_a_positive_is_no_evidence_where_few_were_to_be_expected():
    rng = np.random.default_rng(0)
    n = 4870
    y, z, x = rng.random(n) < 0.08, rng.normal(size=n), rng.choice(3, n, p=[0.9, 0.05, 0.05])
    x[rng.choice(np.flatnonzero(~y), 46, replace=False)] = 3  # 3.7 positives would be usual
    frame = ingest({"x": np.array(list("abcd"))[x], "y": np.where(y, "yes", "no"), "z": z}, numbers=True).frame
    evidence = BlockTests(MemoryMoments(frame)).test(0, 1, [2])
    _, score = logistic(y.astype(float), z[:, None], np.eye(4)[x][:, 1:])
    assert evidence.method == METHODS[4]
    assert evidence.p == pytest.approx(score, rel=0.25)
    assert evidence.p > 0.01


def test_six_rows_of_a_rare_level_that_all_have_one_of_two_even_levels():
    # The six rows are given, and the other column is drawn in them: 0 or 6 of 6 have the chance 2/64, of
    # which a smooth law has half beyond it. The number that is given tells nothing.
    z = np.sin(np.arange(300.0))
    even = np.where(np.arange(300) % 2, "a", "b")
    rare = np.where(np.isin(np.arange(300), [11, 61, 111, 161, 211, 261]), "yes", "no")
    tests = BlockTests(MemoryMoments(ingest({"z": z, "even": even, "rare": rare}, numbers=True).frame))
    found = [tests.test(x, y, [0]) for x, y in ((1, 2), (2, 1))]
    assert [np.exp(one.log_p) for one in found] == [pytest.approx(1 / 64, rel=0.1)] * 2


def test_a_count_that_is_mostly_0_and_a_rare_class_keep_the_level():
    rejected, draws = 0, 100
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=2000)
        y = rng.random(2000) < 1 / (1 + np.exp(2.7 - 0.6 * z))
        count = np.where(rng.random(2000) < 0.055 * np.exp(0.4 * z), 1.0 + rng.geometric(0.3, 2000), 0.0)
        frame = ingest({"count": count, "y": np.where(y, "yes", "no"), "z": z}, numbers=True).frame
        rejected += BlockTests(MemoryMoments(frame)).test(0, 1, [2]).p < 0.05
    assert rejected <= stats.binom.ppf(0.999, draws, 0.06)  # residual products alone reject about 30


def test_levels_that_are_rare_where_the_given_column_leaves_the_other_open_keep_the_level():
    # z tells y but for 2% of rows, and x is frequent, but not for every z. By products alone .13 were rejected at .01.
    rng = np.random.default_rng(5)
    n, p = 2000, []
    for _ in range(15):
        z = rng.integers(0, 8, n)
        builder = FrameBuilder(n, 32)
        builder.add("z", z, tuple(range(8)), ordered=True)
        builder.add("y", np.where(rng.random(n) < 0.02, np.minimum(z + 1, 7), z), tuple(range(8)), ordered=False)
        for j in range(30):
            x = (rng.normal() * (z - 3.5) / 2.3 + rng.normal(size=n) > 0).astype(int)
            builder.add(f"x{j}", x, (0, 1), ordered=False)
        p += [e.p for e in BlockTests(MemoryMoments(builder.frame())).scan(range(2, 32), 1, [0])]
    for level in (0.01, 0.05):
        assert np.mean(np.array(p) < level) < level + 3 * np.sqrt(level / len(p))


def test_two_numbers_that_are_mostly_0_keep_the_level():
    rejected, draws = 0, 60
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        z, share, size = rng.normal(size=2000), rng.random((2, 2000)), rng.exponential(3, size=(2, 2000))
        x, y = np.where(share < 0.055 * np.exp(0.4 * z), 1.0 + size, 0.0)
        evidence = BlockTests(MemoryMoments(ingest({"x": x, "y": y, "z": z}, numbers=True).frame)).test(0, 1, [2])
        rejected += evidence.p < 0.05
        assert evidence.method == METHODS[8]
    assert rejected <= stats.binom.ppf(0.999, draws, 0.06)  # residual products alone reject about 20


def test_the_last_look_asks_rows_where_variances_move(monkeypatch):
    table = moved()
    frame = ingest(table, numbers=True).frame
    tests = BlockTests(MemoryMoments(frame), level=0.01)
    x, z, group, y = range(4)
    given = np.column_stack([table["z"], table["group"] == "a"])
    functions = tests.moments.rows(x, 2).T * np.sqrt(frame.n_rows)
    expected, _ = logistic((table["y"] == "yes").astype(float), given, functions)
    quick, again = (asked.test(x, y, [z, group]) for asked in (tests, tests.by_rows()))
    assert (quick.method, again.method) == (METHODS[2], METHODS[3])
    assert quick.p > 0.05
    assert max(expected, again.p) < 0.001
    assert BlockTests(MemoryMoments(frame)).test(x, y, [z, group]).p == again.p
    found = discover(table, "y")
    assert "x" in found.members
    rest = [name for name in found.members if name != "x"]
    assert found.strengths["x"].log_p == pytest.approx(bl.test(table, "x", "y", given=rest).log_p)  # no quicker test
    # One column that is dependent is enough to go on: the others are asked when it is a member.
    assert tests.by_rows().scan([x, group], y, [z]).method.tolist() == tests.scan([x, group], y, [z]).method.tolist()
    monkeypatch.setattr(_blocks, "_AGAIN", 0.0)
    assert tests.by_rows().test(x, y, [z, group]).method == METHODS[7]


def test_what_rows_have_said_is_not_called_unchecked(frame, monkeypatch):
    monkeypatch.setattr(_blocks, "_AT_ONCE", 0.0)
    monkeypatch.setattr(_blocks, "_AGAIN", 0.0)  # those far from the level would take too long
    tests = BlockTests(MemoryMoments(frame))
    z, bent, rare = at(tests, "z", "bent", "rare")
    near, far = tests.scan([bent], z), tests.scan([bent, rare, at(tests, "sign")[0]], at(tests, "town")[0], [z])
    assert near[0].method == METHODS[_row_tests.ROWS]
    assert {e.method == METHODS[_blocks.UNCHECKED] for e in far if e.p > 0.3} == {True}


def test_fits_take_as_few_functions_of_ordered_levels_as_of_numbers():
    rng = np.random.default_rng(0)
    builder = FrameBuilder(400, 3)
    for name in ("size", "town"):
        builder.add(name, rng.integers(0, 7, 400), tuple(range(7)), ordered=name == "size")
    builder.add_number("z", NumberColumn(rng.normal(size=400)), holes=False)
    moments = MemoryMoments(builder.frame())
    assert project(moments, (0, 1, 2), 5.0, 40).widths == (1, 6, 1)  # eight functions for 40 rows
    assert project(moments, (0, 2), 5.0, 40).widths == (4, 4)
    assert project(moments, (0,), 5.0, 400).widths == project(moments, (0,)).widths == (6,)


def ordered_frame(columns, levels):
    builder = FrameBuilder(len(columns[0]), len(columns))
    for j, codes in enumerate(columns):
        builder.add(f"v{j}", codes.astype(int), tuple(range(levels)), ordered=True)
    return builder.frame()


def in_levels(values, levels):
    return np.clip(np.floor((values + 2.2) / 4.4 * levels), 0, levels - 1)


def test_where_rows_are_few_scores_of_ordered_levels_are_tested():
    rng = np.random.default_rng(2)
    z = in_levels(rng.normal(size=150), 10)
    x, y = (in_levels((z - z.mean()) / 3 + 0.8 * rng.normal(size=150), 10) for _ in range(2))
    tests = BlockTests(MemoryMoments(ordered_frame([x, y, z], 10)), level=0.01)
    evidence = tests.test(0, 1, [2])
    assert evidence.reliable  # all levels, 81 pairs of them, would need 450 rows
    assert evidence.method == METHODS[_blocks.SCORES]
    assert evidence.p > 0.01 > tests.test(0, 1).p
    assert tests.rows_for(0, 1, [2]) <= 150
    # Mean ranks and their squares, without what indicators of z tell.
    given = sm.add_constant(np.column_stack([z == level for level in np.unique(z)[1:]]).astype(float))
    scores = [stats.rankdata(v) / 150 - 0.5 for v in (x, y)]
    left = [sm.OLS(np.column_stack([s, s**2]), given).fit().resid for s in scores]
    quick = tests.by_formula().test(0, 1, [2])
    r = CanCorr(left[1], left[0]).cancorr
    assert quick.effect == pytest.approx(-0.5 * np.log(1 - r**2).sum(), rel=1e-6)
    assert quick.dof == 4


def test_with_enough_rows_all_levels_in_order_are_tested():
    rng = np.random.default_rng(2)
    x, y = rng.integers(0, 5, (2, 2000))
    evidence = BlockTests(MemoryMoments(ordered_frame([x, y], 5)), level=0.01).test(0, 1)
    assert evidence.dof == 16
    assert evidence.method != METHODS[_blocks.SCORES]


@pytest.mark.parametrize(("n", "rows", "by_its_law"), [(3000, 100, True), (1000, 100, False), (5000, 170, False)])
def test_beside_a_number_a_seldom_level_is_rare_up_to_160_rows(n, rows, by_its_law):
    """Below 5% of the rows; a category of two even levels is expected to meet half of them, which are more than 40."""
    rng = np.random.default_rng(2)
    table = {"v": rng.normal(size=n), "seldom": np.arange(n) < rows, "even": np.arange(n) % 2 == 0}
    tests = BlockTests(MemoryMoments(ingest(table, numbers=True).frame))
    v, seldom, even = at(tests, "v", "seldom", "even")
    for x, y in ((v, seldom), (seldom, v)):
        assert ("the law of the number" in tests.test(x, y).method) == by_its_law
    assert "a rare level" not in tests.test(even, seldom).method


def test_beside_a_rare_level_an_order_is_drawn_by_its_scores():
    """Rows with the level are drawn anew: the level holds, and five levels in order are asked as a number is."""
    rng = np.random.default_rng(4)
    graded = rng.choice(5, 300, p=[0.1, 0.2, 0.4, 0.2, 0.1])
    rare = [rng.permutation(np.arange(300) < 6) for _ in range(400)]
    builder = FrameBuilder(300, 401)
    builder.add("graded", graded, tuple(range(5)), ordered=True)
    for j, there in enumerate(rare):
        builder.add(f"rare {j}", there.astype(np.int64), (0, 1))
    found = BlockTests(MemoryMoments(builder.frame()), level=0.05).scan(range(1, 401), 0)
    near = found.log_p < np.log(0.05)
    assert {found[int(i)].method for i in np.flatnonzero(near)} == {METHODS[_row_tests.SPREAD]}
    assert 8 <= near.sum() <= 35  # 400 draws at .05: 20, and 3.4 standard deviations


@pytest.mark.parametrize(("rows", "by_rows"), [(6, True), (12, False)])
def test_of_few_rows_of_a_level_rows_are_asked_far_from_the_level_too(rows, by_rows):
    rng = np.random.default_rng(8)
    table = {"rare": rng.permutation(np.arange(300) < rows)} | {f"v{j}": rng.normal(size=300) for j in range(60)}
    frame = ingest(table, numbers=True).frame
    quick = BlockTests(MemoryMoments(frame)).by_formula().scan(range(1, 61), 0)
    asked = BlockTests(MemoryMoments(frame), level=0.01).scan(range(1, 61), 0)
    between = (quick.log_p > np.log(0.05)) & (quick.log_p < np.log(0.3))
    assert between.sum() > 5
    for i in np.flatnonzero(between).tolist():
        assert ("the law of the number" in asked[i].method) == by_rows


def test_rare_levels_at_both_ends_of_an_order_are_not_taken_for_the_same():
    # As one level z would not take out what it does: .11 were rejected at .05.
    rng, p = np.random.default_rng(6), []
    for _ in range(60):
        z = in_levels(rng.normal(size=80), 7)
        of_z = (z - z.mean()) / z.std()
        columns = [in_levels((of_z + 0.8 * rng.normal(size=80)) * 0.9, 7) for _ in range(11)]
        tests = BlockTests(MemoryMoments(ordered_frame([z, *columns], 7)), level=0.05)
        p += [evidence.p for evidence in tests.scan(range(2, 12), 1, [0])]
    # Ten tests share a draw of y and z: their errors are not independent.
    assert np.mean(np.array(p) < 0.05) < 0.05 + 3 * np.sqrt(0.05 / len(p)) * 1.3


def test_probabilities_are_fitted_only_where_a_column_may_be_the_strongest(monkeypatch):
    rng = np.random.default_rng(3)
    z, y = rng.normal(size=(2, 1500))
    table = {"z": z, "y": y, "strong": y + rng.normal(size=1500)}
    for j in range(5):  # rare levels, of which each is a little more frequent where y is large
        table[f"rare {j}"] = np.where(rng.random(1500) < 0.008 + 0.025 * (y > 0.5 + j / 10), "yes", "no")
    moments = MemoryMoments(ingest(table, numbers=True).frame)
    fitted = []
    real = _row_tests.fitted_levels
    monkeypatch.setattr(_row_tests, "fitted_levels", lambda *about: fitted.append(1) or real(*about))
    scan = BlockTests(moments, level=0.01).scan(range(2, 8), 1, [0])
    assert scan.strongest(0.01).x == 2
    assert not fitted
    weak = BlockTests(moments, level=0.01).scan(range(3, 8), 1, [0])
    strongest, asked = weak.strongest(0.01), len(fitted)
    every = BlockTests(moments, level=0.01).scan(range(3, 8), 1, [0])
    assert strongest == every[int(every.order()[0])]  # here every column near the level is asked
    assert 0 < asked < len(fitted) - asked
    assert weak.log_p.tolist() == every.log_p.tolist()
    assert weak.method.tolist() == every.method.tolist()


def test_a_category_of_many_levels_is_tested_as_by_the_matrix_of_all_its_functions(monkeypatch):
    rng = np.random.default_rng(4)
    z = rng.normal(size=1500)
    town = rng.integers(0, 40, 1500)
    table = {
        "z": z,
        "town": np.char.add("town ", town.astype(str)),
        "x": z + town / 20 + rng.normal(size=1500),
        "flag": town % 3 == 0,
    }
    moments = MemoryMoments(ingest(table, numbers=True).frame)
    for xs, y in (([1, 3], 2), ([2], 1)):
        wide = BlockTests(moments, level=0.01).by_formula().scan(xs, y, [0])
        monkeypatch.setattr(_blocks, "_WIDE", 1000)
        usual = BlockTests(moments, level=0.01).by_formula().scan(xs, y, [0])
        monkeypatch.undo()
        for name in ("statistic", "dof", "log_p", "effect"):
            assert getattr(wide, name) == pytest.approx(getattr(usual, name), rel=1e-8)


@pytest.mark.filterwarnings("ignore::blankets.errors.ManyLevelsWarning")
def test_given_a_category_of_many_levels_the_same_is_explained_as_by_least_squares():
    rng = np.random.default_rng(5)
    level = rng.integers(0, 90, 2000)
    table = {"town": [f"t{k}" for k in level], "z": rng.normal(size=2000) + level / 50, "two": level % 2}
    table |= {"x": rng.normal(size=2000), "copy": level % 2 + 2 * (rng.random(2000) < 0.5)}
    moments = MemoryMoments(ingest(table, numbers=True).frame)
    given = (0, 1, 2)  # the town tells the column of two levels
    known = project(moments, given)
    assert known.root.shape == (89 + 8 + 1, 89 + 8)
    rows = np.vstack([moments.rows(z, k) for z, k in zip(given, known.widths, strict=True)])
    tested = np.vstack([moments.rows(x, moments.tested(x)) for x in range(5)])
    fitted = rows.T @ np.linalg.lstsq(rows.T, tested.T, rcond=1e-9)[0]
    explained = explained_of(moments, known)
    assert explained.T @ explained == pytest.approx(tested @ fitted, abs=1e-9)
    basis = known.root.T @ rows
    assert basis @ basis.T == pytest.approx(np.eye(97), abs=1e-9)


def test_of_many_columns_few_are_tested_as_all_are(monkeypatch):
    rng = np.random.default_rng(8)
    common = rng.normal(size=150)
    table = {f"x{j}": common + rng.normal(size=150) * (1 + j % 3) for j in range(40)}
    table["town"] = np.char.add("town ", rng.integers(0, 30, 150).astype(str))  # wide, and x0 is told by x1 and x2
    table["x0"] = table["x1"] - table["x2"]
    frame = ingest(table, numbers=True).frame
    for whole in (True, False):
        if not whole:
            monkeypatch.setattr(_moments, "WHOLE_WORK", 0)
        moments = MemoryMoments(frame)
        assert (moments._whole is not None) == whole
        for given in ((), (1,), (1, 2), (3, 7)):
            usual = BlockTests(moments, level=0.01).scan([5, 0, 40], 4, given)
            monkeypatch.setattr(_blocks, "PROJECTED", 10)
            few = BlockTests(moments, level=0.01)
            found = few.scan([5, 0, 40], 4, given)
            assert not few._kept_explained  # nothing was asked about the others
            monkeypatch.setattr(_blocks, "PROJECTED", 4096)
            for name in ("statistic", "dof", "log_p", "effect"):
                assert getattr(found, name) == pytest.approx(getattr(usual, name), rel=1e-6, nan_ok=True)


def test_members_are_tested_given_many_others_as_one_by_one(monkeypatch):
    rng = np.random.default_rng(9)
    common = rng.normal(size=(3, 900))
    table = {f"x{j}": common[j % 3] + rng.normal(size=900) for j in range(24)}
    table |= {f"c{j}": rng.integers(0, 3, 900).astype(str) for j in range(6)}
    table["y"] = 0.4 * table["x1"] + 0.2 * table["x2"] ** 2 + (table["c1"] == "0") + rng.normal(size=900)
    moments, members = MemoryMoments(ingest(table, numbers=True).frame), range(30)
    assert project(moments, tuple(members)).size > _blocks._MANY_GIVEN
    made = BlockTests(moments, level=0.01)
    found = made.drop_one(members, 30)
    assert list(made._given_rows) == [tuple(members)]  # the others come from it
    assert found.where([3, 25]).log_p.tolist() == made.drop_one(members, 30, [3, 25]).log_p.tolist()
    monkeypatch.setattr(_blocks, "_MANY_GIVEN", 1000)
    usual = BlockTests(moments, level=0.01).drop_one(members, 30)
    assert found.method.tolist() == usual.method.tolist()
    for name in ("statistic", "dof", "log_p", "effect"):
        assert getattr(found, name) == pytest.approx(getattr(usual, name), rel=1e-8)


def test_confounding_by_a_product_of_two_given_columns_is_taken_out():
    """Without main effects squares of predictions tell nothing; by chance 5% of p-values are below 0.05."""
    rng, rejected, without, draws = np.random.default_rng(5), 0, 0, 150
    for _ in range(draws):
        z = rng.normal(size=(2, 2000))
        x, y = 0.25 * z[0] * z[1] + rng.normal(size=(2, 2000))
        tests = BlockTests(
            MemoryMoments(ingest({"a": z[0], "b": z[1], "x": x, "y": y}, numbers=True).frame), level=0.05
        )
        rejected += tests.test(2, 3, [0, 1]).dependent(0.05)
        near = _row_tests.RowTests(3, tests._rows_of(project(tests.moments, (0, 1))), sampled=False)
        without += near.of(np.array([2]), np.zeros(1))[0][0] < np.log(0.05)
    assert rejected <= stats.binom.ppf(0.9999, draws, 0.05)
    assert without > 2 * stats.binom.ppf(0.9999, draws, 0.05)  # a correlation of .0625 / 1.0625 is left: z of 2.6


def test_products_are_given_as_far_as_rows_allow():
    rng = np.random.default_rng(6)
    table = {"a": rng.normal(size=900), "b": rng.normal(size=900), "c": rng.choice(list("pqrst"), 900)}
    moments = MemoryMoments(ingest(table, numbers=True).frame)
    whole = _row_tests.paired(moments, (0, 1, 2), 20)
    assert whole == [((0, 2), (1, 2)), ((0, 2), (2, 4)), ((1, 2), (2, 4))]  # 4 + 8 + 8 products
    assert _row_tests.paired(moments, (0, 1, 2), 19) == [((0, 1), (1, 1)), ((0, 1), (2, 4)), ((1, 1), (2, 4))]
    assert _row_tests.paired(moments, (0, 1, 2), 8) == [((0, 1), (1, 1))]
    assert _row_tests.paired(moments, (0, 1, 2), 0) == []
    given = _row_tests.GivenRows(moments, project(moments, (0, 1, 2)))
    basis = given.with_products
    assert len(basis.rows) == 1 + given.known.size + 20
    np.testing.assert_allclose(basis.rows @ basis.rows.T, np.eye(len(basis.rows)), atol=1e-9)
    np.testing.assert_allclose(basis.leverage, (basis.rows**2).sum(axis=0), atol=1e-12)
    product = moments.rows(0, 1)[0] * moments.rows(2, 2)[1]
    np.testing.assert_allclose(basis.rows.T @ (basis.rows @ product), product, atol=1e-9)
