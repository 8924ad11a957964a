"""`ecosort cluster` answers options that cannot be, and reads those that can."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from ecosort.cluster import PhaseState, abandon, check, resume, sort
from ecosort.cluster.cli import main
from ecosort.cluster.formats import format_from, format_of_words
from ecosort.cluster.hashes import HashSum
from ecosort.cluster.manifest import Manifest, Part, manifest_bytes, manifest_from
from ecosort.cluster.partition_plan import plan_partition
from ecosort.cluster.spec import job_spec, spec_from_json

import ecosort
from ecosort import BadInput, EcoSortError, manual

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
        (
            [*RECORDS, "--memory=64KiB", "in"],
            "65536 bytes of memory for a task are too few for this input; give each task 2MiB at least",
        ),
        ([*RECORDS, "--memory=64KiB", "--plan", "in"], "give each task 2MiB at least"),
        ([*RECORDS, "--memory=4MiB", "--parts=1000", "in"], "give each task 65MiB at least"),
        (["--format=lines", "--memory=64KiB", "--nodes-temp=n0", "lines"], "give each task 4MiB at least"),
        ([*RECORDS, "--memory=1000TiB", "in"], "1000 TiB of memory are more than the "),
        ([*RECORDS, "--memory=1000TiB", "--plan", "in"], "1000 TiB of memory are more than the "),
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
    with (tmp_path / "lines").open("wb") as lines:
        lines.truncate(10_000_000)
    assert main(["sort", "-q", "-o", "out", "--nodes-temp=nodes", *words]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert said in told.replace(f"{tmp_path}/", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "in", "lines", "nodes", "other", "table"]
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


@pytest.mark.parametrize("words", [["check", "out"], ["sort", *RECORDS, "in", "-o", "out"]])
def test_what_leaves_no_job_is_interrupted_without_advice(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ecosort.cluster.cli.check_manifest", interrupt)
    monkeypatch.setattr("ecosort.cluster.cli.start_job", interrupt)
    assert main(words) == 130
    assert capsys.readouterr().err == "ecosort cluster: interrupted\n"


def test_a_journal_without_a_job_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = tmp_path / "out.ecosort"
    directory.mkdir()
    (directory / "journal").touch()
    assert main(["resume", str(tmp_path / "out")]) == 3
    assert "holds nothing of a job; move" in capsys.readouterr().err


def test_a_job_of_another_command_is_not_touched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The directory of a sort in place holds the only copy of its records."""
    (tmp_path / "in").write_bytes(bytes(100) * 10)
    directory = tmp_path / "out.ecosort"
    directory.mkdir()
    journal = b"\x07ecosort\n\x00\x01\nmore\n"
    (directory / "journal").write_bytes(journal)
    for words in (["resume"], ["resume", "--abandon"], ["sort", *RECORDS, str(tmp_path / "in"), "-o"]):
        assert main([*words, str(tmp_path / "out")]) == 2
        told = capsys.readouterr().err
        assert told.count("\n") == 1
        assert "is no job of a cluster: a job of ecosort inplace, or with --resumable" in told
        assert told.endswith(f"continues with: ecosort resume {tmp_path}/out\n")
        assert (directory / "journal").read_bytes() == journal


