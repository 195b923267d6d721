"""The public functions, one a file: from a table to a result."""
