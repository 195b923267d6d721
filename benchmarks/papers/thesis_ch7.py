"""Sechidis 2015 Tables 7.1 to 7.4 and Figures 7.1, 7.2, 7.8 and 7.9: numbers of rows and labels, all from `bl.plan`.

Nothing is random here: the printed numbers come out or they do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.papers._harness import Cell, Experiment, Finding

import blankets as bl

POWERS = (0.70, 0.80, 0.90, 0.95, 0.99)
EFFECTS = ("small", "medium", "large")
PU = {"labels": "pu", "prior": 0.2, "shape": "spread"}
FIVE_PER_CENT = {**PU, "labeled": 0.05}

# table: what is asked, then the printed answers, powers down and effects across
TABLES: dict[str, tuple[dict[str, Any], str]] = {
    "7.1a": ({"arity": 2}, "962 107 39  1168 130 47  1488 166 60  1782 198 72  2404 268 97"),
    "7.1b": (
        {"arity": 2, **FIVE_PER_CENT},
        "4566 508 183  5548 617 222  7068 786 283  8462 941 339  11415 1269 457",
    ),
    "7.2": ({"arity": 2, "rows": 3000, **PU}, "223 27 10  267 33 12  331 41 15  388 49 18  501 66 24"),
    "7.3a": ({"arity": 10}, "1830 204 74  2143 239 86  2613 291 105  3031 337 122  3890 433 156"),
    "7.3b": (
        {"arity": 10, **FIVE_PER_CENT},
        "8691 966 348  10179 1131 408  12409 1379 497  14395 1600 576  18474 2053 739",
    ),
    "7.4": ({"arity": 10, "rows": 5000, **PU}, "420 51 19  484 59 22  578 72 26  658 83 31  814 106 39"),
}
# what the text and the captions read off the figures: printed answer, question
WORKED: dict[str, tuple[int, dict[str, Any]]] = {
    "Figure 7.1a, I = 0.053, fully labeled": (227, {"arity": 2, "effect": 0.053, "power": 0.99}),
    "Figure 7.1a, I = 0.053, 5% labeled": (1077, {"arity": 2, "effect": 0.053, "power": 0.99, **FIVE_PER_CENT}),
    "Figure 7.1b, I = 0.04, 5% labeled": (1430, {"arity": 2, "effect": 0.04, "power": 0.99, **FIVE_PER_CENT}),
    "Figure 7.2, I = 0.053, labels of 1000": (54, {"arity": 2, "effect": 0.053, "power": 0.99, "rows": 1000, **PU}),
    "Figure 7.2, I = 0.02, labels of 1000": (101, {"arity": 2, "effect": 0.02, "power": 0.95, "rows": 1000, **PU}),
    "Figure 7.8a, I = 0.053, fully labeled": (367, {"arity": 10, "effect": 0.053, "power": 0.99}),
    "Figure 7.8a, I = 0.053, 5% labeled": (1743, {"arity": 10, "effect": 0.053, "power": 0.99, **FIVE_PER_CENT}),
    "Figure 7.8b, I = 0.04, 5% labeled": (2310, {"arity": 10, "effect": 0.04, "power": 0.99, **FIVE_PER_CENT}),
    "Figure 7.11, I = 0.053, labels of 1000": (85, {"arity": 10, "effect": 0.053, "power": 0.99, "rows": 1000, **PU}),
    "Figure 7.9, I = 0.02, labels of 1000": (160, {"arity": 10, "effect": 0.02, "power": 0.95, "rows": 1000, **PU}),
}


def cells(quick: bool) -> Sequence[Cell]:
    """List the tables, the numbers in the text, and the curves of the figures; the reduced protocol is the full one."""
    curves = [
        {"what": "curves", "arity": arity, "effects": [round(0.01 * k, 2) for k in range(1, 11)]} for arity in (2, 10)
    ]
    return [*({"what": table} for table in TABLES), {"what": "text"}, *curves]


def run(data: Path | None, what: str, arity: int = 2, effects: Sequence[float] = ()) -> list[dict[str, Any]]:
    """Ask for all answers of a table, of the text, or of the curves."""
    if what in TABLES:
        question, _ = TABLES[what]
        return bl.planning_table(power=POWERS, effect=EFFECTS, alpha=0.01, **question).to_records()
    if what == "text":
        return [
            {"case": case, "answer": bl.plan(alpha=0.01, **question).answer} for case, (_, question) in WORKED.items()
        ]
    rows: list[dict[str, Any]] = []
    for curve, question in (("full", {}), ("5%", FIVE_PER_CENT), ("labels of 1000", {**PU, "rows": 1000})):
        table = bl.planning_table(power=[0.8, 0.95, 0.99], effect=effects, arity=arity, alpha=0.01, **question)
        rows += [{"case": curve, **record} for record in table.to_records()]
    return [{**row, "effects": None} for row in rows]


def compare(rows: pd.DataFrame) -> list[Finding]:
    """Compare every number."""
    findings = []
    for table, (question, numbers) in TABLES.items():
        ours = rows[rows.what == table].answer.to_numpy().reshape(-1, 3)
        for power, printed, found in zip(POWERS, np.array(numbers.split(), int).reshape(-1, 3), ours, strict=True):
            unit = "labels of 3000" if table == "7.2" else "labels of 5000" if table == "7.4" else "rows"
            findings.append(
                Finding(
                    f"Table {table} ({unit}, |X| = {question['arity']}), power {power:.2f}, small / medium / large",
                    " / ".join(str(value) for value in printed),
                    " / ".join(f"{value:.0f}" for value in found),
                    "agrees" if (printed == found).all() else "differs",
                )
            )
    answers = rows[rows.what == "text"].set_index("case").answer
    findings += [_worked(case, printed, question, answers) for case, (printed, question) in WORKED.items()]
    return [*findings, *_sentences()]


def _worked(case: str, printed: int, question: dict[str, Any], answers: pd.Series) -> Finding:
    """Compare one number; one that is not the smallest is looked for on a grid of tens."""
    ours = round(answers[case])
    if ours == printed:
        return Finding(case, str(printed), str(ours), "agrees")
    given = {name: value for name, value in question.items() if name != "power"}
    powers = {n: bl.plan(alpha=0.01, rows=n, **given).power for n in (ours - 1, ours, printed - 10, printed)}
    on_tens = powers[printed - 10] < question["power"] <= powers[printed]
    why = (
        f"{ours} is the smallest (power {powers[ours - 1]:.5f} at {ours - 1}, {powers[ours]:.5f} at {ours}), and all "
        f"90 numbers of the tables are smallest ones; {printed} is the smallest multiple of ten that does, "
        f"as a figure computed on tens would give it; the other number read from such a figure, 2310, fits that too"
        if on_tens
        else ""
    )
    return Finding(case, str(printed), str(ours), "differs", why)


def _sentences() -> list[Finding]:
    """Check what the text says besides numbers of rows and labels."""
    question = {"arity": 2, "effect": 0.053, "alpha": 0.01, **FIVE_PER_CENT}
    pu, four_times = bl.plan(power=0.99, **question), bl.plan(rows=908, **question)
    medium = {"arity": 2, "effect": "medium", "alpha": 0.01, "power": 0.80}
    few, full = bl.plan(**medium, **FIVE_PER_CENT), bl.plan(**medium)
    labels = {"positives": 0.05, "negatives": 0.15}
    both = bl.plan(**medium, labels="mar-c", prior=0.2, labeled=labels, surrogate="y0")
    other = bl.plan(**medium, labels="mar-c", prior=0.2, labeled=labels, surrogate="y1")
    mcar = bl.plan(**medium, labels="mcar", labeled=0.25)
    positives = round(0.2 * full.answer)
    mix = f"{few.n_labeled} positives, {few.rows - few.n_labeled} unlabeled"
    return [
        _said("7.1.1, κ", "0.2105", f"{pu.kappa:.4f}", f"{pu.kappa:.4f}" == "0.2105"),
        _said(
            "7.1.1, power with four times the rows, 908",
            "insufficient (below 0.99)",
            f"{four_times.power:.4f}",
            four_times.power < 0.99,
        ),
        Finding(
            "7.1.1, 227 / κ",
            "≈ 1078",
            f"{227 / pu.kappa:.2f}; rounded once, at the end, {pu.answer}",
            "agrees" if abs(227 / pu.kappa - 1078) <= 0.5 else "differs",
        ),
        _said(
            "7.1.3, full labels",
            "26 + 104",
            f"{positives} + {full.rows - positives}",
            (positives, full.rows) == (26, 130),
        ),
        _said("7.1.3, 5% labeled instead", "31 positives, 586 unlabeled", mix, mix == "31 positives, 586 unlabeled"),
        Finding(
            "7.2, MCAR: best is to ignore unlabeled rows, as many labels as with full labels",
            str(full.answer),
            f"{mcar.n_labeled} by {mcar.surrogate}",
            "agrees" if mcar.surrogate == "listwise" and mcar.n_labeled == full.answer else "differs",
        ),
        Finding(
            "7.2, MAR-C (5% positive and 15% negative labels): the option that (4.1) names needs fewer rows",
            "Ỹ0 < Ỹ1",
            f"{both.answer} < {other.answer}" if both.answer < other.answer else f"{both.answer} ≥ {other.answer}",
            "same ordering" if both.answer < other.answer else "differs",
        ),
    ]


def _said(what: str, printed: str, ours: str, same: bool) -> Finding:
    return Finding(what, printed, ours, "agrees" if same else "differs")


EXPERIMENTS = (
    Experiment(
        name="thesis-ch7",
        title="Sample sizes and numbers of labels",
        source="Sechidis 2015 Tables 7.1 to 7.4, Figures 7.1, 7.2, 7.8, 7.9",
        minutes=(0.2, 0.2),
        cells=cells,
        run=run,
        compare=compare,
        protocol=lambda quick: "Answers of `bl.plan` and `bl.planning_table`, α = 0.01, p(y=1) = 0.2",
        remark=(
            "All 90 numbers of the tables are the smallest ones that reach the wanted power, rounded once (errata C1"
            " to C4 are confirmed). Red crosses: the printed examples."
        ),
    ),
)
