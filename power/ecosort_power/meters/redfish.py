"""Power from a management controller over Redfish: EnvironmentMetrics, the older Power resource, power supplies or sensors.

Address: `redfish://USER@HOST[:PORT][/CHASSIS]`; the password comes from REDFISH_PASSWORD or a password file. TLS unless
`#tls=off`. A chassis that another one contains, or that is a component or module, is not taken for the machine; where several
are left, or one has several powers (`#source=`), a person says which. AverageConsumedWatts and its kin cover a period that cannot
be chosen; they are not used.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ecosort_power.errors import MeterError, MeterGlitchError, UsageError
from ecosort_power.meters.base import Meter, MeterSpec
from ecosort_power.meters.redfish_power import Chassis, Service, Source, around, link, parents, text_of
from ecosort_power.raw import keep
from ecosort_power.reading import Capabilities, PowerKind, Reading, Scope
from ecosort_power.transports.address import split_address
from ecosort_power.transports.credentials import require_secret
from ecosort_power.transports.http import HttpClient, Login, pick

_LOGINS = ("either", "basic", "session")
Choice = tuple[Chassis, Source]


def watts_of(answer: Any) -> float:
    """The power in a stored answer: pairs of a path and the document it leads into; or, as older results have it, one document.
    MeterGlitchError if there is none."""
    if isinstance(answer, list):
        return sum(pick(document, path, "the stored answer") for path, document in answer)
    old = "PowerWatts.Reading" if "PowerWatts" in answer else "PowerControl[0].PowerConsumedWatts"
    return pick(answer, old, "the stored answer")


class RedfishMeter(Meter):
    """One chassis' power, found by walking the service from its root."""

    usual_scope: ClassVar[Scope] = Scope.BMC
    settings_known: ClassVar[Mapping[str, str]] = {
        "tls": "verify, insecure or off",
        "auth": "basic or session; default: basic, and a session where that is refused",
        "source": "which power of a chassis that has several, as the message about them names it",
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
        self._auth = spec.settings.get("auth", "either")
        if self._auth not in _LOGINS:
            raise UsageError("redfish: auth must be basic or session")
        self._server = f"{'http' if self._tls == 'off' else 'https'}://{address.at()}"
        self._user = address.user
        self._chassis = address.path
        self._client: HttpClient | None = None
        self._source: Source | None = None

    def open(self) -> Capabilities:
        secret = require_secret(self.spec.settings, ("REDFISH_PASSWORD",), self._server)
        login = Login(self._auth, self._user, secret)
        self._client = HttpClient(
            self._server, self.spec.number("timeout", 10.0), login, "insecure" if self._tls == "insecure" else "verify"
        )
        try:
            return self._find()
        except MeterGlitchError as error:
            self.close()
            raise MeterError(str(error)) from error
        except (MeterError, UsageError):
            self.close()
            raise

    def _get(self, path: str) -> Any:
        if self._client is None:
            raise MeterError("the Redfish session is closed")
        return self._client.get(path)

    def _find(self) -> Capabilities:
        root = self._get("/redfish/v1/")
        if self._client is not None and (sessions := link(root.get("Links") if isinstance(root, dict) else None, "Sessions")):
            self._client.sessions_at(sessions)
        collection = link(root, "Chassis")
        if not collection:
            raise MeterError(f"{self._server} is no Redfish service: it has no Chassis")
        service = Service(self._get)
        first = self._get(collection)
        members = [link({"": member}, "") for member in service.pages(collection, first if isinstance(first, dict) else {})]
        listed = [path for path in members if path]
        wanted = [path for path in listed if not self._chassis or path.rstrip("/").endswith("/" + self._chassis)]
        if not wanted:
            raise UsageError(f"{self._server} has no chassis {self._chassis!r}; it has: {', '.join(listed) or 'none'}")
        found = [Chassis(path, document) for path in wanted if (document := service.attempt(path))]
        choices = [(c, s) for c in found for s in self._sources(service, c)] if self._chassis else self._whole(service, found)
        chassis, self._source = self._only(choices, service, wanted)
        known = {c.path for c in found}
        unread = [] if self._chassis else [path or "a part of the list" for path in members if path not in known]
        return self._describe(root, chassis, self._source, unread)

    def _sources(self, service: Service, chassis: Chassis) -> list[Source]:
        wanted = self.spec.settings.get("source")
        return service.best(chassis) if wanted is None else [s for s in service.sources(chassis) if s.name == wanted]

    def _whole(self, service: Service, found: Sequence[Chassis]) -> list[Choice]:
        """The chassis that may be the machine: no part of one, nor inside one that reports its power. UsageError where only
        parts of a machine report theirs."""
        parent = parents(found)
        parts = {c.path for c in found if c.is_part}
        parts |= {c.path for c in found if parts.intersection(around(c.path, parent))}
        choices: list[Choice] = []
        for chassis in sorted(found, key=lambda c: len(around(c.path, parent))):
            outer = around(chassis.path, parent)
            if chassis.path not in parts and all(c.path not in outer for c, _ in choices):
                choices += [(chassis, source) for source in self._sources(service, chassis)]
        of_parts = [] if choices else [(c, s) for c in found if c.path in parts for s in self._sources(service, c)]
        if of_parts:
            raise UsageError(f"{self._server}: only parts of a machine report their power: {self._ask(of_parts)}")
        return choices

    def _only(self, choices: Sequence[Choice], service: Service, wanted: Sequence[str]) -> Choice:
        if not choices:
            why = "; ".join(dict.fromkeys(service.problems))[:400] or "none of their resources has watts"
            source = f" by the source {self.spec.settings['source']!r}" if "source" in self.spec.settings else ""
            raise MeterError(f"{self._server} has no chassis that reports its power{source} ({', '.join(wanted)[:200]}): {why}")
        if len(choices) > 1:
            raise UsageError(f"{self._server} reports several powers: {self._ask(choices)}")
        return choices[0]

    def _ask(self, choices: Sequence[Choice]) -> str:
        said = "; ".join(text_of(*choice) for choice in choices)
        several = len({chassis.path for chassis, _ in choices}) > 1
        example = f"{self.spec.scheme}:{self.spec.address.rstrip('/')}/{choices[0][0].name}"
        return f"{said}. Say which: {example if several else f'#source={choices[0][1].name}'}"

    def _describe(self, root: Any, chassis: Chassis, source: Source, unread: Sequence[str]) -> Capabilities:
        notes = [f"tls={self._tls}: the server's certificate was not verified"] if self._tls != "verify" else []
        notes += [f"it is a {chassis.kind}: a part of a machine"] if chassis.is_part else []
        notes += [source.note] if source.note else []
        notes += [f"the machine may be another chassis: {', '.join(unread)[:200]} could not be read"] if unread else []
        return Capabilities(
            title=f"Redfish {self._server} {chassis.path} ({source.name})",
            scope=Scope.COMPONENT if chassis.is_part else source.scope,
            period_s=1.0,
            power=PowerKind.INSTANT,
            identity={k: str(root[k]) for k in ("Vendor", "Product", "RedfishVersion", "UUID") if k in root},
            notes=tuple(notes),
        )

    def read(self) -> Reading:
        if self._source is None:
            raise MeterError("the Redfish session is closed")
        before = time.monotonic()
        documents = {resource: self._get(resource) for resource in dict.fromkeys(where for where, _ in self._source.values)}
        after = time.monotonic()
        watts = sum(pick(documents[where], path, where) for where, path in self._source.values)
        kept = [f"[{json.dumps(path)},{keep(documents[where], [path])}]" for where, path in self._source.values]
        return Reading(before, after, watts=watts, raw=f"[{','.join(kept)}]")

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None
