"""What may be turned: options of the sorter with the values that are tried. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

Settings = Mapping[str, str]  # option -> value; one that is absent has its default


@dataclass(frozen=True, slots=True)
class Knob:
    """`ordered`: neighbouring values are alike, so that a good one makes its neighbours worth a try."""

    option: str
    values: tuple[str, ...]
    ordered: bool


def sorter_knobs(cpus: int, backends: Sequence[str]) -> list[Knob]:
    """All that `ecosort sort` lets choose besides the memory, which is the user's. A knob with one value is none."""
    threads = Knob("--threads", tuple(str(n) for n in range(1, cpus + 1)), True)
    return [knob for knob in (threads, Knob("--io", tuple(backends), False)) if len(knob.values) > 1]


def size_of(knobs: Sequence[Knob]) -> int:
    return prod(len(knob.values) for knob in knobs)


def all_settings(knobs: Sequence[Knob]) -> list[dict[str, str]]:
    names = [knob.option for knob in knobs]
    return [dict(zip(names, values, strict=True)) for values in product(*(knob.values for knob in knobs))]


def text_of(settings: Settings) -> str:
    return " ".join(f"{option} {value}" for option, value in settings.items()) or "defaults"
