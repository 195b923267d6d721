"""After a run: what must hold for a blanket (`check_assumptions`), and attempts to refute it (`refute`)."""

import json
from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest

import blankets as bl
from blankets.errors import DataError, ParameterError
from blankets.regimes import ASSUMED
from blankets.results import Blanket, NamedEvidence, Refutation
from blankets.search import Trouble
from blankets.study import Search

N = 1500


def table(seed=0):
    rng = np.random.default_rng(seed)
    ill = rng.random(N) < 0.4
    return pd.DataFrame(
        {
            "cough": rng.random(N) < np.where(ill, 0.7, 0.2),
            "fever": rng.random(N) < np.where(ill, 0.6, 0.3),
            "dose": rng.choice(["low", "mid", "high"], N),
            "town": rng.choice(["north", "south"], N),
            "ill": ill.astype(int),
        }
    )


def partly(kind, seed=0):
    rng = np.random.default_rng(seed + 100)
    whole = table(seed)
    seen = {
        "mcar": rng.random(N) < 0.5,
        "mar-f": rng.random(N) < np.where(whole.town == "north", 0.7, 0.3),
        "mar-c": rng.random(N) < np.where(whole.ill == 1, 0.6, 0.3),
        "pu": (rng.random(N) < 0.6) & (whole.ill == 1),
    }[kind]
    return whole.assign(ill=np.where(seen, whole.ill, np.nan))


