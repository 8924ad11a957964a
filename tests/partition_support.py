"""The tests of `sample` and `partition` share these: files of splitters, and an oracle of their own."""

import base64
import json
from bisect import bisect_right
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Key = Callable[[bytes], Any]
Row = tuple[bytes, int]  # and its offset in the file


def write_splitters(path: Path, splitters: Sequence[tuple[bytes, int, int]], header: bytes | None = None) -> Path:
    lines = [] if header is None else [json.dumps({"header": base64.b64encode(header).decode()})]
    for row, source, offset in splitters:
        lines.append(json.dumps({"row": base64.b64encode(row).decode(), "source": source, "offset": offset}))
    path.write_text("".join(line + "\n" for line in lines))
    return path


def read_rows(path: Path) -> list[tuple[bytes, int, int]]:
    """The rows of a sample or of splitters: row, source, offset."""
    objects = [json.loads(line) for line in path.read_text().splitlines()]
    return [(base64.b64decode(o["row"], validate=True), o["source"], o["offset"]) for o in objects if "row" in o]


def records_of(data: bytes, size: int, start: int = 0) -> list[Row]:
    return [(data[i : i + size], start + i) for i in range(0, len(data), size)]


def lines_of(data: bytes, start: int = 0) -> list[Row]:
    rows, at = [], start
    for line in data.split(b"\n")[: -1 if data.endswith(b"\n") or not data else None]:
        rows.append((line, at))
        at += len(line) + 1
    return rows


def parts_of(rows: Sequence[Row], source: int, splitters: Sequence[tuple[bytes, int, int]], key: Key) -> list[list[bytes]]:
    """Every row goes to the part whose number is that of the splitters that are not behind it. Splitters are in order."""
    cuts = [(key(row), at_source, offset) for row, at_source, offset in splitters]
    parts: list[list[bytes]] = [[] for _ in range(len(cuts) + 1)]
    for row, offset in rows:
        parts[bisect_right(cuts, (key(row), source, offset))].append(row)
    return parts


def slices(directory: Path, prefix: str = "slice") -> list[bytes]:
    return [path.read_bytes() for path in sorted(directory.glob(f"{prefix}.[0-9]*"))]


def sorted_files(report: dict[str, Any]) -> list[list[bytes]]:
    """Reads the files of each part, in their order."""
    return [[Path(file["file"]).read_bytes() for file in entry["files"]] for entry in report["slices"]]


def check_report(report: dict[str, Any], parts: Sequence[Sequence[bytes]], key: Key) -> None:
    """Checks that what it says of every slice is so, and that the slices' hashes add up to that of the range."""
    mask = (1 << 64) - 1
    assert report["rows"] == sum(len(part) for part in parts)
    assert [entry["part"] for entry in report["slices"]] == list(range(len(parts)))
    high = low = 0
    for entry, part in zip(report["slices"], parts, strict=True):
        assert entry["rows"] == len(part)
        assert entry["file"] == entry["files"][0]["file"]
        assert [file["bytes"] for file in entry["files"]] == [Path(file["file"]).stat().st_size for file in entry["files"]]
        assert entry["bytes"] == sum(file["bytes"] for file in entry["files"])
        high, low = (high + int(entry["hash"][:16], 16)) & mask, (low + int(entry["hash"][16:], 16)) & mask
        # The first one comes first among the smallest rows, and the last one comes last among the largest.
        ends = [min(part, key=key), max(reversed(part), key=key)] if part else []
        told = [base64.b64decode(entry[end]) for end in ("first", "last") if entry[end] is not None]
        assert told == ends
    assert f"{high:016x}{low:016x}" == report["hash"]
