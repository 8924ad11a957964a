"""The result directory: what is in it, and reading it back.

    DIR/session.json                    what is measured, with what, on which machine
    DIR/idle-before.METER.jsonl         readings of the idle machine before the first run
    DIR/idle-after.METER.jsonl          ... and after the last
    DIR/runs/01/readings.METER.jsonl    every reading of run 1, as it came, written as it came
    DIR/runs/01/load.jsonl              load of the processors: [monotonic seconds, busy seconds]
    DIR/runs/01/{events.jsonl,stats.json,command.out,command.err}
    DIR/runs/01/run.json                marks, circumstances, validation, energy: written last, so its presence means that
                                        the run is complete
    DIR/runs/01/validation.txt          what the validator printed of the output
    DIR/input-check.txt                 ... and of the input
    DIR/summary.json                    computed from the runs, rewritten after each
    DIR/seal.jsonl                      a chain of hashes of all this, in the order of writing (seal.py)

Nothing in it is a secret. All of `energy` can be computed again from the readings, and `ecosort-power check` does so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ecosort_power.codec import decode, load, read_json
from ecosort_power.cold import ColdState, SettleState
from ecosort_power.errors import UsageError
from ecosort_power.evaluate import MeterEnergy
from ecosort_power.monitor import Circumstances
from ecosort_power.nesting import parse_json
from ecosort_power.quality import Defect, Window
from ecosort_power.reading import Capabilities, Reading
from ecosort_power.split import Span
from ecosort_power.validate import CheckReport, Validation

SESSION_SCHEMA = "ecosort.power.session/1"
RUN_SCHEMA = "ecosort.power.run/5"
SUMMARY_SCHEMA = "ecosort.power.summary/3"
INPUT_CHECK = "input-check.txt"  # what the validator printed of the input
VALIDATION = "validation.txt"  # ... and of the output of a run


@dataclass(frozen=True, slots=True)
class Options:
    """Holds what the user asked for; --continue continues with the same."""

    command: list[str]
    runs: int
    meters: list[str]
    sum_meters: bool = False
    cold: bool = False
    input: str | None = None
    output: str | None = None
    records: int | None = None
    input_checksum: str | None = None
    validate: bool = True
    check_command: str | None = None
    idle_s: float = 30.0
    pause_s: float = 5.0
    settle_s: float = 60.0
    probe_s: float = 0.0  # length of the busy/idle pattern that finds a meter's lag before the first run; 0: none
    prepare: str | None = None
    time_only: bool = False
    config: str | None = None
    ambient_c: float | None = None  # temperature of the room, as the user says
    rehearsal: bool = False  # a joulesort of another size than a class: never ranked


@dataclass(frozen=True, slots=True)
class MeterRecord:
    name: str
    spec: str
    capabilities: Capabilities


@dataclass(frozen=True, slots=True)
class Session:
    schema: str
    version: str
    created: str  # ISO 8601, local time with offset
    options: Options
    meters: list[MeterRecord]
    headline: str | None  # name of the meter (or sum) that the result is about
    records: int | None  # records of the input
    input_checksum: str | None
    host: dict[str, str]
    input_bytes: int | None = None
    input_report: CheckReport | None = None  # the validator's, of the input
    energy_reason: str | None = None  # why there is no energy at all (--time-only)
    probed: dict[str, dict[str, str]] = field(default_factory=dict)  # meter -> settings that a probe found
    idle_before_w: dict[str, float] = field(default_factory=dict)
    idle_after_w: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Marks:
    """CLOCK_MONOTONIC moments of a run. The energy window is [start, synced]; readings cover [first, last]."""

    first_s: float
    start_s: float
    exit_s: float
    synced_s: float
    last_s: float
    realtime_offset_s: float  # CLOCK_REALTIME - CLOCK_MONOTONIC at the start
    realtime_drift_s: float  # by how much that changed until the end

    @property
    def seconds(self) -> float:
        return self.synced_s - self.start_s


@dataclass(frozen=True, slots=True)
class Run:
    schema: str
    index: int
    command: list[str]
    marks: Marks
    exit_code: int
    cpu_user_s: float
    cpu_system_s: float
    harness_cpu_s: float  # own CPU time of harness and meters inside the window
    records: int | None
    circumstances: Circumstances
    settle: SettleState | None
    cold: ColdState | None
    validation: Validation | None
    stats: dict[str, Any] | None
    spans: list[Span]
    energy: list[MeterEnergy] | None  # one per meter, then the sum
    energy_reason: str | None
    defects: list[Defect] = field(default_factory=list)  # of the run itself; each energy has its own

    def window(self) -> Window:
        m, c = self.marks, self.circumstances
        return Window(m.first_s, m.start_s, m.synced_s, m.last_s, self._load_step(), c.drive_step_bytes_s, c.late_swing)

    def _load_step(self) -> float:
        """Returns what the run added to the load: by its own CPU time, or by the machine's, whichever shows more."""
        c = self.circumstances
        own = (self.cpu_user_s + self.cpu_system_s) / self.marks.seconds / self.circumstances.processors
        if c.busy_inside is None or c.busy_before is None or c.busy_after is None:
            return own
        return max(own, c.busy_inside - max(c.busy_before, c.busy_after))

    def energy_of(self, meter: str | None) -> MeterEnergy | None:
        return next((e for e in self.energy or [] if e.meter == meter), None)

    def all_defects(self) -> list[Defect]:
        return [*self.defects, *(d for e in self.energy or [] for d in e.defects)]

    @property
    def valid(self) -> bool:
        return not any(d.fatal for d in self.all_defects())


