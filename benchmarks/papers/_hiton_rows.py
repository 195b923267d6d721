"""What slides-hiton-rows makes of its rows: curves drawn out, verdicts, the figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.papers._experiment import Finding, Verdict, mean_and_error, near, ordered, plus_minus
from benchmarks.papers._hiton import METHODS, PRINTED
from matplotlib.figure import Figure

OURS, THEIRS = 34, 154
LENGTHS = {"UAF": 34837, "RFE": 8709}
SEEN, CUT, SETS_OF_ONE, SETS_OF_TWO = "test rows seen", "printed length", "HITON, sets of one", "HITON, sets of two"
SETS = {SETS_OF_ONE: 1, SETS_OF_TWO: 2}
OTHERS = (*(f"{name}, {SEEN}" for name in METHODS[:3]), *(f"{name}, {CUT}" for name in LENGTHS), *SETS)
LIKENESS = "by likeness"
BY_LIKENESS = tuple(f"{name}, {LIKENESS}" for name in METHODS)
HALVES = ("near half", "far half")
COSINE = "ALL, cosine"
CHOSEN = "knn, k chosen"
LINES = {"log₂ n": np.log2, "1/√n": lambda n: n**-0.5, "1/n": lambda n: 1 / n}
SCORE = {name: np.mean([PRINTED["thrombin"][one][k] for one in ("svm", "knn")]) for k, name in enumerate(METHODS)}
MISSING = 13.0  # points between print and slides-hiton-why


def curves(rows: pd.DataFrame, data: str, method: str, *classifiers: str, measure: str = "score") -> pd.DataFrame:
    """Return means over draws and classifiers: a row for each number of active rows, a column for a split or target."""
    here = rows[rows.data_set.str.startswith(data) & (rows.method == method)]
    here = here[here.classifier.isin(classifiers or ("svm", "knn"))]
    return here.groupby(["active", "fold" if data == "thrombin" else "data_set"])[measure].mean().unstack()


def predicted(curve: pd.DataFrame, line: str) -> pd.Series:
    """Draw a line through the scores with few active rows out to what Verma 2005 had."""
    few = curve.loc[:OURS]
    form = LINES[line]
    fits = np.polyfit(form(few.index.to_numpy(float)), few.to_numpy(), 1)
    return pd.Series(fits[0] * form(float(THEIRS)) + fits[1], index=curve.columns)


def best_line(rows: pd.DataFrame, method: str) -> str:
    """Return the line that comes nearest to what is seen on Ohsumed."""
    curve = curves(rows, "ohsumed", method)
    return min(LINES, key=lambda line: (predicted(curve, line) - curve.loc[THEIRS]).abs().mean())


def compare(rows: pd.DataFrame) -> list[Finding]:
    """Judge the hypothesis on Ohsumed, draw the curves of Thrombin out, and look at other candidates."""
    findings = on_ohsumed(rows)
    if (rows.data_set == "thrombin").any():
        findings += [on_thrombin(rows, method) for method in METHODS]
        findings += [
            growth(rows),
            *(variables(rows, method) for method in ("HITON", SETS_OF_TWO)),
            *candidates(rows),
            *(likeness(rows, method) for method in METHODS),
        ]
    return findings


def signed(values: Any) -> str:
    """Write a mean with its sign, and its standard error."""
    mean, error = mean_and_error(values)
    return f"{mean:+.1f} ± {error:.1f}"


def on_ohsumed(rows: pd.DataFrame) -> list[Finding]:
    """Say what becomes of each method, of HITON's place and of its variables, and which line tells it beforehand."""
    known = {method: curves(rows, "ohsumed", method) for method in METHODS if (rows.method == method).any()}
    gains = {method: curve.loc[THEIRS] - curve.loc[OURS] for method, curve in known.items()}
    mean, error = mean_and_error(gains["HITON"])
    supported = mean >= MISSING / 2 and mean > 2 * error
    verdict: Verdict = "agrees" if supported else "differs" if mean + 2 * error < MISSING / 2 else "undecided"
    behind = {n: known["HITON"].loc[n] - rivals(known, n) for n in (OURS, THEIRS)}
    sizes = curves(rows, "ohsumed", "HITON", measure="n_features")
    doubled = np.log2(sizes.loc[THEIRS] / sizes.loc[OURS])
    found = [
        Finding(
            f"ohsumed, {THEIRS} active training rows against {OURS}: HITON gains",
            f"at least {MISSING / 2}, if rows explain Thrombin",
            ", ".join(f"{method} {signed(gain)}" for method, gain in gains.items())
            + f" (HITON from {plus_minus(known['HITON'].loc[OURS], 1)} to {plus_minus(known['HITON'].loc[THEIRS], 1)})",
            verdict,
            "" if supported else f"rows alone are worth {signed(gains['HITON'])} points there, not {MISSING / 2}",
        ),
        placed("ohsumed: HITON rises against the best rival", "expected: up", behind[THEIRS] - behind[OURS], behind),
        Finding(
            "ohsumed: HITON keeps more variables",
            "Thrombin: 32 printed, 4 ours",
            f"{plus_minus(sizes.loc[OURS], 1)}, then {plus_minus(sizes.loc[THEIRS], 1)}",
            ordered(mean_and_error(doubled)[0], 2 * mean_and_error(doubled)[1]),
            "" if doubled.mean() > 0 else "more rows do not bring more variables there",
        ),
    ]
    return found + [foretold(rows, method) for method in known]


