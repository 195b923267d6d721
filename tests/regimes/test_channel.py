"""The channel P(label | class): κ and scores against closed forms and sums over all cells, and labels with errors."""

import numpy as np
import pytest
from scipy import stats

import blankets as bl
from blankets.errors import LabelError, NotAnswerableError, ParameterError
from blankets.regimes import Channel, Labels, Noisy, Question, Surrogate, collapse, read_labels, regime_from
from blankets.regimes._channel import slope_of_score
from blankets.stats import mar_f_information, neg_information, plug_in, pos_information, scored_information

TABLE = np.array([[[30.0, 20.0, 14.0], [5.0, 11.0, 18.0], [90.0, 70.0, 60.0]]])
EVERY = (Surrogate.Y0, Surrogate.Y1, Surrogate.YM)


def squared_loss(p):
    """I₂ of a joint distribution p[y, x]."""
    e = np.outer(p.sum(axis=1), p.sum(axis=0))
    return 0.5 * ((p - e) ** 2 / e).sum()


def shannon(p):
    e = np.outer(p.sum(axis=1), p.sum(axis=0))
    return (p * np.log(p / e)).sum()


def random_world(rng):
    """p(y, x), and a channel with errors and missing labels."""
    prior, rho0, rho1, c0, c1 = *rng.uniform(0.1, 0.9, 1), *rng.uniform(0.02, 0.4, 2), *rng.uniform(0.1, 0.9, 2)
    joint = np.stack([(1 - prior) * rng.dirichlet(np.ones(3)), prior * rng.dirichlet(np.ones(3))])
    return joint, Channel.noisy(rho0, rho1, positives=c1, negatives=c0), (rho0, rho1)


def labels_with(shares):
    """Return labels with these shares of negative, positive and unlabeled rows."""
    n = np.round(1e4 * shares / shares.sum()).astype(int)
    return Labels(np.repeat([0, 1, -1], n).astype(np.int16), (0, 1))


@pytest.mark.parametrize("seed", range(20))
def test_information_of_a_surrogate_is_kappa_times_that_of_the_class(seed):
    joint, channel, _ = random_world(np.random.default_rng(seed))
    labels = channel.matrix.T @ joint  # p(label, x), by summation over classes
    for surrogate in EVERY:
        kappa = channel.kappa(surrogate, joint[1].sum())
        assert squared_loss(collapse(labels, surrogate)[0]) == pytest.approx(kappa * squared_loss(joint), rel=1e-10)


@pytest.mark.parametrize("seed", range(10))
def test_the_mean_of_the_score_in_a_class_is_the_class_and_its_variance_is_the_least(seed):
    rng = np.random.default_rng(seed)
    joint, channel, _ = random_world(rng)
    p = joint[1].sum()
    spread = {}
    for surrogate in EVERY:
        w = channel.score(surrogate, p)
        np.testing.assert_allclose(channel.matrix @ w, [0, 1], atol=1e-12)
        shares = np.array([1 - p, p]) @ channel.matrix
        spread[surrogate] = shares @ w**2 - p**2
        assert spread[surrogate] == pytest.approx(p * (1 - p) / channel.kappa(surrogate, p), rel=1e-10)
    # Any other score with the right means differs by a multiple of what both rows of the channel annul.
    null = np.linalg.svd(channel.matrix)[2][-1]
    for step in (-0.3, 0.2):
        other = channel.score(Surrogate.YM, p) + step * null
        assert shares @ other**2 - p**2 > spread[Surrogate.YM]


def test_kappa_of_wrong_labels_in_closed_form():
    for p, rho0, rho1 in ((0.2, 0.1, 0.3), (0.5, 0.3, 0.3), (0.05, 0.01, 0.0)):
        q = rho0 * (1 - p) + (1 - rho1) * p
        printed = (1 - rho0 - rho1) ** 2 * p * (1 - p) / (q * (1 - q))
        assert Channel.noisy(rho0, rho1).kappa(Surrogate.FULL, p) == pytest.approx(printed, rel=1e-12)


def test_pos_and_neg_invert_the_channel_of_their_surrogate():
    p = 0.4
    rows = TABLE.sum(axis=(0, 2))
    shares = rows / rows.sum()

    def channel(b, a):
        return Channel.by_class(positives=a / p, negatives=b / (1 - p))

    for surrogate, by_hand in ((Surrogate.Y0, pos_information), (Surrogate.Y1, neg_information)):

        def score(s, surrogate=surrogate):
            return channel(s[0], s[1]).score(surrogate, p)

        found = scored_information(TABLE, score(shares), slope_of_score(score, shares))
        wanted = by_hand(TABLE, p)
        for name in ("value", "variance", "scale", "dof"):
            assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=1e-9)


def test_without_errors_the_plug_in_comes_out():
    found, wanted = scored_information(TABLE[:, [0, 1, 1]] * [[1], [1], [0]], [0, 1, 0]), plug_in(TABLE[:, :2])
    for name in ("value", "variance", "scale", "dof", "statistic"):
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=1e-12)
    everyone = mar_f_information(TABLE[:, [0, 1, 1]] * [[1], [1], [0]])
    assert everyone.value == pytest.approx(wanted.value, rel=1e-12)


@pytest.mark.parametrize("missing", [None, "mar-c"])
def test_estimates_from_wrong_labels_are_those_of_the_true_class(missing):
    rng = np.random.default_rng(8)
    for _ in range(10):
        joint, channel, (rho0, rho1) = random_world(rng)
        if missing is None:
            channel = Channel.noisy(rho0, rho1)
        counts = np.round(1e9 * (channel.matrix.T @ joint))
        regime = Noisy(rho0, rho1, missing=missing, prior=joint[1].sum() if missing else None)
        found = regime.estimate(counts[: 3 if missing else 2], labels_with(counts.sum(axis=1)))
        assert found.value == pytest.approx(shannon(joint), rel=1e-4)


