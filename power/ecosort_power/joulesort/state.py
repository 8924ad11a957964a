"""What one `joulesort` has been asked for and how far it is: DIR/state.json, replaced as a whole after every step."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path

from ecosort_power.codec import load, write_json
from ecosort_power.entry import Generated
from ecosort_power.errors import UsageError

SCHEMA = "ecosort.power.joulesort/1"
FILE_NAME = "state.json"


@dataclass(frozen=True, slots=True)
class Request:
    """The command line. The same one goes on with a directory, any other is refused."""

    records: int
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
        if not self.state_path.exists():
            strange = [p.name for p in self.path.iterdir() if p.name not in ("lock", FILE_NAME + ".new")]
            if strange:
                raise UsageError(f"{self.path} is not empty ({strange[0]}); choose another --dir")
            return State(SCHEMA, request)
        state = load(State, self.state_path)
        if state.schema != SCHEMA:
            raise UsageError(f"{self.state_path} has schema {state.schema}, this program reads {SCHEMA}")
        other = [f.name for f in fields(Request) if getattr(state.request, f.name) != getattr(request, f.name)]
        if other:
            old, new = (getattr(r, other[0]) for r in (state.request, request))
            raise UsageError(
                f"{self.path} was begun with another command: {other[0]} was {old!r} and is {new!r} now; "
                "repeat that command to go on, or choose another --dir"
            )
        return state

    def save(self, state: State) -> None:
        write_json(self.state_path, state)


@contextmanager
def locked(path: Path) -> Iterator[Place]:
    """Makes the directory and keeps others out of it until the block ends, also by a crash."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = (path / "lock").open("w")
    except OSError as error:
        raise UsageError(f"{path} cannot be used: {error.strerror}") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(f"another joulesort works in {path}") from None
        yield Place(path)
