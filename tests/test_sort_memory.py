"""Memory: --memory bounds the buffers, the process stays within memory + 32 MiB, and defaults respect every limit there is."""

import json
import os
import re
import resource
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from capabilities import SOAK, only_in_soak
from pairs import turns
from sort_support import BACKENDS, MIB, OVERHEAD_BYTES, Require, Run, expected, make_records, read_json, refused, succeeded

# Memory that a sanitizer keeps of its own is not the program's.
pytestmark = pytest.mark.skipif(bool(os.environ.get("ECOSORT_SAN")), reason="sanitizers take memory of their own")


@pytest.fixture(scope="module")
def source(ecosort: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """64 MB: several times what the sorts below may use, however little that is."""
    path = tmp_path_factory.mktemp("memory") / "in"
    path.write_bytes(make_records(ecosort, "ascii", 640_000))
    return path


@pytest.fixture(scope="module")
def wanted(source: Path) -> bytes:
    return expected(source.read_bytes())


@pytest.mark.parametrize(
    ("memory", "backend"),
    turns([2, 8, 24, 48, 160], BACKENDS),
    indirect=["backend"],
)
def test_the_process_stays_within_the_memory_and_the_overhead(
    run: Run, tmp_path: Path, source: Path, wanted: bytes, memory: int, backend: str
) -> None:
    words = ("sort", source, "-o", "out", "--memory", f"{memory}MiB", "--io", backend, "--threads", "2", "--stats", "stats")
    succeeded(run(*words, cwd=tmp_path))
    stats = read_json(tmp_path / "stats")
    assert stats["peak_counted_memory_bytes"] <= memory * MIB
    assert stats["plan"]["peak_memory_bytes"] <= memory * MIB
    assert stats["peak_counted_memory_bytes"] <= stats["plan"]["peak_memory_bytes"]
    assert stats["peak_rss_bytes"] <= memory * MIB + OVERHEAD_BYTES
    assert stats["plan"]["fixed_overhead_bytes"] == OVERHEAD_BYTES
    assert (tmp_path / "out").read_bytes() == wanted


@pytest.mark.parametrize("threads", [1, 8, 32, 512])
def test_threads_do_not_change_the_bound(run: Run, tmp_path: Path, source: Path, threads: int) -> None:
    words = ("sort", source, "-o", "out", "--memory", "8MiB", "--threads", str(threads), "--stats", "stats")
    succeeded(run(*words, cwd=tmp_path))
    assert read_json(tmp_path / "stats")["peak_rss_bytes"] <= 8 * MIB + OVERHEAD_BYTES


@pytest.mark.parametrize("backend", ["uring", "pool", "stxxl"])
def test_little_address_space_is_enough(run: Run, tmp_path: Path, source: Path, wanted: bytes, backend: str) -> None:
    """`ulimit -v`: neither stacks nor heaps of threads reserve what they never use."""
    limit = 100 * MIB
    words = ("sort", source, "-o", "out", "--io", backend)
    succeeded(run(*words, cwd=tmp_path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))))
    assert (tmp_path / "out").read_bytes() == wanted


def test_the_kernel_agrees_about_the_peak(ecosort: Path, tmp_path: Path, source: Path) -> None:
    """Watched from outside. wait4() would report the size of this process where it is larger: its figure survives exec."""
    command = [ecosort, "sort", source, "-o", tmp_path / "out", "--memory", "16MiB", "--stats", tmp_path / "stats"]
    process = subprocess.Popen(command)
    seen = 0
    while process.poll() is None:
        status = Path(f"/proc/{process.pid}/status").read_text()
        if "ecosort" in status.splitlines()[0] and (found := re.search(r"VmHWM:\s+(\d+) kB", status)):
            seen = int(found.group(1)) * 1024
        time.sleep(0.002)
    assert process.returncode == 0
    reported = read_json(tmp_path / "stats")["peak_rss_bytes"]
    assert 8 * MIB < seen <= reported + MIB <= 17 * MIB + OVERHEAD_BYTES


def test_many_short_records_and_many_runs(run: Run, tmp_path: Path) -> None:
    """Indexes and tables weigh most here."""
    for size in (2, 8):
        (tmp_path / "in").write_bytes(os.urandom(3 * MIB * size))
        words = ("sort", "in", "-o", "out", "--record-size", str(size), "--memory", "2MiB", "--stats", "stats")
        succeeded(run(*words, cwd=tmp_path))
        stats = read_json(tmp_path / "stats")
        assert stats["peak_counted_memory_bytes"] <= 2 * MIB
        assert stats["peak_rss_bytes"] <= 2 * MIB + OVERHEAD_BYTES


