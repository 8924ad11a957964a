"""Probing a meter: lag, window, update period, quantum; pure fits first, then the program with a toy meter."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from ecosort_power.align import Load, fit
from ecosort_power.errors import InvalidResultError
from ecosort_power.load import PATTERN, Steps
from ecosort_power.probe import analyse
from ecosort_power.reading import Reading

from .support import PEERS, cli_env
from .synthetic import WALL

UNIT = 2.07  # no multiple of any update period below, so that edges fall between updates in many ways
EDGES = [1000.0, *(1000.0 + UNIT * float(c) for c in np.cumsum(PATTERN))]
LEVELS = [float(i % 2) for i in range(len(PATTERN))]
STEPS = Steps(EDGES, LEVELS)
SECONDS = UNIT * sum(PATTERN)


def readings(
    lag: float, window: float, update: float, poll: float = 0.1, noise: float = 0.2, gain: float = 40.0
) -> list[Reading]:
    """A meter that shows the mean over `window`, `lag` late, renewed every `update`, read every `poll`."""
    load = Load.from_steps(EDGES, LEVELS)
    random = np.random.default_rng(1)
    shown, found, due = 0.0, [], EDGES[0]
    for t in np.arange(EDGES[0], EDGES[-1] + SECONDS / 4, poll):
        if t >= due:
            end = np.array([due - lag])
            shown = 20 + gain * float(load.mean(end - max(window, 1e-3), end)[0]) + noise * random.standard_normal()
            due += update
        found.append(Reading(float(t), float(t), watts=round(shown, 1)))
    return found


@pytest.mark.parametrize(("lag", "window"), [(0.0, 0.0), (0.6, 0.0), (0.0, 3.0), (2.5, 5.0), (4.0, 1.0)])
def test_lag_and_window_are_found(lag: float, window: float) -> None:
    found = analyse(readings(lag, window, 0.1), STEPS, WALL, SECONDS)
    assert found.problem is None
    assert found.lag_s == pytest.approx(lag, abs=0.15)
    assert found.window_s == pytest.approx(window, abs=0.4)
    assert found.idle_w == pytest.approx(20, abs=1)
    assert found.busy_w == pytest.approx(60, abs=1)


def test_the_update_period_and_quantum_are_found() -> None:
    found = analyse(readings(0.3, 0.0, 1.0), STEPS, WALL, SECONDS)
    assert found.update_s == pytest.approx(1.0, abs=0.15)
    assert found.quantum_w == pytest.approx(0.1, abs=0.01)
    assert any("old when read" in r for r in found.remarks)
    assert found.lag_s == pytest.approx(0.3, abs=0.2)  # not 0.8: a value is not late because it is still shown


def test_an_update_period_that_cannot_be_seen_is_not_invented() -> None:
    found = analyse(readings(0.0, 0.0, 0.1, noise=0.0), STEPS, WALL, SECONDS)
    assert found.update_s is None
    assert any("cannot be seen" in r for r in found.remarks)


def test_a_meter_of_another_machine_is_noticed() -> None:
    found = analyse(readings(0.0, 0.0, 0.1, noise=3.0, gain=0.0), STEPS, WALL, SECONDS)
    assert found.problem is not None
    assert "do not follow" in found.problem


def test_a_window_beyond_the_probe_is_said() -> None:
    found = analyse(readings(10.0, 12.0, 0.5), STEPS, WALL, SECONDS)
    assert found.problem is not None


def test_a_constant_meter_cannot_be_fitted() -> None:
    load = Load.from_steps(EDGES, LEVELS)
    with pytest.raises(InvalidResultError, match="do not change"):
        fit(load, list(range(20)), [5.0] * 20, (0, 1), (0, 1))


def probe_toy(directory: Path, mark: pytest.Mark) -> subprocess.CompletedProcess[str]:
    """On a busy machine the load's shell starts late and the toy meter's clock ticks unevenly: what is not seen well then is
    worth another attempt."""
    meter = f"exec:{sys.executable} {PEERS / 'lagging_meter.py'} 0.5 0.8 0.2"
    words = ["probe", meter, "--seconds", "12", "--load", f"sh {PEERS / 'meter_load.sh'}", "--json"]
    program = [sys.executable, "-m", "ecosort_power"]
    for _ in range(3):
        done = subprocess.run([*program, *words], cwd=directory, env=cli_env(), capture_output=True, text=True, check=False)
        if done.returncode == 0 and json.loads(done.stdout)["correlation"] > 0.85:
            break
    return done


@pytest.mark.measured(by=probe_toy)
def test_the_program_probes_a_real_meter_by_a_load(measured: subprocess.CompletedProcess[str]) -> None:
    assert measured.returncode == 0, measured.stdout + measured.stderr
    found = json.loads(measured.stdout)
    assert found["lag_s"] == pytest.approx(0.5, abs=0.6)
    assert found["window_s"] == pytest.approx(0.8, abs=0.8)
    assert found["update_s"] == pytest.approx(0.2, abs=0.1)
    assert found["quantum_w"] == pytest.approx(0.5)
    assert found["correlation"] > 0.85
