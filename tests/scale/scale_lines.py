"""Sorts of a table, as lines or as CSV, on a file system that compresses what the drive of records would keep as it is."""

import json
from pathlib import Path

from scale_drives import packed_drive
from scale_ground import Ground
from scale_table import Row, Space, used_by_file_system


def lines(ground: Ground) -> None:
    sort_rows(ground, "lines", [])


def csv(ground: Ground) -> None:
    sort_rows(ground, "csv", ["--by", "id:integer"])


def sort_rows(ground: Ground, command: str, key: list[str]) -> None:
    """On a new file system: one that discards what was removed takes minutes for it."""
    with packed_drive(ground.place, disk_bytes_of(ground.size)) as (disk, image):
        row, program = ground.row(command, (ground.drive / "rows.csv").stat().st_size)
        output, stats = disk / f"sorted.{command}", disk / "stats"
        with Space(lambda: used_by_file_system(disk)) as space, Space(lambda: image.stat().st_blocks * 512) as real:
            words: list[str | Path] = [command, *key, ground.drive / "rows.csv", "-o", output, "--temp", disk, "--stats", stats]
            program.must(*words, *ground.options)
        row.extra_bytes = max(space.more() - row.size, 0)
        row.notes.append(f"{real.more() / row.size:.3f} bytes kept of each")
        ground.hold_memory(row)
        check(ground, row, [command, *key], output, stats)


def disk_bytes_of(size: int) -> int:
    return size + size // 8 + (2 << 30)


def check(ground: Ground, sorted_by: Row, order: list[str], output: Path, stats: Path) -> None:
    """The order is looked at once more, and the hash of all rows compared with that of the rows that were read."""
    row, program = ground.row(f"check of {output.name}", sorted_by.size)
    told = program.must("check", *order, output).told
    read = json.loads(stats.read_text())
    rows = read.get("rows", read.get("lines"))
    row.demand(output.stat().st_size == sorted_by.size, "the output has another size")
    row.demand(f"Rows: {rows}\n" in told, f"{rows} rows were read, the output has others")
    row.demand(read["hash"] in told, "the hash of the output is not that of what was read")
