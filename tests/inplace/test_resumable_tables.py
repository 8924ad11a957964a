"""`csv` and `jsonl` with --resumable: they give the bytes and counts of an ordinary sort, from whatever step they are resumed."""

import functools
import json
import random
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sort_support import MIB, FileSystem, Run, listing, no_plan, read_json, refused, succeeded

from .support import job_directory, kill_at_sync, killed_in_merge, syncs_of

ROWS = 35_000
MARK = b"\xef\xbb\xbf"
COUNTED = ("rows", "rows_dropped", "output_bytes", "keys", "blank_lines")


def csv_rows(seed: int, rows: int, end: bytes = b"\n") -> bytes:
    """Under a header of two lines; every fourth row holds a text in quotes that looks like rows."""
    rng = random.Random(seed)
    lines = [b'n,"a\nname",rest']
    for i in range(rows):
        text = b'"%d\n%d,x,y\n""' % (rng.randrange(9), rng.randrange(9)) + b"z" * rng.randrange(60) + b'"'
        number = b"?" if i % 97 == 0 else b"" if i % 89 == 0 else b"%d" % rng.randrange(10 * rows)
        lines.append(number + b"," + (text if i % 4 == 0 else b"t%d" % rng.randrange(rows)) + b",%d" % i)
    return end.join([*lines, b""])


def json_lines(seed: int, rows: int) -> bytes:
    rng = random.Random(seed)
    lines = []
    for i in range(rows):
        number: Any = None if i % 97 == 0 else "?" if i % 89 == 0 else rng.randrange(10 * rows)
        lines.append(json.dumps({"n": number, "t": "z" * rng.randrange(60)}))
        if i % 83 == 0:
            lines[-1] = lines[-1].replace("{", '{"n": 5, ')  # the last one counts
        lines += [""] if i % 50 == 0 else []
    return "\n".join([*lines, ""]).encode()


@dataclass(frozen=True)
class Case:
    command: str
    keys: tuple[str, ...]
    make: Callable[[], tuple[bytes, ...]]
    more: tuple[str, ...] = ()

    @functools.cached_property
    def inputs(self) -> tuple[bytes, ...]:
        """Made where they are needed: each worker reads this file."""
        return self.make()

    def words(self, directory: Path, out: Path, *options: str) -> tuple[str | Path, ...]:
        by = [word for key in self.keys for word in ("--by", key)]
        inputs = [directory / f"in{i}" for i in range(len(self.inputs))]
        return (self.command, "--memory", "1MiB", *by, *self.more, *options, *inputs, "-o", out)


