"""Species records: rankings and tests from presence-only labels, next to those from a survey with full labels.

    python benchmarks/species.py --data DIR
    python benchmarks/species.py --data DIR --all

``DIR`` holds the files of the disdat collection (Elith et al. 2020) as CSV: presence records of anonymised species
(``disdat_SWI_train_presence_only.csv.gz``, ...), random background sites, and a survey of other sites with presence
and absence. Records were collected apart from any background: case-control sampling. p(y=1) is the survey's.

The assumption is that records are a random sample of the sites with the species, from the population that the
background shows. Four backgrounds put it to the test:

* ``random``: the random sites, as published;
* ``surveyed``: the sites of the survey, without their labels: the population that the survey speaks of;
* ``others``: the records of all other species of the region, which share the habits of those who record;
* ``control``: the survey itself, with the labels of as many presences as there are records (at most half of them),
  drawn by lot; all other labels are hidden. Here the assumption holds.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

import blankets as bl
from _timing import announce, parser, table, write_json
from blankets.errors import BlanketsWarning

SPECIES = ("swi13", "swi30", "nz36")
BACKGROUNDS = ("random", "surveyed", "others", "control")
CATEGORICAL = ("calc", "age", "toxicats")
NOT_FEATURES = ("siteid", "spid", "x", "y")
BINS = 5
ALPHA = 0.01
FEWEST = 20  # records and surveyed presences of a species that is looked at


@dataclass(frozen=True, eq=False)
class Region:
    """Binned features of records, random sites and surveyed sites; who was recorded, and who was found."""

    records: pd.DataFrame
    random: pd.DataFrame
    surveyed: pd.DataFrame
    recorded: pd.Series
    found: pd.DataFrame

    @classmethod
    def load(cls, folder: Path, region: str) -> Region:
        parts = ("train_presence_only", "train_background", "test_presence_absence")
        records, random, surveyed = (pd.read_csv(folder / f"disdat_{region}_{part}.csv.gz") for part in parts)
        names = [name for name in random.columns if name not in NOT_FEATURES]
        features = [part[names].copy() for part in (records, random, surveyed)]
        for name in (name for name in names if name not in CATEGORICAL):
            # The same quantiles of the random sites for all, so that all speak of the same levels.
            cuts = np.unique(np.quantile(random[name], np.linspace(0, 1, BINS + 1)[1:-1]))
            for part in features:
                part[name] = np.digitize(part[name], cuts)
        return cls(*features, records["spid"], surveyed.drop(columns=names))

    def species(self) -> list[str]:
        counts = self.recorded.value_counts()
        return [name for name in sorted(counts.index) if min(counts[name], self.found[name].sum()) >= FEWEST]


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
    def truth(self) -> tuple[bl.Ranking, set[str]]:
        return bl.rank(self.survey, "species"), significant(self.survey, "supervised")

    def table(self, background: str) -> pd.DataFrame:
        """Return records, and unlabelled rows."""
        here = self.region.recorded == self.name
        positives = self.region.records[here]
        if background == "control":
            present = np.flatnonzero(self.survey["species"])
            chosen = np.random.default_rng(0).permutation(present)[: min(self.n_records, len(present) // 2)]
            known = np.isin(np.arange(len(self.survey)), chosen)
            return self.survey.assign(species=np.where(known, 1.0, np.nan))
        apart = {"random": self.region.random, "others": self.region.records[~here]}
        rest = apart.get(background, self.region.surveyed)
        return pd.concat([positives.assign(species=1.0), rest.assign(species=np.nan)], ignore_index=True)

    def compared(self, background: str) -> dict[str, float]:
        """Return Spearman's ρ, and features found by both, by the records alone, by the survey alone, by neither."""
        data = self.table(background)
        sampling = "one-sample" if background == "control" else "case-control"
        ranking = bl.rank(data, "species", labels=bl.PositiveUnlabelled(self.prior, sampling))
        found = significant(data, bl.PositiveUnlabelled(sampling=sampling))
        truth, truly = self.truth
        names = [name for name in truth.names if name in ranking.names]
        rho = spearmanr(*([r.information[r.names.index(x)] for x in names] for r in (ranking, truth))).statistic
        neither = len(set(names) - found - truly)
        return {
            "rho": float(rho),
            "both": len(found & truly),
            "records alone": len(found - truly),
            "survey alone": len(truly - found),
            "neither": neither,
        }


