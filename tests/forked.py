"""Programs in Python as processes that cost a tenth of a start.

Python with what `ecosort-power report` imports takes 0.3 s of the processor before it begins, and the tests call such programs a
thousand times. Here a server forks for every call, and has imported the libraries that the calls before needed. What is
forked is a process like any other: its directory, environment, signals, streams and exit code are its own, it imports what is of
the project, and it ends as Python ends.

    server, one per worker of pytest    waits for calls and forks
     +- keeper, one per call            tells the pid and the exit code to who called
         +- the program                 `python -P -m MODULE WORDS`; at its end it tells the server what it imported
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
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# Python and its libraries look at these where they start: a call with others of them is a process of its own.
_OF_THE_START = ("PYTHON", "LC_", "LANG", "LD_", "MPL")
# What is of the project is imported by every program itself, as it is where it is used.
_OWN = ("ecosort", "__main__")
_PACKAGES = ("python", "power", "tuning", "tuning/bench", "appliance")


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
    texts = [os.fsdecode(word) for word in words]
    command = [sys.executable, "-P", "-m", module, *texts]
    if not _starts_alike(env):
        quiet = subprocess.DEVNULL
        return subprocess.run(
            command, cwd=cwd, env=env, stdin=quiet, capture_output=True, text=True, errors=errors, timeout=timeout, check=False
        )
    call = json.dumps({"module": module, "words": texts, "cwd": os.fspath(cwd), "env": dict(env)}).encode()
    keeper, theirs = socket.socketpair()
    with keeper, contextlib.ExitStack() as opened:
        with theirs:
            socket.send_fds(_server(_namespace()), [b"!"], [theirs.fileno()])
        pipes = [os.pipe(), os.pipe()]
        files = [opened.enter_context(os.fdopen(pipe[0], "rb")) for pipe in pipes]
        _send(keeper, call, [pipe[1] for pipe in pipes])
        out, err = _read(keeper, files, command, timeout, errors)
        said = keeper.makefile().read().split()
    return subprocess.CompletedProcess(command, int(said[-1]), out, err)


def _send(keeper: socket.socket, call: bytes, streams: list[int]) -> None:
    begin = socket.send_fds(keeper, [call], streams)
    keeper.sendall(call[begin:])
    keeper.shutdown(socket.SHUT_WR)
    for stream in streams:
        os.close(stream)


def _read(keeper: socket.socket, files: list[Any], command: list[str], timeout: float, errors: str) -> list[str]:
    """All of both streams, until no process has them open: as subprocess.run waits for it."""
    data = [b""] * len(files)
    end = time.monotonic() + timeout
    with selectors.DefaultSelector() as ready:
        for number, file in enumerate(files):
            ready.register(file, selectors.EVENT_READ, number)
        while ready.get_map():
            for key, _ in ready.select(end - time.monotonic()):
                part = os.read(key.fd, 1 << 16)
                data[key.data] += part
                if not part:
                    ready.unregister(key.fileobj)
            if time.monotonic() >= end:
                os.kill(int(keeper.makefile().readline()), signal.SIGKILL)
                raise subprocess.TimeoutExpired(command, timeout)
    return [part.decode(errors=errors).replace("\r\n", "\n").replace("\r", "\n") for part in data]


def _starts_alike(env: Mapping[str, str]) -> bool:
    def said(where: Mapping[str, str]) -> dict[str, str]:
        return {k: v for k, v in where.items() if k.startswith(_OF_THE_START) and k != "PYTHONPATH" and "PYTEST" not in k}

    return said(env) == said(os.environ)


def _namespace() -> str:
    """Of mounts: a test may have made one."""
    return str(Path("/proc/thread-self/ns/mnt").readlink())


@functools.cache
def _server(namespace: str) -> socket.socket:
    """Begins with the first call from a namespace of mounts, and ends with this process, however that ends."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    root = Path(__file__).resolve().parent.parent
    packages = ":".join(str(root / name) for name in _PACKAGES)
    env = os.environ | {"PYTHONPATH": packages, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-P", __file__, str(its.fileno())]
    quiet = subprocess.DEVNULL
    with its:
        server = subprocess.Popen(command, pass_fds=[its.fileno()], stdin=quiet, stdout=quiet, env=env)
    atexit.register(server.wait)  # then its time of the processor is counted
    atexit.register(ours.close)
    return ours


def _serve(calls: socket.socket) -> dict[str, Any]:
    """Returns in a program, with what was called."""
    imported, tell = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    while True:
        data, found, _, _ = socket.recv_fds(calls, 1, 1)
        if not data:
            break
        caller = socket.socket(fileno=found[0])
        _import(imported)
        if os.fork() == 0:
            calls.close()
            os.close(imported)
            atexit.register(_tell_imports, tell, set(sys.modules))  # the first registered is the last called
            return _keep(caller)
        caller.close()
        _reap(os.WNOHANG)
    _reap(0)
    os._exit(0)


def _reap(how: int) -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, how) != (0, 0):
            pass


def _tell_imports(tell: int, before: set[str]) -> None:
    names = [name for name in sys.modules if name not in before and not name.startswith(_OWN)]
    with contextlib.suppress(BlockingIOError):
        os.write(tell, "".join(f"{name}\n" for name in names).encode())


def _import(imported: int) -> None:
    """What programs have told, for those that follow."""
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


def _keep(caller: socket.socket) -> dict[str, Any]:
    """Returns in the program; the keeper waits for it."""
    data, streams, _, _ = socket.recv_fds(caller, 1 << 16, 2)
    while part := caller.recv(1 << 16):
        data += part
    call: dict[str, Any] = json.loads(data)
    if pid := os.fork():
        for stream in (0, 1, 2, *streams):
            os.close(stream)
        with contextlib.suppress(OSError):  # who called may have gone
            caller.send(f"{pid}\n".encode())
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with contextlib.suppress(OSError):
            caller.send(f"{code}\n".encode())
        os._exit(0)
    caller.close()
    for number, stream in enumerate(streams, 1):
        os.dup2(stream, number)
        os.close(stream)
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
    runpy.run_module(call["module"], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _become(_serve(socket.socket(fileno=int(sys.argv[1]))))
