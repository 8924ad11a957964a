"""shuffle(): lines, rows of CSV, JSON lines, paragraphs or records in a random order, more than memory holds."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any, Literal

from ecosort import checks
from ecosort.errors import BadInput
from ecosort.process import Sort
from ecosort.report import Progress, Report
from ecosort.request import Request
from ecosort.sorting import names_of
from ecosort.words import Path, Size, bytes_of, output, path_words

Rows = Literal["lines", "csv", "jsonl", "paragraphs", "records"]
_ROWS: dict[str, dict[str, Any]] = {
    "lines": {"lines": {}},
    "csv": {"csv": {}},
    "jsonl": {"jsonl": {}},
    "paragraphs": {"lines": {"paragraphs": True}},
    "records": {"records": {}},
}


def shuffle(
    src: Path | Iterable[Path],
    dst: Path,
    *,
    seed: int | None = None,
    rows: Rows = "lines",
    record_size: int | None = None,
    header_lines: int = 0,
    record_lines: int | None = None,
    record_start: str = "",
    limit: int | None = None,
    skip: int = 0,
    overwrite: bool = False,
    memory: Size | None = None,
    threads: int | None = None,
    temp: Path | Iterable[Path] = (),
    progress: Callable[[Progress], object] | None = None,
    cancel: threading.Event | None = None,
) -> Report:
    """Writes all rows of the files `src` (names, or patterns) to `dst` in a random order, each of which is equally likely.

    The same rows with the same `seed` have the same order with any memory and threads, on any machine, in one file or in
    pieces; Report.seed says which it was. The header of CSV, or `header_lines`, stays on top. `record_lines` lines
    belong together, or those from one that begins with `record_start` up to the next such one. `limit` writes only so
    many of the first rows of the order, and `skip` leaves so many out: with one seed no row is in both. `dst` is there only
    when it is complete and verified.

    Raises BadInput, OutputExists, NotEnoughMemory, NotEnoughSpace, IoFailed, VerificationFailed, Cancelled.

    >>> from pathlib import Path
    >>> _ = Path("train.txt").write_text("".join(f"{number}\\n" for number in range(10)))
    >>> report = shuffle("train.txt", "shuffled.txt", seed=1)
    >>> Path("shuffled.txt").read_text().split(), report.seed
    (['5', '9', '2', '4', '6', '7', '1', '3', '8', '0'], 1)
    """
    if rows not in _ROWS:
        raise checks.no_such("rows", f"one of {', '.join(_ROWS)}", rows)
    if (record_lines is not None or record_start) and (rows != "lines" or header_lines):
        raise BadInput("record_lines and record_start go with rows='lines', which have no header then")
    if (rows == "records") != (record_size is not None):
        raise BadInput("record_size goes with rows='records', and that with it")
    numbers = {"seed": seed, "record_size": record_size, "header_lines": header_lines, "skip": skip, "threads": threads}
    for name, value in (numbers | {"record_lines": record_lines, "limit": limit}).items():
        if value is not None:
            least = 1 if name in ("record_size", "record_lines", "threads") else 0
            checks.whole_number(value, name, f"a whole number from {least} on", least)
    if header_lines and "lines" not in _ROWS[rows]:
        raise BadInput(f"header_lines is for lines, not for {rows}")
    form, of_rows = next(iter(_ROWS[rows].items()))
    told: dict[str, int | str | None] = {"record_size": record_size, "header_lines": header_lines}
    told |= {"record_lines": record_lines, "record_start": checks.text(record_start, "record_start")}
    own = {name: value for name, value in told.items() if value}
    means: dict[str, Any] = {"threads": threads} if threads else {}
    means |= {} if memory is None else {"memory_bytes": bytes_of(memory, "memory")}
    means |= {} if checks.is_left_out(temp) else {"temp_directories": path_words(temp, "temp")}
    members = {
        "inputs": names_of(src),
        form: of_rows | own,
        "shuffle": {"seed": seed, "skip": skip},
        "place": {"output": output(dst, overwrite)},
        "means": means,
        "compression": {"decompress": rows != "records", "output": "auto"},
    }
    members |= {} if limit is None else {"limit": limit}
    return Sort(Request(members), progress=progress, cancel=cancel).wait()
