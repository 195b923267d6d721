"""Blankets: what they say of a search, how they print, and what survives a trip through JSON."""

import copy
import dataclasses
import json
import math
import pickle
import sys

import networkx as nx
import numpy as np
import pytest
from scipy import stats

from blankets.errors import DataError, Interrupted, MissingPackageError, ParameterError
from blankets.independence import DSeparation, Evidence, EvidenceBatch
from blankets.results import Blanket, Blankets, NamedEvidence, PassedOver, Step, describe
from blankets.results._words import count_of, digits, format_p, format_seconds, joined, p_is, shown, size_of
from blankets.search import Algorithm, Found, Trace, Trouble, find

NAMES = ("ill", "age", "smoker", "hair", "bmi", "town")
ALGORITHM = Algorithm(name="made-up", run=lambda: None, reference="nobody", sound=True, roles=True, when="never")


def proof(x, given=(), *, statistic=23.1, dof=2.0, n_rows=960, reliable=True, y=0):
    log_p = float(stats.chi2.logsf(statistic, dof)) if reliable else math.nan
    statistic = statistic if reliable else math.nan
    effect = statistic / (2 * n_rows)
    return Evidence(
        x=x,
        y=y,
        given=given,
        statistic=statistic,
        dof=dof,
        log_p=log_p,
        effect=effect,
        n_rows=n_rows,
        reliable=reliable,
    )


def batch(xs, given, statistic, *, reliable=None, y=0):
    statistic = np.array(statistic, float)
    reliable = np.ones(len(xs), bool) if reliable is None else np.array(reliable)
    return EvidenceBatch(
        np.array(xs), y, given, statistic=statistic, dof=np.full(len(xs), 2.0), n_rows=960, reliable=reliable
    )


def searched(**changes):
    """age and smoker are in; hair was removed; bmi was passed over; town could not be tested."""
    trace = Trace()
    trace.passed_over(batch([1, 2, 3, 4, 5], (), [60.0, 40.0, 30.0, 25.0, 20.0]), "growing")
    trace.admitted(proof(1, (), statistic=60.0), "growing", "the strongest")
    trace.admitted(proof(3, (1,), statistic=30.0), "growing", "the strongest")
    trace.admitted(proof(2, (1, 3), statistic=40.0), "growing", "the strongest")
    trace.passed_over(batch([4, 5], (1, 3, 2), [0.5, np.nan], reliable=[True, False]), "growing")
    trace.removed(proof(3, (1, 2), statistic=1.25), "shrinking", "independent given the others")
    trace.note(Trouble.CYCLED)
    arguments = {
        "names": NAMES,
        "target": 0,
        "evidence": [proof(1, (2,), statistic=23.1), proof(2, (1,), statistic=46.2)],
        "algorithm": ALGORITHM,
        "why": "There are few columns.",
        "settings": {"alpha": 0.01, "test": "g", "dof": "adjusted", "keep": (), "discretize": "sturges"},
        "n_rows": 960,
        "n_tests": 17,
        "seconds": 0.0213,
        "warnings": ["column 'id' was left out"],
        "excluded": {"id": "almost every row has a level of its own"},
        "data": {"binned": {"age": {"rule": "sturges", "cuts": [1.5, 2.5]}}, "dropped_rows": 40},
    } | changes
    found = Found(
        members=(1, 2), roles={1: "child", 2: "spouse"}, common_children={2: 1}, separators={4: (1, 2), 5: ()}
    )
    return describe(found, trace, **arguments)


@pytest.fixture
def blanket():
    return searched()


# Describing ------------------------------------------------------------------------------------------


def test_members_come_strongest_first(blanket):
    assert blanket.members == ("smoker", "age")  # 46.2 beats 23.1, although age entered first
    assert list(blanket.strengths) == ["smoker", "age"]
    assert blanket.roles == {"smoker": "spouse", "age": "child"}
    assert blanket.common_children == {"smoker": "age"}
    assert (len(blanket), list(blanket), "age" in blanket, "hair" in blanket) == (2, ["smoker", "age"], True, False)


def test_effect_can_set_the_order():
    # At equal rows more degrees of freedom make a larger statistic weaker evidence but a larger effect.
    evidence = [proof(1, (2,), statistic=40.0, dof=1.0), proof(2, (1,), statistic=46.2, dof=30.0)]
    assert searched(evidence=evidence).members == ("age", "smoker")
    assert searched(evidence=evidence, by_effect=True).members == ("smoker", "age")


