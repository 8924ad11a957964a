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

from ecosort.cluster.journal import Event
from ecosort.cluster.manifest import MANIFEST, Manifest, manifest_bytes, own_manifest
from ecosort.cluster.remote import Passing, patiently, read_range, s3_errors, store_of, version_of
from ecosort.cluster.unfinished_uploads import demand_key, end_uploads
from ecosort.errors import BadInput, IoFailed, VerificationFailed
from ecosort.process import Sort
from ecosort.report import Report

Json = dict[str, Any]

_CHUNK = 8 << 20  # of an upload; as many as _AT_A_TIME of them are in memory besides the memory of the sort
_CHUNKS = 9000  # at most; S3 takes 10000 of 5 MiB or more
_AT_A_TIME = 4
_PREFIX = re.compile(r"([A-Za-z0-9_=-][A-Za-z0-9._=-]*/)+")  # what no one encodes in different ways
_S3 = "s3://"


def demand_free(url: str) -> None:
    """Raises BadInput where it is no prefix, denied, or in use, and IoFailed where no server answers."""
    demand_key(url)
    bucket, prefix = _place(url)
    if not _PREFIX.fullmatch(prefix):
        raise BadInput(f"'{url}': a prefix has letters, digits, '.', '_', '=' and '-' between its slashes")
    end_uploads(bucket, prefix)
    if next(_objects(url), None):
        raise BadInput(f"'{url}' holds objects; name a prefix that holds none")


def _place(url: str) -> tuple[str, str]:
    """The bucket, and what all keys of the output begin with. Raises BadInput where obstore is missing, too."""
    store_of(url)
    bucket, _, prefix = url.removeprefix(_S3).partition("/")
    return bucket, f"{prefix}/"


def _objects(url: str) -> Iterator[str]:
    """Keys below the prefix."""
    store, prefix = store_of(url)
    with _no_more_attempts(url):
        for found in store.list(f"{prefix}/"):
            yield from (one["path"] for one in found)


@contextmanager
def _no_more_attempts(url: str) -> Iterator[None]:
    """obstore has made some."""
    try:
        with s3_errors(url):
            yield
    except Passing as error:
        raise IoFailed(f"'{url}': {error}") from None


def size_of(url: str) -> int | None:
    """Of an object; None where there is none."""
    store, key = store_of(url)

    def ask() -> int | None:
        with s3_errors(url):
            try:
                size: int = store.head(key)["size"]
            except FileNotFoundError:
                return None
            return size

    return patiently(url, ask)


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

    demand_key(url)
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
    """What `chunks` raises comes out of here as it was, and there is no object then."""
    failed: list[BaseException] = []

    def watched() -> Iterator[bytes]:
        try:
            yield from chunks
        except GeneratorExit:  # the upload failed
            raise
        except BaseException as error:
            failed.append(error)
            raise

    store, key = store_of(url)
    try:
        with _no_more_attempts(url):
            store.put(key, watched(), use_multipart=True, chunk_size=chunk, max_concurrency=_AT_A_TIME)
    except BaseException:
        if failed:
            raise failed[0] from None
        raise


def put_small(url: str, data: bytes) -> None:
    """As an object, in one request."""
    store, key = store_of(url)
    with _no_more_attempts(url):
        store.put(key, data, use_multipart=False)


class BucketOutput:
    """Of a job (see outputs.py)."""

    def __init__(self, url: str, job: str) -> None:
        demand_key(url)
        self._url = url
        self._job = job

    def is_committed(self, events: Sequence[Event]) -> bool:
        where = f"{self._url}/{MANIFEST}"
        return own_manifest(read(where), where, self._job) is not None

    def prepare(self, sizes: Sequence[int], top_bytes: int) -> bool:
        end_uploads(*_place(self._url))
        return False

    def attempt(self, part: int, attempt: int, temp: Path) -> Json:
        return {"output": str(temp / f"part-{part:05}.{attempt}"), "place": None, "upload": f"{self._url}/part-{part:05}"}

    def has_part(self, part: int) -> bool:
        return size_of(f"{self._url}/part-{part:05}") is not None

    def suspects(self, attempts: Sequence[int]) -> list[int]:
        return []

    def reopen(self) -> None:
        """It is never closed."""

    def name_parts(self, answers: Sequence[Json]) -> None:
        """They have their names."""

    def demand_sizes(self, manifest: Manifest) -> None:
        for part in manifest.parts:
            if size_of(f"{self._url}/{part.file}") != part.bytes:
                raise VerificationFailed(
                    f"'{self._url}/{part.file}' is not what was written; give the job up (--abandon) and begin again"
                )

    def put_summaries(self, summaries: Mapping[str, bytes]) -> None:
        for name, summary in summaries.items():
            put_small(f"{self._url}/{name}", summary)

    def commit(self, manifest: Manifest) -> None:
        """Raises BadInput where there is a manifest of another job by now."""
        from obstore.exceptions import AlreadyExistsError

        end_uploads(*_place(self._url))
        where = f"{self._url}/{MANIFEST}"
        store, key = store_of(where)
        with _no_more_attempts(where):
            try:
                store.put(key, manifest_bytes(manifest), mode="create")
            except (FileExistsError, AlreadyExistsError):
                self.is_committed(())

    def complete(self, manifest: Manifest) -> None:
        """There is nothing beside the objects."""

    def clean_up(self) -> None:
        """There is nothing left."""

    def discard(self, sizes: Mapping[int, int]) -> None:
        """Objects that have the size of their part."""
        end_uploads(*_place(self._url))
        for part, size in sizes.items():
            if size_of(where := f"{self._url}/part-{part:05}") == size:
                store, key = store_of(where)
                store.delete(key)
