"""What a report says: words and numbers, before any page."""

import json
import math
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq
from scipy.stats import chi2, ncx2

import blankets as bl
from blankets.cli._main import run
from blankets.records import Call
from blankets.report import report, report_content
from blankets.report._neighborhood import MOST_BOXES
from blankets.report._trail import trail
from blankets.results import Blanket, Doubt, NamedEvidence, PassedOver, Step, Undecided

CLINIC = str(Path(__file__).parents[2] / "examples" / "clinic.csv")


@pytest.fixture(scope="module")
def clinic():
    return bl.discover(CLINIC, "readmitted", roles=True)


def evidence(name, *, statistic=40.0, dof=2.0, n_rows=1000, given=(), reliable=True):
    log_p = float(chi2.logsf(statistic, dof)) if reliable else math.nan
    return NamedEvidence(
        x=name, y="ill", given=given, statistic=statistic, dof=dof, log_p=log_p, effect=statistic / (2 * n_rows),
        n_rows=n_rows, reliable=reliable,
    )  # fmt: skip


def blanket_of(*members, columns=(), **more):
    strengths = {e.x: e for e in members}
    everything = (*strengths, *columns, "ill")
    given = {"algorithm": "iamb", "settings": {"alpha": 0.01, "test": "g"}, "n_rows": 1000} | more
    return Blanket(target="ill", members=tuple(strengths), strengths=strengths, columns=everything, **given)


FEW = Undecided(Doubt.FEW_ROWS, 5000.0)


def looks(name, *, given):
    """The last test of the column after the member ``a``: it found nothing."""
    one, at = np.ones(1), np.full(1, ["a", "b", "c"].index(name))
    none = np.zeros(1, int)
    return PassedOver(at, none, none, one, one, -one, 1000 + none, np.ones(1, bool), ("closing",), ((given,),), none)


# Words ---------------------------------------------------------------------------------------------------------


def test_content_is_plain_json(clinic):
    content = report_content(clinic, source=CLINIC)
    assert json.loads(json.dumps(content, allow_nan=False)) == content


def test_answer_names_members_and_counts(clinic):
    content = report_content(clinic)
    assert content["answer"] == (
        "The Markov blanket of readmitted consists of 5 of the 15 columns searched: "
        "case_review, heart_failure, bill_disputed, follow_up and insurance."
    )
    assert content["meaning"] == (
        "Once these are known, the other 10 columns tell nothing more about readmitted that 2,000 rows could show."
    )


def test_answer_without_members_says_what_could_have_been_found():
    content = report_content(blanket_of(columns=("age", "hair")))
    assert content["answer"] == "None of the 2 columns searched was found to depend on ill."
    # The noncentrality at which χ²(1) exceeds its critical value with probability 0.95, over 2 N.
    critical = chi2.isf(0.01, 1)
    smallest = brentq(lambda nc: ncx2.sf(critical, 1, nc) - 0.95, 1, 100) / 2000
    assert f"from Cohen's w = {(2 * smallest) ** 0.5:.2g} on (small;" in content["meaning"]  # w = 0.13 is small


@pytest.mark.parametrize(
    ("blanket", "answer", "meaning"),
    [
        (blanket_of(evidence("age")), "consists of one of the 1 column searched: age.", "No column was left out"),
        (blanket_of(evidence("a"), evidence("b")), "consists of all the 2 columns searched: a and b.", "No column"),
        (
            blanket_of(evidence("a"), columns=("b",), closed=True, passed_over=looks("b", given="a")),
            "one of the 2 columns",
            "Once it is known, the other column tells",
        ),
        (blanket_of(evidence("a"), columns=("b",)), "one of the 2 columns", "were not tested given all members"),
        (
            blanket_of(
                *(evidence("a"),),
                columns=("b", "c"),
                closed=True,
                undecided={"b": FEW},
                passed_over=looks("c", given="a"),
            ),
            "one of the 3 columns",
            "one other column tells nothing more about ill that 1,000 rows could show. Undecided, because rows are too",
        ),
        (
            blanket_of(evidence("a"), columns=("b",), finds="neighbors"),
            "The parents and children of ill are one of the 2 columns searched: a.",
            "It depends on ill whatever else is known",
        ),
    ],
)
def test_answers_of_other_shapes(blanket, answer, meaning):
    content = report_content(blanket)
    assert answer in content["answer"]
    assert meaning in content["meaning"]


