"""Sorts of tiny inputs: nothing is made or asked for that only a larger one needs."""

import gzip
import json
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Require = Callable[[str], None]
TINY_BYTES = (1 << 16) - 1  # the most that is planned without a look at the machine
COMMANDS = {
    "lines": ["lines"],
    "csv": ["csv", "--no-header", "--by", "1"],
    "records": ["sort", "--record-size", "1", "--key", "0:1"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_thread_no_ring_and_no_look_at_the_machine(ecosort: Path, tmp_path: Path, require: Require, command: str) -> None:
    require("strace")
    (tmp_path / "in").write_text("b\na\n")
    calls = "clone,clone3,io_uring_setup,open,openat"
    trace = ["strace", "-f", "-qq", "-o", tmp_path / "trace", "-e", f"trace={calls}"]
    words = [*COMMANDS[command], "--quiet", "in", "-o", "out"]
    subprocess.run([*trace, ecosort, *words], cwd=tmp_path, check=True)
    made = (tmp_path / "trace").read_text()
    assert "O_TMPFILE" in made
    for word in ("clone", "io_uring", "/proc/meminfo", "cgroup", "libisal", "libm.so", "libicu"):
        assert word not in made, word


def test_a_small_compressed_input_is_sorted_without_a_look_at_threads(ecosort: Path, tmp_path: Path, require: Require) -> None:
    """Where they were looked at in /proc, the kernel lets who waits for the process spin until all have ended."""
    require("strace")
    (tmp_path / "in.gz").write_bytes(gzip.compress(b"b\na\n"))
    trace = ["strace", "-f", "-qq", "-o", tmp_path / "trace", "-e", "trace=open,openat,clone,clone3"]
    subprocess.run([*trace, ecosort, "lines", "--decompress=auto", "in.gz", "-o", "out"], cwd=tmp_path, check=True)
    assert (tmp_path / "out").read_text() == "a\nb\n"
    made = (tmp_path / "trace").read_text()
    assert "clone" in made, "without threads there is nothing to look at"
    assert "/proc/self/task" not in made


@pytest.mark.parametrize("command", COMMANDS)
def test_the_largest_tiny_input_fits_the_memory_that_it_is_planned_with(ecosort: Path, tmp_path: Path, command: str) -> None:
    """Rows of one byte take the most beside their bytes."""
    digits = random.Random(5).choices(b"0123456789", k=TINY_BYTES)
    rows = [bytes([digit]) if command == "records" else b"%c\n" % digit for digit in digits]
    rows = rows[: TINY_BYTES // len(rows[0])]
    (tmp_path / "in").write_bytes(b"".join(rows))
    words = [*COMMANDS[command], "in", "-o", "out", "--stats", "stats.json"]
    subprocess.run([ecosort, *words], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "out").read_bytes() == b"".join(sorted(rows))
    stats = json.loads((tmp_path / "stats.json").read_text())
    assert stats["plan"]["stored_runs"] == 0 if command == "records" else stats["runs"] == 0
    assert stats.get("peak_counted_memory_bytes", 0) <= 8 << 20
