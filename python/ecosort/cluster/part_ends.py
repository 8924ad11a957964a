"""The part that a task has written: where it is, and its first and last rows."""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ecosort.cluster.formats import Format
from ecosort.errors import IoFailed
from ecosort.process import Sort

Json = dict[str, Any]


def size_of(path: str) -> int:
    """Returns the size of a file in bytes; -1 where there is none."""
    try:
        return os.stat(path).st_size  # noqa: PTH116  # a name as the task got it
    except FileNotFoundError:
        return -1


def written_by(task: Json) -> tuple[str, int]:
    """Returns where the part is, and its size in bytes."""
    if task["place"]:
        return task["place"]["file"], task["place"]["bytes"]
    if task["upload"]:
        from ecosort.remote import s3_requests

        return task["upload"], s3_requests.size_of(task["upload"]) or 0
    return task["output"], size_of(task["output"])


def ends_of(task: Json, form: Format) -> tuple[str | None, str | None]:
    """The first and the last row of a part: of those of its slices, the first ones in front, because ties stay in order."""
    held = [one for one in task["slices"] if one["rows"]]
    if not held:
        return None, None
    if len(held) == 1:
        return held[0]["first"], held[0]["last"]
    if form.name == "records" and not task["upload"]:
        return _ends_of_records(task, form.record_size, held)
    rows = [base64.b64decode(one[name]) for name in ("first", "last") for one in held]
    ordered = sorted_rows(form, base64.b64decode(task["header"]), rows, Path(f"{task['output']}.ends"))
    return base64.b64encode(ordered[0]).decode(), base64.b64encode(ordered[-1]).decode()


def _ends_of_records(task: Json, record_size: int, slices: Sequence[Json]) -> tuple[str, str]:
    """Returns them as the part has them. Raises IoFailed where they are not among those of the slices."""
    ends = []
    file, size = written_by(task)
    offset = task["place"]["offset"] if task["place"] else 0
    with open(file, "rb", buffering=0) as part:  # noqa: PTH123  # a name as the task got it
        for name, at in (("first", offset), ("last", offset + size - record_size)):
            row = base64.b64encode(os.pread(part.fileno(), record_size, at)).decode()
            if row not in [one[name] for one in slices]:
                raise IoFailed(f"the {name} record of part {task['part']} is none of its slices")
            ends.append(row)
    return ends[0], ends[1]


def sorted_rows(form: Format, header: bytes, rows: Sequence[bytes], scratch: Path) -> list[bytes]:
    """A few rows in the order of the format, by the program."""
    scratch.write_bytes(header + b"".join(row + form.row_end for row in rows))
    result = scratch.with_name(f"{scratch.name}.sorted")
    try:
        Sort(form.of_part([str(scratch)], str(result), memory_bytes=16 << 20)).wait()
        data = result.read_bytes()[len(header) :]
        return rows_in_order(form, data, rows)
    finally:
        scratch.unlink(missing_ok=True)
        result.unlink(missing_ok=True)


def rows_in_order(form: Format, data: bytes, rows: Sequence[bytes]) -> list[bytes]:
    """The rows of `data`, which are those of `rows` one after the other; a row of a table may hold ends of lines."""
    if form.name == "records":
        size = form.record_size
        return [data[at : at + size] for at in range(0, len(data), size)]
    if form.name in ("lines", "jsonl"):
        return data.split(form.row_end)[:-1]
    ordered, left = [], sorted(rows, key=len, reverse=True)
    while left:  # the longest row that fits is the one: none can continue behind its end of line within the quotes of another
        row = next(one for one in left if data.startswith(one + form.row_end))
        left.remove(row)
        ordered.append(row)
        data = data[len(row) + len(form.row_end) :]
    return ordered
