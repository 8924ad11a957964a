"""NumPy arrays that are files, and arrays and other buffers in memory."""

from __future__ import annotations

import mmap
import os
import pathlib
from typing import Any

from ecosort.array_files import array_file, new_file
from ecosort.dtypes import Directions, Names, keys_of
from ecosort.errors import BadInput
from ecosort.keys import RecordKey
from ecosort.options import request_of
from ecosort.process import Sort
from ecosort.report import Report, with_notices
from ecosort.words import Path, path_word


def sort_array_file(array: Any, dst: Path | None, by: Names | None, ascending: Directions, told: dict[str, Any]) -> Report:
    """Sorts an np.memmap or the .npy file of this path, by fields, into the file `dst`, or in place. `told` are checked options.

    The bytes before the array (the header of an .npy file, np.memmap(offset=...)) are before the sorted one, too, so that `dst`
    is opened as the array was. The memmap is flushed first. In place the file must hold nothing but the array, and the memmap
    must be of mode 'r'. It still shows the file that was there before: open it anew.
    """
    file = array_file(array)
    told = told | {"by": keys_of(file.dtype, by, ascending), "record_size": file.dtype.itemsize}
    if told.get("in_place", False) == (dst is not None):
        raise BadInput("give either dst, or in_place=True")
    listeners = {name: told.pop(name) for name in ("progress", "cancel") if name in told}
    if dst is None:
        file.check_can_be_in_place()
        return Sort(request_of(told | {"as_is": True}, "records", [file.path], None), **listeners).wait()
    if not file.offset:
        return Sort(request_of(told, "records", [file.path], path_word(dst, "dst")), **listeners).wait()
    told.setdefault("temp", (str(pathlib.Path(path_word(dst, "dst")).parent),))
    notices: list[str] = []
    with file.at_its_records() as source, new_file(dst, told.get("overwrite", False), notices) as target:
        file.copy_header(target)
        report = Sort(request_of(told, "records", ["-"], "-"), stdin=source, stdout=target, **listeners).wait()
    return with_notices(report, notices)


def sort_in_memory(records: Any, by: Any, ascending: Directions, told: dict[str, Any]) -> Any:
    """Sorts records in memory and writes to no drive: a NumPy array by fields, or with record_size any buffer by keys.

    Returns an array, or a memoryview, which can be written to and has memory of its own. This takes up to four times the memory
    of `records`: they, a copy, the sort, and the result.
    """
    if "record_size" in told:
        if by is None:
            raise BadInput("name a key with by, such as at(0).u64()")
        if ascending is not True:
            raise BadInput("ascending is for fields of an array; with record_size a key is descending, or say reverse=True")
        return _sort_buffer(_bytes_of(records), told | {"by": by})
    if not hasattr(records, "__array_interface__"):
        raise BadInput("give record_size in bytes; only NumPy's arrays know their own")
    dtype: Any = records.dtype
    if records.ndim != 1:
        raise BadInput(f"an array of {records.ndim} dimensions has no records; give one of one dimension")
    if dtype.hasobject:
        raise BadInput(f"an array of {dtype} holds references to objects, which cannot be sorted as bytes")
    if isinstance(by, RecordKey):
        raise BadInput("a key of records needs record_size; without it by names fields of the array")
    keys = keys_of(dtype, by, ascending)
    contiguous = records if records.flags.c_contiguous else records.copy()
    done = _sort_buffer(_bytes_of(contiguous), told | {"by": keys, "record_size": dtype.itemsize})
    import numpy  # which is there, because the array is

    return numpy.frombuffer(done, dtype=dtype)


def _bytes_of(records: Any) -> memoryview:
    """Returns the bytes of a buffer, whatever its items are."""
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


def _sort_buffer(view: memoryview, told: dict[str, Any]) -> memoryview:
    record_size = told["record_size"]
    if view.nbytes % record_size:
        raise BadInput(f"{view.nbytes} bytes are no multiple of the record size {record_size}")
    with os.fdopen(os.memfd_create("ecosort-in"), "wb") as source, os.fdopen(os.memfd_create("ecosort-out"), "rb") as target:
        source.write(view)
        source.flush()
        told = told | {"memory": _memory_for(view.nbytes, record_size)}
        request = request_of(told, "records", [f"/proc/self/fd/{source.fileno()}"], "-")
        Sort(request, stdout=target.fileno(), keep=[source.fileno()]).wait()
        size = os.fstat(target.fileno()).st_size
        return memoryview(mmap.mmap(target.fileno(), size)) if size else memoryview(bytearray())


def _memory_for(size_bytes: int, record_size: int) -> int:
    """Enough for one pass: the records, an index of 16 bytes each, and some buffers."""
    return size_bytes + size_bytes // 4 + 16 * (size_bytes // max(record_size, 1)) + (32 << 20)
