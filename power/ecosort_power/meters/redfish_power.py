"""Finds the power of a machine at a Redfish service: which chassis is the machine, and which of its resources say watts.

A resource that fails, is null or says 0 W hides nothing: the next one is tried, and what was wrong is kept for the message that
there is no power at all. Schemas: redfish.dmtf.org, for Chassis, EnvironmentMetrics, Power, PowerSubsystem, PowerSupplyMetrics
and Sensor.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any
from urllib.parse import urljoin, urlsplit

from ecosort_power.errors import MeterError, MeterGlitchError, SilentMeterError
from ecosort_power.reading import Scope
from ecosort_power.transports.http import pick

# Kinds of chassis that are a part of a machine, whatever contains them.
PARTS = ("Component", "Module", "Card", "Cartridge")
# Names, or values of PhysicalContext, of power controls and sensors that measure a part of the machine.
_OF_A_PART = re.compile(
    r"cpu|gpu|processor|accelerator|fpga|memory|dimm|fan|drive|disk|storage|raid|nvme|pcie|slot|riser|backplane|sub-?system|regulator"
    r"|(?<![a-z])(proc|mem|nic|vr)(?![a-z])",
    re.IGNORECASE,
)
_OF_ALL = re.compile(r"total|system|sys_|consum|chassis|server", re.IGNORECASE)
_OF_AN_INPUT = re.compile(r"intake|input", re.IGNORECASE)
_OF_A_SUPPLY = re.compile(r"\bps(u)?[\s._-]*(slot)?[\s._-]*\d|power[\s._-]*suppl", re.IGNORECASE)
_NOT_THERE = ("Absent", "Disabled", "UnavailableOffline")
_WATTS = ("W", "Watt", "Watts")
_MOST_SILENT = 2  # resources in turn that may give no answer before the service counts as gone
# Makers put it here in the resource Power apart from its schema.
_OEM_OF_POWER = (
    "PowerConsumedWatts",  # HPE iLO 4, #Power.1.0.1.Power
    "Oem.ts_fujitsu.ChassisPowerConsumption.CurrentPowerConsumptionW",  # Fujitsu iRMC, #FTSPower.v1_2_0
    "Oem.Public.TotalPower",  # Inspur
)

Value = tuple[str, str]  # a resource, and the path of a number in it


@dataclass(frozen=True, slots=True)
class Source:
    """Numbers of a chassis that add up to its power."""

    name: str  # what #source= chooses it by
    values: tuple[Value, ...]
    watts: float
    scope: Scope = Scope.BMC
    note: str = ""


def _last_part(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Chassis:
    path: str
    document: Any

    @property
    def name(self) -> str:
        return _last_part(self.path)

    @property
    def kind(self) -> str:
        return str(self.document.get("ChassisType") or "")

    @property
    def is_part(self) -> bool:
        return self.kind in PARTS


class Service:
    """A service that is walked once. `get` returns the document at a path; `problems` says what could not be used."""

    def __init__(self, get: Callable[[str], Any]) -> None:
        self._get = get
        self._silent = 0
        self.problems: list[str] = []

    def attempt(self, path: str) -> dict[str, Any]:
        """A document; empty, and a problem is noted, where there is none. SilentMeterError from a service that is gone."""
        try:
            document = self._get(path)
            self._silent = 0
        except SilentMeterError as error:
            self._silent += 1
            if self._silent > _MOST_SILENT:
                raise
            self.problems.append(str(error))
            return {}
        except MeterError as error:
            self.problems.append(str(error))
            return {}
        return document if isinstance(document, dict) else {}

    def pages(self, path: str, document: Any) -> list[dict[str, Any]]:
        """All members of the collection at a path, of which the first page is there. An empty one stands for what is not known: a
        page that cannot be read, a member that leads nowhere, what follows a page that repeats the ones before."""
        found, seen = dict[str, dict[str, Any]](), {path}
        while True:
            members, known = document.get("Members") if document else [{}], len(found)
            for member in members if isinstance(members, list) else []:
                place = _bare(link({"": member}, ""))
                found.setdefault(place, member if place else {})  # pages may overlap
            following = document.get("Members@odata.nextLink") or document.get("@odata.nextLink")
            path = urljoin(path, link({"": {"@odata.id": following}}, "")) if isinstance(following, str) else path
            if len(found) == known and len(seen) > 1:  # it does not heed which page is asked for, and may have no last one
                found.setdefault("", {})
                return list(found.values())
            if path in seen:
                return list(found.values())
            seen.add(path)
            document = self.attempt(path)

    def members(self, document: Any, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Path and document of each member of the collection that a document links to; members may be given whole. The document
        is empty where it cannot be read."""
        collection = link(document, name)
        for member in self.pages(collection, self.attempt(collection)) if collection else ():
            path = link({"": member}, "")
            yield path, self.attempt(path) if len(member) == 1 else member

    def watts(self, document: Any, path: str, where: str) -> float | None:
        """The power at a path; None, and a problem is noted, for what no running machine draws."""
        try:
            value = pick(document, path, where)
        except MeterGlitchError:
            return None
        if value > 0:
            return value
        self.problems.append(f"{where} says {'null' if isnan(value) else f'{value:g} W'} at {path}")
        return None

    def sources(self, chassis: Chassis) -> list[Source]:
        """Every way to the power of a chassis, from the one that says most plainly what it is."""
        return [source for kind in self._kinds(chassis.document) for source in kind]

    def best(self, chassis: Chassis) -> list[Source]:
        """The first way that there is; several of one kind where only a person can know."""
        return next(filter(None, self._kinds(chassis.document)), [])

    def _kinds(self, chassis: Any) -> Iterator[list[Source]]:
        metrics = link(chassis, "EnvironmentMetrics")
        yield self._one("EnvironmentMetrics", metrics, self.attempt(metrics) if metrics else {}, "PowerWatts.Reading")
        power = link(chassis, "Power")
        document = self.attempt(power) if power else {}
        yield self._controls(power, document)
        yield [source for path in _OEM_OF_POWER for source in self._one(f"Power.{path}", power, document, path)]
        yield self._subsystem(chassis)
        yield self._sensors(chassis)
        yield self._old_supplies(power, document)

    def _one(self, name: str, resource: str, document: Any, path: str) -> list[Source]:
        watts = self.watts(document, path, resource) if document else None
        return [] if watts is None else [Source(name, ((resource, path),), watts)]

    def _controls(self, power: str, document: Any) -> list[Source]:
        """Power controls of the whole chassis: a service may list some for its processors and memory as well."""
        found = []
        for i, control in enumerate(_list(document, "PowerControl")):
            title = f"{control.get('PhysicalContext', '')} {control.get('Name', '')}"
            if _OF_A_PART.search(title):
                self.problems.append(f"{power} PowerControl[{i}] ({title.strip()}) is a part of the machine")
                continue
            found += self._one(f"PowerControl[{i}]", power, document, f"PowerControl[{i}].PowerConsumedWatts")
        return found

    def _subsystem(self, chassis: Any) -> list[Source]:
        """The supplies of a PowerSubsystem: what each takes, else what each gives."""
        subsystem = link(chassis, "PowerSubsystem")
        supplies = self.members(self.attempt(subsystem), "PowerSupplies") if subsystem else ()
        metrics = [link(document, "Metrics") for _, document in supplies if _is_there(document)]
        places = [(path, self.attempt(path), "{}Watts.Reading") for path in metrics if path]
        return self._sum("PowerSupplies", places, ("InputPower", "OutputPower")) if len(places) == len(metrics) else []

    def _old_supplies(self, power: str, document: Any) -> list[Source]:
        supplies = [i for i, supply in enumerate(_list(document, "PowerSupplies")) if _is_there(supply)]
        places = [(power, document, f"PowerSupplies[{i}].{{}}Watts") for i in supplies]
        return self._sum("Power.PowerSupplies", places, ("PowerInput", "PowerOutput", "LastPowerOutput"))

    def _sum(self, name: str, places: Sequence[tuple[str, Any, str]], quantities: Sequence[str]) -> list[Source]:
        """The sum of all supplies by the first quantity that each of them has; one in reserve may take nothing."""
        for quantity in quantities:
            values = [(where, pattern.format(quantity)) for where, _, pattern in places]
            try:
                watts = [pick(d, path, where) for (where, path), (_, d, _) in zip(values, places, strict=True)]
            except MeterGlitchError:
                continue
            if watts and sum(watts) > 0:  # false where one is null
                note = "" if "Input" in quantity else "the output of its power supplies: without their losses"
                return [Source(name, tuple(values), sum(watts), Scope.PSU, note)]
        return []

    def _sensors(self, chassis: Any) -> list[Source]:
        """Sensors of the power of the whole chassis, else the sum of what its supplies take, else those that are of no part."""
        sensors = [_Sensor(path, document) for path, document in self.members(chassis, "Sensors")]
        is_known = all(sensor.document for sensor in sensors)  # else another one may be of the other supply
        whole = [(s, x) for s in sensors if s.is_power and s.is_whole for x in self._one(s.name, s.path, s.document, "Reading")]
        total = [x for s, x in whole if s.is_total]
        found = total if len(total) == 1 else [x for s, x in whole if is_known or s.is_of_all]
        if not is_known:
            return found
        inputs = [(s.path, s.document, "Reading") for s in sensors if s.is_power and s.is_input]
        rest = [x for s in sensors if s.is_power and not s.is_part for x in self._one(s.name, s.path, s.document, "Reading")]
        return found or self._sum("Sensors of the supplies", inputs, ("Input",)) or rest


