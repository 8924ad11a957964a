"""Brings a range of a remote input to a node, as a file of whole rows.

    remote   ... row | row | row | row ...         the rows that begin in [begin, end), wherever the last one ends
                   ^ begin       ^ end
    staged       | row | row | row |

Records are cut by arithmetic, lines and JSON lines at the ends of rows. A table may hold these in quotes, and has a header: its
range is the whole object.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from ecosort.cluster.formats import Format
from ecosort.remote.addresses import PIECE, Version
from ecosort.remote.ranges import read_range

_LEAD = 2  # bytes in front of a range: the end of the row before, and what is in front of that


def is_cut_whole(form: Format) -> bool:
    """A remote input has one range only."""
    return form.name == "csv"


def fetch_rows(form: Format, url: str, version: Version, begin: int, end: int, target: IO[bytes]) -> int:
    """Writes the rows that begin in the range. Returns how many bytes were read. Raises as read_range()."""
    if form.name == "records" or is_cut_whole(form):
        return _write(read_range(url, version, begin, end), target)
    cut = _RowCut(form.row_end, begin, end)
    at = start = max(0, begin - _LEAD)
    while not cut.is_done and at < version.size:
        until = end if at < end else at + PIECE  # the range, then what its last row takes
        for piece in read_range(url, version, at, min(until, version.size)):
            target.write(cut.rows_in(piece, at))
            at += len(piece)
            if cut.is_done:
                break
    if form.name == "jsonl" and not cut.is_done:
        target.write(cut.end_like_the_row_before())
    return at - start


def _write(pieces: Iterator[bytes], target: IO[bytes]) -> int:
    return sum(target.write(piece) for piece in pieces)


class _RowCut:
    """Is shown pieces one after the other, and says what of them belongs to the range [begin, end)."""

    def __init__(self, row_end: bytes, begin: int, end: int) -> None:
        self._row_end = row_end
        self._begin = begin
        self._end = end
        self._is_inside = begin == 0
        self._has_ends = False  # of rows, in what belongs to the range
        self._row = b""  # the last byte of the last piece; when inside, of the row before the range
        self._last = b""  # byte of what belongs to the range
        self.is_done = begin >= end

    def rows_in(self, piece: bytes, at: int) -> bytes:
        """Returns those of the piece that begins at the byte `at`."""
        if self.is_done:
            return b""
        begin = 0
        if not self._is_inside:
            begin = self._first_row(piece, at)
        if not self._is_inside or self.is_done:
            return b""
        found = piece.find(self._row_end, max(begin, self._end - 1 - at))
        self.is_done = found >= 0
        rows = piece[begin : found + 1 if found >= 0 else len(piece)]
        self._has_ends |= self._row_end in rows
        self._last = rows[-1:] or self._last
        return rows

    def _first_row(self, piece: bytes, at: int) -> int:
        """Finds where in the piece the range has its first row. None begins in it where the end of the one before is too far
        away.
        """
        found = piece.find(self._row_end, max(0, self._begin - 1 - at))
        if found < 0:
            self._row = piece[-1:]
            self.is_done = at + len(piece) >= self._end
            return 0
        self._row = piece[found - 1 : found] if found > 0 else self._row
        self._is_inside = True
        self.is_done = at + found + 1 >= self._end
        return found + 1

    def end_like_the_row_before(self) -> bytes:
        """For a last row that lacks its end and is alone, so that no one else can look at the row before; else nothing."""
        is_wanted = self._row == b"\r" and self._last not in (b"", b"\r") and not self._has_ends
        return b"\r\n" if is_wanted else b""
