"""Knowledge in the questions: what it does to answers, how it is printed and kept, and what is refused."""

import json

import numpy as np
import pytest

import blankets as bl
from blankets.cli._main import run
from blankets.errors import DataError, KnowledgeWarning, ParameterError

SMOKING = ["smokes_never", "smokes_former", "smokes_now"]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 2000
    site, age, smoking = rng.integers(0, 3, (3, n))
    ill = rng.random(n) < 0.1 + 0.15 * age + 0.2 * (smoking == 2) + 0.1 * (site == 1)
    dummies = {name: (smoking == k).astype(int) for k, name in enumerate(SMOKING)}
    return {
        "site": site,
        "age": age,
        **dummies,
        "ill": ill.astype(int),
        "treated": (rng.random(n) < 0.1 + 0.7 * ill).astype(int),
        "noise": rng.integers(0, 2, n),
        "lab": (rng.random(n) < 0.2 + 0.3 * site).astype(int),
    }


def test_columns_always_given_are_neither_in_nor_out(table):
    known = bl.Knowledge(always_given="site")
    blanket = bl.discover(table, "ill", knowledge=known)
    assert "site" not in blanket.members
    assert "every test is given it" in str(blanket.explain("site"))
    assert all("site" in evidence.given for evidence in blanket.strengths.values())
    alone = bl.test(table, "lab", "ill", knowledge=known)
    assert alone.given == ("site",)
    assert alone.p == bl.test(table, "lab", "ill", given=["site"]).p
    # the test in the blanket is that of the question with all columns named
    evidence = blanket.strengths["age"]
    alone = bl.test(table, "age", "ill", given=evidence.given)
    assert (evidence.statistic, evidence.dof) == (pytest.approx(alone.statistic), alone.dof)


def test_dummies_are_one_variable(table):
    blanket = bl.discover(table, "ill", knowledge=bl.Knowledge(together=[SMOKING]))
    assert set(SMOKING) < set(blanket.members)
    assert {blanket.strengths[name].log_p for name in SMOKING} == {blanket.strengths[SMOKING[0]].log_p}
    smoking = np.select([table[name] == 1 for name in SMOKING], [0, 1, 2])
    as_one = {name: values for name, values in table.items() if name not in SMOKING} | {"smoking": smoking}
    other = bl.discover(as_one, "ill")
    assert set(blanket.members) - set(SMOKING) == set(other.members) - {"smoking"}
    assert blanket.strengths[SMOKING[1]].log_p == pytest.approx(other.strengths["smoking"].log_p)
    assert blanket.strengths[SMOKING[1]].dof == other.strengths["smoking"].dof
    out = bl.discover(table, "lab", knowledge=bl.Knowledge(together=[SMOKING]))
    assert not set(SMOKING) & set(out.members)
    assert "Passed over" in str(out.explain(SMOKING[2]))


def test_dummies_are_recognized_and_offered(table):
    (note,) = [note for note in bl.discover(table, "ill").warnings if "one variable" in note]
    assert note.endswith(f"say knowledge=bl.Knowledge(together=[{SMOKING}]).")
    known = bl.Knowledge(together=[SMOKING])
    assert not [note for note in bl.discover(table, "ill", knowledge=known).warnings if "one variable" in note]
    rng = np.random.default_rng(1)
    rare = {f"had_{k}": (rng.random(300) < 0.02).astype(int) for k in "abc"} | {"y": rng.integers(0, 2, 300)}
    for name in ("had_b", "had_c"):
        rare[name] &= 1 - rare["had_a"]
    assert not [note for note in bl.discover(rare, "y").warnings if "one variable" in note]  # that may be chance


def test_numbers_that_belong_together():
    rng = np.random.default_rng(2)
    visits = rng.normal(size=(500, 3)) + rng.normal(size=(500, 1))
    table = {f"visit{k}": visits[:, k] for k in range(3)} | {"hair": rng.normal(size=500)}
    table["y"] = visits.sum(axis=1) + 2 * rng.normal(size=500)
    known = bl.Knowledge(together=[["visit0", "visit1", "visit2"]])
    blanket = bl.discover(table, "y", knowledge=known)
    assert set(blanket.members) == {"visit0", "visit1", "visit2"}
    assert "belong together, combined" in blanket.strengths["visit1"].method


