import math

import numpy as np
import pytest
from scipy.stats import chi2

import blankets as bl
from blankets.counting import MemoryCounter
from blankets.data import Frame
from blankets.errors import ParameterError
from blankets.independence import CalibratedTests, IndependenceTest, TableTests, table_tests
from blankets.stats._contingency import table_statistics

ARITIES = [2, 3, 4, 2, 3, 5]


@pytest.fixture(scope="module")
def codes():
    rng = np.random.default_rng(11)
    table = np.column_stack([rng.integers(0, a, 900) for a in ARITIES])
    table[:, 1] = (table[:, 0] + (rng.random(900) < 0.3)) % 3
    table[:, 3] = (table[:, 1] > 0) ^ (rng.random(900) < 0.2)
    return table


def calibrated(codes, n_jobs=1, **options):
    return CalibratedTests(MemoryCounter(Frame.from_codes(codes), n_jobs), **options)


def shuffled_p(x, y, z, n_shuffles, seed):
    """Share of shuffles of x within the levels of z whose G is at least the observed: the slow obvious twin."""
    rng = np.random.default_rng(seed)
    shape = (n_shuffles + 1, x.max() + 1, y.max() + 1, z.max() + 1)
    counts = np.zeros(shape, np.int64)
    within = [np.flatnonzero(z == level) for level in range(shape[3])]
    for k in range(n_shuffles + 1):
        np.add.at(counts[k], (x, y, z), 1)
        for rows in within:
            x[rows] = rng.permutation(x[rows])
    g = table_statistics(counts)[0]
    return (g[1:] >= g[0] - 1e-9).mean()


@pytest.mark.parametrize("given", [(), (2,), (2, 5), (0, 2, 4)])
def test_statistic_and_degrees_of_freedom_are_those_of_the_plain_test(codes, given):
    xs = [x for x in range(6) if x != 3 and x not in given]
    plain = TableTests(MemoryCounter(Frame.from_codes(codes)), reliability=0).scan(xs, 3, given)
    batch = calibrated(codes, reliability=0).scan(xs, 3, given)
    assert batch.statistic.tolist() == plain.statistic.tolist()
    assert batch.dof.tolist() == plain.dof.tolist()
    assert batch.effect.tolist() == plain.effect.tolist()


@pytest.mark.compiled
def test_with_plenty_of_rows_it_is_the_chi_square_test():
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 3, (200_000, 12))
    batch = calibrated(columns).scan(range(1, 12), 0)
    assert {e.method for e in batch} == {"chi-square: every expected count is at least 5"}
    np.testing.assert_allclose(batch.log_p, chi2.logsf(batch.statistic, 4), rtol=1e-3, atol=1e-5)


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("n", "strata", "arity", "copied", "method"),
    [
        (600, 60, 3, 0.1, "adjusted chi-square"),
        (900, 90, 3, 0.1, "adjusted chi-square"),
        (1500, 100, 2, 0.1, "adjusted chi-square"),
        (45, 6, 3, 0.45, "permut"),
    ],
)
def test_p_values_of_sparse_tables_equal_shuffling(n, strata, arity, copied, method):
    seed = n
    rng = np.random.default_rng(seed)
    y, z = rng.integers(0, arity, n), rng.integers(0, strata, n)
    x = np.where(rng.random(n) < copied, y, rng.integers(0, arity, n))
    evidence = calibrated(np.column_stack([x, y, z]), reliability=0).test(0, 1, [2])
    assert evidence.method.startswith(method)
    truth = shuffled_p(x.copy(), y, z, 3000, seed)
    # Error of the shuffles, of the 1999 permutations, and a tenth of p for the approximation by moments.
    noise = 4 * math.sqrt(max(truth, 1e-3) * (1 / 3000 + (1 / 1999 if method == "permut" else 0)))
    assert evidence.p == pytest.approx(truth, abs=noise + 0.1 * truth)
    plain = TableTests(MemoryCounter(Frame.from_codes(np.column_stack([x, y, z]))), reliability=0).test(0, 1, [2])
    if strata > 50:  # and this is why
        assert plain.p < truth / 5


