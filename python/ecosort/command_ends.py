"""Ends commands written in Python as the program ends its own: one line, its exit codes, and signals as errors."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from types import FrameType

from ecosort.errors import BadInput, EcoSortError, FalseClaim, IoFailed, NotEnoughMemory, NotEnoughSpace, VerificationFailed
from ecosort.text import shown

_FALSE = ((VerificationFailed, 1), (FalseClaim, 1))
_CODES = (*_FALSE, (BadInput, 2), (NotEnoughMemory, 2), (NotEnoughSpace, 3), (IoFailed, 3), (OSError, 3))


def code_of(error: EcoSortError | OSError) -> int:
    """Exit codes as those of the program: 1 verification and false claims, 2 usage and bad input, 3 I/O, 4 others."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), 4)


def told(error: EcoSortError | OSError) -> str:
    """One line, whatever is in a name."""
    text = f"'{error.filename}': {error.strerror}" if isinstance(error, OSError) and error.filename is not None else str(error)
    return shown(text)


def ended(work: Callable[[], None]) -> int:
    """Does the work of a command that leaves nothing behind when it is interrupted, and returns its exit code."""
    try:
        with interruptible():
            work()
    except KeyboardInterrupt as error:
        print("ecosort: interrupted; there is no output", file=sys.stderr)
        return 128 + (error.number if isinstance(error, Interrupted) else signal.SIGINT)
    except (EcoSortError, OSError) as error:
        print(f"ecosort: {told(error)}", file=sys.stderr)
        return code_of(error)
    return 0


def print_notices(notices: Iterable[str]) -> None:
    """Prints each on a line of standard error."""
    with contextlib.suppress(OSError):  # no one reads any more
        for notice in notices:
            print(f"ecosort: {shown(notice)}", file=sys.stderr)


class Interrupted(KeyboardInterrupt):
    """By a signal other than Ctrl-C."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def _on_signal(number: int, frame: FrameType | None) -> None:
    raise Interrupted(number)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Signals that would end this process without a word do what Ctrl-C does; those that are ignored stay so."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    taken = [number for number, handler in before.items() if handler == signal.SIG_DFL]
    for number in taken:
        signal.signal(number, _on_signal)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)