def test_an_unreliable_final_test_gives_way_to_the_one_of_entry():
    evidence = [proof(1, (2,), reliable=False), proof(2, (1,), statistic=46.2)]
    blanket = searched(evidence=evidence)
    assert blanket.strengths["age"].given == ()
    assert blanket.strengths["age"].statistic == 60.0
    assert blanket.members == ("age", "smoker")


def test_a_member_without_any_evidence_comes_last():
    trace = Trace()
    found = Found(members=(3, 1))
    blanket = searched_with(found, trace, evidence=[proof(1, (3,))])
    assert blanket.members == ("age", "hair")
    assert not blanket.strengths["hair"].reliable
    assert "0 rows are too few" in blanket.explain("hair").lines[0]
    assert "not known" in str(blanket)
    assert Blanket.from_json(blanket.to_json()) == blanket


def searched_with(found, trace, **changes):
    arguments = {
        "names": NAMES,
        "target": 0,
        "evidence": (),
        "algorithm": ALGORITHM,
        "settings": {"alpha": 0.01, "test": "g"},
        "n_rows": 960,
        "n_tests": 1,
        "seconds": 1.0,
    }
    return describe(found, trace, **arguments | changes)


def test_table_is_one_row_a_member(blanket):
    first, second = blanket.table()
    assert (first["member"], first["role"], first["given"], first["n_rows"]) == ("smoker", "spouse", ("age",), 960)
    assert first["effect"] == pytest.approx(46.2 / 1920)
    assert second["p"] == pytest.approx(stats.chi2.sf(23.1, 2), rel=1e-12)
    assert second["log_p"] == pytest.approx(-11.55, rel=1e-12)  # two degrees of freedom: log p = -G/2
    assert second["size"] == "small"  # w = sqrt(23.1 / 960) = 0.155


def test_notes_of_the_search_become_warnings(blanket):
    assert (blanket.warnings[0], blanket.troubles) == ("column 'id' was left out", (Trouble.CYCLED,))


def test_only_the_last_look_at_each_column_is_kept(blanket):
    kept = blanket.passed_over
    assert sorted(NAMES[j] for j in kept.columns) == ["bmi", "hair", "town", "town"]  # not the members
    (bmi,) = kept.of(NAMES.index("bmi"), NAMES, "ill")
    assert bmi.evidence.statistic == 0.5
    assert bmi.evidence.given == ("age", "hair", "smoker")
    assert bmi.evidence.log_p == pytest.approx(-0.25)
    assert bmi.evidence.effect == pytest.approx(0.5 / 1920)
    (hair,) = kept.of(NAMES.index("hair"), NAMES, "ill")
    assert (hair.evidence.statistic, hair.evidence.given) == (30.0, ())
    assert kept.of(NAMES.index("age"), NAMES, "ill") == ()
    before, after = kept.of(NAMES.index("town"), NAMES, "ill")  # the last test done, and the last one wanted
    assert (before.evidence.statistic, before.evidence.reliable) == (20.0, True)
    assert (after.evidence.given, after.evidence.reliable) == (("age", "hair", "smoker"), False)


def test_scans_about_other_targets_are_not_looks_at_this_one():
    trace = Trace()
    trace.passed_over(batch([3], (), [1.0]), "growing")
    trace.passed_over(batch([3], (), [9.0], y=1), "spouses")
    assert searched_with(Found(members=()), trace).explain("hair").evidence.statistic == 1.0


def test_a_batch_may_have_a_set_for_each_column():
    trace = Trace()
    trace.passed_over(batch([3, 4], [(1,), (1, 2)], [1.0, 2.0]), "neighbors")
    blanket = searched_with(Found(members=()), trace)
    assert blanket.explain("hair").evidence.given == ("age",)
    assert blanket.explain("bmi").evidence.given == ("age", "smoker")
    assert Blanket.from_json(blanket.to_json()) == blanket


def test_a_report_may_be_an_object_or_a_mapping():
    class Report:
        def to_dict(self):
            return {"rows_dropped": 3}

    assert searched(data=Report()).data == searched(data={"rows_dropped": 3}).data == {"rows_dropped": 3}


