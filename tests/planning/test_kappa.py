"""`kappa` against its definition: what a surrogate tells of x, over what the target tells, by enumeration."""

import numpy as np
import pytest
from scipy import stats

import blankets as bl
from blankets.errors import NotAnswerableError, ParameterError


def squared_loss(joint):
    """Return I₂ = Σ (p(x,y) - p(x) p(y))² / (2 p(x) p(y)) of a table of probabilities, y by x."""
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    return ((joint - independent) ** 2 / independent).sum() / 2


def through(surrogate, prior, positives, negatives, x_given):
    """Return the table of the surrogate by x, labels of each class being given by lot; and that of the target.

    ``x_given`` are p(x|y=0) and p(x|y=1), ``positives`` and ``negatives`` shares of all rows.
    """
    of_negatives, of_positives = ((1 - prior) * x_given[0], prior * x_given[1])
    shown, admitted = negatives / (1 - prior) * of_negatives, positives / prior * of_positives
    hidden = of_negatives - shown + of_positives - admitted
    tables = {
        "y0": [shown + hidden, admitted],
        "y1": [shown, admitted + hidden],
        "ym": [shown, admitted, hidden],
        "listwise": [shown, admitted],
    }
    return np.array(tables[surrogate]), np.array([of_negatives, of_positives])


X = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])


@pytest.mark.parametrize(("prior", "share"), [(0.2, 0.05), (0.5, 0.4), (0.7, 0.1)])
def test_positive_unlabeled(prior, share):
    stand_in, target = through("y0", prior, share, 0.0, X)
    found = bl.kappa(labels="pu", prior=prior, labeled=share)
    assert found == pytest.approx(squared_loss(stand_in) / squared_loss(target))
    assert found == pytest.approx(bl.kappa(labels=bl.PositiveUnlabeled(prior), labeled=int(1000 * share), rows=1000))


@pytest.mark.parametrize("surrogate", ["y0", "y1", "ym"])
def test_labels_of_both_classes(surrogate):
    labeled = {"positives": 0.1, "negatives": 0.15}
    stand_in, target = through(surrogate, 0.3, 0.1, 0.15, X)
    found = bl.kappa(labels="mar-c", prior=0.3, labeled=labeled, surrogate=surrogate)
    assert found == pytest.approx(squared_loss(stand_in) / squared_loss(target))


def test_labeled_rows_alone_in_the_limit_of_weak_effects():
    weak = 0.25 + 1e-4 * np.array([[1, -1, 1, -1], [-1, 1, -1, 1]])
    stand_in, target = through("listwise", 0.3, 0.1, 0.15, weak)
    of_labeled = squared_loss(stand_in / stand_in.sum()) * stand_in.sum()  # λ is per row of the whole sample
    found = bl.kappa(labels="mar-c", prior=0.3, labeled={"positives": 0.1, "negatives": 0.15}, surrogate="listwise")
    assert found == pytest.approx(of_labeled / squared_loss(target), rel=1e-3)


def test_the_surrogate_that_keeps_most_is_taken():
    """Where Ỹm costs degrees of freedom it is no candidate."""
    for labeled in ({"positives": 0.1, "negatives": 0.02}, {"positives": 0.01, "negatives": 0.3}):
        about = {"labels": "mar-c", "prior": 0.3, "labeled": labeled}
        each = [bl.kappa(**about, surrogate=name) for name in ("y0", "y1", "listwise")]
        assert bl.kappa(**about) == max(each)


def test_missing_at_random_is_the_share_and_all_labels_are_everything():
    assert bl.kappa(labels="mcar", labeled=0.13) == pytest.approx(0.13)
    stand_in, target = through("y0", 0.3, 0.13 * 0.3, 0.13 * 0.7, X)
    expected = squared_loss(stand_in) / squared_loss(target)
    assert bl.kappa(labels="mcar", labeled=0.13, prior=0.3, surrogate="y0") == pytest.approx(expected)
    assert bl.kappa(labels="supervised") == 1.0


def test_positives_collected_apart():
    """n₁ of p(x|y=1) beside n₀ of p(x), in the limit of weak effects."""
    weak = 0.25 + 1e-4 * np.array([[1, -1, 1, -1], [-1, 1, -1, 1]])
    _, target = through("y0", 0.1, 0.0, 0.0, weak)
    pooled = np.array([0.6 * target.sum(axis=0), 0.4 * weak[1]])
    found = bl.kappa(labels="pu", prior=0.1, labeled=0.4, sampling="case-control")
    assert found == pytest.approx(squared_loss(pooled) / squared_loss(target), rel=1e-3)
    assert found > 1


