"""Checks the seal of a result directory: every line follows from the one before, and every sealed file is what was written."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ecosort_power.errors import InvalidResultError
from ecosort_power.quality import Defect
from ecosort_power.seal import FILE_NAME, FIRST, Line, digest_of, line_hash, read_lines

MISSING = "seal-missing"
# Files that must be sealed wherever they are; reports and what a person adds need no seal.
SEALED = ("session.json", "summary.json", "entry.json", "idle-*.jsonl", "input-check.txt", "runs/*/*")


def require_seal(directory: Path) -> None:
    """InvalidResultError names the first broken link of a sealed result; one without a seal passes, and its reports say so."""
    broken = next(seal_defects(directory), None)
    if broken is not None and broken.code != MISSING:
        raise InvalidResultError(
            f"{directory}: the seal is broken, so nothing is made of this result. First broken link: {broken.text} "
            f"(every defect: ecosort-power check {shlex.quote(str(directory))})"
        )


def seal_defects(directory: Path) -> Iterator[Defect]:
    """In the order of the chain: the first one is the first link that is broken."""
    path = directory / FILE_NAME
    if not path.is_file():
        yield Defect(MISSING, f"{FILE_NAME} is not there: nothing shows that the files are as they were written")
        return
    lines = list(read_lines(path))
    yield from _chain(lines, path.read_bytes().endswith(b"\n"))
    entries = [line.entry for line in lines if line.entry is not None and _is_whole(line.entry)]
    yield from _files(directory, entries)


def _is_whole(entry: dict[str, Any]) -> bool:
    """False for a line that was damaged so that it does not say what it seals; the chain has told of it."""
    wanted: dict[str, type] = {"n": int, "what": str}
    if entry.get("what") in ("file", "document", "part"):
        wanted |= {"path": str, "bytes": int, "sha256": str}
    return all(isinstance(entry.get(key), kind) for key, kind in wanted.items())


def _chain(lines: Sequence[Line], ends_whole: bool) -> Iterator[Defect]:
    previous, count = FIRST, 0
    for i, line in enumerate(lines):
        if line.entry is None:
            text = _torn(lines, i, ends_whole)
            if text is not None:
                yield Defect("seal", text)
                return
            continue
        count += 1
        entry = line.entry
        if entry.get("hash") != line_hash(entry):
            yield Defect("seal", f"{FILE_NAME}, line {line.number} was changed: its hash does not fit ({_about(entry)})")
            return
        if entry.get("previous") != previous or entry.get("n") != count:
            text = f"{FILE_NAME}, line {line.number} does not follow the line before it: lines were removed, added or moved"
            yield Defect("seal", text)
            return
        previous = str(entry["hash"])


def _torn(lines: Sequence[Line], i: int, ends_whole: bool) -> str | None:
    """None for a line that a crash cut off: a last one without an end of line, or one that the next line says so of."""
    last = i + 1 == len(lines)
    if last and not ends_whole:
        return None
    after = {} if last else lines[i + 1].entry or {}
    if after.get("what") == "torn" and after.get("sha256") == hashlib.sha256(lines[i].text).hexdigest():
        return None
    return f"{FILE_NAME}, line {lines[i].number} cannot be read"


def _about(entry: dict[str, Any]) -> str:
    return f"{entry.get('what')} {entry.get('path', '')}".strip()


def _files(directory: Path, entries: Sequence[dict[str, Any]]) -> Iterator[Defect]:
    """Each file against the last line about it; a file of readings that differs also against its parts, to say where."""
    final: dict[str, dict[str, Any]] = {}
    parts: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        name = str(entry.get("path", ""))
        if entry.get("what") == "moved":
            _move(final, name, str(entry.get("to")))
            _move(parts, name, str(entry.get("to")))
        elif entry.get("what") == "part":
            parts.setdefault(name, []).append(entry)
        elif entry.get("what") in ("file", "document"):
            final.pop(name, None)  # the order of the chain is that of the last line about a file
            final[name] = entry
    for name, entry in final.items():
        text = _differs(directory, name, entry, parts.get(name, []))
        if text is not None:
            yield Defect("seal", text)
    yield from _unfinished(directory, final, parts)
    known = {*final, *parts}
    for pattern in SEALED:
        for path in sorted(directory.glob(pattern)):
            name = path.relative_to(directory).as_posix()
            complete = path.parent == directory or (path.parent / "run.json").exists()
            if path.is_file() and complete and name not in known and path.suffix != ".new":
                yield Defect("seal", f"{name} is not sealed: it was added afterwards")


def _move(table: dict[str, Any], old: str, new: str) -> None:
    for name in [n for n in table if n == old or n.startswith(old + "/")]:
        table[new + name[len(old) :]] = table.pop(name)


def _differs(directory: Path, name: str, entry: dict[str, Any], parts: Sequence[dict[str, Any]]) -> str | None:
    path = directory / name
    try:
        if not path.exists():
            return f"{name} is not there; it was sealed in line {entry['n']}"
        size, digest = digest_of(path)
        if digest == entry.get("sha256"):
            return None
        new = path.with_name(path.name + ".new")
        if new.exists() and digest_of(new)[1] == entry.get("sha256"):  # sealed when a crash came; run --continue ends it
            return None
    except OSError as error:
        return f"{name} cannot be read: {error.strerror}"
    where = _first_part(path, parts)
    return f"{name} is not what was written: {size} bytes, {entry.get('bytes')} were sealed in line {entry['n']}{where}"


def _first_part(path: Path, parts: Sequence[dict[str, Any]]) -> str:
    begin = 0
    for part in sorted(parts, key=lambda p: int(p["bytes"])):
        size, digest = digest_of(path, int(part["bytes"]))
        if digest != part.get("sha256") or size != part["bytes"]:
            return f"; it differs first between its bytes {begin} and {part['bytes']}"
        begin = int(part["bytes"])
    return f"; it differs after its byte {begin}" if parts else ""


def _unfinished(directory: Path, final: dict[str, dict[str, Any]], parts: dict[str, list[dict[str, Any]]]) -> Iterator[Defect]:
    """Files of an interrupted attempt: what was sealed of them must still be there, what came after is not known."""
    for name, sealed in parts.items():
        if name in final:
            continue
        path, last = directory / name, max(sealed, key=lambda p: int(p["bytes"]))
        if not path.exists():
            yield Defect("seal", f"{name} is not there; its first {last['bytes']} bytes were sealed in line {last['n']}")
        elif digest_of(path, int(last["bytes"])) != (last["bytes"], last["sha256"]):
            yield Defect("seal", f"{name} is not what was written{_first_part(path, sealed)}")