def test_assumptions_follow_from_what_was_done(clinic):
    told = " ".join(report_content(clinic)["assumptions"])
    for phrase in ("independent draws", "calibrated tests at level 0.01 each", "faithfulness", "pure interaction"):
        assert phrase in told
    assert "Roles" in told
    cut = replace(clinic, data={**clinic.data, "binned": {"age": {"rule": "sturges", "cuts": [50.0]}}})
    assert "cut into levels" in " ".join(report_content(cut)["assumptions"])
    short = " ".join(report_content(replace(clinic, roles={}, data={}, algorithm="ks"))["assumptions"])
    assert "Roles" not in short
    assert "cut into levels" not in short
    assert "can miss or add members even with perfect tests" in short


def test_warnings_are_told():
    assert report_content(blanket_of(warnings=("be careful",)))["notes"] == ["be careful"]


# Effects ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("statistic", "dof", "n_rows"), [(40.0, 2, 1000), (3.0, 1, 200), (120.0, 60, 500)])
def test_interval_inverts_the_noncentral_law(statistic, dof, n_rows):
    low, high = evidence("a", statistic=statistic, dof=dof, n_rows=n_rows).interval()
    for end, tail in ((low, 0.95), (high, 0.05)):
        if end > 0:
            assert ncx2.cdf(statistic, dof, 2 * n_rows * end) == pytest.approx(tail, abs=1e-8)
        else:
            assert chi2.cdf(statistic, dof) <= tail
    assert low <= max(0.0, statistic - dof) / (2 * n_rows) <= high


def test_interval_needs_a_test():
    assert evidence("a", statistic=math.nan, dof=2, n_rows=100).interval() is None
    assert evidence("a", statistic=3.0, dof=0, n_rows=100).interval() is None


def test_effects_of_an_unreliable_member_are_not_known():
    rows = report_content(blanket_of(evidence("age", reliable=False)))["effects"]["rows"]
    assert rows[0]["interval"] is None
    assert rows[0]["interval_words"] == "not known"
    assert rows[0]["test"] == "too few rows for a test"


def test_effects_are_those_of_the_blanket(clinic):
    rows = report_content(clinic)["effects"]["rows"]
    assert [row["name"] for row in rows] == list(clinic.members)
    for row, e in zip(rows, clinic.strengths.values(), strict=True):
        assert row["effect"] == e.effect
        assert row["less_bias"] == e.information
        assert e.information == pytest.approx(e.effect - e.dof / (2 * 2000), abs=0.002)  # what chance brings on average
        assert row["interval"][0] < row["less_bias"] < row["interval"][1]
        assert row["given"] == "the other members"


# Trail -----------------------------------------------------------------------------------------------------------


def test_what_was_not_checked_or_decided_is_marked(tmp_path):
    blanket = blanket_of(
        evidence("a"), evidence("b"), columns=("c",), closed=True, unchecked=("b",), undecided={"c": FEW}
    )
    content = report_content(blanket)
    assert [(row["checked"], row["note"]) for row in content["effects"]["rows"]] == [
        (True, ""), (False, "not checked for redundancy"),
    ]  # fmt: skip
    assert "An open dot is a member that could not be checked for redundancy." in content["effects"]["words"]
    assert "c is neither in nor out" in content["effects"]["words"]
    assert "c is neither in nor out" in content["neighborhood"]["note"]
    assert [box["checked"] for box in content["neighborhood"]["boxes"]] == [True, True, False]
    assert any("1 of the 2 members could not be checked" in sentence for sentence in content["assumptions"])
    page = report(blanket, tmp_path / "page.html").read_text()
    assert page.count('class="open"') == 1
    assert page.count("swatch unchecked") == 1
    assert ">Note</th>" in page


