"""Find a Markov blanket with latent members from codes: `blankets.discover_latent` after the table is read."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.arguments import level_of, one_of, whole_number
from blankets.counting import MemoryCounter
from blankets.data import Encoder, Frame
from blankets.errors import ParameterError, listed
from blankets.independence import TableTests
from blankets.latent._choice import (
    CRITERIA,
    DOUBT,
    Merits,
    can_be_tested,
    joint_with_target,
    merits_of,
    shared_information,
)
from blankets.latent._graphs import children_of, compelled
from blankets.latent._local import Stage, open_local
from blankets.latent._methods import METHODS, Effort, Outcome
from blankets.latent._network import FittedNetwork
from blankets.latent._result import Latent, LatentBlanket, SubspaceScore
from blankets.latent._scores import members_of
from blankets.latent.sll import SLL
from blankets.search import Trace, check_options, find, squeezed

DRAWS = 10  # sampled completions per row
SCREEN = 0.2  # level for columns that are not members, if all models of them can be compared


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentSearch:
    """How to search for latents; the fields are the checked arguments of `blankets.discover_latent`."""

    blanket: Sequence[str] | None
    algorithm: str
    options: Mapping[str, Any]
    alpha: float
    method: str
    score: str
    arity: int
    n_restarts: int
    max_latents: int
    completion: str
    max_parents: int | None

    def __post_init__(self) -> None:
        one_of("method", self.method, METHODS)
        one_of("score", self.score, CRITERIA)
        one_of("completion", self.completion, ("expected", "sampled"))
        for name, least in (("arity", 2), ("n_restarts", 1), ("max_latents", 1)):
            whole_number(name, getattr(self, name), least)
        if self.max_parents is not None:
            whole_number("max_parents", self.max_parents, 0)
        level_of(self.alpha)
        if not isinstance(self.options, Mapping):
            raise ParameterError.out_of_range(
                "options", self.options, "a mapping of options of the algorithm to values"
            )

    def effort(self, n_jobs: int, tell: Callable[[str], None] | None) -> Effort:
        """Return the effort of the search, and its number of threads."""
        return Effort(
            arity=self.arity,
            n_restarts=self.n_restarts,
            max_latents=self.max_latents,
            draws=DRAWS if self.completion == "sampled" else 0,
            n_jobs=n_jobs,
            score=self.score,
            certain=self.blanket is not None,
            tell=tell or (lambda sentence: None),
        )

    def found(
        self,
        frame: Frame,
        t: int,
        labeled: NDArray[np.bool_] | None,
        encoder: Encoder,
        effort: Effort,
        rng: np.random.Generator,
        drivers: Sequence[int] = (),
    ) -> LatentBlanket:
        """Return the blanket with latents of column ``t``, whose labels may be missing in some rows.

        ``drivers``: columns on which labeling depends. They are in every model: EM may ignore why values are missing
        only if the model holds what that depends on.
        """

        def improved(members: list[int], context: list[int]) -> Outcome:
            context = [*context, *(w for w in drivers if w not in members and w not in context)]
            baseline = open_local(frame, t, members, labeled, self.max_parents, context)
            if members and len(members) + len(context) > 1:
                return METHODS[self.method](baseline, effort, rng)
            return Outcome(baseline, baseline, ())

        if self.blanket is not None:
            outcome = improved(_handed_over(frame, t, self.blanket), [])
        else:
            search = partial(
                _search, frame if labeled is None else frame.take(labeled), t, self.algorithm, self.options
            )
            members = search(self.alpha)
            outcome = improved(members, _context(frame, t, members, self.arity))
            if (
                not members
                and self.method == "lmb-csem"
                and self.score == "mi"
                and not can_be_tested(frame.arities, self.arity)
            ):
                weak = search(max(self.alpha, SCREEN))
                other = improved(weak, _context(frame, t, weak, self.arity))
                outcome = other if other.supports else replace(outcome, attempts=other.attempts)
        settings = {
            "algorithm": self.algorithm if self.blanket is None else "handed over",
            **{"options": dict(self.options), "arity": self.arity, "n_restarts": self.n_restarts},
            **{"max_latents": self.max_latents, "completion": self.completion, "max_parents": self.max_parents},
        }
        screened = self.blanket is None and not members
        return _Description(outcome, encoder, frame, t, screened).blanket(self.method, self.score, settings)


def _search(frame: Frame, t: int, algorithm: str, options: Mapping[str, Any], alpha: float) -> list[int]:
    """Return the observed blanket of labeled rows."""
    chosen = SLL if squeezed(algorithm) == SLL.name else find(algorithm, others=(SLL.name,))
    check_options(chosen, options)
    candidates = [j for j in range(frame.n_columns) if j != t]
    tests = TableTests(MemoryCounter(frame))
    return list(chosen.run(tests, t, candidates, alpha=alpha, trace=Trace(), **options).members)


def _context(frame: Frame, t: int, members: list[int], arity: int) -> list[int]:
    """Return the columns nearest to a small blanket, as many as are needed to test a latent."""
    context: list[int] = []
    outside = [j for j in range(frame.n_columns) if j != t and j not in members]
    if members and outside and not can_be_tested(frame.arities[[*members, t]], arity):
        tests = TableTests(MemoryCounter(frame), reliability=0.0)
        effects = np.stack([tests.scan(outside, m).effect for m in members]).max(axis=0)
        nearest = [outside[k] for k in np.argsort(-effects, kind="stable")]
        while nearest and not can_be_tested(frame.arities[[*members, *context, t]], arity):
            context.append(nearest.pop(0))
    return context


def _handed_over(frame: Frame, t: int, blanket: Sequence[str]) -> list[int]:
    """Return the columns of a blanket given by name."""
    if isinstance(blanket, str) or not isinstance(blanket, Iterable):
        raise ParameterError.out_of_range("blanket", blanket, "a sequence of column names")
    members = [frame.index(name) for name in blanket]
    if t in members or len(set(members)) < len(members):
        raise ParameterError(f"'blanket' holds the target, or a name twice: {listed(blanket)}")
    return members


@dataclass(frozen=True, slots=True, eq=False)
class _Description:
    """Turns an outcome in numbers into a result in names."""

    outcome: Outcome
    encoder: Encoder
    frame: Frame
    column: int
    screened: bool

    @property
    def stage(self) -> Stage:
        return self.outcome.stage

    def names(self, stage: Stage) -> tuple[str, ...]:
        """Return the names of all nodes; latents get names that no column has."""
        taken, latents = set(self.frame.names), []
        for k in range(len(stage.arities)):
            name = f"H{k + 1}"
            while name in taken:
                name += "_"
            latents.append(name)
        return (*stage.local.names, *latents)

    def blanket(self, method: str, score: str, settings: Mapping[str, Any]) -> LatentBlanket:
        """Return the result."""
        stage, names = self.stage, self.names(self.stage)
        network, orders = self._ordered(stage.network())
        found = tuple(self._latent(h, network, orders[h]) for h in stage.latents)
        observed = [names[v] for v in sorted(stage.members) if v < stage.target]
        inside = [latent.name for latent in found if latent.position != "outside"]
        local = stage.local
        notes = []
        if not self.outcome.attempts:
            notes.append("the observed blanket is too small to be improved by a latent; it is returned as it is")
        if self.screened and found:
            notes.append(f"no column is a member; those that are at level {SCREEN:g} were taken as candidates")
        notes += [
            f"{latent.name} is a possibility rather than a finding: its support of {latent.support:.1f} nats is weak"
            for latent in found
            if latent.support < DOUBT
        ]
        if stage.space.largest < min(len(names), (local.max_parents or len(names)) + 1):
            notes.append(
                f"memory is short, so nodes had at most {stage.space.largest - 1} of the other nodes as parents"
            )
        return LatentBlanket(
            target=names[stage.target],
            members=(*observed, *inside),
            latents=found,
            observed=local.names[: local.n_members],
            scores=tuple(self._scores()),
            method=method,
            score=score,
            settings=dict(settings),
            n_rows=self.frame.n_rows,
            warnings=tuple(notes),
            network=network,
            nodes=names,
            encoder=self.encoder,
        )

    def _ordered(self, network: FittedNetwork) -> tuple[FittedNetwork, dict[int, list[int]]]:
        """Return the network with the states of each latent sorted by p(last level of the target | state)."""
        orders = {}
        for h in self.stage.latents:
            joint = joint_with_target(self.stage, h)
            chance = joint[-1] / np.maximum(joint.sum(axis=0), 1e-300)
            orders[h] = [int(k) for k in np.lexsort((joint.sum(axis=0), chance))]
            network = network.relabeled(h, orders[h])
        return network, orders

    def _latent(self, h: int, network: FittedNetwork, order: list[int]) -> Latent:
        stage, names = self.stage, self.names(self.stage)
        parents, children = members_of(int(stage.fit.parents[h])), children_of(stage.fit.parents, h)
        joint = joint_with_target(stage, h)
        gone = [v for v in sorted(self.outcome.baseline.members) if v not in stage.members]
        mine = [v for v in gone if v in parents or v in children]
        edge = {(h, stage.target), (stage.target, h)} & compelled(stage.fit.parents)
        position = self._position(h)
        return Latent(
            name=names[h],
            position=position,
            certain=position == "spouse" or bool(edge),
            parents=tuple(names[v] for v in parents),
            children=tuple(names[v] for v in children),
            table=network.tables[h],
            prevalence=tuple(float(share) for share in joint.sum(axis=0)[order]),
            information=shared_information(joint),
            replaced=tuple(names[v] for v in (gone if len(stage.arities) == 1 else mine) if position != "outside"),
            support=self.outcome.supports[h - stage.target - 1],
        )

    def _position(self, h: int) -> str:
        parents, t = self.stage.fit.parents, self.stage.target
        if h not in self.stage.members:
            return "outside"
        if int(parents[t]) >> h & 1:
            return "parent"
        return "child" if int(parents[h]) >> t & 1 else "spouse"

    def _scores(self) -> list[SubspaceScore]:
        """Return the model without latents and the best of each subspace."""
        first = merits_of(self.outcome.baseline)
        local = self.stage.local
        rows = [_score(0, "observed", local.names[: local.n_members], first, "")]
        for a in self.outcome.attempts:
            names = self.names(a.stage) if a.stage is not None else ()
            members = tuple(names[v] for v in sorted(a.stage.members)) if a.stage is not None else ()
            rows.append(_score(a.latent, a.subspace, members, a.merits, a.refused))
        return rows


def _score(latent: int, subspace: str, members: tuple[str, ...], merits: Merits | None, refused: str) -> SubspaceScore:
    m = merits or Merits(mi=math.nan, bic=math.nan, error=math.nan, cll=math.nan)
    return SubspaceScore(
        latent=latent, subspace=subspace, members=members, mi=m.mi, bic=m.bic, error=m.error, cll=m.cll, refused=refused
    )
