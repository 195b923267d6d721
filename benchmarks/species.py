"""Species records: rankings and tests from presence-only labels, next to those from a survey with full labels.

    python benchmarks/species.py --data DIR
    python benchmarks/species.py --data DIR --all

``DIR`` holds the files of the disdat collection (Elith et al. 2020) as CSV: presence records of anonymized species
(``disdat_SWI_train_presence_only.csv.gz``, ...), random background sites, and a survey of other sites with presence
and absence. Records were collected apart from any background: case-control sampling. p(y=1) is the survey's.

The assumption is that records are a random sample of the sites with the species, from the population that the
background shows. What is compared with the survey:

* ``frame``: records and random sites, both only where the survey went: in Switzerland sites with trees, in New Zealand
  sites whose numbers all lie in the middle 98% of the survey's;
* ``random``: all records against all random sites, as published;
* ``surveyed``: records against the sites of the survey, without their labels;
* ``others``: records against those of all other species of the region, which share the habits of those who record;
* ``peers``: the same, but both only where the survey went (added when the results of the ways above were known, and
  before its own were).

And two yardsticks:

* ``ceiling``: a part of the survey with full labels, of as many presences as there are records (at most half of them)
  and its share of absences, against the rest of the survey: what an independent sample of that size can reach;
* ``control``: the survey itself, with the labels of as many presences hidden but for these, against its full labels:
  what the method loses where its assumption holds.

Chance: Spearman's ρ between the same ranking and that of the survey with its labels permuted.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import rankdata, spearmanr

import blankets as bl
from _timing import announce, parser, table, write_json
from blankets.errors import BlanketsWarning

SPECIES = ("swi13", "swi30", "nz36")
WAYS = ("ceiling", "control", "frame", "random", "surveyed", "others", "peers")
FRAMED = ("frame", "peers")
CATEGORICAL = ("calc", "age", "toxicats")
NOT_FEATURES = ("siteid", "spid", "x", "y")
BINS = 5
ALPHA = 0.01
FEWEST = 20  # records and surveyed presences of a species that is looked at, and records in the frame
PERMUTATIONS = 199
COUNTS = ("both", "records alone", "survey alone", "neither")

Inside = Callable[[pd.DataFrame], "pd.Series[bool]"]


def with_trees(survey: pd.DataFrame) -> Inside:
    """The Swiss survey is one of forests: cover of broad-leaved trees or of conifers above 0."""
    return lambda sites: (sites["bcc"] > 0) | (sites["ccc"] > 0)


def covered(survey: pd.DataFrame) -> Inside:
    """Nothing tells the New Zealand survey's frame but the environments that it covers."""
    numbers = [name for name in survey.columns if name not in CATEGORICAL]
    low, high = survey[numbers].quantile(0.01), survey[numbers].quantile(0.99)
    return lambda sites: ((sites[numbers] >= low) & (sites[numbers] <= high)).all(axis=1)


FRAMES = {"SWI": with_trees, "NZ": covered}


@dataclass(frozen=True, eq=False)
class Region:
    """Binned features of records, random sites and surveyed sites; who was recorded, and who was found; the frame."""

    records: pd.DataFrame
    random: pd.DataFrame
    surveyed: pd.DataFrame
    recorded: pd.Series
    found: pd.DataFrame
    inside: tuple[pd.Series, pd.Series]

    @classmethod
    def load(cls, folder: Path, region: str) -> Region:
        parts = ("train_presence_only", "train_background", "test_presence_absence")
        records, random, surveyed = (pd.read_csv(folder / f"disdat_{region}_{part}.csv.gz") for part in parts)
        names = [name for name in random.columns if name not in NOT_FEATURES]
        features = [part[names].copy() for part in (records, random, surveyed)]
        inside = FRAMES[region](features[2])
        frame = inside(features[0]), inside(features[1])
        for name in (name for name in names if name not in CATEGORICAL):
            # The same quantiles of the random sites for all, so that all speak of the same levels.
            cuts = np.unique(np.quantile(random[name], np.linspace(0, 1, BINS + 1)[1:-1]))
            for part in features:
                part[name] = np.digitize(part[name], cuts)
        return cls(*features, records["spid"], surveyed.drop(columns=names), frame)

    def species(self) -> list[str]:
        counts = self.recorded.value_counts()
        return [name for name in sorted(counts.index) if min(counts[name], self.found[name].sum()) >= FEWEST]


@dataclass(frozen=True, eq=False)
class View:
    """What one sample says: the information of each feature, and which a test finds."""

    information: pd.Series
    found: set[str]

    @classmethod
    def of(cls, data: pd.DataFrame, labels: object, tests: object = None) -> View:
        ranking = bl.rank(data, "species", labels=labels)
        return cls(
            pd.Series(dict(zip(ranking.names, ranking.information, strict=True))), significant(data, tests or labels)
        )


