"""Gathers what a report says, without its form: the source of the Markdown submission and of the HTML page, so that both say the
same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ecosort_power.claim import headline_meters, is_simulated, place
from ecosort_power.entry import Entry, read_entry
from ecosort_power.records import Standing
from ecosort_power.report import facts as fact_file
from ecosort_power.report.facts import MISSING
from ecosort_power.seal import Head, head_of
from ecosort_power.seal_check import require_seal
from ecosort_power.store import ResultDirectory, Run, Session
from ecosort_power.summary import MeterSummary, Summary, limits_of_runs, summarize


@dataclass(frozen=True, slots=True)
class Fact:
    """One line `name: value`. A value of MISSING is shown as such."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Table:
    header: list[str]
    rows: list[list[str]]
    numbers: bool = True  # the columns are numbers that stay on one line


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what is below it, in this order; empty parts are left out."""

    title: str
    lead: str = ""
    facts: list[Fact] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        return not (self.facts or any(t.rows for t in self.tables) or self.texts)


@dataclass(frozen=True, slots=True)
class Result:
    """All that a report is made of."""

    directory: ResultDirectory
    session: Session
    runs: Sequence[Run]
    summary: Summary
    facts: dict[str, str]
    entry: Entry | None
    seal: Head | None

    @property
    def simulated(self) -> bool:
        return is_simulated(self.session)

    @property
    def energy(self) -> MeterSummary | None:
        return self.summary.energy

    def limits(self) -> dict[int, float]:
        """By the index of each valid run, the half width of the interval of its energy, where it is known."""
        return limits_of_runs(self.session, self.runs, self.session.headline or "")

    def fact(self, key: str) -> str:
        return self.facts.get(key, MISSING)

    def power_factor(self) -> str:
        """Returns what a person says, else what the meters that know it said when they were opened."""
        meters = headline_meters(self.session, self.summary.energy.meter) if self.summary.energy is not None else []
        said = [v for m in meters if (v := m.capabilities.identity.get("power_factor")) is not None]
        if "power_factor" in self.facts or not said:
            return self.fact("power_factor")
        return f"{', '.join(said)} (by the meter, before the runs)"

    def standing(self) -> Standing | None:
        """None where there is no energy to compare."""
        head = self.summary.energy
        if head is None:
            return None
        per_joule = head.records_per_joule.mean if head.records_per_joule is not None else None
        return place(self.session, self.runs, self.summary.records, head.meter, head.scope, per_joule)


def gather(directory: ResultDirectory, facts_path: Path | None) -> Result:
    """Reads a stored result whose seal holds, else InvalidResultError. The summary is computed from the runs, so that it fits."""
    require_seal(directory.path)
    session, runs = directory.session(), directory.runs()
    entry = read_entry(directory.path)
    return Result(
        directory=directory,
        session=session,
        runs=runs,
        summary=summarize(session, runs),
        facts=_facts(session, entry, fact_file.read(facts_path, directory.path)),
        entry=entry,
        seal=head_of(directory.path),
    )


def _facts(session: Session, entry: Entry | None, said: dict[str, str]) -> dict[str, str]:
    """Lets what a person says win over what was asked for when the measurement began."""
    known: dict[str, str] = {}
    if session.options.ambient_c is not None:
        known["ambient_c"] = f"{session.options.ambient_c:g}"
    if entry is not None:
        known["category"] = entry.category.capitalize()
        known["generator"] = f"{entry.generated.version}: {' '.join(entry.generated.command)}"
    return {**known, **said}