def test_tiers_give_roles_and_arrows_orient_more(table):
    known = bl.Knowledge(tiers=[["age"], ["ill"], ["treated"]])
    blanket = bl.discover(table, "ill", knowledge=known, exclude=SMOKING)
    assert (blanket.roles["age"], blanket.roles["treated"]) == ("parent", "child")
    assert bl.discover(table, "age", knowledge=known, exclude=SMOKING).roles["ill"] == "child"
    arrow = bl.Knowledge(required=[("age", "ill")], forbidden=[("treated", "ill")])
    assert bl.discover(table, "ill", knowledge=arrow, exclude=SMOKING).roles["age"] == "parent"
    everything = bl.Knowledge(tiers=[[name for name in table if name != "treated"], ["treated"]])
    last = bl.discover(table, "treated", knowledge=everything, exclude=SMOKING)
    assert set(last.roles.values()) == {"parent"}  # nothing is an effect of what comes last


def test_an_arrow_from_a_column_that_is_always_given_changes_nothing(table):
    always = bl.Knowledge(always_given="site")
    with_arrow = bl.Knowledge(always_given="site", required=[("site", "ill")])
    one, other = (bl.discover(table, "ill", knowledge=k, exclude=SMOKING).members for k in (always, with_arrow))
    assert one == other


def test_contradictions_are_reported(table):
    known = bl.Knowledge(required=["noise"], forbidden=["age"])
    with pytest.warns(KnowledgeWarning) as warned:
        blanket = bl.discover(table, "ill", knowledge=known, exclude=SMOKING)
    assert "noise" in blanket.members
    assert "age" not in blanket.members
    required, forbidden = (str(each.message) for each in warned)
    p = blanket.strengths["noise"].p
    assert required.startswith("'noise' is required, but the data do not need it: given the other members it is")
    assert required.endswith(f"(p = {p:.2g})")
    assert "'age' is forbidden, but by the data it belongs to the blanket" in forbidden
    assert forbidden.endswith("say exclude=['age']")
    assert {required, forbidden} < set(blanket.warnings)
    assert "you said that it is no member (forbidden)" in str(blanket.explain("age"))
    assert "you required it" in str(blanket.explain("noise"))
    assert all("age" in e.given for e in blanket.strengths.values())  # it may still separate


@pytest.mark.filterwarnings("ignore::blankets.errors.KnowledgeWarning")
def test_an_arrow_against_the_order_is_reported():
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 2, (2, 2000))
    y = (rng.random(2000) < 0.1 + 0.4 * a + 0.4 * b).astype(int)
    table = {"a": a, "b": b, "y": y}
    blanket = bl.discover(table, "y", knowledge=bl.Knowledge(tiers=[["y"], ["a", "b"]]))
    told = " ".join(blanket.warnings)
    assert "the data show an arrow from 'a' to 'y', but you said that there is none; the answer follows you" in told
    assert set(blanket.roles.values()) == {"child"}
    blanket = bl.discover(table, "y", knowledge=bl.Knowledge(forbidden=[("a", "y"), ("y", "a")]))
    told = " ".join(blanket.warnings)
    assert "you said that no arrow links 'a' and 'y', but the other members do not separate them" in told


def test_a_near_copy_recorded_later_does_not_hide_causes():
    rng = np.random.default_rng(6)
    cause = rng.integers(0, 3, 1500)
    y = (rng.random(1500) < 0.15 + 0.3 * cause).astype(int)
    copy = y.copy()
    copy[:3] = 1 - y[:3]
    table = {"cause": cause, "copy": copy, "y": y}
    assert bl.discover(table, "y", algorithm="pc").members == ("copy",)
    with pytest.warns(KnowledgeWarning, match="'cause' is a member only by the order that you gave"):
        blanket = bl.discover(table, "y", knowledge=bl.Knowledge(tiers=[["cause"], ["y"], ["copy"]]), algorithm="pc")
    assert set(blanket.members) == {"cause", "copy"}
    assert blanket.roles == {"copy": "child", "cause": "parent"}


