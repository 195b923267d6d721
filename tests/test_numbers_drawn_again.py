"""Stability and refutation of blankets that were found among numbers, by partial correlation."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import blankets as bl
from blankets.cli._main import run
from blankets.errors import DataError, ParameterError, TargetError
from blankets.questions.stability import rows_drawn
from studies import study_of


def chain(n=400, seed=0):
    """Make a column b between a and c, another cause of c, and noise."""
    rng = np.random.default_rng(seed)
    a, d, noise = rng.normal(size=(3, n))
    b = a + rng.normal(size=n)
    return pd.DataFrame({"a": a, "b": b, "c": b + d + rng.normal(size=n), "d": d, "noise": noise})


def measured(table, target):
    return study_of(table, target, test="fisher-z", n_jobs=1)


def fisher_z(x, y):
    """Return the p-value of a correlation by the formula."""
    r = np.corrcoef(x, y)[0, 1]
    return 2 * stats.norm.sf(np.sqrt(len(x) - 3) * abs(np.arctanh(r)))


class TestStability:
    def test_of_two_columns_is_the_share_of_small_p_values(self):
        table = pd.DataFrame(np.random.default_rng(1).normal(size=(120, 2)), columns=["x", "y"])
        table["y"] += 0.25 * table["x"]
        found = bl.stability(table, "y", test="fisher-z", algorithm="iamb", alpha=0.1, n_resamples=40, rng=3)
        generator = np.random.default_rng(3)
        generator.spawn(1)  # that of the search of all rows
        drawn = rows_drawn(measured(table, "y"), 40, "subsample", 0.5, generator.spawn(1)[0])
        p = [fisher_z(table["x"].to_numpy()[rows], table["y"].to_numpy()[rows]) for rows in drawn]
        assert found["x"] == np.mean(np.array(p) <= 0.1)
        assert 0 < found["x"] < 1
        assert found.n_rows == 120

    @pytest.mark.parametrize("method", ["subsample", "pairs", "bootstrap"])
    def test_draws_are_searched_as_tables_of_these_rows(self, method):
        table = chain()
        found = bl.stability(
            table, "b", test="fisher-z", algorithm="iamb", n_resamples=6, method=method, n_jobs=2, rng=5
        )
        generator = np.random.default_rng(5)
        generator.spawn(1)
        share = 1.0 if method == "bootstrap" else 0.5
        drawn = rows_drawn(measured(table, "b"), 6, method, share, generator.spawn(1)[0])
        members = [bl.discover(table.iloc[rows], "b", test="fisher-z", algorithm="iamb").members for rows in drawn]
        assert found.frequency == {x: sum(x in one for one in members) / 6 for x in found.frequency}
        assert found["a"] == found["c"] == 1.0
        assert set(found.members) >= {"a", "c", "d"}
        assert found.settings["test"] == "fisher-z"
        assert found.call.fingerprint == bl.discover(table, "b", test="fisher-z").call.fingerprint

    def test_rows_are_drawn_by_the_values_of_a_target_that_has_few(self):
        rng = np.random.default_rng(2)
        rare = np.arange(200) < 6
        table = pd.DataFrame({"x": rng.normal(size=200) + 2 * rare, "rare": rare})
        for rows in rows_drawn(measured(table, "rare"), 50, "subsample", 0.5, rng):
            assert rare[rows].sum() == 3
            assert len(rows) == 100
        assert bl.stability(table, "rare", test="fisher-z", n_resamples=5, rng=0)["x"] > 0
        assert {len(rows) for rows in rows_drawn(measured(table, "x"), 9, "subsample", 0.3, rng)} == {60}

    def test_a_feature_that_does_not_vary_in_a_draw_is_not_found_in_it(self):
        table = chain(100).assign(once=np.arange(100) == 7)
        found = bl.stability(table, "b", test="fisher-z", alpha=0.05, n_resamples=10, rng=1)
        assert found["once"] < 1
        assert found["a"] == 1.0

    def test_rows_with_gaps_are_dropped_once(self):
        table = chain(200)
        gaps = table.where(pd.Series(np.arange(200) >= 20), other=np.nan)
        asked = {"test": "fisher-z", "n_resamples": 4, "rng": 0}
        found = bl.stability(gaps, "b", missing="drop", exclude=["noise"], **asked)
        assert found.n_rows == 180
        assert found.frequency == bl.stability(table[20:].drop(columns="noise"), "b", **asked).frequency

    def test_refusals(self):
        with pytest.raises(
            ParameterError, match=r"test='fisher-z' is for a target that every row has, and cannot take"
        ):
            bl.stability(chain(), "b", test="fisher-z", labels="mcar")
        with pytest.raises(TargetError, match="no target was named"):
            bl.stability(chain(), test="fisher-z")
        with pytest.raises(ParameterError, match="cannot take 'labels', 'prior'; take test='auto', 'g' or 'x2'"):
            bl.discover(chain(), "b", test="fisher-z", labels="pu", prior=0.2)


class TestRefute:
    def test_a_true_blanket_stands(self):
        table = chain()
        blanket = bl.discover(table, "b", test="fisher-z", algorithm="iamb")
        assert set(blanket.members) == {"a", "c", "d"}
        tried = blanket.refute(table, rng=0, n_resamples=10)
        assert tried.stands
        assert tried["row subsets"].figures == {"a": 1.0, "c": 1.0, "d": 1.0}
        assert tried["noise columns"].figures["stayed"] == 1.0
        assert {tried[name].verdict for name in ("priors", "fewer labels")} == {"not asked"}
        again = bl.discover(table, "b", test="fisher-z", algorithm="iamb").refute(
            table, rng=0, n_resamples=10, n_jobs=2
        )
        assert [trial.figures for trial in again.trials] == [trial.figures for trial in tried.trials]

    def test_a_shuffled_target_lets_in_what_the_level_says(self):
        """One feature, 300 draws at level 0.2: a share of 0.2, give or take four standard errors."""
        table = chain(80)[["a", "b"]]
        tried = bl.discover(table, "b", test="fisher-z", algorithm="iamb", alpha=0.2).refute(
            table, rng=1, n_resamples=300
        )
        assert tried["permuted target"].figures["found"] == pytest.approx(0.2, abs=4 * np.sqrt(0.16 / 300))
        assert tried["permuted target"].verdict == "passed"
        let_in = tried["noise columns"].figures["let in"]  # shuffled copies are alike at most in pairs
        assert let_in == pytest.approx(0.2, abs=4 * np.sqrt(0.16 / 1500))

    def test_a_member_that_hangs_by_a_thread_does_not(self):
        """At a level just above p, z = 3.3 becomes 3.3 √0.8 ± √0.2 in 80% of the rows: above 3.3 in a fifth of them."""
        x, e = np.linalg.qr(np.random.default_rng(4).normal(size=(200, 3)) * [0, 1, 1] + [1, 0, 0])[0].T[1:]
        r = np.tanh(3.3 / np.sqrt(197))
        table = pd.DataFrame({"x": x, "y": r * x + np.sqrt(1 - r**2) * e})
        blanket = bl.discover(table, "y", test="fisher-z", algorithm="iamb", alpha=1.02 * fisher_z(x, table["y"]))
        assert blanket.members == ("x",)
        tried = blanket.refute(table, rng=2, n_resamples=40)
        assert not tried.stands
        assert tried["row subsets"].verdict == "failed"
        chance = stats.norm.sf(3.3 * (1 - np.sqrt(0.8)) / np.sqrt(0.2))
        assert tried["row subsets"].figures["x"] == pytest.approx(chance, abs=4 * np.sqrt(chance / 40))

    def test_other_data_are_not_taken_for_the_same(self):
        blanket = bl.discover(chain(), "b", test="fisher-z")
        with pytest.raises(DataError, match=r"these are not the data of the blanket of 'b': their fingerprint is"):
            blanket.refute(chain(seed=1))
        with pytest.raises(DataError, match="these are not the data of the blanket of 'b': there is no"):
            blanket.refute(chain().drop(columns="b"))

    def test_a_target_beside_the_table(self):
        table = chain()
        features, y = table.drop(columns="b"), table["b"].to_numpy()
        blanket = bl.discover(features, y=y, test="fisher-z")
        assert blanket.refute(features, y=y, n_resamples=2, rng=0)["same data"].verdict == "passed"

    def test_names_of_noise_are_new(self):
        table = chain(100).rename(columns={"noise": "noise 1"})
        tried = bl.discover(table, "b", test="fisher-z", algorithm="iamb").refute(table, n_resamples=2, rng=0)
        assert tried["noise columns"].figures["stayed"] == 1.0


def test_on_the_command_line(tmp_path, capsys):
    path, saved = tmp_path / "chain.csv", tmp_path / "b.json"
    chain().to_csv(path, index=False)
    assert run(["stability", str(path), "-t", "b", "--test", "fisher-z", "--draws", "5", "--seed", "0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["frequency"]["a"] == 1.0
    assert run(["discover", str(path), "-t", "b", "--test", "fisher-z", "--save", str(saved), "-q"]) == 0
    capsys.readouterr()
    assert run(["refute", str(saved), str(path), "--draws", "2", "--seed", "0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["trials"][0]["verdict"] == "passed"
