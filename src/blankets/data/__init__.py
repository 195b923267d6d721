"""Data at the door: any table becomes a `Frame` of small integer codes."""

from blankets.data._encoder import Encoder
from blankets.data._files import read_table
from blankets.data._frame import DenseColumns, Frame, SparseColumns
from blankets.data._ingest import Ingested, ingest
from blankets.data._numeric import NumericTable, ingest_numeric
from blankets.data._report import Binning, DataReport

__all__ = [
    "Binning",
    "DataReport",
    "DenseColumns",
    "Encoder",
    "Frame",
    "Ingested",
    "NumericTable",
    "SparseColumns",
    "ingest",
    "ingest_numeric",
    "read_table",
]
