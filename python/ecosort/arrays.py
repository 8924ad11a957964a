"""NumPy arrays that are files (sort_memmap), and arrays and other buffers in memory (sort_records)."""

from __future__ import annotations

import mmap
import os
import pathlib
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from ecosort.array_files import ArrayFile, array_file, new_file
from ecosort.checks import is_left_out, several, truth, whole_number
from ecosort.dtypes import Directions, Names, keys_of
from ecosort.errors import BadInput
from ecosort.files import sort_in_place
from ecosort.keys import Key, record_key_words
from ecosort.process import Sort
from ecosort.report import Progress, Report
from ecosort.words import Path, Size, flags, output, path_word, record_size_word, resources

if TYPE_CHECKING:
    from collections.abc import Buffer  # type: ignore[attr-defined,unused-ignore]  # since Python 3.12

    import numpy as np


def sort_memmap(
    array: np.memmap[Any, Any] | Path,
    dst: Path | None = None,
    *,
    by: Names | None = None,
    ascending: Directions = True,
    in_place: bool = False,
    memory: Size | None = None,
    threads: int | None = None,
    temp: Path | tuple[Path, ...] = (),
    overwrite: bool = False,
    progress: Callable[[Progress], object] | None = None,
    cancel: threading.Event | None = None,
) -> Report:
    """Sorts the records of an array that is a file, a one-dimensional np.memmap or the path of an .npy file, into the file `dst`.

    `by` names fields, the first of which decides first (default: all of them, in their order; an array without fields is sorted
    by its values). Fields of u1 to u8, i1 to i8, f4, f8, S and bool of either byte order can be keys; others raise BadInput,
    which says why. -0.0 comes before 0.0, NaN after all numbers. The order is stable.

    What stands in the file before the array (the header of an .npy file, np.memmap(offset=...)) stands before the sorted one,
    too, so that `dst` is opened as the array was. The memmap is flushed first.

    `in_place=True` instead of `dst` sorts the file in its own space, as sort_in_place() does; it must hold nothing but the
    array, and the memmap must be of mode 'r'. It still shows the file that was there before: open it anew. The rest is as in
    sort_file().

    >>> import numpy as np
    >>> np.save("in.npy", np.array([(3, 0.5), (1, 2.5), (2, -1.0)], dtype=[("id", "u4"), ("x", "f8")]))
    >>> sort_memmap("in.npy", "out.npy", by="x", ascending=False).records
    3
    >>> np.load("out.npy", mmap_mode="r")["id"].tolist()
    [1, 3, 2]
    """
    file = array_file(array)
    keys = keys_of(file.dtype, by, ascending)
    if truth(in_place, "in_place") == (dst is not None):
        raise BadInput("give either dst, or in_place=True")
    if dst is None:
        file.check_can_be_in_place()
        size = file.dtype.itemsize
        return sort_in_place(
            file.path, record_size=size, by=keys, memory=memory, threads=threads, as_is=True, progress=progress, cancel=cancel
        )
    words = _record_words(file.dtype.itemsize, keys)
    if file.offset:
        words += resources(memory, threads, pathlib.Path(path_word(dst, "dst")).parent if is_left_out(temp) else temp)
        return _sort_behind_header(file, dst, words, overwrite, progress, cancel)
    words += [*resources(memory, threads, temp), output(dst, overwrite)]
    return Sort(["sort", *words, file.path], progress=progress, cancel=cancel).wait()


