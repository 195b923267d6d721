"""Stability: draws that keep what is assumed of the labels, frequencies, and the bound on false members."""

import json
import math

import numpy as np
import pytest

import blankets as bl
from blankets.data import Frame
from blankets.errors import DataError, ParameterError
from blankets.questions.stability import rows_drawn
from blankets.results import Stability
from studies import study_of


def clinic(n=1000, seed=0, n_noise=3):
    rng = np.random.default_rng(seed)
    ill = rng.integers(0, 2, n)
    table = {f"noise {k}": rng.integers(0, 2, n) for k in range(n_noise)}
    table["strong"] = ill ^ (rng.random(n) < 0.2)
    table["weak"] = ill ^ (rng.random(n) < 0.45)
    return {**table, "ill": ill}


def unlabeled(table, rate, seed=1):
    rng = np.random.default_rng(seed)
    labeled = rng.random(len(table["ill"])) < np.array(rate)[table["ill"]]
    return {**table, "ill": np.where(labeled, table["ill"], np.nan)}


LABELS = {
    "supervised": (clinic(), {}),
    "pu": (unlabeled(clinic(), (0.0, 0.6)), {"labels": "pu", "prior": 0.5}),
    "mcar": (unlabeled(clinic(), (0.5, 0.5)), {"labels": "mcar"}),
    "mar-c": (unlabeled(clinic(), (0.2, 0.6)), {"labels": "mar-c", "prior": "<0.7"}),
    "mar-f": (unlabeled(clinic(), (0.5, 0.5)), {"labels": "mar-f"}),
}


@pytest.mark.parametrize("regime", LABELS)
def test_every_regime_has_its_stability(regime):
    table, how = LABELS[regime]
    found = bl.stability(table, "ill", n_resamples=12, rng=0, n_jobs=1, **how)
    assert found["strong"] == 1.0
    assert all(found[f"noise {k}"] < 0.5 for k in range(3))
    assert found.settings["labels"] == regime
    assert found.mean_size == pytest.approx(sum(found.values()))


def test_frequencies_are_those_of_searches_of_the_drawn_rows():
    table = clinic()
    found = bl.stability(table, "ill", n_resamples=8, rng=3, algorithm="iamb", alpha=0.05)
    study = study_of(table, "ill")
    generator = np.random.default_rng(3)
    generator.spawn(1)
    drawn = rows_drawn(study, 8, "subsample", 0.5, generator.spawn(1)[0])
    by_hand = [
        bl.discover({name: v[rows] for name, v in table.items()}, "ill", algorithm="iamb", alpha=0.05).members
        for rows in drawn
    ]
    assert {name: share * 8 for name, share in found.items()} == {
        name: sum(name in members for members in by_hand) for name in found
    }
    assert found.members == bl.discover(table, "ill", algorithm="iamb", alpha=0.05).members


@pytest.mark.parametrize("method", ["subsample", "bootstrap"])
def test_members_of_draws_are_those_of_the_default_search(method):
    rng = np.random.default_rng(5)
    levels = [2, 3, 4, 2, 3, 4, 2, 3, 4, 2, 3, 2]
    codes = [rng.integers(0, n, 1200) for n in levels]
    for child, parents in {3: (0, 1), 4: (3,), 5: (3, 2), 6: (4, 0), 7: (3,), 8: (5, 7), 9: (1,), 10: (9,)}.items():
        for parent in parents:
            copies = rng.random(1200) < 0.45
            codes[child][copies] = codes[parent][copies] % levels[child]
    frame = Frame.from_codes(np.array(codes).T, arities=levels)
    sizes = set()
    for target in ("x3", "x5", "x11"):
        found = bl.stability(frame, target, n_resamples=12, method=method, rng=3)
        generator = np.random.default_rng(3)
        generator.spawn(1)
        share = 0.5 if method == "subsample" else 1.0
        drawn = rows_drawn(study_of(frame, target), 12, method, share, generator.spawn(1)[0])
        each = zip(drawn, generator.spawn(12), strict=True)  # with the seed of its permutations
        by_hand = [bl.discover(frame.take(rows), target, rng=seed).members for rows, seed in each]
        sizes.update(map(len, by_hand))
        assert dict(found) == {name: sum(name in members for members in by_hand) / 12 for name in found}
    assert len(sizes) > 3


@pytest.mark.parametrize("method", ["subsample", "pairs", "bootstrap"])
def test_the_answer_depends_on_the_seed_and_not_on_threads(method):
    def run(seed, n_jobs):
        found = bl.stability(
            clinic(300), "ill", n_resamples=10, method=method, rng=seed, n_jobs=n_jobs, algorithm="kiamb", alpha=0.1
        )
        return dict(found)

    assert run(1, 1) == run(1, 4)
    assert run(1, 1) != run(2, 1)


