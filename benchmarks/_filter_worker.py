"""Runs one other feature selector on data from a file and prints what it selected as JSON.

Called by filters.py in the environment of the other tools::

    python _filter_worker.py TOOL DATA.npz K

DATA.npz holds ``codes`` (rows, features) and ``y``. Times are those of the selection alone, without import and
reading.
"""

# mypy: disable-error-code="import-not-found"

from __future__ import annotations

import importlib.metadata
import json
import sys
import time
import warnings
from typing import Any

import numpy as np


def mrmr_selection(codes: Any, y: Any, k: int) -> list[int]:
    """Select by mRMR with the package's own measures: F statistic and Pearson correlation."""
    import pandas as pd
    from mrmr import mrmr_classif

    frame = pd.DataFrame(codes.astype(float), columns=[str(j) for j in range(codes.shape[1])])
    return [int(name) for name in mrmr_classif(X=frame, y=pd.Series(y), K=k, show_progress=False)]


def scikit_learn(codes: Any, y: Any, k: int) -> list[int]:
    """Select by mutual information alone: one pass, no redundancy."""
    from sklearn.feature_selection import mutual_info_classif

    scores = mutual_info_classif(codes, y, discrete_features=True)
    return [int(j) for j in np.argsort(-scores, kind="stable")[:k]]


TOOLS = {"mrmr-selection": mrmr_selection, "scikit-learn": scikit_learn}


def main() -> None:
    tool, path, k = sys.argv[1:]
    warnings.simplefilter("ignore")
    version = importlib.metadata.version(tool)
    with np.load(path) as data:
        codes, y = data["codes"], data["y"]
    TOOLS[tool](codes[:, :50], y, 2)  # warm
    wall, cpu = time.perf_counter(), time.process_time()
    selected = TOOLS[tool](codes, y, int(k))
    spent = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    print(json.dumps({"version": version, "selected": selected, **spent}))


if __name__ == "__main__":
    main()
