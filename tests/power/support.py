"""The tests of the power harness share toy meters, toy sorts, waiting."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ecosort_power.clock import STEP_S, Clock
from ecosort_power.meters import make_meter
from ecosort_power.meters.base import Meter, parse_spec
from ecosort_power.reading import Capabilities

POWER = Path(__file__).resolve().parents[2] / "power"
PEERS = Path(__file__).resolve().parent / "peers"
BUILD = Path(os.environ.get("ECOSORT_BUILD") or POWER.parent / "build")
FAKE_SORT = PEERS / "fake_sort.py"
TOY_METER = PEERS / "toy_meter.py"
FAKE_CHECK = PEERS / "fake_check.py"

# Without configured meters; matplotlib leaves a directory in it. Gone when the tests end.
_CONFIG = tempfile.TemporaryDirectory(prefix="ecosort-power-config-")


class HurriedClock(Clock):
    """Time goes by for those who wait, and the tests wait no more than `most_s` for each step. It keeps what was asked for."""

    def __init__(self, most_s: float = 0.0) -> None:
        self._most_s, self._skipped_s = most_s, 0.0
        self.waits: list[float] = []

    def now(self) -> float:
        return time.monotonic() + self._skipped_s

    def sleep(self, seconds: float) -> None:
        waited_s = min(seconds, self._most_s)
        time.sleep(waited_s)
        self._skipped_s += seconds - waited_s

    def wait(self, seconds: float, is_over: Callable[[], bool], step_s: float = STEP_S) -> bool:
        self.waits.append(seconds)
        return super().wait(seconds, is_over, step_s)


Cli = Callable[..., subprocess.CompletedProcess[str]]


def cli_env(**extra: str) -> dict[str, str]:
    """PYTEST_CURRENT_TEST is the name of whatever test runs while a measurement is made, with its parameters."""
    left_out = ("ECOSORT_METER", "IPMI", "REDFISH", "SNMP_", "PYTEST_CURRENT_TEST")
    env = {k: v for k, v in os.environ.items() if not k.startswith(left_out)}
    return {**env, "PYTHONPATH": str(POWER), "XDG_CONFIG_HOME": _CONFIG.name, "NO_COLOR": "1", "COLUMNS": "160", **extra}


def toy_meter(mode: str = "follow", *arguments: str, settings: str = "") -> str:
    """Specification of a toy meter whose watts follow the toy sort in the same directory."""
    return f"exec:{sys.executable} -IS {TOY_METER} {mode} {' '.join(arguments)}".strip() + (f"#{settings}" if settings else "")


def fake_sort(*arguments: str) -> list[str]:
    """Words of a toy sort; it takes about 1.5 seconds unless told otherwise."""
    return [sys.executable, "-IS", str(FAKE_SORT), "--events", "{events}", "--stats", "{stats}", "-o", "out", *arguments]


QUICK = ("--idle", "0.3", "--pause", "0.1", "--settle", "0")
CHECK = ("--check-command", f"{sys.executable} -IS {FAKE_CHECK} {{}}")


def result_files(directory: Path) -> str:
    """All text of a result directory, to look for what must not be in it."""
    return "\n".join(p.read_text(errors="replace") for p in sorted(directory.rglob("*")) if p.is_file())


def load(path: Path) -> Any:
    return json.loads(path.read_text())


@contextmanager
def opened(spec: str) -> Iterator[tuple[Meter, Capabilities]]:
    """The meter of a specification, opened; closed at the end, whatever happens."""
    meter = make_meter(parse_spec(spec))
    try:
        yield meter, meter.open()
    finally:
        meter.close()


def write(path: Path, value: object) -> None:
    """A file as the kernel shows one below /sys or /proc: a value and the end of the line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{value}\n")


def wait_for(condition: Callable[[], Any], seconds: float = 60.0) -> Any:
    """Polls until the condition holds; generous, for a loaded machine."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def listens(port: int) -> bool:
    """True if something accepts connections there."""
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


def free_port(kind: int = socket.SOCK_STREAM) -> int:
    with socket.socket(socket.AF_INET, kind) as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])
