"""A job by the page: a file is chosen below the allowed directories, its first rows are shown, a form says how it is sorted, and
the plan is shown before it is queued. Paths go through links and forms with their bytes as %XX."""

from __future__ import annotations

import csv
import json
import os
import posixpath
import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from ecosort.codec_names import split_codec
from ecosort.text import shown, size_text

from ecosort_appliance import desk
from ecosort_appliance.browse import look_as
from ecosort_appliance.database import open_database
from ecosort_appliance.errors import QueueError
from ecosort_appliance.jobs import Job
from ecosort_appliance.places import lies_in, real_path
from ecosort_appliance.space import shortage_in
from ecosort_appliance.text import command_text

FORMATS = ("csv", "jsonl", "lines", "records")
TYPES = ("text", "number", "date", "nocase", "version")
_FORMAT_OF = {".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".dat": "records", ".bin": "records"}
_DELIMITERS = ",;\t|"
_KEYS = 3
_MOST_SHOWN = 300  # characters of a row


@dataclass(frozen=True)
class Offer:
    """Files in these directories may be sorted from the page, by jobs of this user."""

    roots: tuple[str, ...]
    uid: int


def check_roots(roots: tuple[str, ...]) -> None:
    """QueueError for a --files that is no directory."""
    for root in roots:
        if not os.path.isdir(root):  # noqa: PTH112
            raise QueueError(f"--files {root!r} is no directory")


class Picker:
    """Thread-safe: each call has a connection of its own."""

    def __init__(self, queue: Path, offer: Offer) -> None:
        self._queue = queue
        self._offer = offer

    def look(self, path: str | None) -> dict[str, Any]:
        """Returns what the page shows: the allowed directories, what is in one, or a file with its form. QueueError."""
        if not path:
            return {"path": "", "entries": [_entry(root, root, True, 0) for root in self._offer.roots], "above": None}
        found = look_as(self._offer.uid, self._offer.roots, path)
        where = found["path"]
        above = os.path.dirname(where)  # noqa: PTH120
        is_root = where in [os.path.realpath(root) for root in self._offer.roots]
        common = {"path": shown(where), "above": "" if is_root else quote(above.encode(errors="surrogateescape"))}
        if "entries" in found:
            entries = [_entry(f"{where}/{e['name']}", e["name"], e["is_directory"], e["size"]) for e in found["entries"]]
            return common | {"entries": entries}
        return common | {"entries": None, "size": size_text(found["size"]), **_form_of(where, found["rows"])}

    def plan(self, form: Mapping[str, str]) -> dict[str, Any]:
        """Returns the command, what it needs, and what may go wrong. QueueError for what can never work."""
        job = self._job(form)
        with closing(open_database(self._queue)) as connection:
            foreseen = desk.foresee(self._queue, connection, job)
        needs = [(name, size_text(foreseen.plan[name])) for name in _PLANNED if isinstance(foreseen.plan.get(name), int)]
        return {
            "command": command_text(job.words),
            "needs": [(name.removesuffix("_bytes").replace("_", " "), text) for name, text in needs],
            "warnings": [shown(text) for text in foreseen.warnings],
            "fits": not shortage_in(foreseen.plan, job.directory),
            "form": {name: value for name, value in form.items() if name in _FIELDS},
        }

    def add(self, connection: sqlite3.Connection, form: Mapping[str, str]) -> int:
        """Queues it, and returns its number. QueueError."""
        return desk.add(self._queue, connection, self._job(form)).number

    def _job(self, form: Mapping[str, str]) -> Job:
        source = look_as(self._offer.uid, self._offer.roots, unquote(form.get("path", ""), errors="surrogateescape"))["path"]
        name = form.get("output", "")
        if not name or "/" in name or name in (".", ".."):
            raise QueueError("name the output, without directories: it lies beside the input")
        place = os.path.dirname(source)  # noqa: PTH120
        target = real_path(name, place)
        if not any(lies_in(target, os.path.realpath(root)) for root in self._offer.roots):
            raise QueueError(f"{target!r} lies in none of the directories of --files")
        if os.path.lexists(target) and form.get("replace") != "yes":
            raise QueueError(f"{name!r} is there already; choose another name, or say that it may be replaced")
        words = [*_command(form), f"--output={target}", "--", source]
        memory, at = form.get("memory") or None, form.get("at") or None
        return Job(uid=self._offer.uid, words=words, directory=place, name=form.get("name", "")[:200], memory=memory, at=at)


_PLANNED = ("input_bytes", "memory_limit_bytes", "needed_bytes", "free_bytes")
_FIELDS = (
    *("path", "format", "output", "replace", "memory", "at", "name", "delimiter", "field", "separator"),
    *("numeric", "reverse", "record_size", "record_key"),
    *(f"{part}{number}" for number in range(_KEYS) for part in ("key", "type", "desc")),
)


def _entry(path: str, name: str, is_directory: bool, size: int) -> dict[str, Any]:
    return {
        "href": quote(path.encode(errors="surrogateescape")),
        "name": shown(name),
        "is_directory": is_directory,
        "size": "" if is_directory else size_text(size),
    }


def _form_of(path: str, rows: list[str]) -> dict[str, Any]:
    """The form of a file: what its name says of the format is chosen already, and can be changed."""
    name = os.path.basename(path)  # noqa: PTH119
    stem, packed = split_codec(name)
    base, ending = posixpath.splitext(stem)
    chosen = _FORMAT_OF.get(ending.lower(), "lines")
    delimiter, columns = _header_of(rows, "\t" if ending.lower() == ".tsv" else _DELIMITERS)
    return {
        "href": quote(path.encode(errors="surrogateescape")),
        "rows": [shown(row[:_MOST_SHOWN]) for row in rows],
        "formats": FORMATS,
        "format": chosen,
        "types": TYPES,
        "keys": range(_KEYS),
        "columns": [(f"#{number}", shown(column)) for number, column in enumerate(columns, 1)] if chosen == "csv" else [],
        "members": [shown(name) for name in _members_of(rows)] if chosen == "jsonl" else [],
        "delimiter": {"\t": r"\t"}.get(delimiter, delimiter),
        "output": shown(f"{base}.sorted{ending}{packed}"),
        "input": path,
    }


def _header_of(rows: Sequence[str], delimiters: str) -> tuple[str, list[str]]:
    """Returns the delimiter and the columns of a CSV file that begins with these rows: the one that `sep=;` above the header
    names, or else the one that makes the most of the header, where the next row has as many fields."""
    text = [row.removesuffix("\r") for row in rows]
    if text and text[0].startswith("sep=") and len(text[0]) == len("sep=;"):
        delimiters, text = text[0][-1], text[1:]
    found = [(mark, _fields(text, mark)) for mark in delimiters]
    mark, fields = max(found, key=lambda one: _fit(*map(len, one[1])))
    return mark, [name.removeprefix("\ufeff") for name in fields[0]] if fields else []


def _fit(fields: int = 0, below: int | None = None) -> tuple[bool, int]:
    """Orders delimiters by the fields of the header, and of the row below it. One field fits any."""
    return fields > 1 and fields == (below or fields), fields


def _fields(text: Sequence[str], delimiter: str) -> list[list[str]]:
    """The fields of the first two rows, which may have several lines."""
    found = []
    with suppress(csv.Error):
        for row in csv.reader((f"{line}\n" for line in text), delimiter=delimiter):
            found.append(row)
            if len(found) == 2:
                break
    return found


def _members_of(rows: Sequence[str]) -> list[str]:
    """The paths in the first row of JSON lines, those within objects, too, if these are in no other object."""
    try:
        first = json.loads(rows[0]) if rows else None
    except (ValueError, RecursionError):
        return []
    paths = []
    for name, value in first.items() if isinstance(first, dict) else ():
        outer = _path_of(name)
        paths += [f"{outer}.{_path_of(inner)}" for inner in value] if isinstance(value, dict) else [outer]
    return paths


def _path_of(name: str) -> str:
    """Returns it as a key names it: in quotes where it has signs that mean something there."""
    return name if re.fullmatch(r"[\w -]+", name) else json.dumps(name, ensure_ascii=False)


def _command(form: Mapping[str, str]) -> list[str]:
    """The command and what says the order, without files. The program checks it all once more."""
    kind = form.get("format", "")
    if kind == "records":
        return ["sort", f"--record-size={form.get('record_size', '')}", f"--key={form.get('record_key', '')}"]
    if kind == "lines":
        return ["lines", *_lines_words(form)]
    if kind not in FORMATS:
        raise QueueError(f"the format is one of {', '.join(FORMATS)}")
    keys = [_key(form, number) for number in range(_KEYS) if form.get(f"key{number}")]
    if not keys:
        raise QueueError("choose a key: what the rows are to be sorted by")
    delimiter = [f"--delimiter={form['delimiter']}"] if kind == "csv" and form.get("delimiter", ",") != "," else []
    return [kind, *delimiter, *(f"--by={key}" for key in keys)]


def _key(form: Mapping[str, str], number: int) -> str:
    kind = form.get(f"type{number}", "text")
    if kind not in TYPES:
        raise QueueError(f"the type of a key is one of {', '.join(TYPES)}")
    return f"{form[f'key{number}']}:{kind}{':desc' if form.get(f'desc{number}') == 'yes' else ''}"


def _lines_words(form: Mapping[str, str]) -> list[str]:
    field, separator = form.get("field", ""), form.get("separator", "")
    words = [f"--field-separator={separator}"] if separator else []
    words += [f"--key={field},{field}"] if field else []
    words += ["--numeric-sort"] if form.get("numeric") == "yes" else []
    return [*words, *(["--reverse"] if form.get("reverse") == "yes" else [])]
