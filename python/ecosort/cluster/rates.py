"""Describes what a node can do per second, and what of a system differs from ours, for predictions."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

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
_PROFILE = "ecosort.profile/2"
_MODES = ("read", "write")


@dataclass(frozen=True)
class Rates:
    """Holds those of one node, in MB/s (10^6 bytes); `network` in each direction. None: is never the limit.

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


def default_profile() -> Path | None:
    """Returns what `ecosort-tune` wrote for this user, if it did."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111  # no home: no such file
    path = Path(home) / "ecosort" / "profile.toml"
    return path if path.exists() else None


def rates_from_profile(path: Path) -> Rates:
    """Returns those of the drives that `ecosort-tune probe` measured, as if every node had them. The network and the processors
    are no limit: a profile does not know them. Raises BadInput for what is no profile, or has no drives.
    """
    try:
        if not path.is_file():
            raise BadInput(f"--profile '{path}' is no file")
        told = tomllib.loads(path.read_text())
        if told.get("schema") != _PROFILE:
            raise BadInput(f"'{path}' is no profile that this version reads ({_PROFILE}); make one with: ecosort tune")
        best = {role: _best(told, role) for role in ("temp", "output")}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(f"'{path}' cannot be read as a profile; make one with: ecosort tune probe") from None
    temp, output = best["temp"] or best["output"], best["output"] or best["temp"]
    if not temp or not output:
        raise BadInput(f"'{path}' has no drives; measure them with: ecosort tune probe")
    return Rates(
        input_read=output["read"],
        temp_write=temp["write"],
        temp_read=temp["read"],
        output_write=output["write"],
        one_drive=True,
    )


def _best(told: dict[str, Any], role: str) -> dict[str, float]:
    """MB/s of a drive, by mode; empty where the profile has none of this role."""
    rates = [rate for drive in told.get("drive", []) if drive["role"] == role for rate in drive["rates"]]
    found = {
        mode: max((float(rate[f"{mode}_bytes_per_s"]) for rate in rates if rate["mode"] == mode), default=0.0) for mode in _MODES
    }
    return {mode: rate / 1e6 for mode, rate in found.items()} if all(1 < rate < 1e15 for rate in found.values()) else {}


def rates_from_text(text: str, base: Rates | None = None) -> Rates:
    """Such as `read=500,temp-write=400,temp-read=500,write=400,network=1250,partition=2000,sort=800,merge=2000`, in MB/s; the
    others are those of `base`."""
    rates = base or Rates(one_drive=True)
    for word in text.split(","):
        name, _, value = word.partition("=")
        if name not in _NAMES or not re.fullmatch(r"\d+(\.\d+)?", value) or float(value) == 0:
            raise BadInput(f"--rates: {word!r} is none of {', '.join(f'{known}=MB/s' for known in _NAMES)}")
        rates = replace(rates, **{_NAMES[name]: float(value)})  # type: ignore[arg-type]  # all of them are numbers
    return rates
