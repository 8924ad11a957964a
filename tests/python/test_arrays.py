"""sort_memmap and sort_records: fields of arrays as keys, headers, in place, and what is refused."""

import ctypes
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sort_support import MIB, listing, mounted

from ecosort import BadInput, Options, OutputExists, sort, sort_memmap, sort_records

ORDERS = [
    f"{order}{kind}{size}"
    for order in "<>"
    for kind, sizes in (("u", (2, 4, 8)), ("i", (2, 4, 8)), ("f", (4, 8)))
    for size in sizes
]


def array_of(kind: str, count: int = 5000) -> Any:
    generator = np.random.default_rng(7)
    values: Any = generator.integers(0, 256, (count, np.dtype(kind).itemsize), dtype=np.uint8).view(kind).ravel()
    if np.dtype(kind).kind == "f":
        values[:6] = [np.nan, np.inf, -np.inf, 0.0, 1.5, -1.5]
    return values


@pytest.mark.parametrize("kind", [*ORDERS, "u1", "i1", "?", "S3"])
def test_every_type_of_field_is_in_numpys_order(here: Path, kind: str) -> None:
    array = np.zeros(5000, dtype=[("pad", "S3"), ("key", kind), ("n", "<u4")])
    array["key"] = array_of(kind) if kind not in "?" else array_of("u1") & 1
    array["n"] = np.arange(5000)
    expected = array[np.argsort(array["key"], kind="stable")]
    np.testing.assert_array_equal(sort_records(array, by="key")["n"], expected["n"])
    np.save("in.npy", array)
    sort_memmap("in.npy", "out.npy", by=["key"])
    assert np.load("out.npy").tobytes() == expected.tobytes()


def test_several_fields_each_with_a_direction(here: Path, temp: Path) -> None:
    generator = np.random.default_rng(1)
    array = np.zeros(200_000, dtype=[("a", "u1"), ("b", ">f8"), ("n", "u4")])
    array["a"], array["b"], array["n"] = generator.integers(0, 9, 200_000), generator.normal(size=200_000), np.arange(200_000)
    np.save("in.npy", array)
    report = sort_memmap("in.npy", "out.npy", by=["a", "b"], ascending=[False, True], memory="2MiB", temp=temp)
    assert report.runs > 1
    np.testing.assert_array_equal(np.load("out.npy"), array[np.lexsort((array["b"], -array["a"].astype(int)))])


@pytest.mark.parametrize("kind", ["<f4", ">f4", "<f8", ">f8"])
def test_every_nan_keeps_its_bits(here: Path, kind: str) -> None:
    """Signs and payloads are data: np.sort makes one NaN of all where it has vectors of 512 bits."""
    bits = np.dtype(kind.replace("f", "u"))
    top = 0x7F8 << (8 * bits.itemsize - 12) if bits.itemsize == 4 else 0x7FF << 52
    sign = 1 << (8 * bits.itemsize - 1)
    nans = [top | payload | negative for payload in (1, 2, 77, top >> 9) for negative in (0, sign)]
    array = np.array([*nans, *np.array([2.0, -1.0, 0.0], kind).view(bits), *reversed(nans)], bits).view(kind)
    assert np.isnan(array).sum() == 2 * len(nans)
    np.save("in.npy", array)
    sort_memmap("in.npy", "out.npy")
    expected = array[[9, 10, 8, *np.flatnonzero(np.isnan(array))]]
    assert np.load("out.npy").tobytes() == expected.tobytes(), "in input order, behind all numbers"


def test_what_stands_before_the_array_stays_there(here: Path) -> None:
    (here / "in").write_bytes(b"header" + np.array([3, 1, 2], "<u8").tobytes())
    sort_memmap(np.memmap("in", "<u8", mode="r", offset=6), "out")
    assert (here / "out").read_bytes() == b"header" + np.array([1, 2, 3], "<u8").tobytes()
    with pytest.raises(OutputExists):
        sort_memmap(np.memmap("in", "<u8", mode="r", offset=6), "out")
    sort_memmap(np.memmap("in", "<u8", mode="r", offset=6), "out", ascending=False, overwrite=True)
    assert (here / "out").read_bytes() == b"header" + np.array([3, 2, 1], "<u8").tobytes()
    assert listing(here) == [str(here / "in"), str(here / "out")]


