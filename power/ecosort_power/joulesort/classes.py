"""The classes of the benchmark and how one may write them."""

from __future__ import annotations

from collections.abc import Mapping

from ecosort_power.errors import UsageError
from ecosort_power.records import class_name

# Every way to write a class; nothing else is understood, so that no digit too many starts a run of a week.
_NAMES: Mapping[int, tuple[str, ...]] = {
    10**8: ("10^8", "1e8", "100M", "100000000"),
    10**9: ("10^9", "1e9", "1G", "1000000000"),
    10**10: ("10^10", "1e10", "10G", "10000000000"),
    10**12: ("10^12", "1e12", "1T", "1000000000000"),
}
CLASSES: Mapping[str, int] = {name: records for records, names in _NAMES.items() for name in names}
# The largest class has binary records, all others are printable (gensort -a).
BINARY = frozenset({10**12})


def describe_classes() -> str:
    return "; ".join(f"{names[0]} ({', '.join(names[1:])})" for names in _NAMES.values())


def parse_class(text: str) -> int:
    """Number of records. UsageError lists the classes."""
    found = CLASSES.get(text)
    if found is None:
        raise UsageError(f"{text!r} is no class of the benchmark: {describe_classes()}; --records N rehearses with another size")
    return found


def name_of(records: int, rehearsal: bool) -> str:
    """For people and for directories."""
    return f"rehearsal-{records or 'auto'}" if rehearsal else class_name(records)
