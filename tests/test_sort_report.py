"""A sort reports statistics, events and the progress line; the counters are true."""

import itertools
import json
import os
import pty
import random
import re
import select
import subprocess
import termios
import time
from pathlib import Path
from typing import Any

import pytest
from capabilities import SOAK
from gensort_records import checksum
from pairs import pairs
from sort_support import MIB, Require, Run, expected, make_records, mounted, read_json, succeeded

RECORDS = 200_000


@pytest.fixture(scope="session")
def data(ecosort: Path) -> bytes:
    return make_records(ecosort, "ascii", RECORDS)


# --- statistics ----------------------------------------------------------------------------------------------------------

FIELDS: dict[str, type | tuple[type, ...]] = {
    "schema": str,
    "records": int,
    "records_dropped": int,
    "records_beyond_limit": int,
    "record_size_bytes": int,
    "input_bytes": int,
    "output_bytes": int,
    "bytes_read": int,
    "bytes_written": int,
    "requests": int,
    "runs": int,
    "merge_passes": int,
    "demand_reads": int,
    "phases": list,
    "wall_s": float,
    "cpu_user_s": float,
    "cpu_system_s": float,
    "io_idle_s": float,
    "peak_rss_bytes": int,
    "peak_counted_memory_bytes": int,
    "peak_temp_bytes": int,
    "hash": str,
    "duplicate_keys": int,
    "checksum": type(None),
    "io_backend": str,
    "threads": int,
    "memory_limit_bytes": int,
    "plan": dict,
    "host": str,
    "version": str,
}


@pytest.mark.parametrize("memory", ["4MiB", "256MiB"])
def test_the_checksum_is_computed_where_it_is_asked_for(run: Run, place: Path, data: bytes, memory: str) -> None:
    succeeded(run("sort", "in", "-o", "out", "--memory", memory, "--checksum", "--stats", "stats", cwd=place))
    assert read_json(place / "stats")["checksum"] == checksum(data)


@pytest.mark.parametrize("words", [["--record-size", "50"], ["--resumable"]])
def test_the_checksum_is_refused_where_there_is_none(run: Run, place: Path, words: list[str]) -> None:
    done = run("sort", "in", "-o", "out", "--checksum", *words, cwd=place)
    assert done.returncode == 2
    assert "--checksum" in done.stderr
    assert not (place / "out").exists()


@pytest.mark.parametrize("memory", ["2MiB", "256MiB"])
@pytest.mark.parametrize("distinct", [1, 700, 40_000])
def test_neighbours_with_equal_keys_are_counted(run: Run, place: Path, memory: str, distinct: int) -> None:
    """Across batches, the pieces of threads and blocks; what --unique keeps has none."""
    generator = random.Random(distinct)
    keys = [b"%010d" % generator.randrange(distinct) for _ in range(60_000)]
    (place / "in").write_bytes(b"".join(key + bytes(90) for key in keys))
    words = ("sort", "in", "--record-size=100", "--key=0:10", "--memory", memory, "--stats", "stats")
    succeeded(run(*words, "-o", "out", cwd=place))
    assert read_json(place / "stats")["duplicate_keys"] == len(keys) - len(set(keys))
    succeeded(run(*words, "-o", "unique", "--unique", cwd=place))
    assert read_json(place / "stats")["duplicate_keys"] == 0


