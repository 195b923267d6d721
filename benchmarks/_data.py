"""Data for the speed benchmarks: networks from BIF files, and large simulated tables with a planted blanket."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from blankets.data import DenseColumns, Frame, SparseColumns
from blankets.simulate import Network

TARGET = "target"
BLANKET = ("parent a", "parent b", "child a", "child b", "spouse")
PROXIES = 20  # noisy copies of members: candidates that look good until the member is in


def network(directory: Path | None, name: str) -> Network:
    """Read NAME.bif or NAME.bif.gz from a folder; by default from the examples that come with pgmpy."""
    if directory is None:
        spec = importlib.util.find_spec("pgmpy")
        if spec is None or spec.origin is None:
            sys.exit("say where the networks are with --networks DIR, or install pgmpy, which brings them")
        directory = Path(spec.origin).parent / "utils" / "example_models"
    for path in (directory / f"{name}.bif", directory / f"{name}.bif.gz"):
        if path.exists():
            return Network.from_bif(path)
    sys.exit(f"there is no {name}.bif or {name}.bif.gz in {directory}")


@cache
def sample(directory: Path | None, name: str, n_rows: int, seed: int = 0) -> Frame:
    """Draw rows from a network, once."""
    return network(directory, name).sample(n_rows, seed)


def noise(n_rows: int, arities: Sequence[int], seed: int = 0) -> NDArray[np.uint8]:
    """Return independent uniform codes of shape (columns, rows), made column by column: no large temporaries."""
    rng = np.random.default_rng(seed)
    codes = np.empty((len(arities), n_rows), np.uint8)
    for row, arity in zip(codes, arities, strict=True):
        row[:] = rng.integers(0, arity, n_rows, np.uint8)
    return codes


def frame_of(codes: NDArray[np.uint8], arities: Sequence[int], names: Sequence[str] | None = None) -> Frame:
    """Wrap codes of shape (columns, rows) without copying them."""
    n = len(codes)
    levels = {arity: tuple(range(arity)) for arity in set(arities)}
    return Frame(
        tuple(names) if names is not None else tuple(f"x{j}" for j in range(n)),
        tuple(levels[arity] for arity in arities),
        codes.shape[1],
        (DenseColumns(codes),),
        np.zeros(n, np.int64),
        np.arange(n),
    )


def planted(n_rows: int, n_features: int, arities: Sequence[int], seed: int = 0) -> Frame:
    """Return a table of which the column `TARGET` has the Markov blanket `BLANKET`.

    ``arities`` are repeated over the columns. Two parents, two children, a spouse (the other parent of
    the second child), some noisy copies of them, and noise.
    """
    widths = [arities[j % len(arities)] for j in range(n_features + 1)]
    codes = noise(n_rows, widths, seed)
    rng = np.random.default_rng([seed, 1])
    parent_a, parent_b, target, child_a, child_b, spouse = range(6)
    _follow(codes, widths, target, (parent_a, parent_b), 0.7, rng)
    _follow(codes, widths, child_a, (target,), 0.5, rng)
    _follow(codes, widths, child_b, (target, spouse), 0.8, rng)
    for k in range(min(PROXIES, n_features - 5)):
        _follow(codes, widths, 6 + k, (k % 6,), 0.4, rng) if k % 6 != target else None
    names = ["parent a", "parent b", TARGET, "child a", "child b", "spouse"]
    return frame_of(codes, widths, [*names, *(f"x{j}" for j in range(len(names), n_features + 1))])


def _follow(
    codes: NDArray[np.uint8],
    arities: Sequence[int],
    child: int,
    parents: Sequence[int],
    strength: float,
    rng: np.random.Generator,
) -> None:
    """Let a column copy one of its parents (drawn for each row) with probability ``strength``, else stay noise."""
    n = codes.shape[1]
    which = rng.integers(0, len(parents), n)
    copies = rng.random(n) < strength
    for k, parent in enumerate(parents):
        rows = copies & (which == k)
        codes[child, rows] = codes[parent, rows] % arities[child]


def sparse(n_rows: int, n_features: int, density: float, seed: int = 0) -> Frame:
    """Return a sparse table of ones (every column equally dense) with a dense binary column `TARGET` at the end.

    The first ten columns lean towards the rows in which the target is 1.
    """
    rng = np.random.default_rng(seed)
    target = (rng.random(n_rows) < 0.2).astype(np.uint8)
    each = max(1, round(n_rows * density))
    indices = np.empty(n_features * each, np.int32)
    positive = np.flatnonzero(target)
    for j in range(n_features):
        pool = positive if j < 10 and len(positive) > each else n_rows
        indices[j * each : (j + 1) * each] = np.sort(rng.choice(pool, each, replace=False, shuffle=False))
    block = SparseColumns(
        np.arange(0, n_features * each + 1, each, dtype=np.int64), indices, np.ones(len(indices), np.uint8), n_rows
    )
    frame = Frame(
        tuple(f"x{j}" for j in range(n_features)),
        ((0, 1),) * n_features,
        n_rows,
        (block,),
        np.zeros(n_features, np.int64),
        np.arange(n_features),
    )
    return frame.with_column(TARGET, target, (0, 1))


def packed_bytes(frame: Frame) -> int:
    """Return the bytes that the codes of a frame take."""
    total = 0
    for block in frame.blocks:
        arrays = (block.codes,) if isinstance(block, DenseColumns) else (block.indptr, block.indices, block.codes)
        total += sum(array.nbytes for array in arrays)
    return total