def test_a_member_above_alpha_given_the_others_is_called_weak_everywhere():
    weak = evidence("b", statistic=2.75, dof=1.0, given=("a",))  # SciPy: p = 0.097
    blanket = blanket_of(evidence("a", given=("b",)), weak, closed=True)
    assert blanket.weak == ("b",)
    assert [row["weak"] for row in blanket.table()] == [False, True]
    assert json.loads(blanket.to_json())["weak"] == ["b"]
    assert Blanket.from_json(blanket.to_json()) == blanket
    why = "weak: p is above alpha given the other members; the search found it given fewer of them"
    for words in (str(blanket), str(blanket.explain("b")), report_content(blanket)["effects"]["words"]):
        assert why in " ".join(words.split())
    assert "weak" not in str(blanket.explain("a"))
    assert [row["note"] for row in report_content(blanket)["effects"]["rows"]] == ["", "weak"]
    assert "tells something" not in report_content(blanket)["meaning"]
    knowing = replace(blanket, settings={**blanket.settings, "knowledge": "b is required"})
    assert "found it given fewer of them (or you required it)." in " ".join(str(knowing).split())
    as_published = replace(blanket, closed=False)
    assert "weak: p is above alpha given the other members; iamb keeps it all the same." in str(as_published)
    assert replace(blanket, unchecked=("b",)).weak == ()


def test_trail_lists_every_column_once_members_first(clinic):
    rows = trail(clinic)["rows"]
    assert [row["name"] for row in rows[:5]] == list(clinic.members)
    assert sorted(row["name"] for row in rows) == sorted(set(clinic.columns) - {"readmitted"})
    age = next(row for row in rows if row["name"] == "age")
    assert age["verdict"] == "left out"
    assert age["short"] == f"tells nothing more once {' and '.join(clinic.separators['age'])} are known"
    assert age["lines"] == list(clinic.explain("age").lines)


def test_trail_says_what_the_last_test_could_have_missed(clinic):
    last = clinic.explain("age").evidence
    critical = chi2.isf(0.01, last.dof)
    smallest = brentq(lambda nc: ncx2.sf(critical, last.dof, nc) - 0.95, 1, 500) / (2 * last.n_rows)
    lines = next(row for row in trail(clinic)["rows"] if row["name"] == "age")["lines"]
    w = (2 * smallest) ** 0.5
    assert any(f"of {w:.3g} (" in line and "probability 0.95" in line for line in lines)


def test_trail_is_cut_with_a_note(clinic):
    short = trail(clinic, most=7)
    assert len(short["rows"]) == 7
    assert short["total"] == 15
    assert short["note"].startswith("7 of 15 columns are listed, those nearest to being admitted")


def left_out(names, log_ps, reliable):
    """Return a record of the last look at each of ``names``."""
    n = len(names)
    zero, one = np.zeros(n, np.int64), np.ones(n)
    log_p = np.array(log_ps, float)
    return PassedOver(
        np.arange(n), zero, zero, one, one, log_p, np.full(n, 1000), np.array(reliable), ("growing",), ((),)
    )


def test_trail_order_and_short_reasons():
    record = left_out(["a", "b", "c"], [-0.5, -3.0, math.nan], [True, True, False])
    blanket = blanket_of(columns=("a", "b", "c", "d"), passed_over=record, excluded={"e": "it has a single value"})
    rows = trail(blanket)["rows"]
    assert [(row["name"], row["short"]) for row in rows] == [
        ("b", "independent by itself, p = 0.05"),
        ("a", "independent by itself, p = 0.61"),
        ("c", "too few rows to test it by itself"),
        ("d", "never tested"),
        ("e", "it has a single value"),
    ]
    loose = replace(blanket, settings={"alpha": 0.1})
    assert trail(loose)["rows"][0]["short"] == "dependent by itself, p = 0.05"


# Neighborhood ---------------------------------------------------------------------------------------------------


def overlaps(a, b):
    return a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]


@pytest.mark.parametrize("roles", [{}, "some", "all parents"])
@pytest.mark.parametrize("n", [1, 2, 7, 30, 80])
def test_boxes_never_overlap_and_stay_inside(n, roles):
    names = [f"a rather long name {i}" for i in range(n)]
    known = {}
    children = {}
    if roles == "some":
        kinds = ["parent", "child", "spouse", "neighbor"]
        known = {name: kinds[i % 4] for i, name in enumerate(names)}
        children = {name: names[i - 1] for i, name in enumerate(names) if i % 4 == 2}
    elif roles:
        known = dict.fromkeys(names, "parent")
    blanket = blanket_of(*map(evidence, names), roles=known, common_children=children)
    drawn = report_content(blanket)["neighborhood"]
    assert len(drawn["boxes"]) == 1 + min(n, MOST_BOXES)
    assert bool(drawn["note"]) == (n > MOST_BOXES)
    for shape in ("wide", "tall"):
        places = list(drawn[shape]["places"].values())
        assert len(places) == len(drawn["boxes"])
        assert not any(overlaps(a, b) for i, a in enumerate(places) for b in places[:i])
        assert all(x >= 0 and x + w <= drawn[shape]["width"] + 1e-9 for x, _, w, _ in places)
        assert all(y >= 0 and y + h <= drawn[shape]["height"] + 1e-9 for _, y, _, h in places)
    assert drawn["tall"]["width"] <= 352  # fits a telephone


