"""Criteria when labels are missing: against the formulas cell by cell, and against the truth that they estimate."""

from itertools import product

import numpy as np
import pytest

from blankets.counting import MemoryCounter
from blankets.data import Frame
from blankets.filters import CRITERIA, PartialLabels, Weights, greedy
from blankets.regimes import Beta, PositiveUnlabeled, SemiSupervised, label_column, read_labels
from filters.naive import entropy, information, pair, partial_information

PRIOR = 0.4
REGIMES = {
    "pos": PositiveUnlabeled(prior=PRIOR),
    "mcar": SemiSupervised("mcar"),
    "mar-f": SemiSupervised("mar-f"),
    "neg": SemiSupervised("mar-c", prior=PRIOR),
}


def hidden(kind, y, x, rng):
    """Return labels, None where unlabeled, by the mechanism of a regime."""
    rate = {
        "pos": np.where(y == 1, 0.5, 0.0),
        "mcar": np.full(len(y), 0.4),
        "mar-f": np.where(x == 1, 0.6, 0.3),
        "neg": np.where(y == 1, 0.1, 0.8),  # so few positives that Neg is the better estimator by methods (3.7)
    }[kind]
    seen = rng.random(len(y)) < rate
    return [int(c) if s else None for c, s in zip(y, seen, strict=True)]


