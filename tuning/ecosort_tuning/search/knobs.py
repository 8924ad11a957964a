"""The search may turn these: options of the sorter with the values that are tried. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

Settings = Mapping[str, str]  # option -> value; one that is absent or DEFAULT is not given to the sorter

DEFAULT = "default"
# The default reads and writes 1 MiB at once and 8 MiB of the output: its neighbours are those.
_REQUEST_SIZES = ("256KiB", "512KiB", "1MiB", DEFAULT, "2MiB", "4MiB", "8MiB")
_REQUEST_DEPTHS = ("2", "4", "8", DEFAULT, "32", "64")  # the default is 16


# These settings depend on the memory: good ones with much are not with little.
FOR_ONE_MEMORY = ("--run-records",)


@dataclass(frozen=True, slots=True)
class Knob:
    """`ordered`: neighbouring values are alike, so that a good one makes its neighbours worth a try."""

    option: str
    values: tuple[str, ...]
    ordered: bool


def sorter_knobs(cpus: int, backends: Sequence[str], run_records: Sequence[int] = ()) -> list[Knob]:
    """All that `ecosort sort` lets choose besides the memory, which is the user's. A knob with one value is none. `run_records`:
    runs smaller than the default ones, which are as large as the memory allows; none where no run is stored, so that nothing is
    compressed either. What `auto` compresses follows from the data of each sort, not from those of the search."""
    numbers = tuple(str(n) for n in range(1, cpus + 1))
    threads = (Knob("--threads", numbers, True), Knob("--merge-threads", numbers, True))
    runs = Knob("--run-records", (*(str(n) for n in sorted(run_records)), DEFAULT), True)
    backend = Knob("--io", tuple(backends), False)
    requests = (Knob("--request-size", _REQUEST_SIZES, True), Knob("--request-depth", _REQUEST_DEPTHS, True))
    compress = Knob("--compress", ("auto", DEFAULT) if run_records else (DEFAULT,), False)
    return [knob for knob in (*threads, backend, *requests, compress, runs) if len(knob.values) > 1]


def size_of(knobs: Sequence[Knob]) -> int:
    return prod(len(knob.values) for knob in knobs)


def all_settings(knobs: Sequence[Knob]) -> list[dict[str, str]]:
    names = [knob.option for knob in knobs]
    return [dict(zip(names, values, strict=True)) for values in product(*(knob.values for knob in knobs))]


def given(settings: Settings) -> dict[str, str]:
    """Returns the options that the sorter gets."""
    return {option: value for option, value in settings.items() if value != DEFAULT}


def text_of(settings: Settings) -> str:
    return " ".join(f"{option} {value}" for option, value in given(settings).items()) or "defaults"
