"""A TP-Link plug of the older kind: JSON over TCP, each message with its length in front and hidden by XOR with the byte before
(a cipher that hides nothing, published in 2016 by softScheck)."""

from __future__ import annotations

import json
import socketserver
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .captured import KASA_HS110

_KEY = 171


def hide(data: bytes) -> bytes:
    key, out = _KEY, bytearray()
    for byte in data:
        key ^= byte
        out.append(key)
    return bytes(out)


def show(data: bytes) -> bytes:
    key, out = _KEY, bytearray()
    for byte in data:
        out.append(byte ^ key)
        key = byte
    return bytes(out)


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """Answers each method as the plug does; it has counted nothing this month."""
    known: dict[str, dict[str, Any]] = {
        **KASA_HS110,
        "emeter": {
            **KASA_HS110["emeter"],
            "get_daystat": {"day_list": [], "err_code": 0},
            "get_monthstat": {"month_list": [], "err_code": 0},
        },
        "time": {
            "get_time": {"year": 2026, "month": 11, "mday": 24, "hour": 9, "min": 0, "sec": 0, "err_code": 0},
            "get_timezone": {"index": 39, "err_code": 0},
        },
    }
    missing = {"err_code": -1, "err_msg": "module not support"}
    return {m: {k: known.get(m, {}).get(k, missing) for k in calls} for m, calls in question.items()}


class _Talk(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        while len(head := self.rfile.read(4)) == 4:
            question = json.loads(show(self.rfile.read(struct.unpack(">I", head)[0])))
            body = hide(json.dumps(answer(question)).encode())
            self.wfile.write(struct.pack(">I", len(body)) + body)


@contextmanager
def serve() -> Iterator[int]:
    """Its port."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Talk) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()
