"""Reads metrics of an exporter, as Prometheus does: `prometheus://HOST[:PORT][/metrics]#energy=METRIC[,labels=NAME:VALUE;...]`.

`energy` is a counter, `value` a power. The name of a metric says its unit (`_joules_total`, `_watts`, `_microwatts`, ...); of any
other name the unit must be said. Several series of one metric are told apart by `labels`, or added up by `sum=yes`: an answer
with other series than the first one has no value. What metrics of node_exporter, Kepler and Scaphandre measure is known, and is
in the results.
Formats: prometheus.io/docs/instrumenting/exposition_formats. `tls=verify` (or insecure) is over https.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from ecosort_power.errors import MeterError, MeterGlitchError, UsageError
from ecosort_power.extras import install
from ecosort_power.meters.base import MeterSpec
from ecosort_power.meters.http import WEB_SETTINGS, WebMeter
from ecosort_power.meters.units import ENERGY_UNITS, POWER_UNITS, stated_unit
from ecosort_power.reading import Capabilities, PowerKind, Reading, Scope

_NAME = re.compile(r"[A-Za-z_:][A-Za-z0-9_:]*")
_BEGIN = re.compile(r"[ \t]*([A-Za-z0-9_:]*)")  # of a line: the name of its metric
_Labels = frozenset[tuple[str, str]]  # of one series
_ENDINGS = {  # of names, with what one unit is in joules or watts
    "value": {"microwatts": 1e-6, "milliwatts": 1e-3, "kilowatts": 1e3, "watts": 1.0, "watt": 1.0},
    "energy": {"microjoules": 1e-6, "millijoules": 1e-3, "kilowatthours": 3.6e6, "watthours": 3600.0, "joules": 1.0},
}
# The names say what each metric measures: node_exporter 1.9, Kepler 0.10 and older ones, Scaphandre 1.0, by their documentation.
_MEASURE = {
    "node_rapl_package_joules_total": (Scope.PACKAGE, "one processor package (RAPL)"),
    "node_rapl_dram_joules_total": (Scope.COMPONENT, "the memory of one package (RAPL)"),
    "node_hwmon_power_average_watt": (Scope.COMPONENT, "one sensor of the board"),
    "node_hwmon_power_input_watt": (Scope.COMPONENT, "one sensor of the board"),
    "kepler_node_cpu_joules_total": (Scope.PACKAGE, "zones of the processor; without RAPL Kepler estimates them"),
    "kepler_node_cpu_watts": (Scope.PACKAGE, "zones of the processor; without RAPL Kepler estimates them"),
    "kepler_node_package_joules_total": (Scope.PACKAGE, "the processor packages; without RAPL Kepler estimates them"),
    "kepler_node_platform_joules_total": (Scope.BMC, "the machine by its management controller; without one Kepler estimates it"),
    "scaph_host_power_microwatts": (Scope.PACKAGE, "the processor packages, and the whole machine where RAPL has PSYS"),
    "scaph_host_energy_microjoules": (Scope.PACKAGE, "the processor packages, and the whole machine where RAPL has PSYS"),
}


class PrometheusMeter(WebMeter):
    """One metric of power, one of energy, or both."""

    form: ClassVar[str] = "prometheus://HOST[:PORT][/PATH]#energy=METRIC"
    settings_known: ClassVar[Mapping[str, str]] = {
        **WEB_SETTINGS,
        "energy": "metric of an energy counter",
        "value": "metric of a power",
        "labels": "NAME:VALUE;NAME:VALUE of the series that is meant",
        "sum": "yes: all series that are left are added up",
        "unit": "unit of the power, where the metric's name does not say it",
        "energy-unit": "unit of the counter, where the metric's name does not say it",
        "auth": "basic, digest or bearer",
    }

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        given = spec.settings
        self._metrics = {kind: given[kind] for kind in ("value", "energy") if given.get(kind)}
        if not self._metrics:
            raise UsageError(f"meter {spec.text[:200]}: name a metric, e.g. #energy=node_rapl_package_joules_total")
        for metric in self._metrics.values():
            if not _NAME.fullmatch(metric):
                raise UsageError(
                    f"meter {spec.text[:200]}: {metric[:60]!r} is no name of a metric; labels go into #labels=NAME:VALUE"
                )
        self._labels = _labels(given.get("labels", ""))
        self._is_sum = spec.flag("sum")
        self._scales = {kind: _scale(kind, metric, given) for kind, metric in self._metrics.items()}
        self._series: dict[str, set[_Labels]] = {}  # of each metric, as the first answer had them

    @property
    def _path(self) -> str:
        return (self.address.written or "/metrics") + (f"?{self.address.query}" if self.address.query else "")

    def start(self) -> Capabilities:
        self.connect(self.login(self._auth))
        self._series.clear()
        self.read()
        known = [_MEASURE[metric] for metric in self._metrics.values() if metric in _MEASURE]
        return Capabilities(
            title=f"Prometheus {' and '.join(self._metrics.values())} {self.server}",
            scope=known[0][0] if known else Scope.UNKNOWN,
            period_s=1.0,
            power=PowerKind.INSTANT if "value" in self._metrics else None,
            counter="energy" in self._metrics,
            identity={f"label {name}": value for name, value in self._labels.items()},
            notes=(*self.notes, *dict.fromkeys(f"what it measures: {text}" for _, text in known)),
        )

    def read(self) -> Reading:
        before = time.monotonic()
        text = self.client.get_text(self._path)
        lines = [line for line in text.split("\n") if _metric_in(line) in self._metrics.values()]  # a label may hold U+2028
        found = self._values(lines)
        return Reading(before, time.monotonic(), found.get("value"), found.get("energy"), raw="\n".join(lines))

    def _values(self, lines: Iterable[str]) -> dict[str, float]:
        samples = list(_samples("\n".join(lines) + "\n", self.server))
        return {kind: self._value_of(kind, metric, samples) * self._scales[kind] for kind, metric in self._metrics.items()}

    def _value_of(self, kind: str, metric: str, samples: Iterable[Any]) -> float:
        there = [sample for sample in samples if sample.name == metric]
        if not there:
            raise MeterGlitchError(f"{self.server} has no metric {metric} now")
        meant = [sample for sample in there if self._labels.items() <= sample.labels.items()]
        if not meant:
            raise MeterError(
                f"{self.server}: no series of {metric} has {self._shown(self._labels)}; there are: {self._list(there)}"
            )
        if len(meant) > 1 and not self._is_sum:
            raise MeterError(
                f"{self.server}: {len(meant)} series of {metric}: say which with #labels=NAME:VALUE, or #sum=yes for all: "
                f"{self._list(meant)}"
            )
        if any(map(_is_store, meant)):
            raise MeterError(
                f"{self.server}: {metric} ({self._shown(meant[0].labels)}) is of a battery or UPS: what goes into it while it "
                "charges is not what the machine draws; --meter battery: knows whether it drains"
            )
        if self._is_sum:
            self._check_series(metric, {frozenset(sample.labels.items()) for sample in meant})
        return float(sum(sample.value for sample in meant))

    def _check_series(self, metric: str, found: set[_Labels]) -> None:
        """MeterGlitchError where the answer has other series than the first one: their sum is another quantity."""
        known = self._series.setdefault(metric, found)
        for series, when in ((known - found, "had at first is missing"), (found - known, "had not at first is there")):
            if series:
                named = ", ".join(sorted(f"({self._shown(dict(labels))})" for labels in series))[:300]
                raise MeterGlitchError(f"{self.server}: a series that {metric} {when} now; #sum=yes has no value: {named}")

    def _list(self, samples: Iterable[Any]) -> str:
        return ", ".join(f"({self._shown(sample.labels)})" for sample in samples)[:300]

    @staticmethod
    def _shown(labels: Mapping[str, str]) -> str:
        return ";".join(f"{name}:{value}" for name, value in labels.items())

    @classmethod
    def derive(cls, raw: str, spec: MeterSpec) -> Reading:
        """The values of a raw answer."""
        found = cls(spec)._values(raw.split("\n"))
        return Reading(0.0, 0.0, found.get("value"), found.get("energy"))


def _metric_in(line: str) -> str:
    found = _BEGIN.match(line)
    return found[1] if found else ""


def _is_store(sample: Any) -> bool:
    """As node_exporter shows the kernel's power supply class: itself, and its chips of hwmon."""
    return bool(sample.name.startswith("node_power_supply_") or sample.labels.get("chip", "").startswith("power_supply_"))


def _samples(text: str, server: str) -> list[Any]:
    try:
        from prometheus_client.parser import text_string_to_metric_families
    except ImportError:
        raise MeterError(f"metrics of Prometheus need prometheus-client; run: {install('prometheus_client')}") from None
    try:
        families = list(text_string_to_metric_families(text))
    except ValueError as error:
        raise MeterGlitchError(f"{server} answers with no metrics: {str(error)[:80]}") from None
    return [sample for family in families for sample in family.samples]


def _labels(text: str) -> dict[str, str]:
    found = {}
    for part in filter(None, text.split(";")):
        name, colon, value = part.partition(":")
        if not colon or not name:
            raise UsageError(f"prometheus: label {part[:60]!r} is not of the form NAME:VALUE")
        found[name] = value
    return found


def _scale(kind: str, metric: str, given: Mapping[str, str]) -> float:
    """Joules or watts of one unit, by the name of the metric; what the user says comes first."""
    setting = "unit" if kind == "value" else "energy-unit"
    stem = metric.removesuffix("_total")
    for ending, scale in _ENDINGS[kind].items():
        if setting not in given and stem.endswith(f"_{ending}"):
            return scale
    return stated_unit(POWER_UNITS if kind == "value" else ENERGY_UNITS, given, setting)
