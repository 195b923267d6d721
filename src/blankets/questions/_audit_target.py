"""What an audit finds by comparing columns with the target: leaks, informative missing values, shifts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blankets.caching import cached_property
from blankets.counting import TESTED, MemoryCounter
from blankets.data import Frame
from blankets.independence import EvidenceBatch, TableTests
from blankets.questions._audit_pairs import entropies
from blankets.regimes import Labels
from blankets.results import Finding, count_of, joined, size_of
from blankets.stats import adjusted_log_p
from blankets.study import Study, copies_of_labels, cut_unasked
from blankets.voice import entry, option

LEAK = 0.9  # a column leaks if it holds this share of the information in the target
FEW = 5  # rows per degree of freedom that a test needs
LEVEL = 0.01
SMALL, MEDIUM = 0.005, 0.045  # Cohen's small and medium effects, in nats
MOST_GAPPY, MOST_TOLD = 50, 8  # columns whose gaps are compared with others, and columns that a finding names
ALIKE = 0.9  # share of the gaps of two columns that both have, from which they are missing together
_ALL = slice(None)
Mask = NDArray[np.bool_]
_LABEL = "\0labeled"  # no column of a user has this name

_SHIFTS = {
    "mcar": ("which speaks against labels missing completely at random", "", "act"),
    "mar-f": ("so labeling depends on them", "Nothing to do: every answer allows for what drives labeling", "know"),
    "mar-c": ("as it must be where they depend on the class and the class decides who is labeled", "", "know"),
    "pu": ("as it must be for columns that depend on the class, since the labeled rows are all positive", "", "know"),
    "": ("so labels do not seem to be missing completely at random", "", "act"),
}


@dataclass(frozen=True, eq=False)
class WithTarget:
    """Compares the columns of a table with its target."""

    study: Study
    told: frozenset[str] = frozenset()  # columns of which it is known already that they tell the target

    @property
    def labels(self) -> Labels:
        """The classes of the labeled rows."""
        return self.study.labels

    @cached_property
    def features(self) -> NDArray[np.int64]:
        """All columns but the target."""
        return np.array([x for x in range(self.study.frame.n_columns) if x != self.study.target], np.int64)

    @cached_property
    def labeled(self) -> Frame:
        """The labeled rows, with classes in place of the target."""
        frame, known = self.study.frame, np.flatnonzero(self.labels.labeled)
        rows = frame if len(known) == frame.n_rows else frame.take(known)
        return rows.with_column(
            frame.names[self.study.target], self.labels.codes[known].astype(np.int64), self.labels.classes
        )

    @cached_property
    def entropies(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The information of each feature about the target, and that in the target, in nats."""
        shared, _, of_target = MemoryCounter(self.labeled, self.study.place.n_jobs).summarize(
            entropies, self.features, self.study.target
        )
        return shared, of_target

    def findings(self) -> Iterator[Finding]:
        """Yield leaks, informative missing values, shifts, and columns that cannot be tested."""
        if not len(self.features):
            return
        if self.labels.n_seen_classes > 1:
            yield from self._leaks()
            yield from self._telling_gaps()
        yield from self._gaps_by_columns()
        if self.labels.n_unlabeled:
            yield from self._shifts()
        yield from self._untestable()

    def _gaps(self, x: int) -> NDArray[np.bool_] | None:
        """Return which labeled rows have no value of a column; None if all have."""
        frame, name = self.labeled, self.labeled.names[x]
        label = None if self.study.encoder is None else self.study.encoder.missing_labels.get(name)
        return frame.gaps(x) if label is None else np.asarray(frame.column(x) == frame.levels[x].index(label))

    def _names(self, xs: NDArray[np.int64]) -> tuple[str, ...]:
        return tuple(self.study.frame.names[int(x)] for x in xs)

    def _leaks(self) -> Iterator[Finding]:
        shared, of_target = self.entropies
        share = shared / np.maximum(of_target, 1e-300)
        frame, labels = self.labeled, self.labels
        copies = copies_of_labels(self.study.frame, self.study.target, labels) if labels.n_unlabeled else []
        # A column with many levels seems to predict everything; the expected share of chance is known.
        bias = (frame.arities[self.features] - 1) * (frame.arities[self.study.target] - 1) / (2 * frame.n_rows)
        told = (share >= LEAK) & (shared - bias >= LEAK / 2 * of_target)
        found = {name: float(s) for name, s, hit in zip(self._names(self.features), share, told, strict=True) if hit}
        found = {name: value for name, value in found.items() if name not in self.told}
        found |= dict.fromkeys(copies, 1.0)
        if found:
            shares = joined([f"{name} ({value:.0%})" for name, value in found.items()], width=80)
            were, them = ("it was", "it") if len(found) == 1 else ("they were", "them")
            yield Finding(
                kind="leaking",
                columns=tuple(found),
                what=f"Say almost everything about the target: {shares}.",
                next_step=f"If {were} recorded after the target, leave {them} out:",
                fix={"exclude": list(found)},
                weight="act",
                figures=found,
            )

    @cached_property
    def gaps(self) -> dict[int, NDArray[np.bool_]]:
        """The columns with missing values, and which labeled rows have none."""
        return {x: gap for x in self.features.tolist() if (gap := self._gaps(x)) is not None}

    def _telling_gaps(self) -> Iterator[Finding]:
        """Find columns whose missing values depend on the target."""
        frame, told = self.labeled, {}
        for x, gap in self.gaps.items():
            evidence = self._tested(gap, [self.study.target])
            if evidence.dependent(LEVEL / len(self.gaps))[0] and evidence.effect[0] >= MEDIUM:
                told[frame.names[x]] = float(evidence.effect[0])
        if told:
            yield Finding(
                kind="leaking",
                columns=tuple(told),
                what=f"Whether a value is missing depends on the target: {joined(tuple(told))}.",
                next_step=f"Ask why; with {option(missing='level')} the missing values themselves would "
                f"become members.",
                weight="act",
                figures=told,
            )

    def _tested(self, gap: NDArray[np.bool_], others: Sequence[int], rows: slice | Mask = _ALL) -> EvidenceBatch:
        """Test whether a value is missing against other columns, in some rows."""
        some = self.labeled.select(others)
        some = some if isinstance(rows, slice) else some.take(np.flatnonzero(rows))
        marked = some.with_column(_LABEL, gap[rows].astype(np.int64), (0, 1))
        return TableTests(MemoryCounter(marked, self.study.place.n_jobs)).scan(np.arange(len(others)), len(others))

    def _gaps_by_columns(self) -> Iterator[Finding]:
        """Find columns that are missing in the same rows, and those whose gaps depend on values of other columns."""
        names = self.labeled.names
        told: dict[str, dict[str, float]] = {}
        figures: dict[str, float] = {}
        groups = list(self._together())
        if together := [self._names(np.array(xs)) for xs in groups if len(xs) > 1]:
            sets = "; ".join(joined(some, 6) for some in together[:MOST_TOLD])
            yield Finding(
                kind="missing together",
                columns=tuple(name for some in together for name in some),
                what=f"Missing in nearly the same rows: {sets}.",
                next_step="Ask what these rows have in common, such as another form, site or study.",
            )
        gappy: list[str] = []
        for xs in groups[:MOST_GAPPY]:
            if by := self._drivers(xs[0]):
                gappy.append(names[xs[0]])
                told[joined(self._names(np.array(xs)), 2)] = by
                figures |= {name: max(effect, figures.get(name, 0.0)) for name, effect in by.items()}
        if told:
            words = [f"{name} on {joined(tuple(by), 3)}" for name, by in list(told.items())[:MOST_TOLD]]
            rest = f"; {len(told) - MOST_TOLD} more" if len(told) > MOST_TOLD else ""
            yield Finding(
                kind="missing by others",
                columns=tuple(dict.fromkeys([*gappy, *figures])),
                what=f"Whether a value is missing depends on other columns: {'; '.join(words)}{rest}.",
                next_step="Tests given these columns use a fair sample of the rows; other tests may not. Whether "
                "a value is missing because of the value itself cannot be seen.",
                figures=figures,
            )

    def _together(self) -> Iterator[list[int]]:
        """Yield the columns with gaps; those with gaps in nearly the same rows together."""
        left = dict(self.gaps)
        while left:
            x = next(iter(left))
            gap = left[x]
            alike = [z for z, other in left.items() if np.sum(gap & other) >= ALIKE * np.sum(gap | other)]
            yield alike
            left = {z: other for z, other in left.items() if z not in alike}

    def _drivers(self, x: int) -> dict[str, float]:
        """Return the columns on whose values it depends whether ``x`` is missing, with the size of the effect."""
        gap, level = self.gaps[x], LEVEL / (len(self.features) * max(len(self.gaps), 1))
        whole = [z for z in self.features.tolist() if z not in self.gaps]
        scans = [(whole, self._tested(gap, whole))] if whole else []
        for z, other in list(self.gaps.items())[:MOST_GAPPY]:
            seen = ~other
            if z != x and 0 < np.count_nonzero(gap[seen]) < np.count_nonzero(seen):
                scans.append(([z], self._tested(gap, [z], seen)))
        found = {
            self.labeled.names[z]: float(effect)
            for zs, scan in scans
            for z, strong, effect in zip(zs, scan.dependent(level) & (scan.effect >= SMALL), scan.effect, strict=True)
            if strong
        }
        return dict(sorted(found.items(), key=lambda one: -one[1])[:MOST_TOLD])

    def _shifts(self) -> Iterator[Finding]:
        """Find columns that differ between labeled and unlabeled rows."""
        labels = self.labels
        if not self.study.regime.name:
            yield Finding(
                kind="labels",
                columns=(self.study.frame.names[self.study.target],),
                what=f"{labels.saw}, and {count_of(labels.n_unlabeled, 'row')} are not.",
                next_step=f"Say how labels went missing, with {option(labels=('mcar', 'mar-f', 'mar-c'))}; see "
                f"{entry('advise')}.",
                weight="act",
            )
        frame = self.study.frame.with_column(_LABEL, labels.labeled.astype(np.int64), (0, 1))
        scan = TableTests(MemoryCounter(frame, self.study.place.n_jobs)).scan(self.features, frame.n_columns - 1)
        differ = np.flatnonzero(adjusted_log_p(scan.log_p) <= math.log(LEVEL))
        if not len(differ):
            return
        why, step, weight = _SHIFTS.get(self.study.regime.name, _SHIFTS[""])
        step = f"Use {option(labels=('mar-f', 'mar-c'))}" if weight == "act" else step
        order = differ[np.argsort(-scan.effect[differ], kind="stable")]
        sizes = {name: float(scan.effect[i]) for name, i in zip(self._names(self.features[order]), order, strict=True)}
        told = joined([f"{name} ({size_of(size)})" for name, size in sizes.items()], width=80)
        yield Finding(
            kind="shifted",
            columns=tuple(sizes),
            what=f"Differ between labeled and unlabeled rows, {why}: {told}.",
            next_step=f"{step}." if step else "Nothing, if that is why.",
            weight="act" if weight == "act" else "know",
            figures=sizes,
        )

    def _untestable(self) -> Iterator[Finding]:
        frame, freedom = self.study.frame, max(len(self.labels.classes) - 1, 1)
        n_rows = frame.n_rows if self.study.regime.name == "pu" else self.labels.n_labeled
        # Tests do not cut numbers: they look at two functions of each.
        uncut = np.array([name in cut_unasked(self.study) for name in frame.names])
        widths = np.where(uncut, TESTED, frame.arities - 1)
        freedom = TESTED if uncut[self.study.target] else freedom
        beyond = self.features[FEW * widths[self.features] * freedom > n_rows]
        copies = self.study.report.copies_of_target  # dependent beyond doubt
        levels = {frame.names[x]: float(frame.arities[x]) for x in beyond.tolist() if frame.names[x] not in copies}
        if levels:
            yield Finding(
                kind="untestable",
                columns=tuple(levels),
                what=f"{count_of(n_rows, 'row')} are too few to test them against the target: {joined(tuple(levels))}.",
                next_step="Merge their levels, or give a smaller number of bins.",
                weight="act",
                figures=levels,
            )
