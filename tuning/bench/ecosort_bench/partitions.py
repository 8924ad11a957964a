"""Calls `ecosort partition` to be measured, and replays its requests."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ecosort_power.errors import RunError

from ecosort_bench.contenders import Contenders, Work

PARTS = 16
_SAMPLED = 100_000
_KEY = "0:10"
_READ_DEPTH, _WRITE_DEPTH = 16, 12  # of its plan
CONTENDERS = ("ecosort", "sorted", "floor")


@dataclass(frozen=True)
class Cut:
    """A file of records that is cut into parts of like size. All files are below the directory of the output."""

    programs: Contenders
    work: Work

    @property
    def _directory(self) -> Path:
        return self.work.output.parent

    @property
    def slices(self) -> Path:
        return self._directory / "slices"

    @property
    def _splitters(self) -> Path:
        return self._directory / "splitters"

    @property
    def _trace(self) -> Path:
        return self._directory / "partition.trace"

    def choose_splitters(self) -> None:
        sample = self._directory / "sample"
        self.programs.run("sample", "records", "--key", _KEY, self.work.input, "--count", str(_SAMPLED), "-o", sample)
        self.programs.run("sample", "records", "--key", _KEY, "--merge", sample, "--parts", str(PARTS), "-o", self._splitters)

    def command(self, contender: str, *more: str) -> list[str]:
        if contender == "floor":
            pace = ["--pace", "depth", "--read-depth", str(_READ_DEPTH), "--write-depth", str(_WRITE_DEPTH)]
            return self.programs.replay_command(self._trace, self.work, *pace)
        means = ["--memory", f"{self.work.memory_bytes}B", "--threads", str(self.work.threads), "--progress", "none", *more]
        sort = ["--sort"] if contender == "sorted" else []
        places = ["--splitters", str(self._splitters), "--report", str(self.work.stats), "-o", str(self.slices)]
        return [str(self.programs.ecosort), "partition", "records", "--key", _KEY, *means, *sort, *places, str(self.work.input)]

    def traced(self) -> list[str]:
        """The command whose requests are replayed."""
        return self.command("ecosort", "--trace", str(self._trace))

    def make_room(self) -> None:
        shutil.rmtree(self.slices, ignore_errors=True)
        self.slices.mkdir()
        self.work.output.unlink(missing_ok=True)

    def report(self) -> dict[str, Any]:
        """Reads the report of a partition that was done. RunError where a file that it names is missing."""
        told: dict[str, Any] = json.loads(self.work.stats.read_text())
        files = [file for one in told["slices"] for file in one["files"]]
        if any(Path(file["file"]).stat().st_size != file["bytes"] for file in files):
            raise RunError("a slice is not as long as the report says")
        return {name: told[name] for name in ("hash", "rows", "bytes_read", "bytes_written")}