def test_each_method_says_why():
    rng = np.random.default_rng(7)
    n = 2000
    binary, many, rare = rng.integers(0, 2, n), rng.integers(0, 150, n), (np.arange(n) < 9).astype(int)
    rare_too = ((np.arange(n) < 3) | (np.arange(n) > n - 40)).astype(int)
    three = np.where(np.isin(np.arange(n), [8, 9, 10, 11]), 2, np.arange(n) > n - 20)  # one of them is among the rare
    columns = np.column_stack([binary, rng.integers(0, 2, n), many, rare, rare_too, binary, three])
    tests = calibrated(columns, reliability=0)
    assert tests.test(0, 1).method == "chi-square: every expected count is at least 5"
    assert tests.test(0, 1, [2]).method == "adjusted chi-square: some expected counts are below 5"
    few = "permutation: the strata have too few rows for a formula"
    assert tests.test(3, 4).method == "exact: all tables with the same totals were counted"
    assert tests.test(3, 6).method == few
    far = "chi-square: far from the level even if the table is sparse"
    assert calibrated(columns, reliability=0, level=0.01).test(0, 5).method == far
    nothing = tests.test(0, 1, [5])  # within each level of its copy it is constant
    assert nothing.method == "nothing to test: within each stratum one of the two has a single value"
    assert (nothing.log_p, nothing.dof) == (0.0, 0.0)


def test_unreliable_tests_are_not_performed_unless_asked_for(codes):
    tests = calibrated(codes, reliability=100)
    batch = tests.scan([0, 5], 2)  # 3 and 12 degrees of freedom against 9 allowed
    assert batch.reliable.tolist() == [True, False]
    assert batch[1].method == "not performed"
    assert math.isnan(batch[1].log_p)
    assert tests.n_tests == 1
    forced = tests.scan([0, 5], 2, even_if_unreliable=True)
    assert np.isfinite(forced.statistic).all()
    assert forced.reliable.tolist() == [True, False]


def test_the_answer_depends_on_neither_order_nor_threads():
    rng = np.random.default_rng(3)
    codes = np.column_stack([rng.integers(0, a, 150) for a in (2, 3, 2, 4, 3)])
    batch = calibrated(codes, reliability=0).scan([0, 1, 3], 2, [4])
    assert "permutation" in "".join(e.method for e in batch)
    rows = rng.permutation(150)
    relabeled = codes.copy()
    relabeled[:, 3] = np.array([2, 0, 3, 1])[codes[:, 3]]
    for same in (codes[rows], relabeled):
        np.testing.assert_allclose(calibrated(same, reliability=0).scan([0, 1, 3], 2, [4]).log_p, batch.log_p, 1e-12)
    assert calibrated(codes, 4, reliability=0).scan([0, 1, 3], 2, [4]).log_p.tolist() == batch.log_p.tolist()
    for i, x in enumerate((0, 1, 3)):
        tests = calibrated(codes, reliability=0)
        assert tests.test(x, 2, [4]).log_p == batch.log_p[i]
        assert tests.test(2, x, [4]).log_p == pytest.approx(batch.log_p[i], rel=1e-12)
    backwards = calibrated(codes[:, ::-1], reliability=0).scan([4, 3, 1], 2, [0])
    np.testing.assert_allclose(backwards.log_p, batch.log_p, 1e-12)


def test_the_seed_decides_the_permutations():
    rng = np.random.default_rng(8)
    codes = rng.integers(0, 3, (60, 2))
    codes[:20, 0] = codes[:20, 1]
    p = [calibrated(codes, reliability=0, seed=s).test(0, 1).log_p for s in (1, 1, 2, 3, 4)]
    assert p[0] == p[1]
    assert len(set(p)) > 1
    assert np.ptp(p) < 0.5  # early stopping at 30 hits: about a fifth of p either way


def test_methods_reach_every_shape_of_question(codes):
    tests = calibrated(codes)
    one_by_one = [tests.test(0, 3, [1, 4]), tests.test(1, 3, [0, 4]), tests.test(4, 3, [0, 1])]
    assert [e.method for e in tests.drop_one([0, 1, 4], 3)] == [e.method for e in one_by_one]
    weakest = tests.separate([2, 5], 3, [0, 1])
    for evidence in weakest:
        assert evidence.method == tests.test(evidence.x, 3, evidence.given).method
    assert weakest.where([1])[0].method == weakest[1].method


def test_p_values_are_probabilities_on_any_table():
    rng = np.random.default_rng(12)
    for _ in range(150):
        n, k = int(rng.integers(1, 60)), int(rng.integers(3, 6))
        columns = [rng.choice(a, n, p=rng.dirichlet(np.full(a, 0.5))) for a in rng.integers(1, 7, k)]
        batch = calibrated(np.column_stack(columns), reliability=0).scan(range(1, k - 1), 0, [k - 1])
        assert np.isfinite(batch.log_p).all()
        assert (batch.log_p <= 0).all()
        assert (np.exp(batch.log_p[batch.dof == 0]) == 1).all()


