"""The commands and options of the program as data: `ecosort manual json`, which the build puts beside this file.

In a source tree, where no build has put it there, the program that is found is asked once.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ecosort.program import answer_of

_INSIDE = Path(__file__).with_name("manual.json")


@dataclass(frozen=True)
class Option:
    """docs/json.md describes the fields."""

    names: tuple[str, ...]
    argument: str | None
    argument_is_optional: bool
    concerns: str
    sets: str | None

    @property
    def takes_value(self) -> bool:
        """Returns whether the value is the next word, or behind `=`."""
        return self.argument is not None and not self.argument_is_optional


@dataclass(frozen=True)
class KeyType:
    """A type of keys of CSV and JSON lines; `argument` is what may follow its name, such as "@LOCALE", or None."""

    name: str
    argument: str | None
    text: str


@dataclass(frozen=True)
class Command:
    """The options, and of csv and jsonl the types of keys."""

    options: tuple[Option, ...]
    key_types: tuple[KeyType, ...] = ()


@functools.cache
def commands() -> dict[str, Command]:
    """By their names, such as "sort" or "plan sort". Raises ProgramNotFound where the program is needed and not there, and
    EcoSortError where it fails."""
    return {told["name"]: _command(told) for told in _manual()["commands"]}


@functools.cache
def compressed_endings() -> tuple[str, ...]:
    """Returns the endings of file names, such as ".gz", by which the program decompresses inputs. Raises as commands()."""
    return tuple(_manual()["compressed_endings"])


@functools.cache
def _manual() -> dict[str, Any]:
    told: dict[str, Any] = json.loads(_INSIDE.read_bytes() if _INSIDE.exists() else answer_of("manual", "json"))
    return told


def _command(told: dict[str, Any]) -> Command:
    fields = [field.name for field in dataclasses.fields(Option)]
    options = [{name: option[name] for name in fields} | {"names": tuple(option["names"])} for option in told["options"]]
    types = (KeyType(**kind) for kind in told.get("key_types", ()))
    return Command(tuple(Option(**option) for option in options), tuple(types))
