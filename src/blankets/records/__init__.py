"""Results on disk: read and written by the annotations of dataclasses, with the call that made them."""

from blankets.records._call import Call
from blankets.records._kinds import as_data, built, named

__all__ = ["Call", "as_data", "built", "named"]
