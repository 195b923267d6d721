"""The words in which kernels are written: types, decorators and a few functions.

Kernels are Python. `hatch_build.py` joins them into two modules, in which Cython reads these words as C (its table
``WORDS`` has them), and the C compiler may put functions of one file into those of another. Uncompiled, an array is a
`memoryview`: its items are plain numbers, and every access to it is checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from types import SimpleNamespace
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")

int32: TypeAlias = int
int64: TypeAlias = int
uint8: TypeAlias = int
uint32: TypeAlias = int
uint64: TypeAlias = int
float64: TypeAlias = float
bint: TypeAlias = bool
void: TypeAlias = None

# Arrays by the type of their items and their axes, in one piece of memory. Those with "New" are written to.
Bytes: TypeAlias = NDArray[np.uint8]
Bytes2: TypeAlias = NDArray[np.uint8]
NewBytes: TypeAlias = NDArray[np.uint8]
NewBytes2: TypeAlias = NDArray[np.uint8]
Counts: TypeAlias = NDArray[np.int32]
Counts2: TypeAlias = NDArray[np.int32]
NewCounts: TypeAlias = NDArray[np.int32]
NewCounts2: TypeAlias = NDArray[np.int32]
Codes2: TypeAlias = NDArray[np.uint32]
NewCodes: TypeAlias = NDArray[np.uint32]
NewCodes2: TypeAlias = NDArray[np.uint32]
Words2: TypeAlias = NDArray[np.uint64]
Words3: TypeAlias = NDArray[np.uint64]
NewWords: TypeAlias = NDArray[np.uint64]
NewWords2: TypeAlias = NDArray[np.uint64]
NewWords3: TypeAlias = NDArray[np.uint64]
Ints: TypeAlias = NDArray[np.int64]
Ints2: TypeAlias = NDArray[np.int64]
NewInts: TypeAlias = NDArray[np.int64]
NewInts2: TypeAlias = NDArray[np.int64]
Reals: TypeAlias = NDArray[np.float64]
Reals2: TypeAlias = NDArray[np.float64]
Reals3: TypeAlias = NDArray[np.float64]
Reals4: TypeAlias = NDArray[np.float64]
NewReals: TypeAlias = NDArray[np.float64]
NewReals2: TypeAlias = NDArray[np.float64]

cython = SimpleNamespace(compiled=False)  # what stands under "if not cython.compiled" is not compiled
nogil = gil = nullcontext()  # within "with nogil" other threads run
popcount, whole = int.bit_count, int
NAN, INFINITY = math.nan, math.inf


def door(kernel: Callable[..., T]) -> Callable[..., T]:
    """Mark a kernel that is called from outside: its arrays become memoryviews."""

    @wraps(kernel)
    def called(*arguments: Any) -> T:
        return kernel(*(view(a) if isinstance(a, np.ndarray) else a for a in arguments))

    return called


def inner(kernel: T) -> T:
    """Mark a function, or a class, that only kernels use: compiled, it has no lock and no exceptions."""
    return kernel


def _in_c(*arguments: object) -> int:
    """Stand for a function in C: who calls it has another way uncompiled."""
    raise NotImplementedError


common_words = rows_of_level = _in_c  # _words.h: common bits, rows of a level as bits
count_lanes = _in_c  # _lanes.h: levels of columns
sum_of_strata = margins_of_strata = moments_of_stratum = _in_c  # _sums.h: G of tables, their margins, its moments
draw_strata = _in_c  # _draws.h: permutations


def view(array: Any) -> Any:
    """Return an array as kernels see it."""
    return memoryview(array)