def table(kind, seed, n_rows=3000):
    """Return columns of two or three levels and labels of a binary target that depends on them."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.integers(0, 2, n_rows), rng.integers(0, 3, n_rows), rng.integers(0, 2, n_rows)
    d = np.where(rng.random(n_rows) < 0.7, a, rng.integers(0, 2, n_rows))
    y = (rng.random(n_rows) < 0.25 + 0.2 * a + 0.1 * (b > 0) - 0.15 * c * a).astype(int)
    return [a.tolist(), b.tolist(), c.tolist(), d.tolist()], hidden(kind, y, a, rng)


def source_of(kind, columns, labels):
    read = read_labels(labels, regime=REGIMES[kind])
    codes = np.column_stack([*columns, label_column(read).codes])
    frame = Frame.from_codes(codes, arities=[*(max(c) + 1 for c in columns), 3])
    return PartialLabels(MemoryCounter(frame), len(columns), read, REGIMES[kind])


def class_share(kind, x, labels):
    """Return p(y=1) as each regime knows it."""
    if kind in ("pos", "neg"):
        return PRIOR
    if kind == "mcar":
        return sum(s for s in labels if s is not None) / sum(s is not None for s in labels)
    share = 0.0
    for level in set(x):
        inside = [s for v, s in zip(x, labels, strict=True) if v == level]
        seen = [s for s in inside if s is not None]
        share += len(inside) / len(x) * sum(seen) / len(seen)
    return share


@pytest.mark.parametrize("kind", REGIMES)
def test_terms_follow_the_formulas(kind):
    columns, labels = table(kind, 1)
    source, xs, j = source_of(kind, columns, labels), np.array([0, 1, 2]), 3
    relevance = [partial_information(kind, columns[x], labels, PRIOR) for x in xs]
    conditional = [partial_information(kind, columns[x], labels, PRIOR, [columns[j]]) for x in xs]
    joint = [partial_information(kind, pair(columns[x], columns[j]), labels, PRIOR) for x in xs]
    redundancy = [information(columns[x], columns[j]) for x in xs]
    assert source.relevance(xs) == pytest.approx(relevance, abs=1e-12)
    assert source.conditional(xs, [j]) == pytest.approx(conditional, abs=1e-12)
    assert source.joint(xs, j) == pytest.approx(joint, abs=1e-12)
    assert source.redundancy(xs, j) == pytest.approx(redundancy, abs=1e-12)
    assert source.pair_entropy(xs, j) == pytest.approx([entropy(columns[x], columns[j]) for x in xs], abs=1e-12)
    shares = np.array([class_share(kind, pair(columns[x], columns[j]), labels) for x in xs])
    expected = -shares * np.log(shares) - (1 - shares) * np.log(1 - shares)
    assert source.class_entropy(xs, j) == pytest.approx(expected, abs=1e-12)
    given_class = [r + c - i for r, c, i in zip(redundancy, conditional, relevance, strict=True)]
    assert source.redundancy_given_class(xs, j) == pytest.approx(given_class, abs=1e-12)


def naive_partial_score(criterion, kind, x, labels, chosen):
    relevance = partial_information(kind, x, labels, PRIOR)
    if not chosen:
        return relevance
    redundancy = np.array([information(x, j) for j in chosen])
    conditional = np.array([partial_information(kind, x, labels, PRIOR, [j]) for j in chosen])
    joint = np.array([partial_information(kind, pair(x, j), labels, PRIOR) for j in chosen])
    return {
        "mim": relevance,
        "jmi": joint.sum(),
        "mrmr": relevance - redundancy.mean(),
        "cife": relevance + (conditional - relevance).sum(),
        "cmim": conditional.min(),
        "icap": relevance - np.maximum(relevance - conditional, 0).sum(),
    }[criterion]


@pytest.mark.parametrize("criterion", ["mim", "jmi", "mrmr", "cife", "cmim", "icap"])
@pytest.mark.parametrize("kind", REGIMES)
def test_selection_follows_the_formulas(kind, criterion):
    columns, labels = table(kind, 2)
    picks = greedy(source_of(kind, columns, labels), np.arange(4), 3, CRITERIA[criterion])
    chosen = []
    for place, (column, score) in enumerate(zip(picks.columns, picks.scores, strict=True)):
        rest = [x for x in range(4) if x not in picks.columns[:place]]
        scores = {x: naive_partial_score(criterion, kind, columns[x], labels, chosen) for x in rest}
        assert column == max(scores, key=scores.get)
        assert score == pytest.approx(scores[column], abs=1e-11)
        chosen.append(columns[column])


# What the terms estimate ------------------------------------------------------------------------------


def population(rng):
    """Return p(x, xj, y) of shape (2, 3, 2) in which all three hang together."""
    return rng.dirichlet(np.full(12, 3.0)).reshape(2, 3, 2)


def true_information(p):
    """Return I(X;Xj|Y) and I(X,Xj;Y) of p(x, xj, y), from their definitions."""
    given_class = joint = 0.0
    for x, j, y in product(range(2), range(3), range(2)):
        p_y = p[:, :, y].sum()
        given_class += p[x, j, y] * np.log(p[x, j, y] * p_y / (p[x, :, y].sum() * p[:, j, y].sum()))
        joint += p[x, j, y] * np.log(p[x, j, y] / (p[x, j].sum() * p_y))
    return given_class, joint


@pytest.mark.parametrize("kind", REGIMES)
def test_terms_are_consistent(kind):
    """Errata E9, and beyond it MAR-F where labeling depends on the pair alone: means over draws hit the truth."""
    rng = np.random.default_rng(5)
    p = population(rng)
    truth = np.array(true_information(p))
    p = p.ravel()
    prior = float(p.reshape(2, 3, 2)[:, :, 1].sum())
    regime = {
        "pos": PositiveUnlabeled(prior=prior),
        "neg": SemiSupervised("mar-c", prior=prior),
    }.get(kind, REGIMES[kind])
    n_rows, draws = 20_000, 40
    found = np.empty((draws, 2))
    for k in range(draws):
        x, j, y = np.unravel_index(rng.choice(12, n_rows, p=p), (2, 3, 2))
        read = read_labels(hidden(kind, y, x, rng), regime=regime)
        frame = Frame.from_codes(np.column_stack([x, j, label_column(read).codes]), arities=[2, 3, 3])
        source = PartialLabels(MemoryCounter(frame, 1), 2, read, regime)
        found[k] = source.redundancy_given_class(np.array([0]), 1)[0], source.joint(np.array([0]), 1)[0]
    # Four standard errors of the mean, and the first-order bias of 5 degrees of freedom with 4,000 labeled rows.
    tolerance = 4 * found.std(axis=0, ddof=1) / np.sqrt(draws) + 5 / (2 * 4000)
    assert (np.abs(found.mean(axis=0) - truth) < tolerance).all()
    assert (tolerance < 0.2 * truth).all()  # tight enough to tell something


def test_labeled_rows_alone_would_be_biased_where_labeling_depends_on_features():
    rng = np.random.default_rng(5)
    p = population(rng)
    truth = true_information(p)[0]
    weighted = p * np.array([0.3, 0.6])[:, np.newaxis, np.newaxis]  # what the labeled rows look like
    assert abs(true_information(weighted / weighted.sum())[0] - truth) > 0.001


# Priors -----------------------------------------------------------------------------------------------


def test_an_uncertain_prior_counts_with_its_mean():
    columns, labels = table("pos", 3)
    read = read_labels(labels)
    codes = np.column_stack([*columns, label_column(read).codes])
    counter = MemoryCounter(Frame.from_codes(codes))
    uncertain = PositiveUnlabeled(prior=Beta(mean=0.4, low=0.3, high=0.6))
    mean = uncertain.admissible(read).mean
    one, other = (
        greedy(PartialLabels(counter, 4, read, regime), np.arange(4), 4, CRITERIA["jmi"])
        for regime in (uncertain, PositiveUnlabeled(prior=mean))
    )
    assert one.columns == other.columns
    assert one.scores == pytest.approx(other.scores, abs=1e-12)


def test_impossible_priors_are_noticed():
    labels = [1] * 400 + [None] * 600
    x = [1] * 390 + [0] * 10 + [1] * 60 + [0] * 540  # 45% have x = 1, but nearly all positives do
    read = read_labels(labels)
    frame = Frame.from_codes(np.column_stack([x, label_column(read).codes]), arities=[2, 3])
    source = PartialLabels(MemoryCounter(frame), 1, read, PositiveUnlabeled(prior=0.9))
    source.relevance(np.array([0]))
    assert source.contradicting == [0]  # 0.9 * 0.975 is above 0.45
    possible = PartialLabels(MemoryCounter(frame), 1, read, PositiveUnlabeled(prior=0.41))
    possible.relevance(np.array([0]))
    assert possible.contradicting == []


# Case-control sampling --------------------------------------------------------------------------------


def test_positives_collected_apart_do_not_blur_the_population():
    columns, labels = table("pos", 4)
    read = read_labels(labels)
    frame = Frame.from_codes(np.column_stack([*columns, label_column(read).codes]))
    regime = PositiveUnlabeled(prior=PRIOR, sampling="case-control")
    source, xs = PartialLabels(MemoryCounter(frame), 4, read, regime), np.array([0, 1])
    background = [[v for v, s in zip(column, labels, strict=True) if s is None] for column in columns]
    assert source.redundancy(xs, 3) == pytest.approx([information(background[x], background[3]) for x in xs], abs=1e-12)
    assert source.pair_entropy(xs, 3) == pytest.approx([entropy(background[x], background[3]) for x in xs], abs=1e-12)


@pytest.mark.parametrize("criterion", sorted(CRITERIA))
@pytest.mark.parametrize("kind", REGIMES)
def test_every_criterion_in_every_regime(kind, criterion):
    columns, labels = table(kind, 6, n_rows=800)
    weights = Weights(beta=0.5, gamma=0.5)
    picks = greedy(source_of(kind, columns, labels), np.arange(4), 4, CRITERIA[criterion], weights=weights)
    assert sorted(picks.columns) == [0, 1, 2, 3]
    assert np.isfinite(picks.scores).all()
