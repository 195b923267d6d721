"""The tables and figures of the papers behind this library, one short script each.

    python -m benchmarks.papers --list
    python -m benchmarks.papers pena-table4 --data DATA
    python -m benchmarks.papers --quick --all --data DATA
    python -m benchmarks.papers --again pena-table4

A script names its `Experiment`: the cells of its table (settings that can be computed apart), how one cell is run,
how the numbers compare with the printed ones, and the figure. The runner does the rest: two processes, progress,
finished cells kept on disk, CSV, figure, and a section of docs/reproduction.md; ``--again`` writes findings, figure and
section anew from the CSV, without a run.
"""
