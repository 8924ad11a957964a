"""The stage of peers: sorters of today do the work of the other stages, with the same memory and threads.

A peer that is not here is not run, and the table says why; so it does for one that fails or returns other rows.
"""

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ecosort_measure.results import ROOT
from ecosort_power.errors import RunError
from ecosort_power.host import version_of

from ecosort_bench import lines, tables
from ecosort_bench.contenders import CHECKOUTS, STXXL_PEERS, UUTILS, Contenders, Work

STAGE_PREFIX = "peers_"
SETUP = ROOT / "tuning" / "setup"
PACKAGES = ("duckdb", "polars", "datafusion", "chdb")
TITLES = {
    "ecosort": "EcoSort",
    "gnu_sort": "GNU sort",
    UUTILS: "uutils sort",
    "stxxl_ksort": "STXXL ksort",
    "bsort": "bsort, in mapped files",
    "crocsort": "CrocSort",
    "rustbucket": "rustbucket",
    **{name: tables.TITLES[name] for name in PACKAGES},
}


@dataclass(frozen=True)
class PeerCase:
    """One input. `like`: the case of another stage whose input and commands these are; none: records, as in the stage main.
    `asked`: the processor time of a peer / that of EcoSort, at least."""

    name: str
    what: str
    size: str  # the setting that its size comes from
    peers: tuple[str, ...]
    like: lines.Case | tables.TableCase | None = None
    asked: Mapping[str, float] = field(default_factory=dict)

    @property
    def stage(self) -> str:
        return STAGE_PREFIX + self.name

    @property
    def contenders(self) -> tuple[str, ...]:
        return ("ecosort", *self.peers)


_SORTS = ("gnu_sort", UUTILS)
_CSV_TEXT = next(case for case in tables.CASES if case.name == "csv_text")
_LINES_NUMBER = next(case for case in lines.CASES if case.name == "csv")
CASES = (
    PeerCase("records", "records of 100 bytes", "records", ("gnu_sort", "stxxl_ksort", *CHECKOUTS)),
    PeerCase("lines", lines.TEXT.what, "lines_bytes", _SORTS, lines.TEXT, {"gnu_sort": 3.5}),
    PeerCase("lines_number", _LINES_NUMBER.what, "lines_bytes", _SORTS, _LINES_NUMBER),
    PeerCase("csv_number", tables.CSV_NUMBER.what, "tables_bytes", PACKAGES, tables.CSV_NUMBER, {"polars": 3}),
    PeerCase("csv_text", _CSV_TEXT.what, "tables_bytes", PACKAGES, _CSV_TEXT),
)


def case_of(stage: str) -> PeerCase | None:
    return next((case for case in CASES if case.stage == stage), None)


def command(case: PeerCase, contender: str, programs: Contenders, work: Work) -> tuple[list[str], dict[str, str]]:
    """The command line and what it adds to the environment."""
    if isinstance(case.like, lines.Case):
        return lines.command(case.like, contender, programs, work)
    if isinstance(case.like, tables.TableCase):
        return tables.command(case.like, contender, programs, work)
    return programs.command(contender, work)


def why_absent(contender: str, programs: Contenders) -> str:
    """Says why a contender cannot run here; nothing: it can."""
    if contender == UUTILS and not programs.uutils.exists():
        return "`tuning/setup/crates coreutils` builds it"
    if contender in PACKAGES and not tables.PEERS_PYTHON.exists():
        return "`tuning/setup/deps peers` installs it"
    if contender in STXXL_PEERS and not programs.has_stxxl():
        return "`tuning/setup/deps build` installs it"
    if contender in CHECKOUTS and not programs.checkout(contender).exists():
        return f"no `{contender}/run` in PEER_DIR"
    return ""


def _printed(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def _package_version(name: str) -> str:
    """The version that is installed, and the day of its release by the lock."""
    site = next(tables.PEERS_PYTHON.parent.parent.glob("lib/python3*/site-packages"), Path())
    for version, day in re.findall(rf"^# {name} (\S+), released (\S+)$", (SETUP / "peers.lock").read_text(), re.MULTILINE):
        if (site / f"{name}-{version}.dist-info").exists():
            return f"{version}, {day}"
    return ""


def version(contender: str, programs: Contenders) -> str:
    """The version of a peer and the day of its release, where they are known."""
    if contender == "gnu_sort":
        return re.sub(r".* ", "", version_of("sort") or "")
    if contender == UUTILS:
        return ", ".join(re.findall(r"^coreutils@(\S+) (\S+)", (SETUP / "crates.txt").read_text(), re.MULTILINE)[0])
    if contender in PACKAGES:
        return _package_version(contender)
    if contender in STXXL_PEERS:
        return _printed("dpkg-query", "--show", "--showformat=${Version}", "libstxxl-dev")
    place = str(programs.checkout(contender).parent)
    return _printed("git", "-C", place, "log", "-1", "--abbrev=12", "--format=%h, %cs")


def digest_of_output(case: PeerCase, programs: Contenders, work: Work) -> str:
    """RunError where the output is not in order. Those of tables are compared by their rows: the order of equal ones is open."""
    if isinstance(case.like, tables.TableCase):
        return tables.rows_digest(case.like, programs, work)
    return programs.checksum(work.output) if case.like is None else lines.digest(work.output)


def complaint(error: RunError) -> str:
    """The line of a peer's message that names its error, in a cell of a table."""
    said = [line.strip() for line in str(error).splitlines() if line.strip(" ^~")]
    named = [line for line in said if re.match(r"[\w.]*(Error|Exception)\b", line)] or said
    return named[-1].replace("|", "\\|")[:160]
