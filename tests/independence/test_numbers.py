"""Tests of numbers: who answers, what an answer says, holes, orders, scales, and that who asks does not matter."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

import blankets as bl
from blankets.counting import MemoryCounter
from blankets.data import NumberColumn, ingest
from blankets.data._builder import FrameBuilder
from blankets.errors import ParameterError
from blankets.independence import NUMBER_METHODS as METHODS
from blankets.independence import CalibratedTests, MixedTests, NumberTests
from blankets.independence._numbers import NOTHING, PLAIN, SCREENED, SPLIT

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
        "half": np.where(rng.random(N) < 0.5, town, rng.integers(0, 3, N)),
    }
    return ingest(table, numbers=True).frame


@pytest.fixture(scope="module")
def tests(frame):
    measured = np.array([j in frame.numbers for j in range(frame.n_columns)])
    tables = CalibratedTests(MemoryCounter(frame.without_numbers()))
    return MixedTests(tables, NumberTests(frame), measured)


def at(tests, *names):
    return [tests.names.index(name) for name in names]


def test_curved_dependence_is_seen_and_taken_out(tests):
    z, bent, also = at(tests, "z", "bent", "also")
    assert tests.test(bent, also).p < 1e-10
    assert tests.test(bent, z).p < 1e-10  # their correlation is 0
    assert tests.test(bent, also, [z]).p > 0.01


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


def test_the_statistic_has_the_p_value_and_the_degrees_of_freedom_that_are_printed(frame):
    tests = NumberTests(frame)
    for x, y, given in ((1, 2, ()), (3, 2, (0,)), (1, 4, (0, 3)), (3, 1, ())):
        evidence = tests.test(x, y, given)
        assert stats.chi2.logsf(evidence.statistic, evidence.dof) == pytest.approx(evidence.log_p, rel=1e-6, abs=1e-9)


def test_who_asks_does_not_matter(frame):
    tests = NumberTests(frame)
    for x, y, given in ((1, 2, (0,)), (5, 1, (0,)), (3, 2, (0, 4)), (6, 1, (3,))):
        asked, turned = tests.test(x, y, given), tests.test(y, x, given[::-1])
        assert (asked.log_p, asked.method, asked.held) == (turned.log_p, turned.method, turned.held)


def test_the_order_of_rows_does_not_matter(frame):
    shuffled = frame.take(np.random.default_rng(0).permutation(N))
    one, other = NumberTests(frame), NumberTests(shuffled)
    for x, y, given in ((1, 2, (0,)), (5, 1, (0,)), (3, 2, (0, 4))):
        assert one.test(x, y, given).log_p == pytest.approx(other.test(x, y, given).log_p, rel=1e-6)


def test_threads_do_not_matter(frame):
    alone = [NumberTests(frame, level=0.05).scan([1, 2, 3, 5], 4, [0]).log_p.tolist() for _ in range(2)]
    shared = NumberTests(frame, level=0.05)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: shared.scan([1, 2, 3, 5], 4, [0]).log_p.tolist(), range(8)))
    assert all(each == alone[0] for each in [*alone, *found])


def test_a_screen_answers_far_from_the_level_and_never_says_dependent(frame):
    rng = np.random.default_rng(2)
    noise = {f"n{j}": rng.normal(size=N) for j in range(30)}
    table = ingest({"y": rng.normal(size=N), "z": rng.normal(size=N)} | noise, numbers=True).frame
    batch = NumberTests(table, level=0.01).scan(range(2, 32), 0, [1])
    screened = batch.method == SCREENED
    # Above .01 to the power .4, .158, a screen is the answer: of true independences the rest of its p-values, .84.
    assert stats.binom.ppf(0.001, 30, 0.84) <= screened.sum() <= stats.binom.ppf(0.999, 30, 0.84)
    assert (batch.log_p[screened] > 0.4 * np.log(0.01)).all()
    every = NumberTests(table).scan(range(2, 32), 0, [1])
    assert SCREENED not in every.method
    assert np.corrcoef(every.log_p, batch.log_p)[0, 1] > 0.9


def test_the_strongest_is_the_strongest_of_whole_tests():
    rng = np.random.default_rng(3)
    y = rng.normal(size=500)
    table = {"y": y} | {f"x{j}": (0.1 + 0.02 * j) * y + rng.normal(size=500) for j in range(10)}
    frame = ingest(table, numbers=True).frame
    batch = NumberTests(frame, level=0.01).scan(range(1, 11), 0)
    strongest = batch.strongest(0.01)
    every = list(NumberTests(frame).scan(range(1, 11), 0))
    assert strongest.log_p == min(e.log_p for e in every)
    assert NumberTests(frame, level=0.01).scan(range(1, 3), 0).strongest(1e-9) is None


def test_a_column_that_the_given_ones_determine_has_nothing_to_test():
    z = np.random.default_rng(0).normal(size=200)
    frame = ingest({"z": z, "twice": 2 * z + 1, "x": z + 1.0 * (z > 0)}, numbers=True).frame
    evidence = NumberTests(frame).test(1, 2, [0])
    assert (evidence.dof, evidence.method) == (0, METHODS[NOTHING])
    assert evidence.independent(0.01)


def test_too_few_rows_are_a_third_answer(frame):
    few = frame.take(np.arange(30))
    tests = NumberTests(few)
    z, bent, also, town, ill = at(tests, "z", "bent", "also", "town", "ill")
    assert tests.test(bent, also, [z, town]).reliable  # one pair, and three functions of the base: 20 rows
    unreliable = tests.test(bent, also, [z, town, ill, at(tests, "half")[0]])
    assert not unreliable.reliable
    assert np.isnan(unreliable.statistic)
    assert tests.rows_for(bent, also, [z, town]) == 5 * (1 + 1 + 2 + 1)
    assert not np.isnan(tests.scan([bent], also, [z, town, ill], even_if_unreliable=True).statistic[0])


def test_reliability_is_a_number(frame):
    with pytest.raises(ParameterError, match="reliability"):
        NumberTests(frame, reliability=-1)


def test_a_test_is_that_of_the_rows_that_have_all_its_values():
    rng = np.random.default_rng(5)
    z, town = rng.normal(size=400), rng.integers(0, 3, 400)
    table = pd.DataFrame(
        {
            "z": np.where(rng.random(400) < 0.2, np.nan, z),
            "x": z + rng.normal(size=400),
            "town": pd.Series(np.array(list("abc"))[town]).where(rng.random(400) > 0.1),
            "y": z + (town == 0) + rng.normal(size=400),
        }
    )
    whole = NumberTests(ingest(table, numbers=True).frame)
    for names in (["x", "y"], ["x", "y", "z"], ["z", "y", "x"], ["town", "y", "z"], ["x", "z", "town"]):
        rows = table.dropna(subset=names)
        alone = NumberTests(ingest(rows[names], numbers=True).frame)
        x, y, *given = (whole.names.index(name) for name in names)
        asked, expected = whole.test(x, y, given), alone.test(0, 1, range(2, len(names)))
        assert asked.n_rows == expected.n_rows == len(rows)
        assert (asked.log_p, asked.statistic) == pytest.approx((expected.log_p, expected.statistic), rel=1e-9)


def test_columns_that_no_row_has_together_cannot_be_tested():
    rng = np.random.default_rng(4)
    a, b, c = rng.normal(size=(3, 300))
    a[:100], b[100:] = np.nan, np.nan
    tests = NumberTests(ingest({"a": a, "b": b, "c": c}, numbers=True).frame)
    for x, y, *given in ((0, 1), (0, 2, 1), (2, 0, 1)):
        asked = tests.test(x, y, given)
        assert (asked.reliable, asked.n_rows) == (False, 0)


def test_an_order_has_nearly_the_power_of_its_trend():
    """Beside the likelihood ratio of a logistic regression on mean ranks, which knows that there is nothing else."""
    ours = levels = trend = 0
    for k in range(60):
        rng = np.random.default_rng([6, k])
        size = np.clip(rng.geometric(0.35, 700) - 1, 0, 9)
        y = rng.random(700) < 1 / (1 + np.exp(0.5 + 0.13 * size))
        builder = FrameBuilder(700, 3)
        builder.add("y", y.astype(np.int64), (0, 1))
        builder.add("size", size, tuple(range(10)), ordered=True)
        builder.add("same", size, tuple(range(10)))
        tests = NumberTests(builder.frame())
        ours += tests.test(1, 0).dependent(0.05)
        levels += tests.test(2, 0).dependent(0.05)
        ranks = sm.add_constant(stats.rankdata(size) / 700)
        ratio = 2 * (sm.Logit(y, ranks).fit(disp=False).llf - sm.Logit(y, ranks[:, :1]).fit(disp=False).llf)
        trend += stats.chi2.sf(ratio, 1) <= 0.05
    assert levels < ours
    assert ours >= 0.8 * trend


def test_levels_that_go_up_and_down_are_found_in_an_order():
    rng = np.random.default_rng(7)
    size = rng.integers(0, 5, 2000)
    builder = FrameBuilder(2000, 2)
    builder.add_number("y", NumberColumn((size % 2) * 0.5 + rng.normal(size=2000)), holes=False)
    builder.add("size", size, tuple(range(5)), ordered=True)
    assert NumberTests(builder.frame()).test(1, 0).dependent(1e-6)


def answers(coding, seed, n=900):
    """Return a table of seven answers on the scale of a coding, and a target that some of them tell about."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=n)
    items = np.clip(np.round(3 + shared + 1.2 * rng.normal(size=(7, n))), 0, 6).astype(int)
    target = 0.5 * items[:3].sum(axis=0) / 3 + rng.normal(size=n)
    made = {f"item{j}": [coding(int(v)) for v in item] for j, item in enumerate(items)}
    return pd.DataFrame({**made, "target": target})


