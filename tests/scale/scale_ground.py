"""Holds what the parts of a scale test work with."""

import os
import sys
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from scale_program import Program
from scale_table import Row

RECORD_BYTES = 100
OVERHEAD_BYTES = 32 << 20  # promise P8
ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Ground:
    program: Path
    disk: Path  # XFS on the drive that knows records
    drive: Path  # files that take no space: records, records.0 ... records.9, rows.csv
    place: Path  # on the real drive
    records: int
    memory: int
    rows: list[Row] = field(default_factory=list)

    @property
    def size(self) -> int:
        return self.records * RECORD_BYTES

    @property
    def options(self) -> list[str]:
        return ["--memory", f"{self.memory}"]

    def row(self, step: str, size: int) -> tuple[Row, Program]:
        row = Row(step, size)
        self.rows.append(row)
        return row, Program([self.program], row)

    def python(self, row: Row, module: str) -> Program:
        """A program of this source tree that is written in Python."""
        packages = ":".join(str(ROOT / package) for package in ("python", "power"))
        env = {**os.environ, "PYTHONPATH": packages, "ECOSORT_PROGRAM": str(self.program)}
        return Program([sys.executable, "-m", module], row, env)

    def hold_memory(self, row: Row) -> None:
        row.demand(row.memory_bytes <= self.memory + OVERHEAD_BYTES, f"memory {row.memory_bytes} of {self.memory}")

    @cached_property
    def checksum(self) -> str:
        """Asks the generator for that of all records, which go nowhere."""
        return self.generate("gen", self.records, Path("/dev/null"))

    def generate(self, step: str, records: int, path: Path) -> str:
        _, program = self.row(step, records * RECORD_BYTES)
        return program.must("gen", "-a", "-c", str(records), path).told.strip()

    def check(self, path: Path, records: int, checksum: str) -> None:
        row, program = self.row(f"check of {path.name}", records * RECORD_BYTES)
        told = program.must("check", f"{path},dir").told
        row.demand(f"Records: {records}\n" in told, "not all records are there")
        row.demand(checksum in told, "the checksum is another one")
        path.unlink()
