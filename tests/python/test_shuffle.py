"""ecosort.shuffle(): the order of the program, and what it does not take."""

from pathlib import Path
from typing import Any

import pytest

import ecosort


def test_the_same_seed_makes_the_same_order_of_pieces(here: Path) -> None:
    rows = [f"{number},\n" for number in range(5000)]
    (here / "all").write_text("".join(rows))
    (here / "1.part").write_text("".join(rows[:1700]))
    (here / "2.part").write_text("".join(rows[1700:]))
    first = ecosort.shuffle("all", "one")
    assert first.seed is not None
    second = ecosort.shuffle("*.part", "two", seed=first.seed, memory="1MiB", threads=1)
    assert (here / "one").read_bytes() == (here / "two").read_bytes() != (here / "all").read_bytes()
    assert (second.records, second.hash) == (5000, first.hash)
    rest = ecosort.shuffle("all", "rest", seed=first.seed, skip=10)
    assert rest.skipped == 10
    first_ten = ecosort.shuffle("all", "ten", seed=first.seed, limit=10)
    assert (first_ten.records, first_ten.beyond_limit) == (5000, 4990)
    assert (here / "ten").read_text() + (here / "rest").read_text() == (here / "one").read_text()


def test_rows_of_all_kinds(here: Path) -> None:
    (here / "t.csv").write_text("a,b\n" + "".join(f'{number},"x\ny"\n' for number in range(50)))
    assert ecosort.shuffle("t.csv", "out.csv", rows="csv").records == 50
    assert (here / "out.csv").read_text().startswith("a,b\n")
    assert ecosort.shuffle("t.csv", "out", rows="records", record_size=2).records == (here / "t.csv").stat().st_size // 2
    assert ecosort.shuffle("t.csv", "out", record_lines=1, overwrite=True).records == 101
    assert ecosort.shuffle("t.csv", "out", record_start="a,", overwrite=True).records == 1
    with pytest.raises(ecosort.OutputExists):
        ecosort.shuffle("t.csv", "out", rows="paragraphs")
    assert ecosort.shuffle("t.csv", "out", rows="paragraphs", overwrite=True).records == 1


@pytest.mark.parametrize(
    "options",
    [
        {"rows": "table"},
        {"rows": "records"},
        {"record_size": 3},
        {"record_lines": 0},
        {"record_start": "a", "header_lines": 1},
        {"seed": -1},
        {"seed": "x"},
        {"skip": 1.5},
        {"limit": -1},
        {"limit": 1, "skip": 1},
        {"threads": 0},
    ],
)
def test_wrong_arguments(here: Path, options: dict[str, Any]) -> None:
    (here / "in").write_text("a\n")
    with pytest.raises(ecosort.BadInput):
        ecosort.shuffle("in", "out", **options)