class ResultDirectory:
    """Paths and reading; writing goes through `codec.write_json`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def session_path(self) -> Path:
        return self.path / "session.json"

    @property
    def summary_path(self) -> Path:
        return self.path / "summary.json"

    def run_path(self, index: int) -> Path:
        return self.path / "runs" / f"{index:02d}"

    def exists(self) -> bool:
        """True if anything of a measurement is there, in whatever state."""
        return any((self.path / name).is_file() for name in ("session.json", "seal.jsonl", "summary.json"))

    def has_begun(self) -> bool:
        """True if there was a run, in whatever state it is."""
        return self.run_path(1).parent.is_dir()

    def session(self) -> Session:
        if not self.session_path.exists():
            entry = self.path / "result"
            hint = f"; that of this entry is {entry}" if (entry / self.session_path.name).exists() else ""
            raise UsageError(f"{self.path} is no result directory: it has no session.json{hint}")
        session = load(Session, self.session_path)
        if session.schema != SESSION_SCHEMA:
            raise UsageError(f"{self.session_path} has schema {session.schema}, this program reads {SESSION_SCHEMA}")
        return session

    def runs(self) -> list[Run]:
        """The complete runs, in order."""
        found = []
        for path in sorted((self.path / "runs").glob("[0-9][0-9]/run.json")):
            document = read_json(path)
            _refuse_other_schema(path, document)
            try:
                found.append(decode(Run, document))
            except ValueError as error:
                raise UsageError(f"{path} is not what it should be: {error}") from error
        return found

    def readings(self, index: int, meter: str) -> list[Reading]:
        return read_readings(self.run_path(index) / f"readings.{meter}.jsonl")


def _refuse_other_schema(path: Path, document: Any) -> None:
    """Refuses an energy that was computed by other rules: it must not be shown beside one of these."""
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != RUN_SCHEMA:
        raise UsageError(
            f"{path} has schema {schema}, this program reads {RUN_SCHEMA}: its energy was computed by other rules; measure "
            "again, or read it with the version of ecosort-power that session.json names"
        )


def read_readings(path: Path) -> list[Reading]:
    """A last line that was cut off by a crash is left out; any other defect is an error."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is damaged: it is no text") from error
    readings = []
    for number, line in enumerate(lines, 1):
        try:
            readings.append(decode(Reading, parse_json(line)))
        except ValueError as error:
            if number == len(lines):
                break
            raise UsageError(f"{path}, line {number}: {error}") from error
    return readings


def valid_runs(runs: Sequence[Run]) -> list[Run]:
    return [r for r in runs if r.valid]
