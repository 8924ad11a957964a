"""A plug of the newer kind, as Tapo plugs are: KLAP over HTTP in its second version (two handshakes over the account, then AES),
and its methods inside.

Both sides compute: a = SHA-256(SHA-1(name) + SHA-1(password)); of the two seeds s and r of 16 bytes the proofs SHA-256(s + r + a)
of the plug and SHA-256(r + s + a) of the client; with t = s + r + a the key SHA-256("lsk" + t)[:16], the signing key
SHA-256("ldk" + t)[:28] and the vector SHA-256("iv" + t), whose last four bytes are the first number of a message.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.padding import PKCS7

from .captured import TAPO_P110M

ACCOUNT, PASSWORD = "joule@example.org", "sörter"
_UNKNOWN_METHOD = -1002


def sha256(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def account_hash(name: str, password: str) -> bytes:
    return sha256(hashlib.sha1(name.encode()).digest(), hashlib.sha1(password.encode()).digest())


class Session:
    """Holds what both handshakes leave."""

    def __init__(self, local: bytes, remote: bytes, account: bytes) -> None:
        self.proof = sha256(local, remote, account)
        self.wanted = sha256(remote, local, account)
        every = local + remote + account
        self._key, self._signing, self._vector = sha256(b"lsk", every)[:16], sha256(b"ldk", every)[:28], sha256(b"iv", every)[:12]
        self.open = False

    def _cipher(self, number: bytes) -> Cipher[modes.CBC]:
        return Cipher(algorithms.AES(self._key), modes.CBC(self._vector + number))

    def read(self, message: bytes, number: int) -> Any:
        """ValueError if its signature is not of this session."""
        count = number.to_bytes(4, "big", signed=True)
        if message[:32] != sha256(self._signing, count, message[32:]):
            raise ValueError("signature")
        with_padding = self._cipher(count).decryptor().update(message[32:])
        unpadder = PKCS7(128).unpadder()
        return json.loads(unpadder.update(with_padding) + unpadder.finalize())

    def write(self, answer: Any, number: int) -> bytes:
        count, padder = number.to_bytes(4, "big", signed=True), PKCS7(128).padder()
        padded = padder.update(json.dumps(answer).encode()) + padder.finalize()
        hidden = self._cipher(count).encryptor().update(padded)
        return sha256(self._signing, count, hidden) + hidden


def answer(question: dict[str, Any], answers: Mapping[str, Any]) -> dict[str, Any]:
    """Answers one method as the plug does, or several at once."""
    method = question["method"]
    if method == "multipleRequest":
        each = [{"method": q["method"], **answer(q, answers)} for q in question["params"]["requests"]]
        return {"result": {"responses": each}, "error_code": 0}
    if method not in answers:
        return {"error_code": _UNKNOWN_METHOD}
    return {"result": answers[method], "error_code": 0}


class _Talk(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    sessions: dict[str, Session]
    answers: Mapping[str, Any]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        url = urlsplit(self.path)
        if url.path == "/app/handshake1":
            remote, name = os.urandom(16), os.urandom(8).hex().upper()
            self.sessions[name] = session = Session(body, remote, account_hash(ACCOUNT, PASSWORD))
            self._say(200, remote + session.proof, f"TP_SESSIONID={name};TIMEOUT=86400")
            return
        found = self.sessions.get(self.headers.get("Cookie", "").partition("TP_SESSIONID=")[2].partition(";")[0])
        if found is not None and url.path == "/app/handshake2":
            found.open = body == found.wanted
            self._say(200 if found.open else 403)
        elif found is not None and found.open and url.path == "/app/request":
            number = int(parse_qs(url.query)["seq"][0])
            self._say(200, found.write(answer(found.read(body, number), self.answers), number))
        else:
            self._say(403)

    def _say(self, status: int, body: bytes = b"", cookie: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if cookie:
            self.send_header("Set-Cookie", cookie)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Says nothing."""


@contextmanager
def serve(answers: Mapping[str, Any] = TAPO_P110M) -> Iterator[int]:
    """Its port. `answers`: what it says to each method."""
    handler = type("Talk", (_Talk,), {"sessions": {}, "answers": answers})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()
