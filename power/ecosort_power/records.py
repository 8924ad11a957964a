"""The table of JouleSort results, and where a run stands in it.

Energies and records per joule as published by the entrants, rounded as they were; entries marked `derived` were computed from a
published power and time, and the outcome of the 2025 entry is not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ecosort_power.reading import Scope


@dataclass(frozen=True, slots=True)
class Record:
    records: int
    year: int
    name: str
    kilojoules: float | None
    records_per_joule: float
    machine: str
    remark: str = ""


E8, E9, E10, E12 = 10**8, 10**9, 10**10, 10**12

TABLE: Sequence[Record] = (
    Record(E8, 2010, "EcoSort (Indy)", 2.345, 42635, "Atom 330, 4 SSDs, 2 GiB"),
    Record(E8, 2010, "Nsort on the EcoSort machine (Daytona)", 2.485, 40249, "Atom 330, 4 SSDs, 2 GiB"),
    Record(E8, 2010, "FAWNSort", 2.228, 44884, "low-power server CPU, 5 flash drives", "one pass in memory"),
    Record(E8, 2012, "FAWNSort", 1.393, 71789, "Core i7, 16 SSDs", "one pass in memory"),
    Record(E9, 2010, "EcoSort (Indy)", 25.09, 39853, "Atom 330, 4 SSDs, 4 GiB"),
    Record(E9, 2010, "Nsort on the EcoSort machine (Daytona)", 27.94, 35789, "Atom 330, 4 SSDs, 4 GiB"),
    Record(E9, 2012, "FAWNSort", 21.0, 47526, "Core i7, 16 SSDs, 8 GB"),
    Record(E10, 2007, "CoolSort", 2920, 3425, ""),
    Record(E10, 2010, "DEMSort (Indy, in place)", 571.8, 17489, "Atom 330, 4 x 256 GB SSD"),
    Record(E10, 2012, "FAWNSort", 229, 43700, "Core i7, 16 SSDs"),
    Record(E10, 2013, "NTOSort", 168, 59500, "16 SATA SSDs"),
    Record(E10, 2019, "KioxiaSort (Indy)", 89, 112000, "PC, 8 NVMe drives"),
    Record(E10, 2022, "ELSAR", None, 158000, "range partitioning", "derived, 158 000 to 190 000"),
    Record(E10, 2023, "MendSort (Daytona)", 59, 169000, "Ryzen 7900, 8 NVMe drives", "derived"),
    Record(E10, 2025, "bsort", 47.97, 208000, "Raspberry Pi 5, one NVMe drive", "outcome of the entry unknown"),
    Record(E12, 2011, "TritonSort (Indy)", None, 9703, "52 servers"),
)


def class_of(records: int) -> int | None:
    """The benchmark class with exactly this many records."""
    return records if any(r.records == records for r in TABLE) else None


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a result stands among the records of its class; `rank` is None where it must not be compared."""

    text: str
    rank: int | None
    entries: list[Record]


def class_name(records: int) -> str:
    return f"10^{len(str(records)) - 1}" if records == 10 ** (len(str(records)) - 1) else str(records)


def standing(records: int | None, records_per_joule: float | None, scope: Scope) -> Standing:
    """Package-only results are never compared; results of another size or scope are placed for orientation only."""
    if records is None or records_per_joule is None:
        return Standing("no records per joule, so no place in the table", None, [])
    if not scope.whole_system:
        return Standing(f"not compared: {scope.headline.lower()}, the records are measured at the wall", None, [])
    own = class_of(records)
    shown = own or min((r.records for r in TABLE), key=lambda n: abs(len(str(n)) - len(str(records))))
    entries = sorted((r for r in TABLE if r.records == shown), key=lambda r: -r.records_per_joule)
    rank = 1 + sum(r.records_per_joule > records_per_joule for r in entries)
    best = entries[0]
    text = f"would be number {rank} of {len(entries) + 1} in the class of {class_name(shown)} records"
    text += f"; the best there is {best.name} ({best.year}) with {best.records_per_joule:,.0f}".replace(",", " ")
    doubts = []
    if own is None:
        doubts.append(f"{records:,} records are no benchmark class".replace(",", " "))
    if scope is not Scope.WALL:
        doubts.append(f"measured at: {scope.headline}, the records at the wall")
    if doubts:
        text += f" (for orientation only: {'; '.join(doubts)})"
    return Standing(text, rank if not doubts else None, entries)
