"""Sizes as people write them."""

from __future__ import annotations

import re
from typing import Any

import click
from ecosort.errors import BadInput
from ecosort.words import UNITS, bytes_of


class Size(click.ParamType):  # type: ignore[type-arg]  # generic since Click 8.2 only
    """A number of bytes with its unit, such as 4MiB or 2GB."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        try:
            return bytes_of(str(value), "size")
        except BadInput:
            self.fail(f"{value!r} is no size such as 4MiB or 2GB", param, ctx)


SIZE = Size()


class Seconds(click.ParamType):  # type: ignore[type-arg]
    """A time with its unit, such as 90s or 20min."""

    name = "time"
    _units = {"s": 1.0, "min": 60.0, "h": 3600.0}  # noqa: RUF012

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"(\d+(?:\.\d+)?)(s|min|h)", str(value))
        if found is None or float(found[1]) == 0:
            self.fail(f"{value!r} is no time such as 90s or 20min", param, ctx)
        return float(found[1]) * self._units[found[2]]


SECONDS = Seconds()


def size_text(size_bytes: int) -> str:
    """The shortest exact text: 1MiB, 2500KiB, 100B."""
    for unit in ("GiB", "MiB", "KiB"):
        if size_bytes and size_bytes % UNITS[unit] == 0:
            return f"{size_bytes // UNITS[unit]}{unit}"
    return f"{size_bytes}B"