def test_every_variable_of_an_oracle_search_is_explained():
    graph = nx.DiGraph([("age", "ill"), ("smoker", "ill"), ("ill", "cough"), ("cold", "cough"), ("hair", "age")])
    tests = DSeparation(graph)
    for algorithm in ("iamb", "pcmb"):
        trace, target = Trace(), tests.names.index("ill")
        candidates = [j for j in range(len(tests.names)) if j != target]
        found = find(algorithm).run(tests, target, candidates, alpha=0.01, trace=trace)
        evidence = tests.drop_one(found.members, target)
        blanket = searched_with(
            found, trace, names=tests.names, target=target, evidence=evidence, algorithm=find(algorithm)
        )
        assert set(blanket.members) == {"age", "smoker", "cough", "cold"}
        for name in tests.names:
            explanation = blanket.explain(name)
            expected = "target" if name == "ill" else "member" if name in blanket else "left out"
            assert explanation.verdict == expected
            assert name in str(explanation)
        assert "never" not in str(blanket.explain("hair"))


# Explaining ------------------------------------------------------------------------------------------


def test_explain_a_member(blanket):
    explanation = blanket.explain("age")
    assert explanation.verdict == "member"
    assert str(explanation).splitlines() == [
        "age is in the Markov blanket of ill.",
        "  - Entered in the phase 'growing', the strongest: G = 60 on 2 degrees of freedom, p = 9.4e-14,",
        "    given no other column; information 0.0307 nats (small).",
        "  - In the final blanket: G = 23.1 on 2 degrees of freedom, p = 9.6e-06, given smoker; information",
        "    0.0115 nats (small).",
        "  - Role: child: it does not act on ill.",
        "  - Information, in nats: how much the column tells about the target. 0 is nothing, 0.005 small,",
        "    0.045 medium, 0.125 large (Cohen).",
    ]
    assert stats.chi2.sf([60.0, 23.1], 2) == pytest.approx([9.4e-14, 9.6e-06], rel=0.01)  # the figures above
    assert stats.ncx2.cdf([60.0, 23.1], 2, 1920 * np.array([0.0307, 0.0115])) == pytest.approx(0.5, abs=0.01)


def test_explain_columns_that_go_by_number(blanket):
    with pytest.raises(DataError, match="there is no column '2' in these data"):
        blanket.explain(2)
    with pytest.raises(ParameterError, match=r"'name' must be the name of a column, but it is \['a'\]"):
        blanket.explain(["a"])


def test_explain_a_spouse_names_the_child(blanket):
    assert "Role: spouse: another parent of a child of ill, age." in blanket.explain("smoker").lines


def test_explain_a_column_that_was_removed(blanket):
    explanation = blanket.explain("hair")
    assert explanation.verdict == "left out"
    assert [step.action for step in explanation.steps][:2] == ["admitted", "removed"]
    assert "Removed in the phase 'shrinking', independent given the others: G = 1.25 on 2" in " ".join(
        explanation.lines
    )


def test_explain_a_column_that_was_separated(blanket):
    lines = blanket.explain("bmi").lines
    assert lines[0] == (
        "Once age and smoker are known, it tells nothing more about ill that 960 rows could show (independent at level "
        "0.01)."
    )
    assert "G = 0.5 on 2 degrees of freedom, p = 0.78" in lines[1]  # exp(-0.25) = 0.7788
    assert (
        searched_with(Found(members=(), separators={4: (1,)}), Trace())
        .explain("bmi")
        .lines[0]
        .startswith("Once age is")
    )


def test_sizes_are_those_beyond_chance():
    """Cells without number seem to tell much: under independence the mean of G / 2 N is dof / 2 N = 0.198."""
    noise = NamedEvidence(x="a", y="b", statistic=1167, dof=1376, log_p=math.log(0.18), effect=1167 / 6940, n_rows=3470)
    assert noise.information == 0.0
    assert noise.size == "very small"
    assert "information 0 nats (very small)" in noise.in_words("g")
    strong = dataclasses.replace(noise, statistic=2376, effect=2376 / 6940, log_p=stats.chi2.logsf(2376, 1376))
    assert strong.size == "large"  # 1000 / 6940 = 0.144
    assert stats.ncx2.cdf(2376, 1376, 6940 * strong.information) == pytest.approx(0.5, abs=1e-6)


