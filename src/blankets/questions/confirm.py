"""`confirm`: test the members of a blanket on rows that did not choose them."""

from __future__ import annotations

import warnings
from typing import Any

from numpy.typing import ArrayLike

from blankets.arguments import level_of
from blankets.data import ReadingOptions
from blankets.errors import BlanketsWarning, DataError, NotAnswerableError, ParameterError
from blankets.questions._question import question
from blankets.questions.refute import as_before
from blankets.results import Blanket, Confirmation
from blankets.study import Wanted, confirmed_on, open_study


@question
def confirm(
    blanket: Blanket,
    data: Any,
    *,
    y: ArrayLike | None = None,
    alpha: float = 0.05,
    n_jobs: int | None = None,
    **changes: Any,
) -> Confirmation:
    """Test each member of a blanket, given the others, on new rows.

    A search looks at many columns, and its p-values are those of the columns that won. On rows that chose nothing they
    are plain ones, corrected after Holm: the probability that any confirmed member does not matter given the others is
    at most ``alpha``.

    Parameters
    ----------
    blanket : Blanket
        A result of `discover`; it holds how the table was read.
    data : data frame, array, ...
        Other rows with the same columns.
    alpha : float
        The probability of any false sentence.
    **changes
        Arguments of `discover` that are not stored in the blanket, such as a ``prior`` of your own class.

    Returns
    -------
    Confirmation

    Examples
    --------
    >>> import numpy as np
    >>> import blankets as bl
    >>> rng = np.random.default_rng(7)
    >>> smoker, city = rng.random(900) < 0.3, rng.choice(["north", "south"], 900)
    >>> cough = rng.random(900) < np.where(smoker, 0.7, 0.1)
    >>> table = {"smoker": smoker, "city": city, "cough": cough}
    >>> blanket = bl.discover({name: column[:500] for name, column in table.items()}, "smoker")
    >>> blanket.confirm({name: column[500:] for name, column in table.items()}).sentence()
    'Confirmed on 400 other rows: 1 of 1 member (cough).'
    """
    if not isinstance(blanket, Blanket):
        raise ParameterError.out_of_range("blanket", blanket, "a Blanket, as discover returns it")
    level_of(alpha)
    given = as_before(blanket, changes)
    knowledge = given.get("knowledge")
    if knowledge is not None and knowledge.together:
        raise NotAnswerableError("columns that are in or out together are no single members; confirm takes none")
    wanted = Wanted.of(blanket.algorithm, given.get("options"), given.get("alpha", 0.01), knowledge=knowledge)
    about: dict[str, Any] = {name: given[name] for name in ("labels", "prior", "test") if name in given}
    reading = {name: given[name] for name in ReadingOptions.__annotations__ if name in given}
    about |= {"n_jobs": n_jobs, "numbers": True, "knows_groups": True, "pools": True}
    target = blanket.target if y is None else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlanketsWarning)  # the search has warned of the same columns
        with open_study(data, target, y, reading=reading, **about) as study:
            if blanket.call is not None and study.fingerprint == blanket.call.fingerprint:
                raise DataError(
                    "these are the rows in which the blanket was found, and they confirm whatever they chose; give "
                    "other rows, or set some aside with discover(..., confirm=0.4)"
                )
            found = confirmed_on(study, wanted, blanket.members, alpha=alpha)
            object.__setattr__(found, "call", study.mark)
            return found
