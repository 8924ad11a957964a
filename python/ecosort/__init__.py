"""Sorts what does not fit in memory with the program `ecosort`: files, arrays, streams and tables.

Every sort is a process of the program, which this package brings along; sorts do not know of each other, so that several can
run at once, in threads or not. The output is complete and verified, or there is none. Errors are those of ecosort.errors.
"""

from ecosort.checking import OrderReport, check
from ecosort.errors import (
    BadInput,
    Cancelled,
    EcoSortError,
    FalseClaim,
    IoFailed,
    NotEnoughMemory,
    NotEnoughSpace,
    OutputExists,
    ProgramNotFound,
    VerificationFailed,
)
from ecosort.keys import Key, LineKey, RecordKey, ValueKey, at, col, field
from ecosort.older import (
    sort_csv,
    sort_file,
    sort_in_place,
    sort_jsonl,
    sort_lines,
    sort_memmap,
    sort_records,
    sort_table,
    sorted_iter,
    sorted_records,
)
from ecosort.options import Options
from ecosort.program import find_program
from ecosort.report import KeyCounts, Phase, Progress, Report, RunCompression
from ecosort.request import Request
from ecosort.shuffling import shuffle
from ecosort.sorting import resume, sort
from ecosort.tables import check_table
from ecosort.version import __version__

__all__ = [
    "BadInput",
    "Cancelled",
    "EcoSortError",
    "FalseClaim",
    "IoFailed",
    "Key",
    "KeyCounts",
    "LineKey",
    "NotEnoughMemory",
    "NotEnoughSpace",
    "Options",
    "OrderReport",
    "OutputExists",
    "Phase",
    "ProgramNotFound",
    "Progress",
    "RecordKey",
    "Report",
    "Request",
    "RunCompression",
    "ValueKey",
    "VerificationFailed",
    "__version__",
    "at",
    "check",
    "check_table",
    "col",
    "field",
    "find_program",
    "resume",
    "shuffle",
    "sort",
    "sort_csv",
    "sort_file",
    "sort_in_place",
    "sort_jsonl",
    "sort_lines",
    "sort_memmap",
    "sort_records",
    "sort_table",
    "sorted_iter",
    "sorted_records",
]
