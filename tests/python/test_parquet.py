"""`ecosort parquet`: its words become a document, which ecosort-parquet sorts by. The output is written as the input was."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ecosort.parquet import main

from ecosort import check_table

ROWS = 3000


@pytest.fixture
def document(run: Callable[..., Any], here: Path) -> Callable[..., Any]:
    """Gives the words to the program, and returns what it gives to ecosort-parquet; a text: the line of its error."""
    tool = here / "bin" / "ecosort-parquet"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\nprintf '%s' \"$1\"\n")
    tool.chmod(0o755)

    def of(*words: str, command: str = "parquet") -> Any:
        done = run(command, *words, env={**os.environ, "PATH": f"{tool.parent}:/usr/bin:/bin"})
        assert done.stderr.count("\n") == (done.returncode != 0)
        return done.stderr.removeprefix("ecosort: ").strip() if done.returncode else done.stdout

    return of


def write_input(path: str = "in.parquet") -> Any:
    table = pa.table(
        {
            "city": pa.array([None if i % 50 == 7 else f"c{i * 7919 % 40:02}" for i in range(ROWS)]),
            "price": pa.array([i * 31 % 1009 for i in range(ROWS)], pa.int32()),
            "row": pa.array(range(ROWS)),
        }
    )
    codecs = {"city": "zstd", "price": "gzip", "row": "none"}
    pq.write_table(table, path, compression=codecs, row_group_size=700, write_page_index=True, use_dictionary=["city"])
    return table


def test_the_output_is_in_order_and_written_as_the_input(document: Callable[..., Any], here: Path) -> None:
    """Codec, dictionaries, row groups and page index are the input's; the order is claimed."""
    table = write_input()
    words = ["--by", "city:desc", "--by", "price", "--nulls", "first", "--quiet", "--memory", "128MiB", "--temp", "."]
    assert main([document(*words, "in.parquet", "-o", "out.parquet")]) == 0
    wanted = sorted(table.to_pylist(), key=lambda row: row["price"])
    wanted.sort(key=lambda row: (row["city"] is None, row["city"] or ""), reverse=True)
    assert pq.read_table("out.parquet").to_pylist() == wanted
    metadata = pq.ParquetFile("out.parquet").metadata
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    assert [group.num_rows for group in groups] == [700, 700, 700, 700, 200]
    assert [groups[4].column(i).compression for i in range(3)] == ["ZSTD", "GZIP", "UNCOMPRESSED"]
    assert [groups[0].column(i).has_dictionary_page for i in range(3)] == [True, False, False]
    assert groups[0].column(2).has_offset_index
    assert check_table("out.parquet").by == (("city", "descending", "first"), ("price", "ascending", "first"))


def test_check_holds_files_against_their_own_claim(document: Callable[..., Any], here: Path, capfd: Any) -> None:
    write_input("none.parquet")
    words = ["--by", "city", "--by", "price:desc", "--quiet", "none.parquet", "-o", "in_order.parquet"]
    assert main([document(*words)]) == 0
    claim = [pq.SortingColumn(0)]
    with pq.ParquetWriter("false.parquet", pa.schema([("a", pa.int64())]), sorting_columns=claim) as writer:
        writer.write_table(pa.table({"a": [1, 3, 2]}))
    with pq.ParquetWriter("groups.parquet", pa.schema([("a", pa.int64())]), sorting_columns=claim) as writer:
        for _ in range(2):
            writer.write_table(pa.table({"a": [1, 2]}))
    order = "city ascending (nulls last), price descending (nulls last)"
    groups = "within each of its 2 row groups: a ascending (nulls last)"
    wrong = "claims to be sorted by a ascending last, and its row 3 comes before the one above it; sort it again"
    for name, code, said in (
        ("in_order", 0, f"in_order.parquet: {ROWS} rows are in the order that it claims: {order}"),
        ("groups", 0, f"groups.parquet: 4 rows are in the order that it claims {groups}"),
        ("false", 1, f"ecosort: 'false.parquet' {wrong}"),
        ("none", 2, "ecosort: 'none.parquet' claims no order"),
        ("missing", 2, "ecosort: 'missing.parquet' cannot be read as Parquet or Feather: No such file"),
    ):
        capfd.readouterr()
        assert main([document(f"{name}.parquet", command="check")]) == code
        assert capfd.readouterr().err.startswith(said), name
        assert main([document("-q", f"{name}.parquet", command="check")]) == code
        assert bool(capfd.readouterr().err) == (code > 0)
    assert "-i is for records; a Parquet file says itself" in document("-i", "false.parquet", command="check")
    assert "from files" in document("s3://b/false.parquet", command="check")
    assert document("false.parquet", "x.dat", command="check").startswith("check: x.dat is no .parquet file, and others are")


