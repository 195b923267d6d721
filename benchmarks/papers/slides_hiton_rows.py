"""Ours, for the slides on HITON: do the compounds that we do not have explain its score on Thrombin?

Verma 2005 prints 92.7 for HITON (mean of svm and knn; area under the ROC curve) with 32 variables; slides-hiton-why has
79.7 ± 1.7 with 4. Verma 2005 had 2,543 compounds, we have the 1,909 training compounds of the KDD Cup 2001, 42 of them
active. The other 634 cannot be had. About 150 of them are active: Dorothea (NIPS 2003), made of all compounds with at
least one bit, has 1,950 of which 190 are active; ours with a bit are 1,316, 40 active, and 1,316 + 634 = 1,950. So
Verma 2005 trained on about 154 active and 1,881 other compounds, if on four fifths, and we train on 34 and 1,494.

Hypothesis: that is why. Written down before the run, after half of the rows had cost HITON 5.5 ± 2.9 points
(slides-hiton-why), and after one split by classifier (slides-hiton), where the linear machine is above print with all
features and with RFE, and nearest neighbors are far below; the draws of the reduced protocol were seen next:

1. Thrombin, five splits: training rows drawn by lot, class by class, down to a quarter. Three lines in the number of
   active rows n (in log₂ n; saturating in 1/√n and 1/n) are fitted split by split and drawn out to n = 154; errors are
   over splits. A printed score agrees if it lies within two standard errors of the prediction by the line that does
   best, for the same method, where the answer can be seen:
2. Ohsumed, sparse binary words, the six targets with at least 385 abstracts: the same numbers of training rows, and 72,
   154 and 308 active ones (with 1,676 and 1,881 others). Errors are over targets. Support: from 34 to 154 active rows
   HITON gains at least 6.5 points (half of the 13.0 that are missing), and more than two standard errors. Refutation:
   6.5 lies two standard errors above the gain. Moreover HITON should rise against the best rival, and keep more
   variables.
3. Other candidates, measured whatever comes out of these: (a) the selection saw the test rows; (b) the number of
   neighbors, 5 with us, chosen among 5, 15, 45, 135 by inner cross-validation; (c) UAF and RFE at their printed
   lengths; (d) HITON with conditioning sets of one, which keeps more (three splits).

Cut for want of time while running, before anything was looked at: (d) to three splits, most of Ohsumed to one split.

What no thinning can show: the 634 compounds were made after the first were tested (Peña et al. 2005), so they are of
another kind. Hence, written down after Thrombin and two targets of Ohsumed had been seen: (e) likeness. Compounds made
after others are like them, so most active compounds of Verma 2005 had near relatives to learn from. With our rows the
active test compounds are halved, split by split, by the Jaccard likeness of their bits to the nearest active training
compound; the area is taken for each half against all inactive ones. Support: the near half is above the far one by two
standard errors, and printed scores lie within two standard errors of the near half.

Nothing of this brings nearest neighbors on all features near print. Hence, after all of it had been seen: (f) the
distance. Many compounds have few bits or none, and are near to all others by Euclid's distance; angles do not depend
on that.

Nor does it bring the 32 variables that HITON keeps. Verma 2005 does not say how large its conditioning sets may be;
sets of one keep 107 with our rows, of three 4. Hence, last: (g) sets of two, with all numbers of rows. Support: 32 lies
within two standard errors of their number drawn out to 154 active compounds, as a power.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.papers import _page
from benchmarks.papers._experiment import Cell, Experiment
from benchmarks.papers._hiton import (
    CLASSIFIERS,
    HITON,
    METHODS,
    SELECT,
    data_of,
    drawn,
    eliminated,
    reached,
    search,
    split,
    strongest,
    wrapped,
)
from benchmarks.papers._hiton_rows import (
    BY_LIKENESS,
    CHOSEN,
    COSINE,
    CUT,
    HALVES,
    LENGTHS,
    LIKENESS,
    OTHERS,
    OURS,
    SEEN,
    SETS,
    SETS_OF_ONE,
    SETS_OF_TWO,
    THEIRS,
    account,
    compare,
    draw,
)
from numpy.typing import NDArray
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

NAME = "slides-hiton-rows"
THINNED = {9: 373, 17: 747, 26: 1120, 34: 1494}  # active training rows, and others: Thrombin has no more
MORE = {72: 1676, 154: 1881, 308: 1881}  # Ohsumed; Verma 2005 had about 154 and 1,881
DRAWS = {9: 3, 17: 3, 26: 2, 34: 1}  # of Thrombin
SPLITS = {9: 2, 17: 2}  # of Ohsumed, with one draw each; one where nothing is said
TARGETS = ("C04", "C10", "C14", "C20", "C21", "C23")
SETTINGS = {**HITON, "algorithm": "hiton-pc"}


def cells(quick: bool) -> Sequence[Cell]:
    """List draws of training rows, and methods."""
    ohsumed = [
        {"data_set": f"ohsumed {target}", "fold": draw, "draw": draw, "active": n, "others": others, "method": method}
        for target in (TARGETS[2::2][:2] if quick else TARGETS)
        for n, others in (THINNED | MORE).items()
        if not quick or n in (9, OURS, THEIRS)
        for draw in range(1 if quick else SPLITS.get(n, 1))
        for method in (("HITON", "ALL") if quick else METHODS)
    ]
    thrombin = [
        {"data_set": "thrombin", "fold": fold, "draw": draw, "active": n, "others": others, "method": method}
        for fold in range(5)
        for n, others in THINNED.items()
        for draw in range(DRAWS[n])
        for method in (METHODS if n < OURS else (*METHODS, *OTHERS, *BY_LIKENESS, COSINE))
        if method != SETS_OF_TWO and (method != SETS_OF_ONE or fold < 3)  # takes longest
    ]
    fewer = [{**cell, "method": SETS_OF_TWO} for cell in thrombin if cell["method"] == "HITON" and cell["draw"] == 0]
    return ohsumed if quick else thrombin + fewer + ohsumed


def run(
    folder: Path, data_set: str, fold: int, draw: int, active: int, others: int, method: str
) -> list[dict[str, Any]]:
    """Select on training rows drawn by lot, and score on the test rows of the fold."""
    x, y, measure = data_of(folder, data_set)
    train, test = split(folder, data_set, fold)
    train = drawn(y, train, active, others, np.random.default_rng([2003, fold, draw, active]))
    rows = slice(None) if method.endswith(SEEN) else train
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constant columns, convergence on separable data
        for classifier, chosen in selected(x[rows], y[rows], method, measure):
            said = {"classifier": classifier, "n_features": len(chosen)}
            if method.endswith(LIKENESS):
                scores = by_likeness(model(classifier), x, y, chosen, train, test)
                name = method.split(",")[0]
                found += [{**said, "method": f"{name}, {half}", "score": score} for half, score in scores.items()]
                continue
            score = reached(model(classifier), x[:, chosen], y, measure, train, test) if len(chosen) else 50.0
            found.append({**said, "score": score})
    return found


def by_likeness(
    classifier: Any,
    x: Any,
    y: NDArray[np.int64],
    chosen: NDArray[np.int64],
    train: NDArray[np.int64],
    test: NDArray[np.int64],
) -> dict[str, float]:
    """Return the area for active test rows that are like an active training row, and for those that are less so."""
    known, new, others = train[y[train] == 1], test[y[test] == 1], test[y[test] == 0]
    both = (x[new] @ x[known].T).toarray()
    either = np.add.outer(x[new].sum(axis=1).A1, x[known].sum(axis=1).A1) - both
    order = np.argsort(-(both / np.maximum(either, 1)).max(axis=1), kind="stable")
    classifier.fit(x[train][:, chosen], y[train])
    scorer = get_scorer("roc_auc")
    halves = zip(HALVES, np.array_split(new[order], 2), strict=True)
    rows = {half: np.concatenate([part, others]) for half, part in halves}
    return {half: 100 * float(scorer(classifier, x[part][:, chosen], y[part])) for half, part in rows.items()}


def selected(x: Any, y: NDArray[np.int64], method: str, measure: str) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Yield each classifier with the features selected for it; those for nearest neighbors serve twice."""
    name = method.split(",")[0]
    if method == COSINE:
        yield COSINE, np.arange(x.shape[1])
        return
    if name == "HITON":
        blanket = search(x, y, {**SETTINGS, "max_given": SETS.get(method, SETTINGS["max_given"])})
    elif method.endswith(CUT):
        order = {"UAF": strongest, "RFE": eliminated}[name](x, y)[: LENGTHS[name]]
    for classifier in ("svm", "knn"):
        if name == "HITON":
            chosen = np.flatnonzero(blanket.get_support())
            if len(chosen):
                chosen = wrapped(blanket, x, y, model(classifier), measure, SETTINGS["order"])
        else:
            chosen = order if method.endswith(CUT) else SELECT[name](x, y, model(classifier), measure)
        yield classifier, chosen
    yield CHOSEN, chosen


