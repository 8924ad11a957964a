"""Named values of the world, such as a price of electricity or the power of a roof, and the conditions on them (`--when`).

A source is written like a meter, without a unit: a file with a number, or a value in a JSON document,
`file:/run/price`, `file:/run/day.json#value=now.price`, `https://HOST/PATH#value=data[0].price`, or an entity of Home Assistant,
`homeassistant://HOST/sensor.price`. A secret comes from a file or the environment, as that of a meter does, never from the word.
"""

from __future__ import annotations

import json
import math
import operator
import os
import re
import sqlite3
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ecosort_power.errors import PowerError
from ecosort_power.meters.base import MeterSpec, parse_spec
from ecosort_power.nesting import parse_json
from ecosort_power.transports.address import split_address
from ecosort_power.transports.credentials import require_secret
from ecosort_power.transports.http import AUTHENTICATIONS, WAIT_LONGER, HttpClient, Login, pick, written_number

from ecosort_appliance.database import transaction
from ecosort_appliance.errors import QueueError

PERIOD_S = 60.0  # between two looks at a value
_TIMEOUT_S = 5.0
_MOST_FILE_BYTES = 1 << 20
_DEFAULT_MAX_AGE_S = 86400.0
_NAME = r"[A-Za-z][\w-]{0,39}"
_CONDITION = re.compile(rf"\s*({_NAME})\s*(<=|>=|<|>)\s*([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)\s*")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_SETTINGS = {
    "file": ("value", "max-age"),
    "http": ("value", "auth", "user", "tls", "password-file", "password-env"),
    "https": ("value", "auth", "user", "tls", "password-file", "password-env"),
    "homeassistant": ("tls", "password-file", "password-env"),
}
_FORM = "file:PATH, http[s]://HOST/PATH#value=JSON.PATH or homeassistant://HOST/ENTITY"


class NoValueError(Exception):
    """A source has no value now; the text says why."""


@dataclass(frozen=True)
class Condition:
    """`value` is the name of a value."""

    value: str
    comparison: str
    limit: float

    def holds(self, number: float) -> bool:
        return _COMPARE[self.comparison](number, self.limit)

    def __str__(self) -> str:
        return f"{self.value} {self.comparison} {self.limit:g}"


def parse_condition(text: str) -> Condition:
    """Reads NAME<NUMBER, with <=, > or >= as well. QueueError."""
    found = _CONDITION.fullmatch(text)
    try:
        limit = float(found[3]) if found else math.nan
    except ValueError:
        limit = math.nan
    if found is None or not math.isfinite(limit):
        raise QueueError(f"--when {text[:60]!r} is no condition; write a value's name and a limit, such as 'price<0.20'")
    return Condition(found[1], found[2], limit)


def check_source(source: str) -> MeterSpec:
    """QueueError for what can be no source."""
    try:
        spec = parse_spec(source)
        if spec.scheme not in _SETTINGS:
            raise QueueError(f"{source[:60]!r} is no source of a value; write {_FORM}")
        unknown = [name for name in spec.settings if name not in _SETTINGS[spec.scheme]]
        if unknown:
            raise QueueError(f"{spec.scheme} has no setting {unknown[0]!r}; it has {', '.join(_SETTINGS[spec.scheme])}")
        if spec.scheme == "file" and not spec.address.startswith("/"):
            raise QueueError(f"{source[:60]!r}: write the whole path of the file, from / on")
        if spec.scheme.startswith("http") and not spec.settings.get("value"):
            raise QueueError(f"{source[:60]!r}: say where the value is, e.g. #value=data.price")
        if spec.settings.get("auth", "basic") not in AUTHENTICATIONS:
            raise QueueError(f"{spec.scheme}: auth must be one of: {', '.join(AUTHENTICATIONS)}")
        spec.positive("max-age")
        if spec.scheme != "file":
            source.encode()  # a file may have a name of any bytes
            split_address(spec.scheme, spec.address, _FORM)
    except UnicodeEncodeError:
        raise QueueError(f"{source[:60]!r} holds bytes that are no UTF-8; write them in the address as %FC or such") from None
    except PowerError as error:
        raise QueueError(str(error)) from None
    return spec


def read_source(source: str) -> float:
    """Reads the value as it is now. NoValueError, QueueError."""
    spec = check_source(source)
    try:
        number = _from_file(spec) if spec.scheme == "file" else _from_server(spec)
    except PowerError as error:
        raise NoValueError(str(error).removesuffix(WAIT_LONGER)) from None  # others wait for the scheduler
    if not math.isfinite(number):
        raise NoValueError(f"{source}: {number} is no number to compare with")
    return number


def _from_file(spec: MeterSpec) -> float:
    path = Path(spec.address)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe that no one writes holds nobody up
        try:  # a file object of a directory would not close it
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise NoValueError(f"{path} is no regular file")
            text = os.read(descriptor, _MOST_FILE_BYTES).decode(errors="replace")
        finally:
            os.close(descriptor)
    except OSError as error:
        raise NoValueError(f"{path}: {error.strerror}") from None
    age_s = time.time() - status.st_mtime
    if age_s > spec.number("max-age", _DEFAULT_MAX_AGE_S):
        raise NoValueError(f"{path} was written {age_s / 3600:.1f} hours ago, which is too old (#max-age=SECONDS)")
    where = spec.settings.get("value")
    try:
        return pick(parse_json(text), where, str(path)) if where else written_number(text.strip())
    except ValueError:  # it may be half written
        raise NoValueError(f"{path} holds no {'JSON' if where else 'number'}, but {text[:40]!r}") from None


