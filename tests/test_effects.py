"""Effects of members in the data's own terms, against statsmodels and closed forms, over kinds of data and labels."""

import math
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.stats
import statsmodels.api as sm
import statsmodels.formula.api as smf

import blankets as bl
from blankets.results import Contrast, Effects
from blankets.stats import Draws, GivenFunctions, Values, held_beside
from blankets.study import open_study
from blankets.study._effect_columns import MOST_LEVELS
from blankets.study._effects import _patterns, member_effects

pytestmark = pytest.mark.filterwarnings("ignore::blankets.errors.BlanketsWarning")


def table(n=800, seed=5):
    """Return a number, a skewed number, two categories, and targets that depend on them."""
    rng = np.random.default_rng(seed)
    made = pd.DataFrame(
        {
            "age": rng.normal(60, 12, n),
            "crp": np.exp(rng.normal(1, 1, n)),
            "smoker": np.array(["no", "yes"])[rng.integers(0, 2, n)],
            "ward": np.array(["a", "b", "c"])[rng.choice(3, n, p=[0.3, 0.5, 0.2])],
        }
    )
    index = 0.05 * (made.age - 60) + 0.4 * np.log2(made.crp) + 0.9 * (made.smoker == "yes") - 0.7 * (made.ward == "c")
    made["ill"] = np.where(rng.random(n) < 1 / (1 + np.exp(1 - index)), "yes", "no")
    made["score"] = 10 * index + rng.normal(0, 5, n)
    made["stage"] = np.where(rng.random(n) < 0.25, "iii", np.where(made.ill == "yes", "ii", "i"))
    return made


MEMBERS = ["age", "crp", "smoker", "ward"]


def effects_of(data, target, members=MEMBERS, **how):
    with open_study(data, target, numbers=True, knows_groups=True, **how) as study:
        return member_effects(study, study.target, [study.index(name) for name in members])


def found(effects, member, compared, outcome=""):
    return next(one for one in effects.contrasts[member] if (one.compared, one.outcome) == (compared, outcome))


def theirs(data):
    """Return the design with the same units: standard deviations, doublings, levels against the reference."""
    return data.assign(z=(data.age - data.age.mean()) / data.age.std(ddof=0), doublings=np.log2(data.crp))


FORMULA = "z + doublings + C(smoker) + C(ward, Treatment('b'))"


