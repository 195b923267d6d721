"""Structural EM: the observed-data BIC never falls, constraints hold, threads do not matter."""

import itertools

import numpy as np
import pytest

from blankets.data import Frame
from blankets.latent._constraints import Constraints
from blankets.latent._local import open_local
from blankets.latent._methods import Effort, lmb_csem, scsem, sem
from blankets.latent._network import fit_network
from blankets.latent._structural import Problem, best_fits, polish, structural_em
from blankets.latent._subspaces import subspaces


def star(rng, n_rows=2000, n_leaves=4, noise=0.15, arity=2):
    """T -> H -> leaves, H hidden."""
    t = rng.integers(0, 2, n_rows)
    h = np.where(rng.random(n_rows) < noise, 1 - t, t)
    leaves = [np.where(rng.random(n_rows) < 0.2, rng.integers(0, arity, n_rows), h) for _ in range(n_leaves)]
    names = [*(f"x{k}" for k in range(n_leaves)), "T"]
    return Frame.from_codes(np.column_stack([*leaves, t]), names, [arity] * n_leaves + [2])


def problem_of(stage, place, draws=0):
    space, prior = stage.with_latent(2)
    return Problem(space, place.constraints, place.starts, prior, draws)


@pytest.mark.parametrize("seed", range(6))
def test_bic_never_falls_and_constraints_hold(seed):
    stage = open_local(star(np.random.default_rng(seed), n_rows=400), 4, range(4))
    for place in subspaces(stage, 6):
        problem = problem_of(stage, place)
        for number in range(4):
            rng = np.random.default_rng([seed, number])
            fit = structural_em(problem, *problem.start(number, rng), rng)
            assert np.all(np.diff(fit.history) > -1e-6)
            assert not np.any(place.constraints.required & ~fit.parents)
            assert not np.any(place.constraints.forbidden & fit.parents)
            assert polish(problem.space, fit).bic >= fit.bic - 1e-9


def test_subspaces_are_those_of_the_paper():
    stage = open_local(star(np.random.default_rng(0)), 4, range(4))
    t, h = 4, 5
    places = {place.name: place for place in subspaces(stage, 6)}
    near = stage.neighbors()
    assert places["parent"].constraints.required[t] == 1 << h
    assert not places["parent"].constraints.forbidden.any()
    assert places["child"].constraints.required[h] == 1 << t
    assert places["child"].constraints.forbidden[h] == sum(1 << x for x in near)
    for x in stage.possible_children():
        spouse = places[f"spouse through x{x}"].constraints
        assert spouse.required[x] == 1 << t | 1 << h
        assert spouse.forbidden[t] == 1 << h
        assert spouse.forbidden[h] == 1 << t
    # H the sole parent of all neighbors, then H -> T or T -> H
    for name in ("parent", "child"):
        start = places[name].starts[0]
        assert all(start[x] == 1 << h for x in near)


def test_same_answer_on_any_number_of_threads():
    stage = open_local(star(np.random.default_rng(3), n_rows=500), 4, range(4))
    problem = problem_of(stage, subspaces(stage, 6)[0])
    one, two = (best_fits(problem, 8, np.random.default_rng(7), n_jobs=n) for n in (1, 3))
    assert [fit.bic for fit in one] == [fit.bic for fit in two]
    assert all(np.array_equal(a.weights, b.weights) for a, b in zip(one, two, strict=True))


def test_sampled_completions_find_the_same_latent():
    stage = open_local(star(np.random.default_rng(4)), 4, range(4))
    expected, sampled = (
        lmb_csem(stage, Effort(n_restarts=4, max_latents=1, draws=draws), np.random.default_rng(0)).stage
        for draws in (0, 10)
    )
    assert expected.members == sampled.members == frozenset({5})
    # sampling noise may cost a little likelihood, not much
    assert sampled.fit.bic == pytest.approx(expected.fit.bic, abs=5)


