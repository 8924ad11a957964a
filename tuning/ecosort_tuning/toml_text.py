"""Writes TOML, which knows no null: a value that is None is absent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tomli_w


def _present(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _present(entry) for key, entry in value.items() if entry is not None}
    if isinstance(value, list):
        return [_present(entry) for entry in value]
    return value


def to_toml(document: Mapping[str, Any]) -> str:
    """TypeError for what TOML cannot hold."""
    return tomli_w.dumps(_present(document))
