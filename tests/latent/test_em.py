"""EM: posteriors by enumeration, likelihood by brute force, monotone ascent, hidden labels."""

import itertools
import math

import numpy as np
import pytest

from blankets.kernels import expected_scores
from blankets.latent._completions import complete
from blankets.latent._em import bic_of, em, families_with, parameters_of
from blankets.latent._rows import Rows
from latent import naive


def sample(rng, n_rows=400, arity=2):
    """T -> H -> B, F with extra edge T -> F; node order B, F, T, H."""
    t = rng.integers(0, 2, n_rows)
    h = np.where(rng.random(n_rows) < 0.85, t % arity, rng.integers(0, arity, n_rows))
    b = np.where(rng.random(n_rows) < 0.8, h % 3, rng.integers(0, 3, n_rows))
    f = np.where(rng.random(n_rows) < 0.8, h % 2, t)
    codes, weights = np.unique(np.column_stack([b, f, t, h * 0]), axis=0, return_counts=True)
    return Rows(codes.T.astype(np.int32), np.array([3, 2, 2, arity]), weights.astype(float))


def latent_only(rows):
    missing = np.zeros(rows.codes.shape, bool)
    missing[3] = True
    return missing


PARENTS = np.array([0b1000, 0b1100, 0b0000, 0b0100])  # B <- H; F <- T, H; T; H <- T


def brute(codes, weights, arities, parents, missing, row_codes, row_weights):
    """One EM step by loops: parameters from weighted completions, posteriors and log-likelihood by enumeration."""
    tables = [
        naive.family_counts(codes, weights, arities, v, [u for u in range(4) if parents[v] >> u & 1]) for v in range(4)
    ]
    tables = [t / np.maximum(t.sum(axis=1, keepdims=True), 1e-300) for t in tables]

    def probability(row):
        p = 1.0
        for v in range(4):
            above = [u for u in range(4) if parents[v] >> u & 1]
            shape = tuple(arities[u] for u in above)
            at = int(np.ravel_multi_index(tuple(row[u] for u in above), shape)) if above else 0
            p *= tables[v][at, row[v]]
        return p

    loglik, posteriors = 0.0, []
    for r in range(len(row_weights)):
        choices = [range(arities[v]) if missing[v, r] else [row_codes[v, r]] for v in range(4)]
        # the first node varies fastest, as in `complete`
        joint = [probability(row[::-1]) for row in itertools.product(*choices[::-1])]
        posteriors += [row_weights[r] * p / sum(joint) for p in joint]
        loglik += row_weights[r] * math.log(sum(joint))
    return np.array(posteriors), loglik


@pytest.mark.parametrize("arity", [2, 3])
@pytest.mark.parametrize("hide_labels", [False, True])
def test_one_step_against_enumeration(arity, hide_labels):
    rng = np.random.default_rng(arity)
    rows = sample(rng, arity=arity)
    missing = latent_only(rows)
    if hide_labels:
        missing[2, ::3] = True
    space = complete(rows, missing)
    weights = space.normalized(rng.random(space.codes.shape[1]))
    fitted, history = em(space, PARENTS, weights, most=1)
    expected, loglik = brute(space.codes.T, weights, space.arities, PARENTS, missing, rows.codes, rows.weights)
    assert fitted == pytest.approx(expected, abs=1e-9)
    # what em leaves out is the part that no hidden value touches
    shown = [v for v in range(4) if v not in families_with(PARENTS, space.hidden)]
    rest = sum(
        naive.bic(rows.codes.T, rows.weights, rows.arities, v, [u for u in range(4) if PARENTS[v] >> u & 1])
        + space.penalty * parameters_of(rows.arities, PARENTS, [v])
        for v in shown
    )
    assert history[0] + rest == pytest.approx(loglik, abs=1e-8)
    price = space.penalty * parameters_of(rows.arities, PARENTS)
    assert bic_of(space, PARENTS, history[0]) == pytest.approx(loglik - price, abs=1e-8)


@pytest.mark.parametrize("seed", range(20))
def test_log_likelihood_never_falls(seed):
    rng = np.random.default_rng(seed)
    rows = sample(rng, n_rows=200, arity=2 + seed % 2)
    missing = latent_only(rows)
    if seed % 3 == 0:
        missing[2] = rng.random(rows.codes.shape[1]) < 0.5
    space = complete(rows, missing)
    weights = space.normalized(rng.random(space.codes.shape[1]))
    fitted, history = em(space, PARENTS, weights, most=500, tolerance=1e-9)
    assert np.all(np.diff(history) > -1e-9 * abs(history[0]))
    assert history[-1] > history[0]
    sums = np.add.reduceat(fitted, space.starts[:-1])
    assert sums == pytest.approx(rows.weights)


def test_saturated_table_is_fitted_exactly():
    # H with as many states as B x F: the naive Bayes model can copy the table, so EM reaches its entropy.
    rng = np.random.default_rng(5)
    rows = sample(rng, arity=6)
    space = complete(rows, latent_only(rows))
    parents = np.array([0b1000, 0b1001, 0b1000, 0])
    best = -math.inf
    for _ in range(20):
        _, history = em(space, parents, space.normalized(rng.random(space.codes.shape[1])), most=3000, tolerance=1e-8)
        best = max(best, history[-1])
    shares = rows.weights / rows.total
    assert best == pytest.approx(rows.total * float(shares @ np.log(shares)), abs=1e-2)


def test_expected_scores_are_scores_of_the_completed_data():
    rng = np.random.default_rng(9)
    rows = sample(rng)
    missing = latent_only(rows)
    missing[2, 1] = True
    space = complete(rows, missing)
    weights = space.normalized(rng.random(space.codes.shape[1]))
    table = expected_scores(
        space.groups, space.n_groups, space.position, space.arities, space.hidden, space.static, weights, space.penalty
    )
    for v in range(4):
        for parents in itertools.chain.from_iterable(
            itertools.combinations([u for u in range(4) if u != v], k) for k in range(4)
        ):
            mask = sum(1 << u for u in parents)
            expected = naive.bic(space.codes.T, weights, space.arities, v, list(parents))
            assert table[mask | 1 << v] - table[mask] == pytest.approx(expected, abs=1e-8)


def test_sets_too_large_for_memory_are_left_out(monkeypatch):
    import blankets.latent._completions as module

    rows = sample(np.random.default_rng(0))
    monkeypatch.setattr(module, "ROOM", 1)
    space = complete(rows, latent_only(rows))
    assert space.largest == 2
    assert (space.position >= 0).sum() == 1 + 4 + 6
    assert complete(rows, latent_only(rows), max_parents=0).largest == 1
