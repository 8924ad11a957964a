"""Power from a management controller over Redfish: EnvironmentMetrics where there is one, else the older Power resource.

Address: `redfish://USER@HOST[:PORT][/CHASSIS]`; the password comes from REDFISH_PASSWORD or a password file. TLS unless
`#tls=off`. AverageConsumedWatts and its kin cover a period that cannot be chosen; they are not used.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, ClassVar

from ecosort_power.errors import MeterError, MeterGlitchError, UsageError
from ecosort_power.meters.base import Meter, MeterSpec
from ecosort_power.raw import keep
from ecosort_power.reading import Capabilities, PowerKind, Reading, Scope
from ecosort_power.transports.address import split_address
from ecosort_power.transports.credentials import require_secret
from ecosort_power.transports.http import HttpClient, Login, look_up, pick

# Where the power is: the resource of a chassis, and the path within it.
_RESOURCES = (("EnvironmentMetrics", "PowerWatts.Reading"), ("Power", "PowerControl[0].PowerConsumedWatts"))


def watts_of(document: Any) -> float:
    """The power in either kind of resource. MeterGlitchError if there is none."""
    known = next((path for _, path in _RESOURCES if path.partition(".")[0].partition("[")[0] in document), _RESOURCES[0][1])
    return pick(document, known, "the stored answer")


class RedfishMeter(Meter):
    """One chassis' power, found by walking the service from its root."""

    usual_scope: ClassVar[Scope] = Scope.BMC
    settings_known: ClassVar[Mapping[str, str]] = {
        "tls": "verify, insecure or off",
        "password-file": "file with the password, mode 600",
        "password-env": "environment variable with the password (REDFISH_PASSWORD)",
    }

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        form = "redfish://USER@HOST[:PORT][/CHASSIS]"
        address = split_address(spec.scheme, spec.address, form)
        if not address.user:
            raise UsageError(f"meter {spec.text}: write {form}")
        self._tls = spec.settings.get("tls", "verify")
        if self._tls not in ("verify", "insecure", "off"):
            raise UsageError("redfish: tls must be verify, insecure or off")
        self._server = f"{'http' if self._tls == 'off' else 'https'}://{address.at()}"
        self._user = address.user
        self._chassis = address.path
        self._client: HttpClient | None = None
        self._resource = ""
        self._watts_path = ""

    def open(self) -> Capabilities:
        secret = require_secret(self.spec.settings, ("REDFISH_PASSWORD",), self._server)
        login = Login("basic", self._user, secret)
        self._client = HttpClient(
            self._server, self.spec.number("timeout", 10.0), login, "insecure" if self._tls == "insecure" else "verify"
        )
        try:
            return self._find()
        except MeterGlitchError as error:
            self.close()
            raise MeterError(str(error)) from error
        except MeterError:
            self.close()
            raise

    def _get(self, path: str) -> Any:
        if self._client is None:
            raise MeterError("the Redfish session is closed")
        return self._client.get(path)

    def _find(self) -> Capabilities:
        root = self._get("/redfish/v1/")
        collection = self._get(self._link(root, "Chassis"))
        listed = look_up(collection, "Members", f"{self._server} Chassis")
        members = [str(m["@odata.id"]) for m in listed or [] if isinstance(m, dict) and "@odata.id" in m]
        wanted = [m for m in members if not self._chassis or m.rstrip("/").endswith("/" + self._chassis)]
        if not wanted:
            raise UsageError(f"{self._server} has no chassis {self._chassis!r}; it has: {', '.join(members) or 'none'}")
        for path in wanted:
            chassis = self._get(path)
            for name, watts_path in _RESOURCES:
                if not isinstance(chassis, dict) or name not in chassis:
                    continue
                resource = self._link(chassis, name)
                try:
                    document = self._get(resource)
                    pick(document, watts_path, resource)
                except MeterGlitchError:
                    continue
                self._resource, self._watts_path = resource, watts_path
                return self._describe(root, path, name)
        raise MeterError(f"{self._server} has no chassis that reports its power ({', '.join(wanted)})")

    def _link(self, document: Any, name: str) -> str:
        try:
            return str(document[name]["@odata.id"])
        except (KeyError, TypeError):
            raise MeterError(f"{self._server} is no Redfish service: it has no {name}") from None

    def _describe(self, root: Any, chassis: str, resource: str) -> Capabilities:
        insecure = self._tls != "verify"
        return Capabilities(
            title=f"Redfish {self._server} {chassis} ({resource})",
            scope=Scope.BMC,
            period_s=1.0,
            power=PowerKind.INSTANT,
            identity={k: str(root[k]) for k in ("Vendor", "Product", "RedfishVersion", "UUID") if k in root},
            notes=(f"tls={self._tls}: the server's certificate was not verified",) if insecure else (),
        )

    def read(self) -> Reading:
        before = time.monotonic()
        document = self._get(self._resource)
        after = time.monotonic()
        watts = pick(document, self._watts_path, self._resource)
        return Reading(before, after, watts=watts, raw=keep(document, [self._watts_path]))

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None
