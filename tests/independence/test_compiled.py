"""Questions that kernels answer whole give what tables asked one by one give: the same numbers to the last bit."""

import numpy as np
import pytest

from blankets import kernels
from blankets.counting import MemoryCounter, _memory
from blankets.data import Frame
from blankets.independence import CalibratedTests, TableTests, _subsets

ARITIES = [2, 3, 4, 2, 7, 3, 2, 5, 3, 2]


class OtherCounter(MemoryCounter):
    """A counter for which there are no compiled calls."""


def skewed(n_rows, arities, rng):
    """Return columns with rare levels, some of them noisy copies of others."""
    codes = np.column_stack([rng.binomial(a - 1, 0.3, n_rows) for a in arities])
    for x in range(2, len(arities), 2):
        follow = rng.random(n_rows) < 0.6
        codes[follow, x] = np.minimum(codes[follow, x - 1], arities[x] - 1)
    return codes


def both(codes, arities=ARITIES, **options):
    frame = Frame.from_codes(codes, arities=arities)
    compiled, plain = TableTests(MemoryCounter(frame, 1), **options), TableTests(OtherCounter(frame, 1), **options)
    assert compiled._table is not None
    assert plain._table is None
    return compiled, plain


def assert_same(one, other):
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        assert (a.x, a.y, a.given, a.reliable) == (b.x, b.y, b.given, b.reliable)
        if a.reliable:
            assert (a.statistic, a.dof, a.log_p, a.effect, a.n_rows) == (
                b.statistic,
                b.dof,
                b.log_p,
                b.effect,
                b.n_rows,
            )


