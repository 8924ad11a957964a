"""The measurement: idle baseline, runs, idle again; everything on disk after every step.

old output removed | cold cache | drives at rest | idle | COMMAND ... exit, sync | idle tail | validation
                                                        |<--- energy window --->|
"""

from __future__ import annotations

import random
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from ecosort.durable import replaceable

from ecosort_power import __version__
from ecosort_power.assemble import Pieces, assemble
from ecosort_power.clock import REAL, Clock
from ecosort_power.cold import ColdState, SettleState, make_cold, settle
from ecosort_power.combine import headline
from ecosort_power.command import is_ecosort, last_words, output_of, require_understood, run_command, sorts_rows, with_reports
from ecosort_power.encoding import write_text
from ecosort_power.equipment import Equipment
from ecosort_power.errors import MeterError, PowerError, RunError, UsageError
from ecosort_power.host import facts
from ecosort_power.live import Display, Tally, Together, format_line
from ecosort_power.meters import meter_class
from ecosort_power.meters.base import MeterSpec, more_values
from ecosort_power.monitor import LoadPoint, Monitor, write_points
from ecosort_power.old_output import is_input, require_only_written
from ecosort_power.phases import current_phase
from ecosort_power.preflight import preflight
from ecosort_power.reading import Reading
from ecosort_power.seal import Seal
from ecosort_power.store import INPUT_CHECK, SESSION_SCHEMA, VALIDATION, Marks, Options, ResultDirectory, Run, Session
from ecosort_power.summary import Summary, simulated_text, summarize
from ecosort_power.transports.credentials import public_environment
from ecosort_power.transports.process import spawn
from ecosort_power.validate import CheckReport, Validation, check_command, judge, parse_report, run_check


