"""JSON over HTTP(S) with one kept-alive connection; no redirects, no proxies. Standard library only.

Authentication: basic, digest (MD5 and SHA-256, as plugs use it) or bearer. Errors never show the query of an address,
where some plugs want their password.
"""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import re
import secrets
import ssl
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ecosort_power.errors import MeterError, MeterGlitchError

MAX_ANSWER_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Login:
    """How to log in; the secret lives here and nowhere else."""

    kind: str  # basic, digest, bearer
    user: str
    secret: str

    def __repr__(self) -> str:
        return f"Login({self.kind}, {self.user})"


def _digest_header(challenge: str, login: Login, path: str) -> str:
    """RFC 7616 with qop=auth."""
    fields = {k.lower(): q or p for k, q, p in re.findall(r'(\w+)=(?:"([^"]*)"|([^\s,]+))', challenge)}
    algorithm = fields.get("algorithm", "MD5")
    new = hashlib.sha256 if algorithm.upper().startswith("SHA-256") else hashlib.md5

    def digest(text: str) -> str:
        return new(text.encode()).hexdigest()

    nonce, realm = fields.get("nonce", ""), fields.get("realm", "")
    cnonce, count = secrets.token_hex(8), "00000001"
    ha1, ha2 = digest(f"{login.user}:{realm}:{login.secret}"), digest(f"GET:{path}")
    response = digest(f"{ha1}:{nonce}:{count}:{cnonce}:auth:{ha2}")
    parts = {"username": login.user, "realm": realm, "nonce": nonce, "uri": path, "response": response, "cnonce": cnonce}
    if "opaque" in fields:
        parts["opaque"] = fields["opaque"]
    quoted = ", ".join(f'{k}="{v}"' for k, v in parts.items())
    return f"Digest {quoted}, qop=auth, nc={count}, algorithm={algorithm}"


class JsonClient:
    """GET requests to one server. Used by one thread. `tls` is verify or insecure (self-signed certificates)."""

    def __init__(self, base: str, timeout_s: float, login: Login | None = None, tls: str = "verify") -> None:
        url = urlsplit(base)
        if url.scheme not in ("http", "https") or not url.hostname:
            raise MeterError(f"{base} is not an http:// or https:// address")
        self.server = f"{url.scheme}://{url.hostname}" + (f":{url.port}" if url.port else "")
        self._login = login
        self._connection: http.client.HTTPConnection
        if url.scheme == "https":
            context = ssl.create_default_context()
            if tls == "insecure":
                context.check_hostname = False
                context.verify_mode = ssl.CERT_NONE
            self._connection = http.client.HTTPSConnection(url.hostname, url.port, timeout=timeout_s, context=context)
        else:
            self._connection = http.client.HTTPConnection(url.hostname, url.port, timeout=timeout_s)

    def get(self, path: str) -> Any:
        """The decoded answer. MeterError for what will not go away by itself, MeterGlitchError for what may."""
        status, body, challenge = self._exchange(path, self._authorization())
        if status == 401 and self._login is not None and self._login.kind == "digest":
            status, body, challenge = self._exchange(path, _digest_header(challenge, self._login, path))
        where = f"{self.server}{urlsplit(path).path}"
        if status in (401, 403):
            hint = "wrong user or password" if self._login else "it wants a user and a password"
            raise MeterError(f"{where} refuses the request ({status}): {hint}")
        if 300 <= status < 400:
            raise MeterError(f"{where} answers with a redirect ({status}); give the final address")
        if status != 200:
            kind = MeterGlitchError if status >= 500 or status == 429 else MeterError
            raise kind(f"{where} answers with status {status}")
        try:
            return json.loads(body)
        except ValueError:
            raise MeterGlitchError(f"{where} answers with something that is no JSON: {body[:40]!r}") from None

    def _authorization(self) -> str | None:
        if self._login is None or self._login.kind == "digest":
            return None
        if self._login.kind == "bearer":
            return f"Bearer {self._login.secret}"
        pair = f"{self._login.user}:{self._login.secret}".encode()
        return "Basic " + base64.b64encode(pair).decode()

    def _exchange(self, path: str, authorization: str | None) -> tuple[int, bytes, str]:
        headers = {"Accept": "application/json"}
        if authorization is not None:
            headers["Authorization"] = authorization
        for attempt in (1, 2):  # a kept-alive connection may have been closed by the server since the last request
            reused = self._connection.sock is not None
            try:
                self._connection.request("GET", path, headers=headers)
                response = self._connection.getresponse()
                body = response.read(MAX_ANSWER_BYTES)
                return response.status, body, response.getheader("WWW-Authenticate", "")
            except TimeoutError:
                self._connection.close()
                raise MeterGlitchError(f"{self.server} did not answer in time") from None
            except ssl.SSLCertVerificationError as error:
                self._connection.close()
                raise MeterError(
                    f"{self.server}: its certificate cannot be verified ({error.verify_message}); "
                    "#tls=insecure accepts it, which is recorded"
                ) from None
            except (OSError, http.client.HTTPException) as error:
                self._connection.close()
                if attempt == 2 or not reused:
                    raise MeterGlitchError(f"{self.server} cannot be read: {error or type(error).__name__}") from None
        raise AssertionError("unreachable")

    def close(self) -> None:
        self._connection.close()


def pick(document: Any, path: str, where: str) -> float:
    """The number at a path like `StatusSNS.ENERGY.Power` or `emeters[0].power`. MeterGlitchError says what is there instead."""
    value = document
    for key, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path):
        try:
            value = value[int(index)] if index else value[key]
        except (KeyError, IndexError, TypeError):
            there = ", ".join(value) if isinstance(value, dict) else type(value).__name__
            raise MeterGlitchError(f"{where} has no {path} (at {key or index}: {there[:80]})") from None
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            raise MeterGlitchError(f"{where}: {path} is {value[:40]!r}, no number") from None
    if value is None:
        return float("nan")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise MeterGlitchError(f"{where}: {path} is no number")
    return float(value)