def test_sizes_and_intervals_agree_with_a_p_value_by_which_chance_explains_the_statistic():
    # A statistic of 113 on 20 degrees of freedom which chance alone exceeds in 87% of draws, as near separation.
    evidence = NamedEvidence(
        x="adviser", y="seen", statistic=112.6, dof=20, log_p=math.log(0.87), effect=0.0603, n_rows=933, method="drawn"
    )
    like = stats.chi2.isf(0.87, 20)  # the chi-square of this p-value
    assert evidence.size == "very small"
    assert evidence.information == 0.0
    low, high = evidence.interval()
    assert low == 0.0
    assert stats.ncx2.cdf(like, 20, 2 * 933 * high) == pytest.approx(0.05, abs=1e-6)
    # One that chance does not explain stays as it was measured.
    strong = dataclasses.replace(evidence, log_p=math.log(1e-4))
    assert stats.ncx2.cdf(112.6, 20, 2 * 933 * strong.interval()[1]) == pytest.approx(0.05, abs=1e-6)


def test_explain_a_column_that_could_not_be_tested(blanket):
    text = " ".join(blanket.explain("town").lines)
    assert "not tested given age, hair and smoker: 960 rows are too few for a reliable test" in text
    assert "G = 20 on 2 degrees of freedom" in text
    assert "no evidence of independence: the last test that was performed says dependent at level 0.01; with" in text
    assert "On its own it tells nothing about ill" in text


def test_explain_a_dependent_column_that_was_left_out():
    for phase, why in (("growing", "preferred another column or stopped"), ("closing", "enter only at a smaller one")):
        trace = Trace()
        trace.passed_over(batch([3], (), [30.0]), phase)
        text = " ".join(searched_with(Found(members=()), trace).explain("hair").lines)
        assert "This test alone says dependent at level 0.01" in text
        assert why in text


def test_explain_what_was_excluded_unseen_or_asked_for(blanket):
    assert str(blanket.explain("id")) == "id was not searched: almost every row has a level of its own."
    assert blanket.explain("ill").headline == "ill is the target; its Markov blanket: smoker and age."
    lonely = searched_with(Found(members=()), Trace())
    assert str(lonely.explain("ill")) == "ill is the target; its Markov blanket: no column."
    assert lonely.explain("bmi").lines == ("The search never had to test it.",)


def test_explain_an_unknown_name(blanket):
    with pytest.raises(DataError, match=r"there is no column 'smokr' in these data; did you mean 'smoker'\?"):
        blanket.explain("smokr")


def test_explain_tests_against_other_columns_and_long_histories():
    trace = Trace()
    for k in range(7):
        trace.passed_over(proof(3, (1,), statistic=1.0 + k, y=1), "symmetry")
    explanation = searched_with(Found(members=()), trace).explain("hair")
    assert explanation.lines[0] == "2 earlier steps are in the attribute 'steps'."
    assert "Passed over in the phase 'symmetry': tested against age, G = 7" in explanation.lines[-1]
    assert len(explanation.steps) == 7


def test_neighbors_are_not_called_a_blanket():
    from dataclasses import replace

    blanket = searched(algorithm=replace(ALGORITHM, finds="neighbors"))
    assert str(blanket).startswith("Parents and children of ill: 2 of 5 columns")
    assert blanket.explain("age").headline == "age is in the parents and children of ill."


# Words -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("w", "word"), [(0.099, "very small"), (0.101, "small"), (0.299, "small"), (0.301, "medium")])
def test_sizes_change_at_cohens_limits(w, word):
    assert size_of(w**2 / 2) == word
    assert size_of(0.499**2 / 2) == "medium"
    assert size_of(0.501**2 / 2) == "large"
    assert size_of(math.nan) == "unknown"
    assert size_of(-1e-17) == "very small"


@pytest.mark.parametrize("p", [0.9, 0.05, 0.0012, 9.99e-4, 9.96e-5, 3.2e-41, 1e-98])
def test_p_values_are_read_back(p):
    assert float(format_p(math.log(p))) == pytest.approx(p, rel=0.06)


def test_p_values_never_read_as_zero_when_they_are_not():
    assert (format_p(-5000.0), p_is(-5000.0)) == ("< 1e-99", "p < 1e-99")
    assert format_p(math.log(9.99e-7)) == "1.0e-06"
    assert format_p(-math.inf) == "< 1e-99"