@dataclass(frozen=True, slots=True)
class _Sensor:
    path: str
    document: Any

    @property
    def name(self) -> str:
        return f"Sensors/{_last_part(self.path)}"

    @property
    def title(self) -> str:
        words = (str(self.document.get(key) or "") for key in ("PhysicalContext", "PhysicalSubContext", "Name"))
        return " ".join((*words, self.name.removeprefix("Sensors/")))

    @property
    def is_power(self) -> bool:
        kind, unit = self.document.get("ReadingType", "Power"), self.document.get("ReadingUnits")
        return kind == "Power" and unit in _WATTS and _is_there(self.document)

    @property
    def is_whole(self) -> bool:
        return (self.is_of_all or bool(_OF_AN_INPUT.search(self.title))) and not self.is_part

    @property
    def is_of_all(self) -> bool:
        return bool(_OF_ALL.search(self.title)) and not self.is_part

    @property
    def is_part(self) -> bool:
        return bool(_OF_A_PART.search(self.title)) or self._of_a_supply

    @property
    def is_total(self) -> bool:
        return self.document.get("ElectricalContext") == "Total" or "total" in self.title.lower()

    @property
    def is_input(self) -> bool:
        return self._of_a_supply and bool(re.search(r"input|(?<![a-z])(in|pin)(?![a-z])", self.title, re.IGNORECASE))

    @property
    def _of_a_supply(self) -> bool:
        return self.document.get("PhysicalContext") == "PowerSupply" or bool(_OF_A_SUPPLY.search(self.title))


