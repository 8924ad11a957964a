"""What `ecosort cluster` says of words that cannot be, and how it reads those that can."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from ecosort.cluster import PhaseState, sort
from ecosort.cluster.cli import main

RECORDS = ("--format=records", "--record-size=100", "--key=0:10")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "COMMAND"),
        (["sorrt"], "'sort', 'resume', 'check'"),
        (["sort"], "INPUT, -o/--output, --format"),
        (["sort", *RECORDS, "in", "-o", "out", "--plan=jso"], "'text', 'json'"),
        (["sort", *RECORDS, "in", "-o", "out", "--parts", "x"], "--parts"),
        (["sort", *RECORDS, "in", "-o", "out", "--partss=3"], "--partss=3"),
        (["resume"], "OUTPUT"),
    ],
)
def test_wrong_words_are_one_line(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    told = capsys.readouterr()
    assert (ended.value.code, told.out, told.err.count("\n")) == (2, "", 1)
    assert said in told.err
    assert told.err.rstrip().endswith("--help")


def test_a_name_with_a_newline_is_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sort", *RECORDS, "no\nfile\x1b", "-o", "out"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "no\\nfile\\x1b" in told


@pytest.mark.parametrize("words", [["--plan", "in"], ["in", "--plan"], ["--plan", "text", "in"], ["--plan", "--", "in"]])
def test_an_input_may_follow_plan(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in").write_bytes(bytes(100) * 1000)
    placed = [str(tmp_path / "in") if word == "in" else word for word in words]
    assert main(["sort", *RECORDS, "-o", str(tmp_path / "out"), *placed]) == 0
    assert capsys.readouterr().out.startswith("input            100 kB\n")
    assert [path.name for path in tmp_path.iterdir()] == ["in"], "nothing was done"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--format=csv", "--by=nocol", "table"], "no column 'nocol'"),
        (["--format=csv", "--by=a:foo", "table"], "foo"),
        (["--format=csv", "--by=a", "empty"], "header"),
        (["--format=csv", "--by=a", "table", "other"], "other: column 2 is 'c', and in table it is 'b'"),
        (["--format=records", "--record-size=100", "--key=zz", "in"], "zz"),
        ([*RECORDS, "--memory=64KiB", "in"], "give each task more memory"),
        ([*RECORDS, "--timeline=nowhere/t.svg", "in"], "--timeline"),
        ([*RECORDS, "--single", "--nodes-temp=out", "in"], "--nodes-temp"),
    ],
)
def test_what_cannot_be_leaves_nothing(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """So that the right words may follow at once."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").write_bytes(bytes(100) * 20_000)
    (tmp_path / "table").write_bytes(b"a,b\n1,2\n")
    (tmp_path / "other").write_bytes(b"a,c\n1,2\n")
    (tmp_path / "empty").touch()
    (tmp_path / "nodes").mkdir()
    assert main(["sort", "-q", "-o", "out", "--nodes-temp=nodes", *words]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert said in told.replace(f"{tmp_path}/", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "in", "nodes", "other", "table"]
    assert not list((tmp_path / "nodes").iterdir())


def test_a_job_whose_input_changed_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").write_bytes(bytes(100) * 20_000)
    (tmp_path / "nodes").mkdir()
    command = ["sort", "-q", *RECORDS, "-o", "out", "--nodes-temp=nodes", "in"]

    def stops(state: PhaseState) -> None:
        if state.phase == "reduce" and state.done == state.tasks:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sort("in", "out", record_size=100, by="0:10", nodes_temp=["nodes"], progress=stops)
    (tmp_path / "in").write_bytes(bytes(100) * 20_001)
    mine = tmp_path / "out" / "part-00007"
    mine.write_text("mine")
    assert main(["resume", "out"]) == 3
    assert "ecosort cluster resume --abandon" in capsys.readouterr().err
    assert main(command) == 2
    assert "--abandon" in capsys.readouterr().err
    assert main(["resume", "--abandon", "out"]) == 0
    assert sorted(path.relative_to(tmp_path).name for path in tmp_path.rglob("*")) == ["in", "nodes", "out", "part-00007"]
    mine.unlink()
    assert main(command) == 0
    assert main(["resume", "--abandon", "out"]) == 2
    assert (tmp_path / "out" / "MANIFEST.json").exists()


def test_a_journal_without_a_job_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = tmp_path / "out.ecosort"
    directory.mkdir()
    for contents in ("", "garbage\n"):
        (directory / "journal").write_text(contents)
        assert main(["resume", str(tmp_path / "out")]) == 3
        assert "holds nothing of a job; remove" in capsys.readouterr().err


def test_what_no_one_reads_ends_no_sort(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(bytes(100) * 1000)
    script = "import sys; from ecosort.cluster.cli import main; sys.exit(main())"
    with Path("/dev/full").open("wb", buffering=0) as full:
        command = [sys.executable, "-c", script, "sort", *RECORDS, "-o", "out", "in"]
        done = subprocess.run(command, cwd=tmp_path, stderr=full, check=False, timeout=60)
    assert done.returncode == 0
    assert (tmp_path / "out" / "MANIFEST.json").exists()
