"""The public functions, one a file: from a table to a result.

Nothing is gathered here: ``import blankets`` finds each function in its file when it is first used.
"""

__all__: list[str] = []
