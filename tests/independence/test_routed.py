import numpy as np
import pytest

from blankets.counting import MemoryCounter
from blankets.data import Frame
from blankets.independence import CalibratedTests, RoutedTests, TableTests


@pytest.fixture(scope="module")
def parts():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (600, 5))
    frame = Frame.from_codes(codes)
    labeled = rng.random(600) < 0.4
    everyone, some = (TableTests(MemoryCounter(f)) for f in (frame, frame.take(labeled)))
    return everyone, some, int(labeled.sum())


def same(one, other):
    return (one.statistic, one.dof, one.log_p, one.n_rows, one.given) == (
        other.statistic,
        other.dof,
        other.log_p,
        other.n_rows,
        other.given,
    )


def test_each_question_goes_where_it_belongs(parts):
    everyone, some, n_labeled = parts
    tests = RoutedTests(2, some, everyone)
    assert same(tests.test(0, 2), some.test(0, 2))
    assert tests.test(0, 2).n_rows == n_labeled
    assert same(tests.test(0, 1, [2]), some.test(0, 1, [2]))
    assert same(tests.test(0, 1, [3]), everyone.test(0, 1, [3]))


def test_the_target_among_the_candidates_keeps_its_place(parts):
    everyone, some, _ = parts
    tests = RoutedTests(2, some, everyone)
    batch = tests.scan([3, 2, 0], 1, [4])
    assert batch.xs.tolist() == [3, 2, 0]
    for evidence, source in zip(batch, (everyone, some, everyone), strict=True):
        assert same(evidence, source.test(evidence.x, 1, [4]))


def test_subset_searches_mix_both(parts):
    everyone, some, _ = parts
    tests = RoutedTests(2, some, everyone)
    for evidence in tests.separate([0, 2], 1, [3, 4]):
        source = some if evidence.x == 2 else everyone
        assert same(evidence, source.separate([evidence.x], 1, [3, 4])[0])


def test_subset_searches_say_how_each_p_value_was_found():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 3, (120, 6))
    codes[:, 0] = np.where(rng.random(120) < 0.5, codes[:, 1], codes[:, 0])
    frame = Frame.from_codes(codes)
    everyone, some = (CalibratedTests(MemoryCounter(f), level=0.05) for f in (frame, frame.take(np.arange(120) < 60)))
    tests = RoutedTests(2, some, everyone)
    # Given sets with the target all tests are of one kind, given others of both, and their methods have other numbers.
    for evidence in tests.separate([0, 2, 5], 1, [2, 3, 4]):
        source = some if 2 in (evidence.x, *evidence.given) else everyone
        assert evidence.method == source.test(evidence.x, 1, evidence.given).method != ""