class TestAssumptions:
    def verdicts(self, blanket):
        return {check.name: check.verdict for check in blanket.check_assumptions()}

    def test_an_ordinary_blanket(self):
        found = bl.discover(table(), "ill", algorithm="iamb").check_assumptions()
        assert found.doubtful == ()
        assert found["tests keep their level"].verdict == "fine"
        assert found["rows are independent"].verdict == "not seen"
        assert all(check.words.endswith(".") and check.next_step.endswith(".") for check in found)
        assert repr(found).startswith("Assumptions behind the blanket of ill: ")
        with pytest.raises(KeyError, match="no assumption 'rows'; there are"):
            found["rows"]

    def test_thin_strata(self):
        rng = np.random.default_rng(1)
        wide = pd.DataFrame(rng.integers(0, 3, (200, 6)), columns=list("abcdef"))
        wide["y"] = np.where(rng.random(200) < 0.5, wide.a, wide.b)
        thin = bl.discover(wide, "y", algorithm="iamb", alpha=0.05, test="g")
        assert self.verdicts(thin)["tests keep their level"] == "doubtful"
        assert "test='auto'" in thin.check_assumptions()["tests keep their level"].next_step
        calibrated = bl.discover(wide, "y", algorithm="iamb", alpha=0.05, test="auto")
        assert self.verdicts(calibrated)["tests keep their level"] == "fine"

    def test_chance(self):
        rng = np.random.default_rng(2)
        noise = pd.DataFrame(rng.integers(0, 2, (400, 60))).add_prefix("x").assign(y=rng.integers(0, 2, 400))
        found = bl.discover(noise, "y", algorithm="iamb", alpha=0.05)
        assert len(found) > 0
        assert self.verdicts(found)["members are not there by chance"] == "doubtful"
        none = bl.discover(table(), "ill", algorithm="ks", options={"n_features": 2})
        assert self.verdicts(none)["members are not there by chance"] == "not seen"
        assert self.verdicts(none)["the search is right"] == "doubtful"

    def test_copies_of_the_target(self):
        with pytest.warns(bl.errors.DuplicateColumnWarning, match="equal to the target"):
            found = bl.discover(table().assign(again=lambda t: t.ill), "ill", algorithm="iamb")
        check = found.check_assumptions()["no copy of the target"]
        assert (check.verdict, "exclude=['again']" in check.next_step) == ("violated", True)
        assert found.check_assumptions().doubtful[0] == "no copy of the target"

    def test_columns_that_tell_each_other(self):
        letters = table().assign(quiet=lambda t: np.where(t.cough, 0, 1))
        with pytest.warns(bl.errors.DuplicateColumnWarning, match="may lack members"):
            found = bl.discover(letters, "ill", algorithm="pcmb", close=False)
        assert self.verdicts(found)["dependences are those of a graph"] == "violated"

    def test_repeated_columns(self):
        with pytest.warns(bl.errors.DuplicateColumnWarning, match="left out"):
            found = bl.discover(table().assign(again=lambda t: t.cough), "ill", algorithm="iamb")
        assert self.verdicts(found)["dependences are those of a graph"] == "doubtful"

    @pytest.mark.parametrize("labels", ["pu", "mcar", "mar-f", "mar-c"])
    def test_labels(self, labels):
        found = bl.discover(partly(labels), "ill", labels=labels, algorithm="iamb").check_assumptions()
        assert found["labels"].verdict == "not seen"
        assert ("the share of positives" in {c.name for c in found}) == (labels in ("pu", "mar-c"))

    def test_priors_and_forced_surrogates(self):
        known = bl.discover(partly("pu"), "ill", labels="pu", prior=0.4, algorithm="iamb")
        assert self.verdicts(known)["the share of positives"] == "not seen"
        unknown = bl.discover(partly("pu"), "ill", labels="pu", algorithm="iamb")
        assert self.verdicts(unknown)["the share of positives"] == "doubtful"
        forced = bl.discover(
            partly("mar-c"),
            "ill",
            algorithm="iamb",
            labels=bl.SemiSupervised("mar-c", surrogate="pairwise", force=True),
        )
        assert self.verdicts(forced)["labels"] == "violated"

    def test_few_rows(self):
        few = table().iloc[:40].assign(many=[f"l{i % 13}" for i in range(40)])
        with pytest.warns(bl.errors.TooFewRowsWarning):
            found = bl.discover(few, "ill", algorithm="iamb")
        verdicts = self.verdicts(found)
        assert verdicts["tests could be done"] == "doubtful"
        assert verdicts["weak members would be seen"] == "doubtful"
        assert "many" in found.check_assumptions()["tests could be done"].words

    def test_deleted_rows_binning_and_roles(self):
        rng = np.random.default_rng(3)
        gappy = table().assign(age=np.where(rng.random(N) < 0.3, np.nan, rng.normal(50, 9, N)))
        how = {"algorithm": "iamb", "missing": "drop", "roles": True}
        assert self.verdicts(bl.discover(gappy, "ill", **how))["no pure interaction"] == "not seen"
        found = bl.discover(gappy, "ill", **how, discretize="sturges")
        verdicts = self.verdicts(found)
        assert verdicts["deleted rows are like the others"] == "doubtful"
        assert verdicts["cutting loses nothing"] == "not seen"
        assert verdicts["roles are causal"] == "not seen"

    def test_normal_distributions_are_assumed_by_correlations(self):
        numbers = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=list("abc"))
        check = bl.discover(numbers, "a", test="fisher-z").check_assumptions()["tests keep their level"]
        assert (check.verdict, "jointly normal" in check.words) == ("not seen", True)

    def test_labels_that_may_be_wrong(self):
        blanket = bl.discover(table(), "ill", algorithm="iamb")
        for regime in ("noisy", "predicted", "pu"):
            told = replace(blanket, settings={**blanket.settings, "labels": regime}).check_assumptions()["labels"]
            assert (told.verdict, ASSUMED[regime] in told.words) == ("not seen", True)

    def test_a_search_that_was_stopped(self):
        blanket = bl.discover(table(), "ill", algorithm="iamb")
        for trouble in (Trouble.CYCLED, Trouble.NOT_INTERLEAVED, Trouble.CAPPED, Trouble.KEPT, Trouble.BEYOND_ROWS):
            stopped = replace(blanket, troubles=(trouble,))
            assert self.verdicts(stopped)["the search is right"] == "doubtful"

    def test_a_result_that_says_little(self):
        evidence = NamedEvidence(x="a", y="y", statistic=9.0, dof=0, log_p=-6.0, effect=0.1, n_rows=45)
        bare = Blanket(
            target="y",
            members=("a",),
            strengths={"a": evidence},
            algorithm="x",
            settings={},
            columns=("a", "y"),
            n_rows=45,
        )
        assert self.verdicts(bare)["tests keep their level"] == "fine"

    def test_html_and_json(self):
        odd = table().rename(columns={"cough": "<i>cough", "ill": "<b>ill"})
        found = bl.discover(odd, "<b>ill", algorithm="iamb").check_assumptions()
        assert "<b>ill" not in found._repr_html_()
        content = json.loads(found.to_json())
        assert (content["schema"], len(content["checks"])) == ("blankets/assumptions", len(found))
        assert set(content["checks"][0]) == {"name", "verdict", "words", "next_step"}