def _from_server(spec: MeterSpec) -> float:
    address = split_address(spec.scheme, spec.address, _FORM)
    is_entity = spec.scheme == "homeassistant"
    protocol = "http" if is_entity and "tls" not in spec.settings else spec.scheme.replace("homeassistant", "https")
    server = f"{protocol}://{address.at(8123 if is_entity else None)}"
    query = f"?{address.query}" if address.query else ""
    path = f"/api/states/{address.path}" if is_entity else (address.written or "/") + query
    client = HttpClient(server, _TIMEOUT_S, _login(spec, address.user, server), spec.settings.get("tls", "verify"))
    try:
        return pick(client.get(path), "state" if is_entity else spec.settings["value"], server)
    finally:
        client.close()


def _login(spec: MeterSpec, user_of_address: str | None, server: str) -> Login | None:
    if spec.scheme == "homeassistant":
        return Login("bearer", "", require_secret(spec.settings, ("HOME_ASSISTANT_TOKEN",), server))
    kind, user = spec.settings.get("auth", "basic"), spec.settings.get("user") or user_of_address
    if kind != "bearer" and user is None:
        return None
    return Login(kind, user or "", require_secret(spec.settings, (), server))


# --- the values of a queue


def set_source(connection: sqlite3.Connection, name: str, source: str) -> None:
    """Names a source, or gives the name to another one. QueueError."""
    if not re.fullmatch(_NAME, name):
        raise QueueError(f"{name[:60]!r} is no name of a value; write a letter, then letters, digits, - and _")
    check_source(source)
    with transaction(connection):
        connection.execute(
            "INSERT INTO sources VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET source = excluded.source",
            (name, json.dumps(source)),
        )


def remove_source(connection: sqlite3.Connection, name: str) -> None:
    """QueueError where jobs that wait for it are left, or where there is none."""
    with transaction(connection):
        waiting = connection.execute(
            "SELECT id, condition FROM jobs WHERE condition IS NOT NULL AND state NOT IN ('done', 'failed', 'cancelled')"
        ).fetchall()
        users = [row["id"] for row in waiting if parse_condition(row["condition"]).value == name]
        if users:
            raise QueueError(f"job {users[0]} waits for {name}; cancel that first")
        if name not in sources(connection):
            raise QueueError(f"there is no value {name[:60]!r}; `ecosort queue value` lists them")
        connection.execute("DELETE FROM sources WHERE name = ?", (name,))


def sources(connection: sqlite3.Connection) -> dict[str, str]:
    """Returns name -> source, by name."""
    return {row["name"]: json.loads(row["source"]) for row in connection.execute("SELECT * FROM sources ORDER BY name")}


def check_known(connection: sqlite3.Connection, condition: Condition) -> None:
    """QueueError for a value that the queue does not know."""
    known = sources(connection)
    if condition.value not in known:
        names = f"it knows {', '.join(known)}" if known else "it knows none"
        how = f"say where it comes from: ecosort queue value {condition.value} SOURCE"
        raise QueueError(f"--when: the queue knows no value {condition.value!r} ({names}); {how}")


class Values:
    """Reads the values of a queue when a job waits for one, each at most once in a minute. One thread uses it."""

    def __init__(self, connection: sqlite3.Connection, read: Callable[[str], float] = read_source) -> None:
        self._connection = connection
        self._read = read
        self._seen: dict[str, tuple[float, float | str]] = {}  # source -> when it was read, and the value or why there is none

    def reason_to_wait(self, condition: Condition) -> str:
        """Empty where the condition holds. A value that cannot be read meets no condition."""
        source = sources(self._connection).get(condition.value)
        if source is None:
            return f"waits until {condition}: the queue knows no such value any more"
        found = self.value_of(source)
        if isinstance(found, str):
            return f"waits until {condition}: it cannot be read: {found}"
        return "" if condition.holds(found) else f"waits until {condition}: it is {found:g}"

    def value_of(self, source: str) -> float | str:
        """Returns the value, or why there is none."""
        now_s = time.clock_gettime(time.CLOCK_BOOTTIME)  # goes on while the machine sleeps
        if source not in self._seen or now_s - self._seen[source][0] >= PERIOD_S / 2:
            self._seen[source] = now_s, self._look(source)
        return self._seen[source][1]

    def _look(self, source: str) -> float | str:
        try:
            return self._read(source)
        except (NoValueError, QueueError) as error:
            return str(error)


def values_table(connection: sqlite3.Connection) -> list[tuple[str, str, Any]]:
    """Returns name, source, and the value now or why there is none."""
    seen = Values(connection)
    return [(name, source, seen.value_of(source)) for name, source in sources(connection).items()]
