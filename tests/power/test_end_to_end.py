"""A real sort of 100 MB, measured by a simulated BMC whose watts follow the sort's phases; the energy is known."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import capabilities
import forked
import pytest
from ecosort_power.codec import decode
from ecosort_power.uncertainty import Uncertainty

from .measured import Measured, only_gaps
from .peers.ipmi_bmc import PASSWORD, Bmc, build_module
from .support import BUILD, PEERS, Cli, cli_env, free_port, result_files, wait_for

RECORDS = 1_000_000
IDLE_W = 12
PHASE_W = {"run_formation": 48, "merge": 35}
OTHER_W = 20
# The sort is slowed down to this, so that each phase lasts for over three seconds and many readings.
BYTES_PER_SECOND = 30e6
# Seconds between two readings, per attempt: a machine that is busy with other things answers late.
PERIODS = (0.15, 0.2, 0.25)
IDLE_S = 1.0
# From a step of the BMC to the first answer that shows it, and how far off the moment of a reading may be.
REACTION_S = 0.05


class FollowingBmc:
    """Keeps the BMC's watts on what the sort's events say, and a log of its own: the known power."""

    def __init__(self, bmc: Bmc, runs: Path) -> None:
        self._bmc = bmc
        self._runs = runs
        self._over = threading.Event()
        self.log: list[tuple[float, int]] = []
        self._set(IDLE_W)
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def _set(self, watts: int) -> None:
        if not self.log or self.log[-1][1] != watts:
            self._bmc.set_watts(watts)
            self.log.append((time.monotonic(), watts))

    def _phase(self) -> str | None:
        """The phase that is open in the newest run's events."""
        found = sorted(self._runs.glob("[0-9][0-9]/events.jsonl"))
        active: list[str] = []
        for line in found[-1].read_text().splitlines() if found else []:
            with contextlib.suppress(ValueError):
                event = json.loads(line)
                if event["phase"] == "total":
                    continue
                if event["event"] == "begin":
                    active.append(event["phase"])
                elif event["event"] == "end":
                    active.remove(event["phase"])
        return active[-1] if active else None

    def _follow(self) -> None:
        while not self._over.wait(0.005):
            phase = self._phase()
            self._set(IDLE_W if phase is None else PHASE_W.get(phase, OTHER_W))

    def joules(self, begin_s: float, end_s: float) -> float:
        ends = [*(t for t, _ in self.log[1:]), float("inf")]
        pieces = ((max(t, begin_s), min(e, end_s), w) for (t, w), e in zip(self.log, ends, strict=True))
        return sum((e - b) * w for b, e, w in pieces if e > b)

    def edge_joules(self, edge_s: float, readings_s: list[float]) -> float:
        """By how much the energy up to the edge of a phase may be off: the readings on both sides of it are h apart, the watts
        change by d there, and where between the two they do is not seen: d h / 2."""
        before = max((t for t in readings_s if t <= edge_s), default=readings_s[0])
        after = min((t for t in readings_s if t > edge_s), default=readings_s[-1])
        levels = [
            w
            for (t, w), e in zip(self.log, [*(t for t, _ in self.log[1:]), float("inf")], strict=True)
            if e > before - REACTION_S and t < after + REACTION_S
        ]
        return (max(levels) - min(levels)) * (after - before + REACTION_S) / 2

    def stop(self) -> None:
        self._over.set()
        self._thread.join()


@contextlib.contextmanager
def simulated_bmc(directory: Path) -> Iterator[Bmc]:
    directory.mkdir()
    peer = Bmc(directory, free_port(socket.SOCK_DGRAM), build_module(directory))
    try:
        wait_for(peer.answers)
        yield peer
    finally:
        peer.stop()