@pytest.mark.parametrize(("keys", "left"), [(["f", "i"], "f, i"), (["i", "f"], "f"), (["i"], "")])
def test_keys_that_the_file_does_not_claim_are_named(
    document: Callable[..., Any], here: Path, capfd: Any, keys: list[str], left: str
) -> None:
    pq.write_table(pa.table({"i": [2, 1], "f": [0.5, -0.0]}), "in.parquet")
    words = [*(word for key in keys for word in ("--by", key)), "in.parquet", "-o", "out.parquet"]
    assert main([document(*words)]) == 0
    said = capfd.readouterr().err
    assert (f"out.parquet does not claim its order by {left}: " in said) == ("claim" in said) == bool(left)
    assert main([document("--quiet", *words)]) == 0
    assert capfd.readouterr().err == ""


def test_a_replaced_file_keeps_its_mode(document: Callable[..., Any], here: Path, capfd: Any) -> None:
    """Sorted onto itself a private file became readable by all. What is lost is said and in the report."""
    pq.write_table(pa.table({"a": [2, 1]}), "x.parquet")
    Path("x.parquet").chmod(0o600)
    Path("other").hardlink_to("x.parquet")
    assert main([document("--by", "a", "--stats", "s.json", "x.parquet", "-o", "x.parquet")]) == 0
    assert Path("x.parquet").stat().st_mode & 0o777 == 0o600
    lost = f"could not keep of the replaced '{here}/x.parquet': its other names (1 hard link), where the old contents stay"
    assert capfd.readouterr().err.endswith(f"ecosort: {lost}\n")
    assert json.loads(Path("s.json").read_text())["notices"][-1] == lost
    assert pq.read_table("x.parquet")["a"].to_pylist() == [1, 2]


def test_names_that_are_not_utf8(document: Callable[..., Any], here: Path, capfd: Any) -> None:
    """JSON has no place for their bytes, and pyarrow takes none as str: both read them as another name."""
    write_input()
    Path("in.parquet").rename("in\udcff.parquet")
    assert main([document("--by", "city", "-q", "in\udcff.parquet", "-o", "out\udcff.parquet")]) == 0
    assert main([document("out\udcff.parquet", command="check")]) == 0
    assert capfd.readouterr().err.startswith(rf"out\xff.parquet: {ROWS} rows are in the order that it claims")


@pytest.mark.parametrize("limit", [None, 0, 25])
@pytest.mark.parametrize("unique", [False, True])
def test_what_is_left_out_is_counted(document: Callable[..., Any], unique: bool, limit: int | None) -> None:
    """Nulls are equal. Files are of several runs, and the first row of equal ones is that of the input."""
    table = write_input()
    words = ["--by", "city", "--stats", "s.json", "--quiet", *(["--unique"] if unique else [])]
    words += [] if limit is None else [f"--limit={limit}"]
    assert main([document(*words, "in.parquet", "in.parquet", "-o", "out.parquet")]) == 0
    rows = sorted(table.to_pylist() * 2, key=lambda row: (row["city"] is None, row["city"] or ""))
    first: dict[Any, Any] = {}
    for row in rows:
        first.setdefault(row["city"], row)
    wanted = (list(first.values()) if unique else rows)[:limit]
    assert pq.read_table("out.parquet").to_pylist() == wanted
    told = json.loads(Path("s.json").read_text())
    dropped = len(rows) - len(first) if unique else 0
    figures = [told[f"rows{name}"] for name in ("", "_written", "_dropped", "_beyond_limit")]
    assert figures == [2 * ROWS, len(wanted), dropped, 2 * ROWS - dropped - len(wanted)]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["in.parquet", "-o", "out.parquet"], "parquet: no key; name a column with --by COLUMN[:desc]"),
        (["--by", "a", "-o", "out.parquet"], "parquet: no input; name a Parquet file"),
        (["--by", "a", "in.parquet", "-o", "-"], "parquet: name the output with -o FILE"),
        (["--by", "a", "--nulls", "middle", "in.parquet", "-o", "o"], "--nulls"),
        (["--by", "a", "--compres", "in.parquet", "-o", "o"], "--compres"),
    ],
)
def test_words_that_mean_nothing_are_refused_by_the_catalog(document: Callable[..., Any], words: list[str], line: str) -> None:
    assert line in document(*words)


