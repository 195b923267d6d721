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
    table = _weak(np.random.default_rng(SEED))
    found = bl.discover_all(table)
    alone = {x: bl.discover(table, x) for x in table}
    assert len(_one_sided(alone)) > len(_one_sided(found))
    for x, y in _one_sided(alone):  # y is in the blanket of x alone: the end that missed x asks once more
        p = bl.test(table, x, y, given=list(alone[y].members)).p
        assert (x in found[y].members) == (p <= 0.1), (x, y, p)
    for x, y in _one_sided(alone):
        if x in found[y].members:
            assert "the target is in its blanket" in str(found[y].explain(x))


def _curved(rng, n=600, m=14):
    """Return numbers, each a sum of up to three others, or of their squares."""
    table: dict[str, np.ndarray] = {}
    for j in range(m):
        causes = rng.choice(j, min(j, 3), replace=False) if j else []
        v = rng.normal(size=n) + sum(0.8 * (table[f"v{z}"] ** 2 - 1 if z % 2 else table[f"v{z}"]) for z in causes)
        table[f"v{j}"] = (v - np.mean(v)) / np.std(v)
    return table


def test_weak_members_are_members_at_both_ends_or_at_none():
    table = _curved(np.random.default_rng(6))
    found = bl.discover_all(table)
    alone = {x: bl.discover(table, x) for x in table}
    weak = [(x, z) for x, blanket in alone.items() for z in blanket.weak if x not in alone[z].members]
    assert weak
    for x, z in weak:  # the end that does not have x was asked once more
        p = bl.test(table, x, z, given=list(alone[z].members)).p
        assert (z in found[x].members) == (x in found[z].members) == (p <= 0.1), (x, z, p)


def test_a_single_target_has_one_end():
    table = _weak(np.random.default_rng(SEED))
    first = next(iter(table))
    assert bl.discover_all(table, [first])[first].members == bl.discover(table, first).members
