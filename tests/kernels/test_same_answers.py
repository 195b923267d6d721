"""Compiled and uncompiled kernels give the same statistics to the last bit, and log_p to 1e-12 of its size.

Sums are added in the same order everywhere. The logarithm of the gamma function is that of the system's C library in
compiled kernels, and Python's own in others: only its last digits differ.
"""

import ast
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from blankets import kernels

PROGRAM = """
import sys, warnings
import numpy as np
from blankets.counting import MemoryCounter
from blankets.data import Frame
from blankets.independence import CalibratedTests, TableTests

statistics, log_ps, chosen = [], [], []
for seed in range(40):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(20, 400)), int(rng.integers(4, 7))
    arities = rng.integers(2, 5, k)
    codes = np.column_stack([rng.binomial(a - 1, 0.4, n) for a in arities])
    codes[:, 0] = np.where(rng.random(n) < 0.5, codes[:, 0], codes[:, 1] % arities[0])
    counter = MemoryCounter(Frame.from_codes(codes, arities=arities), 1)
    for tests in (TableTests(counter), TableTests(counter, statistic="x2"), CalibratedTests(counter, level=0.01)):
        for given in ((), (2,), (2, 3)):
            batch = tests.scan([x for x in range(1, k) if x not in given], 0, given)
            statistics += [*batch.statistic, *batch.dof]
            log_ps += [*batch.log_p]
            chosen += [int(np.argsort(batch.log_p, kind="stable")[0])]
        least = tests.separate([1], 0, list(range(2, k)))[0]
        statistics.append(least.statistic)
        log_ps.append(least.log_p)
        chosen += [len(least.given), *least.given]
np.savez(sys.argv[1], statistics=statistics, log_ps=log_ps, chosen=chosen)
"""


@pytest.mark.skipif(not kernels.COMPILED, reason="the kernels are not compiled here")
def test_compiled_or_not(tmp_path):
    found = []
    for name, uncompiled in (("compiled", ""), ("plain", "1")):
        path = tmp_path / f"{name}.npz"
        environment = {**os.environ, "BLANKETS_UNCOMPILED": uncompiled}
        subprocess.run([sys.executable, "-c", PROGRAM, path], check=True, env=environment)
        found.append(np.load(path))
    compiled, plain = found
    assert len(compiled["statistics"]) > 1500
    np.testing.assert_array_equal(compiled["statistics"], plain["statistics"])
    np.testing.assert_array_equal(compiled["chosen"], plain["chosen"])
    np.testing.assert_allclose(compiled["log_ps"], plain["log_ps"], rtol=1e-12, atol=1e-15)


def test_no_name_stands_for_two_things():
    """The files of kernels are compiled as one: the later of two would count in both."""
    homes: dict[str, list[str]] = {}
    for path in Path(kernels.__file__).parent.glob("_[a-z]*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                homes.setdefault(node.name, []).append(path.name)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                homes.setdefault(node.target.id, []).append(path.name)
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}