def test_lines_are_those_of_the_graph(clinic):
    drawn = report_content(clinic)["neighborhood"]
    lines = {(line["start"], line["end"]): line for line in drawn["lines"]}
    assert set(lines) == set(clinic.to_networkx().edges)
    assert all(line["directed"] for line in drawn["lines"])
    # The stronger, the wider; a spouse's line is its own.
    assert lines["readmitted", "case_review"]["width"] > lines["readmitted", "bill_disputed"]["width"]
    assert lines["insurance", "bill_disputed"]["width"] < lines["readmitted", "bill_disputed"]["width"]
    assert "2 parents: heart_failure and follow_up; 2 children" in drawn["words"]
    left, target, right = (drawn["wide"]["places"][name][0] for name in ("follow_up", "readmitted", "case_review"))
    assert left < target < right < drawn["wide"]["places"]["insurance"][0]


@pytest.fixture(scope="module")
def with_latent():
    """A target with an observed child and a hidden one, which has three symptoms."""
    rng = np.random.default_rng(1)
    ill = rng.random(3000) < 0.4
    hidden = np.where(rng.random(3000) < 0.85, ill, ~ill)
    table = {name: np.where(rng.random(3000) < 0.8, hidden, ~hidden) for name in ("cough", "fever", "rash")}
    table |= {"age": np.where(rng.random(3000) < 0.3, ill, rng.random(3000) < 0.5), "ill": ill}
    return bl.discover(table, "ill"), bl.discover_latent(table, "ill", n_restarts=6, rng=0)


def test_latents_are_drawn_among_the_members(with_latent):
    blanket, latent = with_latent
    content = report_content(blanket, latent=latent)
    drawn = content["neighborhood"]
    box = drawn["boxes"][-1]
    assert (box["name"], box["latent"], box["role"]) == ("H1", True, latent.latents[0].position)
    assert [one["latent"] for one in drawn["boxes"][:-1]] == [False] * 5
    lines = {(line["start"], line["end"]) for line in drawn["lines"]}
    assert {edge for edge in latent.graph.edges if "H1" in edge} <= lines
    # Given the latent, its symptoms tell nothing more: they have no line to the target.
    assert not {frozenset(line) for line in lines} & {frozenset(("ill", name)) for name in latent.latents[0].replaced}
    assert len(latent.latents[0].replaced) == 3
    for shape in ("wide", "tall"):
        places = list(drawn[shape]["places"].values())
        assert len(places) == 6
        assert not any(overlaps(a, b) for i, a in enumerate(places) for b in places[:i])
    assert content["latents"] == [latent.explain("H1")]
    assert drawn["latent"]


@pytest.mark.parametrize("position", ["parent", "spouse", "outside"])
def test_latents_of_any_position_have_a_place(with_latent, position):
    blanket, latent = with_latent
    moved = replace(latent, latents=(replace(latent.latents[0], position=position),))
    places = report_content(blanket, latent=moved)["neighborhood"]["wide"]["places"]
    assert (places["H1"][0] < places["ill"][0]) == (position != "spouse")
    none = report_content(blanket, latent=replace(latent, latents=()))
    assert none["latents"] == ["None was found by lmb-csem: the observed columns explain the data as well without any."]


def test_steps_are_cut():
    steps = tuple(Step("admitted", "growing", evidence(f"x{i}"), "strong") for i in range(250))
    told = trail(blanket_of(decisions=steps))["steps"]["rows"]
    assert len(told) == 201
    assert told[0] == f"x0 entered (growing): p = {chi2.sf(40, 2):.1e}; strong."
    assert told[-1] == "50 further steps in blanket.decisions."


# Data, labels, stability -----------------------------------------------------------------------------------------


