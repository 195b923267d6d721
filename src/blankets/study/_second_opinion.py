"""A learned second opinion on a blanket: do members, and columns outside, make predictions of the target better?

It assumes nothing of what the tests do. A ridge regression on lines, squares and products, and boosted trees on what
that leaves, predict rows that they have not seen, from the members, from the members less one, and from the members and
others. Losses are compared row by row. Trees alone would not do: of a sum of members they make steps, and a column
that only repeats the sum would seem to be needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from blankets.counting import on_one_core
from blankets.data import NumericTable
from blankets.study._effect_columns import drawn_rows, outcome_of
from blankets.study._study import Study

_FOLDS = 5
_MOST_ROWS, _FEWEST_ROWS = 10_000, 100
_MOST_CLASSES, _MOST_LEVELS = 10, 20
_ROWS_A_TERM = 20  # of the ridge regression: products are left out if they are more
_ASKED = 20  # members, the weakest ones
_POINTED_AT = 3  # columns outside that the prediction from all columns leans on most
_TREES: dict[str, Any] = {"learning_rate": 0.1, "max_leaf_nodes": 8, "early_stopping": False}
_ROWS_A_TREE, _TREES_AT_MOST, _LEAF = 20, 100, 20  # trees for so many rows; rows of a leaf, or a fiftieth of all

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class SecondOpinion:
    """What a learned prediction says of a blanket.

    ``needed``: of each member, the p-value of "predictions are no better with it". ``missing``: that of "predictions
    are no better with the columns outside" that they lean on most, together. ``outside``: that of each of these.
    """

    needed: dict[str, float]
    missing: float
    outside: dict[str, float]


@on_one_core()
def second_opinion(
    study: Study, members: Sequence[str], others: Sequence[str], rng: np.random.Generator
) -> SecondOpinion | None:
    """Return what a learned prediction of the target says of its members; None where it cannot be made.

    ``members``: the strongest first; the last ones are asked for, if they are many. ``others``: columns outside.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="openmp"):  # small trees: threads mostly wait for each other
        return _opinion(study, members, others, rng)


def _opinion(
    study: Study, members: Sequence[str], others: Sequence[str], rng: np.random.Generator
) -> SecondOpinion | None:
    outcome = outcome_of(study, study.target)
    at = drawn_rows(np.arange(len(outcome.rows)), _MOST_ROWS)
    rows, values = outcome.rows[at], outcome.values[at]
    if len(rows) < _FEWEST_ROWS or len(outcome.classes) == 1 or len(outcome.classes) > _MOST_CLASSES:
        return None
    y = np.asarray(values, np.float64)[:, None]
    if outcome.classes:
        y = np.equal.outer(values, np.arange(1, len(outcome.classes))).astype(np.float64)
    groups = rng.permutation(len(rows)) if study.groups is None else study.groups[rows]
    learner = _Learner([_values(study, j, rows) for j in range(len(study.names))], y, groups, rng)
    inside, outer = ([study.names.index(name) for name in names] for names in (members, others))
    alone = learner.losses(inside)
    asked = inside[-_ASKED:]
    needed = {study.names[j]: learner.p(learner.losses([i for i in inside if i != j]), alone) for j in asked}
    pointed = learner.leaned_on([*inside, *outer], outer)[:_POINTED_AT]
    outside = {study.names[j]: learner.p(alone, learner.losses([*inside, j])) for j in pointed}
    missing = learner.p(alone, learner.losses([*inside, *pointed])) if pointed else 1.0
    return SecondOpinion(needed, missing, outside)


def _values(study: Study, j: int, rows: Ints) -> tuple[Floats, bool]:
    """Return the values of a column, and whether they are levels without an order."""
    if isinstance(study.table, NumericTable):
        return study.table.values[rows, j], False
    frame = study.frame
    if j in frame.numbers:
        return np.asarray(frame.numbers[j].values[rows], np.float64), False
    codes = frame.column(j)[rows].astype(np.float64)
    codes[codes >= len(frame.levels[j])] = np.nan
    return codes, j not in frame.ordered