def test_required_members_replace_their_proxies():
    import networkx as nx

    from blankets.independence import DSeparation
    from blankets.search import Found, Trace, with_required

    tests = DSeparation(nx.DiGraph([("r", "p"), ("r", "y"), ("q", "y")]))  # columns r, p, y, q
    trace = Trace()
    found = with_required(tests, 2, Found(members=(1, 3)), [0], alpha=0.01, trace=trace)
    assert found.members == (3, 0)  # p stood in for r
    assert [(d.action, d.x) for d in trace.decisions] == [("removed", 1), ("admitted", 0)]


def test_many_targets(table):
    known = bl.Knowledge(together=[SMOKING], always_given=["site"], tiers=[["age"], ["ill"]])
    found = bl.discover_all(table, knowledge=known)
    assert set(found) == {"age", "ill", "treated", "noise", "lab"}
    assert set(SMOKING) < set(found["ill"].members)
    assert (
        "No blanket was sought of smokes_never, smokes_former and smokes_now: they belong together." in found.warnings
    )
    with pytest.raises(ParameterError, match="'site' is in 'together' or 'always_given' of Knowledge, and cannot be a"):
        bl.discover_all(table, ["site", "ill"], knowledge=known)
    with pytest.raises(ParameterError, match="names 'age' as members of a blanket, but here every column has its own"):
        bl.discover_all(table, knowledge=bl.Knowledge(required=["age"]))


def test_the_call_is_kept_and_runs_again(table):
    known = bl.Knowledge(tiers=[["age"], ["ill"]], required=["age", ("age", "ill")], always_given=["site"])
    blanket = bl.discover(table, "ill", knowledge=known)
    again = bl.Blanket.from_json(blanket.to_json())
    assert again == blanket
    assert again.call.arguments()["knowledge"] == known
    assert again.call.run(table).members == blanket.members
    assert blanket.settings["knowledge"] == known.in_words()
    assert blanket.call.to_python() == (
        'bl.discover(data, "ill", knowledge=bl.Knowledge(tiers=[["age"], ["ill"]], required=["age", ["age", "ill"]], '
        'always_given=["site"]))'
    )
    assert blanket.call.why_no_command == "On the command line, --knowledge reads what is known from a file."
    (trial,) = [trial for trial in blanket.refute(table, n_resamples=3, rng=0).trials if trial.name == "same data"]
    assert trial.verdict == "passed"


def test_the_report_has_a_line_of_assumptions(table, tmp_path):
    known = bl.Knowledge(always_given=["site"])
    page = bl.discover(table, "ill", knowledge=known).report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Known beforehand: every test is given site (neither in nor out)." in page


def test_the_selector_takes_it(table):
    import pandas as pd

    X = pd.DataFrame(table).drop(columns="ill")
    known = bl.Knowledge(together=[SMOKING], always_given=["site"])
    selector = bl.MarkovBlanketSelector(knowledge=known).fit(X, table["ill"])
    chosen = set(selector.get_feature_names_out())
    assert set(SMOKING) < chosen
    assert "site" not in chosen
    assert selector.get_params()["knowledge"] == known


