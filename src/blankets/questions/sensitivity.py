"""`sensitivity`: the blanket as a function of p(y=1).

The prior p(y=1) enters a search in one place: if labeling depends on the class (MAR-C), it decides which surrogate
(the known column that replaces the target) is the most powerful. The choice changes at known values. So one search
for each surrogate, at most three, gives the blanket for every prior. The level of a test does not depend on the
prior; its power does.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from blankets.arguments import generator_from, number
from blankets.data import ReadingOptions
from blankets.errors import NotAnswerableError, ParameterError
from blankets.independence import IndependenceTest, Knowledge
from blankets.questions._question import question
from blankets.regimes import Noisy, Question, Regime, Supervised, prior_from, surrogate_breakpoints
from blankets.results import Blanket, PriorRange, Sensitivity, bias_sentence
from blankets.study import Engine, Progress, Search, Seed, Study, Testing, Wanted, open_study

N_RUNS = 19


@question
def sensitivity(
    data: Any,
    target: str | int | None = None,
    *,
    y: ArrayLike | None = None,
    priors: Sequence[float] | None = None,
    algorithm: str = "auto",
    options: Mapping[str, Any] | None = None,
    alpha: float = 0.01,
    close: bool = True,
    knowledge: Knowledge | None = None,
    test: Testing | IndependenceTest | str = "auto",
    labels: Regime | str = "auto",
    prior: object = None,
    engine: Engine | str = "auto",
    n_jobs: int | None = None,
    progress: Progress = False,
    rng: Seed = None,
    **reading: Unpack[ReadingOptions],
) -> Sensitivity:
    """Find the Markov blanket of a partly labeled target as a function of p(y=1).

    The range of p(y=1) is what ``prior`` and the labels allow: for example, the labeled positives alone are a lower
    limit of the share.

    Parameters
    ----------
    priors : sequence of float, optional
        Values of p(y=1) at which ``runs`` and κ are given; by default 19 over the range.

    Returns
    -------
    Sensitivity

    Examples
    --------
    >>> import numpy as np
    >>> import blankets as bl
    >>> rng = np.random.default_rng(0)
    >>> ill = rng.random(4000) < 0.3
    >>> seen = rng.random(4000) < np.where(ill, 0.4, 0.1)  # the ill come forward more often
    >>> cough = rng.random(4000) < np.where(ill, 0.6, 0.2)
    >>> found = bl.sensitivity({"cough": cough, "ill": np.where(seen, ill, np.nan)}, "ill", labels="mar-c")
    >>> [(round(r.low, 2), round(r.high, 2), r.surrogates, r.members) for r in found.ranges]
    [(0.12, 0.93, ('y0', 'listwise', 'y1'), ('cough',))]
    """
    wanted = Wanted.of(algorithm, options, alpha, close=close, knowledge=knowledge)
    values = None if priors is None else _checked_priors(priors)
    known = prior_from(prior)
    with open_study(
        data,
        target,
        y,
        reading=reading,
        labels=labels,
        test=test,
        engine=engine,
        n_jobs=n_jobs,
        progress=progress,
        numbers=True,
    ) as study:
        return over_priors(study, wanted, known, values, rng)


def over_priors(
    study: Study, wanted: Wanted, prior: object = None, values: Sequence[float] | None = None, rng: Seed = None
) -> Sensitivity:
    """Find the blanket as a function of p(y=1), in an open study."""
    began = time.perf_counter()
    seed = int(generator_from(rng).integers(1 << 62))
    low, high = _range(study, prior)
    cuts = _surrogates(study, low, high, wanted)
    found: dict[str | None, Blanket] = {}
    for middle, _, surrogate in cuts:
        if surrogate not in found:
            regime = _at(study.regime, middle)
            if surrogate is not None:
                regime = replace(regime, surrogate=surrogate)  # type: ignore[type-var]
            found[surrogate] = Search.of(replace(study, regime=regime), wanted, seed).blanket_of(study.target)
    first = found[cuts[0][2]]
    ranges = _merged(cuts, found, low)
    at = np.linspace(low, high, N_RUNS + 2)[1:-1].tolist() if values is None else values
    return Sensitivity(
        target=first.target,
        ranges=ranges,
        runs=tuple((p, _members_at(ranges, p)) for p in at),
        kappas=tuple(_kappa(study, p, _used(cuts, found, p)) for p in at),
        breakpoints=tuple(end for _, end, _ in cuts[:-1]),
        notes=(*_notes(study, cuts), *filter(None, [bias_sentence(first.label_bias)])),
        algorithm=first.algorithm,
        settings={name: value for name, value in first.settings.items() if name not in _OF_ONE_PRIOR},
        n_rows=study.n_rows,
        n_searches=len(found),
        seconds=time.perf_counter() - began,
        call=study.mark,
    )


def _checked_priors(priors: object) -> list[float]:
    """Return the values of p(y=1) at which to report the blanket."""
    meaning = "a list of probabilities"
    if isinstance(priors, str) or not isinstance(priors, Iterable):
        raise ParameterError.out_of_range("priors", priors, meaning)
    return [number("priors", value, meaning, least=0, most=1) for value in priors]


_OF_ONE_PRIOR = ("prior", "surrogate", "surrogate_is_valid", "kappa", "kappa_range", "effective_rows")
Cut = tuple[float, float, str | None]  # a value inside, the upper end, the surrogate (None: the only one)


def _range(study: Study, prior: object) -> tuple[float, float]:
    """Return the values of p(y=1) that the labels and the user allow."""
    if isinstance(study.regime, Noisy) and study.regime.missing != "mar-c":
        raise NotAnswerableError("p(y=1) follows from the labels and their rates of errors, so there is no range of it")
    if isinstance(study.regime, Supervised):
        raise NotAnswerableError("every row is labeled, so p(y=1) is known and the blanket does not depend on it")
    said = prior_from(prior) if prior is not None else study.regime.prior
    b, a = study.labels.shares
    apart = study.regime.sampling == "case-control"
    low, high = (0.0, 1.0) if apart else (a, 1.0 - b)
    if said is not None:
        low, high = max(low, said.support[0]), min(high, said.support[1])
    if not low < high:
        raise ParameterError(
            f"the prior leaves no range of p(y=1) to look at: the labels allow {a:.4g} to {1 - b:.4g}, and 'prior' "
            f"is {said}; give a range such as (0.1, 0.4), or nothing"
        )
    return low, high


def _at(regime: Regime, prior: float) -> Regime:
    """Return the regime with p(y=1) known."""
    return replace(regime, prior=prior)  # type: ignore[type-var]  # all regimes but Supervised have one


def _surrogates(study: Study, low: float, high: float, wanted: Wanted) -> list[Cut]:
    """Cut the range where the most powerful surrogate changes."""
    decided = wanted.algorithm is not None and wanted.algorithm.surrogate is not None
    if study.regime.name != "mar-c" or study.regime.surrogate is not None or decided:
        return [((low + high) / 2, high, None)]
    b, a = study.labels.shares
    edges = [low, *(p for p in surrogate_breakpoints(a, b) if low < p < high), high]
    cuts: list[Cut] = []
    for left, right in pairwise(edges):
        middle = (left + right) / 2
        chosen = _at(study.regime, middle).choose(study.labels).surrogate.value
        if cuts and cuts[-1][2] == chosen:
            cuts.pop()
        cuts.append((middle, right, chosen))
    return cuts


def _merged(cuts: list[Cut], found: dict[str | None, Blanket], low: float) -> tuple[PriorRange, ...]:
    """Return the ranges over which the members are the same."""
    ranges: list[PriorRange] = []
    for _, end, surrogate in cuts:
        blanket = found[surrogate]
        name = str(blanket.settings["surrogate"])
        if ranges and set(ranges[-1].members) == set(blanket.members):
            ranges[-1] = replace(ranges[-1], high=end, surrogates=(*ranges[-1].surrogates, name))
        else:
            start = ranges[-1].high if ranges else low
            ranges.append(PriorRange(low=start, high=end, surrogates=(name,), members=blanket.members))
    return tuple(ranges)


def _members_at(ranges: Sequence[PriorRange], prior: float) -> tuple[str, ...]:
    for found in ranges:
        if found.low <= prior <= found.high:
            return found.members
    low, high = ranges[0].low, ranges[-1].high
    raise ParameterError(f"'priors' holds {prior:g}, but p(y=1) can only be between {low:.4g} and {high:.4g}")


def _used(cuts: list[Cut], found: dict[str | None, Blanket], prior: float) -> str:
    """Return the surrogate used at a prior."""
    surrogate = next((s for _, end, s in cuts if prior <= end), cuts[-1][2])
    return str(found[surrogate].settings["surrogate"])


def _kappa(study: Study, prior: float, surrogate: str) -> float:
    """Return κ at a prior; NaN where it is not known, or does not depend on it."""
    regime = _at(study.regime, prior)
    if regime.name in ("mcar", "mar-f") or Question.POWER not in regime.answers:
        return float("nan")
    try:
        return regime.kappa(study.labels, surrogate).value
    except NotAnswerableError:  # pairwise deletion
        return float("nan")


def _notes(study: Study, cuts: list[Cut]) -> list[str]:
    """Say what depends on the prior."""
    name = study.regime.name
    if name in ("mcar", "mar-f"):
        return ["Labeled rows alone are compared, so that the blanket does not depend on p(y=1)."]
    power = "the power of the tests does: 'kappas' has the share of it that is kept"
    if name == "pu":
        same = "Each test counts unlabeled rows as negatives whatever p(y=1) is, so the blanket does not depend on it"
        return [f"{same}; {power}."]
    if len(cuts) == 1:
        return [f"The surrogate is the same over the whole range, so the blanket does not depend on p(y=1); {power}."]
    return ["Which surrogate (what is counted in place of the target) has the most power depends on p(y=1)."]
