"""Saved results that somebody edited: read as they are, or refused; never a page or text that breaks."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import blankets as bl
from blankets.errors import DataError
from saved_examples import EXAMPLES, edited, example

RUBBISH = (None, -1, 1.5, True, "x", [], [1], [[["x"]]], {}, {"a": 1}, 10**30, 10**400, float("inf"), float("nan"))


@pytest.fixture(scope="module")
def saved():
    rng = np.random.default_rng(2)
    t = rng.integers(0, 2, 300)
    table = pd.DataFrame({"a": (t + (rng.random(300) < 0.2)) % 2, "b": rng.integers(0, 3, 300)})
    table["copy"], table["constant"], table["number"] = table["b"], 1, rng.random(300)
    table["unused"] = pd.Categorical(rng.choice(["u", "v"], 300), categories=list("uvw"))
    with pytest.warns(bl.errors.BlanketsWarning):
        blanket = bl.discover(table.assign(t=t), "t", discretize="sturges")
    return json.loads(blanket.to_json())


def places(content, path=()):
    """Yield where something stands in a document; of lists the first two items."""
    yield path
    if isinstance(content, dict):
        for key, value in content.items():
            yield from places(value, (*path, key))
    elif isinstance(content, list):
        for at, value in enumerate(content[:2]):
            yield from places(value, (*path, at))


def use(blanket, path):
    """Do everything that can be done with a result."""
    assert blanket.target in str(blanket)
    assert blanket.to_json() == bl.Blanket.from_json(blanket.to_json()).to_json()
    assert len(blanket.table()) == len(blanket.members)
    assert blanket.target in blanket.to_networkx()
    assert all(name in str(blanket.explain(name)) for name in blanket.columns if name != blanket.target)
    blanket.report(path)
    assert path.stat().st_size > 1000


def test_the_result_itself_is_read(saved, tmp_path):
    use(bl.Blanket.from_json(json.dumps(saved)), tmp_path / "page.html")


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("data", "n_rows"), "many", "'n_rows' in 'data' holds 'many'"),
        (("data", "binned", "number", "cuts"), None, "'cuts' in 'number' holds None"),
        (("data", "duplicates"), ["b"], "'duplicates' in 'data' holds"),
        (("settings", "alpha"), 2, "'alpha' in 'settings' holds 2"),
        (("settings", "keep"), None, "'keep' in 'settings' holds None"),
        (("n_rows",), -1, "'n_rows' holds -1"),
        (
            ("decisions", 0, "evidence", "n_rows"),
            10**30,
            "'n_rows' in 'evidence' holds 1000000000000000000",
        ),
        (("seconds",), None, "'seconds' holds None"),
        (("seconds",), float("inf"), "'seconds' holds inf"),
        (("strengths", "a", "log_p"), 3, "'log_p' in 'a' holds 3"),
        (("strengths", "a", "statistic"), 10**400, "'statistic' holds a number that is too large"),
        (("passed_over", "dof", 0), None, "a reliable test without degrees of freedom"),
        (("passed_over", "log_p", 0), 1, "a reliable test without degrees of freedom or a p-value"),
    ],
)
def test_what_is_wrong_is_said(saved, path, value, said):
    with pytest.raises(DataError, match=f"this is not a saved result: .*{said}"):
        bl.Blanket.from_json(json.dumps(edited(saved, path, value)))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), value=st.sampled_from(RUBBISH))
def test_edited_results_are_refused_or_work(saved, tmp_path, data, value):
    path = data.draw(st.sampled_from(list(places(saved))))
    document = json.dumps(edited(saved, path, value))
    try:
        blanket = bl.Blanket.from_json(document)
    except DataError:
        return
    use(blanket, tmp_path / "page.html")


@pytest.mark.slow
def test_every_place_of_a_result_edited(saved, tmp_path):
    refused = 0
    for path in places(saved):
        for value in RUBBISH:
            try:
                blanket = bl.Blanket.from_json(json.dumps(edited(saved, path, value)))
            except DataError:
                refused += 1
            else:
                use(blanket, tmp_path / "page.html")
    assert refused > 500


@given(document=st.one_of(st.text(), st.binary(), st.recursive(st.none(), st.lists).map(json.dumps)))
def test_documents_that_are_no_results(document):
    with pytest.raises(DataError, match="this is not a saved result"):
        bl.Blanket.from_json(document)


def test_half_letters_in_names_survive_saving(tmp_path):
    table = {"half \ud800": [0, 1, 0, 1] * 50, "t": [0, 1, 1, 1, 0, 1, 0, 0] * 25}
    blanket = bl.discover(table, "t")
    blanket.to_json(tmp_path / "result.json")
    assert bl.Blanket.load(tmp_path / "result.json").columns == ("half \ud800", "t")


KINDS = [name for name, (kind, _) in EXAMPLES.items() if kind is not bl.Blanket]
MORE = (*RUBBISH, 0, 1, 0.5, -0.5, 2, 1e300, -1e300, 5e-324, "", "0.5", [0.5], [0.5, 0.2], ["x"], {"x": "y"})


def refused(name, document):
    """Read a document; use what comes of it as a person would, and tell whether it was refused."""
    kind = EXAMPLES[name][0]
    try:
        result = kind.from_json(document)
    except DataError as error:
        return str(error).startswith("this is not a saved result: ") or pytest.fail(str(error))
    assert repr(result)
    assert result._repr_html_()
    assert kind.from_json(result.to_json()) == result
    for ask in ("table", "interval", "to_frame", "dependent"):
        if hasattr(result, ask):
            assert getattr(result, ask)() is not None
    return False


@settings(max_examples=200, deadline=None)
@given(name=st.sampled_from(KINDS), data=st.data(), value=st.sampled_from(MORE))
def test_edited_results_of_every_kind_are_refused_or_work(name, data, value):
    content = json.loads(example(name).to_json())
    path = data.draw(st.sampled_from(list(places(content))))
    refused(name, json.dumps(edited(content, path, value)))


@settings(max_examples=100, deadline=None)
@given(name=st.sampled_from(KINDS), data=st.data())
def test_results_without_something_are_refused_or_work(name, data):
    content = json.loads(example(name).to_json())
    path = data.draw(st.sampled_from([path for path in places(content) if path]))
    refused(name, json.dumps(edited(content, path, ...)))


@settings(max_examples=100, deadline=None)
@given(name=st.sampled_from(KINDS), data=st.data(), letter=st.sampled_from('0"{}[],:-eN\\\x00é'))
def test_results_with_one_letter_changed_are_refused_or_work(name, data, letter):
    document = example(name).to_json()
    at = data.draw(st.integers(0, len(document) - 1))
    refused(name, document[:at] + letter + document[at + 1 :])


@given(document=st.one_of(st.text(), st.binary(), st.recursive(st.none(), st.lists).map(json.dumps)))
def test_documents_that_are_no_results_of_any_kind(document):
    for name in KINDS:
        assert refused(name, document)


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_every_place_of_every_kind_edited(name):
    content = json.loads(example(name).to_json())
    outcomes = [
        refused(name, json.dumps(edited(content, path, value)))
        for path in places(content)
        for value in (*MORE, ...)
        if path or value is not ...
    ]
    assert 0 < sum(outcomes) < len(outcomes)
