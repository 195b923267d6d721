"""SEM, SCSEM and LMB-CSEM: three ways to search for latents in the blanket of a target.

* SEM (Friedman, 1997): structural EM from random DAGs, no constraints; the blanket is that of the best DAG.
* SCSEM (Elidan and others, 2000): the same from semi-cliques of the DAG without latents.
* LMB-CSEM (Gao & Ji, 2016): one constrained search for each possible place of the latent (parent, child, spouse);
  blankets no larger than before are compared; the search for the next latent starts from the best.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from blankets.latent._choice import CRITERIA, TIE, Merits, better, bic_can_tell, merits_of, shared_with_target
from blankets.latent._completions import Completions
from blankets.latent._evidence import evidence_of, evidence_without
from blankets.latent._graphs import blanket_in_dag, children_of, same_class
from blankets.latent._local import Stage
from blankets.latent._rows import Ints
from blankets.latent._structural import Fit, Problem, best_fits, polish
from blankets.latent._subspaces import Subspace, anywhere, behind_all, subspaces

MOST_POLISHED = 5  # most structures of a subspace whose parameters are fitted until convergence,
NEAR = 5.0  # if their BIC is this close to the best, in nats
MARGIN = 0.02  # models whose score differs by less are compared by BIC


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """The effort of the search."""

    arity: int = 2  # states of each latent
    n_restarts: int = 80  # starts of structural EM in each subspace
    max_latents: int = 3  # stop after this many latents
    draws: int = 0  # 0: expected counts; else the number of sampled completions per row
    n_jobs: int = 1  # threads over restarts; the answer does not depend on it
    score: str = "mi"  # how to choose between subspaces
    certain: bool = True  # whether the observed members are known; else tests have found them
    tell: Callable[[str], None] = lambda sentence: None  # receives a sentence for every restart


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """The best model of one subspace (or none), why it was not chosen, and the support of its latent in nats."""

    latent: int
    subspace: str
    stage: Stage | None
    merits: Merits | None
    refused: str
    support: float = math.nan


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """The final model, the model without latents, all attempts, and the support of each latent."""

    stage: Stage
    baseline: Stage
    attempts: tuple[Attempt, ...]
    supports: tuple[float, ...] = ()


def attempts_in(
    places: list[Subspace], before: Stage, effort: Effort, rng: np.random.Generator, *, bounded: bool = True
) -> list[Attempt]:
    """Return the best model of each subspace by BIC; with ``bounded``, among blankets no larger than before."""
    space, prior = before.with_latent(effort.arity)
    number, attempts = len(before.arities) + 1, []
    for place, own in zip(places, rng.spawn(len(places)), strict=True):
        problem = Problem(space, place.constraints, place.starts, prior, effort.draws, place.explore)
        n_restarts = max(1, round(effort.n_restarts * place.share))
        tell = _teller(effort.tell, f"latent {number}, {place.name}", n_restarts)
        fits = best_fits(problem, n_restarts, own, n_jobs=effort.n_jobs, tell=tell)
        fits = [fit for fit in fits if not bounded or _admissible(fit.parents, before)]
        if not fits:
            attempts.append(Attempt(number, place.name, None, None, "no blanket with it is as small as without it"))
            continue
        best = _most_compact([polish(space, fit) for fit in _distinct(fits)], before.target, TIE if bounded else 0.0)
        stage = _stage(before, effort.arity, space, best)
        if bounded:
            stage = _least_copied(stage, before, fits)
        attempts.append(Attempt(number, place.name, stage, merits_of(stage), ""))
    return attempts


def _stage(before: Stage, arity: int, space: Completions, fit: Fit) -> Stage:
    members = frozenset(blanket_in_dag(fit.parents, before.target))
    return Stage(before.local, (*before.arities, arity), space, fit, members)


def _least_copied(stage: Stage, before: Stage, fits: list[Fit]) -> Stage:
    """Return, of the fits of this DAG with nearly the same BIC, the one that copies the target least.

    If data have little information about a latent, many parameters fit equally well, also copies of the target.
    """
    close = [f for f in fits if f.bic >= stage.fit.bic - TIE and same_class(f.parents, stage.fit.parents)]
    stages = [_stage(before, stage.arities[-1], stage.space, fit) for fit in close]
    if not stages:
        return stage
    other = min(stages, key=shared_with_target)
    settled = _stage(before, stage.arities[-1], stage.space, polish(stage.space, other.fit))
    tied = settled.fit.bic >= stage.fit.bic - TIE
    return settled if tied and shared_with_target(settled) < shared_with_target(stage) else stage


def _admissible(parents: Ints, before: Stage) -> bool:
    """Whether the latent connects at least two nodes and is the only new node in a blanket that is not larger."""
    h, members = len(parents) - 1, blanket_in_dag(parents, before.target)
    degree = int(parents[h]).bit_count() + len(children_of(parents, h))
    replaced = h in members and members - {h} <= before.members and len(members) <= len(before.members)
    return replaced and degree > 1


def _distinct(fits: list[Fit]) -> list[Fit]:
    """Return the best fits of different equivalence classes that are close to the best of all."""
    chosen: list[Fit] = []
    for fit in fits:
        if fit.bic < fits[0].bic - NEAR:
            break
        if len(chosen) < MOST_POLISHED and not any(same_class(fit.parents, other.parents) for other in chosen):
            chosen.append(fit)
    return chosen


def _most_compact(fits: list[Fit], target: int, slack: float) -> Fit:
    """Return the fit with the smallest blanket among those whose BIC is within ``slack`` nats of the best."""
    best = max(fit.bic for fit in fits)
    close = [fit for fit in fits if fit.bic >= best - slack]
    return min(close, key=lambda fit: (len(blanket_in_dag(fit.parents, target)), -fit.bic))


def _teller(tell: Callable[[str], None], what: str, total: int) -> Callable[[], None]:
    """Return a function that reports the number of restarts in one subspace."""
    done = iter(range(1, total + 1))

    def next_one() -> None:
        tell(f"{what}: restart {next(done)} of {total}")

    return next_one


def lmb_csem(baseline: Stage, effort: Effort, rng: np.random.Generator) -> Outcome:
    """Search for latents one after another, until none improves the score or one latent is the whole blanket."""
    stage, merits, log, supports = baseline, merits_of(baseline), list[Attempt](), list[float]()
    while stage.members - set(stage.latents) and len(stage.arities) < effort.max_latents:
        silent = effort.score == "mi" and not bic_can_tell(stage, effort.arity)
        largest = stage.with_latent(effort.arity)[0].largest
        places = behind_all(stage) if silent else subspaces(stage, largest)
        tried = [_judged(a, merits, effort.score, silent=silent) for a in attempts_in(places, stage, effort, rng)]
        if silent:
            tried = _weighed(tried, stage, certain=effort.certain)
        log += tried
        winner = best_attempt([a for a in tried if not a.refused], effort.score)
        if winner is None or winner.stage is None or winner.merits is None:
            break
        stage, merits = winner.stage, winner.merits
        supports.append(winner.support)
    return Outcome(stage, baseline, tuple(log), tuple(supports))


def _judged(attempt: Attempt, before: Merits, score: str, *, silent: bool) -> Attempt:
    """Return the attempt with its gain in BIC, and the reason why it cannot be chosen, if there is one."""
    if attempt.merits is None:
        return attempt
    refused, gain = "", attempt.merits.bic - before.bic
    if not better(attempt.merits, before, score):
        refused = f"its {score} is no better than without it"
    elif score == "mi" and not silent and gain <= 0:
        refused = f"it lowers the BIC by {-gain:.2g} nats" if gain else "it does not raise the BIC"
    return replace(attempt, refused=refused, support=gain)


def _weighed(attempts: list[Attempt], before: Stage, *, certain: bool) -> list[Attempt]:
    """Return attempts that BIC cannot judge, judged by the Bayes factor against the models without latents.

    If the difference is at most `TIE`, the smaller blanket wins. All attempts are equivalent (a latent cause of
    all columns, as parent or as child), so one integral is enough for all: that of the last, the child, where the share
    of each class is a separate parameter and may be extreme without a penalty.
    """
    able = [a.stage for a in attempts if a.stage is not None and not a.refused]
    if not able:
        return attempts
    support = evidence_of(able[-1]) - evidence_without(before, certain=certain)
    refused = "" if support > -TIE else f"the data are against it, by {-support:.1f} nats"
    return [a if a.refused else replace(a, refused=refused, support=support) for a in attempts]


def best_attempt(attempts: list[Attempt], score: str) -> Attempt | None:
    """Return the attempt with the best score; if scores hardly differ, the one with the best BIC among them."""
    able = [(a, a.merits) for a in attempts if a.merits is not None]
    if not able:
        return None
    values = {id(a): CRITERIA[score] * getattr(m, score) for a, m in able}
    top = max(values.values())
    return max(((a, m.bic) for a, m in able if values[id(a)] >= top - MARGIN * abs(top)), key=lambda one: one[1])[0]


def sem(baseline: Stage, effort: Effort, rng: np.random.Generator, *, cliques: bool = False) -> Outcome:
    """Run structural EM with one latent from random DAGs, or from semi-cliques; return the best by BIC.

    Its blanket may be without the latent.
    """
    space, _ = baseline.with_latent(effort.arity)
    place = anywhere(baseline, space.largest, cliques=cliques)
    (attempt,) = attempts_in([place], baseline, effort, rng, bounded=False)
    stage = attempt.stage or baseline
    inside = bool(stage.latents) and stage.latents[-1] in stage.members
    refused = "" if inside else "the latent is not in the blanket"
    gain = stage.fit.bic - baseline.fit.bic
    return Outcome(stage, baseline, (replace(attempt, stage=stage, refused=refused, support=gain),), (gain,))


scsem = partial(sem, cliques=True)

METHODS: dict[str, Callable[[Stage, Effort, np.random.Generator], Outcome]] = {
    "lmb-csem": lmb_csem,
    "scsem": scsem,
    "sem": sem,
}
