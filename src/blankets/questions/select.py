"""`select`: features in order of an information criterion, under any label regime."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike

from blankets.arguments import names_in, whole_number
from blankets.data import ReadingOptions
from blankets.errors import (
    BlanketsWarning,
    NotAnswerableError,
    ParameterError,
    RegimeWarning,
    TooFewRowsWarning,
    listed,
    warn,
)
from blankets.filters import (
    CRITERIA,
    TIE,
    Criterion,
    ExplainedInformation,
    InformationSource,
    PartialLabels,
    Picks,
    PlugIn,
    RowScored,
    Weights,
    find_criterion,
    greedy,
    weights_for,
)
from blankets.independence import SeenQuick
from blankets.questions._question import question
from blankets.regimes import Question, Regime, Supervised, Surrogate
from blankets.results import Selection
from blankets.study import (
    ABOUT_EXPLAINED,
    Engine,
    Explained,
    Progress,
    Study,
    information_notes,
    keeps_numbers,
    open_study,
)


@question
def select(
    data: Any,
    target: str | int | None = None,
    *,
    y: ArrayLike | None = None,
    criterion: str = "jmi",
    k: int = 10,
    start: Sequence[str] = (),
    beta: float | None = None,
    gamma: float | None = None,
    labels: Regime | str = "auto",
    prior: object = None,
    engine: Engine | str = "auto",
    n_jobs: int | None = None,
    progress: Progress = False,
    **reading: Unpack[ReadingOptions],
) -> Selection:
    """Select ``k`` features one after the other, each the best by an information criterion given those before it.

    Terms with the target are estimated as the label regime requires; redundancy between features uses all rows.
    If p(y=1) is needed and not known, features are scored against a surrogate, a known column in place of the
    target, which gives nearly the same order under criteria that ask about the target alone: "mim", "jmi", "cmi",
    "cmim" and "disr". The others weigh it against information among features, and need p(y=1). If the regime names a
    ``surrogate``, features are scored against it.

    If the table holds numbers, nothing is cut: information is what functions of the columns explain, -½ ln(1 - R²)
    (methods, section 10.6). Under "mar-f" and "noisy" labels, and with ``discretize=``, numbers are cut into levels.

    Parameters
    ----------
    criterion : str
        X is a candidate, Xj runs over the features selected so far; information is in nats (natural logarithms).

        ========  ============================================
        mim       I(X;Y)
        jmi       Σ I(X,Xj;Y)
        cmi       I(X;Y|all Xj)
        mrmr      I(X;Y) - mean I(X;Xj)
        mifs      I(X;Y) - beta Σ I(X;Xj)
        cife      I(X;Y) - Σ I(X;Xj) + Σ I(X;Xj|Y)
        condred   I(X;Y) + Σ I(X;Xj|Y)
        linear    I(X;Y) - beta Σ I(X;Xj) + gamma Σ I(X;Xj|Y)
        cmim      min I(X;Y|Xj)
        disr      Σ I(X,Xj;Y) / H(X,Xj,Y)
        icap      I(X;Y) - Σ max(0, I(X;Xj) - I(X;Xj|Y))
        ========  ============================================

        For all criteria the first feature is the one with the largest I(X;Y).
    k : int
        Number of features to select.
    start : sequence of str
        Features that are selected already, such as the members of a blanket: those selected now are scored as if these
        came before them.
    beta, gamma : float, optional
        Weights of "mifs" (``beta``, default 1) and "linear" (both).

    Returns
    -------
    Selection

    Notes
    -----
    The cost is k passes over all candidates. Equal scores (to 1e-12) are decided by column order.

    Examples
    --------
    "second" repeats what "first" says; "other" is weaker, and new.

    >>> import numpy as np
    >>> import blankets as bl
    >>> rng = np.random.default_rng(3)
    >>> a, b = rng.random((2, 800)) < 0.5
    >>> ill = rng.random(800) < 0.1 + 0.5 * a + 0.3 * b
    >>> table = {"first": a, "second": a ^ (rng.random(800) < 0.05), "other": b, "ill": ill}
    >>> bl.select(table, "ill", criterion="mim", k=2).names
    ('first', 'second')
    >>> bl.select(table, "ill", criterion="jmi", k=2).names
    ('first', 'other')
    """
    scoring = Scoring.of(criterion, k, beta, gamma, start)
    about: dict[str, Any] = {
        "reading": reading,
        "labels": labels,
        "prior": prior,
        "numbers": keeps_numbers(labels),
    }
    with open_study(data, target, y, engine=engine, n_jobs=n_jobs, progress=progress, **about) as study:
        return selected(study, scoring)


class Scoring(NamedTuple):
    """The criterion by which features are scored, and how many to select."""

    criterion: Criterion
    weights: Weights
    k: int
    start: tuple[str, ...] = ()

    @classmethod
    def of(cls, criterion: str, k: int, beta: float | None, gamma: float | None, start: Sequence[str] = ()) -> Scoring:
        """Check the user's criterion, weights and number of features."""
        k = whole_number("k", k, 1, "a number of features, 1 or more")
        chosen = find_criterion(criterion)
        return cls(chosen, weights_for(chosen, beta, gamma), k, tuple(map(str, names_in("start", start))))


