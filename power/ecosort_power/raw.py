"""Keeps an answer in JSON as the `raw` of a reading: whole while it is short, else what the values were taken from."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from typing import Any

# A plug answers with some hundred bytes; a server's power resource may have a hundred kilobytes, once a second for hours.
MAX_BYTES = 4096


def keep(document: Any, paths: Iterable[str | None]) -> str:
    """The document as compact JSON. A long one is cut down to the given paths; its length and SHA-256 are in "cut"."""
    text = json.dumps(document, separators=(",", ":"))
    if len(text) <= MAX_BYTES:
        return text
    kept: dict[str, Any] = {"cut": {"bytes": len(text), "sha256": hashlib.sha256(text.encode()).hexdigest()}}
    for path in paths:
        if path:
            _copy(document, kept, [int(i) if i else k for k, i in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path)])
    return json.dumps(kept, separators=(",", ":"))


def _copy(source: Any, target: Any, steps: list[str | int]) -> None:
    """Copies the one value at the steps, with the objects and lists on the way to it."""
    for i, step in enumerate(steps):
        source = source[step]
        last = i + 1 == len(steps)
        empty: Any = source if last else ([] if isinstance(steps[i + 1], int) else {})
        if isinstance(step, int):
            target.extend([None] * (step + 1 - len(target)))
            target[step] = empty if last or target[step] is None else target[step]
        else:
            target.setdefault(step, empty)
        target = target[step]
