"""Power of a PDU outlet or phase over SNMP (needs the extra `snmp`: pip install 'ecosort[snmp]').

Address: `snmp://HOST[:PORT]/OID` or `snmp://HOST[:PORT]#preset=apc-rpdu2`. `#scale=10` turns the integer into watts.
SNMP v2c with the community from SNMP_COMMUNITY (public); v3 with `#user=NAME` and passwords from SNMP_AUTH_PASSWORD (SHA) and
SNMP_PRIVACY_PASSWORD (AES-128).
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import urlsplit

from ecosort_power.errors import MeterError, MeterGlitchError, UsageError
from ecosort_power.meters.base import Meter, MeterSpec
from ecosort_power.reading import Capabilities, PowerKind, Reading, Scope
from ecosort_power.transports.credentials import find_secret

# OID and watts per count. apc-rpdu2: rPDU2DeviceStatusPower of PowerNet-MIB, in hundredths of a kilowatt.
PRESETS = {"apc-rpdu2": ("1.3.6.1.4.1.318.1.1.26.4.3.1.5.1", 10.0)}


def scale_of(spec: MeterSpec) -> float:
    """Watts per count."""
    preset = PRESETS.get(spec.settings.get("preset", ""))
    return spec.number("scale", preset[1] if preset else 1.0)


class SnmpMeter(Meter):
    """One OID, asked again and again."""

    usual_scope: ClassVar[Scope] = Scope.WALL
    settings_known: ClassVar[Mapping[str, str]] = {
        "preset": ", ".join(PRESETS),
        "scale": "watts per count (1)",
        "user": "SNMP v3 user",
        "password-file": "file with the community or the v3 authentication password, mode 600",
        "password-env": "environment variable with it",
    }

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        url = urlsplit(f"snmp:{spec.address}")
        preset = spec.settings.get("preset")
        if preset is not None and preset not in PRESETS:
            raise UsageError(f"snmp: no preset {preset!r}; there are: {', '.join(PRESETS)}")
        oid = PRESETS[preset][0] if preset else url.path.strip("/")
        if not url.hostname or not oid or not all(part.isdigit() for part in oid.split(".")):
            raise UsageError(f"meter {spec.text}: write snmp://HOST[:PORT]/OID, or #preset={next(iter(PRESETS))}")
        self._oid, self._scale = oid, scale_of(spec)
        self._host, self._port = url.hostname, url.port or 161
        self._loop: asyncio.AbstractEventLoop | None = None
        self._parts: tuple[Any, ...] = ()

    def open(self) -> Capabilities:
        try:
            from pysnmp.hlapi.v3arch import asyncio as hlapi
        except ImportError:
            raise MeterError("SNMP needs pysnmp; run: pip install 'ecosort[snmp]'") from None
        self._loop = asyncio.new_event_loop()
        try:
            self._parts = self._loop.run_until_complete(self._connect(hlapi))
            self.read()
        except MeterGlitchError as error:
            self.close()
            raise MeterError(f"{error}; check address, community (SNMP_COMMUNITY) and OID") from error
        return Capabilities(
            title=f"SNMP {self._host} {self._oid}",
            scope=Scope.WALL,
            period_s=1.0,
            power=PowerKind.INSTANT,
            quantum_w=self._scale,
            notes=("a PDU measures all that hangs on this outlet or phase",),
        )

    async def _connect(self, hlapi: Any) -> tuple[Any, ...]:
        timeout = self.spec.number("timeout", 2.0)
        target = await hlapi.UdpTransportTarget.create((self._host, self._port), timeout=timeout, retries=1)
        user = self.spec.settings.get("user")
        # A community is no secret on the way: the password of another meter must not become one.
        secret = find_secret(self.spec.settings, ("SNMP_COMMUNITY",), general=False)
        who: Any
        if user is None:
            who = hlapi.CommunityData(secret or "public", mpModel=1)
        else:
            who = hlapi.UsmUserData(
                user,
                authKey=os.environ.get("SNMP_AUTH_PASSWORD", secret),
                privKey=os.environ.get("SNMP_PRIVACY_PASSWORD"),
                authProtocol=hlapi.usmHMACSHAAuthProtocol,
                privProtocol=hlapi.usmAesCfb128Protocol,
            )
        thing = hlapi.ObjectType(hlapi.ObjectIdentity(self._oid))
        return hlapi.get_cmd, hlapi.SnmpEngine(), who, target, hlapi.ContextData(), thing

    def read(self) -> Reading:
        if self._loop is None:
            raise MeterError("the SNMP session is closed")
        get, *arguments = self._parts
        before = time.monotonic()
        error, status, _, bindings = self._loop.run_until_complete(get(*arguments, lookupMib=False))
        after = time.monotonic()
        if error or status:
            raise MeterGlitchError(f"SNMP {self._host}: {error or status.prettyPrint()}")
        value = bindings[0][1]
        try:
            watts = float(value) * self._scale
        except (TypeError, ValueError):
            raise MeterGlitchError(f"SNMP {self._host} has no number at {self._oid}: {value.prettyPrint()[:60]}") from None
        return Reading(before, after, watts=watts, raw=str(value))

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