TWO = {"min_size": 2, "max_size": 2, "stop_at": 0.05}
OPTIONS = [
    {},
    {"statistic": "x2"},
    {"dof": "nominal"},
    {"reliability": 0},
    {"reliability": 60, "strength": "information"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("n_rows", [1, 7, 130, 3001])
def test_scans(options, n_rows):
    rng = np.random.default_rng(n_rows)
    compiled, plain = both(skewed(n_rows, ARITIES, rng), **options)
    for depth in (0, 1, 2, 3, 5, 8):
        order = rng.permutation(10)
        y, given, xs = int(order[0]), order[1 : 1 + depth].tolist(), order[1 + depth :]
        assert_same(compiled.scan(xs, y, given), plain.scan(xs, y, given))
    assert compiled.n_tests == plain.n_tests


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("n_rows", [5, 900])
def test_each_member_given_the_others(options, n_rows):
    rng = np.random.default_rng(n_rows)
    compiled, plain = both(skewed(n_rows, ARITIES, rng), **options)
    for size in (2, 3, 5, 9):
        order = rng.permutation(10).tolist()
        assert_same(compiled.drop_one(order[:size], order[9]), plain.drop_one(order[:size], order[9]))
    assert compiled.n_tests == plain.n_tests


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("n_rows", [40, pytest.param(1500, marks=pytest.mark.compiled)])
@pytest.mark.parametrize("patience", [1, 1 << 26])
def test_weakest_over_subsets(options, n_rows, patience, monkeypatch):
    monkeypatch.setattr(_subsets, "PATIENCE", patience)
    rng = np.random.default_rng(n_rows)
    compiled, plain = both(skewed(n_rows, ARITIES, rng), **options)
    for _ in range(6):
        order = rng.permutation(10).tolist()
        among, xs = order[1 : rng.integers(1, 7)], order[4:]
        for containing in (None, among[0] if among else None, among[-1] if among else None):
            for limits in ({}, {"max_size": 2}, {"stop_at": 0.05}, {"stop_at": 1e-6, "max_size": 0}, TWO):
                wanted = {"containing": containing, **limits}
                assert_same(
                    compiled.separate(xs, order[0], among, **wanted), plain.separate(xs, order[0], among, **wanted)
                )


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("patience", [1, 1 << 26])
@pytest.mark.compiled
def test_weakest_over_subsets_where_most_rows_are_alike(options, patience, monkeypatch):
    # At most 40 rows are different, so that each stands for 25 or more once there have been 256 tests.
    monkeypatch.setattr(_subsets, "PATIENCE", patience)
    rng = np.random.default_rng(9)
    compiled, plain = both(skewed(40, ARITIES, rng)[rng.integers(0, 40, 1000)], **options)
    for _ in range(3):
        order = rng.permutation(10).tolist()
        for wanted in ({}, {"stop_at": 1e-9}, {"containing": order[2]}, {"max_size": 3}):
            asked = (order[3:], order[0], order[1:7])
            assert_same(compiled.separate(*asked, **wanted), plain.separate(*asked, **wanted))


def test_tests_of_a_search_for_a_separating_set_are_counted():
    rng = np.random.default_rng(3)
    compiled, _ = both(rng.integers(0, 2, (400, 5)), [2] * 5)
    compiled.separate([1, 2], 0, [2, 3, 4])
    assert compiled.n_tests == 8 + 4  # 2 is not given itself


def test_codes_from_several_blocks_and_in_another_order():
    rng = np.random.default_rng(8)
    frame = Frame.from_codes(skewed(500, ARITIES, rng), arities=ARITIES)
    changed = frame.with_column(frame.names[3], rng.integers(0, 3, 500).astype(np.uint8), (0, 1, 2))
    compiled, plain = TableTests(MemoryCounter(changed, 1)), TableTests(OtherCounter(changed, 1))
    assert len(changed.blocks) == 2
    assert compiled._table is not None
    for given in ((), (3,), (1, 3, 6)):
        xs = [x for x in range(9) if x not in given]
        assert_same(compiled.scan(xs, 9, given), plain.scan(xs, 9, given))
        assert_same(compiled.separate(xs, 9, given), plain.separate(xs, 9, given))


def test_wide_columns_take_the_other_way():
    rng = np.random.default_rng(2)
    wide = Frame.from_codes(np.column_stack([rng.integers(0, 300, 900), rng.integers(0, 2, (900, 2)).T[0]]))
    assert TableTests(MemoryCounter(wide))._table is None


def test_levels_that_a_stratum_does_not_have_change_nothing():
    # 40 x 40 levels in 700 strata of one or two rows: kernels count the levels of y that each stratum has.
    codes = np.random.default_rng(4).integers(0, 40, (800, 6))
    frame, given = Frame.from_codes(codes, arities=[40] * 6), (3, 4)
    for kind in (TableTests, CalibratedTests):
        how = {"reliability": 0} if kind is TableTests else {"reliability": 0, "level": 0.01}
        compiled, plain = kind(MemoryCounter(frame, 1), **how), kind(OtherCounter(frame, 1), **how)
        assert kernels.test_columns(compiled._table, compiled._formula, np.array([0]), 2, np.array(given))[0] == 1
        assert_same(compiled.scan([0, 1, 5], 2, given), plain.scan([0, 1, 5], 2, given))


@pytest.mark.compiled
def test_tables_that_are_too_large_are_left_to_the_counter():
    rng = np.random.default_rng(4)
    arities = [2, 2, 40, 40, 40, 40]
    codes = rng.integers(0, arities, (60_000, 6))
    compiled, plain = both(codes, arities, reliability=0)
    scans = (compiled.scan([0, 1], 2, [3, 4, 5]), plain.scan([0, 1], 2, [3, 4, 5]))
    given = np.array([3, 4, 5])
    assert kernels.test_columns(compiled._table, compiled._formula, np.array([0]), 2, given)[0] == -1
    assert_same(*scans)
    assert_same(compiled.drop_one([0, 1, 3, 4], 2), plain.drop_one([0, 1, 3, 4], 2))
    assert_same(compiled.separate([0, 1], 2, [3, 4, 5]), plain.separate([0, 1], 2, [3, 4, 5]))


@pytest.mark.parametrize("n_jobs", [2, 3, 8])
def test_threads_share_the_candidates_and_find_the_same(n_jobs, monkeypatch):
    rng = np.random.default_rng(9)
    frame = Frame.from_codes(skewed(700, ARITIES, rng), arities=ARITIES)
    alone, several = TableTests(MemoryCounter(frame, 1)), TableTests(MemoryCounter(frame, n_jobs))
    monkeypatch.setattr(several.counter, "threads_for", lambda ns: n_jobs)
    for wanted in ({}, {"stop_at": 0.05}, {"containing": 2}):
        for xs in ([5], [3, 6], [1, 3, 4, 5, 6, 7, 8, 9]):
            assert_same(several.separate(xs, 0, [2, 4, 7, 9], **wanted), alone.separate(xs, 0, [2, 4, 7, 9], **wanted))
    assert several.n_tests == alone.n_tests


@pytest.mark.parametrize("level", [None, 0.05, 1e-4])
@pytest.mark.parametrize("n_rows", [60, 700])
def test_calibrated_answers(level, n_rows):
    rng = np.random.default_rng(n_rows)
    frame = Frame.from_codes(skewed(n_rows, ARITIES, rng), arities=ARITIES)
    whole, plain = (CalibratedTests(make(frame, 1), level=level) for make in (MemoryCounter, OtherCounter))
    assert plain._table is None
    for depth in (0, 1, 2, 3):
        order = rng.permutation(10).tolist()
        y, given, xs = order[0], order[1 : 1 + depth], order[1 + depth :]
        assert_same(whole.scan(xs, y, given), plain.scan(xs, y, given))
        assert whole.scan(xs, y, given).method.tolist() == plain.scan(xs, y, given).method.tolist()
        assert_same(whole.drop_one(xs[:3], y), plain.drop_one(xs[:3], y))
        for wanted in ({}, {"max_size": 1}, {"stop_at": 0.05}, {"containing": given[0] if given else None}):
            assert_same(whole.separate(xs, y, given, **wanted), plain.separate(xs, y, given, **wanted))


def test_wider_columns_after_narrow_ones():
    rng = np.random.default_rng(8)
    arities = [2, 9, 9, 2, 3, 4, 7, 12]
    frame = Frame.from_codes(skewed(400, arities, rng), arities=arities)

    def new():
        return CalibratedTests(MemoryCounter(frame, 1), level=0.01, reliability=0)

    together, xs = new().scan([3, 4, 5, 6, 7], 0, [1, 2]), [3, 4, 5, 6, 7]
    for i, x in enumerate(xs):
        assert together[i] == new().scan([x], 0, [1, 2])[0]


@pytest.mark.parametrize("statistic", ["g", "x2"])
@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize(("n_rows", "levels"), [(1, 2), (70, 2), (2000, 2), (700, 3), (500, 4)])
def test_scans_given_nothing_by_bits(monkeypatch, statistic, n_jobs, n_rows, levels):
    monkeypatch.setattr(_memory, "THREADS_WIN_ABOVE", 0)
    rng = np.random.default_rng(n_rows + levels)
    arities = np.full(300, levels)
    arities[[5, -1]], arities[10:20] = 1, 2  # constant columns have no bits, and the last one none behind it
    codes = np.column_stack([rng.binomial(a - 1, rng.choice([0, 0.01, 0.3]), n_rows) for a in arities])
    codes[:, 30] = codes[:, 31]
    frame = Frame.from_codes(codes, arities=arities.tolist())
    by_bits = TableTests(MemoryCounter(frame, n_jobs), statistic=statistic, reliability=0)
    plain = TableTests(OtherCounter(frame, 1), statistic=statistic, reliability=0)
    for without_codes in (False, True):
        if without_codes:
            by_bits = TableTests(MemoryCounter(frame, n_jobs), statistic=statistic, reliability=0)
            vars(by_bits)["_table"] = None
        for y in (31, 12, 5):
            xs = rng.permutation(np.delete(np.arange(300), y))
            assert_same(by_bits.scan(xs, y), plain.scan(xs, y))
            assert_same(by_bits.scan(xs, y, even_if_unreliable=True), plain.scan(xs, y, even_if_unreliable=True))


@pytest.mark.parametrize("n_rows", [32_768, 32_769, 70_000])
def test_bits_in_one_and_in_several_chunks(n_rows):
    frame = Frame.from_codes(np.random.default_rng(0).integers(0, 2, (n_rows, 3)))
    by_bits, plain = TableTests(MemoryCounter(frame, 1)), TableTests(OtherCounter(frame, 1))
    assert_same(by_bits.scan([1, 2], 0), plain.scan([1, 2], 0))
    answered = by_bits._answered(np.array([1, 2]), 0, (), by_bits._formula)
    assert answered[0] == 2


def test_columns_without_bits_are_left_to_the_counter_where_there_are_no_codes():
    frame = Frame.from_codes(np.random.default_rng(0).integers(0, 9, (500, 3)))
    tests, plain = TableTests(MemoryCounter(frame, 1)), TableTests(OtherCounter(frame, 1))
    vars(tests)["_table"] = None
    assert tests._answered(np.array([1, 2]), 0, (), tests._formula)[0] == -1
    assert_same(tests.scan([1, 2], 0), plain.scan([1, 2], 0))
