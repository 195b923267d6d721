"""`discover` and `discover_all`: from any table to Markov blankets, with the reasons."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets._drivers import labelling_drivers
from blankets._engine import Engine, at_hand, fingerprint_of
from blankets._progress import Progress, shown
from blankets._study import Study, generator_from, read_study, threads_from
from blankets.counting import SqlCounter, kernels_ready
from blankets.data import DataReport, ingest, ingest_numeric
from blankets.errors import (
    DuplicateColumnWarning,
    Interrupted,
    ParameterError,
    TargetError,
    TooFewRowsWarning,
    did_you_mean,
    listed,
)
from blankets.independence import IndependenceTest, PartialCorrelation, table_tests
from blankets.regimes import Question, Regime, Surrogate, SurrogateColumn
from blankets.results import Blanket, Blankets, describe, determined_sentence, joined
from blankets.search import ALGORITHMS, Algorithm, Found, Trace, check_options, choose, find, orient, resolve_roles

__all__ = ["algorithms", "discover", "discover_all"]

Seed = np.random.Generator | int | None

LOG = logging.getLogger("blankets")
COMPILING = "compiling the counting kernels for this machine; this happens once"

TESTS = ("g", "x2", "auto", "fisher-z")


def discover(
    data: Any,
    target: str | int | None = None,
    *,
    y: ArrayLike | None = None,
    algorithm: str = "auto",
    alpha: float = 0.01,
    test: str = "g",
    dof: str = "adjusted",
    reliability: float = 5.0,
    strength: str = "p-value",
    roles: bool = False,
    labels: str | Regime = "auto",
    prior: object = None,
    positive: object = None,
    unlabelled_marker: object = "auto",
    surrogate: str | None = None,
    force: bool = False,
    given_drivers: bool = True,
    discretise: str | Mapping[str, str] = "sturges",
    bins: int | None = None,
    missing: str = "error",
    keep: Sequence[str] = (),
    exclude: Sequence[str] = (),
    engine: str = "auto",
    address: str | None = None,
    memory_limit: int | str | None = None,
    checkpoint: str | Path | None = None,
    n_threads: int | None = None,
    progress: Progress = False,
    rng: Seed = None,
    **options: Any,
) -> Blanket:
    """Find the Markov blanket of a target: the smallest set of features that makes all others irrelevant.

    Parameters
    ----------
    data : data frame, array, sparse matrix, path to a CSV or Parquet file, Frame, Store or SqlTable
        The table; also a folder, a glob or a list of files, and the path of a store (see `pack`). Columns may
        be categorical, text, numbers or booleans; continuous ones are cut into levels by the rule ``discretise``
        (not for ``test="fisher-z"``).
    target : str or int, optional
        Name of the target column (its number, for an array without names).
    y : array_like, optional
        The target, where it is not a column of ``data``.
    algorithm : str
        A name from `algorithms`, or "auto": picked by rows, features and levels; the result says why.
    alpha : float
        Significance level of every test: dependent if p <= alpha.
    test : {"g", "x2", "auto", "fisher-z"}
        Likelihood-ratio or Pearson's chi-square test of count tables, the likelihood-ratio test calibrated for
        sparse tables (by its moments or by permutation, where chi-square is no guide), or partial correlation
        of numbers.
    dof : {"adjusted", "nominal"}
        Degrees of freedom for p-values: those that the levels seen in each stratum leave, or the product
        of all levels.
    reliability : float
        A test is performed if there are this many rows for each nominal degree of freedom (0: always).
    strength : {"p-value", "information"}
        How candidates are compared.
    roles : bool
        Also find out who is neighbour and who is spouse, for algorithms that do not tell by themselves, and
        which neighbours are parents or children, where the data can tell.
    labels : str or Regime
        How labels of the target went missing: "supervised" (none did), "pu" (only positives are labelled),
        "mcar", "mar-f", "mar-c", or a regime such as ``bl.PositiveUnlabelled(prior=0.2)``. Rows without a
        label have a missing target, or -1. "auto" takes the regime that the labels suggest, if only one does.
    prior : float, str, (low, high), distribution or None
        What is known about p(y=1), for example 0.2, "<0.4" or ``bl.Beta(...)``.
    positive : object, optional
        The positive class, where labels are missing and the target has more than two classes.
    unlabelled_marker : object
        A value of the target that means unlabelled, where it is neither a missing value nor -1.
    surrogate : {"listwise", "ym", "y0", "y1", "pairwise"}, optional
        What stands in for the target; by default the most powerful valid one. "pairwise" deletion has no
        guaranteed level; it is a rival to compare with (and the default of the algorithm "bassum").
    force : bool
        Use a surrogate that is not valid; the result says so.
    given_drivers : bool
        For ``labels="mar-f"``: first find the features on which labelling depends, from all rows, and condition
        every test with the target on them, as only then labelled rows are a fair sample. Not for "pc" and the
        "n-pc" algorithms, which orient edges by separating sets and may gain false members by it.
    discretise, bins, missing, keep, exclude
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
    n_threads : int, optional
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
    _check_alpha(alpha)
    named = None if algorithm == "auto" else _checked(algorithm, options)
    reading = {"discretise": discretise, "bins": bins, "missing": missing, "keep": keep, "exclude": exclude}
    where = {"engine": engine, "address": address, "memory_limit": memory_limit, "checkpoint": checkpoint}
    run = _run(algorithm, alpha, roles, dof, reliability, strength, rng, options)
    run |= {"target": target, "labels": str(labels), "prior": str(prior), "surrogate": surrogate, "positive": positive}
    with shown(progress) as tell, _placed(data, target, where, reading, run, n_threads, tell, test) as (data, engine_):
        _announce_compilation(tell)
        setting = _read(
            data,
            target,
            y,
            test=test,
            dof=dof,
            reliability=reliability,
            strength=strength,
            n_threads=n_threads,
            seed=_seed_of(rng, test),
            about_labels={
                "labels": labels,
                "prior": prior,
                "positive": positive,
                "unlabelled_marker": unlabelled_marker,
                "surrogate": surrogate,
                "usual": None if named is None else named.surrogate,
                "force": force,
                "drivers_at": alpha if given_drivers else None,
            },
            reading=reading,
            engine=engine_,
        )
        chosen, why = (named, "") if named is not None else _picked(setting, setting.only_target, options)
        search = _Search(setting, chosen, why, alpha, roles, options, generator_from(rng), tell)
        return search.blanket_of(setting.only_target)


