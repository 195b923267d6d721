"""The public functions, one a file: from a table to a result.

This file imports nothing: ``import blankets`` loads each function from its file when it is first used.
"""

__all__: list[str] = []
