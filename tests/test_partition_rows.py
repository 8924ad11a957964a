"""`sample` and `partition` of lines, CSV and JSON lines: a range has the rows that begin in it, quoted newlines or not."""

import base64
import csv
import io
import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest
from pairs import pairs
from partition_support import Key, check_report, lines_of, parts_of, read_rows, slices, sorted_files, write_splitters
from sort_support import Run, read_json, refused

Splitters = list[tuple[bytes, int, int]]


def partition(run: Run, directory: Path, words: list[object], *more: object) -> tuple[dict[str, Any], list[bytes]]:
    out = directory / "out"
    out.mkdir(exist_ok=True)
    files = ["--splitters", directory / "splitters", "--report", directory / "report", "-o", out, "--overwrite"]
    done = run("partition", *words, *more, directory / "input", *files)
    assert (done.returncode, done.stderr) == (0, ""), done
    return read_json(directory / "report"), slices(out)


def number_of_second(row: bytes) -> float:
    """Reads the number as -t, -k2,2n does: what is no number is 0."""
    fields = row.split(b",")
    digits = fields[1].strip() if len(fields) > 1 else b""
    number = b""
    for i, byte in enumerate(digits):
        if not (chr(byte).isdigit() or (byte == ord("-") and i == 0)):
            break
        number += digits[i : i + 1]
    return int(number) if number not in (b"", b"-") else 0


LINE_ORDERS: dict[str, tuple[list[str], Key]] = {
    "whole lines": ([], lambda row: row),
    "numbers": (["-t,", "-k2,2n", "-s"], number_of_second),
    "reversed": (["-r"], lambda row: bytes(255 - byte for byte in row) + b"\xff\xff"),
}


def some_lines(count: int, seed: int, most_bytes: int = 30) -> bytes:
    generator = random.Random(seed)
    few = b"ab,12 " * 42 + b"ab,1"
    return b"".join(generator.randbytes(generator.randrange(0, most_bytes)).translate(few) + b"\n" for _ in range(count))


@pytest.mark.parametrize(
    ("count", "parts", "order", "sort"),
    [
        (*shape, order, sort)
        for shape, order, sort in pairs([(0, 3), (1, 2), (5000, 1), (20_000, 9), (3000, 300)], list(LINE_ORDERS), [False, True])
    ],
)
def test_every_line_is_in_its_slice(run: Run, tmp_path: Path, order: str, count: int, parts: int, sort: bool) -> None:
    words, key = LINE_ORDERS[order]
    data = some_lines(count, parts)
    (tmp_path / "input").write_bytes(data)
    generator = random.Random(parts)
    rows = lines_of(data) or [(b"a", 3)]
    splitters = [(row, generator.randrange(3), offset) for row, offset in generator.choices(rows, k=parts - 1)]
    splitters.sort(key=lambda row: (key(row[0]), row[1], row[2]))
    write_splitters(tmp_path / "splitters", splitters)
    more = ["--source", 1, "--memory", "40MiB", *(["--sort"] if sort else [])]
    report, got = partition(run, tmp_path, ["lines", *words], *more)
    wanted = parts_of(lines_of(data), 1, splitters, key)
    assert got == [b"".join(row + b"\n" for row in (sorted(part, key=key) if sort else part)) for part in wanted]
    check_report(report, wanted, key)
    assert report["bytes"] == len(data)


