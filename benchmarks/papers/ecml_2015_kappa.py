"""Sechidis & Brown 2015 Figure 3 with a κ that is right: false omissions with Ỹ0 at N/κ̄ rows, next to Y at N.

The paper says that Ỹ0 omits as many members at N/κ rows as Y at N, and takes κ of the unconditional test. Errata B4:
for tests given columns that tell the class it is κ̄, by strata. And by `ecml-2015-why`, nominal degrees of freedom
make Y lose more by thin tables at N rows than Ỹ0 at N/κ. So here, with the protocol of Figure 3 otherwise:

* tests are calibrated (``test="auto"``), for Y and for Ỹ0: their size does not depend on how full the tables are;
* Ỹ0 is given N/κ̄ rows, with one κ̄ a target and data set, formed from the network as `_blanket_kappa` says, given what
  IAMB admitted with Y at N rows. (Given the whole true blanket, as one might also say, many tests have strata of one
  row: tests that no search at N rows makes.) Ỹ0 plays no part in it. Where no test has an effect, κ̄ is κ;
* next to it Ỹ0 at N/κ, with the κ of the paper.

What counts, fixed before the run: omissions with Ỹ0 at N/κ̄ less those with Y, data set by data set, with Student's
interval over data sets. There are eight settings, so intervals are those of 95% for all eight together (Bonferroni).
*Agrees*: the interval lies within a quarter of a member, which is half of the least that Ỹ0 loses at N rows in
Figure 3 (0.48, barley, N = 5000): equivalence. *Undecided*: it reaches further but holds 0: no difference, and no
proof of equality. *Differs*: else. For time, 5 labelings vote, not 30 (in `ecml-2015-why` a vote of 10 omits what its
labelings omit, to 0.02 where that is printed), on hailfinder, with its 20 targets, 3 (a change for time, before any
result had been looked at); alarm, of which only five targets are averaged, has 20 data sets instead of 10.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.papers import _ecml
from benchmarks.papers._blanket_kappa import kappa_of_blanket, members, missed
from benchmarks.papers._ecml import ALPHA, NETWORKS, classes, grown, interval, labelings, most_frequent, searched
from benchmarks.papers._experiment import Cell, Experiment, Finding, Verdict
from matplotlib.figure import Figure

import blankets as bl
from blankets.data import Frame
from blankets.regimes import Surrogate, kappa_of
from blankets.simulate import Network

NAME = "ecml-2015-kappa"
SHARE = 0.05
SETTINGS = 8  # compared at once
MARGIN = 0.25  # of a member
CALIBRATED = {"test": "auto", "dof": "adjusted", "rng": 2015}
WHY = {
    "Ỹ0 at N/κ": "κ is that of the unconditional test (errata B4); N/κ̄ in the row above",
    "Ỹ0 at N/κ̄": "test by test, given the same columns, they are equal (ecml-2015-kappa-tests)",
}
FRESH = 1000  # trials from here on test what others have admitted: their own rows would favor it
ODD, TESTED = "VENTTUBE", "noncentral χ² is an approximation where tables are thin (ecml-2015-why)"
FULL, AT_KAPPA, AT_MEAN = "Y", "Ỹ0 at N/κ", "Ỹ0 at N/κ̄"


def cells(quick: bool) -> Sequence[Cell]:
    """List one data set each."""
    return [
        {"network": name, "rows": rows, "trial": trial, "versions": 3 if quick or name == "hailfinder" else 5}
        for rows in ((2000,) if quick else (2000, 5000))
        for name in NETWORKS
        for trial in range(2 if quick else 20 if name == "alarm" else 10)
    ]


def run(data: Path | None, network: str, rows: int, trial: int, versions: int) -> list[dict[str, Any]]:
    """Find the blankets of one data set with Y, and of larger ones with Ỹ0."""
    known = _ecml.truth(data, network)
    frame, chosen = _ecml.sampled(known, rows, trial), _ecml.targets(known)
    found = [with_y(known, frame, node, prior) for node, prior in chosen.items()]
    least = min(min(row["kappa"], row["kappa_bar"]) for row in found)
    larger = _ecml.sampled(known, math.ceil(rows / least), trial)
    for k, row in enumerate(found):
        for method, kappa in ((AT_KAPPA, row["kappa"]), (AT_MEAN, row["kappa_bar"])):
            more = larger.take(np.arange(math.ceil(rows / kappa)))
            y = classes(more, row["target"])
            labels = labelings(y, round(SHARE * more.n_rows), 0, versions, trial, k)
            voted = most_frequent(more, row["target"], labels, labels="pu", **CALIBRATED)
            row[method] = len(known.blanket(row["target"]) - voted)
    return found


def with_y(known: Network, frame: Frame, node: str, prior: float) -> dict[str, Any]:
    """Return what Y omits, κ and κ̄, and how many members tests given the same columns should miss."""
    blanket = searched(frame, node, classes(frame, node), labels="supervised", **CALIBRATED)
    tests = members(known, node, grown(blanket), SHARE / prior, frame.n_rows)
    kappa = float(kappa_of(Surrogate.Y0, prior, positives=SHARE))
    exact = kappa_of_blanket(tests, frame.n_rows, ALPHA)
    return {
        "target": node,
        "prior": prior,
        "kappa": kappa,
        "kappa_bar": kappa if math.isnan(exact) else exact,
        f"should, {FULL}": missed(tests, frame.n_rows, ALPHA, hidden=False),
        f"should, {AT_KAPPA}": missed(tests, frame.n_rows / kappa, ALPHA, hidden=True),
        FULL: len(known.blanket(node).difference(blanket.members)),
    }


def compare(rows: pd.DataFrame) -> list[Finding]:
    """Check equality, setting by setting, with both κ."""
    findings = []
    for (name, size), setting in rows.groupby(["network", "rows"], sort=False):
        findings += [_equal(f"{name}, N = {size}", setting, method) for method in (AT_MEAN, AT_KAPPA)]
    whole = rows[rows.trial < 10].groupby(["network", "rows", "trial"])[[FULL, AT_KAPPA, AT_MEAN]].mean()
    means = whole.groupby("trial").mean()
    findings += [
        _judged("mean of all settings, false omissions", means, method, 1, WHY[method])
        for method in (AT_MEAN, AT_KAPPA)
    ]
    return findings


def _equal(here: str, setting: pd.DataFrame, method: str) -> Finding:
    means = setting.groupby("trial")[[FULL, method, f"should, {FULL}", f"should, {AT_KAPPA}"]].mean()
    theory = float((means[f"should, {AT_KAPPA}"] - means[f"should, {FULL}"]).mean())
    note = f"; by noncentral χ² it should be {theory:.2f}" if method == AT_KAPPA else ""
    return _judged(f"{here}, false omissions", means, method, SETTINGS, WHY[method], note)


def _judged(what: str, means: pd.DataFrame, method: str, together: int, why: str, note: str = "") -> Finding:
    mean, half = interval(means[method] - means[FULL], together)
    inside, holds = abs(mean) + half <= MARGIN, abs(mean) <= half
    verdict: Verdict = "agrees" if inside else "undecided" if holds else "differs"
    ours = (
        f"{method} {means[method].mean():.2f}, {FULL} {means[FULL].mean():.2f}, difference {mean:.2f} ± {half:.2f}, "
        f"{'within' if inside else 'not within'} ±{MARGIN:g}, 0 {'is' if holds else 'is not'} in it{note}"
    )
    return Finding(what, f"{method} and {FULL} equal", ours, verdict, why if verdict == "differs" else "")


def cells_of_tests(quick: bool) -> Sequence[Cell]:
    """List one data set each."""
    return [
        {"network": name, "rows": n, "trial": k, "versions": 5}
        for n in ((2000,) if quick else (2000, 5000))
        for name in NETWORKS
        for k in range(2 if quick else 20)
    ]


def run_tests(data: Path | None, network: str, rows: int, trial: int, versions: int) -> list[dict[str, Any]]:
    """Test the true members of the targets one by one, given what IAMB admits with Y, with Y and with Ỹ0."""
    known = _ecml.truth(data, network)
    frame, fresh, found = _ecml.sampled(known, rows, trial), _ecml.sampled(known, rows, FRESH + trial), []
    for k, (node, prior) in enumerate(_ecml.targets(known).items()):
        given = grown(searched(frame, node, classes(frame, node), labels="supervised", **CALIBRATED))
        tests = members(known, node, given, SHARE / prior, rows)
        exact = kappa_of_blanket(tests, rows, ALPHA)
        kappa = float(kappa_of(Surrogate.Y0, prior, positives=SHARE)) if math.isnan(exact) else exact
        more = _ecml.sampled(known, math.ceil(rows / kappa), trial)
        labels = labelings(classes(more, node), round(SHARE * more.n_rows), 0, versions, trial, k)
        row: dict[str, Any] = {"target": node, FULL: 0.0, AT_MEAN: 0.0}
        for x in sorted(known.blanket(node)):
            others = sorted(given - {x})
            row[FULL] += misses(fresh, x, others, y=classes(fresh, node), labels="supervised")
            row[AT_MEAN] += float(np.mean([misses(more, x, others, y=s, labels="pu") for s in labels]))
        found.append(row)
    return found


def misses(frame: Frame, x: str, others: Sequence[str], **about: Any) -> bool:
    """Say whether the calibrated test of a true member keeps independence."""
    return not bl.test(
        frame, x, given=others, alpha=ALPHA, test=bl.Testing(reliability=0.0), **CALIBRATED, **about
    ).dependent()


def compare_tests(rows: pd.DataFrame) -> list[Finding]:
    """Check equality, test by test: setting by setting, over all, and for the target that differs most in searches."""
    missed_ = "members missed test by test"
    findings = []
    for (name, size), setting in rows.groupby(["network", "rows"], sort=False):
        means = setting.groupby("trial")[[FULL, AT_MEAN]].mean()
        findings.append(_judged(f"{name}, N = {size}, {missed_}", means, AT_MEAN, SETTINGS, TESTED))
    whole = rows.groupby(["network", "rows", "trial"])[[FULL, AT_MEAN]].mean().groupby("trial").mean()
    findings.append(_judged(f"mean of all settings, {missed_}", whole, AT_MEAN, 1, TESTED))
    for size, part in rows[(rows.network == "alarm") & (rows.target == ODD)].groupby("rows", sort=False):
        means = part.groupby("trial")[[FULL, AT_MEAN]].mean()
        findings.append(_judged(f"alarm, N = {size}, {ODD} alone, {missed_}", means, AT_MEAN, 1, TESTED))
    return findings


def draw(rows: pd.DataFrame, figure: Figure) -> None:
    """Draw the differences with their simultaneous intervals."""
    ax = figure.subplots()
    settings = list(rows.groupby(["network", "rows"], sort=False))
    ax.axhspan(-MARGIN, MARGIN, color="0.93")
    ax.axhline(0, color="0.6", linewidth=0.8)
    methods = [(method, marker) for method, marker in ((AT_KAPPA, "o"), (AT_MEAN, "s")) if method in rows]
    for j, (method, marker) in enumerate(methods):
        for k, (_, setting) in enumerate(settings):
            means = setting.groupby("trial")[[FULL, method]].mean()
            mean, half = interval(means[method] - means[FULL], SETTINGS)
            label = method if k == 0 else None
            ax.errorbar(k + 0.2 * (j - 0.5), mean, half, fmt=marker, color=f"C{j}", label=label, capsize=2)
    ax.set_xticks(range(len(settings)), [f"{name}\n{size}" for (name, size), _ in settings], fontsize=8)
    ax.set_ylabel("members omitted over Y at N")
    ax.legend(frameon=False)


EXPERIMENTS = (
    Experiment(
        name=NAME,
        title="false omissions at N/κ̄, with calibrated tests",
        source="ours, for Sechidis & Brown 2015 Figure 3",
        minutes=(25, 1),
        cells=cells,
        run=run,
        compare=compare,
        draw=draw,
        protocol=lambda quick: (
            f"As Figure 3, but tests are calibrated (every test performed), {3 if quick else 5} labelings vote "
            f"{'' if quick else '(3 on hailfinder) '}and there are "
            f"{'2 data sets' if quick else '20 data sets of alarm, 10 of the others'}; differences with "
            "intervals that hold for all eight settings together with 95% (Student over data sets, Bonferroni); κ̄ by "
            "strata (errata B4), one for each target and data set, from the network given what IAMB admits with Y"
        ),
        size=(8.0, 4.0),
        needs=_ecml.NEEDS,
        remark=(
            "Nothing is printed for this; that column says what theory expects. *Agrees*: the interval lies within a "
            "quarter of a member; *undecided*: it reaches further, and holds 0. The protocol, the margin of a quarter "
            "of a member (half of the least that Ỹ0 loses at N rows in Figure 3) and the intervals were fixed before "
            "the run; the mean of all settings (10 data sets) was added after it."
        ),
    ),
    Experiment(
        name=f"{NAME}-tests",
        title="members missed at N/κ̄, test by test",
        source="ours, for Sechidis & Brown 2015 Figure 3",
        minutes=(15, 1),
        cells=cells_of_tests,
        run=run_tests,
        compare=compare_tests,
        draw=draw,
        protocol=lambda quick: (
            f"Targets, networks and sizes of Figure 3, {2 if quick else 20} data sets, 5 labelings: each true member "
            "is tested given what IAMB admits with Y at N rows, by Y in N other rows and by Ỹ0 in N/κ̄; tests are "
            "calibrated, α = 0.1; intervals that hold for all eight settings together with 95%"
        ),
        size=(8.0, 4.0),
        needs=_ecml.NEEDS,
        remark=(
            "Tests by themselves, without the way that a search takes. Added when ecml-2015-kappa had been seen, for "
            "alarm (20 data sets: 0.15 ± 0.16 and 0.00 ± 0.13); the other networks, the intervals and the mean were "
            "planned when alarm alone had been seen. Margin and verdicts as there."
        ),
    ),
)
