"""The command line: one short command for each public function.

Exit codes: 0 done, 2 wrong usage, 3 the data cannot be used, 130 stopped with Ctrl-C. Results go to
standard output, everything else to standard error.
"""

from blankets.cli._main import commands, main

__all__ = ["commands", "main"]
