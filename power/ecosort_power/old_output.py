"""Decides what becomes of a file that has the name of the output before a run: no file that COMMAND may read is removed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from ecosort_power.command import inputs_of
from ecosort_power.errors import UsageError

_OUTPUT = ("-o", "--output")


def is_input(output: Path, source: Path | None, words: Sequence[str], env: Mapping[str, str] | None = None) -> bool:
    """True if the output is `source`, or a file that `ecosort` reads: a sort in place, whatever it is called."""
    if source is not None and _is_one_file(source, output):
        return True
    return any(_is_one_file(path, output) for path in inputs_of(words, env))


def require_only_written(output: Path, words: Sequence[str]) -> None:
    """UsageError for a file that is there and that the words may read. They only write it if `-o` names it and no other word
    does; a program that finds it in another way could as well read it."""
    named = [option in _OUTPUT for option, path in _places(words) if _is_one_file(path, output)]
    if output.exists() and named != [True]:
        raise UsageError(
            f"{output} is there before the first run, and COMMAND may read it: name it by one `-o {output}` in COMMAND; remove "
            "it if nobody needs it; if it is sorted in place, name it by --input, too"
        )


def _places(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yields what may be a path, and the option that it belongs to: `-o out`, `-oout`, `--output=out`, `of=out`."""
    for before, word in pairwise(("", *words)):
        yield before, word
        if word.startswith("-o"):
            yield "-o", word[2:]
        elif "=" in word:
            option, _, value = word.partition("=")
            yield option, value


def _is_one_file(one: Path | str, other: Path) -> bool:
    """Compares device and inode; of names that lead to no file yet, where they lead."""
    try:
        return os.path.samefile(one, other)  # noqa: PTH121
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)
