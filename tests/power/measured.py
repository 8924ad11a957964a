"""Measurements that tests only look at: they run beside the other tests, because most of their time is waiting.

A test names its measurement by a mark and gets it by the fixture `measured`:

    @pytest.mark.measured("--meter", toy_meter(), "--no-validate", command=fake_sort())
    def test_...(measured: Measured) -> None:

Words: options of `ecosort-power run` beyond QUICK and --out. Keywords: `command`; `files`, name -> text, made before; `env`;
`sound=False` if the measurement is to end without a result that holds; `by`, a function of (directory, mark) that makes the
measurement another way. Equal measurements are made once.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import forked
import pytest

from .support import QUICK, cli_env, load

# Measurements at the same time; their toy sorts use half a processor each, and only while they sort.
TOGETHER = 3
# A machine that is busy with other things makes gaps in the readings, and the harness rightly refuses such a run. That
# verdict, and no other, is worth another attempt.
ATTEMPTS = 6


@dataclass(frozen=True)
class Measured:
    """Holds what `ecosort-power run` said, and the directory that it ran in; its result is in `result`."""

    path: Path
    done: subprocess.CompletedProcess[str]

    @property
    def result(self) -> Path:
        return self.path / "r"

    def run(self, index: int = 1) -> Any:
        return load(self.result / f"runs/{index:02d}/run.json")


def only_gaps(result: Path) -> bool:
    """True if gaps in the readings are all that is wrong with a result."""
    runs = [load(p) for p in result.glob("runs/[0-9][0-9]/run.json")]
    defects = [d for r in runs for d in [*r["defects"], *(d for e in r["energy"] or [] for d in e["defects"])]]
    return {d["code"] for d in defects if d["fatal"]} == {"gap"}


def until_sound(directory: Path, attempt: Callable[[Path], Measured]) -> Measured:
    """Each attempt in a directory of its own, until the verdict is another than that of gaps alone."""
    for number in range(1, ATTEMPTS + 1):
        path = directory / str(number)
        path.mkdir(parents=True)
        found = attempt(path)
        if found.done.returncode != 1 or not only_gaps(found.result):
            break
    return found


def measure(directory: Path, mark: pytest.Mark) -> Measured:
    def attempt(path: Path) -> Measured:
        for name, text in mark.kwargs.get("files", {}).items():
            (path / name).write_text(text)
        words = ["run", *QUICK, *map(str, mark.args), "--out", "r", "--", *mark.kwargs["command"]]
        env = cli_env(**mark.kwargs.get("env", {}))
        return Measured(path, forked.run("ecosort_power", words, cwd=path, env=env))

    return until_sound(directory, attempt) if mark.kwargs.get("sound", True) else _once(directory, attempt)


def _once(directory: Path, attempt: Callable[[Path], Measured]) -> Measured:
    path = directory / "1"
    path.mkdir(parents=True)
    return attempt(path)


class Measurements:
    """All measurements that the chosen tests of a file want, in the background and in the order of the tests."""

    def __init__(self, items: Iterable[pytest.Item], factory: pytest.TempPathFactory) -> None:
        self._pool = ThreadPoolExecutor(TOGETHER)
        self._found: dict[str, Future[Any]] = {}
        for item in items:
            mark = item.get_closest_marker("measured")
            if mark is not None and self._key(mark) not in self._found:
                directory = factory.mktemp("measured")
                self._found[self._key(mark)] = self._pool.submit(mark.kwargs.get("by", measure), directory, mark)

    @staticmethod
    def _key(mark: pytest.Mark) -> str:
        kwargs: Mapping[str, object] = mark.kwargs
        return repr((mark.args, sorted(kwargs.items())))

    def of(self, mark: pytest.Mark) -> Any:
        return self._found[self._key(mark)].result()

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


def copied(measured: Measured, target: Path) -> Path:
    """A result that a test may damage."""
    subprocess.run(["cp", "-a", os.fspath(measured.result), os.fspath(target)], check=True)
    return target
