"""Decides who may see and change the queue by the page.

Host       must be a name that the service listens at (DNS rebinding)
Origin     of a change must be this page: the host and port that was asked, or, behind a proxy, a name given with --host
token      wherever there is one: as `Authorization: Bearer`, or in the cookie that the login sets
changes    POST only, with such an Origin (or Sec-Fetch-Site: same-origin) and the form's own token
headers    nothing but what this service serves; no frames; nothing is kept by caches
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ecosort_appliance.errors import QueueError

COOKIE = "ecosort_session"
_LEAST_TOKEN = 16
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with no-referrer browsers hide the Origin of forms
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
OPEN_PATHS = ("/login", "/static/")
_FOREIGN = "This did not come from this page; behind a proxy, start the service with --host NAME.\n"
_PORTS = {"http": ":80", "https": ":443"}


def _make_private(directory: Path) -> None:
    """And what is missing above it."""
    if not directory.exists():
        _make_private(directory.parent)
        directory.mkdir(mode=0o700, exist_ok=True)


def read_token(path: Path) -> str:
    """The token in a file that only its owner may read; a new one where there is no file, in a directory that is made, too."""
    try:
        _make_private(path.parent)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(32) + "\n")
    except FileExistsError:
        pass
    except OSError as error:
        raise QueueError(f"--token-file {path}: {error.strerror}") from None
    try:
        status = path.stat()
        token = path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        raise QueueError(f"--token-file {path} cannot be read") from None
    if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise QueueError(f"others may read --token-file {path}; chmod 600 it")
    if len(token) < _LEAST_TOKEN or not token.isascii() or not token.isprintable():
        raise QueueError(f"--token-file {path} must hold {_LEAST_TOKEN} printable ASCII characters or more on one line")
    return token


def is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    return host == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)


def refuse_name(name: str) -> None:
    """QueueError for a --host that no Host header can be: an address with a scheme or a port, a path."""
    meant = host_of(_authority(name) or name)
    if host_of(name) != name.strip("[]").lower() or not meant:
        raise QueueError(f"--host {name[:60]!r}: write the name alone{f', {meant}' if meant else ''}")


class Guard:
    """The middleware around everything that is served.

    `hosts` are names without ports by which the page may be asked for. `own_names` may be asked for, too, and are this page's
    with any port and scheme: a proxy with TLS has others than this service.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str], own_names: Iterable[str], token: str | None) -> None:
        self._app = app
        self._own_names = frozenset(map(host_of, own_names))
        self._hosts = self._own_names | frozenset(host.lower() for host in hosts)
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(HTTPConnection(scope), scope["method"])
        await (refusal or self._app)(scope, receive, with_headers)

    def _refusal(self, request: HTTPConnection, method: str) -> Response | None:
        headers = request.headers
        if not self._is_ours(host_of(headers.get("host", ""))):
            return PlainTextResponse("This name is not served; start the service with --host NAME.\n", 421)
        if method not in ("GET", "HEAD", "POST"):
            return PlainTextResponse("Not allowed.\n", 405)
        if method == "POST" and not self._comes_from_here(headers):
            return PlainTextResponse(_FOREIGN, 403)
        if self._token is None or request.url.path.startswith(OPEN_PATHS) or self._knows_token(request):
            return None
        if method == "GET" and "text/html" in headers.get("accept", ""):
            return RedirectResponse("/login", 303)
        return PlainTextResponse("A token is needed.\n", 401, {"WWW-Authenticate": "Bearer"})

    def _is_ours(self, host: str) -> bool:
        """A rebound name is a name: addresses are safe."""
        return host in self._hosts or is_address(host)

    def _comes_from_here(self, headers: Headers) -> bool:
        """Browsers say where a form comes from; a program that knows the token by heart says nothing and needs no protection."""
        origin = headers.get("origin")
        if origin is not None:
            return host_of(_authority(origin)) in self._own_names or _is_same_place(origin, headers.get("host", ""))
        if (site := headers.get("sec-fetch-site")) is not None:
            return site == "same-origin"
        return headers.get("authorization", "").lower().startswith("bearer ")

    def _knows_token(self, request: HTTPConnection) -> bool:
        assert self._token is not None
        kind, _, given = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and same(given, self._token):
            return True
        return same(request.cookies.get(COOKIE, ""), session_of(self._token))


def same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode(errors="replace"), wanted.encode())


def session_of(token: str) -> str:
    """Returns what the cookie holds: not the token, and of no use once that has changed."""
    return hashlib.sha256(b"ecosort page session\0" + token.encode()).hexdigest()


def host_of(header: str) -> str:
    """Without the port; of an IPv6 address without its brackets."""
    try:
        return (urlsplit(f"//{header}").hostname or "").lower()
    except ValueError:
        return ""


def _authority(origin: str) -> str:
    """Host and port of an Origin."""
    return origin.partition("://")[2]


def _is_same_place(origin: str, host: str) -> bool:
    """A Host that names the port which an Origin leaves out, because its scheme has it, is the same place."""
    port = _PORTS.get(origin.partition("://")[0].lower(), "")
    return bool(_authority(origin)) and host.lower().removesuffix(port) == _authority(origin).lower().removesuffix(port)
