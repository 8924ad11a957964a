"""What `ecosort cluster` says of words that cannot be, and how it reads those that can."""

from __future__ import annotations

from pathlib import Path

import pytest
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


@pytest.mark.parametrize("words", [["--plan", "in"], ["in", "--plan"], ["--plan", "text", "in"], ["--plan", "--", "in"]])
def test_an_input_may_follow_plan(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in").write_bytes(bytes(100) * 1000)
    placed = [str(tmp_path / "in") if word == "in" else word for word in words]
    assert main(["sort", *RECORDS, "-o", str(tmp_path / "out"), *placed]) == 0
    assert capsys.readouterr().out.startswith("input            100 kB\n")
    assert [path.name for path in tmp_path.iterdir()] == ["in"], "nothing was done"
