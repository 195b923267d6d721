"""`discover` and `discover_all`: from any table to Markov blankets, with the reasons."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from blankets.arguments import flag, generator_from, level_of, one_of, threads_from
from blankets.counting import count_alone
from blankets.data import manifest_of
from blankets.errors import Interrupted, ParameterError
from blankets.progress import Progress, shown
from blankets.regimes import Regime
from blankets.results import Blanket, Blankets
from blankets.search import ALGORITHMS, Algorithm
from blankets.study._engine import ENGINES, Engine, at_hand
from blankets.study._searching import Search, checked, picked, sll
from blankets.study._setting import TESTS, Seed, Setting, calibration_of, read
from blankets.study._work import Countdown, carried_out

__all__ = ["algorithms", "discover", "discover_all"]

LOG = logging.getLogger("blankets")
# Rows x columns from which threads for many targets pay: below, they wait for each other's Python.
THREADS_WIN_ABOVE = 1_000_000


def discover(
    data: Any,
    target: str | int | None = None,
    *,
    y: ArrayLike | None = None,
    algorithm: str = "auto",
    alpha: float = 0.01,
    test: str = "auto",
    dof: str = "adjusted",
    reliability: float = 5.0,
    strength: str = "p-value",
    roles: bool = False,
    labels: str | Regime = "auto",
    prior: object = None,
    positive: object = None,
    unlabeled_marker: object = "auto",
    surrogate: str | None = None,
    force: bool = False,
    given_drivers: bool = True,
    discretize: str | Mapping[str, str] = "sturges",
    bins: int | None = None,
    missing: str = "error",
    keep: Sequence[str] = (),
    exclude: Sequence[str] = (),
    engine: str = "auto",
    address: str | None = None,
    memory_limit: int | str | None = None,
    checkpoint: str | Path | None = None,
    n_jobs: int | None = None,
    progress: Progress = False,
    rng: Seed = None,
    **options: Any,
) -> Blanket:
    """Find the Markov blanket of a target: the smallest set of features that makes all others irrelevant.

    Parameters
    ----------
    data : data frame, array, sparse matrix, path to a CSV or Parquet file, Frame, Store or SqlTable
        The table; also a folder, a glob or a list of files, and the path of a store (see `pack`). Columns may
        be categorical, text, numbers or booleans; continuous ones are cut into levels by the rule ``discretize``
        (not for ``test="fisher-z"``).
    target : str or int, optional
        Name of the target column (its number, for an array without names).
    y : array_like, optional
        The target, where it is not a column of ``data``.
    algorithm : str
        A name from `algorithms`, or "auto": picked by rows, features and levels; the result says why. Where
        near copies put each other out, so that nothing is left, "auto" goes on to "iamb".
    alpha : float
        Significance level of every test: dependent if p <= alpha.
    test : {"auto", "g", "x2", "fisher-z"}
        The likelihood-ratio test of count tables with p-values that hold in sparse tables too (chi-square where
        that is trustworthy, otherwise by the moments of the statistic, or exact, or by permutation; each says
        which), the likelihood-ratio or Pearson's test by the chi-square formula, or partial correlation of numbers.
    dof : {"adjusted", "nominal"}
        Degrees of freedom for the formula of "g" and "x2": those that the levels seen in each stratum leave, or
        the product of all levels.
    reliability : float
        A test is performed if there are this many rows for each nominal degree of freedom (0: always).
    strength : {"p-value", "information"}
        How candidates are compared.
    roles : bool
        Also find out who is neighbor and who is spouse, for algorithms that do not tell by themselves, and
        which neighbors are parents or children, where the data can tell.
    labels : str or Regime
        How labels of the target went missing: "supervised" (none did), "pu" (only positives are labeled),
        "mcar", "mar-f", "mar-c", or a regime such as ``bl.PositiveUnlabeled(prior=0.2)``. Rows without a
        label have a missing target, or -1. "auto" takes the regime that the labels suggest, if only one does.
    prior : float, str, (low, high), distribution or None
        What is known about p(y=1), for example 0.2, "<0.4" or ``bl.Beta(...)``.
    positive : object, optional
        The positive class, where labels are missing and the target has more than two classes.
    unlabeled_marker : object
        A value of the target that means unlabeled, where it is neither a missing value nor -1.
    surrogate : {"listwise", "ym", "y0", "y1", "pairwise"}, optional
        What stands in for the target; by default the most powerful valid one. "pairwise" deletion has no
        guaranteed level; it is a rival to compare with (and the default of the algorithm "bassum").
    force : bool
        Use a surrogate that is not valid; the result says so.
    given_drivers : bool
        For ``labels="mar-f"``: first find the features on which labeling depends, from all rows, and condition
        every test with the target on them, as only then labeled rows are a fair sample. Not for "pc" and the
        "n-pc" algorithms, which orient edges by separating sets and may gain false members by it.
    discretize, bins, missing, keep, exclude
        How the table is read: see `blankets.data.ingest`.
    engine : {"auto", "memory", "dask", "sql"}
        Where rows are counted; the answer does not depend on it. "auto": in memory, or from packed codes on disk
        if files will not fit; "memory": in memory even so; "dask": on a cluster, which reads packed codes from the
        folder for temporary files or from the store given as ``data``; "sql": within the database of a `SqlTable`.
    address : str, optional
        The scheduler of a Dask cluster; default: a new one on this machine.
    memory_limit : int or str, optional
        Memory that reading may take, in bytes or as "2 GB"; default half of what is free.
    checkpoint : str or Path, optional
        A file in which the answers of all tests are kept: a run that was killed continues from there.
    n_jobs : int, optional
        Number of threads; default all processors. The answer does not depend on it.
    progress : bool or callable
        Show a progress line on a terminal, or call this with a sentence for every step.
    rng : int, Generator or None
        Seed, for algorithms and tests that draw random numbers (None: for tests always the same).
    **options
        Options of the algorithm, for example ``k=2`` for "fbed".

    Returns
    -------
    Blanket

    Examples
    --------
    >>> import blankets as bl
    >>> rng = np.random.default_rng(7)
    >>> smoker, city = rng.random(500) < 0.3, rng.choice(["north", "south"], 500)
    >>> cough = rng.random(500) < np.where(smoker, 0.7, 0.1)
    >>> blanket = bl.discover({"smoker": smoker, "city": city, "cough": cough}, "smoker")
    >>> blanket.members
    ('cough',)
    """
    asked = dict(locals())
    level_of(alpha)
    flag("roles", roles)
    named = None if isinstance(algorithm, str) and algorithm == "auto" else checked(algorithm, options)
    reading = {"discretize": discretize, "bins": bins, "missing": missing, "keep": keep, "exclude": exclude}
    where = {"engine": engine, "address": address, "memory_limit": memory_limit, "checkpoint": checkpoint}
    run = _run(algorithm, alpha, roles, dof, reliability, strength, rng, options)
    run |= {"target": target, "labels": str(labels), "prior": str(prior), "surrogate": surrogate, "positive": positive}
    with (
        shown(progress) as tell,
        _placed(data, target, where, reading, run, n_jobs, tell, test) as (data, engine_),
    ):
        setting = read(
            data,
            target,
            y,
            test=test,
            dof=dof,
            reliability=reliability,
            strength=strength,
            n_jobs=n_jobs,
            calibration=calibration_of(rng, test, None if _by_fdr(named) else alpha),
            about_labels={
                "labels": labels,
                "prior": prior,
                "positive": positive,
                "unlabeled_marker": unlabeled_marker,
                "surrogate": surrogate,
                "usual": None if named is None else named.surrogate,
                "force": flag("force", force),
                "drivers_at": alpha if flag("given_drivers", given_drivers) else None,
            },
            reading=reading,
            engine=engine_,
        )
        chosen, why, otherwise = picked(setting, setting.only_target, options) if named is None else (named, "", None)
        manifest = manifest_of("discover", asked, setting.fingerprint)
        how = (chosen, why, alpha, roles, options, generator_from(rng))
        search = Search(setting, *how, tell, manifest, otherwise=otherwise)
        return search.blanket_of(setting.only_target)


def discover_all(
    data: Any,
    targets: Iterable[str] | None = None,
    *,
    algorithm: str = "auto",
    alpha: float = 0.01,
    test: str = "auto",
    dof: str = "adjusted",
    reliability: float = 5.0,
    strength: str = "p-value",
    roles: bool = False,
    discretize: str | Mapping[str, str] = "sturges",
    bins: int | None = None,
    missing: str = "error",
    keep: Sequence[str] = (),
    exclude: Sequence[str] = (),
    engine: str = "auto",
    address: str | None = None,
    memory_limit: int | str | None = None,
    checkpoint: str | Path | None = None,
    n_jobs: int | None = None,
    progress: Progress = False,
    rng: Seed = None,
    **options: Any,
) -> Blankets:
    """Find the Markov blanket of every variable, or of some, sharing counts and searches between them.

    Parameters
    ----------
    data
        The table, as for `discover`.
    targets : iterable of str, optional
        Names of the targets; default all columns.
    algorithm, alpha, test, dof, reliability, strength, roles, discretize, bins, missing, keep, exclude
        As for `discover`; ``algorithm="auto"`` picks one for all targets.
    engine, address, memory_limit, checkpoint, n_jobs, progress, rng, **options
        As for `discover`.

    Returns
    -------
    Blankets
        A mapping from target to `Blanket`; its ``network()`` is the Markov network.

    Raises
    ------
    Interrupted
        If the user stops it (Ctrl-C): the blankets that were finished are its attribute ``found``.

    Examples
    --------
    >>> import blankets as bl
    >>> rng = np.random.default_rng(1)
    >>> a = rng.integers(0, 2, 1000)
    >>> b, c = (a + (rng.random((2, 1000)) < 0.2)) % 2
    >>> found = bl.discover_all({"a": a, "b": b, "c": c})
    >>> {target: blanket.members for target, blanket in found.items()}
    {'a': ('b', 'c'), 'b': ('a',), 'c': ('a',)}
    """
    asked = dict(locals())
    level_of(alpha)
    flag("roles", roles)
    named = None if isinstance(algorithm, str) and algorithm == "auto" else checked(algorithm, options)
    began = time.perf_counter()
    reading = {"discretize": discretize, "bins": bins, "missing": missing, "keep": keep, "exclude": exclude}
    where = {"engine": engine, "address": address, "memory_limit": memory_limit, "checkpoint": checkpoint}
    run = _run(algorithm, alpha, roles, dof, reliability, strength, rng, options)
    with (
        shown(progress) as tell,
        _placed(data, None, where, reading, run, n_jobs, tell, test) as (data, engine_),
    ):
        setting = read(
            data,
            None,
            None,
            test=test,
            dof=dof,
            reliability=reliability,
            strength=strength,
            n_jobs=n_jobs,
            calibration=calibration_of(rng, test, None if _by_fdr(named) else alpha),
            about_labels={},
            reading=reading,
            engine=engine_,
        )
        wanted = setting.targets(targets)
        chosen, why, otherwise = picked(setting, wanted[0], options) if named is None else (named, "", None)
        # A generator for each target, so that the answers do not depend on which thread takes which.
        seed = generator_from(rng)
        seeds = seed.spawn(len(wanted)) if "rng" in chosen.options else [seed] * len(wanted)
        manifest = manifest_of("discover_all", asked, setting.fingerprint)
        stop, count = Event(), Countdown(len(wanted), "targets", tell)
        step = None if tell is None else lambda sentence: tell(f"{count.words}; {sentence}")
        how = (chosen, why, alpha, roles, options)
        searches = [Search(setting, *how, seed, step, manifest, stop, otherwise) for seed in seeds]
        tasks = [partial(search.blanket_of, target) for search, target in zip(searches, wanted, strict=True)]
        found: dict[int, Blanket] = {}
        try:
            carried_out(tasks, found, _threads_that_pay(setting), count=count, stop=stop, initializer=count_alone)
        except Interrupted as stopped:
            kept = _together(found, setting, began)
            done = f"{len(kept)} of {len(wanted)} targets are done"
            raise Interrupted(stopped.target, stopped.members, stopped.phase, kept, done) from None
        except KeyboardInterrupt:  # while waiting for other threads
            kept = _together(found, setting, began)
            first = next(setting.tests.names[t] for i, t in enumerate(wanted) if i not in found)
            raise Interrupted(first, found=kept, done=f"{len(kept)} of {len(wanted)} targets are done") from None
    return _together(found, setting, began)


def _threads_that_pay(setting: Setting) -> int:
    """Return the number of threads for many targets: one, unless they count long enough."""
    return 1 if len(setting.tests.names) * setting.n_rows < THREADS_WIN_ABOVE else setting.n_jobs


def _together(found: Mapping[int, Blanket], setting: Setting, began: float) -> Blankets:
    blankets = [found[i] for i in sorted(found)]
    return Blankets(
        {blanket.target: blanket for blanket in blankets},
        n_tests=setting.tests.n_tests,
        seconds=time.perf_counter() - began,
        warnings=tuple(dict.fromkeys(sentence for blanket in blankets for sentence in blanket.warnings)),
    )


def algorithms() -> list[Algorithm]:
    """Return all algorithms, each with its paper, what it guarantees and when to use it.

    Examples
    --------
    >>> import blankets as bl
    >>> next(entry.when for entry in bl.algorithms() if entry.name == "iamb")
    'A fast first answer when rows are plentiful compared with the size of the blanket.'
    """
    return sorted([*ALGORITHMS.values(), sll()], key=lambda entry: entry.name)


def _run(
    algorithm: str,
    alpha: float,
    roles: bool,  # noqa: FBT001
    dof: str,
    reliability: float,
    strength: str,
    rng: Seed,
    options: dict[str, Any],
) -> dict[str, Any]:
    """Return what a checkpoint belongs to, besides the data and how they are read."""
    about = {"algorithm": algorithm, "alpha": alpha, "roles": roles, "dof": dof, "reliability": reliability}
    seed = "a generator" if isinstance(rng, np.random.Generator) else rng
    return {**about, "strength": strength, "rng": seed, "options": options}


def _placed(
    data: Any,
    target: str | int | None,
    where: dict[str, Any],
    reading: dict[str, Any],
    run: dict[str, Any],
    n_jobs: int | None,
    tell: Callable[[str], None] | None,
    test: str,
) -> AbstractContextManager[tuple[Any, Engine]]:
    """Return a context in which the data are where they are to be counted."""
    threads = threads_from(n_jobs)
    if one_of("test", test, TESTS) == "fisher-z":
        asked = [name for name in ("address", "checkpoint") if where[name] is not None]
        if one_of("engine", where["engine"], ENGINES) not in ("auto", "memory") or asked:
            raise ParameterError(
                "test='fisher-z' needs all numbers in memory; 'engine' and 'checkpoint' are for counts"
            )
        return nullcontext((data, Engine(threads)))
    about = {"test": test, **run, "reading": reading}
    return at_hand(data, target, **where, n_jobs=threads, reading=reading, about=about, tell=tell)


def _by_fdr(named: Algorithm | None) -> bool:
    """Whether p-values are compared with many levels, and not with ``alpha`` alone."""
    return named is not None and named.controls == "fdr"