def local(address: str) -> str:
    """The path of an address on the same server, without the part of a document that it may point to."""
    parts = urlsplit(address)
    return parts.path + (f"?{parts.query}" if parts.query else "")


def link(document: Any, name: str) -> str:
    """Returns where a document links to by this name; it is empty where it does not."""
    try:
        return local(str(document[name]["@odata.id"]))
    except (KeyError, TypeError, ValueError):
        return ""


def _list(document: Any, name: str) -> list[Any]:
    found = document.get(name) if isinstance(document, dict) else None
    return [entry if isinstance(entry, dict) else {} for entry in found] if isinstance(found, list) else []


def _is_there(document: Any) -> bool:
    status = document.get("Status")
    return not isinstance(status, dict) or status.get("State") not in _NOT_THERE


def parents(chassis: Sequence[Chassis]) -> dict[str, str]:
    """Path of a chassis -> path of the one that contains it, as either of the two says it."""
    paths = {_bare(c.path): c.path for c in chassis}
    found: dict[str, str] = {}
    for one in chassis:
        links = one.document.get("Links")
        outer = paths.get(_bare(link(links, "ContainedBy")))
        inner = [paths.get(_bare(link({"": entry}, ""))) for entry in _list(links, "Contains")]
        found |= {path: one.path for path in inner if path}
        if outer is not None:
            found[one.path] = outer
    return found


def _bare(path: str) -> str:
    return path.rstrip("/")


def around(path: str, parent: dict[str, str]) -> list[str]:
    """All that contain a chassis, from the nearest on."""
    found: list[str] = []
    while (path := parent.get(path, "")) and path not in found:
        found.append(path)
    return found


def text_of(chassis: Chassis, source: Source) -> str:
    kind = f", {chassis.kind}" if chassis.kind else ""
    return f"{chassis.name}{kind} ({source.name}): {source.watts:g} W"
