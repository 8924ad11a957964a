"""Every command that sorts or merges reports alike: the common half of --stats, the trace, and where these may go."""

import functools
import random
from pathlib import Path

import pytest
from sort_support import Run, read_json, succeeded

ROWS = 150_000
COMMANDS = {
    "sort": ["sort", "--record-size", "16", "--key", "0:16"],
    "merge": ["merge", "--record-size", "16", "--key", "0:16"],
    "lines": ["lines"],
    "lines -m": ["lines", "-m"],
    "csv": ["csv", "--no-header", "--quote", "none", "--by", "1"],
    "jsonl": ["jsonl", "--by", "a:number"],
}
COMMON = {
    "input_bytes": int,
    "output_bytes": int,
    "bytes_read": int,
    "bytes_written": int,
    "requests": int,
    "runs": int,
    "runs_in_inputs": int,
    "bytes_in_inputs": int,
    "intermediate_merges": int,
    "phases": list,
    "wall_s": float,
    "cpu_user_s": float,
    "cpu_system_s": float,
    "io_idle_s": float,
    "peak_rss_bytes": int,
    "peak_counted_memory_bytes": int,
    "peak_temp_bytes": int,
    "hash": str,
    "resumed": type(None),
    "io_backend": str,
    "threads": int,
    "memory_limit_bytes": int,
    "host": str,
    "version": str,
}
every_command = pytest.mark.parametrize("command", COMMANDS)


@functools.cache
def contents() -> dict[str, str]:
    rows = [f'{{"a":{number:9d}}}\n' for number in random.Random(3).sample(range(10**9), ROWS)]
    return {"in": "".join(rows), "sorted": "".join(sorted(rows))}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name, text in contents().items():
        (tmp_path / name).write_text(text)
    return tmp_path


def words_of(command: str) -> list[str]:
    source = "sorted" if command in {"merge", "lines -m"} else "in"
    return [*COMMANDS[command], source, "-o", "out", "--memory", "2MiB"]


@every_command
def test_the_common_half_of_the_statistics_is_common(run: Run, place: Path, command: str) -> None:
    succeeded(run(*words_of(command), "--stats", "stats", cwd=place))
    assert (place / "out").read_bytes() == (place / "sorted").read_bytes()
    stats = read_json(place / "stats")
    assert {name: type(stats.get(name)) for name in COMMON} == COMMON
    size = ROWS * 16
    assert (stats["output_bytes"], stats["phases"][-1]["name"]) == (size, "publish")
    assert sum(phase["bytes_written"] for phase in stats["phases"]) == stats["bytes_written"] >= size
    assert (stats["runs"] > 1) == (command not in {"merge", "lines -m"})


@every_command
def test_every_request_is_traced(run: Run, place: Path, command: str) -> None:
    succeeded(run(*words_of(command), "--stats", "stats", "--trace", "trace", cwd=place))
    head, *requests = (place / "trace").read_text().splitlines()
    assert head == "ecosort.trace/1"
    stats = read_json(place / "stats")
    assert len(requests) == stats["requests"]
    words = [request.split() for request in requests]
    for operation, moved in (("read", "bytes_read"), ("write", "bytes_written")):
        assert sum(int(size) for what, _, _, _, size, _ in words if what == operation) >= stats[moved] > 0


@every_command
@pytest.mark.parametrize("option", ["--stats", "--events", "--trace"])
def test_a_report_does_not_take_the_place_of_the_input_or_the_output(run: Run, place: Path, command: str, option: str) -> None:
    words = words_of(command)
    source = place / words[words.index("-o") - 1]
    before = source.read_bytes()
    for name, reason in (
        (source.name, "is an input"),
        ("out", "is the output"),
        ("out.ecosort", "is of the job of"),  # where it would be in the way of a later one
        ("no/such", "No such file"),
        ("-", "is no file"),
    ):
        done = run(*words, option, name, cwd=place)
        assert done.returncode == 2
        assert option in done.stderr
        assert reason in done.stderr
    assert source.read_bytes() == before
    assert not (place / "out").exists()