@pytest.mark.parametrize("memory", ["4MiB", "256MiB"])
def test_statistics_are_complete(run: Run, place: Path, data: bytes, memory: str) -> None:
    begin = time.clock_gettime(time.CLOCK_MONOTONIC)
    succeeded(run("sort", "in", "-o", "out", "--memory", memory, "--stats", "stats", cwd=place))
    end = time.clock_gettime(time.CLOCK_MONOTONIC)
    stats = read_json(place / "stats")
    assert {name: type(stats.get(name)) for name in FIELDS} == FIELDS
    assert stats["schema"] == "ecosort.stats/1"
    assert stats["input_bytes"] == stats["output_bytes"] == len(data)
    assert 0 < stats["wall_s"] < end - begin
    assert 0 <= stats["io_idle_s"] <= stats["wall_s"]
    assert stats["version"] in run("--version").stdout
    names = [phase["name"] for phase in stats["phases"]]
    first = "run_formation" if memory == "4MiB" else "read_and_sort"
    assert names == [first, "merge", "sync", "publish"]
    times = list(itertools.chain(*((phase["begin_s"], phase["end_s"]) for phase in stats["phases"])))
    assert times == sorted(times)
    assert begin < times[0]
    assert times[-1] < end
    for moved in ("bytes_read", "bytes_written"):
        assert sum(phase[moved] for phase in stats["phases"]) == stats[moved]
    for phase in stats["phases"]:
        assert 0 <= phase["wait_s"] <= phase["end_s"] - phase["begin_s"] + 0.001


def test_statistics_of_nothing(run: Run, place: Path) -> None:
    (place / "in").write_bytes(b"")
    succeeded(run("sort", "in", "-o", "out", "--stats", "stats", "--events", "events", cwd=place))
    stats = read_json(place / "stats")
    assert (stats["records"], stats["runs"], stats["bytes_written"], stats["peak_temp_bytes"]) == (0, 0, 0, 0)
    assert stats["hash"] == "0" * 32