def test_a_header_is_written_whole(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Linux writes less than 2 GiB by one call: the rest of a longer header was lost, and the sort ended well."""
    (here / "in").write_bytes(b"header" + np.array([3, 1, 2], "<u8").tobytes())
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:4]))
    sort_memmap(np.memmap("in", "<u8", mode="r", offset=6), "out")
    assert (here / "out").read_bytes() == b"header" + np.array([1, 2, 3], "<u8").tobytes()


def test_the_claim_of_a_file_that_is_replaced_goes_before(here: Path) -> None:
    """Else `merge` would take it for that of the array. What is no claim, and claims of others, stay."""
    np.save("in.npy", np.array([3, 1, 2], "<u8"))
    (here / "in").write_bytes(b"b\na\n")
    sort("in", "out.npy", Options(format="lines", claim=True))
    (here / "link.npy").symlink_to("out.npy")
    other = (here / "out.npy.claim.json").read_bytes()
    (here / "link.npy.claim.json").write_bytes(other)
    (here / "other.claim.json").write_bytes(other)
    sort_memmap("in.npy", "link.npy", overwrite=True)
    assert np.load("out.npy").tolist() == [1, 2, 3]
    assert [path.name for path in here.glob("*.claim.json")] == ["other.claim.json"]
    for text in (b"{}", b"\xff", b"[" * 100_000, b"7"):
        (here / "out.npy.claim.json").write_bytes(text)
        sort_memmap("in.npy", "out.npy", overwrite=True)
        assert (here / "out.npy.claim.json").read_bytes() == text


def test_what_was_written_to_a_memmap_is_sorted(here: Path) -> None:
    array = np.memmap("in", "<i4", mode="w+", shape=(3,))
    array[:] = [5, -1, 3]
    sort_memmap(array, "out")
    assert np.fromfile("out", "<i4").tolist() == [-1, 3, 5]
    array[0] = -7
    sort_memmap(array, "out", overwrite=True)
    assert np.fromfile("out", "<i4").tolist() == [-7, -1, 3]


def test_a_memmap_is_sorted_in_its_own_space(here: Path, require: Callable[[str], None]) -> None:
    require("xfs")
    with mounted(here, "xfs", 320 * MIB) as system:
        path = system.root / "array"
        array = np.memmap(path, "<u8", mode="w+", shape=(500_000,))
        array[:] = np.random.default_rng(1).integers(0, 2**63, 500_000, dtype=np.uint64)
        with pytest.raises(BadInput, match="open it with mode 'r'"):
            sort_memmap(array, in_place=True)
        expected = np.sort(array)
        del array
        assert sort_memmap(np.memmap(path, "<u8", mode="r"), in_place=True, memory="4MiB").records == 500_000
        np.testing.assert_array_equal(np.memmap(path, "<u8", mode="r"), expected)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("M8[s]", "NaT"),
        ("f2", "convert it to f4 or f8"),
        ("c16", "no order"),
        ("U4", r"store it as bytes \(S\)"),
        ([("x", "u1"), ("y", "u1")], "name its fields"),
        ((np.uint8, (3,)), "several"),
    ],
)
def test_a_field_that_cannot_be_a_key_is_named_with_the_reason(here: Path, kind: Any, words: str) -> None:
    np.save("in.npy", np.zeros(3, dtype=[("good", "u1"), ("bad", kind)]))
    with pytest.raises(BadInput, match=f"field 'bad'.*{words}"):
        sort_memmap("in.npy", "out.npy", by=["good", "bad"])
    with pytest.raises(BadInput, match=f"field 'bad'.*{words}"):
        sort_records(np.load("in.npy"), by=["bad"])
    sort_memmap("in.npy", "out.npy", by="good")
    assert len(np.load("out.npy")) == 3


def refused(words: str, array: Any, dst: str | None = "out", **options: Any) -> None:
    with pytest.raises(BadInput, match=words):
        sort_memmap(array, dst, **options)
    assert not Path("out").exists()


def test_arrays_that_are_no_whole_files_are_refused(here: Path) -> None:
    np.arange(10, dtype="u8").tofile("in")
    whole = np.memmap("in", "u8", mode="r")
    refused("view", whole[2:])
    refused("no np.memmap", np.arange(3))
    refused("2 dimensions", np.memmap("in", "u8", mode="r", shape=(5, 2)))
    refused("16 bytes behind", np.memmap("in", "u8", mode="r", shape=(8,)))
    refused("mode 'c'", np.memmap("in", "u8", mode="c"))
    refused("either dst, or in_place", whole, dst=None)
    refused("either dst, or in_place", whole, in_place=True)
    refused("has 8 bytes .a header. before", np.memmap("in", "u8", mode="r", offset=8), dst=None, in_place=True)
    refused("cannot be opened as an .npy file", "in")
    refused("cannot be opened as an .npy file", "absent")
    refused("names fields", whole, by="x")
    refused("no such field: 'x'", np.memmap("in", [("k", "u8")], mode="r"), by="x")
    refused("ascending has 2 values for 1 field", np.memmap("in", [("k", "u8")], mode="r"), ascending=[True, False])


def test_a_buffer_is_sorted_without_touching_a_drive(here: Path) -> None:
    data = np.random.default_rng(1).bytes(8 * 300_000)
    done = sort_records(bytearray(data), 8, by="0:8")
    assert bytes(done) == b"".join(sorted(data[i : i + 8] for i in range(0, len(data), 8)))
    assert listing(here) == []
    assert bytes(sort_records(b"cabbage", 1, by="0:1", unique=True, reverse=True)) == b"gecba"
    assert bytes(sort_records(b"", 4, by="0:4")) == b""
    assert len(sort_records(np.zeros(0, "u4"))) == 0


def test_an_array_in_memory_comes_back_as_one_that_can_be_written_to() -> None:
    given = np.array([3, 1, 2], ">i2")[::-1]
    done = sort_records(given)
    assert done.dtype == given.dtype
    assert done.tolist() == [1, 2, 3]
    done[0] = 7
    assert given.tolist() == [2, 1, 3]


@pytest.mark.parametrize(
    "records",
    [
        np.array([(3, 1), (1, 2), (2, 3)], [("a", ">u4"), ("b", "u4")]),
        np.array([3, 1, 2], ">u8"),
        np.array([3, 1, 2], "M8[D]"),
        np.array([[3, 0], [1, 0], [2, 0]], ">u4"),
    ],
    ids=["fields", "big-endian", "dates", "rows"],
)
def test_an_array_is_a_buffer_of_records_whatever_its_items_are(records: Any) -> None:
    data = records.tobytes()
    assert bytes(sort_records(records, 8, by="0:8")) == b"".join(sorted(data[i : i + 8] for i in range(0, 24, 8)))


def test_a_buffer_whose_items_are_no_bytes_is_one_of_records() -> None:
    for kind in (ctypes.c_uint64, ctypes.c_uint64.__ctype_be__):
        done = sort_records((kind * 3)(3, 1, 2), 8, by=f"0:u64{'be' if kind is not ctypes.c_uint64 else ''}")
        assert list((kind * 3).from_buffer(done)) == [1, 2, 3]


@pytest.mark.parametrize(
    ("records", "options", "words"),
    [
        (b"abc", {}, "give record_size"),
        (b"abc", {"record_size": 1, "by": "0:1", "ascending": False}, "ascending is for fields"),
        ("abc", {"record_size": 1, "by": "0:1"}, "a str is no buffer"),
        (np.array([{}]), {"record_size": 8, "by": "0:8"}, "references to objects"),
        (np.ma.array([2, 1], mask=[True, False]), {}, "lose its mask"),
        (np.zeros((2, 2), order="F"), {"record_size": 8, "by": "0:8"}, "contiguous"),
        (b"abc", {"record_size": 3}, "name a key"),
        (b"abc", {"record_size": 2, "by": "0:1"}, "no multiple"),
        (np.zeros((2, 2)), {}, "2 dimensions"),
        (np.array([{}]), {}, "references to objects"),
        (memoryview(b"abcd")[::2], {"record_size": 1, "by": "0:1"}, "contiguous"),
    ],
)
def test_wrong_buffers_are_refused(records: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        sort_records(records, **options)


def test_an_array_is_not_written_where_a_job_waits(here: Path) -> None:
    """The job would replace it when it is continued. A table and the output of addresses take the same way."""
    np.save("in.npy", np.arange(4)[::-1].copy())
    Path("out.npy.ecosort").mkdir()
    Path("out.npy.ecosort/journal").touch()
    with pytest.raises(BadInput, match=r"holds a job that was interrupted; continue with: ecosort resume "):
        sort_memmap("in.npy", "out.npy")
    assert not Path("out.npy").exists()
