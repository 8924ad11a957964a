"""Floor (b): the requests of an ideal two-pass (or one-pass) sort that moves the minimal bytes, as a trace to replay.

Formation reads the input in order and writes what does not stay in memory; the merge reads the runs in turn, block by block,
and writes the output. Block size and depth are searched for on this drive, so that a bad plan cannot choose its own floor.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PAGE = 4096
BLOCK_SIZES = (256 << 10, 1 << 20, 4 << 20)
DEPTHS = (4, 16, 32)


@dataclass(frozen=True)
class Shape:
    """The work to move: the whole input once in, its stored part out and in again, the output once out. A part may be nothing."""

    input_bytes: int
    stored_bytes: int
    runs: int  # stored ones
    output_bytes: int

    def part(self, share: float) -> "Shape":
        """Returns the shape with less data."""
        return Shape(int(self.input_bytes * share), int(self.stored_bytes * share), self.runs, int(self.output_bytes * share))


def _blocks(total: int, size: int) -> Iterator[tuple[int, int]]:
    """(offset, size) of the blocks; direct I/O moves whole pages, so the last one is rounded up."""
    for offset in range(0, total, size):
        left = -(-(total - offset) // PAGE) * PAGE
        yield offset, min(size, left)


def _runs(shape: Shape, block: int) -> list[list[tuple[int, int]]]:
    """The blocks of each run; runs are equally long, in whole blocks."""
    if shape.runs == 0:
        return []
    blocks = list(_blocks(shape.stored_bytes, block))
    each = -(-len(blocks) // shape.runs)
    parts = [blocks[i : i + each] for i in range(0, len(blocks), each)]
    return [[(offset - part[0][0], size) for offset, size in part] for part in parts]


def lines(shape: Shape, block: int) -> Iterator[str]:
    """The requests. `1` as the last word: free to go as soon as the depth allows; `0`: after everything before it."""
    runs = _runs(shape, block)
    stored = [(2 + run, offset, size) for run, part in enumerate(runs) for offset, size in part]
    reads = list(_blocks(shape.input_bytes, block))
    # A run is written while the next one is read; the part that stays in memory is read last, without writes.
    lag = len(runs[0]) if runs else len(reads)
    for i, (offset, size) in enumerate(reads):
        yield f"read input 1 {offset} {size} 1"
        if 0 <= i - lag < len(stored):
            yield "write run {} {} {} 1".format(*stored[i - lag])
    for file, offset, size in stored[max(len(reads) - lag, 0) :]:
        yield f"write run {file} {offset} {size} 1"
    output = 2 + len(runs)
    in_turn = [(2 + run, *part[i]) for i in range(len(runs[0]) if runs else 0) for run, part in enumerate(runs) if i < len(part)]
    writes = list(_blocks(shape.output_bytes, block))
    done = 0
    for i, (offset, size) in enumerate(writes):
        # Read what the next block of output needs, in proportion.
        until = -(-len(in_turn) * (i + 1) // len(writes))
        for n, (file, run_offset, run_size) in enumerate(in_turn[done:until]):
            yield f"read run {file} {run_offset} {run_size} {0 if i == 0 and n == 0 else 1}"
        is_first = i == 0 and until == 0
        done = until
        yield f"write output {output} {offset} {size} {0 if is_first else 1}"
    yield f"sync output {output} 0 0 0"


def write_floor_trace(path: Path, shape: Shape, block: int) -> None:
    with path.open("w") as file:
        file.write("ecosort.trace/1\n")
        file.writelines(line + "\n" for line in lines(shape, block))