@pytest.mark.parametrize("single", [[], ["--single"]], ids=["parts", "single"])
def test_files_of_others_stay(
    single: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in").write_bytes(bytes(100) * 1000)
    Path("out.ecosort").mkdir()
    Path("out.ecosort/mine").write_bytes(Path("in").read_bytes())
    for given in ("in", "out.ecosort/mine"):
        assert main(["sort", *RECORDS, *single, given, "-o", "out"]) == 2
        assert "'mine' in it is of no job; move it away" in capsys.readouterr().err
        assert Path("out.ecosort/mine").read_bytes() == Path("in").read_bytes()
    Path("out.ecosort/samples").mkdir()
    Path("out.ecosort/mine").rename("out.ecosort/samples/mine")
    assert main(["sort", *RECORDS, *single, "in", "-o", "out"]) == 2
    assert "'samples' in it is of no job" in capsys.readouterr().err
    Path("out.ecosort/samples/mine").unlink()  # a crash in the first moment leaves the empty directory
    assert main(["sort", "-q", *RECORDS, *single, "in", "-o", "out"]) == 0
    assert not Path("out.ecosort").exists()


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (0, r"0 rows: 0 B in 1 part\n[0-9.]+ s, [0-9.]+ CPU-s, 4 attempts for 4 tasks\n"),
        (1, r"1 row: 100 B in 1 part\n[0-9.]+ s, [0-9.]+ CPU-s, [0-9.]+ bytes moved per byte, 4 attempts for 4 tasks\n"),
    ],
)
def test_a_report_of_little_or_nothing(rows: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("in").write_bytes(bytes(100) * rows)
    assert main(["sort", *RECORDS, "in", "-o", "out"]) == 0
    assert re.search(said, capsys.readouterr().err)
    assert main(["check", "out"]) == 0
    assert capsys.readouterr().out.startswith(f"{rows} row{'' if rows == 1 else 's'} in 1 part, ")


def test_a_timeline_replaces_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    data = bytes(100) * 1000
    Path("in").write_bytes(data)
    Path("linked").hardlink_to("in")
    Path("out").mkdir()
    sort = ["sort", "-q", *RECORDS, "in"]
    single = [("--single", "one", place) for place in ("in", "one", "one.MANIFEST.json", "one.ecosort")]
    places = ("in", "linked", "out/part-00000", "out/MANIFEST.json", "out.MANIFEST.json", "out.ecosort", "out")
    for words, output, place in [*single, *(("-q", "out", place) for place in places)]:
        assert main([*sort, words, "--timeline", place, "-o", output]) == 2, place
        assert "--timeline" in capsys.readouterr().err
        assert main(["resume", "--timeline", place, output]) == 2
        assert "--timeline" in capsys.readouterr().err
    assert Path("in").read_bytes() == data
    assert list(Path("out").iterdir()) == []
    assert main([*sort, "--timeline", "out.svg", "-o", "out"]) == 0
    drawn = Path("out.svg").read_text()
    assert drawn.startswith("<svg")
    os.mkfifo("fifo")
    Path("dangling").symlink_to("nowhere")
    for place in ("out.svg", "fifo", "dangling", "nowhere/t.svg"):
        assert main([*sort, "--timeline", place, "-o", "again"]) == 2
        assert "--timeline" in capsys.readouterr().err
    assert Path("out.svg").read_text() == drawn
    assert not Path("again").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--nodes-temp=in", "-o", "out"], "--nodes-temp 'in' is no directory"),
        (["--nodes-temp=nowhere/deep", "-o", "out"], "'nowhere' is no directory; create it first"),
        (["-o", "-"], "-o - is standard output, which takes no parts"),
        (["-o", "-", "--single"], "-o - is standard output"),
        (["-o", "-", "--plan"], "-o - is standard output"),
        (["-o", "nowhere/out"], "is no directory; create it first"),
        (["-o", "out.ecosort"], "names that end with .ecosort are those of jobs"),
        (["--rates=read=1", "-o", "out"], "are for --plan"),
        (["--workers=100000", "-o", "out"], "numbers from 1 to 512"),
        (["--threads=0", "-o", "out"], "numbers from 1 to 512"),
        (["--parts=100000000", "-o", "out"], "parts are 1 to 65536"),
        (["--plan", "--parts=100000000", "-o", "out"], "parts are 1 to 65536"),
    ],
)
def test_places_and_numbers_that_cannot_be_leave_nothing(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in").write_bytes(bytes(100) * 1000)
    assert main(["sort", *RECORDS, "in", *words]) == 2
    told = capsys.readouterr().err
    assert said in told.replace(f"{tmp_path}/", "")
    assert told.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


PROFILE = """
schema = "ecosort.profile/2"
[[drive]]
role = "temp"
rates = [
  {mode = "read", block_bytes = 1048576, depth = 8, read_bytes_per_s = 4e8, write_bytes_per_s = 0},
  {mode = "read", block_bytes = 1048576, depth = 16, read_bytes_per_s = 5e8, write_bytes_per_s = 0},
  {mode = "write", block_bytes = 1048576, depth = 8, read_bytes_per_s = 0, write_bytes_per_s = 250e6},
]
"""


def test_a_plan_tells_the_time_by_the_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    with Path("in").open("wb") as data:
        data.truncate(1_000_000_000)
    plan = ["sort", *RECORDS, "in", "-o", "out", "--plan"]
    assert main(plan) == 0
    assert "not known: no profile" in capsys.readouterr().out
    profile = tmp_path / "config" / "ecosort" / "profile.toml"
    profile.parent.mkdir(parents=True)
    profile.write_text(PROFILE)
    for words, said in (
        # 1 GB is read with 500 MB/s and written with 250 MB/s, twice.
        ([], f"12.0 s by the drives of '{profile}'; what these do not say is taken for no limit"),
        (["--profile", str(profile)], "12.0 s"),
        (["--rates=write=1000"], f"9.0 s by the drives of '{profile}' and --rates"),
        (["--no-profile"], "not known"),
        (["--no-profile", "--rates=read=1000,temp-write=1000"], "2.0 s by --rates"),
    ):
        assert main([*plan, *words]) == 0
        assert said in capsys.readouterr().out, words
    for contents, said in (
        ("", "is no profile"),
        ("[", "cannot be read"),
        ("x=" + "[" * 100_000, "cannot be read"),
        (PROFILE.replace("[[drive]]", "[drive]"), "cannot be read"),
        (PROFILE.replace('role = "temp"', ""), "cannot be read"),
        (PROFILE.replace("drive", "other"), "has no drives"),
        (PROFILE.replace("4e8", "nan").replace("5e8", "inf"), "has no drives"),
    ):
        profile.write_text(contents)
        assert main(plan) == 2
        assert said in capsys.readouterr().err
    os.mkfifo("fifo")
    for words in (["--profile", "fifo"], ["--profile", "in", "--no-profile"]):
        assert main([*plan, *words]) == 2
        assert "--profile" in capsys.readouterr().err
    assert main([*plan, "--profile", "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err


def test_an_address_of_another_kind_is_no_node(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sort", *RECORDS, "ftp://host/in", "-o", "out"]) == 2
    assert "ftp:// is not read" in capsys.readouterr().err


def test_what_no_one_reads_ends_no_sort(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(bytes(100) * 1000)
    script = "import sys; from ecosort.cluster.cli import main; sys.exit(main())"
    with Path("/dev/full").open("wb", buffering=0) as full:
        command = [sys.executable, "-c", script, "sort", *RECORDS, "-o", "out", "in"]
        done = subprocess.run(command, cwd=tmp_path, stderr=full, check=False, timeout=60)
    assert done.returncode == 0
    assert (tmp_path / "out" / "MANIFEST.json").exists()


WRONG_TYPES: dict[str, list[object]] = {
    "src": [None, 5, [], [5], b""],
    "dst": [None, 5, ["out"]],
    "format": [5, ["lines"]],
    "by": [None, 5.5, True, b"0:10", [b"0:10"]],
    "record_size": ["100", 1.5, True],
    "options": [5, b"--reverse"],
    "words": [5, [5]],
    "on": [None, 5],
    "nodes_temp": ["nodir/y/z", b"nodir", Path("nodir"), 5, [5], ["nodes", None]],
    "workers": [0, "2", 1.5, True],
    "threads": [0, "2", 1.5, True],
    "memory": [0, 1.5, None, []],
    "parts": [0, "2", 1.5],
    "seed": [-1, "2", None],
    "single": ["yes", None],
    "merges": ["yes", 5],
    "progress": [5, "yes"],
}


@pytest.mark.parametrize(
    ("name", "value"),
    [pytest.param(name, value, id=f"{name}-{number}") for name, of in WRONG_TYPES.items() for number, value in enumerate(of)],
)
def test_an_argument_of_the_wrong_type_is_told(name: str, value: object, here: Path) -> None:
    Path("in").write_bytes(bytes(100) * 100)
    right: dict[str, object] = {"src": "in", "dst": "out", "record_size": 100, "by": "0:10"}
    with pytest.raises(BadInput) as raised:
        sort(**{**right, name: value})  # type: ignore[arg-type]
    assert ("file" if name == "src" else name) in str(raised.value)
    assert "\n" not in str(raised.value)
    assert [path.name for path in here.iterdir()] == ["in"]


def test_a_file_and_a_word_may_stand_alone() -> None:
    Path("in").write_bytes(b"a\nb\n")
    sort(b"in", Path("out"), format="lines", options="--reverse", nodes_temp=(name for name in (Path("n0"),)))  # type: ignore[arg-type]
    assert Path("out/part-00000").read_bytes() == b"b\na\n"


@pytest.mark.parametrize("call", [resume, abandon, check])
def test_a_name_of_the_wrong_type_is_told(call: Callable[[object], object]) -> None:
    with pytest.raises(BadInput, match="is the name of a file"):
        call(5)


@pytest.mark.parametrize(
    ("name", "words", "said"),
    [
        ("csv", ["--by"], "--by wants a value: --by=VALUE"),
        ("lines", ["--key"], "--key wants a value: --key=VALUE"),
        ("lines", ["--collate=\udcff"], "locale '\udcff': is no language tag"),
        ("csv", ["--by=a\0b"], "embedded null byte"),
        ("csv", ["--by=\ud800"], "surrogates not allowed"),
        ("csv", [f"--by={'x' * (1 << 18)}"], "Argument list too long"),
    ],
)
def test_options_that_no_program_reads_are_told(name: str, words: list[str], said: str) -> None:
    with pytest.raises(BadInput, match=re.escape(said)):
        format_of_words(name, words)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: format_of_words("records", ["--record-size=100", "--key=0:10"]),
        lambda: plan_partition(1 << 30, 2, 1 << 28, threads=1, record_bytes=None, sorts=True),
        manual._manual.__wrapped__,  # what commands() and compressed_endings() ask
    ],
)
def test_a_program_that_is_killed_when_it_is_asked_is_named_so(
    here: Path, monkeypatch: pytest.MonkeyPatch, ask: Callable[[], object]
) -> None:
    """Half of its answer is none."""
    answers = f"[ $1 != --version ] || exec echo ecosort {ecosort.__version__}\necho '{{\"schema'\nkill -9 $$\n"
    (here / "program").write_text(f"#!/bin/sh\n{answers}")
    (here / "program").chmod(0o700)
    monkeypatch.setenv("ECOSORT_PROGRAM", str(here / "program"))
    monkeypatch.setattr(manual, "_INSIDE", here / "none")
    with pytest.raises(EcoSortError, match=r"^the program was ended by signal 9$"):
        ask()


@pytest.mark.parametrize("size", ["x", 0, True, None])
def test_a_manifest_with_a_wrong_size_of_records_is_none(size: object) -> None:
    with pytest.raises(BadInput, match="record_size is a number"):
        format_from({"name": "records", "rows": {"record_size": size, "keys": ["0:1"]}})


def test_a_manifest_has_keys_that_are_no_utf8_as_a_claim_has_them() -> None:
    part = Part("part-00000", 0, 0, HashSum().hex, None, None)
    made = Manifest("job", format_of_words("csv", ["--by=\udcff"]), "", HashSum().hex, 0, 0, HashSum().hex, (part,))
    data = manifest_bytes(made)
    assert json.loads(data)["order"] == {"keys": [{"base64": "/w=="}], "delimiter": ","}
    assert manifest_from(data, "MANIFEST.json") == made


def test_a_file_of_any_name_is_what_its_manifest_says(here: Path) -> None:
    """A tab is the delimiter of other files that are named so."""
    Path("in.csv").write_text("t,n\na,2\nb,1\n")
    sort("in.csv", "out.tsv", format="csv", by="n:number", single=True)
    assert check("out.tsv.MANIFEST.json").rows == 2


def test_manifests_and_journals_of_an_older_program_have_words(here: Path) -> None:
    Path("in").write_text("2\0" + "1\0" * 3)
    words = {"name": "lines", "words": ["--key=1,1n", "--zero-terminated"]}
    sort("in", "out", format="lines", words=words["words"])
    told = json.loads(Path("out/MANIFEST.json").read_text())
    assert told.pop("order") == {"keys": ["1n,1"], "terminator": "\0"}
    Path("out/MANIFEST.json").write_text(json.dumps(told | {"format": words}))
    assert check("out").rows == 4
    Path("out/MANIFEST.json").write_text(json.dumps(told | {"format": words | {"words": ["--no-such"]}}))
    with pytest.raises(BadInput, match="--no-such is no option of lines in a cluster"):
        check("out")
    told = job_spec(
        ["in"],
        "other",
        form=format_from(words),
        on="local",
        temps=[],
        workers=1,
        threads=1,
        memory_bytes=1 << 20,
        parts=None,
        seed=0,
    ).as_json()
    assert spec_from_json(told | {"format": words}) == spec_from_json(told)
