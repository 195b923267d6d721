"""SLL finds known blankets, tells neighbors from spouses, and is an algorithm like the others."""

import networkx as nx
import numpy as np
import pytest

from blankets.counting import MemoryCounter
from blankets.data import Frame
from blankets.errors import ParameterError
from blankets.independence import DSeparation, TableTests
from blankets.latent import SLL, sll
from blankets.search import Trace


def network(rng, n_rows=4000):
    """P -> T -> C <- S, C -> D, R apart; columns P, T, C, S, D, R."""

    def noisy(values):
        return np.where(rng.random(n_rows) < 0.1, 1 - values, values)

    p, s, r = rng.integers(0, 2, (3, n_rows))
    t = noisy(p)
    c = noisy(t & s)
    return Frame.from_codes(np.column_stack([p, t, c, s, noisy(c), r]), names=list("PTCSDR"))


FRAME = network(np.random.default_rng(0))
BLANKETS = {"P": {"T"}, "T": {"P", "C", "S"}, "C": {"T", "S", "D"}, "S": {"T", "C"}, "D": {"C"}, "R": set()}


@pytest.mark.parametrize("target", list("PTCSDR"))
@pytest.mark.parametrize("score", ["bic", "bdeu"])
def test_blankets_of_a_known_network(target, score):
    t = FRAME.index(target)
    found = sll(FRAME, t, [j for j in range(6) if j != t], score=score)
    assert {FRAME.names[j] for j in found.members} == BLANKETS[target]


def test_roles_and_common_child():
    found = sll(FRAME, 1, [0, 2, 3, 4, 5])
    assert found.members == (0, 2, 3)
    assert found.roles == {0: "neighbor", 2: "neighbor", 3: "spouse"}
    assert found.common_children == {3: 2}


@pytest.mark.parametrize("learner", ["dynamic", "integer"])
def test_learners_agree(learner):
    assert sll(FRAME, 1, range(6), learner=learner, max_parents=3).members == (0, 2, 3)


def test_as_an_algorithm():
    trace = Trace()
    tests = TableTests(MemoryCounter(FRAME))
    found = SLL.run(tests, 1, [0, 2, 3, 4, 5], alpha=0.01, trace=trace)
    assert found.members == (0, 2, 3)
    assert trace.members == [0, 2, 3]
    assert set(SLL.options) == {"score", "max_parents", "learner", "equivalent_sample_size"}
    oracle = DSeparation(nx.DiGraph([(0, 1)]))
    with pytest.raises(ParameterError, match="'sll' scores networks on rows of categories in memory"):
        SLL.run(oracle, 0, [1], alpha=0.01, trace=Trace())
