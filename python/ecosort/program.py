"""Finds the program `ecosort`: in this package, else where ECOSORT_PROGRAM says, else in PATH; checks its version; asks it."""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import os
import signal
import stat
import subprocess
from pathlib import Path

from ecosort.errors import BadInput, IoFailed, ProgramNotFound, from_program
from ecosort.version import __version__

_ANSWER_S = 30  # for one that prints its version: seconds also of a machine that is busy
_INSIDE = Path(__file__).with_name("bin") / "ecosort"


def find_program() -> Path:
    """The program that this package drives. Raises ProgramNotFound, with what to do about it."""
    return checked_program(_INSIDE if _INSIDE.exists() else _named() or _in_path())


def answer_of(*words: str) -> str:
    """Returns what `ecosort WORDS...` prints where it answers a question. Raises what its last line, or its JSON, and its exit
    code say; BadInput for words that no program can be given."""
    try:
        done = subprocess.run([find_program(), *words], capture_output=True, check=False, stdin=subprocess.DEVNULL)
    except (ValueError, OSError) as error:  # a zero byte, half of a surrogate pair, or more than a command line holds
        if isinstance(error, OSError) and error.errno != errno.E2BIG:
            raise IoFailed(f"the program cannot be started: {error.strerror}", error.errno) from None
        raise BadInput(f"these options cannot be handed to a program: {error}") from None
    if done.returncode == 0:
        return done.stdout.decode()
    line = done.stderr.decode(errors="surrogateescape").strip().rpartition("\n")[2]
    is_killed = done.returncode < 0 or done.returncode > 128
    told = None
    with contextlib.suppress(ValueError):  # half of its JSON
        told = None if is_killed else json.loads(done.stdout)
    raise from_program(done.returncode, line.removeprefix("ecosort: "), told)


@functools.cache
def checked_program(program: Path) -> Path:
    """The same path, after the program has told that it is of this package's version."""
    try:
        done = _asked(program)
        if done.returncode == -signal.SIGKILL:  # somebody killed it, which says nothing about it
            done = _asked(program)
    except OSError as error:
        raise ProgramNotFound(f"cannot run '{program}': {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise ProgramNotFound(f"'{program}' does not answer --version within {_ANSWER_S} s; is it ecosort?") from None
    if done.returncode < 0:
        raise ProgramNotFound(f"'{program}' was ended by signal {-done.returncode} before it said what it is; try again")
    first = done.stdout.partition("\n")[0]
    if first != f"ecosort {__version__}":
        is_ours = first.startswith("ecosort ")
        found = f"is {first}" if is_ours else "does not say that it is ecosort"
        raise ProgramNotFound(f"'{program}' {found}, and this package needs ecosort {__version__}; install both of one version")
    return program


def _asked(program: Path) -> subprocess.CompletedProcess[str]:
    words = [str(program), "--version"]
    return subprocess.run(words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=_ANSWER_S)


def _named() -> Path | None:
    name = os.environ.get("ECOSORT_PROGRAM")
    return Path(name).absolute() if name else None


def _in_path() -> Path:
    distrusted = ""
    for directory in os.environ.get("PATH", "/usr/bin:/bin").split(os.pathsep):
        program = Path(directory, "ecosort")
        if not directory.startswith("/") or not os.access(program, os.X_OK) or _is_our_script(program):
            continue
        distrusted = _reason_to_distrust(program)
        if not distrusted:
            return program
    where = f"not to be trusted: {distrusted}" if distrusted else "neither in this package, nor in ECOSORT_PROGRAM, nor in PATH"
    raise ProgramNotFound(f"the program ecosort is {where}; install the wheel, or build it and set ECOSORT_PROGRAM to its path")


def _is_our_script(program: Path) -> bool:
    """The command that this package installs starts the program that is looked for."""
    with program.open("rb") as file:
        return file.read(2) == b"#!"


def _reason_to_distrust(program: Path) -> str:
    """Why others than root and this user could have put the program there; empty where they could not."""
    for place in (program, *program.parents, *program.resolve().parents, program.resolve()):
        status = place.stat()
        if status.st_uid not in (0, os.geteuid()):
            return f"'{place}' belongs to another user"
        is_sticky = stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not is_sticky:
            return f"others can write '{place}'"
    return ""