class TestAgainstStatsmodels:
    data = table(seed=6)[[*MEMBERS, "ill"]]  # in which one regression holds fixed all that matters

    def test_odds_ratios(self):
        made = theirs(self.data).assign(y=(self.data.ill == "yes").astype(int))
        fit = smf.logit(f"y ~ {FORMULA}", made).fit(disp=0)
        effects = effects_of(self.data, "ill")
        assert (effects.measure, effects.outcome, effects.n_rows) == ("odds ratio", "yes", 800)
        expected = np.exp(fit.conf_int().assign(estimate=fit.params))
        sd = self.data.age.std(ddof=0)
        for member, compared, name in (
            ("age", f"per {sd:.3g} (1 SD)", "z"),
            ("crp", "per doubling", "doublings"),
            ("smoker", "yes vs no", "C(smoker)[T.yes]"),
            ("ward", "a vs b", "C(ward, Treatment('b'))[T.a]"),
            ("ward", "c vs b", "C(ward, Treatment('b'))[T.c]"),
        ):
            one = found(effects, member, compared)
            assert [one.low, one.high, one.estimate] == pytest.approx(expected.loc[name].tolist(), rel=1e-6)

    def test_differences(self):
        data = table()[[*MEMBERS, "score"]]
        fit = smf.ols(f"score ~ {FORMULA}", theirs(data)).fit(cov_type="HC3", use_t=True)
        one = found(effects_of(data, "score"), "smoker", "yes vs no")
        low, high = fit.conf_int().loc["C(smoker)[T.yes]"]
        assert [one.estimate, one.low, one.high] == pytest.approx([fit.params["C(smoker)[T.yes]"], low, high], rel=1e-6)

    def test_more_classes(self):
        data = table()[[*MEMBERS, "stage"]]
        first, *others = data.stage.value_counts().index.tolist()
        made = theirs(data)
        effects = effects_of(data, "stage")
        for other in others:
            two = made[made.stage.isin([first, other])].assign(y=lambda some, other=other: (some.stage == other) * 1)
            fit = smf.logit(f"y ~ {FORMULA}", two).fit(disp=0)
            one = found(effects, "smoker", "yes vs no", f"{other} vs {first}")
            low, high = np.exp(fit.conf_int().loc["C(smoker)[T.yes]"])
            expected = [math.exp(fit.params["C(smoker)[T.yes]"]), low, high]
            assert [one.estimate, one.low, one.high] == pytest.approx(expected, rel=1e-6)

    def test_categories_alone_are_counted_by_pattern(self):
        data = self.data[["smoker", "ward", "ill"]]
        made = data.assign(y=(data.ill == "yes").astype(int))
        fit = smf.logit("y ~ C(smoker) + C(ward, Treatment('b'))", made).fit(disp=0)
        one = found(effects_of(data, "ill", ["smoker", "ward"]), "smoker", "yes vs no")
        low, high = np.exp(fit.conf_int().loc["C(smoker)[T.yes]"])
        expected = [math.exp(fit.params["C(smoker)[T.yes]"]), low, high]
        assert [one.estimate, one.low, one.high] == pytest.approx(expected, rel=1e-6)

    def test_rows_with_holes(self):
        data = self.data.copy()
        data.loc[::7, "ward"] = None
        effects, whole = effects_of(data, "ill"), effects_of(data.dropna(), "ill")
        assert effects.n_rows == len(data.dropna())
        assert f"the {len(data.dropna())} rows of 800 that have all of these values" in effects.notes[0]
        assert effects.of("smoker").estimate == pytest.approx(whole.of("smoker").estimate, rel=1e-6)

    def test_groups(self):
        data = self.data[["smoker", "ill"]].assign(house=np.arange(800) // 4)
        design = sm.add_constant((data.smoker == "yes").astype(float))
        y = (data.ill == "yes").astype(float)
        fit = sm.GLM(y, design, sm.families.Binomial()).fit(cov_type="cluster", cov_kwds={"groups": data.house})
        one = effects_of(data, "ill", ["smoker"], reading={"groups": "house"}).of("smoker")
        assert [one.low, one.high] == pytest.approx(np.exp(fit.conf_int().iloc[1]).tolist(), rel=1e-5)

    def test_weights_are_rows(self):
        data = self.data.assign(times=np.arange(800) % 3)
        one = effects_of(data, "ill", reading={"sample_weight": "times"})
        again = effects_of(self.data.loc[self.data.index.repeat(np.arange(800) % 3)], "ill")
        assert one.n_rows == again.n_rows == 799
        assert one.of("crp") == again.of("crp")


class TestHeldFixed:
    """Where one regression on all members is not enough."""

    def bent(self, n, seed, shared):
        """Return a confounder that acts as ``shared`` says, and a dose with an effect of 0.3 a unit."""
        rng = np.random.default_rng([seed, n])
        age, other = rng.normal(size=(2, n))
        made = pd.DataFrame({"age": age, "sex": np.where(other > 0, "f", "m"), "other": other})
        act = shared(made)
        made["dose"] = act + rng.normal(size=n)
        made["pain"] = act + 0.3 * made.dose + rng.normal(size=n)
        made["ill"] = rng.random(n) < 1 / (1 + np.exp(-act - 0.3 * made.dose))
        return made

    def test_residuals_on_residuals(self):
        data = self.bent(1000, 1, lambda d: 0.7 * (d.age**2 - 1))
        one = effects_of(data, "pain", ["dose", "age"]).of("dose")
        sd = data.dose.std(ddof=0)
        table = GivenFunctions([Values(data.age.to_numpy(), is_number=True)].__getitem__, Draws(1000))
        tested = data[["dose", "pain"]].to_numpy().T
        held = held_beside(table, [0], data[["age"]].to_numpy().T, tested)
        left = (tested - held.predicted).T  # less what else is held fixed; then age and the constant
        left = sm.OLS(left, sm.add_constant(data.age.to_numpy())).fit().resid
        slope = sm.OLS(left[:, 1], left[:, 0]).fit().params[0]
        assert one.estimate == pytest.approx(slope * sd, rel=1e-8)
        # HC3 in the regression on all that is held fixed: its leverage is the sum of those of both steps.
        full = np.vstack([np.ones(1000), data.age]).T
        leverage = np.einsum("ij,jk,ik->i", full, np.linalg.inv(full.T @ full), full) + held.taken
        leverage += left[:, 0] ** 2 / (left[:, 0] ** 2).sum()
        wrong = left[:, 1] - slope * left[:, 0]
        error = np.sqrt((left[:, 0] ** 2 * (wrong / (1 - leverage)) ** 2).sum()) / (left[:, 0] ** 2).sum()
        freedom = 1000 - round(leverage.sum())
        assert one.high - one.low == pytest.approx(2 * sd * error * scipy.stats.t.ppf(0.975, freedom), rel=1e-4)

    @pytest.mark.parametrize("target", ["pain", "ill"])
    @pytest.mark.parametrize(
        ("shared", "given"),
        [
            (lambda d: d.age, ["age"]),
            (lambda d: 0.7 * (d.age**2 - 1), ["age"]),
            (lambda d: np.clip(1.5 * d.age, -9, 0.5), ["age"]),
            (lambda d: d.age * (d.sex == "f"), ["age", "sex"]),
            (lambda d: d.age * d.other, ["age", "other"]),
        ],
        ids=["line", "U", "plateau", "sex by age", "product"],
    )
    def test_intervals_cover(self, shared, given, target):
        """So many intervals cover the effect in all but one of 400 runs of the test."""
        covered = 0
        for seed in range(40):
            data = self.bent(300, seed, shared)
            found = effects_of(data[["dose", *given, target]], target, ["dose", *given]).contrasts["dose"]
            one = next(each for each in found if each.compared.startswith("per") and "where" not in each.compared)
            true = 0.3 * data.dose.std(ddof=0)
            covered += one.low <= (true if target == "pain" else np.exp(true)) <= one.high
        assert covered >= scipy.stats.binom.ppf(0.0025, 40, 0.95)

    def test_what_one_regression_says_of_a_bend_is_wrong(self):
        data = self.bent(1000, 3, lambda d: 0.7 * (d.age**2 - 1))
        additive = smf.ols("pain ~ dose + age", data).fit()
        assert additive.conf_int().loc["dose", 0] > 0.3  # far from the truth
        effects = effects_of(data, "pain", ["dose", "age"])
        assert effects.curved
        assert "their curves and products included" in effects.model

    def test_effects_that_differ_are_told_part_by_part(self):
        rng = np.random.default_rng(1)
        n = 3000
        drug, marker, age = rng.integers(0, 2, n), rng.integers(0, 2, n), rng.normal(60, 10, n)
        index = 0.3 * drug + 1.2 * (drug - 0.5) * (2 * marker - 1) + 0.05 * (age - 60)
        data = pd.DataFrame({"drug": drug == 1, "marker": np.where(marker, "high", "low"), "age": age})
        data["ill"] = np.where(rng.random(n) < 1 / (1 + np.exp(-index)), "yes", "no")
        effects = effects_of(data, "ill", ["drug", "marker", "age"])
        fit = smf.logit("y ~ C(marker) + C(marker):drug + age", data.assign(y=(data.ill == "yes") * 1, drug=drug)).fit(
            disp=0
        )
        expected = np.exp(fit.conf_int().assign(estimate=fit.params))
        for level in ("high", "low"):
            one = found(effects, "drug", f"True vs False where marker = {level}")
            theirs = expected.loc[f"C(marker)[{level}]:drug"].tolist()
            assert [one.low, one.high, one.estimate] == pytest.approx(theirs, rel=0.02)
        assert not any("where" in one.compared for one in effects.contrasts["age"])

    def test_effects_that_are_the_same_are_told_once(self):
        """With a level of 0.01 for all comparisons of a table, chance tells 2 or more of 20 in one of 60 runs."""
        told = 0
        for seed in range(20):
            effects = effects_of(table(600, seed)[[*MEMBERS, "score"]], "score")
            told += any("where" in one.compared for some in effects.contrasts.values() for one in some)
        assert told < 2

    def test_parts_of_a_number_are_above_and_below_its_median(self):
        rng = np.random.default_rng(2)
        x, z = rng.normal(size=(2, 1000))
        data = pd.DataFrame({"x": x, "z": z, "y": x * np.sign(z - np.median(z)) + rng.normal(size=1000)})
        effects = effects_of(data, "y", ["x", "z"])
        sd, middle = x.std(), np.median(z)
        for words, here in ((f"up to {middle:.4g}", z <= middle), (f"above {middle:.4g}", z > middle)):
            one = found(effects, "x", f"per {sd:.3g} (1 SD) where z {words}")
            fit = smf.ols("y ~ x + z", data[here]).fit(cov_type="HC3")
            assert one.estimate == pytest.approx(fit.params["x"] * sd, abs=0.5 * fit.bse["x"])
            assert one.high - one.low == pytest.approx(2 * 1.96 * fit.bse["x"] * sd, rel=0.1)


class TestSeparation:
    def test_a_limit_in_place_of_nonsense(self):
        x = np.repeat(["no", "no", "yes"], [30, 30, 20])
        y = np.repeat(["a", "b", "b"], [30, 30, 20])
        effects = effects_of(pd.DataFrame({"x": x, "y": y}), "y", ["x"])
        one = effects.of("x")
        assert one.high is None
        assert math.isnan(one.estimate)
        # The limit that tests/stats/test_regression.py derives from the likelihood.
        assert one.low == pytest.approx(9.3477, rel=0.01)
        assert effects.cells("x") == ["yes vs no", f"above {one.low:.2g}"]

    def test_beside_a_member_that_tells_all_nothing_is_known(self):
        y = np.arange(200) % 2
        data = pd.DataFrame({"copy": np.where(y, "x", "z"), "noise": np.arange(200) % 3 == 0, "y": y})
        effects = effects_of(data, "y", ["copy", "noise"])
        assert effects.cells("noise")[-1] == "-"
        assert not effects.of("noise").limited
        assert "not known, True vs False" in effects.sentence("noise")


class TestRoom:
    def test_the_strongest_members_that_fit(self):
        data = table(80)[[*MEMBERS, "ill"]]
        rarer = int(data.ill.value_counts().min())
        many = data.assign(town=[f"t{k % 8}" for k in range(80)])
        effects = effects_of(many, "ill", ["town", *MEMBERS])
        held = effects.held
        assert sum(len(effects.contrasts[name]) for name in held) <= rarer / 5
        assert set(held) < {"town", *MEMBERS}
        assert any("has no room for more members" in note and f"given {held[0]}" in note for note in effects.notes)

    def test_too_few_rows_at_all(self):
        effects = effects_of(pd.DataFrame({"x": list("ab" * 10), "y": [1] + [0] * 19}), "y", ["x"])
        assert effects.held == ()
        assert effects.notes == ("Rows are too few for effects in numbers.",)
        assert effects.cells("x") == ["-", "-"]

    def test_rare_levels_are_joined(self):
        rng = np.random.default_rng(1)
        town = rng.choice(60, 3000, p=np.linspace(1, 2, 60) / np.linspace(1, 2, 60).sum())
        data = pd.DataFrame({"town": [f"t{k}" for k in town], "y": rng.integers(0, 2, 3000)})
        compared = [one.compared for one in effects_of(data, "y", ["town"]).contrasts["town"]]
        assert len(compared) == MOST_LEVELS
        assert sum(one.startswith("other levels vs") for one in compared) == 1

    def test_a_member_that_others_tell(self):
        data = table()[["smoker", "ill"]].assign(tobacco=lambda made: np.where(made.smoker == "yes", 1, 0))
        effects = effects_of(data, "ill", ["smoker", "tobacco"], reading={"keep": ["tobacco"]})
        assert effects.held == ("smoker",)
        assert effects.notes == ("No effect in numbers for tobacco: other members tell its values exactly.",)

    def test_many_rows_are_drawn_class_by_class(self):
        rng = np.random.default_rng(2)
        x = rng.random(150_000) < 0.5
        y = rng.random(150_000) < np.where(x, 0.02, 0.01)
        effects = effects_of(pd.DataFrame({"x": x, "y": y}), "y", ["x"])
        assert effects.n_rows == 25_000 + y.sum()  # all of the rare class, a part of the other
        assert effects.notes == ("Effects are from rows drawn at random.",)
        a, b, c, d = (np.sum((x == i) & (y == j)) for i in (True, False) for j in (True, False))
        assert math.log(effects.of("x").estimate) == pytest.approx(math.log(a * d / (b * c)), abs=0.05)


class TestLabels:
    data = table(4000)[["smoker", "ill"]]

    def odds_ratio(self, data):
        counts = pd.crosstab(data.smoker, data.ill)
        return counts.loc["yes", "yes"] * counts.loc["no", "no"] / (counts.loc["yes", "no"] * counts.loc["no", "yes"])

    def test_positives_only_have_risk_ratios(self):
        labeled = (self.data.ill == "yes") & (np.arange(4000) % 3 == 0)
        data = self.data.assign(ill=self.data.ill.where(labeled))
        effects = effects_of(data, "ill", ["smoker"], labels="pu")
        share = labeled.groupby(data.smoker).mean()
        assert effects.measure == "risk ratio"
        assert effects.of("smoker").estimate == pytest.approx(share["yes"] / share["no"], rel=1e-6)

    def test_with_propensities_a_labeled_row_stands_for_several(self):
        # Smokers are labeled more often: what counts is the mean of 1/propensity over labeled rows, 0 for the others.
        chance = np.where(self.data.smoker == "yes", 0.8, 0.3)
        labeled = (self.data.ill == "yes") & (np.random.default_rng(3).random(4000) < chance)
        data = self.data.assign(ill=self.data.ill.where(labeled), chance=chance)
        found = bl.discover(data, "ill", labels=bl.PositiveUnlabeled(propensity="chance"))  # nothing is left out
        assert found.members == ("smoker",)
        share = (labeled / chance).groupby(data.smoker).mean()
        assert found.effects.of("smoker").plain[0] == pytest.approx(share["yes"] / share["no"], rel=1e-6)
        assert "each labeled row counts as one divided by its propensity" in str(found)

    def test_what_labeling_depends_on_is_in_the_regression(self):
        rng, smokes = np.random.default_rng(6), self.data.smoker == "yes"
        near = np.where(rng.random(4000) < np.where(smokes, 0.8, 0.3), "near", "far")
        labeled = (self.data.ill == "yes") & (rng.random(4000) < np.where(near == "near", 0.8, 0.3))
        data = self.data.assign(ill=self.data.ill.where(labeled), road=near)
        found = bl.discover(data, "ill", labels=bl.PositiveUnlabeled(drivers="road"))
        design = sm.add_constant(np.column_stack([smokes, near == "near"]).astype(float))
        fit = sm.GLM(labeled.astype(float), design, family=sm.families.Poisson()).fit()
        assert found.effects.of("smoker").estimate == pytest.approx(np.exp(fit.params.iloc[1]), rel=1e-5)
        assert found.effects.also_given == ("road",)

    def test_odds_ratios_are_given_the_columns_found_to_drive_labeling(self):
        rng, smokes = np.random.default_rng(3), (self.data.smoker == "yes").to_numpy()
        road = np.where(rng.random(4000) < np.where(smokes, 0.8, 0.3), "near", "far")
        labeled = rng.random(4000) < np.where(road == "near", 0.8, 0.3)
        data = self.data.assign(ill=self.data.ill.where(labeled), road=road)
        found = bl.discover(data, "ill", labels="mar-f")
        assert found.settings["drivers"] == ["road"]
        design = sm.add_constant(np.column_stack([smokes, road == "near"]).astype(float)[labeled])
        fit = sm.Logit((data.ill[labeled] == "yes").astype(float).to_numpy(), design).fit(disp=0)
        assert found.effects.of("smoker").estimate == pytest.approx(np.exp(fit.params[1]), rel=1e-5)
        assert found.effects.also_given == ("road",)
        # A driver that is a member has an effect of its own.
        labeled = rng.random(4000) < np.where(smokes, 0.8, 0.3)
        found = bl.discover(self.data.assign(ill=self.data.ill.where(labeled)), "ill", labels="mar-f")
        assert found.settings["drivers"] == ["smoker"]
        assert found.effects.also_given == ()
        assert found.effects.of("smoker").plain[0] == pytest.approx(self.odds_ratio(self.data[labeled]), rel=1e-6)

    def test_odds_ratios_of_wrong_labels_are_called_so(self):
        effects = effects_of(self.data, "ill", ["smoker"], labels=bl.Noisy(0.05, 0.05))
        assert "wrong ones bring them nearer to 1" in " ".join(effects.notes)
        assert effects.of("smoker").estimate == pytest.approx(self.odds_ratio(self.data), rel=1e-6)

    def test_positives_collected_apart(self):
        # Odds of "labeled" are proportional to p(x | y=1) / p(x), and so to the risk.
        positives = self.data[self.data.ill == "yes"].sample(500, random_state=1)
        data = pd.concat([positives, self.data.assign(ill=None)], ignore_index=True)
        labels = bl.PositiveUnlabeled(sampling="case-control")
        one = effects_of(data, "ill", ["smoker"], labels=labels).of("smoker")
        share = positives.smoker.value_counts(normalize=True) / self.data.smoker.value_counts(normalize=True)
        assert one.estimate == pytest.approx(share["yes"] / share["no"], rel=1e-6)

    @pytest.mark.parametrize("labels", ["mcar", "mar-c", "mar-f"])
    def test_some_labels(self, labels):
        kept = np.arange(4000) % 4 == 0
        data = self.data.assign(ill=self.data.ill.where(kept))
        effects = effects_of(data, "ill", ["smoker"], labels=labels)
        assert (effects.measure, effects.n_rows) == ("odds ratio", 1000)
        assert effects.of("smoker").estimate == pytest.approx(self.odds_ratio(self.data[kept]), rel=1e-6)


@pytest.fixture(scope="module")
def blanket():
    return bl.discover(TestInTheAnswer.data, "ill")


class TestInTheAnswer:
    data = table(2000)[[*MEMBERS, "ill"]]

    def test_table_and_explanation(self, blanket):
        told = str(blanket)
        for name in blanket.members:
            compared, estimate = blanket.effects.cells(name)
            assert compared in told
            assert estimate in " ".join(str(blanket.explain(name)).split())
        assert "nats" not in told
        assert "odds ratio: of ill = yes, given the other members." in told
        assert f"Effects are from {blanket.effects.model}." in " ".join(str(blanket.explain()).split())

    def test_frames(self, blanket):
        frame = blanket.to_frame()
        assert frame.member.tolist() == list(blanket.members)
        assert frame.estimate.tolist() == [blanket.effects.of(name).estimate for name in blanket.members]
        assert len(blanket.effects.to_frame()) == sum(map(len, blanket.effects.contrasts.values()))
        ranking = bl.rank(self.data, "ill")
        assert ranking.to_frame().name.tolist() == list(ranking.names)

    def test_saved_and_read_back(self, blanket):
        again = bl.Blanket.from_json(blanket.to_json())
        assert again.effects == blanket.effects
        assert str(again) == str(blanket)

    def test_no_limit_is_saved_as_none(self):
        one = Contrast(compared="yes vs no", estimate=math.nan, low=14.2, high=None)
        effects = Effects(measure="odds ratio", target="ill", outcome="yes", contrasts={"x": (one,)}, n_rows=9)
        made = bl.discover(self.data, "ill", algorithm="iamb")
        object.__setattr__(made, "effects", effects)
        assert bl.Blanket.from_json(made.to_json()).effects.of("x").high is None

    def test_a_bend_is_shown_by_thirds(self):
        rng = np.random.default_rng(4)
        x = rng.normal(size=1500)
        data = pd.DataFrame({"x": x, "y": x**2 + rng.normal(size=1500), "w": rng.normal(size=1500)})
        blanket = bl.discover(data, "y")
        low, high = np.quantile(x, [1 / 3, 2 / 3])
        means = data.groupby(np.where(x < low, "low", np.where(x > high, "high", "middle"))).y.mean()
        found = {one.compared.split(" vs ")[0]: one.estimate for one in blanket.effects.contrasts["x"]}
        assert found[f"below {low:.4g}"] == pytest.approx(means["low"] - means["middle"], rel=1e-9)
        assert found[f"above {high:.4g}"] == pytest.approx(means["high"] - means["middle"], rel=1e-9)
        assert blanket.effects.of("x").tells("difference")

    def test_thirds_that_are_one_value_are_called_by_it(self):
        rng = np.random.default_rng(4)
        visits = np.where(rng.random(1500) < 0.7, 0.0, rng.exponential(5, size=1500))
        pain = 2.0 * (visits > 0) - 0.2 * visits + rng.normal(size=1500)
        data = pd.DataFrame({"visits": visits, "pain": pain, "w": rng.normal(size=1500)})
        found = {one.compared: one.estimate for one in bl.discover(data, "pain").effects.contrasts["visits"]}
        assert found["above 0 vs 0"] == pytest.approx(pain[visits > 0].mean() - pain[visits == 0].mean(), rel=1e-9)

    def test_a_member_without_a_clear_comparison_is_marked(self, blanket):
        name = blanket.members[0]
        unclear = Contrast(compared="yes vs no", estimate=1.1, low=0.9, high=1.3)
        effects = Effects(measure="odds ratio", target="ill", outcome="yes", contrasts={name: (unclear,)}, n_rows=2000)
        made = bl.Blanket.from_json(blanket.to_json())
        object.__setattr__(made, "effects", effects)
        assert "1.1 (0.9 to 1.3)*" in str(made)
        assert f"* One comparison does not show how the target depends on {name}" in " ".join(str(made).split())
        assert "it may differ by the other members, or be curved" in " ".join(str(made.explain(name)).split())

    def test_a_graph_has_no_rows(self):
        from blankets.independence import DSeparation
        from blankets.results import describe
        from blankets.search import Trace, find

        tests, trace = DSeparation(nx.DiGraph([("rain", "wet")])), Trace()
        made = find("iamb").run(tests, 0, [1], alpha=0.01, trace=trace)
        evidence = tests.drop_one(made.members, 0)
        how = {"algorithm": find("iamb"), "settings": {"alpha": 0.01}, "n_rows": 1, "n_tests": 1, "seconds": 0.0}
        blanket = describe(made, trace, names=tests.names, target=0, evidence=evidence, **how)
        assert blanket.effects is None
        assert "odds ratio" not in str(blanket)

    def test_partial_correlation(self):
        data = table()[["age", "crp", "score"]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            blanket = bl.discover(data, "score", test="fisher-z")
        assert blanket.effects.measure == "difference"
        assert set(blanket.effects.held) == set(blanket.members)


def test_survey_weights():
    data = table()[["smoker", "ill"]].assign(w=np.linspace(0.5, 2.0, 800))
    one = effects_of(data, "ill", ["smoker"], reading={"survey_weight": "w"}).of("smoker")
    sums = data.groupby(["smoker", "ill"]).w.sum()
    expected = sums["yes", "yes"] * sums["no", "no"] / (sums["yes", "no"] * sums["no", "yes"])
    assert one.estimate == pytest.approx(expected, rel=1e-6)
    assert one.low < expected < one.high


def test_patterns_of_more_combinations_than_a_number_has():
    rng = np.random.default_rng(8)
    columns = [rng.integers(0, 50, 40) for _ in range(15)]  # 50**15 is above 2**63
    columns = [np.concatenate([column, column[:10]]) for column in columns]
    classes = np.repeat([0, 1], [40, 10])  # the last ten rows are the first ten again, in the other class
    row, counts = _patterns(columns, classes, 2)
    stacked = np.stack(columns, axis=1)
    expected = {tuple(values): [1, int(i < 10)] for i, values in enumerate(stacked[:40].tolist())}
    assert {tuple(stacked[at].tolist()): some.tolist() for at, some in zip(row, counts, strict=True)} == expected


@pytest.mark.filterwarnings("ignore::blankets.errors.BlanketsWarning")
def test_effects_beside_what_is_always_given_and_what_belongs_together():
    """The regression holds the columns that every test was given, and the footnotes say so."""
    data = table()[["smoker", "ward", "age", "ill"]]
    rng = np.random.default_rng(8)
    data["pipe"] = np.where(rng.random(len(data)) < 0.7, data.smoker, "no")
    known = bl.Knowledge(always_given=["ward"], together=[["smoker", "pipe"]])
    blanket = bl.discover(data, "ill", knowledge=known)
    assert set(blanket.members) == {"smoker", "pipe", "age"}
    z = (data.age - data.age.mean()) / data.age.std(ddof=0)
    made = data.assign(y=(data.ill == "yes").astype(int), z=z)
    fit = smf.logit("y ~ z + C(smoker) + C(pipe) + C(ward)", made).fit(disp=0)
    effects = blanket.effects
    assert effects.also_given == ("ward",)
    assert set(effects.contrasts) == set(blanket.members)
    # Chance lets a curve in, which moves an effect by a part of its standard error.
    assert np.log(effects.of("smoker").plain[0]) == pytest.approx(
        fit.params["C(smoker)[T.yes]"], abs=0.25 * fit.bse["C(smoker)[T.yes]"]
    )
    said = " ".join(str(blanket).split())
    assert "given the other members and ward." in said
    assert "pipe and smoker are tested as one: p and size are those of all of them together." in said
    assert "pipe and ward: " in effects.sentence("smoker")
    assert "*" not in said  # the p-value of two columns says nothing about one comparison of one of them


def test_what_every_test_was_given_may_be_too_much_for_a_regression():
    data = table(60)[["smoker", "ill"]].assign(site=np.arange(60) % 12)
    with open_study(data, "ill") as study:
        effects = member_effects(study, study.target, [study.index("smoker")], [study.index("site")])
    assert effects.also_given == ()
    assert "These effects are not given site, for which the regression has no room." in effects.notes
