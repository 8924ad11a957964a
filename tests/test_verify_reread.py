"""--verify=reread of rows: the output is read back from the device before it gets its name."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Run = Callable[..., CompletedProcess[str]]

HEADER = "\ufeffname,key\n"
ROWS = [f'"a\n, ""{i}""",{(i * 7919) % 5003}\n' for i in range(5003)]
JSON = [f'{{"key": {(i * 31) % 997}}}\n' for i in range(60_000)]
COMMANDS = {
    "lines": (["lines", "--memory=1MiB"], "".join(sorted(ROWS)), None),
    "csv": (["csv", "--by=key:integer", "--memory=1MiB"], HEADER + "".join(ROWS), HEADER),
    "jsonl": (
        ["jsonl", "--by=key:number", "--memory=1MiB"],
        "".join(f'{{"key": {(i * 31) % 997}}}\n' for i in range(60_000)),
        None,
    ),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_output_is_read_back_and_the_same(tmp_path: Path, run: Run, command: str) -> None:
    words, text, header = COMMANDS[command]
    (tmp_path / "in").write_text(text * (1 if header else 20))
    for name, more in (("plain", []), ("reread", ["--verify=reread"])):
        done = run(*words, *more, "in", "-o", name, "--stats", f"{name}.json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "reread").read_bytes() == (tmp_path / "plain").read_bytes()
    plain, reread = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("plain", "reread"))
    assert "reread" not in [phase["name"] for phase in plain["phases"]]
    assert "reread" in [phase["name"] for phase in reread["phases"]]
    assert reread["bytes_read"] >= plain["bytes_read"] + (tmp_path / "plain").stat().st_size * 9 // 10


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (["--verify=never"], "neither 'always' nor 'reread'"),
        (["--verify=reread", "--compress-output=zstd"], "cannot be verified by reading it again"),
    ],
)
def test_what_cannot_be_read_back_is_refused(tmp_path: Path, run: Run, command: str, more: list[str], reason: str) -> None:
    words, text, _ = COMMANDS[command]
    (tmp_path / "in").write_text(text)
    done = run(*words, *more, "in", "-o", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert reason in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_a_merge_of_files_in_any_order_is_read_back_for_its_lines_alone(tmp_path: Path, run: Run) -> None:
    (tmp_path / "in").write_text("b\na\n")
    done = run("lines", "-m", "--verify=reread", "in", "-o", "out", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "out").read_text() == "b\na\n"


def test_a_job_that_can_be_resumed_reads_its_output_back(tmp_path: Path, run: Run) -> None:
    (tmp_path / "in").write_text("b\na\n")
    done = run("lines", "--resumable", "--quiet", "--verify=reread", "--stats", "s", "in", "-o", "out", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "out").read_text() == "a\nb\n"
    assert "reread" in [phase["name"] for phase in json.loads((tmp_path / "s").read_text())["phases"]]


def test_json_lines_behind_a_byte_order_mark_are_read_back(tmp_path: Path, run: Run) -> None:
    (tmp_path / "in").write_text('\ufeff{"a":2}\n{"a":1}\n', encoding="utf-8")
    for more in ([], ["--resumable"]):
        done = run("jsonl", "-q", *more, "--verify=reread", "--by", "a:number", "in", "-o", "out", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert (tmp_path / "out").read_text(encoding="utf-8") == '\ufeff{"a":1}\n{"a":2}\n'
