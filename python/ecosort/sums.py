"""A checksum of bytes at the speed of memory."""

from __future__ import annotations

from typing import Any

import numpy as np

_BLOCK_WORDS = 1 << 16
_FACTORS = np.random.default_rng(1).integers(1 << 64, size=_BLOCK_WORDS, dtype=np.uint64, endpoint=False) | np.uint64(1)
_STEP = int(_FACTORS[0])


def sum_of(data: Any) -> int:
    """Sums a buffer, whose length must be known otherwise: 64 bits, which every change of one word changes.

    Words times odd random numbers, added up modulo 2^64, block by block (multilinear hashing: Lemire and Kaser, "Strongly
    universal string hashing is fast", 2014).
    """
    view = memoryview(data).cast("B")
    words = np.frombuffer(view, "<u8", view.nbytes // 8)
    total = int.from_bytes(view[words.nbytes :], "little")
    for at in range(0, len(words), _BLOCK_WORDS):
        block = words[at : at + _BLOCK_WORDS]
        total = (total * _STEP + int(np.dot(block, _FACTORS[: len(block)]))) % (1 << 64)
    return total
