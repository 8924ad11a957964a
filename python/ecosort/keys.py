"""What records, lines and rows of tables are sorted by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ecosort.checks import several
from ecosort.errors import BadInput


@dataclass(frozen=True)
class Key:
    """A part of a record. `type` is one of `ecosort sort --help`: bytes, nocase, u8 to u64be, i8 to i64be, f32 to f64be, dec.

    >>> str(Key(8, 8, "u64", descending=True))
    '8:8:u64:desc'
    """

    offset: int
    length: int
    type: str = "bytes"
    descending: bool = False

    def __str__(self) -> str:
        return f"{self.offset}:{self.length}:{self.type}" + (":desc" if self.descending else "")


@dataclass(frozen=True)
class LineKey:
    """A field of a line (from 1), from its character `character`, or with `last` the fields from `field` to `last`.

    `to_end`: up to the end of the line instead. The other options are those of GNU sort, for this key.

    >>> str(LineKey(2, numeric=True))
    '2,2n'
    >>> str(LineKey(1, to_end=True, ignore_case=True, reverse=True))
    '1fr'
    """

    field: int
    last: int | None = None
    to_end: bool = False
    character: int | None = None
    numeric: bool = False
    general_numeric: bool = False
    human_numeric: bool = False
    month: bool = False
    version: bool = False
    ignore_case: bool = False
    ignore_leading_blanks: bool = False
    dictionary_order: bool = False
    ignore_nonprinting: bool = False
    reverse: bool = False

    def __str__(self) -> str:
        begin = f"{self.field}" if self.character is None else f"{self.field}.{self.character}"
        end = "" if self.to_end else f",{self.field if self.last is None else self.last}"
        return begin + end + self._letters()

    def _letters(self) -> str:
        return "".join(letter for letter, name in _LETTERS.items() if getattr(self, name))


_LETTERS = {
    "b": "ignore_leading_blanks",
    "d": "dictionary_order",
    "f": "ignore_case",
    "g": "general_numeric",
    "h": "human_numeric",
    "i": "ignore_nonprinting",
    "M": "month",
    "n": "numeric",
    "V": "version",
    "r": "reverse",
}


@dataclass(frozen=True)
class ValueKey:
    """A column of CSV by its name (or number, from 1, without a header), or a path into JSON lines.

    `type` is text, nocase, number, integer, date, version or length.

    >>> str(ValueKey("price", "number", descending=True))
    'price:number:desc'
    """

    name: str | int
    type: str = "text"
    descending: bool = False

    def __str__(self) -> str:
        return f"{self.name}:{self.type}" + (":desc" if self.descending else "")


def record_key_words(by: str | Key | Iterable[str | Key]) -> list[str]:
    """--key of `ecosort sort`, in the order they decide."""
    keys = several(by, (str, Key), "by", "a Key or a text such as '0:8:u64', or several of them")
    if not keys:
        raise BadInput("by is empty: name a key at least, such as Key(0, 8, 'u64')")
    return [f"--key={key}" for key in keys]


def line_key_words(by: int | str | LineKey | Iterable[int | str | LineKey]) -> list[str]:
    """--key of `ecosort lines`; a number is a field."""
    keys = several(by, (int, str, LineKey), "by", "the number of a field, a LineKey or a text of -k, or several of them")
    return [f"--key={LineKey(key) if isinstance(key, int) else key}" for key in keys]


def value_key_words(by: str | ValueKey | Iterable[str | ValueKey]) -> list[str]:
    """--by of `ecosort csv` and `ecosort jsonl`."""
    if isinstance(by, int) and not isinstance(by, bool):
        raise BadInput(f"by={by} is a number; a column by its number is ValueKey({by}) or '{by}', with header=False")
    keys = several(by, (str, ValueKey), "by", "the name of a column or a path, a ValueKey, or several of them")
    if not keys:
        raise BadInput("by is empty: name a column or a path at least")
    return [f"--by={key}" for key in keys]
