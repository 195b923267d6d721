"""`stability`: how often each feature is in the blanket when the rows are drawn again.

The table is read once, and rows are drawn from its codes. They are drawn class by class; unlabeled rows are a
class of their own. So each draw has the same shares of classes and labels as the whole table, and the assumptions
about labels hold for it as well. Tables of numbers are drawn in the same way if the target has few values.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Unpack

from numpy.typing import ArrayLike

from blankets.arguments import generator_from, number, one_of, whole_number
from blankets.data import ReadingOptions
from blankets.errors import Interrupted, ParameterError
from blankets.independence import IndependenceTest, Knowledge
from blankets.questions._question import question
from blankets.regimes import Regime
from blankets.results import Stability
from blankets.study import Engine, Progress, Search, Seed, Testing, Wanted, members_over, open_study, rows_drawn

METHODS = ("subsample", "pairs", "bootstrap")


@question
def stability(
    data: Any,
    target: str | int | None = None,
    *,
    y: ArrayLike | None = None,
    n_resamples: int = 100,
    method: str = "subsample",
    fraction: float | None = None,
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
) -> Stability:
    """Find out how stable a Markov blanket is, under any label regime.

    The blanket is searched again in many draws of the rows. A feature that is rarely a member may be there by
    chance; for features that are nearly always members, the result has a bound on the number of false ones
    among them. The table is read once; columns that are cut into levels are cut by all rows.

    Parameters
    ----------
    n_resamples : int
        Number of draws.
    method : {"subsample", "pairs", "bootstrap"}
        Draws without replacement; pairs of draws that share no row; or draws of all rows with replacement
        (no bound: repeated rows make features look more dependent than they are).
    fraction : float, optional
        Share of the rows in a draw of the method "subsample"; by default one half, for which the bound holds.

    Returns
    -------
    Stability

    Raises
    ------
    Interrupted
        If the user stops it (Ctrl-C). Its attribute ``found`` has the stability over the draws done so far.

    References
    ----------
    Meinshausen & Bühlmann (2010), Stability selection, JRSS B 72(4), 417-473.
    Shah & Samworth (2013), Variable selection with error control: another look at stability selection, JRSS B
    75(1), 55-80.

    Examples
    --------
    >>> import numpy as np
    >>> import blankets as bl
    >>> rng = np.random.default_rng(7)
    >>> smoker, city = rng.random(500) < 0.3, rng.choice(["north", "south"], 500)
    >>> cough = rng.random(500) < np.where(smoker, 0.7, 0.1)
    >>> found = bl.stability({"smoker": smoker, "city": city, "cough": cough}, "smoker", n_resamples=20, rng=0)
    >>> found["cough"], found.stable()
    (1.0, ('cough',))
    """
    share = _checked(n_resamples, method, fraction)
    wanted = Wanted.of(algorithm, options, alpha, close=close, knowledge=knowledge)
    began = time.perf_counter()
    generator = generator_from(rng)
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
        knows_groups=True,
        pools=True,
        numbers=True,
    ) as study:
        search = Search.of(study, wanted, generator.spawn(1)[0])
        whole = replace(search, tell=None).blanket_of(study.target)
        # Judge the algorithm that "auto" picks for all rows, not the one it would pick for half of them.
        wanted = replace(wanted, algorithm=search.algorithm)
        drawn = rows_drawn(study, n_resamples, method, share, generator.spawn(1)[0])
        stopped = None
        try:
            found = members_over(study, drawn, generator.spawn(n_resamples), wanted, study.tell)
        except Interrupted as interruption:
            if not interruption.found:
                raise
            stopped, found, n_resamples = interruption, interruption.found, len(interruption.found)
    names = [study.names[x] for x in study.features if study.names[x] not in whole.excluded]
    times = {name: sum(name in members for members in found) for name in names}
    result = Stability(
        target=whole.target,
        frequency={name: times[name] / n_resamples for name in sorted(names, key=lambda name: -times[name])},
        members=whole.members,
        n_resamples=n_resamples,
        method=method,
        fraction=share,
        mean_size=sum(map(len, found)) / n_resamples,
        algorithm=whole.algorithm,
        settings=whole.settings,
        n_rows=study.n_rows,
        seconds=time.perf_counter() - began,
        warnings=whole.warnings,
        call=study.mark,
    )
    if stopped is not None:
        raise Interrupted(stopped.target, found=result, done=stopped.done)
    return result


def _checked(n_resamples: int, method: str, fraction: float | None) -> float:
    """Check the options of the draws; return the share of rows in each."""
    whole_number("n_resamples", n_resamples, 1)
    if one_of("method", method, METHODS) == "subsample":
        meaning = "a share of the rows between 0 and 1"
        return 0.5 if fraction is None else number("fraction", fraction, meaning, above=0, below=1)
    if fraction is not None:
        raise ParameterError(f"'fraction' is for the method 'subsample', but the method is {method!r}")
    return 0.5 if method == "pairs" else 1.0
