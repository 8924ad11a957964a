"""The rules of a JouleSort entry, each with what this result says of it. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ecosort_power.claim import headline_meters, input_bytes, is_cold, is_validated
from ecosort_power.command import output_of
from ecosort_power.reading import Scope
from ecosort_power.records import MIN_RUNS, RECORD_BYTES, class_name, class_of, spaced
from ecosort_power.report.content import Result
from ecosort_power.report.facts import MISSING
from ecosort_power.store import valid_runs
from ecosort_power.system_clock import UNSYNCHRONISED

KEPT, BROKEN = "kept", "NOT KEPT"
MAX_ERROR = 0.01
MAX_PERIOD_S = 1.0
AMBIENT_C = (20.0, 25.0)


@dataclass(frozen=True, slots=True)
class Rule:
    text: str
    verdict: str  # KEPT, BROKEN or MISSING
    detail: str


def _rule(text: str, kept: bool | None, detail: str) -> Rule:
    return Rule(text, MISSING if kept is None else KEPT if kept else BROKEN, detail)


def rules(result: Result) -> list[Rule]:
    """In the order of the benchmark: what is sorted, how it is run, how it is measured."""
    found = [*_of_runs(result), *_of_measurement(result)]
    if result.facts.get("category", "").lower() == "daytona":
        found += _of_daytona(result)
    return found


def _of_runs(result: Result) -> Iterator[Rule]:
    records, good = result.summary.records, valid_runs(result.runs)
    size = input_bytes(result.session, good)
    named = "not known" if records is None else f"{spaced(records)} records"
    is_class = records is not None and class_of(records) is not None
    yield _rule("a class of the benchmark", is_class, class_name(records or 0) if is_class else named)
    fits = None if size is None or records is None else size == RECORD_BYTES * records
    yield _rule(f"records of {RECORD_BYTES} bytes", fits, "" if size is None else f"{spaced(size)} bytes")
    complete = len(good) == len(result.runs) == result.session.options.runs
    yield _rule(f"{MIN_RUNS} runs or more, all valid", complete and len(good) >= MIN_RUNS, f"{len(good)} valid")
    done = result.runs
    cold = sum(is_cold(r) for r in done)
    methods = sorted({r.cold.method for r in done if r.cold is not None})
    yield _rule("no input in the page cache", bool(done) and cold == len(done), ", ".join(methods))
    checked = sum(is_validated(r) for r in done)
    yield _rule("every output validated against its input", bool(done) and checked == len(done), f"{checked} of {len(done)}")
    yield _rule("time and energy until the output is on stable storage", True, "fsync and sync inside the window")


def _of_measurement(result: Result) -> Iterator[Rule]:
    energy = result.energy
    yield _rule("measured, not simulated", not result.simulated, "SIMULATED" if result.simulated else "")
    if energy is None:
        yield _rule("energy at the wall", False, "no energy")
        return
    meters = headline_meters(result.session, energy.meter)
    yield _rule("energy at the wall", energy.scope is Scope.WALL, energy.scope.headline)
    errors = [
        None if (a := m.capabilities.accuracy) is None else a.gain + a.offset_w * len(meters) / energy.watts.mean for m in meters
    ]
    known = [e for e in errors if e is not None]
    accurate = max(known) <= MAX_ERROR if known and len(known) == len(errors) else None
    stated = f"{max(known):.2%} at this power" if known else f"as its maker states: {result.fact('meter_accuracy')}"
    yield _rule("a meter of 1 % or better", accurate, stated)
    period = max((m.capabilities.effective_period_s for m in meters), default=0.0)
    yield _rule("a new value every second or more often", period <= MAX_PERIOD_S, f"every {period:g} s")
    clock = result.session.host.get("clock")
    yield _rule("read by a computer with a synchronised clock", None if clock is None else clock != UNSYNCHRONISED, clock or "")
    factor = result.power_factor()
    yield _rule("power factor reported", None if factor == MISSING else True, factor)
    yield _ambient(result.fact("ambient_c"))


def _ambient(text: str) -> Rule:
    rule = f"ambient temperature from {AMBIENT_C[0]:g} to {AMBIENT_C[1]:g} C"
    try:
        degrees = float(text)
    except ValueError:
        return _rule(rule, None, "" if text == MISSING else text)
    return _rule(rule, AMBIENT_C[0] <= degrees <= AMBIENT_C[1], f"{degrees:g} C")


def _of_daytona(result: Result) -> Iterator[Rule]:
    options = result.session.options
    output = options.output or output_of(options.command)
    if options.input is None or output is None:
        yield _rule("the input is not overwritten", None, "input or output is not known")
    else:
        other = Path(options.input).absolute() != Path(output).absolute()
        yield _rule("the input is not overwritten", other, "" if other else "input and output are one file")
    skewed = result.entry.skewed if result.entry is not None else None
    if skewed is None:
        yield _rule("a run on skewed keys (gensort -s)", None, "")
        return
    mean = result.summary.seconds
    ratio = f", {skewed.seconds / mean.mean:.2f} times the mean of the others" if mean is not None else ""
    yield _rule("a run on skewed keys (gensort -s)", skewed.problem is None, skewed.problem or f"{skewed.seconds:.2f} s{ratio}")
