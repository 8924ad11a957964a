"""Writes what `make bench-slow-drives` measured, as tables and verdicts. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from ecosort_measure.paired import Interval, median_interval, ratios
from ecosort_measure.results import Document, Run, measured_on
from ecosort_measure.sizes import size_text
from ecosort_measure.tables import markdown

from ecosort_bench.verdict import SHOWN_BY_ROUNDS, Verdict, at_least, at_most

SCHEMA = "ecosort.slow-drives/1"
HERE = "here"
NAMES = {
    "log": "access log",
    "orders": "orders, as CSV",
    "csv": "CSV with random text",
    "text": "words and digits",
    "paths": "paths of a file system",
    "links": "URLs of 50 shops",
    "bytes": "random bytes, as lines",
    "ascii-records": "records of gensort -a",
    "u64-records": "a u64 and its number",
    "random-records": "random bytes, as records",
}
# On a drive of 300 MB/s: `auto` is so many times as fast as uncompressed runs.
ASKED = {"log": 1.4, "orders": 1.4, "ascii-records": 1.5}
ASKED_BY_TRUNCATION = {"paths": 1.6}  # alone
ASKED_ON = "shared 300"
INCOMPRESSIBLE = ("bytes", "random-records")
MOST_CPU, MOST_TIME = 1.02, 1.03
_HEADS = (
    "input",
    "drive",
    "none s",
    "prefix",
    "lz4",
    "zstd",
    "auto",
    "auto chose",
    "CPU s/GB none",
    "auto",
    "moved / N none",
    "auto",
)


class _Sorts:
    """The runs of a document by input, drive and codec, in the order of the rounds."""

    def __init__(self, data: Document) -> None:
        self._runs: list[Run] = sorted(data["runs"], key=lambda run: run["round"])
        kinds, drives = ({run[name] for run in data["runs"]} for name in ("kind", "drive"))
        self.kinds = [kind for kind in NAMES if kind in kinds]
        self.drives: list[str] = sorted(
            drives, key=lambda drive: (drive == HERE, int(drive.split()[-1]) if drive != HERE else 0, drive)
        )

    def of(self, kind: str, drive: str, codec: str) -> list[Run]:
        return [run for run in self._runs if (run["kind"], run["drive"], run["codec"]) == (kind, drive, codec)]

    def has(self, kind: str, drive: str) -> bool:
        return kind in self.kinds and drive in self.drives

    def knows(self, codec: str) -> bool:
        return any(run["codec"] == codec for run in self._runs)

    def median(self, kind: str, drive: str, codec: str, value: str, per: str | None = None) -> float:
        return float(statistics.median(run[value] / (run[per] if per else 1) for run in self.of(kind, drive, codec)))

    def ratio(self, kind: str, drive: str, over: str, under: str, value: str = "wall_s") -> Interval:
        """Compares the rounds, each by itself."""
        sides = ([run[value] for run in self.of(kind, drive, codec)] for codec in (over, under))
        return median_interval(ratios(*sides))

    def better(self, kind: str, drive: str) -> str:
        """Returns what took the least time of no compression and each codec."""
        measured = [codec for codec in ("none", "prefix", "lz4", "zstd") if self.of(kind, drive, codec)]
        return min(measured, key=lambda codec: self.median(kind, drive, codec, "wall_s"))


def _chose(runs: Sequence[Run]) -> str:
    """Returns what the last runs of most sorts were compressed with."""
    return str(statistics.mode(run["chose"] for run in runs))


def _faster(sorts: _Sorts, kind: str, drive: str, codec: str) -> str:
    return f"{sorts.ratio(kind, drive, 'none', codec).median:.2f} x" if sorts.of(kind, drive, codec) else ""


def _row(sorts: _Sorts, kind: str, drive: str) -> tuple[str, ...]:
    def per_byte(codec: str, value: str) -> float:
        return sorts.median(kind, drive, codec, value, "input_bytes")

    return (
        NAMES[kind],
        "this one" if drive == HERE else f"{drive} MB/s",
        f"{sorts.median(kind, drive, 'none', 'wall_s'):.2f}",
        *(_faster(sorts, kind, drive, codec) for codec in ("prefix", "lz4", "zstd", "auto") if sorts.knows(codec)),
        _chose(sorts.of(kind, drive, "auto")),
        *(f"{per_byte(codec, 'cpu_s') * 1e9:.2f}" for codec in ("none", "auto")),
        *(f"{per_byte(codec, 'moved_bytes'):.2f}" for codec in ("none", "auto")),
    )


def verdicts(data: Document) -> list[Verdict]:
    """Judges whatever was measured."""
    sorts, found = _Sorts(data), list[Verdict]()
    for kind, limit in ASKED.items():
        if sorts.has(kind, ASKED_ON):
            name = f"{NAMES[kind]}, {ASKED_ON} MB/s: none / auto"
            found.append(at_least(name, sorts.ratio(kind, ASKED_ON, "none", "auto"), limit))
    for kind, limit in ASKED_BY_TRUNCATION.items():
        if sorts.of(kind, ASKED_ON, "prefix"):
            name = f"{NAMES[kind]}, {ASKED_ON} MB/s: none / prefix"
            found.append(at_least(name, sorts.ratio(kind, ASKED_ON, "none", "prefix"), limit))
    for kind in sorts.kinds if HERE in sorts.drives else ():
        better = sorts.better(kind, HERE)
        ratio = sorts.ratio(kind, HERE, "auto", better)
        found.append(at_most(f"{NAMES[kind]}, this drive: auto / {better}, the fastest", ratio, MOST_TIME, SHOWN_BY_ROUNDS))
        if kind in INCOMPRESSIBLE:
            cpu = sorts.ratio(kind, HERE, "auto", "none", "cpu_s")
            found.append(at_most(f"{NAMES[kind]}, this drive: CPU of auto / none", cpu, MOST_CPU, SHOWN_BY_ROUNDS))
    return found


def lines_of(data: Document) -> list[str]:
    """The part of the page: command, circumstances, table, verdicts."""
    sorts, settings = _Sorts(data), data["settings"]
    rows = [_row(sorts, kind, drive) for kind in sorts.kinds for drive in sorts.drives]
    judged = ((v.name, v.target, v.measured, v.word) for v in verdicts(data))
    said = (
        f"{settings['bytes'] / 1e9:g} GB of each input, {size_text(settings['memory_bytes'])}, {settings['threads']} threads, "
        f"{settings['rounds']} rounds; {measured_on(data)}. `x`: so many times as fast as without compression."
    )
    return [
        "",
        f"    {data['command']}",
        "",
        said,
        "",
        *markdown([head for head in _HEADS if head != "prefix" or sorts.knows(head)], rows),
        *markdown(("target", "asked", "measured", ""), judged),
    ]
