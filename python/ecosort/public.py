"""The names that a program finds in `ecosort`."""

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
