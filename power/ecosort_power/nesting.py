"""The one place where JSON and TOML of others are read: what is nested too deeply is an error like any other defect of a text.

Parsers call themselves once per level, and so does whatever walks through what they return; a text of a few kilobytes could
end the program. Here the depth is counted first, without recursion. Pure, thread-safe.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

# Meters, servers and stored results nest less than ten levels.
MAX_DEPTH = 64
_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"?|\'[^\'\n]*\'?', re.DOTALL)


def parse_json(text: str | bytes) -> Any:
    """ValueError for what is no JSON, or is nested more than MAX_DEPTH levels deep."""
    text = text.decode("utf-8") if isinstance(text, bytes) else text
    _check_depth(text)
    return json.loads(text)


def parse_toml(text: str) -> dict[str, Any]:
    """ValueError for what is no TOML, or is nested more than MAX_DEPTH levels deep."""
    _check_depth(text)
    if any(line.partition("=")[0].count(".") > MAX_DEPTH for line in text.splitlines()):
        raise ValueError(f"it is nested more than {MAX_DEPTH} levels deep")
    return tomllib.loads(text)


def _check_depth(text: str) -> None:
    if text.count("[") + text.count("{") <= MAX_DEPTH:  # the usual case costs nothing
        return
    depth = 0
    for sign in re.findall(r"[\[\]{}]", _STRINGS.sub("", text)):
        depth += 1 if sign in "[{" else -1
        if depth > MAX_DEPTH:
            raise ValueError(f"it is nested more than {MAX_DEPTH} levels deep")
