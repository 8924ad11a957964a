"""Joins the rows of meters that are faster than a log can be held in memory: 100,000 values a second are six million a minute.

Rows of one hundredth of a second become one row with their mean power at their mean time: the same energy, and as fine as what
is computed of it. Where rows are missing, or have one time, nothing is joined, so that what refuses such logs still sees them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import floor, fsum
from statistics import median

_STEP_S = 0.01
_MISSING = 3.0  # times the usual distance of two rows


@dataclass(frozen=True, slots=True)
class LogRow:
    time_s: float  # since 1970, or since the log's own start
    watts: float | None
    joules: float | None
    raw: str  # its cells of power and energy, each with its factor: see row_values of csv
    key: tuple[str, ...] = ()  # which sensor it is of, where several are added up


def join_dense(rows: Sequence[LogRow]) -> Iterator[LogRow]:
    most_s = _MISSING * median([b.time_s - a.time_s for a, b in pairwise(rows)] or [0.0])
    end = 0
    for _, together in groupby(rows, key=lambda row: floor(row.time_s / _STEP_S)):
        group = list(together)
        begin, end = end, end + len(group)
        beside = rows[max(begin - 1, 0) : end + 1]  # a burst between two gaps stays one
        is_even = all(0 < b.time_s - a.time_s <= most_s for a, b in pairwise(beside))
        watts = [row.watts for row in group if row.watts is not None and row.joules is None]
        if is_even and len(watts) == len(group) > 1:
            mean = fsum(watts) / len(group)
            yield LogRow(fsum(row.time_s for row in group) / len(group), mean, None, json.dumps([[repr(mean), 1.0], None]))
        else:
            yield from group
