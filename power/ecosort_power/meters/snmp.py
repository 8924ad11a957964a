"""Power of a PDU outlet or phase over SNMP, by pysnmp (pip install pysnmp cryptography).

Address: `snmp://HOST[:PORT]/OID#scale=10` or `snmp://HOST[:PORT]#preset=eaton-outlet,outlet=3`. `#scale=` turns the integer into
watts; it is not guessed.
SNMP v2c, or v1 (`#version=1`), with the community from SNMP_COMMUNITY (public). v3 with `#user=NAME` and passwords from
SNMP_AUTH_PASSWORD (`#auth=`, SHA-1 unless said otherwise) and, for privacy, SNMP_PRIVACY_PASSWORD (`#privacy=`, AES-128); of 8
characters or more (RFC 3414).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any, ClassVar

from ecosort_power.errors import MeterError, MeterGlitchError, UsageError
from ecosort_power.extras import install
from ecosort_power.meters.base import Meter, MeterSpec
from ecosort_power.meters.snmp_presets import PRESETS, Preset
from ecosort_power.reading import Capabilities, PowerKind, Reading, Scope
from ecosort_power.transports.address import split_address
from ecosort_power.transports.credentials import find_secret, secret_variable

# Names of pysnmp's protocols.
_AUTH = {
    "md5": "usmHMACMD5AuthProtocol",
    "sha": "usmHMACSHAAuthProtocol",
    "sha224": "usmHMAC128SHA224AuthProtocol",
    "sha256": "usmHMAC192SHA256AuthProtocol",
    "sha384": "usmHMAC256SHA384AuthProtocol",
    "sha512": "usmHMAC384SHA512AuthProtocol",
}
# Keys longer than 128 bits are made in two ways: as of Blumenthal (net-snmp) and of Reeder (Cisco, many PDUs): the names with c.
_PRIVACY = {
    "des": "usmDESPrivProtocol",
    "aes": "usmAesCfb128Protocol",
    "aes192": "usmAesBlumenthalCfb192Protocol",
    "aes256": "usmAesBlumenthalCfb256Protocol",
    "aes192c": "usmAesCfb192Protocol",
    "aes256c": "usmAesCfb256Protocol",
}
_LEAST_PASSWORD = 8
_LAST_ARC = 2**32 - 1
_MOST_DIGITS = 9
_VERSIONS = {"1": 0, "2c": 1}  # with their number in the message
_FORM = "snmp://HOST[:PORT]/OID#scale=WATTS"


def scale_of(spec: MeterSpec) -> float:
    """Watts per count."""
    preset = PRESETS.get(spec.settings.get("preset", ""))
    given = spec.positive("scale")
    return given if given is not None else (preset.watts if preset else 1.0)


def _is_oid(text: str) -> bool:
    arcs = text.split(".")
    numbers = all(a.isascii() and a.isdigit() and len(a) <= 10 and int(a) <= _LAST_ARC for a in arcs)
    return numbers and 2 <= len(arcs) <= 128 and int(arcs[0]) <= 2 and (int(arcs[0]) == 2 or int(arcs[1]) < 40)


class SnmpMeter(Meter):
    """One OID, asked again and again."""

    usual_scope: ClassVar[Scope] = Scope.WALL
    settings_known: ClassVar[Mapping[str, str]] = {
        "preset": ", ".join(PRESETS),
        "outlet": "number of the outlet or phase, of presets for one",
        "version": "1 or 2c (2c); 3 is that of a user",
        "scale": "watts per count",
        "user": "SNMP v3 user",
        "auth": f"of a v3 user: {', '.join(_AUTH)} (sha)",
        "privacy": f"of a v3 user with SNMP_PRIVACY_PASSWORD: {', '.join(_PRIVACY)} (aes)",
        "password-file": "file with the community or the v3 authentication password, mode 600",
        "password-env": "environment variable with it",
    }

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        self._digits: str | None = None  # the object that says how many decimals the value has
        address = split_address(spec.scheme, spec.address, f"{_FORM}, or #preset={next(iter(PRESETS))}")
        given = spec.settings
        preset = given.get("preset")
        if preset is not None and preset not in PRESETS:
            raise UsageError(f"snmp: no preset {preset!r}; there are: {', '.join(PRESETS)}")
        oid = self._of_preset(PRESETS[preset]) if preset else address.path
        if not _is_oid(oid):
            raise UsageError(f"meter {spec.text[:200]}: write {_FORM}, or #preset={next(iter(PRESETS))}")
        for key, table in (("auth", _AUTH), ("privacy", _PRIVACY)):
            if given.get(key, "sha" if key == "auth" else "aes") not in table:
                raise UsageError(f"snmp: {key} must be one of: {', '.join(table)}")
        version = given.get("version", "3" if "user" in given else "2c")
        if (version != "3" or "user" not in given) and (version not in _VERSIONS or "user" in given):
            raise UsageError("snmp: version must be 1 or 2c, or 3 with #user=NAME")
        self._version = version
        self._oid, self._scale = oid, scale_of(spec)
        if preset is None and "scale" not in given:
            raise UsageError("snmp: say how many watts one count is: #scale=1, 0.1, 10; the maker's MIB has the unit of the OID")
        self._host, self._port = address.host, address.port or 161
        self._loop: asyncio.AbstractEventLoop | None = None
        self._parts: tuple[Any, ...] = ()
        self._decimals = 0

    def _of_preset(self, preset: Preset) -> str:
        number = self.spec.whole("outlet", 0, 1, 9999) if "outlet" in self.spec.settings else None
        if preset.numbered != (number is not None):
            what = "wants the number of an outlet or phase: #outlet=1" if preset.numbered else "is of the whole PDU: no #outlet="
            raise UsageError(f"snmp: preset {self.spec.settings['preset']} {what}")
        self._digits = preset.digits.format(n=number) if preset.digits is not None else None
        return preset.oid.format(n=number)

    def open(self) -> Capabilities:
        try:
            from pysnmp.error import PySnmpError
            from pysnmp.hlapi.v3arch import asyncio as hlapi
        except ImportError:
            raise MeterError(f"SNMP needs pysnmp; run: {install('pysnmp')}") from None
        self.close()
        who = self._who(hlapi)
        self._loop = asyncio.new_event_loop()
        try:
            self._parts = self._loop.run_until_complete(self._connect(hlapi, who))
            self._decimals = self._read_decimals()
            self.read()
        except (MeterGlitchError, OSError, PySnmpError, UnicodeError) as error:
            self.close()
            what = "user, passwords, #auth= and #privacy=" if "user" in self.spec.settings else "community (SNMP_COMMUNITY)"
            said = str(error).partition(" caused by ")[0]  # the rest names classes of Python
            old = ", or whether it knows version 1 only (#version=1)" if self._version == "2c" else ""
            raise MeterError(f"{said}; check address, {what} and OID{old}") from error
        except MeterError:
            self.close()
            raise
        return Capabilities(
            title=f"SNMP {self._host} {self._oid}",
            scope=Scope.WALL,
            period_s=1.0,
            power=PowerKind.INSTANT,
            quantum_w=self._scale * 10.0**-self._decimals,
            notes=("a PDU measures all that hangs on this outlet or phase",),
        )

    def _who(self, hlapi: Any) -> Any:
        given = self.spec.settings
        user = given.get("user")
        # A community is no secret on the way: the password of another meter must not become one.
        secret = find_secret(given, ("SNMP_COMMUNITY",), general=False)
        if user is None:
            return hlapi.CommunityData(secret or "public", mpModel=_VERSIONS[self._version])
        auth, privacy = secret_variable("SNMP_AUTH_PASSWORD"), secret_variable("SNMP_PRIVACY_PASSWORD")
        auth = secret if auth is None else auth
        for name, password in (("SNMP_AUTH_PASSWORD", auth), ("SNMP_PRIVACY_PASSWORD", privacy)):
            if password is not None and len(password) < _LEAST_PASSWORD:
                raise UsageError(f"{name} has fewer than {_LEAST_PASSWORD} characters, which SNMP v3 does not allow")
        if privacy is not None and auth is None:
            raise UsageError("SNMP v3 with privacy needs SNMP_AUTH_PASSWORD as well")
        return hlapi.UsmUserData(
            user,
            authKey=auth,
            privKey=privacy,
            authProtocol=getattr(hlapi, _AUTH[given.get("auth", "sha")]),
            privProtocol=getattr(hlapi, _PRIVACY[given.get("privacy", "aes")]),
        )

    async def _connect(self, hlapi: Any, who: Any) -> tuple[Any, ...]:
        timeout = self.spec.number("timeout", 2.0)
        target = await hlapi.UdpTransportTarget.create((self._host, self._port), timeout=timeout, retries=1)
        things = {oid: hlapi.ObjectType(hlapi.ObjectIdentity(oid)) for oid in (self._oid, self._digits) if oid is not None}
        return hlapi.get_cmd, hlapi.SnmpEngine(), who, target, hlapi.ContextData(), things

    def _ask(self, oid: str) -> Any:
        """The value of an object."""
        if self._loop is None:
            raise MeterError("the SNMP session is closed")
        get, *arguments, things = self._parts
        error, status, _, bindings = self._loop.run_until_complete(get(*arguments, things[oid], lookupMib=False))
        if error or status:
            raise MeterGlitchError(f"SNMP {self._host}: {_explained(str(error or status.prettyPrint()))}")
        return bindings[0][1]

    def _read_decimals(self) -> int:
        """MeterGlitchError for a PDU that does not say it: its watts may be tenths."""
        if self._digits is None:
            return 0
        value = self._ask(self._digits)
        try:
            decimals = int(value)
        except (TypeError, ValueError):
            decimals = -1
        if not 0 <= decimals <= _MOST_DIGITS:
            raise MeterGlitchError(f"SNMP {self._host} does not say how many decimals its power has ({self._digits})")
        return decimals

    def read(self) -> Reading:
        before = time.monotonic()
        value = self._ask(self._oid)
        after = time.monotonic()
        raw = f"{value}e-{self._decimals}" if self._decimals else str(value)
        try:
            watts = float(raw) * self._scale
        except (TypeError, ValueError):
            raise MeterGlitchError(f"SNMP {self._host} has no number at {self._oid}: {value.prettyPrint()[:60]}") from None
        return Reading(before, after, watts=watts, raw=raw)

    @classmethod
    def derive(cls, raw: str, spec: MeterSpec) -> Reading:
        """The values of a raw answer."""
        return Reading(0.0, 0.0, watts=float(raw) * scale_of(spec), raw=raw)

    def close(self) -> None:
        if self._loop is None:
            return
        if self._parts:
            self._parts[1].close_dispatcher()
        left = asyncio.all_tasks(self._loop)  # of the library's timer
        for task in left:
            task.cancel()
        if left:
            self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self._loop.close()
        self._loop, self._parts = None, ()


def _explained(text: str) -> str:
    """The library's words, and what they mean where they do not say it."""
    if "timeout" in text.lower():
        return f"{text}; #timeout=SECONDS waits longer, #period=SECONDS asks less often"
    if "ciphering" in text.lower():
        return f"{text}; privacy needs the package cryptography: pip install cryptography"
    return text
