"""Laws of information that estimates from any table obey: symmetry, chain rule, processing, bounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import blankets as bl
from blankets.data import Frame
from blankets.regimes import PositiveUnlabeled, Surrogate, kappa_case_control, kappa_of, read_labels
from blankets.stats._contingency import table_statistics

CODES = st.integers(0, 2**32 - 1).map(lambda seed: drawn(np.random.default_rng(seed)))


def drawn(rng, n_rows=60):
    """Return codes of x, y, z, of two to five levels, tied to each other more or less."""
    z = rng.integers(0, rng.integers(2, 6), n_rows)
    x, y = (np.where(rng.random(n_rows) < rng.random(), z, rng.integers(0, rng.integers(2, 6), n_rows)) for _ in "xy")
    return x, y, z


def joint(*columns):
    """Return one column whose levels are those combinations that occur."""
    return np.unique(np.column_stack(columns), axis=0, return_inverse=True)[1].ravel()


def information(x, y, *given):
    """Return I(x;y|given) in nats, as the package estimates it from a table."""
    names = ["x", "y", *(f"z{k}" for k in range(len(given)))]
    frame = Frame.from_codes(np.column_stack([x, y, *given]), names=names)
    if min(len(np.unique(x)), len(np.unique(y))) < 2:
        return 0.0
    return bl.mutual_information(frame, "x", "y", given=names[2:], labels="supervised").value


def entropy(x):
    """Return the entropy of the sample, in nats."""
    shares = np.bincount(x)[np.bincount(x) > 0] / len(x)
    return float(-(shares * np.log(shares)).sum())


@settings(max_examples=100, deadline=None)
@given(codes=CODES)
def test_from_entropies(codes):
    x, y, z = codes
    assert information(x, y) == pytest.approx(entropy(x) + entropy(y) - entropy(joint(x, y)), abs=1e-10)
    conditional = entropy(joint(x, z)) + entropy(joint(y, z)) - entropy(joint(x, y, z)) - entropy(z)
    assert information(x, y, z) == pytest.approx(conditional, abs=1e-10)


@settings(max_examples=60, deadline=None)
@given(codes=CODES)
def test_symmetry(codes):
    x, y, z = codes
    assert information(x, y) == pytest.approx(information(y, x), abs=1e-12)
    assert information(x, y, z) == pytest.approx(information(y, x, z), abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(codes=CODES)
def test_chain_rule(codes):
    x, y, z = codes
    whole = information(joint(x, z), y)
    assert whole == pytest.approx(information(z, y) + information(x, y, z), abs=1e-10)
    assert whole >= information(z, y) - 1e-12  # more is known of more


@settings(max_examples=60, deadline=None)
@given(codes=CODES)
def test_bounds_and_processing(codes):
    x, y, z = codes
    value = information(x, y)
    assert -1e-12 <= value <= min(entropy(x), entropy(y)) + 1e-12
    assert information(x // 2, y) <= value + 1e-12  # joined levels tell no more
    assert information(x, x) == pytest.approx(entropy(x), abs=1e-10)
    assert 0 <= information(x, y, z) + 1e-12


@settings(max_examples=60, deadline=None)
@given(codes=CODES)
def test_tests_are_symmetric_and_in_bounds(codes):
    x, y, z = codes
    frame = Frame.from_codes(np.column_stack([x, y, z]), names=["x", "y", "z"])
    if min(len(np.unique(x)), len(np.unique(y))) < 2:
        return
    for test in ("g", "x2"):
        one = bl.test(frame, "x", "y", given=["z"], test=bl.Testing(test, reliability=0))
        other = bl.test(frame, "y", "x", given=["z"], test=bl.Testing(test, reliability=0))
        assert one.statistic == pytest.approx(other.statistic, rel=1e-9, abs=1e-9)
        assert (one.dof, one.n_rows) == (other.dof, other.n_rows)
        assert 0 <= one.p <= 1
        assert one.statistic >= -1e-9


@settings(max_examples=60, deadline=None)
@given(codes=CODES)
def test_counts_twice_as_many_double_the_statistic(codes):
    x, y, z = codes
    counts = np.zeros((x.max() + 1, y.max() + 1, z.max() + 1), np.int64)
    np.add.at(counts, (x, y, z), 1)
    for statistic in ("g", "x2"):
        once, dof = table_statistics(counts[None], statistic)[:2]
        twice, same_dof = table_statistics(2 * counts[None], statistic)[:2]
        assert twice == pytest.approx(2 * once, rel=1e-9, abs=1e-9)
        assert dof == pytest.approx(same_dof)


@settings(max_examples=200, deadline=None)
@given(prior=st.floats(0.001, 0.999), share=st.floats(0.001, 0.999), other=st.floats(0.001, 0.999))
def test_kappa_is_a_share(prior, share, other):
    """κ is what the test keeps of its power in rows: between nothing and everything."""
    known = {"positives": share * prior, "negatives": other * (1 - prior)}
    for surrogate in (Surrogate.Y0, Surrogate.Y1):
        assert 0 <= kappa_of(surrogate, prior, **known) <= 1
    assert kappa_of(Surrogate.Y0, prior, positives=prior) == pytest.approx(1)
    assert kappa_case_control(share, prior) >= 0


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), prior=st.floats(0.31, 0.9))
def test_kappa_of_labels_is_a_share(seed, prior):
    rng = np.random.default_rng(seed)
    classes = rng.permuted(np.repeat([0, 1], [70, 30]))
    hidden = np.isin(np.arange(100), rng.permutation(100)[:20])
    positives = np.where((classes == 1) & ~hidden, 1, np.nan)
    pu = PositiveUnlabeled(prior).kappa(read_labels(positives, regime="pu"), Surrogate.Y0)
    assert 0 <= pu.low <= pu.value <= pu.high <= 1
