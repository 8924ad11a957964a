"""A Ray that is missing, incomplete or silent makes one line, soon. Needs no Ray: a stand-in fails as Ray does."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ecosort.cluster import ray_connect
from ecosort.cluster.ray_connect import joined_ray
from ecosort.cluster.ray_executor import RayExecutor

from ecosort import BadInput, EcoSortError, IoFailed


class Ray:
    """`init` fails with `error`, after it has written to standard error; with an address in `absent` there is none."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.absent: tuple[str, ...] = ()
        self.addresses: list[str] = []
        self.has_ended = False

    def is_initialized(self) -> bool:
        return False

    def init(self, address: str, **_: object) -> None:
        self.addresses.append(address)
        os.write(2, b"[W 1 1] rpc_client.h: noise of its libraries\n")
        if self.error:
            raise self.error
        if address in self.absent:
            raise ConnectionError("Could not find any running Ray instance.")

    def shutdown(self) -> None:
        self.has_ended = True


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Ray:
    found = Ray()
    monkeypatch.setitem(sys.modules, "ray", found)  # type: ignore[arg-type]
    monkeypatch.setattr(ray_connect, "find_spec", lambda name: name)
    monkeypatch.setattr(ray_connect, "_ANSWER_S", 0.1)
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    return found


@pytest.fixture
def listener() -> Iterator[Callable[[bytes], str]]:
    """`listener(b"...")` is the address of a server that answers so, or not at all."""
    opened: list[socket.socket] = []

    def serve(answer: bytes) -> str:
        server = socket.create_server(("127.0.0.1", 0))
        opened.append(server)

        def accept() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                opened.append(connection)
                connection.sendall(answer)

        threading.Thread(target=accept, daemon=True).start()
        return f"127.0.0.1:{server.getsockname()[1]}"

    yield serve
    for one in opened:
        one.close()


SETTINGS = b"\0\0\0\x04\0\0\0\0\0"  # with which gRPC answers at once


def test_the_wait_for_a_head_is_short() -> None:
    """With the start of Python and of Ray below 10 s."""
    assert ray_connect._ANSWER_S + 3 * ray_connect._CONNECT_S <= 10


@pytest.mark.parametrize("on", ["ray://{}", "ray"])
def test_a_head_that_does_not_answer_is_told_before_ray_is_asked(
    ray: Ray, listener: Callable[[bytes], str], monkeypatch: pytest.MonkeyPatch, on: str
) -> None:
    """Nobody listens there; somebody does, and says nothing; no such name."""
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        closed = f"127.0.0.1:{own.getsockname()[1]}"
        for address in (closed, listener(b""), "nohost.invalid:6379", "a..b:1"):
            if on == "ray":
                monkeypatch.setenv("RAY_ADDRESS", address)
            with pytest.raises(IoFailed, match=f"no Ray head answers at .*{address}; start it with `ray start --head`"):
                joined_ray(on.format(address))
    assert ray.addresses == []


def test_a_head_that_answers_is_joined(ray: Ray, listener: Callable[[bytes], str], monkeypatch: pytest.MonkeyPatch) -> None:
    address = listener(SETTINGS)
    assert joined_ray(f"ray://{address}") == (ray, True)
    monkeypatch.setenv("RAY_ADDRESS", address)
    assert joined_ray("ray") == (ray, True)
    assert ray.addresses == [f"ray://{address}", address]


def test_the_cluster_of_this_machine_is_joined_or_one_is_started(
    ray: Ray, listener: Callable[[bytes], str], tmp_path: Path
) -> None:
    """Also where the last one has ended, for which Ray would wait a minute and a half."""
    ray.absent = ("auto",)
    joined_ray("ray")
    (tmp_path / "ray").mkdir()
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        (tmp_path / "ray" / "ray_current_cluster").write_text(f"127.0.0.1:{own.getsockname()[1]}")
        joined_ray("ray")
    ray.absent = ()
    (tmp_path / "ray" / "ray_current_cluster").write_text(listener(SETTINGS))
    joined_ray("ray")
    assert ray.addresses == ["auto", "local", "auto", "local", "auto"]


@pytest.mark.parametrize(
    ("error", "on", "kind", "why"),
    [
        (
            ValueError("Ray Client requires pip package `ray[client]`. If you\nso"),
            "ray://{}",
            BadInput,
            "pip install 'ray[client]'",
        ),
        (ImportError("No module named 'grpc'"), "ray://{}", BadInput, r"pip install 'ray\[client\]'"),
        (
            RuntimeError("Version mismatch: 2.1 is not 2.2\nmore"),
            "ray://{}",
            BadInput,
            "^ray://.*: Version mismatch: 2.1 is not 2.2$",
        ),
        (
            ConnectionError("Traceback\n  File\nno token"),
            "ray://{}",
            IoFailed,
            "no Ray head answers at ray://.*: no token; start it",
        ),
        (
            OSError("AF_UNIX path length cannot exceed 107 bytes: /x"),
            "ray",
            IoFailed,
            "Ray does not start on this machine: AF_UNIX",
        ),
        (
            RuntimeError("a\nThe current node timed out"),
            "ray",
            IoFailed,
            "machine: The current node timed out; .* use --on local",
        ),
        (Exception(), "ray", IoFailed, "machine: Exception; "),
    ],
)
def test_a_ray_that_fails_is_told_in_one_line(
    ray: Ray,
    listener: Callable[[bytes], str],
    capfd: pytest.CaptureFixture[str],
    error: Exception,
    on: str,
    kind: type[EcoSortError],
    why: str,
) -> None:
    """Without what its libraries write, and without what of it had started."""
    ray.error = error
    with pytest.raises(kind, match=why.replace("ray[client]", r"ray\[client\]")) as raised:
        joined_ray(on.format(listener(SETTINGS)))
    assert "\n" not in str(raised.value)
    assert ray.has_ended
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("missing", "on", "why"), [("ray", "ray", "package ray is not"), ("grpc", "ray://x:1", "Ray's client is not")]
)
def test_packages_that_are_missing_are_named(ray: Ray, monkeypatch: pytest.MonkeyPatch, missing: str, on: str, why: str) -> None:
    monkeypatch.setattr(ray_connect, "find_spec", lambda name: None if name == missing else name)
    with pytest.raises(BadInput, match=rf"{why} installed.*pip install 'ray\[client\]'"):
        joined_ray(on)
    assert ray.addresses == []


def test_a_head_that_is_lost_in_the_middle_is_told(ray: Ray, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client of Ray loses it as a connection."""

    def lost(*_: object, **__: object) -> Any:
        raise ConnectionError("Client is shutting down.\nmore")

    for name, value in {"nodes": list, "remote": lambda **_: lambda work: work, "wait": lost, "cancel": lost}.items():
        monkeypatch.setattr(ray, name, value, raising=False)
    executor = RayExecutor([], 1)
    executor._running["reference"] = 1
    with pytest.raises(IoFailed, match=r"^Ray's head is lost: Client is shutting down\.; start it again, then "):
        executor.wait(1.0)
    executor.close()
    assert ray.has_ended
