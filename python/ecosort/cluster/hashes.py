"""Sums of multiset hashes: what a collection of rows holds, whatever their order. The sum of parts is that of the whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_LANE = 1 << 64


@dataclass(frozen=True)
class HashSum:
    """A count of rows and two 64-bit sums, each modulo 2^64, as 32 hexadecimal digits."""

    rows: int = 0
    hex: str = "0" * 32

    def __add__(self, other: HashSum) -> HashSum:
        lanes = ((int(self.hex[at : at + 16], 16) + int(other.hex[at : at + 16], 16)) % _LANE for at in (0, 16))
        return HashSum(self.rows + other.rows, "".join(f"{lane:016x}" for lane in lanes))

    def without(self, header_hash: str) -> HashSum:
        """The rows of a table whose sum counts its header row, too."""
        lanes = ((int(self.hex[at : at + 16], 16) - int(header_hash[at : at + 16], 16)) % _LANE for at in (0, 16))
        return HashSum(self.rows, "".join(f"{lane:016x}" for lane in lanes))


def sum_of(parts: Iterable[Mapping[str, Any]]) -> HashSum:
    """Adds up objects with `rows` and `hash`."""
    total = HashSum()
    for part in parts:
        total += HashSum(part["rows"], part["hash"])
    return total