@pytest.mark.parametrize("order", LINE_ORDERS)
def test_lines_that_do_not_fit_the_memory_make_several_sorted_files(run: Run, tmp_path: Path, order: str) -> None:
    words, key = LINE_ORDERS[order]
    data, parts = some_lines(70_000, 3, most_bytes=150), 4
    (tmp_path / "input").write_bytes(data)
    splitters = [(row, 1, offset) for row, offset in random.Random(3).choices(lines_of(data), k=parts - 1)]
    splitters.sort(key=lambda row: (key(row[0]), row[1], row[2]))
    write_splitters(tmp_path / "splitters", splitters)
    report, got = partition(run, tmp_path, ["lines", *words], "--source", 1, "--memory", "8MiB", "--sort")
    wanted = parts_of(lines_of(data), 1, splitters, key)
    check_report(report, wanted, key)
    files = sorted_files(report)
    assert min(len(own) for own in files) > 2
    assert len(got) == sum(len(own) for own in files)
    for own, part in zip(files, wanted, strict=True):
        rows = [one.split(b"\n")[:-1] for one in own]
        assert all(one == sorted(one, key=key) for one in rows)
        assert sorted(itertools.chain(*rows), key=key) == sorted(part, key=key)
    assert report["peak_counted_memory_bytes"] <= 8 << 20


def test_tables_that_do_not_fit_the_memory_make_sorted_files_with_a_header_each(run: Run, tmp_path: Path) -> None:
    header, rows = write_csv(tmp_path / "input", 150_000, 2)
    splitters = sorted(((row, 0, offset) for row, offset in rows[:3]), key=lambda row: (csv_key(row[0]), row[2]))
    write_splitters(tmp_path / "splitters", splitters, header[:-1])
    report, _ = partition(run, tmp_path, list(BY), "--memory", "6MiB", "--sort")
    wanted = parts_of(rows, 0, splitters, csv_key)
    check_report(report, wanted, csv_key)
    assert max(len(own) for own in sorted_files(report)) > 2
    for entry, part in zip(report["slices"], wanted, strict=True):
        merged = run("csv", *BY[1:], "--merge", *(file["file"] for file in entry["files"]), "-o", tmp_path / "part")
        assert (merged.returncode, merged.stderr) == (0, "")
        assert (tmp_path / "part").read_bytes() == header + b"".join(row + b"\n" for row in sorted(part, key=csv_key))


@pytest.mark.parametrize("ending", [b"", b"zz"])
def test_ranges_of_lines_tile_a_file_exactly(run: Run, tmp_path: Path, ending: bytes) -> None:
    data = b"a\nbb\n\nccc,9\n\nb\n" + ending
    (tmp_path / "input").write_bytes(data)
    write_splitters(tmp_path / "splitters", [(b"b", 0, 100), (b"bb", 0, 2)])
    words: list[object] = ["lines", "--memory", "8MiB"]
    _, whole = partition(run, tmp_path, words)
    assert b"".join(whole).count(b"\n") == data.count(b"\n") + (ending != b"")
    for cut in range(len(data) + 1):
        first, left = partition(run, tmp_path, words, "--to", cut)
        second, right = partition(run, tmp_path, words, "--from", cut)
        assert [a + b for a, b in zip(left, right, strict=True)] == whole
        assert first["to"] == second["from"]


def write_csv(path: Path, count: int, seed: int) -> tuple[bytes, list[tuple[bytes, int]]]:
    """Writes newlines, quotes and delimiters in values. Returns the bytes, and the rows as they are there with their places."""
    generator = random.Random(seed)
    header = b'name,"the ""number""",note\n'
    rows, at = [], len(header)
    for i in range(count):
        text = io.StringIO()
        note = "".join(generator.choices('ab,"\n ', k=generator.randrange(0, 12)))
        csv.writer(text, lineterminator="\n").writerow([f"n{i}", generator.randrange(-50, 50), note])
        row = text.getvalue().encode()
        rows.append((row[:-1], at))
        at += len(row)
    data = header + b"".join(row + b"\n" for row, _ in rows)
    path.write_bytes(data)
    return header, rows


def csv_key(row: bytes) -> int:
    return int(next(csv.reader(io.StringIO(row.decode())))[1])


BY = ["csv", "--by", 'the "number":integer']


