"""Numbers that others determine: tests given these have nothing to test, and searches find the parts of a total."""

import numpy as np
import pytest

import blankets as bl
from blankets.counting import MemoryMoments
from blankets.data import ingest
from blankets.independence import DeterminedTests, QuickTests, relations_of


def parts(seed, n=3000):
    """Return two counts that follow the hour, each in its own way, and their total."""
    rng = np.random.default_rng(seed)
    hour = rng.uniform(0.0, 24.0, n)
    made = {
        "hour": hour,
        "regular": rng.poisson(np.exp(3.0 + np.sin(hour / 3.0))).astype(float),
        "casual": rng.poisson(np.exp(2.0 + np.cos(hour / 4.0))).astype(float),
        "warmth": np.cos(hour / 4.0) + rng.normal(size=n),
    }
    return {**made, "total": made["regular"] + made["casual"]}


def relations(table):
    frame = ingest(table, numbers=True).frame
    return relations_of(frame), frame


def test_each_part_is_determined_by_the_total_and_the_other():
    found, frame = relations(parts(0))
    total, regular, casual, hour = map(frame.index, ("total", "regular", "casual", "hour"))
    assert found.columns == {total, regular, casual}
    assert found.determine([hour, regular, casual], total)
    assert found.determine([total, casual], regular)
    assert not found.determine([regular, hour], total)
    assert not found.determine([regular, casual, total], hour)


@pytest.mark.parametrize("scale", [np.exp, lambda x: -(x**3), lambda x: 2.54 * x + 1e6])
def test_another_scale_determines(scale):
    x = np.random.default_rng(1).normal(size=400)
    found, frame = relations({"x": x, "scaled": scale(x), "other": np.abs(x)})
    assert found.columns == {frame.index("x"), frame.index("scaled")}
    assert found.determine([frame.index("x")], frame.index("scaled"))


def test_almost_is_not_exactly():
    table = parts(2)
    table["total"] = table["total"] + np.random.default_rng(3).normal(size=3000) * 0.1
    assert relations(table)[0] is None


def test_a_sum_that_holds_in_the_rows_looked_at_first_only():
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(2, 6000))
    total = a + b
    total[1] += 5.0  # of 6,000 rows every second is looked at first
    assert relations({"a": a, "b": b, "total": total})[0] is None


def test_no_relation_by_chance_where_rows_are_few():
    rng = np.random.default_rng(5)
    assert relations({f"x{j}": rng.normal(size=30) for j in range(31)})[0] is None


def test_a_single_number_is_determined_by_nothing():
    gaps = np.where(np.arange(90) % 9 == 0, np.nan, np.arange(90) % 7 / 3.0)
    assert relations({"x": gaps, "kind": ["a", "b", "c"] * 30})[0] is None
    assert relations({"x": np.sqrt(np.arange(90.0)), "kind": ["a", "b", "c"] * 30})[0] is None


def test_a_sum_of_answers():
    rng = np.random.default_rng(6)
    items = {f"item{k}": rng.integers(0, 5, 500) for k in range(4)}
    found, frame = relations({**items, "score": sum(items.values()).astype(float), "x": rng.normal(size=500)})
    assert found.columns == set(map(frame.index, [*items, "score"]))
    assert found.determine([frame.index(name) for name in items], frame.index("score"))


def test_there_is_nothing_to_test_given_the_parts():
    table = parts(7)
    told = bl.test(table, "hour", "total", given=["regular", "casual"])
    assert told.p == 1.0
    assert "determine" in told.method
    assert bl.test(table, "hour", "total", given=["regular"]).p < 1e-10


def test_answers_of_the_tests_below_stand_in_their_places():
    found, frame = relations(parts(8))
    plain = QuickTests(MemoryMoments(frame))
    tests = DeterminedTests(plain, found, frame.n_rows)
    warmth, total, hour = map(frame.index, ("warmth", "total", "hour"))
    given = [frame.index("regular"), frame.index("casual")]
    together, below = tests.scan([total, warmth], hour, given), plain.scan([total, warmth], hour, given)
    assert together.xs.tolist() == [total, warmth]
    assert together.dof[0] == 0 < below.dof[0]
    assert together.log_p[0] == 0.0 > below.log_p[0]
    assert together.log_p[1] == below.log_p[1]


@pytest.mark.parametrize("algorithm", ["auto", "pcmb", "iamb", "hiton-mb"])
def test_the_blanket_of_a_total_is_its_parts(algorithm):
    blanket = bl.discover(parts(9), "total", algorithm=algorithm)
    assert set(blanket.members) == {"regular", "casual"}


def test_it_is_said():
    checks = bl.discover(parts(10), "total").checks
    (one,) = [check for check in checks if check.kind == "leaking"]
    assert set(one.columns) == {"regular", "casual"}
    assert "exactly, as the parts of a total do" in one.what