@pytest.mark.filterwarnings("ignore::blankets.errors.ReadingWarning")
def test_the_same_answers_in_other_codes_have_the_same_blanket():
    codings = (int, lambda v: v + 1, lambda v: 10 * (v + 1), float)
    for seed in range(2):
        found = [bl.discover(answers(coding, seed), "target", n_jobs=1, audit=False) for coding in codings]
        assert [set(each.members) for each in found] == [{"item0", "item1", "item2"}] * len(codings)
        texts = bl.discover(answers("abcdefg".__getitem__, seed), "target", n_jobs=1, audit=False)
        assert {"item0", "item1", "item2"} <= set(texts.members)


def unheld(n=400, seed=0):
    """Return a table whose target depends on every cell of two columns of 14 levels, and so does x."""
    rng = np.random.default_rng(seed)
    site, ward = rng.integers(0, 14, (2, n))
    mean = 2.5 * rng.normal(size=(14, 14))[site, ward]
    table = {"site": site, "ward": ward, "x": mean + 0.3 * rng.normal(size=n), "y": mean + 0.3 * rng.normal(size=n)}
    text = {name: [f"{name} {k}" for k in table[name]] for name in ("site", "ward")}
    return {**table, **text}


def test_what_could_not_be_held_fixed_is_neither_dependent_nor_independent():
    frame = ingest(unheld(), numbers=True).frame
    evidence = NumberTests(frame, level=0.01).test(2, 3, [0, 1])
    assert not evidence.held
    assert not evidence.reliable
    assert not evidence.dependent(0.05)
    assert not evidence.independent(0.05)


def test_parts_with_opposite_slopes_are_told_by_the_method():
    rng = np.random.default_rng(8)
    sex, dose = rng.integers(0, 2, 1000), rng.normal(size=1000)
    y = np.where(sex, 0.4, -0.4) * dose + rng.normal(size=1000)
    frame = ingest({"sex": np.where(sex, "m", "f"), "dose": dose, "y": y}, numbers=True).frame
    found = NumberTests(frame).test(1, 2, [0])
    assert found.dependent(1e-6)
    assert found.method == METHODS[SPLIT]
    assert NumberTests(frame).test(1, 2).log_p > found.log_p
    plain = ingest({"dose": dose, "y": dose + rng.normal(size=1000)}, numbers=True).frame
    assert NumberTests(plain).test(0, 1).method == METHODS[PLAIN]
