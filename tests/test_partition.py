"""`ecosort partition`: every row is in its slice, in its order, whatever the keys, the ranges and the splitters are."""

import json
import random
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from capabilities import SOAK
from pairs import pairs, turns
from partition_support import check_report, parts_of, read_rows, records_of, slices, sorted_files, write_splitters
from sort_support import (
    CHANGES,
    KIB,
    MIB,
    OVERHEAD_BYTES,
    Run,
    changes_of,
    expected,
    faults,
    key_function,
    listing,
    make_records,
    read_json,
    refused,
    stops,
)

Splitters = list[tuple[bytes, int, int]]


def draw_splitters(data: bytes, size: int, keys: list[str], parts: int, seed: int = 1) -> Splitters:
    """At rows of the data, and at others, in order."""
    generator, key = random.Random(seed), key_function(size, keys)
    rows = [(row, generator.randrange(3), offset) for row, offset in generator.choices(records_of(data, size), k=parts - 1)]
    return sorted(rows, key=lambda row: (key(row[0]), row[1], row[2]))


def partition(run: Run, directory: Path, splitters: Splitters, *words: object) -> tuple[dict[str, Any], list[bytes]]:
    """The report and the contents of the slices of directory/input."""
    out = directory / "out"
    out.mkdir(exist_ok=True)
    cut = write_splitters(directory / "splitters", splitters)
    done = run(
        "partition", "records", *words, directory / "input", "--splitters", cut, "--report", directory / "report", "-o", out
    )
    assert (done.returncode, done.stderr) == (0, ""), done
    return read_json(directory / "report"), slices(out)


FEW = b"ab\x00\xff" * 64  # makes of any bytes a few different ones: many equal keys, which the places of the records cut


FORMATS = [(100, ["0:10"]), (16, ["8:8:desc", "0:2"]), (1, ["0:1"]), (101, ["90:11"]), (4096, ["0:3"])]


SHAPES = [(0, 3), (1, 1), (1, 4), (999, 2), (20000, 1), (20000, 7), (3000, 1000)]


