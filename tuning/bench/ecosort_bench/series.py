"""A measurement of several cases that keeps its runs in one file: the command line that all of them have."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from ecosort_measure import options
from ecosort_measure.results import begin, fresh
from ecosort_measure.sizes import size_text


@dataclass(frozen=True)
class Asked:
    build: Path
    directory: Path  # for data, on the drive to measure; removed at the end
    size: int  # of each input, in bytes
    memory: int
    rounds: int
    kinds: tuple[str, ...]  # of inputs
    result: Path
    continued: bool

    @property
    def words(self) -> str:
        """The options that a table names."""
        return f"--bytes {self.size} --memory {size_text(self.memory)} --rounds {self.rounds}"

    def begin(self, schema: str, settings: dict[str, Any], command: str, **more: Any) -> dict[str, Any]:
        """Returns the results so far: without --continue there are none."""
        settings = {"bytes": self.size, "memory_bytes": self.memory, "rounds": self.rounds, **settings}
        return begin(self.result, fresh(schema, self.directory, settings, command, **more, runs=[]), self.continued)


def series(name: str, *, size: int, memory: str, rounds: int, kinds: tuple[str, ...]) -> Callable[[Any], click.Command]:
    """Makes a command of a function of Asked, and of what its own options say."""

    def command_of(function: Callable[..., None]) -> click.Command:
        @click.command(cls=options.OneLineErrors, context_settings=options.CONTEXT)
        @click.option("--build", type=options.PATH, required=True, help="Directory of the programs.")
        @options.directory(required=True)
        @click.option("--bytes", "size", default=size, help="Size of each input.")
        @options.memory(default=memory)
        @options.rounds(default=rounds)
        @click.option("--kind", "kinds", multiple=True, type=click.Choice(kinds), default=kinds, help="Of inputs; repeatable.")
        @click.option("--result", type=options.PATH, help=f"File of all runs [build/{name}-result.json].")
        @options.going_on()
        @functools.wraps(function)
        def main(build: Path, result: Path | None, **given: Any) -> None:
            directory = (given.pop("dir") / f"{name}-data").resolve()
            directory.mkdir(parents=True, exist_ok=True)
            own = {word: given.pop(word) for word in list(given) if word not in Asked.__dataclass_fields__}
            asked = Asked(build.resolve(), directory, result=result or build / f"{name}-result.json", **given)
            function(asked, **own)
            shutil.rmtree(directory)

        return main

    return command_of
