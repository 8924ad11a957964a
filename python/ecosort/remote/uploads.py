"""Uploads to a bucket in parts (obstore), which become an object at the end, in one step; else there is none."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from subprocess import PIPE
from typing import IO, Any

from ecosort.errors import BadInput, IoFailed, OutputExists
from ecosort.process import Sort
from ecosort.remote.addresses import TIMEOUT_S
from ecosort.remote.ranges import begin_of, version_of
from ecosort.remote.s3_requests import NoConditions, NotThere, has_key, put, put_if_absent, size_of, split_url
from ecosort.report import Report
from ecosort.request import Request

_CHUNK = 8 << 20  # of an upload; as many as _AT_A_TIME of them are in memory besides the memory of the sort
_CHUNKS = 9000  # at most; S3 takes 10000 of 5 MiB or more
_AT_A_TIME = 4
_ONE_PUT_BYTES = _CHUNK * _AT_A_TIME  # at most: more are uploaded in parts, for which obstore knows no condition


def demand_key(url: str) -> None:
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


def demand_uploads(url: str) -> None:
    """Raises BadInput where no object can be made there: of keys with such parts obstore makes others, or an error at the end."""
    demand_key(url)
    if {"", ".", ".."} & {*split_url(url)[1].split("/")[:-1]} or url.endswith(("/", "/.", "/..")):
        raise BadInput(f"'{url}' cannot be written: between the slashes of a key must be a name, not '', '.' or '..'")
    _store_of(url)


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


def sort_to_bucket(url: str, request: Request, size: int, demand: Callable[[Report], None]) -> Report:
    """Uploads what a sort writes to its standard output, about `size` bytes. The object appears only when the sort ended well and
    `demand` raised nothing. Raises what these raise, BadInput, IoFailed."""
    ended: list[Report] = []

    def take(report: Report) -> None:
        demand(report)
        ended.append(report)

    demand_key(url)
    chunk = chunk_of(size)
    upload(url, _sorted_chunks(request, chunk, take), chunk)
    return ended[0]


def chunk_of(size: int) -> int:
    """Returns the bytes of a part of an upload of about `size` bytes."""
    return max(_CHUNK, -(-size // _CHUNKS))


def _sorted_chunks(request: Request, chunk: int, take: Callable[[Report], None]) -> Iterator[bytes]:
    sort = Sort(request, stdout=PIPE)
    assert sort.process.stdout is not None
    try:
        while piece := sort.process.stdout.read(chunk):
            yield piece
    except BaseException:
        sort.stop()
        raise
    take(sort.wait())


def demand_absent(url: str) -> None:
    """Raises OutputExists where there is an object of this name."""
    if size_of(url) is not None:
        raise OutputExists(url)


def upload_file(url: str, file: IO[bytes], *, overwrite: bool) -> None:
    """Makes an object of all that is in the file. Raises OutputExists where there is one by now, unless it may `overwrite` it."""
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    if not overwrite and size <= _ONE_PUT_BYTES:
        _put_new(url, file.read())
        return
    chunk = chunk_of(size)
    chunks = iter(lambda: file.read(chunk), b"")
    upload(url, chunks if overwrite else _while_absent(url, chunks), chunk)


def _put_new(url: str, data: bytes) -> None:
    demand_absent(url)  # a server may pass over the condition, or know none
    try:
        is_new = put_if_absent(url, data)
    except NoConditions:
        put(url, data)
        return
    if not is_new and not _holds(url, data):
        raise OutputExists(url)


def _holds(url: str, data: bytes) -> bool:
    """Returns whether the object is one of these bytes: an attempt whose answer was lost has put it."""
    try:
        return begin_of(url, version_of(url), len(data) + 1) == data
    except NotThere:  # someone else is just writing it
        return False


def _while_absent(url: str, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Looks once more behind the last chunk: what is raised there ends the upload before it becomes an object."""
    yield from chunks
    demand_absent(url)


def upload(url: str, chunks: Iterator[bytes], chunk: int) -> None:
    """Makes an object of the chunks when they have ended. Raises what `chunks` raises as it was, and there is no object then."""
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
