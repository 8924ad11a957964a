"""The opened meters of a session with their sampling threads."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from ecosort_power.clock import REAL, Clock
from ecosort_power.errors import MeterError
from ecosort_power.evaluate import mean_watts
from ecosort_power.meters import make_meter
from ecosort_power.meters.base import Meter, MeterSpec, with_settings
from ecosort_power.meters.csv import CsvMeter
from ecosort_power.monitor import LoadPoint, to_load
from ecosort_power.reading import Capabilities, Reading, screen
from ecosort_power.sampler import Sampler, spread_s, start_spread_s, to_line
from ecosort_power.seal import Seal
from ecosort_power.store import Marks, MeterRecord
from ecosort_power.transports.process import programs_cpu_s

# Lead and tail are longer than the slowest meter needs by this, for its answer.
MARGIN_S = 0.2


class Equipment:
    """Opens all meters or none. Must be opened and closed by the main thread, which their processes die with."""

    def __init__(self, specs: Sequence[MeterSpec], clock: Clock = REAL) -> None:
        self._clock = clock
        self.records: list[MeterRecord] = []
        self.samplers: list[Sampler] = []
        self._logs: list[tuple[str, CsvMeter, Capabilities]] = []
        opened: list[Meter] = []
        try:
            for spec in specs:
                meter = make_meter(spec)
                opened.append(meter)
                self._add(spec, meter, with_settings(meter.open(), spec))
        except BaseException:
            for meter in opened:
                meter.close()
            raise
        for sampler in self.samplers:
            sampler.start()

    def _add(self, spec: MeterSpec, meter: Meter, capabilities: Capabilities) -> None:
        capabilities = replace(capabilities, spread_s=spread_s(capabilities, meter.paced and not meter.deferred))
        self.records.append(MeterRecord(spec.name, spec.text, capabilities))
        if isinstance(meter, CsvMeter):
            self._logs.append((spec.name, meter, capabilities))
        else:
            self.samplers.append(Sampler(spec.name, meter, capabilities))

    def not_the_users_word(self, names: Iterable[str]) -> None:
        """A probe found their updates, no user declared them: one value is not believed because of it."""
        seen = set(names)
        self.records = [
            replace(r, capabilities=replace(r.capabilities, update_given=False)) if r.name in seen else r for r in self.records
        ]

    @property
    def tail_s(self) -> float:
        """Returns how long readings must continue after a run."""
        return max((r.capabilities.tail_s for r in self.records), default=0.0) + MARGIN_S

    @property
    def lead_s(self) -> float:
        """Returns how long readings must have gone on before a run."""
        return max((r.capabilities.lead_s for r in self.records), default=0.0) + MARGIN_S

    @property
    def start_spread_s(self) -> float:
        """Within how much a run is to begin at random."""
        return max((start_spread_s(r.capabilities) for r in self.records), default=0.0)

    def death(self) -> str | None:
        """Why a meter is gone, if one is."""
        return next((s.death for s in self.samplers if s.death is not None), None)

    def begin(self, directory: Path, prefix: str, seal: Seal) -> None:
        for s in self.samplers:
            s.begin_segment(directory / f"{prefix}.{s.name}.jsonl", seal)

    def end(self) -> dict[str, list[Reading]]:
        return {s.name: s.end_segment() for s in self.samplers}

    def collect_logs(self, directory: Path, marks: Marks, points: Sequence[LoadPoint], seal: Seal) -> dict[str, list[Reading]]:
        """The readings of this run out of the meters' own logs, stored like all others."""
        found = {}
        for name, meter, capabilities in self._logs:
            rows = meter.collect(marks.first_s, marks.last_s, marks.realtime_offset_s, to_load(points))
            readings = [screen(r, capabilities) for r in rows]
            path = directory / f"readings.{name}.jsonl"
            path.write_text("".join(to_line(r) + "\n" for r in readings), encoding="utf-8")
            seal.file(path)
            found[name] = readings
        return found

    def idle(self, seconds: float, directory: Path, prefix: str, seal: Seal) -> dict[str, float]:
        """Mean watts of each meter over some idle seconds. MeterError if one is gone."""
        self.begin(directory, prefix, seal)
        self._clock.wait(seconds, lambda: self.death() is not None)
        readings = self.end()
        death = self.death()
        if death is not None:
            raise MeterError(death)
        means = {r.name: mean_watts(readings.get(r.name, []), r.capabilities) for r in self.records}
        return {name: watts for name, watts in means.items() if watts is not None}

    def pids(self) -> list[int]:
        return [pid for s in self.samplers for pid in s.meter.pids()]

    def cpu_s(self) -> float:
        """CPU time of this process and of the meters' own processes so far."""
        return time.process_time() + programs_cpu_s() + sum(s.children_cpu_s() for s in self.samplers)

    def close(self) -> None:
        for s in self.samplers:
            s.stop()
