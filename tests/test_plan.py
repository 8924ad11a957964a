"""`ecosort plan` prints what `ecosort sort` then does, and touches nothing."""

import json
import os
import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from sort_support import KIB, MIB, OVERHEAD_BYTES, Require, Run, listing, make_records, mounted, read_json, refused, succeeded


@pytest.fixture(scope="session")
def source(ecosort: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plan") / "in"
    path.write_bytes(make_records(ecosort, "ascii", 300_000))
    return path


def plan_of(run: Run, cwd: Path, *words: str | Path) -> dict[str, Any]:
    done = run("plan", "sort", *words, "--json", cwd=cwd)
    succeeded(done)
    loaded = json.loads(done.stdout)
    assert isinstance(loaded, dict)
    return loaded


def test_the_plan_tells_programs_what_the_machine_has(run: Run, tmp_path: Path, source: Path) -> None:
    """Programs find as well what people read."""
    (tmp_path / "a").mkdir()
    words = [source, "-o", "out", "--memory", "4MiB", "--temp", "a", "--io", "pool"]
    here = plan_of(run, tmp_path, *words)["here"]
    text = run("plan", "sort", *words, cwd=tmp_path).stdout
    assert here["io_backend"] == "pool"
    assert here["output"] == str(tmp_path / "out") or here["output"] == "out"
    assert here["temp_directories"] == ["a"]
    assert here["available_memory_bytes"] > 0
    assert here["memory_limited_by"] in text
    (need,) = here["space"]
    assert need["for"] == "space for the runs and the output"
    assert 30_000_000 < need["needed_bytes"] <= need["free_bytes"]
    assert f"({need['needed_bytes']} bytes)" in text


SETTINGS = [
    ["--memory", "2MiB"],
    ["--memory", "3MiB", "--threads", "1"],
    ["--memory", "8MiB", "--threads", "5"],
    ["--memory", "20MiB"],
    ["--memory", "35MiB"],
    ["--memory", "256MiB"],
    ["--memory", "4MiB", "--record-size", "10", "--key", "2:8"],
    ["--memory", "2MiB", "--record-size", "30000"],
    ["--memory", "4MiB", "--record-size", "3", "--unique"],
    [],
]


@pytest.mark.parametrize("memory", ["2MiB", "16MiB", "256MiB"])
def test_no_request_is_larger_than_asked_for(run: Run, tmp_path: Path, source: Path, memory: str) -> None:
    words = [source, "-o", "out", "--memory", memory, "--request-size", "64KiB", "--request-depth", "3"]
    plan = plan_of(run, tmp_path, *words)
    assert (plan["request_bytes"], plan["read_depth"], plan["write_depth"]) == (65536, 3, 3)
    succeeded(run("sort", *words, "--trace", "trace", cwd=tmp_path))
    requests = [line.split() for line in (tmp_path / "trace").read_text().splitlines()[1:]]
    sizes = {kind: max(int(r[4]) for r in requests if r[0] == kind) for kind in ("read", "write")}
    granule = plan["granule_bytes"]  # runs are read and written by whole run blocks
    assert max(sizes.values()) <= -(-65536 // granule) * granule
    # The same bytes as with large requests.
    succeeded(run("sort", source, "-o", "large", "--memory", memory, "--request-size", "8MiB", cwd=tmp_path))
    assert (tmp_path / "out").read_bytes() == (tmp_path / "large").read_bytes()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--request-size", "10000B"), "multiple of 4KiB"),
        (("--request-size", "8KiB"), "from 16 KiB"),
        (("--request-size", "1GiB"), "to 64 MiB"),
        (("--request-depth", "0"), "from 1 to 256"),
        (("--request-depth", "257"), "from 1 to 256"),
    ],
)
def test_requests_that_cannot_be_are_refused(run: Run, tmp_path: Path, source: Path, words: tuple[str, ...], reason: str) -> None:
    done = run("sort", source, "-o", "out", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert reason in done.stderr
    assert listing(tmp_path) == []


@pytest.mark.parametrize("words", SETTINGS, ids=" ".join)
def test_the_sort_follows_the_plan(run: Run, tmp_path: Path, source: Path, words: list[str]) -> None:
    plan = plan_of(run, tmp_path, source, "-o", "out", *words)
    assert listing(tmp_path) == []
    # The free memory of the machine right now is no constant.
    if not words:
        words = ["--memory", f"{plan['memory_limit_bytes']}B"]
    succeeded(run("sort", source, "-o", "out", *words, "--stats", "stats", cwd=tmp_path))
    stats = read_json(tmp_path / "stats")
    del plan["here"]  # what the machine has at this moment
    assert stats["plan"] == plan
    assert stats["runs"] == plan["runs"]
    assert stats["merge_passes"] == plan["merge_passes"]
    assert stats["threads"] == plan["compute_threads"]
    assert stats["peak_temp_bytes"] == plan["temp_bytes"]
    assert plan["peak_memory_bytes"] - MIB <= stats["peak_counted_memory_bytes"] <= plan["peak_memory_bytes"]
    assert stats["bytes_read"] == plan["bytes_read"]
    dropped = stats["records_dropped"] * stats["record_size_bytes"]
    if dropped == 0:
        assert stats["bytes_written"] == plan["bytes_written"]
    else:  # the last unit of a shorter output
        assert abs(stats["bytes_written"] + dropped - plan["bytes_written"]) < 4096


@pytest.mark.parametrize("words", SETTINGS, ids=" ".join)
def test_the_buffers_fit_the_memory(run: Run, tmp_path: Path, source: Path, words: list[str]) -> None:
    plan = plan_of(run, tmp_path, source, "-o", "out", *words)
    limit = plan["memory_limit_bytes"]
    assert sum(plan["memory_formation"].values()) <= limit
    assert sum(plan["memory_merge"].values()) <= limit
    assert plan["peak_memory_bytes"] <= limit
    assert plan["fixed_overhead_bytes"] == OVERHEAD_BYTES
    assert plan["stored_runs"] + plan["resident_runs"] == plan["runs"]
    assert plan["merge_steps"][-1]["first_run"] == 0


def test_more_memory_never_moves_more_bytes(run: Run, tmp_path: Path, source: Path) -> None:
    moved, passes = [], []
    for memory in (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128):
        plan = plan_of(run, tmp_path, source, "-o", "out", "--memory", f"{memory}MiB")
        moved.append(plan["bytes_read"])
        passes.append(plan["merge_passes"])
    assert passes == sorted(passes, reverse=True)
    # An eighth more is what blocks of 256 KiB are worth to the plan.
    assert all(later <= earlier * 1.125 for earlier, later in pairwise(moved))
    assert passes[0] == 2 or passes[0] == 1
    assert passes[-1] == 0


def test_the_table_says_what_matters(run: Run, tmp_path: Path, source: Path) -> None:
    done = run("plan", "sort", source, "-o", "out", "--memory", "4MiB", "--threads", "3", "--io", "pool", cwd=tmp_path)
    succeeded(done)
    text = done.stdout
    assert "Plan: two passes" in text
    assert re.search(r"input +300000 records of 100 bytes, 28.61 MiB", text)
    assert re.search(r"memory +4 MiB \(\+ at most 32 MiB of fixed overhead\); .* available by", text)
    assert re.search(r"runs +\d+ of up to \d+ records: \d+ stored, the last \d+ stay in memory", text)
    assert re.search(r"drives +[\d.]+ MiB read, [\d.]+ MiB written: [\d.]+ bytes moved per input byte", text)
    assert re.search(r"temporary space +[\d.]+ MiB in \.", text)
    assert "1 coordinator, 3 compute; I/O by pool" in text
    assert listing(tmp_path) == []


def test_one_pass_moves_every_byte_once(run: Run, tmp_path: Path, source: Path) -> None:
    text = run("plan", "sort", source, "-o", "out", "--memory", "256MiB", cwd=tmp_path).stdout
    assert "Plan: one pass" in text
    assert "2.000 bytes moved per input byte" in text


def test_temporary_directories_are_named(run: Run, tmp_path: Path, source: Path) -> None:
    (tmp_path / "runs").mkdir()
    text = run("plan", "sort", source, "-o", "out", "--memory", "4MiB", "--temp", "runs", cwd=tmp_path).stdout
    assert re.search(r"temporary space +[\d.]+ MiB in runs", text)


@pytest.mark.parametrize(
    "words",
    [
        ("sort", "in", "-o", "out"),
        ("sort", "in", "-o", "out", "--resumable"),
        ("lines", "in", "-o", "out", "--resumable"),
        ("jsonl", "--by", "0", "in", "-o", "out", "--resumable"),
        ("inplace", "in"),
        ("lines", "--inplace", "in"),
    ],
)
def test_programs_have_the_plan_that_does_not_fit_too(
    run: Run, tmp_path: Path, source: Path, require: Require, words: tuple[str, ...]
) -> None:
    require("loop_mount")
    with mounted(tmp_path, "ext4", 128 * MIB) as system:
        shutil.copy(source, system.root / "in")
        command = ("plan", words[0], "--memory", "16MiB", *words[1:])
        fits = run(*command, "--json", cwd=system.root)
        system.fill_until(64 * KIB)
        short = run(*command, "--json", cwd=system.root)
        text = run(*command, cwd=system.root)
    succeeded(fits)
    assert refused(text, 2) == short.stderr
    assert short.returncode == 2
    for done, expected in ((fits, True), (short, False)):
        plan = json.loads(done.stdout)
        place = plan.get("here", plan)
        (need,) = place.get("space", [plan])
        assert (place["fits"], need["needed_bytes"] <= need["free_bytes"]) == (expected, expected)
        assert expected or f"({need['needed_bytes']} bytes) needed" in done.stderr
        assert "here" in plan or "plan" not in plan or (plan["plan"] is not None) == expected


def test_an_empty_input(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").touch()
    done = run("plan", "sort", "in", "-o", "out", cwd=tmp_path)
    succeeded(done)
    assert "nothing to sort" in done.stdout
    assert plan_of(run, tmp_path, "in", "-o", "out")["shape"] == "empty"


def test_a_pipe_is_not_read(ecosort: Path, tmp_path: Path) -> None:
    """It answers although nothing comes."""
    process = subprocess.Popen(
        [ecosort, "plan", "sort", "-", "-o", "out", "--json", "--memory", "4MiB"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin
    assert process.stdout
    plan = json.loads(process.stdout.read())
    assert process.wait(timeout=60) == 0
    process.stdin.close()
    process.stdout.close()
    assert plan["shape"] == "unknown until the input ends"
    assert plan["run_records"] > 0


def test_standard_input_that_is_a_file(ecosort: Path, tmp_path: Path, source: Path) -> None:
    with source.open("rb") as file:
        file.seek(100_000)
        done = subprocess.run(
            [ecosort, "plan", "sort", "-", "-o", "-", "--json"], cwd=tmp_path, stdin=file, capture_output=True, check=True
        )
        assert os.lseek(file.fileno(), 0, os.SEEK_CUR) == 100_000
    assert json.loads(done.stdout)["records"] == 299_000


# --- help ----------------------------------------------------------------------------------------------------------------


def test_help_of_the_program(run: Run) -> None:
    for words in (["--help"], ["-h"], ["help"]):
        done = run(*words)
        succeeded(done)
        for command in ("sort", "plan", "gen", "check"):
            assert re.search(rf"^  {command} +\S", done.stdout, re.MULTILINE)
        assert done.stdout.index("Examples") < done.stdout.index("Commands")
    assert run("help", "plan", "sort").stdout == run("plan", "sort", "--help").stdout


def test_version(run: Run) -> None:
    done = run("--version")
    succeeded(done)
    first, *built = done.stdout.splitlines()
    assert re.fullmatch(r"ecosort \d+\.\d+\.\d+", first)
    assert [line.partition(": ")[0] for line in built] == ["commit", "compiler", "flags", "machine"]
    assert re.fullmatch(r"commit: ([0-9a-f]{40}( with changes)?|unknown)", built[0])
    assert re.fullmatch(r"compiler: \w+ \d+\.\d+.*", built[1])
    pages = f"pages of {os.sysconf('SC_PAGE_SIZE') // 1024} KiB"
    assert re.fullmatch(rf"machine: kernels for [a-z0-9]+, {pages}, [1-9]\d* of its CPUs for --threads auto", built[3])


@pytest.mark.parametrize("command", ["sort", "plan sort"])
def test_help_of_a_command(run: Run, command: str) -> None:
    """Examples first; every option with what holds without it."""
    for words in (["--help"], ["-h"], ["--memory", "1GiB", "--help"]):
        done = run(*command.split(), *words)
        succeeded(done)
        text = done.stdout
        assert text.startswith("Examples\n")
        assert text.index(f"Usage\n  ecosort {command} ") < text.index("--output")
        for option in (
            "-o, --output",
            "--record-size",
            "--key",
            "--memory",
            "--threads",
            "--temp",
            "--io",
            *(("--unique", "--stats", "--events") if command == "sort" else ("--assume-size", "--json")),
        ):
            assert option in text
        assert all(len(line) <= 80 for line in text.splitlines())


def test_the_examples_of_the_help_work(run: Run, ecosort: Path, tmp_path: Path) -> None:
    """The examples work as they are written, with files of those names."""
    text = run("sort", "--help", env={**os.environ, "COLUMNS": "100"}).stdout
    examples = re.findall(r"^  (ecosort sort .*?)(?:  .*)?$", text.split("Usage")[0], re.MULTILINE)
    assert len(examples) >= 3
    for name in ("input.dat", "a", "b", "in"):
        subprocess.run([ecosort, "gen", "-a", "400", tmp_path / name], check=True)
    environment = os.environ | {"PATH": f"{ecosort.parent}:{os.environ['PATH']}"}
    for example in examples:
        command = re.sub(r"/ssd\d", ".", example)
        done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), command


def test_a_size_that_is_not_there_is_planned_like_one_that_is(run: Run, tmp_path: Path, source: Path) -> None:
    words = ("--memory", "4MiB", "--io", "pool", "--threads", "2")
    real = plan_of(run, tmp_path, *words, source, "-o", "out")
    for place in ((), ("-o", "out")):
        assumed = plan_of(run, tmp_path, *words, *place, "--assume-size", "30000000B")
        differing = {key for key in real if real[key] != assumed[key]} - {"here"}
        assert differing <= {"bytes_read", "bytes_written"}  # by whole units of the drive
        assert assumed["here"]["space"][0]["needed_bytes"] == real["here"]["space"][0]["needed_bytes"]
    huge = plan_of(run, tmp_path, "--memory", "1GiB", "--assume-size=2TB")  # more than is free
    assert huge["here"]["space"][0]["needed_bytes"] > huge["here"]["space"][0]["free_bytes"]
    assert listing(tmp_path) == []
    refused(run("plan", "sort", "--assume-size", "1TB", source), 2, "--assume-size", "leave one of them out")
    refused(run("plan", "sort", "--assume-size", "1TB", "--resumable"), 2, "--resumable needs an output")
    resumable = plan_of(run, tmp_path, "--resumable", "--memory", "2GiB", "--assume-size", "2TB", "-o", "out")
    assert resumable["fits"]
    assert resumable["plan"]["need_bytes"] > 2e12
    assert "free_bytes" not in resumable
    assert listing(tmp_path) == []


def test_lines_that_are_not_there_are_planned_like_those_that_are(run: Run, tmp_path: Path, source: Path) -> None:
    """But for how long their rows are, which is looked at or supposed, and for the space, which is looked at."""
    (tmp_path / "in").write_bytes(b"123456789\n" * 3_000_000)
    real = run("plan", "lines", "-S", "4M", "in", "-o", "out", cwd=tmp_path)
    succeeded(real)
    usual, space = re.compile(r"lines of (\d+) bytes make about (\d+)"), re.compile(r" *free space needed .*\n")
    assert "36306944 bytes) of space for the runs and the output in " in space.findall(real.stdout)[0]
    for words in (["--assume-size", "30000000B"], ["--assume-size=30MB"]):
        assumed = run("plan", "lines", "-S", "4M", *words, "-o", "out", cwd=tmp_path)
        assert usual.sub("", assumed.stdout) == usual.sub("", space.sub("", real.stdout))
        assert usual.findall(real.stdout + assumed.stdout) == [("10", "96"), ("100", "32")]
    for words in (["--assume-size", "1TB", str(source)], ["--assume-size"], ["--assume-size", "0B"], ["--assume-size=many"]):
        refused(run("plan", "lines", *words), 2, "--assume-size")


@pytest.mark.parametrize("words", [["lines"], ["csv", "--no-header", "--by", "1"], ["shuffle"]], ids=lambda words: words[0])
def test_a_plan_of_rows_says_the_free_space_and_whether_it_suffices(
    run: Run, tmp_path: Path, require: Require, words: list[str]
) -> None:
    require("loop_mount")
    (tmp_path / "in").write_bytes(b"123456789\n" * 200_000)
    with mounted(tmp_path, "tmpfs", MIB) as drive:
        done = run("plan", *words, tmp_path / "in", "-o", drive.root / "out")
        assert "free space needed     1.91 MiB (2000000 bytes) of space for the output in" in done.stdout
        assert (done.returncode, "not enough space for the output in" in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(
    ("words", "blocks"),
    [
        (["--compress=none"], "64 KiB"),
        (["--compress=zstd"], "120 KiB"),
        (["--compress-program", "cat"], "256 KiB"),
        (["--resumable"], "128 KiB"),
    ],
)
def test_blocks_are_small_only_where_that_spares_a_merge(run: Run, tmp_path: Path, words: list[str], blocks: str) -> None:
    """Programs merge few runs at a time; a job that outlives a crash merges in one part, which needs less memory than two."""
    with (tmp_path / "in").open("wb") as file:
        file.write(b"123456789\n" * 410)
        file.truncate(1_000_000_000)
    told = run("plan", "lines", "-S", "64M", *words, "in", "-o", "out", cwd=tmp_path)
    succeeded(told)
    found = re.search(r"blocks (?:of )? *(\d+ KiB)", told.stdout)
    assert found
    assert found[1] == blocks


@pytest.mark.parametrize("command", ["csv", "jsonl"])
def test_bounds_of_tables_are_those_of_lines_with_a_header(run: Run, tmp_path: Path, command: str) -> None:
    resources = ["--memory", "64MiB", "--assume-size", "3GB"]
    told = run("plan", command, "--by", "a:number", *resources, "--threads", "2", cwd=tmp_path)
    succeeded(told)
    lines = run("plan", "lines", "--header", *resources, "--parallel", "2", cwd=tmp_path)
    assert told.stdout == lines.stdout
    assert "3000000000 bytes" in told.stdout
    (tmp_path / "in").write_text("a\n")
    before = listing(tmp_path)
    succeeded(run("plan", command, "--by", "a", "in", "-o", "out", cwd=tmp_path))
    refused(run("plan", command, "--by", "a", "in", "--assume-size", "1GB", cwd=tmp_path), 2, "leave one of them out")
    refused(run("plan", command, "--by", "a", "--check", "in", cwd=tmp_path), 2, "nothing to plan")
    assert listing(tmp_path) == before
