"""Kernels: every compiled loop, one idea a file, each loop once.

They are compiled when the package is installed. Where that could not be done, or BLANKETS_UNCOMPILED is set, the same
files run as Python, which takes much longer. Statistics and degrees of freedom are the same to the last bit, log
p-values to 1e-12 of their size, as libraries differ in the logarithm of the gamma function. Ties are ties of statistics
and degrees of freedom, so both decide them alike.
"""

from __future__ import annotations

import os
import warnings
from importlib import import_module

from blankets.errors import BlanketsWarning
from blankets.kernels._answers import block_statistics
from blankets.kernels._bits import count_bits, pack_dense, pack_sparse
from blankets.kernels._blocks import (
    combined_tails,
    log_p_under_signs,
    scan_functions,
)
from blankets.kernels._cells import DEGREES, SMALL, STEPS, TABLED, fill_cells
from blankets.kernels._formula import Cells, Formula, Law, Table
from blankets.kernels._joint import drop_each
from blankets.kernels._machine import fit_machine
from blankets.kernels._moments import COARSE, FAR, LARGE, NOTHING, block_moments
from blankets.kernels._networks import best_parents, expected_scores, fit_weights, refine, score_sets, score_tree
from blankets.kernels._permute import permutation_p, permute
from blankets.kernels._questions import LANED_BITS, test_columns
from blankets.kernels._ranks import HEAVY, SKEWED, rank_numbers, tested_functions
from blankets.kernels._rows import SLOTS_PAY, count_dense, count_sparse, count_wide, join_codes, renumber
from blankets.kernels._statistics import doubtful_of
from blankets.kernels._subsets import Weakest, separate_columns
from blankets.kernels._tail import chi2_tail, chi2_tails, log_beta_below, moments_tail, settle, strongest_of, weaker_of

__all__ = [
    "COARSE",
    "COMPILED",
    "Cells",
    "DEGREES",
    "FAR",
    "Formula",
    "HEAVY",
    "LANED_BITS",
    "LARGE",
    "Law",
    "NOTHING",
    "SKEWED",
    "SLOTS_PAY",
    "SMALL",
    "STEPS",
    "TABLED",
    "Table",
    "Weakest",
    "best_parents",
    "block_moments",
    "block_statistics",
    "chi2_tail",
    "chi2_tails",
    "combined_tails",
    "count_bits",
    "count_dense",
    "count_sparse",
    "count_wide",
    "doubtful_of",
    "drop_each",
    "expected_scores",
    "fill_cells",
    "fit_machine",
    "fit_weights",
    "join_codes",
    "log_beta_below",
    "log_p_under_signs",
    "moments_tail",
    "pack_dense",
    "pack_sparse",
    "permutation_p",
    "permute",
    "rank_numbers",
    "refine",
    "renumber",
    "scan_functions",
    "score_sets",
    "score_tree",
    "separate_columns",
    "settle",
    "strongest_of",
    "test_columns",
    "tested_functions",
    "weaker_of",
]

COMPILED = False
if not os.environ.get("BLANKETS_UNCOMPILED"):
    try:
        for _module in [import_module(f"blankets.kernels._compiled_{kind}") for kind in ("numbers", "tables")]:
            globals().update((name, vars(_module)[name]) for name in __all__ if name in vars(_module))
        COMPILED = True
    except ImportError as problem:
        warnings.warn(
            f"the kernels of blankets are not compiled ({problem}), and take about a hundred times as long; install "
            f"blankets again where there is a C compiler, or let pip have ziglang (BLANKETS_UNCOMPILED=1 hides this)",
            BlanketsWarning,
            stacklevel=2,
        )
