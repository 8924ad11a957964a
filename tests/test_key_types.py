"""The types of keys beyond memory, where windows tie, and for values that are none. test_csv.py has each in memory."""

import json
import random
import re
import subprocess
from decimal import Decimal
from pathlib import Path

import pytest
from conftest import ROOT
from csv_support import LEAST, LISTED, MAKERS, READERS, TYPE_NAMES, Key, in_order, row, run_csv
from sort_support import Run

KNOWN_IN_THE_ENGINE = ("text", "nocase", "number", "integer", "date", "version", "length")
NEW_TYPES = [name for name in READERS if name not in KNOWN_IN_THE_ENGINE]


@pytest.mark.parametrize("type_", NEW_TYPES)
def test_values_of_each_type_beyond_memory_come_out_in_order(ecosort: Path, tmp_path: Path, type_: str) -> None:
    """A merge makes the bytes of a value again, from a row of a run."""
    rng = random.Random(type_)
    rows = [row([MAKERS[type_](rng), "x" * 150, str(i)]) for i in range(8000)]
    for key in (Key(0, type_), Key(0, type_, descending=True)):
        words = [*LEAST, "--no-header", "--by", key.words(None), "--stats", "stats", "-q", "-", "-o", "-"]
        code, output, error = run_csv(ecosort, words, tmp_path, b"".join(rows))
        assert (code, error) == (0, "")
        assert json.loads((tmp_path / "stats").read_text())["runs"] > 1
        assert output == b"".join(in_order(rows, [key]))


LONG = {
    "uuid": [f"018f0000-0000-7000-8000-0000000000{last:02x}" for last in range(200)],
    "ip": [f"2001:db8::{last:x}" for last in range(200)] + [f"2001:db8::/{length}" for length in range(40, 120)],
    "hex": [f"{'7' * 60}{last:03x}" for last in range(200)],
    "size": [f"1{'0' * 40}{last:03}.5K" for last in range(200)],
    "duration": [f"1h0.{'0' * 40}{last:03}s" for last in range(200)],
    "natural": [f"{'long-name-' * 3}{last}" for last in range(200)],
    "number:decimal=,": [f"{'1' * 60}{last:03},5" for last in range(200)],
}


@pytest.mark.parametrize("type_", LONG)
@pytest.mark.parametrize("joined", [False, True])
def test_values_that_agree_in_their_windows_are_compared_to_their_ends(
    ecosort: Path, tmp_path: Path, type_: str, joined: bool
) -> None:
    """A window has 11 bytes of a value, less where several keys share it."""
    rng = random.Random(1)
    values = LONG[type_]
    rows = [(rng.randrange(3), rng.randrange(len(values)), i) for i in range(2000)]
    data = b"".join(row([str(first), values[at], str(i)]) for first, at, i in rows)
    wanted = sorted(rows, key=lambda one: one[:2] if joined else one[1])
    by = ["--by", "1:integer", "--by", f"2:{type_}"] if joined else ["--by", f"2:{type_}"]
    if type_ == "ip":  # addresses and networks mix
        key = READERS["ip"]
        wanted = sorted(rows, key=lambda one: (one[0] if joined else 0, key(values[one[1]])))
    code, output, error = run_csv(ecosort, ["--no-header", "-q", *by, "-", "-o", "-"], tmp_path, data)
    assert (code, error) == (0, "")
    assert [int(line.rsplit(b",", 1)[1]) for line in output.splitlines()] == [i for _, _, i in wanted]


NO_VALUES = [
    ("ip", "10.0.0.256", "ip"),
    ("size", "10 X", "size"),
    ("duration", "01:30", "duration"),
    ("duration", "00:01:250", "duration"),
    ("hex", "0xg", "hex"),
    ("bool", "maybe", "bool"),
    ("uuid", "018f", "uuid"),
    ("float", "infin", "float"),
    (LISTED, "XXL", LISTED),
    ("number:decimal=,", "1.23", "number:decimal=,"),
    ("text@de", "\xff", "text@de"),
]


