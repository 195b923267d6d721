"""`discover` and `discover_all`: from any table to Markov blankets, with the reasons."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from threading import Event
from typing import Any, Unpack

from numpy.typing import ArrayLike

from blankets.arguments import generator_from, number
from blankets.counting import count_alone
from blankets.data import ReadingOptions
from blankets.errors import Interrupted, guarded
from blankets.independence import IndependenceTest, Knowledge
from blankets.questions._question import question
from blankets.regimes import Regime
from blankets.results import Blanket, Blankets
from blankets.search import ALGORITHMS, Algorithm
from blankets.study import (
    Countdown,
    Engine,
    Progress,
    Search,
    Seed,
    Study,
    Testing,
    Wanted,
    carried_out,
    confirmed_on,
    open_study,
    rows_apart,
    sll,
)

# Rows x columns from which several threads are faster for many targets: below, they wait for Python's lock.
THREADS_WIN_ABOVE = 1_000_000


@question
def discover(
    data: Any,
    target: str | int | None = None,
    *,
    y: ArrayLike | None = None,
    algorithm: str = "auto",
    options: Mapping[str, Any] | None = None,
    alpha: float = 0.01,
    test: Testing | IndependenceTest | str = "auto",
    roles: bool = False,
    close: bool = True,
    knowledge: Knowledge | None = None,
    audit: bool = True,
    confirm: float | None = None,
    labels: Regime | str = "auto",
    prior: object = None,
    engine: Engine | str = "auto",
    n_jobs: int | None = None,
    progress: Progress = False,
    rng: Seed = None,
    **reading: Unpack[ReadingOptions],
) -> Blanket:
    """Find the Markov blanket of a target: the smallest set of features that makes all others irrelevant.

    Parameters
    ----------
    audit : bool
        Look over the answer for what `audit` warns of: members that nearly tell the target, identifiers, repeated
        persons, lost rows. What is found is printed with the answer, and in its attribute ``checks``.
    confirm : float, optional
        A share of the rows, such as 0.4, that has no part in the search: the members are tested there, with a
        probability of 0.05 of any false sentence (`Blanket.confirm`). Whole groups are set aside with ``groups=``, and
        the last rows if rows follow each other in time.

    Returns
    -------
    Blanket

    Examples
    --------
    >>> import numpy as np
    >>> import blankets as bl
    >>> rng = np.random.default_rng(7)
    >>> smoker, city = rng.random(500) < 0.3, rng.choice(["north", "south"], 500)
    >>> cough = rng.random(500) < np.where(smoker, 0.7, 0.1)
    >>> blanket = bl.discover({"smoker": smoker, "city": city, "cough": cough}, "smoker")
    >>> blanket.members
    ('cough',)
    """
    wanted = Wanted.of(algorithm, options, alpha, roles=roles, close=close, knowledge=knowledge, audit=audit)
    with open_study(
        data,
        target,
        y,
        reading=reading,
        labels=labels,
        prior=prior,
        test=test,
        engine=engine,
        n_jobs=n_jobs,
        progress=progress,
        about={**wanted.about, "rng": rng},
        knows_groups=True,
        pools=True,
        numbers=True,
    ) as study:
        if confirm is None:
            return Search.of(study, wanted, rng).blanket_of(study.target)
        number("confirm", confirm, "a share of the rows between 0 and 1", above=0.0, below=1.0)
        first, rest, how = rows_apart(study, confirm, generator_from(rng))
        blanket = Search.of(study.take(first), wanted, rng).blanket_of(study.target)
        found = confirmed_on(study.take(rest), wanted, blanket.members, alpha=0.05, how=how)
        return replace(blanket, confirmation=found, call=study.mark)


@question
def discover_all(
    data: Any,
    targets: Iterable[str] | None = None,
    *,
    algorithm: str = "auto",
    options: Mapping[str, Any] | None = None,
    alpha: float = 0.01,
    test: Testing | IndependenceTest | str = "auto",
    roles: bool = False,
    close: bool = True,
    knowledge: Knowledge | None = None,
    engine: Engine | str = "auto",
    n_jobs: int | None = None,
    progress: Progress = False,
    rng: Seed = None,
    **reading: Unpack[ReadingOptions],
) -> Blankets:
    """Find the Markov blanket of every variable, or of some, sharing counts and searches between them.

    Blankets are symmetric: where the table holds numbers, the default search asks once more about a column that has
    the target in its own blanket, so that there may be members which `discover` for that target alone leaves out.

    Parameters
    ----------
    targets : iterable of str, optional
        Names of the targets; default all columns. ``algorithm="auto"`` picks one algorithm for all of them.

    Returns
    -------
    Blankets
        A mapping from target to `Blanket`; its ``network()`` is the Markov network.

    Raises
    ------
    Interrupted
        If the user stops it (Ctrl-C). Its attribute ``found`` has the blankets finished so far.

    Examples
    --------
    >>> import numpy as np
    >>> import blankets as bl
    >>> rng = np.random.default_rng(1)
    >>> a = rng.integers(0, 2, 1000)
    >>> b, c = (a + (rng.random((2, 1000)) < 0.2)) % 2
    >>> found = bl.discover_all({"a": a, "b": b, "c": c})
    >>> {target: blanket.members for target, blanket in found.items()}
    {'a': ('b', 'c'), 'b': ('a',), 'c': ('a',)}
    """
    wanted = Wanted.of(algorithm, options, alpha, roles=roles, close=close, knowledge=knowledge)
    began = time.perf_counter()
    with open_study(
        data,
        reading=reading,
        test=test,
        engine=engine,
        n_jobs=n_jobs,
        progress=progress,
        about={**wanted.about, "rng": rng},
        knows_groups=True,
        pools=True,
        needs_target=False,
        numbers=True,
    ) as study:
        threads = _threads_that_pay(study)
        search = Search.of(study.on_one_thread() if threads == 1 else study, wanted, rng)
        at = search.knows.targets(study.targets(targets), named=targets is not None)
        stop, count = Event(), Countdown(len(at), "targets", study.tell)
        tell = study.tell
        step = None if tell is None else lambda sentence: tell(f"{count.words}; {sentence}")
        search = replace(search, tell=step, stop=stop)
        # A generator for each target, so that the answers do not depend on which thread takes which.
        seed, draws = generator_from(rng), "rng" in search.algorithm.options
        own = [replace(search, rng=each) for each in seed.spawn(len(at))] if draws else [search] * len(at)
        tasks = [partial(one.blanket_of, x) for one, x in zip(own, at, strict=True)]
        found: dict[int, Blanket] = {}
        try:
            carried_out(tasks, found, threads, count=count, stop=stop, initializer=count_alone)
            _from_both_ends(search, at, found, threads)
        except Interrupted as stopped:
            kept = _together(found, search, began)
            done = f"{len(kept)} of {len(at)} targets are done"
            raise Interrupted(stopped.target, stopped.members, stopped.phase, kept, done) from None
        except KeyboardInterrupt:  # while waiting for other threads
            kept = _together(found, search, began)
            first = next(study.names[x] for i, x in enumerate(at) if i not in found)
            raise Interrupted(first, found=kept, done=f"{len(kept)} of {len(at)} targets are done") from None
    return _together(found, search, began)


def _from_both_ends(search: Search, at: Sequence[int], found: dict[int, Blanket], threads: int) -> None:
    """Ask again about targets whose blankets have members that do not have them, at both ends; methods, section 16."""
    if not search.asks_both_ends:
        return
    place = {search.tests.names[x]: x for x in at}
    missed: dict[int, list[int]] = {}  # columns that have a target in their blankets and are not in the target's
    for blanket, other in _one_sided(found.values()):
        missed.setdefault(place[other.target], []).append(place[blanket.target])
    _ask_again(search, at, found, threads, {x: (others, ()) for x, others in missed.items()})
    alone: dict[int, list[int]] = {}  # weak members of a target whose own blankets do not have it, and which can tell
    for blanket, other in _one_sided(found.values()):
        if other.target in blanket.weak and not other.cannot_say(blanket.target):
            alone.setdefault(place[blanket.target], []).append(place[other.target])
    _ask_again(search, at, found, threads, {x: (missed.get(x, ()), some) for x, some in alone.items()})


def _one_sided(found: Iterable[Blanket]) -> list[tuple[Blanket, Blanket]]:
    """Return pairs of blankets, of which the first has the target of the second, and not the other way round."""
    of = {blanket.target: blanket for blanket in found}
    pairs = ((blanket, of[z]) for blanket in of.values() for z in blanket.members if z in of)
    return [(one, other) for one, other in pairs if one.target not in other.members]


def _ask_again(
    search: Search,
    at: Sequence[int],
    found: dict[int, Blanket],
    threads: int,
    told: Mapping[int, tuple[Collection[int], Collection[int]]],
) -> None:
    """Ask again about some targets, given what is told of each, and put the answers there."""
    places = [i for i, x in enumerate(at) if x in told]
    tasks = [partial(search.blanket_of, at[i], *told[at[i]]) for i in places]
    again: dict[int, Blanket] = {}
    stop, count = search.stop or Event(), Countdown(len(tasks), "targets again", None)
    carried_out(tasks, again, threads, count=count, stop=stop, initializer=count_alone)
    found.update((places[i], blanket) for i, blanket in again.items())


def _threads_that_pay(study: Study) -> int:
    """Return the number of threads for many targets: one for a small table, where more would not be faster."""
    return 1 if len(study.names) * study.n_rows < THREADS_WIN_ABOVE else study.place.n_jobs


def _together(found: Mapping[int, Blanket], search: Search, began: float) -> Blankets:
    blankets = [found[i] for i in sorted(found)]
    return Blankets(
        {blanket.target: blanket for blanket in blankets},
        n_tests=search.tests.n_tests,
        seconds=time.perf_counter() - began,
        warnings=tuple(
            dict.fromkeys((*(said for blanket in blankets for said in blanket.warnings), *search.knows.no_targets))
        ),
    )


@guarded
def algorithms() -> list[Algorithm]:
    """Return all algorithms, each with its paper, what it guarantees and when to use it.

    Returns
    -------
    list of Algorithm
        By name; each has ``name``, ``reference``, ``when`` (to use it), ``sound`` (exact if every test is right),
        ``roles`` and ``options``.

    Examples
    --------
    >>> import blankets as bl
    >>> next(entry.when for entry in bl.algorithms() if entry.name == "iamb")
    'A fast first answer when there are many rows for the size of the blanket.'
    """
    return sorted([*ALGORITHMS.values(), sll()], key=lambda entry: entry.name)
