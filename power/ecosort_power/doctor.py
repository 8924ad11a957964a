"""`ecosort-power doctor`: is this machine, with this meter, ready to be measured, and how well will it be known?"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ecosort_power.config import resolve
from ecosort_power.discover import choose
from ecosort_power.errors import MeterError, UsageError
from ecosort_power.expect import Expectation, expect, seconds_of
from ecosort_power.machine_checks import Check, State, machine_checks
from ecosort_power.meters import make_meter, meter_class
from ecosort_power.meters.base import Machine, MeterSpec, more_values, with_settings
from ecosort_power.plausible import LEAST_W, implausible
from ecosort_power.probe import Probe, run_probe
from ecosort_power.reading import Capabilities, Reading, screen

# Lengths that are shown where no one knows how long a run takes.
LENGTHS_S = (10.0, 60.0, 600.0)
GOOD_SHARE = 0.02  # an uncertainty above it is worth a warning


@dataclass(frozen=True, slots=True)
class Plan:
    """The run that is planned; what is None is not known."""

    records: int | None
    seconds: float | None
    directory: Path


def resolve_or_choose(words: Sequence[str], config: str | None) -> list[MeterSpec] | Check:
    """The meters that are named, else the best one here, else why there is none."""
    if words:
        return resolve(list(words), config)
    chosen, reason = choose(Machine(), config)
    if chosen is not None:
        return resolve([chosen], config)
    todo = "ecosort-power meters says what would help; --meter sim: rehearses without one"
    return Check("meter", State.PROBLEM, reason.partition("; `ecosort")[0], todo)


def examine(specs: list[MeterSpec] | Check, plan: Plan, probe_s: float, load_command: str | None) -> list[Check]:
    """All lines. Takes `probe_s` and a quarter more per meter, during which the load goes on and off. UsageError for a directory
    that is not there."""
    if not plan.directory.is_dir():
        raise UsageError(f"--dir {plan.directory} is no directory; name the one where it will be sorted")
    checks = [specs] if isinstance(specs, Check) else []
    why = ""
    if plan.seconds is None and plan.records is not None:
        seconds, why = seconds_of(plan.records, plan.directory)
        plan = replace(plan, seconds=seconds)
    for spec in specs if isinstance(specs, list) else []:
        checks += _meter(spec, plan, why, probe_s, load_command)
    return [*checks, *machine_checks(Machine(), plan.directory, plan.records)]


def _meter(spec: MeterSpec, plan: Plan, why: str, probe_s: float, load_command: str | None) -> list[Check]:
    name = spec.name
    try:
        capabilities, first = _open(spec)
    except MeterError as error:
        text, _, todo = str(error).rpartition("; ")
        return [Check(name, State.PROBLEM, text or todo, todo if text else "see ecosort-power meters")]
    checks = [_now(name, capabilities, first)]
    if first is None:
        return checks
    found = run_probe(spec, probe_s, load_command)
    checks += [*_timing(spec, capabilities, found), _accuracy(name, capabilities)]
    watts = _levels(found)
    if watts is None:
        return [*checks, Check(name, State.PROBLEM, "expected uncertainty: not known, the meter gave no power", "see above")]
    return [*checks, _expected(spec, _with_probe(capabilities, found), watts, plan, why)]


def _levels(found: Probe) -> tuple[float, float] | None:
    """Idle and busy watts as they were seen to follow the load, else the lowest and highest that were read."""
    if found.idle_w is not None and found.busy_w is not None:
        return found.idle_w, found.busy_w
    return found.range_w


def _open(spec: MeterSpec) -> tuple[Capabilities, Reading | None]:
    """The first reading is None for a log, which has none yet."""
    meter = make_meter(spec)
    try:
        capabilities = with_settings(meter.open(), spec)
        return capabilities, None if meter_class(spec.scheme).deferred else screen(meter.read(), capabilities)
    finally:
        meter.close()


def _now(name: str, capabilities: Capabilities, first: Reading | None) -> Check:
    title = f"{capabilities.title} ({capabilities.scope.headline})"
    if first is None:
        return Check(name, State.OK, f"{title}: a log, which is read after each run")
    if problems := implausible([first], capabilities):
        return Check(name, State.PROBLEM, f"{title}: {problems[0].with_figure()}", "#unit=, #scope=, another outlet or clamp")
    if not first.usable:
        flags = ", ".join(first.flags)
        todo = f"a running computer draws at least {LEAST_W:g} W: is it the right outlet?"
        return Check(name, State.PROBLEM, f"{title}: no value ({flags})", todo)
    value = f"{first.watts:g} W now" if first.watts is not None else f"counter at {first.joules:g} J"
    if capabilities.simulated:
        return Check(name, State.WARNING, f"{title}: {value}", "a rehearsal: its results say SIMULATED and are never ranked")
    if not capabilities.scope.whole_system:
        return Check(name, State.WARNING, f"{title}: {value}", "not comparable with the wall; #scope= if that is known better")
    return Check(name, State.OK, f"{title}: {value}")


def _with_probe(capabilities: Capabilities, found: Probe) -> Capabilities:
    """Returns what the meter says of itself, else what was seen."""
    return replace(
        capabilities,
        update_s=capabilities.update_s if capabilities.update_s is not None else found.update_s,
        lag_s=capabilities.lag_s if capabilities.lag_s is not None else found.lag_s,
        window_s=capabilities.window_s if capabilities.window_s is not None else found.window_s,
        quantum_w=capabilities.quantum_w if capabilities.quantum_w is not None else found.quantum_w,
    )


def _timing(spec: MeterSpec, said: Capabilities, found: Probe) -> list[Check]:
    """Period, quantum and lag: what the meter or the user says, and what was seen."""
    name = spec.name
    update = said.update_s if said.update_s is not None else found.update_s
    answer = "" if found.answer_s is None else f", an answer takes {found.answer_s * 1000:.3g} ms"
    checks = [
        Check(name, State.OK, f"period: a new value every {update:.3g} s, read every {said.period_s:g} s{answer}")
        if update is not None
        else Check(name, State.WARNING, "period: it cannot be seen how often it has a new value", "say #update=SECONDS")
    ]
    quantum = said.quantum_w if said.quantum_w is not None else found.quantum_w
    text = "quantum: not visible" if quantum is None else f"quantum: {quantum:.3g} W"
    checks.append(Check(name, State.OK, text))
    return [*checks, *_lag(spec, said, found)]


def _lag(spec: MeterSpec, said: Capabilities, found: Probe) -> list[Check]:
    """One line of the lag; and one where the load was not seen in the values, which is another thing."""
    again = f"stop what else runs, then: ecosort-power probe {shlex.quote(spec.text)} --seconds 120"
    window = said.window_s if said.window_s is not None else found.window_s or 0.0
    if said.lag_s is not None:
        told = Check(spec.name, State.OK, f"lag: {said.lag_s:.2g} s as stated, averages over {window:.2g} s")
        unseen = f"load: not seen in its values, {found.problem}"
        return [told] if found.problem is None else [told, Check(spec.name, State.WARNING, unseen, again)]
    if found.lag_s is None:
        text = f"lag: not seen, {found.problem}" if found.problem is not None else "lag: not known"
        return [Check(spec.name, State.WARNING, f"{text}; one of up to {said.unknown_lag_s:g} s is allowed for", again)]
    todo = f"use it with #{found.settings}, or run --probe 60"
    return [Check(spec.name, State.WARNING, f"lag: {found.lag_s:.2g} s, averages over {window:.2g} s", todo)]


def _accuracy(name: str, capabilities: Capabilities) -> Check:
    if capabilities.accuracy is None:
        return Check(name, State.WARNING, "accuracy: not stated", "take it from its manual: #accuracy=1%+0.5W")
    return Check(name, State.OK, f"accuracy: {capabilities.accuracy.text()}")


def _expected(spec: MeterSpec, capabilities: Capabilities, watts: tuple[float, float], plan: Plan, why: str) -> Check:
    lengths = LENGTHS_S if plan.seconds is None else (plan.seconds,)
    found = [expect(s, *watts, capabilities) for s in lengths]
    what = f"a run of {plan.records} records" if plan.records is not None and plan.seconds is not None else "a run"
    text = f"expected uncertainty of {what}: {'; '.join(e.text() for e in found)}"
    if any(e.known_only for e in found):
        text += " (without the meter's own accuracy)"
    if plan.records is not None and plan.seconds is None:
        todo = f"how long {plan.records} records take is not known ({why}); --seconds says it"
        return Check(spec.name, State.WARNING, text, todo)
    return Check(spec.name, *_verdict(found[-1], text, spec))


def _verdict(last: Expectation, text: str, spec: MeterSpec) -> tuple[State, str, str]:
    if last.share is None:
        return State.PROBLEM, text, f"sort more records, or {more_values(spec.text)}"
    if last.share > GOOD_SHARE:
        return State.WARNING, text, "longer runs, or a finer meter"
    return State.OK, text, ""