@pytest.mark.parametrize(("type_", "value", "name"), NO_VALUES, ids=[type_ for type_, _, _ in NO_VALUES])
def test_strict_names_a_value_that_is_none(ecosort: Path, tmp_path: Path, type_: str, value: str, name: str) -> None:
    words = ["--strict", "-q", "--by", f"a:{type_}", "-", "-o", "-"]
    code, _, error = run_csv(ecosort, words, tmp_path, b"a,b\n" + row([value, "1"]))
    shown = value.encode("latin-1").decode(errors="replace")
    assert (code, error) == (2, f"ecosort: standard input: line 2, byte 4: column 'a': '{shown}' is no {name}\n")


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("a:list", "type list needs its values in their order: list:A|B|C"),
        ("a:list:x|y|x", "list:x|y|x: 'x' is listed twice"),
        ("a:list:x||y", "list:x||y: a place is empty; empty values come where missing ones do"),
        ("a:number:decimal=;", "number:decimal=;: give decimal=, for numbers such as 1.234,50 or decimal=. for 1,234.50"),
        (
            "a:text@xx",
            "locale 'xx': ICU has no such language; give a language, such as de, sv, zh or root, with options as ICU has "
            "them, such as de-u-kn-true",
        ),
        (
            "a:text@de_DE.UTF-8",
            "locale 'de_DE.UTF-8': is no language tag of BCP 47; give a language, such as de, sv, zh or root, "
            "with options as ICU has them, such as de-u-kn-true",
        ),
        (
            "a:text@de-u-co-nonsens",
            "locale 'de-u-co-nonsens': ICU has no collation 'nonsens' for it; give a language, such as de, "
            "sv, zh or root, with options as ICU has them, such as de-u-kn-true",
        ),
    ],
)
def test_what_a_type_cannot_mean_is_told_in_one_line(ecosort: Path, tmp_path: Path, by: str, said: str) -> None:
    assert run_csv(ecosort, ["--by", by, "-", "-o", "-"], tmp_path, b"a\n1\n") == (2, b"", f"ecosort: {said}\n")


@pytest.mark.parametrize("value", ["x:desc", "x:date", "x:text@b", "x:list:y"])
def test_a_backslash_makes_what_is_behind_it_a_part_of_a_listed_value(ecosort: Path, tmp_path: Path, value: str) -> None:
    by = "a:list:M|S|" + value.replace(":", "\\:")
    code, output, _ = run_csv(
        ecosort, ["--no-header", "--by", by.replace("a:", "1:"), "-", "-o", "-"], tmp_path, f"{value}\nS\nM\n".encode()
    )
    assert (code, output) == (0, f"M\nS\n{value}\n".encode())


