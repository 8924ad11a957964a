"""Defines what `ecosort-power doctor` looks at on the machine itself: heat, supply voltage, clock, space, load."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ecosort_power.errors import MeterError
from ecosort_power.meters.base import Machine
from ecosort_power.meters.pmic import on_a_pi
from ecosort_power.monitor import busy_share, drive_temperatures, read_load, throttle_count
from ecosort_power.records import RECORD_BYTES
from ecosort_power.system_clock import UNSYNCHRONISED, synchronisation
from ecosort_power.transports.process import run_text, which
from ecosort_power.transports.sysfs import read_int, read_text

_BUSY = 0.1  # of all processors
_LOOK_S = 1.0


class State(StrEnum):
    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"  # a run would be refused, or would mean nothing


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the doctor: what was found, and what to do if that is not as it should be."""

    name: str
    state: State
    text: str
    todo: str = ""


# Bits of `vcgencmd get_throttled` (raspberrypi.com, documentation of vcgencmd): now, and the same since the machine was started.
_THROTTLED = {0: "under-voltage", 1: "a capped frequency", 2: "throttling", 3: "the soft temperature limit"}
_SINCE_START = 16


def pi_throttling(text: str) -> Check:
    """From `throttled=0x50005`. A number that cannot be read is a warning."""
    try:
        bits = int(text.strip().partition("=")[2], 16)
    except ValueError:
        return Check("throttling", State.WARNING, f"vcgencmd get_throttled says {text.strip()[:60]!r}", "update the firmware")
    now = [name for bit, name in _THROTTLED.items() if bits >> bit & 1]
    before = [name for bit, name in _THROTTLED.items() if bits >> (bit + _SINCE_START) & 1]
    todo = "use the maker's power supply and a short, thick cable" if bits & (1 | 1 << _SINCE_START) else "cool it better"
    if now:
        return Check("throttling", State.PROBLEM, f"now: {', '.join(now)}", todo)
    if before:
        return Check("throttling", State.WARNING, f"since it was started: {', '.join(before)}", todo)
    return Check("throttling", State.OK, "no under-voltage and no throttling since it was started")


def throttling(machine: Machine) -> Check:
    if on_a_pi(machine):
        if which("vcgencmd") is None:
            todo = "sudo apt-get install raspi-utils"
            return Check("throttling", State.WARNING, "vcgencmd is not installed: under-voltage cannot be seen", todo)
        try:
            return pi_throttling(run_text(["vcgencmd", "get_throttled"], 5.0))
        except MeterError as error:
            return Check("throttling", State.WARNING, str(error), "add yourself to the group video")
    count = throttle_count(machine.root)
    if count is None:
        return Check("throttling", State.OK, "this machine does not count it")
    if count:
        text = f"the processors were throttled by heat {count} times since the machine was started"
        return Check("throttling", State.WARNING, text, "cool it better; each run counts its own")
    return Check("throttling", State.OK, "the processors were never throttled by heat since the machine was started")


# Their "powersave" follows the load; that of other drivers keeps the lowest frequency.
_DRIVERS_THAT_SCALE = ("intel_pstate", "amd-pstate-epp")


def _slow_governor(policy: Path) -> str | None:
    governor, driver = (read_text(policy / name) for name in ("scaling_governor", "scaling_driver"))
    return governor if governor == "userspace" or (governor == "powersave" and driver not in _DRIVERS_THAT_SCALE) else None


def _is_capped(policy: Path) -> bool:
    allowed, most = (read_int(policy / f"{name}_max_freq") for name in ("scaling", "cpuinfo"))
    return allowed is not None and most is not None and allowed < most


def _is_cooling(device: Path) -> bool:
    """A processor that is slowed down because it is hot."""
    kind = read_text(device / "type") or ""
    return ("cpufreq" in kind or kind == "Processor") and (read_int(device / "cur_state") or 0) > 0


def frequency(machine: Machine) -> list[Check]:
    """Finds what keeps processors slow: a governor, a limit of the frequency, heat. Empty where the kernel does not say."""
    policies = sorted((machine.root / "sys/devices/system/cpu/cpufreq").glob("policy*"))
    found = []
    if slow := sorted({governor for policy in policies if (governor := _slow_governor(policy))}):
        text = f"the governor {', '.join(slow)} keeps processors slow"
        found.append(Check("frequency", State.WARNING, text, "sudo cpupower frequency-set -g schedutil"))
    if capped := [policy.name for policy in policies if _is_capped(policy)]:
        text = f"a limit below the highest frequency: {', '.join(capped)} (scaling_max_freq)"
        found.append(Check("frequency", State.WARNING, text, "lift it, or measure it on purpose"))
    if any(_is_cooling(device) for device in (machine.root / "sys/class/thermal").glob("cooling_device*")):
        found.append(Check("frequency", State.WARNING, "processors are slowed down because they are hot", "cool it better"))
    if policies and not found:
        found.append(Check("frequency", State.OK, "nothing keeps processors below their highest frequency"))
    return found


def drive_heat(machine: Machine) -> list[Check]:
    found = []
    for name, (degrees, limit) in drive_temperatures(machine.root).items():
        text = f"{name}: {degrees:.0f} C" + (f", its limit is {limit:.0f} C" if limit else "")
        near = limit is not None and degrees > limit - 10
        found.append(Check("drive", State.WARNING if near else State.OK, text, "cool it" if near else ""))
    return found


def clock() -> Check:
    """Checks whether the kernel calls its clock synchronised. Only the logs of meters need that: readings carry the monotonic
    clock.
    """
    text = synchronisation()
    if text is None:
        return Check("clock", State.WARNING, "its synchronisation cannot be read", "compare it with another clock")
    if text == UNSYNCHRONISED:
        todo = "sudo timedatectl set-ntp true (the rules of JouleSort ask for it; csv: logs need it, or #offset=auto)"
        return Check("clock", State.WARNING, f"it is {text}", todo)
    return Check("clock", State.OK, text)


def space(directory: Path, records: int | None) -> Check:
    """Input, output and sorted runs beside each other."""
    place = directory.resolve()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    text = f"{free / 1e9:.1f} GB free in {place}"
    if not os.access(place, os.W_OK | os.X_OK):
        return Check("space", State.PROBLEM, f"{text}, which you may not write", "name a directory of yours: --dir")
    if records is None:
        return Check("space", State.OK, text)
    needed = 3 * records * RECORD_BYTES
    text += f"; {records} records with their output and sorted runs take {needed / 1e9:.1f} GB"
    if free < needed:
        return Check("space", State.PROBLEM, text, "name a larger drive (--dir), or fewer records")
    return Check("space", State.OK, text)


def quiet(machine: Machine) -> Check:
    """Checks whether the machine is idle enough for a baseline. Takes a second."""
    try:
        points = [read_load(machine.root)]
        time.sleep(_LOOK_S)
        points.append(read_load(machine.root))
    except (OSError, ValueError, IndexError):
        return Check("load", State.WARNING, "it cannot be read (/proc/stat)", "")
    share = busy_share(points, points[0].time_s, points[-1].time_s) or 0.0
    text = f"{share:.0%} of the processors are in use"
    return Check("load", State.WARNING, text, "stop what else runs") if share > _BUSY else Check("load", State.OK, text)


def machine_checks(machine: Machine, directory: Path, records: int | None) -> Sequence[Check]:
    return [quiet(machine), throttling(machine), *frequency(machine), *drive_heat(machine), clock(), space(directory, records)]