def discover_all(
    data: Any,
    targets: Iterable[str] | None = None,
    *,
    algorithm: str = "auto",
    alpha: float = 0.01,
    test: str = "g",
    dof: str = "adjusted",
    reliability: float = 5.0,
    strength: str = "p-value",
    roles: bool = False,
    discretise: str | Mapping[str, str] = "sturges",
    bins: int | None = None,
    missing: str = "error",
    keep: Sequence[str] = (),
    exclude: Sequence[str] = (),
    engine: str = "auto",
    address: str | None = None,
    memory_limit: int | str | None = None,
    checkpoint: str | Path | None = None,
    n_threads: int | None = None,
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
    algorithm, alpha, test, dof, reliability, strength, roles, discretise, bins, missing, keep, exclude
        As for `discover`; ``algorithm="auto"`` picks one for all targets.
    engine, address, memory_limit, checkpoint, n_threads, progress, rng, **options
        As for `discover`.

    Returns
    -------
    Blankets
        A mapping from target to `Blanket`; its ``network()`` is the Markov network.

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
    _check_alpha(alpha)
    named = None if algorithm == "auto" else _checked(algorithm, options)
    began = time.perf_counter()
    reading = {"discretise": discretise, "bins": bins, "missing": missing, "keep": keep, "exclude": exclude}
    where = {"engine": engine, "address": address, "memory_limit": memory_limit, "checkpoint": checkpoint}
    run = _run(algorithm, alpha, roles, dof, reliability, strength, rng, options)
    with shown(progress) as tell, _placed(data, None, where, reading, run, n_threads, tell, test) as (data, engine_):
        _announce_compilation(tell)
        setting = _read(
            data,
            None,
            None,
            test=test,
            dof=dof,
            reliability=reliability,
            strength=strength,
            n_threads=n_threads,
            seed=_seed_of(rng, test),
            about_labels={},
            reading=reading,
            engine=engine_,
        )
        wanted = setting.targets(targets)
        chosen, why = (named, "") if named is not None else _picked(setting, wanted[0], options)
        # A generator for each target, so that the answers do not depend on which thread takes which.
        seeds = generator_from(rng).spawn(len(wanted))
        searches = [_Search(setting, chosen, why, alpha, roles, options, seed, tell) for seed in seeds]
        with ThreadPoolExecutor(setting.n_threads) as pool:
            found = list(pool.map(lambda pair: pair[0].blanket_of(pair[1]), zip(searches, wanted, strict=True)))
    return Blankets(
        {blanket.target: blanket for blanket in found},
        n_tests=setting.tests.n_tests,
        seconds=time.perf_counter() - began,
        warnings=tuple(dict.fromkeys(sentence for blanket in found for sentence in blanket.warnings)),
    )


def algorithms() -> list[Algorithm]:
    """Return all algorithms, each with its paper, what it guarantees and when to use it.

    Examples
    --------
    >>> import blankets as bl
    >>> next(entry.when for entry in bl.algorithms() if entry.name == "iamb")
    'A fast first answer when rows are plentiful compared with the size of the blanket.'
    """
    return sorted([*ALGORITHMS.values(), _sll()], key=lambda entry: entry.name)


@dataclass(frozen=True, eq=False)
class _Setting:
    """The data, ready to be asked, and how they were read."""

    tests: IndependenceTest
    arities: NDArray[np.int64]
    n_rows: int
    target: int | None
    choices: dict[str, Any]
    report: DataReport
    n_threads: int
    said: tuple[str, ...] = ()

    @property
    def only_target(self) -> int:
        """The target, where there is to be one."""
        if self.target is None:
            raise TargetError("no target was named; give its column name as 'target', or its values as 'y'")
        return self.target

    def targets(self, names: Iterable[str] | None) -> list[int]:
        """Return the numbers of the columns that are to be targets; default all."""
        if names is None:
            return list(range(len(self.tests.names)))
        if not isinstance(names, Iterable):
            raise ParameterError.out_of_range("targets", names, "a list of column names")
        wanted = [self.column(name) for name in ([names] if isinstance(names, str) else dict.fromkeys(names))]
        if not wanted:
            raise ParameterError("'targets' is empty; name a column, or leave it out for all columns")
        return wanted

    def column(self, name: str) -> int:
        """Return the number of a column that is to be a target."""
        if name not in self.tests.names:
            why = self.excluded.get(name)
            hint = f": {why}" if why else did_you_mean(str(name), self.tests.names)
            raise TargetError(f"{name!r} cannot be a target{hint}")
        return self.tests.names.index(name)

    @cached_property
    def excluded(self) -> dict[str, str]:
        """Columns that are not searched, and why."""
        return self.report.left_out

    @cached_property
    def report_as_data(self) -> dict[str, Any]:
        """What was done to the table, shared by the blankets of all targets."""
        return self.report.to_dict()


def _read(
    data: Any,
    target: str | int | None,
    y: ArrayLike | None,
    *,
    test: str,
    n_threads: int | None,
    seed: int,
    about_labels: dict[str, Any],
    reading: dict[str, Any],
    engine: Engine,
    **testing: Any,
) -> _Setting:
    """Read the table and prepare the tests."""
    if test not in TESTS:
        raise ParameterError.not_one_of("test", test, TESTS)
    choices = {"test": test, **testing, **reading}
    threads = threads_from(n_threads)
    tests: IndependenceTest
    if test == "fisher-z":
        numbers = ingest_numeric(data, target, y=y, missing=reading["missing"], exclude=reading["exclude"])
        tests = PartialCorrelation(numbers.values, numbers.names, reliability=testing["reliability"])
        arities = np.full(len(numbers.names), 2, np.int64)
        return _Setting(tests, arities, len(numbers.values), numbers.target, choices, numbers.report, threads)
    if isinstance(data, SqlCounter):
        tests = table_tests(engine.remembered(data, fingerprint_of(data)), statistic=test, seed=seed, **testing)
        place = None if target is None else data.names.index(str(target))
        return _Setting(tests, data.arities, data.n_rows, place, choices, data.report, threads)
    if target is None and y is None and not isinstance(data, Study):
        table = ingest(data, **reading)
        tests = table_tests(engine.counter(table.frame), statistic=test, seed=seed, **testing)
        return _Setting(tests, table.frame.arities, table.frame.n_rows, None, choices, table.report, threads)
    asked = {name: about_labels.pop(name) for name in ("surrogate", "usual", "force", "drivers_at")}
    study = (
        data
        if isinstance(data, Study)
        else read_study(data, target, y, n_threads=threads, engine=engine, **about_labels, **reading)
    )
    return _studied(study, choices, {"statistic": test, "seed": seed, **testing}, **asked)


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
    n_threads: int | None,
    tell: Callable[[str], None] | None,
    test: str,
) -> AbstractContextManager[tuple[Any, Engine]]:
    """Return a context in which the data are where they are to be counted."""
    threads = threads_from(n_threads)
    if test == "fisher-z":
        asked = [name for name in ("address", "checkpoint") if where[name] is not None]
        if where["engine"] not in ("auto", "memory") or asked:
            raise ParameterError(
                "test='fisher-z' needs all numbers in memory; 'engine' and 'checkpoint' are for counts"
            )
        return nullcontext((data, Engine(threads)))
    about = {"test": test, **run, "reading": reading}
    return at_hand(data, target, **where, n_threads=threads, reading=reading, about=about, tell=tell)


