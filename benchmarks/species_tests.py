"""Species records: do *tests of equal power* find the same features from records and from a survey?

    python benchmarks/species_tests.py --data DIR

Data, features, levels and the frame are those of ``species.py``: records and random sites where the survey went, G
tests at level 0.01 by Bonferroni's rule, all species with 20 records in the frame and 20 surveyed presences. There
records and survey have very unequal power, so that decisions must differ even if both tell the truth. Here they have
the same. This plan was written, and committed, before any of its numbers was seen.

**Size.** A sample counts as many fully labeled rows as would give the test its noncentrality. n rows of a survey
count n. m records and n₀ random sites, N = m + n₀, a = m/N, count N κ with κ = (1-p)/p a (1-a), which is
m n₀ / (m + n₀) (1-p)/p; p is the survey's share of presences. n rows of which a share a is labeled, all present,
count n κ with κ = (1-p)/p a/(1-a). The common size of a species is that of all its records or half of the survey,
whichever is less.

**Samples.** Twenty times, by lot: the survey is cut in two halves, A and B, presences and absences each. Then, all of
the common size:

* the survey: sites of A with full labels, presences and absences in the proportion of the survey;
* the ceiling: sites of B with full labels, likewise;
* the control: all sites of B, with labels only for as many presences as the size takes;
* the records: as many of them as the size takes, and all random sites, in the frame;
* the peers: as many of them as the size takes (all, where that is more), and all records of other species, in the
  frame: these share the habits of those who record. Added when the results of the others were known, and before its
  own were; by the same rule, both regions must be near the ceiling for tests to be said to agree.

**1. Significance.** The features found by ceiling, control and records, each against those found by the survey:
counts summed over species and features, averaged over the twenty draws; Cohen's κ; which share of what one side finds
the other finds too, both ways. Intervals: 95%, 2,000 draws of species with replacement, also for the difference from
the ceiling's κ. *Near the ceiling* is: at most 0.10 below it.

**2. Relevance.** With thousands of records "not zero" is no news; "above δ" is, and δ = 0.005 nats, Cohen's small
effect as in ``bl.plan`` and ``bl.advise``. Features are called above δ or below δ if the 90% interval of ``bl.rank``
lies above or below it, else undecided; the survey says above or below by its estimate from all of A. Here records are
taken as they are, all of those in the frame, since more of them must not hurt; ceiling and control are those of part
1, ranked instead of tested. Reported: how often the survey confirms "above" and "below", how many stay undecided, and
Cohen's κ over the decided ones.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

import blankets as bl
from _timing import announce, parser, table, write_json
from blankets.errors import BlanketsWarning
from species import COUNTS, Region, Species, kappa, significant

DRAWS = 20
RESAMPLED = 2000
SMALL = 0.005  # nats, Cohen's small effect
NEAR = 0.10  # of Cohen's κ
WAYS = ("ceiling", "control", "records", "peers")
BACKGROUND = {"records": "frame", "peers": "peers"}  # ways of species.py
ANSWERS = ("above, confirmed", "above", "below, confirmed", "below", "undecided")

Counts = dict[str, float]
Rows = list[list[str]]


def by_record(records: int, sites: int, prior: float) -> float:
    """Return how many fully labeled rows records and sites count."""
    return records * sites / (records + sites) * (1 - prior) / prior


def records_for(size: float, sites: int, prior: float) -> int:
    """Return how many records and so many sites count ``size`` fully labeled rows."""
    harmonic = size * prior / (1 - prior)
    return round(harmonic * sites / (sites - harmonic))


def labels_for(size: float, rows: int, prior: float) -> int:
    """Return how many labeled presences among so many rows count ``size`` fully labeled rows."""
    odds = size / rows * prior / (1 - prior)
    return round(rows * odds / (1 + odds))


@dataclass(frozen=True, eq=False)
class Fair:
    """One species at one size."""

    species: Species

    @cached_property
    def with_records(self) -> dict[str, pd.DataFrame]:
        """All records in the frame, by what they are compared with."""
        return {way: self.species.table(name) for way, name in BACKGROUND.items()}

    @cached_property
    def prior(self) -> float:
        return self.species.prior

    @cached_property
    def size(self) -> float:
        known = self.with_records["records"]["species"].notna()
        return min(by_record(int(known.sum()), int((~known).sum()), self.prior), len(self.species.survey) // 2)

    def halves(self, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Cut the survey in two, by lot."""
        survey = self.species.survey
        first = parted(survey["species"].to_numpy(), 0.5, rng)
        return survey[first], survey[~first]

    def sites(self, half: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """Return as many surveyed sites as the size takes, with their labels."""
        return half[parted(half["species"].to_numpy(), self.size / len(half), rng)]

    def thinned(self, way: str, rng: np.random.Generator) -> pd.DataFrame:
        """Return the background, and as many records as the size takes."""
        whole = self.with_records[way]
        known, sites = (np.flatnonzero(rows) for rows in (whole["species"].notna(), whole["species"].isna()))
        kept = rng.permutation(known)[: records_for(self.size, len(sites), self.prior)]
        return whole.iloc[np.concatenate([kept, sites])]

    def hidden(self, half: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """Hide the labels but for as many presences as the size takes."""
        present = np.flatnonzero(half["species"])
        kept = rng.permutation(present)[: labels_for(self.size, len(half), self.prior)]
        return half.assign(species=np.where(np.isin(np.arange(len(half)), kept), 1.0, np.nan))

    def drawn(self, seed: int) -> tuple[dict[str, Counts], dict[str, Counts]]:
        """Return by way what one draw says of significance, and of relevance."""
        rng = np.random.default_rng([2020, seed])
        first, second = self.halves(rng)
        survey, ceiling = (self.sites(half, rng) for half in (first, second))
        samples = {"ceiling": ceiling, "control": self.hidden(second, rng)}
        samples |= {way: self.thinned(way, rng) for way in BACKGROUND}
        truth = significant(survey, "supervised")
        found = {way: significant(sample, self.regime(way)) for way, sample in samples.items()}
        names = list(self.species.region.surveyed.columns)
        effects = information(first)
        said = {way: self._relevant(way, sample, effects) for way, sample in samples.items()}
        return {way: agreed(found[way], truth, names) for way in WAYS}, said

    def regime(self, way: str, *, prior: float | None = None) -> str | bl.PositiveUnlabeled:
        if way == "ceiling":
            return "supervised"
        return bl.PositiveUnlabeled(prior, "one-sample" if way == "control" else "case-control")

    @cached_property
    def _by_all_records(self) -> dict[str, dict[str, tuple[float, float]]]:
        return {way: intervals(whole, self.regime(way, prior=self.prior)) for way, whole in self.with_records.items()}

    def _relevant(self, way: str, sample: pd.DataFrame, truth: Mapping[str, float]) -> Counts:
        if way in BACKGROUND:
            return relevance(self._by_all_records[way], truth)
        labeled = float(sample["species"].notna().mean())  # by rounding, it may be just above the prior in one half
        prior = None if way == "ceiling" else max(self.prior, labeled)
        said = intervals(sample, self.regime(way, prior=prior))
        return relevance(said, truth)


def parted(y: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Return which rows are drawn: this share of each class."""
    drawn = np.zeros(len(y), bool)
    for value in (0, 1):
        rows = rng.permutation(np.flatnonzero(y == value))
        drawn[rows[: round(share * len(rows))]] = True
    return drawn


def agreed(ours: set[str], theirs: set[str], names: Iterable[str]) -> Counts:
    """Return how many features are found by both, one, or none."""
    sets = (ours & theirs, ours - theirs, theirs - ours, set(names) - ours - theirs)
    return {head: float(len(found)) for head, found in zip(COUNTS, sets, strict=True)}


def features(data: pd.DataFrame) -> list[str]:
    """Return all columns that are no label, copies of others too: a few rows may not tell them apart."""
    return [name for name in data.columns if name != "species" and data[name].nunique() > 1]


def information(data: pd.DataFrame) -> dict[str, float]:
    """Return the information of each feature by full labels."""
    ranking = bl.rank(data, "species", labels="supervised", keep=features(data))
    return dict(zip(ranking.names, map(float, ranking.information), strict=True))


def intervals(data: pd.DataFrame, labels: str | bl.PositiveUnlabeled) -> dict[str, tuple[float, float]]:
    """Return the 90% interval of the information of each feature."""
    ranking = bl.rank(data, "species", labels=labels, keep=features(data))
    return dict(zip(ranking.names, zip(*ranking.interval(0.9), strict=True), strict=True))


def relevance(said: Mapping[str, tuple[float, float]], truth: Mapping[str, float]) -> Counts:
    """Return how many features are said to be above and below the small effect, and how many of them are."""
    counts = dict.fromkeys(ANSWERS, 0.0)
    for name, (low, high) in said.items():
        answer = "above" if low > SMALL else "below" if high < SMALL else "undecided"
        counts[answer] += 1
        if answer != "undecided" and (truth.get(name, 0.0) > SMALL) == (answer == "above"):
            counts[f"{answer}, confirmed"] += 1
    return counts


def of_relevance(cells: list[Counts]) -> float:
    """Return Cohen's κ over the decided features."""
    above_yes, above, below_yes, below, _ = (sum(cell[head] for cell in cells) for head in ANSWERS)
    return kappa([dict(zip(COUNTS, (above_yes, above - above_yes, below - below_yes, below_yes), strict=True))])


def resampled(
    cells: Mapping[str, list[Counts]], measure: Callable[[list[Counts]], float]
) -> dict[str, tuple[str, str]]:
    """Return by way the measure with its interval, and how far it is below the ceiling."""
    n, rng = len(cells["ceiling"]), np.random.default_rng(1)
    lots = [rng.integers(n, size=n) for _ in range(RESAMPLED)]
    drawn = {way: np.array([measure([here[i] for i in lot]) for lot in lots]) for way, here in cells.items()}
    values = {way: measure(here) for way, here in cells.items()}
    texts = {}
    for way, value in values.items():
        low, high = np.quantile(drawn[way], [0.025, 0.975])
        least, most = np.quantile(drawn["ceiling"] - drawn[way], [0.025, 0.975])
        below = f"{values['ceiling'] - value:.2f} ({least:.2f} to {most:.2f})"
        texts[way] = (f"{value:.2f} ({low:.2f} to {high:.2f})", "" if way == "ceiling" else below)
    return texts


def mean(cells: list[Counts]) -> Counts:
    """Return counts averaged over draws."""
    return {head: sum(cell[head] for cell in cells) / len(cells) for head in cells[0]}


def share(part: float, whole: float) -> str:
    return f"{part / whole:.0%}" if whole else "none"


def tables(region: str, tested: Mapping[str, list[Counts]], ranked: Mapping[str, list[Counts]]) -> tuple[Rows, Rows]:
    """Return the rows of both tables."""
    by_tests, by_effects = resampled(tested, kappa), resampled(ranked, of_relevance)
    first, second = [], []
    for way in WAYS:
        both, ours, theirs, neither = (sum(cell[head] for cell in tested[way]) for head in COUNTS)
        counts = [f"{number:.0f}" for number in (both, ours, theirs, neither)]
        first.append([region, way, *counts, share(both, both + ours), share(both, both + theirs), *by_tests[way]])
        above_yes, above, below_yes, below, open_ = (sum(cell[head] for cell in ranked[way]) for head in ANSWERS)
        said = [f"{above:.0f}", share(above_yes, above), f"{below:.0f}", share(below_yes, below), f"{open_:.0f}"]
        second.append([region, way, *said, *by_effects[way]])
    return first, second


def main() -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--data", type=Path, required=True, help="folder with the disdat files")
    chosen = arguments.parse_args()
    here = announce("Tests of equal power: records against a survey")
    warnings.simplefilter("ignore", BlanketsWarning)
    first: Rows = []
    second: Rows = []
    outcome: dict[str, object] = {}
    for code in ("SWI", "NZ"):
        region = Region.load(chosen.data, code)
        names = [name for name in region.species() if Species(region, name).can_be_seen("frame")]
        tested: dict[str, list[Counts]] = {way: [] for way in WAYS}
        ranked: dict[str, list[Counts]] = {way: [] for way in WAYS}
        for name in names:
            fair = Fair(Species(region, name))
            draws = [fair.drawn(seed) for seed in range(DRAWS)]
            for way in WAYS:
                tested[way].append(mean([by_tests[way] for by_tests, _ in draws]))
                ranked[way].append(mean([by_effects[way] for _, by_effects in draws]))
            outcome[name] = {"size": fair.size, **{way: tested[way][-1] for way in WAYS}}
            print(f"{name}: {fair.size:.0f} rows", flush=True)
        rows = tables(code, tested, ranked)
        first, second = first + rows[0], second + rows[1]
    heads = ["also found by the survey", "found of the survey's", "Cohen's κ", "below the ceiling"]
    print("\n" + table(["region", "sample", *COUNTS, *heads], first))
    heads = ["above", "confirmed", "below", "confirmed", "undecided", "Cohen's κ", "below the ceiling"]
    print("\n" + table(["region", "sample", *heads], second))
    write_json(chosen.json, {"machine": here, "species": outcome})
    return 0


if __name__ == "__main__":
    sys.exit(main())
