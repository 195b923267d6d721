"""`stability`: how often each feature is in the blanket when the rows are drawn again.

Rows are drawn from the codes of a table that is read once. They are drawn class by class, unlabeled rows being a
class of their own, so that each draw has the class shares and the labeled shares of the whole: what is assumed
of the labels holds for it as well. Numbers are drawn likewise, by the values of the target if these are few.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets.arguments import generator_from, number, one_of, threads_from, whole_number
from blankets.errors import BlanketsWarning, Interrupted, ParameterError
from blankets.progress import Progress, shown
from blankets.questions.discover import discover
from blankets.regimes import Regime
from blankets.results import Stability
from blankets.study._measured import Measured, read_measured
from blankets.study._setting import Seed
from blankets.study._study import Study, read_study
from blankets.study._work import Countdown, carried_out

__all__ = ["members_over", "rows_drawn", "stability"]

METHODS = ("subsample", "pairs", "bootstrap")
READING = ("discretize", "bins", "missing", "keep", "exclude")


def stability(
    data: Any,
    target: str | int | None = None,
    *,
    y: ArrayLike | None = None,
    n_draws: int = 100,
    method: str = "subsample",
    fraction: float | None = None,
    labels: str | Regime = "auto",
    prior: object = None,
    positive: object = None,
    unlabeled_marker: object = "auto",
    n_jobs: int | None = None,
    progress: Progress = False,
    rng: Seed = None,
    **options: Any,
) -> Stability:
    """Find out how stable a Markov blanket is, under any label regime.

    The blanket is searched again in many draws of the rows. How often a feature is a member tells how much its
    membership owes to chance; features that are members nearly always come with a bound on the number of
    false ones among them.

    Parameters
    ----------
    data, target, y
        The table and its target, as for `discover`. It is read once; continuous columns are cut into levels
        from all rows (not for ``test="fisher-z"``).
    n_draws : int
        Number of draws.
    method : {"subsample", "pairs", "bootstrap"}
        Draws without replacement; two draws at a time that share no row; or draws of all rows with replacement
        (which has no bound: repeated rows make features look more dependent than they are).
    fraction : float, optional
        Share of the rows in a draw of the method "subsample"; by default one half, for which the bound holds.
    labels, prior, positive, unlabeled_marker
        What is known of the labels, as for `discover`.
    n_jobs : int, optional
        Number of threads; default all processors. The answer does not depend on it.
    progress : bool or callable
        Show a progress line on a terminal, or call this with a sentence for every draw.
    rng : int, Generator or None
        Seed of the draws, and of algorithms that draw random numbers.
    **options
        Everything else that `discover` takes: ``algorithm``, ``alpha``, ``test``, ``surrogate``, ...

    Returns
    -------
    Stability

    Raises
    ------
    Interrupted
        If the user stops it (Ctrl-C): the stability over the draws that were done is its attribute ``found``.

    References
    ----------
    Meinshausen & Bühlmann (2010), Stability selection, JRSS B 72(4), 417-473.
    Shah & Samworth (2013), Variable selection with error control: another look at stability selection, JRSS B
    75(1), 55-80.

    Examples
    --------
    >>> import blankets as bl
    >>> rng = np.random.default_rng(7)
    >>> smoker, city = rng.random(500) < 0.3, rng.choice(["north", "south"], 500)
    >>> cough = rng.random(500) < np.where(smoker, 0.7, 0.1)
    >>> found = bl.stability({"smoker": smoker, "city": city, "cough": cough}, "smoker", n_draws=20, rng=0)
    >>> found["cough"], found.stable()
    (1.0, ('cough',))
    """
    asked = {**locals(), "options": dict(options)}
    share = _checked(n_draws, method, fraction)
    began = time.perf_counter()
    generator = generator_from(rng)
    reading = {name: options.pop(name) for name in READING if name in options}
    with shown(progress) as tell:
        known: dict[str, Any] = {"labels": labels, "prior": prior, "positive": positive}
        known["unlabeled_marker"] = unlabeled_marker
        study: Study | Measured
        if options.get("test") == "fisher-z":
            study = read_measured(data, target, y, n_jobs=n_jobs, about_labels=known, reading=reading)
        else:
            study = read_study(data, target, y, n_jobs=n_jobs, **known, **reading)
        whole = discover(study, rng=generator.spawn(1)[0], **options, **reading)
        # What "auto" takes for all rows is what is to be judged, and not what it would take for half of them.
        options["algorithm"] = whole.algorithm
        drawn = rows_drawn(study, n_draws, method, share, generator.spawn(1)[0])
        stopped = None
        try:
            found = members_over(study, drawn, generator.spawn(n_draws), options, threads_from(n_jobs), tell)
        except Interrupted as interruption:
            if not interruption.found:
                raise
            stopped, found, n_draws = interruption, interruption.found, len(interruption.found)
    names = [study.names[x] for x in study.features]
    times = {name: sum(name in members for members in found) for name in names}
    result = Stability(
        target=whole.target,
        frequency={name: times[name] / n_draws for name in sorted(names, key=lambda name: -times[name])},
        members=whole.members,
        n_draws=n_draws,
        method=method,
        fraction=share,
        mean_size=sum(map(len, found)) / n_draws,
        algorithm=whole.algorithm,
        settings=whole.settings,
        n_rows=study.n_rows,
        seconds=time.perf_counter() - began,
        warnings=whole.warnings,
        call=study.call("stability", asked),
    )
    if stopped is not None:
        raise Interrupted(stopped.target, found=result, done=stopped.done)
    return result


def rows_drawn(
    study: Study | Measured, n_draws: int, method: str, fraction: float, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Return the row numbers of each draw, ascending; of each class, and of unlabeled rows, the same share."""
    strata = [np.flatnonzero(study.strata == code) for code in np.unique(study.strata)]
    draws: list[NDArray[np.int64]] = []
    while len(draws) < n_draws:
        if method == "bootstrap":
            parts = [[rng.choice(rows, len(rows))] for rows in strata]
        else:
            shuffled = [rng.permutation(rows) for rows in strata]
            sizes = [max(1, int(fraction * len(rows))) for rows in strata]
            parts = [[rows[:size], rows[-size:]] for rows, size in zip(shuffled, sizes, strict=True)]
        both = method == "pairs"
        draws += [np.sort(np.concatenate([part[k] for part in parts])) for k in range(1 + both)]
    return draws[:n_draws]