def test_small_words():
    assert joined([]) == ""
    assert joined(["a\nb"]) == r"a\nb"
    assert count_of(1.5, "row") == "1.5 rows"
    assert digits(0.0) == "0"
    assert format_seconds(59.96) == "60.0 s"
    assert shown("\x1b]0;x\x07") == r"\x1b]0;x\x07"


def test_statistics_have_their_symbols():
    evidence = NamedEvidence(x="a", y="b", statistic=4.0, dof=1, log_p=-3.1, effect=0.02, n_rows=100)
    assert evidence.in_words("x2").startswith("X² = 4 on 1 degree of freedom, p = 0.045")
    assert evidence.in_words("fisher-z").startswith("z² = 4")
    assert evidence.in_words().startswith("statistic = 4")


# Printing --------------------------------------------------------------------------------------------


def test_text(blanket):
    assert str(blanket).splitlines() == [
        "Markov blanket of ill: 2 of 5 columns",
        "  member  role    p        size",
        "  ------------------------------",
        "  smoker  spouse  9.3e-11  small",
        "  age     child   9.6e-06  small",
        "  Each p-value is given the other members.",
        "  Found by made-up (alpha 0.01, test g, dof adjusted): 960 rows, 17 tests, 21 ms.",
        "  Expected false members: below 0.01, at most 0.06 (5 columns, 6 chances at level 0.01).",
        "  Rows deleted for missing values: 40.",
        "  Not searched: id (blanket.explain(name) says why).",
        "  blanket.explain() explains the table; blanket.explain(name) says why a column is in or out.",
        "  note: column 'id' was left out",
        "  note: The search came back to a blanket it had held before and was stopped there: the tests",
        "        contradict each other, which can happen with few rows. Compare the answer with another",
        "        algorithm or another alpha.",
    ]


def test_text_of_an_empty_and_of_a_large_blanket():
    assert "No column was found to depend on the target." in str(searched_with(Found(members=()), Trace()))
    names = tuple(f"x{j}" for j in range(60))
    many = searched_with(Found(members=tuple(range(1, 60))), Trace(), names=names)
    assert "and 19 more" in str(many)


def test_html_escapes_names():
    bad = "<script>alert(1)</script>"
    names = (bad, "<b>age</b>", *NAMES[2:])
    blanket = searched(names=names, excluded={"<i>id</i>": "<u>"}, warnings=["<em>"])
    for html in (
        blanket._repr_html_(),
        blanket.explain("<b>age</b>")._repr_html_(),
        Blankets({bad: blanket})._repr_html_(),
    ):
        for tag in ("<script", "<b>", "<i>", "<u>", "<em>"):
            assert tag not in html
        assert "&lt;b&gt;age&lt;/b&gt;" in html


# JSON ------------------------------------------------------------------------------------------------


def test_json_there_and_back(blanket, tmp_path):
    document = blanket.to_json(tmp_path / "result.json")
    again = Blanket.from_json(document)
    assert again == blanket == Blanket.load(tmp_path / "result.json")
    assert str(again) == str(blanket)
    for name in (*NAMES, "id"):
        assert str(again.explain(name)) == str(blanket.explain(name))
    content = json.loads(document)
    assert (content["schema"], content["schema_version"]) == ("blankets/blanket", 4)
    assert content["decisions"][-1] == {
        "action": "removed",
        "phase": "shrinking",
        "reason": "independent given the others",
        "evidence": {
            "x": "hair",
            "y": "ill",
            "given": ["age", "smoker"],
            "statistic": 1.25,
            "dof": 2.0,
            "log_p": pytest.approx(-0.625),
            "effect": 1.25 / 1920,
            "n_rows": 960,
            "reliable": True,
            "method": "",
            "level": 1.0,
        },
    }


def test_settings_that_json_does_not_have_become_text(tmp_path):
    settings = {"alpha": np.float64(0.01), "bins": np.int64(3), "rng": np.random.SeedSequence, "low": -math.inf}
    content = json.loads(searched(settings=settings).to_json())
    assert content["settings"] == {"alpha": 0.01, "bins": 3, "rng": str(np.random.SeedSequence), "low": None}


def test_json_has_null_and_not_nan(blanket):
    document = blanket.to_json()
    assert "NaN" not in document
    assert "Infinity" not in document
    assert None in json.loads(document)["passed_over"]["statistic"]


