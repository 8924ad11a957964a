"""A stored and sealed result with five runs, computed from synthetic readings: for tests of reports, without measuring."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

from ecosort_power.assemble import attach_energy
from ecosort_power.cold import ColdState, SettleState
from ecosort_power.evaluate import MeterEnergy
from ecosort_power.monitor import Circumstances, DriveHeat
from ecosort_power.quality import Defect
from ecosort_power.reading import Accuracy, Capabilities, PowerKind, Reading, Scope
from ecosort_power.sampler import to_line
from ecosort_power.seal import Seal
from ecosort_power.split import Span
from ecosort_power.store import RUN_SCHEMA, SESSION_SCHEMA, Marks, MeterRecord, Options, ResultDirectory, Run, Session
from ecosort_power.summary import summarize
from ecosort_power.validate import Validation, parse_report

RECORDS = 10**8
WALL = Capabilities(
    title="ZES LMG95 <lab & bench>",
    scope=Scope.WALL,
    period_s=0.5,
    power=PowerKind.AVERAGE,
    lag_s=0.0,
    window_s=0.5,
    timing_source="instrument",
    accuracy=Accuracy(0.0005, 0.02),
    identity={"serial": "12345678"},
)


def _watts(t: float, form_s: float, end_s: float) -> float:
    if not 0 <= t <= end_s:
        return 3.1 + 0.05 * math.sin(11 * t)
    return 3.1 + (5.2 if t < form_s else 3.4) + 0.4 * math.sin(t / 1.3) + 0.05 * math.sin(17 * t)


REPORT = f"Records: {RECORDS}\nChecksum: 2faf0ab746e89a8\nDuplicate keys: 0\nSUCCESS - all records are in order\n"


def _reading(t: float, watts: float, cycle: int) -> Reading:
    """Makes a reading as the LMG95 sends it."""
    return Reading(t, t, watts=watts, interval_s=0.5, stamp=str(cycle), raw=f"{cycle},0.5,{watts!r}")


def _idle(path: Path, watts: float, seal: Seal) -> None:
    path.write_text("".join(to_line(_reading(0.5 * k, watts, k)) + "\n" for k in range(60)))
    seal.file(path)


def _write_run(directory: Path, session: Session, index: int, speed: float, seal: Seal) -> None:
    start, form, end = 1000.0 * index, 52.0 * speed, 102.0 * speed
    path = directory / f"runs/{index:02d}"
    path.mkdir(parents=True)
    times = [start - 10 + 0.5 * k for k in range(int((end + 24) * 2))]
    readings = [_reading(t, _watts(t - start, form, end), k) for k, t in enumerate(times)]
    (path / "readings.wall.jsonl").write_text("".join(to_line(r) + "\n" for r in readings))
    spans = [Span("run_formation", start + 0.2, start + form), Span("merge", start + form, start + end - 1)]
    events = [
        {"schema": "ecosort.events/1", "event": kind, "phase": s.name, "monotonic_s": t, "realtime_s": t}
        for s in spans
        for kind, t in (("begin", s.begin_s), ("end", s.end_s))
    ]
    (path / "events.jsonl").write_text("".join(json.dumps(e) + "\n" for e in events))
    (path / "validation.txt").write_text(REPORT)
    seal.add("command", path=f"runs/{index:02d}", words=session.options.command)
    for name in ("readings.wall.jsonl", "events.jsonl", "validation.txt"):
        seal.file(path / name)
    run = Run(
        schema=RUN_SCHEMA,
        index=index,
        command=session.options.command,
        marks=Marks(start - 10, start, start + end - 0.2, start + end, start + end + 13, 1.79e9, 0.0),
        exit_code=0,
        cpu_user_s=38.0 + index / 10,
        cpu_system_s=21.0,
        harness_cpu_s=0.21,
        records=RECORDS,
        circumstances=Circumstances(4, 0.01, 0.35, 0.01, 0, [DriveHeat("nvme nvme0", 38, 51, 52, 81)]),
        settle=SettleState(True, 2.1),
        cold=ColdState("drop_caches", 0.0),
        validation=Validation(parse_report(REPORT, 0), None, True),
        stats=None,
        spans=spans,
        energy=None,
        energy_reason=None,
        defects=[Defect("hot-drive", "a note with <angle> & brackets", False)] if index == 2 else [],
    )
    seal.document(path / "run.json", attach_energy(session, run, {"wall": readings}))


def write_result(directory: Path, factor: float = 1.0, runs: int = 5) -> Path:
    """`factor` stretches the runs in time."""
    directory.mkdir(parents=True)
    command = ["ecosort", "sort", "--memory", "1GiB", "--temp", "/mnt/ssd1", "/mnt/ssd1/input file", "-o", "/mnt/ssd2/output"]
    session = Session(
        schema=SESSION_SCHEMA,
        version="0.1.0",
        created="2026-02-03T10:20:30+01:00",
        options=Options(command=command, runs=runs, meters=["scpi:/dev/ttyUSB0#profile=lmg95"], cold=True),
        meters=[MeterRecord("wall", "scpi:/dev/ttyUSB0#profile=lmg95", WALL)],
        headline="wall",
        records=RECORDS,
        input_checksum="2faf0ab746e89a8",
        input_bytes=RECORDS * 100,
        host={"processor": "Cortex-A76", "memory": "8.0 GiB"},
        idle_before_w={"wall": 3.11},
        idle_after_w={"wall": 3.14},
    )
    seal = Seal(directory)
    for when, watts in (("before", 3.11), ("after", 3.14)):
        _idle(directory / f"idle-{when}.wall.jsonl", watts, seal)
    seal.document(directory / "session.json", session)
    for i in range(1, runs + 1):
        _write_run(directory, session, i, factor * (1 + 0.004 * ((i * 7) % 5 - 2)), seal)
    stored = ResultDirectory(directory)
    seal.document(stored.summary_path, summarize(session, stored.runs()))
    seal.close()
    return directory


def reseal(directory: Path, *names: str) -> None:
    """Seals again what a test has written into a result, as if the harness had measured so."""
    seal = Seal(directory)
    for name in names:
        seal.file(directory / name)
    seal.close()


def larger(energy: MeterEnergy, factor: float) -> MeterEnergy:
    phases = [replace(p, joules=p.joules * factor if p.joules is not None else None) for p in energy.phases]
    return replace(energy, joules=(energy.joules or 0.0) * factor, phases=phases)
