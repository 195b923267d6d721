"""A column is in the blanket of the target if and only if the target is in the column's."""

import numpy as np
import pytest

import blankets as bl
from blankets.independence import PValues
from blankets.search import Found, Trace, with_other_ends

SEED = 4


@pytest.mark.parametrize(("p", "enters"), [(0.09, True), (0.11, False), (0.0004, True)])
def test_the_other_end_counts_up_to_the_root_of_the_level(p, enters):
    """Among 30 columns a p-value of .09 lets nobody in; where the other end has found the target it is one of one."""
    names = [f"x{i}" for i in range(31)]
    tests = PValues(lambda x, y, given: 1e-9 if "x1" in (x, y) else p if "x2" in (x, y) else 0.8, names, 500)
    trace = Trace()
    found = with_other_ends(tests, 0, range(1, 31), Found(members=(1,)), [2, 3], alpha=0.01, trace=trace)
    assert found.members == ((1, 2) if enters else (1,))
    assert [d.x for d in trace.decisions if "in its blanket" in d.reason] == ([2] if enters and p > 0.001 else [])


@pytest.mark.parametrize(("p", "alone", "stays"), [(0.3, [2], False), (0.009, [2], True), (0.3, [], True)])
def test_a_weak_member_leaves_if_its_own_end_does_not_have_the_target(p, alone, stays):
    """It stays although p is above the level because the search brought it, and so it needs the other end."""
    names = [f"x{i}" for i in range(31)]
    tests = PValues(lambda x, y, given: 1e-9 if "x1" in (x, y) else p if "x2" in (x, y) else 0.8, names, 500)
    found = with_other_ends(tests, 0, range(1, 31), Found(members=(1, 2)), [], alone, alpha=0.01, trace=Trace())
    assert found.members == ((1, 2) if stays else (1,))


def _weak(rng, n=400, m=24):
    """Return numbers, each a weak sum of up to three others."""
    table: dict[str, np.ndarray] = {}
    for j in range(m):
        causes = rng.choice(j, min(j, 3), replace=False) if j else []
        table[f"v{j}"] = rng.normal(size=n) + sum(0.22 * table[f"v{z}"] for z in causes)
    return table


def _one_sided(found):
    return [(x, y) for x in found for y in found[x].members if y in found and x not in found[y].members]


def test_all_blankets_of_numbers_ask_both_ends():
    """Where one end alone has found the other, that asks once more, and a column that it gains is needed."""
    table = _weak(np.random.default_rng(SEED), m=14)
    found = bl.discover_all(table)
    alone = {x: bl.discover(table, x) for x in table}
    assert len(_one_sided(alone)) > len(_one_sided(found))
    gained = [(x, y) for x, y in _one_sided(alone) if x in found[y].members]
    assert gained
    for x, y in gained:
        assert bl.test(table, x, y, given=[z for z in found[y].members if z != x]).p <= 0.01
        assert "the target is in its blanket" in str(found[y].explain(x))


def test_a_single_target_has_one_end():
    table = _weak(np.random.default_rng(SEED))
    first = next(iter(table))
    assert bl.discover_all(table, [first])[first].members == bl.discover(table, first).members