def members_over(
    study: Study | Measured,
    drawn: list[NDArray[np.int64]],
    seeds: list[np.random.Generator],
    options: Mapping[str, Any],
    n_jobs: int,
    tell: Callable[[str], None] | None,
) -> list[tuple[str, ...]]:
    """Return the members found in each draw; if the user stops it, those found by then are with the interruption."""

    def search(number: int) -> tuple[str, ...]:
        return discover(study.take(drawn[number]), rng=seeds[number], **options).members

    found: dict[int, tuple[str, ...]] = {}
    tasks = [partial(search, number) for number in range(len(drawn))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlanketsWarning)  # the search of all rows has said what there is to say
        try:
            carried_out(tasks, found, n_jobs, count=Countdown(len(tasks), "draws", tell), stop=Event())
        except KeyboardInterrupt:
            name = study.names[study.target]
            kept, done = [found[i] for i in sorted(found)], f"{len(found)} of {len(tasks)} draws are done"
            raise Interrupted(name, found=kept, done=done) from None
    return [found[i] for i in sorted(found)]


def _checked(n_draws: int, method: str, fraction: float | None) -> float:
    """Check what decides the draws; return the share of rows in each."""
    whole_number("n_draws", n_draws, 1)
    if one_of("method", method, METHODS) == "subsample":
        meaning = "a share of the rows between 0 and 1"
        return 0.5 if fraction is None else number("fraction", fraction, meaning, above=0, below=1)
    if fraction is not None:
        raise ParameterError(f"'fraction' is for the method 'subsample', but the method is {method!r}")
    return 0.5 if method == "pairs" else 1.0