def test_strong_dependence_still_ranks():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 20_000)
    good, better = ((y + (rng.random(20_000) < p)) % 2 for p in (0.1, 0.05))
    batch = calibrated(np.column_stack([y, good, better])).scan([1, 2], 0)
    assert [e.p for e in batch] == [0.0, 0.0]
    assert batch.strongest(0.01).x == 2
    small = calibrated(np.column_stack([y, good, better])[:100]).scan([1, 2], 0)
    assert (small.log_p < math.log(1e-6)).all()  # far below what 1999 permutations can measure


def test_wrong_options(codes):
    counter = MemoryCounter(Frame.from_codes(codes))
    with pytest.raises(ParameterError, match="'seed' must be a whole number from 0"):
        CalibratedTests(counter, seed=-1)
    with pytest.raises(ParameterError, match="dof='nominal' is for the formulas of test='g' and test='x2'"):
        table_tests(counter, statistic="auto", dof="nominal")
    with pytest.raises(ParameterError, match="unknown strength"):
        table_tests(counter, statistic="auto", strength="size")


@pytest.mark.compiled
def test_discover_with_calibrated_tests(codes):
    frame = {f"x{i}": codes[:300, i].astype(str) for i in range(6)}
    runs = [bl.discover(frame, "x3", algorithm="iamb", test="auto", rng=seed) for seed in (None, None, 5)]
    assert runs[0].members == runs[1].members == ("x1",)
    assert runs[0].strengths["x1"].log_p == runs[1].strengths["x1"].log_p
    assert runs[2].members == ("x1",)
    assert runs[0].settings["test"] == "auto"
    every = bl.discover_all(frame, algorithm="iamb", test="auto", rng=1)
    assert every["x3"].members == ("x1",)


def wide_codes(n, seed):
    """Columns with rare levels, some of which follow the first one."""
    rng = np.random.default_rng(seed)
    table = np.column_stack([rng.choice(a, n, p=rng.dirichlet(np.full(a, 0.7))) for a in rng.integers(2, 5, 14)])
    for x in (3, 5, 7):
        table[:, x] = np.where(rng.random(n) < 0.25, table[:, 0] % (table[:, x].max() + 1), table[:, x])
    return table


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(6))
def test_a_level_saves_effort_and_changes_no_decision(seed):
    codes = wide_codes(300, seed)
    careful, quick = calibrated(codes, reliability=0), calibrated(codes, reliability=0, level=0.01)
    for given in ((), (1,), (1, 2)):
        xs = [x for x in range(14) if x not in (0, *given)]
        slow, fast = careful.scan(xs, 0, given), quick.scan(xs, 0, given)
        clear = np.abs(slow.log_p - math.log(0.01)) > math.log(2)  # permutations may differ near the level
        assert fast.dependent(0.01)[clear].tolist() == slow.dependent(0.01)[clear].tolist()


def test_the_strongest_needs_no_other_p_values(codes):
    tests = calibrated(codes, level=0.01)
    batch = tests.scan([0, 1, 2, 4, 5], 3)
    first = batch.strongest(0.01)
    assert (first.x, first.method) == (1, "chi-square: far from the level even if the table is sparse")
    assert batch._log_p is None  # nobody asked
    assert first.log_p == pytest.approx(chi2.logsf(first.statistic, first.dof))
    assert batch.log_p[1] == first.log_p
    assert batch.strongest(0.01) == first  # also when all are known
    assert calibrated(codes[:, [0, 2, 4, 5]], level=0.01).scan([1, 2, 3], 0).strongest(0.01) is None


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(3))
def test_a_long_scan_that_a_strong_column_wins_leaves_the_others_open(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (600, 1100))
    for x in (1, 2, 3):
        codes[:, x] = np.where(rng.random(600) < 0.25 * x, codes[:, 0], codes[:, x])
    codes[:, 900] = np.where(rng.random(600) < 0.9, codes[:, 3], codes[:, 900])
    tests, given, left_open = calibrated(codes, level=0.01, reliability=0), (), []
    while True:
        xs = np.setdiff1d(np.arange(1, 1100), given)
        batch, alone = tests.scan(xs, 0, given), calibrated(codes, level=0.01, reliability=0).scan(xs, 0, given)
        left_open.append(type(batch._tests).__name__ == "_LeavingTests")
        best = batch.strongest(0.01)
        assert best == alone.strongest(0.01)
        np.testing.assert_array_equal(batch.log_p, alone.log_p)
        assert batch.method.tolist() == alone.method.tolist()
        if best is None or len(given) == 4:
            break
        given = (*given, best.x)
    assert left_open[:2] == [False, True]  # there is nothing to go by at first
    assert tests.n_tests == sum(1099 - k for k in range(len(left_open)))