def _studied(
    study: Study,
    choices: dict[str, Any],
    testing: dict[str, Any],
    *,
    surrogate: str | None,
    usual: str | None,
    force: bool,
    drivers_at: float | None,
) -> _Setting:
    """Prepare the tests of a target that may be partly labelled; ``usual`` is the algorithm's own surrogate."""
    column = study.surrogate(surrogate or (usual if study.labels.n_unlabelled else None), force=force)
    drivers: tuple[int, ...] = ()
    if drivers_at is not None and study.regime.name == "mar-f" and column.surrogate is Surrogate.LISTWISE:
        drivers = labelling_drivers(study, alpha=drivers_at, **testing)
    tests = study.tests(column, drivers=drivers, **testing)
    arities = study.frame.arities.copy()
    arities[study.target] = len(column.levels)
    choices |= {"labels": study.regime.name, "prior": study.regime.prior and str(study.regime.prior)}
    choices |= {"surrogate": column.surrogate.value, "surrogate_is_valid": not column.forced}
    choices |= {"drivers": [study.frame.names[x] for x in drivers]} if drivers else {}
    choices |= _power(study, column)
    most_dof = column.n_rows / testing["reliability"] if testing["reliability"] else np.inf
    said = () if column.surrogate is Surrogate.FULL else (_said(study, column), *_on_drivers(study, drivers, most_dof))
    return _Setting(tests, arities, column.n_rows, study.target, choices, study.report, study.n_threads, said)


