"""Kernels give what NumPy and plain loops give, compiled and not, and stay inside their arrays for any codes."""

import math
import re
import subprocess
import sys
from functools import lru_cache
from importlib import import_module
from itertools import combinations
from pathlib import Path
from pkgutil import iter_modules

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri, xlogy
from scipy.stats import binom, hypergeom, rankdata

from blankets import kernels
from blankets.stats._calibrated import arrays_of_cells, cell_tables
from blankets.stats._calibrated_block import law_at
from blankets.stats._contingency import entropy_terms

FILES = [
    import_module(f"blankets.kernels.{file.name}")
    for file in iter_modules(kernels.__path__)
    if file.name != "_types" and not file.name.startswith("_compiled")
]
GUARD = 77


class Python:
    """The same kernels, uncompiled."""

    def __getattr__(self, name):
        for file in FILES:
            if getattr(getattr(file, name, None), "__module__", "") == file.__name__:
                return getattr(file, name)
        raise AttributeError(name)


BOTH = pytest.mark.parametrize("k", [kernels, Python()], ids=["installed", "Python"])


def guarded(shape, dtype):
    """Return an array in the middle of a longer one, and that."""
    n = math.prod(shape)
    whole = np.full(n + 128, GUARD, dtype)
    return whole[64 : 64 + n].reshape(shape), whole


def untouched(whole):
    return (whole[:64] == GUARD).all() and (whole[-64:] == GUARD).all()


known_cells = lru_cache(maxsize=1)(arrays_of_cells)


def formula_of(k, n_rows, *, x2=False, reliability=0.0, nominal=False, level=None, judges=False):
    law = cells = None
    if judges:
        cells = k.Cells(*known_cells())
        law = k.Law(np.zeros((0, 4)), math.log(1e-5), math.log(0.25), 1000.0, level or 0.0)
    return k.Formula(entropy_terms(n_rows), n_rows < 1 << 16, reliability, x2, nominal, law, cells)


