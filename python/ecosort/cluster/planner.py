"""Plans a sort on several nodes in integers: ranges, parts, slices, and the bytes that move where.

`plan_shape` knows sizes only, so that the simulator plans clusters that no one has; `cut_ranges` makes the tasks of real files.
The program says what a partition takes (partition_plan.py).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

from ecosort.cluster.partition_plan import PartitionPlan, plan_partition
from ecosort.cluster.sampling import sampled_rows
from ecosort.errors import BadInput, NotEnoughMemory

SAMPLE_READ_BYTES = 4096  # what a sampled row costs: one page
_GIB = 1 << 30
_LEAST_SLICE = 1 << 20  # smaller slices are mostly seeks (TritonSort writes 5 MB to 14 MB at a time)
_BLOCKS_IN_FLIGHT = 16  # as long as the least slice, or shorter: besides one for each part
_TURNS = 4  # of a worker: so many balance nodes that are not equally fast
_INDEX_BYTES = 32  # of a record or row while a part is sorted in one pass, both copies of its entry
_ROW_BUFFERS = 3  # of a sort of rows, equal ones (`ecosort plan lines`)
_BUFFERS_SHARE = 8  # 1/8 of the memory is for blocks to read and write
_MERGED_FILE_BYTES = 1 << 19  # of the memory of a merge: two blocks of a sorted file, as small as keeps a drive busy
_FILES_WANTED = 64  # of a part: more take longer to merge, fewer take more memory to sort, which the system has to clear
_PART_MEMORIES = 16  # a part that is merged may be so many times the memory of its task: it is soon made again
_LEAST_SORTED = 32 << 20  # sorted at a time, where the memory has room for it
_OPEN_FILES = 900  # of a task: most systems allow 1024 or more
_LEAST_TO_SORT = 2 << 20  # `ecosort sort`


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
    merges: bool  # slices are sorted files, and parts are merged; otherwise parts are sorted, in one pass
    partition_memory_bytes: int  # of a task that partitions
    files: int  # that a part is put together from
    fetched_bytes: int = 0  # of remote inputs: written once and read once more, so that tasks have them as files
    uploaded_bytes: int = 0  # of an output in a bucket

    @property
    def slices(self) -> int:
        """Files of slices in all, one of each range and part, or more where a range is sorted in several runs."""
        return self.files * self.parts

    @property
    def slice_bytes(self) -> int:
        """Bytes of a slice, the mean."""
        return self.input_bytes // max(1, self.slices)

    @property
    def sample_bytes(self) -> int:
        """Read at most, in pages; a page that several rows are drawn from is read once."""
        return min(self.input_bytes, self.sampled_rows * SAMPLE_READ_BYTES)

    @property
    def moved_bytes(self) -> int:
        """Bytes that all tasks read and write."""
        return 4 * self.input_bytes + 2 * self.fetched_bytes + self.sample_bytes

    @property
    def temp_bytes_per_node(self) -> int:
        """All slices are there when the first part is begun. What was fetched stays until it is partitioned."""
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
    threads: int = 1,
    parts: int | None = None,
    merges: bool | None = None,
    fetched_bytes: int = 0,
    is_uploaded: bool = False,
) -> Shape:
    """A part is merged from sorted slices where these are few enough for one pass, which takes less processor time and memory;
    else it is sorted in one pass, which it fits even if 1.1 times the mean. `merges` demands one of both.

    Raises BadInput, and NotEnoughMemory where merging is demanded and a task that partitions has too little.
    """
    if parts is not None and parts < 1:
        raise BadInput(f"parts is a positive number, not {parts}")
    job = _Job(input_bytes, nodes * workers_per_node, memory_bytes, threads, row_bytes, are_records)
    cut = None
    with contextlib.suppress(*[NotEnoughMemory] * (merges is None)):
        cut = job.merged(parts) if merges is not False else None
    if cut is None or (merges is None and cut.files * _MERGED_FILE_BYTES > memory_bytes):
        cut = job.sorted(parts)
    return Shape(
        input_bytes=input_bytes,
        nodes=nodes,
        workers=job.workers,
        parts=cut.parts,
        part_bytes=-(-input_bytes // cut.parts),
        ranges=cut.ranges,
        range_bytes=cut.range_bytes,
        sampled_rows=sampled_rows(cut.parts, cut.ranges),
        memory_bytes=memory_bytes,
        merges=cut.merges,
        partition_memory_bytes=cut.partition_memory_bytes,
        files=cut.files,
        fetched_bytes=fetched_bytes,
        uploaded_bytes=input_bytes if is_uploaded else 0,
    )


@dataclass(frozen=True)
class _Cut:
    parts: int
    ranges: int
    range_bytes: int
    files: int
    merges: bool
    partition_memory_bytes: int


@dataclass(frozen=True)
class _Job:
    input_bytes: int
    workers: int
    memory_bytes: int  # of a task
    threads: int
    row_bytes: int
    are_records: bool

    def merged(self, parts: int | None) -> _Cut:
        """Parts of a GiB or more, and of at most 16 times the memory."""
        parts = parts or self._for_workers(-(-self.input_bytes // (_PART_MEMORIES * self.memory_bytes)), self._turns(_GIB))
        most = self._partition(_PART_MEMORIES * self.memory_bytes, parts, self.memory_bytes).run_bytes
        at_once = min(most, max(self.input_bytes // _FILES_WANTED, _LEAST_SORTED))
        most_range = at_once * max(1, _OPEN_FILES // parts)
        range_bytes = self._range_bytes(max(self._turns(_GIB), -(-self.input_bytes // (self.workers * most_range))))
        ranges = max(1, -(-self.input_bytes // range_bytes))
        blocks = (parts + _BLOCKS_IN_FLIGHT) * _LEAST_SLICE
        memory = min(self.memory_bytes, -(-self.memory_bytes * at_once // most) + blocks)
        files = ranges * self._partition(range_bytes, parts, memory).runs
        return _Cut(parts, ranges, range_bytes, files, merges=True, partition_memory_bytes=memory)

    def sorted(self, parts: int | None) -> _Cut:
        """The fewest parts that fit one pass."""
        fitting = one_pass_bytes(self.memory_bytes, self.row_bytes, are_records=self.are_records) * 10 // 11
        if fitting < 1:
            raise BadInput(f"{self.memory_bytes} bytes of memory for a task are too few; give a MiB at least")
        parts = parts or self._for_workers(-(-self.input_bytes // fitting), 1)
        range_bytes = self._range_bytes(self._turns(parts * _LEAST_SLICE))
        ranges = max(1, -(-self.input_bytes // range_bytes))
        return _Cut(parts, ranges, range_bytes, ranges, merges=False, partition_memory_bytes=self.memory_bytes)

    def _partition(self, range_bytes: int, parts: int, memory_bytes: int) -> PartitionPlan:
        record_bytes = self.row_bytes if self.are_records else None
        return plan_partition(range_bytes, parts, memory_bytes, threads=self.threads, record_bytes=record_bytes, sorts=True)

    def _for_workers(self, least: int, turns: int) -> int:
        """A multiple of the workers, unless there is hardly anything for them."""
        if self.input_bytes < self.workers * _LEAST_SLICE:
            return max(1, least)
        return max(turns, -(-least // self.workers)) * self.workers

    def _turns(self, least_bytes: int) -> int:
        """Returns the turns of each worker, with so many bytes at least."""
        return min(_TURNS, max(1, self.input_bytes // (self.workers * least_bytes)))

    def _range_bytes(self, turns: int) -> int:
        """Equally many for every worker, and whole records."""
        wanted = max(1, -(-self.input_bytes // (turns * self.workers)))
        return -(-wanted // self.row_bytes) * self.row_bytes


def plan_that_fits(planned: Callable[[int], Shape], memory_bytes: int, threads: int, record_bytes: int | None) -> Shape:
    """Plans for a task with so much memory, and `threads`. `record_bytes`: None for rows of any length.

    Raises NotEnoughMemory with the fewest whole MiB that would do.
    """

    def fitting(memory: int) -> Shape | None:
        if memory < _LEAST_TO_SORT:
            return None
        with contextlib.suppress(NotEnoughMemory):
            shape = planned(memory)
            of_task = (shape.range_bytes, shape.parts, shape.partition_memory_bytes)
            plan_partition(*of_task, threads=threads, record_bytes=record_bytes, sorts=shape.merges)
            return shape
        return None

    if shape := fitting(memory_bytes):
        return shape
    low, high = 0, 1
    while not fitting(high << 20):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fitting(middle << 20) else (middle, high)
    line = f"{memory_bytes} bytes of memory for a task are too few for this input; give each task {high}MiB at least"
    raise NotEnoughMemory(line, memory_bytes, high << 20)


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
