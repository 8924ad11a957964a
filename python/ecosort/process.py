"""Runs the program: progress while it works, its report or its error at the end, and nothing left behind when it is stopped.

A Sort is one process and is used by one thread; several Sorts at once do not know of each other.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import selectors
import signal
import subprocess
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

from ecosort.checks import no_such
from ecosort.errors import BadInput, Cancelled, EcoSortError, IoFailed, from_program
from ecosort.memory_file import memory_file
from ecosort.program import find_program
from ecosort.report import Progress, Report, empty_report, progress_from, report_from
from ecosort.request import Request
from ecosort.version import __version__
from ecosort.words import places_in

File = int | IO[Any]

_LOOK_S = 0.1  # how often `cancel` is looked at
_PREFIXES = ("ecosort: ", "ecosort lines: ")


class Sort:
    """A request that is being done, by `command`, or a running `ecosort COMMAND WORDS...`, such as `resume`.

    `stdin` and `stdout` are descriptors or subprocess.PIPE; `keep` those it inherits. `input_complete` is a pipe: without a byte
    in it, the program takes the end of `stdin` for that of a process that was killed. `goal` is that of compress="auto".

    With a pipe its owner is busy feeding or reading it, so that no one listens to the program's messages before the end. Not
    `has_stats`: the command writes no report. `fine_codes` are the exit codes that are no failure.
    """

    def __init__(
        self,
        what: Request | Sequence[str],
        *,
        command: Sequence[str] = ("run",),
        goal: str | None = None,
        stdin: File = subprocess.DEVNULL,
        stdout: File = subprocess.DEVNULL,
        keep: Sequence[int] = (),
        input_complete: int = -1,
        progress: Callable[[Progress], object] | None = None,
        cancel: threading.Event | None = None,
        has_stats: bool = True,
        fine_codes: Sequence[int] = (0,),
    ) -> None:
        if progress is not None and not callable(progress):
            raise no_such("progress", "a function that is called with a Progress", progress)
        if cancel is not None and not hasattr(cancel, "is_set"):
            raise no_such("cancel", "a threading.Event", cancel)
        self._progress = progress
        self._cancel = cancel
        self._what = what
        self._fine_codes = fine_codes
        self._said: list[str] = []
        self._error: dict[str, Any] | None = None
        self.is_of_parent = False  # this process was forked from the one that started it
        self._stats = self._messages = request = -1
        later: list[Callable[[], object]] = []
        try:
            self._stats = os.memfd_create("ecosort-stats", os.MFD_CLOEXEC)
            if subprocess.PIPE in (stdin, stdout):
                self._messages = os.memfd_create("ecosort-messages", os.MFD_CLOEXEC)
            options = ["--progress=json", "--quiet", *[f"--stats=/proc/self/fd/{self._stats}"] * has_stats]
            options += [f"--goal={goal}"] if goal else []
            if isinstance(what, Request):
                request = memory_file(what.to_json())
                words = [*command, *options, f"/proc/self/fd/{request}"]
            else:
                words = [what[0], *options, *what[1:]]
            with _interrupts_wait(later):
                self.process = subprocess.Popen(
                    [find_program(), *words],
                    stdin=stdin,
                    stdout=stdout,
                    stderr=subprocess.PIPE if self._messages < 0 else self._messages,
                    pass_fds=(self._stats, *keep, *[one for one in (request, input_complete) if one >= 0]),
                    env=os.environ | {"ECOSORT_INPUT_COMPLETE": str(input_complete)} if input_complete >= 0 else None,
                )
            _started.add(self)
            while later:
                later.pop()()
        except BaseException as error:
            if hasattr(self, "process"):  # Ctrl-C behind the start
                self.stop(signal.SIGINT)
            self._close_descriptors()
            while later:
                later.pop()()
            if isinstance(error, ValueError) and not isinstance(error, BadInput):  # a zero byte, or half of a surrogate pair
                raise BadInput(f"a name or a key cannot be handed to a program: {error}") from None
            if isinstance(error, OSError) and error.errno == errno.E2BIG:
                raise BadInput("the names of the inputs and the keys are too long in all; sort fewer files at a time") from None
            if isinstance(error, OSError):
                raise IoFailed(f"the program cannot be started: {error.strerror}", error.errno) from None
            raise
        finally:
            if request >= 0:
                os.close(request)

    def wait(self) -> Report:
        """Waits for the end. Raises what went wrong; what is raised in here, also KeyboardInterrupt, stops the program first."""
        stats = self.stats()
        return report_from(stats) if stats else empty_report(__version__)

    def stats(self) -> dict[str, Any]:
        """Waits likewise, and returns the report as the program wrote it, docs/json.md; it is empty where there is none."""
        try:
            if self.process.stderr:
                self._listen(self.process.stderr)
            code = self.process.wait()
            self._take_messages()
        except BaseException as error:
            self.stop(signal.SIGINT if isinstance(error, KeyboardInterrupt) else signal.SIGTERM)
            for line in self._said:
                error.add_note(line)
            raise
        try:
            if self.is_of_parent:
                raise BadInput("a sort belongs to the process that started it; read it there, or sort again in this one")
            if code not in self._fine_codes:
                raise self._failure(code)
            stats = os.pread(self._stats, os.fstat(self._stats).st_size, 0)
        finally:
            self._close()
        return json.loads(stats) if stats else {}

    def stop(self, number: int = signal.SIGTERM) -> None:
        """Asks the program to stop and waits until it has cleaned up. Does nothing when it has ended."""
        if self._stats < 0:
            return
        if self.process.poll() is None:
            self.process.send_signal(number)
            if number == signal.SIGINT:  # which our parent may have had ignored
                self.process.send_signal(signal.SIGTERM)
        try:
            for pipe in (self.process.stdin, self.process.stdout):
                if pipe:
                    _close_quietly(pipe)
            if pipe := self.process.stderr:
                os.set_blocking(pipe.fileno(), True)
                for line in pipe:
                    self._take(line, tell=False)
            self.process.wait()
            self._take_messages()
        except KeyboardInterrupt:  # a second one: at once
            self.process.kill()
            self.process.wait()
            raise
        finally:
            self._close()

    def _listen(self, pipe: IO[bytes]) -> None:
        """Takes what the program says on standard error until it closes that."""
        os.set_blocking(pipe.fileno(), False)
        rest = b""
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while True:
                self._look_at_cancel()
                if not selector.select(_LOOK_S):
                    continue
                piece = os.read(pipe.fileno(), 1 << 16)
                if not piece:
                    return
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    self._take(line)

    def _take_messages(self) -> None:
        if self._messages >= 0:
            for line in os.pread(self._messages, os.fstat(self._messages).st_size, 0).split(b"\n"):
                self._take(line, tell=False)

    def _look_at_cancel(self) -> None:
        if self._cancel and self._cancel.is_set():
            raise Cancelled("the sort was cancelled")

    def _take(self, line: bytes, tell: bool = True) -> None:
        text = line.decode(errors="replace").rstrip("\n")
        if not text.startswith('{"schema":"ecosort.'):
            if text:
                self._said.append(text)
            return
        told = json.loads(text)
        if told["schema"] == "ecosort.error/1":
            self._error = told
        elif self._progress and tell:
            self._progress(progress_from(told))

    def _failure(self, code: int) -> EcoSortError:
        is_killed = code < 0 or code > 128  # what was said last may be half of a line
        said = " ".join(self._said[:1] if is_killed else self._said)
        for prefix in _PREFIXES:
            said = said.removeprefix(prefix)
        if self._error:  # without what to do about it on a command line
            said = self._error["message"]
        return from_program(code, said, self._error, self._places(said))

    def _places(self, line: str) -> dict[str, str]:
        """Returns where it writes, and which argument names each place; those that a `line` of it names, if any."""
        if isinstance(self._what, Request):
            place = self._what.members.get("place", {})
            if place.get("kind") == "in_place":
                return places_in((), {self._what.members["inputs"][0]: ""}, line)
            outputs = {place["output"]: "dst"} if place.get("output", "-") != "-" else {}
            return places_in(self._what.members.get("means", {}).get("temp_directories", ()), outputs, line)
        return places_in((), {self._what[-1]: ""}, line)  # `resume` names the output last

    def _close(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe:
                _close_quietly(pipe)
        self._close_descriptors()

    def _close_descriptors(self) -> None:
        for descriptor in (self._stats, self._messages):
            if descriptor >= 0:
                os.close(descriptor)
        self._stats = self._messages = -1


_started: weakref.WeakSet[Sort] = weakref.WeakSet()


def _let_go() -> None:
    """A process that is forked while a sort is fed has the end of its pipe, too: the program would wait for that process."""
    for sort in list(_started):
        sort.is_of_parent = True
        for pipe in (sort.process.stdin, sort.process.stdout, sort.process.stderr):
            if pipe and not pipe.closed:  # what is in its buffer is the parent's to write
                nowhere = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
                os.dup2(nowhere, pipe.fileno(), inheritable=False)
                os.close(nowhere)


os.register_at_fork(after_in_child=_let_go)


@contextlib.contextmanager
def _interrupts_wait(later: list[Callable[[], object]]) -> Iterator[None]:
    """Ctrl-C in the middle of a start would leave a program that no one knows; so what it does is put into `later`."""
    does = signal.getsignal(signal.SIGINT)
    if not callable(does) or threading.current_thread() is not threading.main_thread():  # no one is interrupted
        yield
        return
    signal.signal(signal.SIGINT, lambda *told: later.append(lambda: does(*told)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, does)


def _close_quietly(pipe: IO[bytes]) -> None:
    with contextlib.suppress(BrokenPipeError):  # what was buffered for a program that has ended
        pipe.close()
