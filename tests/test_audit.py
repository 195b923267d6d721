"""`audit`: what is odd about a table. Every oddity is planted."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency, entropy

import blankets as bl
from blankets.cli._main import run
from blankets.errors import DataError, IdLikeColumnWarning, TargetError
from blankets.questions import _audit_pairs
from blankets.results import DataAudit

N = 2000


def clean(seed=0):
    rng = np.random.default_rng(seed)
    ill = rng.integers(0, 2, N)
    return pd.DataFrame(
        {
            "dose": rng.choice(["low", "mid", "high"], N),
            "cough": (ill + (rng.random(N) < 0.3)) % 2,
            "town": rng.choice(["north", "south"], N),
            "ill": ill,
        }
    )


def flipped(column, share, rng):
    return np.where(rng.random(len(column)) < share, 1 - column, column)


def one(found, kind):
    (only,) = [finding for finding in found.findings if finding.kind == kind]
    return only


def test_a_clean_table():
    found = bl.audit(clean(), "ill")
    assert found.clean
    assert repr(found).startswith("Audit of 2,000 rows and 4 columns for ill: nothing odd was found")
    assert found.to_dict()["findings"] == []


def test_what_the_door_finds_is_there():
    table = clean().assign(site="Leeds", key=[f"p{i}" for i in range(N)], again=lambda t: t.dose)
    table["job"] = np.random.default_rng(1).integers(0, 80, N).astype(str)
    found = bl.audit(table, "ill")
    assert found.columns("constant") == ("site",)
    assert found.columns("id-like") == ("key",)
    assert found.columns("duplicate") == ("dose", "again")
    assert one(found, "high arity").figures == {"job": 80.0}
    assert {finding.weight for finding in found.findings} == {"know"}


def test_it_never_warns():
    table = clean().assign(site="Leeds", key=[f"p{i}" for i in range(N)], again=lambda t: t.dose)
    bl.audit(table, "ill")  # warnings are errors here


@pytest.mark.parametrize("share", [0.0, 0.01])
def test_permuted_and_nearly_repeated_columns(share):
    rng = np.random.default_rng(2)
    table = clean()
    table["no cough"] = 1 - flipped(table.cough, share, rng)
    table["somewhat"] = flipped(table.cough, 0.1, rng)
    found = one(bl.audit(table, "ill"), "near-duplicate")
    assert found.columns == ("cough", "no cough")
    # I / max(H), both from SciPy.
    counts = pd.crosstab(table.cough, table["no cough"]).to_numpy()
    shared = chi2_contingency(counts, correction=False, lambda_="log-likelihood")[0] / (2 * N)
    largest = max(entropy(counts.sum(axis=0)), entropy(counts.sum(axis=1)))
    assert found.figures["no cough"] == pytest.approx(shared / largest)
    assert ("under other names of the levels" in found.what) == (share == 0)
    assert "exclude=['no cough']" in found.advice


def test_a_column_that_determines_another():
    table = clean()
    district = np.random.default_rng(3).integers(0, 9, N)
    table["district"], table["region"] = district.astype(str), (district // 3).astype(str)
    found = one(bl.audit(table, "ill"), "determined")
    assert (found.columns, found.what) == (("region",), "Are determined exactly by another column: region by district.")
    reverse = table[["region", "district", "dose", "ill"]]
    assert one(bl.audit(reverse, "ill"), "determined").columns == ("region",)


def test_leaks():
    rng = np.random.default_rng(4)
    table = clean()
    table["result"] = np.where(flipped(table.ill, 0.005, rng), "sick", "well")
    found = one(bl.audit(table, "ill"), "leaking")
    assert found.columns == ("result",)
    assert (found.weight, 0.9 < found.figures["result"] < 1.0) == ("act", True)
    assert bl.audit(table.assign(copy=table.ill), "ill").columns("leaking") == ("result", "copy")


def test_many_levels_are_no_leak():
    rng = np.random.default_rng(5)
    table = pd.DataFrame({"many": rng.integers(0, 45, 300).astype(str), "y": rng.integers(0, 2, 300)})
    assert bl.audit(table, "y").columns("leaking") == ()


def test_missing_values_and_what_they_tell():
    rng = np.random.default_rng(6)
    table = clean()
    table["lab"] = np.where((table.ill == 1) & (rng.random(N) < 0.8), rng.choice(["a", "b"], N), None)
    table["scan"] = np.where(rng.random(N) < 0.5, rng.choice(["a", "b"], N), None)
    found = bl.audit(table, "ill")
    gaps = one(found, "missing")
    assert gaps.figures == {"lab": table.lab.isna().sum(), "scan": table.scan.isna().sum()}
    assert "missing='level'" in gaps.next_step
    assert [f.columns for f in found.findings if "missing depends on the target" in f.what] == [("lab",)]
    without = table.drop(columns="lab")
    assert bl.audit(without, "ill", missing="drop").n_rows == without.notna().all(axis=1).sum()


def test_gaps_that_depend_on_other_columns():
    rng = np.random.default_rng(7)
    table = clean()
    other = table.columns[0] if table.columns[0] != "ill" else table.columns[1]
    often = table[other] == table[other].iloc[0]
    table["lab"] = np.where(rng.random(N) < np.where(often, 0.7, 0.1), None, rng.choice(["a", "b"], N))
    table["scan"] = np.where(rng.random(N) < 0.5, rng.choice(["a", "b"], N), None)
    found = [one for one in bl.audit(table, "ill").findings if one.kind == "missing by others"]
    assert [one.columns[:2] for one in found] == [("lab", other)]
    assert "cannot be seen" in found[0].next_step


def test_columns_missing_together_are_one_finding():
    rng = np.random.default_rng(11)
    table = clean()
    gone = rng.random(N) < 0.3
    for name in ("iron", "zinc", "lead"):
        table[name] = np.where(gone, None, rng.choice(["a", "b"], N))
    found = bl.audit(table, "ill")
    assert one(found, "missing together").columns == ("iron", "zinc", "lead")
    assert not found.columns("missing by others")  # their gaps say nothing of each other's values
    assert one(found, "missing").weight == "know"


@pytest.mark.parametrize("number", [False, True])
def test_a_target_with_missing_values_and_many_classes(number):
    rng = np.random.default_rng(12)
    y = rng.normal(size=N) if number else rng.choice(["a", "b", "c"], N)
    table = clean().assign(ill=pd.Series(y).where(rng.random(N) < 0.8))
    assert bl.audit(table, "ill").n_rows == table.ill.notna().sum()


@pytest.mark.parametrize("ids", ["p{}", None])
def test_numbers_of_subjects_are_found_too(ids):
    who = np.arange(N) // 8
    table = clean().assign(patient_id=who if ids is None else [ids.format(k) for k in who])
    assert one(bl.audit(table, "ill"), "repeated subjects").figures == {"patient_id": len(set(who))}


def test_levels_with_an_order_that_nobody_said():
    rng = np.random.default_rng(13)
    table = clean().assign(
        pain=rng.choice(["None", "Mild", "Moderate", "Severe"], N),
        color=rng.choice(["red", "green", "low"], N),
        grade=rng.integers(1, 9, N),
        visits=pd.Series(rng.integers(0, 12, N)).where(rng.random(N) < 0.9),
    )
    words, numbers = (f for f in bl.audit(table, "ill").findings if f.kind == "order")
    assert (words.columns, numbers.columns) == (("pain",), ("grade", "visits"))
    assert "None < Mild < Moderate < Severe" in words.what
    assert "ordered={'pain': ['None', 'Mild', 'Moderate', 'Severe']}" in words.advice
    assert "ordered=['grade', 'visits']" in numbers.advice
    scale = {f"q{k}": rng.integers(1, 6, N) for k in range(3)}  # these are read in order
    assert not {*scale} & set(bl.audit(table.assign(**scale), "ill").columns("order"))
    said = {"pain": ["None", "Mild", "Moderate", "Severe"], "grade": [*range(1, 9)], "visits": [*range(12)]}
    assert not bl.audit(table, "ill", ordered=said).columns("order")  # as advised, it has nothing more to say


def test_long_names_are_not_cut_within_figures():
    table = clean().assign(**{"number_of_satisfactory_accounts_of_a_person": [None, "a", "b", "c"] * (N // 4)})
    assert f"({N // 4})" in one(bl.audit(table, "ill"), "missing").what


@pytest.mark.filterwarnings("ignore::blankets.errors.ManyLevelsWarning")
def test_subjects_with_several_rows():
    table = clean().assign(patient_id=[f"p{k // 8}" for k in range(N)])
    found = one(bl.audit(table, "ill"), "repeated subjects")
    assert (found.columns, found.figures) == (("patient_id",), {"patient_id": len(set(table.patient_id))})
    assert "groups='patient_id'" in found.advice
    for ids in (table.patient_id, np.arange(N) // 8):
        with pytest.warns(IdLikeColumnWarning, match="'patient_id' seems to tell who a row is about"):
            bl.discover(table.assign(patient_id=ids), "ill")
    assert not bl.audit(table, "ill", groups="patient_id").columns("repeated subjects")


def test_rare_levels_and_columns_that_cannot_be_tested():
    table = clean().iloc[:200].copy()
    table["odd"] = ["rare"] * 3 + ["usual"] * 197
    table["many"] = (np.arange(200) % 45).astype(str)
    found = bl.audit(table, "ill")
    assert one(found, "rare levels").figures["odd"] == 1.0
    assert one(found, "untestable").figures == {"many": 45.0}  # 5 x 44 rows are wanted


class TestShifts:
    def partly(self, kind):
        rng = np.random.default_rng(8)
        table = clean()
        chance = {
            "town": np.where(table.town == "north", 0.6, 0.3),
            "nothing": np.full(N, 0.5),
            "class": np.where(table.ill == 1, 0.6, 0.3),
        }[kind]
        return table.assign(ill=np.where(rng.random(N) < chance, table.ill, np.nan))

    def test_what_drives_labeling_is_found(self):
        found = one(bl.audit(self.partly("town"), "ill", labels="mcar"), "shifted")
        assert (found.columns, found.weight) == (("town",), "act")
        table = self.partly("town")
        counts = pd.crosstab(table.town, table.ill.notna())
        g = chi2_contingency(counts, correction=False, lambda_="log-likelihood")[0]
        assert found.figures["town"] == pytest.approx(g / (2 * N))
        assert "against labels missing completely at random" in found.what

    def test_labels_that_miss_at_random_are_not(self):
        found = bl.audit(self.partly("nothing"), "ill", labels="mcar")
        assert found.clean

    @pytest.mark.parametrize(("labels", "words"), [("mar-f", "labeling depends on"), ("mar-c", "the class decides")])
    def test_the_regime_says_what_it_means(self, labels, words):
        found = one(bl.audit(self.partly("class"), "ill", labels=labels), "shifted")
        assert (found.columns, found.weight) == (("cough",), "know")
        assert words in found.what

    def test_a_regime_that_has_to_be_said(self):
        found = bl.audit(self.partly("class"), "ill")
        assert "Say how labels went missing" in one(found, "labels").next_step
        assert one(found, "shifted").weight == "act"

    def test_positives_and_unlabeled_rows(self):
        table = clean()
        table["ill"] = np.where((table.ill == 1) & (np.arange(N) % 2 == 0), 1.0, np.nan)
        found = bl.audit(table, "ill")
        assert one(found, "shifted").columns == ("cough",)
        assert "the labeled rows are all positive" in one(found, "shifted").what

    def test_a_copy_of_partial_labels_leaks(self):
        table = self.partly("nothing")
        table["again"] = table.ill.map({1.0: "yes", 0.0: "no"}).fillna("?")
        assert bl.audit(table, "ill", labels="mcar").columns("leaking") == ("again",)


def test_wide_tables_are_compared_where_it_matters(monkeypatch):
    monkeypatch.setattr(_audit_pairs, "PAIRS", 10)
    monkeypatch.setattr(_audit_pairs, "STRONGEST", 1)
    table = clean()
    table["no cough"] = 1 - table.cough
    table["county"] = np.where(table.town == "north", 1, 0)
    found = bl.audit(table, "ill")
    assert found.columns("near-duplicate") == ("cough", "no cough")
    assert "among the 1 columns most strongly tied to the target only" in found.notes[0]
    assert "first in the table" in bl.audit(table).notes[0]


def test_columns_of_many_levels_are_no_copies_by_chance():
    """400 rows of 400 x 400 levels: each column tells nine tenths of the other, and so it does of a shuffled one."""
    rng = np.random.default_rng(6)
    street, doctor = rng.integers(0, 400, (2, 400))
    table = pd.DataFrame({"street": street, "doctor": doctor, "same street": street * 7 % 401}).astype(str)
    counts = pd.crosstab(table.street, table.doctor).to_numpy()
    shared = chi2_contingency(counts, correction=False, lambda_="log-likelihood")[0] / (2 * 400)
    assert shared / max(entropy(counts.sum(axis=0)), entropy(counts.sum(axis=1))) > 0.85
    keep = list(table)
    assert bl.audit(table, keep=keep).columns("near-duplicate") == ("street", "same street")


def test_pairs_of_a_million_million_cells_are_left_out(monkeypatch):
    monkeypatch.setattr(_audit_pairs, "CELLS", 100)
    table = clean().assign(zip=[f"z{i % 60}" for i in range(N)], street=[f"s{i % 61}" for i in range(N)])
    found = bl.audit(table.assign(again=table.zip.str.upper()), "ill", keep=["zip", "street", "again"])
    assert any("zip was not compared with street" in note for note in found.notes)
    assert "zip" not in found.columns("near-duplicate")


def test_without_a_target_and_without_features():
    table = clean()
    assert bl.audit(table).target is None
    assert bl.audit(table.assign(sick=1 - table.ill)).columns("near-duplicate") == ("ill", "sick")
    assert bl.audit(table[["ill", "dose"]].iloc[:, :1].assign(c=0), "ill").columns("constant") == ("c",)


def test_tables_that_cannot_be_read_say_why():
    with pytest.raises(TargetError, match="there is no target column 'sick'"):
        bl.audit(clean(), "sick")
    with pytest.raises(DataError, match="infinite values"):
        bl.audit({"x": [1.0, math.inf] * 20, "y": [0, 1] * 20}, "y")  # without x there is nothing to look at


def test_columns_that_cannot_be_used_are_findings():
    table = clean()
    odd = {
        "born": [[1], [2]] * (len(table) // 2),
        "seen": [[1], [2]] * (len(table) // 2),
        "far": np.r_[math.inf, np.zeros(len(table) - 1)],
        "mix": [1, "x"] * (len(table) // 2),
    }
    found = bl.audit(table.assign(**odd), "ill")
    assert found.columns("unusable") == ("born", "seen", "mix", "far")
    nested, mixed, infinite = found.findings[:3]
    assert nested.columns == ("born", "seen")
    assert "born and seen: is nested" in nested.what
    assert "spread it over plain columns" in nested.what
    assert mixed.what.startswith("mix: mixes kinds of values")
    assert infinite.what.startswith("far: holds infinite values in 1 rows; ")
    assert {one.weight for one in found.findings[:3]} == {"act"}
    assert found.n_columns == table.shape[1]  # and all else is as without them
    assert found.findings[3:] == bl.audit(table, "ill").findings
    with pytest.raises(DataError, match="the target 'born' is nested"):
        bl.audit(table.assign(**odd), "born")


def test_results_are_escaped_tabled_and_plain():
    table = clean().rename(columns={"cough": "<b>cough"})
    table["no"] = 1 - table["<b>cough"]
    found = bl.audit(table, "ill")
    assert "<b>cough" not in found._repr_html_()
    assert "&lt;b&gt;cough" in found._repr_html_()
    content = json.loads(found.to_json())
    assert (content["schema"], content["schema_version"]) == ("blankets/audit", 4)
    assert content["call"]["function"] == "audit"
    again = DataAudit.from_json(found.to_json())
    assert (repr(again), again.to_dict()) == (repr(found), found.to_dict())
    content["findings"][0]["weight"] = "heavy"
    with pytest.raises(DataError, match="this is not a saved result: 'weight' in 'findings' holds 'heavy'"):
        DataAudit.from_dict(content)
    assert [row["kind"] for row in found.table()] == ["near-duplicate"]


def test_command_line(tmp_path, capsys):
    table = clean().assign(healthy=lambda t: 1 - t.ill)
    table.to_csv(tmp_path / "t.csv", index=False)
    file = str(tmp_path / "t.csv")
    assert run(["audit", file, "--target", "ill"]) == 0
    assert "leaking: Say almost everything about the target: healthy (100%)." in capsys.readouterr().out
    assert run(["audit", file, "-t", "ill", "--json", "--exclude", "healthy", "--positive", "1"]) == 0
    out, err = capsys.readouterr()
    assert (json.loads(out)["findings"], err) == ([], "")


def test_progress_is_told():
    said = []
    bl.audit(clean(), "ill", progress=said.append)
    assert said == ["columns that tell the target", "columns that repeat others: 0 of 3"]