def test_wrong_files_are_named_in_one_line(here: Path, capsys: Any) -> None:
    """Nothing is written, and what was there stays."""
    write_input()
    Path("text").write_text("no Parquet")
    Path("out.parquet").write_text("before")

    def said(name: str, key: str, output: str = "out.parquet", **reports: str) -> str:
        request = {
            "inputs": [name],
            "table": {"keys": [key]},
            "place": {"output": output},
            "reports": {"quiet": False, **reports},
        }
        assert main([json.dumps(request)]) == 2
        return str(capsys.readouterr().err)

    for line, wanted in (
        (said("text", "city"), "'text' cannot be read as Parquet"),
        (said("in.parquet", "town"), "town"),
        (said("in.parquet", "city", "out.csv"), "'out.csv': name an output that ends with .parquet"),
        (said("in.parquet", "city", "http://h/out.parquet"), "nothing can be written over http"),
        (said("in.parquet", "city", stats="./in.parquet"), "--stats './in.parquet' is an input and would be overwritten"),
        (said("in.parquet", "city", stats="out.parquet"), "--stats 'out.parquet' is the output and would be overwritten"),
    ):
        assert wanted in line
        assert line.count("\n") == 1
    assert main(["--by"]) == 2
    assert Path("out.parquet").read_text() == "before"
    assert pq.read_table("in.parquet").num_rows == ROWS


@pytest.mark.parametrize(
    ("output", "stats", "line"),
    [
        ("o.parquet", "parts/2.parquet", "--stats 'parts/2.parquet' is an input and would be overwritten; name another file"),
        ("o.parquet", "parts", "--stats 'parts' is a directory; name a file"),
        ("o.parquet", "no/s", "--stats: there is no directory 'no'; create it first"),
        ("no/o.parquet", "s", "'no/o.parquet' cannot be the output: there is no directory '{here}/no'; create it first"),
    ],
)
def test_places_that_cannot_be_are_refused_before_the_sort(here: Path, capsys: Any, output: str, stats: str, line: str) -> None:
    """A report replaced an input that lies in a directory, and one that cannot be written was refused after the sort."""
    Path("parts").mkdir()
    for number in (1, 2):
        pq.write_table(pa.table({"a": [number]}), f"parts/{number}.parquet")
    request = {
        "inputs": ["parts"],
        "table": {"keys": ["a"]},
        "place": {"output": output},
        "reports": {"quiet": True, "stats": stats},
    }
    assert main([json.dumps(request)]) == 2
    assert capsys.readouterr().err == f"ecosort: {line.format(here=here)}\n"
    assert not Path(output).exists()
    assert pq.read_table("parts").num_rows == 2


def test_without_the_tool_there_is_one_line(run: Callable[..., Any], here: Path, ecosort: Path) -> None:
    """The program is looked for beside ecosort, too, where a tree has it."""
    alone = here / "alone" / "ecosort"
    alone.parent.mkdir()
    os.link(ecosort, alone)
    uses = [
        ("parquet", ["parquet", "--by", "a", "i", "-o", "o"]),
        ("parquet", ["check", "IN.Parquet"]),
        ("remote", ["csv", "--by", "a", "s3://b/i", "-o", "o"]),
        ("remote", ["check", "http://host/i"]),
        ("cluster", ["check", "MANIFEST.json"]),
    ]
    for tool, words in uses:
        done = run(*words, executable=alone, env={"PATH": "/nowhere"})
        assert done.returncode == 2
        assert done.stderr.startswith(f"ecosort: ecosort-{tool} is not installed: ")
        assert done.stderr.count("\n") == 1