def _power(study: Study, column: SurrogateColumn) -> dict[str, Any]:
    """Return what is known of the power that missing labels leave."""
    unknown = column.forced or column.surrogate is Surrogate.FULL or Question.POWER not in study.regime.answers
    if unknown:
        return {}
    kappa = study.regime.kappa(study.labels, column.surrogate)
    return {
        "kappa": kappa.value,
        "kappa_range": (kappa.low, kappa.high),
        "effective_rows": kappa.value * study.frame.n_rows,
    }


def _on_drivers(study: Study, drivers: tuple[int, ...], most_dof: float) -> tuple[str, ...]:
    """Say what drives labelling, and whether conditioning on it leaves anything to be tested."""
    if not drivers:
        return ()
    names = [study.frame.names[x] for x in drivers]
    sentence = f"Labelling depends on {joined(names)}; each test with the target is given that too."
    strata = float(np.prod(study.frame.arities[list(drivers)].astype(float)))
    if strata <= most_dof:
        return (sentence,)
    beyond = (
        f"{sentence} These have {strata:,.0f} joint levels, so many that the {study.labels.n_labelled:,} labelled rows "
        "are too few for any test within them: merge levels, or leave out the conditioning (given_drivers=False)"
    )
    warnings.warn(beyond, TooFewRowsWarning, stacklevel=5)
    return (beyond,)


def _seed_of(rng: Seed, test: str) -> int:
    """Return the seed of the tests; without one given, the same data get the same answer."""
    if test != "auto" or rng is None:
        return 0
    return int(generator_from(rng).integers(1 << 62))


def _said(study: Study, column: SurrogateColumn) -> str:
    """Return what was assumed about missing labels, and what stands in for the target."""
    valid = "" if not column.forced else " It is not valid here, and was asked for all the same:"
    return (
        f"{study.regime.describe(study.labels)} Each test with the target {column.surrogate.words}."
        f"{valid} {column.note[:1].upper()}{column.note[1:]}."
    )


