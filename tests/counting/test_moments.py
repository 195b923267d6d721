"""Functions of columns, and their inner products, against slow sums."""

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import rankdata, skew

from blankets.counting import (
    GappyFunctions,
    MemoryMoments,
    _moments,
    functions_of_levels,
    functions_of_number,
    merged,
)
from blankets.data import ingest

N = 240


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(1)
    table = {
        "normal": rng.normal(size=N),
        "heavy": rng.standard_t(1.5, size=N),
        "town": np.array(list("abcd"))[rng.integers(0, 4, N)],
        "few": rng.integers(0, 3, N),
    }
    return ingest(table, numbers=True).frame


def spans(functions, other):
    """Return how much of other functions, centered, is outside the span of the first."""
    other = other - other.mean(axis=1, keepdims=True)
    return np.abs(other - (other @ functions.T) @ functions).max()


def test_a_number_is_itself_and_bounded_functions_of_its_ranks(frame):
    values = frame.numbers[0].values
    made = functions_of_number(values)
    u = (2 * rankdata(values) - 1) / N - 1
    assert made.values @ made.values.T == pytest.approx(np.eye(8), abs=1e-10)
    assert made.values.sum(axis=1) == pytest.approx(np.zeros(8), abs=1e-10)
    assert abs(np.corrcoef(made.values[0], values)[0, 1]) == pytest.approx(1)
    assert spans(made.values[:2], np.vstack([values, u**2])) < 1e-10
    assert spans(made.values, np.vstack([values**2, values**3, u**3, u**4, u**5, u**6])) < 1e-8


def test_heavy_tails_give_way_to_normal_scores(frame):
    values = frame.numbers[1].values
    made = functions_of_number(values)
    scores = ndtri((rankdata(values) - 0.5) / N)
    assert abs(np.corrcoef(made.values[0], scores)[0, 1]) == pytest.approx(1)
    assert np.corrcoef(made.values[0], values)[0, 1] < 0.9


def test_a_number_of_few_values_has_no_more_functions_than_these_tell_apart():
    assert len(functions_of_number(np.tile([0.0, 1.0, 5.0], 30))) == 2
    assert len(functions_of_number(np.tile([0.0, 1.0], 30))) == 1


def test_a_category_is_its_indicators_and_an_ordered_one_begins_with_its_scores():
    codes = np.random.default_rng(2).integers(0, 5, 300)
    plain, ordered = functions_of_levels(codes), functions_of_levels(codes, ordered=True)
    indicators = np.array([codes == k for k in range(5)], float)
    assert (len(plain), plain.first, plain.tested) == (4, 4, 4)
    assert (len(ordered), ordered.first, ordered.tested) == (4, 1, 4)
    assert spans(plain.values, indicators) < 1e-10
    assert spans(ordered.values, indicators) < 1e-10
    assert abs(np.corrcoef(ordered.values[0], rankdata(codes))[0, 1]) == pytest.approx(1)


def test_rare_levels_are_one_level_and_a_single_one_stays():
    assert np.bincount(merged(np.repeat([0, 1, 2, 3], [40, 4, 30, 2]))).tolist() == [40, 30, 6]
    assert np.bincount(merged(np.repeat([0, 1], [40, 3]))).tolist() == [40, 3]
    assert np.bincount(merged(np.repeat([0, 7], [40, 6]))).tolist() == [40, 6]


@pytest.mark.parametrize("whole", [True, False])
def test_inner_products_are_sums_over_rows(frame, whole, monkeypatch):
    if not whole:
        monkeypatch.setattr(_moments, "WHOLE_FUNCTIONS", 0)
    moments = MemoryMoments(frame)
    assert (moments._whole is not None) == whole
    widths = moments.widths([0, 2], 5)
    assert widths == [5, 3]
    rows = np.vstack([moments.rows(0, 5), moments.rows(2, 3)])
    tested = np.vstack([moments.rows(x, moments.tested(x)) for x in range(4)])
    assert moments.start.tolist() == [0, 2, 4, 7, 9]
    slow = np.array([[sum(a * b) for b in rows] for a in rows])
    assert moments.among([0, 2], widths) == pytest.approx(slow, abs=1e-10)
    assert moments.across(0, 5) == pytest.approx(moments.rows(0, 5) @ tested.T, abs=1e-10)


@pytest.mark.filterwarnings("ignore::blankets.errors.ManyLevelsWarning")
def test_functions_of_many_levels_are_not_written_out_and_their_inner_products_are_sums_over_rows():
    rng = np.random.default_rng(3)
    n, many, more = 1200, rng.integers(0, 60, 1200), rng.integers(0, 70, 1200)
    text = {"many": [f"a{k:02}" for k in many], "more": [f"b{k:02}" for k in more]}
    table = {"x": rng.normal(size=n), **text, "two": rng.integers(0, 2, n), "z": rng.normal(size=n)}
    moments = MemoryMoments(ingest(table, numbers=True).frame)
    assert len(moments._values) < 10
    assert moments.start.tolist() == [0, 2, 61, 130, 131, 133]
    tested = np.vstack([moments.rows(x, moments.tested(x)) for x in range(5)])
    for x, codes in ((1, many), (2, more)):
        order = np.argsort(-np.bincount(codes), kind="stable")[1:]
        q, r = np.linalg.qr(np.array([np.ones(n), *(codes == level for level in order)], float).T)
        by_qr = (q * np.sign(np.diag(r))).T[1:]  # what Gram and Schmidt leave of each indicator
        assert moments.rows(x, len(by_qr)) == pytest.approx(by_qr, abs=1e-12)
        assert moments.across(x, len(by_qr)) == pytest.approx(by_qr @ tested.T, abs=1e-12)
    assert moments.across(0, 8) == pytest.approx(moments.rows(0, 8) @ tested.T, abs=1e-12)
    rows = np.vstack([moments.rows(z, k) for z, k in ((4, 8), (1, 59), (2, 69))])
    assert moments.among([4, 1, 2], [8, 59, 69]) == pytest.approx(rows @ rows.T, abs=1e-12)


