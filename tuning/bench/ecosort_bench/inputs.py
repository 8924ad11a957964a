"""Input files: made by the project's own generator, except for the orders that it has none for."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
from ecosort_measure.programs import Programs
from ecosort_power.records import RECORD_BYTES

KEY_BYTES = 10
KINDS = ("uniform", "skewed", "zipf", "few", "sorted", "reverse", "equal")
DISTINCT_OF_FEW, DISTINCT_OF_ZIPF = 100, 10_000_000
_BLOCK_RECORDS = 100_000

_Keys = npt.NDArray[np.uint8]


def make_input(programs: Programs, kind: str, records: int, path: Path, memory_bytes: int) -> str:
    """Writes `records` ASCII records; returns their checksum. Other kinds are made from the uniform records."""
    if kind in ("uniform", "skewed"):
        return programs.generate(records, path, *(["-s"] if kind == "skewed" else []))
    checksum = make_input(programs, "uniform", records, path, memory_bytes)
    if kind in _KEYS:
        _replace_keys(path, _KEYS[kind])
        return programs.checksum(path, in_order=kind == "equal")
    in_order = path.with_suffix(".sorting")
    programs.run("sort", "--memory", f"{memory_bytes}B", "--quiet", "--progress", "none", path, "-o", in_order)
    if kind == "sorted":
        in_order.replace(path)
    elif kind == "reverse":
        with path.open("wb") as file:  # records are lines
            subprocess.run(["tac", str(in_order)], stdout=file, check=True)
            os.fsync(file.fileno())
        in_order.unlink()
    else:
        raise ValueError(f"no such input: {kind}")
    return checksum


def _replace_keys(path: Path, keys_of: Callable[[np.random.Generator, int], _Keys]) -> None:
    """Gives the records of a file other keys, the same ones every time."""
    random = np.random.default_rng(2010)
    with path.open("r+b") as file:
        while block := bytearray(file.read(_BLOCK_RECORDS * RECORD_BYTES)):
            records = np.frombuffer(block, dtype=np.uint8).reshape(-1, RECORD_BYTES)
            records[:, :KEY_BYTES] = keys_of(random, len(records))
            file.seek(-len(block), os.SEEK_CUR)
            file.write(block)
        os.fsync(file.fileno())


def _key_of_rank(ranks: npt.NDArray[np.uint64]) -> _Keys:
    """Printable keys, (n, 10), spread over all there are: of six bits of the mixed rank each."""
    mixed = ranks * np.uint64(0x9E37_79B9_7F4A_7C15)
    shifts = np.arange(58, -2, -6, dtype=np.uint64)
    return (32 + (mixed[:, np.newaxis] >> shifts & np.uint64(63))).astype(np.uint8)


def _equal_keys(_: np.random.Generator, count: int) -> _Keys:
    return np.full((count, KEY_BYTES), ord("A"), dtype=np.uint8)


def _few_keys(random: np.random.Generator, count: int) -> _Keys:
    return _key_of_rank(random.integers(1, DISTINCT_OF_FEW + 1, count, dtype=np.uint64))


def _zipf_keys(random: np.random.Generator, count: int) -> _Keys:
    """Key k of N with a probability of log(1 + 1/k) / log(N): near 1/k, the law of Zipf with exponent 1."""
    return _key_of_rank(np.power(float(DISTINCT_OF_ZIPF), random.random(count)).astype(np.uint64))


_KEYS = {"equal": _equal_keys, "few": _few_keys, "zipf": _zipf_keys}
