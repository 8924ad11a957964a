"""The program for another processor, emulated: it sorts, resumes and checks as here, with pages of each size that Linux has.

`make cross` runs this with ECOSORT_EMULATOR="qemu-aarch64 -L SYSROOT". The emulator reports larger pages and gives out memory in
whole ones; it has no io_uring, and no order of memory that is weaker than that of the machine it runs on.
"""

import json
import os
import random
import signal
import subprocess
from pathlib import Path

import pytest
from capabilities import require
from conftest import BUILD
from preloaded import library
from sort_support import KIB, MIB, expected, mounted, read_json

EMULATOR = os.environ.get("ECOSORT_EMULATOR", "").split()
PAGES = (4 * KIB, 16 * KIB, 64 * KIB)
LEVELS = ("baseline", "neon")
NO_URING = "ecosort: io_uring is not available here (Function not implemented); a pool of threads does the I/O\n"
TIMEOUT_S = 120

pytestmark = pytest.mark.skipif("qemu-aarch64" not in EMULATOR, reason="make cross runs this, with ECOSORT_EMULATOR")


@pytest.fixture(params=PAGES, ids=[f"{page // KIB}K" for page in PAGES])
def page(request: pytest.FixtureRequest) -> int:
    size: int = request.param
    return size


def command(page: int, *words: str | Path) -> list[str]:
    return [*EMULATOR, "-p", str(page), *map(str, words)]


def program(page: int, *words: str | Path) -> list[str]:
    double = library("statx_of_qemu", "aarch64-linux-gnu-gcc")
    return command(page, "-E", f"LD_PRELOAD={double}", BUILD / "ecosort", *words)


def run(page: int, *words: str | Path, cwd: Path, level: str = "neon") -> subprocess.CompletedProcess[bytes]:
    """Runs the program to its end, which must be a good one."""
    done = subprocess.run(
        program(page, *words),
        cwd=cwd,
        env={**os.environ, "ECOSORT_CPU": level},
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done
    return done


def make_records(page: int, directory: Path, count: int) -> bytes:
    run(page, "gen", "-a", str(count), "in", cwd=directory)
    return (directory / "in").read_bytes()


def test_the_emulated_system_has_such_pages(page: int, tmp_path: Path) -> None:
    """Else the tests below would be the same one three times."""
    source, program = tmp_path / "page.c", tmp_path / "page"
    source.write_text('#include <stdio.h>\n#include <unistd.h>\nint main(void) { printf("%ld", sysconf(_SC_PAGESIZE)); }\n')
    subprocess.run(["aarch64-linux-gnu-gcc", "-static", source, "-o", program], check=True)
    assert subprocess.run(command(page, program), capture_output=True, check=True).stdout == str(page).encode()


def test_says_what_it_finds(page: int, tmp_path: Path) -> None:
    """As `ecosort tune` shows it on a Raspberry Pi 5, whose pages have 16 KiB."""
    for level in LEVELS:
        said = run(page, "--version", cwd=tmp_path, level=level).stdout.decode().splitlines()[-1]
        assert said.startswith(f"machine: kernels for {level}, pages of {page // KIB} KiB, "), said


def test_sorts_and_checks_records(page: int, tmp_path: Path) -> None:
    """Runs are stored and merged; the hashes of the kernels of each level are the same."""
    records = make_records(page, tmp_path, 60_000)
    hashes = set()
    for level in LEVELS:
        words = ("sort", "in", "-o", "out", "--temp", ".", "--memory", "2MiB", "--stats", "stats")
        assert run(page, *words, cwd=tmp_path, level=level).stderr.decode() == NO_URING
        assert (tmp_path / "out").read_bytes() == expected(records)
        stats = read_json(tmp_path / "stats")
        assert stats["plan"]["stored_runs"] > 1
        hashes.add(stats["hash"])
        checked = run(page, "check", "out", cwd=tmp_path, level=level)
        assert b"SUCCESS - all records are in order" in checked.stdout + checked.stderr
        (tmp_path / "out").unlink()
    assert len(hashes) == 1


@pytest.mark.parametrize("level", LEVELS)
def test_sorts_lines_and_tables(page: int, level: str, tmp_path: Path) -> None:
    values = random.Random(1)
    lines = [f"{values.randrange(10**6)} {'x' * values.randrange(150)}\n" for _ in range(20_000)]
    (tmp_path / "lines").write_text("".join(lines))
    run(page, "lines", "lines", "-o", "out", "-T", ".", "-S", "2M", cwd=tmp_path, level=level)
    assert (tmp_path / "out").read_text() == "".join(sorted(lines))
    rows = [f'{i},"a ""quoted"", name",{values.randrange(-(10**6), 10**6)}.{i % 10},z\n' for i in range(20_000)]
    (tmp_path / "rows.csv").write_text("number,name,price,end\n" + "".join(rows))
    words = ("csv", "--by", "price:number", "rows.csv", "-o", "out.csv", "--temp", ".", "--memory", "2MiB")
    run(page, *words, cwd=tmp_path, level=level)
    by_price = sorted(rows, key=lambda row: float(row.split(",")[3]))
    assert (tmp_path / "out.csv").read_text() == "number,name,price,end\n" + "".join(by_price)


def test_sorts_in_place(page: int, tmp_path: Path) -> None:
    require("loop_mount")
    with mounted(tmp_path, "ext4", 64 * MIB) as drive:
        records = make_records(page, drive.root, 60_000)
        run(page, "inplace", "--memory", "2MiB", "in", cwd=drive.root)
        assert (drive.root / "in").read_bytes() == expected(records)


def test_resumes_a_killed_job(page: int, tmp_path: Path) -> None:
    records = make_records(page, tmp_path, 150_000)
    os.mkfifo(tmp_path / "events")
    words = ("sort", "in", "-o", "out", "--memory", "2MiB", "--resumable", "--events", "events")
    # The emulator takes a second for this merge.
    with subprocess.Popen(program(page, *words), cwd=tmp_path, stderr=subprocess.DEVNULL) as job:
        with (tmp_path / "events").open() as events:
            begun = (event["phase"] for event in map(json.loads, events) if event["event"] == "begin")
            assert "merge" in begun
            job.kill()
        assert job.wait(TIMEOUT_S) == -signal.SIGKILL
    assert not (tmp_path / "out").exists()
    run(page, "resume", "out", cwd=tmp_path)
    assert (tmp_path / "out").read_bytes() == expected(records)