def test_health_tells_each_kind_of_trouble():
    data = {
        "n_rows_given": 1010, "dropped_rows": 10, "missing": {"bmi": 10}, "constant": ["c"], "id_like": ["id"],
        "without_cut": ["flat"], "duplicates": {"a": ["a2"]}, "copies_of_target": ["same"], "many_levels": {"zip": 900},
        "binned": {"age": {"rule": "sturges", "cuts": [1.0, 2.0]}}, "unused_levels": {"sex": ["x"]}, "unlabeled": 3,
    }  # fmt: skip
    findings = report_content(blanket_of(data=data, excluded={"mine": "asked for"}))["health"]
    told = {one["what"]: (one["tone"], one["detail"]) for one in findings}
    assert told["Rows"] == ("loss", "10 of 1,010 were deleted for missing values in bmi.")
    assert told["Constant"] == ("loss", "c; left out: a single value, or none.")
    assert told["Like an identifier"][1].startswith("id;")
    assert told["Without a cut"][1].startswith("flat;")
    assert told["Duplicates"][1].startswith("a2 (the same as a);")
    assert told["Not searched"] == ("note", "mine.")
    assert told["Many levels"][1].startswith("zip (900)")
    assert told["Cut into levels"][1] == "age (3 levels, sturges); continuous columns."
    assert told["Levels without rows"][1] == "sex (x)."
    assert told["Target"][1] == "It is missing in 3 rows."
    assert told["Copies of the target"][1].startswith("same")


def test_health_of_clean_and_unknown_data(clinic):
    tones = [one["tone"] for one in report_content(replace(clinic, data={**clinic.data, "binned": {}}))["health"]]
    assert set(tones) == {"fine"}
    assert report_content(blanket_of())["health"][0]["what"] == "No record"
    level = {"missing": {"bmi": 4}, "missing_policy": "level"}
    told = report_content(blanket_of(data=level))["health"]
    assert {
        "tone": "note",
        "what": "Missing values",
        "detail": "4 cells in bmi, counted as a level of its own.",
    } in told


def test_labels_stability_and_sensitivity_appear_when_known(clinic):
    bare = report_content(clinic)
    assert bare["labels"] is bare["stability"] is bare["sensitivity"] is None
    partial = replace(clinic, settings={**clinic.settings, "labels": "pu", "prior": "0.2", "surrogate": "y0"})
    content = report_content(
        partial,
        stability={"insurance": 0.4, "age": 0.7, "case_review": 1.0},
        sensitivity=[(0.1, ["case_review", "age"]), (0.3, ["case_review"])],
    )
    assert content["labels"] == [
        ["Taken to hold", "only positives are labeled, and every positive has the same chance of a label"],
        ["p(y=1)", "0.2"],
        ["Each test", "counts unlabeled rows as negatives"],
    ]
    assert "for the target itself it is larger" in content["effects"]["words"]
    assert [row[0] for row in content["stability"]["rows"]] == ["case_review", "insurance", "age"]
    assert "heart_failure" in content["stability"]["words"]  # never found is less than half
    assert content["sensitivity"]["priors"] == ["0.1", "0.3"]
    assert ["age", [True, False]] in content["sensitivity"]["rows"]
    assert content["sensitivity"]["words"] == "Members for every prior: case_review."
    forced = {
        "alpha": 0.01,
        "labels": "mar-c",
        "prior": None,
        "surrogate": "ym",
        "surrogate_is_valid": False,
        "kappa": 0.25,
    }
    told = dict(report_content(replace(clinic, settings=forced, data={"unlabeled": 1234}))["labels"])
    assert told["p(y=1)"] == "not known"
    assert told["Caution"] == "this is not valid here; you asked for it anyway"
    assert told["Power kept"] == "each row counts as much as κ = 0.25 rows with full labels"
    assert told["Rows without a label"] == "1,234"


def test_no_members_with_partial_labels():
    blanket = blanket_of(columns=("age",), settings={"alpha": 0.01, "labels": "pu", "surrogate": "odd"})
    assert "there may be too few labels" in report_content(blanket)["meaning"]
    assert ["Each test", "uses a surrogate of the target"] in report_content(blanket)["labels"]


