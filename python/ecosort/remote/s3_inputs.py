"""Inputs that name several objects of a bucket: all below a prefix, s3://BUCKET/PREFIX/, or those that match a pattern."""

from __future__ import annotations

import re

from ecosort.errors import BadInput
from ecosort.remote.addresses import is_bucket

MANIFEST = "MANIFEST.json"  # says that objects are parts of one sort
_SPECIAL = re.compile(r"[*?[]")


def objects_of(url: str) -> list[str]:
    """Any other input is itself. Objects without a byte, and those whose names begin with '_' or '.', are none of a prefix.

    Raises BadInput where there are none, or where it is denied.
    """
    if not is_bucket(url):
        return [url]
    bucket, _, key = url.removeprefix("s3://").partition("/")
    if _SPECIAL.search(key):
        return _matching(url, bucket, key)
    return _below(url, bucket, key) if key.endswith("/") or not key else [url]


def _matching(url: str, bucket: str, key: str) -> list[str]:
    from ecosort.remote.s3_requests import listed

    begin = _SPECIAL.split(key)[0]
    wanted = re.compile(_expression(key), re.DOTALL)
    found = [name for name, size in listed(f"s3://{bucket}/{begin}") if size and wanted.fullmatch(name)]
    if not found:
        raise BadInput(f"no object is called like '{url}'; a sign that means itself is written [*], [?] or [[]")
    return [f"s3://{bucket}/{name}" for name in found]


def _below(url: str, bucket: str, prefix: str) -> list[str]:
    from ecosort.remote.s3_requests import listed

    found = [name for name, size in listed(f"s3://{bucket}/{prefix}") if size]
    if f"{prefix}{MANIFEST}" in found:
        raise BadInput(f"'{url}' holds parts and their {MANIFEST}; name the parts: '{url.rstrip('/')}/part-?????'")
    hidden = re.compile(r"(^|/)[._]")
    plain = [f"s3://{bucket}/{name}" for name in found if not hidden.search(name.removeprefix(prefix))]
    if not plain:
        raise BadInput(f"there are no objects below '{url}'")
    return plain


def _expression(pattern: str) -> str:
    """`*` and `?` stay within a segment, `**` does not; [abc], [a-z], [!a]."""
    parts = re.split(r"(\*\*|\*|\?|\[!?\]?[^\]]*\])", pattern)
    return "".join(_OF.get(part) or (_set(part) if part[:1] + part[-1:] == "[]" else re.escape(part)) for part in parts)


_OF = {"**": ".*", "*": "[^/]*", "?": "[^/]"}


def _set(part: str) -> str:
    begin = "[^/" if part.startswith("[!") else "["
    return begin + re.sub(r"([\\^\[\]&~|])", r"\\\1", part[1:-1].removeprefix("!")) + "]"
