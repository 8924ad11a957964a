"""Addresses behind http(s) and s3, and requests to them, which are made again where another attempt may succeed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, TypeVar

from ecosort.errors import BadInput, IoFailed

PIECE = 1 << 20
TIMEOUT_S = 60.0
PASSING = (408, 425, 429, 500, 502, 503, 504)
_ATTEMPTS = 6  # the waits between them are 0.2, 0.4 ... 3.2 s
_FIRST_WAIT_S = 0.2

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Version:
    """Identifies a remote input. `tag` is empty where the server sends none."""

    size: int
    tag: str


class Passing(Exception):  # noqa: N818  # it says what it is
    """Something that another attempt may not meet."""


def is_remote(path: str) -> bool:
    return path.startswith(("http://", "https://", "s3://"))


def is_bucket(path: str) -> bool:
    return path.startswith("s3://")


class Attempts:
    """Counts attempts that failed one after the other."""

    def __init__(self) -> None:
        self._failures = 0

    def begin_anew(self) -> None:
        self._failures = 0

    def wait(self, give_up: str, error: Passing) -> None:
        """Waits before the next attempt. Raises IoFailed, which begins with `give_up`, after the last one."""
        self._failures += 1
        if self._failures >= _ATTEMPTS:
            raise IoFailed(f"{give_up}: {error}") from None
        time.sleep(_FIRST_WAIT_S * 2 ** (self._failures - 1))


def patiently(url: str, ask: Callable[[], Answer]) -> Answer:
    """Asks again where another attempt may succeed. Raises IoFailed after some."""
    attempts = Attempts()
    while True:
        try:
            return ask()
        except Passing as error:
            attempts.wait(f"'{url}' does not answer", error)


class Changed(BadInput):
    """The input `url` is another version by now."""

    def __init__(self, url: str) -> None:
        how = "give the job up (--abandon), unless it is gone, and begin again"
        super().__init__(f"'{url}' has changed since the job began; {how}")
        self.url = url


def changed(url: str) -> NoReturn:
    raise Changed(url)
