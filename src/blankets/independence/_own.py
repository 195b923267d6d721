"""Tests of the user's own: anything with ``names`` and ``scan`` can answer a search.

The contract of the waist has one question, ``scan(xs, y, given)``, about columns by number; the other questions follow
from it. `PValues` makes such a test from a function that returns a p-value, as most libraries have one.
`check_test` runs the rules of the contract over a test, for the author of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np

from blankets.arguments import whole_number
from blankets.errors import BlanketsError, ContractError, ParameterError, did_you_mean, guarded, listed
from blankets.independence._contract import Columns, CountedTests, IndependenceTest, Tally
from blankets.independence._evidence import EvidenceBatch
from blankets.independence._layer import Layer
from blankets.stats import chi2_isf

_SMALLEST = float(np.finfo(float).tiny)  # of a p-value, so that its logarithm exists


def own_tests(value: object) -> IndependenceTest | None:
    """Return a test of the user's own; None if the value is none (it has no ``scan``)."""
    if isinstance(value, str) or not callable(getattr(value, "scan", None)):
        return None
    if isinstance(value, type):
        raise ParameterError(f"{value.__name__} is a class; give an object of it, such as {value.__name__}(table)")
    return value if isinstance(value, IndependenceTest) else _Foreign(value)


def aligned(tests: IndependenceTest, names: Sequence[str]) -> IndependenceTest:
    """Return tests whose columns have the numbers that they have in ``names``."""
    if tests.names == tuple(names):
        return tests
    if missing := [name for name in names if name not in tests.names]:
        hint = did_you_mean(missing[0], tests.names)
        raise ParameterError(f"your test has no column {listed(missing)}{hint or ';'} its 'names' are {tests.names!r}")
    return _Renumbered(tests, names)


@guarded
class PValues(CountedTests):
    """A test of independence from a function that returns p-values.

    Parameters
    ----------
    p_value : callable
        ``p_value(x, y, given)`` returns the p-value of "x is independent of y given a list of columns", all by name;
        NaN where it cannot be tested: then the answer is neither dependent nor independent.
    names : sequence of str
        The names of the columns.
    n_rows : int
        The number of rows behind a test.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.stats import spearmanr
    >>> from blankets.independence import PValues
    >>> table = {"a": np.arange(30), "b": np.arange(30) % 7, "c": np.arange(30) ** 2}
    >>> tests = PValues(lambda x, y, given: spearmanr(table[x], table[y]).pvalue, names=table, n_rows=30)
    >>> [evidence.dependent(0.01) for evidence in tests.scan([1, 2], 0)]
    [False, True]
    """

    def __init__(self, p_value: Callable[[str, str, list[str]], float], names: Sequence[str], n_rows: int) -> None:
        if not callable(p_value):
            raise ParameterError.out_of_range("p_value", p_value, "a function of x, y and given")
        self.p_value, self.names = p_value, tuple(map(str, names))
        self.looked_at = whole_number("n_rows", n_rows, 1)
        self.tally, self.memo = Tally(), {}

    def scan(
        self, xs: Columns, y: int, given: Sequence[int] = (), *, even_if_unreliable: bool = False
    ) -> EvidenceBatch:
        """Ask the function for each of ``xs``."""
        columns, set_ = np.array(xs, np.int64), [self.names[z] for z in given]
        p = np.array([self._asked(self.names[x], self.names[y], set_) for x in columns.tolist()], float)
        reliable = ~np.isnan(p)
        self.tally.add(int(reliable.sum()))
        p = np.maximum(p, _SMALLEST)
        return EvidenceBatch(
            columns,
            y,
            tuple(given),
            statistic=chi2_isf(p, 1.0),  # the chi-square value of one degree of freedom with this p-value
            dof=np.ones(len(columns)),
            n_rows=self.looked_at,
            reliable=reliable,
            log_p=np.log(p),
        )

    def _asked(self, x: str, y: str, given: list[str]) -> float:
        asked = f"{x!r} and {y!r} given {given!r}"
        with _blamed(f"your function failed for {asked}"):
            p = self.p_value(x, y, list(given))
        with _blamed(f"your function returned {p!r} for {asked}, which is no number"):
            value = float(p)
        if not (np.isnan(value) or 0.0 <= value <= 1.0):
            raise ContractError(
                f"your function returned {p!r} for {asked}; a p-value is between 0 and 1, or NaN where there is none"
            )
        return value


@contextmanager
def _blamed(what: str) -> Iterator[None]:
    """Say whose code failed: otherwise an error in it would look like one in this package."""
    try:
        yield
    except BlanketsError:
        raise
    except Exception as error:
        raise ContractError(f"{what}: {type(error).__name__}: {error}") from error


class _Foreign(CountedTests):
    """Tests around an object that has ``scan`` and ``names`` but is no `IndependenceTest`."""

    def __init__(self, own: Any) -> None:
        names = getattr(own, "names", None)
        if names is None:
            raise ContractError(f"your test ({type(own).__name__}) has 'scan', but no 'names': those of its columns")
        self.own, self.names = own, tuple(map(str, names))
        self.tally, self.memo = Tally(), {}

    def scan(
        self, xs: Columns, y: int, given: Sequence[int] = (), *, even_if_unreliable: bool = False
    ) -> EvidenceBatch:
        """Ask the object."""
        with _blamed(f"'scan' of your test ({type(self.own).__name__}) failed"):
            batch = self.own.scan(xs, y, tuple(given))
        if not isinstance(batch, EvidenceBatch):
            raise ContractError(
                f"'scan' of your test ({type(self.own).__name__}) returned {type(batch).__name__}, not an EvidenceBatch"
            )
        self.tally.add(int(batch.reliable.sum()))
        return batch


class _Renumbered(Layer):
    """Other tests, with some of their columns, under other numbers."""

    def __init__(self, tests: IndependenceTest, names: Sequence[str]) -> None:
        super().__init__(tests)
        self.names = tuple(names)
        self._number = np.array([tests.names.index(name) for name in names], np.int64)

    def around(self, tests: IndependenceTest) -> Self:
        """Return the same layer around other tests."""
        return type(self)(tests, self.names)

    def scan(
        self, xs: Columns, y: int, given: Sequence[int] = (), *, even_if_unreliable: bool = False
    ) -> EvidenceBatch:
        """Test each of ``xs`` against ``y`` given one set."""
        columns = np.asarray(xs, np.int64)
        there, set_ = int(self._number[y]), self._there(given)
        batch = self.tests.scan(self._number[columns], there, set_, even_if_unreliable=even_if_unreliable)
        return batch.told_as(columns, y, tuple(given))

    def _there(self, columns: Columns) -> tuple[int, ...]:
        return tuple(self._number[np.asarray(columns, np.int64)].tolist())

    def deepest(self, xs: Columns, y: int, among: Sequence[int]) -> int:
        """Return the bound of the tests below."""
        return self.tests.deepest(self._there(xs), int(self._number[y]), self._there(among))

    def rows_for(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Return how many rows a test needs."""
        return self.tests.rows_for(int(self._number[x]), int(self._number[y]), self._there(given))

    def never_causes(self, a: int, b: int) -> bool:
        """Tell whether it is known that no arrow leads from ``a`` to ``b``."""
        return self.tests.never_causes(int(self._number[a]), int(self._number[b]))
