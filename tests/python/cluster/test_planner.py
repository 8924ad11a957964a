"""Plans of clusters: ranges tile the inputs, parts fit the memory, and what is moved is four times the input."""

from __future__ import annotations

import pytest
from ecosort.cluster.partition_plan import plan_partition
from ecosort.cluster.planner import Range, cut_ranges, one_pass_bytes, plan_shape
from hypothesis import given, settings
from hypothesis import strategies as st

from ecosort import BadInput, NotEnoughMemory

MIB = 1 << 20


@settings(deadline=None)
@given(
    sizes=st.lists(st.integers(0, 5000), min_size=1, max_size=6),
    range_records=st.integers(1, 700),
    record_size=st.integers(1, 40),
)
def test_ranges_tile_the_inputs_in_their_order(sizes: list[int], range_records: int, record_size: int) -> None:
    sizes = [size * record_size for size in sizes]
    paths = [f"in{number}" for number in range(len(sizes))]
    ranges = cut_ranges(paths, sizes, range_records * record_size, record_size)
    for source, size in enumerate(sizes):
        own = [one for one in ranges if one.source == source]
        assert [one.begin for one in own] == [0, *(one.end for one in own)][: len(own)]
        assert (own[-1].end if own else 0) == size
        assert all(
            bool(sum(sizes)) <= one.end - one.begin <= range_records * record_size and one.begin % record_size == 0 for one in own
        )
    assert [one.source for one in ranges] == sorted(one.source for one in ranges)


def test_empty_inputs_have_one_range_that_says_what_an_empty_part_looks_like() -> None:
    assert cut_ranges(["a", "b"], [0, 0], 100, 1) == [Range(0, "a", 0, 0)]


def test_half_a_record_is_refused() -> None:
    with pytest.raises(BadInput, match="'a' has 150 bytes, which is no multiple of the record size 100"):
        cut_ranges(["a"], [150], 1000, 100)


@settings(deadline=None, max_examples=30)  # each asks the program
@given(
    input_bytes=st.integers(0, 10**12),
    nodes=st.integers(1, 300),
    workers=st.integers(1, 8),
    memory=st.integers(64 * MIB, 1 << 36),
    row_bytes=st.integers(1, 1000),
    merges=st.sampled_from([None, None, True, False]),
)
def test_every_part_takes_one_pass_even_when_it_is_the_largest_there_may_be(
    input_bytes: int, nodes: int, workers: int, memory: int, row_bytes: int, merges: bool | None
) -> None:
    try:
        shape = plan_shape(
            input_bytes, nodes=nodes, workers_per_node=workers, memory_bytes=memory, row_bytes=row_bytes, merges=merges
        )
    except NotEnoughMemory:
        assert merges, "sorted parts are planned for any memory: a job asks the program about it"
        return
    assert merges in (None, shape.merges)
    if shape.merges:
        assert merges or shape.files <= memory // 2**19
        assert shape.part_bytes <= 16 * memory
        assert shape.partition_memory_bytes <= memory
        size = (shape.range_bytes, shape.parts, shape.partition_memory_bytes)
        assert shape.files == shape.ranges * plan_partition(*size, threads=1, record_bytes=row_bytes, sorts=True).runs
        assert shape.files // shape.ranges * shape.parts <= max(900, shape.parts)
    else:
        assert shape.part_bytes * 11 // 10 <= one_pass_bytes(memory, row_bytes) + 2
        assert shape.partition_memory_bytes == memory
        assert shape.files == shape.ranges
    assert shape.parts * shape.part_bytes >= input_bytes
    assert shape.ranges * shape.range_bytes >= input_bytes
    assert 4 * input_bytes <= shape.moved_bytes <= 5 * input_bytes
    assert shape.temp_bytes_per_node * nodes >= input_bytes


def test_a_sample_is_small_beside_a_large_input() -> None:
    shape = plan_shape(10**12, nodes=10, workers_per_node=4, memory_bytes=1 << 32)
    assert shape.sample_bytes < 0.02 * shape.input_bytes
    assert shape.moved_bytes < 4.02 * shape.input_bytes


def test_every_worker_has_the_same_number_of_turns() -> None:
    shape = plan_shape(10**14, nodes=500, workers_per_node=4, memory_bytes=1 << 32)
    assert shape.ranges % shape.workers == 0
    assert shape.parts % shape.workers == 0


def test_parts_of_few_sorted_files_are_merged_and_others_sorted() -> None:
    plain = plan_shape(4 * 10**9, nodes=2, workers_per_node=1, memory_bytes=1 << 29)
    assert (plain.merges, plain.parts, plain.files) == (True, 2, 60)
    assert plain.partition_memory_bytes < 1 << 28
    large = plan_shape(
        10**14, nodes=10, workers_per_node=4, memory_bytes=4 * 10**9
    )  # 4 GB merge 7629 files with blocks of 256 KiB
    assert (large.merges, large.files) == (False, large.ranges)


def test_too_little_memory_is_refused() -> None:
    with pytest.raises(NotEnoughMemory) as raised:
        plan_shape(10**9, nodes=1, workers_per_node=1, memory_bytes=1 << 20, merges=True)
    assert raised.value.need_bytes
