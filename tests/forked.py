"""Programs in Python as processes that cost a tenth of a start.

Python with what `ecosort-power report` imports takes 0.3 s of the processor before it begins, and the tests call such programs a
thousand times. Here a server forks for every call, and has imported what the calls before needed. What is forked is a
process like any other: its directory, environment, signals, streams and exit code are its own.
What a module makes where it is imported is the same in all of them: no module may make there what differs between processes.

    server, one per worker of pytest    waits for calls, forks, and reports the pid and the exit code to who called
     +- the program                     `python -P -m MODULE WORDS`; at its end it reports to the server what it imported
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import runpy
import select
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

# Python and its libraries look at these where they start: a call with others of them is a process of its own.
_OF_THE_START = ("PYTHON", "LC_", "LANG", "LD_", "MPL")
_ROOT = Path(__file__).resolve().parent.parent
_PACKAGES = [str(_ROOT / name) for name in ("python", "power", "tuning", "tuning/bench", "appliance")]


class Process:
    """Stands for what was started, with the part of subprocess.Popen that the tests use. A stream is PIPE, DEVNULL, or the one of
    the tests.
    """

    def __init__(
        self,
        module: str,
        words: Sequence[str | bytes | Path],
        *,
        cwd: Path,
        env: Mapping[str, str],
        stdout: int | None = None,
        stderr: int | None = None,
    ) -> None:
        texts = [os.fsdecode(word) for word in words]
        call = {"module": module, "words": texts, "cwd": os.fspath(cwd), "env": dict(env)}
        self.args = [sys.executable, "-P", "-m", module, *texts]
        self.returncode: int | None = None
        self._keeper, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(_server(_namespace()), [b"!"], [theirs.fileno()])
        with contextlib.ExitStack() as opened:
            self.stdout, out = _stream(stdout, 1, opened)
            self.stderr, err = _stream(stderr, 2, opened)
            data = json.dumps(call).encode()
            begin = socket.send_fds(self._keeper, [data], [out, err])
            self._keeper.sendall(data[begin:])
            self._keeper.shutdown(socket.SHUT_WR)
        self._said = self._keeper.makefile()
        self.pid = int(self._said.readline())

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._keeper], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
            self.returncode = int(self._said.readline())
            self._said.close()
            self._keeper.close()
        return self.returncode

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float) -> tuple[bytes, bytes]:
        """All of both streams, until no process has them open, and the exit code."""
        files = [file for file in (self.stdout, self.stderr) if file is not None]
        data = dict.fromkeys(files, b"")
        end = time.monotonic() + timeout
        with contextlib.ExitStack() as opened:
            ready = opened.enter_context(selectors.DefaultSelector())
            for file in files:
                ready.register(opened.enter_context(file), selectors.EVENT_READ)
            while ready.get_map():
                found = ready.select(max(0.0, end - time.monotonic()))
                if not found:
                    raise subprocess.TimeoutExpired(self.args, timeout)
                for key, _ in found:
                    part = os.read(key.fd, 1 << 16)
                    data[key.fileobj] += part  # type: ignore[index]
                    if not part:
                        ready.unregister(key.fileobj)
        self.wait(max(0.0, end - time.monotonic()))
        return tuple(data[file] if file is not None else b"" for file in (self.stdout, self.stderr))  # type: ignore[return-value]


def _stream(wanted: int | None, own: int, opened: contextlib.ExitStack) -> tuple[IO[bytes] | None, int]:
    """Opens what the tests read from, if they do; and what the program writes to."""
    if wanted is None:
        return None, own
    if wanted == subprocess.DEVNULL:
        return None, opened.enter_context(Path(os.devnull).open("wb")).fileno()
    reads, writes = os.pipe()
    opened.callback(os.close, writes)
    return os.fdopen(reads, "rb", buffering=0), writes


def run(
    module: str,
    words: Sequence[str | bytes | Path],
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout: float = 120.0,
    errors: str = "strict",
) -> subprocess.CompletedProcess[str]:
    """Like subprocess.run with `python -P -m module words` and what it writes captured as text; its input is empty."""
    pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
    process: Process | subprocess.Popen[bytes]
    if _starts_alike(env):
        process = Process(module, words, cwd=cwd, env=env, stdout=pipe, stderr=pipe)
    else:
        command = [sys.executable, "-P", "-m", module, *words]
        process = subprocess.Popen(command, cwd=cwd, env=env, stdin=quiet, stdout=pipe, stderr=pipe)
    try:
        out, err = (
            data.decode(errors=errors).replace("\r\n", "\n").replace("\r", "\n") for data in process.communicate(timeout=timeout)
        )
    finally:
        process.kill()
        code = process.wait(60)
    return subprocess.CompletedProcess(process.args, code, out, err)


def _starts_alike(env: Mapping[str, str]) -> bool:
    def said(where: Mapping[str, str]) -> dict[str, str]:
        return {k: v for k, v in where.items() if k.startswith(_OF_THE_START) and k != "PYTHONPATH" and "PYTEST" not in k}

    return said(env) == said(os.environ) and set(env.get("PYTHONPATH", "").split(":")) <= {"", *_PACKAGES}


def _namespace() -> str:
    """Names the namespace of mounts: a test may have made one."""
    return str(Path("/proc/thread-self/ns/mnt").readlink())


_servers: list[int] = []
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def processor_s() -> float:
    """Adds up the time of the servers and of the programs that have ended."""
    ticks = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15] for pid in _servers]
    return sum(int(tick) for of_server in ticks for tick in of_server) / _TICKS_PER_S


@functools.cache
def _server(namespace: str) -> socket.socket:
    """Begins with the first call from a namespace of mounts, and ends with this process, however that ends."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    env = os.environ | {"PYTHONPATH": ":".join(_PACKAGES), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-P", __file__, str(its.fileno())]
    quiet = subprocess.DEVNULL
    with its:
        server = subprocess.Popen(command, pass_fds=[its.fileno()], stdin=quiet, stdout=quiet, env=env)
    _servers.append(server.pid)
    atexit.register(server.wait)
    atexit.register(ours.close)
    return ours