@pytest.mark.compiled
@pytest.mark.parametrize("stop_at", [None, 0.01])
@pytest.mark.parametrize("seed", range(4))
def test_separating_by_chi_square_first_decides_as_calibrated_tests_do(seed, stop_at):
    codes = wide_codes(400, seed)
    quick = calibrated(codes, level=0.01)
    xs, among = [3, 5, 8, 9, 10, 11], [1, 2, 7]
    found = quick.separate(xs, 0, among, stop_at=stop_at)
    slow = IndependenceTest.separate(calibrated(codes, level=0.01), xs, 0, among, stop_at=stop_at)
    assert found.xs.tolist() == xs
    assert found.independent(0.01).tolist() == slow.independent(0.01).tolist()
    for evidence in found:
        if evidence.reliable:
            again = quick.test(evidence.x, 0, evidence.given)
            assert (again.statistic, again.log_p) == (pytest.approx(evidence.statistic), pytest.approx(evidence.log_p))
            assert again.method == evidence.method


@pytest.mark.parametrize("labels", ["supervised", "pu", "mcar", "mar-c", "mar-f"])
def test_one_test_in_every_label_regime(labels):
    rng = np.random.default_rng(2)
    ill = rng.integers(0, 2, 90)
    rare = np.where(rng.random(90) < 0.06, 2, ill ^ (rng.random(90) < 0.25))
    seen = rng.random(90) < 0.6
    label = {
        "supervised": ill,
        "pu": np.where(ill & seen, 1.0, np.nan),
        "mcar": np.where(seen, ill, np.nan),
        "mar-c": np.where(seen | (ill == 1), ill, np.nan),
        "mar-f": np.where(seen, ill, np.nan),
    }[labels]
    frame = {"rare": rare.astype(str), "z": rng.integers(0, 2, 90).astype(str), "ill": label}
    prior = {} if labels in ("supervised", "mcar", "mar-f") else {"prior": 0.6}
    result = bl.test(frame, "rare", "ill", ["z"], labels=labels, test="auto", **prior)
    assert result.test == "auto"
    assert result.method.split(":")[0] in ("chi-square", "adjusted chi-square", "exact", "permutation")
    assert 0 < result.p < 1
    assert result.to_dict()["method"] == result.method
    assert f"({result.method})" in " ".join(repr(result).split())
    again = bl.test(frame, "rare", "ill", ["z"], labels=labels, rng=3, **prior).p
    assert abs(np.log(again / result.p)) < 3 * np.sqrt(2 / 30)  # each p-value rests on 30 permutations as large
    with pytest.raises(ParameterError, match="unknown test 'exact'"):
        bl.test(frame, "rare", "ill", labels=labels, test="exact", **prior)


@pytest.mark.compiled
def test_the_default_is_calibrated_and_says_how(codes):
    frame = {f"x{i}": codes[:300, i].astype(str) for i in range(6)}
    for algorithm in ("iamb", "pcmb", "mmmb", "hiton-mb"):
        blanket = bl.discover(frame, "x3", algorithm=algorithm)
        assert blanket.settings["test"] == "auto"
        assert "test auto" in repr(blanket)
        method = blanket.strengths["x1"].method
        assert method.startswith("chi-square")
        assert f"({method})" in " ".join(str(blanket.explain("x1")).split())
        looks = blanket.passed_over
        assert {looks.methods[k].split(":")[0] for k in looks.method} <= {
            "",
            "chi-square",
            "adjusted chi-square",
            "permutation",
        }
        again = bl.Blanket.from_dict(blanket.to_dict())
        assert again.strengths["x1"].method == method
        assert again.passed_over.methods == looks.methods
        assert again.passed_over.method.tolist() == looks.method.tolist()
    assert bl.discover_all(frame)["x3"].settings["test"] == "auto"