def test_rows_of_csv_with_newlines_in_quotes(run: Run, tmp_path: Path) -> None:
    header, rows = write_csv(tmp_path / "input", 3000, 1)
    done = run("sample", *BY, tmp_path / "input", "--count", 400, "-o", tmp_path / "sample")
    assert (done.returncode, done.stderr) == (0, "")
    places = {offset: row for row, offset in rows}
    assert all(places[offset] == row for row, _, offset in read_rows(tmp_path / "sample"))
    done = run("sample", *BY, "--merge", tmp_path / "sample", "--parts", 5, "-o", tmp_path / "splitters")
    assert (done.returncode, done.stderr) == (0, "")
    splitters = read_rows(tmp_path / "splitters")
    assert json.loads((tmp_path / "splitters").read_text().splitlines()[0]) == {"header": base64.b64encode(header[:-1]).decode()}
    for sort in (False, True):
        report, got = partition(run, tmp_path, [*BY, "--memory", "16MiB"], *(["--sort"] if sort else []))
        wanted = parts_of(rows, 0, splitters, csv_key)
        assert got == [header + b"".join(row + b"\n" for row in (sorted(part, key=csv_key) if sort else part)) for part in wanted]
        check_report(report, wanted, csv_key)
        assert max(len(part) for part in wanted) < 1.3 * 600


def test_ranges_of_csv_tile_a_file_exactly(run: Run, tmp_path: Path) -> None:
    header, _rows = write_csv(tmp_path / "input", 6, 3)
    size = (tmp_path / "input").stat().st_size
    write_splitters(tmp_path / "splitters", [(b"x,0,", 0, 0)], header[:-1])
    words: list[object] = [*BY, "--memory", "8MiB"]
    _, whole = partition(run, tmp_path, words)
    assert all(part.startswith(header) for part in whole)
    for cut in range(size + 1):
        _, left = partition(run, tmp_path, words, "--to", cut)
        _, right = partition(run, tmp_path, words, "--from", cut)
        assert [a + b[len(header) :] for a, b in zip(left, right, strict=True)] == whole


CR_LF = {
    "csv": (["csv", "--by", "a:integer"], b"a,b\r\n", b"7,x\r\n3,y\r\n5,z"),
    "csv of one row": (["csv", "--by", "a:integer"], b"a,b\r\n", b"7,x"),
    "jsonl": (["jsonl", "--by", "a:integer"], b"", b'{"a":7}\r\n{"a":3}\r\n{"a":5}'),
}


@pytest.mark.parametrize("kind", CR_LF)
def test_a_last_row_without_end_gets_that_of_the_row_before_which_another_range_has(run: Run, tmp_path: Path, kind: str) -> None:
    words, top, data = CR_LF[kind]
    (tmp_path / "input").write_bytes(top + data)
    (tmp_path / "splitters").write_bytes(b"")
    _, whole = partition(run, tmp_path, [*words, "--memory", "8MiB"])
    assert whole == [top + data + b"\r\n"]
    for cut in range(len(top + data) + 1):
        _, [left] = partition(run, tmp_path, [*words, "--memory", "8MiB"], "--to", cut)
        _, [right] = partition(run, tmp_path, [*words, "--memory", "8MiB"], "--from", cut)
        assert left + right[len(top) :] == top + data + b"\r\n", cut


