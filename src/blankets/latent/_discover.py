"""`discover_latent`: from any table to a Markov blanket with latent members."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.arguments import generator_from, level_of, one_of, threads_from, whole_number
from blankets.counting import MemoryCounter
from blankets.data import Encoder, Frame, Ingested, check_reading, ingest, manifest_of
from blankets.errors import LabelError, NotAnswerableError, ParameterError, TargetError, listed
from blankets.independence import TableTests
from blankets.latent._choice import CRITERIA, DOUBT, Merits, can_be_tested, information, joint_with_target, merits_of
from blankets.latent._graphs import children_of, compelled, to_networkx
from blankets.latent._local import Stage, open_local
from blankets.latent._methods import METHODS, Effort, Outcome
from blankets.latent._network import Network
from blankets.latent._result import Latent, LatentBlanket, SubspaceScore
from blankets.latent._scores import members_of
from blankets.latent.sll import SLL
from blankets.regimes import Regime, regime_from
from blankets.search import Trace, check_options, find

__all__ = ["discover_latent"]

# Why a label is missing decides whether EM may treat it as any other missing value.
IGNORABLE = ("supervised", "mcar", "mar-f")
DRAWS = 10  # sampled completions a row
SCREEN = 0.2  # level at which columns are looked at that are not members, where all models of them can be compared


def discover_latent(
    data: Any,
    target: str | int | None = None,
    *,
    y: Any = None,
    blanket: Sequence[str] | None = None,
    algorithm: str = "iamb",
    method: str = "lmb-csem",
    score: str = "mi",
    arity: int = 2,
    n_restarts: int = 80,
    max_latents: int = 3,
    completion: str = "expected",
    max_parents: int | None = None,
    labels: str | Regime | None = None,
    alpha: float = 0.05,
    options: Mapping[str, Any] | None = None,
    rng: np.random.Generator | int | None = None,
    n_jobs: int | None = None,
    progress: Callable[[str], None] | None = None,
    **reading: Any,
) -> LatentBlanket:
    """Find latent variables in the Markov blanket of a target.

    Parameters
    ----------
    data, target, y
        The table and its target, as for `blankets.data.ingest`.
    blanket : sequence of str, optional
        The observed blanket; by default it is found by ``algorithm``.
    algorithm : str
        "sll", or the name of any blanket algorithm. A latent is found only if its effects are members, so the
        default is a sensitive one: BIC, by which "sll" goes, misses weak members that a test at level 0.05 finds.
    method : {"lmb-csem", "sem", "scsem"}
        Constrained structural EM in one subspace after another; structural EM from random DAGs; structural EM from
        semi-cliques.
    score : {"mi", "bic", "error", "cll"}
        What decides between subspaces: the information that the blanket has about the target in the fitted model,
        provided that the observed-data BIC supports the latent; BIC alone; training error; conditional likelihood.
    arity : int
        Number of states of each latent.
    n_restarts : int
        Starts of structural EM in each subspace.
    max_latents : int
        Most latents, found one after another while the score rises.
    completion : {"expected", "sampled"}
        How the data are completed before the next DAG is learned: by expected counts, or by ten draws a row.
    max_parents : int, optional
        Largest number of parents of a node.
    labels : {"mcar", "mar-f"} or Regime, optional
        Why labels are missing, where some are: completely at random, or depending on features. EM then treats them
        as missing values. Where it depends on the label itself, there is no such answer.
    alpha : float
        Level of the tests, for algorithms that test.
    options : mapping, optional
        Options of the algorithm, for example ``{"score": "bdeu"}`` for "sll".
    rng : int, Generator or None
        Seed; the same seed gives the same answer on any number of threads.
    n_jobs : int, optional
        Number of threads; default all processors.
    progress : callable, optional
        Is called with a sentence for every restart.
    **reading
        How the table is read (``discretize``, ``bins``, ``missing``, ``keep``, ``columns``, ``exclude``): see `ingest`.

    Returns
    -------
    LatentBlanket
        Members, latents and their places, posteriors for any rows.

    Notes
    -----
    A latent shows only in three or more columns that depend on it. Where the observed blanket that was found is too
    small for that, the columns nearest to it are looked at as well; they do not become members. A blanket without
    members, and one with a single member and no other column, is returned as it is, but for tables of three coins.

    Blankets with a latent compete if they are no larger than the observed one. With ``score="mi"`` the observed-data
    BIC must also rise: information alone could be won by a latent that copies the target. Two binary members are the
    exception: there no latent, however true, can raise the BIC, so the Bayes factor decides, against all DAGs without
    latents that have these members in the blanket and, unless the blanket was handed over, against those in which the
    target is alone, with uniform priors; it may be against the latent by a bare mention (1 nat). As this weighs
    membership too, members at level 0.2 are tried where there are none at ``alpha``. On networks of three coins
    without any latent one is then still reported now and then, in about one of ten; a ``support`` of 3 nats or more
    is rare among these.

    References
    ----------
    Gao & Ji (2016), Constrained local latent variable discovery, IJCAI.

    Examples
    --------
    A hidden cause of three symptoms of the target:

    >>> rng = np.random.default_rng(1)
    >>> ill = rng.random(3000) < 0.4
    >>> hidden = np.where(rng.random(3000) < 0.85, ill, ~ill)
    >>> table = {name: np.where(rng.random(3000) < 0.8, hidden, ~hidden) for name in ("cough", "fever", "rash")}
    >>> found = discover_latent({**table, "ill": ill}, "ill", n_restarts=6, rng=0)
    >>> found.members, sorted(found.latents[0].replaced)
    (('H1',), ['cough', 'fever', 'rash'])
    >>> found.posterior({name: [True, False] for name in table}).argmax(axis=1).tolist()
    [1, 0]
    """
    asked = dict(locals())
    _check(asked)
    generator = generator_from(rng)
    effort = Effort(
        arity=arity,
        n_restarts=n_restarts,
        max_latents=max_latents,
        draws=DRAWS if completion == "sampled" else 0,
        n_jobs=threads_from(n_jobs),
        score=score,
        certain=blanket is not None,
        tell=progress or (lambda sentence: None),
    )
    table = ingest(data, target, y=y, **reading)
    labeled = _labeled(table, labels)
    frame, t = table.frame, _target(table)

    def improved(members: list[int], context: list[int]) -> Outcome:
        baseline = open_local(frame, t, members, labeled, max_parents, context)
        if members and len(members) + len(context) > 1:
            return METHODS[method](baseline, effort, generator)
        return Outcome(baseline, baseline, ())

    if blanket is not None:
        outcome = improved(_handed_over(frame, t, blanket), [])
    else:
        search = partial(_search, frame if labeled is None else frame.take(labeled), t, algorithm, options or {})
        members = search(alpha)
        outcome = improved(members, _context(frame, t, members, arity))
        if not members and method == "lmb-csem" and score == "mi" and not can_be_tested(frame.arities, arity):
            weak = search(max(alpha, SCREEN))
            other = improved(weak, _context(frame, t, weak, arity))
            outcome = other if other.supports else replace(outcome, attempts=other.attempts)
    settings = {
        "algorithm": algorithm if blanket is None else "handed over",
        "options": dict(options or {}),
        "arity": arity,
        "n_restarts": n_restarts,
        "max_latents": max_latents,
        "completion": completion,
        "max_parents": max_parents,
        "labels": labels if labels is None or isinstance(labels, str) else labels.name,
    }
    screened = blanket is None and not members
    found = _Description(outcome, table.encoder, frame, t, screened).blanket(method, score, settings)
    return replace(found, manifest=manifest_of("discover_latent", asked, frame.fingerprint()))


def _check(asked: Mapping[str, Any]) -> None:
    """Refuse arguments of `discover_latent` that are none."""
    words = (("method", METHODS), ("score", CRITERIA), ("completion", ("expected", "sampled")))
    for name, allowed in words:
        one_of(name, asked[name], allowed)
    for name, least in (("arity", 2), ("n_restarts", 1), ("max_latents", 1), ("max_parents", 0)):
        if name != "max_parents" or asked[name] is not None:
            whole_number(name, asked[name], least)
    level_of(asked["alpha"])
    if not isinstance(asked["options"], Mapping | None):
        raise ParameterError.out_of_range(
            "options", asked["options"], "a mapping of options of the algorithm to values"
        )
    if asked["progress"] is not None and not callable(asked["progress"]):
        raise ParameterError.out_of_range("progress", asked["progress"], "a function that is told each step, or None")
    check_reading(asked["reading"])


def _target(table: Ingested) -> int:
    if table.target is None:
        raise TargetError("a target is needed: its column, or 'y'")
    return table.target


def _labeled(table: Ingested, labels: str | Regime | None) -> NDArray[np.bool_] | None:
    """Return which rows have labels, after asking whether EM may treat the others as missing."""
    regime = None if labels is None else regime_from(labels)
    if regime is not None and regime.name not in IGNORABLE:
        raise NotAnswerableError(
            f"labels={regime.name!r}: whether a label is missing depends on the label itself, which biases the model; "
            "latents can be sought where labels are missing completely at random ('mcar') or by features ('mar-f')"
        )
    if table.unlabeled is None:
        return None
    if regime is None or regime.name == "supervised":
        raise LabelError(
            f"the target is missing in {int(table.unlabeled.sum()):,} of {table.frame.n_rows:,} rows; say why: "
            "labels='mcar' (completely at random), labels='mar-f' (by features), or delete these rows"
        )
    return np.logical_not(table.unlabeled)


def _search(frame: Frame, t: int, algorithm: str, options: Mapping[str, Any], alpha: float) -> list[int]:
    """Return the observed blanket of labeled rows."""
    chosen = SLL if isinstance(algorithm, str) and algorithm == SLL.name else find(algorithm, others=(SLL.name,))
    check_options(chosen, options)
    candidates = [j for j in range(frame.n_columns) if j != t]
    tests = TableTests(MemoryCounter(frame))
    return list(chosen.run(tests, t, candidates, alpha=alpha, trace=Trace(), **options).members)


def _context(frame: Frame, t: int, members: list[int], arity: int) -> list[int]:
    """Return the columns nearest to a small blanket, as many as it takes to put a latent to the test."""
    context: list[int] = []
    outside = [j for j in range(frame.n_columns) if j != t and j not in members]
    if members and outside and not can_be_tested(frame.arities[[*members, t]], arity):
        tests = TableTests(MemoryCounter(frame), reliability=0.0)
        effects = np.max([tests.scan(outside, m).effect for m in members], axis=0)
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
        raise ParameterError(f"'blanket' holds the target or a name twice: {listed(blanket)}")
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
            graph=to_networkx(stage.fit.parents, names),
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

    def _ordered(self, network: Network) -> tuple[Network, dict[int, list[int]]]:
        """Return the network with the states of each latent by p(last level of the target | state), and the orders."""
        orders = {}
        for h in self.stage.latents:
            joint = joint_with_target(self.stage, h)
            chance = joint[-1] / np.maximum(joint.sum(axis=0), 1e-300)
            orders[h] = [int(k) for k in np.lexsort((joint.sum(axis=0), chance))]
            network = network.relabeled(h, orders[h])
        return network, orders

    def _latent(self, h: int, network: Network, order: list[int]) -> Latent:
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
            information=information(joint),
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
        latent=latent,
        subspace=subspace,
        members=members,
        mi=m.mi,
        bic=m.bic,
        error=m.error,
        cll=m.cll,
        refused=refused,
    )
