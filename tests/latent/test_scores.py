"""BIC and BDeu against their formulas, for whole and fractional counts."""

import itertools
import math

import numpy as np
import pytest

from blankets.data import Frame
from blankets.errors import ParameterError
from blankets.latent._constraints import Constraints
from blankets.latent._rows import Rows, distinct_rows
from blankets.latent._scores import Scorer, SetScore, largest_useful, mask_of, members_of, score_all
from latent import naive


def random_rows(rng, n=4, n_rows=60, top=3, *, fractional=False):
    arities = rng.integers(2, top + 1, n)
    codes = rng.integers(0, arities, (n_rows, n))
    codes[:, 1] = np.where(rng.random(n_rows) < 0.7, codes[:, 0] % arities[1], codes[:, 1])
    weights = rng.random(n_rows) * 3 if fractional else np.ones(n_rows)
    return codes, weights, arities


@pytest.mark.parametrize("fractional", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_local_scores_against_formula(seed, fractional):
    codes, weights, arities = random_rows(np.random.default_rng(seed), fractional=fractional)
    rows, _ = distinct_rows(Frame.from_codes(codes, arities=arities), range(4), weights)
    scorers = {name: Scorer(rows, SetScore.named(name, rows.total, 2.5)) for name in ("bic", "bdeu")}
    for v in range(4):
        for k in range(4):
            for parents in itertools.combinations([u for u in range(4) if u != v], k):
                expected = naive.bic(codes, weights, arities, v, parents)
                assert scorers["bic"].local(v, parents) == pytest.approx(expected, abs=1e-8)
                expected = naive.bdeu(codes, weights, arities, v, parents, 2.5)
                assert scorers["bdeu"].local(v, parents) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("name", ["bic", "bdeu"])
def test_tables_batches_and_single_sets_agree(name):
    codes, weights, arities = random_rows(np.random.default_rng(3), n=6)
    rows, _ = distinct_rows(Frame.from_codes(codes, arities=arities), range(6), weights)
    score = SetScore.named(name, rows.total)
    table = score_all(rows, 4, score)
    single, batch = Scorer(rows, score), Scorer(rows, score)
    for size in range(1, 5):
        batch.count(mask_of(c) for c in itertools.combinations(range(6), size))
    for mask in range(64):
        if mask.bit_count() > 4:
            assert math.isnan(table[mask])
        else:
            assert table[mask] == pytest.approx(single.value(mask), abs=1e-9)
            assert batch.value(mask) == pytest.approx(single.value(mask), abs=1e-9)


def test_distinct_rows_keep_order_and_weight():
    codes = [[1, 0], [0, 1], [1, 0], [1, 1]]
    rows, which = distinct_rows(Frame.from_codes(codes), [0, 1], np.array([0.5, 1.0, 2.0, 4.0]))
    assert rows.codes.T.tolist() == [[1, 0], [0, 1], [1, 1]]
    assert rows.weights.tolist() == [2.5, 1.0, 4.0]
    assert which.tolist() == [0, 1, 0, 2]


def test_parents_beyond_the_limit_never_win():
    # With 20 rows a node given 5 binary parents pays (ln 20 / 2) * 32 = 47.9 nats; without parents it loses at
    # most 20 ln 2 + 1.5 = 15.4 nats. The limit must lie between what can pay and what cannot.
    codes, _, _ = random_rows(np.random.default_rng(0), n=7, n_rows=20, top=2)
    rows, _ = distinct_rows(Frame.from_codes(codes, arities=[2] * 7), range(7))
    score = SetScore.named("bic", rows.total)
    limit = largest_useful(rows, Constraints.none(7), score)
    assert 1 <= limit < 4
    assert largest_useful(rows, Constraints.none(7), SetScore.named("bdeu", rows.total)) == 6
    assert largest_useful(rows, Constraints.from_edges(7, [(u, 0) for u in range(1, 6)]), score) >= 5
    scorer = Scorer(rows, score)
    for v in range(7):
        others = [u for u in range(7) if u != v]
        best = {k: max(scorer.local(v, p) for p in itertools.combinations(others, k)) for k in range(7)}
        assert max(best[k] for k in range(limit + 1)) >= max(best[k] for k in range(limit + 1, 7))


def test_unknown_score_and_sample_size():
    with pytest.raises(ParameterError, match="unknown score 'bik'; did you mean 'bic'"):
        SetScore.named("bik", 10)
    with pytest.raises(ParameterError, match="'equivalent_sample_size' must be positive, but it is 0"):
        SetScore.named("bdeu", 10, 0)


def test_masks():
    assert members_of(mask_of([5, 0, 3])) == [0, 3, 5]
    empty = Rows(np.zeros((1, 1), np.int32), np.array([1]), np.array([4.0]))
    assert Scorer(empty, SetScore.named("bic", 4)).local(0, []) == 0.0
