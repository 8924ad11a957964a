"""What the words of a job name: inputs, output, directories of runs, and whether it can be resumed.

Words are those after `ecosort`, e.g. ["sort", "in", "-o", "out"]. They are the program's own grammar, of which this knows only
which options take a value (tests hold that against `ecosort COMMAND --help`). What is wrong in
any other way the program says when it starts.
"""

from __future__ import annotations

import difflib
import getopt
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ecosort_appliance.errors import QueueError


@dataclass(frozen=True)
class Grammar:
    """Options in the notation of getopt: short ones, and long ones, with `=` where a value follows."""

    short: str
    long: tuple[str, ...]


_RECORDS = ("record-size=", "key=", "reverse", "stable", "memory=", "threads=", "io=", "profile=", "no-profile")
_REPORTS = ("stats=", "events=", "progress=", "quiet", "help")

_PACKED_RUNS = ("compress=", "assume-ratio=", "goal=")
_PACKED = (*_PACKED_RUNS, "decompress=", "compress-output=", "level=")
_TABLES = (
    *_REPORTS,
    *_PACKED,
    *("by=", "output=", "nulls=", "strict", "date-format=", "unique", "check", "merge"),
    *("memory=", "threads=", "temp=", "resumable", "io=", "verify=", "profile=", "no-profile", "trace="),
)

GRAMMARS = {
    "sort": Grammar(
        "o:q",
        (
            *_RECORDS,
            *_REPORTS,
            *("output=", "unique", "merge-threads=", "temp=", "resumable", "request-size=", "request-depth=", "run-records="),
            *("verify=", "checksum", "trace="),
            *_PACKED_RUNS,
        ),
    ),
    "inplace": Grammar("q", (*_RECORDS, *_REPORTS, "verify=", "space=", "as-is", "unique", "compress=")),
    "merge": Grammar(
        "o:q",
        (
            *(*_RECORDS, *_REPORTS, *_PACKED_RUNS, "output=", "unique", "temp=", "lines", "runs", "trace="),
            *("checksum", "expect-hash="),
        ),
    ),
    "csv": Grammar("o:q", (*_TABLES, *("delimiter=", "quote=", "no-header"))),
    "jsonl": Grammar("o:q", (*_TABLES, "allow-missing")),
    "lines": Grammar(
        "bdfghiMnRrVcCk:mo:sS:t:T:uzy:",
        (
            *_REPORTS,
            *("ignore-leading-blanks", "dictionary-order", "ignore-case", "general-numeric-sort", "human-numeric-sort"),
            *("ignore-nonprinting", "month-sort", "numeric-sort", "random-sort", "random-source=", "reverse", "sort="),
            *("version-sort", "batch-size=", "check", "compress-program=", "debug", "files0-from=", "key=", "merge", "output="),
            *("stable", "buffer-size=", "memory=", "field-separator=", "temporary-directory=", "temp=", "parallel=", "unique"),
            *("zero-terminated", "header", "resumable", "inplace", "as-is", "io=", "verify=", "profile=", "no-profile", "trace="),
            *_PACKED,
        ),
    ),
}

# `--check=quiet`, `--header=2`: a value that may be left out, which getopt does not know.
_MAYBE = re.compile(r"^--(check|header|debug)=.*$")
# What goes without --resumable, by the option's own name.
_NOT_RESUMABLE = {
    "sort": {
        "--temp",
        "--unique",
        "--checksum",
        "--trace",
        "--request-size",
        "--request-depth",
        "--merge-threads",
        "--run-records",
        "--goal",
    },
    "lines": {
        *("-m", "--merge", "--debug", "--compress-program", "-T", "--temp", "--temporary-directory", "--inplace"),
        *("--trace", "--goal", "--decompress", "--compress-output", "--level"),
    },
    "csv": {"--temp", "--merge", "--trace", "--goal", "--compress-output", "--level"},
    "jsonl": {"--temp", "--merge", "--trace", "--goal", "--compress-output", "--level"},
}
# What csv and jsonl decompress and compress by its name; no such sort is resumable.
_PACKED_NAMES = (".gz", ".zst", ".lz4", ".xz", ".bz2")
_SIZE = re.compile(r"^[0-9]+([KMGTPE]iB|[kMGTPE]?B)?$")
_TAKEN = {"--stats": "the queue keeps it", "--progress": "the queue reads it"}
# Whether these can be depends on the hour and on the machine, or a program that no one asks for a plan knows them.
_PLACES_AND_MEANS = {
    *("-o", "--output", "--temp", "-T", "--temporary-directory", "--events", "--trace", "--random-source", "--profile"),
    *("--memory", "-S", "--buffer-size", "--threads", "--parallel", "--space", "--resumable", "--inplace", "--quiet", "-q"),
}
_NOTHING_TO_DO = {"--help", "--check", "-c", "-C"}


