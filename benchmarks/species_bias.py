"""Species records where labeling is biased: given the effort of those who record, and only what bias cannot explain.

    python benchmarks/species_bias.py --data DIR

Data, features, levels and the frame are those of ``species.py``: records and random sites where the survey went, all
species with 20 records in the frame and 20 surveyed presences, G tests at level 0.01 divided by the number of features
(Bonferroni). This plan was written, and committed, before any of its numbers was seen. (Known before it: the tables of
docs/examples/species.md, among them that of all finds in the frame the survey confirms 270 of 336 in Switzerland and
101 of 109 in New Zealand.)

**Effort.** Sites near which many other species were recorded are sites where people record. The effort at a site is
its distance to the tenth nearest distinct site of a record of another species, cut at the quintiles of the random sites
in the frame. It is a driver of labeling: ``PositiveUnlabeled(sampling="case-control", drivers=["effort"])``. Roads and
the like are not in the data.

**Ways.** For each species the finds of

* ``plain``: records and random sites in the frame, without a driver (as in ``species.py``);
* ``driven``: the same, given the effort;
* ``peers``: records in the frame, and those of other species for a background (the "target group");

each as they are, and only those with Γ >= 2: labeling would have to be twice as likely at some level of the feature to
explain the find away (lower 95% limit; given the effort where that is a driver).

**Outcome.** The survey confirms a find if its own test, with the full labels of all its sites, finds the feature too at
the same level. Reported: by region, the finds of all species together, how many are confirmed, the share with a 95%
interval (2,000 draws of species with replacement), and how many of the survey's finds are left. The outcome that
decides is ``driven`` with Γ >= 2: at least 85% confirmed in both regions.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree

import blankets as bl
from _timing import announce, parser, table, write_json
from blankets.errors import BlanketsWarning
from blankets.stats import labeling_bias
from blankets.study import independence_tests, open_study
from species import ALPHA, BINS, Region, Species

NEIGHBORS = 10
GAMMA = 2.0
WAYS = ("plain", "driven", "peers")
RESAMPLED = 2000


def distances(folder: Path, region: str, species: str) -> tuple[np.ndarray, np.ndarray]:
    """Return how far records and random sites are from the tenth nearest site of a record of another species."""
    records, random = (
        pd.read_csv(folder / f"disdat_{region}_{part}.csv.gz", usecols=lambda name: name in ("x", "y", "spid"))
        for part in ("train_presence_only", "train_background")
    )
    others = cKDTree(records.loc[records["spid"] != species, ["x", "y"]].drop_duplicates().to_numpy(float))
    return tuple(others.query(part[["x", "y"]].to_numpy(float), NEIGHBORS)[0][:, -1] for part in (records, random))


def sites(folder: Path, region: str, one: Species, way: str) -> pd.DataFrame:
    """Return records and unlabeled rows in the frame, with the effort where it is a driver."""
    whole = one.table("peers" if way == "peers" else "frame")
    if way != "driven":
        return whole
    (near, inside), here = one.region.inside, one.region.recorded == one.name
    of_records, of_random = distances(folder, region, one.name)
    far = np.concatenate([of_records[(here & near).to_numpy()], of_random[inside.to_numpy()]])
    cuts = np.unique(np.quantile(of_random[inside.to_numpy()], np.linspace(0, 1, BINS + 1)[1:-1]))
    return whole.assign(effort=np.digitize(far, cuts))


def finds(data: pd.DataFrame, way: str, level: float) -> dict[str, float]:
    """Return the features that are found, each with its Γ."""
    driven = ["effort"] if way == "driven" else []
    labels = bl.PositiveUnlabeled(sampling="case-control", drivers=driven)
    names = [name for name in data.columns if name not in ("species", "effort") and data[name].nunique() > 1]
    labeled = data["species"].notna().to_numpy()
    strata = data["effort"].to_numpy(np.int64) if driven else None
    with open_study(data, "species", labels=labels, test="g", reading={"keep": names}) as study:
        batch = independence_tests(study, study.stand_in()).scan([study.index(name) for name in names], study.target)
    codes = {name: pd.factorize(data[name])[0].astype(np.int64) for name in names}
    return {
        name: labeling_bias(labeled, codes[name], strata, apart=True).gamma
        for name, log_p in zip(names, batch.log_p, strict=True)
        if log_p <= np.log(level)
    }


def share(counts: np.ndarray, rng: np.random.Generator) -> str:
    """Return the share of finds that the survey confirms, with an interval over species; counts: (species, 2)."""
    drawn = counts[rng.integers(0, len(counts), (RESAMPLED, len(counts)))].sum(axis=1)
    low, high = np.quantile(drawn[:, 1] / np.maximum(drawn[:, 0], 1), [0.025, 0.975])
    found, confirmed = counts.sum(axis=0)
    return f"{confirmed / max(found, 1):.0%} ({low:.0%} to {high:.0%})"


def main() -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--data", type=Path, required=True, help="folder with the disdat files")
    chosen = arguments.parse_args()
    here = announce("Presence-only labels with a driver of labeling, and bias that would explain them")
    warnings.simplefilter("ignore", BlanketsWarning)
    rng, rows, kept = np.random.default_rng(0), [], {}
    for code in ("SWI", "NZ"):
        region = Region.load(chosen.data, code)
        every = (Species(region, name) for name in region.species())
        some = [one for one in every if one.can_be_seen("frame")]
        truth = {one.name: one.truth.found for one in some}
        n_truth = sum(map(len, truth.values()))
        for way in WAYS:
            found = {}
            for one in some:
                data = sites(chosen.data, code, one, way)
                found[one.name] = finds(data, way, ALPHA / region.random.shape[1])
            for least in (1.0, GAMMA):
                passed = {name: {x for x, gamma in of.items() if gamma >= least} for name, of in found.items()}
                counts = np.array([[len(of), len(of & truth[name])] for name, of in passed.items()])
                total, confirmed = counts.sum(axis=0)
                left = f"{confirmed / n_truth:.0%}"
                rows.append([code, way, f"{least:g}", str(total), str(confirmed), share(counts, rng), left])
                kept[f"{code} {way} {least:g}"] = counts.tolist()
    print(table(["region", "way", "Γ at least", "finds", "confirmed", "share", "of the survey's finds"], rows))
    write_json(chosen.json, {"machine": here, "counts": kept})
    return 0


if __name__ == "__main__":
    sys.exit(main())
