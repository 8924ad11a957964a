"""Tests of whole jobs share data of every kind of skew, and the order that Python gives it."""

from __future__ import annotations

import functools
import random
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

RECORD = 100
KEY = 10
RECORDS: dict[str, object] = {"record_size": RECORD, "by": "0:10"}


def numbered(keys: Sequence[bytes]) -> bytes:
    """Records of 100 bytes with these keys and what tells them apart."""
    return _numbered(tuple(keys))


@functools.lru_cache(maxsize=4)
def _numbered(keys: tuple[bytes, ...]) -> bytes:
    generator = random.Random(1)
    return b"".join(key + b"%012d" % number + generator.randbytes(RECORD - KEY - 12) for number, key in enumerate(keys))


def _uniform(count: int) -> list[bytes]:
    generator = random.Random(2)
    return [generator.randbytes(KEY) for _ in range(count)]


def _zipf(count: int) -> list[bytes]:
    """The most frequent of 1000 keys is every seventh record."""
    generator = random.Random(3)
    keys = [generator.randbytes(KEY) for _ in range(1000)]
    return generator.choices(keys, [1 / rank for rank in range(1, 1001)], k=count)


def _skewed(count: int) -> list[bytes]:
    """Like `gensort -s`: most keys are the beginning of others, and few bytes differ."""
    generator = random.Random(4)
    return [
        bytes(min(generator.randbytes(KEY)[0] >> 5, 3) for _ in range(KEY - 2)) + generator.randbytes(2) for _ in range(count)
    ]


# Many tests sort the same.
KEYS: dict[str, Callable[[int], list[bytes]]] = {
    "uniform": _uniform,
    "skewed": _skewed,
    "zipf": _zipf,
    "all equal": lambda count: [b"same key.."] * count,
    "sorted": lambda count: sorted(_uniform(count)),
    "reversed": lambda count: sorted(_uniform(count), reverse=True),
}
KEYS = {name: functools.cache(make) for name, make in KEYS.items()}


@functools.lru_cache(maxsize=4)
def sorted_records(data: bytes) -> bytes:
    """By key, stably."""
    records = [data[at : at + RECORD] for at in range(0, len(data), RECORD)]
    return b"".join(sorted(records, key=lambda record: record[:KEY]))


def parts_of(output: Path) -> list[Path]:
    """Beside MANIFEST.json and summaries of parts there is nothing else."""
    found = sorted(path for path in output.iterdir() if path.suffix != ".sum")
    assert found[0].name == "MANIFEST.json"
    assert [part.name for part in found[1:]] == [f"part-{number:05}" for number in range(len(found) - 1)]
    assert {summary.with_suffix("") for summary in output.glob("*.sum")} <= set(found[1:])
    return found[1:]


def joined(output: Path) -> bytes:
    return b"".join(part.read_bytes() for part in parts_of(output))


def remove(output: Path) -> None:
    """A directory of parts, or a file with its manifest."""
    if output.is_dir():
        shutil.rmtree(output)
    else:
        output.unlink()
        output.with_name(f"{output.name}.MANIFEST.json").unlink(missing_ok=True)


def only_inputs_and_output_are_left(directory: Path, *temps: Path) -> None:
    """No journal, no slice, no attempt."""
    assert not list(directory.glob("*.ecosort"))
    assert [list(temp.iterdir()) for temp in temps] == [[] for _ in temps]
