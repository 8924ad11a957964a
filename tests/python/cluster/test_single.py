"""One file instead of parts: the same bytes as of one sort, whatever happens on the way, and nothing is left beside it."""

from __future__ import annotations

import fcntl
import os
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ecosort.cluster import PhaseState, abandon, check, resume, sort
from ecosort.cluster.journal import Journal
from ecosort.cluster.scheduler import Observe
from ecosort.cluster.single import SingleFile, SingleOutput
from ecosort.process import Sort
from sort_support import mounted

from ecosort import BadInput, NotEnoughSpace, VerificationFailed

from .support import KEYS, RECORDS, numbered, only_inputs_and_output_are_left, sorted_records

COUNT = 40_000
MIB = 1 << 20


@pytest.fixture
def data(here: Path) -> bytes:
    made = numbered(KEYS["zipf"](COUNT))
    Path("in").write_bytes(made)
    return made


def sort_records(nodes: list[Path], progress: Observe | None = None, **more: Any) -> tuple[int, int]:
    """Attempts and tasks."""
    terms: dict[str, Any] = {"nodes_temp": nodes, "parts": 4, "memory": "4MiB", "progress": progress, **RECORDS, **more}
    report = sort("in", "out", single=True, **terms)
    return report.attempts, report.tasks


@pytest.mark.parametrize("keys", KEYS)
def test_records_become_one_file_and_every_byte_is_written_twice(keys: str, here: Path, nodes: list[Path]) -> None:
    data = numbered(KEYS[keys](COUNT))
    Path("in").write_bytes(data)
    terms: dict[str, Any] = {"nodes_temp": nodes, "parts": 4, "memory": "4MiB", **RECORDS}
    report = sort("in", "out", single=True, **terms)
    assert Path("out").read_bytes() == sorted_records(data)
    assert (report.rows, report.parts, report.output_bytes) == (COUNT, 4, len(data))
    moved = sum(stage.bytes_read + stage.bytes_written for stage in report.stages if stage.name in ("partition", "reduce"))
    assert moved == pytest.approx(4 * len(data), rel=0.02)
    assert [stage.name for stage in report.stages] == ["sample", "split", "partition", "reduce"]
    only_inputs_and_output_are_left(here, *nodes)


def rows_of(kind: str) -> tuple[bytes, dict[str, Any], list[str]]:
    """An input, how a cluster sorts it, and how one process does."""
    generator = random.Random(5)
    numbers = [generator.randrange(3000) for _ in range(6000)]
    if kind == "lines":
        return b"\n".join(b"%d x%d" % (n, i) for i, n in enumerate(numbers)), {"format": "lines"}, ["lines"]
    if kind == "jsonl":
        rows = b"".join(b'{"a":%d,"i":%d}\n' % (n, i) for i, n in enumerate(numbers))
        return rows, {"format": "jsonl", "by": "a:integer"}, ["jsonl", "--by=a:integer"]
    end, top = {"csv": (b"\n", b"a,text\n"), "csv of Windows": (b"\r\n", b"\xef\xbb\xbfa,text\r\n")}[kind]
    rows = b"".join(b'%d,"line %d\nnext"' % (n, i) + end for i, n in enumerate(numbers))
    return top + rows.removesuffix(end), {"format": "csv", "by": "a:number"}, ["csv", "--by=a:number"]


def test_tables_whose_ranges_make_several_files_of_each_part(here: Path, nodes: list[Path], ecosort: Path) -> None:
    """Each of them has the header."""
    rows = [f'{(i * 7919) % 60_007},"text {i}\nmore",x' for i in range(120_000)]
    Path("in.csv").write_text("a,b,c\n" + "".join(f"{row}\n" for row in rows))
    for parts in (1, 3):
        sort("in.csv", f"out{parts}", format="csv", by="a:number", single=True, memory="8MiB", parts=parts, nodes_temp=nodes)
    subprocess.run([ecosort, "csv", "-q", "--by", "a:number", "in.csv", "-o", "whole"], check=True)
    for parts in (1, 3):
        assert Path(f"out{parts}").read_bytes() == Path("whole").read_bytes()


