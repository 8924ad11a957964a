"""Rows of several sensors in one log: which of them are meant, or their sum.

A log in long form (time, sensor, power) is no series of one meter. A column tells such rows apart if its values come again after
others: texts, whole numbers under a name like index or outlet, and whatever comes strictly in turn. They are refused until
`#where=COLUMN:VALUE` says which are meant (`*`: all of them are of one meter), or `#sum=COLUMN` that they are added up.

Where no column names the sensors, rows of one time may be of two meters, or of one that is faster than its clock. Their values
do not say it: two supplies that share a load write what one does. They are refused until `#same-time=spread` says that it is one;
also rows of one sensor that was chosen or is added up, and rows that come regularly a few at a time, each a little after the
other. A row whose neighbour is missing came a little too early or late: that is one meter, if it is rare.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from statistics import median

from ecosort_power.errors import UsageError
from ecosort_power.meters.log_columns import has_time, unit_of
from ecosort_power.meters.log_values import is_number, split_unit

Row = tuple[int, list[str]]

_ANY = "*"
_MOST_SERIES = 256  # of few rows each
_LEAST_ROUNDS = 3
_RARE = 0.1  # of the times
# Rows of a round come within this share of the time between two rounds, which are as far apart up to this share.
_CLOSE, _REGULAR, _MOST_IN_A_ROUND = 0.35, 0.5, 8
_SHOWN = 6
_ID = r"(?:[\s_.-]*(?:id|idx|index|name|nr|no|number|label))?"
# Names under which whole numbers tell rows apart.
_NUMBERED = re.compile(
    r"^_?(?:sensor|entity|device|dev|host|node|machine|server|source|channel|ch|port|outlet|socket|plug|phase|feed|circuit|rail|"
    r"domain|zone|module|gpu|cpu|core|package|card|psu|supply|meter|pdu|bus|slot|instance|probe|table|series|group|rack|tray|"
    r"serial|sn|mac|uid|pos|position|line|leg|panel|breaker|battery|inverter|tag|unit|room|drive|disk|"
    r"address|id|idx|index|number|nr|no)s?" + _ID + r"$",
    re.IGNORECASE,
)
# Whole numbers under these names come in turn without telling rows apart: parts of times, and what has a unit.
_NO_NUMBER_OF = re.compile(r"milli|micro|sec|min|hour|day|month|year|^[mun]s$|[(\[]", re.IGNORECASE)
# These may as well be how busy they are: there each value must come about as often as the others.
_OR_A_LOAD = re.compile(r"^[cg]pus?$", re.IGNORECASE)
# Names of what one meter says of itself from time to time.
_OF_ONE = re.compile(
    r"(?<![a-z])(p?state|status|mode|range|quality|events?|comments?|remarks?|notes?|mark(er)?s?|flags?|reasons?|alarms?|valid|"
    r"relay|output)(?![a-z])",
    re.IGNORECASE,
)
_UNIT_COLUMN = re.compile(r"(?i)(?:units?|unit_of_measurement|einheit)[\s_.-]*\d*")
_BARE_UNIT = re.compile(r"[A-Za-zµ%°]+")
_AND = re.compile(r"\+(?=[^+:]+:)")  # between two conditions; a value may hold a + as well


def check_settings(given: Mapping[str, str]) -> None:
    """UsageError for what is of another form; before there is a log."""
    for condition in _AND.split(given["where"]) if "where" in given else ():
        column, colon, value = condition.partition(":")
        if not (column.strip() and colon and value.strip()):
            raise UsageError(f"csv: where={given['where'][:60]} is not of the form #where=COLUMN:VALUE")
    if given.get("same-time", "spread") != "spread":
        raise UsageError(f"csv: same-time={given['same-time'][:60]} is not known; #same-time=spread is")
    if "sum" in given and not all(given["sum"].split("+")):
        raise UsageError("csv: sum names a column: #sum=COLUMN")


def _index(header: Sequence[str], name: str) -> int:
    names = [h.strip() for h in header]
    if name not in names:
        raise UsageError(f"the log has no column {name!r}; it has: {', '.join(names)[:300]}")
    return names.index(name)


def _cell(row: Sequence[str], index: int) -> str:
    return row[index].strip() if index < len(row) else ""


def _takes_any(given: Mapping[str, str]) -> bool:
    return any(condition.partition(":")[2].strip() == _ANY for condition in _AND.split(given.get("where", "")))


def conditions(header: Sequence[str], given: Mapping[str, str]) -> dict[int, str]:
    """Index of a column -> the value that its cells must have."""
    parts = [c.partition(":") for c in _AND.split(given["where"])] if "where" in given else []
    return {_index(header, column.strip()): value.strip() for column, _, value in parts}


def select(header: Sequence[str], rows: Sequence[Row], given: Mapping[str, str]) -> list[Row]:
    """The rows that `#where=` means, and a line of units below the names. UsageError names the values there are."""
    kept = list(rows)
    for index, value in conditions(header, given).items():
        if value == _ANY:
            continue
        units = kept[:1] if kept and not any(c.isdigit() for c in "".join(kept[0][1])) else []
        fitting = [row for row in kept if _cell(row[1], index) == value]
        if not fitting:
            there = _shown(cell for _, row in kept if (cell := _cell(row, index)))
            raise UsageError(f"no row has {value!r} in column {header[index].strip()!r}; there are: {there}")
        kept = units + fitting
    return kept


def join_units(header: Sequence[str], rows: Sequence[Row]) -> list[Row]:
    """The rows with the units of a column `Unit` in the cells beside it: those of a multimeter change with its range."""
    names = [name.strip() for name in header]
    units = [i for i, name in enumerate(names) if _UNIT_COLUMN.fullmatch(name)]
    places = [(i, of) for i in units if (of := _values_beside(names, i, rows)) is not None]
    return [(line, _with_units(row, places)) for line, row in rows] if places else list(rows)


def _values_beside(names: Sequence[str], at: int, rows: Sequence[Row]) -> int | None:
    """Where the values of a column `Unit` are: on its left, else on its right, where they may be those of a flat, too."""
    beside = [i for i in (at - 1, at + 1) if 0 <= i < len(names)]
    left, right = (i in beside and not has_time([names[i]], {}) and not _NUMBERED.match(names[i]) for i in (at - 1, at + 1))
    if left:
        return at - 1
    is_known = right and unit_of(names[at + 1]) is None and any(unit_of(_cell(row, at)) for _, row in rows)
    return at + 1 if is_known else None


def _with_units(row: list[str], places: Sequence[tuple[int, int]]) -> list[str]:
    joined = list(row)
    for at, of in places:
        said, value = _cell(row, at), _cell(row, of)
        if _BARE_UNIT.fullmatch(said) and is_number(value) and not split_unit(value)[1]:
            joined[of], joined[at] = f"{value} {said}", ""
    return joined


def _shown(values: Iterable[str]) -> str:
    distinct = list(dict.fromkeys(values))
    return ", ".join(distinct[:_SHOWN])[:200] + (", ..." if len(distinct) > _SHOWN else "")


def sum_columns(header: Sequence[str], given: Mapping[str, str]) -> list[int]:
    return [_index(header, name.strip()) for name in given["sum"].split("+")] if "sum" in given else []


def key_of(row: Sequence[str], columns: Sequence[int]) -> tuple[str, ...]:
    return tuple(_cell(row, i) for i in columns)


def refuse_several(header: Sequence[str], rows: Sequence[Sequence[str]], used: Sequence[int], given: Mapping[str, str]) -> None:
    """UsageError for rows of several sensors that no setting tells apart. `rows` are those with a value, `used` the columns of
    times and values."""
    keys = sum_columns(header, given)
    free = [i for i in range(len(header)) if i not in (*used, *keys, *conditions(header, given))]
    for index in free:
        name = header[index].strip()
        for same in _by_key(rows, keys):
            cells = [cell for row in same if (cell := _cell(row, index))]
            if _tells_apart(name, cells, is_in_turn=len(cells) == len(same) and _is_in_turn(cells)):
                example = next(iter(cells))
                raise UsageError(
                    f"rows of several sensors: column {name!r} holds {_shown(cells)}; say which is meant "
                    f"(#where={name}:{example}), or that they are added up (#sum={name}); #where={name}:{_ANY} if all are of one "
                    "meter"
                )


def refuse_same_times(groups: Sequence[tuple[float, int]], given: Mapping[str, str]) -> None:
    """UsageError for times that have several rows, if no setting says of what. `groups` are times, and how many rows each has."""
    if "same-time" in given or _takes_any(given) or len(groups) < 2:
        return
    steps = [abs(b - a) for (a, _), (b, _) in pairwise(groups)]
    usual = median(steps)
    missing = [0, *(max(0, round(step / usual) - 1) for step in steps), 0]
    several = [i for i, (_, rows) in enumerate(groups) if rows > 1]
    beyond = [i for i in several if groups[i][1] - 1 > missing[i] + missing[i + 1]]
    if beyond or len(several) > max(1, len(groups) * _RARE):
        raise UsageError(
            f"{len(several)} of its {len(groups)} times have several rows: if they are of several meters, let the log name them "
            "in a column, or export one alone; if they are of one that is faster than its clock, say #same-time=spread"
        )


def refuse_rounds(times: Sequence[float], given: Mapping[str, str]) -> None:
    """UsageError for rows that come close together, a few at a time and regularly: meters that are asked one after the other."""
    times = sorted(times)
    steps = sorted(b - a for a, b in pairwise(times))
    if "same-time" in given or _takes_any(given) or not steps:
        return
    between = _CLOSE * steps[int(len(steps) * (1 - 0.5 / _MOST_IN_A_ROUND))]
    begins = [0, *(i for i, (a, b) in enumerate(pairwise(times), 1) if b - a > between)]
    rounds = Counter(b - a for a, b in pairwise([*begins, len(times)]))
    size, count = rounds.most_common(1)[0]
    periods = [times[b] - times[a] for a, b in pairwise(begins)]
    usual = median(periods or [1])
    regular = sum(abs(period / usual - 1) < _REGULAR for period in periods)
    wanted = (1 - _RARE) * len(begins)
    if 1 < size <= _MOST_IN_A_ROUND and len(begins) > _LEAST_ROUNDS and count >= wanted and regular >= wanted - 1:
        raise UsageError(
            f"its rows come {size} at a time, every {usual:.3g} s: if they are of several meters, let the log name "
            "them in a column, or export one alone; if they are of one, say #same-time=spread"
        )


def _by_key(rows: Sequence[Sequence[str]], keys: Sequence[int]) -> list[list[Sequence[str]]]:
    found: dict[tuple[str, ...], list[Sequence[str]]] = {}
    for row in rows:
        found.setdefault(key_of(row, keys), []).append(row)
    return list(found.values())


def _is_in_turn(cells: Sequence[str]) -> bool:
    count = len(set(cells))
    return count > 1 and len(cells) >= _LEAST_ROUNDS * count and all(a == b for a, b in zip(cells, cells[count:], strict=False))


def _tells_apart(name: str, cells: Sequence[str], *, is_in_turn: bool) -> bool:
    counts = Counter(cells)
    comes_again = sum(1 for _ in groupby(cells)) > len(counts) > 1
    if not comes_again or len(counts) > max(_MOST_SERIES, len(cells) // _LEAST_ROUNDS):
        return False
    if not all(re.fullmatch(r"[-+]?[\d.,]+(e[-+]?\d+)?\s*\S{0,4}", cell, re.IGNORECASE) for cell in counts):
        return is_in_turn or not _OF_ONE.search(name)
    if not all(re.fullmatch(r"\d+(\.0+)?", cell) for cell in counts):
        return False
    if is_in_turn and not _NO_NUMBER_OF.search(name):
        return True
    even = max(counts.values()) <= 2 * min(counts.values()) + 1
    is_numbered = bool(_NUMBERED.match(name)) and not _OF_ONE.search(name)
    return is_numbered and (even or not _OR_A_LOAD.match(name))
