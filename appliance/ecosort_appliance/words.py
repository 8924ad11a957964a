"""Finds what the options of a job name: inputs, output, directories of runs, and whether it can be resumed.

Words are those after `ecosort`, e.g. ["sort", "in", "-o", "out"]. Their grammar is the program's own, as `ecosort manual json`
has it. What is wrong in any other way the program says when it starts.
"""

from __future__ import annotations

import difflib
import getopt
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ecosort.errors import ProgramNotFound
from ecosort.manual import Command, commands

from ecosort_appliance.errors import QueueError

# A job is one of these commands of the program.
COMMANDS = ("sort", "inplace", "merge", "csv", "jsonl", "lines")
# csv and jsonl decompress and compress these by name; no such sort is resumable.
_PACKED_NAMES = (".gz", ".zst", ".lz4", ".xz", ".bz2")
_SIZE = re.compile(r"^[0-9]+([KMGTPE]iB|[kMGTPE]?B)?$")
_TAKEN = {"--stats": "the queue keeps it", "--progress": "the queue reads it"}
# Conflicts of these depend on the hour and on the machine, or a program that no one asks for a plan knows them.
_PLACES_AND_MEANS = ("output", "temp", "input", "memory", "means", "job", "report")


@dataclass(frozen=True)
class Named:
    """Holds what a job's options name. Paths are as they were written."""

    command: str
    inputs: tuple[str, ...]
    output: str
    temps: tuple[str, ...]
    memory: str | None
    can_resume: bool  # --resumable may be given
    resumes: bool  # it is given, or the command resumes by itself
    in_place: bool = False  # the output is the input
    head: tuple[str, ...] = ()  # which command it is: `sort`, `merge --lines`
    options: tuple[str, ...] = ()  # how is sorted, in full; no places, means and reports
    reports: tuple[str, ...] = ()  # files that it writes besides


def read_words(words: Sequence[str]) -> Named:
    """QueueError for words that no queue can hold: no such command, streams, no output."""
    if not words or words[0] not in COMMANDS:
        raise QueueError(f"a job is one of {', '.join(COMMANDS)} with its options and files, after --")
    command = words[0]
    head = tuple(words[: head_of(words)])
    table = _table("lines" if head == ("merge", "--lines") else command)
    options, operands = _split(command, words[head_of(words) :], table)
    _refuse(command, table, options)
    given = {name for name, _ in options}
    in_place = command == "inplace" or (command == "lines" and "--inplace" in given)
    named = _places(command, in_place, options, operands, table)
    if any(place == "-" for place in (*named[0], named[1])):
        raise QueueError("a queued job cannot use standard input or output: give file names")
    without = sorted(given & table.conflicting("--resumable"))
    if without and "--resumable" in given:
        raise QueueError(f"{without[0]} cannot be combined with --resumable; leave one of them out")
    can_resume = _has_resumable(command, table) and not (without or in_place or _may_compress(table, options))
    if command in ("csv", "jsonl"):
        can_resume = can_resume and not any(path.endswith(_PACKED_NAMES) for path in (*named[0], named[1]))
    return Named(
        command,
        *named,
        memory=_last(options, table.names("memory")),
        can_resume=can_resume,
        resumes="--resumable" in given or in_place,
        in_place=in_place,
        head=head,
        options=(*_in_full(options, table), *(word for word in words if word.startswith("--header="))),
        reports=tuple(value for name, value in options if name in ("--events", "--trace")),
    )


def _table(command: str) -> Command:
    try:
        return commands()[command]
    except ProgramNotFound as error:
        raise QueueError(str(error)) from None


def _has_resumable(command: str, table: Command) -> bool:
    """A merge is of the same options as `lines`, but none can be resumed."""
    return command != "merge" and "--resumable" in table.names("job")


def _may_compress(table: Command, options: Sequence[tuple[str, str]]) -> bool:
    """Compressed files are no resumable job's; which are, the program knows when it looks at them."""
    usual = {name: option.default for option in table.options if option.concerns == "compression" for name in option.names}
    return any(name in usual and value not in (usual[name], "never", "none") for name, value in options)


