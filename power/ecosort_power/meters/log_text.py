"""The text of a meter's log as a table: what separates its columns, and which line names them.

The names are on the first line that has one for the time. Comments (`#`) are left out, but for one that names as many columns as
the rows below it have, as Joulescope and gnuplot write it. Blanks separate where nothing else does.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ecosort_power.errors import MeterError, UsageError

_DELIMITERS = (",", ";", "\t", "|")
BLANK = " "
_NAMED = {"tab": "\t", "comma": ",", "blank": BLANK, "space": BLANK}
_PREAMBLE_LINES = 50  # what some instruments write above the names of the columns
_BETWEEN = re.compile(r"\s+(?![(\[])")  # blanks, but not those before a unit in brackets
_IN_A_MOMENT = re.compile(r"(?<=\d{4}[-/.]\d\d[-/.]\d\d)\s+(?=\d\d?:)")  # blanks between a date and a time of day
_NUMPY = re.compile(r"np\.\w+\(([^()]*)\)")  # how numpy 2 writes a number

HasTime = Callable[[Sequence[str]], bool]


@dataclass(frozen=True, slots=True)
class Table:
    header: list[str]
    rows: list[tuple[int, list[str]]]  # number of the line, and its fields; without fields for an empty line


def read_lines(path: Path) -> list[str]:
    try:
        if path.exists() and not path.is_file():
            raise MeterError(f"{path} is no regular file, which a log must be")
        data = path.read_bytes()
    except OSError as error:
        raise MeterError(f"{path} cannot be read: {error.strerror}") from error
    wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    text = data.decode("utf-16" if wide else "utf-8-sig", errors="replace").replace("\x00", "")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")  # a note may hold U+2028, where splitlines() cuts, too
    lines.pop()  # 41.7 may be no more than 4 yet
    return ["" if line.isspace() else line for line in lines]


def delimiters_of(given: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the delimiters to try. UsageError for what is none."""
    wanted = given.get("delimiter")
    delimiters = (*_DELIMITERS, BLANK) if wanted is None else (_NAMED.get(wanted, wanted),)
    if any(len(d) != 1 or d in '\r\n"' for d in delimiters):
        raise UsageError("csv: delimiter is one character, or tab, comma or blank")
    return delimiters


def read_table(path: Path, given: Mapping[str, str], has_time: HasTime) -> Table:
    """MeterError for a file that is none."""
    lines = read_lines(path)
    plain = ["" if line.startswith("#") else line for line in lines]
    if sum(map(bool, lines)) < 3 or sum(map(bool, plain)) < 2:
        raise MeterError(f"{path} holds no log: a line of column names and at least two rows are needed")
    header, delimiter, first = _Head(path, lines, plain, delimiters_of(given), has_time).find()
    rows = _rows(path, [_NUMPY.sub(r"\1", line) for line in plain[first:]], delimiter, first, len(header))
    return Table(header, list(enumerate(rows, first + 1)))


def _rows(path: Path, lines: Sequence[str], delimiter: str, before: int, width: int) -> list[list[str]]:
    """Splits the lines below the names. MeterError for a quote that is not closed where its field ends: up to the next quote, all
    lines would be one field."""
    if delimiter == BLANK:
        return [_at_blanks(line, width) for line in lines]
    rows: list[list[str]] = []
    reader, begun = csv.reader(lines, delimiter=delimiter, strict=True), 0
    try:
        for row in reader:
            rows.append(row)
            begun = reader.line_num
    except csv.Error as error:
        raise MeterError(
            f"{path}, line {before + begun + 1}: a field begins with a quote that is not closed at its end ({error}); close it, "
            "or take the quote out"
        ) from None
    return rows


@dataclass(frozen=True, slots=True)
class _Head:
    """Looks for the line of the names."""

    path: Path
    lines: Sequence[str]
    plain: Sequence[str]  # the same without comments
    delimiters: tuple[str, ...]
    has_time: HasTime

    def find(self) -> tuple[list[str], str, int]:
        """The names, what separates them, and the index of the first line below."""
        clear, blank = [d for d in self.delimiters if d != BLANK], [d for d in self.delimiters if d == BLANK]
        for delimiters, name in ((clear, self._plain), (blank, self._plain), (clear, self._comment), (blank, self._comment)):
            found = name(delimiters) if delimiters else None
            if found is not None:
                return found
        first = next(i for i, line in enumerate(self.plain) if line)
        delimiter = max(clear or blank, key=self.plain[first].count)
        return self._fields(self.plain[first], delimiter), delimiter, first + 1

    def _fields(self, line: str, delimiter: str) -> list[str]:
        return next(iter(_split(self.path, [line], delimiter)), [])

    def _widest(self, line: str, delimiters: Sequence[str]) -> tuple[list[str], str]:
        return max(((self._fields(line, d), d) for d in delimiters), key=lambda found: len(found[0]))

    def _plain(self, delimiters: Sequence[str]) -> tuple[list[str], str, int] | None:
        for i, line in enumerate(self.plain[:_PREAMBLE_LINES]):
            fields, delimiter = self._widest(line, delimiters) if line else ([], "")
            if len(fields) > 1 and self.has_time(fields) and (delimiter != BLANK or self._fits(fields, i + 1)):
                return fields, delimiter, i + 1
        return None

    def _comment(self, delimiters: Sequence[str]) -> tuple[list[str], str, int] | None:
        first = next(i for i, line in enumerate(self.plain) if line)
        for line in reversed(self.lines[max(first - _PREAMBLE_LINES, 0) : first]):
            fields, delimiter = self._widest(line.lstrip("# \t"), delimiters) if line.startswith("#") else ([], "")
            if len(fields) > 1 and self.has_time(fields) and self._fits(fields, first, delimiter):
                return fields, delimiter, first
        return None

    def _fits(self, fields: Sequence[str], index: int, delimiter: str = BLANK) -> bool:
        """The next line has as many fields: prose has not."""
        line = next((line for line in self.plain[index:] if line), "")
        return any(len(row) == len(fields) for row in _split(self.path, [line], delimiter, len(fields)))


def _split(path: Path, lines: Sequence[str], delimiter: str, width: int = 0) -> list[list[str]]:
    if delimiter == BLANK:
        return [_at_blanks(line, width) for line in lines]
    try:
        return list(csv.reader(lines, delimiter=delimiter))
    except csv.Error as error:
        raise MeterError(f"{path} is no CSV file: {error}") from None


def _at_blanks(line: str, width: int) -> list[str]:
    """Splits a line, with a date and a time of day as one field where there are as many names."""
    if not line.strip():
        return []
    fields = _BETWEEN.split(line.strip())
    if len(fields) > width > 0:
        whole = [f.replace("\0", " ") for f in _BETWEEN.split(_IN_A_MOMENT.sub("\0", line.strip()))]
        return whole if len(whole) == width else fields
    return fields
