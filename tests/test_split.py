"""`--split`: the sorted output in several files, which appear together."""

import fcntl
import gzip
import itertools
import json
import random
import subprocess
import urllib.parse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from capabilities import only_in_soak
from sort_support import faults, listing

HEADER = b"day,n,text\n"


def sort(ecosort: Path, place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([ecosort, *words], cwd=place, capture_output=True, text=True, timeout=120, check=False)


def rows(count: int, days: Sequence[str], seed: int = 1) -> list[bytes]:
    rng = random.Random(seed)
    return [b'%s,%d,"%s\n,"\n' % (rng.choice(days).encode(), i, b"x" * rng.randrange(1, 40)) for i in range(count)]


def by_day(lines: Sequence[bytes]) -> list[bytes]:
    return sorted(lines, key=lambda line: line.split(b",")[0])


def files_of(place: Path) -> dict[str, Any]:
    manifest = json.loads((place / "out-manifest.json").read_text())
    assert manifest["schema"] == "ecosort.split/1"
    assert sorted(path.name for path in place.iterdir()) == sorted(
        ["in.csv", "out-manifest.json", *(file["file"] for file in manifest["files"])]
    )
    for file in manifest["files"]:
        assert (place / file["file"]).stat().st_size == file["bytes"]
    return {file["file"]: file["rows"] for file in manifest["files"]}


@pytest.mark.parametrize("memory", ["1MiB", "64MiB"])
@pytest.mark.parametrize("count", [1, 999, 1000, 1001, 40_000])
def test_files_of_so_many_rows(ecosort: Path, tmp_path: Path, memory: str, count: int) -> None:
    lines = rows(count, ["a", "b", "c"])
    (tmp_path / "in.csv").write_bytes(HEADER + b"".join(lines))
    words = ["csv", "--by", "day", "--memory", memory, "--split", "rows=1000", "in.csv", "-o", "out-{}.csv"]
    done = sort(ecosort, tmp_path, *words)
    assert done.returncode == 0, done.stderr
    expected = by_day(lines)
    files = files_of(tmp_path)
    assert list(files) == [f"out-{i + 1:05}.csv" for i in range(-(-count // 1000))]
    for i, (name, number) in enumerate(files.items()):
        part = expected[1000 * i : 1000 * (i + 1)]
        assert (tmp_path / name).read_bytes() == HEADER + b"".join(part)
        assert number == len(part)


@pytest.mark.parametrize("words", [["--record-lines=3"], ["--paragraphs"], ["--record-start", ">"]], ids=lambda words: words[0])
def test_rows_of_several_lines_are_cut_between_them(ecosort: Path, tmp_path: Path, words: list[str]) -> None:
    """Where the first of them ends in the next block, its lines were counted anew."""
    ends = "\n\n" if words == ["--paragraphs"] else "\n"
    records = [f">{i * 7919 % 3000:04}\n{'q' * (i % 97 + 1)}\n{'r' * (i % 3001 + 1)}{ends}" for i in range(3000)]
    (tmp_path / "in.csv").write_text("".join(records))
    done = sort(ecosort, tmp_path, "lines", *words, "--memory", "2MiB", "--split", "rows=100", "in.csv", "-o", "out-{}")
    assert done.returncode == 0, done.stderr
    for number, (name, rows_in) in enumerate(files_of(tmp_path).items()):
        assert rows_in == 100
        assert (tmp_path / name).read_text() == "".join(sorted(records)[100 * number : 100 * (number + 1)])


def test_one_file_for_each_value(ecosort: Path, tmp_path: Path) -> None:
    """Values that no name can have as they are have names of their own."""
    days = ["2024-05-01", "a/b", "..", ".", "", "%2F", "\u00e4", "x" * 300, "x" * 301, "empty", "(none)", "a b", "-"]
    lines = rows(3000, days)
    (tmp_path / "in.csv").write_bytes(HEADER + b"".join(lines))
    done = sort(ecosort, tmp_path, "csv", "-q", "--by", "day", "--split", "by=day", "in.csv", "-o", "out-{}.csv")
    assert done.returncode == 0, done.stderr
    files = files_of(tmp_path)
    assert len(files) == len(days)
    parts = [(tmp_path / name).read_bytes().removeprefix(HEADER) for name in files]
    assert b"".join(parts) == b"".join(
        [line for line in by_day(lines) if line[:1] != b","] + [line for line in lines if line[:1] == b","]
    )
    for name, part in zip(files, parts, strict=True):
        values = {line.split(b",")[0] for line in part.split(b'"\n')[:-1]}
        assert len(values) == 1
        value, stem = values.pop(), name.removeprefix("out-").removesuffix(".csv")
        if len(value) < 100 and value:
            assert urllib.parse.unquote_to_bytes(stem) == value or stem == "(none)"


def test_a_beginning_of_the_value_may_count(ecosort: Path, tmp_path: Path) -> None:
    times = [f"2024-05-{day:02}T{hour:02}:00:00" for day in range(1, 8) for hour in range(24)]
    random.Random(3).shuffle(times)
    (tmp_path / "in.csv").write_text("time,n\n" + "".join(f"{time},{i}\n" for i, time in enumerate(times)))
    done = sort(ecosort, tmp_path, "csv", "--by", "time:date", "--split", "by=time:10", "in.csv", "-o", "out-{}.csv")
    assert done.returncode == 0, done.stderr
    assert files_of(tmp_path) == {f"out-2024-05-{day:02}.csv": 24 for day in range(1, 8)}


def test_values_that_come_again_are_refused(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("t\n2024-01-01T01:00+02:00\n2024-01-01T00:00Z\n2023-12-31T23:30Z\n2024-01-01T09:00Z\n")
    done = sort(ecosort, tmp_path, "csv", "--by", "t:date", "--split", "by=t:10", "in.csv", "-o", "out-{}.csv")
    assert done.returncode == 2
    assert done.stderr == (
        "ecosort: rows for 'out-2024-01-01.csv' come again behind others: sort by what the rows are split by\n"
    )
    assert listing(tmp_path) == [str(tmp_path / "in.csv")]


@pytest.mark.parametrize("way", ["name", "link", "stream", "manifest"])
def test_no_input_becomes_a_file_of_the_split(ecosort: Path, tmp_path: Path, way: str) -> None:
    text = b"day,n\na,1\nb,2\n"
    name = "manifest.json" if way == "manifest" else "b.csv"
    (tmp_path / name).write_bytes(text)
    if way == "link":
        (tmp_path / "a.csv").symlink_to("b.csv")
    if way == "manifest":
        text = b'{"schema":"ecosort.split/1","files":[]}'
        (tmp_path / name).write_bytes(text)
    before = listing(tmp_path)
    words = ["csv", "--by", "1", "--no-header", "--split", "by=1"]
    if way == "manifest":
        words = ["csv", "--by", "1", "--no-header", "--quote", "none", "--split", "rows=9"]
    with (tmp_path / name).open("rb") as stream:
        done = subprocess.run(
            [ecosort, *words, "-" if way == "stream" else name, "-o", "{}.csv"],
            cwd=tmp_path, stdin=stream, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    place = "./a.csv" if way == "link" else f"./{name}"
    assert (done.returncode, done.stderr) == (
        2,
        f"ecosort: '{place}' is an input, and would become a file of the split; choose other names with -o\n",
    )
    assert (listing(tmp_path), (tmp_path / name).read_bytes()) == (before, text)


def test_files_of_at_most_so_many_bytes(ecosort: Path, tmp_path: Path) -> None:
    lines = rows(20_000, ["a", "b"])
    lines.append(b"a,0," + b"y" * 30_000 + b"\n")
    (tmp_path / "in.csv").write_bytes(HEADER + b"".join(lines))
    words = ["csv", "--by", "day", "--memory", "1MiB", "--split", "size=20KiB", "in.csv", "-o", "out-{}.csv"]
    done = sort(ecosort, tmp_path, *words)
    assert done.returncode == 0, done.stderr
    parts = [(tmp_path / name).read_bytes().removeprefix(HEADER) for name in files_of(tmp_path)]
    assert b"".join(parts) == b"".join(by_day(lines))
    for part, following in itertools.pairwise(parts):
        full = len(HEADER) + len(part)
        assert full <= 20 << 10 or part.count(b"\n") == 1
        assert following.startswith(b"a,0,y") or full + following.index(b'"\n') + 2 > 20 << 10


@pytest.mark.parametrize("count", [0, 1, 3, 10_000])
def test_so_many_files_of_one_size(ecosort: Path, tmp_path: Path, count: int) -> None:
    lines = rows(count, ["a", "b"])
    (tmp_path / "in.csv").write_bytes(HEADER + b"".join(lines))
    done = sort(ecosort, tmp_path, "csv", "--by", "day", "--split", "files=7", "in.csv", "-o", "out-{}.csv")
    assert done.returncode == 0, done.stderr
    parts = [(tmp_path / name).read_bytes().removeprefix(HEADER) for name in files_of(tmp_path)]
    assert len(parts) == 7
    assert b"".join(parts) == b"".join(by_day(lines))
    if count == 10_000:
        assert max(map(len, parts)) - min(map(len, parts)) < 200


def test_compressed_files_of_lines_and_of_json(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("# top\n" + "".join(f"{i % 977:03}\n" for i in range(5000)))
    words = ["--header-mark", "#", "--compress-output=auto", "--split", "files=3", "in.csv", "-o", "out-{}.gz"]
    done = sort(ecosort, tmp_path, "lines", *words)
    assert done.returncode == 0, done.stderr
    texts = [gzip.decompress((tmp_path / name).read_bytes()).decode() for name in files_of(tmp_path)]
    assert all(text.startswith("# top\n") for text in texts)
    assert "".join(text.removeprefix("# top\n") for text in texts) == "".join(sorted(f"{i % 977:03}\n" for i in range(5000)))

    place = tmp_path / "json"
    place.mkdir()
    (place / "in.csv").write_text('{"a":{"b":"y"}}\n{"a":{"b":"x"}}\n{"a":null}\n{"a":{"b":""}}\n{"a":{"b":"x"}}\n')
    done = sort(ecosort, place, "jsonl", "--by", "a.b", "--split", "by=a.b", "in.csv", "-o", "out-{}.json")
    assert done.returncode == 0, done.stderr
    assert files_of(place) == {"out-(empty).json": 1, "out-x.json": 2, "out-y.json": 1, "out-(none).json": 1}


def test_files_of_an_earlier_split_are_told(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("a\n3\n1\n2\n")
    words = ["csv", "--by", "a", "in.csv", "-o", "out-{}.csv", "--split"]
    assert sort(ecosort, tmp_path, *words, "rows=1").stderr == ""
    done = sort(ecosort, tmp_path, *words, "rows=2")
    assert done.returncode == 0
    assert done.stderr == "ecosort: 1 file of an earlier split stays beside the new ones, the first is 'out-00003.csv'\n"
    assert json.loads((tmp_path / "out-manifest.json").read_text())["rows"] == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--split", "rows=0", "-o", "{}"], "split 'rows=0': give a whole number, at least 1"),
        (["--split", "size=0", "-o", "{}"], "split 'size=0': give at least one byte"),
        (["--split", "row=1", "-o", "{}"], "split 'row=1': give rows=N, size=S, files=N or by=KEY"),
        (["--split", "rows=1", "-o", "out"], "split 'rows=1': put {} into the name of the output ('out') once"),
        (["--split", "rows=1", "-o", "-"], "split 'rows=1': the files need names"),
        (["--split", "rows=1", "-o", "no/{}"], "output directory"),
        (["--split", "by=b", "-o", "{}"], "split 'by=b': the rows are ordered by 'a' first"),
        (["--split", "files=2", "--unique", "-o", "{}"], "split 'files=2': how long the output is shows too late"),
        (["--split", "rows=1", "--verify", "reread", "-o", "{}"], "split 'rows=1': several files cannot be verified"),
    ],
)
def test_a_split_that_cannot_be_is_told(ecosort: Path, tmp_path: Path, words: list[str], message: str) -> None:
    (tmp_path / "in.csv").write_text("a,b\n1,2\n")
    done = sort(ecosort, tmp_path, "csv", "--by", "a", *words, "in.csv")
    assert (done.returncode, done.stderr[: len("ecosort: " + message)]) == (2, "ecosort: " + message)
    assert listing(tmp_path) == [str(tmp_path / "in.csv")]


KILLED = "mkdir,pwrite64,fsync,fdatasync,renameat,unlinkat,rmdir,ftruncate"
WORDS = ["csv", "-q", "--io", "pool", "--by", "a", "--split", "rows=2", "in.csv", "-o", "out-{}.csv"]


def kill_at(ecosort: Path, tmp_path: Path, call: int) -> bool:
    """Kills a sort at one of its calls, looks at what there is, and sorts again. False: it had no so many calls."""
    place = tmp_path / f"place{call}"
    place.mkdir()
    (place / "in.csv").write_text("a\n5\n3\n1\n2\n4\n")
    command = [*faults(tmp_path, f"{KILLED}:signal=KILL:when={call}"), str(ecosort), *WORDS]
    done = subprocess.run(command, cwd=place, capture_output=True, timeout=60, check=False)
    expected = {f"out-{i + 1:05}.csv": text for i, text in enumerate(["a\n1\n2\n", "a\n3\n4\n", "a\n5\n"])}
    there = {name: (place / name).read_text() for name in expected if (place / name).exists()}
    assert all(expected[name] == text for name, text in there.items())
    if (place / "out-manifest.json").exists():
        assert there == expected
    assert {path.name for path in place.iterdir()} <= {"in.csv", "out-{}.csv.split", "out-manifest.json", *expected}
    again = sort(ecosort, place, *WORDS)
    assert again.returncode == 0, again.stderr
    assert {name: (place / name).read_text() for name in files_of(place)} == expected
    return done.returncode != 0


def test_a_kill_leaves_whole_files_and_a_manifest_of_all_or_none(ecosort: Path, tmp_path: Path) -> None:
    """At each call that changes something; what is left is cleared by the next sort to the same names."""
    calls = itertools.count(1)
    killed = sum(1 for _ in itertools.takewhile(lambda call: kill_at(ecosort, tmp_path, call), calls))
    assert killed > 15


@pytest.mark.parametrize("call", ["pwrite64", "fsync,fdatasync", "renameat", "mkdir", "ftruncate"])
def test_calls_that_fail_leave_nothing(ecosort: Path, tmp_path: Path, call: str) -> None:
    place = tmp_path / "place"
    place.mkdir()
    (place / "in.csv").write_text("a\n5\n3\n1\n2\n4\n")
    command = [*faults(tmp_path, f"{call}:error=ENOSPC:when=1"), str(ecosort), *WORDS]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "No space left" in done.stderr) == (3, True), done.stderr
    assert listing(place) == [str(place / "in.csv")]


def test_a_directory_that_others_can_write_to_is_not_taken(ecosort: Path, tmp_path: Path) -> None:
    """They could put their own files in the place of those that wait there for their names."""
    (tmp_path / "in.csv").write_text("a\n5\n")
    stage = tmp_path / "out-{}.csv.split"
    stage.mkdir()
    stage.chmod(0o777)
    done = sort(ecosort, tmp_path, "csv", "--by", "a", "--split", "rows=2", "-o", "out-{}.csv", "in.csv")
    assert (done.returncode, "can be written by others; a split needs that name: move it away" in done.stderr) == (2, True)
    assert not (tmp_path / "out-00001.csv").exists()


def test_two_sorts_to_the_same_names_do_not_meet(ecosort: Path, tmp_path: Path) -> None:
    """The one that writes its files has a lock; here the test has it."""
    (tmp_path / "in.csv").write_text("a\n5\n")
    (tmp_path / "out-{}.csv.split").mkdir()
    with (tmp_path / "out-{}.csv.split" / "ecosort.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = sort(ecosort, tmp_path, "csv", "--by", "a", "--split", "rows=2", "-o", "out-{}.csv", "in.csv")
        assert (done.returncode, "another sort writes to these names" in done.stderr) == (2, True)
    sort(ecosort, tmp_path, "csv", "--by", "a", "--split", "rows=2", "-o", "out-{}.csv", "in.csv")
    assert (tmp_path / "out-00001.csv").read_text() == "a\n5\n"


@only_in_soak
@pytest.mark.parametrize("memory", [1, 16])
def test_the_memory_is_a_bound(ecosort: Path, tmp_path: Path, memory: int) -> None:
    lines = rows(2_000_000, [f"{day:03}" for day in range(300)])
    (tmp_path / "in.csv").write_bytes(HEADER + b"".join(lines))
    words = ["--memory", f"{memory}MiB", "--split", "by=day", "--stats", "/dev/stdout", "in.csv", "-o", "out-{}.csv.zst"]
    done = sort(ecosort, tmp_path, "csv", "--by", "day", *words)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["peak_rss_bytes"] <= (memory + 32) << 20
