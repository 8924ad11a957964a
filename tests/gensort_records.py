"""The tests of gen, check and sort share these facts about gensort's records: 100 bytes, ordered by the first ten."""

import zlib
from pathlib import Path

RECORD_BYTES = 100
KEY_BYTES = 10


def split(data: bytes) -> list[bytes]:
    assert len(data) % RECORD_BYTES == 0
    return [data[i : i + RECORD_BYTES] for i in range(0, len(data), RECORD_BYTES)]


def key(record: bytes) -> bytes:
    return record[:KEY_BYTES]


def sorted_stably(data: bytes) -> bytes:
    return b"".join(sorted(split(data), key=key))


def checksum(data: bytes) -> str:
    """The sum of the records' CRC-32s as gensort prints it."""
    return format(sum(zlib.crc32(record) for record in split(data)), "x")


def write_records(path: Path, *records: bytes) -> Path:
    path.write_bytes(b"".join(records))
    return path
