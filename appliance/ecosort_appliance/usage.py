"""Numbers and commands of click whose errors say what is wrong in one line (`ecosort_power.usage`)."""

from __future__ import annotations

import math
from typing import Any

import click
from ecosort_power import usage


class Whole(click.IntRange):
    """Is named as people call it, in messages and in --help."""

    name = "whole number"


class Number(click.FloatRange):
    """Refuses nan, which lies in no range and which click does not see."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found = float(super().convert(value, param, ctx))
        if math.isnan(found):
            self.fail(f"{value!r} is not a valid number.", param, ctx)
        return found


class Command(usage.Command):
    """Its errors all know which command they are of: to click, an option that lacks its value is of none."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise


class Group(click.Group):
    """Its commands are such, and so are those of the groups in it."""

    command_class = Command
    group_class = type
