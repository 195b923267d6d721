"""Each criterion against exhaustive calculation, and what the greedy loop promises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from blankets.counting import MemoryCounter
from blankets.data import Frame
from blankets.errors import ParameterError
from blankets.filters import CRITERIA, InformationSource, PlugIn, Weights, find_criterion, greedy, weights_for
from filters.naive import entropy, information, naive_selection, pair

NAMES = sorted(CRITERIA)
FREE = {"mifs": Weights(beta=0.7), "linear": Weights(beta=0.4, gamma=0.9)}


def dependent_codes(seed, n_rows=160, arities=(2, 3, 2, 4, 3, 2, 3)):
    """Columns that lean on each other and on the target, which is the last; shape (rows, columns + 1)."""
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, a, n_rows) for a in arities])
    codes[:, 1] = np.where(rng.random(n_rows) < 0.6, codes[:, 0], codes[:, 1])
    codes[:, 4] = np.where(rng.random(n_rows) < 0.7, codes[:, 3] % 3, codes[:, 4])
    y = (codes[:, 0] + (codes[:, 3] > 1) + codes[:, 5] * (rng.random(n_rows) < 0.5)) % 3
    y = np.where(rng.random(n_rows) < 0.3, rng.integers(0, 3, n_rows), y)
    return np.column_stack([codes, y])


def source_of(codes):
    return PlugIn(MemoryCounter(Frame.from_codes(codes)), codes.shape[1] - 1)


def select(codes, criterion, k, weights=None):
    return greedy(source_of(codes), np.arange(codes.shape[1] - 1), k, CRITERIA[criterion], weights=weights)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("criterion", NAMES)
def test_agrees_with_exhaustive_calculation(criterion, seed):
    codes = dependent_codes(seed)
    weights = FREE.get(criterion)
    picks = select(codes, criterion, 7, weights)
    free = {} if weights is None else {"beta": weights.beta, "gamma": weights.gamma}
    expected, scores = naive_selection(list(codes[:, :-1].T.tolist()), codes[:, -1].tolist(), 7, criterion, **free)
    assert list(picks.columns) == expected
    assert picks.scores == pytest.approx(scores, abs=1e-11)
    relevance = [mutual_info_score(codes[:, j], codes[:, -1]) for j in expected]
    assert picks.relevance == pytest.approx(relevance, abs=1e-11)


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6), n_rows=st.integers(2, 25), n_columns=st.integers(1, 6), name=st.sampled_from(NAMES))
def test_agrees_on_tiny_tables_full_of_ties(seed, n_rows, n_columns, name):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, rng.integers(1, 5), n_rows) for _ in range(n_columns)])
    y = np.arange(n_rows) % 2
    weights = FREE.get(name)
    picks = select(np.column_stack([codes, y]), name, n_columns, weights)
    free = {} if weights is None else {"beta": weights.beta, "gamma": weights.gamma}
    expected, scores = naive_selection(codes.T.tolist(), y.tolist(), n_columns, name, **free)
    assert list(picks.columns) == expected
    assert picks.scores == pytest.approx(scores, abs=1e-11)


def test_criteria_do_differ():
    codes = dependent_codes(1)
    orders = {name: select(codes, name, 7, FREE.get(name)).columns for name in CRITERIA}
    assert len(set(orders.values())) >= 5


@pytest.mark.parametrize("n_rows", [160, 70_000])  # n ln n is tabled up to 65,536
def test_terms_are_those_of_the_definitions(n_rows):
    codes = dependent_codes(4, n_rows)
    source, xs = source_of(codes), np.array([0, 2, 4])
    columns, y, j = codes.T.tolist(), codes[:, -1].tolist(), 3
    expected = {
        "relevance": [information(columns[x], y) for x in xs],
        "redundancy": [information(columns[x], columns[j]) for x in xs],
        "redundancy_given_class": [information(columns[x], columns[j], [y]) for x in xs],
        "joint": [information(pair(columns[x], columns[j]), y) for x in xs],
        "pair_entropy": [entropy(columns[x], columns[j]) for x in xs],
        "interaction": [information(columns[x], y, [columns[j]]) - information(columns[x], y) for x in xs],
    }
    for name, values in expected.items():
        found = source.relevance(xs) if name == "relevance" else getattr(source, name)(xs, j)
        assert found == pytest.approx(values, abs=1e-11), name
    assert source.class_entropy(xs, j) == pytest.approx([entropy(y)], abs=1e-12)
    # The general form by which partial labels get it, from the identity in the module's docstring.
    assert InformationSource.redundancy_given_class(source, xs, j) == pytest.approx(
        expected["redundancy_given_class"], abs=1e-11
    )


def test_jmi_is_the_linear_family_with_weights_one_over_n():
    codes = dependent_codes(2)
    order = select(codes, "jmi", 7).columns
    columns, y = codes.T.tolist(), codes[:, -1].tolist()
    for n in range(1, 7):
        rest = [x for x in range(7) if x not in order[:n]]
        chosen = [columns[j] for j in order[:n]]
        score = {
            x: information(columns[x], y)
            + sum(information(columns[x], j, [y]) - information(columns[x], j) for j in chosen) / n
            for x in rest
        }
        assert max(score, key=score.get) == order[n]  # errata E2


def test_members_of_the_linear_family():
    codes = dependent_codes(3)
    for name, weights in {"mim": Weights(0, 0), "cife": Weights(1, 1), "condred": Weights(0, 1)}.items():
        member, general = select(codes, name, 6), select(codes, "linear", 6, weights)
        assert member.columns == general.columns
        assert member.scores == pytest.approx(general.scores, abs=1e-11)
    assert select(codes, "mifs", 6).columns == select(codes, "linear", 6, Weights(1, 0)).columns


@pytest.mark.parametrize("criterion", NAMES)
def test_first_pick_is_the_most_relevant(criterion):
    codes = dependent_codes(5)
    relevance = [mutual_info_score(codes[:, j], codes[:, -1]) for j in range(7)]
    picks = select(codes, criterion, 1)
    assert picks.columns == (int(np.argmax(relevance)),)
    assert picks.scores == pytest.approx([max(relevance)])


# Cost -------------------------------------------------------------------------------------------------


class CountingCounter(MemoryCounter):
    """Keeps the number of tables of every request."""

    def __init__(self, frame):
        super().__init__(frame, 1)
        self.requests = []

    def summarize(self, summary, xs, y, given=()):
        self.requests.append(len(xs))
        return super().summarize(summary, xs, y, given)


PASSES = {"mim": 0, "condred": 1, "disr": 2, "linear": 2}  # tables for each candidate and selected feature; others 1


@pytest.mark.parametrize("criterion", NAMES)
def test_tables_are_k_times_d(criterion):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (2000, 61))
    counter = CountingCounter(Frame.from_codes(codes))
    k, d = (6 if criterion == "cmi" else 20), 60
    greedy(PlugIn(counter, d), np.arange(d), k, CRITERIA[criterion])
    remaining = sum(d - n for n in range(1, k))
    assert sum(counter.requests) == d + PASSES.get(criterion, 1) * remaining
    assert len(counter.requests) == 1 + PASSES.get(criterion, 1) * (k - 1)


def test_cmi_stops_counting_when_the_target_is_determined():
    codes = np.random.default_rng(0).integers(0, 2, (50, 61))
    counter = CountingCounter(Frame.from_codes(codes))
    picks = greedy(PlugIn(counter, 60), np.arange(60), 20, CRITERIA["cmi"])
    # By the chain rule scores add up to I(S;Y), which is H(Y) once S determines the target.
    steps = len(counter.requests)
    assert sum(picks.scores[:steps]) == pytest.approx(entropy(codes[:, -1].tolist()), abs=1e-12)
    assert steps < 10
    assert picks.scores[steps:] == (0.0,) * (20 - steps)


# Ties -------------------------------------------------------------------------------------------------


class Scripted(InformationSource):
    """Relevance as written down; nothing else is asked."""

    def __init__(self, values):
        super().__init__(len(values), 0)
        self.values = np.array(values)

    def conditional(self, xs, given=()):
        return self.values[xs]

    def joint(self, xs, j):
        raise NotImplementedError

    class_entropy = redundancy = pair_entropy = joint


@pytest.mark.parametrize(("gap", "first"), [(5e-13, 0), (1e-11, 1)])
def test_rounding_does_not_decide(gap, first):
    picks = greedy(Scripted([0.25, 0.25 + gap, 0.1]), np.arange(3), 3, CRITERIA["mim"])
    assert picks.columns == (first, 1 - first, 2)


@pytest.mark.parametrize("criterion", NAMES)
def test_copies_are_taken_in_column_order(criterion):
    codes = dependent_codes(6)
    permuted = (3 - codes[:, :7]) % 4  # the same information, its sums in another order
    order = select(np.column_stack([codes[:, :7], permuted, codes[:, 7]]), criterion, 14, FREE.get(criterion)).columns
    assert sorted(order) == list(range(14))
    for x in range(7):
        assert order.index(x) < order.index(x + 7)


def test_order_of_candidates_does_not_matter():
    codes = dependent_codes(7)
    source = source_of(codes)
    for name in CRITERIA:
        forward = greedy(source, np.arange(7), 5, CRITERIA[name]).columns
        assert greedy(source, np.arange(7)[::-1], 5, CRITERIA[name]).columns == forward


# Invariances ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", NAMES)
def test_rows_and_names_of_levels_do_not_matter(criterion):
    codes = dependent_codes(8)
    rng = np.random.default_rng(8)
    shuffled = codes[rng.permutation(len(codes))]
    relabeled = np.column_stack([rng.permutation(column.max() + 1)[column] for column in shuffled.T])
    one, other = (select(table, criterion, 7, FREE.get(criterion)) for table in (codes, relabeled))
    assert one.columns == other.columns
    assert one.scores == pytest.approx(other.scores, abs=1e-12)


@pytest.mark.parametrize("criterion", NAMES)
def test_repeating_all_rows_changes_nothing(criterion):
    codes = dependent_codes(9)
    one, many = (select(table, criterion, 5, FREE.get(criterion)) for table in (codes, np.tile(codes, (3, 1))))
    assert one.columns == many.columns
    assert one.scores == pytest.approx(many.scores, abs=1e-12)


def test_threads_do_not_matter():
    rng = np.random.default_rng(10)
    codes = rng.integers(0, 3, (4000, 601))
    frame = Frame.from_codes(codes)
    for name in ("jmi", "mrmr", "disr"):
        picks = [greedy(PlugIn(MemoryCounter(frame, n), 600), np.arange(600), 6, CRITERIA[name]) for n in (1, 2, 3)]
        assert picks[0] == picks[1] == picks[2]


def test_listener_hears_every_step():
    heard = []
    greedy(source_of(dependent_codes(0)), np.arange(7), 4, CRITERIA["jmi"], listener=heard.append)
    assert heard == [1, 2, 3, 4]


# Names and weights ------------------------------------------------------------------------------------


def test_names_in_any_case():
    assert find_criterion(" mRMR ") is CRITERIA["mrmr"]


def test_unknown_criterion_suggests_the_nearest():
    with pytest.raises(ParameterError, match=r"unknown criterion 'mrrm'; did you mean 'mrmr'\? choose from cife, cmi"):
        find_criterion("mrrm")


@pytest.mark.parametrize(
    ("criterion", "weights", "message"),
    [
        ("mrmr", {"beta": 1.0}, r"'beta' is no weight of 'mrmr'.*; it is one of 'linear' or 'mifs'"),
        ("mifs", {"gamma": 1.0}, r"'gamma' is no weight of 'mifs'.*; it is one of 'linear'"),
        ("mifs", {"beta": -0.1}, r"'beta' must be a weight, 0 or more, but it is -0\.1"),
        ("linear", {"beta": float("nan"), "gamma": 0}, r"'beta' must be a weight"),
        ("linear", {"beta": 1.0}, r"criterion 'linear'.* needs 'gamma'"),
        ("linear", {}, r"needs 'beta' and 'gamma'"),
    ],
)
def test_weights_that_do_not_fit(criterion, weights, message):
    with pytest.raises(ParameterError, match=message):
        weights_for(CRITERIA[criterion], **weights)


def test_mifs_has_a_default_weight():
    assert weights_for(CRITERIA["mifs"]) == Weights(beta=1.0)
