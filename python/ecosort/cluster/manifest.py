"""MANIFEST.json: what parts a sorted data set has, how many rows, with which hash, from which row to which. check.py verifies it.

A directory or a bucket has it as MANIFEST.json, a file NAME as NAME.MANIFEST.json beside it.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ecosort.cluster.formats import Format, format_from
from ecosort.cluster.hashes import HashSum, sum_of
from ecosort.cluster.program_calls import run_unless_killed
from ecosort.durable import write_durably
from ecosort.errors import BadInput, VerificationFailed
from ecosort.request import coded, decoded

SCHEMA = "ecosort.cluster-manifest/1"
_NAME = re.compile(r"[^/\0]{1,255}")
_HASH = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class Part:
    """`first` and `last` are rows in base64; None where the part has no rows."""

    file: str
    rows: int
    bytes: int
    hash: str
    first: str | None
    last: str | None


def row_of(told: str | None) -> bytes:
    return base64.b64decode(told or "")


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
    """Makes it of what the tasks that made the splitters and wrote the parts answered."""
    total = sum_of(answers)
    parts = tuple(
        Part(f"part-{number:05}", one["rows"], one["bytes"], one["hash"], one["first"], one["last"])
        for number, one in enumerate(answers)
    )
    size = sum(part.bytes for part in parts)
    return Manifest(job, form, split["header"], split["header_hash"], total.rows, size, total.hex, parts)


def manifest_bytes(manifest: Manifest) -> bytes:
    """Format and order have the form of a claim, docs/json.md."""
    form = manifest.format
    told = {"schema": SCHEMA, "job": manifest.job, "format": form.name, "order": coded(dict(form.rows))}
    rest = {name: value for name, value in asdict(manifest).items() if name not in told}
    return json.dumps(told | rest, indent=1).encode() + b"\n"


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Writes it by one rename."""
    write_durably(path, manifest_bytes(manifest))


def manifest_of_one(manifest: Manifest, file: str) -> Manifest:
    """The same rows in one file instead of parts."""
    held = [part for part in manifest.parts if part.rows]
    first, last = (held[0].first, held[-1].last) if held else (None, None)
    return replace(manifest, parts=(Part(file, manifest.rows, manifest.bytes, manifest.hash, first, last),))


def manifest_from(data: bytes, where: str) -> Manifest:
    """Raises BadInput where the data, which are from `where`, are none."""
    try:
        told = json.loads(data)
        if not isinstance(told, dict) or told.pop("schema", None) != SCHEMA:
            raise BadInput(f"'{where}' is no manifest of ecosort cluster sort ({SCHEMA})")
        if isinstance(told["format"], str):  # an older one has words in an object
            told["format"] = {"name": told["format"], "rows": json.loads(json.dumps(told.pop("order")), object_hook=decoded)}
        _demand_fields(told, Manifest, where)
        form = format_from(told["format"])
        for part in told["parts"]:
            _demand_fields(part, Part, where)
            if not _NAME.fullmatch(part["file"]) or part["file"] in (".", ".."):
                raise BadInput(f"'{where}' names a part outside of its directory: {part['file'][:60]!r}")
            if (part["rows"] == 0) != (part["first"] is None) or (part["first"] is None) != (part["last"] is None):
                raise BadInput(f"'{where}' names no first and last row of '{part['file']}', or of one without rows")
        if len({part["file"] for part in told["parts"]}) < len(told["parts"]) or not told["parts"]:
            raise BadInput(f"'{where}' names a part twice, or none")
        for hashed in (told["hash"], told["header_hash"], *(part["hash"] for part in told["parts"])):
            if not _HASH.fullmatch(hashed):
                raise BadInput(f"'{where}' is no manifest of ecosort cluster sort: '{hashed}' is no hash")
        for one in (told, *told["parts"]):
            [base64.b64decode(one.get(name) or "", validate=True) for name in ("header", "first", "last")]
        return Manifest(**(told | {"format": form, "parts": tuple(Part(**part) for part in told["parts"])}))
    except KeyError as error:
        raise BadInput(f"'{where}' is no manifest of ecosort cluster sort: it lacks {error}") from None
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(f"'{where}' is no manifest of ecosort cluster sort: it is no such JSON") from None


def _demand_fields(told: Any, kind: type[Manifest] | type[Part], where: str) -> None:
    """All that it has, each of its type; a part is a file in the same directory. Raises BadInput."""
    wanted = kind.__annotations__
    if not isinstance(told, dict) or set(told) != set(wanted):
        raise BadInput(f"'{where}' is no manifest of ecosort cluster sort: each {kind.__name__.lower()} has {', '.join(wanted)}")
    for name, value in told.items():
        if not _is_such(value, wanted[name]):
            raise BadInput(f"'{where}' is no manifest of ecosort cluster sort: \"{name}\" cannot be {json.dumps(value)[:60]}")


def _is_such(value: Any, kind: str) -> bool:
    if kind == "int":
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if kind.startswith("str"):
        return isinstance(value, str) or (value is None and kind.endswith("None"))
    return isinstance(value, list | dict)


def own_manifest(data: bytes | None, where: str, job: str) -> Manifest | None:
    """Reads that of this job, if it was committed; `data`: None where there is none. Raises BadInput for that of another."""
    found = manifest_from(data, where) if data is not None else None
    if found and found.job != job:
        raise BadInput(f"'{where}' is of another job; move it away")
    return found


def read_manifest(path: Path, job: str) -> Manifest | None:
    """Reads it from a file, which may be missing."""
    return own_manifest(path.read_bytes() if path.exists() else None, str(path), job)


def demand_order(manifest: Manifest, scratch: Path) -> None:
    """No part begins with a row that comes before the last one of the part in front. Raises VerificationFailed."""
    ends = [base64.b64decode(end) for part in manifest.parts for end in (part.first, part.last) if end is not None]
    if not ends:
        return
    form = manifest.format
    scratch.write_bytes(base64.b64decode(manifest.header) + b"".join(end + form.row_end for end in ends))
    try:
        _read(form, scratch)
    except VerificationFailed:
        raise VerificationFailed("the parts are not in order one after the other, as the manifest names them") from None
    except BadInput as error:
        raise VerificationFailed(f"the manifest names ends of parts that are no rows: {error}") from None
    finally:
        scratch.unlink(missing_ok=True)


def read_in_order(form: Format, file: Path) -> HashSum:
    """Raises VerificationFailed where a row comes before the one in front of it, or is none; IoFailed."""
    try:
        told = _read(form, file)
    except VerificationFailed as error:
        raise VerificationFailed(str(error).partition(";")[0]) from None  # without advice for who merges it
    except BadInput as error:
        raise VerificationFailed(f"'{file}': {error}") from None
    return HashSum(next(told[unit] for unit in ("lines", "rows", "records") if unit in told), told["hash"])


def _read(form: Format, file: Path) -> dict[str, Any]:
    return run_unless_killed(form.of_part([str(file)], "-", merges=True, memory_bytes=64 << 20))
