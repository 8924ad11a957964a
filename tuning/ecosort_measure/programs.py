"""The sorter that is measured, and what is asked of it outside of the measurements."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ecosort_power.errors import RunError
from ecosort_power.transports.process import run_to_end
from ecosort_power.validate import generated_checksum, parse_report, run_check

from ecosort_measure.cold_run import Measured, run_cold


@dataclass(frozen=True)
class Programs:
    """The sorter, and the tools that were built beside it. Stateless: thread-safe."""

    ecosort: Path

    def tool(self, name: str) -> Path:
        return self.ecosort.parent / "bench" / f"ecosort_{name}"

    @property
    def replay(self) -> Path:
        return self.tool("replay")

    def call(self, program: Path, *words: str | Path) -> str:
        """A quick call of one of them: all that it prints. RunError if it fails."""
        code, out, err = run_to_end([str(program), *map(str, words)])
        if code != 0:
            raise RunError(f"{' '.join([program.name, *map(str, words)])}: {err.strip()[-300:] or f'exit code {code}'}")
        return out + err

    def run(self, *words: str | Path) -> str:
        return self.call(self.ecosort, *words)

    def generate(self, records: int, path: Path, *options: str) -> str:
        """Makes so many ASCII records; their checksum."""
        checksum = generated_checksum(self.run("gen", "-a", "-c", *options, str(records), path))
        if checksum is None:
            raise RunError(f"{path} cannot be made: ecosort gen printed no checksum")
        return checksum

    def checksum(self, path: Path, in_order: bool = True) -> str:
        """Returns the checksum of the records of a file. RunError where they must be in order and are not."""
        report = parse_report(*run_check([str(self.ecosort), "check", str(path)]))
        if report.exit_code != 0 and in_order:
            raise RunError(f"{path} is not sorted: {report.text.strip()[-300:]}")
        if report.checksum is None:
            raise RunError(f"no checksum in: {report.text.strip()[:200]}")
        return report.checksum

    def require_records(self, output: Path, checksum: str, command: list[str]) -> None:
        """RunError if the output of the command is not in order, or holds other records than those with this checksum."""
        if self.checksum(output) != checksum:
            raise RunError(f"the output of {' '.join(command)} holds other records than the input")

    def measure_sort(self, command: list[str], directory: Path, memory_bytes: int, output: Path, checksum: str) -> Measured:
        """A cold run of a sort of the records with this checksum, in a directory on the drive to measure; its output is
        validated. RunError if the sort or its output is no good."""
        found = run_cold(command, directory, {}, memory_bytes)
        self.require_records(output, checksum, command)
        return found
