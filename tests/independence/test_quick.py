"""The quick view: residual canonical correlations of functions, in small matrices."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats
from statsmodels.multivariate.cancorr import CanCorr

from blankets.counting import MemoryMoments, _moments
from blankets.data import NumberColumn, ingest
from blankets.data._builder import FrameBuilder
from blankets.errors import ParameterError
from blankets.independence import QUICK_METHODS as METHODS
from blankets.independence import QuickTests, _quick
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
    }
    return ingest(table, numbers=True).frame


def at(tests, *names):
    return [tests.names.index(name) for name in names]


def test_curved_dependence_is_seen_and_taken_out(frame):
    tests = QuickTests(MemoryMoments(frame))
    z, bent, also = at(tests, "z", "bent", "also")
    assert tests.test(bent, also).p < 1e-10
    assert tests.test(bent, z).p < 1e-10  # their correlation is 0
    assert abs(np.corrcoef(tests.moments.rows(z, 1)[0], tests.moments.rows(bent, 1)[0])[0, 1]) < 0.1
    assert tests.test(bent, also, [z]).p > 0.01


def test_a_linear_test_of_two_numbers_agrees_with_pearsons(frame):
    tests = QuickTests(MemoryMoments(frame))
    z, ill = at(tests, "z", "ill")
    r = np.corrcoef(frame.numbers[z].values, frame.column(ill))[0, 1]
    evidence = tests.test(ill, z)
    assert evidence.effect > -0.5 * np.log(1 - r**2)  # the square tells a little more
    assert evidence.effect < -0.5 * np.log(1 - r**2) + 0.01
    assert stats.pearsonr(frame.numbers[z].values, frame.column(ill)).pvalue < 1e-10 > evidence.p


def test_too_few_rows_are_a_third_answer(frame):
    few = frame.take(np.arange(30))
    tests = QuickTests(MemoryMoments(few))
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
    evidence = QuickTests(MemoryMoments(frame)).test(1, 2, [0])
    assert (evidence.dof, evidence.method) == (0, METHODS[_quick.NOTHING])
    assert evidence.independent(0.01)


def test_reliability_is_a_number(frame):
    with pytest.raises(ParameterError, match="reliability"):
        QuickTests(MemoryMoments(frame), reliability=-1)


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
    quick = QuickTests(MemoryMoments(ordered_frame([x, y, z], 10)))
    evidence = quick.test(0, 1, [2])
    assert evidence.reliable  # all levels, 81 pairs of them, would need 450 rows
    assert evidence.method == METHODS[_quick.SCORES]
    assert quick.rows_for(0, 1, [2]) <= 150
    # Mean ranks and their squares, without what indicators of z tell.
    given = sm.add_constant(np.column_stack([z == level for level in np.unique(z)[1:]]).astype(float))
    scores = [stats.rankdata(v) / 150 - 0.5 for v in (x, y)]
    left = [sm.OLS(np.column_stack([s, s**2]), given).fit().resid for s in scores]
    r = CanCorr(left[1], left[0]).cancorr
    assert evidence.effect == pytest.approx(-0.5 * np.log(1 - r**2).sum(), rel=1e-6)
    assert evidence.dof == 4


def test_with_enough_rows_all_levels_in_order_are_tested():
    rng = np.random.default_rng(2)
    x, y = rng.integers(0, 5, (2, 2000))
    evidence = QuickTests(MemoryMoments(ordered_frame([x, y], 5))).test(0, 1)
    assert evidence.dof == 16
    assert evidence.method == METHODS[_quick.PRODUCTS]


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
        wide = QuickTests(moments).scan(xs, y, [0])
        monkeypatch.setattr(_quick, "_WIDE", 1000)
        usual = QuickTests(moments).scan(xs, y, [0])
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
            usual = QuickTests(moments).scan([5, 0, 40], 4, given)
            monkeypatch.setattr(_quick, "PROJECTED", 10)
            few = QuickTests(moments)
            found = few.scan([5, 0, 40], 4, given)
            assert not few._kept_explained  # nothing was asked about the others
            monkeypatch.setattr(_quick, "PROJECTED", 4096)
            for name in ("statistic", "dof", "log_p", "effect"):
                assert getattr(found, name) == pytest.approx(getattr(usual, name), rel=1e-6, nan_ok=True)


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