def rivals(known: Mapping[str, pd.DataFrame], n: int) -> pd.Series:
    """Return the scores of the best rival of HITON."""
    return max((curve.loc[n] for method, curve in known.items() if method != "HITON"), key=lambda scores: scores.mean())


def placed(what: str, claimed: str, change: pd.Series, behind: Mapping[int, pd.Series]) -> Finding:
    """Judge whether HITON rises against its best rival."""
    mean, error = mean_and_error(change)
    return Finding(
        what,
        claimed,
        f"{signed(change)}: {signed(behind[OURS])} with {OURS} active rows, {signed(behind[THEIRS])} with {THEIRS}",
        ordered(mean, 2 * error),
        "rivals gain more than HITON from more rows there" if mean < -2 * error else "",
    )


def foretold(rows: pd.DataFrame, method: str) -> Finding:
    """Say how far each line misses what is seen on Ohsumed."""
    curve, best = curves(rows, "ohsumed", method), best_line(rows, method)
    misses = {line: predicted(curve, line) - curve.loc[THEIRS] for line in LINES}
    same = near(0.0, misses[best], digits=1)
    return Finding(
        f"ohsumed, {method}: a line through {curve.index[0]} to {OURS} active rows tells the score with {THEIRS}",
        f"{plus_minus(curve.loc[THEIRS], 1)}, seen",
        "; ".join(f"{line}: {signed(miss)} off" for line, miss in misses.items()) + f"; nearest: {best}",
        "agrees" if same else "differs",
        "" if same else "no line has this shape; the nearest one is used on Thrombin and its error to be kept in mind",
    )


def on_thrombin(rows: pd.DataFrame, method: str) -> Finding:
    """Compare a printed score with where our curve leads."""
    curve, best = curves(rows, "thrombin", method), best_line(rows, method)
    same = near(SCORE[method], predicted(curve, best), digits=1)
    return Finding(
        f"thrombin, {method}: score with {THEIRS} active training compounds",
        f"{SCORE[method]:.1f}",
        f"{plus_minus(predicted(curve, best), 1)} by {best}, which is nearest on Ohsumed ("
        + ", ".join(f"{line} {plus_minus(predicted(curve, line), 1)}" for line in LINES if line != best)
        + f"); seen: {', '.join(f'{plus_minus(curve.loc[n], 1)} with {n}' for n in curve.index)}",
        "agrees" if same else "differs",
        "" if same else by_classifier(rows, method) + (f". {account(rows)}" if method == "HITON" else ""),
    )


def by_classifier(rows: pd.DataFrame, method: str) -> str:
    """Say which of the classifiers is off, and what a choice of neighbors does to it."""
    told = []
    for classifier in ("svm", "knn", CHOSEN):
        curve = curves(rows, "thrombin", method, classifier)
        printed = PRINTED["thrombin"][classifier[:3]][METHODS.index(method)]
        told.append(
            f"{classifier} {plus_minus(curve.loc[OURS], 1)} with {OURS}, "
            f"{plus_minus(predicted(curve, best_line(rows, method)), 1)} drawn out, printed {printed:.1f}"
        )
    return f"by classifier: {'; '.join(told)}{by_cosine(rows, method)}"


def by_cosine(rows: pd.DataFrame, method: str) -> str:
    """Say what another distance does to nearest neighbors on all features."""
    if method != "ALL":
        return ""
    return f"; 5 neighbors by cosine have {plus_minus(curves(rows, 'thrombin', COSINE, COSINE).loc[OURS], 1)}"


