"""Sorting a file in its own space: the result, its report, and the plan."""

import json
import re
from pathlib import Path

import pytest
from capabilities import require
from sort_support import (
    MIB,
    FileSystem,
    Run,
    expected,
    listing,
    read_json,
    refused,
    succeeded,
)

from .support import (
    SMALL,
    plan_of,
    untouched,
)

# --- the result --------------------------------------------------------------------------------------------------------


def test_the_file_is_sorted_and_nothing_else_is_left(run: Run, file: Path, wanted: bytes) -> None:
    file.chmod(0o640)
    succeeded(run("inplace", file, *SMALL))
    assert file.read_bytes() == wanted
    assert listing(file.parent) == [str(file)]
    assert file.stat().st_mode & 0o7777 == 0o640


@pytest.mark.parametrize("backend", ["uring", "pool", "stxxl"])
def test_every_backend_sorts(run: Run, file: Path, wanted: bytes, backend: str) -> None:
    if backend == "uring":
        require("io_uring")
    succeeded(run("inplace", file, *SMALL, "--io", backend))
    assert file.read_bytes() == wanted


@pytest.mark.parametrize(("size", "keys"), [(1, []), (7, ["2:3"]), (101, ["90:11:desc", "0:4"]), (4_096, ["4000:16"])])
def test_other_records_and_keys(run: Run, drive: FileSystem, data: bytes, size: int, keys: list[str]) -> None:
    path = drive.root / "other"
    part = data[: len(data) // size // 4 * size]
    path.write_bytes(part)
    words = [word for key in keys for word in ("--key", key)]
    succeeded(run("inplace", path, "--record-size", str(size), *words, *SMALL))
    assert path.read_bytes() == expected(part, size, keys)
    path.unlink()


@pytest.mark.parametrize("count", [0, 1, 2, 41])
def test_files_with_few_records(run: Run, ext4: FileSystem, data: bytes, count: int) -> None:
    path = ext4.root / "few"
    path.write_bytes(data[: count * 100])
    succeeded(run("inplace", path))
    assert path.read_bytes() == expected(data[: count * 100])
    path.unlink()


def test_stats_and_events_tell_both_phases(run: Run, file4: Path, tmp_path: Path, data: bytes) -> None:
    succeeded(run("inplace", file4, *SMALL, "--stats", tmp_path / "stats", "--events", tmp_path / "events"))
    stats = read_json(tmp_path / "stats")
    assert stats["schema"] == "ecosort.stats/1"
    assert stats["records"] == len(data) // 100
    assert [phase["name"] for phase in stats["phases"]] == ["prepare", "run_formation", "merge", "sync", "publish"]
    moved = len(data) * 2
    assert moved <= stats["bytes_read"] <= moved * 1.05
    assert moved <= stats["bytes_written"] <= moved * 1.05
    assert stats["peak_counted_memory_bytes"] <= 4 * MIB
    assert '"phase":"merge"' in (tmp_path / "events").read_text()


def test_the_result_is_read_back_where_that_is_wanted(run: Run, file4: Path, tmp_path: Path, wanted: bytes) -> None:
    refused(run("inplace", file4, "--verify", "never"), 2, "--verify")
    succeeded(run("inplace", file4, *SMALL, "--verify", "reread", "--stats", tmp_path / "stats"))
    assert "reread" in [phase["name"] for phase in read_json(tmp_path / "stats")["phases"]]
    assert file4.read_bytes() == wanted


# --- the plan ----------------------------------------------------------------------------------------------------------


def test_the_plan_is_printed_and_changes_nothing(run: Run, file: Path, data: bytes) -> None:
    done = run("plan", "inplace", file, *SMALL)
    assert done.returncode == 0, done
    assert re.search(r"free space needed +[\d.]+ [KM]iB \(\d+ bytes\)", done.stdout)
    plan = plan_of(run, file, *SMALL)
    assert plan["plan"]["peak_memory_bytes"] <= 4 * MIB
    assert plan["needed_bytes"] == plan["least"]["need_bytes"] <= plan["plan"]["need_bytes"] <= plan["free_bytes"]
    untouched(file, data)


def test_no_more_space_is_taken_than_allowed(run: Run, file: Path, data: bytes, wanted: bytes) -> None:
    ample, least = (plan_of(run, file, *SMALL)[name]["need_bytes"] for name in ("plan", "least"))
    assert least < ample
    between = (least + ample) // 2
    assert least <= plan_of(run, file, *SMALL, "--space", f"{between}B")["plan"]["need_bytes"] <= between
    refused(
        run("inplace", file, *SMALL, "--space", f"{least - 1}B"),
        2,
        "of space is too little to sort in place",
        f"({least} bytes)",
    )
    refused(run("plan", "sort", "--space", "1GB", "in", "-o", "out"), 2, "--space")
    untouched(file, data)
    succeeded(run("inplace", file, *SMALL, "--space", f"{least}B"))
    assert file.read_bytes() == wanted


def test_the_terabyte_of_the_paper_fits_its_space(run: Run) -> None:
    done = run("plan", "inplace", "--json", "--assume-size", "1TB", "--memory", "4GiB", "--space", "24GB")
    spare = json.loads(done.stdout)
    assert spare["plan"]["need_bytes"] <= spare["free_bytes"] == 24_000_000_000
    done = run("plan", "inplace", "--assume-size", "1TB", "--memory", "3328MiB", "--json")
    plan = json.loads(done.stdout)
    assert plan["needed_bytes"] <= 24_000_000_000
    assert plan["least"]["need_bytes"] == plan["needed_bytes"] <= plan["recommended_bytes"] <= plan["plan"]["need_bytes"]
    assert plan["least"]["checkpoints"] <= 4_200
    assert plan["recommended"]["checkpoints"] < plan["least"]["checkpoints"]
    refused(run("plan", "sort", "--assume-size", "1TB", "in", "-o", "out"), 2, "--assume-size")
    refused(run("sort", "--assume-size", "1TB", "-o", "out"), 2, "no such option: '--assume-size'")
    refused(run("plan", "inplace", "--assume-size", "1TB", "file"), 2, "--assume-size")