def selected(study: Study, scoring: Scoring, *, at_most: bool = False) -> Selection:
    """Select features as `select` does; with ``at_most``, fewer than ``k`` candidates are not an error."""
    began = time.perf_counter()
    chosen, weights, k = scoring[:3]
    start = [study.index(name) for name in scoring.start]
    if study.target in start:
        raise ParameterError(f"start= holds the target {study.target_name!r}; it lists features")
    features = [x for x in study.features if x not in start]
    wanted = _checked_number(k, study, len(features), at_most=at_most)
    _check_scales(study, chosen)
    source, tell = _source(study), study.tell
    listener = None if tell is None else lambda n: tell(f"{chosen.name}: {n} of {wanted} features")
    picks = greedy(
        source, np.array(features, np.int64), wanted, chosen, weights=weights, start=start, listener=listener
    )
    own: dict[str, Any] = {"k": k, **{name: getattr(weights, name) for name in chosen.weights}}
    own |= {"start": scoring.start} if start else {}
    about_labels = {"labels": study.regime.name, "prior": study.regime.prior and str(study.regime.prior)}
    if (column := study.informing) is not None:
        own |= {"surrogate": column.surrogate.value, "surrogate_is_valid": not column.forced}
    return Selection(
        target=study.target_name,
        names=tuple(study.names[x] for x in picks.columns),
        scores=picks.scores,
        relevance=picks.relevance,
        criterion=chosen.name,
        formula=chosen.formula,
        settings={**own, **about_labels, **study.reading.options},
        labels=" ".join((*information_notes(study), *((ABOUT_EXPLAINED,) if study.has_numbers else ()))),
        n_rows=study.n_rows,
        n_candidates=len(features),
        seconds=time.perf_counter() - began,
        warnings=_notes(study, source, chosen, picks),
        excluded=study.set_aside,
        data=study.report_as_data,
        call=study.mark,
    )


def _check_scales(study: Study, criterion: Criterion) -> None:
    """Refuse to weigh what a surrogate keeps of information about the target against whole information.

    The user's own surrogate is the target then, and there is one scale.
    """
    column = study.informing
    if not criterion.mixes or column is None or study.regime.surrogate is not None:
        return
    if column.surrogate in (Surrogate.Y0, Surrogate.Y1, Surrogate.YM):
        alone = listed(other.name for other in CRITERIA.values() if not other.mixes)
        raise NotAnswerableError(
            f"criterion {criterion.name!r}, {criterion.formula}, weighs information about the target against "
            f"information among features, and these labels keep an unknown part (κ) of the first: "
            f"{study.regime.unlocked_by(Question.ESTIMATE)}. Without that choose one of {alone}, which ask about the "
            f"target alone"
        )


def _source(study: Study) -> InformationSource:
    """Return the source of the terms with the target."""
    if study.has_numbers:
        explained = Explained.of(study)
        tests, always = SeenQuick(explained.frame), study.known_drivers
        apart = None if explained.background is explained.frame else SeenQuick(explained.background)
        return ExplainedInformation(tests, study.target, apart, kappa=explained.kappa(), always=always)
    if study.labels.scores is not None:
        return RowScored(study.information_counter, study.target, study.frame, study.labels.scores)
    if study.informing is None and not isinstance(study.regime, Supervised):
        return PartialLabels(study.information_counter, study.target, study.labels, study.regime)
    return PlugIn(study.information_counter, study.target, study.background, always=study.known_drivers)


def _checked_number(k: int, study: Study, there: int, *, at_most: bool) -> int:
    """Return how many of the features that are there to select."""
    if k <= there:
        return k
    left_out = study.report.left_out
    why = f" ({listed(left_out)} cannot be used)" if left_out else ""
    if not at_most:
        raise ParameterError(f"k = {k} features cannot be selected: there are {there}{why}")
    warn(f"k = {k}, but there are {there} features{why}: all are selected", BlanketsWarning)
    return there


def _notes(study: Study, source: InformationSource, criterion: Criterion, picks: Picks) -> tuple[str, ...]:
    """Return what the user should know, and warn of it."""
    notes: dict[str, type[BlanketsWarning]] = {}
    if isinstance(source, PartialLabels) and source.contradicting:
        names = listed(study.names[x] for x in source.contradicting)
        notes[f"p(y=1) = {study.regime.prior} leaves a negative number of negatives in {names}: correct it"] = (
            RegimeWarning
        )
    lasting = np.flatnonzero(np.abs(picks.scores) > TIE)
    place = int(lasting[-1]) + 2 if len(lasting) else 1
    if criterion.name == "cmi" and 1 < place <= len(picks.scores):
        notes[
            f"from feature {place} on all scores are 0 and columns are taken in their order: the features before it "
            f"determine the target in these rows, or have too many configurations for them; 'jmi' looks at pairs only"
        ] = TooFewRowsWarning
    for sentence, category in notes.items():
        warn(sentence, category)
    return tuple(notes)
