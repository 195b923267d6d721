"""Gao & Ji 2016 Table 1: SEM, SCSEM and LMB-CSEM on the networks 4BN and 7BN with C hidden, and with nothing hidden.

The paper gives no conditional tables: they are drawn uniformly at random, anew for every repetition. A method finds
the blanket of T either with all observed columns handed over as the observed blanket, or end to end with default
settings; there an empty answer is a failure, at distance √2. What tests could have seen of T there follows from the
conditional tables. The paper says that a better score means that there is a latent; networks without one put that to
the test.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.papers._harness import Cell, Experiment, Finding, Verdict, near, plus_minus
from scipy.stats import chi2, ncx2

import blankets as bl
from blankets.simulate import Network
from blankets.simulate.measures import compare

ROWS, BLOCK, RESTARTS = 10_000, 10, 80
SEED = 4811  # written down before the run; nothing was developed with it
HIDDEN = "C"
NETWORKS = {  # node: its parents
    "4BN": {"T": "", "C": "T", "B": "C", "F": "C"},
    "7BN": {"P": "", "S": "", "R": "", "T": "P", "C": "TSR", "B": "C", "F": "C"},
    "4BN, C shown": {"T": "", "c": "T", "B": "c", "F": "c"},
    "7BN, C shown": {"P": "", "S": "", "R": "", "T": "P", "c": "TSR", "B": "c", "F": "c"},
    "fork": {"T": "", "B": "T", "F": "T"},
    "chain": {"T": "", "B": "T", "F": "B"},
    "collider": {"B": "", "F": "", "T": "BF"},
    "spouse": {"T": "", "F": "", "B": "TF"},
    "clique": {"T": "", "B": "T", "F": "TB"},
    "T alone": {"T": "", "B": "", "F": "B"},
}
WITH_LATENT = ("4BN", "7BN")
# method and number of starts, with the observed blanket handed over
HANDED = {"SEM": ("sem", 1), "SCSEM": ("scsem", RESTARTS), "LMB-CSEM": ("lmb-csem", RESTARTS)}
VARIANTS = {"SEM, 80 starts": ("sem", RESTARTS), "SCSEM, 1 start": ("scsem", 1)}
ALONE = "LMB-CSEM, end to end"
PRINTED = {"SEM": 1.04, "SCSEM": 0.84, "LMB-CSEM": 0.26}


def cells(quick: bool) -> Sequence[Cell]:
    """List blocks of repetitions: network, first repetition."""
    n_blocks = dict.fromkeys(NETWORKS, 2 if quick else 5)
    n_blocks |= {"7BN": 1, "7BN, C shown": 1} if quick else {"4BN": 10, "7BN": 10}
    return [
        {"network": name, "first": BLOCK * k, "repetitions": BLOCK, "rows": ROWS, "restarts": RESTARTS, "seed": SEED}
        for name in NETWORKS
        for k in range(n_blocks[name])
    ]


def random_network(parents: dict[str, str], rng: np.random.Generator) -> Network:
    """Return a network of coins whose conditional probabilities are uniform."""
    tables = {}
    for node, above in parents.items():
        heads = rng.random((2,) * len(above))
        tables[node] = np.stack([1 - heads, heads], axis=-1)
    return Network(dict.fromkeys(parents, (0, 1)), {node: tuple(above) for node, above in parents.items()}, tables)


def run(
    data: Path | None, network: str, first: int, repetitions: int, rows: int, restarts: int, seed: int
) -> list[dict[str, Any]]:
    """Find the blanket of T in some networks, in all ways."""
    found = []
    for repetition in range(first, first + repetitions):
        rng = np.random.default_rng([seed, list(NETWORKS).index(network), repetition])
        truth = random_network(NETWORKS[network], rng)
        frame = truth.sample(rows, rng)
        members = {"H1" if name == HIDDEN else name for name in truth.blanket("T")}
        # With C hidden all observed columns are the observed blanket of T; with nothing hidden it is the true one.
        shown = [
            name for name in truth.names if name not in ("T", HIDDEN) and (network in WITH_LATENT or name in members)
        ]
        hide = {"exclude": [HIDDEN]} if HIDDEN in truth.names else {}
        ways = {**HANDED, **VARIANTS} if network in WITH_LATENT else {"LMB-CSEM": HANDED["LMB-CSEM"]}
        settings = {"max_latents": 1, "rng": repetition, "n_jobs": 1, **hide}
        answers = {
            way: bl.discover_latent(frame, "T", blanket=shown, method=method, n_restarts=n_starts, **settings)
            for way, (method, n_starts) in ways.items()
        }
        answers[ALONE] = bl.discover_latent(frame, "T", n_restarts=restarts, **settings)
        power = best_power(truth, rows)
        for way, answer in answers.items():
            agreement = compare(answer.members, members)
            found.append(
                {
                    "repetition": repetition,
                    "method": way,
                    "distance": agreement.distance if answer.members or not members else math.sqrt(2),
                    "exact": agreement.exact,
                    "latent": any(name not in truth.names for name in answer.members),
                    "support": answer.latents[0].support if answer.latents else math.nan,
                    "observed": len(answer.observed),
                    "power": round(power, 4),
                }
            )
    return found


def best_power(truth: Network, rows: int, level: float = 0.05) -> float:
    """Return the power of the strongest of the tests of T against each observed column alone."""
    most = 0.0
    for name in truth.names:
        if name not in ("T", HIDDEN):
            joint = truth.marginal("T", name)
            free = (joint.shape[0] - 1) * (joint.shape[1] - 1)
            apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
            shift = 2 * rows * float(np.sum(joint * np.log(joint / apart)))
            most = max(most, float(ncx2.sf(chi2.isf(level, free), free, max(shift, 1e-12))))
    return most


def compare_with_print(rows: pd.DataFrame) -> list[Finding]:
    """Compare printed errors and shares on 4BN, the ordering on both networks, and what a better score means."""
    four, seven = (dict(iter(rows[rows.network == name].groupby("method"))) for name in WITH_LATENT)
    found = {"SEM": four["SEM"], "SCSEM": four["SCSEM"], "LMB-CSEM": four[ALONE]}
    ordered = _ordered(four)
    why = "the paper gives no conditional tables, and here even the ordering is another"
    findings = []
    for method, printed in PRINTED.items():
        ours = found[method].distance
        verdict = "agrees" if near(printed, ours) else "same ordering" if ordered else "differs"
        end = " (end to end; an empty answer is a failure)" if method == "LMB-CSEM" else " (blanket handed over)"
        what = f"4BN, {method}: error{end}"
        findings.append(Finding(what, f"{printed:.2f}", plus_minus(ours), verdict, why if verdict == "differs" else ""))
    for name, methods in (("4BN", four), ("7BN", seven)):
        errors = ", ".join(f"{method} {plus_minus(methods[method].distance)}" for method in (*HANDED, ALONE))
        best = _ordered(methods) if name == "4BN" else _best(methods)
        said = "LMB-CSEM below SCSEM below SEM" if name == "4BN" else "LMB-CSEM below SEM and SCSEM (no row printed)"
        reason = "" if best else "see the shares below: weak effects of C leave no method anything to find"
        findings.append(Finding(f"{name}: error, blanket handed over", said, errors, _verdict(best), reason))
    return [*findings, *_shares(four, found), _false_discoveries(rows)]


def _ordered(methods: dict[str, pd.DataFrame]) -> bool:
    return _best(methods) and methods["SCSEM"].distance.mean() < methods["SEM"].distance.mean()


def _best(methods: dict[str, pd.DataFrame]) -> bool:
    return methods["LMB-CSEM"].distance.mean() < min(methods[name].distance.mean() for name in ("SEM", "SCSEM"))


def _verdict(holds: bool) -> Verdict:
    return "agrees" if holds else "differs"


def _shares(four: dict[str, pd.DataFrame], found: dict[str, pd.DataFrame]) -> list[Finding]:
    """Compare how often H is found, and found alone, on 4BN."""
    start = (
        "T, B and F are the only semi-clique of 4BN, so SCSEM starts from the DAG that generated the data: with one "
        f"start instead of 80 it finds H alone in {four['SCSEM, 1 start'].exact.mean():.0%}; with another start, "
        f"at random, SEM does in {four['SEM'].exact.mean():.0%} (one start) and "
        f"{four['SEM, 80 starts'].exact.mean():.0%} (the best of 80 by BIC)"
    )
    statements = [
        ("SEM: H not in the blanket", 0.6, ~found["SEM"].latent),
        ("SCSEM: H not in the blanket", 0.5, ~found["SCSEM"].latent),
        ("SEM: H alone", 0.0, found["SEM"].exact),
        ("SCSEM: H alone", 0.0, found["SCSEM"].exact),
        ("LMB-CSEM, end to end: H alone", 0.8, found["LMB-CSEM"].exact),
    ]
    findings = []
    for what, printed, ours in statements:
        # Printed as tenths: half a tenth of rounding.
        same = near(printed, ours.astype(float), digits=1)
        said = f"{ours.mean():.0%}" + (_missed(found["LMB-CSEM"]) if "end to end" in what else "")
        findings.append(Finding(f"4BN, {what}", f"{printed:.0%}", said, _verdict(same), "" if same else start))
    return findings


def _missed(alone: pd.DataFrame) -> str:
    """Say what the networks have in common in which H was not found."""
    missed = alone[~alone.exact]
    empty = missed[missed.observed == 0]
    if empty.empty:
        return ""
    return (
        f"; of the {len(missed)} others {len(empty)} have no observed member: the best test of T there has power "
        f"{empty.power.median():.2f} (median, level 0.05, exact), above 0.8 in {int((empty.power > 0.8).sum())}"
    )


def _false_discoveries(rows: pd.DataFrame) -> Finding:
    """Say how often a latent is reported although there is none."""
    alone = rows[(rows.method == ALONE) & ~rows.network.isin(WITH_LATENT)]
    shares = alone.groupby("network", sort=False).latent.mean()
    strong = (alone.support >= 3).groupby(alone.network, sort=False).mean()
    large = [name for name in shares.index if "shown" in name]
    handed = rows[(rows.method == "LMB-CSEM") & ~rows.network.isin([*WITH_LATENT, *large, "T alone"])].latent.mean()
    return Finding(
        "networks with nothing hidden: a latent is reported, end to end",
        "“if MB has a better score, then there exists one latent variable”",
        ", ".join(f"{name} {share:.0%}" for name, share in shares.items()),
        _verdict(bool(shares.max() == 0.0)),
        ""
        if shares.max() == 0.0
        else "a latent behind three coins has as many parameters as their table, so it is "
        "accepted unless the Bayes factor is against it by more than a bare mention; weak effects leave that open. "
        f"With support of 3 nats or more: at most {strong.max():.0%}; with four columns or more ({', '.join(large)}), "
        f"where BIC can tell: {shares[large].max():.0%}; three coins with the true blanket handed over: {handed:.0%}",
    )


EXPERIMENTS = (
    Experiment(
        name="latent-table1",
        title="SEM, SCSEM and LMB-CSEM, a hidden child",
        source="Gao & Ji 2016 Table 1",
        minutes=(6, 1.2),
        cells=cells,
        run=run,
        compare=compare_with_print,
        protocol=lambda quick: (
            f"{'10 to 20 networks of each kind' if quick else '100 networks 4BN, 100 7BN, 50 of each other kind'}, "
            f"conditional probabilities uniform, {ROWS:,} rows, one latent, {RESTARTS} restarts (SEM: one)"
        ),
        remark=(
            "Errata H10 and H2 are confirmed: with {B, F} handed over the ordering is LMB-CSEM, SCSEM, SEM; the "
            "printed SCSEM does not come out, and is not consistent with its own text. Errata's guess that the "
            "printed 0.26 of LMB-CSEM comes from empty observed blankets fits our end-to-end runs. On three coins "
            "no rule can find nearly all latents and report none where there is none: at the sensitivity that the "
            "paper claims, even the Bayes factor with the very prior that generated the networks does not separate "
            "them, because a column with a weak effect looks alike in all models. The rules were developed on other "
            "seeds (7502: 820 networks 4BN, 150 to 400 of the others): there a more liberal screen alone found more "
            "latents, and reported more where T is alone. So the Bayes factor now counts the models in which "
            "it is, and the screen is at 0.2 where the level 0.05 finds no member. Number of networks and seed were "
            "written down before this run. The version before gave, on other seeds, 0.34 with H alone in 76% of 100 "
            "networks, and 0.28 and 80% when the run had been extended to 200."
        ),
    ),
)
