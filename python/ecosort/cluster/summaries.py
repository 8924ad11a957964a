"""Summaries of parts, as valsort keeps them: 280 bytes from which `ecosort check -s part-*.sum` judges all parts as one.

    | first unordered | unordered | records | duplicate keys | checksum |    128 bits each: two words, the high one first
    | first record | last record |                                           100 bytes each

A part that has one is in order, so that the first two are 0. A part without rows has none: valsort would take zeros for records.
"""

from __future__ import annotations

import struct

from ecosort.cluster.formats import Format
from ecosort.cluster.manifest import Part, row_of
from ecosort.errors import VerificationFailed

_FORM = struct.Struct("=10Q100s100s")
_WORD = 1 << 64


def has_summaries(form: Format) -> bool:
    """Records of the Sort Benchmark, by their keys."""
    has_order = form.rows.get("keys", ["0:10"]) == ["0:10"] and not form.rows.get("reverse", False)
    return form.name == "records" and form.record_size == 100 and has_order


def summary_of(rows: int, duplicates: int, checksum: str, first: bytes, last: bytes) -> bytes:
    """Summarizes a part in order; `checksum` in hexadecimal digits."""
    counts = [word for number in (0, 0, rows, duplicates, int(checksum, 16)) for word in divmod(number, _WORD)]
    return _FORM.pack(*counts, first, last)


def demand_summary(part: Part, held: bytes, where: str) -> None:
    """Raises VerificationFailed where a summary is not of this part of a manifest."""
    told = _FORM.unpack(held) if len(held) == _FORM.size else None
    wanted = (0, 0, 0, 0, 0, part.rows, row_of(part.first), row_of(part.last))
    if told is None or (*told[:6], *told[-2:]) != wanted:
        raise VerificationFailed(f"'{where}' is not the summary of '{part.file}': `ecosort check -o` makes it again")
