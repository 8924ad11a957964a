"""HTTP(S) with one kept-alive connection, by httpx; no redirects but to the same address with a slash at its end, no proxies,
nothing from .netrc.

Authentication: basic, digest (RFC 7616, MD5 and SHA-256, as plugs use it), bearer, or the sessions of Redfish. Errors never show
the query of an address, where some plugs want their password.
"""

from __future__ import annotations

import re
import ssl
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpcore
import httpx

from ecosort_power.errors import MeterError, MeterGlitchError, SilentMeterError, UsageError
from ecosort_power.nesting import parse_json
from ecosort_power.transports.address import NOT_THERE

MAX_ANSWER_BYTES = 4 << 20
AUTHENTICATIONS = ("basic", "digest", "bearer")
_KEPT_S = 5.0  # a connection that no one uses; as httpx has it
LOGOUT_S = 2.0  # a server that is gone must not hold up the end
SESSIONS = "/redfish/v1/SessionService/Sessions"  # where the root of a service does not say it
TLS_MODES = ("verify", "insecure")
WAIT_LONGER = "; #timeout=SECONDS waits longer"  # advice for a meter


@dataclass(frozen=True, slots=True)
class Login:
    """Says how to log in; the secret lives here and nowhere else."""

    kind: str  # one of AUTHENTICATIONS; for Redfish also session, or either: basic, and a session where that is refused
    user: str
    secret: str

    def __repr__(self) -> str:
        return f"Login({self.kind}, {self.user})"

    def auth(self) -> httpx.Auth:
        if self.kind == "basic":
            return httpx.BasicAuth(self.user, self.secret)
        if self.kind == "digest":
            return httpx.DigestAuth(self.user, self.secret)
        if self.kind == "bearer":
            return _Bearer(self.secret)
        if self.kind in ("session", "either"):
            return Session(self.user, self.secret, self.kind == "either")
        raise UsageError(f"auth={self.kind} is not known; it is one of: {', '.join(AUTHENTICATIONS)}")


class _Bearer(httpx.Auth):
    def __init__(self, token: str) -> None:
        self._token = token

    def auth_flow(self, request: httpx.Request) -> Iterator[httpx.Request]:  # type: ignore[override]
        request.headers["Authorization"] = f"Bearer {self._token}"
        yield request


