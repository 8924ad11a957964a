"""Addresses of meters in a network: //[USER@]HOST[:PORT][/PATH][?QUERY]."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from ecosort_power.encoding import require_utf8
from ecosort_power.errors import UsageError

# A message says it of a meter that does not answer at its address.
NOT_THERE = "look whether it is switched on and in this network, and whether its address is right"

_HOST = re.compile(r"^[\w.-]+$|^[0-9A-Fa-f:.]+(%[\w.-]+)?$")


@dataclass(frozen=True, slots=True)
class Address:
    host: str  # an IPv6 address without its brackets
    port: int | None
    user: str | None
    path: str  # without slashes at its ends, not decoded
    query: str
    written: str = ""  # the path as it was written, with its slashes

    def at(self, port: int | None = None) -> str:
        """Writes HOST or HOST:PORT as a URL has it; `port` where the address has none."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        chosen = self.port if self.port is not None else port
        return host if chosen is None else f"{host}:{chosen}"


def split_address(scheme: str, address: str, form: str) -> Address:
    """UsageError, which says the right `form`, for what is no address."""
    require_utf8(address, f"meter {scheme}:{address[:200]}")
    wrong = UsageError(f"meter {scheme}:{address[:200]} is not of the form {form}")
    try:
        url = urlsplit(f"x:{address}")
        host, port = url.hostname, url.port
    except ValueError:  # a port that is no number, half an IPv6 address
        raise wrong from None
    if not address.startswith("//") or not host or not _HOST.match(host) or port == 0:
        raise wrong
    user = unquote(url.username) if url.username else None
    return Address(host, port, user, url.path.strip("/"), url.query, url.path)
