"""The work of sort_table(): rows into sorted runs, keys through the program, rows out of the runs in the order of the keys."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ecosort.ahead import Behind, ahead
from ecosort.arrow_dictionaries import Dictionaries
from ecosort.arrow_input import cast_to, check_schema, pieces_of, plain_schema
from ecosort.arrow_keys import columns_of
from ecosort.arrow_runs import Run, RunFile
from ecosort.arrow_sources import Source
from ecosort.errors import IoFailed, NotEnoughMemory
from ecosort.kept_memory import KeptMemory
from ecosort.key_transport import transport_of
from ecosort.pipe import PipedSort
from ecosort.report import Report


@dataclass(frozen=True)
class Shares:
    """Shares `memory` out, in bytes. pyarrow with its Parquet takes 128 MiB by itself, of which 64 are free.

    32 MiB of these are for the pages of the columns of a Parquet file; those of many columns take more, `more_pages`.
    """

    all_memory: int
    more_pages: int = 0

    def with_pages(self, page_bytes: int) -> Shares:
        """Raises NotEnoughMemory."""
        more = (page_bytes - (32 << 20)) * 5 // 4
        if more <= 0:
            return self
        if self.all_memory < (128 << 20) + more:
            line = (
                f"the columns take {page_bytes >> 20} MiB to be read page by page, and {self.all_memory} bytes of memory are too "
                f"little for that; give at least {129 + (more >> 20)}MiB"
            )
            raise NotEnoughMemory(line, self.all_memory, (129 + (more >> 20)) << 20)
        return Shares(self.all_memory, more)

    @property
    def memory(self) -> int:
        """Returns what is left to share."""
        free = self.all_memory - self.more_pages
        return max(free - (64 << 20), free // 2)

    @property
    def program(self) -> int:
        """Returns the memory of the process that sorts the keys; less than 2 MiB sort nothing."""
        return max(self.memory // 4, 2 << 20)

    @property
    def run(self) -> int:
        """Rows of a run are there twice, in buffers up to twice as large; their keys may be as long."""
        return min(self.memory // 16, 512 << 20)

    @property
    def dictionaries(self) -> int:
        """Counts the bytes of the values of one column that are put together from several dictionaries."""
        return self.memory // 8

    @property
    def batch(self) -> int:
        """Returns the size of a batch in a run: in the merge one of every run is there."""
        return min(max(self.memory // 4096, 16 << 10), 512 << 10)

    @property
    def most_runs(self) -> int:
        """Returns how many runs a merge has room for."""
        return self.memory // 4 // self.batch

    @property
    def kept(self) -> int:
        """By which this process may grow before the allocator gives back what is not in use."""
        return self.more_pages + min(
            self.memory * 5 // 8, self.memory - (96 << 20)
        )  # less than nothing: it gives back all at once

    @property
    def step(self) -> int:
        """Returns the size of one batch that is read and given out."""
        return self.memory // 16


LEAST_MEMORY = 128 << 20  # pyarrow with its Parquet takes so much by itself


class RowSort:
    """Sorts one table with `memory` bytes, and unnamed files in `place`."""

    def __init__(self, memory: int, threads: int | None, place: str) -> None:
        if memory < LEAST_MEMORY:
            line = f"{memory} bytes of memory sort no table; give at least {LEAST_MEMORY >> 20}MiB"
            raise NotEnoughMemory(line, memory, LEAST_MEMORY)
        self._take_shares(Shares(memory))
        self._threads = threads
        self._place = place
        self._keys: PipedSort | None = None

    def _take_shares(self, shares: Shares) -> None:
        self._shares = shares
        self._kept = KeptMemory(shares.kept)

    def sort(self, source: Source, by: str | Sequence[str | Sequence[str]]) -> Any:
        """The rows of the source by these columns, as a RecordBatchReader."""
        self._take_shares(self._shares.with_pages(source.page_bytes))
        encoded = Dictionaries(source.schema, self._shares.dictionaries)
        with closing(self._pieces(source, encoded)) as pieces:
            if not source.is_of_files:
                return self._sort(encoded, pieces, by)
            with closing(ahead(pieces)) as read_ahead:
                return self._sort(encoded, read_ahead, by)

    def joined(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Returns the rows in batches large enough for groups of a file."""
        return pieces_of(batches, self._shares.step, self._kept)

    def report(self) -> Report:
        """Returns the report of the sort of the keys, when all rows came out."""
        assert self._keys
        return self._keys.wait()

    def _pieces(self, source: Source, encoded: Dictionaries) -> Generator[Any, None, None]:
        schema = encoded.stored_schema
        plain = plain_schema(schema)
        batches = encoded.stored(source.batches(self._shares.run, self._kept))
        yield from pieces_of(batches if plain.equals(schema) else cast_to(plain, batches), self._shares.run, self._kept)

    def _sort(self, encoded: Dictionaries, pieces: Iterable[Any], by: str | Sequence[str | Sequence[str]]) -> Any:
        plain = plain_schema(encoded.stored_schema)
        check_schema(plain)
        of_values = plain_schema(encoded.value_schema)
        columns = columns_of(of_values, by)
        with ExitStack() as stack:
            file = RunFile(self._place, plain)
            stack.callback(file.close)
            stack.push(file.count_in)
            transport = transport_of(of_values, columns, self._shares.program, self._threads, self._place)
            sort = self._keys = stack.enter_context(PipedSort(transport.request))
            runs: list[Run] = []
            number = 0
            with Behind[_Ordered](lambda rows: runs.append(self._store(file, rows))) as storing:
                for piece in pieces:
                    self._check_count(number)
                    keyed = encoded.with_values(piece, (column.index for column in columns))
                    storing.give(_put_in_order(piece, transport.keys(keyed), number, transport, sort))
                    del keyed
                    del piece  # the next one is made now
                    number += 1
                    self._kept.check()
            sort.end_input()
            merged = self._merge(runs, transport.runs_of(sort.pieces()), stack.pop_all())
            next(merged)  # from here on its end closes everything, however it comes
            return pa.RecordBatchReader.from_batches(encoded.schema(), ahead(_in_order(ahead(merged), encoded, self._kept)))

    def _check_count(self, runs: int) -> None:
        if runs == self._shares.most_runs:
            line = f"the table is too long for this memory: it makes more than {runs} runs; give more memory"
            raise NotEnoughMemory(line, self._shares.all_memory, None)

    def _store(self, file: RunFile, ordered: _Ordered) -> Run:
        """The rows in their order, as a run."""
        run, rows = Run(file), ordered.rows
        step = max(1, -(-rows.num_rows // _STEPS_OF_RUN))
        for at in range(0, rows.num_rows, step):
            self._append(file, run, rows.take(ordered.order.slice(at, step)))
        self._kept.check()
        return run

    def _append(self, file: RunFile, run: Run, rows: Any) -> None:
        """In batches, each of about its share."""
        step = max(1, rows.num_rows * self._shares.batch // max(rows.nbytes, 1))
        at = 0
        while at < rows.num_rows:
            part = rows.slice(at, step)
            while part.nbytes > 2 * self._shares.batch and part.num_rows > 1:
                part = part.slice(0, (part.num_rows + 1) // 2)
            file.append(run, part)
            at += part.num_rows

    def _merge(self, runs: list[Run], numbers: Iterator[NDArray[np.uint32]], stack: ExitStack) -> Iterator[_Ordered]:
        with stack:
            yield _Ordered(None, None)
            for some in numbers:
                at = 0
                while at < len(some):
                    wanted = self._fitting(runs, some[at : at + _MOST_ROWS])
                    at += len(wanted)
                    yield _next_rows(runs, wanted)
                    self._kept.check()
            if not all(run.is_at_end() for run in runs):
                raise IoFailed("a run has more rows than keys (check the memory)")

    def _fitting(self, runs: list[Run], wanted: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Returns so many of them that no more must be read than one step has room for."""
        while len(wanted) > 1:
            counts = np.bincount(wanted)
            size = sum(runs[run].bytes_to_read(int(counts[run])) for run in np.flatnonzero(counts))
            if size <= self._shares.step:
                break
            wanted = wanted[: len(wanted) // 2]
        return wanted


@dataclass(frozen=True)
class _Ordered:
    """Rows, and which of them comes first, second, ..."""

    rows: Any
    order: Any


def _put_in_order(rows: Any, keys: Any, number: int, transport: Any, sort: PipedSort) -> _Ordered:
    """The rows of a run, whose keys go to the program with its number."""
    order = transport.order(keys)
    sort.write(transport.message(keys, number))
    return _Ordered(rows, order)


_MOST_ROWS = 1 << 16  # that are given out at a time
_STEPS_OF_RUN = 64  # in which its rows are put in order


def _next_rows(runs: list[Run], wanted: NDArray[np.uint32]) -> _Ordered:
    """Each of the run that is wanted."""
    counts = np.bincount(wanted)
    if len(runs) <= 1 << 16:
        wanted = wanted.astype(np.uint16)  # which is sorted by its digits
    parts = [part for run in np.flatnonzero(counts) for part in runs[run].take(int(counts[run]))]
    place_of = np.empty(len(wanted), np.int64)
    place_of[np.argsort(wanted, kind="stable")] = np.arange(len(wanted))
    return _Ordered(pa.concat_batches(parts), pa.array(place_of))


def _in_order(merged: Generator[_Ordered, None, None], encoded: Dictionaries, kept: KeptMemory) -> Iterator[Any]:
    with closing(merged):
        for some in merged:
            yield encoded.encoded(some.rows.take(some.order))
            del some  # the next one is made now
            kept.check()