class _Learner:
    """Predictions of rows that were not seen, from some columns."""

    def __init__(
        self, columns: Sequence[tuple[Floats, bool]], y: Floats, groups: Ints, rng: np.random.Generator
    ) -> None:
        self.columns, self.y, self.n = columns, y, len(y)
        self.groups = np.unique(groups, return_inverse=True)[1]
        fold = rng.permutation(int(self.groups.max()) + 1) % _FOLDS
        self.folds = [np.flatnonzero(fold[self.groups] == k) for k in range(_FOLDS)]
        self.rng = rng

    def losses(self, used: Sequence[int]) -> Floats:
        """Return the squared error of each row."""
        loss = np.zeros(self.n)
        for test in self.folds:
            for predict, target in self._fitted(used, np.setdiff1d(np.arange(self.n), test)):
                loss[test] += (target[test] - predict(test, {})) ** 2
        return loss

    def leaned_on(self, used: Sequence[int], asked: Sequence[int]) -> list[int]:
        """Return the columns without which predictions are worse, the most important first."""
        worse = dict.fromkeys(asked, 0.0)
        for test in self.folds:
            for predict, target in self._fitted(used, np.setdiff1d(np.arange(self.n), test)):
                before = ((target[test] - predict(test, {})) ** 2).sum()
                for j in asked:
                    shuffled = {j: self.rng.permutation(test)}
                    worse[j] += float(((target[test] - predict(test, shuffled)) ** 2).sum() - before)
        return sorted((j for j in asked if worse[j] > 0.0), key=lambda j: -worse[j])

    def p(self, without: Floats, with_: Floats) -> float:
        """Return the p-value of "losses are no smaller with it", by the differences of rows or groups."""
        gain = np.bincount(self.groups, without - with_)
        error = float(gain.std(ddof=1)) * np.sqrt(len(gain))
        return float(ndtr(-gain.sum() / error)) if error > 0.0 else 1.0

    def _fitted(self, used: Sequence[int], train: Ints) -> list[tuple[Any, Floats]]:
        from sklearn.ensemble import HistGradientBoostingRegressor

        expand = self._expanded(used, train)
        raw = [self.columns[j][0] for j in used]
        levels = [self.columns[j][1] and len(np.unique(self.columns[j][0])) <= 250 for j in used]
        place, made = {j: i for i, j in enumerate(used)}, []

        def trees_see(rows: Ints, moved: dict[int, Ints], base: Floats) -> Floats:
            each = [v[rows] for v in raw]
            for j, order in moved.items():
                each[place[j]] = raw[place[j]][order]
            return np.column_stack([*each, base])

        for y in self.y.T:
            terms = expand(train, {})
            coefficients = _ridge(terms, y[train])
            base = terms @ coefficients
            leaf, n_trees = max(_LEAF, len(train) // 50), min(len(train) // _ROWS_A_TREE, _TREES_AT_MOST)
            trees = HistGradientBoostingRegressor(
                **_TREES, max_iter=n_trees, min_samples_leaf=leaf, categorical_features=[*levels, False]
            )
            trees.fit(trees_see(train, {}, base), y[train] - base)

            def predict(rows: Ints, moved: dict[int, Ints], c: Floats = coefficients, t: Any = trees) -> Floats:
                base = expand(rows, moved) @ c
                return np.asarray(base + t.predict(trees_see(rows, moved, base)))

            made.append((predict, y))
        return made

    def _expanded(self, used: Sequence[int], train: Ints) -> Any:
        """Return a function that makes the terms of the ridge regression: columns, and their squares and products."""
        scale = []
        for j in used:
            v, levels = self.columns[j]
            if levels:
                found, counts = np.unique(v[train][np.isfinite(v[train])], return_counts=True)
                scale.append(found[np.argsort(-counts, kind="stable")][1 : _MOST_LEVELS + 1])
            else:
                v = v[train][np.isfinite(v[train])]
                scale.append(np.array([v.mean(), v.std() or 1.0] if len(v) else [0.0, 1.0]))

        def expand(rows: Ints, moved: dict[int, Ints]) -> Floats:
            parts = []
            for j, known in zip(used, scale, strict=True):
                v, levels = self.columns[j]
                v = v[moved.get(j, rows)]
                if levels:
                    parts.append(np.equal.outer(v, known).astype(np.float64))
                else:
                    z = np.clip((v - known[0]) / known[1], -4.0, 4.0)
                    parts.append(np.nan_to_num(z)[:, None])
            width = [part.shape[1] for part in parts]
            pairs = [(a, b) for a, b in combinations(range(len(parts)), 2)]
            room = len(train) / _ROWS_A_TERM - sum(width)
            terms = [np.ones((len(rows), 1)), *parts]
            if sum(width[a] * width[b] for a, b in pairs) + len(parts) <= room:
                terms += [part**2 for part, j in zip(parts, used, strict=True) if not self.columns[j][1]]
                terms += [(parts[a][:, :, None] * parts[b][:, None, :]).reshape(len(rows), -1) for a, b in pairs]
            return np.hstack(terms)

        return expand


def _ridge(terms: Floats, y: Floats) -> Floats:
    """Return the coefficients of least squares, shrunk a little so that terms that tell the same are harmless."""
    gram = terms.T @ terms
    gram.flat[:: len(gram) + 1] += 1e-3 * len(y) * (np.arange(len(gram)) > 0)
    return np.asarray(np.linalg.solve(gram, terms.T @ y))
