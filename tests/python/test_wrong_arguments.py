"""A wrong argument is refused in one line that says what is wanted and what was given, before anything is started."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ecosort.process
import numpy as np
import pytest

from ecosort import (
    BadInput,
    resume,
    sort_csv,
    sort_file,
    sort_in_place,
    sort_jsonl,
    sort_lines,
    sort_memmap,
    sort_records,
    sort_table,
    sorted_iter,
    sorted_records,
)

NOTHING_STARTS = "nothing is started for arguments that cannot be"


@pytest.fixture(autouse=True)
def _files(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "in").write_bytes(b"a,b\n1,2\n" * 8)
    np.save(here / "in.npy", np.array([(3, 0.5), (1, 2.5)], dtype=[("id", "u4"), ("x", "f8")]))

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError(NOTHING_STARTS)

    monkeypatch.setattr(ecosort.process.subprocess, "Popen", refuse)


def array() -> Any:
    return np.array([(3, 0.5), (1, 2.5)], dtype=[("id", "u4"), ("x", "f8")])


def table() -> Any:
    return pytest.importorskip("pyarrow").table({"a": [2, 1]})


RIGHT: dict[str, dict[str, Any]] = {
    "csv": {"src": "in", "dst": "out", "by": "a"},
    "jsonl": {"src": "in", "dst": "out", "by": "a"},
    "file": {"src": "in", "dst": "out", "by": "0:2", "record_size": 8},
    "lines": {"src": "in", "dst": "out"},
    "in place": {"path": "in", "by": "0:2", "record_size": 8},
    "resume": {"path": "in"},
    "memmap": {"array": "in.npy", "dst": "out.npy"},
    "array": {},
    "buffer": {"records": b"12345678", "record_size": 4, "by": "0:2"},
    "table": {"by": "a"},
    "iter": {"items": ["b", "a"]},
    "records": {"records": [b"1234"], "record_size": 4, "by": "0:2"},
}

SORTS: dict[str, Callable[..., Any]] = {
    "csv": sort_csv,
    "jsonl": sort_jsonl,
    "file": sort_file,
    "lines": sort_lines,
    "in place": sort_in_place,
    "resume": resume,
    "memmap": sort_memmap,
    "array": lambda **options: sort_records(array(), **options),
    "buffer": sort_records,
    "table": lambda **options: sort_table(options.pop("table") if "table" in options else table(), **options),
    "iter": sorted_iter,
    "records": sorted_records,
}

WRONG: dict[str, list[Any]] = {
    "src": [None, 5, [], [5], ["in", None], 2.5],
    "dst": [None, 5, ["out"]],
    "path": [None, 5],
    "by": [None, [], 5.5, [None], b"a", True, object()],
    "record_size": ["8", 0, -1, 2.5, True, b"8"],
    "memory": [0, -5, 1.5, [], True, b"1MiB", object()],
    "threads": ["2", 0, -1, 1.5, True, []],
    "temp": [5, [5], 0, object()],
    "compress": [5, "zip", b"lz4"],
    "assume_ratio": ["2", True],
    "goal": [5, "speed"],
    "overwrite": ["yes", None, 2],
    "unique": ["yes", None, []],
    "allow_missing": ["yes", 2],
    "reverse": ["yes", None, 2],
    "progress": [5, "yes"],
    "cancel": [5, True],
    "quote": [5, b'"', "", "ab", "é"],
    "delimiter": [5, b",", "", "123456789"],
    "escape": [5, b"\\", "", "ab"],
    "date_format": [5],
    "header": ["yes", None, -1],
    "nulls_first": ["yes", None],
    "decompress": ["yes", 2],
    "compress_output": [5],
    "level": ["3", -1, 1.5],
    "separator": [5, b","],
    "verify": [5, "never"],
    "space": [b"5", 1.5],
    "ascending": ["yes", 5, ["yes", "no"]],
    "in_place": ["yes"],
    "items": [5, None],
    "records": [5, None],
    "key": [5, "name"],
    "table": [5, None],
    "array": [5, None],
}

TAKEN = {  # what each has besides what it must have
    "csv": ("memory threads temp compress assume_ratio goal overwrite unique progress cancel quote delimiter date_format header "
            "nulls_first decompress compress_output level"),
    "jsonl": ("memory threads temp overwrite unique allow_missing progress cancel date_format nulls_first decompress "
        "compress_output level"),
    "file": "memory threads temp compress assume_ratio goal overwrite unique reverse progress cancel verify",
    "lines": "by memory threads temp overwrite unique reverse progress cancel header separator decompress compress_output level",
    "in place": "memory threads reverse progress cancel space",
    "resume": "progress cancel",
    "memmap": "by ascending in_place memory threads temp overwrite progress cancel",
    "array": "by ascending reverse unique threads",
    "buffer": "reverse unique threads",
    "table": "table memory threads temp",
    "iter": "key reverse memory threads temp",
    "records": "reverse unique memory threads temp",
}  # fmt: skip

MEANS_SOMETHING = {
    ("lines", "by"): ([], None),  # the whole line
    ("memmap", "by"): (None,),
    ("memmap", "dst"): (),
    ("array", "by"): (None,),
    ("buffer", "record_size"): (),
}


def cases() -> list[Any]:
    return [
        pytest.param(sort, name, value, id=f"{sort}-{name}-{number}")
        for sort, more in TAKEN.items()
        for name in dict.fromkeys([*RIGHT[sort], *more.split()])
        for number, value in enumerate(WRONG[name])
        if not any(value is fine or value == fine for fine in MEANS_SOMETHING.get((sort, name), ()))
    ]


@pytest.mark.parametrize(("sort", "name", "value"), cases())
def test_a_wrong_argument_is_told(here: Path, sort: str, name: str, value: Any) -> None:
    before = sorted(path.name for path in here.iterdir())
    with pytest.raises(BadInput) as raised:
        SORTS[sort](**{**RIGHT[sort], name: value})
    told = str(raised.value)
    assert "\n" not in told
    assert len(told) < 300
    about = {"table": "Arrow stream", "records": "buffer" if sort == "buffer" else "records", "src": "file", "dst": "dst"}
    assert about.get(name, name) in told
    assert NOTHING_STARTS not in told
    assert sorted(path.name for path in here.iterdir()) == before


@pytest.mark.parametrize("sort", [sort for sort in RIGHT if sort != "resume"])
def test_the_right_ones_start_it(sort: str) -> None:
    with pytest.raises(AssertionError, match=NOTHING_STARTS):
        _ = list(SORTS[sort](**RIGHT[sort]))