def sort_records(
    records: Buffer,
    record_size: int | None = None,
    *,
    by: str | Key | Iterable[str | Key] | None = None,
    ascending: Directions = True,
    reverse: bool = False,
    unique: bool = False,
    threads: int | None = None,
) -> Any:
    """Sorts records in memory and writes to no drive: a NumPy array, or any buffer of records of `record_size` bytes.

    An array without `record_size` is sorted by fields, as by sort_memmap(), and returned as an array; with `record_size` `by`
    are keys as of sort_file(), and a memoryview is returned. Either can be written to and has memory of its own. This takes up
    to four times the memory of `records`: they, a copy, the sort, and the result.

    Raises what sort_file() does.

    >>> bytes(sort_records(b"pearplumkiwi", 4, by="0:4"))
    b'kiwipearplum'
    >>> import numpy as np
    >>> sort_records(np.array([3, 1, 2], dtype="u8"), ascending=False)
    array([3, 2, 1], dtype=uint64)
    """
    if record_size is not None:
        record_size = whole_number(record_size, "record_size", "a positive number of bytes")
        if by is None:
            raise BadInput("name a key with by, such as Key(0, 8, 'u64')")
        if ascending is not True:
            raise BadInput("ascending is for fields of an array; with record_size a Key is descending, or say reverse=True")
        return _sort_buffer(_bytes_of(records), record_size, by, reverse, unique, threads)
    if not hasattr(records, "__array_interface__"):
        raise BadInput("give record_size in bytes; only NumPy's arrays know their own")
    array: Any = records
    dtype: Any = array.dtype
    if array.ndim != 1:
        raise BadInput(f"an array of {array.ndim} dimensions has no records; give one of one dimension")
    if dtype.hasobject:
        raise BadInput(f"an array of {dtype} holds references to objects, which cannot be sorted as bytes")
    if isinstance(by, Key):
        raise BadInput("a Key needs record_size; without it by names fields of the array")
    names = by if by is None else several(by, (str, Key), "by", "the name of a field, or several of them")
    keys = keys_of(dtype, names if names is None else [str(name) for name in names], ascending)
    contiguous = array if array.flags.c_contiguous else array.copy()
    done = _sort_buffer(_bytes_of(contiguous), dtype.itemsize, keys, reverse, unique, threads)
    import numpy  # which is there, because the array is

    return numpy.frombuffer(done, dtype=dtype)


def _bytes_of(records: Any) -> memoryview:
    """Of a buffer, whatever its items are."""
    if hasattr(records, "__array_interface__"):
        return _bytes_of_array(records)
    try:
        view = memoryview(records)
    except TypeError:
        raise BadInput(f"a {type(records).__name__} is no buffer; give bytes, an array or a memoryview") from None
    if not view.c_contiguous:
        raise BadInput(_SCATTERED)
    if view.nbytes == 0:
        return memoryview(b"")
    try:
        return view.cast("B")
    except ValueError:  # items of another machine's order, or of several values: only as a copy
        return memoryview(view.tobytes())


def _bytes_of_array(array: Any) -> memoryview:
    import numpy  # which is there, because the array is

    if array.dtype.hasobject:
        raise BadInput(f"an array of {array.dtype} holds references to objects, which cannot be sorted as bytes")
    if isinstance(array, numpy.ma.MaskedArray):
        raise BadInput("a masked array would lose its mask; give its filled() or compressed() values")
    if not array.flags.c_contiguous:
        raise BadInput(_SCATTERED)
    return memoryview(array.reshape(-1).view("u1")).cast("B") if array.nbytes else memoryview(b"")


_SCATTERED = "the records do not lie one after the other in memory; give a contiguous buffer"


def _record_words(record_size: int, by: str | Key | Iterable[str | Key]) -> list[str]:
    return [record_size_word(record_size), *record_key_words(by)]


def _sort_behind_header(
    file: ArrayFile,
    dst: Path,
    words: list[str],
    overwrite: bool,
    progress: Callable[[Progress], object] | None,
    cancel: threading.Event | None,
) -> Report:
    with file.at_its_records() as source, new_file(dst, overwrite) as target:
        os.write(target, file.header())
        command = ["sort", *words, "--output=-", "-"]
        report = Sort(command, stdin=source, stdout=target, progress=progress, cancel=cancel).wait()
        os.fsync(target)
        return report


def _sort_buffer(
    view: memoryview, record_size: int, by: str | Key | Iterable[str | Key], reverse: bool, unique: bool, threads: int | None
) -> memoryview:
    if record_size > 0 and view.nbytes % record_size:
        raise BadInput(f"{view.nbytes} bytes are no multiple of the record size {record_size}")
    with ExitStack() as stack:
        source, target = (stack.enter_context(_memory_file(name)) for name in ("ecosort-in", "ecosort-out"))
        _write_all(source, view)
        words = [*_record_words(record_size, by), *flags(reverse=reverse, unique=unique)]
        words += resources(_memory_for(view.nbytes, record_size), threads)
        Sort(["sort", *words, "--output=-", f"/proc/self/fd/{source}"], stdout=target, keep=[source]).wait()
        size = os.fstat(target).st_size
        return memoryview(mmap.mmap(target, size)) if size else memoryview(bytearray())


def _memory_for(size_bytes: int, record_size: int) -> int:
    """Enough for one pass: the records, an index of 16 bytes each, and some buffers."""
    return size_bytes + size_bytes // 4 + 16 * (size_bytes // max(record_size, 1)) + (32 << 20)


@contextmanager
def _memory_file(name: str) -> Iterator[int]:
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, view: memoryview) -> None:
    done = 0
    while done < view.nbytes:
        done += os.write(descriptor, view[done : done + (1 << 30)])
