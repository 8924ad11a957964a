"""Joins a Ray cluster, or starts one, or says in one line why not: Ray itself waits for minutes, and writes to standard error."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Any

from ecosort.errors import BadInput, IoFailed

_CLIENT_PORT = 10001  # of `ray start --head`
_TRIES = 3
_NOT_YET = "Starting Ray client server failed"
_ANSWER_S = 4.0
_CONNECT_S = 2  # of each of three tries of Ray's client
# A client of HTTP/2, which gRPC speaks, begins with its preface, and with no settings of its own.
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\x04\0\0\0\0\0"
_START = "start it with `ray start --head`, or where it runs, give this user its token (see `ray get-auth-token`)"
_NO_CLIENT = "Ray's client is not installed, which ray:// needs; run: pip install 'ray[client]'"
_QUIET = {"log_to_driver": False, "logging_level": "ERROR"}


def joined_ray(on: str) -> tuple[Any, bool]:
    """The module, connected to the cluster `on`, and whether it was this call that connected it. Raises BadInput, IoFailed."""
    if find_spec("ray") is None:
        raise BadInput("the Python package ray is not installed; run: pip install 'ray[client]', or use --on local")
    if (known := sys.modules.get("ray")) and known.is_initialized():
        return known, False
    if on != "ray" and find_spec("grpc") is None:
        raise BadInput(_NO_CLIENT)
    is_named = on != "ray" or bool(os.environ.get("RAY_ADDRESS"))
    address = _address(on)
    if address and not _answers(address):
        if is_named:
            raise IoFailed(f"no Ray head answers at {address}; {_START}")
        address = ""  # it has ended
    with _standard_error_aside():
        ray = _loaded()
        try:
            _connect(ray, address, is_named)
        except BaseException:
            ray.shutdown()  # what of it has started
            raise
    return ray, True


def _address(on: str) -> str:
    """Returns the address of the head; it is empty where none is known, or where it is for Ray to understand."""
    if on != "ray":
        return on if ":" in on.removeprefix("ray://") else f"{on}:{_CLIENT_PORT}"
    return os.environ.get("RAY_ADDRESS") or _last_started()


def _last_started() -> str:
    """Returns the address that `ray start` wrote on this machine; that Ray may have ended since."""
    with contextlib.suppress(OSError):
        return (Path(os.environ.get("RAY_TMPDIR") or tempfile.gettempdir()) / "ray" / "ray_current_cluster").read_text().strip()
    return ""


def _answers(address: str) -> bool:
    """Something speaks there within some seconds. True also for what is no HOST:PORT, which Ray will say."""
    found = re.fullmatch(r"(?:ray://)?\[?([^/\[\]]+?)\]?:(\d+)", address)
    if not found:
        return True
    answers: list[bytes] = []
    asking = Thread(target=_ask, args=(found[1], int(found[2]), answers), daemon=True)  # looking up a name may take longer
    asking.start()
    asking.join(_ANSWER_S)
    return bool(answers)


def _ask(host: str, port: int, answers: list[bytes]) -> None:
    with contextlib.suppress(OSError, UnicodeError, OverflowError), socket.create_connection((host, port), _ANSWER_S) as there:
        there.sendall(_GREETING)
        if (answer := there.recv(1)) or os.environ.get("RAY_USE_TLS") == "1":  # then it hangs up
            answers.append(answer)


def _loaded() -> Any:
    _use_token()
    for limit in ("INITIAL", "MAX"):
        os.environ.setdefault(f"RAY_CLIENT_{limit}_CONNECTION_TIMEOUT_S", str(_CONNECT_S))
    try:
        import ray
    except ImportError as error:
        raise BadInput(f"the Python package ray does not load: {_last_line(error)}; install it anew, or use --on local") from None
    return ray


def _use_token() -> None:
    """A head that finds a token asks everybody for it, also its own clients, which only send it when they are asked to. A first
    `--on ray` makes one.
    """
    if "RAY_AUTH_MODE" in os.environ:
        return
    token = Path(os.path.expanduser("~/.ray/auth_token"))  # noqa: PTH111  # a user without a home has none
    if {"RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"} & {*os.environ} or token.exists():
        os.environ["RAY_AUTH_MODE"] = "token"


def _connect(ray: Any, address: str, is_named: bool) -> None:
    """Connects; a Ray is started if none is named and none runs here."""
    try:
        if address.startswith("ray://"):
            _join(ray, address)
        elif is_named or not _joined_here(ray):
            ray.init(**({"address": address} if is_named else {"address": "local", "include_dashboard": False}), **_QUIET)
    except ConnectionError as error:
        raise IoFailed(f"no Ray head answers at {address}: {_last_line(error)}; {_START}") from None
    except Exception as error:  # of many kinds, and many causes
        if "ray[client]" in str(error) or isinstance(error, ImportError):
            raise BadInput(_NO_CLIENT) from None
        if address:
            raise BadInput(f"{address}: {str(error).strip().splitlines()[0]}") from None
        raise IoFailed(f"Ray does not start on this machine: {_last_line(error)}; mend that, or use --on local") from None


def _joined_here(ray: Any) -> bool:
    """The cluster of this machine."""
    try:
        ray.init(address="auto", **_QUIET)
    except ConnectionError:  # none runs here
        return False
    return True


def _join(ray: Any, address: str) -> None:
    """A head that has just been started lets no one in for some seconds."""
    for tries in range(_TRIES):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the error says it
                ray.init(address=address, logging_level="ERROR")
        except ConnectionError as error:
            if _NOT_YET not in str(error) or tries == _TRIES - 1:
                raise
            time.sleep(1)
        else:
            return


def _last_line(error: Exception) -> str:
    """Returns the last line of a traceback that an error brings along."""
    return str(error).strip().rpartition("\n")[2] or type(error).__name__


@contextlib.contextmanager
def _standard_error_aside() -> Iterator[None]:
    """Takes away what Ray's own libraries write there while they connect, beside the error that they raise."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with open(os.devnull, "wb") as nothing:  # noqa: PTH123
            os.dup2(nothing.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