def model(classifier: str) -> Any:
    """Return a classifier."""
    if classifier == COSINE:
        return KNeighborsClassifier(5, metric="cosine")
    if classifier != CHOSEN:
        return CLASSIFIERS[classifier]()
    sizes = {"kneighborsclassifier__n_neighbors": [5, 15, 45, 135]}
    return GridSearchCV(CLASSIFIERS["knn"](), sizes, scoring="roc_auc", cv=3)


@cache
def reasons() -> Mapping[str, str]:
    """Return what the kept run says of Thrombin."""
    if not (_page.KEPT / f"{NAME}.csv").exists():
        return {}
    rows = _page.rows_of(EXPERIMENTS[0])
    if not (rows.data_set == "thrombin").any():
        return {}
    return {"thrombin": f"{account(rows)} ({NAME})"}


EXPERIMENTS = (
    Experiment(
        name=NAME,
        title="do the compounds that we do not have explain HITON on Thrombin",
        source="ours, for Verma 2005 HITON",
        minutes=(20, 0.3),
        cells=cells,
        run=run,
        compare=compare,
        draw=draw,
        needs=("highdim/thrombin_train_X.npz", "highdim/ohsumed_single23_X.npz"),
        protocol=lambda quick: (
            "Ohsumed, two targets, HITON and all features"
            if quick
            else "Means over a linear machine and nearest neighbors. Thrombin, five splits, HITON-PC, training rows "
            "thinned by lot to a quarter, a half (three draws), three quarters (two draws); sets of one on three "
            "splits; Ohsumed, six targets, one or two splits each, 9 to 308 active training rows. What would support "
            "the hypothesis, and what would refute it, was written down before the run, in the head of the script"
        ),
        size=(12.0, 4.0),
        remark=(
            "More rows help HITON where that can be seen (Ohsumed), but drawn out, Thrombin's own curve gives only a"
            " part of the missing points, with errors of 4 to 6: the number of compounds alone does not explain the "
            "print. Their kind does better: for active test compounds that are like an active training compound, "
            "UAF, RFE and HITON have the printed scores within errors of 3 to 4 points, with our rows; for the "
            "others they have about 20 points less. Peña et al. 2005 say that the compounds which we lack were made "
            "after those "
            "which we have had been tested; how like they are cannot be seen here. Nearest neighbors on all "
            "features, which neither explains, have the printed score by cosine; Verma 2005 does not say "
            "which distance it "
            "took. With sets of three HITON would keep about 9 variables, drawn out, with sets of two, "
            "which Verma 2005 "
            "leaves open, 15 to 34: printed are 32. A selection that saw the test rows would explain HITON's score "
            "as well, but RFE's would then be higher than printed. Likeness was thought of, and its test written "
            "down, after Thrombin and two targets of Ohsumed had been seen, cosine and sets of two after everything;"
            " the measurements (a) to (d) and the bounds for Ohsumed before. Where the same compounds are "
            "classified, scores are those of slides-hiton-why but for one variable in one split, which the wrapper "
            "removes in one order of the rows and not in the other. Cells were run at five commits; those by "
            "likeness contain the scores with all rows once more, to the same digits."
        ),
    ),
)