def test_a_wide_table_is_kept_in_four_bytes(frame, monkeypatch):
    exact = MemoryMoments(frame).across(0, 5)
    monkeypatch.setattr(_moments, "WHOLE_FUNCTIONS", 0)
    monkeypatch.setattr(_moments, "WIDE_BYTES", 0)
    moments = MemoryMoments(frame)
    assert moments._values.dtype == np.float32
    assert moments.across(0, 5) == pytest.approx(exact, abs=1e-5)


@pytest.mark.parametrize("seed", [6090, 6227, 6273])
def test_an_order_has_no_more_functions_than_levels(seed):
    """Rounding left a little of an eleventh function of eleven levels, which had no room (found in a survey)."""
    rng = np.random.default_rng(seed)
    codes = rng.choice(11, size=rng.integers(100, 1500), p=rng.dirichlet(np.full(11, 0.5)))
    values = functions_of_levels(codes, ordered=True).values
    assert len(values) <= len(np.unique(codes)) - 1
    assert np.allclose(values @ values.T, np.eye(len(values)), atol=1e-8)


def test_a_skewed_number_counts_as_a_level_that_is_as_skewed():
    rng = np.random.default_rng(0)
    few = np.where(np.arange(1000) < 900, 0.0, rng.exponential(size=1000))
    frame = ingest({"few": few, "all": rng.normal(size=1000), "level": list("aab" * 333 + "c")}, numbers=True).frame
    moments = MemoryMoments(frame)
    assert moments.fewest(0) == pytest.approx(1000 / (skew(moments.rows(0, 2), axis=1) ** 2).max())
    assert moments.fewest(0) < 200
    assert moments.fewest(1) == 1000
    assert moments.fewest(2) == 1


@pytest.mark.parametrize("share", [0.1, 0.7])  # sums over the rows that are gone, and over those that are left
def test_functions_of_columns_with_holes_are_orthonormal_over_any_rows(share):
    rng = np.random.default_rng(4)
    number = rng.normal(size=N)
    gone = rng.random(N) < share
    table = {
        "number": np.where(gone, np.nan, number),
        "whole": number + rng.normal(size=N),
        "town": np.array(list("abc"))[rng.integers(0, 3, N)],
    }
    frame = ingest(table, numbers=True).frame
    functions = GappyFunctions(frame)
    moments = functions.over(gone, [0, 1, 2])
    assert moments.n_rows == np.count_nonzero(~gone)
    widths = moments.widths([0, 1, 2], 8)
    bases = []
    for x, width in enumerate(widths):
        rows = functions.values[functions.begin[x] : functions.begin[x + 1]][:, ~gone]
        basis = np.linalg.qr((rows - rows.mean(axis=1, keepdims=True)).T)[0].T
        assert moments.rows(x, width) @ moments.rows(x, width).T == pytest.approx(np.eye(width), abs=1e-8)
        assert spans(moments.rows(x, width), basis) < 1e-7
        bases.append(basis)
    # The singular values of the inner products of two orthonormal bases are those of any other two of the same spans.
    among = moments.among([0, 1], widths[:2])[: widths[0], widths[0] :]
    expected = np.linalg.svd(bases[0] @ bases[1].T, compute_uv=False)
    assert np.linalg.svd(among, compute_uv=False) == pytest.approx(expected, abs=1e-7)
    across = moments.across(2, widths[2])[:, moments.start[1] : moments.start[2]]
    expected = np.linalg.svd(bases[2] @ bases[1][:2].T, compute_uv=False)
    assert np.linalg.svd(across, compute_uv=False) == pytest.approx(expected, abs=1e-7)
    assert moments.codes(0) is None
    assert np.bincount(moments.codes(2)).sum() == moments.n_rows


def test_a_level_that_some_rows_do_not_have_is_no_function_over_these():
    rng = np.random.default_rng(2)
    town = np.array(list("abc"))[rng.integers(0, 3, N)]
    table = {"town": town, "number": np.where(town == "c", np.nan, rng.normal(size=N))}
    frame = ingest(table, numbers=True).frame
    moments = GappyFunctions(frame).over(frame.gaps(1), [0, 1])
    assert moments.tested(0) == 1
    same = MemoryMoments(frame.take(~frame.gaps(1)))
    assert abs(moments.across(0, 1)[0, 1]) == pytest.approx(abs(same.across(0, 1)[0, 1]))
