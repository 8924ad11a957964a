"""An output in a bucket: parts are uploaded while they are sorted, MANIFEST.json is the last object.

    s3://BUCKET/PREFIX/part-00000 ...    each appears when its upload is completed, which its sort must have ended well for
    s3://BUCKET/PREFIX/MANIFEST.json     is the commit: a prefix without it holds no result

Two attempts may upload the same part; both have the same bytes, and who completes last replaces them by the same. Uploads that
were killed are ended before parts are written and before the commit (unfinished_uploads.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE
from typing import Any

from ecosort.cluster.addresses import TIMEOUT_S
from ecosort.cluster.journal import RESUME, Event
from ecosort.cluster.manifest import MANIFEST, Manifest, manifest_bytes, own_manifest
from ecosort.cluster.outputs import Output
from ecosort.cluster.remote import read_range, version_of
from ecosort.cluster.s3_requests import NoConditions, delete, has_key, listed, put, put_if_absent, size_of, split_url
from ecosort.cluster.unfinished_uploads import end_uploads
from ecosort.errors import BadInput, IoFailed, VerificationFailed
from ecosort.process import Sort
from ecosort.report import Report

Json = dict[str, Any]

_CHUNK = 8 << 20  # of an upload; as many as _AT_A_TIME of them are in memory besides the memory of the sort
_CHUNKS = 9000  # at most; S3 takes 10000 of 5 MiB or more
_AT_A_TIME = 4
_PREFIX = re.compile(r"([A-Za-z0-9_=-][A-Za-z0-9._=-]*/)+")  # what no one encodes in different ways
_PROBE = "ecosort-probe"  # an object that is there for a moment


def demand_free(url: str) -> None:
    """Raises BadInput where it is no prefix, denied, or in use, and IoFailed where no server answers."""
    _demand_key(url)
    _store_of(url)
    _, prefix = split_url(url)
    if not _PREFIX.fullmatch(f"{prefix}/"):
        raise BadInput(f"'{url}': a prefix has letters, digits, '.', '_', '=' and '-' between its slashes")
    end_uploads(url)
    if any(key != f"{prefix}/{_PROBE}" for key, _ in listed(f"{url}/")):  # that is of a job which was killed just then
        raise BadInput(f"'{url}' holds objects; name a prefix that holds none")


def demand_conditions(url: str) -> None:
    """Raises BadInput where the server would let a manifest take the place of another one, or where a permission is missing that
    the job will need, by writing a small object twice and deleting it."""
    probe = f"{url}/{_PROBE}"
    way = "; --no-conditional-put does without, for a prefix that no other job writes"
    delete(probe)
    try:
        has_put, has_put_again = put_if_absent(probe, b""), put_if_absent(probe, b"")
    except NoConditions as error:
        raise BadInput(f"{error}: it knows no conditional PUT (If-None-Match), which commits the job{way}") from None
    size_of(probe)
    delete(probe)
    if has_put and has_put_again:
        raise BadInput(f"'{url}': the server passes over the condition of a PUT (If-None-Match), which commits the job{way}")


def _demand_key(url: str) -> None:
    """Raises BadInput where the environment has no access key for what is written at `url`."""
    if not has_key():
        raise BadInput(f"'{url}' wants an access key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")


def _store_of(url: str) -> tuple[Any, str]:
    """Returns what uploads to the bucket, and the key in it. Raises BadInput where obstore is missing."""
    try:
        from obstore.store import S3Store
    except ImportError:
        raise BadInput("the Python package obstore is not installed, which uploads to s3://; run: pip install obstore") from None
    bucket, key = split_url(url)
    if not key:
        raise BadInput(f"'{url}' names no object: s3://BUCKET/KEY")
    return S3Store(bucket, client_options={"timeout": f"{TIMEOUT_S:.0f}s", "allow_http": True}), key


@contextmanager
def _no_more_attempts(url: str) -> Iterator[None]:
    """obstore has made some."""
    from obstore import exceptions

    try:
        yield
    except (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError):
        raise BadInput(f"'{url}' is denied to this access key, which needs the permission s3:PutObject") from None
    except FileNotFoundError:
        raise BadInput(f"the bucket of '{url}' is not there; make it first") from None
    except (exceptions.BaseError, OSError) as error:
        raise IoFailed(f"'{url}': {str(error).splitlines()[0]}") from None


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


def sort_to_bucket(url: str, words: Sequence[str], size: int, demand: Callable[[Report], None]) -> Report:
    """Uploads what a sort writes to its standard output, about `size` bytes. The object appears only when the sort ended well and
    `demand` raised nothing. Raises what these raise, BadInput, IoFailed."""
    ended: list[Report] = []

    def take(report: Report) -> None:
        demand(report)
        ended.append(report)

    _demand_key(url)
    chunk = max(_CHUNK, -(-size // _CHUNKS))
    _upload(url, _sorted_chunks(words, chunk, take), chunk)
    return ended[0]


def _sorted_chunks(words: Sequence[str], chunk: int, take: Callable[[Report], None]) -> Iterator[bytes]:
    sort = Sort(words, stdout=PIPE)
    assert sort.process.stdout is not None
    try:
        while piece := sort.process.stdout.read(chunk):
            yield piece
    except BaseException:
        sort.stop()
        raise
    take(sort.wait())


def _upload(url: str, chunks: Iterator[bytes], chunk: int) -> None:
    """Raises what `chunks` raises as it was, and there is no object then."""
    failed: list[BaseException] = []

    def watched() -> Iterator[bytes]:
        try:
            yield from chunks
        except GeneratorExit:  # the upload failed
            raise
        except BaseException as error:
            failed.append(error)
            raise

    store, key = _store_of(url)
    try:
        with _no_more_attempts(url):
            store.put(key, watched(), use_multipart=True, chunk_size=chunk, max_concurrency=_AT_A_TIME)
    except BaseException:
        if failed:
            raise failed[0] from None
        raise


class BucketOutput(Output):
    """Serves a job (see outputs.py)."""

    def __init__(self, url: str, job: str, *, is_conditional: bool) -> None:
        _demand_key(url)
        self._url = url
        self._job = job
        self._is_conditional = is_conditional

    def is_committed(self, events: Sequence[Event]) -> bool:
        where = f"{self._url}/{MANIFEST}"
        return own_manifest(read(where), where, self._job) is not None

    def prepare(self, sizes: Sequence[int], top_bytes: int) -> bool:
        end_uploads(self._url)
        return False

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
        if self._is_conditional:
            put_if_absent(where, manifest_bytes(manifest))
        elif size_of(where) is None:
            put(where, manifest_bytes(manifest))
        if not self.is_committed(()):
            raise IoFailed(f"'{where}' was not written; {RESUME}")

    def discard(self, sizes: Mapping[int, int]) -> None:
        """Objects that have the size of their part."""
        end_uploads(self._url)
        for part, size in sizes.items():
            if size_of(where := f"{self._url}/part-{part:05}") == size:
                delete(where)
