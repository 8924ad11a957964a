"""Input files: made by the project's own generator, except for the orders that it has none for."""

import os
import subprocess
from pathlib import Path

from ecosort_bench.programs import RECORD_BYTES, Programs, find_checksum

KEY_BYTES = 10
KINDS = ("uniform", "skewed", "sorted", "reverse", "equal")
_BLOCK_RECORDS = 100_000


def make_input(programs: Programs, kind: str, records: int, path: Path, memory_bytes: int) -> str:
    """Writes `records` ASCII records; returns their checksum. Other kinds are made from the uniform records."""
    if kind in ("uniform", "skewed"):
        words = ["gen", "-a", "-c", *(["-s"] if kind == "skewed" else []), str(records), str(path)]
        return find_checksum(programs.run(*words))
    checksum = make_input(programs, "uniform", records, path, memory_bytes)
    if kind == "equal":
        _make_keys_equal(path)
        return programs.checksum(path)
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


def _make_keys_equal(path: Path) -> None:
    with path.open("r+b") as file:
        while block := bytearray(file.read(_BLOCK_RECORDS * RECORD_BYTES)):
            for i in range(KEY_BYTES):
                block[i::RECORD_BYTES] = b"A" * (len(block) // RECORD_BYTES)
            file.seek(-len(block), os.SEEK_CUR)
            file.write(block)
        os.fsync(file.fileno())
