"""Numbers and times as logs of meters have them: decimal commas, local times, time zones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import Context, Decimal
from math import isfinite
from zoneinfo import ZoneInfo

from ecosort_power.errors import UsageError

_THOUSANDS = re.compile(r"^\d{1,3}(,\d{3})+$")
_POINTS = re.compile(r"^\d{1,3}\.\d{3}$")
_DOTS = re.compile(r"^\d{1,3}(\.\d{3}){2,}$")
_SUFFIX = re.compile(r"^([-+]?[\d.,\s\u00a0]*\d)\s*([A-Za-zµ%°]+)$")
_COMMA = re.compile(r"^\d+,\d+$")
_OFFSET = re.compile(r"^([+-])(\d{2}):?(\d{2})$")
_CLOCK = re.compile(r"^(\d+):(\d{2}):(\d{2})([.,]\d+)?$")
_DOTTED = re.compile(r"^(\d{1,2})\.(\d{1,2})\.(\d{4})[ T]+(.+)$")
_SLASHED = re.compile(r"^(\d{4})/(\d{1,2})/(\d{1,2})[ T]+(.+)$")
_UTC_BEHIND = re.compile(r"(?i)\s*(?:utc|gmt|(?<=[\d\s])z)$")
# UTC, or so many hours away from it. `outcome` and `Dutch` have `utc` in them, too; `mgmt` has `gmt`.
_UTC = r"(?:(?<![oO])(?i:utc(?!h(?![a-z])))|(?<![A-Za-z])(?i:gmt)(?![A-Za-z])|(?<=[a-z])GMT)"
UTC_NAMED = re.compile(_UTC + r"(?:\s*([+\-\u2212])(\d{1,2})(?::?(\d{2}))?(?!\d))?")
_UTC_WORD = re.compile(r"(?i)(?<![a-z])(?:utc|gmt|z)(?![a-z])")
_DIRECTIVE = re.compile(r"%(.)")
# Letters of a form that may name a zone: CET, Europe/Berlin, +01:00.
_OTHER_ZONE = re.compile(r"(?<![A-Za-z])(?!(?:AM|PM)\b)(?:[A-Z]{2,5}(?![A-Za-z])|[A-Z][a-z]+/[A-Z]\w+)|[+-]\d{2}:?\d{2}$")
_SPACED_OFFSET = re.compile(r"\s+(?=[+-]\d{2}:?\d{2}$)")
_AMBIGUOUS = re.compile(r"^\d{1,2}/\d{1,2}/\d{2,4}\b")
# Seconds since 1970 in the present century, and the same in smaller units.
_EPOCHS = ((1e9, 1e11, 1.0), (1e12, 1e14, 1e-3), (1e15, 1e17, 1e-6), (1e18, 1e20, 1e-9))


# Loggers write these where there was no value: Home Assistant, nvidia-smi, databases, spreadsheets, numpy.
_GAPS = frozenset(("", "unavailable", "unknown", "none", "null", "nil", "n/a", "n.a.", "na", "#n/a", "nan", "not available"))
_GAPS |= {"\\n", "-nan", "+nan", "not supported", "no data", "no value", "undefined", "missing", "offline"}
_ONLY_SIGNS = re.compile(r"[-\u2013\u2014_.?*]+")  # --, --.-, ?
_GAPS_IN_BRACKETS = ("unknown error", "gpu is lost", "requires reset", "gpu requires reset", "insufficient permissions")
_UNIT_BEHIND = re.compile(r"\s+[km]?wh?$")


# Multimeters write these where a value is beyond their range.
_BEYOND_RANGE = re.compile(r"(?i)[-+]?\s*(?:[o0]\.?l\.?|ofl|ovld|over|overload|overflow|over[- ]?range)(?:\s*[mkµu]?[a-z]{1,2})?")


_DOUBLE_DIGITS = 15  # that are sure in a double: 12.990000000000002 is 12.99
_SUM_DIGITS = 12  # that are left of one to which others were added many times


class CellError(ValueError):
    """Why a cell cannot be read, and what would help."""


def is_gap(cell: str) -> bool:
    """True for a cell that says that there was no value."""
    text = _UNIT_BEHIND.sub("", cell.strip().lower())
    inner = text.strip("[]<>() ")
    is_named = inner in _GAPS or bool(_ONLY_SIGNS.fullmatch(inner))
    return is_named or (inner != text and inner in _GAPS_IN_BRACKETS)


def is_beyond_range(cell: str) -> bool:
    """True for a cell like `OL`: there was a value, and nobody knows it."""
    return bool(_BEYOND_RANGE.fullmatch(cell.strip()))


def split_unit(cell: str) -> tuple[str, str]:
    """`19.9 W` -> `19.9`, `W`; without a unit the second is empty."""
    match = _SUFFIX.match(cell.strip())
    return (match[1], match[2]) if match else (cell, "")


def is_number(cell: str) -> bool:
    """True if it may be one, with whatever decimal sign."""
    return bool(re.fullmatch(r"[-+]?[\d.,\s\u00a0]*\d([eE][-+]?\d+)?", split_unit(cell)[0].strip()))


def decimal_sign(texts: Iterable[str], given: str | None) -> str:
    """`.` or `,` of the numbers of one column or of several. UsageError where they could be read in two ways."""
    if given is not None:
        if given not in ("comma", "point"):
            raise UsageError("csv: decimal must be comma or point")
        return "," if given == "comma" else "."
    found = [t.strip().lstrip("+-") for t in texts]
    with_comma = [t for t in found if "," in t]
    if not with_comma:
        return "," if any(_DOTS.match(t) for t in found) else "."  # 1.234.567
    if any(re.search(r",\d*\.", t) for t in with_comma):
        return "."  # 1,234.5
    if any("." in t and t.rindex(",") > t.rindex(".") for t in with_comma):
        return ","  # 1.234,5
    if all(_THOUSANDS.match(t) for t in with_comma):
        raise UsageError(_two_ways(with_comma[0]))
    return ","


def refuse_thousands(texts: Iterable[str]) -> None:
    """Raises UsageError for a column like `987`, `1.234`: its points may be decimal, or separate thousands."""
    found = [t.strip().lstrip("+-") for t in texts]
    dotted = [t for t in found if "." in t]
    whole = [t for t in found if t.isdigit() and len(t) >= 3]
    if dotted and whole and not any("," in t for t in found) and all(_POINTS.match(t) for t in dotted):
        raise UsageError(_two_ways(dotted[0]))


def _two_ways(text: str) -> str:
    return f"{text!r} can be read in two ways; say #decimal=comma or #decimal=point"


def plain_number(text: str, decimal: str) -> str:
    """The number with a decimal point, without separators of thousands. CellError where they do not separate thousands."""
    plain = text.strip().replace("\u00a0", "").replace(" ", "")
    group = "." if decimal == "," else ","
    whole, sign, rest = plain.partition(decimal)
    if (group in whole and not re.fullmatch(rf"[-+]?\d{{1,3}}(\{group}\d{{3}})+", whole)) or group in rest or decimal in rest:
        other = "point" if decimal == "," else "comma"
        raise CellError(f"{text.strip()!r} has no decimal {'comma' if decimal == ',' else 'point'} that fits; #decimal={other}?")
    return whole.replace(group, "") + ("." if sign else "") + rest


def number(text: str) -> float:
    """ValueError for what is no finite number."""
    value = float(text)
    if "_" in text or not isfinite(value):
        raise ValueError(text)
    return value


def last_place(texts: Sequence[str]) -> float:
    """Returns what one in the last place of a counter's numbers is worth, which have a decimal point.

    Some meters leave zeros at the end out (12.98, 12.99, 13), so that only the row with the most digits shows the step. Others
    have so many digits, and their step grows with the value (9.998e+02, 9.999e+02, 1.000e+03). So the meter is taken to have as
    many digits as its longest number, and the step is that of its largest one. Where both may be (9.98, 9.99, 10), this is the
    larger of two steps: an interval may be too wide, but not too narrow.
    """
    places, tops = zip(*map(_places, texts), strict=True)
    largest = max((top for top in tops if top is not None), default=None)
    if largest is None:
        return float(10.0 ** min(places))
    digits = max(top - place + 1 for place, top in zip(places, tops, strict=True) if top is not None)
    return float(10.0 ** max(min(places), largest - digits + 1))


def _places(text: str) -> tuple[int, int | None]:
    """Returns the powers of ten of a number's last digit and of its first one, which zero has not. What a double adds of itself
    is no digit of the meter."""
    value = Decimal(text)
    if len(value.as_tuple().digits) > _DOUBLE_DIGITS:
        value = value.normalize(Context(prec=_SUM_DIGITS))
    last = int(value.as_tuple().exponent)
    return (last, value.adjusted()) if value else (min(last, 0), None)


def time_zone(given: str | None) -> tzinfo | None:
    """None: that of this machine, with its summer time."""
    if given is None:
        return None
    if given.upper() in ("UTC", "Z"):
        return UTC
    if match := _OFFSET.match(given):
        away = timedelta(hours=int(match[2]), minutes=int(match[3]))
        if away < timedelta(hours=24):
            return timezone(-away if match[1] == "-" else away)
    try:
        return ZoneInfo(given)
    except (ValueError, OSError, KeyError):
        raise UsageError(f"csv: timezone {given[:40]!r} is not known; write UTC, +02:00 or Europe/Berlin") from None


def zone_named(text: str) -> tzinfo | None:
    """The zone of a text that says UTC, or how far from it; None where it does not. UsageError for what is farther than a day."""
    found = UTC_NAMED.search(text)
    if found is None:
        return None
    hours, minutes = int(found[2] or "0"), int(found[3] or "0")
    if hours >= 24 or minutes >= 60:
        raise UsageError(f"{text.strip()[:40]!r} names no time zone: {found[0]}")
    away = timedelta(hours=hours, minutes=minutes)
    return timezone(away if found[1] in (None, "+") else -away)


@dataclass(frozen=True)
class TimeForm:
    """Says how a log writes times: units of a number, `#time-format=`, `#timezone=`, and the decimal sign of the log."""

    scale: float | None = None
    given: str | None = None
    zone: tzinfo | None = None
    decimal: str = "."


def parse_time(text: str, written: TimeForm) -> tuple[float, bool]:
    """Seconds, and whether they count from 1970. CellError for what is no time; UsageError where it could be two."""
    try:
        return _parsed(text.strip(), written)
    except CellError:
        raise
    except ValueError:
        example = "#time-format=%Y-%m-%d %I:%M:%S %p" if re.search(r"\b[AP]M$", text.strip(), re.IGNORECASE) else "#time-format="
        raise CellError(f"{text.strip()[:40]!r} is no time; say how times are written, such as {example}") from None


def _parsed(text: str, written: TimeForm) -> tuple[float, bool]:
    form, zone, scale = written.given, written.zone, written.scale
    if form is not None:
        return _seconds(*_formed(text, form, zone)), True
    try:
        value = float(text.replace(",", ".") if written.decimal == "," and _COMMA.match(text) else text)
    except ValueError:
        return _written(text, zone)
    if not isfinite(value):
        raise ValueError(text)
    if scale is not None:
        return value * scale, value * scale >= 1e9
    for low, high, seconds in _EPOCHS:
        if low <= value < high:
            return value * seconds, True
    return value, False


def _formed(text: str, form: str, zone: tzinfo | None) -> tuple[datetime, tzinfo | None]:
    """A moment as `#time-format=` has it, and its zone. strptime takes the name of a zone, but forgets it."""
    directives = _DIRECTIVE.findall(form)
    named, plain, hint = form, text, ""
    if "Z" in directives and "z" not in directives:
        named = _DIRECTIVE.sub(lambda found: "%z" if found[1] == "Z" else found[0], form)
        plain = _UTC_WORD.sub("+0000", text)
        hint = "; %Z is UTC, GMT or Z: for another zone write its name instead of %Z, and say #timezone=Europe/Berlin or such"
    try:
        moment = datetime.strptime(plain, named)
    except (ValueError, re.error):
        raise CellError(f"{text[:40]!r} is no time of the form #time-format={form[:40]}{hint}") from None
    return moment, zone if moment.tzinfo is not None else _zone_of_form(form, zone)


def _zone_of_form(form: str, zone: tzinfo | None) -> tzinfo | None:
    """The zone that a form names beside its directives, else the given one. UsageError for a name that says no zone."""
    letters = _DIRECTIVE.sub("\0", form)
    found = zone_named(letters) or (UTC if _UTC_WORD.search(letters) else zone)
    other = _OTHER_ZONE.search(letters)
    if found is None and other is not None:
        raise UsageError(f"{other[0]!r} in #time-format= is no zone that is known; say which: #timezone=Europe/Berlin or such")
    return found


def _written(text: str, zone: tzinfo | None) -> tuple[float, bool]:
    if (bare := _UTC_BEHIND.sub("", text)) != text:
        text, zone = bare, UTC
    text = _SPACED_OFFSET.sub("", text)
    if match := _CLOCK.match(text):  # a stop watch, or a time of an unknown day
        fraction = float((match[4] or "0").replace(",", "."))
        return int(match[1]) * 3600 + int(match[2]) * 60 + int(match[3]) + fraction, False
    if _AMBIGUOUS.match(text):
        raise UsageError(f"the date in {text!r} can be read in two ways; say #time-format=%d/%m/%Y %H:%M:%S or %m/%d/%Y ...")
    if match := _DOTTED.match(text):
        text = f"{match[3]}-{int(match[2]):02d}-{int(match[1]):02d}T{match[4].replace(',', '.')}"
    elif match := _SLASHED.match(text):
        text = f"{match[1]}-{int(match[2]):02d}-{int(match[3]):02d}T{match[4]}"
    return _seconds(datetime.fromisoformat(text), zone), True


def _seconds(moment: datetime, zone: tzinfo | None) -> float:
    try:
        return (moment if moment.tzinfo is not None or zone is None else moment.replace(tzinfo=zone)).timestamp()
    except (OverflowError, OSError):
        raise ValueError(str(moment)) from None
