"""Checks what the values of options may be: each refuses at once, in one line, what nothing could be done with."""

from __future__ import annotations

import re
import shlex
from typing import Any

import click

MAX_RECORDS = 10**15


class Number(click.ParamType):  # type: ignore[type-arg]  # of no type before click 8.2
    """A finite number in some limits, both included."""

    name = "number"

    def __init__(self, least: float, most: float, unit: str) -> None:
        self._least, self._most, self._unit = least, most, unit

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            number = float(value)
        except ValueError:
            self.fail(f"{value!r} is no number of {self._unit}", param, ctx)
        if not self._least <= number <= self._most:  # neither is NaN
            self.fail(f"{value} is not from {self._least:g} to {self._most:g} {self._unit}", param, ctx)
        return number


class Records(click.IntRange):
    """A number of records; `auto`, as many as the meter needs, is 0."""

    name = "records"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "auto":
            return 0
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r} is no number of records from 1 to {MAX_RECORDS}, nor auto", param, ctx)


class Program(click.ParamType):  # type: ignore[type-arg]  # of no type before click 8.2
    """A command as a shell would split it: one word at least, and its quotes closed."""

    name = "command"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            words = shlex.split(value)
        except ValueError as error:
            self.fail(f"{value!r} is no command: {error}", param, ctx)
        if not words or not words[0]:
            self.fail(f"{value!r} names no program", param, ctx)
        return str(value)


class Checksum(click.ParamType):  # type: ignore[type-arg]  # of no type before click 8.2
    """A sum of CRC-32s as `gensort -c` prints it: up to 32 hexadecimal digits."""

    name = "checksum"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not re.fullmatch(r"\s*(0[xX])?[0-9a-fA-F]{1,32}\s*", value):
            self.fail(f"{value!r} is no checksum; it is what `ecosort gen -c` prints, hexadecimal", param, ctx)
        return str(value)