@pytest.mark.parametrize("kind", ["lines", "jsonl", "csv", "csv of Windows"])
def test_rows_become_the_file_that_one_process_makes(kind: str, here: Path, nodes: list[Path]) -> None:
    rows, terms, words = rows_of(kind)
    Path("in").write_bytes(rows)
    sort("in", "out", nodes_temp=nodes, parts=5, memory="4MiB", single=True, **terms)
    Sort([*words, "--output=wanted", "in"]).wait()
    assert Path("out").read_bytes() == Path("wanted").read_bytes()
    only_inputs_and_output_are_left(here, *nodes)


@pytest.mark.parametrize("kind", ["lines", "csv", "csv of Windows"])
def test_the_manifest_beside_the_file_is_what_a_check_takes(kind: str, ecosort: Path, nodes: list[Path]) -> None:
    rows, terms, _ = rows_of(kind)
    Path("in").write_bytes(rows)
    sort("in", "out", nodes_temp=nodes, parts=5, memory="4MiB", single=True, **terms)
    for named in ("out", "out.MANIFEST.json"):
        assert (check(named).rows, len(check(named).parts)) == (6000, 1)
    done = subprocess.run([ecosort, "check", "out.MANIFEST.json"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("6000 rows in 1 part, ")
    Path("renamed").write_bytes(Path("out").read_bytes()[:-1])  # not what its manifest says, whatever the other one holds
    Path("renamed.MANIFEST.json").write_bytes(Path("out.MANIFEST.json").read_bytes())
    with pytest.raises(VerificationFailed, match="renamed"):
        check("renamed")
    held = bytearray(Path("out").read_bytes())
    held[len(held) // 2] ^= 1
    Path("out").write_bytes(held)
    with pytest.raises(VerificationFailed, match="out"):
        check("out")


def test_a_job_that_was_killed_before_it_wrote_its_manifest_writes_it_when_it_is_resumed(
    data: bytes, here: Path, nodes: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*words: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("ecosort.cluster.single.write_manifest", die)
        with pytest.raises(KeyboardInterrupt):
            sort_records(nodes)
    assert Path("out").read_bytes() == sorted_records(data)
    assert not Path("out.MANIFEST.json").exists()
    assert resume("out").rows == COUNT
    assert check("out").rows == COUNT
    only_inputs_and_output_are_left(here, *nodes)


def test_no_rows_and_more_parts_than_rows(here: Path) -> None:
    Path("in").write_bytes(b"")
    sort("in", "none", memory="4MiB", single=True, **RECORDS)  # type: ignore[arg-type]
    assert Path("none").read_bytes() == b""
    Path("in.csv").write_bytes(b"a,b\n2,x\n1,y\n")
    sort("in.csv", "few", format="csv", by="a:number", memory="4MiB", parts=5, single=True)
    assert Path("few").read_bytes() == b"a,b\n1,y\n2,x\n"


def test_what_another_attempt_wrote_late_is_found_and_written_again(data: bytes, here: Path, nodes: list[Path]) -> None:
    def stop(state: PhaseState) -> None:
        if state.phase == "reduce" and state.done >= 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sort_records(nodes, stop)
    with Journal(Path("out.ecosort/journal")) as journal:
        done = next(event for event in journal.events if event["event"] == "done" and event["task"].startswith("reduce-"))
        journal.append({"event": "start", "task": done["task"], "attempt": done["attempt"] + 1, "node": "node1"})
    with Path("out.ecosort/output").open("r+b") as file:
        file.seek(len(data) * int(done["task"][7:]) // 4 + 50_000)
        file.write(b"what the other attempt read wrong")
    report = resume("out")
    assert [stage.name for stage in report.stages][-2:] == ["reduce", "reread"]
    assert report.attempts > report.tasks
    assert Path("out").read_bytes() == sorted_records(data)
    only_inputs_and_output_are_left(here, *nodes)


def test_a_slice_that_lacks_its_last_end_does_no_harm_behind_its_part(here: Path, nodes: list[Path]) -> None:
    rows, terms, words = rows_of("lines")
    Path("in").write_bytes(rows)
    flipped: list[Path] = []

    def flip(state: PhaseState) -> None:
        if state.phase == "partition" and state.done == state.tasks and not flipped:
            flipped.extend(sorted(path for path in nodes[0].rglob("slice.*") if path.stat().st_size > 1000))
            held = bytearray(flipped[0].read_bytes())
            held[-1] ^= 4  # its sort is a byte longer than its place
            flipped[0].write_bytes(held)

    sort("in", "out", nodes_temp=nodes, parts=5, memory="4MiB", single=True, progress=flip, **terms)
    assert flipped
    Sort([*words, "--output=wanted", "in"]).wait()
    assert Path("out").read_bytes() == Path("wanted").read_bytes()


def test_a_writer_that_no_one_waits_for_is_waited_for_before_the_commit(here: Path) -> None:
    file = SingleFile(here / "output", [300, 0, 200], 7)
    assert file.prepare()
    assert not file.prepare()
    assert (file.size, [file.place(part)["offset"] for part in range(3)]) == (507, [0, 307, 307])
    assert file.suspects([1, 1, 1]) == []
    assert file.suspects([1, 2, 1]) == [1, 2]
    worker = _locked(file)
    late = Sort(["sort", "--record-size=100", "--key=0:10", "-", "--output=-"], stdin=subprocess.PIPE, stdout=worker)
    os.close(worker)  # it was killed: only its program holds the lock any more
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ecosort.cluster.single._WAIT_S", 0.2)
        with pytest.raises(Exception, match="still writes"):
            file.close_to_writers()
    file.open_to_writers()
    late.stop()
    file.close_to_writers()
    file.commit(here / "out")
    assert (here / "out").stat().st_size == 507


def _locked(file: SingleFile) -> int:
    """Open, with the lock of a writer."""
    descriptor = os.open(file.path, os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    return descriptor


def test_a_file_that_exists_is_refused_before_and_after(data: bytes, here: Path, nodes: list[Path]) -> None:
    for name in ("out", "out.MANIFEST.json"):
        Path(name).write_text("mine")
        with pytest.raises(BadInput, match=f"'.*/{name}' exists; name a file that is not there"):
            sort_records(nodes)
        Path(name).unlink()

    def make(state: PhaseState) -> None:
        if state.phase == "reduce":
            Path("out").write_text("mine")

    with pytest.raises(BadInput, match="appeared while its rows were sorted"):
        sort_records(nodes, make)
    assert Path("out").read_text() == "mine"
    Path("out").unlink()
    assert resume("out").rows == COUNT
    assert Path("out").read_bytes() == sorted_records(data)
    only_inputs_and_output_are_left(here, *nodes)


@pytest.mark.parametrize("is_foreign", [False, True])
def test_a_job_that_is_given_up_is_never_complete(
    data: bytes, here: Path, nodes: list[Path], is_foreign: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash after its file was removed looked like one after the commit: `resume` called the file of others complete."""

    def make(state: PhaseState) -> None:
        if state.phase == "reduce":
            Path("out").write_text("mine")

    with pytest.raises(BadInput, match="appeared"):
        sort_records(nodes, make)
    if not is_foreign:
        Path("out").unlink()
    with monkeypatch.context() as patched:
        patched.setattr(SingleOutput, "clean_up", interrupt)
        with pytest.raises(KeyboardInterrupt):
            abandon("out")
    assert Path("out.ecosort/journal").exists()
    with pytest.raises(BadInput, match=r"the job of '.*/out' was given up, and what was left of it is removed now"):
        resume("out")
    assert Path("out").exists() == is_foreign
    assert not Path("out.MANIFEST.json").exists()
    only_inputs_and_output_are_left(here, *nodes)


def interrupt(output: SingleOutput) -> None:
    raise KeyboardInterrupt


def test_space_for_the_whole_file_is_taken_before_a_part_is_written(data: bytes, tmp_path: Path, require: Any) -> None:
    require("loop_mount")
    with mounted(tmp_path, "tmpfs", 12 * MIB) as drive:
        (drive.root / "filler").write_bytes(bytes(9 * MIB))
        terms: dict[str, Any] = {"nodes_temp": [tmp_path], "parts": 4, "memory": "4MiB", "single": True, **RECORDS}
        with pytest.raises(NotEnoughSpace, match=r"make room, then `ecosort cluster resume .*/out`$"):
            sort("in", drive.root / "out", **terms)
        (drive.root / "filler").unlink()
        assert resume(drive.root / "out").rows == COUNT
        assert (drive.root / "out").read_bytes() == sorted_records(data)
