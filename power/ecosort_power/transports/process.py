"""Child processes that never outlive the harness, and line-by-line talk with them.

Two belts: every direct child gets SIGKILL when the thread that made it ends (PR_SET_PDEATHSIG), and a guard process
(guard.py) kills all that carry the session's mark in their environment, grandchildren and daemons included.
Not thread-safe but for `Session`; each child belongs to one thread.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import secrets
import selectors
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from resource import struct_rusage
from typing import IO, Any

from ecosort_power.errors import MeterError, MeterGlitchError, RunError
from ecosort_power.transports import guard

_PR_SET_PDEATHSIG = 1
MAX_LINE_BYTES = 1 << 20  # a program that writes more without an end of line writes no lines
_libc = ctypes.CDLL(None, use_errno=True)
_TICKS = os.sysconf("SC_CLK_TCK")


class _Session:
    """The guard of this process, started with the first child."""

    def __init__(self) -> None:
        self.mark = ""
        self._guard: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        with self._lock:
            if self._guard is not None:
                return
            self.mark = self.mark or secrets.token_hex(16)
            self._guard = subprocess.Popen(
                [sys.executable, "-I", "-S", str(Path(guard.__file__))],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                text=True,
                start_new_session=True,
            )
            assert self._guard.stdin is not None
            self._guard.stdin.write(self.mark + "\n")
            self._guard.stdin.flush()

    def end(self) -> None:
        """Kills what is left of all children and waits for the guard."""
        with self._lock:
            if self._guard is None:
                return
            assert self._guard.stdin is not None
            self._guard.stdin.close()
            self._guard.wait()
            self._guard = None

    def survivors(self, but: Sequence[int] = ()) -> list[int]:
        """Processes of this session that are still there, without `but` and their children."""
        if not self.mark:
            return []
        return [pid for pid in guard.marked(self.mark) if pid not in but and _parent(pid) not in but]


session = _Session()


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return 0


def _prepare_child(parent: int) -> None:
    """Between fork and exec: dies with the parent, also if the parent was gone before the call."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def spawn(words: Sequence[str], env: Mapping[str, str] | None = None, **arguments: Any) -> subprocess.Popen[bytes]:
    """Starts a child in its own session (no terminal, no Ctrl-C) that dies with the harness."""
    session.start()
    full = dict(os.environ if env is None else env)
    full[guard.MARK] = session.mark
    parent = os.getpid()
    return subprocess.Popen(list(words), env=full, start_new_session=True, preexec_fn=lambda: _prepare_child(parent), **arguments)


def stop(child: subprocess.Popen[Any], grace_s: float = 2.0) -> None:
    """Ends a child and its process group: SIGTERM, then SIGKILL. The child is reaped."""
    for number, patience in ((signal.SIGTERM, grace_s), (signal.SIGKILL, 10.0)):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, number)
        try:
            child.wait(patience)
            break
        except subprocess.TimeoutExpired:
            continue
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)  # the rest of the group


def reap(child: subprocess.Popen[Any], options: int = 0) -> struct_rusage | None:
    """Takes the exit code of a child that is not reaped yet, and says what it and its own reaped children used. None if it still
    runs, which only os.WNOHANG in `options` does not wait for."""
    pid, status, usage = os.wait4(child.pid, options)
    if not pid:
        return None
    child.returncode = os.waitstatus_to_exitcode(status)
    return usage


def run_to_end(words: Sequence[str], env: Mapping[str, str] | None = None, merged: bool = False) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a program that may take hours; `merged`: all of it as standard output.
    RunError if it cannot be run. An interrupted caller leaves no child."""
    errors = subprocess.STDOUT if merged else subprocess.PIPE
    try:
        child = spawn(words, env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors)
    except OSError as error:
        raise RunError(f"{words[0]} cannot be run: {error.strerror}") from error
    try:
        out, err = child.communicate()
    except BaseException:
        stop(child)
        raise
    return child.returncode, out.decode(errors="replace"), (err or b"").decode(errors="replace")


def cpu_seconds(pid: int) -> float:
    """CPU time of a process and its reaped children so far; 0 when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(int(v) for v in fields[11:15]) / _TICKS


def which(program: str) -> str | None:
    """Finds a program: in PATH, or beside this Python (a virtual environment that is not activated)."""
    beside = Path(sys.executable).parent / program
    found = shutil.which(program)
    return found or (str(beside) if beside.is_file() and os.access(beside, os.X_OK) else None)


