"""What is written as JSON is read back: the same text, the same words, and nothing that such a result cannot hold."""

import copy
import json
import math
import pickle
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2_contingency

import blankets as bl
from blankets.errors import DataError
from blankets.latent import LatentBlanket
from blankets.planning import Plan
from blankets.records import Bounds, Count, Known, Probability, Saved, plain, read
from blankets.results import Advice, Estimate, Ranking, Sensitivity, TestResult
from saved_examples import EXAMPLES, edited, example, hidden_cause


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_read_is_what_was_written(name, tmp_path):
    kind, result = EXAMPLES[name][0], example(name)
    document = result.to_json()
    result.to_json(tmp_path / "result.json", indent=2)
    for again in (kind.from_json(document), kind.from_json(document.encode()), kind.load(tmp_path / "result.json")):
        assert type(again) is kind
        assert again == result
        assert again.to_json() == document
        assert (repr(again), again._repr_html_()) == (repr(result), result._repr_html_())


def test_every_kind_of_result_is_among_the_examples():
    def kinds(of):
        return {one for kind in of.__subclasses__() for one in kinds(kind) | {kind}}

    results = {kind for kind in kinds(Saved) if not kind.__subclasses__()}  # the others are parents of some
    assert results == {kind for kind, _ in EXAMPLES.values()}


@pytest.mark.parametrize("level", [0.5, 0.99])
@pytest.mark.parametrize("name", [name for name in EXAMPLES if name.startswith(("estimate", "ranking"))])
def test_intervals_at_any_level_are_those_of_the_result(name, level):
    result = example(name)
    again = type(result).from_json(result.to_json())
    np.testing.assert_array_equal(np.array(again.interval(level)), np.array(result.interval(level)))
    np.testing.assert_array_equal(again.p, result.p)


def test_rankings_give_the_same_frame_and_picture():
    ranking = example("ranking, positives only")
    again = Ranking.from_json(ranking.to_json())
    pd.testing.assert_frame_equal(again.to_frame(), ranking.to_frame())
    assert (again.information.dtype, again.group.dtype) == (np.float64, np.int64)
    drawn = [[text.get_text() for text in one.plot().get_yticklabels()] for one in (again, ranking)]
    assert drawn[0] == drawn[1] != []


def test_answers_are_asked_as_before():
    result = example("test, positives only")
    again = TestResult.from_json(result.to_json())
    assert (again.dependent(), again.p, again.detectable) == (result.dependent(), result.p, result.detectable)
    advice = example("advice, prior uncertain")
    assert Advice.from_json(advice.to_json()).goal("medium", 0.8) == advice.goal("medium", 0.8)
    found = example("sensitivity")
    assert Sensitivity.from_json(found.to_json()).at(0.5) == found.at(0.5)


