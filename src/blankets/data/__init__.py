"""Data at the door: any table becomes a `Frame` of small integer codes."""

from blankets.data._audit import Audit
from blankets.data._chunks import Chunks, open_chunks
from blankets.data._coding import Settings
from blankets.data._columns import Categories, Column, Numbers, Refused, factorize
from blankets.data._encoder import Encoder
from blankets.data._files import read_table
from blankets.data._frame import DenseColumns, Frame, SparseColumns
from blankets.data._ingest import Ingested, ingest
from blankets.data._learn import Recipe, Summary, decide, joined_bins
from blankets.data._numeric import NumericTable, ingest_numeric
from blankets.data._pack import pack_chunks, pack_ingested
from blankets.data._readers import from_any as read_column
from blankets.data._report import Binning, DataReport
from blankets.data._request import check_reading
from blankets.data._room import free_memory
from blankets.data._sql import SqlTable, quoted
from blankets.data._store import Store, is_store

__all__ = [
    "Audit",
    "Binning",
    "Categories",
    "Chunks",
    "Column",
    "DataReport",
    "DenseColumns",
    "Encoder",
    "Frame",
    "Ingested",
    "Numbers",
    "NumericTable",
    "Recipe",
    "Refused",
    "Settings",
    "SparseColumns",
    "SqlTable",
    "Store",
    "Summary",
    "check_reading",
    "decide",
    "factorize",
    "free_memory",
    "ingest",
    "ingest_numeric",
    "is_store",
    "joined_bins",
    "open_chunks",
    "pack_chunks",
    "pack_ingested",
    "quoted",
    "read_column",
    "read_table",
]
