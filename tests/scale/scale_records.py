"""Sorts of records: in place with two kills; from an input that takes no space; `merge --runs` of a sort that was killed."""

import json
import shutil
import signal
from pathlib import Path

from scale_ground import RECORD_BYTES, Ground
from scale_program import at, note_restart
from scale_table import Space, used_by_file_system, used_by_files


def sort_in_place(ground: Ground) -> None:
    path = ground.disk / "big.dat"
    ground.checksum = ground.generate("gen", ground.records, path)
    row, program = ground.row("inplace", ground.size)
    plan = json.loads(program.output_of("plan", "inplace", path, *ground.options, "--json"))
    with Space(lambda: used_by_files(ground.disk)) as space:
        first = program.run("inplace", path, *ground.options, kill_at=at("run formation", 30))
        journal = Path(f"{path}.ecosort") / "journal"
        row.journal_bytes = journal.stat().st_size
        second = program.run("resume", path, kill_at=at("merge", 60))
        note_restart(row, second)
        last = program.must("resume", path)
    note_restart(row, last)
    kills = [first.code, second.code].count(-signal.SIGKILL)  # a small job ends before
    row.step += f", {kills} kills"
    row.extra_bytes = space.more()
    planned = plan["plan"]["need_bytes"]
    row.demand(row.extra_bytes <= planned, f"extra space {row.extra_bytes}, planned {planned}")
    ground.hold_memory(row)
    ground.check(path, ground.records, ground.checksum)


def sort(ground: Ground) -> None:
    checksum = ground.checksum
    path = ground.disk / "sorted"
    row, program = ground.row("sort", ground.size)
    with Space(lambda: used_by_file_system(ground.disk)) as space:
        program.must("sort", ground.drive / "records", "-o", path, *ground.options)
    row.extra_bytes = max(space.more() - ground.size, 0)
    ground.hold_memory(row)
    ground.check(path, ground.records, checksum)


def merge_runs(ground: Ground) -> None:
    """Takes a tenth of the records: the disk has no room for all runs and all of the output."""
    records = ground.records // 10
    part, output, merged, events = (ground.disk / name for name in ("part", "out", "merged", "events"))
    checksum = ground.generate("gen of a tenth", records, part)
    row, program = ground.row("sort --resumable, killed", records * RECORD_BYTES)
    events.touch()
    words: list[str | Path] = ["sort", "--resumable", part, "-o", output, *ground.options, "--quiet", "--events", events]
    row.demand(program.kill_when(lambda: '"begin","phase":"merge"' in events.read_text(), *words), "it ended before its merge")
    part.unlink()
    row, program = ground.row("merge --runs", records * RECORD_BYTES)
    runs = sorted(Path(f"{output}.ecosort").glob("run-*"))
    program.must("merge", "--runs", *runs, "-o", merged, *ground.options)
    ground.hold_memory(row)
    shutil.rmtree(f"{output}.ecosort")
    ground.check(merged, records, checksum)
