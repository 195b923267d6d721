"""Data at the door: any table becomes a `Frame` of small integer codes."""

from blankets.data._columns import Categories, Column, Numbers, Refused, factorise
from blankets.data._encoder import Encoder
from blankets.data._files import read_table
from blankets.data._frame import DenseColumns, Frame, SparseColumns
from blankets.data._ingest import Ingested, ingest
from blankets.data._numeric import NumericTable, ingest_numeric
from blankets.data._readers import from_any as read_column
from blankets.data._report import Binning, DataReport

__all__ = [
    "Binning",
    "Categories",
    "Column",
    "DataReport",
    "DenseColumns",
    "Encoder",
    "Frame",
    "Ingested",
    "Numbers",
    "NumericTable",
    "Refused",
    "SparseColumns",
    "factorise",
    "ingest",
    "ingest_numeric",
    "read_column",
    "read_table",
]
