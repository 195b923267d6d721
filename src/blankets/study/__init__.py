"""What every question starts from: the data, the target, what is known, and where rows are counted."""
