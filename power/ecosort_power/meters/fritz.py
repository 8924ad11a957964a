"""AVM FRITZ!DECT plugs through the FRITZ!Box (AHA-HTTP interface): `fritz://USER@HOST/AIN`.

The password comes from ECOSORT_METER_PASSWORD; it is not sent, the box gives a challenge (PBKDF2, or MD5 before FRITZ!OS 7.24).
getswitchpower is in milliwatts, getswitchenergy in watt-hours; the box has new values about every two minutes. `#source=stats`
takes the newest value of getbasicdevicestats instead, in hundredths of a watt on a grid of ten seconds; where the box fills that
grid with one value twelve times, it is as slow, which the older values show.
Protocol: AVM, "AHA-HTTP-Interface" and "Login-Verfahren und Session-IDs".
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from itertools import groupby
from statistics import median_low
from typing import ClassVar
from urllib.parse import quote, unquote
from xml.etree import ElementTree

from ecosort_power.errors import MeterError, MeterGlitchError, UsageError
from ecosort_power.meters.base import MeterSpec
from ecosort_power.meters.http import WEB_SETTINGS, WebMeter
from ecosort_power.meters.units import ENERGY_UNITS
from ecosort_power.reading import Capabilities, PowerKind, Reading, Scope

UPDATE_S = 120.0
STATS_GRID_S = 10.0
_NO_SESSION = "0" * 16
_MAX_ITERATIONS = 10_000_000


def answer_to(challenge: str, password: str) -> str:
    """The response to a login challenge. ValueError for a challenge of no known form."""
    if challenge.startswith("2$"):
        _, first, salt, second, other_salt = challenge.split("$")
        rounds = (int(first), int(second))
        if not all(0 < r <= _MAX_ITERATIONS for r in rounds):
            raise ValueError(challenge)
        static = hashlib.pbkdf2_hmac("sha256", password.encode(), bytes.fromhex(salt), rounds[0])
        return f"{other_salt}${hashlib.pbkdf2_hmac('sha256', static, bytes.fromhex(other_salt), rounds[1]).hex()}"
    plain = "".join(c if ord(c) < 256 else "." for c in password)
    digest = hashlib.md5(f"{challenge}-{plain}".encode("utf-16-le"), usedforsecurity=False).hexdigest()
    return f"{challenge}-{digest}"


def parse_xml(text: str, where: str) -> ElementTree.Element:
    """MeterGlitchError for what is no XML; entities are refused, their expansion has no bounds."""
    if "<!" in text:
        raise MeterGlitchError(f"{where} answers with XML that declares something of its own")
    try:
        return ElementTree.fromstring(text)
    except ElementTree.ParseError:
        raise MeterGlitchError(f"{where} answers with something that is no XML: {text[:40]!r}") from None


class FritzMeter(WebMeter):
    """One plug, read through its box."""

    form: ClassVar[str] = "fritz://USER@HOST[:PORT]/AIN"
    usual_scope: ClassVar[Scope] = Scope.WALL
    settings_known: ClassVar[Mapping[str, str]] = {**WEB_SETTINGS, "source": "switch (getswitchpower) or stats"}

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        self._ain = unquote(self.address.path).replace(" ", "")
        if not self._ain or self.user is None:
            raise UsageError(f"meter {spec.text[:200]}: write {self.form}; the AIN is printed on the plug, and in the box's list")
        source = spec.settings.get("source", "switch")
        if source not in ("switch", "stats"):
            raise UsageError("fritz: source must be switch or stats")
        self._stats = source == "stats"
        self._sid = _NO_SESSION

    def start(self) -> Capabilities:
        login = self.login("basic")
        assert login is not None
        self.connect(None)
        self._log_in(login.user, login.secret)
        if self._command("getswitchpresent") != "1":
            raise MeterError(f"{self.server} has no plug {self._ain} that is present; check the AIN, and that it is plugged in")
        self.read()
        update_s = self._update_s()
        return Capabilities(
            title=f"FRITZ!DECT {self._ain} {self.server}",
            scope=Scope.WALL,
            period_s=STATS_GRID_S,
            power=PowerKind.INSTANT,
            counter=not self._stats,
            update_s=update_s,
            quantum_w=0.01,
            quantum_j=None if self._stats else ENERGY_UNITS["Wh"],
            identity={"name": self._command("getswitchname"), "ain": self._ain},
            notes=(*self.notes, f"the box has a new value every {update_s:.0f} s or so"),
        )

    def _session(self, query: str) -> tuple[str, str, int]:
        """Session, challenge, and the seconds for which the box takes no login."""
        where = f"{self.server}/login_sid.lua"
        root = parse_xml(self.client.get_text(f"/login_sid.lua?version=2{query}"), where)
        found = [root.findtext(name) or "" for name in ("SID", "Challenge", "BlockTime")]
        if not found[0] or not found[1]:
            raise MeterGlitchError(f"{where} is no login of a FRITZ!Box")
        return found[0], found[1], int(found[2]) if found[2].isdigit() else 0

    def _log_in(self, user: str, password: str) -> None:
        _, challenge, wait_s = self._session("")
        if wait_s > 0:
            raise MeterError(f"{self.server} takes no login for {wait_s} s after a wrong password; wait that long")
        try:
            response = answer_to(challenge, password)
        except ValueError:
            raise MeterGlitchError(f"{self.server} gives a login challenge of an unknown form: {challenge[:40]!r}") from None
        self._sid, _, _ = self._session(f"&username={quote(user, safe='')}&response={quote(response, safe='')}")
        if self._sid == _NO_SESSION:
            raise MeterError(f"{self.server} refuses the login: wrong user or password, or the user may not use smart home")

    def _command(self, name: str) -> str:
        path = f"/webservices/homeautoswitch.lua?ain={quote(self._ain, safe='')}&switchcmd={name}&sid={self._sid}"
        return self.client.get_text(path).strip()

    def read(self) -> Reading:
        before = time.monotonic()
        raw = self._newest() if self._stats else f"{self._command('getswitchpower')} {self._command('getswitchenergy')}"
        found = _values(raw, self._stats, f"{self.server} plug {self._ain}")
        return Reading(before, time.monotonic(), found.watts, found.joules, stamp=found.stamp, raw=raw)

    def _statistics(self) -> tuple[list[str], str]:
        """The power values, the newest first, and when that was taken if the box says so."""
        where = f"{self.server} getbasicdevicestats"
        stats = parse_xml(self._command("getbasicdevicestats"), where).find("power/stats")
        values = (stats.text or "").split(",") if stats is not None else []
        if stats is None or not values or stats.get("grid") != f"{STATS_GRID_S:.0f}":
            raise MeterGlitchError(f"{where} holds no power every {STATS_GRID_S:.0f} s")
        return [v.strip() for v in values], stats.get("datatime", "")

    def _newest(self) -> str:
        values, taken = self._statistics()
        return f"{values[0]} {taken}".strip()

    def _update_s(self) -> float:
        """Returns how often there is a new value. The statistics have one for every ten seconds, but often the same twelve times:
        then the box asks the plug every two minutes only.
        """
        if not self._stats:
            return UPDATE_S
        lengths = [len(list(same)) for _, same in groupby(self._statistics()[0])][1:-1]  # the first and the last continue
        return STATS_GRID_S * median_low(lengths) if lengths else UPDATE_S

    @classmethod
    def derive(cls, raw: str, spec: MeterSpec) -> Reading:
        """The values of a raw answer."""
        return _values(raw, spec.settings.get("source") == "stats", spec.address)


def _values(raw: str, stats: bool, where: str) -> Reading:
    """Milliwatts and watt-hours, or hundredths of a watt and a time."""
    first, _, second = raw.partition(" ")
    try:
        if stats:
            return Reading(0.0, 0.0, watts=int(first) / 100, stamp=second or None)
        return Reading(0.0, 0.0, watts=int(first) / 1000, joules=int(second) * ENERGY_UNITS["Wh"])
    except ValueError:
        raise MeterGlitchError(f"{where} gives {raw[:40]!r} in place of a power: the box does not reach the plug") from None