def test_variance_of_estimates_from_wrong_labels():
    """Against the spread of the estimate over multinomial draws."""
    rng = np.random.default_rng(3)
    joint = np.array([[0.35, 0.35], [0.24, 0.06]])
    for regime, channel in (
        (Noisy(0.1, 0.2), Channel.noisy(0.1, 0.2)),
        (Noisy(0.1, 0.2, missing="mar-c", prior=0.3), Channel.noisy(0.1, 0.2, positives=0.8, negatives=0.5)),
    ):
        p = (channel.matrix.T @ joint)[: 3 if regime.missing else 2]
        n = 4000
        draws = rng.multinomial(n, p.ravel(), size=3000).reshape(3000, 1, *p.shape)
        found = regime.estimate(draws, labels_with(np.append(p.sum(axis=1), [0.0])[:3]))
        assert found.value.mean() == pytest.approx(shannon(joint), rel=0.05)
        # 3000 draws: the relative standard error of a variance is √(2/3000) = 0.026
        assert found.variance.mean() == pytest.approx(found.value.var(), rel=0.1)


def test_uncertain_rates_widen_the_interval_by_their_spread():
    labels = read_labels([1] * 400 + [0] * 600)
    table = [[400, 200], [100, 300]]
    exact = Noisy(0.1, 0.1).estimate(table, labels)
    ranges = Noisy((0.05, 0.15), 0.1).estimate(table, labels)
    at = np.array([Noisy(r, 0.1).estimate(table, labels).value for r in (np.arange(200) + 0.5) / 200 * 0.1 + 0.05])
    assert ranges.value == pytest.approx(exact.value)
    assert ranges.variance - exact.variance == pytest.approx(at.var(), rel=0.1)


def test_a_channel_that_the_data_contradict_is_refused():
    few = read_labels([1] * 30 + [0] * 970)
    with pytest.raises(LabelError, match=r"30 of 1,000 labels are positive \(0.03\), but .* between 0.1 and 0.95"):
        Noisy(0.1, 0.05).check(few)
    Noisy(0.03, 0.05).check(few)
    Noisy((0.01, 0.1), 0.05).check(few)  # a rate of 0.03 is possible
    assert stats.binom.cdf(80, 1000, 0.1) > 0.01  # fewer than a tenth by chance is no contradiction
    Noisy(0.1, 0.05).check(read_labels([1] * 80 + [0] * 920))
    with pytest.raises(LabelError, match="970 of 1,000 labels are positive"):
        Noisy(0.0, 0.1).check(read_labels([1] * 970 + [0] * 30))


def test_what_noisy_refuses():
    with pytest.raises(ParameterError, match="with a sum of 1 labels tell nothing"):
        Noisy(0.5, 0.5)
    with pytest.raises(ParameterError, match=r"'rate of errors' must be a share such as 0.1 or 0"):
        Noisy("often", 0.1)
    with pytest.raises(LabelError, match=r"p\(y=1\) follows from the labels"):
        Noisy(0.1, 0.1, prior=0.2).check(read_labels([1, 0, 1, 0]))
    with pytest.raises(LabelError, match=r"2 of 6 rows are unlabeled: say why, with Noisy"):
        Noisy(0.1, 0.1).check(read_labels([1, 0, 1, 0, None, None]))
    with pytest.raises(LabelError, match="no row is unlabeled, but missing='mcar' says so"):
        Noisy(0.1, 0.1, missing="mcar").check(read_labels([1, 0, 1]))
    with pytest.raises(NotAnswerableError, match="information cannot be estimated from bounds of the rates"):
        Noisy("<0.1", 0.1).require(Question.ESTIMATE)
    with pytest.raises(ParameterError, match="labels='noisy' needs the rates of errors"):
        regime_from("noisy")
    with pytest.raises(ParameterError, match="'false_positive' is for labels='noisy', and not for labels='pu'"):
        regime_from("pu", false_positive=0.1)
    assert regime_from("noisy", false_positive=0.1, false_negative="0.1-0.2").false_negative.mean == pytest.approx(0.15)


def test_blankets_rankings_and_calls_with_wrong_labels():
    rng = np.random.default_rng(0)
    ill = rng.random(3000) < 0.3
    table = {
        "cough": rng.random(3000) < np.where(ill, 0.6, 0.2),
        "ward": rng.integers(0, 3, 3000),
        "ill": np.where(ill, rng.random(3000) > 0.2, rng.random(3000) < 0.1).astype(int),
    }
    noisy = bl.Noisy(0.1, (0.15, 0.25))
    blanket = bl.discover(table, "ill", labels=noisy)
    assert blanket.members == ("cough",)
    q = np.mean(table["ill"])
    p = (q - 0.1) / 0.7
    assert blanket.settings["kappa"] == pytest.approx(0.49 * p * (1 - p) / (q * (1 - q)), rel=1e-9)
    assert "errors are assumed not to depend on features" in blanket.warnings[0]
    assert bl.rank(table, "ill", labels=noisy).names == ("cough", "ward")
    assert bl.select(table, "ill", k=1, labels=noisy).names == ("cough",)
    assert blanket.call.run(table).members == ("cough",)
    with pytest.raises(NotAnswerableError, match=r"p\(y=1\) follows from the labels"):
        bl.sensitivity(table, "ill", labels=noisy)
