"""A server of S3 within a test, with habits that others have: conditions it does not know, permissions it does not give."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, unquote, urlsplit
from xml.sax.saxutils import escape

import pytest
from ecosort.remote import addresses


@dataclass
class Bucket:
    """`denied` are permissions that the access key lacks; `conditions` are "kept", "unknown" (501) or "passed over"."""

    objects: dict[str, bytes] = field(default_factory=dict)
    uploads: list[tuple[str, str]] = field(default_factory=list)
    denied: set[str] = field(default_factory=set)
    error: str = "AccessDenied"
    conditions: str = "kept"
    is_public: bool = True  # unsigned requests may read
    requests: list[tuple[str, str, bool]] = field(default_factory=list)  # method, path, whether it was signed
    page: int = 3  # keys that a list has at a time


@contextmanager
def serving(bucket: Bucket) -> Iterator[str]:
    """The address of a server that has it as `bucket`."""

    class Handler(_Handler):
        held = bucket

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    held: Bucket

    def log_message(self, *_: object) -> None:
        """Nothing."""

    def do(self) -> None:
        place = urlsplit(self.path)
        query = dict(parse_qsl(place.query, keep_blank_values=True))
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        is_signed = "Authorization" in self.headers
        self.held.requests.append((self.command, self.path, is_signed))
        name, _, key = unquote(place.path).removeprefix("/").partition("/")
        permission = self._permission(key, query)
        if permission in self.held.denied or not (is_signed or (self.held.is_public and self.command in ("GET", "HEAD"))):
            self._refuse(403, self.held.error)
        elif name != "bucket":
            self._refuse(404, "NoSuchBucket")
        else:
            getattr(self, f"_{permission.removeprefix('s3:')}")(key, query)

    do_GET = do_HEAD = do_PUT = do_DELETE = do  # noqa: N815

    def _permission(self, key: str, query: dict[str, str]) -> str:
        if "uploads" in query:
            return "s3:ListBucketMultipartUploads"
        if "uploadId" in query:
            return "s3:AbortMultipartUpload"
        kinds = {"GET": "s3:GetObject" if key else "s3:ListBucket", "HEAD": "s3:GetObject", "PUT": "s3:PutObject"}
        return kinds.get(self.command, "s3:DeleteObject")

    def _ListBucket(self, key: str, query: dict[str, str]) -> None:  # noqa: N802
        found = [
            one for one in sorted(self.held.objects) if one.startswith(query["prefix"]) and one > query.get("start-after", "")
        ]
        page = found[: self.held.page]
        told = "".join(f"<Contents><Key>{escape(k)}</Key><Size>{len(self.held.objects[k])}</Size></Contents>" for k in page)
        more = str(len(found) > len(page)).lower()
        self._answer(200, f"<ListBucketResult><IsTruncated>{more}</IsTruncated>{told}</ListBucketResult>".encode())

    def _ListBucketMultipartUploads(self, key: str, query: dict[str, str]) -> None:  # noqa: N802
        told = "".join(f"<Upload><Key>{k}</Key><UploadId>{upload}</UploadId></Upload>" for k, upload in self.held.uploads)
        self._answer(200, f"<ListMultipartUploadsResult>{told}</ListMultipartUploadsResult>".encode())

    def _AbortMultipartUpload(self, key: str, query: dict[str, str]) -> None:  # noqa: N802
        self.held.uploads.remove((key, query["uploadId"]))
        self._answer(204, b"")

    def _GetObject(self, key: str, query: dict[str, str]) -> None:  # noqa: N802
        if key not in self.held.objects:
            self._refuse(404, "NoSuchKey")
            return
        data = self.held.objects[key]
        taken = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if not taken:
            self._answer(200, data)
        elif int(taken[1]) >= len(data):
            self._refuse(416, "InvalidRange")
        else:
            begin, end = int(taken[1]), min(int(taken[2]) + 1, len(data))
            self._answer(206, data[begin:end], {"Content-Range": f"bytes {begin}-{end - 1}/{len(data)}"})

    def _PutObject(self, key: str, query: dict[str, str]) -> None:  # noqa: N802
        if self.headers["Content-Type"] != "application/octet-stream":
            self._refuse(400, "a form")
            return
        condition = self.headers.get("If-None-Match")
        if condition and self.held.conditions == "unknown":
            self._refuse(501, "NotImplemented")
        elif condition and self.held.conditions == "kept" and key in self.held.objects:
            self._refuse(412, "PreconditionFailed")
        else:
            self.held.objects[key] = self.body
            self._answer(200, b"")

    def _DeleteObject(self, key: str, query: dict[str, str]) -> None:  # noqa: N802
        self.held.objects.pop(key, None)
        self._answer(204, b"")

    def _refuse(self, status: int, code: str) -> None:
        self._answer(status, f"<Error><Code>{code}</Code><Message>text</Message></Error>".encode())

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), "ETag": '"one"', **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


@contextmanager
def reached(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    """A bucket that AWS_* variables lead to; who must ask again waits for no second."""
    monkeypatch.setattr(addresses, "_FIRST_WAIT_S", 0.001)
    for name in ("AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    held = Bucket()
    with serving(held) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "someone")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "no secret")
        yield held
