"""The table of JouleSort results, and the place of a run in it.

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
    Record(E10, 2025, "bsort", 47.97, 208464, "Raspberry Pi 5, one NVMe drive", "outcome of the entry unknown"),
    Record(E12, 2011, "TritonSort (Indy)", None, 9703, "52 servers"),
)


def class_of(records: int) -> int | None:
    """The benchmark class with exactly this many records."""
    return records if any(r.records == records for r in TABLE) else None


RECORD_BYTES = 100
MIN_RUNS = 5


@dataclass(frozen=True, slots=True)
class Claim:
    """Holds what a result says of itself where it asks for a place in the table."""

    records: int | None
    records_per_joule: float | None
    scope: Scope
    runs_valid: int
    complete: bool  # all planned runs are there and valid
    validated: bool  # order, count and content of every output
    cold: bool
    bytes: int | None  # of the input; None: not known
    simulated: bool = False
    rehearsal: bool = False
    remarks: tuple[str, ...] = ()  # what the place rests on, e.g. the user's word


@dataclass(frozen=True, slots=True)
class Standing:
    """Ranks a result among the records of its class. `rank` is None where it has no place; the reasons say why."""

    text: str
    rank: int | None
    entries: list[Record]
    reasons: list[str]


def class_name(records: int) -> str:
    return f"10^{len(str(records)) - 1}" if records == 10 ** (len(str(records)) - 1) else spaced(records)


def spaced(value: float) -> str:
    return f"{value:,.0f}".replace(",", " ")


def reasons_against(claim: Claim) -> list[str]:
    """Why a claim has no place in the table; empty if it has one. The rules: a validated run of exactly a class of 100-byte
    records, five or more runs, cold, at the wall, measured and not simulated."""
    found = [
        (claim.simulated, "its meter is SIMULATED"),
        (claim.rehearsal, "it is a rehearsal (--records)"),
        (claim.records is None, "the number of records is not known"),
        (claim.records is not None and class_of(claim.records) is None, _no_class(claim.records)),
        (claim.bytes is None, "the length of the records is not known: give --input"),
        (_other_length(claim), f"the input has {claim.bytes} bytes, which are not {claim.records} records of {RECORD_BYTES}"),
        (_sees_a_part(claim), f"measured at: {claim.scope.headline}, which is not compared with the wall"),
        (claim.scope.whole_system and claim.scope is not Scope.WALL, f"measured at: {claim.scope.headline}, not the wall"),
        (not claim.validated, "not every output was validated, its content included"),
        (not claim.cold, "the page cache was not emptied before every run (--cold)"),
        (claim.runs_valid < MIN_RUNS, f"{MIN_RUNS} valid runs are needed, there are only {claim.runs_valid}"),
        (not claim.complete, "not every planned run is there and valid"),
    ]
    return [text for holds, text in found if holds]


def _no_class(records: int | None) -> str:
    names = ", ".join(class_name(n) for n in sorted({r.records for r in TABLE}))
    return f"{spaced(records or 0)} records are no class of the benchmark ({names})"


def _sees_a_part(claim: Claim) -> bool:
    return not (claim.scope.whole_system or claim.simulated)


def _other_length(claim: Claim) -> bool:
    return claim.bytes is not None and claim.records is not None and claim.bytes != RECORD_BYTES * claim.records


def standing(claim: Claim) -> Standing:
    """A place for a claim that keeps the rules; for any other the table of the nearest class without it, and why."""
    if claim.records_per_joule is None:
        return Standing("no records per joule, so no place in the table", None, [], ["there are no records per joule"])
    entries = _entries(claim.records or E8)
    best = f"the best there is {entries[0].name} ({entries[0].year}) with {spaced(entries[0].records_per_joule)}"
    reasons = reasons_against(claim)
    if reasons:
        text = f"no place in the table: {'; '.join(reasons)}. In the class of {class_name(entries[0].records)} records {best}"
        return Standing(text, None, entries, reasons)
    rank = 1 + sum(r.records_per_joule > claim.records_per_joule for r in entries)
    text = f"would be number {rank} of {len(entries) + 1} in the class of {class_name(entries[0].records)} records; {best}"
    if claim.remarks:
        text += f" ({'; '.join(claim.remarks)})"
    return Standing(text, rank, entries, [])


def _entries(records: int) -> list[Record]:
    """The class with this many records, else the one of the nearest order of magnitude; the best first."""
    shown = class_of(records) or min((r.records for r in TABLE), key=lambda n: abs(len(str(n)) - len(str(records))))
    return sorted((r for r in TABLE if r.records == shown), key=lambda r: -r.records_per_joule)