def significant(data: pd.DataFrame, labels: object) -> set[str]:
    """Return the features that a test at level 0.01 finds, by Bonferroni's rule for all of them."""
    names = [name for name in data.columns if name != "species" and data[name].nunique() > 1]
    level = ALPHA / len(names)
    return {x for x in names if bl.test(data, x, "species", labels=labels).dependent(level)}


def ranked(species: Species) -> str:
    """Return the features of a species as a table: information by records and two backgrounds, and by the survey."""
    regime = bl.PositiveUnlabelled(species.prior, "case-control")
    random, surveyed = (bl.rank(species.table(b), "species", labels=regime) for b in ("random", "surveyed"))
    truth, _ = species.truth
    low, high = surveyed.interval(0.9)
    rows = []
    for i, name in enumerate(surveyed.names):
        at = truth.names.index(name)
        values = [r.information[r.names.index(name)] for r in (random, surveyed, truth)]
        interval = f"{low[i]:.4f} to {high[i]:.4f}"
        rows.append([name, *(f"{value:.4f}" for value in values[:2]), interval, f"{values[2]:.4f}", str(at + 1)])
    return table(["feature", "random sites", "surveyed sites", "90% interval", "survey", "survey's rank"], rows)


def main() -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--data", type=Path, required=True, help="folder with the disdat files")
    arguments.add_argument("--all", action="store_true", help="all species, summarised by region")
    chosen = arguments.parse_args()
    here = announce("Presence-only labels against a survey")
    warnings.simplefilter("ignore", BlanketsWarning)
    outcome: dict[str, dict[str, dict[str, float]]] = {}
    examples, sizes = [], {}
    for code in ("SWI", "NZ"):
        region = Region.load(chosen.data, code)
        for name in region.species():
            if chosen.all or name in SPECIES:
                species = Species(region, name)
                outcome[name] = {background: species.compared(background) for background in BACKGROUNDS}
                sizes[name] = (str(species.n_records), f"{species.prior:.2f}")
                examples += [] if chosen.all else [species]
    heads = ["species", "records", "p(y=1)", "background", "ρ", "both", "records alone", "survey alone", "neither"]
    rows = [
        [name, *sizes[name], background, f"{cell['rho']:.2f}", *(str(cell[head]) for head in heads[5:])]
        for name, cells in outcome.items()
        for background, cell in cells.items()
    ]
    print(table(heads, rows))
    for species in examples:
        print(f"\n{species.name}: nats by records and either background, and by the survey\n{ranked(species)}")
    if chosen.all:
        print("\n" + summary(outcome))
    write_json(chosen.json, {"machine": here, "species": outcome})
    return 0


def summary(outcome: dict[str, dict[str, dict[str, float]]]) -> str:
    """Return by region the middle of ρ, and how many features of all species are found by whom."""
    heads = ["both", "records alone", "survey alone", "neither"]
    rows = []
    for region in ("swi", "nz"):
        cells = [cell for name, cell in outcome.items() if name.startswith(region)]
        for background in BACKGROUNDS:
            here = [cell[background] for cell in cells]
            low, middle = np.quantile([c["rho"] for c in here], [0.25, 0.5])
            totals = [str(int(sum(c[head] for c in here))) for head in heads]
            rows.append([region, str(len(here)), background, f"{middle:.2f}", f"{low:.2f}", *totals])
    return table(["region", "species", "background", "median ρ", "lower quartile", *heads], rows)


if __name__ == "__main__":
    sys.exit(main())