def attempt(directory: Path, bmc: Bmc, program: Path, period: float) -> tuple[Measured, FollowingBmc]:
    """Two runs of the slowed sort, while the watts of the BMC follow its events."""
    meter = f"bmc={bmc.address}#period={period},update={period},lag=0,window=0,accuracy=0.5%"
    words = ["run", "--meter", meter, "--runs", "2", "--input", "in", "--output", "out", "--out", directory / "r"]
    words += ["--idle", IDLE_S, "--pause", "0.5", "--settle", "0", *(["--cold"] if os.geteuid() == 0 else [])]
    slowed = [sys.executable, PEERS / "throttled_sort.py", BYTES_PER_SECOND, "in", "out"]
    sort = [program, "sort", "--memory", "16MiB", "--threads", "1", "--events", "{events}", "--stats", "{stats}"]
    follower = FollowingBmc(bmc, directory / "r/runs")
    try:
        environment = cli_env(IPMITOOL_PASSWORD=PASSWORD, ECOSORT_PROGRAM=str(program))
        called = [*map(str, words), "--", *map(str, slowed), *map(str, sort)]
        done = forked.run("ecosort_power", called, cwd=directory.parent, env=environment, timeout=180)
    finally:
        follower.stop()
    return Measured(directory, done), follower


def measure_real_sort(directory: Path, mark: pytest.Mark) -> tuple[Measured, FollowingBmc] | None:
    """None where the machine lacks a program. Only a verdict of gaps alone is worth another attempt."""
    program = BUILD / "ecosort"
    if not program.exists() or any(capabilities.missing(c) for c in ("ipmi_sim", "ipmitool")):
        return None
    subprocess.run([program, "gen", "-a", str(RECORDS), directory / "in"], check=True)
    try:
        with simulated_bmc(directory / "bmc") as bmc:
            for number, period in enumerate(PERIODS):
                (directory / str(number)).mkdir()
                found = attempt(directory / str(number), bmc, program, period)
                if found[0].done.returncode != 1 or not only_gaps(found[0].result):
                    break
        return found
    finally:
        for name in ("in", "out"):
            (directory / name).unlink(missing_ok=True)


def within(stated: dict[str, Any], error: float) -> bool:
    """Within one and a half times the 95 % interval: one run in twenty lies outside the interval itself."""
    total = decode(Uncertainty, stated).total_j
    assert total is not None
    return abs(error) <= 1.5 * total


def moments(path: Path) -> list[float]:
    """Returns when the meter was read."""
    readings = [json.loads(line) for line in path.read_text().splitlines()]
    return [(r["before_s"] + r["after_s"]) / 2 for r in readings if "watts" in r]


@pytest.mark.measured(by=measure_real_sort)
def test_the_measured_energy_of_a_real_sort_is_the_known_one(
    cli: Cli, ecosort: Path, require: Callable[[str], None], measured: tuple[Measured, FollowingBmc]
) -> None:
    require("ipmi_sim")
    require("ipmitool")
    result, follower = measured
    assert result.done.returncode == 0, result.done.stdout + result.done.stderr
    for index in (1, 2):
        found, times = result.run(index), moments(result.result / f"runs/{index:02d}/readings.bmc.jsonl")
        (energy,) = found["energy"]
        marks = found["marks"]
        known = follower.joules(marks["start_s"], marks["synced_s"])
        assert within(energy["uncertainty"], energy["joules"] - known)
        # The stated uncertainty is worth something: an energy that is wrong by 8 % lies outside, also on a busy machine.
        assert not within(energy["uncertainty"], 1.08 * energy["joules"] - known)
        assert not within(energy["uncertainty"], 0.92 * energy["joules"] - known)
        assert sum(p["joules"] or 0.0 for p in energy["phases"]) == pytest.approx(energy["joules"])
        phases = {p["name"]: p["joules"] for p in energy["phases"]}
        for name, watts in PHASE_W.items():
            spans = [s for s in found["spans"] if s["name"] == name]
            true = sum(follower.joules(s["begin_s"], s["end_s"]) for s in spans)
            assert true == pytest.approx(watts * sum(s["end_s"] - s["begin_s"] for s in spans), rel=0.05)
            unseen = sum(follower.edge_joules(t, times) for s in spans for t in (s["begin_s"], s["end_s"]))
            assert abs(phases[name] - true) <= unseen + 0.01 * true, (name, phases[name], true, unseen)
        assert found["records"] == RECORDS
        assert found["stats"]["schema"] == "ecosort.stats/1"
        assert found["validation"]["problem"] is None
        assert found["validation"]["content_compared"]
        assert found["energy"][0]["idle_before_w"] == pytest.approx(IDLE_W, abs=0.5)
    checked = cli("check", result.result)
    assert checked.returncode == 0, checked.stdout
    shown = cli("report", result.result).stdout
    assert "records per joule (BMC)" in shown
    assert "measured at: BMC" in shown
    assert PASSWORD not in result_files(result.result)
