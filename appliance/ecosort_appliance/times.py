"""Computes when a job is due. Times of day are those of the local clock; what is stored is seconds since 1970."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from ecosort_appliance.errors import QueueError

_LENGTH_S = {"hourly": 3600.0, "daily": 86400.0, "weekly": 7 * 86400.0}
RULES = tuple(_LENGTH_S)
_SKIP_S = 7200.0  # by which a change of the clock may make a day longer
_TIME = re.compile(r"^([01]?\d|2[0-3]):([0-5]\d)$")


def is_time_of_day(text: str) -> bool:
    return _TIME.match(text) is not None


def moment(text: str, now_s: float, option: str = "--at") -> float:
    """Returns the next such time of day, or a date and time. QueueError, which names the option."""
    if match := _TIME.match(text):
        return _next_day(datetime.fromtimestamp(now_s), int(match[1]), int(match[2]), now_s, days=1)
    try:
        found = datetime.fromisoformat(text)
        seconds = found.timestamp()
    except (ValueError, OverflowError):
        raise QueueError(f"{option} {text[:40]!r} is no time; write 02:00 or 2030-01-31T02:00") from None
    if seconds < now_s:
        raise QueueError(f"{option} {text} has gone by; leave it out to begin now")
    return seconds


def first(rule: str, at: str | None, now_s: float) -> float:
    """Computes when a rule is due for the first time."""
    if rule not in RULES:
        raise QueueError(f"--every {rule[:40]!r} is none of {', '.join(RULES)}")
    if at is None:
        return now_s
    return moment(at, now_s)


def following(rule: str, due_s: float, now_s: float, clock: tuple[int, int]) -> float:
    """The first time after now at which a rule is due that was due at `due_s`; `clock` is its hour and minute.

    Days are counted on the calendar, so that a change of the clock moves nothing. A time of day that the clock skips counts
    after the skip, one that it shows twice the first time (PEP 495, fold 0).
    """
    if rule == "hourly":
        return due_s + 3600.0 * (int((now_s - due_s) // 3600.0) + 1 if now_s >= due_s else 0)
    return _next_day(datetime.fromtimestamp(due_s), *clock, max(now_s, due_s), days=7 if rule == "weekly" else 1)


def clock_of(queued_s: float, at: str | None) -> tuple[int, int]:
    """The time of day that a rule means: what was asked for, else when it was queued. A day on which the clock skips that time
    moves none of those that follow."""
    if at is not None and (match := _TIME.match(at)):
        return int(match[1]), int(match[2])
    asked = datetime.fromtimestamp(queued_s) if at is None else datetime.fromisoformat(at)
    local = asked if asked.tzinfo is None else asked.astimezone()
    return local.hour, local.minute


def unless_set_back(rule: str, due_s: float, now_s: float, at: str | None, clock: tuple[int, int]) -> float:
    """Returns when a rule is due: `due_s`, or earlier where the clock was set back since that was computed."""
    begin_s = datetime.fromisoformat(at).timestamp() if at is not None and not is_time_of_day(at) else 0.0
    if begin_s > now_s:
        return begin_s
    if due_s <= now_s + _LENGTH_S[rule] + _SKIP_S:
        return due_s
    steps = int((due_s - now_s) // _LENGTH_S[rule])
    if rule == "hourly":
        return due_s - 3600.0 * steps
    days = 7 if rule == "weekly" else 1
    return _next_day(datetime.fromtimestamp(due_s) - timedelta(days=days * (steps + 1)), *clock, now_s, days)


def _next_day(begin: datetime, hour: int, minute: int, after_s: float, days: int) -> float:
    """The first of `begin`'s day, and those that follow in steps of `days`, whose time of day comes after `after_s`."""
    day = begin.replace(hour=hour, minute=minute, second=0, microsecond=0, fold=0)
    behind = max(0, int((after_s - day.timestamp()) // (86400 * days)) - 1)
    day += timedelta(days=days * behind)
    while day.timestamp() <= after_s:
        day += timedelta(days=days)
    return day.timestamp()