def run_text(words: Sequence[str], timeout_s: float, env: Mapping[str, str] | None = None) -> str:
    """Returns what a short program prints. MeterError if it is not there or fails, MeterGlitchError if it takes too long."""
    path = which(words[0])
    if path is None:
        raise MeterError(f"{words[0]} is not installed or not in PATH")
    try:
        child = spawn([path, *words[1:]], env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        raise MeterError(f"{words[0]} cannot be started: {error.strerror}") from error
    try:
        out, err = _outputs(child, timeout_s)
    except TimeoutError:
        raise MeterGlitchError(f"{words[0]} took longer than {timeout_s:g} s; #timeout=SECONDS waits longer") from None
    finally:
        stop(child, 0.5)
        for stream in (child.stdout, child.stderr):
            if stream is not None:
                stream.close()
    text = out.decode(errors="replace")
    if child.returncode != 0:
        said = (err.decode(errors="replace").strip() or text.strip() or "nothing").splitlines()[-1][:200]
        raise MeterError(f"{words[0]} ended with exit code {child.returncode}: {said}")
    return text


def _outputs(child: subprocess.Popen[bytes], timeout_s: float) -> tuple[bytes, bytes]:
    """Reads what a child writes until it ends; its CPU time is counted. TimeoutError if it does not end."""
    found = {child.stdout: b"", child.stderr: b""}
    deadline = time.monotonic() + timeout_s
    with selectors.DefaultSelector() as selector:
        for stream in found:
            assert stream is not None
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            events = selector.select(max(0.0, deadline - time.monotonic()))
            if not events and time.monotonic() >= deadline:
                raise TimeoutError
            for key, _ in events:
                data: bytes | None = key.fileobj.read(65536)  # type: ignore[union-attr]
                if data == b"":
                    selector.unregister(key.fileobj)
                found[key.fileobj] += data or b""  # type: ignore[index]
    _reap(child, deadline)
    return found[child.stdout], found[child.stderr]


_programs_lock = threading.Lock()
_programs_cpu_s = 0.0


def programs_cpu_s() -> float:
    """CPU time of all short programs that `run_text` has run so far."""
    return _programs_cpu_s


def _reap(child: subprocess.Popen[bytes], deadline: float) -> None:
    global _programs_cpu_s  # one count per process, as of its CPU time
    while (usage := reap(child, os.WNOHANG)) is None:
        if time.monotonic() >= deadline:
            raise TimeoutError
        time.sleep(0.001)
    with _programs_lock:
        _programs_cpu_s += usage.ru_utime + usage.ru_stime


class LineChild:
    """A child that is talked to in lines of text; standard error goes where `errors` says."""

    def __init__(self, words: Sequence[str], env: Mapping[str, str] | None = None, merge_errors: bool = False) -> None:
        self.name = Path(words[0]).name
        errors: Any = subprocess.STDOUT if merge_errors else subprocess.PIPE
        try:
            self.child = spawn(words, env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
        except FileNotFoundError:
            raise MeterError(f"{words[0]} is not installed or not in PATH") from None
        except OSError as error:
            raise MeterError(f"{words[0]} cannot be started: {error.strerror}") from error
        self._buffer = b""
        self._error_text = b""
        self._merged = merge_errors
        self._selector = selectors.DefaultSelector()
        for stream in (self.child.stdout, self.child.stderr):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
                self._selector.register(stream, selectors.EVENT_READ)

    @property
    def pid(self) -> int:
        return self.child.pid

    def write(self, text: str) -> None:
        assert self.child.stdin is not None
        try:
            self.child.stdin.write(text.encode())
            self.child.stdin.flush()
        except (BrokenPipeError, OSError):
            raise MeterError(self._obituary()) from None

    def read_line(self, timeout_s: float) -> str:
        """The next line without its end. MeterGlitchError if none comes in time, MeterError if the child has ended."""
        deadline = time.monotonic() + timeout_s
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            events = self._selector.select(max(left, 0.0))
            if not events and left <= 0:
                raise MeterGlitchError(f"{self.name} did not answer within {timeout_s:g} s; #timeout=SECONDS waits longer")
            for key, _ in events:
                self._take(key.fileobj)  # type: ignore[arg-type]
            if len(self._buffer) > MAX_LINE_BYTES and b"\n" not in self._buffer:
                raise MeterError(f"{self.name} prints no lines of text")
            if self.child.stdout not in [k.fileobj for k in self._selector.get_map().values()]:
                raise MeterError(self._obituary())
        line, _, self._buffer = self._buffer.partition(b"\n")
        if self._merged and line.strip():
            self._error_text = line  # may be its last words
        return line.decode(errors="replace").rstrip("\r")

    def pending(self) -> bool:
        """True if a whole line is there already."""
        return b"\n" in self._buffer

    def _take(self, stream: IO[bytes]) -> None:
        data = stream.read(65536)
        if data == b"":
            self._selector.unregister(stream)
        elif data is not None and stream is self.child.stderr:
            self._error_text = (self._error_text + data)[-2000:]
        elif data is not None:
            self._buffer += data

    def _obituary(self) -> str:
        try:
            code = self.child.wait(1.0)
        except subprocess.TimeoutExpired:
            return f"{self.name} closed its output"
        if self.child.stderr is not None and self.child.stderr in [k.fileobj for k in self._selector.get_map().values()]:
            self._take(self.child.stderr)
        said = (self._error_text or self._buffer).decode(errors="replace").strip().splitlines()
        return f"{self.name} ended with exit code {code}" + (f": {said[-1]}" if said else "")

    def close(self, farewell: str = "") -> None:
        try:
            if farewell:
                self.write(farewell)
            if self.child.stdin is not None:
                self.child.stdin.close()
            self.child.wait(0.5)
        except (MeterError, OSError, subprocess.TimeoutExpired):
            pass
        stop(self.child, 0.5)
        self._selector.close()
        for stream in (self.child.stdout, self.child.stderr):
            if stream is not None:
                stream.close()
