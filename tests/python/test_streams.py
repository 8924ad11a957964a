"""sorted_iter and sorted_records give what sorted() gives, with bounded memory, and leave nothing behind."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecosort import BadInput, NotEnoughMemory, sorted_iter, sorted_records
from python.support import child_pids, interrupt_when_told, records, start_python

AWKWARD = st.lists(st.sampled_from([0, 1, 9, 10, 11, 12, 13, 127, 128, 255]), max_size=6).map(bytes)


@settings(max_examples=25, deadline=None)
@given(st.lists(AWKWARD, max_size=30), st.booleans())
def test_any_bytes_come_back_in_order(items: list[bytes], reverse: bool) -> None:
    assert list(sorted_iter(items, reverse=reverse)) == sorted(items, reverse=reverse)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text(alphabet="\0\n\x0baé\ud800\uffff\U00010000", max_size=4), max_size=30), st.booleans())
def test_text_is_in_pythons_order(items: list[str], reverse: bool) -> None:
    assert list(sorted_iter(items, reverse=reverse)) == sorted(items, reverse=reverse)


KEYS: list[Any] = [
    lambda item: item[:1],
    lambda item: len(item) - 2,
    lambda item: (len(item) - 1) / 3 * (-1) ** len(item),
    lambda item: (item[1:2], -len(item)),
    lambda item: [-0.0, 0.0, float("-inf"), 1e-300][len(item) % 4],
    lambda item: item[:2].decode("latin-1"),
]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("reverse", [False, True])
def test_keys_order_and_equal_ones_stay_in_order(key: Any, reverse: bool) -> None:
    generator = random.Random(2)
    items = [bytes(generator.choices([0, 9, 10, 11, 255], k=generator.randrange(6))) for _ in range(3000)]
    assert list(sorted_iter(items, key=key, reverse=reverse)) == sorted(items, key=key, reverse=reverse)


def test_nan_comes_last() -> None:
    values = {"a": float("nan"), "b": 1.0, "c": float("inf"), "d": -float("nan")}
    assert list(sorted_iter(values, key=values.__getitem__)) == ["b", "c", "a", "d"]


def test_more_than_the_memory_passes_through(temp: Path) -> None:
    items = records(100_000, 40)
    assert list(sorted_iter(iter(items), memory="2MiB", temp=temp)) == sorted(items)


def test_long_items(temp: Path) -> None:
    items = [bytes([i % 7]) * 3_000_000 for i in range(9)]
    assert list(sorted_iter(items, memory="32MiB", temp=temp)) == sorted(items)
    with pytest.raises(NotEnoughMemory):
        list(sorted_iter(items, memory="2MiB", temp=temp))


def test_records_by_typed_keys(temp: Path) -> None:
    items = records(200_000, 12)
    done = list(sorted_records(items, 12, by="4:u64:desc", memory="2MiB", temp=temp))
    assert done == sorted(items, key=lambda record: -int.from_bytes(record[4:], "little"))
    assert list(sorted_records([b"", b"bbaa"], 2, by="0:1", reverse=True)) == [b"bb", b"aa"]


def test_an_iterator_that_is_closed_ends_its_sort(temp: Path) -> None:
    done = sorted_iter(records(50_000, 40), memory="2MiB", temp=temp)
    next(done)
    assert len(child_pids()) == 1
    done.close()  # type: ignore[attr-defined]
    assert child_pids() == []


def test_an_exception_of_the_items_ends_the_sort_and_is_raised() -> None:
    def broken() -> Iterator[bytes]:
        yield b"a"
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        list(sorted_iter(broken()))
    assert child_pids() == []


@pytest.mark.parametrize(
    ("items", "key", "words"),
    [
        (["a", b"b"], None, "all str or all bytes"),
        ([1], None, "all str or all bytes, not int"),
        (["a", "b"], lambda item: item if item == "a" else 1, "keys of one kind"),
        (["a"], lambda _: None, "not NoneType"),
        (["a"], lambda _: 2**64, "more than 64 bits"),
    ],
)
def test_wrong_items_and_keys_are_refused(items: Any, key: Any, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        list(sorted_iter(items, key=key))
    assert child_pids() == []


def test_parts_of_records_are_refused() -> None:
    with pytest.raises(BadInput, match="no whole records of 2 bytes"):
        list(sorted_records([b"abc"], 2, by="0:1"))
    with pytest.raises(BadInput, match="records are bytes, not str"):
        list(sorted_records(["abc"], 3, by="0:1"))  # type: ignore[list-item]
    with pytest.raises(BadInput, match="record_size is a positive number of bytes, not 0"):
        list(sorted_records([b"abc"], 0, by="0:1"))


def test_ctrl_c_while_items_are_read(here: Path) -> None:
    script = """
import itertools, os, ecosort
def items():
    for number in itertools.count():
        if number == 200_000:
            print("many", flush=True)
        yield str(number)
try:
    list(ecosort.sorted_iter(items(), memory="2MiB", temp="."))
except KeyboardInterrupt:
    print("interrupted", open(f"/proc/self/task/{os.getpid()}/children").read(), os.listdir("."))
"""
    out, err = interrupt_when_told(start_python(script, here))
    assert (out, err) == ("interrupted  []\n", "")
