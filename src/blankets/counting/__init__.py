"""Counting: one contract, interchangeable backends."""

from blankets.counting._checkpoint import Checkpoint, RememberingCounter
from blankets.counting._contract import Counter, TableBlock
from blankets.counting._dask import DaskCounter, DaskTable, connect
from blankets.counting._fused import (
    DenseTable,
    Strata,
    by_bits,
    count_four,
    count_one,
    dense_table,
    extend_strata,
    joint_counts,
    no_strata,
)
from blankets.counting._gpu import GpuCounter, gpu_kernels
from blankets.counting._kernels import cell_masks, common_bits, count_bits, popcount
from blankets.counting._memory import BitTable, MemoryCounter, count_alone
from blankets.counting._partition import Partitions, SlicedCounter
from blankets.counting._sql import SqlCounter

__all__ = [
    "BitTable",
    "Checkpoint",
    "Counter",
    "DaskCounter",
    "DaskTable",
    "DenseTable",
    "GpuCounter",
    "MemoryCounter",
    "Partitions",
    "RememberingCounter",
    "SlicedCounter",
    "SqlCounter",
    "Strata",
    "TableBlock",
    "by_bits",
    "cell_masks",
    "common_bits",
    "connect",
    "count_alone",
    "count_bits",
    "count_four",
    "count_one",
    "dense_table",
    "extend_strata",
    "gpu_kernels",
    "joint_counts",
    "no_strata",
    "popcount",
]
