"""Decides which files of a watched directory become jobs."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from ecosort_appliance.watch import is_wanted, look, may_share_names

from .support import Queue, wait_for

WHOLE = (
    *("a.csv", "A.CSV", "b.jsonl", "part", "tmp.csv", "a.tmp.csv", "a.part.csv", "a.tmp.fa", "part.1", "a~b"),
    *("a.part.1", "a.part-00003"),
)
PARTIAL = (
    *("a.csv.part", "a.csv.PART", "a.csv.partial", "Unconfirmed 7.crdownload", "a.csv.filepart", "a.tmp", "a.csv.aria2"),
    *("a.csv~", "~$a.csv", "~a.tmp", "a.csv._COPYING_", "a.csv.incomplete", "a.csv.uploading", "#a.csv#"),
    *("a.csv.tmp.4711", "a.csv.tmp-9f3c", "a.csv.inprogress", "a.csv_.gstmp", "a.csv.partial.2"),
)


def names_in(place: Path, *patterns: str) -> set[str]:
    return {Path(file.path).name for file in look(str(place), patterns)}


def test_what_is_not_finished_yet_is_left_out(tmp_path: Path) -> None:
    """Also where a pattern has the names of such files in it by chance, but not where it means them."""
    for name in (*WHOLE, *PARTIAL, ".hidden.csv"):
        (tmp_path / name).touch()
    assert names_in(tmp_path) == set(WHOLE)
    assert names_in(tmp_path, "*.csv*") == {"a.csv", "tmp.csv", "a.tmp.csv", "a.part.csv"}
    assert names_in(tmp_path, "*.csv", "b.*") == {"a.csv", "tmp.csv", "a.tmp.csv", "a.part.csv", "b.jsonl"}
    assert names_in(tmp_path, "*.csv.part") == {"a.csv.part"}
    assert names_in(tmp_path, "~$*", "*.tmp") == {"~$a.csv", "a.tmp", "~a.tmp"}
    assert names_in(tmp_path, "*.tsv") == set()


@pytest.mark.parametrize(
    ("first", "second", "may"),
    [
        ([], [], True),
        ([], ["*.csv"], True),
        (["*.csv"], ["*.jsonl"], False),
        (["*.csv", "*.tsv"], ["*.jsonl", "*.tsv"], True),
        (["*.csv"], ["data.csv"], True),
        (["a*"], ["b*.csv"], False),
        (["a*.csv"], ["a?c*"], True),
        (["*.[ct]sv"], ["*.csv"], True),
        (["*.csv"], ["*.csv.gz"], False),
    ],
)
def test_patterns_that_may_mean_one_file(first: list[str], second: list[str], may: bool) -> None:
    assert may_share_names(first, second) is may
    assert may_share_names(second, first) is may
    names = {"a.csv", "data.csv", "abc.csv", "b.csv", "x.tsv", "x.jsonl", "x.csv.gz"}
    assert may or not any(is_wanted(name, first) and is_wanted(name, second) for name in names)


def test_jobs_for_files_of_a_pattern(queue: Queue, records: Path) -> None:
    """Two standing jobs share a directory and an output directory where no file is of both."""
    for name in ("new", "done"):
        (queue.place / name).mkdir()
    for name in ("a.dat", "b.rec", "c.dat.part", "d.txt"):
        (queue.place / "new" / name).write_bytes(records.read_bytes())
    words = ("sort", "--record-size", "16", "--key", "0:4", "{}", "-o", "done/{name}")
    watch = ("--watch", "new", "--settle", "0.1")
    standing = queue.add(*words, options=(*watch, "--match", "*.dat", "--match", "e*.txt"))
    queue.add(*words, options=(*watch, "--match", "*.rec"))
    again = queue.run("add", *watch, "--match", "a.*", "--", *words)
    assert (again.returncode, "name another output" in again.stderr) == (2, True)
    assert queue.job(standing)["match"] == ["*.dat", "e*.txt"]
    assert "watches" in queue.ok("list")
    assert "for *.dat, e*.txt" in queue.ok("list")
    wait_for(lambda: queue.ok("run") == "" and {path.name for path in (queue.place / "done").iterdir()} == {"a.dat", "b.rec"})


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("--match *.csv", "--match goes with --watch"),
        ("--watch . --match a/*.csv", "names of files in the directory"),
        ("--watch . --match .a*", "hidden files are left out"),
        ("--watch . --match *.{csv,tsv}", "give --match once for each pattern"),
    ],
)
def test_a_pattern_that_no_file_has_is_refused(queue: Queue, options: str, why: str) -> None:
    done = queue.run("add", *options.split(), "--", "sort", "{}", "-o", "/out/{name}")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert why in done.stderr


def test_compressed_files_are_sorted_beside_others(queue: Queue) -> None:
    """A job of one cannot be resumed; that the other ones can, no user has typed."""
    for name in ("drop", "out"):
        (queue.place / name).mkdir()
    watch = ("--watch", "drop", "--settle", "0.1", "--match", "*.csv", "--match", "*.gz")
    number = queue.add("csv", "--by", "n", "{}", "-o", "out/{name}", options=watch)
    (queue.place / "drop" / "a.csv").write_text("n\n2\n1\n")
    (queue.place / "drop" / "b.csv.gz").write_bytes(gzip.compress(b"n\n2\n1\n"))
    wait_for(lambda: queue.ok("run") == "" and len(queue.jobs()) == 3)
    made = {job["output"].rpartition("/")[2]: job for job in queue.jobs().values() if job["parent"] == number}
    assert {name: (job["state"], job["resumable"]) for name, job in made.items()} == {
        "a.csv": ("done", True),
        "b.csv.gz": ("done", False),
    }
    assert gzip.decompress((queue.place / "out" / "b.csv.gz").read_bytes()) == b"n\n1\n2\n"


def test_rows_that_are_set_aside_do_not_come_back(queue: Queue) -> None:
    for name in ("drop", "out"):
        (queue.place / name).mkdir()
    words = ("csv", "--by", "n", "--bad-rows", "drop/bad-{name}", "{}", "-o", "out/{name}")
    done = queue.run("add", "--watch", "drop", "--", *words)
    assert (done.returncode, "must be outside the watched directory" in done.stderr) == (2, True)
    done = queue.run("add", "--watch", "drop", "--", *words[:4], str(queue.directory / "bad-{name}"), *words[5:])
    assert (done.returncode, "where the queue keeps its own files" in done.stderr) == (2, True)