def test_a_wide_search_stays_small():
    n = 100_000
    trace = Trace()
    xs = np.arange(1, n)
    for _ in range(3):
        trace.passed_over(batch(xs, (), np.ones(n - 1)), "growing")
    blanket = searched_with(Found(members=()), trace, names=tuple(f"x{j}" for j in range(n)))
    assert len(blanket.passed_over) == n - 1
    assert len(blanket.to_json()) < 80 * n
    assert blanket.explain("x77777").evidence.statistic == 1.0


def test_blankets_compare_copy_and_pickle(blanket):
    assert pickle.loads(pickle.dumps(blanket)) == blanket
    assert copy.deepcopy(blanket) == blanket
    assert blanket != searched(n_tests=18)
    assert blanket != "smoker and age"
    with pytest.raises(TypeError, match="unhashable"):
        hash(blanket)


def spoiled(blanket, *path, value=None, drop=False):
    content = blanket.to_dict()
    *way, last = path
    place = content
    for key in way:
        place = place[key]
    if drop:
        del place[last]
    else:
        place[last] = value
    return content


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("schema",), "other", "the key 'schema' with the value 'blankets/blanket' is missing"),
        (
            ("schema_version",),
            99,
            "its schema version is 99, and this version of blankets reads and writes 4; run the call again",
        ),
        (("schema_version",), 3, "its schema version is 3, and this version of blankets reads and writes 4; run"),
        (("schema_version",), True, "its schema version is True, and this version"),
        (("false_members",), 3, "'false_members' holds 3"),
        (("false_members", "controls"), "luck", "'controls' in 'false_members' holds 'luck'"),
        (("false_members", "n_tested"), -1, "'n_tested' in 'false_members' holds -1"),
        (("false_members", "at_most"), "many", "'at_most' in 'false_members' holds 'many'"),
        (("false_members", "alpha"), 0, "'alpha' in 'false_members' holds 0"),
        (("call",), 3, "'call' holds 3"),
        (("call",), {"options": {}}, "'function' is missing in 'call'"),
        (("target",), 3, "'target' holds 3"),
        (("target",), "nobody", "the target, the members and the columns in 'decisions' must be among 'columns'"),
        (("members",), ["age"], "'members' and 'strengths' do not speak of the same columns"),
        (("members",), [1], "'members' holds 1"),
        (("members",), "age", "'members' holds 'age'"),
        (("roles",), {"age": 1}, "'age' in 'roles' holds 1"),
        (("roles",), {"age": "uncle"}, "'age' in 'roles' holds 'uncle'"),
        (("roles",), {"hair": "child"}, "'roles' holds roles that do not exist, or of columns that are no members"),
        (("n_rows",), True, "'n_rows' holds True"),
        (("n_rows",), 1.5, "'n_rows' holds 1.5"),
        (("seconds",), "x" * 99, r"'seconds' holds 'xxxxx.*\.\.\."),
        (("strengths", "age", "log_p"), "small", "'log_p' in 'age' holds 'small'"),
        (("strengths", "age"), 3, "'age' in 'strengths' holds 3"),
        (("decisions", 0, "action"), "eaten", "'action' in 'decisions' holds 'eaten'"),
        (("decisions", 0, "evidence", "reliable"), 1, "'reliable' in 'evidence' holds 1"),
        (("separators", "bmi"), 3, "'bmi' in 'separators' holds 3"),
        (("passed_over", "dof"), [1.0], "the arrays in 'passed_over' differ in length"),
        (("passed_over", "columns", 0), 99, "points beyond the end of its 'columns'"),
        (("passed_over", "given", 0), 9, "points beyond the end of its 'given'"),
        (("passed_over", "given", 0), -1, "'given' in 'passed_over' holds"),
        (("passed_over", "columns", 0), 10**30, "'columns' holds a number that is too large"),
        (("passed_over", "statistic", 0), "much", "'statistic' in 'passed_over' holds 'much'"),
        (("passed_over", "n_rows", 0), True, "'n_rows' in 'passed_over' holds True"),
        (("passed_over", "givens"), [3], "'givens' in 'passed_over' holds 3"),
    ],
)
def test_rubbish_is_refused(blanket, path, value, message):
    with pytest.raises(DataError, match=f"this is not a saved result: .*{message}"):
        Blanket.from_dict(spoiled(blanket, *path, value=value))