def growth(rows: pd.DataFrame) -> Finding:
    """Say what a doubling of the rows is worth to HITON on Thrombin."""
    few = curves(rows, "thrombin", "HITON")
    slope = np.polyfit(np.log2(few.index.to_numpy(float)), few.to_numpy(), 1)[0]
    left = {line: _spread(few, line) for line in LINES}
    return Finding(
        "thrombin: HITON's score rises with rows",
        "expected: up",
        f"{signed(slope)} points a doubling; lines leave {', '.join(f'{v:.2f} ({k})' for k, v in left.items())} points "
        "of the mean curve, root mean square",
        ordered(mean_and_error(slope)[0], 2 * mean_and_error(slope)[1]),
        "" if slope.mean() > 0 else "more rows do not help it here",
    )


def _spread(curve: pd.DataFrame, line: str) -> float:
    place, mean = LINES[line](curve.index.to_numpy(float)), curve.mean(axis=1).to_numpy()
    return float(np.sqrt(np.mean((np.polyval(np.polyfit(place, mean, 1), place) - mean) ** 2)))


def variables(rows: pd.DataFrame, method: str) -> Finding:
    """Draw the number of variables that a HITON keeps out to what Verma 2005 had, as a power of the active rows."""
    sizes = curves(rows, "thrombin", method, measure="n_features")
    power = predicted(np.log2(sizes.clip(lower=0.5)), "log₂ n")
    same = near(np.log2(32), power, digits=1)
    return Finding(
        f"thrombin: variables that {method} keeps with {THEIRS} active training compounds",
        "32",
        f"{2 ** power.mean():.0f} (from {2 ** (power.mean() - 2 * power.sem()):.0f} to "
        f"{2 ** (power.mean() + 2 * power.sem()):.0f}), as a power of the active rows; seen: "
        + ", ".join(f"{plus_minus(sizes.loc[n], 1)} with {n}" for n in sizes.index),
        "agrees" if same else "differs",
        "" if same else f"it depends on the sets: with {OURS}, sets of one keep {kept(rows, SETS_OF_ONE)} (below)",
    )


def kept(rows: pd.DataFrame, method: str) -> str:
    """Write the mean number of variables on all training rows of Thrombin."""
    return f"{curves(rows, 'thrombin', method, measure='n_features').loc[OURS].mean():,.0f}"


def candidates(rows: pd.DataFrame) -> list[Finding]:
    """Say whether anything else brings the printed score, on the rows that we have."""
    found = []
    plain = {method: curves(rows, "thrombin", method).loc[OURS] for method in METHODS}
    for method in OTHERS:
        name = method.split(",")[0]
        ours = curves(rows, "thrombin", method).loc[OURS]
        gain = (ours - plain[name]).dropna()
        same = near(SCORE[name], ours, digits=1)
        found.append(
            Finding(
                f"thrombin, another candidate: {method}",
                f"{SCORE[name]:.1f} with {PRINTED['thrombin']['variables'][METHODS.index(name)]:,}, if that is why",
                f"{plus_minus(ours, 1)} with {kept(rows, method)}, {signed(gain)} against ours as it is",
                "agrees" if same else "differs",
                ""
                if same
                else f"this alone does not bring the printed score; {name} as it is has "
                f"{plus_minus(plain[name], 1)} with {kept(rows, name)}",
            )
        )
    for method in (*METHODS, COSINE):
        name, way = method.split(",")[0], COSINE if method == COSINE else CHOSEN
        ours, five = curves(rows, "thrombin", method, way).loc[OURS], curves(rows, "thrombin", name, "knn").loc[OURS]
        printed = PRINTED["thrombin"]["knn"][METHODS.index(name)]
        same = near(printed, ours, digits=1)
        found.append(
            Finding(
                f"thrombin, another candidate: {name}, "
                + ("5 neighbors by cosine" if way == COSINE else "knn with a chosen number of neighbors"),
                f"{printed:.1f}, if that is why",
                f"{plus_minus(ours, 1)}, {signed(ours - five)} against 5 neighbors by Euclid's distance",
                "agrees" if same else "differs",
                "" if same else "this alone does not bring the printed score of nearest neighbors",
            )
        )
    return found


