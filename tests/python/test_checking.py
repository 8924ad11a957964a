"""ecosort.check(): the order, count and hash of a file, as the program finds them."""

from pathlib import Path
from typing import Any

import pytest

import ecosort

TABLE = "name,price\nink,10\ncap,30\npen,2.50\ntie,30\n"
FORMS: dict[str, tuple[str, dict[str, Any]]] = {
    "csv": (TABLE, {"by": "price:number:desc"}),
    "jsonl": ('{"p":10}\n{"p":30}\n{"p":2.5}\n{"p":30}\n', {"by": "p:number:desc"}),
    "lines": ("ink 10\ncap 30\npen 2\ntie 30\n", {"by": "2,2nr", "stable": True}),
    "records": ("b1c2a0c3", {"by": "0:1:desc", "record_size": 2}),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_sorted_file_is_in_order_and_its_input_is_not(here: Path, form: str) -> None:
    text, how = FORMS[form]
    Path("in").write_text(text)
    sorted_report = ecosort.sort("in", "out", format=form, **how)
    found = ecosort.check("out", format=form, **how)
    assert (found.is_in_order, found.rows, found.equal_keys, found.rows_out_of_order) == (True, 4, 1, 0)
    assert found.hash == sorted_report.hash
    second = 3 if form == "csv" else 2  # a header is a line
    wrong = ecosort.check("in", format=form, **how)
    assert (wrong.is_in_order, wrong.first_out_of_order, wrong.hash) == (False, second, found.hash)
    strict = ecosort.check("out", ecosort.Options(format=form, **how), unique=True)
    assert (strict.is_in_order, strict.first_out_of_order) == (False, second)


@pytest.mark.parametrize(
    ("name", "options", "line"),
    [
        ("t.csv", {}, "key"),
        ("t.csv", {"by": "price", "limit": 3}, "limit says nothing about the order of rows"),
        ("t.csv", {"by": "price", "bad_rows": "skip"}, "bad_rows says nothing about the order of rows"),
        ("t.csv", {"by": "cost"}, "no column 'cost'"),
        ("t.parquet", {"by": "price"}, "check_table"),
        ("none.csv", {"by": "price"}, "none.csv"),
        ("t.csv", {"by": "price", "options": "fast"}, "options"),
    ],
)
def test_what_cannot_be_checked(here: Path, name: str, options: dict[str, Any], line: str) -> None:
    Path("t.csv").write_text(TABLE)
    with pytest.raises(ecosort.IoFailed if name == "none.csv" else ecosort.BadInput, match=line):
        ecosort.check(name, **options)


def test_groups_are_of_their_own_keys(here: Path) -> None:
    Path("records").write_bytes(b"aaaa1111aaaa2222")
    how: dict[str, Any] = {"format": "records", "record_size": 8}
    assert not ecosort.check("records", by=["0:4", "4:4"], unique_by=["0:4"], **how).is_in_order
    assert ecosort.check("records", by=["0:4"], unique="row", **how).is_in_order
    Path("t.csv").write_text("k,v\na,1\na,2\na,2\n")
    assert not ecosort.check("t.csv", by="k", unique="row").is_in_order