@dataclass(frozen=True, eq=False)
class Species:
    """One species, asked in all ways."""

    region: Region
    name: str

    @cached_property
    def n_records(self) -> int:
        return int((self.region.recorded == self.name).sum())

    @cached_property
    def prior(self) -> float:
        return float(self.region.found[self.name].mean())

    @cached_property
    def survey(self) -> pd.DataFrame:
        return self.region.surveyed.assign(species=self.region.found[self.name])

    @cached_property
    def truth(self) -> View:
        return View.of(self.survey, "supervised")

    @cached_property
    def by_chance(self) -> np.ndarray:
        """Ranks of the features in surveys with permuted labels, one a row."""
        rng, y = np.random.default_rng(1), self.survey["species"].to_numpy()
        codes = [pd.factorize(self.survey[name])[0] for name in self.truth.information.index]
        drawn = [rng.permutation(y) for _ in range(PERMUTATIONS)]
        return np.array([rankdata([plug_in(code, labels) for code in codes]) for labels in drawn])

    @cached_property
    def _chosen(self) -> np.ndarray:
        """Surveyed presences, as many as there are records, at most half of them."""
        present = np.flatnonzero(self.survey["species"])
        return np.random.default_rng(0).permutation(present)[: min(self.n_records, len(present) // 2)]

    def table(self, way: str) -> pd.DataFrame:
        """Return records, and unlabeled rows."""
        here, (near, covered_) = self.region.recorded == self.name, self.region.inside
        if way == "control":
            known = np.isin(np.arange(len(self.survey)), self._chosen)
            return self.survey.assign(species=np.where(known, 1.0, np.nan))
        records = self.region.records[here & near] if way in FRAMED else self.region.records[here]
        rest = {
            "frame": self.region.random[covered_],
            "random": self.region.random,
            "surveyed": self.region.surveyed,
            "others": self.region.records[~here],
            "peers": self.region.records[~here & near],
        }[way]
        return pd.concat([records.assign(species=1.0), rest.assign(species=np.nan)], ignore_index=True)

    def can_be_seen(self, way: str) -> bool:
        """Whether there are records enough: some species were recorded outside of the frame only."""
        return way not in FRAMED or int((self.region.inside[0] & (self.region.recorded == self.name)).sum()) >= FEWEST

    def views(self, way: str) -> tuple[View, View]:
        """Return what one way says, and what it is compared with."""
        if way == "ceiling":
            absent = np.flatnonzero(self.survey["species"] == 0)
            n = round(len(absent) * len(self._chosen) / int(self.survey["species"].sum()))
            part = np.concatenate([self._chosen, np.random.default_rng(2).permutation(absent)[:n]])
            apart = np.isin(np.arange(len(self.survey)), part)
            return View.of(self.survey[apart], "supervised"), View.of(self.survey[~apart], "supervised")
        sampling = "one-sample" if way == "control" else "case-control"
        regime = bl.PositiveUnlabeled(self.prior, sampling)
        return View.of(self.table(way), regime, bl.PositiveUnlabeled(sampling=sampling)), self.truth

    def compared(self, way: str) -> dict[str, float]:
        """Return ρ, its chance, what rank the first feature has in the survey, and which features are found by whom."""
        ours, theirs = self.views(way)
        names = [name for name in theirs.information.index if name in ours.information.index]
        rho = float(spearmanr(ours.information[names], theirs.information[names]).statistic)
        order = [list(self.truth.information.index).index(name) for name in names]
        by_chance = [spearmanr(ours.information[names], ranks[order]).statistic for ranks in self.by_chance]
        return {
            "rho": rho,
            "first": float(theirs.information[names].rank(ascending=False)[ours.information[names].idxmax()]),
            "p": (1 + int(np.sum(np.array(by_chance) >= rho))) / (1 + PERMUTATIONS),
            "both": len(ours.found & theirs.found),
            "records alone": len(ours.found - theirs.found),
            "survey alone": len(theirs.found - ours.found),
            "neither": len(set(names) - ours.found - theirs.found),
        }


def plug_in(x: np.ndarray, y: np.ndarray) -> float:
    """Return the information of two columns of codes, in nats."""
    joint = np.bincount(x * 2 + y).astype(float)
    joint = np.pad(joint, (0, len(joint) % 2)).reshape(-1, 2) / len(x)
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    seen = joint > 0
    return float(np.sum(joint[seen] * np.log(joint[seen] / apart[seen])))


def significant(data: pd.DataFrame, labels: object) -> set[str]:
    """Return the features that a G test at level 0.01 finds, by Bonferroni's rule for all of them."""
    names = [name for name in data.columns if name != "species" and data[name].nunique() > 1]
    level = ALPHA / len(names)
    tests = (bl.test(data, x, "species", labels=labels, test="g", keep=[x]) for x in names)  # also copies of others
    return {x for x, found in zip(names, tests, strict=True) if found.dependent(level)}


def kappa(cells: list[dict[str, float]]) -> float:
    """Return Cohen's κ of the decisions over features and species."""
    both, ours, theirs, neither = (sum(cell[head] for cell in cells) for head in COUNTS)
    n = both + ours + theirs + neither
    agreed = (both + neither) / n
    by_chance = ((both + ours) * (both + theirs) + (neither + ours) * (neither + theirs)) / n**2
    return (agreed - by_chance) / (1 - by_chance)


def odds_ratio(cells: list[dict[str, float]]) -> float:
    """Return the odds that records find a feature that the survey finds, over those of one that it does not."""
    both, ours, theirs, neither = (sum(cell[head] for cell in cells) for head in COUNTS)
    return both * neither / max(ours * theirs, 0.5)


def ranked(species: Species) -> str:
    """Return the features of a species as a table: information by records in the frame, in all, and by the survey."""
    regime = bl.PositiveUnlabeled(species.prior, "case-control")
    frame, random = (bl.rank(species.table(way), "species", labels=regime) for way in ("frame", "random"))
    truth = species.truth.information
    low, high = frame.interval(0.9)
    place = truth.rank(ascending=False).astype(int)
    rows = []
    for i, name in enumerate(frame.names):
        all_sites = random.information[random.names.index(name)]
        interval = f"{low[i]:.4f} to {high[i]:.4f}"
        values = [f"{frame.information[i]:.4f}", interval, f"{all_sites:.4f}", f"{truth[name]:.4f}", str(place[name])]
        rows.append([name, *values])
    return table(["feature", "in the frame", "90% interval", "all sites", "survey", "survey's rank"], rows)


def summary(outcome: dict[str, dict[str, dict[str, float]]]) -> str:
    """Return by region the middle of ρ, how many species agree more than by chance, and the decisions of all tests."""
    rows = []
    for region in ("swi", "nz"):
        species = [cells for name, cells in outcome.items() if name.startswith(region)]
        inside = [cells["random"] for cells in species if "frame" in cells]
        asked = {way: [cells[way] for cells in species if way in cells] for way in WAYS} | {
            "random, same species": inside
        }
        for way, here in asked.items():
            low, middle = np.quantile([c["rho"] for c in here], [0.25, 0.5])
            rows.append(
                [
                    *(region, way, f"{middle:.2f}", f"{low:.2f}"),
                    f"{sum(c['p'] < 0.05 for c in here)} of {len(here)}",
                    str(sum(c["first"] <= 3 for c in here)),
                    *(f"{kappa(here):.2f}", f"{odds_ratio(here):.1f}"),
                    *(str(int(sum(c[head] for c in here))) for head in COUNTS),
                ]
            )
    heads = ["region", "way", "median ρ", "lower quartile", "p < 0.05", "first in top 3", "Cohen's κ", "odds ratio"]
    return table([*heads, *COUNTS], rows)


def main() -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--data", type=Path, required=True, help="folder with the disdat files")
    arguments.add_argument("--all", action="store_true", help="all species, summarized by region")
    chosen = arguments.parse_args()
    here = announce("Presence-only labels against a survey")
    warnings.simplefilter("ignore", BlanketsWarning)
    outcome: dict[str, dict[str, dict[str, float]]] = {}
    examples, sizes = [], {}
    for code in ("SWI", "NZ"):
        region = Region.load(chosen.data, code)
        near, covered_ = region.inside
        print(
            f"{code}: in the frame are {near.mean():.0%} of the records and {covered_.mean():.0%} of the random sites"
        )
        for name in region.species():
            if chosen.all or name in SPECIES:
                species = Species(region, name)
                outcome[name] = {way: species.compared(way) for way in WAYS if species.can_be_seen(way)}
                sizes[name] = (str(species.n_records), f"{species.prior:.2f}")
                examples += [] if chosen.all else [species]
    heads = ["species", "records", "p(y=1)", "way", "ρ", "p", *COUNTS]
    rows = [
        [name, *sizes[name], way, f"{cell['rho']:.2f}", f"{cell['p']:.3f}", *(str(cell[head]) for head in COUNTS)]
        for name, cells in outcome.items()
        for way, cell in cells.items()
    ]
    print(table(heads, rows))
    for species in examples:
        print(f"\n{species.name}: nats by records and the survey\n{ranked(species)}")
    if chosen.all:
        print("\n" + summary(outcome))
    write_json(chosen.json, {"machine": here, "species": outcome})
    return 0


if __name__ == "__main__":
    sys.exit(main())
