"""Systems whose pages are larger than 4 KiB (a Raspberry Pi 5 has 16 KiB, others 64): the page size is asked for at run time."""

import os
import subprocess
from pathlib import Path

import pytest
from capabilities import only_in_soak
from preloaded import library
from sort_support import OVERHEAD_BYTES, Run, expected, make_records, read_json, succeeded

pytestmark = pytest.mark.skipif(bool(os.environ.get("ECOSORT_SAN")), reason="sanitizers map memory themselves")
KIB, MIB = 1 << 10, 1 << 20


def with_pages(size: int) -> dict[str, str]:
    return {**os.environ, "LD_PRELOAD": str(library("large_pages")), "LARGE_PAGES": str(size)}


def test_the_double_refuses_what_such_a_system_refuses(tmp_path: Path) -> None:
    """Half a page of 16 KiB cannot be unmapped, and nothing is at half a page."""
    program = tmp_path / "half.c"
    program.write_text(
        "#include <sys/mman.h>\n#include <unistd.h>\n"
        "int main(void) { char* at = mmap(0, 65536, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\n"
        "return (munmap(at + 8192, 8192) == 0) + 2 * ((unsigned long)at % 16384 != 0) + 4 * (sysconf(_SC_PAGESIZE) != 16384); }\n"
    )
    subprocess.run(["cc", program, "-o", tmp_path / "half"], check=True)
    done = subprocess.run([tmp_path / "half"], env=with_pages(16 * KIB), capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "large pages: munmap at " in done.stderr


@pytest.mark.parametrize(
    ("page", "memory"),
    [
        (16 * KIB, "8MiB"),
        (64 * KIB, "160MiB"),
        *(
            pytest.param(page, memory, marks=only_in_soak)
            for page, memory in ((4 * KIB, "8MiB"), (4 * KIB, "160MiB"), (16 * KIB, "160MiB"), (64 * KIB, "8MiB"))
        ),
    ],
)
def test_sorts_with_larger_pages(run: Run, ecosort: Path, tmp_path: Path, page: int, memory: str) -> None:
    """No call is refused; the bytes are the same, and so is the bound of the memory."""
    records = make_records(ecosort, "ascii", 640_000)
    (tmp_path / "in").write_bytes(records)
    words = ("sort", "in", "-o", "out", "--memory", memory, "--threads", "2", "--verify=reread", "--stats", "stats")
    done = run(*words, cwd=tmp_path, env=with_pages(page))
    succeeded(done)
    assert "large pages" not in done.stderr
    assert (tmp_path / "out").read_bytes() == expected(records)
    assert read_json(tmp_path / "stats")["peak_rss_bytes"] <= int(memory.removesuffix("MiB")) * MIB + OVERHEAD_BYTES


@pytest.mark.parametrize("page", [pytest.param(16 * KIB, marks=only_in_soak), 64 * KIB])
@pytest.mark.parametrize(
    "words",
    [
        ("lines", "--buffer-size=4M", "in", "-o", "out"),
        ("lines", "--resumable", "--buffer-size=8M", "in", "-o", "out"),
        ("csv", "--no-header", "--by", "1", "--memory", "8MiB", "in", "-o", "out"),
        ("sort", "--record-size", "16", "--key", "0:15", "--resumable", "--memory", "8MiB", "in", "-o", "out"),
    ],
    ids=["lines", "resumable lines", "csv", "resumable"],
)
def test_other_sorts_with_larger_pages(run: Run, tmp_path: Path, page: int, words: tuple[str, ...]) -> None:
    data = b"".join(b"%015d\n" % (number * 7919 % 400_009) for number in range(400_009))
    (tmp_path / "in").write_bytes(data)
    done = run(*words, cwd=tmp_path, env=with_pages(page))
    assert done.returncode == 0, done.stderr
    assert "large pages" not in done.stderr
    assert (tmp_path / "out").read_bytes() == b"".join(sorted(data.splitlines(keepends=True)))
