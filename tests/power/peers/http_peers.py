"""Meters that speak HTTP, as threads of the test: plugs, a Redfish service, and servers that misbehave."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

USER, PASSWORD = "joule", "so:rter&1"


class Peer:
    """State that a test can change while the server runs."""

    def __init__(self) -> None:
        self.watts = 43.5
        self.energy_wh = 100.0
        self.failing = 0  # answers with 503 this many times
        self.drips = False  # sends its answer byte by byte
        self.requests: list[str] = []
        self.authorizations: list[str] = []
        self.token = ""  # X-Auth-Token of the present request
        self.port = 0

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"


Answer = tuple[int, Any, dict[str, str]]
Act = Callable[[Peer, str, str, bytes], Answer]  # method, path, body
Handler = Callable[[Peer, str, str], Answer]


def own_certificate(directory: Path) -> Path:
    """A self-signed certificate with its key, as management controllers have them."""
    path = directory / "own.pem"
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    words += ["-subj", "/CN=bmc", "-keyout", str(path), "-out", str(directory / "certificate.pem")]
    subprocess.run(words, check=True, capture_output=True)
    path.write_text(path.read_text() + (directory / "certificate.pem").read_text())
    return path


class _Drips(io.RawIOBase):
    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def write(self, data: Any) -> int:
        for byte in bytes(data):
            self._connection.sendall(bytes([byte]))
            time.sleep(0.02)
        return len(data)


@contextmanager
def serve(answer: Handler, certificate: Path | None = None, act: Act | None = None) -> Iterator[Peer]:
    """Over TLS where there is a certificate. `act` answers POST and DELETE."""
    peer = Peer()

    class Requests(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 1 << 16  # an answer is one packet: the second of two would wait for 40 ms (Nagle's algorithm)

        def log_message(self, *words: object) -> None:
            """Quiet."""

        def do_GET(self) -> None:
            peer.requests.append(self.path)
            given = self.headers.get("Authorization", "")
            peer.authorizations.append(given)
            peer.token = self.headers.get("X-Auth-Token", "")
            if peer.failing > 0:
                peer.failing -= 1
                status, document, headers = 503, {}, {}
            else:
                status, document, headers = answer(peer, self.path, given)
            self._say(status, document, headers)

        def do_POST(self) -> None:
            peer.requests.append(f"{self.command} {self.path}")
            peer.token = self.headers.get("X-Auth-Token", "")
            content = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            self._say(*(act(peer, self.command, self.path, content) if act is not None else (405, {}, {})))

        do_DELETE = do_POST  # noqa: N815

        def _say(self, status: int, document: Any, headers: dict[str, str]) -> None:
            body = document if isinstance(document, bytes) else json.dumps(document).encode()
            if peer.drips:
                self.wfile = _Drips(self.connection)
            self.send_response(status)
            for key, value in headers.items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Requests)
    server.daemon_threads = True
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    peer.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield peer
    finally:
        server.shutdown()
        server.server_close()


def shelly(peer: Peer, path: str, given: str) -> Answer:
    switch = {"id": 0, "apower": peer.watts, "aenergy": {"total": peer.energy_wh, "by_minute": [0, 0, 0]}}
    answers: dict[str, Any] = {
        "/shelly": {"gen": 2, "app": "PlusPlugS", "ver": "1.4.4"},
        "/rpc/Shelly.GetStatus": {"sys": {}, "switch:0": switch},
        "/rpc/Switch.GetStatus?id=0": switch,
    }
    return (200, answers[path], {}) if path in answers else (404, {}, {})


def digest_shelly(peer: Peer, path: str, given: str) -> Answer:
    """RFC 7616 with SHA-256, checked from the server's side. /shelly is answered without a password."""
    if path == "/shelly":
        return shelly(peer, path, "")
    fields = {k: q or p for k, q, p in re.findall(r'(\w+)=(?:"([^"]*)"|([^\s,]+))', given)}

    def h(text: str) -> str:
        return hashlib.sha256(text.encode()).hexdigest()

    ha1, ha2 = h(f"{USER}:shelly:{PASSWORD}"), h(f"GET:{path}")
    wanted = h(f"{ha1}:n1:{fields.get('nc')}:{fields.get('cnonce')}:auth:{ha2}")
    if fields.get("response") != wanted:
        return 401, {}, {"WWW-Authenticate": 'Digest qop="auth", realm="shelly", nonce="n1", algorithm=SHA-256'}
    return shelly(peer, path, "")


def tasmota(peer: Peer, path: str, given: str) -> Answer:
    if not path.startswith("/cm?cmnd=Status%208"):
        return 404, {}, {}
    energy = {"Total": peer.energy_wh / 1000, "Power": peer.watts, "Voltage": 231}
    return 200, {"StatusSNS": {"Time": "2026-01-01T00:00:00", "ENERGY": energy}}, {}


def basic_ok(given: str) -> bool:
    return given == "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()


def guarded(peer: Peer, path: str, given: str) -> Answer:
    return simple(peer, path, given) if basic_ok(given) else (401, {}, {"WWW-Authenticate": 'Basic realm="meter"'})


def redfish(modern: bool) -> Handler:
    def answer(peer: Peer, path: str, given: str) -> Answer:
        path = path.rstrip("/")
        if path != "/redfish/v1" and not basic_ok(given):
            return 401, {"error": {}}, {}
        chassis: dict[str, Any] = {"Id": "1", "Power": {"@odata.id": "/redfish/v1/Chassis/1/Power"}}
        if modern:
            chassis["EnvironmentMetrics"] = {"@odata.id": "/redfish/v1/Chassis/1/EnvironmentMetrics"}
        tree = {
            "/redfish/v1": {"Vendor": "Peer", "RedfishVersion": "1.17.0", "Chassis": {"@odata.id": "/redfish/v1/Chassis"}},
            "/redfish/v1/Chassis": {"Members": [{"@odata.id": "/redfish/v1/Chassis/1"}]},
            "/redfish/v1/Chassis/1": chassis,
            "/redfish/v1/Chassis/1/EnvironmentMetrics": {"PowerWatts": {"Reading": peer.watts}},
            "/redfish/v1/Chassis/1/Power": {"PowerControl": [{"PowerConsumedWatts": peer.watts}]},
        }
        return (200, tree[path], {}) if path in tree else (404, {}, {})

    return answer


def garbage(peer: Peer, path: str, given: str) -> Answer:
    return 200, b"<html>not json</html>", {}


def silent(peer: Peer, path: str, given: str) -> Answer:
    time.sleep(3.0)
    return 200, {}, {}


def dripping(peer: Peer, path: str, given: str) -> Answer:
    """Takes five seconds for its header, and never pauses for long."""
    peer.drips = True
    return 200, {}, {"X-Long": "x" * 100}


def redirecting(peer: Peer, path: str, given: str) -> Answer:
    return 302, {}, {"Location": "http://127.0.0.1:1/"}


def simple(peer: Peer, path: str, given: str) -> Answer:
    meters = [{"power": "0.1"}, {"power": peer.watts / 1000, "total": peer.energy_wh * 60}]
    return 200, {"emeters": meters, "nothing": None, "text": "warm"}, {}
