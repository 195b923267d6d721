"""Tests of the user's own: the contract that they keep, and what is said where they break it."""

import networkx as nx
import numpy as np
import pytest
from scipy.stats import chi2

import blankets as bl
from blankets.errors import ContractError, NotAnswerableError, ParameterError, TargetError
from blankets.independence import DSeparation, EvidenceBatch, PartialCorrelation, PValues, check_test

GRAPH = nx.DiGraph([("rain", "wet"), ("sprinkler", "wet"), ("wet", "slip")])


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(4)
    a, e = rng.normal(size=(2, 300))
    c = a + rng.normal(size=300)
    return {"a": a, "c": c, "d": c + rng.normal(size=300), "e": e}


class Bare:
    """An object with ``names`` and ``scan``, and nothing else."""

    def __init__(self, table, change=lambda batch: batch):
        self.inner = PartialCorrelation(np.column_stack(list(table.values())), list(table))
        self.names, self.change = list(table), change

    def scan(self, xs, y, given=()):
        return self.change(self.inner.scan(xs, y, given))


def test_graphs_in_place_of_a_table():
    blanket = bl.discover(DSeparation(GRAPH), "wet", roles=True)
    assert blanket.roles == {"rain": "parent", "sprinkler": "parent", "slip": "child"}
    assert (blanket.n_rows, blanket.settings["test"]) == (0, "DSeparation")
    assert " row" not in repr(blanket)
    assert bl.discover_all(DSeparation(GRAPH))["rain"].members == ("wet", "sprinkler")
    assert bl.Blanket.from_json(blanket.to_json()) == blanket


def test_one_question():
    rain, wet = (bl.test(DSeparation(GRAPH), "rain", "sprinkler", given) for given in ((), ["wet"]))
    assert (rain.dependent(), wet.dependent()) == (False, True)  # explaining away
    assert "power" not in repr(wet).lower()
    assert wet.test == "DSeparation"


@pytest.mark.parametrize("own", [Bare, lambda t: Bare(t).inner])
def test_an_object_with_scan_answers_as_the_built_in_test_does(table, own):
    expected = bl.discover(table, "c", test="fisher-z")
    for blanket in (bl.discover(table, "c", test=own(table)), bl.discover(own(table), "c")):
        assert set(blanket.members) == {"a", "d"}
        for name in blanket.members:
            assert blanket.strengths[name].log_p == pytest.approx(expected.strengths[name].log_p)


def test_columns_are_matched_by_name(table):
    turned = bl.test(table, "a", "d", ["c"], test=Bare(dict(reversed(table.items()))))
    assert turned.p == pytest.approx(Bare(table).inner.test(0, 2, [1]).p)
    turned = dict(reversed(table.items()))
    one, other = bl.discover(table, "c", test=Bare(turned)), bl.discover(table, "c", test=Bare(table))
    assert one.members == other.members
    assert bl.discover(table, "c", test=Bare(turned), roles=True, exclude="e").columns == ("a", "c", "d")


def test_p_values_of_a_function(table):
    inner = Bare(table).inner
    names = list(table)

    def p_value(x, y, given):
        return inner.test(names.index(x), names.index(y), [names.index(z) for z in given]).p

    tests = PValues(p_value, names, 300)
    check_test(tests)
    evidence = tests.test(0, 1, [2])
    assert evidence.log_p == pytest.approx(inner.test(0, 1, [2]).log_p)
    assert (evidence.n_rows, tests.n_tests > 0) == (300, True)
    assert bl.discover(table, "c", test=tests).members == bl.discover(table, "c", test=inner).members


def test_a_p_value_that_does_not_exist_is_no_answer(table):
    tests = PValues(lambda x, y, given: np.nan if given else 0.5, list(table), 300)
    assert tests.test(0, 1).independent(0.01)
    unknown = tests.test(0, 1, [2])
    assert (unknown.reliable, unknown.dependent(0.01), unknown.independent(0.01)) == (False, False, False)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            lambda *_: 1.5,
            r"your function returned 1.5 for 'b' and 'a' given \[\]; a p-value is between 0 and 1, or NaN",
        ),
        (lambda *_: "no", "your function returned 'no' for 'b' and 'a' given .*, which is no number: ValueError"),
        (lambda *_: 1 / 0, "your function failed for 'b' and 'a' given .*: ZeroDivisionError: division by zero"),
    ],
)
def test_functions_that_fail(answer, message):
    with pytest.raises(ContractError, match=message):
        bl.discover(PValues(answer, ["a", "b"], 10), "a")


