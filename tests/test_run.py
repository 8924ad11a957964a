"""`ecosort run`: what a request says is done as the command does it that one would type, and reported alike."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sort_support import read_json, refused

Run = Callable[..., subprocess.CompletedProcess[str]]
CSV = "name,price\nb,2\na,10\nc,\n"


def request(**members: Any) -> str:
    return json.dumps({"schema": "ecosort.request/1", **members})


# The request, and the words that mean the same; both read "in" and write "out".
ALIKE = [
    ({"records": {"record_size": 4, "keys": ["0:2"]}}, ["sort", "--record-size", "4", "--key", "0:2"]),
    ({"records": {"record_size": 4, "keys": ["0:2"]}, "place": {"kind": "resumable"}},
     ["sort", "--record-size", "4", "--key", "0:2", "--resumable"]),
    ({"lines": {"separator": ",", "keys": ["2,2n"], "header_lines": 1}}, ["lines", "-t,", "-k2,2n", "--header"]),
    ({"lines": {}, "unique": True, "place": {"kind": "resumable"}}, ["lines", "-u", "--resumable"]),
    ({"csv": {"keys": ["price:number:desc"], "nulls_first": True}}, ["csv", "--by", "price:number:desc", "--nulls", "first"]),
    ({"csv": {"keys": ["price:number:desc"]}, "limit": 1}, ["csv", "--by", "price:number:desc", "--limit", "1"]),
    ({"lines": {"separator": ",", "keys": ["1,1", "2,2n"]}, "limit": 2, "by_group": 0},
     ["lines", "-t,", "-k1,1", "-k2,2n", "--limit", "2", "--by-group"]),
    ({"csv": {"keys": ["1"], "header": False, "quote": None}}, ["csv", "--by", "1", "--no-header", "--quote", "none"]),
]  # fmt: skip


@pytest.mark.parametrize(("members", "words"), ALIKE, ids=[" ".join(words) for _, words in ALIKE])
def test_a_request_does_what_the_words_do(run: Run, tmp_path: Path, members: dict[str, Any], words: list[str]) -> None:
    (tmp_path / "in").write_text(CSV[: -(len(CSV) % 4) or None])
    command, *options = words
    typed = run(command, *options, "in", "-o", "out", "--stats", "typed", cwd=tmp_path)
    assert (typed.returncode, typed.stdout) == (0, ""), typed.stderr
    expected = (tmp_path / "out").read_bytes()
    (tmp_path / "out").unlink()
    place = {"output": "out", **members.get("place", {})}
    text = request(inputs=["in"], **{**members, "place": place})
    (tmp_path / "request").write_text(text)
    for name in ("request", "-"):
        with (tmp_path / "request").open() as stream:
            done = run("run", "--stats", "asked", name, cwd=tmp_path, stdin=stream)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", typed.stderr)
        assert (tmp_path / "out").read_bytes() == expected
        (tmp_path / "out").unlink()
        assert read_json(tmp_path / "asked").keys() == read_json(tmp_path / "typed").keys()


@pytest.mark.parametrize(("members", "words"), ALIKE, ids=[" ".join(words) for _, words in ALIKE])
def test_words_become_the_request(run: Run, tmp_path: Path, members: dict[str, Any], words: list[str]) -> None:
    """A program reads no words: the request does what they do, and has a plan that says so."""
    (tmp_path / "in").write_text(CSV[: -(len(CSV) % 4) or None])
    done = run("request", *words, "--events=e", "in", "-o", "out", cwd=tmp_path)
    told = json.loads(done.stdout)
    assert told["options"] == ["--events=e"]
    (tmp_path / "request").write_text(json.dumps(told["request"]))
    planned = run("plan", "run", "--json", *told["options"], "request", cwd=tmp_path)
    assert (planned.returncode, planned.stderr, [path.name for path in tmp_path.iterdir() if path.name == "out"]) == (0, "", [])
    command, *options = words
    typed = run(command, *options, "in", "-o", "typed", cwd=tmp_path)
    done = run("run", *told["options"], "request", cwd=tmp_path)
    assert (typed.returncode, done.returncode, (tmp_path / "e").exists()) == (0, 0, True)
    assert (tmp_path / "out").read_bytes() == (tmp_path / "typed").read_bytes()


def test_what_request_prints_is_run_as_it_is(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("b\na\n")
    (tmp_path / "told").write_text(run("request", "lines", "-r", "--events=e", "in", "-o", "out", cwd=tmp_path).stdout)
    assert run("plan", "run", "told", cwd=tmp_path).returncode == 0
    assert (run("run", "told", cwd=tmp_path).returncode, (tmp_path / "out").read_text()) == (0, "b\na\n")
    assert (tmp_path / "e").exists()
    refused(run("sample", "request", "told", "--count", "2", cwd=tmp_path), 2, "without options of a run")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "name the command, sort|inplace|"),
        (["check", "in"], "'check' cannot be queued; a job is one of sort, inplace, lines, csv,"),
        (["jsnl", "in"], "'jsnl' cannot be queued; did you mean 'jsonl'?"),
        (["sort", "in"], "sort: no output; name it with -o"),
        (["sort", "--help"], "help and version make no request"),
        (["lines", "-c", "in"], "--check is no part of a request"),
        (["lines", "--debug", "in"], "--debug is no part of a request"),
        (["csv", "--check", "--by", "a", "in"], "--check is no part of a request"),
        (["csv", "in", "-o", "out"], "csv: no key"),
        (["sort", "--key=0:zz", "in", "-o", "out"], "key '0:zz'"),
        (["lines", "--level=77", "--compress-output=zstd", "in", "-o", "out"], "zstd has levels"),
        (["inplace", "a", "b"], "name one file"),
        (["lines", "in", "-o", "out", "--split", "rows=1"], "put {} into the name of the output"),
        (["lines", "in", "-o", "out-{}", "--split", "rows=0"], "give a whole number, at least 1"),
        (["csv", "--by", "n", "in", "-o", "-", "--claim"], "name an output"),
        (
            ["csv", "--by", "n", "in", "-o", "out", "--unique", "--count", "--claim"],
            "rows with a count in front cannot be claimed",
        ),
    ],
)
def test_words_that_no_file_makes_right_are_refused(run: Run, words: list[str], complaint: str) -> None:
    done = run("request", *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert complaint in done.stderr


def test_a_merge_of_runs_is_a_request_with_an_option(run: Run, tmp_path: Path) -> None:
    told = json.loads(run("request", "merge", "--runs", "--append-rest", "x.ecosort", "-o", "out").stdout)
    assert (told["options"], told["request"]["input_order"]) == (["--runs", "--append-rest"], "sorted")
    (tmp_path / "request").write_text(json.dumps(told["request"]))
    assert "x.ecosort" in run("run", *told["options"], "request", cwd=tmp_path).stderr


def test_sorted_records_are_merged_and_lines_sorted_in_place(run: Run, tmp_path: Path) -> None:
    for name, text in (("a", "aacc"), ("b", "bbdd")):
        (tmp_path / name).write_text(text)
    records = {"records": {"record_size": 2, "keys": ["0:2"]}, "input_order": "sorted"}
    (tmp_path / "merge").write_text(request(inputs=["a", "b"], place={"output": "out"}, **records))
    assert run("run", "merge", cwd=tmp_path).returncode == 0
    assert (tmp_path / "out").read_text() == "aabbccdd"
    (tmp_path / "b").write_text("ddbb")
    assert "not in order" in run("run", "merge", cwd=tmp_path).stderr


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "is no JSON object"),
        (request(inputs=["in"], lines={"stabel": True}), "lines.stabel: there is no such member; did you mean 'stable'?"),
        (request(inputs=["in"], lines={}), "no output is named"),
        (request(inputs=[], lines={}, place={"output": "out"}), "no input is named"),
        (request(inputs=["-"], lines={}, place={"output": "out"}), "standard input is the request already"),
        (request(inputs=["in"], records={}, unique=True, place={"output": "out", "kind": "resumable"}), "drop duplicates"),
        (request(inputs=["in"], lines={}, limit=-1, place={"output": "out"}), "limit: is no whole number"),
        (request(inputs=["in"], lines={}, limit=1, place={"output": "out", "kind": "resumable"}), "a job drops nothing"),
    ],
)
def test_a_request_that_cannot_be_is_one_line(run: Run, tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "in").write_text("b\na\n")
    (tmp_path / "request").write_text(text)
    with (tmp_path / "request").open() as stream:
        done = run("run", "-", cwd=tmp_path, stdin=stream)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert complaint in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_request_is_one_file(run: Run, tmp_path: Path) -> None:
    for words in ([], ["a", "b"], ["nofile"]):
        done = run("run", *words, cwd=tmp_path)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
