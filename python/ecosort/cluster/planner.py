"""What a sort on several nodes will do, as integers: ranges, parts, slices, and the bytes that move where.

`plan_shape` knows sizes only, so that the simulator plans clusters that no one has; `cut_ranges` makes the tasks of real files.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from ecosort.cluster.sampling import sampled_rows
from ecosort.errors import BadInput

SAMPLE_READ_BYTES = 4096  # what a sampled row costs: one page
_LEAST_SLICE = 1 << 20  # smaller slices are mostly seeks (TritonSort writes 5 MB to 14 MB at a time)
_RANGES_PER_WORKER = 4  # so many turns balance nodes that are not equally fast
_INDEX_BYTES = 32  # of a record or row while a part is sorted in one pass, both copies of its entry
_ROW_BUFFERS = 3  # of a sort of rows, equal ones (`ecosort plan lines`)
_BUFFERS_SHARE = 8  # 1/8 of the memory is for blocks to read and write


@dataclass(frozen=True)
class Shape:
    """Counts and bytes of a whole job. Bytes of rows are moved four times: read, written as slices, read, written as parts."""

    input_bytes: int
    nodes: int
    workers: int  # of all nodes
    parts: int
    part_bytes: int  # the mean
    ranges: int
    range_bytes: int  # the largest
    sampled_rows: int
    memory_bytes: int  # of a task
    fetched_bytes: int = 0  # of remote inputs: written once and read once more, so that tasks have them as files
    uploaded_bytes: int = 0  # of an output in a bucket

    @property
    def slices(self) -> int:
        return self.ranges * self.parts

    @property
    def slice_bytes(self) -> int:
        return self.input_bytes // max(1, self.slices)

    @property
    def sample_bytes(self) -> int:
        """Read at most, in pages; a page that several rows are drawn from is read once."""
        return min(self.input_bytes, self.sampled_rows * SAMPLE_READ_BYTES)

    @property
    def moved_bytes(self) -> int:
        return 4 * self.input_bytes + 2 * self.fetched_bytes + self.sample_bytes

    @property
    def temp_bytes_per_node(self) -> int:
        """Slices stay until the job is committed, what was fetched until it is partitioned."""
        return -(-(self.input_bytes + self.fetched_bytes) // self.nodes)

    @property
    def network_bytes(self) -> int:
        """Remote inputs and outputs, and slices that another node reads than wrote them; nodes are equal, slices node-local."""
        return self.input_bytes - self.input_bytes // self.nodes + self.fetched_bytes + self.uploaded_bytes


@dataclass(frozen=True)
class Range:
    """Bytes [begin, end) of input number `source`."""

    source: int
    path: str
    begin: int
    end: int


def one_pass_bytes(memory_bytes: int, row_bytes: int, *, are_records: bool = True) -> int:
    """The largest part that a task with so much memory sorts without storing runs.

    Records lie in all of it; rows, whose number is not known before they are read, in one of three equal buffers.
    """
    shared = memory_bytes if are_records else memory_bytes // _ROW_BUFFERS
    usable = shared - shared // _BUFFERS_SHARE
    return usable * row_bytes // (row_bytes + _INDEX_BYTES)


def plan_shape(
    input_bytes: int,
    *,
    nodes: int,
    workers_per_node: int,
    memory_bytes: int,
    row_bytes: int = 100,
    are_records: bool = True,
    parts: int | None = None,
    fetched_bytes: int = 0,
    is_uploaded: bool = False,
) -> Shape:
    """The fewest parts that fit one pass each even if 1.1 times the mean, and at least one for every worker."""
    workers = nodes * workers_per_node
    fitting = one_pass_bytes(memory_bytes, row_bytes, are_records=are_records) * 10 // 11
    if fitting < 1:
        raise BadInput(f"{memory_bytes} bytes of memory for a task are too few; give a MiB at least")
    if parts is None:
        least = -(-input_bytes // fitting)
        parts = max(workers, -(-least // workers) * workers) if input_bytes >= workers * _LEAST_SLICE else max(1, least)
    if parts < 1:
        raise BadInput(f"parts is a positive number, not {parts}")
    range_bytes = _range_bytes(input_bytes, workers, parts, row_bytes)
    ranges = max(1, -(-input_bytes // range_bytes))
    return Shape(
        input_bytes=input_bytes,
        nodes=nodes,
        workers=workers,
        parts=parts,
        part_bytes=-(-input_bytes // parts),
        ranges=ranges,
        range_bytes=range_bytes,
        sampled_rows=sampled_rows(parts, ranges),
        memory_bytes=memory_bytes,
        fetched_bytes=fetched_bytes,
        uploaded_bytes=input_bytes if is_uploaded else 0,
    )


def _range_bytes(input_bytes: int, workers: int, parts: int, row_bytes: int) -> int:
    """Equally many for every worker, but with slices that are worth a request, and whole records."""
    turns = min(_RANGES_PER_WORKER, max(1, input_bytes // (workers * parts * _LEAST_SLICE)))
    wanted = max(1, -(-input_bytes // (turns * workers)))
    return -(-wanted // row_bytes) * row_bytes


def cut_ranges(
    paths: Sequence[str], sizes: Sequence[int], range_bytes: int, record_size: int, whole: Container[str] = ()
) -> list[Range]:
    """Ranges that tile the files, in their order. Those of a file are equally long up to a record; files of `whole` have one.
    Empty files have none, but where all are empty, the first one has: it says what an empty part looks like."""
    ranges = []
    for source, (path, size) in enumerate(zip(paths, sizes, strict=True)):
        if size % record_size:
            raise BadInput(f"'{path}' has {size} bytes, which is no multiple of the record size {record_size}")
        records = size // record_size
        count = min(1, size) if path in whole else -(-size // range_bytes)
        ends = [records * (number + 1) // count * record_size for number in range(count)]
        ranges += [Range(source, path, begin, end) for begin, end in zip([0, *ends], ends, strict=False)]
    return ranges or [Range(0, paths[0], 0, 0)]
