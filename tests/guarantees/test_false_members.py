"""The expected number of false members that a blanket states, against how many there are.

The target has two true members; 40 columns have nothing to do with it. What is counted is binomial at most, so that
over n draws the mean count has a standard error of sqrt(mean / n).
"""

import math

import numpy as np
import pytest

import blankets as bl

ALPHA, N_DRAWS, N_NOISE = 0.05, 60, 40
TRUE = {"a", "b"}


def draws():
    rng = np.random.default_rng(20261115)
    for _ in range(N_DRAWS):
        a, b = rng.integers(0, 2, (2, 600))
        chance = 0.2 + 0.3 * a + 0.3 * b
        noise = {f"x{j}": rng.integers(0, 2, 600) for j in range(N_NOISE)}
        yield {"a": a, "b": b, **noise, "t": (rng.random(600) < chance).astype(int)}


TABLES = list(draws())


def counted(algorithm, **options):
    found = [bl.discover(table, "t", algorithm=algorithm, alpha=ALPHA, close=False, **options) for table in TABLES]
    false = np.array([len(set(blanket) - TRUE) for blanket in found])
    return found, false


@pytest.mark.parametrize("algorithm", ["iamb", "inter-iamb", "gs", "fast-iamb"])
@pytest.mark.parametrize("reliability", [5, 20])
def test_grow_shrink_lets_in_as_many_as_it_says(algorithm, reliability):
    # With 20 rows for a degree of freedom the search ends after two columns beyond the true ones, with 5 after four.
    found, false = counted(algorithm, test=bl.Testing(reliability=reliability))
    stated = np.mean([blanket.false_members.expected for blanket in found])
    error = 4 * np.std(false) / math.sqrt(N_DRAWS)
    assert (false.mean() - error) / 1.5 <= stated <= (false.mean() + error) * 1.5
    assert all(set(blanket) >= TRUE for blanket in found)


@pytest.mark.parametrize("algorithm", ["iamb", "inter-iamb", "gs", "fbed", "fast-iamb"])
def test_grow_shrink_lets_in_at_most_as_many(algorithm):
    # The deeper the search can look, the more often it looks, and each look is a chance.
    found, false = counted(algorithm, test="auto")
    at_most = np.array([blanket.false_members.at_most for blanket in found])
    assert false.mean() <= at_most.mean() + 4 * math.sqrt(at_most.mean() / N_DRAWS)
    assert (at_most >= ALPHA * (N_NOISE + 2) - 1e-9).all()


@pytest.mark.parametrize(
    ("algorithm", "options"), [("pcmb", {}), ("mmpc", {}), ("hiton-mb", {"options": {"symmetric": True}})]
)
def test_search_by_subsets_lets_in_at_most_as_many(algorithm, options):
    found, false = counted(algorithm, **options)
    at_most = np.mean([blanket.false_members.at_most for blanket in found])
    assert false.mean() <= at_most + 4 * math.sqrt(at_most / N_DRAWS)
    assert at_most >= ALPHA * N_NOISE


@pytest.mark.parametrize("algorithm", ["iamb-fdr", "fbed-fdr", "mmpc-fdr", "hiton-pc-fdr"])
def test_the_false_discovery_rate_is_held(algorithm):
    found, false = counted(algorithm)
    shares = false / np.maximum([len(blanket) for blanket in found], 1)
    # A share is at most 1, so that its variance is at most its mean.
    assert shares.mean() <= ALPHA + 4 * math.sqrt(ALPHA / N_DRAWS)
    for blanket in found:
        known = blanket.false_members
        assert (known.controls, known.alpha, known.n_tested) == ("fdr", ALPHA, N_NOISE + 2)
        # A mean share over tables bounds no number in one of them.
        assert (known.expected, known.at_most, known.chances, known.words) == (None, None, 0, "")
        assert math.isnan(known.share_of(2))
    assert np.mean([set(blanket) >= TRUE for blanket in found]) > 0.95  # it is no use to find nothing


def test_where_nothing_is_true_the_rate_is_the_chance_of_any_member():
    rng = np.random.default_rng(7)
    hit = {"iamb-fdr": 0, "fbed-fdr": 0, "mmpc-fdr": 0}
    for _ in range(N_DRAWS):
        table = dict(zip("tabcdefghijk", rng.integers(0, 2, (12, 400)), strict=True))
        for algorithm in hit:
            hit[algorithm] += len(bl.discover(table, "t", algorithm=algorithm, alpha=0.2, close=False)) > 0
    # Under independence BY errs with probability 0.2 / H(11) = 0.066 instead of 0.2: 4 of 60, give or take 2.
    assert all(times <= 0.066 * N_DRAWS + 4 * math.sqrt(0.066 * N_DRAWS) for times in hit.values())


def test_algorithms_without_an_error_rate_state_none():
    table = TABLES[0]
    assert bl.discover(table, "t", algorithm="ks", options={"n_features": 3}).false_members is None
    partly = {**table, "t": np.where(np.arange(600) % 2, table["t"], np.nan)}
    forced = bl.discover(
        partly, "t", algorithm="iamb", labels=bl.SemiSupervised("mcar", surrogate="pairwise", force=True)
    )
    assert forced.false_members is None
    assert "Expected false members" not in repr(forced)


def test_how_it_reads():
    blanket = bl.discover(TABLES[0], "t", algorithm="iamb", alpha=ALPHA)
    assert "(42 columns, " in repr(blanket)
    assert "if every test keeps its level" in str(blanket.explain("t"))
    controlled = bl.discover(TABLES[0], "t", algorithm="iamb-fdr", alpha=ALPHA, close=False)
    expected = "False discovery rate: 0.05 (42 columns tested). On average over many tables, at most that share of the"
    assert expected in " ".join(repr(controlled).split())
    assert "is not known for iamb-fdr" in " ".join(str(controlled.check_assumptions()).split())
    bounded = bl.discover(TABLES[0], "t", algorithm="stmb", alpha=ALPHA, close=False)
    assert bounded.false_members.expected is None
    assert bounded.false_members.at_most >= ALPHA * (N_NOISE + 2)
    assert "Expected false members: at most" in repr(bounded)
    assert bl.Blanket.from_json(controlled.to_json()).false_members == controlled.false_members