def test_parameters_of_the_hidden_model_are_recovered():
    frame = star(np.random.default_rng(5), n_rows=20000)
    stage = lmb_csem(
        open_local(frame, 4, range(4)), Effort(n_restarts=4, max_latents=1), np.random.default_rng(0)
    ).stage
    joint = stage.network().posterior(
        np.concatenate([stage.local.rows.codes, np.zeros((1, len(stage.local.rows.weights)), np.int32)]), [4, 5]
    )
    assert joint.sum(axis=(0, 1)) == pytest.approx(1.0)
    # p(x = h) = 0.9 for every leaf, p(h = t) = 0.85: three standard errors of a proportion of 10,000 rows are 0.011
    network = stage.network()
    for leaf in range(4):
        table = network.tables[leaf]
        assert network.parents[leaf] == 1 << 5
        assert np.sort(table[:, 1]) == pytest.approx([0.1, 0.9], abs=0.02)


def test_posterior_against_enumeration():
    rng = np.random.default_rng(6)
    arities = np.array([2, 3, 2])
    codes = np.array(list(itertools.product(range(2), range(3), range(2)))).T.astype(np.int32)
    network = fit_network(np.array([0, 0b101, 0b001]), arities, codes, rng.random(12) * 50)
    joint = np.array(
        [
            network.tables[0][a] * network.tables[2][a, c] * network.tables[1][a, c, b]
            for a, b, c in zip(*codes, strict=True)
        ]
    ).reshape(2, 3, 2)
    assert joint.sum() == pytest.approx(1.0)
    got = network.posterior(codes, [0, 2])
    for i, (_, b, _) in enumerate(codes.T):
        assert got[:, :, i] == pytest.approx(joint[:, b, :] / joint[:, b, :].sum())
    # a level that was never seen says nothing
    unseen = network.posterior(np.array([[0], [7], [0]], np.int32), [0, 2])[:, :, 0]
    assert unseen == pytest.approx(joint.sum(axis=1))
    swapped = network.relabeled(0, [1, 0]).posterior(codes, [0, 2])
    assert swapped == pytest.approx(got[::-1])


@pytest.mark.parametrize("method", [sem, scsem])
def test_unconstrained_methods_are_seeded_and_find_a_clear_latent(method):
    stage = open_local(star(np.random.default_rng(8), n_leaves=5), 5, range(5))
    first, again = (method(stage, Effort(n_restarts=10), np.random.default_rng(1)) for _ in range(2))
    assert first.stage.fit.bic == again.stage.fit.bic
    assert first.stage.fit.bic > stage.fit.bic
    assert 6 in first.stage.members
    assert first.attempts[0].refused == ""


def test_latent_outside_the_blanket_is_said():
    rng = np.random.default_rng(2)
    h = rng.integers(0, 2, 3000)
    leaves = [np.where(rng.random(3000) < 0.15, 1 - h, h) for _ in range(4)]
    t = np.where(rng.random(3000) < 0.1, 1 - leaves[0], leaves[0])
    stage = open_local(Frame.from_codes(np.column_stack([*leaves, t])), 4, range(4))
    outcome = sem(stage, Effort(n_restarts=30), np.random.default_rng(0))
    assert outcome.attempts[0].refused == "the latent is not in the blanket"
    assert 0 in outcome.stage.members
    assert 5 not in outcome.stage.members


def test_alternation_stops_after_some_rounds(monkeypatch):
    monkeypatch.setattr("blankets.latent._structural.MOST_ROUNDS", 1)
    stage = open_local(star(np.random.default_rng(0), n_rows=400), 4, range(4))
    problem, rng = problem_of(stage, subspaces(stage, 6)[0]), np.random.default_rng(1)
    fit = structural_em(problem, *problem.start(1, rng), rng)
    assert len(fit.history) == 2
    assert fit.history[1] >= fit.history[0]


def test_constraints_without_edges():
    assert Constraints.none(3).max_parents == 2
    assert Constraints.none(3, 1).max_parents == 1
