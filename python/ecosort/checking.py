"""check(): whether a file is in order, how many rows it has, and their hash."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from ecosort import checks
from ecosort.errors import BadInput
from ecosort.options import OF_ROWS, Options, made, request_of
from ecosort.process import Sort
from ecosort.sorting import format_of
from ecosort.words import Path, path_word

# The output of a sort has no bad rows.
_TAKEN = {"by", "format", "unique", "unique_by", "memory", "decompress", "cancel", *OF_ROWS} - {"bad_rows"}
_NOT_IN_ORDER = 1  # an exit code


@dataclass(frozen=True)
class OrderReport:
    """A file that was looked at. `equal_keys` counts rows with the keys of the row before; `hash` is that of a sort's Report.

    `first_out_of_order` is the number of a line or a record, from 1 on. Where unique rows were asked for, one with the keys of
    the row before is out of order, too, and is counted by `equal_keys` alone.
    """

    rows: int
    equal_keys: int
    rows_out_of_order: int
    first_out_of_order: int | None
    hash: str

    @property
    def is_in_order(self) -> bool:
        return self.first_out_of_order is None


def check(src: Path, options: Options | None = None, **more: Any) -> OrderReport:
    """Returns whether the file `src` is in the order that a sort with these options makes: those of its rows, `by`, `unique`.

    It takes the options of sort() that describe rows and their order, and format, decompress, memory and cancel. Parquet:
    check_table(). Thread-safety: as of sort(). Raises BadInput, IoFailed, Cancelled.

    >>> from pathlib import Path
    >>> _ = Path("prices.csv").write_text("name,price\\npen,2.50\\nink,10\\ncap,9\\n")
    >>> check("prices.csv", by="price:number").first_out_of_order
    4
    """
    if options is not None and not isinstance(options, Options):
        raise checks.no_such("options", "a value of Options", options)
    told = made(Options, options, more).checked()
    if others := [name for name in told if name not in _TAKEN]:
        raise BadInput(f"{others[0]} says nothing about the order of rows; leave it out")
    name = path_word(src, "src")
    form = format_of([name], told)
    if form in ("table", "array"):
        raise BadInput(f"src: check_table() looks at Parquet files; '{name}' is of no format that check() knows")
    request = request_of({key: value for key, value in told.items() if key != "cancel"}, form, [name], None)
    done = Sort(request, command=("check", "--request"), cancel=told.get("cancel"), fine_codes=(0, _NOT_IN_ORDER)).stats()
    return OrderReport(**{field.name: done[field.name] for field in dataclasses.fields(OrderReport)})
