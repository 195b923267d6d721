"""Runs one other tool on data from a file and prints what it found as JSON; needs that tool and NumPy only.

Called by peers.py in the environment of the other tools::

    python _peer_worker.py TOOL ALGORITHM DATA.npz SECONDS

DATA.npz holds ``codes`` (rows, columns), ``arities`` and ``targets``. Targets are worked on in turn until
SECONDS have gone; times are those of the search alone, without import and reading.
"""

# mypy: disable-error-code="import-not-found"

from __future__ import annotations

import importlib.metadata
import json
import math
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

ALPHA = 0.01
ROWS_PER_DOF = 5.0
Search = Callable[[int], list[int]]
Test = Callable[[int, int, list[int]], tuple[float, float]]  # p-value, and minus the statistic to break its ties


def iamb_with(test: Test, arities: Any, n_rows: int) -> Search:
    """Return IAMB over a tool's own test, for tools that have tests but no blankets; as plain as their users' code."""

    def testable(x: int, y: int, given: list[int]) -> bool:
        dof = (arities[x] - 1) * (arities[y] - 1) * math.prod(int(arities[z]) for z in given)
        return bool(n_rows >= ROWS_PER_DOF * dof)

    def search(target: int) -> list[int]:
        blanket: list[int] = []
        while True:
            outside = [x for x in range(len(arities)) if x != target and x not in blanket]
            found = [(*test(x, target, list(blanket)), x) for x in outside if testable(x, target, blanket)]
            found = [entry for entry in found if entry[0] <= ALPHA]  # NaN, which some tools return, decides nothing
            if not found:
                break
            blanket.append(min(found)[2])
        for x in tuple(blanket):
            others = [z for z in blanket if z != x]
            if testable(x, target, others) and not test(x, target, others)[0] <= ALPHA:
                blanket.remove(x)
        return blanket

    return search


def pgmpy_test(codes: Any, _arities: Any) -> Test:
    import pandas as pd
    from pgmpy.ci_tests import GSq

    names = [f"v{j}" for j in range(codes.shape[1])]
    g_test = GSq(data=pd.DataFrame(codes, columns=names).astype("category"))

    def test(x: int, y: int, given: list[int]) -> tuple[float, float]:
        g_test(X=names[x], Y=names[y], Z=[names[z] for z in given], significance_level=ALPHA)
        return float(g_test.p_value_), -float(g_test.statistic_)

    return test


def pyagrum_test(codes: Any, _arities: Any) -> Test:
    import pandas as pd
    import pyagrum

    names = [f"v{j}" for j in range(codes.shape[1])]
    learner = pyagrum.BNLearner(pd.DataFrame(codes, columns=names).astype(str))

    def test(x: int, y: int, given: list[int]) -> tuple[float, float]:
        statistic, p = learner.G2(names[x], names[y], [names[z] for z in given])
        return p, -statistic

    return test


def causal_learn_test(codes: Any, _arities: Any) -> Test:
    from causallearn.utils.cit import CIT

    g_test = CIT(codes, "gsq")
    return lambda x, y, given: (float(g_test(x, y, given)), 0.0)


def pycausalfs_test(codes: Any, _arities: Any) -> Test:
    from pyCausalFS.CBD.MBs.common.condition_independence_test import cond_indep_test

    return lambda x, y, given: (float(cond_indep_test(codes, y, x, given, True)[0]), 0.0)


TESTS = {
    "pgmpy": pgmpy_test,
    "pyagrum": pyagrum_test,
    "causal-learn": causal_learn_test,
    "pyCausalFS": pycausalfs_test,
}


def search_of(tool: str, algorithm: str, codes: Any, arities: Any) -> Search:
    """Return the tool's own search where it has one."""
    if tool == "causal-learn" and algorithm == "iamb":
        from causallearn.utils.cit import CIT
        from causallearn.utils.MarkovNetwork.iamb import iamb

        g_test = CIT(codes, "gsq")
        return lambda target: list(iamb(g_test, codes.shape[1], target, ALPHA)[0])
    if tool == "pyCausalFS":
        if algorithm == "iamb":
            from pyCausalFS.CBD.MBs.IAMB import IAMB as search
        elif algorithm == "pcmb":
            from pyCausalFS.CBD.MBs.PCMB.PCMB import PCMB as search
        else:
            from pyCausalFS.CBD.MBs.HITON.HITON_MB import HITON_MB as search
        return lambda target: list(search(codes, target, ALPHA, True)[0])
    if algorithm != "iamb":
        raise SystemExit(f"{tool} has no {algorithm}")
    return iamb_with(TESTS[tool](codes, arities), arities, len(codes))


def univariate(tool: str, codes: Any, arities: Any, limit: float) -> dict[str, Any]:
    """Test every column against the first, in turn, and say how many there was time for."""
    if tool == "scikit-learn":
        from sklearn.feature_selection import mutual_info_classif

        wall, cpu = time.perf_counter(), time.process_time()
        mutual_info_classif(codes[:, 1:], codes[:, 0], discrete_features=True)
        return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "done": codes.shape[1] - 1}
    test = TESTS[tool](codes, arities)
    test(1, 0, [])  # warm
    wall, cpu = time.perf_counter(), time.process_time()
    done = 0
    for x in range(1, codes.shape[1]):
        test(x, 0, [])
        done += 1
        if time.perf_counter() - wall > limit:
            break
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "done": done}


def blankets(tool: str, algorithm: str, codes: Any, data: Any, limit: float) -> dict[str, Any]:
    """Find blankets target by target."""
    search = search_of(tool, algorithm, codes, data["arities"])
    found, walls, cpus = {}, [], []
    for target in data["targets"].tolist():
        wall, cpu = time.perf_counter(), time.process_time()
        found[target] = sorted(int(x) for x in search(target))
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
        if sum(walls) > limit:
            break
    return {"wall": sum(walls), "cpu": sum(cpus), "done": len(found), "blankets": found}


def main() -> None:
    tool, algorithm, path, limit = sys.argv[1:]
    warnings.simplefilter("ignore")
    version = importlib.metadata.version(tool)
    with np.load(path) as data:
        codes = data["codes"].astype(np.int64)
        if algorithm == "univariate":
            done = univariate(tool, codes, data["arities"], float(limit))
        else:
            done = blankets(tool, algorithm, codes, data, float(limit))
    print(json.dumps({"version": version, **done}))


if __name__ == "__main__":
    main()