@pytest.mark.parametrize("name", [name for name, (kind, _) in EXAMPLES.items() if kind is Plan])
def test_plans_answer_further_questions_as_before(name):
    plan = example(name)
    again = Plan.from_json(plan.to_json())
    levels = [0.01, 0.37, 0.5, 0.99]
    np.testing.assert_array_equal(again.quantile(levels), plan.quantile(levels))
    for part in ("draws", "prior_draws"):
        np.testing.assert_array_equal(getattr(again, part), getattr(plan, part))
    rows = plan.power_curve([plan.rows // 2 + 1, plan.rows], over="rows")
    for key, values in again.power_curve([plan.rows // 2 + 1, plan.rows], over="rows").items():
        np.testing.assert_array_equal(values, rows[key])
    assert (again.dof, again.noncentrality, again.decisions) == (plan.dof, plan.noncentrality, plan.decisions)


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name.startswith("latent")])
def test_latent_models_predict_as_before(name):
    found = example(name)
    again = LatentBlanket.from_json(found.to_json())
    rows = hidden_cause().head(50)
    np.testing.assert_array_equal(again.predict_proba(rows), found.predict_proba(rows))
    assert (again.roles, again.picture()) == (found.roles, found.picture())
    assert list(again.graph.nodes) == list(found.graph.nodes)
    for latent in found.latents:
        np.testing.assert_array_equal(again.posterior(rows, latent.name), found.posterior(rows, latent.name))
        np.testing.assert_array_equal(again.latent(latent.name).table, latent.table)
        assert again.explain(latent.name) == found.explain(latent.name)


def test_priors_that_have_no_name_are_written_but_not_read():
    class Own:
        def cdf(self, value):
            return np.clip(np.asarray(value, float), 0, 1)

        ppf = cdf

    plan = bl.plan(effect="medium", power=0.9, rows=2000, labels="pu", prior=Own(), n_draws=20, assurance=0.5)
    assert json.loads(plan.to_json())["spread"]["knowledge"]["prior"] == {"not kept": "Own"}
    with pytest.raises(DataError, match=r"prior' holds \{'not kept': 'Own'\}"):
        Plan.from_json(plan.to_json())


def test_results_that_differ_are_not_equal():
    one, other = example("ranking"), example("ranking, positives only")
    assert one != other
    assert one != example("test")
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


WRONG = [
    ("test", ("schema",), "blankets/ranking", "the key 'schema' with the value 'blankets/test' is missing"),
    (
        "test",
        ("schema_version",),
        5,
        "version is 5, and this version of blankets reads and writes 4; run the call again",
    ),
    (
        "test",
        ("schema_version",),
        3,
        "version is 3, and this version of blankets reads and writes 4; run the call again",
    ),
    ("test", ("schema_version",), "4", "its schema version is '4', and this version"),
    ("test", ("log_p",), 0.5, "'log_p' holds 0.5"),
    ("test", ("log_p",), None, "'reliable' is true without 'statistic', 'dof' or 'log_p'"),
    ("test", ("log_p",), math.nan, "'log_p' holds nan"),
    ("test", ("alpha",), 1.5, "'alpha' holds 1.5"),
    ("test", ("alpha",), 0, "'alpha' holds 0"),
    ("test", ("test",), "luck", "'test' holds 'luck'"),
    ("test", ("dof",), -1, "'dof' holds -1"),
    ("test", ("reliable",), 1, "'reliable' holds 1"),
    ("test", ("powers",), {"small": 1.2}, "'small' in '[a-z_]+' holds"),
    ("test", ("detectable",), {"often": 0.1}, "'detectable' holds 'often'"),
    ("test", ("detectable",), {"1e3": 0.1}, "'detectable' holds '1e3'"),
    ("test", ("estimate",), [], r"'estimate' holds \[\]"),
    ("test", ("estimate", "x"), 3, "'x' in 'estimate' holds 3"),
    ("test", ("kappa",), -0.1, "'kappa' holds -0.1"),
    ("test", ("given",), "town", "'given' holds 'town'"),
    ("estimate", ("value",), None, "'value' holds None"),
    ("estimate", ("standard_error",), -1, "'standard_error' holds -1"),
    ("estimate", ("law",), 3, "'law' holds 3"),
    ("estimate", ("law", "law_variance"), [-1], r"'law_variance' in 'law' holds \[-1\]"),
    ("estimate", ("law", "scale"), [-1], r"'scale' in 'law' holds \[-1\]"),
    ("estimate", ("law", "dof"), [1, 2], "'dof' in 'law' has 2 values for 1 estimates"),
    ("estimate", ("law", "variance"), ["much"], "'variance' in 'law' holds 'much'"),
    ("ranking", ("p", 0), -0.1, "'p' holds"),
    ("ranking", ("group", 0), -1, "'group' holds"),
    ("ranking", ("information", 0), 10**400, "'information' holds a number that is too large"),
    ("ranking", ("law", "statistic"), [], "'statistic' in 'law' has 0 values for 4 estimates"),
    ("ranking", ("call",), 3, "'call' holds 3"),
    ("ranking", ("call", "seed"), 1.5, "'seed' in 'call' holds 1.5"),
    ("ranking", ("call", "versions"), {"numpy": 2}, "'numpy' in 'versions' holds 2"),
    ("ranking", ("names",), ["cough"], "'names' holds 1 features, but there are numbers for 4"),
    ("advice", ("powers",), {"tiny": 0.1}, "'powers' holds an effect that 'effects' does not"),
    ("advice", ("powers", "small"), 2, "'small' in 'powers' holds 2"),
    ("advice", ("recommendations",), {"pray": "daily"}, "'recommendations' holds an unknown task"),
    ("advice", ("kappa_range",), [0.5], r"'kappa_range' holds \[0.5\]"),
    ("advice", ("kappa_range",), [0.5, -0.4], "'kappa_range' holds -0.4"),
    ("advice", ("power_ranges",), {"small": [0.5, 1.2]}, "'small' in '[a-z_]+' holds"),
    ("advice", ("goals", 0, "more_rows"), -1, "'more_rows' in 'goals' holds -1"),
    ("advice", ("goals", 0, "power"), 3, "'power' in 'goals' holds 3"),
    ("advice, prior uncertain", ("goals", 0, "more_labels"), {"gold": 1}, "'goals' differ in the kinds of"),
    ("advice", ("levels",), 2.5, "'levels' holds 2.5"),
    ("sensitivity", ("ranges",), [], "'ranges' holds no ascending ranges"),
    ("sensitivity", ("ranges", 0, "high"), 0, "'ranges' holds no ascending ranges"),
    ("sensitivity", ("ranges", 0, "low"), -0.5, "'low' in 'ranges' holds -0.5"),
    ("sensitivity", ("runs", 0, 0), 1.5, "'runs' holds 1.5"),
    ("sensitivity", ("kappas", 0), "k", "'kappas' holds 'k'"),
    ("sensitivity", ("kappas",), [], "'kappas' and 'runs' differ in length"),
    ("sensitivity", ("breakpoints",), [2], "'breakpoints' holds 2"),
    ("plan", ("answer",), -1, "'answer' holds -1"),
    ("plan", ("wanted_power",), None, "'wanted_power' holds None"),
    ("plan", ("wanted_power",), 95, "'wanted_power' holds 95"),
    ("plan of power", ("wanted_power",), 0.9, "'wanted_power' holds 0.9, but 'unknown' holds 'power'"),
    ("plan", ("unknown",), "luck", "'unknown' holds 'luck'"),
    ("plan", ("regime",), "anarchy", "'regime' holds 'anarchy', but that of 'design' is 'supervised'"),
    ("plan", ("setting", "design", "surrogate"), "y0", "'surrogate' holds 'y0', which 'supervised' does not have"),
    ("plan", ("setting",), [], r"'setting' holds \[\]"),
    ("plan", ("setting", "effect"), [], "'effect' and 'dof' in 'setting' differ in length, or are empty"),
    ("plan", ("setting", "effect"), [-0.1], "'effect' in 'setting' holds"),
    ("plan", ("setting", "effect"), ["medium"], "'effect' in 'setting' holds 'medium'"),
    ("plan", ("setting", "dof"), [0.0], "'dof' in 'setting' holds"),
    ("plan", ("setting", "alpha"), 0, "'alpha' in 'setting' holds 0"),
    ("plan", ("setting", "alpha"), [0.1], "'alpha' in 'setting' holds a list"),
    ("plan", ("setting", "rows"), 1e30, r"'rows' in 'setting' holds 1e\+30"),
    ("plan", ("setting", "prior"), 0.2, "'prior' in 'setting' holds 0.2"),
    ("plan, labeled positives", ("setting", "prior"), None, "'prior' in 'setting' holds None"),
    ("plan, labeled positives", ("setting", "labeled"), 2900.0, "'labeled' in 'setting' holds 2900.0"),
    ("plan, by class", ("setting", "design", "positives"), 2, "'positives' in 'design' holds 2"),
    ("plan, by stratum", ("setting", "design", "strata"), [[0.1, 0.5]], "'strata' holds"),
    ("plan, by stratum", ("setting", "design", "strata"), [[0.0, 1.0]], "'strata' holds"),
    ("plan, prior between", ("spread", "knowledge", "n_draws"), 10**9, "'n_draws' in 'knowledge' holds 1000000000"),
    ("plan, prior between", ("spread", "knowledge", "n_draws"), 0, "'n_draws' in 'knowledge' holds 0"),
    ("plan, prior between", ("spread", "knowledge", "seed"), "x", "'seed' in 'knowledge' holds 'x'"),
    ("plan, prior between", ("spread", "knowledge", "prior"), {"class": "hunch"}, "'hunch'"),
    ("plan, prior between", ("spread", "knowledge", "prior", 0), 0.9, r"prior' holds \[0.9, 0.3\]"),
    ("plan, prior between", ("spread", "knowledge", "prior"), "<0.4", "but its 'prior' is certain"),
    (
        "plan, prior between",
        ("spread", "question", "dof"),
        [1.0, 2.0],
        "'dof' in 'question' is not as long as that in 'setting'",
    ),
    (
        "plan, Beta prior",
        ("spread", "knowledge", "prior", "concentration"),
        1,
        "prior' holds .*'concentration' must be",
    ),
    (
        "plan, prior of SciPy",
        ("spread", "knowledge", "prior", "base", "class"),
        "scipy.stats.expon",
        "no 'scipy.stats.expon'",
    ),
    ("plan, prior of SciPy", ("spread", "knowledge", "prior", "base", "args"), [1, 2, 3, 4, 5], "prior' holds"),
    ("plan, prior of SciPy", ("spread", "knowledge", "prior", "base", "args"), [-4], "prior' holds"),
    ("plan, prior estimated", ("spread", "knowledge", "prior", "draws"), [], r"'draws' must be .* but it is \[\]"),
    ("plan, prior estimated", ("spread", "knowledge", "prior", "method"), "guess", "unknown method 'guess'"),
    ("latent", ("nodes",), [], "differ in number"),
    ("latent", ("target",), "nobody", "'nodes' holds a name twice, or not all of the target"),
    ("latent", ("members",), ["nobody"], "not all of the target, 'members'"),
    ("latent", ("network",), 3, "'network' holds 3"),
    ("latent", ("network", "parents"), [0], "'parents', 'arities', 'tables' and 'nodes' in 'network' differ"),
    ("latent", ("network", "parents", 0), 1, "'parents' in 'network' hold a cycle"),
    ("latent", ("network", "parents", 0), -2, "'parents' in 'network' holds"),
    ("latent", ("network", "arities", 0), 0, "'arities' in 'network' holds"),
    ("latent", ("network", "tables", 0), 0.5, "'tables' in 'network' are not of the shape"),
    ("latent", ("latents", 0, "name"), "H9", "not all of .* 'latents'"),
    ("latent", ("latents", 0, "position"), "aunt", "'position' in 'latents' holds 'aunt'"),
    ("latent", ("latents", 0, "prevalence"), [0.5], "'prevalence' of 'H1' are not those of 'network'"),
    ("latent", ("latents", 0, "children"), [], "'children' or 'prevalence' of 'H1' are not those of 'network'"),
    ("latent", ("latents", 0, "information"), None, "'information' in 'latents' holds None"),
    ("latent", ("scores", 0, "bic"), "low", "'bic' in 'scores' holds 'low'"),
    ("latent", ("encoder", "levels"), [], "'names' and 'levels' in 'encoder' differ in number"),
    ("latent", ("encoder", "levels", 0), [0, None], "'levels' in 'encoder' hold values that are neither"),
    ("latent", ("encoder", "levels", 0), [0], "'names' and 'levels' in 'encoder' are not those of 'nodes'"),
    ("latent", ("encoder", "binned", "size", "cuts"), [2, 1], r"'cuts' holds \[2.0, 1.0\]"),
    ("latent", ("encoder", "missing"), "pray", "'missing' in 'encoder' holds 'pray'"),
    ("assumptions", ("checks", 0, "verdict"), "maybe", "'verdict' in 'checks' holds 'maybe'"),
    ("assumptions", ("checks",), "none", "'checks' holds 'none'"),
    ("stability", ("method",), "dice", "'method' holds 'dice'"),
    ("stability", ("n_resamples",), -1, "'n_resamples' holds -1"),
    ("selection", ("scores", 0), "high", "'scores' holds 'high'"),
    ("blankets", ("seconds",), -1, "'seconds' holds -1"),
]


@pytest.mark.parametrize(("name", "path", "value", "said"), WRONG)
def test_what_is_wrong_is_named(name, path, value, said):
    document = json.dumps(edited(json.loads(example(name).to_json()), path, value))
    with pytest.raises(DataError, match=f"^this is not a saved result: .*{said}"):
        EXAMPLES[name][0].from_json(document)


@pytest.mark.parametrize("name", [name for name in EXAMPLES if "," not in name])
def test_what_is_missing_is_named(name):
    """Fields that have a default may be absent."""
    kind, content = EXAMPLES[name][0], json.loads(example(name).to_json())
    needed = [each.name.lstrip("_") for each in fields(kind) if each.default is each.default_factory is MISSING]
    for key in ("schema", "schema_version", *needed):
        said = f"the key '{key}'" if key == "schema" else "schema version is None" if "_v" in key else f"{key!r} is mis"
        with pytest.raises(DataError, match=f"^this is not a saved result: .*{said}"):
            kind.from_dict(edited(content, (key,), ...))


@pytest.mark.parametrize("name", [name for name in EXAMPLES if "," not in name])
def test_documents_that_are_cut_off_or_something_else(name):
    kind, document = EXAMPLES[name][0], example(name).to_json()
    for wrong in ("", "[]", "3", "null", "[{}]", document[:-1], document[: len(document) // 2], f"[{document}]"):
        with pytest.raises(DataError, match=r"^this is not a saved result: "):
            kind.from_json(wrong)
    with pytest.raises(DataError, match=r"cannot read '.*nothing\.json'"):
        kind.load("no such folder/nothing.json")


def test_lists_within_lists_are_refused_before_anything_recurses():
    for depth in (101, 400, 100_000):
        deep = '{"schema": "blankets/test", "settings": ' + "[" * depth + "]" * depth + "}"
        with pytest.raises(DataError, match=r"'settings' holds lists within lists|it is not JSON"):
            TestResult.from_json(deep)


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_without_end_are_refused_wherever_they_are(token):
    content = json.loads(example("blanket").to_json())
    content["settings"]["anything"] = {"deeper": ["here"]}
    document = json.dumps(content).replace('"here"', token)
    with pytest.raises(DataError, match=r"'deeper' holds -?(nan|inf)"):
        bl.Blanket.from_json(document)


@dataclass
class Sample:
    n: Count = 0
    x: float = 0.0
    share: Probability | None = None
    ends: tuple[float, float] = (0.0, 1.0)
    by_level: Mapping[float, str] = field(default_factory=dict)
    codes: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    means: Annotated[NDArray[np.float64], Bounds(0.0, 1.0, known=False)] = field(default_factory=lambda: np.zeros(0))
    word: Literal["yes", "no"] = "yes"
    some: int | str | None = None
    sure: bool = True
    mean: Known = 0.0


def test_values_of_every_type_come_back():
    means = np.array([[0.5, np.nan], [0.0, 1.0]])
    one = Sample(n=3, x=math.inf, share=0.5, by_level={0.8: "most"}, codes=np.array([1, 2]), means=means, some="a")
    again = read(Sample, json.loads(json.dumps(plain(one), allow_nan=False)))
    assert math.isnan(again.x)  # a number without end has no place in JSON
    assert (again.n, again.share, again.ends, again.by_level, again.some) == (3, 0.5, (0.0, 1.0), {0.8: "most"}, "a")
    np.testing.assert_array_equal(again.means, means)
    assert (again.codes.tolist(), again.codes.dtype) == ([1, 2], np.int64)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("n", True, "'n' holds True"),
        ("n", -1, "'n' holds -1"),
        ("n", 1 << 63, "'n' holds"),
        ("x", "1", "'x' holds '1'"),
        ("x", 10**400, "'x' holds a number that is too large"),
        ("share", 1.5, "'share' holds 1.5"),
        ("ends", [0.5], r"'ends' holds \[0.5\]"),
        ("by_level", {"most": "x"}, "'by_level' holds 'most'"),
        ("by_level", {"0.5": 1}, "'0.5' in 'by_level' holds 1"),
        ("codes", [1.5], "'codes' holds 1.5"),
        ("codes", [1 << 70], "'codes' holds a number that is too large"),
        ("codes", [[1], [2, 3]], "'codes' holds"),
        ("codes", [[1], 2], "'codes' holds"),
        ("means", [2.0], r"'means' holds \[2.0\]"),
        ("word", "maybe", "'word' holds 'maybe'"),
        ("word", [], r"'word' holds \[\]"),
        ("some", 1.5, "'some' holds 1.5"),
        ("sure", 1, "'sure' holds 1"),
        ("mean", None, "'mean' holds None"),
    ],
)
def test_a_reader_takes_nothing_for_something_else(key, value, said):
    with pytest.raises(DataError, match=f"^this is not a saved result: {said}"):
        read(Sample, {key: value})


def test_a_file_is_whole_or_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "result.json"
    path.write_text("as it was")
    (tmp_path / "link.json").symlink_to(path)
    monkeypatch.setattr(Path, "write_text", lambda *_, **__: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(DataError, match=r"cannot write '.*result\.json': No space left"):
        example("test").to_json(path)
    monkeypatch.undo()
    assert path.read_text() == "as it was"
    example("test").to_json(tmp_path / "link.json")
    assert TestResult.load(path) == example("test")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link.json", "result.json"]
    with pytest.raises(DataError, match=r"cannot write '.*no folder.*': No such file or directory"):
        example("test").to_json(tmp_path / "no folder" / "result.json")


STORED = Path(__file__).parent / "stored"
KINDS = {kind._schema.removeprefix("blankets/"): kind for kind, _ in EXAMPLES.values()}


@pytest.mark.parametrize("path", sorted(STORED.glob("*.json")), ids=lambda path: path.stem)
def test_stored_files_are_read(path):
    """The files were written by the version that they are named after, and are never written again."""
    name, version = path.stem.rsplit("-", 1)
    content = json.loads(path.read_text("utf-8"))
    result = KINDS[name].load(path)
    assert (content["schema"], content["schema_version"]) == (f"blankets/{name}", int(version))
    if "target" in content:
        assert result.target == content["target"]
    assert repr(result)


def test_every_kind_has_a_stored_file_of_today():
    today = {f"{name}-{kind._version}" for name, kind in KINDS.items()}
    assert today <= {path.stem for path in STORED.glob("*.json")}


def test_stored_answers_are_those_of_the_counts():
    """60 of 100 that cough and 30 of 100 that do not are ill."""
    counts = [[60, 40], [30, 70]]
    g, p, dof, _ = chi2_contingency(counts, correction=False, lambda_="log-likelihood")
    test, estimate = TestResult.load(STORED / "test-4.json"), Estimate.load(STORED / "estimate-4.json")
    assert (test.statistic, test.dof, test.p) == pytest.approx((g, dof, p), rel=1e-9)
    assert estimate.value == pytest.approx(g / 400, rel=1e-9)
    ranking = Ranking.load(STORED / "ranking-4.json")
    assert (ranking.names, ranking.information.tolist()) == (("cough",), pytest.approx([g / 400], rel=1e-9))
    # Table 7.2 of Sechidis' thesis: a medium effect, power 0.95, 3000 rows, p(y=1) = 0.2.
    assert Plan.load(STORED / "plan-4.json").answer == 49


@pytest.mark.parametrize("name", EXAMPLES)
def test_results_go_through_pickle_and_copy(name):
    result = example(name)
    for again in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert again == result
        assert str(again) == str(result)