def table_of(k, codes, arities, below=0, most=10):
    """Return a table of codes alone, or with bits for all columns of 2 to 5 levels."""
    packed = (arities > 1) & (arities < 6) if below else np.zeros(len(arities), bool)
    planes = np.where(packed, arities - 1, 0)
    first = np.where(packed, np.cumsum(planes) - planes, -1)
    words = -(-codes.shape[1] // 64)
    bits, totals = np.zeros((1, planes.sum() + 1, words), np.uint64), np.zeros(planes.sum() + 1, np.int32)
    at = np.flatnonzero(packed)
    k.pack_dense(codes, at, arities[at], first[at], bits, totals)
    return k.Table(codes, arities, bits, totals, first, codes.shape[1], below, most)


@BOTH
@pytest.mark.parametrize(("n_rows", "width", "n_cells"), [(1, 2, 1), (100, 3, 4), (3000, 2, 7), (5000, 4, 900)])
def test_dense_columns(k, n_rows, width, n_cells):
    rng = np.random.default_rng(n_rows)
    codes = rng.integers(0, width, (9, n_rows)).astype(np.uint8)
    cells = rng.integers(0, n_cells, (1, n_rows)).astype(np.uint32)
    xs = np.array([3, 0, 8, 8, 5])
    counts = np.empty((5, width * n_cells), np.int32)
    k.count_dense(codes, xs, cells, n_cells, counts)
    for x, table in zip(xs, counts, strict=True):
        assert table.tolist() == np.bincount(cells[0] + n_cells * codes[x].astype(int), minlength=len(table)).tolist()
        wide = np.empty(width * n_cells, np.int32)
        k.count_wide(codes[x].astype(np.int32), cells, n_cells, wide)
        assert wide.tolist() == table.tolist()


@BOTH
@pytest.mark.parametrize("n_cells", [1, 3, 40, 1500])
def test_columns_that_share_lanes(k, n_cells):
    rng = np.random.default_rng(n_cells)
    n_rows = 1003
    cells = rng.choice([0, n_cells - 1, n_cells // 2], (1, n_rows)).astype(np.uint32)  # more than 255 rows in each
    for width in range(1, 9):
        codes = rng.integers(0, width, (70, n_rows)).astype(np.uint8)
        xs = rng.permutation(70)
        counts = np.empty((70, width * n_cells), np.int32)
        k.count_dense(codes, xs, cells, n_cells, counts)
        for x, table in zip(xs, counts, strict=True):
            naive = np.bincount(cells[0] + n_cells * codes[x].astype(int), minlength=len(table))
            assert (table == naive).all()


@BOTH
def test_cells_by_scipy(k):
    small, binomials, _ = (table.copy() for table in known_cells())
    flat = [np.zeros((table.size // 5, 5)) for table in (small, binomials, known_cells()[2])]
    k.fill_cells(*flat)
    n, r, c = 29, 7, 11
    o = np.arange(0, 8)
    e = r * c / n
    part = 2.0 * (xlogy(o, o / e) - (o - e))
    mean = hypergeom.pmf(o, n, r, c) @ part
    spread = hypergeom.pmf(o, n, r, c) @ (part - mean) ** 2
    found = flat[0].reshape(small.shape)[n, r, c]
    assert found[0] == pytest.approx(mean, rel=1e-12)
    assert found[1:] @ found[1:] == pytest.approx(spread, rel=1e-10)
    draws, j = 21, 50
    o, share = np.arange(draws + 1), (j / 128) ** 2
    part = 2.0 * (xlogy(o, o / (draws * share)) - (o - draws * share))
    mean = binom.pmf(o, draws, share) @ part
    spread = binom.pmf(o, draws, share) @ (part - mean) ** 2
    found = flat[1].reshape(binomials.shape)[draws, j]
    assert found[0] == pytest.approx(mean, rel=1e-12)
    assert found[1:] @ found[1:] == pytest.approx(spread, rel=1e-10)
    with pytest.raises(ValueError, match="do not have this shape"):
        k.fill_cells(flat[1], flat[0], flat[2])
    with pytest.raises(ValueError, match="do not have this shape"):
        k.fill_cells(flat[0], flat[1], flat[1])


@BOTH
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_no_code_is_counted_outside_the_table(k, seed):
    rng = np.random.default_rng(seed)
    n_rows, n_columns, n_cells, width = (int(n) for n in rng.integers(1, (300, 6, 9, 5)))
    codes = rng.integers(0, 256, (n_columns, n_rows), np.uint8)
    cells = rng.integers(0, 1 << 32, (1, n_rows), np.uint32)
    xs = rng.integers(0, n_columns, 7)
    counts, whole = guarded((7, width * n_cells), np.int32)
    k.count_dense(codes, xs, cells, n_cells, counts)
    assert untouched(whole)
    assert (counts.sum(axis=1) == n_rows).all()
    k.count_wide(rng.integers(-(1 << 31), 1 << 31, n_rows).astype(np.int32), cells, n_cells, counts[0])
    assert untouched(whole)
    joint, whole = guarded((1, n_rows), np.uint32)
    k.join_codes(cells, 3, codes[:1], 1, n_cells, joint)
    assert untouched(whole)
    assert joint.max() < n_cells
    stored = rng.integers(-9, n_rows + 9, 40).astype(np.int32), rng.integers(0, 256, 40, np.uint8)
    indptr = np.array([0, *np.sort(rng.integers(-3, 60, n_columns))])
    counts, whole = guarded((7, width * n_cells), np.int32)
    k.count_sparse(indptr, *stored, xs, cells, np.zeros(n_cells, np.int32), counts)
    assert untouched(whole)
    words = -(-n_rows // 64)
    planes, whole = guarded((1, n_columns * 4, words), np.uint64)
    totals, of_totals = guarded((n_columns * 4,), np.int32)
    columns, arities = np.arange(n_columns), rng.integers(1, 6, n_columns)
    k.pack_dense(codes, columns, arities, 4 * columns, planes, totals)
    assert untouched(whole)
    assert untouched(of_totals)


@BOTH
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_questions_about_wrong_codes_stay_inside(k, seed):
    rng = np.random.default_rng(seed)
    n_rows, n_columns = int(rng.integers(1, 200)), 6
    codes, arities = rng.integers(0, 256, (n_columns, n_rows), np.uint8), rng.integers(1, 6, n_columns)
    table = table_of(k, codes, arities, below=int(rng.choice([0, 64])), most=int(rng.integers(1, 40)))
    formula = formula_of(k, n_rows, level=0.01, judges=True)
    y, *order = rng.permutation(n_columns).tolist()
    depth = int(rng.integers(0, 4))
    asked = np.array(order[depth:]), y, np.array(sorted(order[:depth]), np.int64)
    n_tests, *answers = k.test_columns(table, formula, *asked)
    assert n_tests == len(order) - depth
    assert len(answers) == 6
    assert k.drop_each(table, formula, np.array(sorted(order[:3])), y)[0] in (0, 3)  # no row may have all values
    weakest = k.Weakest(len(order), 0, 2)
    while weakest.left():
        k.separate_columns(table, formula, np.array(order), y, np.array(order[:3]), -1, 0.0, 1 << 20, weakest)
        assert weakest.evidence()[6].max() <= 2


@BOTH
@pytest.mark.parametrize("judges", [False, True])
def test_wrong_totals_and_tables_stay_inside(k, judges):
    """Bits that are not as many as was said make counts below 0 and beyond the rows; tables may have too many."""
    rng = np.random.default_rng(5)
    arities = np.array([2, 2, 2, 3, 3, 2, 2, 1])
    codes = rng.integers(0, arities[:, np.newaxis], (8, 70)).astype(np.uint8)
    formula = formula_of(k, 70, level=0.01, judges=judges)
    first, planes, totals = np.array([0, 1, 2, 3, 5, 7, 8, 9]), np.zeros((1, 10, 2), np.uint64), np.zeros(10, np.int32)
    k.pack_dense(codes, np.arange(8), arities, first, planes, totals)
    for wrong in (-1, 71):
        with pytest.raises(ValueError, match=f"bit plane 3 has {wrong} bits for 70 rows"):
            k.Table(
                codes, arities, planes, np.where(np.arange(10) == 3, wrong, totals).astype(np.int32), first, 70, 64, 10
            )
    for wrong in (np.zeros(10), np.full(10, 70), rng.integers(0, 71, 10)):
        table = k.Table(codes, arities, planes, wrong.astype(np.int32), first, 70, 64, 10)
        for y, among in ((0, []), (3, []), (1, [0, 3])):
            xs = np.array([x for x in range(8) if x != y and x not in among])
            assert k.test_columns(table, formula, xs, y, np.array(among, np.int64))[0] == len(xs)
    tables = rng.integers(0, 40, (6, 12)).astype(np.int32)  # more rows than there are
    assert len(k.block_statistics(tables, 2, 3, 2, formula)[0]) == 6


@BOTH
def test_what_nobody_judged_is_not_a_number(k):
    rng = np.random.default_rng(6)
    codes, arities = rng.integers(0, 2, (5, 60)).astype(np.uint8), np.full(5, 2)
    for below in (0, 64):
        table, formula = table_of(k, codes, arities, below), formula_of(k, 60)
        for among in ([], [4]):
            _, statistic, dof, log_p, method, tested, rows = k.test_columns(
                table, formula, np.arange(1, 4), 0, np.array(among, np.int64)
            )
            assert tested.all()
            assert np.isfinite(statistic).all()
            assert (dof > 0).all()
            assert np.isnan(log_p).all()
            assert np.isnan(method).all()
            assert np.isnan(rows).all()
    assert np.isnan(k.block_statistics(rng.integers(1, 9, (4, 8)).astype(np.int32), 2, 2, 2, formula)[2:]).all()


@BOTH
def test_what_is_not_there_is_refused(k):
    codes, cells = np.zeros((2, 5), np.uint8), np.zeros((1, 5), np.uint32)
    for xs in ([2], [-1]):
        with pytest.raises(IndexError, match="no such column"):
            k.count_dense(codes, np.array(xs), cells, 1, np.empty((1, 2), np.int32))
    with pytest.raises(ValueError, match="do not fit"):
        k.count_dense(codes, np.array([0]), cells, 3, np.empty((1, 2), np.int32))
    planes, totals = np.zeros((1, 2, 1), np.uint64), np.zeros(2, np.int32)
    one, two, three = (np.array([n]) for n in (1, 2, 3))
    with pytest.raises(IndexError, match="no such bit plane"):
        k.count_bits(planes, totals, 5, one, three, one, two, np.empty((1, 6), np.int32))
    with pytest.raises(IndexError, match="no such bit plane"):
        k.pack_dense(codes, one, two, three, planes, totals)
    with pytest.raises(ValueError, match="column 1 has 0 levels"):
        k.Table(codes, np.array([2, 0]), planes, totals, np.array([-1, -1]), 5, 0, 1)
    with pytest.raises(ValueError, match="planes that are not there"):
        k.Table(codes, np.array([2, 2]), planes, totals, np.array([0, 2]), 5, 0, 1)
    with pytest.raises(ValueError, match="joint codes are to be below 3"):
        k.renumber(np.array([[0, 3]], np.uint32), 3)
    with pytest.raises(ValueError, match="do not have this shape"):
        k.permute(np.zeros((1, 5), np.int32), 2, 2, 1, k.Formula(entropy_terms(4), True, 0.0, False, False), 9, 9, 0.0)


@BOTH
def test_codes_may_be_read_only(k):
    codes, cells = np.array([[0, 1, 1]], np.uint8), np.zeros((1, 3), np.uint32)
    codes.flags.writeable = cells.flags.writeable = False
    counts = np.empty((1, 2), np.int32)
    k.count_dense(codes, np.array([0]), cells, 1, counts)
    assert counts.tolist() == [[1, 2]]


@BOTH
def test_renumbered_codes_keep_their_order(k):
    codes = np.array([[7, 2, 7, 9, 2]], np.uint32)
    assert k.renumber(codes, 10) == 3
    assert codes.tolist() == [[1, 0, 1, 2, 0]]


@BOTH
@pytest.mark.parametrize("n_rows", [1, 64, 130])
def test_bits(k, n_rows):
    rng = np.random.default_rng(n_rows)
    arities = np.array([2, 3, 4, 3])
    codes = np.stack([rng.integers(0, a, n_rows) for a in arities]).astype(np.uint8)
    first, words = np.array([0, 1, 3, 6]), -(-n_rows // 64)
    planes, totals = np.zeros((words, 8, 1), np.uint64), np.zeros(8, np.int32)  # chunks of one word
    k.pack_dense(codes, np.arange(4), arities, first, planes, totals)
    counts = np.empty((2, 4 * 6), np.int32)
    k.count_bits(planes, totals, n_rows, first[:2], arities[:2], first[2:], arities[2:], counts)
    for x, table in zip((2, 3), counts, strict=True):
        expected = np.bincount(codes[x] * 6 + codes[0] * 3 + codes[1], minlength=24)
        assert table.tolist() == expected.tolist()
    again, again_totals = np.zeros_like(planes), np.zeros_like(totals)
    stored = [(j, r, codes[j, r]) for j in range(4) for r in range(n_rows) if codes[j, r]]
    indptr = np.searchsorted([j for j, _, _ in stored], np.arange(5))
    rows, values = (np.array([s[i] for s in stored], t) for i, t in ((1, np.int32), (2, np.uint8)))
    k.pack_sparse(indptr, rows, values, np.arange(4), arities, first, again, again_totals)
    assert again.tolist() == planes.tolist()
    assert again_totals.tolist() == totals.tolist()


def test_log_tails_of_chi_square():
    mpmath.mp.dps = 40
    for statistic, dof in ((0.5, 1.0), (3.8, 2.0), (700.0, 3.0), (40.0, 60.0), (5405.0, 1.0), (2.5, 7.3)):
        exact = mpmath.log(mpmath.gammainc(mpmath.mpf(dof) / 2, mpmath.mpf(statistic) / 2, regularized=True))
        for k in (kernels, Python()):
            assert k.chi2_tail(statistic, dof) == pytest.approx(float(exact), rel=1e-10)
    assert math.isnan(kernels.chi2_tail(math.nan, 1.0))
    assert kernels.chi2_tail(5.0, 0.0) == kernels.chi2_tail(0.0, 2.0) == 0.0


@BOTH
def test_the_strongest_and_the_weaker(k):
    rng = np.random.default_rng(5)
    for _ in range(200):
        n = int(rng.integers(1, 9))
        statistic, dof = rng.integers(0, 6, n) * 1.5, rng.integers(0, 3, n).astype(float)
        statistic[dof == 0] = 0.0
        performed, columns = rng.integers(0, 2, n).astype(np.uint8), rng.permutation(n)
        log_p = kernels.chi2_tails(statistic, dof)
        order = sorted((log_p[i], -statistic[i], columns[i], i) for i in range(n) if performed[i])
        assert k.strongest_of(statistic, dof, performed, columns) == (order[0][3] if order else -1)
        weaker = np.empty(n, np.uint8)
        k.weaker_of(log_p, statistic, log_p[::-1].copy(), statistic[::-1].copy(), weaker)
        pairs = list(zip(log_p, -statistic, strict=True))
        assert weaker.tolist() == [one > other for one, other in zip(pairs, pairs[::-1], strict=True)]


@pytest.mark.parametrize("judges", [False, True])
@pytest.mark.parametrize("n_rows", [40, 600])
def test_compiled_or_not_the_answers_are_the_same(judges, n_rows):
    rng = np.random.default_rng(n_rows)
    arities = np.array([2, 3, 2, 5, 4, 1, 2, 6])
    codes = np.stack([rng.binomial(a - 1, 0.3, n_rows) for a in arities]).astype(np.uint8)
    codes[2] = np.where(rng.random(n_rows) < 0.7, codes[0], codes[2])
    for below, x2, level in ((0, False, 0.05), (64, False, None), (64, True, None)):
        found = []
        for k in (kernels, Python()):
            table = table_of(k, codes, arities, below)
            formula = formula_of(k, n_rows, x2=x2, level=level, judges=judges and not x2)
            answers = []
            for given_ in ([], [1], [1, 3]):
                answers.append(k.test_columns(table, formula, np.array([0, 4, 5, 7]), 2, np.array(given_, np.int64)))
            answers.append(k.drop_each(table, formula, np.array([0, 1, 3]), 2))
            weakest = k.Weakest(3, 0, 2)
            tests = 0
            while weakest.left():
                tests += k.separate_columns(
                    table, formula, np.array([0, 4, 7]), 2, np.array([1, 3, 6]), -1, math.log(0.5), 1 << 30, weakest
                )
            answers.append((tests, *weakest.evidence()))
            found.append(answers)
        for one, other in zip(*found, strict=True):
            for a, b in zip(one[:3], other[:3], strict=True):
                assert np.array_equal(a, b, equal_nan=True)
            for a, b in zip(one[3:], other[3:], strict=True):
                if judges and not x2:
                    assert np.allclose(a, b, rtol=1e-12, atol=1e-12, equal_nan=True)


@BOTH
def test_permutations_have_the_distribution_of_the_margins(k):
    table = np.array([[2, 0, 0, 2]], np.int32)
    formula = k.Formula(entropy_terms(4), True, 0.0, False, False)
    (hits,), (larger,), (drawn,) = k.permute(table, 2, 2, 1, formula, 3000, 3000, 0.0)
    assert (larger, drawn) == (0, 3000)
    assert abs(hits / 3000 - 1 / 3) < 0.04  # two of six arrangements
    stopped = k.permute(table, 2, 2, 1, formula, 3000, 10, 0.0)
    assert stopped[0] == 10
    assert k.permutation_p(10, 0, int(stopped[2][0]), 10) == pytest.approx(10 / stopped[2][0] / 1.1)


@pytest.mark.skipif(not kernels.COMPILED, reason="the kernels are not compiled here")
@pytest.mark.parametrize(
    ("n_x", "n_y", "n_z", "n_rows"),
    [(2, 2, 9, 150), (3, 2, 30, 200), (3, 3, 4, 160), (4, 3, 7, 200), (5, 2, 3, 120), (2, 2, 1, 700), (3, 3, 40, 1500)],
)
def test_permutations_drawn_beside_one_another_are_those_drawn_in_turn(n_x, n_y, n_z, n_rows):
    """Eight are drawn at once, each with random numbers of its own."""
    rng = np.random.default_rng(n_rows)
    table = np.zeros((n_x, n_y, n_z), np.int32)
    np.add.at(table, tuple(np.minimum(rng.geometric(0.6, n_rows) - 1, n - 1) for n in (n_x, n_y, n_z)), 1)
    asked = table.reshape(1, -1), n_x, n_y, n_z
    found = []
    for k in (Python(), kernels):
        formula = k.Formula(entropy_terms(n_rows), True, 0.0, False, False)
        found.append([np.asarray(k.permute(*asked, formula, most, 10**6, 0.0)).tolist() for most in (5, 8, 9, 61)])
    assert found[0] == found[1]


@BOTH
def test_scores_of_sets(k):
    rng = np.random.default_rng(2)
    arities, weights = np.array([2, 3, 2]), rng.random(50)
    codes = np.stack([rng.integers(0, a, 50) for a in arities]).astype(np.int32)
    nowhere = np.empty(0, np.int64)
    for kind in (0, 1):
        values = k.score_tree(codes, arities, weights, 2, kind, 1.5, nowhere, np.empty((0, 0), np.int32), nowhere)
        assert math.isnan(values[7])
        pairs = np.array(list(combinations(range(3), 2)))
        for pair, value in zip(pairs, k.score_sets(codes, arities, weights, pairs, kind, 1.5), strict=True):
            _, groups = np.unique(codes[pair], axis=1, return_inverse=True)
            n, cells = np.bincount(groups.ravel(), weights), math.prod(arities[pair])
            expected = (n * np.log(n)).sum() - 1.5 * cells
            if kind == 1:
                expected = sum(math.lgamma(1.5 / cells + m) - math.lgamma(1.5 / cells) for m in n)
            assert value == pytest.approx(expected, rel=1e-12)
            assert values[sum(1 << j for j in pair)] == pytest.approx(expected, rel=1e-12)


def test_tables_of_cells_are_made_once():
    assert cell_tables() is cell_tables()
    assert law_at(0.01) is law_at(0.01)


def test_uncompiled_kernels_say_so():
    program = (
        "import sys, warnings; sys.modules['blankets.kernels._compiled_tables'] = None\n"
        "with warnings.catch_warnings(record=True) as said:\n"
        "    warnings.simplefilter('always')\n"
        "    from blankets import kernels\n"
        "print(kernels.COMPILED, *(w.message for w in said))"
    )
    import os

    clean = {name: value for name, value in os.environ.items() if name != "BLANKETS_UNCOMPILED"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=clean)
    assert done.stdout.startswith("False the kernels of blankets are not compiled")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "from blankets import kernels; print(kernels.COMPILED)"],
        capture_output=True,
        text=True,
        check=True,
        env=clean | {"BLANKETS_UNCOMPILED": "1"},
    )
    assert done.stdout == "False\n"


def numbers_of_all_kinds(n=120):
    rng = np.random.default_rng(0)
    plain, uniform = rng.normal(size=n), rng.random(n)
    ties = rng.integers(-3, 4, n) * 1e12 + 1e15
    return np.array(
        [plain, np.exp(plain), uniform - 1e6, ties, np.where(uniform < 0.5, -0.0, plain.round()), plain * 1e300]
    )


@BOTH
def test_ranks_of_numbers(k):
    values = numbers_of_all_kinds()
    rank, distinct = k.rank_numbers(values)
    assert distinct.tolist() == [len(np.unique(column)) for column in values]
    np.testing.assert_array_equal(rank, [rankdata(column) - 1 for column in values])
    outlier, constant = np.append(values[0], 1e9), np.full(121, 2.5)  # all but one on one shelf; one value
    rank, distinct = k.rank_numbers(np.array([outlier, constant, outlier * 1e-315]))
    assert distinct.tolist() == [0, 1, 0]
    assert set(rank[1]) == {60.0}
    assert k.rank_numbers(np.zeros((1, 0)))[1].tolist() == [0]


@BOTH
def test_the_first_two_functions_of_numbers(k):
    values = numbers_of_all_kinds()
    values = np.vstack([values, values[1] > 1, values[0] ** 2])
    n = values.shape[1]
    scores = ndtri((np.arange(2 * n - 1) + 1) / (2 * n))
    out = np.empty((2 * len(values), n))
    cubes = k.tested_functions(values, scores, out)
    assert (cubes >= 0).tolist() == [True] * 6 + [False, True]  # two values have one function
    heavy = [1, 7]
    for c in np.flatnonzero(cubes >= 0).tolist():
        rank = rankdata(values[c])
        first = scores[(2 * rank - 2).astype(int)] if c in heavy else values[c] / abs(values[c]).max()
        q, r = np.linalg.qr(np.array([np.ones(n), first, ((2 * rank - 1) / n - 1) ** 2]).T)
        slow = (q * np.sign(np.diag(r))).T[1:]
        np.testing.assert_allclose(out[2 * c : 2 * c + 2], slow, atol=1e-9 if c == 2 else 1e-12)
        assert cubes[c] == pytest.approx(((slow**3).sum(axis=1) ** 2).max(), rel=1e-6)


def test_no_constant_is_written_in_python_and_in_c():
    """What both need is written in Python, and the compiler is told (`hatch_build.py`)."""
    here = Path(kernels.__path__[0])
    written = {name for file in here.glob("_*.py") for name in re.findall(r"^(\w+): \w+ = ", file.read_text(), re.M)}
    assert {"MOST_LANES", "DRAWN_AT_ONCE", "SMALL"} <= written
    for header in here.glob("*.h"):
        assert written.isdisjoint(re.findall(r"^#define (\w+) ", header.read_text(), re.M))
