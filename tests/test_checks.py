"""`discover` looks its answer over: each oddity is planted, and each line says what to do."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import f_oneway

import blankets as bl
from blankets.cli._main import run
from blankets.errors import ParameterError
from blankets.results._text import _disagreeing
from blankets.study._checks import called_a_name
from blankets.study._leaks import Told, cuts_that_tell

pytestmark = pytest.mark.filterwarnings("ignore::blankets.errors.BlanketsWarning")

N = 600


def clinic(seed=0):
    rng = np.random.default_rng(seed)
    made = pd.DataFrame({"age": rng.normal(60, 10, N).round(1), "drug": rng.choice(list("abc"), N)})
    made["ill"] = np.where(rng.random(N) < 1 / (1 + np.exp(-(made.age - 60) / 8)), "yes", "no")
    return made


def kinds(blanket):
    return [(one.kind, one.columns) for one in blanket.checks]


def test_nothing_to_say():
    blanket = bl.discover(clinic(), "ill")
    assert blanket.checks == ()
    assert "check:" not in str(blanket)


class TestLeaks:
    rng = np.random.default_rng(1)
    hba1c = rng.normal(6.2, 1.0, N).round(2)

    def test_an_assay_value_that_defines_the_target(self):
        blanket = bl.discover(clinic().assign(hba1c=self.hba1c, ill=np.where(self.hba1c >= 6.5, "yes", "no")), "ill")
        assert kinds(blanket) == [("leaking", ("hba1c",))]
        below, above = self.hba1c[self.hba1c < 6.5].max(), self.hba1c[self.hba1c >= 6.5].min()
        said = f"check: hba1c cut at {(below + above) / 2:.4g} gives the classes of ill in 100% of the rows."
        assert said in " ".join(str(blanket).split())
        assert "exclude=['hba1c']" in str(blanket)

    def test_two_cuts(self):
        stage = np.digitize(self.hba1c, [5.7, 6.5])
        found = cuts_that_tell(self.hba1c, np.array([2, 0, 1])[stage])  # in whatever order classes are coded
        assert found.right == 1.0
        assert 5.69 <= found.cuts[0] <= 5.7
        assert 6.49 <= found.cuts[1] <= 6.5

    def test_almost(self):
        y = (self.hba1c >= 6.5) ^ (self.rng.random(N) < 0.01)
        found = cuts_that_tell(self.hba1c, y.astype(int))
        guess = self.hba1c > found.cuts[0]
        assert found.right == np.mean(guess == y)
        assert cuts_that_tell(self.hba1c, (y ^ (self.rng.random(N) < 0.1)).astype(int)) is None

    def test_a_category(self):
        rng = np.random.default_rng(2)
        data = clinic()
        data["ward"] = np.where((data.ill == "yes") ^ (rng.random(N) < 0.008), "hospice", "home")
        blanket = bl.discover(data, "ill")
        right = np.mean((data.ward == "hospice") == (data.ill == "yes"))
        assert f"ward alone tells ill in {right:.1%} of the rows." in " ".join(str(blanket).split())

    def test_numbers_that_tell_a_number(self):
        rng = np.random.default_rng(3)
        data = pd.DataFrame({"f": rng.normal(60, 20, N), "other": rng.normal(size=N)})
        data["c"] = (data.f - 32) / 1.8 + rng.normal(0, 0.1, N)
        (one,) = bl.discover(data, "c").checks
        assert one.figures["f"] == pytest.approx(np.corrcoef(data.f, data.c)[0, 1] ** 2, abs=1e-3)
        assert "f alone explains 99.9% of the variance of c." in one.what

    def test_levels_that_tell_a_number(self):
        rng = np.random.default_rng(4)
        grade = rng.integers(0, 4, N)
        data = pd.DataFrame({"grade": [f"g{k}" for k in grade], "pay": 1000.0 * grade + rng.normal(0, 20, N)})
        (one,) = bl.discover(data, "pay").checks
        by_f = f_oneway(*(data.pay[grade == k] for k in range(4))).statistic
        share = 1 - (N - 1) / (N - 4) / (1 + by_f * 3 / (N - 4))
        assert one.figures["grade"] == pytest.approx(share, rel=1e-9)

    def test_audit_says_the_same(self):
        data = clinic().assign(hba1c=self.hba1c, ill=np.where(self.hba1c >= 6.5, "yes", "no"))
        found = [one for one in bl.audit(data, "ill").findings if one.kind == "leaking"]
        assert [one.columns for one in found] == [("hba1c",)]
        assert "hba1c cut at 6.4" in found[0].what or "hba1c cut at 6.5" in found[0].what

    def test_words(self):
        assert Told(right=0.9999).words("a", "b") == "a alone tells b in 99.9% of the rows."


def test_identifiers():
    data = clinic().sort_values("ill").assign(visit=np.arange(N) + 17)
    blanket = bl.discover(data, "ill", keep=["visit"])
    assert ("id-like", ("visit",)) in kinds(blanket)
    assert "visit has another whole number in every row" in str(blanket)
    data = clinic().sort_values("ill").assign(subject_id=np.arange(N) // 10 * 13 + np.minimum(np.arange(N) % 10, 7))
    assert "subject_id has another whole number in most rows" in " ".join(str(bl.discover(data, "ill")).split())


def test_names_of_people():
    rng = np.random.default_rng(6)
    first, last = ["Ann", "Bo", "Cy", "Di", "Ed"], ["Ash", "Bell", "Cole", "Dunn", "Eyre"]
    pairs = [f"{a} {b}" for a in first for b in last]
    data = clinic().assign(who=rng.choice(pairs, N), surname=rng.choice([p.replace(" ", "") for p in pairs], N))
    data["full_name"] = [f"Person{k}" for k in range(N)]  # left out at reading: another one in every row
    data["town"] = rng.choice([f"town {k}" for k in range(30)], N)
    found = bl.audit(data, "ill")
    assert set(found.columns("names")) == {"who", "surname", "full_name"}
    assert "Leave it out: exclude=['who']" in str(found)


@pytest.mark.parametrize(
    ("name", "is_one"),
    [("Name", True), ("last name", True), ("PatientName", True), ("patient_name", True), ("drug_name", False)],
)
def test_what_columns_of_names_are_called(name, is_one):
    assert called_a_name(name) is is_one


def test_repeated_persons():
    data = clinic().assign(patient_id=[f"p{k}" for k in np.arange(N) // 3])
    blanket = bl.discover(data, "ill")
    assert ("repeated subjects", ("patient_id",)) in kinds(blanket)
    assert "groups='patient_id'" in str(blanket)


def test_repeated_persons_by_what_their_rows_share():
    """No name gives them away: 150 people, whose sex and site stand in each of four rows."""
    rng = np.random.default_rng(8)
    who = np.repeat(rng.permutation(150), 4)
    of_people = {"sex": rng.choice(["f", "m"], 150)[who], "site": rng.choice(list("xyz"), 150)[who]}
    found = [one for one in bl.discover(clinic().assign(k=who, **of_people), "ill").checks if one.columns == ("k",)]
    assert [one.what for one in found] == [
        "k repeats: 150 values in 600 rows, and sex and site never differ within one."
    ]
    assert "groups='k'" in found[0].advice
    assert found == [
        one for one in bl.audit(clinic().assign(k=who, **of_people), "ill").findings if one.columns == ("k",)
    ]
    age = rng.integers(20, 80, N)  # functions of a number are not what its values share
    derived = clinic().assign(age=age, old=np.where(age > 65, "yes", "no"), decade=(age // 10).astype(str))
    assert not [one for one in bl.discover(derived, "ill").checks if one.kind == "repeated subjects"]
    apart = clinic().assign(k=who, **{name: rng.permutation(values) for name, values in of_people.items()})
    assert not [one for one in bl.discover(apart, "ill").checks if one.kind == "repeated subjects"]


@pytest.mark.parametrize(
    ("column", "target", "said"),
    [
        ("futime", "status", "how long rows were followed until status was known"),
        ("dtime", "relapse", "how long rows were followed until relapse was known"),
        ("days", "death", "how long rows were followed until death was known"),
        ("protime", "status", ""),  # of coagulation
        ("futime", "smoker", ""),
        ("cause of death", "smoker", "may come after smoker"),
        ("birth_weight", "status", ""),
    ],
)
def test_columns_that_come_later(column, target, said):
    rng = np.random.default_rng(9)
    event = rng.random(N) < 0.4
    data = pd.DataFrame({column: np.where(event, rng.exponential(200, N), rng.exponential(900, N)).round()})
    data = data.assign(drug=rng.choice(list("abc"), N), **{target: np.where(event, "yes", "no")})
    for found in (bl.discover(data, target).checks, bl.audit(data, target).findings):
        later = [one for one in found if one.kind == "later"]
        assert [one.columns for one in later] == [(column,)] * bool(said)
        assert all(said in one.what and one.fix == {"exclude": [column]} for one in later)


def test_columns_known_in_one_class_are_not_searched():
    """The cause of a death is known of the dead: given it, nothing else could be compared."""
    rng = np.random.default_rng(10)
    data = clinic().assign(cause=lambda made: np.where(made.ill == "yes", rng.choice(list("xyz"), N), None))
    blanket = bl.discover(data, "ill")
    assert blanket.members == bl.discover(clinic(), "ill").members
    said = "cause has values in one class of ill only, or in no row that has it, so that nothing can be compared."
    assert said in " ".join(str(blanket).split())
    assert "it has values in one class of the target only" in str(blanket.explain("cause"))


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("number", [False, True])
def test_columns_without_a_value_where_the_target_is_known(number):
    data = clinic()
    rng = np.random.default_rng(14)
    there = rng.random(N) < 0.5
    y = rng.normal(size=N) + (data.ill == "yes") if number else data.ill
    data["ill"] = pd.Series(y).where(there)
    data["dose"] = pd.Series(rng.normal(size=N)).where(~there)
    assert "dose" in bl.discover(data, "ill").excluded


def test_two_columns_that_make_the_target():
    rng = np.random.default_rng(15)
    low, high = rng.integers(0, 3, (2, N))
    data = clinic().assign(low=low, high=high, ill=np.where(low + high > 2, "yes", np.where(low == high, "so", "no")))
    (found,) = [one for one in bl.discover(data, "ill").checks if one.kind == "leaking"]
    assert set(found.columns) == {"low", "high"}
    assert "together tell ill in 100.0% of the rows" in found.what


def test_combinations_that_few_rows_have_tell_nothing():
    """Of the combinations of four members most have one or two rows, which they tell by themselves."""
    rng = np.random.default_rng(16)
    four = rng.integers(-2, 3, (4, N))
    x = pd.DataFrame(four.T, columns=list("abcd")).astype(str)
    ill = rng.random(N) < 1 / (1 + np.exp(-2.5 * four.sum(axis=0)))
    blanket = bl.discover(x.assign(ill=np.where(ill, "yes", "no")), "ill")
    assert set(blanket.members) == set("abcd")
    assert [one for one in blanket.checks if one.kind == "leaking"] == []


def test_a_member_that_few_rows_have():
    data = clinic()
    rng = np.random.default_rng(16)
    tarsus = rng.normal(size=N) + 4.0 * (data.ill == "yes")
    data["tarsus"] = tarsus.where(rng.random(N) < 0.2)
    (found,) = [one for one in bl.discover(data, "ill").checks if one.kind == "missing"]
    assert found.figures == {"tarsus": data.tarsus.notna().sum()}
    assert "exclude=['tarsus']" in found.advice


def test_a_count_as_a_target():
    rng = np.random.default_rng(17)
    data = clinic().assign(visits=lambda made: rng.poisson(np.exp((made.age - 60) / 20)).clip(0, 8))
    (found,) = [one for one in bl.discover(data, "visits").checks if one.kind == "order"]
    assert f"visits has {data.visits.nunique()} different numbers, and is taken for as many classes." in found.what
    again = bl.discover(data, "visits", discretize={"visits": "number"})  # as advised
    assert not [one for one in again.checks if one.kind == "order"]
    assert "difference" in str(again)


class TestRowsLost:
    def test_deleted(self):
        data = clinic()
        data.loc[::4, "drug"] = None
        blanket = bl.discover(data, "ill", missing="drop")
        assert "check: 150 of 600 rows were deleted for missing values." in str(blanket)
        assert "missing='testwise'" in str(blanket)
        assert "Rows deleted for missing values" not in str(blanket)

    def test_a_level_says_what_it_does_to_conditioning(self):
        data = clinic()
        data.loc[::4, "drug"] = None
        shown = " ".join(str(bl.discover(data, "ill", missing="level")).split())
        assert "Missing is a level of drug. Given such a column, rows without a value count as alike" in shown

    def test_without_a_target(self):
        data = clinic()
        data.loc[::4, "ill"] = None
        blanket = bl.discover(data, "ill")
        assert "check: 150 of 600 rows have no value of the target, and were left out." in " ".join(
            str(blanket).split()
        )

    def test_without_a_number(self):
        data = clinic()
        data.loc[::4, "age"] = None
        text = " ".join(str(bl.discover(data, "age")).split())
        assert "were left out. The answer is right if it is missing by chance" in text
        assert "labels=" not in text  # which numbers do not have
        assert "rows are complete" not in text  # all that are left


def test_a_copy_of_a_target_with_rare_classes():
    grade = np.repeat(list("abcdefg"), [4, 20, 20, 20, 20, 20, 20])
    blanket = bl.discover({"code": np.unique(grade, return_inverse=True)[1], "grade": grade}, "grade")
    assert kinds(blanket) == [("leaking", ("code",))]
    assert "too few to test" not in str(blanket)  # 36 degrees of freedom in 124 rows, and p is printed
    assert not [one for one in bl.audit({"code": grade, "grade": grade}, "grade").findings if one.kind == "untestable"]


def test_copies_of_members():
    data = clinic().assign(age_again=lambda made: made.age)
    assert kinds(bl.discover(data, "ill")) == [("duplicate", ("age", "age_again"))]


def test_three_lines_at_most():
    rng = np.random.default_rng(7)
    data = clinic()
    for k in range(5):
        data[f"copy{k}"] = np.where((data.ill == "yes") ^ (rng.random(N) < 0.002 * k), "x", "z")
    blanket = bl.discover(data, "ill", algorithm="iamb", close=False)
    made = str(blanket)
    assert made.count("check:") == min(len(blanket.checks), 3)
    object.__setattr__(blanket, "checks", blanket.checks[:1] * 5)
    assert str(blanket).count("check:") == 3
    assert "3 more in blanket.checks" in str(blanket)


def test_it_can_be_turned_off(tmp_path, capsys):
    data = clinic().assign(copy=lambda made: np.where(made.ill == "yes", 1, 0))
    assert bl.discover(data, "ill").checks
    assert bl.discover(data, "ill", audit=False).checks == ()
    assert bl.discover_all(data)["ill"].checks == ()
    with pytest.raises(ParameterError, match="audit"):
        bl.discover(data, "ill", audit="no")
    data.to_csv(tmp_path / "t.csv", index=False)
    assert run(["discover", str(tmp_path / "t.csv"), "-t", "ill", "--no-audit"]) == 0
    assert "check:" not in capsys.readouterr().out


def test_saved_with_the_answer():
    data = clinic().assign(copy=lambda made: np.where(made.ill == "yes", 1, 0))
    blanket = bl.discover(data, "ill")
    assert bl.Blanket.from_json(blanket.to_json()).checks == blanket.checks


def test_known_positives_alone_are_told_by_nothing():
    rng = np.random.default_rng(16)
    ill = rng.random(2000) < 0.4
    data = pd.DataFrame({name: np.where(rng.random(2000) < 0.15, ~ill, ill) for name in ("a", "b")})
    data["ill"] = np.where(ill & (rng.random(2000) < 0.4), 1.0, np.nan)
    blanket = bl.discover(data, "ill", labels="pu", prior=0.4)
    assert set(blanket.members) == {"a", "b"}
    assert not [one for one in blanket.checks if one.kind == "leaking"]


@pytest.mark.parametrize(("p", "apart"), [(0.02, []), (0.2, ["x"])])
def test_an_interval_of_95_percent_and_p_disagree_beyond_5_percent(p, apart):
    effect = SimpleNamespace(tells=lambda measure: True)
    blanket = SimpleNamespace(
        weak=("x",),
        strengths={"x": SimpleNamespace(p=p)},
        effects=SimpleNamespace(of=lambda name: effect, measure="odds ratio"),
    )
    assert _disagreeing(blanket) == apart
