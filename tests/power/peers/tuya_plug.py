"""A plug of Tuya: its protocols 3.3, 3.4 and 3.5 from the side of the device, by AES and HMAC alone.

It answers from a memory that is new only after it was asked to measure, and then it also sends what changed, unasked.
"""

from __future__ import annotations

import binascii
import hmac
import json
import socketserver
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.ciphers import Cipher, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.ciphers.algorithms import AES

DEVICE, KEY = "bf0123456789abcdefgh", "0123456789abcdef"
_NONCE = b"fedcba9876543210"
_START, _RESPONSE, _FINISH, _UNASKED, _UPDATE, _QUERIES = 3, 4, 5, 8, 18, (10, 16)


@dataclass
class Plug:
    """State that a test can change while the plug is asked."""

    version: str = "3.3"
    key: str = KEY
    points: dict[str, Any] = field(default_factory=lambda: {"1": True, "17": 3, "18": 210, "19": 412, "20": 2301})
    measured: dict[str, Any] = field(default_factory=dict)  # what the next measurement brings
    damaged: bool = False
    silent: bool = False
    updates: list[list[int]] = field(default_factory=list)
    connections: int = 0
    port: int = 0

    @property
    def spec(self) -> str:
        return f"tuya://{DEVICE}@127.0.0.1:{self.port}"


def _ecb(key: bytes, data: bytes) -> bytes:
    size = 16 - len(data) % 16
    work = Cipher(AES(key), modes.ECB()).encryptor()  # the protocol is what it is
    return work.update(data + bytes([size]) * size) + work.finalize()


def _plain(key: bytes, data: bytes) -> bytes:
    work = Cipher(AES(key), modes.ECB()).decryptor()
    text = work.update(data) + work.finalize()
    return text[: -text[-1]]


class _Talk(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        self.plug: Plug = self.server.plug  # type: ignore[attr-defined]
        self.plug.connections += 1
        self.key, self.sequence = self.plug.key.encode(), 0
        while (message := self._take()) is not None:
            if not self.plug.silent:
                self._act(*message)

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self.request.recv(size - len(data))
            if not more:
                raise ConnectionError
            data += more
        return data

    def _take(self) -> tuple[int, bytes] | None:
        """Its command, and what it holds; None where the other side went away, or has another key."""
        try:
            if self.plug.version == "3.5":
                head = self._read(18)
                _, _, self.sequence, command, size = struct.unpack(">IHIII", head)
                body = self._read(size + 4)
                return command, AESGCM(self.key).decrypt(body[:12], body[12:-4], head[4:])
            head = self._read(16)
            _, self.sequence, command, size = struct.unpack(">4I", head)
            body = self._read(size)
            data = body[: -36 if self.plug.version == "3.4" else -8]
            return command, _plain(self.key, data) if data else b""
        except Exception:  # whatever is wrong with it: a device just hangs up
            return None

    def _send(self, command: int, text: bytes) -> None:
        code = struct.pack(">I", 0)
        if self.plug.version == "3.5":
            head = struct.pack(">IHIII", 0x6699, 0, self.sequence, command, len(text) + 4 + 28)
            body = b"\x07" * 12 + AESGCM(self.key).encrypt(b"\x07" * 12, code + text, head[4:])
            data = head + body + b"\x00\x00\x99\x66"
        else:
            body, is_newer = code + _ecb(self.key, text), self.plug.version == "3.4"
            head = struct.pack(">4I", 0x55AA, self.sequence, command, len(body) + (36 if is_newer else 8))
            check = hmac.digest(self.key, head + body, "sha256") if is_newer else struct.pack(">I", binascii.crc32(head + body))
            data = head + body + check + b"\x00\x00\xaa\x55"
        if self.plug.damaged and command in _QUERIES:
            data = data[:-5] + bytes([data[-5] ^ 1]) + data[-4:]  # the last byte of the check
        self.request.sendall(data)

    def _act(self, command: int, text: bytes) -> None:
        if command == _START:
            self.theirs, key = text[:16], self.plug.key.encode()
            self._send(_RESPONSE, _NONCE + hmac.digest(key, self.theirs, "sha256"))
        elif command == _FINISH:
            mixed, key = bytes(a ^ b for a, b in zip(self.theirs, _NONCE, strict=True)), self.plug.key.encode()
            if self.plug.version == "3.5":
                self.key = AESGCM(key).encrypt(self.theirs[:12], mixed, None)[:16]
            else:
                work = Cipher(AES(key), modes.ECB()).encryptor()
                self.key = work.update(mixed) + work.finalize()
        elif command == _UPDATE:
            self.plug.updates.append(json.loads(text)["dpId"])
            self.plug.points |= self.plug.measured
            if self.plug.measured:
                self._send(_UNASKED, self._version + json.dumps({"dps": self.plug.measured}).encode())
        elif command in _QUERIES:
            self._send(command, json.dumps({"devId": DEVICE, "dps": self.plug.points}).encode())

    @property
    def _version(self) -> bytes:
        return self.plug.version.encode() + b"\x00" * 12 if self.plug.version != "3.3" else b""


@contextmanager
def serve(plug: Plug) -> Iterator[Plug]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Talk) as server:
        server.daemon_threads, server.plug = True, plug  # type: ignore[attr-defined]
        plug.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield plug
        server.shutdown()
