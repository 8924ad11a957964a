"""MANIFEST.json: what parts a sorted data set has, how many rows, with which hash, from which row to which. And its check."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from ecosort.cluster.formats import Format, format_from
from ecosort.cluster.hashes import HashSum, sum_of
from ecosort.cluster.journal import write_durably
from ecosort.cluster.program_calls import KILLED, run_command
from ecosort.errors import BadInput, EcoSortError, IoFailed, VerificationFailed

MANIFEST = "MANIFEST.json"
SCHEMA = "ecosort.cluster-manifest/1"
_KILLS = 10


@dataclass(frozen=True)
class Part:
    """`first` and `last` are rows in base64; None where the part has no rows."""

    file: str
    rows: int
    bytes: int
    hash: str
    first: str | None
    last: str | None


@dataclass(frozen=True)
class Manifest:
    """`parts` are in order. `header`: the header row of a table in base64, which each part begins with, and its hash."""

    job: str
    format: Format
    header: str
    header_hash: str
    rows: int
    bytes: int
    hash: str
    parts: tuple[Part, ...]

    def demand_sum(self, ranges: Iterable[Mapping[str, Any]]) -> None:
        """Raises VerificationFailed where the parts are not what the ranges of the inputs were."""
        whole = sum_of(ranges)
        if whole != sum_of(vars(part) for part in self.parts) or whole != HashSum(self.rows, self.hash):
            held = f"the parts hold {self.rows} rows with hash {self.hash}"
            raise VerificationFailed(f"{held}, the inputs {whole.rows} with {whole.hex}")


def manifest_of(job: str, form: Format, split: Mapping[str, str], answers: Sequence[Mapping[str, Any]]) -> Manifest:
    """Of what the tasks that made the splitters and wrote the parts answered."""
    total = sum_of(answers)
    parts = tuple(
        Part(f"part-{number:05}", one["rows"], one["bytes"], one["hash"], one["first"], one["last"])
        for number, one in enumerate(answers)
    )
    size = sum(part.bytes for part in parts)
    return Manifest(job, form, split["header"], split["header_hash"], total.rows, size, total.hex, parts)


def commit_manifest(directory: Path, manifest: Manifest) -> None:
    """The commit: one rename."""
    write_durably(directory / MANIFEST, json.dumps({"schema": SCHEMA} | asdict(manifest), indent=1).encode() + b"\n")


def load_manifest(path: Path) -> Manifest:
    """Raises BadInput where the file is none."""
    try:
        told = json.loads(path.read_bytes())
        if told.pop("schema", None) != SCHEMA:
            raise BadInput(f"'{path}' is no manifest of ecosort cluster sort ({SCHEMA})")
        form = format_from(told["format"]["name"], told["format"]["words"])
        return Manifest(**(told | {"format": form, "parts": tuple(Part(**part) for part in told["parts"])}))
    except FileNotFoundError:
        raise BadInput(f"'{path}' is not there; name the MANIFEST.json of an output of ecosort cluster sort") from None
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"'{path}' is no manifest of ecosort cluster sort: {error}") from None


def read_manifest(directory: Path, job: str) -> Manifest | None:
    """That of this job, where it has been committed."""
    path = directory / MANIFEST
    found = load_manifest(path) if path.exists() else None
    if found and found.job != job:
        raise BadInput(f"'{path}' is of another job; move it away")
    return found


def demand_order(manifest: Manifest, scratch: Path) -> None:
    """No part begins with a row that comes before the last one of the part in front. Raises VerificationFailed."""
    ends = [base64.b64decode(end) for part in manifest.parts for end in (part.first, part.last) if end is not None]
    if not ends:
        return
    form = manifest.format
    scratch.write_bytes(base64.b64decode(manifest.header) + b"".join(end + form.row_end for end in ends))
    try:
        read_in_order(form, scratch)
    except VerificationFailed as error:
        raise VerificationFailed(f"the parts are not in order one after the other: {error}") from None
    finally:
        scratch.unlink(missing_ok=True)


def check_manifest(path: Path, scratch_directory: Path, workers: int = 1) -> Manifest:
    """Reads all parts: counts, hashes, order within and across parts. Raises VerificationFailed, IoFailed, BadInput."""
    manifest = load_manifest(path)
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda part: _check_part(manifest, path.parent / part.file, part), manifest.parts))
    if sum_of(vars(part) for part in manifest.parts) != HashSum(manifest.rows, manifest.hash):
        raise VerificationFailed(f"'{path}': rows and hashes of the parts do not add up to those of the whole")
    demand_order(manifest, scratch_directory / f"ecosort-ends-{os.getpid()}")
    return manifest


def _check_part(manifest: Manifest, file: Path, part: Part) -> None:
    if not file.is_file() or file.stat().st_size != part.bytes:
        raise VerificationFailed(f"'{file}' is not there, or has not the {part.bytes} bytes that the manifest says")
    _demand_ends(manifest, file, part)
    found = read_in_order(manifest.format, file).without(manifest.header_hash) if part.rows else HashSum()
    if found != HashSum(part.rows, part.hash):
        raise VerificationFailed(
            f"'{file}' holds {found.rows} rows with hash {found.hex}, the manifest says {part.rows} with {part.hash}"
        )


def _demand_ends(manifest: Manifest, file: Path, part: Part) -> None:
    if part.first is None or part.last is None:
        return
    header, first, last = (base64.b64decode(text) for text in (manifest.header, part.first, part.last))
    with file.open("rb") as data:
        begins = _has(data, 0, [header + first, header.removesuffix(b"\n") + b"\r\n" + first])
        ends = any(_has(data, part.bytes - len(last + end), [last + end]) for end in {manifest.format.row_end, b"\r\n"})
    if not (begins and ends):
        raise VerificationFailed(f"'{file}' does not begin and end with the rows that the manifest says")


def _has(data: IO[bytes], at: int, wanted: Sequence[bytes]) -> bool:
    """One of the texts stands there."""
    data.seek(max(0, at))
    found = data.read(max(map(len, wanted)))
    return at >= 0 and any(found.startswith(text) for text in wanted)


def read_in_order(form: Format, file: Path) -> HashSum:
    """Raises VerificationFailed where a row comes before the one in front of it."""
    try:
        told = _unless_killed([*form.merge_command(), "--memory=64MiB", *form.to_standard_output(), str(file)])
    except (BadInput, IoFailed) as error:
        raise VerificationFailed(f"'{file}': {error}") from None
    return HashSum(next(told[unit] for unit in ("lines", "rows", "records") if unit in told), told["hash"])


def _unless_killed(words: Sequence[str]) -> dict[str, Any]:
    """Again where somebody killed the program, a few times: that says nothing about what it reads."""
    for _ in range(_KILLS):
        try:
            return run_command(words, wants_stats=True)
        except EcoSortError as error:
            if error.exit_code not in KILLED:
                raise
    return run_command(words, wants_stats=True)