class Session(httpx.Auth):
    """A session of Redfish (DSP0266): user and password are sent once, then a token with each request. It is begun anew where the
    service refuses the token, because it has expired. `log_out` ends it: a service allows few of them."""

    def __init__(self, user: str, secret: str, basic_first: bool) -> None:
        self.path = SESSIONS
        self._user, self._secret = user, secret
        self._basic = httpx.BasicAuth(user, secret) if basic_first else None
        self._token: str | None = None
        self._place: str | None = None  # what is deleted at the end
        self._refused: set[str] = set()  # what a new token does not open

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        if self._token is not None:
            request.headers["X-Auth-Token"] = self._token
            response = yield request
            if response.status_code != 401 or request.url.path in self._refused:
                return
        else:  # the root of a service, which says where sessions are begun, needs neither
            response = yield request if self._basic is None else next(self._basic.auth_flow(request))
            if response.status_code != 401:
                return
        yield from self._log_in(request)
        request.headers.pop("Authorization", None)
        request.headers["X-Auth-Token"] = self._token or ""
        response = yield request
        if response.status_code == 401:
            self._refused.add(request.url.path)

    def _log_in(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        answer = yield self._question(request, self.path)
        if 300 <= answer.status_code < 400 and not self.path.endswith("/"):
            self.path += "/"
            answer = yield self._question(request, self.path)
        where, status = request.url.copy_with(query=None), answer.status_code
        token = answer.headers.get("X-Auth-Token")
        if status in (400, 401, 403, 404, 405, 501):  # the last three have no sessions: what was refused before stays refused
            raise MeterError(f"{where} refuses the request (401): wrong user or password")
        if status not in (200, 201) or not token:
            raise MeterGlitchError(f"{request.url.join(self.path)} gives no session (status {status}): too many may be open")
        self._token, self._basic = token, None
        self._place = urlsplit(answer.headers.get("Location", "")).path or None

    def _question(self, request: httpx.Request, path: str) -> httpx.Request:
        names = {"UserName": self._user, "Password": self._secret}
        return httpx.Request("POST", request.url.join(path), json=names, extensions=request.extensions)

    def log_out(self, client: httpx.Client, server: str) -> None:
        """Ends the session as far as the service answers; else it ends by itself."""
        if self._token is None or self._place is None:
            return
        headers, self._token = {"X-Auth-Token": self._token}, None
        try:
            client.delete(f"{server}{self._place}", headers=headers, auth=httpx.Auth())
        except (httpx.HTTPError, httpx.InvalidURL):
            return


def _verification(tls: str) -> ssl.SSLContext:
    if tls not in TLS_MODES:
        raise UsageError(f"tls={tls} is not known; it is one of: {', '.join(TLS_MODES)}")
    context = ssl.create_default_context()
    if tls == "insecure":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _certificate_problem(error: BaseException | None) -> str | None:
    """httpx wraps the error of the TLS library, several times."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return error.verify_message
        error = error.__cause__ or error.__context__
    return None


class _Deadline(httpcore.NetworkBackend):
    """Ends an exchange at one time, where httpx limits each call on the socket by itself: a server that sends a byte now and then
    would never be too slow."""

    def __init__(self) -> None:
        self._until_s = 0.0
        self._network = httpcore.SyncBackend()

    def begin(self, patience_s: float) -> None:
        self._until_s = time.monotonic() + patience_s

    def left_s(self) -> float:
        left_s = self._until_s - time.monotonic()
        if left_s <= 0:
            raise httpcore.ReadTimeout("too slow")
        return left_s

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, *rest: Any, **more: Any) -> httpcore.NetworkStream:
        return _DeadlineStream(self._network.connect_tcp(host, port, self.left_s(), *rest, **more), self)


class _DeadlineStream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream, deadline: _Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._deadline.left_s())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._deadline.left_s())

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _DeadlineStream(self._stream.start_tls(ssl_context, server_hostname, self._deadline.left_s()), self._deadline)


class _Transport(httpx.HTTPTransport):
    """The transport of httpx, which lets nobody name the network."""

    def __init__(self, verify: ssl.SSLContext | bool, deadline: _Deadline) -> None:
        super().__init__(verify=verify, trust_env=False)
        context = verify if isinstance(verify, ssl.SSLContext) else None
        self._pool = httpcore.ConnectionPool(ssl_context=context, keepalive_expiry=_KEPT_S, network_backend=deadline)


class HttpClient:
    """GET requests to one server. Used by one thread. `tls` is verify or insecure (self-signed certificates)."""

    def __init__(self, base: str, timeout_s: float, login: Login | None = None, tls: str = "verify") -> None:
        """UsageError for an address or a setting that cannot be used."""
        try:
            url = httpx.URL(base)
            host = url.host  # decoded, which an international name may not allow
        except (httpx.InvalidURL, ValueError):
            raise UsageError(f"{base[:200]!r} is no address of a server; write HOST or HOST:PORT") from None
        if url.scheme not in ("http", "https") or not host:
            raise UsageError(f"{base[:200]!r} is no http:// or https:// address with a host")
        self.server = f"{url.scheme}://{url.netloc.decode('ascii')}"
        self._login = login
        self._timeout_s = timeout_s
        self._auth = login.auth() if login is not None else None
        verify = _verification(tls) if url.scheme == "https" else False
        self._deadline = _Deadline()
        self._client = httpx.Client(auth=self._auth, transport=_Transport(verify, self._deadline), trust_env=False)
        self._answered = False
        self._slashed: dict[str, str] = {}  # what was asked for -> the same with a slash, where the server wants one

    def get(self, path: str) -> Any:
        """The decoded JSON. MeterError for what will not go away by itself, MeterGlitchError for what may."""
        body = self.get_text(path)
        try:
            return parse_json(body)
        except ValueError:
            raise MeterGlitchError(f"{self._where(path)} answers with something that is no JSON: {body[:40]!r}") from None

    def sessions_at(self, path: str) -> None:
        """Says where sessions are begun."""
        if isinstance(self._auth, Session):
            self._auth.path = path

    def get_text(self, path: str) -> str:
        """The answer as text; errors as of `get`."""
        response, body = self._exchange(self._slashed.get(path, path))
        if self._wants_slash(response, path):
            response, body = self._exchange(self._slashed[path])
        self._judge(response, path)
        return body.decode(response.encoding or "utf-8", errors="replace")

    def _wants_slash(self, response: httpx.Response, path: str) -> bool:
        """True for a redirect to the same address with a slash at its end, as some management controllers answer."""
        if not 300 <= response.status_code < 400 or path in self._slashed:
            return False
        parts = urlsplit(path)
        slashed = parts._replace(path=f"{parts.path}/").geturl()
        try:
            target = httpx.URL(urljoin(f"{self.server}{path}", response.headers.get("Location", "")))
            wanted = httpx.URL(f"{self.server}{slashed}")
        except (httpx.InvalidURL, ValueError):
            return False
        if target == wanted:
            self._slashed[path] = slashed
        return target == wanted

    def _where(self, path: str) -> str:
        return f"{self.server}{urlsplit(path).path}"

    def _judge(self, response: httpx.Response, path: str) -> None:
        status, where = response.status_code, self._where(path)
        if status in (401, 403):
            hint = "wrong user or password" if self._login else "it wants a user and a password"
            if self._login is not None and self._login.kind == "bearer":
                hint = "wrong token"
            raise MeterError(f"{where} refuses the request ({status}): {hint}")
        if 300 <= status < 400:
            raise MeterError(f"{where} answers with a redirect ({status}); give the final address")
        if status != 200:
            kind = MeterGlitchError if status >= 500 or status == 429 else MeterError
            raise kind(f"{where} answers with status {status}")

    def _exchange(self, path: str) -> tuple[httpx.Response, bytes]:
        for attempt in (1, 2):  # a kept-alive connection may have been closed by the server since the last request
            try:
                found = self._once(path)
            except httpx.TimeoutException:
                raise SilentMeterError(f"{self.server} did not answer in time ({self._timeout_s:g} s){WAIT_LONGER}") from None
            except (httpx.RequestError, httpx.InvalidURL, UnicodeError, ValueError) as error:
                if problem := _certificate_problem(error):
                    raise MeterError(
                        f"{self.server}: its certificate cannot be verified ({problem}); "
                        "#tls=insecure accepts it, which is recorded"
                    ) from None
                if attempt == 2 or not self._answered or not isinstance(error, (httpx.RemoteProtocolError, httpx.ReadError)):
                    raise SilentMeterError(f"{self.server} cannot be read: {_reason(error)}; {NOT_THERE}") from None
            else:
                self._answered = True
                return found
        raise AssertionError("unreachable")

    def _once(self, path: str) -> tuple[httpx.Response, bytes]:
        self._deadline.begin(self._timeout_s)
        body = b""
        with self._client.stream("GET", f"{self.server}{path}", headers={"Accept": "*/*"}) as response:
            for part in response.iter_bytes():
                body += part
                if len(body) > MAX_ANSWER_BYTES:
                    raise MeterGlitchError(f"{self._where(path)} answers with more than {MAX_ANSWER_BYTES >> 20} MiB")
        return response, body

    def close(self) -> None:
        if isinstance(self._auth, Session):
            self._deadline.begin(LOGOUT_S)
            self._auth.log_out(self._client, self.server)
        self._client.close()


def _reason(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


def look_up(document: Any, path: str, where: str) -> Any:
    """The value at a path like `StatusSNS.ENERGY.Power` or `emeters[0].power`. MeterGlitchError says what is there instead."""
    value = document
    for key, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path):
        try:
            value = value[int(index)] if index else value[key]
        except (KeyError, IndexError, TypeError):
            there = ", ".join(map(str, value)) if isinstance(value, dict) else type(value).__name__
            raise MeterGlitchError(f"{where} has no {path} (at {key or index}: {there[:80]})") from None
    return value


def written_number(text: str) -> float:
    """ValueError for what only Python takes for a number: `4_1`, digits of other scripts."""
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return float(text)


def pick(document: Any, path: str, where: str) -> float:
    """The number at a path; null is NaN. MeterGlitchError says what is there instead."""
    value = look_up(document, path, where)
    if isinstance(value, str):
        try:
            return written_number(value)
        except ValueError:
            raise MeterGlitchError(f"{where}: {path} is {value[:40]!r}, no number") from None
    if value is None:
        return float("nan")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise MeterGlitchError(f"{where}: {path} is no number")
    try:
        return float(value)
    except OverflowError:
        raise MeterGlitchError(f"{where}: {path} is no number of watts or joules") from None
