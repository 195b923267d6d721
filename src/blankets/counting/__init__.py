"""Counting: one contract, interchangeable backends."""

from blankets.counting._contract import Counter, TableBlock
from blankets.counting._memory import MemoryCounter, kernels_ready

__all__ = ["Counter", "MemoryCounter", "TableBlock", "kernels_ready"]
