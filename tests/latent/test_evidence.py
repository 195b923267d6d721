"""Marginal likelihoods: against sums over all completions, and closed forms; what they decide."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import betaln, logsumexp
from scipy.stats import chi2_contingency

from blankets import discover_latent
from blankets.data import Frame
from blankets.latent._evidence import evidence_of, evidence_without
from blankets.latent._local import open_local
from blankets.latent._methods import Effort, attempts_in
from blankets.latent._subspaces import behind_all


def family(child, *parents):
    """Log of the integral over uniform conditional distributions of a binary column given binary columns."""
    total = 0.0
    for values in itertools.product((0, 1), repeat=len(parents)):
        here = np.all([parent == value for parent, value in zip(parents, values, strict=True)], axis=0)
        ones = np.sum(child[here] if parents else child)
        size = np.sum(here) if parents else len(child)
        total += betaln(ones + 1, size - ones + 1)
    return total


def coins(rng, chances):
    return (rng.random(len(chances)) < chances).astype(int)


def frame_of(*columns):
    return Frame.from_codes(np.column_stack(columns), arities=[2] * len(columns))


def latent_stage(frame, place):
    before = open_local(frame, 2, [0, 1])
    (attempt,) = attempts_in([behind_all(before)[place]], before, Effort(n_restarts=2), np.random.default_rng(0))
    return attempt.stage


@pytest.mark.parametrize("place", [0, 1])
def test_latent_against_the_sum_over_all_completions(place):
    rng = np.random.default_rng(3)
    b, f, t = rng.integers(0, 2, (3, 11))
    terms = []
    for hidden in itertools.product((0, 1), repeat=11):
        h = np.array(hidden)
        root = family(h) + family(t, h) if place == 0 else family(t) + family(h, t)
        terms.append(root + family(b, h) + family(f, h))
    # 1000 particles: the standard error of the estimate is below 0.05 for so few rows
    assert evidence_of(latent_stage(frame_of(b, f, t), place)) == pytest.approx(logsumexp(terms), abs=0.2)


def test_many_rows_agree_with_another_seed(monkeypatch):
    rng = np.random.default_rng(8)
    t = rng.integers(0, 2, 4000)
    h = coins(rng, np.where(t, 0.8, 0.3))
    stage = latent_stage(frame_of(coins(rng, np.where(h, 0.7, 0.2)), coins(rng, np.where(h, 0.9, 0.4)), t), 1)
    one, seed = evidence_of(stage), np.random.default_rng(99)
    monkeypatch.setattr("blankets.latent._evidence.np.random.default_rng", lambda _: seed)
    assert evidence_of(stage) == pytest.approx(one, abs=1.5)


def test_models_without_latents_in_closed_form():
    rng = np.random.default_rng(5)
    b, f, t = rng.integers(0, 2, (3, 60))
    forks = [
        family(t) + family(b, t) + family(f, t),
        family(b) + family(t, b) + family(f, t),
        family(f) + family(t, f) + family(b, t),
    ]
    colliders = [
        family(one) + family(two) + family(three, one, two) for one, two, three in ((b, f, t), (t, f, b), (t, b, f))
    ]
    cliques = [
        family(one) + family(two, one) + family(three, one, two)
        for one, two, three in itertools.permutations((b, f, t))
    ]
    classes = [logsumexp(forks) - math.log(3), *colliders, logsumexp(cliques) - math.log(6)]
    before = open_local(frame_of(b, f, t), 2, [0, 1])
    assert evidence_without(before, certain=True) == pytest.approx(logsumexp(classes) - math.log(5))


@pytest.mark.parametrize("tied", [0.0, 0.9])
def test_members_that_tests_have_found_may_be_none(tied):
    rng = np.random.default_rng(6)
    b, f, t = coins(rng, np.full(60, 0.5)), coins(rng, np.full(60, 0.5)), coins(rng, np.full(60, 0.3))
    b = np.where(rng.random(60) < tied, t, b)
    before = open_local(frame_of(b, f, t), 2, [0, 1])
    apart = family(t) + family(b) + family(f)
    together = family(t) + logsumexp([family(b) + family(f, b), family(f) + family(b, f)]) - math.log(2)
    alone = logsumexp([apart, together]) - math.log(2)
    related = evidence_without(before, certain=True)
    assert (alone > related) == (tied == 0.0)
    assert evidence_without(before, certain=False) == pytest.approx(max(alone, related))


def test_rows_without_label_are_left_out():
    rng = np.random.default_rng(5)
    b, f, t = rng.integers(0, 2, (3, 60))
    labeled = np.arange(60) < 40
    partly = open_local(frame_of(b, f, t), 2, [0, 1], labeled)
    only = open_local(frame_of(b[:40], f[:40], t[:40]), 2, [0, 1])
    assert evidence_without(partly, certain=False) == pytest.approx(evidence_without(only, certain=False))


NETWORKS = {  # strong effects, nothing hidden
    "fork": lambda rng, coin: (coin, coins(rng, np.where(coin, 0.9, 0.2)), coins(rng, np.where(coin, 0.3, 0.8))),
    "chain": lambda rng, coin: (
        coin,
        (b := coins(rng, np.where(coin, 0.9, 0.2))),
        coins(rng, np.where(b, 0.3, 0.8)),
    ),
    "collider": lambda rng, coin: (
        coins(rng, 0.2 + 0.3 * coin + 0.4 * (f := rng.integers(0, 2, len(coin)))),
        coin,
        f,
    ),
}


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("seed", range(4))
def test_three_coins_without_a_latent(name, seed):
    rng = np.random.default_rng(seed)
    t, b, f = NETWORKS[name](rng, rng.integers(0, 2, 5000))
    found = discover_latent({"T": t, "B": b, "F": f}, "T", alpha=0.001, n_restarts=10, rng=0)
    assert found.latents == ()
    assert "B" in found.members
    assert all("the data are against it, by" in score.refused for score in found.scores[1:])


def test_three_coins_with_a_latent():
    rng = np.random.default_rng(1)
    t = rng.integers(0, 2, 5000)
    h = coins(rng, np.where(t, 0.75, 0.3))
    table = {"T": t, "B": coins(rng, np.where(h, 0.8, 0.3)), "F": coins(rng, np.where(h, 0.25, 0.7))}
    found = discover_latent(table, "T", n_restarts=10, rng=0)
    assert found.members == ("H1",)
    (latent,) = found.latents
    assert latent.support == found.to_dict()["latents"][0]["support"]
    possible = f"H1 is a possibility rather than a finding: its support of {latent.support:.1f} nats is weak"
    assert (possible in found.warnings) == (latent.support < 3)


def weakly_tied(cause, effect):
    """Return 4,000 rows of T -> H -> {B, F} as expected, H left out: T tells H with one chance, H both with another."""
    rows = []
    for t, b, f in itertools.product((0, 1), repeat=3):
        chances = [
            0.5 * math.prod(p if same else 1 - p for p, same in ((cause, t == h), (effect, b == h), (effect, f == h)))
            for h in (0, 1)
        ]
        rows += [(t, b, f)] * round(4000 * sum(chances))
    return {name: np.array(column) for name, column in zip("TBF", zip(*rows, strict=True), strict=True)}


def chances_of(table):
    return [
        chi2_contingency(np.histogram2d(table["T"], table[x], bins=2)[0], correction=False, lambda_=0).pvalue
        for x in "BF"
    ]


def test_columns_that_are_no_members_may_still_tell_of_a_latent():
    table = weakly_tied(0.6, 0.57)
    assert all(0.05 < p < 0.1 for p in chances_of(table))
    found = discover_latent(table, "T", n_restarts=4, rng=0)
    assert found.members == ("H1",)
    assert "no column is a member; those that are at level 0.2 were taken as candidates" in found.warnings
    assert discover_latent(table, "T", n_restarts=4, score="bic", rng=0).members == ()


def test_a_target_that_is_as_well_alone_has_no_latent():
    table = weakly_tied(0.519, 0.9)  # B and F tell H well, so that they would tell of T
    assert all(0.05 < p < 0.1 for p in chances_of(table))
    found = discover_latent(table, "T", n_restarts=4, rng=0)
    assert (found.members, found.observed, found.latents) == ((), (), ())
    assert {score.refused.split(", by ")[0] for score in found.scores[1:]} == {"the data are against it"}
    assert discover_latent(table, "T", blanket=["B", "F"], n_restarts=4, rng=0).members == ("H1",)