def test_priors_with_the_same_members_make_one_column():
    runs = [(0.1, ["a"]), (0.2, ["a", "b"]), (0.3, ["b", "a"]), (0.4, ["b"])]
    told = report_content(blanket_of(evidence("a")), sensitivity=runs)["sensitivity"]
    assert told["priors"] == ["0.1", "0.2 to 0.3", "0.4"]
    assert told["rows"] == [["a", [True, True, False]], ["b", [False, True, True]]]
    assert told["words"] == "Members for every prior: none."


def test_columns_that_were_never_found_are_counted():
    shares = {"a": 0.9, "x": 0.2, "y": 0.0, "z": 0.0}
    told = report_content(blanket_of(evidence("a")), stability=shares)["stability"]
    assert told["rows"] == [["a", True, 0.9], ["x", False, 0.2]]
    assert told["words"].endswith("none. 2 other columns were never found.")
    many = {f"c{i:02d}": 0.5 - i / 1000 for i in range(62)}
    told = report_content(blanket_of(evidence("c00")), stability=many)["stability"]
    assert told["words"].endswith("none. 2 other columns were found less often than those.")


# Doing it again --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"algorithm": "fbed", "options": {"k": 0}, "alpha": 0.05},
        {
            "test": bl.Testing("x2", dof="nominal"),
            "exclude": ["age"],
            "roles": True,
            "n_bins": 3,
            "discretize": "equal-width",
        },
        {"test": bl.Testing(reliability=10.0, strength="information"), "algorithm": "inter-iamb"},
    ],
)
def test_call_and_command_give_the_same_blanket(choices, capsys):
    first = bl.discover(CLINIC, "readmitted", **choices)
    again = report_content(first, source=CLINIC)["reproduce"]
    names = {}
    exec(again["python"], names)
    assert run([*shlex.split(again["cli"])[1:], "--json", "--quiet"]) == 0
    from_command = Blanket.from_json(capsys.readouterr().out)
    for other in (names["blanket"], from_command):
        ours, theirs = first.to_dict(), other.to_dict()
        for changing in ("seconds", "why_algorithm", "call"):
            ours.pop(changing), theirs.pop(changing)
        assert theirs == ours


@pytest.mark.parametrize(
    "prior", [0.3, 0.312345678, "<0.4", ">0.2", (0.2, 0.4), bl.Beta(mode=0.3, low=0.2, high=0.5, concentration=9), None]
)
@pytest.mark.parametrize("sampling", ["one-sample", "case-control"])
def test_partial_labels_are_asked_for_again(prior, sampling, tmp_path, capsys):
    rng = np.random.default_rng(0)
    y = rng.random(3000) < 0.3
    x = np.where(rng.random(3000) < 0.6, y, rng.random(3000) < 0.5)
    labeled = np.where(y & (rng.random(3000) < 0.4), "1", "")
    file = tmp_path / "pu.csv"
    file.write_text("x,y\n" + "".join(f"{int(a)},{b}\n" for a, b in zip(x, labeled, strict=True)))
    first = bl.discover(str(file), "y", labels=bl.PositiveUnlabeled(prior, sampling), algorithm="iamb")
    again = report_content(first, source=str(file))["reproduce"]
    names = {}
    exec(again["python"], names)
    assert run([*shlex.split(again["cli"])[1:], "--json", "--quiet"]) == 0
    from_command = Blanket.from_json(capsys.readouterr().out)
    for other in (names["blanket"], from_command):
        assert other.members == first.members == ("x",)
        assert other.to_dict()["settings"] == first.to_dict()["settings"]


def test_a_command_line_cannot_say_everything(clinic):
    call = Call.of("discover", {"target": "readmitted", "discretize": {"age": "equal-width"}})
    mapping = replace(clinic, call=call)
    again = report_content(mapping)["reproduce"]
    assert again["cli"] == ""
    assert 'discretize={"age": "equal-width"}' in again["python"]
    assert again["note"] == ("data.csv stands for your data. The command line cannot say 'discretize' as it was given.")


