"""A sort reports this about itself, and how far it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any


@dataclass(frozen=True)
class Phase:
    """A phase of a sort. Times are seconds of the monotonic clock; `wait_s` of them it waited for I/O."""

    name: str
    begin_s: float
    end_s: float
    bytes_read: int
    bytes_written: int
    wait_s: float


@dataclass(frozen=True)
class KeyCounts:
    """Values of a key of a table that have no place in its order: not there (empty, missing, null), and not of its type.
    `repeated`: rows of JSON in which a name on the way to the value repeats; the last one counted.
    """

    by: str
    missing: int
    unparsable: int
    repeated: int = 0


@dataclass(frozen=True)
class RunCompression:
    """Says how temporary runs were compressed; `codec`, `transposed` (columns of records), `truncated` (rows without what they
    share) and `because` are those of the last one.
    """

    asked: str
    goal: str
    codec: str
    transposed: bool
    truncated: bool
    because: str
    plain_bytes: int
    stored_bytes: int
    blocks: int
    packed_blocks: int
    tried_blocks: int
    try_cpu_s: float
    compress_cpu_s: float
    decompress_cpu_s: float


@dataclass(frozen=True)
class Report:
    """A sort that was done. `records` counts lines of a text and rows of a table, too; `dropped` are those `unique` and other
    options of equal rows left out, `beyond_limit` those `limit` left out, and `counted` those in the counts that were written.

    Sizes are in bytes, times in seconds; `requests` counts reads and writes, `hash` is hexadecimal, of the rows in any order.
    Of records, `duplicate_keys` counts neighbours of the output with equal keys, and `checksum` is valsort's if it was asked for.
    `runs_in_inputs` of the runs were not stored, because what they hold came in order.
    Of a table, `keys` has the counts of each key; `blank_lines` and `comments` were left out and are no records, `bad_rows` of
    the records were left out or set aside. `files` is how many the output has. `run_compression` is None where runs were not
    compressed, or there was none. `seed` is that of a shuffle, `skipped` the rows that it left out. `notices` are lines for
    people on what they should know although all went well.
    """

    records: int
    dropped: int
    input_bytes: int
    output_bytes: int
    bytes_read: int
    bytes_written: int
    requests: int
    runs: int
    phases: tuple[Phase, ...]
    wall_s: float
    cpu_user_s: float
    cpu_system_s: float
    io_idle_s: float
    peak_rss_bytes: int
    peak_counted_memory_bytes: int
    peak_temp_bytes: int
    memory_limit_bytes: int
    threads: int
    io_backend: str
    hash: str
    version: str
    runs_in_inputs: int
    bytes_in_inputs: int
    keys: tuple[KeyCounts, ...] = ()
    blank_lines: int = 0
    comments: int = 0
    bad_rows: int = 0
    files: int = 1
    counted: int = 0
    checksum: str | None = None
    duplicate_keys: int | None = None
    run_compression: RunCompression | None = None
    beyond_limit: int = 0
    seed: int | None = None
    notices: tuple[str, ...] = ()
    skipped: int = 0


@dataclass(frozen=True)
class Progress:
    """A sort got so far: `bytes` of `total_bytes` in its phase, `percent` in all, with `eta_s` seconds to go.

    A megabyte has 10^6 bytes. `total_bytes`, `percent` and `eta_s` are None where no one can know them yet.
    """

    phase: str
    phase_number: int
    phases: int
    bytes: int
    total_bytes: int | None
    megabytes_per_s: float
    percent: float | None
    eta_s: float | None


# Members that --stats does not call by this name.
_MADE = {"records", "dropped", "counted", "beyond_limit", "phases", "keys", "run_compression", "seed", "skipped", "notices"}


def report_from(stats: Mapping[str, Any]) -> Report:
    """From what --stats wrote."""
    unit = next(name for name in ("lines", "rows", "records") if name in stats)
    return Report(
        records=stats[unit],
        dropped=stats[f"{unit}_dropped"],
        counted=stats.get(f"{unit}_counted", 0),
        beyond_limit=stats.get(f"{unit}_beyond_limit", 0),
        phases=tuple(Phase(**phase) for phase in stats["phases"]),
        keys=tuple(_key_counts(key) for key in stats.get("keys", ())),
        run_compression=_run_compression(stats.get("compression") or {}),
        seed=stats.get("shuffle", {}).get("seed"),
        skipped=stats.get("shuffle", {}).get("rows_skipped", 0),
        notices=tuple(stats.get("notices", ())),
        **{field.name: stats[field.name] for field in fields(Report) if field.name in stats and field.name not in _MADE},
    )


def _run_compression(compression: Mapping[str, Any]) -> RunCompression | None:
    told = compression.get("runs")
    return RunCompression(**told) if told else None


def _key_counts(key: Mapping[str, Any]) -> KeyCounts:
    missing = key["missing_values"] if "missing_values" in key else key["empty_values"]
    return KeyCounts(key["by"], missing, key["unparsable_values"], key.get("repeated_names", 0))


def empty_report(version: str) -> Report:
    """Reports a sort in place of nothing, for which the program writes no report."""
    values: dict[str, Any] = {field.name: 0 for field in fields(Report) if field.default is MISSING}
    return Report(**values | {"phases": (), "io_backend": "", "hash": "", "version": version})


def with_notices(report: Report, notices: Sequence[str]) -> Report:
    """Adds notices of what Python did beside the program."""
    return replace(report, notices=(*report.notices, *notices))


def progress_from(told: Mapping[str, Any]) -> Progress:
    """From a line of --progress=json; percent and eta_s are those of the whole job."""
    return Progress(
        phase=told["phase"],
        phase_number=told["phase_number"],
        phases=told["phases"],
        bytes=told["bytes"],
        total_bytes=told["total_bytes"] or None,
        megabytes_per_s=told["megabytes_per_s"],
        percent=told["job_percent"],
        eta_s=told["job_eta_s"],
    )