@dataclass(frozen=True, eq=False)
class _Search:
    """One algorithm with its options, ready to run on any target."""

    setting: _Setting
    algorithm: Algorithm
    why: str
    alpha: float
    roles: bool
    options: dict[str, Any]
    rng: np.random.Generator
    tell: Callable[[str], None] | None

    def blanket_of(self, target: int) -> Blanket:
        """Run the search and put its outcome into names."""
        began = time.perf_counter()
        tests, names = self.setting.tests, self.setting.tests.names
        tests_before = tests.n_tests
        trace = Trace(listener=self._listener(names[target]))
        try:
            found = self._run(target, trace)
        except KeyboardInterrupt:
            held = [names[x] for x in trace.members]
            raise Interrupted(names[target], held, trace.decisions[-1].phase if trace.decisions else "") from None
        blanket = describe(
            found,
            trace,
            names=names,
            target=target,
            evidence=tests.drop_one(found.members, target),
            algorithm=self.algorithm,
            why=self.why,
            settings={**self.setting.choices, "alpha": self.alpha, "roles": self.roles, **self.options},
            n_rows=self.setting.n_rows,
            n_tests=tests.n_tests - tests_before,
            seconds=time.perf_counter() - began,
            warnings=[*self.setting.said, *self._untestable(target)],
            data=self.setting.report_as_data,
            excluded=self.setting.excluded,
            by_effect=self.setting.choices["strength"] == "information",
        )
        _log(blanket)
        sentence = determined_sentence(blanket)
        if sentence is None:
            return blanket
        warnings.warn(sentence, DuplicateColumnWarning, stacklevel=2)
        return replace(blanket, warnings=(*blanket.warnings, sentence))

    def _run(self, target: int, trace: Trace) -> Found:
        tests = self.setting.tests
        candidates = [x for x in range(len(tests.names)) if x != target]
        options = {"rng": self.rng, **self.options} if "rng" in self.algorithm.options else self.options
        found = self.algorithm.run(tests, target, candidates, alpha=self.alpha, trace=trace, **options)
        return self._with_roles(found, target, trace) if self.roles else found

    def _with_roles(self, found: Found, target: int, trace: Trace) -> Found:
        """Tell neighbours from spouses, and parents from children where they can be told apart."""
        tests, alpha = self.setting.tests, self.alpha
        if not self.algorithm.roles:
            resolved = resolve_roles(tests, target, found.members, alpha=alpha, trace=trace)
            return replace(found, roles=resolved.roles, common_children=resolved.common_children)
        neighbours = [x for x in found.members if found.roles.get(x) != "spouse"]
        return replace(found, roles=orient(tests, target, neighbours, found.common_children, alpha=alpha))

    def _listener(self, target: str) -> Callable[[str], None] | None:
        tell = self.tell
        return None if tell is None else lambda phase: tell(f"{self.algorithm.name} on {target!r}: {phase}")

    def _untestable(self, target: int) -> list[str]:
        """Warn of columns that have too many levels for even a test without conditioning."""
        free = (self.setting.arities - 1) * (self.setting.arities[target] - 1)
        never = np.flatnonzero(self.setting.choices["reliability"] * free > self.setting.n_rows)
        beyond = [self.setting.tests.names[x] for x in never if x != target]
        if not beyond:
            return []
        sentence = (
            f"{self.setting.n_rows:,} rows are too few to test {listed(beyond)} against "
            f"{self.setting.tests.names[target]!r} at all: merge their levels, or lower 'reliability'"
        )
        warnings.warn(sentence, TooFewRowsWarning, stacklevel=2)
        return [sentence]


def _picked(setting: _Setting, target: int, options: Mapping[str, Any]) -> tuple[Algorithm, str]:
    """Pick an algorithm for the user, by rows, features and levels."""
    features = np.delete(setting.arities, target)
    name, why = choose(setting.n_rows, features, int(setting.arities[target]))
    return _checked(name, options), why


def _checked(name: str, options: Mapping[str, Any]) -> Algorithm:
    algorithm = _sll() if name == "sll" else find(name)
    check_options(algorithm, options)
    return algorithm


def _sll() -> Algorithm:
    """Return the one algorithm that scores networks instead of asking for independence."""
    from blankets.latent import SLL

    return SLL


def _check_alpha(alpha: float) -> None:
    if not (isinstance(alpha, int | float | np.number) and 0 < alpha < 1):
        raise ParameterError.out_of_range("alpha", alpha, "a significance level between 0 and 1, both excluded")


def _log(blanket: Blanket) -> None:
    """Log the answer as information, every decision for debugging."""
    LOG.info("%s: %s by %s, %d tests", blanket.target, blanket.members, blanket.algorithm, blanket.n_tests)
    if LOG.isEnabledFor(logging.DEBUG):
        for step in blanket.decisions:
            LOG.debug(
                "%s: %s %s, p = %.3g, given %s", step.phase, step.x, step.action, step.evidence.p, step.evidence.given
            )


def _announce_compilation(tell: Callable[[str], None] | None) -> None:
    """Say so if the first use on this machine is about to take some seconds longer."""
    if not kernels_ready():
        LOG.info(COMPILING)
        if tell is not None:
            tell(COMPILING)