@pytest.mark.parametrize(
    "choices",
    [
        {"algorithm": "kiamb", "rng": 3, "alpha": 0.05},
        {"labels": bl.SemiSupervised("mar-f", given_drivers=False), "positive": "c"},
        {"labels": "mcar", "unlabeled_marker": "?", "positive": "b"},
    ],
)
def test_seed_positive_class_and_marker_are_asked_for_again(choices, tmp_path, capsys):
    rng = np.random.default_rng(0)
    classes = rng.choice(["a", "b", "c"], 600)
    columns = {f"x{i}": np.where(rng.random(600) < 0.5, classes, rng.choice(["a", "b", "c"], 600)) for i in range(4)}
    absent = "?" if "unlabeled_marker" in choices else ""
    classes = np.where(rng.random(600) < 0.4, absent, classes) if "labels" in choices else classes
    file = tmp_path / "three.csv"
    lines = [",".join(row) for row in zip(*columns.values(), classes, strict=True)]
    file.write_text("\n".join([",".join([*columns, "y"]), *lines]) + "\n")
    first = bl.discover(str(file), "y", **choices)
    again = report_content(first, source=str(file))["reproduce"]
    names = {}
    exec(again["python"], names)
    assert run([*shlex.split(again["cli"])[1:], "--json", "--quiet"]) == 0
    for other in (names["blanket"], Blanket.from_json(capsys.readouterr().out)):
        assert other.members == first.members
        assert other.to_dict()["settings"] == first.to_dict()["settings"]
        assert other.call.seed == first.call.seed


def test_what_cannot_be_told_must_be_supplied():
    rng = np.random.default_rng(0)
    y = rng.random(2000) < 0.3
    x = np.where(rng.random(2000) < 0.6, y, rng.random(2000) < 0.5)
    labeled = np.where(y & (rng.random(2000) < 0.5), 1.0, np.nan)
    prior = stats.gamma(30, scale=0.01)  # of SciPy's distributions a call keeps those that are usual for a share
    first = bl.discover({"x": x}, y=labeled, labels="pu", prior=prior, algorithm="kiamb", rng=np.random.default_rng(5))
    again = report_content(first)["reproduce"]
    assert again["cli"] == ""
    for part in ("y stands for the values", "prior stands for what was said of p(y=1): a distribution", "rng stands"):
        assert part in again["note"]
    call = again["python"].replace("'data.csv'", "data")
    names = {"data": {"x": x}, "y": labeled, "prior": prior, "rng": np.random.default_rng(5)}
    exec(call, names)
    assert names["blanket"].members == first.members == ("x",)


def test_one_of_many_targets_with_a_seed_is_searched_with_the_others():
    rng = np.random.default_rng(0)
    a = rng.random(500) < 0.5
    table = {"a": a, "b": a ^ (rng.random(500) < 0.2), "c": a ^ (rng.random(500) < 0.2)}
    first = bl.discover_all(table, ["a", "c"], algorithm="kiamb", rng=4)["c"]
    again = report_content(first)["reproduce"]
    assert again["cli"] == ""
    names = {"data": table}
    exec(again["python"].replace("'data.csv'", "data"), names)
    assert names["blanket"].members == first.members
    without = report_content(bl.discover_all(table, ["a", "c"])["c"])["reproduce"]
    assert without["cli"].startswith("blankets discover data.csv --target c")


def test_versions_fingerprint_and_seed_are_those_of_the_call():
    without = report_content(blanket_of())["versions"]
    assert without == [["Not on record", "the result has no call"]]
    made = bl.discover(CLINIC, "readmitted", algorithm="iamb", rng=3)
    told = dict(report_content(made)["versions"])
    assert (told["numpy"], told["Seed"]) == (np.__version__, "3")
    assert told["Fingerprint of the data"] == made.call.fingerprint


def test_names_that_look_like_options():
    odd = replace(blanket_of(evidence("a")), target="-t", call=Call.of("discover", {"target": "-t"}))
    again = report_content(odd, source="-f.csv")["reproduce"]
    assert again["cli"].startswith("blankets discover ./-f.csv --target=-t")


def test_options_of_the_algorithm_are_told_and_findings_are_not():
    options = {"max_given": 3, "symmetric": True}
    call = Call.of("discover", {"target": "t", "algorithm": "mmpc", "alpha": 0.01, "options": options})
    blanket = replace(blanket_of(evidence("a")), call=call, settings={"alpha": 0.01, **options, "kappa": 0.2})
    told = report_content(blanket)["reproduce"]
    assert told["cli"].endswith("--alpha 0.01 --option max_given=3 --option symmetric=true")
    assert told["python"].endswith('algorithm="mmpc", alpha=0.01, options={"max_given": 3, "symmetric": True})')