def test_missing_keys_are_refused(blanket):
    for key in ("target", "members", "strengths", "algorithm", "settings", "columns", "n_rows"):
        with pytest.raises(DataError, match=f"{key!r} is missing"):
            Blanket.from_dict(spoiled(blanket, key, drop=True))


def test_fields_with_a_default_may_be_absent(blanket):
    without = Blanket.from_dict(spoiled(blanket, "separators", drop=True))
    assert (without.separators, without.members) == ({}, blanket.members)


@pytest.mark.parametrize("document", ["", "{", "[1, 2]", "3", b"\xff\xfe\x00", "[" * 100_000])
def test_what_is_no_json_or_not_ours_is_refused(document):
    with pytest.raises(DataError, match="this is not a saved result"):
        Blanket.from_json(document)


def test_a_file_that_cannot_be_read(tmp_path):
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(DataError, match=r"'.*other\.json': this is not a saved result: the key 'schema'"):
        Blanket.load(tmp_path / "other.json")
    with pytest.raises(ParameterError, match="'path' must be the path of a file, but it is 5"):
        Blanket.load(5)
    with pytest.raises(DataError, match=r"cannot read '.*nothing\.json': No such file"):
        Blanket.load(tmp_path / "nothing.json")


# Graphs and pictures ---------------------------------------------------------------------------------


def test_graph_directs_only_what_is_known():
    trace = Trace()
    roles = {1: "parent", 2: "child", 3: "spouse", 4: "neighbor"}
    found = Found(members=(1, 2, 3, 4, 5), roles=roles, common_children={3: 2})
    graph = searched_with(found, trace, evidence=[proof(x) for x in found.members]).to_networkx()
    directed = {(a, b): d for a, b, d in graph.edges(data="directed")}
    assert directed == {
        ("age", "ill"): True,
        ("ill", "smoker"): True,
        ("hair", "smoker"): True,
        ("ill", "bmi"): False,
        ("ill", "town"): False,
    }
    assert dict(graph.nodes(data="role")) == {
        "ill": "target", "age": "parent", "smoker": "child", "hair": "spouse", "bmi": "neighbor", "town": "unknown"
    }  # fmt: skip
    assert graph.nodes["age"]["effect"] == pytest.approx(23.1 / 1920)


@pytest.mark.parametrize("order", [(2, 3), (3, 2)])
def test_a_spouse_directs_no_edge_that_is_not_shown(order):
    # 3 was found through 2, but the data do not show that 2 is a child.
    found = Found(members=order, roles={2: "neighbor", 3: "spouse"}, common_children={3: 2})
    graph = searched_with(found, Trace()).to_networkx()
    assert {(a, b): d for a, b, d in graph.edges(data="directed")} == {
        ("ill", "smoker"): False,
        ("hair", "smoker"): False,
    }


def test_plot_puts_parents_above_and_children_below():
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    roles = {1: "parent", 2: "child", 3: "spouse", 4: "neighbor"}
    found = Found(members=(1, 2, 3, 4, 5), roles=roles, common_children={3: 2})
    blanket = searched_with(found, Trace(), names=("ill", "age $x", "smoker", "hair", "bmi", "t" * 30))
    ax = blanket.plot()
    at = {text.get_text(): text.get_position() for text in ax.texts if text.get_text()}
    assert at["ill"] == (0, 0)
    assert at[r"age \$x"][1] > 0 > at["smoker"][1] == at["hair"][1]
    assert "t" * 17 + "…" in at
    arrows = [text for text in ax.texts if not text.get_text()]
    assert len(arrows) == 5
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["target", "parent", "child", "spouse", "neighbor", "role not known"]
    ax.figure.canvas.draw()
    assert blanket.plot(ax=ax) is ax
    pyplot.close("all")


def test_plot_without_matplotlib_says_what_to_install(blanket, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackageError, match=r"drawing a blanket needs .*pip install 'blankets\[plot\]'"):
        blanket.plot()


def test_plot_of_many_members_keeps_them_apart():
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    names = tuple(f"x{j}" for j in range(41))
    blanket = searched_with(Found(members=tuple(range(1, 41))), Trace(), names=names)
    ax = blanket.plot()
    at = {text.get_text(): text.get_position() for text in ax.texts if text.get_text()}
    assert set(names) <= set(at)
    assert len({at[name] for name in names}) == 41
    pyplot.close("all")


