"""`discover_latent`: from any table to a Markov blanket with latent members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

from numpy.typing import ArrayLike

from blankets.arguments import generator_from
from blankets.data import ReadingOptions
from blankets.errors import NotAnswerableError
from blankets.latent import LatentBlanket, LatentSearch
from blankets.questions._question import question
from blankets.regimes import Regime, Surrogate, regime_from, surrogate_column
from blankets.study import Engine, Progress, Seed, open_study
from blankets.voice import option

# Why a label is missing decides whether EM may treat it as any other missing value.
IGNORABLE = ("supervised", "mcar", "mar-f")


@question
def discover_latent(
    data: Any,
    target: str | int | None = None,
    *,
    y: ArrayLike | None = None,
    blanket: Sequence[str] | None = None,
    algorithm: str = "iamb",
    method: str = "lmb-csem",
    score: str = "mi",
    arity: int = 2,
    n_restarts: int = 80,
    max_latents: int = 3,
    completion: str = "expected",
    max_parents: int | None = None,
    alpha: float = 0.05,
    options: Mapping[str, Any] | None = None,
    labels: Regime | str = "auto",
    engine: Engine | str = "auto",
    n_jobs: int | None = None,
    progress: Progress = False,
    rng: Seed = None,
    **reading: Unpack[ReadingOptions],
) -> LatentBlanket:
    """Find latent variables in the Markov blanket of a target.

    Labels may be missing completely at random ("mcar"), or depending on features ("mar-f"). EM, the method that
    fits models with hidden values, then treats them as missing values; features on which labeling depends are in
    every model. If a label is missing because of its own value, this is not possible.

    Parameters
    ----------
    blanket : sequence of str, optional
        The observed blanket; by default it is found by ``algorithm``.
    algorithm : str
        "sll", or the name of any blanket algorithm. A latent is found only if its effects are members, so the
        default is sensitive: "sll" decides by BIC, and misses weak members that a test at level 0.05 finds.
    method : {"lmb-csem", "sem", "scsem"}
        Constrained structural EM in one subspace after another; structural EM from random DAGs; structural EM from
        semi-cliques.
    score : {"mi", "bic", "error", "cll"}
        How to choose between subspaces (places for the latent): "mi", the information that the blanket has about the
        target in the fitted model, if the observed-data BIC supports the latent; BIC alone; training error;
        conditional likelihood.
    arity : int
        Number of states of each latent.
    n_restarts : int
        Number of starts of structural EM in each subspace.
    max_latents : int
        Largest number of latents; they are found one after another while the score rises.
    completion : {"expected", "sampled"}
        How hidden values are filled in before the next DAG is learned: by expected counts, or by ten draws per row.
    max_parents : int, optional
        Largest number of parents of a node.
    alpha : float
        Significance level, for algorithms that use tests.

    Returns
    -------
    LatentBlanket
        Members, latents and their places, and posterior probabilities for any rows.

    Notes
    -----
    A latent can be seen only if three or more columns depend on it. If the observed blanket is too small for that,
    the columns nearest to it are used as well; they do not become members. A blanket without members, and one with
    a single member and no other column, is returned as it is, except for tables of three binary columns.

    Blankets with a latent are considered if they are no larger than the observed one. With ``score="mi"`` the
    observed-data BIC must also rise: a latent that copies the target would always gain information. A binary target
    with two binary members is the exception: there no latent, even a true one, can raise the BIC. The Bayes factor
    decides instead, with uniform priors. It compares the latent with all DAGs without latents that have these members
    in the blanket and, unless you gave the blanket, with those in which the target is alone. The latent is kept unless
    the Bayes factor is against it by more than 1 nat (a factor of 2.7). This also judges membership, so if there are
    no members at ``alpha``, members at level 0.2 are tried. On networks of three binary columns without any latent,
    about one in ten still gets one; a ``support`` of 3 nats (a factor of 20) or more is rare among these.

    References
    ----------
    Gao & Ji (2016), Constrained local latent variable discovery, IJCAI.

    Examples
    --------
    A hidden cause of three symptoms of the target:

    >>> import numpy as np
    >>> import blankets as bl
    >>> rng = np.random.default_rng(1)
    >>> ill = rng.random(3000) < 0.4
    >>> hidden = np.where(rng.random(3000) < 0.85, ill, ~ill)
    >>> table = {name: np.where(rng.random(3000) < 0.8, hidden, ~hidden) for name in ("cough", "fever", "rash")}
    >>> found = bl.discover_latent({**table, "ill": ill}, "ill", n_restarts=6, rng=0)
    >>> found.members, sorted(found.latents[0].replaced)
    (('H1',), ['cough', 'fever', 'rash'])
    >>> found.posterior({name: [True, False] for name in table}).argmax(axis=1).tolist()
    [1, 0]
    """
    search = LatentSearch(
        blanket=blanket,
        algorithm=algorithm,
        options={} if options is None else options,
        alpha=alpha,
        method=method,
        score=score,
        arity=arity,
        n_restarts=n_restarts,
        max_latents=max_latents,
        completion=completion,
        max_parents=max_parents,
    )
    if labels != "auto":
        _check_ignorable(regime_from(labels))
    generator = generator_from(rng)
    with open_study(
        data, target, y, reading=reading, labels=labels, engine=engine, n_jobs=n_jobs, progress=progress
    ) as study:
        _check_ignorable(study.regime)
        frame, labeled = study.complete_frame("discover_latent"), None
        if study.labels.n_unlabeled:
            column = surrogate_column(study.labels, Surrogate.LISTWISE)
            frame, labeled = frame.with_column(study.target_name, column.codes, column.levels), study.labels.labeled
        effort = search.effort(study.place.n_jobs, study.tell)
        found = search.found(frame, study.target, labeled, study.coder, effort, generator, study.drivers)
        drivers = {"drivers": [study.names[w] for w in study.drivers]} if study.drivers else {}
        settings = {**found.settings, "labels": study.regime.name, **drivers}
        return replace(found, settings=settings, call=study.mark)


def _check_ignorable(regime: Regime) -> None:
    if regime.name not in IGNORABLE:
        raise NotAnswerableError(
            f"{option(labels=regime.name)}: whether a label is missing depends on the label itself, so the "
            f"model would be "
            "biased; latents can be sought where labels are missing completely at random ('mcar') or by features "
            "('mar-f')"
        )