def test_json_lines_by_a_path(run: Run, tmp_path: Path) -> None:
    generator = random.Random(4)
    rows = [json.dumps({"id": i, "at": {"n": generator.randrange(100)}}).encode() for i in range(4000)]
    data = b"".join(row + (b"\n\n" if i % 10 == 0 else b"\n") for i, row in enumerate(rows))
    (tmp_path / "input").write_bytes(data)
    words = ["jsonl", "--by", "at.n:integer"]
    assert run("sample", *words, tmp_path / "input", "--count", 300, "-o", tmp_path / "sample").returncode == 0
    done = run("sample", *words, "--merge", tmp_path / "sample", "--parts", 4, "-o", tmp_path / "splitters")
    assert (done.returncode, done.stderr) == (0, "")

    def key(row: bytes) -> int:
        return int(json.loads(row)["at"]["n"])

    wanted = parts_of([row for row in lines_of(data) if row[0]], 0, read_rows(tmp_path / "splitters"), key)
    middle = len(data) // 3
    report, got = partition(run, tmp_path, [*words, "--memory", "8MiB"])
    assert got == [b"".join(row + b"\n" for row in part) for part in wanted]
    check_report(report, wanted, key)
    _, left = partition(run, tmp_path, [*words, "--memory", "8MiB"], "--to", middle)
    _, right = partition(run, tmp_path, [*words, "--memory", "8MiB"], "--from", middle)
    assert [a + b for a, b in zip(left, right, strict=True)] == got


def test_a_sample_of_lines_is_theirs(run: Run, tmp_path: Path) -> None:
    data = some_lines(3000, 6)
    (tmp_path / "input").write_bytes(data)
    for count in (1, 10, 500):
        done = run("sample", "lines", tmp_path / "input", "--count", count, "--source", 2, "-o", tmp_path / "sample")
        assert (done.returncode, done.stderr) == (0, "")
        rows = read_rows(tmp_path / "sample")
        assert count * 0.8 <= len(rows) <= count
        places = {offset: row for row, offset in lines_of(data)}
        assert all(source == 2 and places[offset] == row for row, source, offset in rows)
        assert rows == sorted(rows)


REFUSED: dict[str, tuple[list[str], bytes, str]] = {
    "unique lines": (["lines", "-u"], b"a\n", "-u means nothing here"),
    "merged lines": (["lines", "-m"], b"a\n", "-m means nothing here"),
    "a header of lines": (["lines", "--header"], b"a\n", "--header means nothing here"),
    "shuffled lines": (["lines", "-R"], b"a\n", "--random-source"),
    "compressed": (["lines"], b"\x1f\x8b\x08\x00" + bytes(20), "is compressed"),
    "no key": (["csv"], b"a,b\n1,2\n", "no key"),
    "another column": (["csv", "--by", "c"], b"a,b\n1,2\n", "c"),
    "no JSON": (["jsonl", "--by", "a"], b"nothing\n", "input"),
    "too many fields": (["csv", "--by", "a"], b"a,b\n1,2,3\n", "input"),
    "behind the end": (["lines", "--to", "100"], b"a\n", "behind the end"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_is_refused_in_one_line(run: Run, tmp_path: Path, kind: str) -> None:
    words, data, message = REFUSED[kind]
    (tmp_path / "input").write_bytes(data)
    (tmp_path / "out").mkdir()
    (tmp_path / "cut").write_text("")
    files = ["--splitters", tmp_path / "cut", "--report", tmp_path / "r", "-o", tmp_path / "out"]
    line = refused(run("partition", *words, tmp_path / "input", *files), 2)
    assert message in line
    assert slices(tmp_path / "out") == []
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("words", "row", "header"),
    [
        (["lines"], b"a\nb", None),
        (["csv", "--by", "a"], b'1,"2', b"a,b"),
        (["csv", "--by", "a"], b"1,2", b"a,c"),
        (["jsonl", "--by", "a"], b"", None),
    ],
)
def test_splitters_that_are_no_rows_are_refused(
    run: Run, tmp_path: Path, words: list[str], row: bytes, header: bytes | None
) -> None:
    (tmp_path / "input").write_bytes(b"a,b\n1,2\n" if "csv" in words else b'{"a":1}\n')
    (tmp_path / "out").mkdir()
    write_splitters(tmp_path / "cut", [(row, 0, 0)], header)
    files = ["--splitters", tmp_path / "cut", "--report", tmp_path / "r", "-o", tmp_path / "out"]
    refused(run("partition", *words, tmp_path / "input", *files), 2, "cut")