# Many targets ----------------------------------------------------------------------------------------


def lone(target, **effects):
    strengths = {
        x: NamedEvidence(x=x, y=target, statistic=200 * e, dof=1, log_p=-9.0, effect=e, n_rows=100)
        for x, e in effects.items()
    }
    return Blanket(
        target=target, members=tuple(strengths), strengths=strengths, algorithm="iamb", settings={},
        columns=("a", "b", "c", "d"), n_rows=100,
    )  # fmt: skip


@pytest.fixture
def many():
    found = {"a": lone("a", b=0.3, d=0.1), "b": lone("b", a=0.2), "c": lone("c", a=0.4)}
    return Blankets(found, n_tests=12, seconds=0.5, warnings=("few rows",))


def test_blankets_are_a_mapping(many):
    assert (list(many), len(many), many["b"].members, "c" in many, "z" in many) == (
        ["a", "b", "c"],
        3,
        ("a",),
        True,
        False,
    )
    assert many.get("z") is None
    with pytest.raises(KeyError, match="no blanket of 'aa'; did you mean 'a'"):
        many["aa"]


def test_network_by_both_rules(many):
    both = many.network()
    assert (set(both.nodes), list(both.edges(data=True))) == (
        {"a", "b", "c"}, [("a", "b", {"both": True, "effect": 0.3})]
    )  # fmt: skip
    either = many.network("or")
    edges = {frozenset((a, b)): d for a, b, d in either.edges(data=True)}
    assert edges == {
        frozenset("ab"): {"both": True, "effect": 0.3},
        frozenset("ac"): {"both": False, "effect": 0.4},
        frozenset("ad"): {"both": False, "effect": 0.1},
    }
    with pytest.raises(ParameterError, match="unknown rule 'xor'; did you mean 'or'"):
        many.network("xor")


def test_blankets_print_and_survive_json(many, tmp_path):
    text = str(many)
    assert text.splitlines()[0] == "Markov blankets of 3 targets (12 tests, 500 ms)"
    assert "  a       2     b and d" in text
    assert text.endswith("note: few rows")
    assert Blankets.from_json(many.to_json(tmp_path / "all.json")) == many
    assert (tmp_path / "all.json").read_text().startswith('{"schema": "blankets/blankets"')
    assert many != many["a"]
    with pytest.raises(DataError, match="'blankets/blankets' is missing"):
        Blankets.from_dict(many["a"].to_dict())


def test_long_lists_of_blankets_are_cut():
    assert "and 2 more" in str(Blankets({str(k): lone("a") for k in range(42)}))
    assert str(Blankets({})) == "Markov blankets of 0 targets (0 tests, 0 ms)"


# Interruption ----------------------------------------------------------------------------------------


def test_interrupted_says_what_was_held():
    error = Interrupted("ill", ["age", "smoker"], "growing")
    assert isinstance(error, KeyboardInterrupt)
    assert not isinstance(error, Exception)
    assert str(error) == (
        "stopped while growing; the search for the blanket of 'ill' is not finished (found so far: 'age', 'smoker')"
    )
    again = pickle.loads(pickle.dumps(error))
    assert (again.target, again.members, again.phase) == ("ill", ("age", "smoker"), "growing")
    assert str(Interrupted("ill")).endswith("(nothing was found yet)")


def test_records_are_empty_without_scans():
    assert len(PassedOver.nothing()) == 0
    assert Step("admitted", "growing", NamedEvidence.of(proof(1), NAMES)).x == "age"


@pytest.mark.parametrize(("statistic", "told"), [(7.88, "is a member."), (5.0, "was found to depend on the target.")])
def test_an_empty_blanket_says_whether_a_column_depends(statistic, told):
    trace = Trace()  # on one degree of freedom: p = 0.005 and 0.025
    scan = EvidenceBatch(
        *(np.array([1, 2]), 0, ()),
        statistic=np.array([0.5, statistic]), dof=np.ones(2), n_rows=960, reliable=np.ones(2, bool),
    )  # fmt: skip
    trace.passed_over(scan, "closing")
    assert f"\n  No column {told}\n" in str(searched_with(Found(members=()), trace))
