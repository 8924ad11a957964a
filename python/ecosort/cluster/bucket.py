"""An output in a bucket: parts are uploaded while they are sorted, MANIFEST.json is the last object.

    s3://BUCKET/PREFIX/part-00000 ...    each appears when its upload is completed, which its sort must have ended well for
    s3://BUCKET/PREFIX/MANIFEST.json     is the commit: a prefix without it holds no result
    s3://BUCKET/PREFIX/_ecosort-job      names the job that writes here, from its first part to its end

Two attempts may upload the same part; both have the same bytes, and who completes last replaces them by the same. Uploads that
were killed are ended before parts are written and before the commit: what they sent is kept, and paid for.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ecosort.cluster.journal import RESUME, Event
from ecosort.cluster.manifest import Manifest, manifest_bytes, own_manifest
from ecosort.cluster.outputs import Output
from ecosort.errors import BadInput, IoFailed, VerificationFailed
from ecosort.remote.ranges import read_range, version_of
from ecosort.remote.s3_inputs import MANIFEST
from ecosort.remote.s3_requests import (
    NoConditions,
    NotThere,
    asked,
    delete,
    listed,
    parsed,
    put,
    put_if_absent,
    size_of,
    split_url,
)
from ecosort.remote.uploads import demand_key, demand_uploads

Json = dict[str, Any]

_PREFIX = re.compile(r"([A-Za-z0-9_=-][A-Za-z0-9._=-]*/)+")  # what no one encodes in different ways
_PROBE = "ecosort-probe"  # an object that is there for a moment
_CLAIM = "_ecosort-job"
_ROUNDS = 100  # of at most 1000 uploads each
_LIST = "s3:ListBucketMultipartUploads"
_ABORT = "s3:AbortMultipartUpload"


def demand_free(url: str) -> None:
    """Raises BadInput where it is no prefix, denied, or in use, and IoFailed where no server answers."""
    demand_uploads(url)
    _, prefix = split_url(url)
    if not _PREFIX.fullmatch(f"{prefix}/"):
        raise BadInput(f"'{url}': a prefix has letters, digits, '.', '_', '=' and '-' between its slashes")
    probe = f"{prefix}/{_PROBE}"  # is of a job which was killed just then
    first = next((key for key, _ in listed(f"{url}/") if key != probe), None)
    if first == f"{prefix}/{_CLAIM}":
        raise _claimed(url)
    if first:
        raise BadInput(f"'{url}' holds objects; name a prefix that holds none")
    bucket, _ = split_url(url)
    _uploads_below(bucket, f"{prefix}/")  # they stay: they may be those of a job that runs


def _claimed(url: str) -> BadInput:
    """Says that the prefix is of a job that has not ended."""
    way = f"continue it, give it up, or delete '{url}/{_CLAIM}' if nothing is left of it"
    return BadInput(f"another job writes to '{url}': {way}; else name another prefix")


def demand_rights(url: str, *, is_conditional: bool) -> None:
    """Raises BadInput where a permission is missing that the job will need, by writing a small object and deleting it; where it
    `is_conditional` also if the server would let a manifest take the place of another one."""
    probe = f"{url}/{_PROBE}"
    way = "; --no-conditional-put does without, for a prefix that no other job writes"
    delete(probe)
    try:
        is_kept = _keeps_the_first(probe, is_conditional)
    except NoConditions as error:
        raise BadInput(f"{error}: it knows no conditional PUT (If-None-Match), which commits the job{way}") from None
    size_of(probe)
    delete(probe)
    if not is_kept:
        raise BadInput(f"'{url}': the server passes over the condition of a PUT (If-None-Match), which commits the job{way}")


def _keeps_the_first(probe: str, is_conditional: bool) -> bool:
    if not is_conditional:
        put(probe, b"")
        return True
    put_if_absent(probe, b"")
    return not put_if_absent(probe, b"")


def read(url: str) -> bytes | None:
    """A small object; None where there is none."""
    if size_of(url) is None:
        return None
    version = version_of(url)
    return b"".join(read_range(url, version, 0, version.size))


def fetch(url: str, target: Path) -> None:
    """An object into a file."""
    version = version_of(url)
    with target.open("wb") as file:
        for piece in read_range(url, version, 0, version.size):
            file.write(piece)


def end_uploads(url: str) -> int:
    """All that are under way below the prefix. How many there were. Raises BadInput where the bucket is not there or denied."""
    bucket, prefix = split_url(f"{url.rstrip('/')}/")
    ended = 0
    for _ in range(_ROUNDS):
        found = _uploads_below(bucket, prefix)
        if not found:
            return ended
        for key, upload in found:
            _end_upload(f"s3://{bucket}/{key}", upload)
        ended += len(found)
    raise IoFailed(f"uploads to '{url}' do not end; end what writes there, then {RESUME}")


def _uploads_below(bucket: str, prefix: str) -> list[tuple[str, str]]:
    """Keys and names of uploads, the first 1000."""
    url = f"s3://{bucket}/"
    found = []
    for upload in parsed(url, asked("GET", url, _LIST, query={"prefix": prefix, "uploads": ""})).iterfind("{*}Upload"):
        key, name = upload.findtext("{*}Key"), upload.findtext("{*}UploadId")
        if key and name and key.startswith(prefix):
            found.append((key, name))
    return found


def _end_upload(url: str, upload: str) -> None:
    """One that is over is none any more."""
    with contextlib.suppress(NotThere):
        asked("DELETE", url, _ABORT, query={"uploadId": upload})


class BucketOutput(Output):
    """Serves a job (see outputs.py)."""

    def __init__(self, url: str, job: str, *, is_conditional: bool) -> None:
        demand_key(url)
        self._url = url
        self._job = job
        self._is_conditional = is_conditional

    def is_committed(self, events: Sequence[Event]) -> bool:
        where = f"{self._url}/{MANIFEST}"
        return own_manifest(read(where), where, self._job) is not None

    def prepare(self, sizes: Sequence[int], top_bytes: int) -> bool:
        """Claims the prefix before the first upload: no other job writes there until this one ends."""
        if self._owner() is None:
            self._put_first(self._claim, self._job.encode())
        if self._owner() != self._job:
            raise _claimed(self._url)
        try:
            self.is_committed(())
        except BadInput:  # another job was here, and has ended since the options were checked
            delete(self._claim)
            raise
        end_uploads(self._url)
        return False

    @property
    def _claim(self) -> str:
        return f"{self._url}/{_CLAIM}"

    def _owner(self) -> str | None:
        """Returns the job that has claimed the prefix."""
        claim = read(self._claim)
        return None if claim is None else claim.decode(errors="replace")

    def _put_first(self, where: str, data: bytes) -> None:
        """Makes an object, if there is none of that name."""
        if self._is_conditional:
            put_if_absent(where, data)
        elif size_of(where) is None:
            put(where, data)

    def attempt(self, part: int, attempt: int, temp: Path) -> Json:
        return {"output": str(temp / f"part-{part:05}.{attempt}"), "place": None, "upload": f"{self._url}/part-{part:05}"}

    def has_part(self, part: int) -> bool:
        return size_of(f"{self._url}/part-{part:05}") is not None

    def demand_sizes(self, manifest: Manifest) -> None:
        for part in manifest.parts:
            if size_of(f"{self._url}/{part.file}") != part.bytes:
                raise VerificationFailed(
                    f"'{self._url}/{part.file}' is not what was written; give the job up (--abandon) and begin again"
                )

    def put_summaries(self, summaries: Mapping[str, bytes]) -> None:
        for name, summary in summaries.items():
            put(f"{self._url}/{name}", summary)

    def commit(self, manifest: Manifest) -> None:
        """Raises BadInput where there is a manifest of another job by now."""
        end_uploads(self._url)
        where = f"{self._url}/{MANIFEST}"
        self._put_first(where, manifest_bytes(manifest))
        if not self.is_committed(()):
            raise IoFailed(f"'{where}' was not written; {RESUME}")

    def clean_up(self) -> None:
        if self._owner() == self._job:
            delete(self._claim)

    def discard(self, sizes: Mapping[int, int]) -> None:
        """Deletes objects that have the size of their part. Those of another job, which has claimed the prefix, stay."""
        if self._owner() not in (None, self._job):  # jobs of older versions have no claim
            return
        end_uploads(self._url)
        for part, size in sizes.items():
            if size_of(where := f"{self._url}/part-{part:05}") == size:
                delete(where)