def test_colons_within_a_quoted_name_begin_no_type(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").write_text('{"a:list:b":2}\n{"a:list:b":1}\n')
    assert run("jsonl", "--by", '"a:list:b"', tmp_path / "in", "-o", "-").stdout == '{"a:list:b":1}\n{"a:list:b":2}\n'


def test_the_manual_has_the_types_of_the_help(run: Run) -> None:
    commands = json.loads(run("manual", "json").stdout)["commands"]
    types = {command["name"]: command["key_types"] for command in commands}
    assert types["csv"] == types["jsonl"]
    assert types["sort"] == []
    names = set(TYPE_NAMES)
    assert {kind["name"] for kind in types["csv"]} == names
    told = run("csv", "--help").stdout
    assert all(f"\n  {name} " in told for name in names)
    schema = json.loads(run("manual", "request").stdout)["$defs"]["value_key"]
    assert all(f"name:{name}" in schema["examples"] for name in names)


WRITTEN = {
    "1,234.50": "1234.5", "12,34,567.5": "1234567.5", "(1,000)": "-1000", "5-": "-5", "$ 7.25": "7.25", "8.25$": "8.25",
    "-$3": "-3", "$-4": "-4", "50%": "0.5", "5\u2030": "0.005", "1e4": "10000", "\u20b910": "10", "1 000 001": "1000001",
    "1'002": "1002", "1_003": "1003", "+.75": "0.75", "\u22127": "-7", "20.": "20", " 21\xa0\u20ac ": "21", "(\xa322)": "-22",
    "$(23)": "-23", " $ (1,024.50) ": "-1024.5", "( 26 )": "-26", "(25)%": "-0.25",
    "1\u202f004": "1004", "0": "0",
}  # fmt: skip
NOT_WRITTEN = [
    "1,23", "1,2345", "0,123", "$1$", "--1", "(-1)", "1,000'000", "12,345,67", "1,,000", "$", "%", "1.2.3", "1,00,000,00",
    "123,45,678", "5%%", "(5", "1,000,", "1.000,5", "e5", "1e", "EUR 5", "", "-", "1 2", "\u20ac\u20ac1",
]  # fmt: skip


def test_numbers_as_people_write_them_have_their_values(ecosort: Path, tmp_path: Path) -> None:
    texts = random.Random(1).sample([*WRITTEN, *NOT_WRITTEN], len(WRITTEN) + len(NOT_WRITTEN))
    data = "".join(f'"{text}"\n' for text in texts).encode()
    code, output, error = run_csv(ecosort, ["--no-header", "--by", "1:number:decimal=.", "-", "-o", "-"], tmp_path, data)
    found = [line.strip('"') for line in output.decode().splitlines()]
    others = [text for text in texts if text in NOT_WRITTEN]
    assert (code, found) == (0, [*sorted(WRITTEN, key=lambda text: Decimal(WRITTEN[text])), *others])
    assert f"1 empty and {len(NOT_WRITTEN) - 1} unparsable" in error


def test_numbers_of_json_have_a_point_whatever_people_write(ecosort: Path, tmp_path: Path) -> None:
    rows = [
        '{"n":"-1.000,5"}',
        '{"n":-9.25e0}',
        '{"n":0.5}',
        '{"n":"0,75"}',
        '{"n":1.5}',
        '{"n":"2"}',
        '{"n":1e3}',
        '{"n":"1.5"}',
    ]
    (tmp_path / "in").write_text("".join(f"{row}\n" for row in random.Random(1).sample(rows, len(rows))))
    command = [ecosort, "jsonl", "-q", "--by", "n:number:decimal=,", "in", "-o", "-"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == rows


def examples_of_the_page() -> list[tuple[str, list[str]]]:
    table = (ROOT / "docs/key-types.md").read_text().partition("| type | examples, in their order | |\n")[2].partition("\n\n")[0]
    cells = [re.split(r"(?<!\\)\|", line) for line in table.splitlines()[1:]]
    return [(cell[1].strip(" `").replace("\\|", "|"), re.findall(r"`([^`]*)`", cell[2])) for cell in cells]


def test_the_examples_of_the_page_are_in_their_order(ecosort: Path, tmp_path: Path) -> None:
    examples = examples_of_the_page()
    assert {type_.partition(":")[0].partition("@")[0] for type_, _ in examples} == set(TYPE_NAMES)
    for type_, values in examples:
        for order, code in ((values, 0), (values[::-1], 1)):
            data = "".join(f'"{value}"\n' for value in order).encode()
            words = ["--check", "--strict", "-q", "--no-header", "--by", f"1:{type_}", "-"]
            assert run_csv(ecosort, words, tmp_path, data)[0] == code, (type_, order)


CHROMOSOMES = ["chr1", "chr2", "chr9", "chr10", "chr11", "chr19", "chr20", "chr22", "chrM", "chrUn_KI270302v1", "chrX", "chrY"]


@pytest.mark.parametrize("command", ["lines", "csv"])
def test_chromosomes_are_in_the_order_of_people(ecosort: Path, tmp_path: Path, command: str) -> None:
    """VCF: lines of # stay on top, names of chromosomes have numbers, positions are numbers."""
    rng = random.Random(3)
    rows = [(at, rng.randrange(10**6), i) for i, at in enumerate(rng.choices(range(len(CHROMOSOMES)), k=2000))]
    head = ["#CHROM\tPOS\tID"] if command == "csv" else ["##fileformat=VCFv4.3", "##contig=<ID=chr10>", "#CHROM\tPOS\tID"]
    text = [f"{CHROMOSOMES[at]}\t{place}\t{i}" for at, place, i in rows]
    wanted = [text[i] for _, _, i in sorted(rows)]
    words = {
        "lines": ["--header=3", "-t", "\t", "-k1,1V", "-k2,2n", "-s"],
        "csv": ["--delimiter", "tab", "--quote", "none", "--by", "#CHROM:version", "--by", "POS:integer", "-", "-o", "-"],
    }[command]
    data = "".join(f"{line}\n" for line in head + text).encode()
    done = subprocess.run([ecosort, command, *words], input=data, capture_output=True, cwd=tmp_path, timeout=60, check=True)
    assert done.stdout.decode().splitlines() == head + wanted