@pytest.mark.parametrize(("runs", "memory"), [(1_300, 48), pytest.param(16_000, 8, marks=only_in_soak)])
def test_what_each_run_takes_stays_within_the_overhead(run: Run, tmp_path: Path, source: Path, runs: int, memory: int) -> None:
    """Files, cursors and tables of many short runs; 1,300 are one merge."""
    words = ("sort", source, "-o", "out", "--run-records", str(640_000 // runs), "--memory", f"{memory}MiB", "--stats", "stats")
    succeeded(run(*words, cwd=tmp_path))
    stats = read_json(tmp_path / "stats")
    assert stats["runs"] >= runs
    assert stats["peak_counted_memory_bytes"] <= memory * MIB
    assert stats["peak_rss_bytes"] <= memory * MIB + OVERHEAD_BYTES


# --- control groups ------------------------------------------------------------------------------------------------------


@pytest.fixture
def control_group(require: Require) -> Iterator[Callable[[int], Callable[[], None]]]:
    """`control_group(bytes)`: a memory control group of that size, as what a child calls to enter it."""
    require("memory_cgroup")
    base = Path("/sys/fs/cgroup/memory")
    name = f"ecosort-test-{uuid.uuid4().hex[:12]}"
    # A group inside a group: the limit may be anybody's above.
    outer, inner = base / name, base / name / "inner"
    inner.mkdir(parents=True)

    def limited_to(limit_bytes: int) -> Callable[[], None]:
        (outer / "memory.limit_in_bytes").write_text(str(limit_bytes))
        return lambda: (inner / "cgroup.procs").write_text(str(os.getpid())) and None

    yield limited_to
    for group in (inner, outer):
        group.rmdir()


@pytest.mark.parametrize(("memory", "backend"), turns([8, 64], BACKENDS), indirect=["backend"])
def test_in_a_control_group_of_exactly_memory_and_overhead(
    run: Run,
    control_group: Callable[[int], Callable[[], None]],
    tmp_path: Path,
    source: Path,
    wanted: bytes,
    memory: int,
    backend: str,
) -> None:
    """The page cache, too, counts there: nothing is killed, and nothing fails."""
    enter = control_group(memory * MIB + OVERHEAD_BYTES)
    words = ("sort", source, "-o", "out", "--memory", f"{memory}MiB", "--io", backend)
    succeeded(run(*words, cwd=tmp_path, preexec_fn=enter))
    assert (tmp_path / "out").read_bytes() == wanted


def test_without_options_the_control_group_decides(
    run: Run, control_group: Callable[[int], Callable[[], None]], tmp_path: Path, source: Path, wanted: bytes
) -> None:
    limit = 80 * MIB
    enter = control_group(limit)
    succeeded(run("sort", source, "-o", "out", "--stats", "stats", cwd=tmp_path, preexec_fn=enter))
    stats = read_json(tmp_path / "stats")
    assert limit - OVERHEAD_BYTES - 16 * MIB <= stats["memory_limit_bytes"] <= limit - OVERHEAD_BYTES
    assert stats["plan"]["shape"] == "two passes"
    assert (tmp_path / "out").read_bytes() == wanted
    plan = run("plan", "sort", source, "-o", "out", cwd=tmp_path, preexec_fn=enter).stdout
    assert "available by cgroup v1 memory.limit_in_bytes" in plan


def test_without_options_from_a_pipe_in_a_control_group(
    ecosort: Path, control_group: Callable[[int], Callable[[], None]], tmp_path: Path, source: Path, wanted: bytes
) -> None:
    enter = control_group(80 * MIB)
    with subprocess.Popen(["cat", source], stdout=subprocess.PIPE) as cat:
        done = subprocess.run(
            [ecosort, "sort", "-", "-o", "out"],
            stdin=cat.stdout,
            cwd=tmp_path,
            capture_output=True,
            preexec_fn=enter,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "out").read_bytes() == wanted


# --- limits of the process -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [320, 400, 1000])
def test_without_options_the_address_space_decides(run: Run, tmp_path: Path, source: Path, wanted: bytes, limit: int) -> None:
    bounds = (limit * MIB, limit * MIB)
    words = ("sort", source, "-o", "out", "--stats", "stats")
    succeeded(run(*words, cwd=tmp_path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, bounds)))
    assert read_json(tmp_path / "stats")["memory_limit_bytes"] <= limit * MIB
    assert (tmp_path / "out").read_bytes() == wanted


def test_without_any_limit_half_of_the_free_memory(run: Run, tmp_path: Path, source: Path) -> None:
    available = next(
        int(line.split()[1]) * 1024 for line in Path("/proc/meminfo").read_text().splitlines() if "MemAvailable" in line
    )
    done = run("plan", "sort", source, "-o", "out", "--json", cwd=tmp_path)
    limit = json.loads(done.stdout)["memory_limit_bytes"]
    assert limit <= available / 2 + 256 * MIB
    assert limit >= 8 * MIB


def test_threads_are_the_cpus_this_process_may_use(run: Run, tmp_path: Path, source: Path) -> None:
    cpus = sorted(os.sched_getaffinity(0))
    for allowed in (cpus, cpus[:1]):
        words = ("sort", source, "-o", "out", "--stats", "stats")
        succeeded(run(*words, cwd=tmp_path, preexec_fn=lambda allowed=allowed: os.sched_setaffinity(0, allowed)))
        assert read_json(tmp_path / "stats")["threads"] == len(allowed)


def test_memory_that_does_not_exist_is_refused(run: Run, tmp_path: Path, source: Path) -> None:
    """Better said now than killed in an hour. A pipe may bring anything, so all of --memory counts; of a file what it takes."""
    done = run("sort", "-", "-o", "out", "--memory", "1000TiB", cwd=tmp_path, stdin=subprocess.PIPE)
    refused(done, 2, "a sort with 1000 TiB of memory", "available")
    limit = 320 * MIB
    for command in (["sort"], ["plan", "sort"]):
        words = (*command, source, "-o", "out", "--memory", "1GiB")
        done = run(*words, cwd=tmp_path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        refused(done, 2, "a sort with 1 GiB of memory would take", "64 MiB are available (RLIMIT_AS)")
    assert list(tmp_path.iterdir()) == []
    succeeded(run("sort", source, "-o", "out", "--memory", "1000TiB", cwd=tmp_path))


def test_memory_beyond_the_control_group_is_refused(
    run: Run, control_group: Callable[[int], Callable[[], None]], tmp_path: Path, source: Path
) -> None:
    enter = control_group(64 * MIB)
    done = run("sort", source, "-o", "out", "--memory", "1GiB", cwd=tmp_path, preexec_fn=enter)
    refused(done, 2, "a sort with 1 GiB of memory would take", "memory.limit_in_bytes")
    # The overhead counts: beyond its limit a control group does not fail, it kills.
    done = run("sort", source, "-o", "out", "--memory", "40MiB", cwd=tmp_path, preexec_fn=enter)
    refused(done, 2, "a sort with 40 MiB of memory would take", "memory.limit_in_bytes")


@pytest.mark.skipif(not SOAK, reason="1 GB: ECOSORT_SOAK=1")
@pytest.mark.timeout(1200)
def test_eight_mebibytes_sort_one_gigabyte(run: Run, tmp_path: Path, ecosort: Path, backend: str) -> None:
    subprocess.run([ecosort, "gen", "-a", "10000000", tmp_path / "in"], check=True)
    words = ("sort", "in", "-o", "out", "--memory", "8MiB", "--io", backend, "--stats", "stats")
    succeeded(run(*words, cwd=tmp_path, timeout_s=900))
    stats = read_json(tmp_path / "stats")
    assert stats["peak_counted_memory_bytes"] <= 8 * MIB
    assert stats["peak_rss_bytes"] <= 8 * MIB + OVERHEAD_BYTES
    assert run("check", "out", cwd=tmp_path, timeout_s=300).returncode == 0


@only_in_soak
@pytest.mark.timeout(1200)
def test_many_short_lines_of_digits_stay_within_the_memory(run: Run, tmp_path: Path) -> None:
    """Buckets for digits, which lack six of sixteen values, left holes of 50 MiB in the heap, in no smaller input."""
    chance = np.random.default_rng(7)
    with (tmp_path / "in").open("wb") as source:
        for _ in range(100):
            rows = chance.integers(ord("0"), ord("9") + 1, (1_000_000, 10), np.uint8)
            rows[:, 9] = ord("\n")
            source.write(rows.tobytes())
    succeeded(run("lines", "in", "-o", "out", "--memory", "64MiB", "--stats", "stats", cwd=tmp_path, timeout_s=900))
    stats = read_json(tmp_path / "stats")
    assert stats["lines"] == 100_000_000
    assert stats["peak_rss_bytes"] <= 64 * MIB + OVERHEAD_BYTES