def likeness(rows: pd.DataFrame, method: str) -> Finding:
    """Compare the halves of the active test compounds with each other, and the near one with print."""
    near_half, far_half = (curves(rows, "thrombin", f"{method}, {half}").loc[OURS] for half in HALVES)
    mean, error = mean_and_error(near_half - far_half)
    supported = near(SCORE[method], near_half, digits=1) and mean > 2 * error
    return Finding(
        f"thrombin, another candidate: {method}, active test compounds that are like an active training compound",
        f"{SCORE[method]:.1f}, if that is why",
        f"near half {plus_minus(near_half, 1)}, far half {plus_minus(far_half, 1)}: {signed(near_half - far_half)}",
        "agrees" if supported else "differs" if not near(SCORE[method], near_half, digits=1) else "undecided",
        ""
        if supported
        else f"likeness does not bring the printed score by itself; {by_half(rows, method)}{by_cosine(rows, method)}",
    )


def by_half(rows: pd.DataFrame, method: str) -> str:
    """Say what each classifier makes of the near half."""
    return ", ".join(
        f"{one} {plus_minus(curves(rows, 'thrombin', f'{method}, {HALVES[0]}', one).loc[OURS], 1)} (printed "
        f"{PRINTED['thrombin'][one][METHODS.index(method)]:.1f})"
        for one in ("svm", "knn")
    )


def account(rows: pd.DataFrame) -> str:
    """Say, for HITON on Thrombin, what rows, seen test rows and likeness are worth."""
    curve, words = curves(rows, "thrombin", "HITON"), curves(rows, "ohsumed", "HITON")
    ends = ", ".join(f"{plus_minus(predicted(curve, line), 1)} ({line})" for line in LINES)
    seen, *halves = (plus_minus(curves(rows, "thrombin", f"HITON, {way}").loc[OURS], 1) for way in (SEEN, *HALVES))
    return (
        f"Verma 2005 had 634 compounds more, and so about {THEIRS} active ones to train on; ours are {OURS}. "
        "From so many "
        f"more HITON gains {signed(words.loc[THEIRS] - words.loc[OURS])} on Ohsumed; Thrombin's own curve ends at "
        f"{ends}. For active test compounds that are like an active training one HITON has {halves[0]}, for the others "
        f"{halves[1]}; and {seen} if the selection sees the test rows"
    )


def draw(rows: pd.DataFrame, figure: Figure) -> None:
    """Draw scores over active training rows, Thrombin's drawn out and with print, and scores by likeness."""
    data = [name for name in ("ohsumed", "thrombin") if rows.data_set.str.startswith(name).any()]
    axes = np.atleast_1d(figure.subplots(1, 3 if "thrombin" in data else 1, sharey=True))
    for ax, name in zip(axes, data, strict=False):
        for k, method in enumerate(METHODS):
            if not (rows.method == method).any():
                continue
            curve = curves(rows, name, method)
            bars = {"color": f"C{k}", "capsize": 2}
            ax.errorbar(curve.index * 1.02**k, curve.mean(axis=1), 2 * curve.sem(axis=1), label=method, **bars)
            if name == "thrombin":
                end, place = predicted(curve, best_line(rows, method)), THEIRS * 0.95**k
                ax.plot([OURS, place], [curve.loc[OURS].mean(), end.mean()], ":", color=f"C{k}")
                ax.errorbar(place, end.mean(), 2 * end.sem(), fmt="o", mfc="w", **bars)
                ax.plot(THEIRS * 1.2, SCORE[method], "x", color=f"C{k}")
        for n in (OURS, THEIRS):
            ax.axvline(n, color="0.85", zorder=0)
        title = "Ohsumed" if name == "ohsumed" else "Thrombin (○: drawn out, ×: printed)"
        ax.set(xscale="log", xlabel="active training rows", xticks=[9, 17, 34, 72, 154, 308], title=title)
        ax.xaxis.set_major_formatter("{x:.0f}")
        ax.minorticks_off()
    axes[0].set_ylabel("score, percent (bars: two standard errors)")
    axes[0].legend(fontsize="small")
    if "thrombin" in data:
        draw_likeness(rows, axes[2])


def draw_likeness(rows: pd.DataFrame, ax: Any) -> None:
    """Draw what each half of the active test compounds of Thrombin has, next to print."""
    for k, method in enumerate(METHODS):
        for half, fill, place in zip(HALVES, (f"C{k}", "w"), (k - 0.1, k + 0.1), strict=True):
            scores = curves(rows, "thrombin", f"{method}, {half}").loc[OURS]
            ax.errorbar(place, scores.mean(), 2 * scores.sem(), fmt="o", color=f"C{k}", mfc=fill, capsize=2)
        ax.plot(k, SCORE[method], "x", color=f"C{k}")
    ax.set(
        title="Thrombin, active test compounds\n● like an active training one, ○ less so", xticks=range(len(METHODS))
    )
    ax.set_xticks(range(len(METHODS)), METHODS)
