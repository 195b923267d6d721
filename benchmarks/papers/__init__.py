"""The tables and figures of the papers behind this library, one short script each.

    python -m benchmarks.papers --list
    python -m benchmarks.papers pena-table4 --data DATA
    python -m benchmarks.papers --quick --all --data DATA
    python -m benchmarks.papers --again pena-table4

A script names its `Experiment`: the cells of its table (settings that can be computed apart), how one cell is run,
and how the numbers compare with the printed ones. `_harness` does the rest: processes, finished cells kept on disk, CSV
and a section of docs/reproduction.md; ``--again`` writes findings and section anew from the CSV, without a run.
"""