def _serve(calls: socket.socket) -> dict[str, Any]:
    """Returns in a program, with what was called."""
    imported, tell = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    running: dict[int, tuple[int, socket.socket]] = {}  # by pidfd: the pid, and who called
    ready = select.poll()
    ready.register(calls, select.POLLIN)
    while True:
        for descriptor, _ in ready.poll():
            if descriptor in running:
                ready.unregister(descriptor)
                os.close(descriptor)
                _tell_end(*running.pop(descriptor))
                continue
            data, found, _, _ = socket.recv_fds(calls, 1, 1)
            if not data:
                for pid, caller in running.values():
                    _tell_end(pid, caller)
                os._exit(0)
            caller = socket.socket(fileno=found[0])
            _import(imported)
            pid = os.fork()
            if pid == 0:
                for other, (_, its_caller) in running.items():
                    os.close(other)
                    its_caller.close()
                calls.close()
                os.close(imported)
                atexit.register(_tell_imports, tell, set(sys.modules))  # the first registered is the last called
                return _receive(caller)
            with contextlib.suppress(OSError):  # who called may have gone
                caller.send(f"{pid}\n".encode())
            end = os.pidfd_open(pid)
            running[end] = (pid, caller)
            ready.register(end, select.POLLIN)


def _tell_end(pid: int, caller: socket.socket) -> None:
    """Waits for it."""
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with caller, contextlib.suppress(OSError):
        caller.send(f"{code}\n".encode())


def _tell_imports(tell: int, before: set[str]) -> None:
    names = [name for name in sys.modules if name not in before and name != "__main__"]
    with contextlib.suppress(BlockingIOError):
        os.write(tell, "".join(f"{name}\n" for name in names).encode())


def _import(imported: int) -> None:
    """Imports what programs have reported, for those that follow."""
    try:
        names = os.read(imported, 1 << 16).decode().split()
    except BlockingIOError:
        return
    for name in names:
        if name not in sys.modules:
            with contextlib.suppress(Exception):  # what can only be imported by another module
                importlib.import_module(name)
    gc.collect()
    gc.freeze()  # what is not looked at again is not copied for a fork


def _receive(caller: socket.socket) -> dict[str, Any]:
    """Reads what is called, and takes its streams."""
    data, streams, _, _ = socket.recv_fds(caller, 1 << 16, 2)
    while part := caller.recv(1 << 16):
        data += part
    caller.close()
    for number, stream in enumerate(streams, 1):
        os.dup2(stream, number)
        os.close(stream)
    call: dict[str, Any] = json.loads(data)
    return call


def _become(call: Mapping[str, Any]) -> None:
    os.chdir(call["cwd"])
    os.environ.clear()
    os.environ.update(call["env"])
    for name, line_buffering in (("stdout", False), ("stderr", True)):  # as Python makes them where they are pipes
        old = getattr(sys, name)
        stream = open(old.fileno(), "w", encoding=old.encoding, errors=old.errors, closefd=False)  # noqa: SIM115
        stream.reconfigure(line_buffering=line_buffering)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.argv = [call["module"], *call["words"]]
    try:
        runpy.run_module(call["module"], run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if threading.active_count() > 1 or not isinstance(end.code, int):
            raise
        # To take all objects apart would copy the memory of the server. What has to happen before that happens.
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(end.code & 0xFF)


if __name__ == "__main__":
    _become(_serve(socket.socket(fileno=int(sys.argv[1]))))