@pytest.mark.parametrize(
    ("count", "parts", "size", "keys", "sort"),
    [(*shape, *format_, sort) for shape, format_, sort in turns(SHAPES, FORMATS, [False, True], rounds=2)],
)
def test_every_record_is_in_its_slice(
    run: Run, tmp_path: Path, size: int, keys: list[str], count: int, parts: int, sort: bool
) -> None:
    generator = random.Random(count + parts)
    data = generator.randbytes((count // (20 if size > 1000 else 1)) * size).translate(FEW)
    (tmp_path / "input").write_bytes(data)
    splitters = draw_splitters(data or bytes(size), size, keys, parts)
    words = ["--record-size", size, *(word for key in keys for word in ("--key", key)), "--source", 1]
    memory = max(2 * MIB, parts * (70 * KIB + 3 * size)) + (len(data) + len(data) // size * 40 if sort else 0) + 4 * MIB
    report, got = partition(run, tmp_path, splitters, *words, "--memory", f"{memory}B", *(["--sort"] if sort else []))
    key = key_function(size, keys)
    wanted = parts_of(records_of(data, size), 1, splitters, key)
    ordered = [sorted(part, key=key) if sort else part for part in wanted]
    assert got == [b"".join(part) for part in ordered]
    check_report(report, wanted, key)
    assert report["peak_counted_memory_bytes"] <= memory
    assert report["peak_rss_bytes"] <= memory + OVERHEAD_BYTES


@pytest.mark.parametrize(("size", "keys"), [(100, ["0:10"]), (16, ["8:8:desc", "0:2"]), (101, ["90:11"])], ids=str)
@pytest.mark.parametrize("kind", ["random", "in order"])
def test_what_does_not_fit_the_memory_makes_several_sorted_files(
    run: Run, tmp_path: Path, size: int, keys: list[str], kind: str
) -> None:
    key, count, parts = key_function(size, keys), 110_000 if size == 16 else 22_000, 5
    data = random.Random(size).randbytes(count * size).translate(FEW)
    if kind == "in order":  # most files of most parts have no records, and are none
        data = b"".join(sorted((row for row, _ in records_of(data, size)), key=key))
    (tmp_path / "input").write_bytes(data)
    splitters = draw_splitters(data, size, keys, parts)
    words = ["--record-size", size, *(word for one in keys for word in ("--key", one)), "--source", 1, "--memory", "3MiB"]
    report, got = partition(run, tmp_path, splitters, *words, "--sort")
    wanted = parts_of(records_of(data, size), 1, splitters, key)
    check_report(report, wanted, key)
    files = sorted_files(report)
    assert max(len(own) for own in files) > 2
    assert len(got) == sum(len(own) for own in files)
    for own, part in zip(files, wanted, strict=True):
        assert all(rows == sorted(rows, key=key) for rows in ([row for row, _ in records_of(one, size)] for one in own))
        assert all(own[1:])
        # Merged in their order, they are the part, equal keys in the order of the input.
        merged = sorted((row for one in own for row, _ in records_of(one, size)), key=key)
        assert merged == sorted(part, key=key)
    assert report["peak_counted_memory_bytes"] <= 3 * MIB
    assert report["peak_rss_bytes"] <= 3 * MIB + OVERHEAD_BYTES


# Runs of few parts are cut by one thread, those of many parts by all.
KINDS = ["uniform", "skewed", "sorted", "reverse", "all equal"]


@pytest.mark.parametrize(
    ("io", "kind", "parts", "memory"),
    [(io, kind, *shape) for io, kind, shape in pairs(["uring", "pool"], KINDS, [(20, "5MiB"), (200, "20MiB")])],
)
def test_slices_of_several_runs_are_cut_at_a_sample(
    run: Run, ecosort: Path, tmp_path: Path, kind: str, io: str, parts: int, memory: str
) -> None:
    data = make_records(ecosort, "ascii" if kind == "uniform" else kind, 40_000)
    (tmp_path / "input").write_bytes(data)
    words = ["records", "--key", "0:10", "--record-size", 100]
    assert run("sample", *words, tmp_path / "input", "--count", 4000, "-o", tmp_path / "sample").returncode == 0
    done = run("sample", *words, "--merge", tmp_path / "sample", "--parts", parts, "-o", tmp_path / "cut")
    assert (done.returncode, done.stderr) == (0, "")
    splitters = read_rows(tmp_path / "cut")
    report, got = partition(run, tmp_path, splitters, "--key", "0:10", "--memory", memory, "--io", io)
    key = key_function(100)
    wanted = parts_of(records_of(data, 100), 0, splitters, key)
    assert got == [b"".join(part) for part in wanted]
    check_report(report, wanted, key)
    assert report["requests"] > 20
    # Parts are of about one size, whatever the keys are, equal ones too.
    assert max(len(part) for part in wanted) <= (1.25 if parts == 20 else 1.8) * 40_000 / parts
    # Sorting the slices one after the other sorts the input.
    assert b"".join(expected(part) for part in got) == expected(data)


def test_a_trace_has_every_request(run: Run, tmp_path: Path) -> None:
    data = small_ground(tmp_path)
    words = ["--splitters", tmp_path / "cut", "--report", tmp_path / "r", "-o", tmp_path / "out", "--trace", tmp_path / "trace"]
    assert run("partition", "records", "--key", "0:10", tmp_path / "input", *words).returncode == 0
    first, *lines = (tmp_path / "trace").read_text().splitlines()
    assert first == "ecosort.trace/1"
    requests = [line.split() for line in lines]
    assert len(requests) == read_json(tmp_path / "r")["requests"]
    assert [request[1] for request in requests if request[0] == "read"] == ["input"]
    written = {request[2] for request in requests if request[0] == "write"}
    assert len(written) == sum(map(bool, slices(tmp_path / "out"))) > 1
    assert len(data) == 1000
    refused(run("partition", "records", tmp_path / "input", *words, "--overwrite", "--trace", tmp_path / "input"), 2, "--trace")


def test_ranges_tile_a_file_exactly(run: Run, tmp_path: Path) -> None:
    """All cuts of a small file into two ranges, and some into many: each record once, with its place in the file."""
    size, data = 7, bytes(random.Random(5).choices(b"ab", k=7 * 12))
    (tmp_path / "input").write_bytes(data)
    splitters = draw_splitters(data, size, ["0:2"], 4)
    words = ["--record-size", size, "--key", "0:2", "--memory", "4MiB", "--overwrite"]
    whole, all_slices = partition(run, tmp_path, splitters, *words)
    for cut in range(0, len(data) + 1, size):
        first, left = partition(run, tmp_path, splitters, *words, "--to", cut)
        second, right = partition(run, tmp_path, splitters, *words, "--from", cut)
        assert [a + b for a, b in zip(left, right, strict=True)] == all_slices
        assert (first["from"], first["to"], second["from"], second["to"]) == (0, cut, cut, len(data))
        assert first["rows"] + second["rows"] == whole["rows"]


@pytest.mark.parametrize("start", [0, 100, 4096 * 25, 12_300])
def test_a_range_in_the_middle_of_a_large_file(run: Run, ecosort: Path, tmp_path: Path, start: int) -> None:
    data, end = make_records(ecosort, "binary", 30_000), 2_345_600
    (tmp_path / "input").write_bytes(data)
    splitters = draw_splitters(data, 100, ["0:10"], 5)
    report, got = partition(
        run, tmp_path, splitters, "--key", "0:10", "--memory", "4MiB", "--from", start, "--to", end, "--source", 2
    )
    key = key_function(100)
    wanted = parts_of(records_of(data[start:end], 100, start), 2, splitters, key)
    assert got == [b"".join(part) for part in wanted]
    check_report(report, wanted, key)


REFUSED = {
    "no splitters": (["--report", "r", "-o", "out", "input"], "--splitters"),
    "no report": (["--splitters", "cut", "-o", "out", "input"], "--report"),
    "no output": (["--splitters", "cut", "--report", "r", "input"], "no output"),
    "no input": (["--splitters", "cut", "--report", "r", "-o", "out"], "no input"),
    "two inputs": (["--splitters", "cut", "--report", "r", "-o", "out", "input", "input"], "name one file"),
    "a stream": (["--splitters", "cut", "--report", "r", "-o", "out", "-"], "name one file"),
    "no directory": (["--splitters", "cut", "--report", "r", "-o", "nowhere", "input"], "nowhere"),
    "amid a record": (
        ["--splitters", "cut", "--report", "r", "-o", "out", "--from", "50", "input"],
        "no record of 100 bytes begins",
    ),
    "behind the end": (["--splitters", "cut", "--report", "r", "-o", "out", "--to", "1100", "input"], "behind the end"),
    "from behind to": (
        ["--splitters", "cut", "--report", "r", "-o", "out", "--from", "500", "--to", "100", "input"],
        "begins at byte 500, behind its end, 100",
    ),
    "an option of sort": (["--splitters", "cut", "--report", "r", "-o", "out", "--unique", "input"], "--unique"),
    "another option": (["--splitters", "cut", "--report", "r", "-o", "out", "--split", "input"], "--split"),
    "a bad prefix": (["--splitters", "cut", "--report", "r", "-o", "out", "--prefix", "a/b", "input"], "a/b"),
    "little memory": (["--splitters", "cut", "--report", "r", "-o", "out", "--memory", "100KiB", "input"], "; try --memory "),
    "the report is the input": (["--splitters", "cut", "--report", "input", "-o", "out", "input"], "--report"),
    "missing splitters": (["--splitters", "none", "--report", "r", "-o", "out", "input"], "none"),
}


def small_ground(directory: Path) -> bytes:
    data = bytes(random.Random(3).choices(b"abc", k=1000))
    (directory / "input").write_bytes(data)
    (directory / "out").mkdir()
    write_splitters(directory / "cut", draw_splitters(data, 100, ["0:10"], 3))
    return data


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_is_refused_in_one_line(ecosort: Path, tmp_path: Path, kind: str) -> None:
    small_ground(tmp_path)
    before = listing(tmp_path)
    words, message = REFUSED[kind]
    done = subprocess.run(
        [ecosort, "partition", "records", "--key", "0:10", *words], capture_output=True, text=True, cwd=tmp_path, input=""
    )
    refused(done, 2, message)
    assert listing(tmp_path) == before


@pytest.mark.parametrize("words", [[], ["record"], ["--sort"], ["-o", "out"]], ids=str)
def test_the_format_is_said_first(run: Run, words: list[str]) -> None:
    refused(run("partition", *words), 2, "say first what the rows are")


HOSTILE = {
    "no JSON": "row",
    "no object": "[1]",
    "no row": '{"source":0,"offset":0}',
    "no base64": '{"row":"a","source":0,"offset":0}',
    "base64 of another alphabet": '{"row":"____","source":0,"offset":0}',
    "another size": '{"row":"YWJj","source":0,"offset":0}',
    "no offset": '{"row":"YWJj","source":0}',
    "a negative offset": '{"row":"YWJj","source":0,"offset":-1}',
    "a row of CSV": '{"header":"YQ=="}',
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_splitters_that_are_none_are_told_in_one_line(run: Run, tmp_path: Path, kind: str) -> None:
    small_ground(tmp_path)
    (tmp_path / "cut").write_text(HOSTILE[kind] + "\n")
    words = ["--splitters", tmp_path / "cut", "--report", tmp_path / "r", "-o", tmp_path / "out"]
    refused(run("partition", "records", "--key", "0:10", tmp_path / "input", *words), 2, "cut")
    assert slices(tmp_path / "out") == []


def test_splitters_that_are_not_in_order_are_refused(run: Run, tmp_path: Path) -> None:
    data = small_ground(tmp_path)
    good = draw_splitters(data, 100, ["0:10"], 6)
    words = ["--splitters", tmp_path / "cut", "--report", tmp_path / "r", "-o", tmp_path / "out"]
    for bad in (good[::-1], [good[1], good[0], *good[2:]]):
        write_splitters(tmp_path / "cut", bad)
        refused(run("partition", "records", "--key", "0:10", tmp_path / "input", *words), 2, "row 2 comes before")
    write_splitters(tmp_path / "cut", [(good[0][0], 1, 5), (good[0][0], 1, 4)])
    refused(run("partition", "records", "--key", "0:10", tmp_path / "input", *words), 2, "row 2 comes before")


def test_files_that_are_there_are_replaced_only_on_demand(run: Run, tmp_path: Path) -> None:
    small_ground(tmp_path)
    (tmp_path / "out/slice.00001").write_text("mine")
    words = ["--splitters", tmp_path / "cut", "--report", tmp_path / "r", "-o", tmp_path / "out"]
    refused(run("partition", "records", "--key", "0:10", tmp_path / "input", *words), 2, "slice.00001", "is there already")
    assert slices(tmp_path / "out") == [b"mine"]
    assert run("partition", "records", "--key", "0:10", tmp_path / "input", *words, "--overwrite").returncode == 0
    assert len(slices(tmp_path / "out")) == 3
    assert b"mine" not in slices(tmp_path / "out")


def test_further_sorted_files_are_not_replaced_either(run: Run, tmp_path: Path) -> None:
    small_ground(tmp_path)
    (tmp_path / "out/slice.00001.00002").write_text("mine")
    words = ["--splitters", tmp_path / "cut", "--report", tmp_path / "r", "-o", tmp_path / "out"]
    command = ["partition", "records", "--key", "0:10", tmp_path / "input"]
    refused(run(*command, *words, "--sort"), 2, "slice.00001.00002", "is there already")
    assert run(*command, *words).returncode == 0  # has one file for each part


def test_what_it_reads_and_writes_is_not_replaced_by_slices_or_the_report(run: Run, tmp_path: Path) -> None:
    data = random.Random(1).randbytes(100 * 20_000)
    out = tmp_path / "out"
    out.mkdir()
    for path in (tmp_path / "input", out / "slice.00000", out / "b.00001"):
        path.write_bytes(data)
    splitters = write_splitters(tmp_path / "splitters", draw_splitters(data, 100, ["0:10"], 3))
    linked = out / "c.00002"
    linked.symlink_to(splitters)

    def says(told: str, *words: object, given: Path = tmp_path / "input", report: object = tmp_path / "report") -> None:
        before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        command = [
            "partition",
            "records",
            "--key",
            "0:10",
            given,
            "--splitters",
            splitters,
            "--report",
            report,
            "-o",
            out,
            *words,
        ]
        refused(run(*command), 2, told)
        assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before

    says("is the input and would be replaced", "--overwrite", given=out / "slice.00000")
    says("is the input and would be replaced", "--overwrite", "--prefix", "b", given=out / "b.00001")
    says("is the file of the splitters", "--overwrite", "--prefix", "c")
    says("has the name of a slice", "--prefix", "d", report=out / "d.00001")
    says("has the name of a slice", "--prefix", "d", "--sort", report=out / "d.00001.00002")
    says("has the name of a slice", "--prefix", "d", "--events", out / "d.00001")
    (out / "d.00001.ecosort").mkdir()
    (out / "d.00001.ecosort/journal").touch()
    says("d.00001.ecosort' holds a job that was interrupted", "--prefix", "d")
    (tmp_path / "link").symlink_to(out / "d.00001")  # which is not there yet
    says("has the name of a slice", "--prefix", "d", report=tmp_path / "link")
    says("--splitters and --report are both", "--prefix", "d", report=splitters)
    for report in ("-", "/dev/stdout", out):
        says("is no file; name one", "--prefix", "d", report=report)


def test_overwrite_leaves_no_sorted_file_of_before(run: Run, tmp_path: Path) -> None:
    """A merge of all files of a part has no row twice."""
    data = random.Random(1).randbytes(100 * 60_000)
    (tmp_path / "input").write_bytes(data)
    splitters = draw_splitters(data, 100, ["0:10"], 3)
    before, _ = partition(run, tmp_path, splitters, "--key", "0:10", "--sort", "--memory", "4MiB")
    assert sum(len(part) for part in sorted_files(before)) > 3
    kept = tmp_path / "out" / "slice.00000.json"
    kept.touch()
    for words in (["--sort"], []):
        report, _ = partition(run, tmp_path, splitters, "--key", "0:10", *words, "--overwrite")
        assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(
            ["slice.00000", kept.name, "slice.00001", "slice.00002"]
        )
        assert report["rows"] == 60_000


def test_sorted_files_that_may_not_be_open_are_refused(ecosort: Path, tmp_path: Path) -> None:
    data = random.Random(1).randbytes(4_000_000).translate(b"abcabcab" * 32)
    (tmp_path / "input").write_bytes(data)
    (tmp_path / "out").mkdir()
    write_splitters(tmp_path / "cut", draw_splitters(data, 100, ["0:10"], 20))
    words = ["--splitters=cut", "--report=r", "-o", "out", "--sort", "--memory=5MiB", "input"]
    limited = ["sh", "-c", 'ulimit -n 80; exec "$0" "$@"', ecosort, "partition"]
    for form in (["records", "--key=0:10"], ["lines"]):
        if form == ["lines"]:
            rows = [data[at : at + 99] + b"\n" for at in range(0, len(data), 100)]
            (tmp_path / "input").write_bytes(b"".join(rows))
            write_splitters(tmp_path / "cut", sorted((row[:-1], 0, 0) for row in rows[:19]))
        done = subprocess.run([*limited, *form, *words], capture_output=True, text=True, cwd=tmp_path, check=False)
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1
        assert "open files, 80 are allowed: raise that with ulimit -n" in done.stderr
        assert "more memory or a shorter range makes fewer" in done.stderr
        assert not list((tmp_path / "out").iterdir())


def test_the_message_names_memory_that_suffices(run: Run, ecosort: Path, tmp_path: Path) -> None:
    data = make_records(ecosort, "ascii", 5000)
    (tmp_path / "input").write_bytes(data)
    (tmp_path / "out").mkdir()
    write_splitters(tmp_path / "cut", draw_splitters(data, 100, ["0:10"], 300))
    for sort in ([], ["--sort"]):
        words: list[object] = [
            "--splitters",
            tmp_path / "cut",
            "--report",
            tmp_path / "r",
            "-o",
            tmp_path / "out",
            "--overwrite",
            *sort,
        ]
        line = refused(run("partition", "records", tmp_path / "input", *words, "--memory", "2MiB"), 2, "300 parts", "64 KiB")
        enough = line.rpartition("--memory ")[2].strip()
        done = run("partition", "records", tmp_path / "input", *words, "--memory", enough)
        assert (done.returncode, done.stderr) == (0, "")


def test_a_full_disk_leaves_no_slice(run: Run, ecosort: Path, tmp_path: Path) -> None:
    data = make_records(ecosort, "ascii", 30_000)
    (tmp_path / "input").write_bytes(data)
    (tmp_path / "out").mkdir()
    write_splitters(tmp_path / "cut", draw_splitters(data, 100, ["0:10"], 10))
    words: list[str | Path] = [
        "--splitters",
        tmp_path / "cut",
        "--report",
        tmp_path / "r",
        "-o",
        tmp_path / "out",
        "--memory",
        "4MiB",
        "-q",
    ]
    for when in (1, 2):
        full = faults(tmp_path, f"pwrite64:error=ENOSPC:when={when}")
        command = [*full, ecosort, "partition", "records", tmp_path / "input", *words, "--io", "pool"]
        done = subprocess.run(command, capture_output=True, text=True)
        refused(done, 3, "No space left")
        assert listing(tmp_path / "out") == []
        assert not (tmp_path / "r").exists()


def test_a_kill_leaves_no_half_slice_and_no_report(ecosort: Path, tmp_path: Path) -> None:
    data = make_records(ecosort, "ascii", 50_000)
    (tmp_path / "input").write_bytes(data)
    splitters = draw_splitters(data, 100, ["0:10"], 40)
    write_splitters(tmp_path / "cut", splitters)
    whole = [b"".join(part) for part in parts_of(records_of(data, 100), 0, splitters, key_function(100))]
    changes = killed = 0
    for attempt in range(-1, 60 if SOAK else 12):  # the first one is not killed
        out = tmp_path / f"out{attempt}"
        out.mkdir()
        report = tmp_path / f"report{attempt}"
        words = ["--splitters", tmp_path / "cut", "--report", report, "-o", out, "--memory", "5MiB", "-q"]
        command = [ecosort, "partition", "records", tmp_path / "input", *map(str, words)]
        if attempt < 0:
            changes = changes_of(tmp_path, *command)
            assert slices(out) == whole
            continue
        kill = faults(tmp_path, f"{CHANGES}:signal=KILL:when={random.Random(attempt).randint(1, changes)}")
        killed += subprocess.run([*kill, *command], check=False).returncode == -signal.SIGKILL
        for path in out.glob("slice.*"):
            assert path.read_bytes() == whole[int(path.suffix[1:])]
        if report.exists():
            assert len(json.loads(report.read_text())["slices"]) == 40
            assert slices(out) == whole
    assert killed > 9


def test_an_input_that_changes_is_noticed(ecosort: Path, tmp_path: Path) -> None:
    data = make_records(ecosort, "ascii", 1000)
    (tmp_path / "input").write_bytes(data)
    (tmp_path / "out").mkdir()
    write_splitters(tmp_path / "cut", draw_splitters(data, 100, ["0:10"], 3))
    words: list[str | Path] = [
        "--splitters",
        tmp_path / "cut",
        "--report",
        tmp_path / "r",
        "-o",
        tmp_path / "out",
        "-q",
        "--io",
        "pool",
    ]
    command = [*faults(tmp_path, "pwrite64:signal=STOP:when=1"), ecosort, "partition", "records", tmp_path / "input", *words]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert stops(process), process.communicate()
    (tmp_path / "input").write_bytes(data[:-100] + bytes(100))
    process.send_signal(signal.SIGCONT)
    assert "changed while it was read" in process.communicate()[1]
    assert process.returncode == 3
    assert listing(tmp_path / "out") == []