class Measurement:
    """One call of `ecosort-power run`, new or continued. Use `execute`, then `close` whatever happened."""

    def __init__(
        self,
        directory: ResultDirectory,
        options: Options,
        specs: Sequence[MeterSpec],
        no_meter: str | None,
        display: Display,
        clock: Clock = REAL,
    ) -> None:
        """`no_meter`: why there is none (--time-only), else None."""
        self._clock = clock
        self._directory = directory
        self._options = options
        self._display = display
        self._no_meter = no_meter
        self._specs = specs
        self._input = Path(options.input) if options.input else None
        self._output = Path(options.output) if options.output else output_of(options.command)
        # Rows are validated by a command that the user names, or not at all, which the result says.
        self._validates = options.validate and (options.check_command is not None or not sorts_rows(options.command))
        self._is_in_place = False  # until the options are checked
        self._equipment: Equipment | None = None
        self._monitor = Monitor()
        self._seal: Seal | None = None
        self._env = public_environment([s.settings for s in specs])

    def execute(self, earlier: Session | None) -> Summary:
        """All runs that are not there yet. The summary is also in the directory."""
        self._check_options()
        probed = self._probe(earlier.probed if earlier is not None else {})
        self._equipment = self._open(probed)
        self._seal = Seal(self._directory.path)
        session = earlier if earlier is not None else self._new_session()
        session = replace(session, meters=self._equipment.records, energy_reason=self._no_meter, probed=probed)
        session = replace(session, headline=headline(session.meters, self._options.sum_meters))
        self._save(session)
        self._monitor.start()
        done = {r.index for r in self._directory.runs()}
        left = [index for index in range(1, self._options.runs + 1) if index not in done]
        if not session.idle_before_w:  # a continued session keeps the idle power from before its first run
            session = self._baseline(session, "before")
        for index in left:
            run = self._run(session, index)
            if index == left[0] and index != left[-1] and is_too_short(run, session):
                meters = (session.headline or "").split("+")
                helps = more_values(next((m.spec for m in session.meters if m.name in meters), ""))
                self._display.say(
                    f"the other {len(left) - 1} runs would be too short for the meter as well and are not started: sort more "
                    f"records, or {helps}"
                )
                return self._summarize(session)
        if left or not session.idle_after_w:
            session = self._baseline(session, "after")
        return self._summarize(session)

    def close(self) -> None:
        self._monitor.stop()
        if self._equipment is not None:
            self._equipment.close()
        if self._seal is not None:
            self._seal.close()

    def _check_options(self) -> None:
        if self._input is not None and not self._input.is_file():
            raise UsageError(f"--input {self._input} is no file")
        if self._output is not None and self._output.exists() and not self._output.is_file():
            raise UsageError(f"the output {self._output} is no regular file: it would not be removed before each run")
        with_reports(self._options.command, Path("events"), Path("stats"))
        others = (shlex.split(words)[0] for words in (self._options.prepare, self._options.check_command) if words is not None)
        for program in (self._options.command[0], *others):
            if shutil.which(program) is None:
                raise UsageError(f"{program} cannot be started: it is no program, or not in PATH")
        require_understood(self._options.command, self._env, has_files=self._options.prepare is None)
        if self._output is not None:
            self._check_output(self._output)
        if self._validates and self._output is not None:
            check_command(self._options.check_command, self._output)

    def _check_output(self, output: Path) -> None:
        """A file that is there stays unless it is an old output: the input of a sort in place does, and so does what the command
        may read. What is there when a run has begun already is of that run."""
        self._is_in_place = is_input(output, self._input, self._options.command, self._env)
        if self._is_in_place and self._options.runs > 1 and self._options.prepare is None:
            raise UsageError("input and output are one file: give --prepare COMMAND that creates it before each run, or --runs 1")
        if not self._is_in_place and not self._directory.has_begun():
            require_only_written(output, self._options.command)

    def _probe(self, known: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
        """Finds when each meter's values are true, by a busy/idle pattern; a continued session uses what it found before."""
        if self._options.probe_s <= 0:
            return {}
        from ecosort_power.probe import run_probe  # numpy is loaded only where it is needed

        found = dict(known)
        for spec in self._specs:
            if spec.name in found or meter_class(spec.scheme).deferred:
                continue
            with self._display.line(f"probing {spec.name} with a busy/idle pattern ({self._options.probe_s:g} s)"):
                probe = run_probe(spec, self._options.probe_s, None)
            if probe.problem is not None:
                raise MeterError(f"meter {spec.name}: {probe.problem}")
            found[spec.name] = probe.timing()
        return found

    def _open(self, probed: Mapping[str, Mapping[str, str]]) -> Equipment:
        specs = [replace(s, settings={**probed.get(s.name, {}), **s.settings}) for s in self._specs]
        equipment: Equipment | None = None
        try:
            equipment = Equipment(specs, self._clock)
            equipment.not_the_users_word(s.name for s in self._specs if "update" not in s.settings)
            with self._display.line("looking at the meters' first readings"):
                preflight(equipment.samplers, self._env, self._clock)
            return equipment
        except MeterError as error:
            if equipment is not None:
                equipment.close()
            if not self._options.time_only:
                raise
            self._no_meter = str(error)
            self._display.say(f"time only: {error}")
            return Equipment([])

    def _new_session(self) -> Session:
        report = self._look_at_input()
        records, checksum = self._options.records, self._options.input_checksum
        if report is not None:
            records = records if records is not None else report.records
            checksum = checksum if checksum is not None else report.checksum
        return Session(
            schema=SESSION_SCHEMA,
            version=__version__,
            created=datetime.now().astimezone().isoformat(timespec="seconds"),
            options=self._options,
            meters=[],
            headline=None,
            records=records,
            input_checksum=checksum,
            host=facts(self._input, self._output, self._options.command[0] if is_ecosort(self._options.command) else None),
            input_bytes=self._input.stat().st_size if self._input is not None else None,
            input_report=report,
        )

    def _look_at_input(self) -> CheckReport | None:
        """Count and checksum of the input, to compare each output with."""
        if self._input is None or not self._validates or self._options.input_checksum is not None:
            return None
        if self._options.prepare is not None:
            self._prepare()
        words = check_command(self._options.check_command, self._input)
        with self._display.line("reading the input once for its checksum (--input-checksum saves this)"):
            report = self._check(self._input, self._directory.path / INPUT_CHECK)
        if report.checksum is None:
            last = (report.text.strip().splitlines() or ["no output"])[-1]
            raise RunError(
                f"{words[0]} gave no checksum of {self._input}: {last}; where it is no records of 100 bytes, name another "
                "validator (--check-command) or none (--no-validate)"
            )
        return report

    def _save(self, session: Session) -> None:
        self._chain().document(self._directory.session_path, session)

    def _chain(self) -> Seal:
        assert self._seal is not None
        return self._seal

    def _gear(self) -> Equipment:
        assert self._equipment is not None
        return self._equipment

    def _baseline(self, session: Session, when: str) -> Session:
        if not session.meters or self._options.idle_s <= 0 or self._gear().death() is not None:
            return session
        for earlier in self._directory.path.glob(f"idle-{when}.*.jsonl"):  # of a baseline that was interrupted
            set_aside(earlier, self._chain())
        with self._display.line(f"idle power {when} the runs ({self._options.idle_s:g} s)"):
            watts = self._gear().idle(self._options.idle_s, self._directory.path, f"idle-{when}", self._chain())
        changed = replace(session, idle_before_w=watts) if when == "before" else replace(session, idle_after_w=watts)
        self._save(changed)
        return changed

    def _run(self, session: Session, index: int) -> Run:
        directory = self._fresh_directory(index)
        label = f"run {index}/{self._options.runs}"
        try:
            settled, cold = self._make_ready(label)
            pieces = self._measure(session, index, directory, label, settled, cold)
        except BaseException as error:
            self._gear().end()
            with suppress(OSError):  # a full drive: the first error is the one to show
                write_text(directory / "failure.txt", (str(error) or type(error).__name__) + "\n")
                self._chain().file(directory / "failure.txt")
            raise
        run = assemble(session, pieces)
        self._chain().document(directory / "run.json", run)
        self._summarize(session)
        self._display.say(describe_run(run, session, label))
        return run

    def _fresh_directory(self, index: int) -> Path:
        directory = self._directory.run_path(index)
        if directory.exists():
            set_aside(directory, self._chain())
        directory.mkdir(parents=True)
        return directory

    def _prepare(self) -> None:
        if self._options.prepare is None:
            return
        child = spawn(shlex.split(self._options.prepare), self._env, stdin=subprocess.DEVNULL)
        if child.wait() != 0:
            raise RunError(f"--prepare ended with exit code {child.returncode}")

    def _make_ready(self, label: str) -> tuple[SettleState | None, ColdState | None]:
        with self._display.line(f"{label}: getting ready"):
            if self._output is not None and not self._is_in_place:
                replaceable(self._output).unlink(missing_ok=True)
            self._prepare()
            cold = make_cold(self._input) if self._options.cold else None
            settled = settle(self._options.settle_s, clock=self._clock) if self._options.settle_s > 0 else None
        return settled, cold

    def _measure(
        self, session: Session, index: int, directory: Path, label: str, settled: SettleState | None, cold: ColdState | None
    ) -> Pieces:
        gear = self._gear()
        words = with_reports(self._options.command, directory / "events.jsonl", directory / "stats.json")
        self._chain().add("command", path=f"runs/{directory.name}", words=words)
        first = time.monotonic()
        gear.begin(directory, "readings", self._chain())
        self._monitor.begin_run()
        with self._display.line(f"{label}: idle"):
            idle_s = max(self._options.pause_s, gear.lead_s if session.meters else 0.0)
            self._wait(idle_s + random.uniform(0.0, gear.start_spread_s))
        offset, cpu = time.time() - time.monotonic(), gear.cpu_s()
        with self._display.line(f"{label}: measuring", self._details(session, label, directory)):
            result = run_command(words, directory, self._output, self._watch, gear.pids, self._env)
        cpu = gear.cpu_s() - cpu
        with self._display.line(f"{label}: idle tail"):
            self._wait(gear.tail_s if session.meters else 0.0)
        last = time.monotonic()
        drift = time.time() - time.monotonic() - offset
        marks = Marks(first, result.start_s, result.exit_s, result.synced_s, last, offset, drift)
        circumstances, points = self._monitor.end_run(first, result.start_s, result.synced_s)
        write_points(directory / "load.jsonl", points)
        readings = gear.end()
        for name in ("command.out", "command.err", "events.jsonl", "stats.json", "load.jsonl"):
            self._chain().file(directory / name)
        if result.exit_code != 0:
            raise RunError(f"the command ended with exit code {result.exit_code}: {last_words(directory)}")
        readings, reason = self._logs(directory, marks, points, readings)
        return Pieces(
            index=index,
            directory=directory,
            command=words,
            result=result,
            marks=marks,
            harness_cpu_s=cpu,
            circumstances=circumstances,
            settle=settled,
            cold=cold,
            validation=self._validate(session, directory, label),
            readings=readings,
            energy_reason=self._no_meter or reason,
        )

    def _logs(
        self, directory: Path, marks: Marks, points: Sequence[LoadPoint], readings: dict[str, list[Reading]]
    ) -> tuple[dict[str, list[Reading]], str | None]:
        """All readings, and why there is no energy if a meter failed and that was allowed."""
        death = self._gear().death()
        try:
            return {**readings, **self._gear().collect_logs(directory, marks, points, self._chain())}, death
        except PowerError as error:
            return readings, str(error)

    def _details(self, session: Session, label: str, directory: Path) -> Callable[[float], str]:
        """The live line, of the meters that the headline is about."""
        wanted = (session.headline or "").split("+")
        every = self._gear().samplers
        samplers = [s for s in every if s.name in wanted] or every[:1]
        begin = time.monotonic()
        tally = Together([Tally(s, begin) for s in samplers]) if samplers else None

        def details(seconds: float) -> str:
            if tally is not None:
                tally.update()
            return format_line(label, current_phase(directory / "events.jsonl"), seconds, tally)

        return details

    def _watch(self) -> str | None:
        return None if self._options.time_only else self._gear().death()

    def _wait(self, seconds: float) -> None:
        self._clock.wait(seconds, lambda: self._watch() is not None)
        death = self._watch()
        if death is not None:
            raise MeterError(death)

    def _validate(self, session: Session, directory: Path, label: str) -> Validation | None:
        if not self._validates or self._output is None:
            return None
        if not self._output.is_file():
            return Validation(None, f"the command left no output {self._output}", False)
        with self._display.line(f"{label}: validating"):
            report = self._check(self._output, directory / VALIDATION)
        return judge(report, session.records, session.input_checksum)

    def _check(self, path: Path, report: Path) -> CheckReport:
        """The validator on a file; what it prints is kept and sealed."""
        text, exit_code = run_check(check_command(self._options.check_command, path), self._env)
        report.write_bytes(text.encode())
        self._chain().file(report)
        return parse_report(text, exit_code)

    def _summarize(self, session: Session) -> Summary:
        summary = summarize(session, self._directory.runs())
        self._chain().document(self._directory.summary_path, summary)
        return summary


def set_aside(path: Path, seal: Seal, why: str = "interrupted") -> None:
    """Keeps what an earlier attempt left under another name that says why."""
    n = 1
    while (aside := path.with_name(f"{path.name}.{why}-{n}")).exists():
        n += 1
    path.rename(aside)
    seal.moved(path, aside)
    for left in sorted(aside.iterdir()) if aside.is_dir() else [aside]:
        seal.file(left)  # as the crash left it


def is_too_short(run: Run, session: Session) -> bool:
    """True if the meter of the headline has too few values in a run of this length, whatever else is wrong with it."""
    meters = (session.headline or "").split("+")
    return any(d.code == "too-short" and d.fatal and d.meter in meters for d in run.all_defects())


def describe_run(run: Run, session: Session, label: str) -> str:
    """One line when a run is done."""
    energy = run.energy_of(session.headline)
    parts = [f"{label}: {simulated_text(session)}{run.marks.seconds:.2f} s"]
    if energy is not None and energy.joules is not None:
        parts.append(f"{energy.joules:,.1f} J".replace(",", " "))
        parts.append(f"{energy.watts:.1f} W")
        if run.records:
            parts.append(f"{run.records / energy.joules:,.0f} records/J".replace(",", " "))
    elif run.energy_reason is not None:
        parts.append("no energy")
    fatal = [d.text for d in run.all_defects() if d.fatal]
    if fatal:
        parts.append("INVALID: " + "; ".join(fatal))
    elif run.validation is None:
        parts.append("not validated")
    return ", ".join(parts)
