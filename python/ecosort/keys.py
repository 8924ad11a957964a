"""The keys of records, lines and rows, as include/ecosort/request.hpp has them. str() of a key is its text in a request.

All keys are values: a method returns another key. `desc()` sorts the largest first.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partialmethod
from typing import Any

from ecosort.checks import several, truth
from ecosort.errors import BadInput
from ecosort.manual import KeyType, commands


@dataclass(frozen=True)
class RecordKey:
    """A field of a record: `length` bytes from the byte `offset` on, which counts from 0.

    `type` is one of `ecosort sort --help`: bytes, nocase, dec, u8 to u64be, i8 to i64be, f32 to f64be.

    >>> str(at(8).u64().big_endian().desc())
    '8:8:u64be:desc'
    """

    offset: int
    length: int = 0
    type: str = "bytes"
    descending: bool = False

    def of(self, type: str, length: int) -> RecordKey:  # noqa: A002
        """Returns the key with another type and length in bytes."""
        return replace(self, type=type, length=length)

    bytes = partialmethod(of, "bytes")  # and how many: at(0).bytes(10)
    nocase = partialmethod(of, "nocase")
    dec = partialmethod(of, "dec")
    u8 = partialmethod(of, "u8", 1)
    i8 = partialmethod(of, "i8", 1)
    u16 = partialmethod(of, "u16", 2)
    i16 = partialmethod(of, "i16", 2)
    u32 = partialmethod(of, "u32", 4)
    i32 = partialmethod(of, "i32", 4)
    f32 = partialmethod(of, "f32", 4)
    u64 = partialmethod(of, "u64", 8)
    i64 = partialmethod(of, "i64", 8)
    f64 = partialmethod(of, "f64", 8)

    def big_endian(self) -> RecordKey:
        """Takes the most significant byte of the number first."""
        return replace(self, type=f"{self.type}be")

    def desc(self) -> RecordKey:
        """Sorts the largest first."""
        return replace(self, descending=True)

    def __str__(self) -> str:
        return f"{self.offset}:{self.length}:{self.type}" + (":desc" if self.descending else "")


def _value_types() -> tuple[KeyType, ...]:
    return commands()["csv"].key_types


@dataclass(frozen=True)
class ValueKey:
    """A column of CSV by its name (or number, from 1, without a header), or a path into JSON lines.

    Every type of `ecosort csv --help` is a method: number(), ip(), text("de"), list("S|M|L"). Columns of tables and arrays have
    types of their own.

    >>> str(col("price").number().desc()), str(col("city").text("de")), str(col("net").ip())
    ('price:number:desc', 'city:text@de', 'net:ip')
    """

    name: str | int
    type: str = "text"
    descending: bool = False

    def of(self, type: str, argument: str = "") -> ValueKey:  # noqa: A002
        """Returns the key with another type, and what follows its name."""
        kind = next((kind for kind in _value_types() if kind.name == type), None)
        if kind is None:
            raise BadInput(f"{type!r} is no type of a key; there are {', '.join(kind.name for kind in _value_types())}")
        if argument and not kind.argument:
            raise BadInput(f"the type {type} takes no argument; {argument!r} was given")
        return replace(self, type=f"{type}{kind.argument[0]}{argument}" if kind.argument and argument else type)

    def __getattr__(self, name: str) -> Callable[..., ValueKey]:
        """Returns the method of a type: they are those that the program knows."""
        if name.startswith("_") or all(kind.name != name for kind in _value_types()):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        return functools.partial(self.of, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(kind.name for kind in _value_types())]

    def desc(self) -> ValueKey:
        """Sorts the largest first."""
        return replace(self, descending=True)

    def __str__(self) -> str:
        return f"{self.name}:{self.type}" + (":desc" if self.descending else "")


LETTERS = {
    "ignore_leading_blanks": "b",
    "dictionary_order": "d",
    "ignore_case": "f",
    "general_numeric": "g",
    "human_numeric": "h",
    "ignore_nonprinting": "i",
    "month": "M",
    "numeric": "n",
    "random": "R",
    "version": "V",
    "reverse": "r",
}


@dataclass(frozen=True, init=False)
class LineKey:
    """A part of a line. Fields and characters count from 1; `end_field` 0 is the end of the line.

    LineKey(2, last=3, numeric=True) is from field 2 to field 3; `to_end`: to the end of the line; `character` is the first one.
    The other options are those of sort_lines(). `ordering` has their letters, as `sort -k` does.

    >>> str(field(2).numeric()), str(LineKey(1, to_end=True, ignore_case=True, reverse=True))
    ('2,2n', '1fr')
    """

    begin_field: int
    begin_character: int
    end_field: int
    ordering: str

    def __init__(
        self, field: int, last: int | None = None, to_end: bool = False, character: int | None = None, **options: bool
    ) -> None:
        end = 0 if to_end else field if last is None else last
        members = (("begin_field", field), ("begin_character", 1 if character is None else character), ("end_field", end))
        for name, value in (*members, ("ordering", letters_of(options))):
            object.__setattr__(self, name, value)

    def to(self, field: int) -> LineKey:
        """Ends with this field; 0 is the end of the line."""
        return self._with(end_field=field)

    def letters(self, more: str) -> LineKey:
        """Adds options of `sort -k`: letters of bdfghiMnRrV."""
        return self._with(ordering=self.ordering + more)

    numeric = partialmethod(letters, "n")
    version = partialmethod(letters, "V")
    nocase = partialmethod(letters, "f")
    desc = partialmethod(letters, "r")

    def _with(self, **members: Any) -> LineKey:
        other = LineKey(self.begin_field)
        for name, value in (vars(self) | members).items():
            object.__setattr__(other, name, value)
        return other

    def __str__(self) -> str:
        begin = f"{self.begin_field}" + (f".{self.begin_character}" if self.begin_character != 1 else "")
        blanks = "b" if "b" in self.ordering else ""  # they count where they are, at the beginning of the key
        ordering = self.ordering.replace("b", "")
        return f"{begin}{blanks},{self.end_field}{ordering}" if self.end_field else begin + blanks + ordering


def letters_of(options: dict[str, bool]) -> str:
    """Returns the letters of `sort` for options such as numeric=True."""
    unknown = next((name for name in options if name not in LETTERS), None)
    if unknown:
        raise BadInput(f"{unknown} is no option of lines; there are {', '.join(LETTERS)}")
    return "".join(letter for name, letter in LETTERS.items() if truth(options.get(name, False), name))


def at(offset: int) -> RecordKey:
    """Begins a key of records at a byte: at(8).u64(), at(0).bytes(10)."""
    return RecordKey(offset)


def col(name: str | int) -> ValueKey:
    """Names a column of CSV, of a table or of an array, or a path into JSON lines. The whole text is the name."""
    return ValueKey(name)


def field(number: int) -> LineKey:
    """Names one field of lines, from 1."""
    return LineKey(number)


Key = RecordKey  # as it was called before
AnyKey = str | int | RecordKey | ValueKey | LineKey

_KINDS: dict[str, tuple[Any, str, str]] = {
    "records": (RecordKey, "at(8).u64()", "a key such as at(8).u64() or a text such as '0:8:u64', or several of them"),
    "lines": (LineKey, "field(2)", "the number of a field, a key such as field(2).numeric() or a text of -k, or several of them"),
    "csv": (ValueKey, "col('price')", "a column by its name or a key such as col('price').number(), or several of them"),
    "jsonl": (ValueKey, "col('user.id')", "a path or a key such as col('user.id').number(), or several of them"),
}


def keys_of(form: str, by: Any, name: str = "by") -> tuple[str | RecordKey | ValueKey | LineKey, ...]:
    """Returns the keys of a format, the first of which decides first. Raises BadInput for those of another format."""
    kind, example, wanted = _KINDS[form]
    if form in ("csv", "jsonl") and isinstance(by, int) and not isinstance(by, bool):
        raise BadInput(f"{name}={by} is a number; a column by its number is ValueKey({by}) or '{by}', with header=False")
    keys = several(() if by is None else by, (str, int, RecordKey, ValueKey, LineKey), name, wanted)
    for key in keys:
        if not isinstance(key, (str, kind) if form != "lines" else (str, int, kind)):
            raise BadInput(f"{name}: {key!r} is no key of {form}; a key is a text, or such as {example}")
    if not keys and form != "lines":
        raise BadInput(f"{name} is empty: name a key at least, such as {example}")
    return tuple(LineKey(key) if isinstance(key, int) else key for key in keys)


def kinds_in(by: Any) -> set[str]:
    """Returns the formats that have keys of these types: none of texts, two of columns."""
    keys = [by] if isinstance(by, RecordKey | ValueKey | LineKey) else by if isinstance(by, list | tuple) else []
    return {form for form, (kind, _, _) in _KINDS.items() for key in keys if isinstance(key, kind)}
