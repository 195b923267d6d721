"""Compile everything now rather than when it is first needed."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.sparse import csc_array

from blankets.compiling import compile_all
from blankets.counting import MemoryCounter
from blankets.data import Frame
from blankets.independence import TableTests
from blankets.questions.discover import discover
from blankets.questions.select import select

__all__ = ["warm_up"]

ROWS, LEVELS = 400, (2, 3, 2, 7, 3, 2)


def warm_up() -> None:
    """Compile the kernels of all searches, tests and filters, for this machine and for good.

    Without it each kernel is compiled, once, when so much is asked of it that this wins back the time; until then it is
    interpreted. So this is for images, shared installations and benchmarks: it takes a minute, once.

    Examples
    --------
    >>> import blankets as bl
    >>> bl.warm_up()
    """
    compile_all()
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.integers(0, n, ROWS) for n in LEVELS])
    codes[:, 1] = np.where(rng.random(ROWS) < 0.5, codes[:, 0], codes[:, 1])
    dense, sparse = Frame.from_codes(codes), csc_array((codes == 1).astype(np.int8))
    bits = TableTests(MemoryCounter(Frame.from_codes(codes == 1)))
    bits.scan(np.arange(1, len(LEVELS)), 0, even_if_unreliable=True)  # the way of wide scans
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is odd about these data is of no interest
        for data in (dense, sparse):
            for test in ("auto", "g", "x2"):
                for algorithm in ("inter-iamb", "pcmb"):
                    discover(data, 0, algorithm=algorithm, test=test)
        for criterion in ("jmi", "mrmr"):
            select(dense, 0, criterion=criterion, k=3)