def _in_full(options: Sequence[tuple[str, str]], table: Command) -> list[str]:
    left_out = table.names(*_PLACES_AND_MEANS)
    said = [(name, value) for name, value in options if name not in left_out]
    return [f"{name}={value}" if value and name.startswith("--") else name + value for name, value in said]


def sorts_in_place(words: Sequence[str]) -> bool:
    """Returns whether the output is the input, by the words that were read."""
    return words[0] == "inplace" or (words[0] == "lines" and any(_is_inplace(word) for word in words))


def _is_inplace(word: str) -> bool:
    """The option, or what getopt takes for it."""
    return word.startswith("--inp") and "--inplace".startswith(word)


def head_of(words: Sequence[str]) -> int:
    """Counts the words that say what is done: some options of merge come first."""
    return 2 if list(words[:2]) in (["merge", "--lines"], ["merge", "--runs"]) else 1


def _split(command: str, words: Sequence[str], table: Command) -> tuple[list[tuple[str, str]], list[str]]:
    maybe = [name for option in table.options if option.argument_is_optional for name in option.names]
    plain = [name if (name := word.partition("=")[0]) in maybe else word for word in words]  # getopt knows no such value
    taken = {name: option.takes_value for option in table.options for name in option.names}
    short = "".join(name[1] + ":" * takes_value for name, takes_value in taken.items() if not name.startswith("--"))
    long = [name[2:] + "=" * takes_value for name, takes_value in taken.items() if name.startswith("--")]
    try:
        return getopt.gnu_getopt(plain, short, long)
    except getopt.GetoptError as error:
        hint = _meant(error.opt or "", long) if error.msg.endswith("not recognized") else ""
        raise QueueError(f"{command}: {error.msg}{hint} (see ecosort {command} --help)") from None


def _meant(option: str, long: Sequence[str]) -> str:
    close = difflib.get_close_matches(option, [name.removesuffix("=") for name in long], n=1)
    return f"; did you mean --{close[0]}?" if close else ""


def _refuse(command: str, table: Command, options: Sequence[tuple[str, str]]) -> None:
    nothing_to_do = table.names("nothing")
    for name, value in options:
        if name in _TAKEN:
            raise QueueError(f"leave {name} out: {_TAKEN[name]}")
        if name == "--memory":
            check_size(value)
        if name in nothing_to_do:
            raise QueueError(f"{name} makes no output, so there is nothing to queue")
        if name == "--files0-from":
            raise QueueError("--files0-from hides which files are read; name them")
        if name == "--resumable" and not _has_resumable(command, table):
            raise QueueError(f"ecosort {command} has no --resumable")


def check_size(text: str) -> None:
    """Checks --memory by the program's own grammar, and says its line."""
    if not _SIZE.match(text):
        raise QueueError(f"--memory: {text[:40]!r} is not a size; write a whole number with a unit, such as 512MiB or 4GB")


def _places(
    command: str, in_place: bool, options: Sequence[tuple[str, str]], operands: list[str], table: Command
) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    if not operands:
        raise QueueError(f"name the input of ecosort {command}")
    if in_place:
        if len(operands) != 1:
            raise QueueError("a sort in place takes one file; queue a job for each")
        return (), operands[0], ()
    output = _last(options, table.names("output"))
    if not output:
        raise QueueError("name the output with -o FILE; a queued job has no standard output")
    directories = table.names("temp")
    temps = tuple(value for name, value in options if name in directories)
    return tuple(operands), output, temps


def _last(options: Sequence[tuple[str, str]], names: Sequence[str]) -> str | None:
    found = [value for name, value in options if name in names]
    return found[-1] if found else None


def filled(words: Sequence[str], path: str, name: str) -> list[str]:
    """The words of a watched directory's job with `{}` and `{name}` in their place."""
    return [re.sub(r"\{\}|\{name\}", lambda m: path if m[0] == "{}" else name, word) for word in words]
