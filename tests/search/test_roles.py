"""Roles where tests contradict each other; with perfect tests see the oracle suite."""

import networkx as nx

from blankets.independence import DSeparation
from blankets.search import Note, Trace, Trouble
from blankets.search._roles import orient, resolve_roles
from search.graphs import Scripted

ALPHA = 0.05
VERY = -100.0


def by_name(tests, roles):
    return {tests.names[x]: role for x, role in roles.items()}


def test_the_three_patterns():
    # A and B are parents by the collider at T, D a child because it is separated from A by T;
    # C a child by its other parent X.
    graph = nx.DiGraph({"T": ["D", "C"], "A": ["T"], "B": ["T"], "X": ["C"], "C": [], "D": []})
    tests = DSeparation(graph)
    number = tests.names.index
    found = resolve_roles(tests, number("T"), [number(x) for x in "XABCD"], alpha=ALPHA, trace=Trace())
    assert by_name(tests, found.roles) == {
        "A": "parent",
        "B": "parent",
        "C": "child",
        "D": "child",
        "X": "spouse",
    }
    assert found.common_children == {number("X"): number("C")}
    assert found.separators == {number("X"): ()}


def test_nothing_identifies_the_ends_of_a_chain():
    tests = DSeparation(nx.DiGraph([("A", "T"), ("T", "B")]))
    assert by_name(tests, orient(tests, 1, [0, 2], {}, alpha=ALPHA)) == {"A": "neighbor", "B": "neighbor"}


def test_a_limit_keeps_roles_unknown_rather_than_wrong():
    # A and B are adjacent but for Z, which is not in the blanket's way: a limit of 0 finds no separator.
    tests = DSeparation(nx.DiGraph({"A": ["T", "Z"], "Z": ["B"], "B": ["T"], "T": []}))
    number = tests.names.index
    neighbors = [number("A"), number("B")]
    roles = orient(tests, number("T"), neighbors, {}, alpha=ALPHA, max_given=0)
    assert set(roles.values()) == {"neighbor"}


def test_both_parent_and_child_is_neither():
    # A and B are separated by nothing and tied given T (both parents), but X, tied to T given A, makes A a child.
    ties = ("TA|", "TB|", "TA|B", "TB|A", "AX|", "AB|T", "TX|A")
    tests = Scripted("TABX", dict.fromkeys(ties, VERY))
    roles = by_name(tests, orient(tests, 0, [1, 2], {3: 1}, alpha=ALPHA))
    assert roles == {"A": "neighbor", "B": "parent", "X": "spouse"}


def test_a_member_without_an_edge_or_a_common_child_has_no_role():
    tests = Scripted("TAB", {"TA|": VERY, "TA|B": VERY, "TB|A": VERY})
    trace = Trace()
    found = resolve_roles(tests, 0, [1, 2], alpha=ALPHA, trace=trace)
    assert found.members == (1, 2)
    assert by_name(tests, found.roles) == {"A": "neighbor"}
    assert trace.notes == [Note(Trouble.NO_ROLE, {"columns": ("B",)})]