def test_the_command_line_reads_a_file(table, tmp_path, capsys):
    import pandas as pd

    csv, known = tmp_path / "t.csv", tmp_path / "known.toml"
    pd.DataFrame(table).to_csv(csv, index=False)
    known.write_text('tiers = [["age"], ["ill"], ["treated"]]\nalways_given = ["site"]\n', encoding="utf-8")
    assert run(["discover", str(csv), "-t", "ill", "--knowledge", str(known), "--json", "-q"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["roles"]["age"] == "parent"
    assert told["call"]["options"]["knowledge"]["always_given"] == ["site"]
    assert run(["test", str(csv), "lab", "-t", "ill", "--knowledge", str(known), "--json", "-q"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["given"] == ["site"]


def test_files_that_are_no_knowledge(tmp_path):
    path = tmp_path / "known.toml"
    path.write_text("tiers = [", encoding="utf-8")
    with pytest.raises(
        DataError, match=r"cannot read knowledge from 'known.toml': .*it is a TOML file with lines such as"
    ):
        bl.Knowledge.from_toml(path)
    with pytest.raises(DataError, match=r"cannot read knowledge from 'none.toml'"):
        bl.Knowledge.from_toml(tmp_path / "none.toml")
    path.write_text('always = ["site"]', encoding="utf-8")
    with pytest.raises(ParameterError, match="Knowledge has no 'always'; did you mean 'always_given'"):
        bl.Knowledge.from_toml(path)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"tiers": "age"}, "'tiers' must be a list of lists of column names, but it is 'age'"),
        ({"together": [["a", "b"], ["b", "c"]]}, "'b' is named twice in 'together' of Knowledge; name it once"),
        ({"tiers": [["a"], ["a"]]}, "'a' is named twice in 'tiers'"),
        ({"required": ["a"], "always_given": ["a"]}, "'a' is both in 'required' and in 'always_given' of Knowledge"),
        ({"required": ["a", "a"]}, "'a' is named twice in 'required' of Knowledge; drop it from one place"),
        ({"together": [["a", "b"]], "always_given": "b"}, "'b' is in 'together' and in 'always_given' of Knowledge"),
        ({"required": [("a", "b")], "forbidden": [("a", "b")]}, r"arrow \('a', 'b'\) is both in 'required' and in"),
        ({"required": [("a", "b", "c")]}, r"arrows \(cause, effect\) between two of them, but \('a', 'b', 'c'\) was"),
        ({"always_given": [3.5]}, "'always_given' of Knowledge holds names of columns, but 3.5 was given"),
        ({"required": [3.5]}, "'required' of Knowledge holds names of columns, or arrows .* but 3.5 was given"),
        (
            {"required": [("b", "a")], "tiers": ["a", "b"]},
            r"required arrow \('b', 'a'\) leads from a later to an earlier",
        ),
    ],
)
def test_what_cannot_be_true_at_once_is_refused(fields, message):
    with pytest.raises(ParameterError, match=message):
        bl.Knowledge(**fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"required": ["agee"]}, "Knowledge names 'agee', which is not a column; did you mean 'age'"),
        ({"always_given": ["one"]}, "needs 'one', which was left out when the table was read; keep it with keep="),
        ({"required": ["ill"]}, "the target 'ill' cannot be in 'required' of Knowledge"),
        ({"together": [["ill", "age"]]}, "the target 'ill' cannot be in 'together' of Knowledge"),
        ({"together": [SMOKING], "tiers": [SMOKING[:1], SMOKING[1:]]}, "belong together, but are in different tiers"),
    ],
)
@pytest.mark.filterwarnings("ignore::blankets.errors.ConstantColumnWarning")
def test_what_does_not_fit_the_table_is_refused(table, fields, message):
    with pytest.raises(ParameterError, match=message):
        bl.discover({**table, "one": np.ones(2000, int)}, "ill", knowledge=bl.Knowledge(**fields))


def test_other_refusals(table):
    with pytest.raises(ParameterError, match=r"'knowledge' must be bl.Knowledge\(...\), but it is \['age'\]"):
        bl.discover(table, "ill", knowledge=["age"])
    with pytest.raises(ParameterError, match="for algorithms that test independence, but 'sll' scores networks"):
        bl.discover(table, "ill", knowledge=bl.Knowledge(required=["age"]), algorithm="sll")
    with pytest.raises(ParameterError, match="'age' is in 'always_given' of Knowledge, so that it cannot be tested"):
        bl.test(table, "age", "ill", knowledge=bl.Knowledge(always_given=["age"]))
    with pytest.raises(
        ParameterError, match=r"'tiers' is not an argument of its own: say knowledge=bl.Knowledge\(tiers="
    ):
        bl.discover(table, "ill", tiers=[["age"]])


def test_left_out_columns_may_be_named_where_no_test_needs_them(table):
    known = bl.Knowledge(tiers=[["age", "one"], ["ill"]], forbidden=["one"], together=[["one", "noise"]])
    with pytest.warns(bl.errors.ConstantColumnWarning):
        blanket = bl.discover({**table, "one": np.ones(2000, int)}, "ill", knowledge=known)
    assert blanket.roles["age"] == "parent"


def test_in_words():
    known = bl.Knowledge(
        tiers=[["a", "b"], [], ["c"]], required=["d", ("a", "c")], forbidden=["e"], together=[["f", "g"]]
    )
    assert known.in_words() == (
        "Known beforehand: a, b come before c; d, a → c are required; e is forbidden; f, g are in or out as one."
    )
    assert bl.Knowledge().in_words() == ""
    assert bl.Knowledge.of(None).is_empty
    assert bl.Knowledge(always_given=[3]).always_given == ("3",)
