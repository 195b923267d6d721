"""Read data: any table becomes a `Frame` of small integer codes."""

from blankets.data._blocks import DenseColumns, NumberColumn, SparseColumns
from blankets.data._chunks import Chunks, open_chunks
from blankets.data._coding import Coding, decide, decide_target
from blankets.data._columns import Categories, Column, Refused, factorize
from blankets.data._data_report import MISSING_IS_A_LEVEL, Binning, DataReport
from blankets.data._encoder import Encoder
from blankets.data._file_errors import no_file
from blankets.data._files import read_table
from blankets.data._findings import Findings
from blankets.data._frame import Frame
from blankets.data._imputed import completed_tables, repeated, repeated_reading, stacked
from blankets.data._ingest import column_beside, ingest
from blankets.data._ingested import Ingested
from blankets.data._notes import unused_notes
from blankets.data._numeric import NumericTable, ingest_numeric
from blankets.data._orders import on_scales, several_numbers
from blankets.data._pack import pack_chunks, pack_ingested
from blankets.data._readers import from_any as read_column
from blankets.data._reading import DEFAULT, Reading, ReadingOptions
from blankets.data._request import AskedColumns
from blankets.data._room import free_memory
from blankets.data._sql import SqlTable, quoted
from blankets.data._store import Store, is_store
from blankets.data._summary import Summary
from blankets.data._tables import open_table, table_of
from blankets.data._units import numbers_of, refuse_units

__all__ = [
    "AskedColumns",
    "Binning",
    "Categories",
    "Chunks",
    "Coding",
    "Column",
    "DEFAULT",
    "DataReport",
    "DenseColumns",
    "Encoder",
    "Findings",
    "Frame",
    "Ingested",
    "MISSING_IS_A_LEVEL",
    "NumberColumn",
    "NumericTable",
    "Reading",
    "ReadingOptions",
    "Refused",
    "SparseColumns",
    "SqlTable",
    "Store",
    "Summary",
    "column_beside",
    "completed_tables",
    "decide",
    "decide_target",
    "factorize",
    "free_memory",
    "ingest",
    "ingest_numeric",
    "is_store",
    "no_file",
    "numbers_of",
    "on_scales",
    "open_chunks",
    "open_table",
    "pack_chunks",
    "pack_ingested",
    "quoted",
    "read_column",
    "read_table",
    "refuse_units",
    "repeated",
    "repeated_reading",
    "several_numbers",
    "stacked",
    "table_of",
    "unused_notes",
]
