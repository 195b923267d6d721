"""What each regime allows, chooses, estimates and refuses."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from blankets.errors import DataError, LabelError, NotAnswerableError, ParameterError, RegimeWarning
from blankets.regimes import (
    Beta,
    Exact,
    Labels,
    PositiveUnlabeled,
    Question,
    SemiSupervised,
    Supervised,
    Surrogate,
    between,
    collapse,
    greater_than,
    label_column,
    less_than,
    read_labels,
    regime_from,
    surrogate_column,
    surrogate_from,
)
from blankets.stats._information import miller_madow, plug_in
from blankets.stats._partial_labels import (
    mar_f_information,
    mcar_information,
    neg_information,
    pos_information,
    ss_information,
)

PU = read_labels([1] * 5 + [None] * 95)
SEMI = read_labels([1] * 10 + [0] * 20 + [None] * 70)
FULL = read_labels([1] * 30 + [0] * 70)
LABEL_TABLE = np.array([[[12, 8], [3, 7], [40, 30]]])
PU_TABLE = np.array([[[0, 0], [1, 4], [60, 35]]])
TEST_AND_RANK = {Question.TEST, Question.RANK}


def semi(positives, negatives, rows=1000) -> Labels:
    return read_labels([1] * positives + [0] * negatives + [None] * (rows - positives - negatives))


# ---------------------------------------------------------------- validity


@pytest.mark.parametrize(
    ("regime", "valid"),
    [
        (Supervised(), {"full"}),
        (PositiveUnlabeled(), {"y0", "ym"}),
        (SemiSupervised("mcar"), {"listwise", "ym", "y0", "y1"}),
        (SemiSupervised("mar-f"), {"listwise"}),
        (SemiSupervised("mar-c"), {"listwise", "ym", "y0", "y1"}),
    ],
)
def test_valid_surrogates(regime, valid):
    assert set(regime.valid) == valid


def test_invalid_surrogates_are_refused_or_forced_and_marked():
    regime = SemiSupervised("mar-f")
    with pytest.raises(LabelError, match=r"counts unlabeled rows as negatives is not valid here: labeling"):
        replace(regime, surrogate="y0").stand_in(SEMI)
    with pytest.raises(LabelError, match="use 'listwise', or add force=True"):
        replace(regime, surrogate="y1").stand_in(SEMI)
    forced = replace(regime, surrogate="y0", force=True).stand_in(SEMI)
    assert forced.forced
    assert "being unlabeled is itself related to x" in forced.note
    assert not regime.stand_in(SEMI).forced
    with pytest.raises(LabelError, match="no negative is labeled"):
        replace(PositiveUnlabeled(), surrogate="y1").stand_in(PU)
    with pytest.raises(LabelError, match="only one class is labeled, so among the labeled rows there is nothing"):
        PositiveUnlabeled(surrogate="listwise", force=True).stand_in(PU)
    with pytest.raises(LabelError, match="no row is unlabeled, but labels='mcar' needs some"):
        replace(SemiSupervised("mcar"), surrogate="y0").stand_in(FULL)
    with pytest.raises(ParameterError, match="unknown surrogate 'y2'; did you mean"):
        replace(SemiSupervised("mcar"), surrogate="y2").stand_in(SEMI)


def test_no_surrogate_stands_in_for_one_of_three_classes():
    with pytest.raises(LabelError, match="'y0' stands in for one of two classes, but there are 3"):
        surrogate_column(read_labels([2, 0, 1]), Surrogate.Y0)


def test_surrogate_columns():
    labels = read_labels(["no", None, "yes", None])
    regime = SemiSupervised("mar-c")
    columns = {name: replace(regime, surrogate=name).stand_in(labels) for name in ("listwise", "ym", "y0", "y1")}
    assert columns["y0"].codes.tolist() == [0, 0, 1, 0]
    assert columns["y0"].levels == ("no or unlabeled", "yes")
    assert columns["y1"].codes.tolist() == [0, 1, 1, 1]
    assert columns["y1"].levels == ("no", "yes or unlabeled")
    assert columns["ym"].codes.tolist() == [0, 2, 1, 2]
    assert columns["ym"].levels == ("no", "yes", "unlabeled")
    assert columns["listwise"].rows.tolist() == [True, False, True, False]
    assert columns["listwise"].codes[[0, 2]].tolist() == [0, 1]
    assert [columns[name].n_rows for name in columns] == [2, 4, 4, 4]
    assert all(column.codes.dtype == np.uint8 for column in columns.values())
    assert label_column(labels).codes.tolist() == [0, 2, 1, 2]
    full = Supervised().stand_in(read_labels([2, 0, 1]))
    assert (full.codes.tolist(), full.rows, full.levels) == ([2, 0, 1], None, (0, 1, 2))


def test_collapsed_tables_are_those_of_the_columns():
    rng = np.random.default_rng(0)
    values = rng.choice([0.0, 1.0, np.nan], size=300)
    x = rng.integers(0, 3, 300)
    labels = read_labels(values)

    def table(codes, n, rows):
        return np.array([[np.sum((codes == y) & (x == k) & rows) for k in range(3)] for y in range(n)])

    everyone = np.ones(300, bool)
    counts = table(label_column(labels).codes, 3, everyone)
    for surrogate in (Surrogate.LISTWISE, Surrogate.Y0, Surrogate.Y1, Surrogate.YM):
        column = replace(SemiSupervised("mcar"), surrogate=surrogate).stand_in(labels)
        rows = everyone if column.rows is None else column.rows
        expected = table(column.codes, len(column.levels), rows)
        np.testing.assert_array_equal(collapse(counts, surrogate)[0], expected)


# ---------------------------------------------------------------- choice


def test_most_powerful_choice():
    assert Supervised().choose(FULL).surrogate is Surrogate.FULL
    assert PositiveUnlabeled().choose(PU).surrogate is Surrogate.Y0
    assert SemiSupervised("mcar").choose(SEMI).surrogate is Surrogate.LISTWISE
    assert SemiSupervised("mar-f").choose(SEMI).surrogate is Surrogate.LISTWISE


@pytest.mark.parametrize(
    ("prior", "surrogate", "settled", "says"),
    [
        (less_than(0.4), Surrogate.Y0, True, r"p\(y=1\) is below 0.5"),
        (greater_than(0.6), Surrogate.Y1, True, r"p\(y=1\) is at least 0.5"),
        (0.2, Surrogate.Y0, True, "below 0.5"),
        (0.8, Surrogate.Y1, True, "at least 0.5"),
        (between(0.2, 0.6), Surrogate.Y0, False, "probably below 0.5"),
        (Beta(mode=0.7, low=0.3, high=0.8), Surrogate.Y1, False, "probably at least 0.5"),
        (None, Surrogate.YM, False, "nothing is known"),
    ],
)
def test_choice_under_class_dependent_labeling(prior, surrogate, settled, says):
    choice = SemiSupervised("mar-c", prior).choose(semi(125, 125))  # threshold 1/2
    assert choice.surrogate is surrogate
    assert choice.settled is settled
    with pytest.raises(AssertionError, match=says):
        raise AssertionError(choice.reason)


def test_near_mcar_labeled_rows_are_best_and_the_powers_are_told():
    labels = semi(60, 200)  # 24% of the rows; 23% of these positive, 20% of all
    choice = SemiSupervised("mar-c", prior=0.2).choose(labels)
    assert choice.surrogate is Surrogate.LISTWISE
    assert "labeled rows alone keep the most" in choice.reason
    powers = choice.powers(effect=0.02, n_rows=1000, dof=3, alpha=0.05)
    # κ = Var(E[Y|Ỹ]) / Var(Y), written out; λ = 2 κ N I.
    a, b, p = 0.06, 0.2, 0.2
    kappas = {
        Surrogate.LISTWISE: a * b / (a + b) / (p * (1 - p)),
        Surrogate.Y0: (1 - p) / p * a / (1 - a),
        Surrogate.Y1: p / (1 - p) * b / (1 - b),
        Surrogate.YM: (a * (1 - p) ** 2 + b * p**2 + (1 - a - b) * ((p - a) / (1 - a - b) - p) ** 2) / (p * (1 - p)),
    }
    for surrogate, kappa in kappas.items():
        dof = 6 if surrogate is Surrogate.YM else 3
        expected = stats.ncx2.sf(stats.chi2.isf(0.05, dof), dof, 2 * kappa * 1000 * 0.02)
        assert powers[surrogate] == pytest.approx(expected, rel=1e-6)
    assert max(powers, key=powers.get) is Surrogate.LISTWISE


def test_predicted_order_of_the_figures():  # errata B13
    def order(positives, negatives):
        regime = SemiSupervised("mar-c", prior=0.2)
        powers = regime.choose(semi(positives, negatives)).powers(effect=0.02, n_rows=1000, dof=1, alpha=0.05)
        return [str(s) for s in sorted(powers, key=powers.get, reverse=True)]

    assert order(125, 125) == ["y0", "ym", "listwise", "y1"]  # Figure 4.3
    assert order(62, 188) == ["listwise", "y0", "ym", "y1"]  # Figure 4.4


# ---------------------------------------------------------------- κ


def test_kappa_of_an_exact_prior():
    kappa = PositiveUnlabeled(prior=0.2).kappa(PU)
    assert (kappa.value, kappa.low, kappa.high) == pytest.approx((4 * 0.05 / 0.95,) * 3)
    assert kappa.form == "unconditional"
    assert kappa.surrogate is Surrogate.Y0
    assert Supervised().kappa(FULL).value == 1
    assert SemiSupervised("mcar").kappa(SEMI).value == pytest.approx(0.3)
    assert SemiSupervised("mar-c", 0.2).kappa(SEMI, "y1").value == pytest.approx(0.25 * 0.2 / 0.8)


def test_kappa_of_uncertain_priors_is_a_range():
    kappa = PositiveUnlabeled(prior=between(0.1, 0.4)).kappa(PU)
    at = lambda p: (1 - p) / p * 0.05 / 0.95  # noqa: E731
    assert kappa.value == pytest.approx(at(0.25), rel=1e-3)
    assert at(0.4) < kappa.low < at(0.39)
    assert at(0.11) < kappa.high < at(0.1)
    # "below 0.4" and 5% labeled positives: p(y=1) is between the two, and κ between that at 0.4 and 1.
    soft = PositiveUnlabeled(prior=less_than(0.4)).kappa(PU)
    assert at(0.4) < soft.low < at(0.39)
    assert 0.9 < soft.high < 1


def test_kappa_of_case_control_data():
    regime = PositiveUnlabeled(prior=0.02, sampling="case-control")
    assert regime.kappa(PU).value == pytest.approx(49 * 0.05 * 0.95)
    assert regime.kappa(PU).value > 1  # and a prior below the labeled share is no contradiction


def test_stratified_kappa_of_regimes():
    tables = np.array([[[0, 0], [40, 60], [900, 1000]], [[0, 0], [10, 90], [500, 400]]], float)
    labels = read_labels([1] * 200 + [None] * 2800)
    kappa = PositiveUnlabeled(prior=0.2).stratified_kappa(tables, labels)
    c1 = (200 / 3000) / 0.2
    in_z = np.array([100 / 2000, 100 / 1000]) / c1
    np.testing.assert_allclose(kappa.by_stratum, c1 * (1 - in_z) / (1 - c1 * in_z), rtol=1e-12)
    assert kappa.by_stratum.min() < kappa.value < kappa.by_stratum.max()
    semi_tables = np.array([[[5, 5], [5, 5], [10, 30]], [[1, 5], [2, 2], [10, 20]]], float)
    mcar = SemiSupervised("mcar").stratified_kappa(semi_tables, semi(14, 16, 100))
    np.testing.assert_allclose(mcar.by_stratum, 0.3)
    assert mcar.value == pytest.approx(0.3)
    y0 = SemiSupervised("mcar").stratified_kappa(semi_tables, semi(14, 16, 100), "y0")
    assert y0.by_stratum.shape == (2,)
    with pytest.raises(NotAnswerableError, match=r"without p\(y=1\)"):
        PositiveUnlabeled().stratified_kappa(tables, labels)


# ---------------------------------------------------------------- questions


@pytest.mark.parametrize(
    ("regime", "answers"),
    [
        (Supervised(), set(Question)),
        (PositiveUnlabeled(), TEST_AND_RANK),
        (PositiveUnlabeled(less_than(0.4)), TEST_AND_RANK | {Question.POWER}),
        (PositiveUnlabeled(0.2), set(Question)),
        (PositiveUnlabeled(stats.beta(2, 8)), set(Question)),
        (SemiSupervised("mcar"), set(Question)),
        (SemiSupervised("mar-f"), TEST_AND_RANK | {Question.ESTIMATE}),
        (SemiSupervised("mar-c"), TEST_AND_RANK),
        (SemiSupervised("mar-c", 0.2), set(Question)),
    ],
)
def test_questions(regime, answers):
    assert regime.answers == answers
    for question in Question:
        if question in answers:
            regime.require(question)
        else:
            with pytest.raises(NotAnswerableError, match=r"give prior=|mechanism='mcar'"):
                regime.require(question)


def test_refusals_say_what_would_help():
    with pytest.raises(NotAnswerableError, match=r"information cannot be estimated without p\(y=1\).*nothing is known"):
        PositiveUnlabeled().estimate(PU_TABLE, PU)
    with pytest.raises(NotAnswerableError, match=r"only known to be below 0\.4: give prior=, for example 0\.2"):
        PositiveUnlabeled(less_than(0.4)).estimate(PU_TABLE, PU)
    with pytest.raises(NotAnswerableError, match="power cannot be computed when labeling depends on features"):
        SemiSupervised("mar-f").kappa(SEMI)
    with pytest.raises(NotAnswerableError, match="power cannot be computed without"):
        PositiveUnlabeled().kappa(PU)


# ---------------------------------------------------------------- estimates


def test_each_regime_takes_its_estimator():
    def same(mine, expected):
        np.testing.assert_allclose(mine.value, expected.value, rtol=1e-12)
        np.testing.assert_allclose(mine.variance, expected.variance, rtol=1e-12)

    same(PositiveUnlabeled(0.2).estimate(PU_TABLE, PU), pos_information(PU_TABLE, 0.2))
    same(
        PositiveUnlabeled(0.2, "case-control").estimate(PU_TABLE, PU),
        pos_information(PU_TABLE, 0.2, sampling="case-control"),
    )
    same(SemiSupervised("mcar").estimate(LABEL_TABLE, SEMI), mcar_information(LABEL_TABLE))
    same(SemiSupervised("mcar").estimate(LABEL_TABLE, SEMI, estimator="listwise"), plug_in(LABEL_TABLE[:, :2]))
    same(SemiSupervised("mar-f").estimate(LABEL_TABLE, SEMI), mar_f_information(LABEL_TABLE))
    # a = 0.1, b = 0.2: the threshold of methods (3.7) is 0.4.
    same(SemiSupervised("mar-c", 0.3).estimate(LABEL_TABLE, SEMI), pos_information(LABEL_TABLE, 0.3))
    same(SemiSupervised("mar-c", 0.5).estimate(LABEL_TABLE, SEMI), neg_information(LABEL_TABLE, 0.5))
    same(SemiSupervised("mar-c", 0.3).estimate(LABEL_TABLE, SEMI, estimator="ss"), ss_information(LABEL_TABLE, 0.3))
    same(SemiSupervised("mar-c", 0.3).estimate(LABEL_TABLE, SEMI, estimator="neg"), neg_information(LABEL_TABLE, 0.3))
    same(Supervised().estimate(LABEL_TABLE[:, :2], FULL), plug_in(LABEL_TABLE[:, :2]))
    same(Supervised().estimate(LABEL_TABLE[:, :2], FULL, estimator="miller-madow"), miller_madow(LABEL_TABLE[:, :2]))


def test_estimator_of_least_variance_feature_by_feature():
    tables = np.array([[[[12, 8], [1, 9], [40, 30]]], [[[18, 2], [4, 6], [35, 35]]]], float)
    pos, neg = pos_information(tables, 0.3), neg_information(tables, 0.3)
    least = SemiSupervised("mar-c", 0.3).estimate(tables, SEMI, estimator="least-variance")
    np.testing.assert_allclose(least.variance, np.fmin(pos.variance, neg.variance))
    np.testing.assert_allclose(least.value, np.where(neg.variance < pos.variance, neg.value, pos.value))


def test_uncertain_prior_widens_the_interval():
    table, labels = PU_TABLE * 50, read_labels([1] * 250 + [None] * 4750)
    exact = PositiveUnlabeled(0.2).estimate(table, labels)
    prior = Beta(mean=0.2, low=0.1, high=0.3)
    unsure = PositiveUnlabeled(prior).estimate(table, labels)
    assert unsure.value == pytest.approx(float(exact.value))
    draws = prior.sample(4000, rng=0)
    at = pos_information(table, draws)
    expected = np.nanmean(at.variance) + at.value.var()  # law of total variance, by Monte Carlo
    assert unsure.variance == pytest.approx(expected, rel=0.1)
    assert unsure.variance > exact.variance


def test_squared_loss_everywhere():
    for regime in (SemiSupervised("mcar"), SemiSupervised("mar-f"), SemiSupervised("mar-c", 0.3)):
        assert regime.estimate(LABEL_TABLE, SEMI, loss="squared").value > 0
    with pytest.raises(ParameterError, match="'ss' is defined for loss='log' only"):
        SemiSupervised("mar-c", 0.3).estimate(LABEL_TABLE, SEMI, estimator="ss", loss="squared")
    with pytest.raises(ParameterError, match="unknown estimator in this regime 'neg'"):
        PositiveUnlabeled(0.2).estimate(PU_TABLE, PU, estimator="neg")


# ---------------------------------------------------------------- labels that contradict the regime


def test_contradictions():
    with pytest.raises(LabelError, match="95 of 100 rows are unlabeled, but 'supervised' needs every label"):
        Supervised().check(PU)
    with pytest.raises(LabelError, match="all rows are of one class"):
        Supervised().check(Labels(np.ones(3, np.int16), (0, 1)))
    with pytest.raises(LabelError, match="'pu' is for one labeled class, but 20 rows are labeled 0"):
        PositiveUnlabeled().check(SEMI)
    with pytest.raises(LabelError, match="no row is unlabeled, but labels='pu' needs some"):
        PositiveUnlabeled().check(FULL)
    with pytest.raises(LabelError, match="labels='mcar' needs labeled rows of two classes, but there is one, 1"):
        SemiSupervised("mcar").check(PU)
    with pytest.raises(LabelError, match="no row is unlabeled, but labels='mar-c' needs some"):
        SemiSupervised("mar-c").check(FULL)


def test_prior_that_the_labels_contradict():
    with pytest.raises(LabelError, match=r"said to be 0\.01, but the labels show that it lies between 0\.05 and 1"):
        PositiveUnlabeled(0.01).stand_in(PU)
    with pytest.raises(LabelError, match=r"lies between 0\.1 and 0\.8"):
        SemiSupervised("mar-c", 0.9).stand_in(SEMI)
    assert PositiveUnlabeled(0.05).kappa(PU).value == pytest.approx(1)  # every positive is labeled
    PositiveUnlabeled(0.03, "case-control").check(PU)


# ---------------------------------------------------------------- names and "auto"


def test_by_name():
    assert regime_from("supervised") == regime_from("full") == Supervised()
    assert regime_from("pu", prior=0.2) == PositiveUnlabeled(0.2)
    assert regime_from("pu", sampling="case-control").sampling == "case-control"
    assert regime_from("mar-c", prior="<0.4") == SemiSupervised("mar-c", less_than(0.4))
    given = SemiSupervised("mcar")
    assert regime_from(given) is given
    assert [r.name for r in (Supervised(), PositiveUnlabeled(), given)] == ["supervised", "pu", "mcar"]
    assert PositiveUnlabeled(0.2).prior == Exact(0.2)


def test_auto_says_what_it_saw_and_assumed():
    assert regime_from("auto", FULL) == Supervised()
    with pytest.warns(RegimeWarning, match="5 of 100 rows are labeled: 5 as 1, and the others are not: this is"):
        assert regime_from("auto", PU, prior=0.2) == PositiveUnlabeled(0.2)
    seen = "30 of 100 rows are labeled: 20 as 0, 10 as 1, and 70 rows are not"
    with pytest.raises(LabelError, match=seen) as caught:
        regime_from("auto", SEMI)
    lines = str(caught.value).splitlines()
    assert len(lines) == 1 + 4 * 2  # the four mechanisms, in two lines each
    assert [line.split("'")[1] for line in lines[1::2]] == ["mcar", "mar-f", "mar-c", "mnar"]


def test_descriptions():
    said = PositiveUnlabeled(less_than(0.4)).describe(PU)
    assert said.startswith("5 of 100 rows are labeled: 5 as 1. Only positives are labeled")
    assert said.endswith("p(y=1), is assumed to be below 0.4.")
    assert "depend on its class alone (MAR-C)" in SemiSupervised("mar-c").describe(SEMI)
    assert Supervised().describe(FULL) == "100 of 100 rows are labeled: 70 as 0, 30 as 1. Every row is labeled."
    assert Supervised().unlocked_by(Question.POWER) == ""
    assert "collected apart" in PositiveUnlabeled(sampling="case-control").assumption


def test_refused_names():
    for make in (lambda: SemiSupervised("mnar"), lambda: regime_from("mnar")):
        with pytest.raises(NotAnswerableError, match=r"\(MNAR\) cannot be handled: no surrogate has a known level"):
            make()
    with pytest.raises(LabelError, match="say how labels go missing"):
        regime_from("semi")
    with pytest.raises(ParameterError, match="unknown label regime 'mar'; did you mean"):
        regime_from("mar")
    with pytest.raises(ParameterError, match="unknown mechanism 'marc'"):
        SemiSupervised("marc")
    with pytest.raises(ParameterError, match="unknown sampling 'two'"):
        PositiveUnlabeled(sampling="two")
    with pytest.raises(ParameterError, match="'sampling' is for labels='pu'"):
        regime_from("mcar", sampling="case-control")
    with pytest.raises(ParameterError, match=r"give prior= and the like to PositiveUnlabeled\(...\), not beside it"):
        regime_from(PositiveUnlabeled(), prior=0.2)
    with pytest.raises(ParameterError, match="labels='auto' needs the labels"):
        regime_from("auto")
    assert surrogate_from(Surrogate.Y0) is Surrogate.Y0


WIDE = {
    "pos": (Beta(mode=0.2, low=0.1, high=0.5), between(0.1, 0.6), stats.beta(20, 80), stats.beta(4, 12)),
    "neg": (Beta(mode=0.8, low=0.5, high=0.9), between(0.4, 0.9), stats.beta(80, 20), stats.beta(12, 4)),
}


@pytest.mark.parametrize(("of", "prior"), [(of, prior) for of, priors in WIDE.items() for prior in priors])
def test_two_values_of_the_prior_carry_its_uncertainty(of, prior):
    """Against the law of total variance by Monte Carlo, 20,000 draws."""
    table = np.array([[[0, 0, 0], [100, 200, 50], [3000, 4000, 1000]]], float)
    labels = read_labels([1] * 350 + [None] * 8000)
    regime, exact = PositiveUnlabeled(prior), pos_information
    if of == "neg":
        table, labels = table[:, [1, 0, 2]] + [[[0], [1], [0]]], semi(3, 350, 8353)
        regime, exact = SemiSupervised("mar-c", prior), neg_information
    draws = regime.admissible(labels).sample(20_000, rng=0)
    at = exact(np.broadcast_to(table, (len(draws), 1, 3, 3)), draws)
    expected = np.nanmean(at.variance) + at.value.var()
    assert regime.estimate(table, labels, estimator=of).variance == pytest.approx(expected, rel=0.05)


def test_collapse_keeps_strata_and_tables_apart():
    counts = np.random.default_rng(2).integers(0, 20, (4, 5, 3, 2))
    for surrogate, rows in (
        ("y0", [[0, 2], [1]]),
        ("y1", [[0], [1, 2]]),
        ("ym", [[0], [1], [2]]),
        ("listwise", [[0], [1]]),
    ):
        expected = np.stack([counts[..., part, :].sum(axis=-2) for part in rows], axis=-2)
        np.testing.assert_array_equal(collapse(counts, Surrogate(surrogate)), expected)
        np.testing.assert_array_equal(collapse(counts[0], Surrogate(surrogate)), expected[0])
    with pytest.raises(
        DataError, match=r"\(strata, levels of y, levels of x\).* with 3 levels of y .*, but these have"
    ):
        collapse(np.ones((3, 2, 2)), Surrogate.Y0)


@pytest.mark.parametrize("spec", ["auto", "supervised"])
def test_a_prior_beside_full_labels_is_said_to_be_of_no_use(spec):
    with pytest.warns(RegimeWarning, match=r"p\(y=1\) is said to be 0.2; with a label in every row nothing depends"):
        assert regime_from(spec, FULL, prior=0.2) == Supervised()
