"""Time of one conditional test of mixed columns, next to other libraries that test them without cutting.

    python benchmarks/numbers_peers.py      # after pip install tigramite causal-learn, in an environment of its own

The same questions for all: x and y given two columns of a random network of 37 numbers and categories, 5,000 rows
(KCI of causal-learn: 500 rows, as its time grows with their cube). Ours are asked one by one, and as a search asks
them: all columns given one set. A library that is not there, or fails, is named.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from blankets.counting import MemoryMoments
from blankets.data import ingest
from blankets.independence import BlockTests
from numbers_networks import Net

Test = Callable[[list[int]], float]
ROWS, NODES, QUESTIONS = 5000, 37, 30


def tigramite(values: NDArray[np.float64], is_category: NDArray[np.bool_]) -> Test:
    """Return the likelihood-ratio test of linear and logistic regressions."""
    from tigramite import data_processing
    from tigramite.independence_tests.regressionCI import RegressionCI

    tests = RegressionCI(significance="analytic")
    kinds = np.tile(is_category.astype(int), (len(values), 1))
    tests.set_dataframe(data_processing.DataFrame(values, data_type=kinds))
    return lambda q: tests.run_test([(q[0], 0)], [(q[1], 0)], [(q[2], 0), (q[3], 0)], tau_max=0)[1]


def causal_learn(values: NDArray[np.float64], is_category: NDArray[np.bool_]) -> Test:
    """Return the kernel test, in 500 rows."""
    from causallearn.utils.cit import CIT

    tests = CIT(values[:500], "kci")
    return lambda q: tests(q[0], q[1], q[2:])


def seconds(test: Callable[[list[int]], object], questions: list[list[int]]) -> tuple[float, list[object]]:
    """Return the CPU time of a question, and the answers."""
    test(questions[0])
    began = time.process_time()
    answers = [test(q) for q in questions]
    return (time.process_time() - began) / len(questions), answers


def main() -> None:
    """Print a line for each."""
    warnings.simplefilter("ignore")
    table = Net("mixture", 1, n_nodes=NODES).table(ROWS, np.random.default_rng(1))
    is_category = np.array([v.dtype.kind != "f" for v in table.values()])
    values = np.column_stack(
        [np.unique(v, return_inverse=True)[1] if k else v for v, k in zip(table.values(), is_category, strict=True)]
    )
    rng = np.random.default_rng(2)
    questions = [rng.choice(NODES, 4, replace=False).tolist() for _ in range(QUESTIONS)]
    moments = MemoryMoments(ingest(table, numbers=True).frame)
    alone, ours = seconds(lambda q: BlockTests(moments).test(q[0], q[1], q[2:]).p, questions)
    others = [[x for x in range(NODES) if x not in q[1:]] for q in questions]
    scans = dict(zip(map(tuple, questions), others, strict=True))
    whole, _ = seconds(lambda q: BlockTests(moments, level=0.01).scan(scans[tuple(q)], q[1], q[2:]), questions)
    scanned = whole / (NODES - 3)
    print(f"blankets: {alone * 1e3:.2f} ms a test alone, {scanned * 1e3:.3f} ms within a scan")
    for make, n in ((tigramite, 10), (causal_learn, 3)):
        try:
            each, theirs = seconds(make(values, is_category), questions[:n])
        except Exception as problem:  # noqa: BLE001
            print(f"{make.__name__}: {type(problem).__name__}: {problem}")
            continue
        alike = np.mean([(p <= 0.01) == (q <= 0.01) for p, q in zip(ours, theirs, strict=False)])
        times = f"{each / alone:.0f} times ours alone, {each / scanned:.0f} times within a scan"
        print(f"{make.__name__}: {each * 1e3:.1f} ms a test, {times}; the same decision at 0.01 in {alike:.0%}")


if __name__ == "__main__":
    main()