OTHERS = {
    "csv --resumable": ["csv", "--resumable", "--by", "x", "in.csv", "-o", "out", "{option}", "in.csv"],
    "sample csv": ["sample", "csv", "--by", "x", "--count", "1", "in.csv", "-o", "out", "{option}", "in.csv"],
    "sample records": [
        "sample",
        "records",
        "--record-size",
        "4",
        "--key",
        "0:4",
        "--count",
        "1",
        "in.csv",
        "-o",
        "out",
        "{option}",
        "in.csv",
    ],
    "check csv": ["check", "csv", "--by", "x", "{option}", "in.csv", "in.csv"],
    "check csv, by its other name": ["check", "csv", "--by", "x", "{option}", "link.csv", "in.csv"],
    "parquet, by its other name": ["parquet", "--by", "x", "--stats", "link.csv", "in.csv", "-o", "out.parquet"],
    "run, of a request": ["run", "in.csv", "{option}", "in.csv"],
}


@pytest.mark.parametrize("words", OTHERS.values(), ids=OTHERS)
def test_no_other_command_reports_over_its_input(run: Run, tmp_path: Path, words: list[str]) -> None:
    """A report of these was written where their rows were: the rows were lost."""
    (tmp_path / "in.csv").write_text("x,y\n2,b\n1,a\n")
    (tmp_path / "link.csv").symlink_to("in.csv")
    option = "--stats" if words[0] == "check" else "--events"
    done = run(*(word.format(option=option) for word in words), cwd=tmp_path)
    assert (done.returncode, "is an input and would be overwritten" in done.stderr) == (2, True), done.stderr
    assert (tmp_path / "in.csv").read_text() == "x,y\n2,b\n1,a\n"
    assert not (tmp_path / "out.ecosort").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["lines", "--files0-from=F", "-o", "out", "--stats=F"],
        ["lines", "-R", "--random-source=F", "in", "-o", "out", "--events=./F"],
        ["csv", "--by", "x", "in", "-o", "out", "--bad-rows", "F", "--trace", "F"],
        ["csv", "--by", "x", "in", "-o", "out", "--bad-rows", "new", "--stats", "./new"],
        ["sort", "in", "-o", "out", "--profile=F", "--stats=hard"],
        ["partition", "csv", "--by", "x", "in", "-o", "out", "--splitters", "F", "--report", "hard"],
    ],
    ids=["list of files", "random bytes", "bad rows", "bad rows to come", "profile", "splitters"],
)
def test_no_report_takes_the_place_of_what_another_option_names(run: Run, tmp_path: Path, words: list[str]) -> None:
    """The list of files, the bytes of chance, rows set aside, a profile and splitters were overwritten."""
    (tmp_path / "in").write_text("x\n2\n1\n")
    (tmp_path / "F").write_bytes(b"in\0")
    (tmp_path / "hard").hardlink_to(tmp_path / "F")
    done = run(*words, cwd=tmp_path)
    assert (done.returncode, "; name two files" in done.stderr) == (2, True), done.stderr
    assert (tmp_path / "F").read_bytes() == b"in\0"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("words", [["lines", "-c", "F"], ["lines", "-C", "F"], ["csv", "--by", "x", "--check", "F"]])
def test_what_only_checks_tells_that_it_reports_nothing(run: Run, tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "F").write_text("x\n1\n")
    done = run(*words, "--stats", "stats", cwd=tmp_path)
    assert (done.returncode, "does not report; `ecosort check " in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(
    ("words", "text", "lines"),
    [(["--header"], "h\nb\na\n", 2), (["--header-mark", "#"], "#h\n#i\nb\n", 1), (["--paragraphs"], "\n\na\n\n\nb\n\n", 2)],
    ids=lambda words: words[0] if isinstance(words, list) else None,
)
def test_lines_on_top_and_blank_ones_are_not_counted(run: Run, tmp_path: Path, words: list[str], text: str, lines: int) -> None:
    """So that read, dropped and written rows add up."""
    (tmp_path / "in").write_text(text)
    succeeded(run("lines", *words, "in", "-o", "out", "--stats", "stats", cwd=tmp_path))
    assert read_json(tmp_path / "stats")["lines"] == lines


def test_a_device_is_read_and_reported_to(run: Run, tmp_path: Path) -> None:
    """Devices lose nothing: /dev/null may be both."""
    succeeded(run("lines", "/dev/null", "-o", "out", "--stats", "/dev/null", cwd=tmp_path))
