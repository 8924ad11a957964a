"""A byte that changes in what an interrupted job has written: `resume` finds it before anything more is given up."""

import json
import os
from pathlib import Path

import pytest
from sort_support import MIB, Run, read_json, refused, succeeded

from .support import SMALL, interrupted_in_merge, job_directory, records_of


def flip(path: Path, at: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 4]))
        os.fsync(file.fileno())


@pytest.fixture
def interrupted(ecosort: Path, run: Run, file4: Path, tmp_path: Path) -> Path:
    return interrupted_in_merge(ecosort, run, file4, tmp_path)


def merged_bytes(run: Run, path: Path) -> int:
    for line in run("resume", "--status", path).stdout.splitlines():
        if "records in the output" in line:
            return int(line.split("output")[1].split()[0]) * 100
    raise AssertionError("no such line")


def test_a_flipped_byte_ends_it_with_exit_3(run: Run, interrupted: Path, tmp_path: Path, wanted: bytes) -> None:
    output = job_directory(interrupted) / "output"
    held = merged_bytes(run, interrupted)
    assert held > MIB
    sizes = {path.name: path.stat().st_size for path in job_directory(interrupted).iterdir()}
    for at in (0, held // 2, held - 1):
        flip(output, at)
        for words in ((), ("--abandon",)):
            refused(run("resume", *words, interrupted), 3, "is not what was written to it", "--trust-drive")
        assert {path.name: path.stat().st_size for path in job_directory(interrupted).iterdir()} == sizes
        flip(output, at)
    stats = tmp_path / "stats"
    succeeded(run("resume", interrupted, "--stats", stats))
    assert interrupted.read_bytes() == wanted
    assert read_json(stats)["resumed"] == {"output_records": held // 100, "output_read_again": True}
    assert "recheck" in [phase["name"] for phase in read_json(stats)["phases"]]


def test_a_trusted_drive_is_not_read_again_and_the_report_says_so(
    run: Run, interrupted: Path, tmp_path: Path, wanted: bytes
) -> None:
    held = merged_bytes(run, interrupted)
    flip(job_directory(interrupted) / "output", 0)
    stats = tmp_path / "stats"
    done = run("resume", interrupted, "--trust-drive", "--stats", stats)
    assert done.returncode == 0, done
    assert f"--trust-drive: the {held // 100} records that the output holds are not read again" in done.stderr
    assert json.loads(stats.read_text())["resumed"] == {"output_records": held // 100, "output_read_again": False}
    assert interrupted.read_bytes() == bytes([wanted[0] ^ 4]) + wanted[1:]


def test_abandoning_gives_back_all_records_where_nothing_changed(run: Run, interrupted: Path, data: bytes) -> None:
    succeeded(run("resume", "--abandon", interrupted))
    assert records_of(interrupted.read_bytes()) == records_of(data)


def test_a_job_that_began_in_this_run_resumed_nothing(run: Run, file4: Path, tmp_path: Path) -> None:
    succeeded(run("inplace", file4, *SMALL, "--stats", tmp_path / "stats"))
    assert read_json(tmp_path / "stats")["resumed"] is None
