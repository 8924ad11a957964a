"""The words of the program's command line for what this package's functions are given."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from ecosort.errors import BadInput, OutputExists

Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]
Size = int | str  # bytes, or a text with a unit, such as "512MiB"

_BINARY = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
UNITS = _BINARY | {"kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


def path_word(path: Path) -> str:
    """A name that is no option and no standard stream, whatever it begins with."""
    text = os.fsdecode(path)
    if not text or "\0" in text:
        raise BadInput(f"{text!r} is no name of a file")
    return f"./{text}" if text[0] in "-+" else text


def path_words(paths: Path | Iterable[Path]) -> list[str]:
    """One path or several."""
    if isinstance(paths, str | bytes | os.PathLike):
        return [path_word(paths)]
    if hasattr(paths, "read"):
        raise BadInput(f"{paths!r} is an open file; give its name")
    words = [path_word(path) for path in paths]
    if not words:
        raise BadInput("no input: name a file at least")
    return words


def size_word(size: Size, name: str) -> str:
    """Bytes of memory or space, from `name`."""
    if isinstance(size, str):
        return size
    if isinstance(size, bool) or size <= 0:
        raise BadInput(f"{name} is a positive number of bytes, or a text such as '512MiB', not {size!r}")
    return f"{size}B"


def bytes_of(size: Size, name: str) -> int:
    """The same as a number."""
    found = re.fullmatch(r"(\d+)([A-Za-z]+)", size_word(size, name))
    if found is None or found[2] not in UNITS or int(found[1]) == 0:
        raise BadInput(f"{name}: {size!r} is no size such as 512MiB or 2GB")
    return int(found[1]) * UNITS[found[2]]


def flags(**options: bool) -> list[str]:
    """`numeric_sort=True` becomes --numeric-sort."""
    for name, value in options.items():
        if value not in (True, False):
            raise BadInput(f"{name} is True or False, not {value!r}")
    return [f"--{name.replace('_', '-')}" for name, is_on in options.items() if is_on]


def resources(
    memory: Size | None, threads: int | None, temp: Path | Sequence[Path] = (), threads_option: str = "threads"
) -> list[str]:
    """What a sort may take. `temp` are directories of runs."""
    words = [f"--memory={size_word(memory, 'memory')}"] if memory is not None else []
    if threads is not None:
        if threads < 1:
            raise BadInput(f"threads is a positive number, not {threads!r}")
        words.append(f"--{threads_option}={threads}")
    if temp:
        words += [f"--temp={word}" for word in path_words(temp)]
    return words


def runs(compress: str | None, assume_ratio: float | None, goal: str | None) -> list[str]:
    """How temporary runs are compressed."""
    if compress is not None and not re.fullmatch(r"auto|none|lz4|zstd(:\d+)?", compress):
        raise BadInput(f"compress is 'auto', 'none', 'lz4', 'zstd' or 'zstd:LEVEL', not {compress!r}")
    words = [f"--compress={compress}"] if compress is not None else []
    if assume_ratio is not None:
        words.append(f"--assume-ratio={assume_ratio:f}")
    return words + ([f"--goal={goal}"] if goal is not None else [])


def compressed_files(decompress: bool | None, compress_output: str | None, level: int | None) -> list[str]:
    """How inputs and outputs are; None: what the command does by itself."""
    if decompress not in (True, False, None):
        raise BadInput(f"decompress is True, False or None, not {decompress!r}")
    words = [] if decompress is None else [f"--decompress={'auto' if decompress else 'never'}"]
    words += [] if compress_output is None else [f"--compress-output={compress_output}"]
    return words + ([] if level is None else [f"--level={level}"])


def output(path: Path, overwrite: bool) -> str:
    """Raises OutputExists. A file that appears later is replaced when the sort is done."""
    word = path_word(path)
    if not overwrite and os.path.lexists(word):
        raise OutputExists(word)
    return f"--output={word}"
