"""A neighborhood that is found in one call is that of the search step by step, and so are the members of a draw."""

import gc
import math
import weakref

import numpy as np
import pytest

import blankets as bl
from blankets import kernels
from blankets.counting import MemoryCounter
from blankets.data import Frame
from blankets.independence import CalibratedTests, IndependenceTest, TableTests
from blankets.search import Trace
from blankets.search._local import LocalSearch
from blankets.search.pcmb import pcd
from blankets.search.two_view import LimitedTests, OutOfTests, _by_small_sets
from blankets.study import Search, Wanted, open_study


class Steps(IndependenceTest):
    """The same tests, which cannot tell a neighborhood at once."""

    def __init__(self, tests):
        self.tests, self.names, self.memo = tests, tests.names, {}

    def __getattribute__(self, name):
        own = ("tests", "names", "memo", "grown", "first_view", "remember", "__class__")
        return object.__getattribute__(self, name) if name in own else getattr(self.tests, name)

    def scan(self, xs, y, given=(), *, even_if_unreliable=False):
        raise NotImplementedError


def network(seed, n=None):
    """Return a table of a random network: some columns have two parents, levels may be rare."""
    rng = np.random.default_rng(seed)
    n, k = n or int(rng.choice([60, 300, 900])), int(rng.integers(5, 9))
    columns = []
    for j in range(k):
        a = int(rng.integers(2, 4))
        parents = rng.choice(j, min(j, int(rng.integers(0, 3))), replace=False)
        shift = sum((columns[p] for p in parents), np.zeros(n, int))
        noise = rng.binomial(a - 1, rng.choice([0.1, 0.5]), n)
        columns.append(np.where(rng.random(n) < 0.5, (shift + noise) % a, noise))
    return Frame.from_codes(np.column_stack(columns))


