"""The blanket as a function of p(y=1)."""

import json

import numpy as np
import pytest

import blankets as bl
from blankets.errors import NotAnswerableError, ParameterError
from blankets.regimes import Surrogate, kappa_of, surrogate_breakpoints


def table(rates, n=4000, seed=0):
    """A strong and a weak feature; negatives and positives are labeled at the given rates."""
    rng = np.random.default_rng(seed)
    ill = (rng.random(n) < 0.3).astype(int)
    labeled = rng.random(n) < np.array(rates)[ill]
    return {
        "strong": ill ^ (rng.random(n) < 0.2),
        "weak": ill ^ (rng.random(n) < 0.45),
        "noise": rng.integers(0, 2, n),
        "ill": np.where(labeled, ill, np.nan),
    }


@pytest.mark.parametrize(("a", "b"), [(0.1, 0.2), (0.3, 0.05), (0.02, 0.4), (0.25, 0.25)])
def test_breakpoints_are_where_two_surrogates_keep_equally_much(a, b):
    found = surrogate_breakpoints(a, b)
    pairs = [(Surrogate.Y0, Surrogate.LISTWISE), (Surrogate.Y1, Surrogate.LISTWISE), (Surrogate.Y0, Surrogate.Y1)]
    grid = np.linspace(0.001, 0.999, 200_001)
    crossings = []
    for one, other in pairs:
        apart = np.sign(kappa_of(one, grid, positives=a, negatives=b) - kappa_of(other, grid, positives=a, negatives=b))
        crossings += grid[:-1][np.diff(apart) != 0].tolist()
    for crossing in crossings:
        assert min(abs(p - crossing) for p in found) < 1e-5
    assert len(found) <= len(crossings)


@pytest.mark.parametrize("rates", [(0.1, 0.4), (0.35, 0.1), (0.3, 0.3)])
def test_every_prior_gets_what_discover_finds_with_it(rates):
    data = table(rates)
    found = bl.sensitivity(data, "ill", labels="mar-c", algorithm="iamb", alpha=0.05)
    low, high = found.ranges[0].low, found.ranges[-1].high
    labeled = data["ill"][np.isfinite(data["ill"])]
    assert low == pytest.approx(labeled.sum() / 4000)
    assert high == pytest.approx(1 - (labeled == 0).sum() / 4000)
    for one, other in zip(found.ranges, found.ranges[1:], strict=False):
        assert one.high == other.low
        assert set(one.members) != set(other.members)
    assert len(found.runs) == 19
    for (prior, members), kappa in zip(found.runs, found.kappas, strict=True):
        blanket = bl.discover(data, "ill", labels="mar-c", prior=prior, algorithm="iamb", alpha=0.05)
        assert set(members) == set(blanket.members) == set(found.at(prior))
        assert kappa == pytest.approx(blanket.settings["kappa"])
    assert found.n_searches <= 3


def test_an_answer_that_changes():
    # Negatives are hardly labeled, so that through Ỹ1 the weak feature is not found.
    found = bl.sensitivity(table((0.02, 0.6)), "ill", labels="mar-c", algorithm="iamb", alpha=0.05)
    assert [set(r.members) for r in found.ranges] == [{"strong", "weak"}, {"strong"}]
    assert found.ranges[0].high in found.breakpoints
    assert found.always == ("strong",)
    assert found.sometimes == ("weak",)
    text = repr(found)
    assert text.startswith("Markov blanket of ill as a function of p(y=1): 2 answers\n")
    assert "Members for every prior: strong." in text
    assert "has the most power depends on p(y=1)" in " ".join(text.split())
    content = json.loads(found.to_json())
    assert [r["members"] for r in content["ranges"]] == [list(r.members) for r in found.ranges]
    assert content["runs"][0] == [found.runs[0][0], list(found.runs[0][1])]
    assert "<table>" in found._repr_html_()


def test_positive_unlabeled_blankets_stay_while_power_falls():
    found = bl.sensitivity(table((0.0, 0.5)), "ill", labels="pu", algorithm="iamb")
    (only,) = found.ranges
    assert only.surrogates == ("y0",)
    assert (only.high, found.breakpoints, found.n_searches) == (1.0, (), 1)
    assert found.kappas == tuple(
        pytest.approx(float(kappa_of(Surrogate.Y0, p, positives=only.low))) for p, _ in found.runs
    )
    assert all(one > other for one, other in zip(found.kappas, found.kappas[1:], strict=False))
    assert "the power of the tests does" in found.notes[0]


@pytest.mark.parametrize("labels", ["mcar", "mar-f"])
def test_labeled_rows_alone_do_not_depend_on_the_prior(labels):
    found = bl.sensitivity(table((0.4, 0.4)), "ill", labels=labels, algorithm="iamb")
    assert len(found.ranges) == 1
    assert found.ranges[0].surrogates == ("listwise",)
    assert "does not depend on p(y=1)" in found.notes[0]
    assert np.isnan(found.kappas).all()


def test_a_surrogate_of_ones_own_stays():
    data = table((0.1, 0.4))
    for surrogate, algorithm in (("y1", "auto"), ("pairwise", "auto"), (None, "bassum")):
        labels = bl.SemiSupervised("mar-c", surrogate=surrogate)
        found = bl.sensitivity(data, "ill", labels=labels, algorithm=algorithm)
        assert len(found.ranges) == found.n_searches == 1
        assert found.ranges[0].surrogates == (surrogate or "pairwise",)


def test_what_is_known_limits_the_range():
    data = table((0.1, 0.4))
    found = bl.sensitivity(data, "ill", labels="mar-c", prior=(0.25, 0.35), priors=[0.26, 0.3])
    assert (found.ranges[0].low, found.ranges[-1].high) == (0.25, 0.35)
    assert [prior for prior, _ in found.runs] == [0.26, 0.3]
    with pytest.raises(ParameterError, match=r"'prior' must be between 0\.25 and 0\.35, as the labels allow"):
        found.at(0.5)
    with pytest.raises(ParameterError, match=r"'priors' holds 0\.6, but p\(y=1\) can only be between 0\.25 and 0\.35"):
        bl.sensitivity(data, "ill", labels="mar-c", prior=(0.25, 0.35), priors=[0.6])
    with pytest.raises(ParameterError, match="the prior leaves no range of p"):
        bl.sensitivity(data, "ill", labels="mar-c", prior=0.3)
    whole = {**data, "ill": (np.nan_to_num(data["ill"]) > 0).astype(int)}
    with pytest.raises(NotAnswerableError, match="every row is labeled, so p"):
        bl.sensitivity(whole, "ill")


def test_case_control_sampling_says_nothing_about_the_prior():
    found = bl.sensitivity(table((0.0, 0.5)), "ill", labels=bl.PositiveUnlabeled(sampling="case-control"))
    assert (found.ranges[0].low, found.ranges[0].high) == (0.0, 1.0)