@dataclass(frozen=True)
class Named:
    """What a job's words name. Paths are as they were written."""

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
    if not words or words[0] not in GRAMMARS:
        raise QueueError(f"a job is one of {', '.join(GRAMMARS)} with its options and files, after --")
    command = words[0]
    head = tuple(words[: head_of(words)])
    grammar = GRAMMARS["lines"] if head == ("merge", "--lines") else GRAMMARS[command]
    options, operands = _split(command, words[head_of(words) :], grammar)
    _refuse(command, options)
    given = {name for name, _ in options}
    in_place = command == "inplace" or (command == "lines" and "--inplace" in given)
    named = _places(command, in_place, options, operands)
    if any(place == "-" for place in (*named[0], named[1])):
        raise QueueError("a queued job works while no one is there: name files in place of `-`")
    without = sorted(given & _NOT_RESUMABLE.get(command, set()))
    if without and "--resumable" in given:
        raise QueueError(f"{without[0]} goes without --resumable; leave one of them out")
    can_resume = command in _NOT_RESUMABLE and not without
    if command in ("csv", "jsonl"):
        can_resume = can_resume and not any(path.endswith(_PACKED_NAMES) for path in (*named[0], named[1]))
    return Named(
        command,
        *named,
        memory=_last(options, "--memory", "-S", "--buffer-size"),
        can_resume=can_resume,
        resumes="--resumable" in given or in_place,
        in_place=in_place,
        head=head,
        options=(*_in_full(options), *(word for word in words if word.startswith("--header="))),
        reports=tuple(value for name, value in options if name in ("--events", "--trace")),
    )


def _in_full(options: Sequence[tuple[str, str]]) -> list[str]:
    said = [(name, value) for name, value in options if name not in _PLACES_AND_MEANS]
    return [f"{name}={value}" if value and name.startswith("--") else name + value for name, value in said]


def sorts_in_place(words: Sequence[str]) -> bool:
    """Of words that were read: whether the output is the input."""
    return words[0] == "inplace" or (words[0] == "lines" and any(_is_inplace(word) for word in words))


def _is_inplace(word: str) -> bool:
    """The option, or what getopt takes for it."""
    return word.startswith("--inp") and "--inplace".startswith(word)


def head_of(words: Sequence[str]) -> int:
    """How many words say what is done: some options of merge stand first."""
    return 2 if list(words[:2]) in (["merge", "--lines"], ["merge", "--runs"]) else 1


def _split(command: str, words: Sequence[str], grammar: Grammar) -> tuple[list[tuple[str, str]], list[str]]:
    plain = [_MAYBE.sub(lambda m: f"--{m[1]}", word) for word in words]
    try:
        return getopt.gnu_getopt(plain, grammar.short, list(grammar.long))
    except getopt.GetoptError as error:
        hint = _meant(error.opt or "", grammar) if error.msg.endswith("not recognized") else ""
        raise QueueError(f"{command}: {error.msg}{hint} (see ecosort {command} --help)") from None


def _meant(option: str, grammar: Grammar) -> str:
    close = difflib.get_close_matches(option, [name.removesuffix("=") for name in grammar.long], n=1)
    return f"; did you mean --{close[0]}?" if close else ""


def _refuse(command: str, options: Sequence[tuple[str, str]]) -> None:
    for name, value in options:
        if name in _TAKEN:
            raise QueueError(f"leave {name} out: {_TAKEN[name]}")
        if name == "--memory":
            check_size(value)
        if name in _NOTHING_TO_DO:
            raise QueueError(f"{name} makes no output, so there is nothing to queue")
        if name == "--files0-from":
            raise QueueError("--files0-from hides which files are read; name them")
        if name == "--resumable" and command not in _NOT_RESUMABLE:
            raise QueueError(f"ecosort {command} has no --resumable")


def check_size(text: str) -> None:
    """Of --memory: the program's own grammar, and its line."""
    if not _SIZE.match(text):
        raise QueueError(f"--memory: {text[:40]!r} is not a size; write a whole number with a unit, such as 512MiB or 4GB")


def _places(
    command: str, in_place: bool, options: Sequence[tuple[str, str]], operands: list[str]
) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    if not operands:
        raise QueueError(f"name the input of ecosort {command}")
    if in_place:
        if len(operands) != 1:
            raise QueueError("a sort in place takes one file; queue a job for each")
        return (), operands[0], ()
    output = _last(options, "-o", "--output")
    if not output:
        raise QueueError("name the output with -o FILE; a queued job has no standard output")
    temps = tuple(value for name, value in options if name in ("--temp", "-T", "--temporary-directory"))
    return tuple(operands), output, temps


def _last(options: Sequence[tuple[str, str]], *names: str) -> str | None:
    found = [value for name, value in options if name in names]
    return found[-1] if found else None


def filled(words: Sequence[str], path: str, name: str) -> list[str]:
    """The words of a watched directory's job with `{}` and `{name}` in their place."""
    return [re.sub(r"\{\}|\{name\}", lambda m: path if m[0] == "{}" else name, word) for word in words]
