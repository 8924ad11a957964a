"""What a node can do per second, and what of a system differs from ours, for predictions."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ecosort.errors import BadInput

_NAMES = {
    "read": "input_read",
    "temp-write": "temp_write",
    "temp-read": "temp_read",
    "write": "output_write",
    "network": "network",
    "partition": "partition",
    "sort": "sort",
    "merge": "merge",
}


@dataclass(frozen=True)
class Rates:
    """Of one node, in MB/s (10^6 bytes); `network` in each direction. None: is never the limit.

    `one_drive`: reads and writes of a phase share the time of the same drives. `pushed`: slices cross the network while they are
    written (TritonSort), not when they are read (ours). `remote`: input and output lie behind the network. `in_memory`: slices
    are not stored. `spread`: standard deviation of the time of a task over its mean.
    """

    input_read: float | None = None
    temp_write: float | None = None
    temp_read: float | None = None
    output_write: float | None = None
    network: float | None = None
    partition: float | None = None
    sort: float | None = None
    merge: float | None = None
    one_drive: bool = False
    pushed: bool = False
    remote: bool = False
    in_memory: bool = False
    spread: float = 0.0
    start_s: float = 0.0


def rates_from_text(text: str) -> Rates:
    """Such as `read=500,temp-write=400,temp-read=500,write=400,network=1250,partition=2000,sort=800,merge=2000`, in MB/s."""
    rates = Rates(one_drive=True)
    for word in text.split(","):
        name, _, value = word.partition("=")
        if name not in _NAMES or not re.fullmatch(r"\d+(\.\d+)?", value) or float(value) == 0:
            raise BadInput(f"--rates: {word!r} is none of {', '.join(f'{known}=MB/s' for known in _NAMES)}")
        rates = replace(rates, **{_NAMES[name]: float(value)})  # type: ignore[arg-type]  # all of them are numbers
    return rates