def test_draws_keep_the_labeled_shares():
    table, how = LABELS["mar-c"]
    study = study_of(table, "ill", **how)
    rng = np.random.default_rng(0)
    whole = {code: int((study.labels.codes == code).sum()) for code in (-1, 0, 1)}
    for method, fraction in (("subsample", 0.3), ("pairs", 0.5), ("bootstrap", 1.0)):
        for rows in rows_drawn(study, 6, method, fraction, rng):
            counts = {code: int((study.labels.codes[rows] == code).sum()) for code in (-1, 0, 1)}
            assert counts == {code: int(fraction * n) for code, n in whole.items()}
            assert (len(np.unique(rows)) == len(rows)) == (method != "bootstrap")


def test_pairs_share_no_row():
    study = study_of(clinic(), "ill")
    drawn = rows_drawn(study, 7, "pairs", 0.5, np.random.default_rng(0))
    assert len(drawn) == 7
    for one, other in zip(drawn[0:6:2], drawn[1:6:2], strict=True):
        assert set(one).isdisjoint(other)


def test_the_bound_is_that_of_the_papers():
    found = Stability(
        target="y",
        frequency={f"x{j}": 1.0 if j < 4 else 0.1 for j in range(50)},
        members=("x0",),
        n_resamples=100,
        method="subsample",
        fraction=0.5,
        mean_size=8.6,
        algorithm="iamb",
        n_rows=10,
    )
    assert found.false_members(0.75) == pytest.approx(8.6**2 / (0.5 * 50))
    assert found.stable(0.75) == ("x0", "x1", "x2", "x3")
    assert "exchangeable" in found.assumption
    with pytest.raises(ParameterError, match=r"'threshold' must be above 0.5, and at most 1, but it is 0.5"):
        found.false_members(0.5)


def test_the_bound_holds():
    """Twenty features of pure noise, searched at a level so lenient that some are let in by every draw."""
    rng = np.random.default_rng(0)
    false, bounds = [], []
    for _ in range(20):
        table = {f"x{j}": rng.integers(0, 2, 200) for j in range(20)} | {"y": rng.integers(0, 2, 200)}
        found = bl.stability(table, "y", n_resamples=20, method="pairs", rng=rng, algorithm="iamb", alpha=0.2)
        false.append(len(found.stable(0.7)))
        bounds.append(found.false_members(0.7))
    error = np.std(false) / math.sqrt(len(false))
    assert np.mean(bounds) > 0.3  # not an empty statement
    assert np.mean(false) - 4 * error <= np.mean(bounds)


def test_no_bound_without_a_theorem():
    table = clinic(200)
    assert bl.stability(table, "ill", n_resamples=2, method="bootstrap", rng=0).false_members() is None
    assert bl.stability(table, "ill", n_resamples=2, fraction=0.7, rng=0).false_members() is None


def test_it_prints_and_is_kept_as_json():
    found = bl.stability(clinic(), "ill", n_resamples=10, rng=0, algorithm="iamb")
    text = repr(found)
    assert text.startswith("Stability of the Markov blanket of ill over 10 subsamples of 50% of the rows\n")
    assert "are expected to be false, if features outside the blanket are exchangeable" in " ".join(text.split())
    content = json.loads(found.to_json())
    assert content["frequency"]["strong"] == 1.0
    assert content["stable"] == list(found.stable())
    assert Stability.from_json(found.to_json()) == found
    assert "<table>" in found._repr_html_()
    assert found.table()[0] == {"feature": "strong", "frequency": 1.0, "member": True}
    with pytest.raises(KeyError, match="no feature 'stong'; did you mean 'strong'"):
        found["stong"]
    with pytest.raises(DataError, match="'a' in 'frequency' holds 3"):
        Stability.from_dict({**content, "frequency": {"a": 3}})
    with pytest.raises(TypeError, match="unhashable"):
        hash(found)


def test_wrong_requests():
    table = clinic(100)
    with pytest.raises(ParameterError, match="'n_resamples' must be a whole number, at least 1, but it is 0"):
        bl.stability(table, "ill", n_resamples=0)
    with pytest.raises(ParameterError, match=r"unknown method 'jackknife'; .*choose from bootstrap, pairs, subsample"):
        bl.stability(table, "ill", method="jackknife")
    with pytest.raises(ParameterError, match=r"'fraction' must be a share of the rows between 0 and 1, but it is 1.5"):
        bl.stability(table, "ill", fraction=1.5)
    with pytest.raises(ParameterError, match="'fraction' is for the method 'subsample', but the method is 'pairs'"):
        bl.stability(table, "ill", method="pairs", fraction=0.5)


def test_progress_is_told():
    told = []
    bl.stability(clinic(100), "ill", n_resamples=3, n_jobs=1, progress=told.append, rng=0)
    assert [sentence.split(",")[0] for sentence in told] == ["1 of 3 draws", "2 of 3 draws", "3 of 3 draws"]
