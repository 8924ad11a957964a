"""A log that is attached to a stored result: whenever it is killed, the seal holds and the same call ends it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ecosort_power.attach import attach_log
from ecosort_power.meters.base import parse_spec
from ecosort_power.seal import Seal
from ecosort_power.seal_check import seal_defects
from ecosort_power.store import ResultDirectory

from .stored import write_result


class Killed(BaseException):
    """Passes where an error would be handled."""


@pytest.fixture
def result(tmp_path: Path) -> Path:
    return write_result(tmp_path / "r", factor=0.2, runs=2)


def log_of(result: Path, factor: float) -> str:
    """The readings of its meter, times a factor, as another meter's log; its specification."""
    lines = ["time,watts"]
    directory = ResultDirectory(result)
    for run in directory.runs():
        offset = run.marks.realtime_offset_s
        lines += [f"{r.after_s + offset:.3f},{factor * (r.watts or 0.0):.4f}" for r in directory.readings(run.index, "wall")]
    path = result.parent / f"log{factor}.csv"
    path.write_text("\n".join(lines) + "\n")
    return f"log=csv:{path}#scope=wall,lag=0,period=0.5,update=0.5,accuracy=1%"


def joules(result: Path) -> list[float | None]:
    return [energy.joules for run in ResultDirectory(result).runs() for energy in run.energy or [] if energy.meter == "log"]


def killed_at(step: int, monkeypatch: pytest.MonkeyPatch, work: Callable[[], Any]) -> bool:
    """Before its `step`-th sync, rename or line of the seal."""
    left = step

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*words: Any, **named: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                raise Killed
            return call(*words, **named)

        return called

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", counted(os.fsync))
        patch.setattr(Path, "replace", counted(Path.replace))
        patch.setattr(Seal, "add", counted(Seal.add))
        try:
            work()
        except Killed:
            return True
    return False


def test_an_attachment_that_is_killed_at_any_step_is_made_by_the_same_call(
    result: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = parse_spec(log_of(result, 1.0)), parse_spec(log_of(result, 1.5))
    attach_log(ResultDirectory(result), first)
    before, copy = joules(result), tmp_path / "copy"
    step = 0
    while True:
        step += 1
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(result, copy)
        if not killed_at(step, monkeypatch, lambda: attach_log(ResultDirectory(copy), second)):
            break
        assert [d.text for d in seal_defects(copy)] == [], step
        attach_log(ResultDirectory(copy), second)
        assert [d.text for d in seal_defects(copy)] == [], step
        assert joules(copy) == pytest.approx([1.5 * j for j in before if j is not None], rel=0.02)
    assert step > 20  # two files of readings, two runs, the session and the summary: a sync, a line with its sync, a name each
