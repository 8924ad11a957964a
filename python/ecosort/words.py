"""The words of the program's command line for what this package's functions are given."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from numbers import Real

from ecosort import checks
from ecosort.errors import BadInput, OutputExists

Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]
Size = int | str  # bytes, or a text with a unit, such as "512MiB"

_BINARY = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "PiB": 1 << 50, "EiB": 1 << 60}
UNITS = _BINARY | {"kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15, "EB": 10**18}


def path_word(path: Path, name: str = "a file") -> str:
    """A name that is no option and no standard stream, whatever it begins with; from `name`."""
    text = checks.path(path, name)
    if not text or "\0" in text:
        raise BadInput(f"{text!r} is no name of a file")
    return f"./{text}" if text[0] in "-+" else text


def path_words(paths: Path | Iterable[Path], name: str = "src") -> list[str]:
    """One path or several, from `name`."""
    if isinstance(paths, str | bytes | os.PathLike):
        return [path_word(paths, name)]
    if hasattr(paths, "read"):
        raise BadInput(f"{paths!r} is an open file; give its name")
    if not isinstance(paths, Iterable):
        raise checks.no_such(name, "the name of a file (a str, bytes or a path), or several of them", paths)
    words = [path_word(path, f"each of {name}") for path in paths]
    if not words:
        raise BadInput("no input: name a file at least")
    return words


def size_word(size: Size, name: str) -> str:
    """Bytes of memory or space, from `name`."""
    if isinstance(size, str):
        return size
    return str(checks.whole_number(size, name, "a positive number of bytes, or a text such as '512MiB'")) + "B"


def record_size_word(record_size: int) -> str:
    """--record-size."""
    return f"--record-size={checks.whole_number(record_size, 'record_size', 'a positive number of bytes')}"


def bytes_of(size: Size, name: str) -> int:
    """The same as a number."""
    found = re.fullmatch(r"(\d+)([A-Za-z]*)", size_word(size, name))
    if found is None or found[2] not in UNITS or int(found[1]) == 0:
        raise BadInput(f"{name}: {size!r} is no size such as 512MiB or 2GB")
    return int(found[1]) * UNITS[found[2]]


def flags(**options: bool) -> list[str]:
    """`numeric_sort=True` becomes --numeric-sort."""
    return [f"--{name.replace('_', '-')}" for name, value in options.items() if checks.truth(value, name)]


def resources(
    memory: Size | None, threads: int | None, temp: Path | Sequence[Path] = (), threads_option: str = "threads"
) -> list[str]:
    """What a sort may take. `temp` are directories of runs."""
    words = [f"--memory={size_word(memory, 'memory')}"] if memory is not None else []
    if threads is not None:
        words.append(f"--{threads_option}={checks.whole_number(threads, 'threads')}")
    if not checks.is_left_out(temp):
        words += [f"--temp={word}" for word in path_words(temp, "temp")]
    return words


def places_in(words: Sequence[str], line: str) -> dict[str, str]:
    """Where a command with these words writes, and which argument names it: of several places those that a `line` of it names."""
    temps = [word.removeprefix("--temp=") for word in words if word.startswith("--temp=")]
    outputs = [word.removeprefix("--output=") for word in words if word.startswith("--output=") and word != "--output=-"]
    if words[0] in ("inplace", "resume"):
        return {os.path.dirname(words[-1]) or ".": ""}  # noqa: PTH120  # as it was named
    if not temps and not outputs:
        temps = [os.environ.get("TMPDIR") or "."]
    places = dict.fromkeys(temps, "temp") | {os.path.dirname(output) or ".": "dst" for output in outputs}  # noqa: PTH120
    named = {place: argument for place, argument in places.items() if f"'{place.rstrip('/')}/" in line}
    return named or places


def runs(compress: str | None, assume_ratio: float | None, goal: str | None) -> list[str]:
    """How temporary runs are compressed."""
    if compress is not None and not re.fullmatch(r"auto|none|lz4|zstd(:\d+)?", str(compress)):
        raise checks.no_such("compress", "'auto', 'none', 'lz4', 'zstd' or 'zstd:LEVEL'", compress)
    words = [f"--compress={compress}"] if compress is not None else []
    if assume_ratio is not None:
        if isinstance(assume_ratio, bool) or not isinstance(assume_ratio, Real):
            raise checks.no_such("assume_ratio", "a number", assume_ratio)
        words.append(f"--assume-ratio={float(assume_ratio):f}")
    if goal is not None and goal not in ("time", "energy"):
        raise checks.no_such("goal", "'time' or 'energy'", goal)
    return words + ([f"--goal={goal}"] if goal is not None else [])


def compressed_files(decompress: bool | None, compress_output: str | None, level: int | None) -> list[str]:
    """How inputs and outputs are; None: what the command does by itself."""
    if decompress is not None:
        decompress = checks.truth(decompress, "decompress", "True, False or None")
    words = [] if decompress is None else [f"--decompress={'auto' if decompress else 'never'}"]
    words += [] if compress_output is None else [f"--compress-output={checks.text(compress_output, 'compress_output')}"]
    return words + ([] if level is None else [f"--level={checks.whole_number(level, 'level', least=0)}"])


def output(path: Path, overwrite: bool) -> str:
    """Raises OutputExists. A file that appears later is replaced when the sort is done."""
    word = path_word(path, "dst")
    if not checks.truth(overwrite, "overwrite") and os.path.lexists(word):
        raise OutputExists(word)
    return f"--output={word}"
