"""Keeps what one `joulesort` has been asked for and how far it is: DIR/state.json, replaced as a whole after every step."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields
from pathlib import Path

from ecosort_power.codec import load, write_json
from ecosort_power.entry import Generated
from ecosort_power.errors import UsageError
from ecosort_power.report.facts import FILE_NAME as QUESTIONS

SCHEMA = "ecosort.power.joulesort/1"
FILE_NAME = "state.json"
TRIAL = "trial-of-length-"  # directories of sorts that show how long one takes


@dataclass(frozen=True, slots=True)
class Request:
    """The command line. The same one continues with a directory, any other is refused."""

    records: int  # 0 as it is asked for: as many as the meter needs
    rehearsal: bool
    category: str
    meters: list[str]
    sum_meters: bool
    runs: int
    data: str  # directory of inputs and outputs
    sort_words: list[str]
    idle_s: float
    pause_s: float
    settle_s: float
    probe_s: float
    config: str | None


@dataclass(frozen=True, slots=True)
class State:
    schema: str
    request: Request
    input: Generated | None = None
    skewed_input: Generated | None = None
    plan: list[str] = field(default_factory=list)


class Place:
    """The directory of an entry: where its parts are."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.result = path / "result"
        self.skewed = path / "skewed"

    @property
    def state_path(self) -> Path:
        return self.path / FILE_NAME

    def state(self, request: Request) -> State:
        """The stored state, or a new one. UsageError if the directory is another's."""
        state = self.begun()
        if state is None:
            own = ("lock", FILE_NAME + ".new", QUESTIONS)  # the questions may be answered before the first call
            strange = [p.name for p in self.path.iterdir() if p.name not in own and not _holds_nothing(p)]
            if strange:
                raise UsageError(f"{self.path} is not empty ({strange[0]}); choose another --dir")
            return State(SCHEMA, request)
        other = [f.name for f in fields(Request) if getattr(state.request, f.name) != getattr(request, f.name)]
        if other:
            old, new = (getattr(r, other[0]) for r in (state.request, request))
            raise UsageError(
                f"{self.path} was begun with another command: {other[0]} was {old!r} and is {new!r} now; "
                "repeat that command to continue, or choose another --dir"
            )
        return state

    def begun(self) -> State | None:
        """The stored state, if there is one. UsageError if it is another program's."""
        if not self.state_path.exists():
            return None
        state = load(State, self.state_path)
        if state.schema != SCHEMA:
            raise UsageError(f"{self.state_path} has schema {state.schema}, this program reads {SCHEMA}")
        return state

    def save(self, state: State) -> None:
        write_json(self.state_path, state)


def _holds_nothing(path: Path) -> bool:
    """True for a directory of data that is empty but for what a killed trial has left."""
    return path.is_dir() and all(p.name.startswith(TRIAL) for p in path.iterdir())


@contextmanager
def directory(path: Path) -> Iterator[None]:
    """Makes the directory. Those that were made for it go again where the block ends by an error and they are empty."""
    missing = [p for p in (path, *path.parents) if not p.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{path} cannot be used: {error.strerror}") from error
    try:
        yield
    except BaseException:
        for made in missing:
            with suppress(OSError):
                made.rmdir()
        raise


@contextmanager
def alone_in(data: Path) -> Iterator[None]:
    """Keeps another entry, in a directory of its own, away from the same data until the block ends, also by a crash."""
    fd = os.open(data, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise UsageError(f"another joulesort sorts in {data}; wait until it has ended, or choose another --data") from None
    except OSError:  # a file system without locks
        pass
    try:
        yield
    finally:
        os.close(fd)


@contextmanager
def locked(path: Path) -> Iterator[Place]:
    """Makes the directory and keeps others out of it until the block ends, also by a crash. Nothing is left of a directory in
    which nothing was begun."""
    with directory(path):
        try:
            lock = (path / "lock").open("w")
        except OSError as error:
            raise UsageError(f"{path} cannot be used: {error.strerror}") from error
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(lock.fileno()).st_ino != (path / "lock").stat().st_ino:  # the other one has just gone
                    raise FileNotFoundError
            except OSError:
                raise UsageError(f"another joulesort works in {path}") from None
            place = Place(path)
            try:
                yield place
            finally:
                if not place.state_path.exists():
                    (path / "lock").unlink(missing_ok=True)
