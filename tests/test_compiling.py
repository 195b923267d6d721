"""Kernels that are interpreted, or replaced by NumPy, give what compiled ones give: the same to the last bit."""

import math
import warnings

import numpy as np
import pytest
from numba import njit

import blankets as bl
from blankets import compiling
from blankets.compiling import cheapest, interpreted, told_of_compiling
from blankets.counting import _kernels, _plain
from blankets.stats import _calibrated, _calibrated_block, _calibrated_cells, _contingency, _permutation, _tail


def same(one, other):
    """Whether arrays, or tuples of them, have the same bits; NaN is NaN."""
    if isinstance(one, tuple):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    a, b = np.asarray(one, float), np.asarray(other, float)
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def tables(rng, n_rows):
    """Yield blocks of tables that share y and strata, from dense to sparse, with levels and strata that are empty."""
    for shape in ((2, 2, 1), (3, 2, 1), (5, 4, 1), (2, 2, 3), (4, 3, 7), (3, 7, 40), (2, 3, 150)):
        n_x, n_y, n_z = shape
        weights = rng.dirichlet(np.full(n_y * n_z, rng.choice([0.2, 1.0, 5.0])))
        cells = rng.choice(n_y * n_z, n_rows, p=weights)
        block = np.zeros((6, *shape), np.int32)
        for table in block[:5]:  # the last one follows y
            xs = rng.choice(n_x, n_rows, p=rng.dirichlet(np.full(n_x, rng.choice([0.3, 3.0]))))
            np.add.at(table.reshape(n_x, -1), (xs, cells), 1)
        np.add.at(block[5].reshape(n_x, -1), (cells // n_z % n_x, cells), 1)
        yield block


@pytest.mark.parametrize("n_rows", [1, 40, 700, 70_000])
@pytest.mark.parametrize("want_x2", [False, True])
def test_statistics(n_rows, want_x2):
    terms = _contingency.entropy_terms(n_rows)
    plain = interpreted(_contingency._block_statistics)
    for block in tables(np.random.default_rng(n_rows), n_rows):
        asked = block.reshape(len(block), -1), block.shape[1:], terms, want_x2
        assert same(plain(*asked), _contingency._block_statistics(*asked))


@pytest.mark.parametrize("n_rows", [10, 60, 400, 5000])
@pytest.mark.parametrize("level", [None, 0.01, 0.5])
def test_p_values_by_moments(n_rows, level):
    law, cells = _calibrated_block._law(level), _calibrated_cells.cell_tables()
    plain, methods = interpreted(_calibrated_block._judged_block), set()
    for block in tables(np.random.default_rng(n_rows), n_rows):
        statistic, dof = _contingency.table_statistics(block)
        asked = block.reshape(len(block), -1), block.shape[1:], statistic, dof, law, cells
        found = plain(*asked)
        assert same(found, _calibrated_block._judged_block(*asked))
        methods |= set(found[1].tolist())
        doubtful = statistic, dof, law.limits
        assert same(interpreted(_calibrated_block._doubtful)(*doubtful), _calibrated_block._doubtful(*doubtful))
    assert len(methods) > 1


def test_moments():
    rng = np.random.default_rng(1)
    for mean, variance in rng.gamma(2.0, 5.0, (300, 2)):
        g, least = rng.gamma(2.0, mean), rng.gamma(1.0, 1.0)
        asked = g, mean, variance
        log_p = _calibrated.log_p_from_moments(*asked)
        assert interpreted(_calibrated.log_p_from_moments)(*asked) == log_p
        for level in (None, 0.01):
            near = log_p, *asked, least, int(rng.integers(400)), _calibrated_block._law(level)
            assert interpreted(_calibrated_block.moments_do)(*near) == _calibrated_block.moments_do(*near)
    for n in (1, 5, 33, 4000):
        one, other = np.zeros((2, 9, 5))
        margin = rng.integers(0, n + 1, 9)
        _calibrated_cells.put_roots(margin, n, one)
        interpreted(_calibrated_cells.put_roots)(margin, n, other)
        assert same(one, other)


def test_tails():
    rng = np.random.default_rng(2)
    dof = np.concatenate([rng.integers(0, 200, 500), rng.gamma(1.0, 3.0, 500)])
    statistic = np.concatenate([rng.chisquare(np.maximum(dof, 0.1)), [0.0, math.nan, 1e5, 1e-300]])
    dof = np.concatenate([dof, [1.0, 1.0, 3.0, 0.5]])
    assert same(interpreted(_tail._log_chi2_sf_array)(statistic, dof), _tail._log_chi2_sf_array(statistic, dof))
    for _ in range(50):
        some = rng.integers(0, 1000, 12)
        asked = statistic[some].round(), dof[some].round(), rng.random(12) < 0.8, rng.permutation(12)
        assert interpreted(_tail._strongest_of)(*asked) == _tail._strongest_of(*asked)


@pytest.mark.parametrize("level", [0.0, 0.05])
def test_permutations(level, monkeypatch):
    for block in tables(np.random.default_rng(4), 35):
        for table in block[[0, 5]]:
            asked = table, _contingency._entropy_terms(35), 7, 60, 20, level
            compiled = _permutation.permuted_table(*asked)
            with monkeypatch.context() as cold:
                cold.setattr(_permutation, "cheapest", lambda kernel, ns: interpreted(kernel))
                assert _permutation.permuted_table(*asked) == compiled


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_counts_by_numpy(dtype):
    rng = np.random.default_rng(5)
    codes, xs, n_strata = rng.integers(0, 5, (9, 500)).astype(dtype), np.array([8, 0, 3]), 300
    joint = rng.integers(0, n_strata, 500).astype(np.uint32)
    cells = _kernels.cells_of(joint, codes[4], n_strata)
    assert cells.dtype == _plain.cells_of(joint, codes[4], n_strata).dtype
    assert (cells == _plain.cells_of(joint, codes[4], n_strata)).all()
    one, other = np.empty((2, 3, 5 * 5 * n_strata), np.int32)
    _kernels.count_dense(codes, xs, cells, 5 * n_strata, one)
    _plain.count_dense(codes, xs, cells, 5 * n_strata, other)
    assert (one == other).all()
    one, other = _kernels.extend_codes(joint, codes[1], 7), _plain.extend_codes(joint, codes[1], 7)
    assert one.dtype == other.dtype
    assert (one == other).all()
    assert _kernels.renumber(one, 7 * n_strata) == _plain.renumber(other, 7 * n_strata)
    assert (one == other).all()


# When ------------------------------------------------------------------------------------------------


@njit
def _double(x):
    return x + x


@njit
def _fourfold(x):
    return _double(_double(x))


@pytest.fixture
def cold(monkeypatch):
    """Have no kernel compiled before, and no time spent."""
    for place in ("blankets.compiling", "blankets.counting._memory", "blankets.independence._compiled"):
        monkeypatch.setattr(f"{place}.kernels_ready", lambda kernel: False)
    monkeypatch.setattr(compiling, "_SPENT", [0.0])
    monkeypatch.setattr(compiling, "PATIENCE", 1e9)
    monkeypatch.setattr(compiling, "AT_ONCE", 1e8)


def test_a_kernel_is_interpreted_with_all_that_it_calls():
    assert interpreted(_fourfold)("ab") == "abababab"  # which compiled code cannot do
    assert _fourfold.signatures == _double.signatures == []


def test_interpreted_kernels_do_not_warn_as_compiled_ones_do_not():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert interpreted(_fourfold)(np.int8(100)) == np.int8(-112)


@pytest.mark.usefixtures("cold")
def test_kernels_are_interpreted_for_a_while():
    def twin(x):
        return 4 * x

    calls = [cheapest(_fourfold, 9e7) for _ in range(5)] + [cheapest(_fourfold, 9e7, twin) for _ in range(6)]
    assert calls[:5] == [interpreted(_fourfold)] * 5
    assert calls[5:] == [twin] * 6
    assert cheapest(_fourfold, 9e7) is _fourfold  # a second is over
    assert cheapest(_fourfold, 1e3, twin) is twin


@pytest.mark.usefixtures("cold")
def test_a_long_call_is_compiled_for_at_once():
    assert cheapest(_fourfold, 2e8) is _fourfold
    assert compiling._SPENT == [0.0]


def test_a_kernel_that_was_compiled_is_used(monkeypatch):
    monkeypatch.setattr(compiling, "kernels_ready", lambda kernel: kernel is _double)
    assert cheapest(_double, 1.0) is _double
    assert cheapest(_fourfold, 1.0) is interpreted(_fourfold)


def test_it_is_told_once_that_kernels_are_compiled():
    told = []
    with told_of_compiling(lambda: told.append("now")):
        assert told == []
        assert njit(lambda x: x + 1)(1) == 2
        assert njit(lambda x: x + 2)(1) == 3
    assert njit(lambda x: x + 3)(1) == 4
    assert told == ["now"]


@pytest.mark.parametrize("algorithm", ["iamb", "pcmb"])
def test_a_small_table_is_searched_without_the_compiler(algorithm, cold, monkeypatch):
    rng = np.random.default_rng(6)
    a, b = rng.integers(0, 3, (2, 300))
    c = np.where(rng.random(300) < 0.7, (a + b) % 4, rng.integers(0, 4, 300))
    table = {"a": a, "b": b, "c": c, "d": np.where(rng.random(300) < 0.8, c, 0), "e": rng.integers(0, 6, 300)}
    monkeypatch.setattr(compiling, "PATIENCE", math.inf)
    monkeypatch.setattr(compiling, "AT_ONCE", math.inf)
    told = []
    with told_of_compiling(lambda: told.append("now")):
        found = bl.discover(table, "c", algorithm=algorithm).to_dict()
    monkeypatch.undo()
    compiled = bl.discover(table, "c", algorithm=algorithm).to_dict()
    assert told == []
    assert found.pop("seconds") > 0 < compiled.pop("seconds")
    assert found == compiled