def test_what_a_test_of_your_own_cannot_do(table):
    own = Bare(table)
    for message, call in {
        "Bare is a class; give an object of it, such as Bare": lambda: bl.discover(table, "c", test=Bare),
        "cannot take 'labels'; leave that out": lambda: bl.discover(own, "c", labels="pu"),
        "cannot take 'y'; leave that out": lambda: bl.discover(own, y=table["c"]),
        "is not read; leave out 'missing'": lambda: bl.discover(own, "c", missing="drop"),
        "leave out engine=, groups= and survey_weight=": lambda: bl.discover(table, "c", test=own, groups="e"),
        "your test has no column 'q'; its 'names' are": lambda: bl.discover(
            {**table, "q": -(table["a"] ** 2)}, "c", test=own
        ),
        "this question needs rows, but a test": lambda: bl.rank(DSeparation(GRAPH), "wet"),
        "must be a function of x, y and given": lambda: PValues(3, ["a", "b"], 10),
    }.items():
        with pytest.raises(ParameterError, match=message):
            call()
    with pytest.raises(NotAnswerableError, match="changes the rows, but a test of your own answers for the rows"):
        bl.stability(table, "c", test=own, n_resamples=2)
    with pytest.raises(TargetError, match="'raim' cannot be a target; did you mean 'rain'"):
        bl.discover(DSeparation(GRAPH), "raim")
    with pytest.raises(TargetError, match="no target was named"):
        bl.discover(DSeparation(GRAPH))
    with pytest.raises(ContractError, match=r"your test \(.*\) has 'scan', but no 'names'"):
        bl.discover(type("Nameless", (), {"scan": lambda *_: None})(), "c")


def changed(**fields):
    """Return a function that changes an answer."""

    def change(batch):
        kept = {name: getattr(batch, name) for name in ("statistic", "dof", "n_rows", "reliable", "log_p", "effect")}
        new = {name: value(batch) for name, value in fields.items()}
        about = [new.pop(name, getattr(batch, name)) for name in ("xs", "y", "given")]
        return EvidenceBatch(*about, **{**kept, **new})

    return change


def spoiled():
    """Return changes that break a rule each, with what is said."""
    times = iter(range(10**6))
    rng = np.random.default_rng(0)
    return {
        "returned dict, not an EvidenceBatch": lambda batch: {},
        "is about other columns": changed(xs=lambda b: b.xs[::-1].copy()),
        "says that it was given": changed(given=lambda b: ()),
        "'statistic' has the shape": changed(statistic=lambda b: b.statistic[:1]),
        "a log p-value is at most 0": changed(log_p=lambda b: -b.log_p),
        "a statistic is at least 0": changed(statistic=lambda b: -1.0 - b.statistic),
        "degrees of freedom are at least 0": changed(dof=lambda b: b.dof - 2),
        "rows are at least 1, but not for column .*; if it was not tested, 'reliable' is False": changed(
            n_rows=lambda b: 0
        ),
        "asked twice, gives two answers": changed(log_p=lambda b: b.log_p - next(times)),
        "depends on the order of the columns in 'given'": changed(log_p=lambda b: b.log_p - sum(b.given[:1])),
        "says something else about .* than scan": changed(log_p=lambda b: b.log_p - len(b.xs)),
        "it is reliable once, and not another time": changed(reliable=lambda b: rng.random(len(b.xs)) < 0.5),
    }


@pytest.mark.parametrize("message", list(spoiled()))
def test_each_broken_rule_is_named(table, message):
    with pytest.raises(ContractError, match=message):
        check_test(Bare(table, spoiled()[message]))


def test_rules_about_the_test_itself(table):
    check_test(Bare(table))
    with pytest.raises(ContractError, match=r"a test has a method 'scan\(xs, y, given\)', but dict has none"):
        check_test(table)
    with pytest.raises(ContractError, match="'names' holds a name twice"):
        check_test(PValues(lambda *_: 0.5, ["a", "a", "b"], 10))
    with pytest.raises(ContractError, match="at least three columns to check; this one has 2"):
        check_test(PValues(lambda *_: 0.5, ["a", "b"], 10))


class Odd(PartialCorrelation):
    """Answers one question in a wrong way."""

    def drop_one(self, members, y, only=None):
        return self.scan(members if only is None else only, y)


class Hasty(PartialCorrelation):
    def separate(self, xs, y, among, **_):
        return self.scan(xs, y)


class Greedy(PartialCorrelation):
    def scan(self, xs, y, given=(), **_):
        found = super().scan(xs if len(xs) else [1], y, given)
        if isinstance(xs, np.ndarray) and len(xs) > 2:
            xs[0] = xs[1]
        return found


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Odd, "drop_one says something else about"),
        (Hasty, "is not the weakest evidence over all subsets"),
        (Greedy, "changed its own argument 'xs'"),
    ],
)
def test_questions_that_are_answered_in_another_way(table, kind, message):
    with pytest.raises(ContractError, match=message):
        check_test(kind(np.column_stack(list(table.values())), list(table)))


def test_evidence_about_nothing():
    class Talkative(DSeparation):
        def scan(self, xs, y, given=(), **_):
            return super().scan(xs if len(xs) else [(y + 1) % 4], y, given)

    with pytest.raises(ContractError, match="scan of no columns returns evidence"):
        check_test(Talkative(GRAPH))


def test_a_p_value_of_zero_is_very_small():
    evidence = PValues(lambda *_: 0.0, ["a", "b"], 10).test(0, 1)
    assert evidence.log_p < -700
    assert chi2.logsf(evidence.statistic, 1) == pytest.approx(evidence.log_p)


@pytest.mark.parametrize("how", ["auto", "g", "x2", "fisher-z"])
def test_the_tests_of_this_library_keep_the_contract(table, how):
    from blankets.study import independence_tests, open_study

    mixed = table if how == "fisher-z" else {**table, "k": (table["a"] > 0).astype(int), "m": (table["e"] > 0) * 1}
    with open_study(mixed, "c", test=how, numbers=True) as study:
        check_test(independence_tests(study))