@pytest.mark.parametrize("size", [0, 1_000, 3 * MIB])
def test_a_small_sort_sets_up_no_ring(run: Run, place: Path, data: bytes, size: int) -> None:
    """It is done before a ring and threads are there."""
    part = data[: size // 100 * 100]
    (place / "in").write_bytes(part)
    succeeded(run("sort", "in", "-o", "out", "--stats", "stats", cwd=place))
    assert (place / "out").read_bytes() == expected(part)
    assert read_json(place / "stats")["io_backend"] == "pool"


# --- events --------------------------------------------------------------------------------------------------------------


def events_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("memory", ["2MiB", "256MiB"])
def test_events_begin_and_end_in_order(run: Run, place: Path, memory: str) -> None:
    """ "total" spans them all; the others follow each other."""
    words = ("sort", "in", "-o", "out", "--memory", memory, "--events", "events", "--stats", "stats", "--verify=reread")
    succeeded(run(*words, cwd=place))
    events = events_of(place / "events")
    assert {event["schema"] for event in events} == {"ecosort.events/1"}
    assert [event["monotonic_s"] for event in events] == sorted(event["monotonic_s"] for event in events)
    assert [event["realtime_s"] for event in events] == sorted(event["realtime_s"] for event in events)
    assert abs(events[-1]["realtime_s"] - time.time()) < 60
    marks = [(event["event"], event["phase"]) for event in events]
    assert marks[0] == ("begin", "total")
    assert marks[-1] == ("end", "total")
    inner = marks[1:-1]
    assert [mark for mark, _ in inner] == ["begin", "end"] * (len(inner) // 2)
    assert [phase for _, phase in inner[::2]] == [phase for _, phase in inner[1::2]]
    stats = read_json(place / "stats")
    assert [phase for _, phase in inner[::2]] == [phase["name"] for phase in stats["phases"]]
    for phase, (begin, end) in (
        zip(stats["phases"], itertools.batched(events[1:-1], 2), strict=True) if hasattr(itertools, "batched") else []
    ):
        assert abs(phase["begin_s"] - begin["monotonic_s"]) < 0.01
        assert abs(phase["end_s"] - end["monotonic_s"]) < 0.01


# --- counters ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("memory", "passes"), [("256MiB", 1), ("4MiB", 2)])
def test_every_byte_moves_exactly_once_per_pass(
    run: Run, place: Path, data: bytes, memory: str, passes: int, backend: str
) -> None:
    """In and out in every pass, but for what stays in memory, and as the plan said beforehand."""
    words = ("sort", "in", "-o", "out", "--memory", memory, "--io", backend)
    plan = json.loads(run("plan", *words, "--json", cwd=place).stdout)
    succeeded(run(*words, "--stats", "stats", cwd=place))
    stats = read_json(place / "stats")
    assert stats["merge_passes"] == passes - 1
    unit = 4096  # the last piece of a file is moved as a whole unit
    assert plan["bytes_read"] <= stats["bytes_read"] <= plan["bytes_read"] + unit
    assert plan["bytes_written"] <= stats["bytes_written"] <= plan["bytes_written"] + unit
    assert stats["demand_reads"] == 0
    assert stats["peak_temp_bytes"] == plan["temp_bytes"]
    assert stats["runs"] == plan["runs"]
    if passes == 1:
        assert plan["bytes_read"] == len(data)
        assert len(data) <= plan["bytes_written"] < len(data) + unit
        assert plan["temp_bytes"] == 0
    else:
        # 1/256 for the ends of run blocks.
        assert plan["bytes_read"] <= 2 * len(data) * (1 + 1 / 256)
        assert plan["bytes_read"] >= len(data) + plan["stored_records"] * 100


@pytest.mark.parametrize("backend", ["pool", "stxxl"])
def test_the_kernel_counts_the_same(ecosort: Path, require: Require, place: Path, data: bytes, backend: str) -> None:
    """/proc/PID/io on a file system with direct I/O: what reached the drive, whatever the program believes."""
    require("loop_mount")
    with mounted(place, "ext4", 128 * MIB) as drive:
        (drive.root / "in").write_bytes(data)
        os.sync()
        ecosort.read_bytes()  # its pages count as read by the process that misses them
        command = [ecosort, "sort", "in", "-o", "out", "--memory", "4MiB", "--io", backend, "--stats", place / "stats"]
        process = subprocess.Popen(command, cwd=drive.root)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # its figures are there until its exit code is taken
        text = Path(f"/proc/{process.pid}/io").read_text()
        last = {name: int(value) for name, value in (line.split(": ") for line in text.splitlines())}
        assert process.wait() == 0
        assert (drive.root / "out").read_bytes() == expected(data)
    stats = read_json(place / "stats")
    # Beyond the data: the file system's own blocks, and the program's pages that were not in memory yet.
    assert stats["bytes_read"] <= last["read_bytes"] <= stats["bytes_read"] * 1.05 + 8 * MIB
    assert stats["bytes_written"] * 0.99 <= last["write_bytes"] <= stats["bytes_written"] * 1.05 + MIB


def test_sorted_input_needs_no_demand_reads(run: Run, ecosort: Path, place: Path) -> None:
    """The merge's own order is the prefetch order, whatever the distribution."""
    for kind in ("sorted", "reverse", "skewed"):
        (place / "in").write_bytes(make_records(ecosort, kind, 60_000))
        succeeded(run("sort", "in", "-o", "out", "--memory", "2MiB", "--stats", "stats", cwd=place))
        stats = read_json(place / "stats")
        assert stats["merge_passes"] == 1
        assert stats["demand_reads"] == 0, kind


# --- progress ------------------------------------------------------------------------------------------------------------


def test_nothing_is_shown_where_nobody_looks(run: Run, place: Path) -> None:
    succeeded(run("sort", "in", "-o", "out", "--memory", "2MiB", cwd=place))


@pytest.mark.parametrize("memory", ["2MiB", "256MiB"])
def test_progress_for_programs(ecosort: Path, place: Path, data: bytes, memory: str) -> None:
    """JSON lines; slowed down by a pipe, so that there are several."""
    command = [ecosort, "sort", "-", "-o", "out", "--memory", memory, "--progress=json"]
    process = subprocess.Popen(command, cwd=place, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin
    assert process.stderr
    for at in range(0, len(data), len(data) // 8):
        process.stdin.write(data[at : at + len(data) // 8])
        process.stdin.flush()
        time.sleep(0.2)
    process.stdin.close()
    lines = [json.loads(line) for line in process.stderr.read().splitlines()]
    process.stderr.close()
    assert process.wait() == 0
    assert len(lines) >= 3
    for line in lines:
        assert set(line) == {
            *("schema", "phase", "bytes", "total_bytes", "percent", "megabytes_per_s", "eta_s"),
            *("phase_number", "phases", "job_percent", "job_eta_s"),
        }
        assert line["schema"] == "ecosort.progress/1"
        assert line["percent"] is None or 0 <= line["percent"] <= 100
        assert line["eta_s"] is None or line["eta_s"] >= 0
        assert line["megabytes_per_s"] >= 0
    assert lines[0]["phase"] == "run formation"
    assert lines[0]["percent"] is None  # how much will come, no one knows
    assert lines[-1]["phase"] == "done"
    assert lines[-1]["job_percent"] == 100
    assert [line["bytes"] for line in lines if line["phase"] == "run formation"][-1] > 0


def on_a_terminal(command: list[str | Path], cwd: Path, stdin: int | None = None, columns: int = 80) -> tuple[int, str]:
    """Runs the command with a terminal as standard error; its exit code and everything it wrote there."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    process = subprocess.Popen(command, cwd=cwd, stderr=theirs, stdin=stdin or subprocess.DEVNULL)
    os.close(theirs)
    text = b""
    while True:
        ready, _, _ = select.select([ours], [], [], 60)
        assert ready
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        text += piece
    os.close(ours)
    return process.wait(timeout=60), text.decode()


ERASE = "\r\x1b[K"


def slow_cat(path: Path, seconds: float) -> list[str]:
    size = path.stat().st_size
    script = (
        f"for i in 0 1 2 3 4 5 6 7; do tail -c +$((i*{size // 8}+1)) '{path}' | head -c {size // 8}; sleep {seconds / 8}; done"
    )
    return ["bash", "-c", script]


def test_progress_on_a_terminal(ecosort: Path, place: Path, data: bytes) -> None:
    """One line that is rewritten and, at the end, gives way to one that sums up."""
    with subprocess.Popen(slow_cat(place / "in", 1.6), stdout=subprocess.PIPE) as source:
        assert source.stdout
        command: list[str | Path] = [ecosort, "sort", "-", "-o", "out", "--memory", "2MiB"]
        code, text = on_a_terminal(command, place, source.stdout.fileno())
    assert code == 0
    lines = text.split(ERASE)
    assert lines[0] == ""
    size = len(data) // 100
    assert re.fullmatch(rf"sorted [\d.]+ MB in \d\.\d s, \d+ MB/s, {size} records\r\n", lines[-1]), lines
    assert len(lines) > 4
    assert text.count("\n") == 1
    assert any(re.search(r"^phase 1: reading and sorting, [\d.]+ [kM]B, \d+ MB/s$", line) for line in lines), lines
    assert (place / "out").read_bytes() == expected(data)


def test_percent_rate_and_time_left_on_a_terminal(ecosort: Path, tmp_path: Path, data: bytes) -> None:
    """A long merge: the reader of the output is slow."""
    (tmp_path / "in").write_bytes(data)
    command = [
        "bash",
        "-c",
        'set -o pipefail; "$0" sort in -o - --memory 2MiB | while head -c 1000000 >part && [ -s part ]; do sleep 0.1; done',
        ecosort,
    ]
    code, text = on_a_terminal(command, tmp_path)
    assert code == 0
    assert re.search(r"phase 2 of 2: merging, \d+ %, \d+ MB/s, \d+ s left", text), text
    never_backwards(text)


def never_backwards(text: str) -> list[int]:
    """The percentages shown; they only grow. The time left may grow, where a busy machine slows down."""
    lines = text.split(ERASE)
    percents = [int(found.group(1)) for line in lines if (found := re.search(r"(\d+) %", line))]
    assert percents == sorted(percents), text
    return percents


@pytest.mark.parametrize(
    ("command", "columns"),
    pairs(["sort", "several passes", "lines", "gen"], [30, 44, 80, 200])
    if SOAK
    else [("sort", 44), ("several passes", 30), ("lines", 80), ("gen", 30), ("sort", 200)],
)
def test_the_line_fits_the_terminal_and_never_goes_backwards(ecosort: Path, tmp_path: Path, command: str, columns: int) -> None:
    """The reader of the output slows it down."""
    (tmp_path / "in").write_bytes(make_records(ecosort, "ascii", 60_000 if command == "several passes" else 100_000))
    words = {
        "sort": "sort in -o - --memory 2MiB",
        "several passes": "sort in -o - --memory 2MiB --run-records 200",
        "lines": "lines -S 2M in",
        "gen": "gen -a 100000 /dev/stdout",
    }[command]
    script = f'set -o pipefail; "$0" {words} | while head -c 700000 >part && [ -s part ]; do sleep 0.15; done'
    code, text = on_a_terminal(["bash", "-c", script, ecosort], tmp_path, columns=columns)
    assert code == 0, text
    lines = [line for line in text.split(ERASE) if line]
    assert len(lines) >= 3, text
    assert max(len(line.rstrip()) for line in lines) < columns, text
    assert len(never_backwards(text)) >= 2, text
    assert re.match("(sorted|made) ", lines[-1]), text


def test_check_shows_progress_and_sums_up(ecosort: Path, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "in").write_bytes(data)
    code, text = on_a_terminal(["bash", "-c", '(cat in; sleep 0.7) | "$0" check /dev/stdin', ecosort], tmp_path)
    assert code == 1, text  # not in order
    assert "phase 1: checking, " in text
    assert re.search(rf"{re.escape(ERASE)}checked [\d.]+ MB in \d\.\d s, \d+ MB/s, {len(data) // 100} records\r\n", text), text
    for words in (["gen", "10", "x", "--quiet"], ["check", "-q", "in"]):
        assert (
            on_a_terminal([ecosort, *words] if words[0] == "check" else [ecosort, "gen", "--quiet", "10", "x"], tmp_path)[1] == ""
        )
    done = subprocess.run([ecosort, "gen", "--progress=json", "100", "x"], cwd=tmp_path, capture_output=True, check=True)
    assert json.loads(done.stderr.splitlines()[-1])["job_percent"] == 100
    done = subprocess.run([ecosort, "check", "--progress", "sometimes", "x"], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, b"none of auto, none, json" in done.stderr) == (1, True)


@pytest.mark.parametrize("words", [["--progress=none"], ["--quiet"], ["-q"]])
def test_silence_on_a_terminal(ecosort: Path, place: Path, words: list[str]) -> None:
    with subprocess.Popen(slow_cat(place / "in", 0.6), stdout=subprocess.PIPE) as source:
        assert source.stdout
        command: list[str | Path] = [ecosort, "sort", "-", "-o", "out", "--memory", "2MiB", *words]
        assert on_a_terminal(command, place, source.stdout.fileno()) == (0, "")


def test_an_error_on_a_terminal_stands_on_a_line_of_its_own(ecosort: Path, place: Path) -> None:
    (place / "in").write_bytes((place / "in").read_bytes() + b"rest")
    with subprocess.Popen(["bash", "-c", "cat in; sleep 0.6; echo rest"], cwd=place, stdout=subprocess.PIPE) as source:
        assert source.stdout
        code, text = on_a_terminal([ecosort, "sort", "-", "-o", "out", "--memory", "2MiB"], place, source.stdout.fileno())
    assert code == 2
    assert re.search(rf"{re.escape(ERASE)}ecosort: [^\r\n]*9 bytes are left over[^\r\n]*\r\n$", text), text


def test_a_report_that_cannot_be_written_whole_is_removed(ecosort: Path, tmp_path: Path) -> None:
    """A full drive left the beginning of a report, which programs read."""
    (tmp_path / "in").write_bytes(b"b\na\n")
    words = f"ulimit -f 0; exec {ecosort} lines --quiet --stats stats in"
    done = subprocess.run(["bash", "-c", words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, "cannot write 'stats'" in done.stderr) == (2, "a\nb\n", True), done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
