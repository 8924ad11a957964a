"""Verifies what MANIFEST.json says: reads all parts, wherever they are, for counts, hashes, first and last rows, and order."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ecosort.cluster.hashes import HashSum, sum_of
from ecosort.cluster.manifest import Manifest, Part, demand_order, manifest_from, read_in_order
from ecosort.cluster.summaries import demand_summary, has_summaries
from ecosort.errors import BadInput, VerificationFailed
from ecosort.remote.addresses import is_bucket
from ecosort.remote.s3_inputs import MANIFEST

_PART = re.compile(r"part-\d{5,}")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # in front of a header; the reports of headers leave it out


def check_manifest(named: str, scratch: Path, workers: int = 1) -> Manifest:
    """Checks a manifest, or the directory, bucket or file that has one. Parts of a bucket are fetched into `scratch` one by one.

    Raises VerificationFailed with the first thing that is wrong, BadInput where there is no manifest, IoFailed.
    """
    from concurrent.futures import ThreadPoolExecutor

    where = _manifest_of(named)
    data = _read(where)
    if data is None:
        raise BadInput(f"'{where}' is not there; name the {MANIFEST} of an output of ecosort cluster sort")
    manifest = manifest_from(data, where)
    places = _places_of(manifest.parts, where)
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda part, place: _check_part(manifest, place, part, scratch), manifest.parts, places))
    _demand_no_others(manifest, where)
    if sum_of(vars(part) for part in manifest.parts) != HashSum(manifest.rows, manifest.hash):
        raise VerificationFailed(f"'{where}': rows and hashes of the parts do not add up to those of the whole")
    if sum(part.bytes for part in manifest.parts) != manifest.bytes:
        raise VerificationFailed(f"'{where}': the parts have other bytes than the whole")
    demand_order(manifest, scratch / f"ecosort-ends-{os.getpid()}")
    return manifest


def _manifest_of(named: str) -> str:
    if named.endswith(MANIFEST):
        return named
    if is_bucket(named) or Path(named).is_dir():
        return f"{named.rstrip('/')}/{MANIFEST}"
    beside = f"{named}.{MANIFEST}"
    return beside if Path(beside).exists() else named


def _places_of(parts: Sequence[Part], where: str) -> list[str]:
    """NAME.MANIFEST.json is of NAME, which may have been renamed with it."""
    directory, _, name = where.rpartition("/")
    is_of_one = len(parts) == 1 and name != MANIFEST
    files = [name.removesuffix(f".{MANIFEST}")] if is_of_one else [part.file for part in parts]
    return [f"{directory or '.'}/{file}" for file in files]


def _demand_no_others(manifest: Manifest, where: str) -> None:
    """Demands that all parts that are there have no row twice."""
    directory, _, name = where.rpartition("/")
    if name != MANIFEST or is_bucket(where):
        return
    known = {part.file for part in manifest.parts}
    others = [file.name for file in Path(directory or ".").iterdir() if _PART.fullmatch(file.name) and file.name not in known]
    if others:
        raise VerificationFailed(f"'{directory or '.'}/{min(others)}' is no part of '{where}'; move it away")


def _read(where: str) -> bytes | None:
    """None where it is not there."""
    if is_bucket(where):
        from ecosort.cluster import bucket

        return bucket.read(where)
    return Path(where).read_bytes() if Path(where).is_file() else None


def _check_part(manifest: Manifest, name: str, part: Part, scratch: Path) -> None:
    if _size(name) != part.bytes:
        raise VerificationFailed(f"'{name}' is not there, or has not the {part.bytes} bytes that the manifest says")
    with _as_file(name, scratch) as file:
        _demand_ends(manifest, name, file, part)
        found = read_in_order(manifest.format, file).without(manifest.header_hash) if part.rows else HashSum()
    if found != HashSum(part.rows, part.hash):
        raise VerificationFailed(
            f"'{name}' holds {found.rows} rows with hash {found.hex}, the manifest says {part.rows} with {part.hash}"
        )
    if part.rows and has_summaries(manifest.format) and _PART.fullmatch(part.file):
        summary = _read(f"{name}.sum")
        if summary is None:
            raise VerificationFailed(f"'{name}.sum' is not there, valsort's summary of that part")
        demand_summary(part, summary, f"{name}.sum")


def _size(name: str) -> int | None:
    if is_bucket(name):
        from ecosort.remote import s3_requests

        return s3_requests.size_of(name)
    return Path(name).stat().st_size if Path(name).is_file() else None


@contextmanager
def _as_file(name: str, scratch: Path) -> Iterator[Path]:
    if not is_bucket(name):
        yield Path(name)
        return
    from ecosort.cluster import bucket

    copy = scratch / f"ecosort-{os.getpid()}-{name.rpartition('/')[2]}"
    try:
        bucket.fetch(name, copy)
        yield copy
    finally:
        copy.unlink(missing_ok=True)


def _demand_ends(manifest: Manifest, name: str, file: Path, part: Part) -> None:
    if part.first is None or part.last is None:
        return
    header, first, last = (base64.b64decode(text) for text in (manifest.header, part.first, part.last))
    with file.open("rb") as data:
        tops = [mark + top for mark in (b"", _BYTE_ORDER_MARK) for top in (header, header.removesuffix(b"\n") + b"\r\n")]
        begins = _has(data, 0, [top + first for top in (tops if header else [b""])])
        ends = any(_has(data, part.bytes - len(last + end), [last + end]) for end in {manifest.format.row_end, b"\r\n"})
    if not (begins and ends):
        raise VerificationFailed(f"'{name}' does not begin and end with the rows that the manifest says")


def _has(data: IO[bytes], at: int, wanted: Sequence[bytes]) -> bool:
    """Returns whether one of the texts is there."""
    data.seek(max(0, at))
    found = data.read(max(map(len, wanted)))
    return at >= 0 and any(found.startswith(text) for text in wanted)