class TestRefute:
    @pytest.fixture(autouse=True)
    def _learned_once(self, request, monkeypatch):
        """The learned prediction takes seconds; where other trials are asked about it is left out."""
        if request.node.name not in ("test_a_true_blanket_stands", "test_html_and_json"):
            monkeypatch.setattr("blankets.questions.refute.second_opinion", lambda *_: None)

    def test_a_true_blanket_stands(self):
        blanket = bl.discover(table(), "ill")
        tried = blanket.refute(table(), n_resamples=8, rng=1)
        assert tried.stands
        assert set(tried["row subsets"].figures) == {"cough", "fever"} == set(tried.members)
        assert tried["row subsets"].figures == {"cough": 1.0, "fever": 1.0}
        assert tried["row subsets"].words.endswith("each member was found in all of them.")
        assert [trial.name for trial in tried if trial.verdict == "not asked"] == ["priors", "fewer labels"]
        assert "it stands, 5 passed, 2 not asked" in repr(tried)
        assert (tried.call.function, tried.call.seed) == ("refute", 1)

    def test_a_false_blanket_falls(self):
        """A search at level 0.3 among 40 columns of noise collects chance members, which halves do not share."""
        rng = np.random.default_rng(5)
        noise = pd.DataFrame(rng.integers(0, 2, (200, 40))).add_prefix("x").assign(y=rng.integers(0, 2, 200))
        blanket = bl.discover(noise, "y", algorithm="pcmb", alpha=0.01)
        false = replace(blanket, members=("x3",), strengths={"x3": blanket_evidence("x3")})
        tried = false.refute(noise, n_resamples=10, rng=0)
        assert not tried.stands
        assert tried["same data"].verdict == "failed"
        assert tried["row subsets"].verdict == "failed"
        assert "lost x3" in tried["same data"].words

    def test_a_trial_passed_with_more_than_is_expected_says_why(self):
        """Three columns at level 0.05: 0.15 members by chance, so that one in four draws, 0.25, is more."""
        rng = np.random.default_rng(0)
        ill = rng.random(400) < 0.4
        three = {"cough": rng.random(400) < np.where(ill, 0.7, 0.2), "hair": ill[::-1], "eyes": rng.random(400) < 0.5}
        blanket = bl.discover({**three, "ill": ill}, "ill", alpha=0.05)
        tried = [blanket.refute({**three, "ill": ill}, n_resamples=4, rng=seed)["permuted target"] for seed in range(6)]
        passed = [trial for trial in tried if trial.verdict == "passed"]
        assert {trial.figures["found"] for trial in passed} >= {0.0, 0.25}
        for trial in tried:
            more = trial.figures["found"] > 0.15 and trial in passed
            assert trial.words.endswith("So few draws may have more.") == more

    def test_tests_without_a_level_fall(self, monkeypatch):
        """A search that finds everything dependent finds it of a shuffled target too."""
        blanket = bl.discover(table(), "ill", algorithm="iamb")

        search = Search.blanket_of

        def everything(self, target):
            found = search(self, target)
            names = [name for name in found.columns if name != "ill"]
            return replace(found, members=tuple(names), strengths={x: blanket_evidence(x) for x in names})

        monkeypatch.setattr(Search, "blanket_of", everything)
        tried = bl.refute(blanket, table(), n_resamples=3, rng=0)
        assert tried["permuted target"].verdict == "failed"
        assert tried["noise columns"].verdict == "failed"

    def test_the_same_seed_gives_the_same_answer_on_any_number_of_threads(self):
        blanket = bl.discover(table(), "ill", algorithm="kiamb", rng=4, options={"k": 0.6})
        first, second = (blanket.refute(table(), n_resamples=6, rng=9, n_jobs=n) for n in (1, 2))
        assert [asdict(trial) for trial in first] == [asdict(trial) for trial in second]
        assert first["same data"].verdict == "passed"  # the seed of the search is known

    @pytest.mark.parametrize("labels", ["pu", "mcar", "mar-f", "mar-c"])
    def test_regimes(self, labels):
        data = partly(labels)
        tried = bl.discover(data, "ill", labels=labels, algorithm="iamb").refute(data, n_resamples=4, rng=0)
        assert tried["same data"].verdict == "passed"
        assert tried["fewer labels"].verdict == "passed"
        assert (tried["priors"].verdict == "not asked") == (labels in ("mcar", "mar-f"))
        assert set(tried["fewer labels"].figures) == set(tried.members)

    @pytest.mark.parametrize("prior", [0.4, "<0.6", ">0.2", (0.2, 0.6), bl.Beta(mode=0.4, low=0.2, high=0.6)])
    def test_what_was_known_of_the_prior_is_said_again(self, prior):
        data = partly("pu")
        blanket = bl.discover(data, "ill", labels="pu", prior=prior, algorithm="iamb")
        assert blanket.refute(data, n_resamples=1, rng=0)["same data"].verdict == "passed"

    def test_positives_collected_apart_and_objects_that_are_gone(self):
        from scipy.stats import beta

        data = partly("pu")
        apart = bl.discover(data, "ill", labels=bl.PositiveUnlabeled(0.4, sampling="case-control"), algorithm="iamb")
        assert apart.refute(data, n_resamples=1, rng=0)["same data"].verdict == "passed"
        drawn = bl.discover(data, "ill", labels="pu", prior=beta(4, 6), algorithm="iamb")
        assert drawn.refute(data, n_resamples=1, rng=0)["same data"].verdict == "passed"
        assert drawn.refute(data, n_resamples=1, rng=0, prior=beta(4, 6))["same data"].verdict == "passed"
        again = drawn.refute(data, n_resamples=1, rng=0, labels=bl.PositiveUnlabeled(0.4))
        assert again["same data"].verdict == "passed"

    def test_a_member_that_depends_on_the_prior(self):
        rng = np.random.default_rng(11)
        n = 1200
        ill = rng.random(n) < 0.5
        seen = rng.random(n) < np.where(ill, 0.9, 0.1)
        weak = rng.random(n) < np.where(ill, 0.5, 0.38)
        data = pd.DataFrame({"weak": weak, "ill": np.where(seen, ill, np.nan)})
        found = bl.sensitivity(data, "ill", labels="mar-c", algorithm="iamb")
        tried = bl.discover(data, "ill", labels="mar-c", algorithm="iamb").refute(data, n_resamples=1, rng=0)
        assert found.sometimes == ("weak",)
        assert (tried["priors"].verdict, "weak" in tried["priors"].words) == ("failed", True)

    def test_other_data_are_refused(self):
        blanket = bl.discover(table(), "ill", algorithm="iamb")
        with pytest.raises(DataError, match=r"not the data of the blanket of 'ill': their fingerprint is"):
            blanket.refute(table(seed=1))
        with pytest.raises(DataError, match="not the data of the blanket of 'ill': there is no target column"):
            blanket.refute(table().rename(columns={"ill": "sick"}))

    def test_a_result_without_a_call_is_refused(self):
        blanket = replace(bl.discover(table(), "ill", algorithm="iamb"), call=None)
        with pytest.raises(DataError, match=r"the blanket of 'ill' has no call that says how to search again; ask dis"):
            blanket.refute(table(), n_resamples=1, rng=0)

    def test_a_saved_result_and_a_separate_target(self, tmp_path):
        data = table()
        x, y = data.drop(columns="ill"), data.ill
        blanket = bl.discover(x, y=y, algorithm="fbed", options={"k": 2})
        blanket.to_json(tmp_path / "b.json")
        tried = Blanket.load(tmp_path / "b.json").refute(x, y=y, n_resamples=2, rng=0, progress=(said := []).append)
        assert tried["same data"].verdict == "passed"
        assert said[0] == "same data"
        assert {"permuted target: 2 of 2", "noise columns: 1 of 2"} <= set(said)

    def test_an_algorithm_without_an_error_rate(self):
        tried = bl.discover(table(), "ill", algorithm="ks", options={"n_features": 2}).refute(
            table(), n_resamples=2, rng=0
        )
        assert tried["permuted target"].verdict == "not asked"
        assert "controls no error rate" in tried["permuted target"].words

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"n_resamples": 0}, "'n_resamples' must be a whole number, at least 1, but it is 0"),
            ({"n_resamples": True}, "'n_resamples' must be a whole number, at least 1, but it is True"),
            ({"rng": -1}, "'rng' must be a seed"),
        ],
    )
    def test_wrong_arguments(self, change, message):
        with pytest.raises(ParameterError, match=message):
            bl.discover(table(), "ill", algorithm="iamb").refute(table(), **change)

    def test_what_cannot_be_refuted(self):
        with pytest.raises(ParameterError, match="'blanket' must be a Blanket, as discover returns it"):
            bl.refute("cough", table())

    def test_html_and_json(self):
        odd = table().rename(columns={"ill": "<b>ill"})
        tried = bl.discover(odd, "<b>ill", algorithm="iamb").refute(odd, n_resamples=1, rng=0)
        assert "<b>ill" not in tried._repr_html_()
        content = json.loads(tried.to_json())
        assert (content["schema"], content["stands"], len(content["trials"])) == ("blankets/refutation", True, 7)
        with pytest.raises(KeyError, match="no trial 'luck'; there are same data"):
            tried["luck"]

    def test_trials_are_read_again_and_checked(self, tmp_path):
        tried = bl.discover(table(), "ill", algorithm="iamb").refute(table(), n_resamples=1, rng=0)
        tried.to_json(tmp_path / "tried.json")
        again = Refutation.load(tmp_path / "tried.json")
        assert again.to_dict() == tried.to_dict()
        assert repr(again) == repr(tried)
        for key, value, message in (
            ("verdict", "maybe", "'verdict' in 'trials' holds 'maybe'"),
            ("figures", {"x": "y"}, "'x' in 'figures' holds 'y'"),
            ("words", 1, "'words' in 'trials' holds 1"),
        ):
            content = tried.to_dict()
            content["trials"][0][key] = value
            with pytest.raises(DataError, match=f"this is not a saved result: {message}"):
                Refutation.from_dict(content)
        with pytest.raises(DataError, match="'seconds' holds -1"):
            Refutation.from_dict(tried.to_dict() | {"seconds": -1})
        with pytest.raises(DataError, match="with the value 'blankets/refutation' is missing"):
            Refutation.from_json("{}")


def blanket_evidence(x):
    return NamedEvidence(x=x, y="y", statistic=9.0, dof=1, log_p=-6.0, effect=0.02, n_rows=200)
