"""`check_test`: the rules that every test of independence keeps, for the author of one."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from blankets.arguments import generator_from
from blankets.errors import ContractError, guarded
from blankets.independence._contract import IndependenceTest
from blankets.independence._evidence import EvidenceBatch
from blankets.independence._own import own_tests

_MOST = 12  # most columns that are looked at
_QUESTIONS = 10  # sets that are tried


@guarded
def check_test(tests: object, *, rng: np.random.Generator | int | None = 0) -> None:
    """Check that a test of independence keeps the contract; an error names the first rule that it breaks.

    These rules are about form: that many tests at once give the same as one at a time, that the same question has the
    same answer, that the order of a set does not matter, that what was not tested says so. Whether the p-values
    are right only data with known answers can show; see the page on tests of your own.

    Parameters
    ----------
    tests : object
        Anything with ``names`` and ``scan``, of at least three columns.
    rng : int, Generator or None
        Seed of the questions that are asked.

    Raises
    ------
    ContractError
        If a rule is broken; the message says which, and what was found.

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets.independence import DSeparation
    >>> from blankets.independence import check_test
    >>> check_test(DSeparation(nx.DiGraph(["ab", "cb", "cd"])))
    """
    whole = own_tests(tests)
    if whole is None:
        raise ContractError(f"a test has a method 'scan(xs, y, given)', but {type(tests).__name__} has none")
    _check_names(whole)
    generator = generator_from(rng)
    columns = sorted(generator.permutation(len(whole.names))[:_MOST].tolist())
    for _ in range(_QUESTIONS):
        order = generator.permutation(columns).tolist()
        y, given = order[0], tuple(order[1 : 1 + int(generator.integers(0, min(3, len(order) - 2) + 1))])
        xs = [x for x in columns if x != y and x not in given]
        _check_question(whole, xs, y, given)
    _check_empty(whole, columns)
    _check_others(whole, columns)


def _check_names(tests: IndependenceTest) -> None:
    if len(set(tests.names)) != len(tests.names):
        raise ContractError("'names' holds a name twice")
    if len(tests.names) < 3:
        raise ContractError(f"give a test of at least three columns to check; this one has {len(tests.names)}")


def _check_question(tests: IndependenceTest, xs: list[int], y: int, given: tuple[int, ...]) -> None:
    asked = np.array(xs, np.int64)
    before = asked.copy()
    batch = tests.scan(asked, y, given)
    where = f"scan({xs}, {y}, {given})"
    if not np.array_equal(asked, before):
        raise ContractError(f"{where} changed its own argument 'xs'")
    _check_form(batch, xs, y, given, where)
    _same(batch, tests.scan(asked, y, given), f"{where}, asked twice, gives two answers")
    if len(given) > 1:
        turned = tests.scan(asked, y, given[::-1])
        _same(batch, turned, f"{where} depends on the order of the columns in 'given'", close=True)
    for i, x in enumerate(xs):
        alone = tests.scan([x], y, given)
        _same(
            batch.where([i]), alone, f"{where} says something else about {x} than scan([{x}], {y}, {given})", close=True
        )


def _check_form(batch: EvidenceBatch, xs: list[int], y: int, given: tuple[int, ...], where: str) -> None:
    if not isinstance(batch, EvidenceBatch):
        raise ContractError(f"{where} returned {type(batch).__name__}, not an EvidenceBatch")
    if batch.xs.tolist() != xs or batch.y != y:
        raise ContractError(f"{where} is about other columns: xs {batch.xs.tolist()}, y {batch.y}")
    if isinstance(batch.given, tuple) and not set(given) <= set(batch.given):
        raise ContractError(f"{where} says that it was given {batch.given}")
    for name in ("statistic", "dof", "log_p", "effect", "reliable"):
        if np.shape(getattr(batch, name)) != (len(xs),):
            raise ContractError(f"{where}: {name!r} has the shape {np.shape(getattr(batch, name))}, not ({len(xs)},)")
    rules: dict[str, NDArray[np.bool_]] = {
        "a log p-value is at most 0": batch.log_p <= 0,
        "a statistic is at least 0": batch.statistic >= 0,
        "degrees of freedom are at least 0": batch.dof >= 0,
        "rows are at least 1": np.broadcast_to(batch.n_rows, len(xs)) >= 1,
    }
    for rule, holds in rules.items():
        if (batch.reliable & ~holds).any():
            bad = xs[int(np.flatnonzero(batch.reliable & ~holds)[0])]
            raise ContractError(f"{where}: {rule}, but not for column {bad}; if it was not tested, 'reliable' is False")


def _same(one: EvidenceBatch, other: EvidenceBatch, wrong: str, *, close: bool = False) -> None:
    """Compare two answers; p-values that were computed in another order may differ in their last digits."""
    tolerance = 1e-6 if close else 0.0
    here, there = (np.where(batch.reliable, batch.log_p, np.nan) for batch in (one, other))
    if not np.array_equal(one.reliable, other.reliable):
        raise ContractError(f"{wrong}: it is reliable once, and not another time")
    if not np.allclose(here, there, rtol=tolerance, atol=tolerance, equal_nan=True):
        i = int(np.flatnonzero(~np.isclose(here, there, rtol=tolerance, atol=tolerance, equal_nan=True))[0])
        raise ContractError(f"{wrong}: log p is {here[i]:.6g} once, and {there[i]:.6g} another time")


def _check_empty(tests: IndependenceTest, columns: list[int]) -> None:
    if len(tests.scan(np.empty(0, np.int64), columns[0], ())):
        raise ContractError("scan of no columns returns evidence")


def _check_others(tests: IndependenceTest, columns: list[int]) -> None:
    """Check the questions that follow from `scan`, which a test may answer in its own way."""
    y, *members = columns[:4]
    for evidence in (*tests.drop_one(members, y), *tests.drop_one(members, y, members[1:])):
        alone = tests.scan([evidence.x], y, tuple(z for z in members if z != evidence.x))
        if evidence.reliable != bool(alone.reliable[0]) or (
            evidence.reliable and not np.isclose(evidence.log_p, alone.log_p[0], rtol=1e-6, atol=1e-6)
        ):
            raise ContractError(f"drop_one says something else about {evidence.x} than scan given the other members")
    x, *among = members
    found = tests.separate([x], y, among)[0]
    sets = [some for size in range(len(among) + 1) for some in combinations(among, size)]
    tried = [batch.log_p[0] for some in sets if (batch := tests.scan([x], y, some)).reliable[0]]
    if found.reliable != bool(tried) or (tried and not np.isclose(found.log_p, max(tried), rtol=1e-6, atol=1e-6)):
        raise ContractError(f"separate([{x}], {y}, {among}) is not the weakest evidence over all subsets")