def collected(seed):
    """Return a table in which a sum of three effects of the first column enters before them, and leaves again."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([600, 4000]))
    y = rng.integers(0, 2, n)
    effects = [np.where(rng.random(n) < share, 1 - y, y) for share in (0.2, 0.22, 0.24)]
    total = np.where(rng.random(n) < 0.15, rng.integers(0, 4, n), sum(effects))
    later = [np.where(rng.random(n) < 0.5, total > 1, rng.random(n) < 0.1) for _ in range(2)]
    rare = [np.where(rng.random(n) < 0.05, effects[k], 0) for k in range(2)]
    return Frame.from_codes(np.column_stack([y, *effects, total, *later, *rare]).astype(int))


def kinds(frame):
    counter = MemoryCounter(frame, 1)
    return TableTests(counter), TableTests(counter, statistic="x2"), CalibratedTests(counter, level=0.01)


def written(found):
    logs = (found.log, *(() if found.steps is None else (found.steps(),)))
    decisions = [(d.action, d.reason, d.evidence.x, d.evidence.given) for log in logs for d in log.decisions]
    numbers = [(d.evidence.log_p, d.evidence.statistic, d.evidence.dof) for log in logs for d in log.decisions]
    passed = [(b.xs.tolist(), [b.given_of(i) for i in range(len(b))]) for log in logs for _, b in log.scans]
    return decisions, passed, numbers


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("made", [network, collected])
@pytest.mark.parametrize("max_given", [None, 1])
def test_a_neighborhood_is_that_of_the_search_step_by_step(seed, made, max_given):
    frame = made(seed)
    for at_once in kinds(frame):
        for y in range(frame.n_columns):
            found, told = [], []
            for tests in (at_once, Steps(at_once)):
                others = [x for x in range(frame.n_columns) if x != y]
                search = LocalSearch(tests, y, others, alpha=0.01, max_given=max_given, trace=Trace())
                found.append(pcd(search, y, Trace()))
                told.append(written(found[-1]))
            assert found[0].steps is not None
            assert found[1].steps is None
            assert found[0].members == found[1].members
            assert (found[0].untested, found[0].capped) == (found[1].untested, found[1].capped)
            assert found[0].separators.keys() == found[1].separators.keys()
            if isinstance(at_once, CalibratedTests):  # draws wait, and a clear test may separate before them
                continue
            assert found[0].separators == found[1].separators
            assert told[0][:2] == told[1][:2]
            np.testing.assert_allclose(told[0][2], told[1][2], rtol=1e-12)


def test_what_waited_separates_as_well():
    frame, apart = collected(11), 0
    tests = kinds(frame)[2]
    for y in range(frame.n_columns):
        others = [x for x in range(frame.n_columns) if x != y]
        found = pcd(LocalSearch(tests, y, others, alpha=0.01, max_given=None, trace=Trace()), y, Trace())
        for x, given in found.separators.items():
            assert tests.test(x, y, given).independent(0.01)
            apart += 1
    assert apart > 10


def test_a_member_that_leaves_is_told():
    tests = kinds(collected(1))[0]
    search = LocalSearch(tests, 0, range(1, len(tests.names)), alpha=0.01, max_given=None, trace=Trace())
    found = pcd(search, 0, Trace())
    assert set(found.members) == {1, 2, 3}
    assert [d.evidence.x for d in found.steps().decisions if d.action == "removed"] == [4]
    assert set(found.separators[4]) == {1, 2, 3}


def test_a_limit_of_tests_is_reached_at_the_same_number():
    frame = network(3, 900)
    tests, others = kinds(frame)[0], range(1, frame.n_columns)

    def ends(tests, most):
        limited = LimitedTests(tests, most)
        try:
            pcd(LocalSearch(limited, 0, others, alpha=0.01, max_given=None, trace=Trace()), 0, Trace())
        except OutOfTests:
            return math.inf
        return limited.asked

    asked = [[ends(kind, most) for most in range(60)] for kind in (tests, Steps(tests))]
    assert asked[0] == asked[1]
    assert len(set(asked[0])) == 2  # some are enough, some are not


def test_long_searches_go_on_step_by_step(monkeypatch):
    tests = kinds(network(3, 900))[0]
    batch = tests.scan(range(len(tests.names) - 1), len(tests.names) - 1)
    at = np.flatnonzero(batch.dependent(0.01))
    assert len(at) > 1
    assert tests.grown(batch, at, max_size=None, stop_at=0.01) is not None
    monkeypatch.setattr("blankets.independence._tables.PATIENCE", 1)
    assert tests.grown(batch, at, max_size=None, stop_at=0.01) is None


@pytest.mark.parametrize("algorithm", ["auto", "pcmb", "mmmb", "iamb"])
@pytest.mark.parametrize("close", [True, False])
def test_members_alone_are_those_of_the_whole_answer(algorithm, close):
    wanted = Wanted.of(algorithm, None, 0.01, close=close)
    for seed in range(12 if kernels.COMPILED else 3):
        frame = network(seed, 900)
        for target in frame.names:
            with open_study(frame, target, n_jobs=1) as study:
                brief = Search.of(study, wanted).members_of(study.target)
                whole = Search.of(study, wanted).blanket_of(study.target).members
            assert set(brief) == set(whole)


@pytest.mark.parametrize("made", [network, collected])
@pytest.mark.parametrize("limits", [(10**6, 10**6), (300, 100), (10**6, 60), (0, 10**6), (10**6, 3)])
def test_the_first_view_is_that_of_the_search_step_by_step(made, limits):
    found = set()
    for seed in range(10 if kernels.COMPILED else 2):
        frame = made(seed)
        for kind in (*kinds(frame)[:2], TableTests(MemoryCounter(frame, 1), dof="nominal", reliability=0.0)):
            for y in range(frame.n_columns):
                others = [x for x in range(frame.n_columns) if x != y]
                how = {"alpha": 0.05, "limits": limits}
                at_once = kind.first_view(y, others, max_size=2, **how)
                in_steps = _by_small_sets(Steps(kind), y, others, trace=Trace(), **how).members
                assert at_once == in_steps
                found.add(at_once)
    assert len(found) > (3 if min(limits) > 3 else 0)  # so small limits leave nothing


def test_only_chi_square_tests_of_small_tables_in_memory_have_a_first_view_at_once(monkeypatch):
    frame = network(3, 900)
    by_g, _, calibrated = kinds(frame)
    others, how = range(1, frame.n_columns), {"alpha": 0.01, "limits": (10**6, 10**6), "max_size": 2}
    assert by_g.first_view(0, others, **how) is not None
    assert calibrated.first_view(0, others, **how) is None
    assert TableTests(MemoryCounter(frame, 1), strength="information").first_view(0, others, **how) is None
    monkeypatch.setattr("blankets.independence._tables.PATIENCE", 1)
    assert by_g.first_view(frame.n_columns - 1, range(frame.n_columns - 1), **how) is None


@pytest.mark.filterwarnings("ignore::blankets.errors.KnowledgeWarning")
def test_what_is_known_counts_in_draws_too():
    frame = network(3, 900)
    knowledge = bl.Knowledge(required=[frame.names[2]])
    found = bl.stability(frame, frame.names[0], n_resamples=3, knowledge=knowledge, rng=0)
    assert found[frame.names[2]] == 1.0


@pytest.mark.parametrize("how", [{}, {"test": "g"}])
def test_a_table_is_not_kept_in_memory_by_what_was_asked_of_it(how):
    frame = network(3, 900)
    codes = weakref.ref(frame.blocks[0].codes)
    bl.discover(frame, frame.names[0], n_jobs=1, **how)
    del frame
    gc.collect()
    assert codes() is None
