"""p(y=1) is that of the population: labeled shares of a sample may exceed it by chance, and by no more."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import blankets as bl
from blankets.errors import LabelError, RegimeWarning
from blankets.regimes import Between, PositiveUnlabeled, SemiSupervised, read_labels


def labels_of(positives, negatives=0, n=400):
    return read_labels([1] * positives + [0] * negatives + [None] * (n - positives - negatives))


@pytest.mark.parametrize(("prior", "n"), [(0.2, 400), (0.03, 100), (0.5, 50)])
def test_the_limit_is_a_chance_of_one_in_a_hundred(prior, n):
    """With all positives labeled their number is binomial."""
    regime = PositiveUnlabeled(prior)
    for positives in range(2, n - 1):
        labels = labels_of(positives, n=n)
        if stats.binom.sf(positives - 1, n, prior) < 0.01:
            with pytest.raises(LabelError, match=r"said to be .*, but the labels show that it lies between"):
                regime.check(labels)
            assert not regime.prior_is_short(labels)
        else:
            regime.check(labels)
            assert bool(regime.prior_is_short(labels)) == (positives / n > prior)


def test_negatives_are_bounded_in_the_same_way():
    for negatives in range(300, 396):
        labels, regime = labels_of(4, negatives), SemiSupervised("mar-c", 0.2)
        if stats.binom.sf(negatives - 1, 400, 0.8) < 0.01:
            with pytest.raises(LabelError, match=r"said to be 0\.2"):
                regime.check(labels)
        else:
            regime.check(labels)
            short = f"{negatives / 400:.4g} of the rows are labeled negatives" if negatives > 320 else ""
            assert regime.prior_is_short(labels) == short


def test_no_more_can_be_labeled_than_there_are():
    labels, regime = labels_of(83), PositiveUnlabeled(0.2)
    assert regime.kappa(labels).value == pytest.approx(1.0)
    assert regime.choose(labels).kappas["y0"] == pytest.approx(1.0)
    both, by_class = labels_of(83, 40), SemiSupervised("mar-c", 0.2)
    # All positives are labeled, of the negatives 40 in 320: Ỹm tells the labeled ones and a mixture that is pure.
    assert by_class.kappa(both, "ym").value == pytest.approx(1.0)
    assert by_class.kappa(both, "y0").value == pytest.approx(1.0)
    assert by_class.kappa(both, "listwise").value == pytest.approx(0.2 * 0.1 / (0.3 * 0.16))


def test_ranges_and_bounds():
    labels = labels_of(83)
    left = PositiveUnlabeled((0.1, 0.2)).admissible(labels)
    assert left.support == (pytest.approx(stats.beta.ppf(0.01, 83, 318)), 0.2)
    assert PositiveUnlabeled("<0.2").admissible(labels).is_soft
    assert PositiveUnlabeled((0.1, 0.25)).admissible(labels).support == (83 / 400, 0.25)  # as far as it can be
    with pytest.raises(LabelError, match=r"between 0\.05 and 0\.1, but the labels show"):
        PositiveUnlabeled(Between(0.05, 0.1)).check(labels)
    assert not PositiveUnlabeled(0.01, "case-control").prior_is_short(labels)


@pytest.fixture(scope="module")
def table():
    """Every positive is labeled, and the sample has 83 of them in 400 rows, where a fifth was to be expected."""
    rng = np.random.default_rng(3)
    ill = np.arange(400) < 83
    cough = rng.random(400) < np.where(ill, 0.7, 0.2)
    return pd.DataFrame({"cough": cough, "coin": rng.integers(0, 2, 400), "ill": np.where(ill, 1.0, np.nan)})


SHORT = r"p\(y=1\) is .*, but 0\.2075 of the rows are labeled positives. That may be chance"


@pytest.mark.parametrize("prior", [0.2, (0.1, 0.2)])
def test_every_question_is_answered_with_a_warning_and_a_note(table, prior, tmp_path):
    how = {"labels": "pu", "prior": prior}
    note = "That 0.2075 of the rows are labeled positives can be chance."
    with pytest.warns(RegimeWarning, match=SHORT):
        test = bl.test(table, "cough", "ill", **how)
    assert note in test.notes[0]
    assert 0.9 < test.kappa <= 1
    with pytest.warns(RegimeWarning, match=SHORT):
        assert bl.mutual_information(table, "cough", "ill", **how).value == test.estimate.value
    with pytest.warns(RegimeWarning, match=SHORT):
        assert bl.rank(table, "ill", **how).names == ("cough", "coin")
    with pytest.warns(RegimeWarning, match=SHORT):
        assert bl.select(table, "ill", k=1, **how).names == ("cough",)
    with pytest.warns(RegimeWarning, match=SHORT):
        advice = bl.advise(table, "ill", rng=0, **how)
    assert advice.kappa <= 1
    assert advice.goal("large", 0.8).more_rows == 0
    with pytest.warns(RegimeWarning, match=SHORT):
        blanket = bl.discover(table, "ill", **how)
    assert blanket.members == ("cough",)
    assert note in blanket.warnings[0]
    blanket.report(tmp_path / "ill.html")
    assert note in " ".join((tmp_path / "ill.html").read_text().split())
    assert blanket.refute(table, n_resamples=2, rng=0, prior=prior)["same data"].verdict == "passed"
    with pytest.warns(RegimeWarning, match=SHORT):
        assert bl.stability(table, "ill", n_resamples=3, rng=0, **how)["cough"] == 1.0


def test_both_classes(table):
    known = table["ill"].where(table["ill"].notna() | (np.arange(400) % 3 > 0), 0.0)
    with pytest.warns(RegimeWarning, match=SHORT):
        advice = bl.advise(table.assign(ill=known), "ill", labels="mar-c", prior=0.2)
    assert advice.goal("large", 0.8).more_rows == 0
    with pytest.raises(LabelError, match=r"said to be 0\.15, but the labels show that it lies between 0\.2075"):
        bl.discover(table, "ill", labels="pu", prior=0.15)


def test_intervals_keep_their_level_where_all_positives_are_labeled():
    """90% intervals of Pos over 600 samples, in every other of which the share of positives exceeds p(y=1).

    Standard error of the coverage: 0.012 over all samples, 0.017 over a half.
    """
    rng, n, prior = np.random.default_rng(20261115), 2000, 0.2
    x_given = np.array([[0.42, 0.58], [0.65, 0.35]])
    joint = np.array([1 - prior, prior])[:, None] * x_given
    truth = (joint * np.log(joint / joint.sum(axis=0) / joint.sum(axis=1, keepdims=True))).sum()
    covered, short, refused = [], [], 0
    for _ in range(600):
        cells = rng.multinomial(n, joint.ravel()).reshape(2, 2)
        labels = labels_of(int(cells[1].sum()), n=n)
        regime = PositiveUnlabeled(prior)
        try:
            regime.check(labels)
        except LabelError:
            refused += 1
            continue
        low, high = regime.estimate([[[0, 0], cells[1], cells[0]]], labels).interval(0.9)
        covered.append(bool(low <= truth <= high))
        short.append(bool(regime.prior_is_short(labels)))
    assert refused <= 600 * 0.01 + 3 * np.sqrt(600 * 0.01)
    assert 0.4 < np.mean(short) < 0.6
    assert np.mean(covered) == pytest.approx(0.9, abs=3 * 0.012)
    assert np.mean(np.array(covered)[short]) == pytest.approx(0.9, abs=3 * 0.017)