def test_conditional_tests_by_stratum():
    """λ of the stand-in given z is Σ p(z) I₂(X;Ỹ0|z); labels go to a quarter of the positives of each stratum."""
    priors, p_z = np.array([0.05, 0.35]), np.array([0.5, 0.5])
    tables = [through("y0", p, 0.25 * p, 0.0, X) for p in priors]
    kept = [share * squared_loss(stand_in) for share, (stand_in, _) in zip(p_z, tables, strict=True)]
    full = [share * squared_loss(target) for share, (_, target) in zip(p_z, tables, strict=True)]
    prior = float(p_z @ priors)
    about = {"labels": "pu", "prior": prior, "labeled": 0.25 * prior}
    found = bl.kappa(**about, strata_priors=list(priors), strata_shares=np.array(full) / sum(full))
    assert found == pytest.approx(sum(kept) / sum(full))
    assert found != pytest.approx(bl.kappa(**about), rel=1e-2)
    alike = bl.kappa(**about, strata_priors=[prior, prior])
    assert alike == pytest.approx(bl.kappa(**about))


def test_rows_over_kappa_are_the_rows_of_the_plan():
    goal = {"effect": 0.02, "power": 0.9, "alpha": 0.01, "arity": 2}
    for about in (
        {"labels": "pu", "prior": 0.2, "labeled": 0.05},
        {"labels": "mcar", "labeled": 0.1},
        {"labels": "mar-c", "prior": 0.4, "labeled": {"positives": 0.1, "negatives": 0.05}},
    ):
        needed = stats.ncx2.sf(stats.chi2.isf(0.01, 1), 1, 2 * 0.02 * np.arange(300, 500)) >= 0.9
        exact = 300 + int(np.argmax(needed))
        found = bl.plan(**goal, **about)
        kappa = bl.kappa(**about)
        assert found.kappa == kappa
        assert (exact - 1) / kappa - 1 <= found.answer <= exact / kappa + 1


def test_an_uncertain_prior_is_planned_for_with_assurance():
    """κ of Ỹ0 falls with p(y=1), so that its lower tenth is at the upper tenth of the prior."""
    at = stats.uniform(0.1, 0.2).ppf(0.9)
    about = {"labels": "pu", "labeled": 0.05}
    assert bl.kappa(prior=(0.1, 0.3), **about) == pytest.approx((1 - at) / at * 0.05 / 0.95)
    middle = bl.kappa(prior=(0.1, 0.3), assurance=0.5, **about)
    assert middle == pytest.approx(0.8 / 0.2 * 0.05 / 0.95)
    assert bl.kappa(prior="<0.4", **about) == pytest.approx(0.6 / 0.4 * 0.05 / 0.95)
    both = {"labels": "mar-c", "labeled": {"positives": 0.1, "negatives": 0.1}, "surrogate": "ym"}
    each = [bl.kappa(prior=float(p), **both) for p in stats.uniform(0.2, 0.2).ppf((np.arange(400) + 0.5) / 400)]
    assert bl.kappa(prior=(0.2, 0.4), **both) == pytest.approx(np.quantile(each, 0.1), rel=0.02)


def test_refusals():
    with pytest.raises(ParameterError, match="give 'labeled' as a share of all rows"):
        bl.kappa(labels="pu", prior=0.2)
    with pytest.raises(ParameterError, match="give 'rows' with a number of labels"):
        bl.kappa(labels="pu", prior=0.2, labeled=50)
    with pytest.raises(ParameterError, match="give 'rows' with a number of labels"):
        bl.kappa(labels="mar-c", prior=0.2, labeled={"positives": 20, "negatives": 10})
    with pytest.raises(NotAnswerableError, match=r"p\(y=1\)"):
        bl.kappa(labels="pu", labeled=0.05)
    with pytest.raises(NotAnswerableError, match="power cannot be computed when labeling depends on features"):
        bl.kappa(labels="mar-f", labeled=0.05)
    with pytest.raises(ParameterError, match=r"no more than 0\.2 can be"):
        bl.kappa(labels="pu", prior=0.2, labeled=0.3)
    with pytest.raises(ParameterError, match="'strata_priors' must be"):
        bl.kappa(labels="pu", prior=0.2, labeled=0.05, strata_priors=0.2)
    with pytest.raises(ParameterError, match="'strata_shares' has 1 values for 2 strata"):
        bl.kappa(labels="pu", prior=0.2, labeled=0.05, strata_priors=[0.1, 0.3], strata_shares=[1.0])
    with pytest.raises(ParameterError, match="unknown surrogate for labels 'pu' 'y1'"):
        bl.kappa(labels="pu", prior=0.2, labeled=0.05, surrogate="y1")
