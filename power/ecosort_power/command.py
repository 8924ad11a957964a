"""Runs the measured command: from just before its start to the moment when its output is on stable storage."""

from __future__ import annotations

import os
import select
import shlex
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from resource import struct_rusage

from ecosort.request import Typed

from ecosort_power.encoding import is_utf8, spelled
from ecosort_power.errors import EXIT_USAGE, RunError, UsageError
from ecosort_power.transports.process import reap, run_to_end, session, spawn, stop

# Subcommands of ecosort that are given --events and --stats; those of rows have an output that is no records.
_OF_ROWS = ("lines", "csv", "jsonl")
_SORTING = ("sort", "inplace", "resume", *_OF_ROWS)
_TICK_S = 0.25


@dataclass(frozen=True, slots=True)
class CommandResult:
    """Times are CLOCK_MONOTONIC; the energy window is [start, synced]."""

    start_s: float
    exit_s: float
    synced_s: float
    exit_code: int
    cpu_user_s: float
    cpu_system_s: float
    survivors: int  # processes that the command left behind


def is_ecosort(words: Sequence[str]) -> bool:
    return len(words) > 1 and Path(words[0]).name == "ecosort" and words[1] in _SORTING


def sorts_rows(words: Sequence[str]) -> bool:
    """True for a sort of text, which the validator of records cannot check."""
    return is_ecosort(words) and words[1] in _OF_ROWS


def only_checks(words: Sequence[str]) -> bool:
    """Rows are looked at; such a run has no reports."""
    return sorts_rows(words) and any(word in ("-c", "-C") or word.startswith("--check") for word in words)


def with_reports(words: Sequence[str], events: Path, stats: Path) -> list[str]:
    """Asks the sort for its events and statistics. `{events}` and `{stats}` in the words are replaced; an ecosort command
    that does not ask for them itself gets the two options."""
    if any("{events}" in w or "{stats}" in w for w in words):
        return [w.replace("{events}", str(events)).replace("{stats}", str(stats)) for w in words]
    if not is_ecosort(words) or only_checks(words):
        return list(words)
    for option in ("--events", "--stats"):
        if any(w == option or w.startswith(option + "=") for w in words):
            raise UsageError(f"leave {option} to ecosort-power: it is set for every run (or write {option} {{{option[2:]}}})")
    return [*words[:2], "--events", str(events), "--stats", str(stats), *words[2:]]


def require_understood(words: Sequence[str], env: Mapping[str, str] | None = None, *, has_files: bool = True) -> None:
    """UsageError, in the line of the program itself, for words that `ecosort` refuses. Without its files only the command is
    looked at: a list of inputs, for instance, would be missed.
    """
    if Path(words[0]).name != "ecosort" or len(words) < 2 or words[1].startswith("-"):
        return
    questions = [[words[0], words[1], "--help"]]
    if has_files and _makes_request(words) and run_to_end([words[0], "request", "--help"], env)[0] == 0:
        questions.append([words[0], "request", *words[1:]])
    for question in questions:
        code, _, said = run_to_end(question, env)
        if code == EXIT_USAGE and not said.startswith("ecosort: request:"):  # of that no word is wrong
            raise UsageError(f"COMMAND is refused: {said.strip().rpartition(chr(10))[2].removeprefix('ecosort: ')}")


def _makes_request(words: Sequence[str]) -> bool:
    return is_ecosort(words) and words[1] != "resume" and not only_checks(words)


def inputs_of(words: Sequence[str], env: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The inputs of an ecosort command as the program reads its words, the file of a sort in place among them. None of words that
    it makes no request of, and of any other command."""
    if not _makes_request(words):
        return ()
    code, said, _ = run_to_end([words[0], "request", *words[1:]], env)
    return tuple(Typed.from_json(said).request.members["inputs"]) if code == 0 else ()


def output_of(words: Sequence[str]) -> Path | None:
    """The output file named in an ecosort command."""
    if not is_ecosort(words):
        return None
    for i, word in enumerate(words):
        if word in ("-o", "--output") and i + 1 < len(words):
            return Path(words[i + 1])
        if word.startswith("--output="):
            return Path(word.partition("=")[2])
    return None


def run_command(
    words: Sequence[str],
    directory: Path,
    output: Path | None,
    watch: Callable[[], str | None],
    helpers: Callable[[], Sequence[int]] = tuple,
    env: Mapping[str, str] | None = None,
) -> CommandResult:
    """Runs the words; their output goes to files in `directory`. `watch` is called several times a second; a text from it
    stops the command and becomes a RunError. `helpers` gives the meters' processes, which are not the command's.
    The command has no terminal and dies with the harness."""
    session.start()
    with (directory / "command.out").open("wb") as out, (directory / "command.err").open("wb") as err:
        start = time.monotonic()
        try:
            child = spawn(words, env, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        except OSError as error:
            raise UsageError(f"{words[0]} cannot be started: {error.strerror}") from error
        try:
            exit_s, usage = _wait(child, watch)
        except BaseException:
            stop(child, grace_s=5.0)
            raise
    _synchronize(output)
    synced = time.monotonic()
    left = session.survivors(helpers())  # a meter that was lost and found again has a new process
    return CommandResult(start, exit_s, synced, child.returncode, usage.ru_utime, usage.ru_stime, len(left))


def _wait(child: subprocess.Popen[bytes], watch: Callable[[], str | None]) -> tuple[float, struct_rusage]:
    fd = os.pidfd_open(child.pid)
    try:
        while not select.select([fd], [], [], _TICK_S)[0]:
            problem = watch()
            if problem is not None:
                raise RunError(problem)
        exit_s = time.monotonic()
        usage = reap(child)
        assert usage is not None
        return exit_s, usage
    finally:
        os.close(fd)


def _synchronize(output: Path | None) -> None:
    """Everything on stable storage. `sync` reports no errors, so the output is also synced by itself, which does."""
    if output is not None and output.is_file():  # who opens a pipe waits for its writer
        fd = os.open(output, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        except OSError as error:
            raise RunError(f"{output} could not be brought to stable storage: {error.strerror}") from error
        finally:
            os.close(fd)
    os.sync()


def last_words(directory: Path) -> str:
    """The last line that the command wrote to standard error."""
    try:
        lines = (directory / "command.err").read_text(errors="replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1][:300] if lines else ""


def quoted(words: Sequence[str]) -> str:
    r"""Quotes words for a shell; bytes that are not UTF-8 as bash, ksh and zsh write them: $'in\xff'."""
    return " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    if is_utf8(word):
        return shlex.quote(word)
    return "$'" + spelled(word.replace("\\", "\\\\").replace("'", "\\'")) + "'"
