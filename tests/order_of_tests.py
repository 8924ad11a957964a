"""Decides which tests come first, and which need a quiet machine and come last.

ECOSORT_SHUFFLE=SEED makes the order a random one: no test may need what another one left.
"""

import os
import random
from collections import Counter
from pathlib import Path

import pytest
from durations import Duration

# Files whose tests compare measured times: what runs beside them would be measured with them.
QUIET = frozenset({"test_search.py", "test_validate.py"})


def is_quiet(node_id: str) -> bool:
    return Path(node_id.partition("::")[0]).name in QUIET


def in_order(items: list[pytest.Item], last_run: list[Duration]) -> list[pytest.Item]:
    """The files that took longest in the last run come first, the quiet ones last; the tests of a file stay together."""
    if seed := os.environ.get("ECOSORT_SHUFFLE"):
        shuffled = random.Random(seed).sample(items, len(items))
        return sorted(shuffled, key=lambda item: is_quiet(item.nodeid))
    seconds = Counter[str]()
    for row in last_run:
        seconds[row.file] += row.wall_s
    files = {file: number for number, file in enumerate(dict.fromkeys(item.nodeid.partition("::")[0] for item in items))}

    def place(item: pytest.Item) -> tuple[bool, float, int]:
        file = item.nodeid.partition("::")[0]
        return is_quiet(item.nodeid), -seconds[file], files[file]

    return sorted(items, key=place)