CASES = [
    Case(
        "csv",
        ("n:number", "a\nname"),
        lambda: (MARK + csv_rows(1, ROWS), csv_rows(2, 3), (MARK + csv_rows(3, ROWS // 2, b"\r\n")).removesuffix(b"\r\n")),
    ),
    Case("csv", ("1:integer:desc",), lambda: (csv_rows(4, ROWS),), ("--no-header", "--unique", "--nulls=first", '--quote="')),
    Case("jsonl", ("n:number", "t"), lambda: (MARK + json_lines(5, ROWS), json_lines(6, ROWS // 2) + b"\n\n")),
]
each_case = pytest.mark.parametrize("case", CASES, ids=["csv", "csv_without_header", "jsonl"])


@pytest.fixture
def place(drive: FileSystem, tmp_path: Path) -> Iterator[Path]:
    """The output goes to a drive of its own; afterwards that is empty again."""
    yield drive.root
    subprocess.run(["rm", "-rf", *drive.root.iterdir()], check=True)


def written(case: Case, directory: Path) -> None:
    for i, content in enumerate(case.inputs):
        (directory / f"in{i}").write_bytes(content)


def expected(run: Run, case: Case, directory: Path) -> tuple[bytes, dict[str, Any]]:
    written(case, directory)
    succeeded(run(*case.words(directory, directory / "plain", "-q", "--stats", str(directory / "plain.json"))))
    return (directory / "plain").read_bytes(), read_json(directory / "plain.json")


def counted(stats: dict[str, Any]) -> dict[str, Any]:
    return {name: stats.get(name) for name in COUNTED}


@each_case
def test_the_output_and_its_counts_are_those_of_an_ordinary_sort(run: Run, tmp_path: Path, place: Path, case: Case) -> None:
    wanted, plain = expected(run, case, tmp_path)
    out, stats = place / "out", tmp_path / "stats"
    done = run(*case.words(tmp_path, out, "--resumable", "--verify=reread", "--stats", str(stats)))
    assert done.returncode == 0, done
    assert f"after an interruption: ecosort resume {out}\n" in done.stderr
    assert "unparsable values come" in done.stderr
    assert out.read_bytes() == wanted
    found = read_json(stats)
    assert counted(found) == counted(plain)
    assert found["runs"] > 5
    assert "reread" in [phase["name"] for phase in found["phases"]]
    assert listing(place) == [str(out)]


@each_case
def test_a_killed_sort_is_resumed_from_every_step(ecosort: Path, run: Run, tmp_path: Path, place: Path, case: Case) -> None:
    wanted, plain = expected(run, case, tmp_path)
    out = place / "out"
    words = case.words(tmp_path, out, "--resumable", "-q")
    syncs = syncs_of(ecosort, tmp_path, *words)
    for nth in (3, 5, syncs // 3, syncs * 2 // 3, None):
        out.unlink(missing_ok=True)
        if nth is None:
            killed_in_merge(ecosort, tmp_path, out, *words)
        elif not kill_at_sync(ecosort, tmp_path, nth, *words):
            continue
        status = run("resume", "--status", out).stdout
        assert nth is not None or status.startswith(f"{out}: merge\n")
        assert f"resumable sort of the rows of '{tmp_path / 'in0'}'" in status or status.count("\n") == 1
        done = run("resume", out, "-q", "--stats", tmp_path / "stats")
        if done.returncode == 5:
            assert "start the sort again" in done.stderr
            continue
        succeeded(done)
        assert out.read_bytes() == wanted
        found = read_json(tmp_path / "stats")
        assert found["schema"] == plain["schema"]
        assert counted(found) == counted(plain)


@each_case
def test_exactly_the_space_of_the_plan_is_enough(run: Run, drive: FileSystem, tmp_path: Path, place: Path, case: Case) -> None:
    wanted, _ = expected(run, case, tmp_path)
    words = case.words(tmp_path, place / "out", "--resumable")
    done = run("plan", *words, "--json")
    assert done.returncode == 0, done
    plan = json.loads(done.stdout)
    assert plan["schema"] == f"ecosort.resumable-{case.command}-plan/1"
    assert "Plan: resumable sort of rows" in run("plan", *words).stdout
    drive.fill_until(plan["needed_bytes"])
    succeeded(run(*words, "-q"))
    assert (place / "out").read_bytes() == wanted


def test_what_cannot_be_resumed_is_refused(run: Run, tmp_path: Path) -> None:
    source, out = tmp_path / "in.csv", tmp_path / "out"
    source.write_bytes(b"n\n2\n1\n")
    words = ("csv", "--resumable", "--by", "n", source)
    refused(run(*words, "-o", out, "--merge"), 2, "--merge cannot be combined with --resumable")
    refused(run(*words, "-o", out, "--temp", tmp_path), 2, "leave --temp out")
    refused(run(*words, "-o", "-"), 2, "-o FILE")
    refused(run(*words, "-", "-o", out), 2, "standard input cannot be read again")
    refused(run(*words, "-o", tmp_path / "out.gz"), 2, "compress the output afterwards")
    refused(run("csv", "--resumable", "--check", "--by", "n", source), 2, "--check sorts nothing")
    no_plan(run("plan", "csv", "--json", "--by", "n", source, "-o", out), "--json is for --resumable")
    subprocess.run(["gzip", source], check=True)
    refused(run(*words[:-1], f"{source}.gz", "-o", out), 2, "is compressed, which a job that outlives a crash does not read")
    source.write_bytes(b"n" * (2 * MIB) + b"\n1\n")
    refused(run("csv", "--resumable", "--no-header", "--by", "1", source, "-o", out), 2, "the first row is longer than 1 MiB")
    assert listing(tmp_path) == sorted([str(source), f"{source}.gz"])


def test_another_header_ends_the_resumption(ecosort: Path, run: Run, tmp_path: Path) -> None:
    """A resumption looks at the second file, against the header that the journal keeps of the first."""
    (tmp_path / "in0").write_bytes(csv_rows(7, ROWS))
    (tmp_path / "in1").write_bytes(b'n,"a\nname",other\n1,2,3\n')
    case = Case("csv", ("n:number",), lambda: (b"", b""))
    words = case.words(tmp_path, tmp_path / "out", "--resumable", "-q")
    assert kill_at_sync(ecosort, tmp_path, 9, *words)
    refused(run("resume", tmp_path / "out"), 2, "column 3 is 'other'", "it is 'rest'")
    assert not job_directory(tmp_path / "out").exists()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("command", "key", "text", "why"), [
    ("csv", "m", "n\n2\n", "no column 'm'; there are: n"),
    ("csv", "n:numbr", "n\n2\n", "did you mean 'number'"),
    ("csv", "n", "n,m\n2,3\n4\n", "line 3, byte 8: the row has 1 field"),
    ("jsonl", "n", '{"n":2}\n{"n":1\n', "line 2"),
])  # fmt: skip
def test_an_input_that_is_refused_leaves_the_name_free(
    run: Run, tmp_path: Path, command: str, key: str, text: str, why: str
) -> None:
    source, out = tmp_path / "in", tmp_path / "out"
    source.write_text(text)
    refused(run(command, "--resumable", "-q", "--by", key, source, "-o", out), 2, why)
    assert listing(tmp_path) == [str(source)]
    source.write_text('{"n":1}\n' if command == "jsonl" else "n\n1\n")
    succeeded(run(command, "--resumable", "-q", "--by", "n", source, "-o", out))
    assert out.read_bytes() == source.read_bytes()


@pytest.mark.parametrize("options", [(), ("--resumable",)])
def test_a_plan_knows_the_columns(run: Run, tmp_path: Path, options: tuple[str, ...]) -> None:
    source = tmp_path / "in.csv"
    source.write_text("n,t\n2,3\n")
    words = ("plan", "csv", *options, "-o", tmp_path / "out", source)
    succeeded(run(*words, "--by", "n:number"))
    refused(run(*words, "--by", "n:numbr"), 2, "did you mean 'number'")
    refused(run(*words, "--by", "m"), 2, "no column 'm'")
    refused(run(*words, "--no-header", "--by", "3"), 2, "the first row has 2 columns")
    source.write_text("n,t" + "t" * 2 * MIB + "\n2,3\n")
    done = run(*words, "--by", "n")
    assert done.returncode == (2 if options else 0), done


def test_nothing_to_sort_needs_no_job(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"")
    succeeded(run("jsonl", "--resumable", "--by", "n", tmp_path / "in", "-o", tmp_path / "out"))
    assert (tmp_path / "out").read_bytes() == b""
    (tmp_path / "in").write_bytes(b"n,t\n")
    succeeded(run("csv", "--resumable", "-q", "--by", "n", tmp_path / "in", "-o", tmp_path / "out"))
    assert (tmp_path / "out").read_bytes() == b"n,t\n"
    assert not job_directory(tmp_path / "out").exists()
