"""What `make bench-slow-drives` measured, as tables and verdicts. Pure."""

from __future__ import annotations

from typing import Any

SCHEMA = "ecosort.slow-drives/1"

Document = dict[str, Any]


def lines_of(data: Document) -> list[str]:
    return [str(len(data["runs"]))]
