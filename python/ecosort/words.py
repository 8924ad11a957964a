"""Sizes and names of files, as arguments give them."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Mapping, Sequence

from ecosort import checks
from ecosort.errors import BadInput, OutputExists
from ecosort.remote.addresses import is_remote

Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]
Size = int | str  # bytes, or a text with a unit, such as "512MiB"

_BINARY = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "PiB": 1 << 50, "EiB": 1 << 60}
UNITS = _BINARY | {"kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15, "EB": 10**18}
_UNITS_IN_SMALL_LETTERS = {unit.lower(): size_bytes for unit, size_bytes in UNITS.items()}


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
    if not isinstance(paths, Iterable):
        raise checks.no_such(name, "the name of a file (a str, bytes or a path), or several of them", paths)
    words = [path_word(path, f"each of {name}") for path in paths]
    if not words:
        raise BadInput("no input: name a file at least")
    return words


def bytes_of(size: Size, name: str) -> int:
    """Returns the bytes of memory or space that `name` gives; its letters may be small or large."""
    if not isinstance(size, str):
        return checks.whole_number(size, name, "a positive number of bytes, or a text such as '512MiB'")
    found = re.fullmatch(r"(\d+)([A-Za-z]*)", size)
    unit_bytes = _UNITS_IN_SMALL_LETTERS.get(found[2].lower()) if found else None
    if found is None or unit_bytes is None or int(found[1]) == 0:
        raise BadInput(f"{name}: {size!r} is no size such as 512MiB or 2GB")
    return int(found[1]) * unit_bytes


def output(path: Path, overwrite: bool, *, split: str | None = None) -> str:
    """Raises BadInput for an address, and OutputExists, also for a file of the `split`.

    A file that appears later is replaced when the sort is done.
    """
    word = path_word(path, "dst")
    if is_remote(word):
        how = "the command line writes sorted files there: ecosort csv ... -o s3://BUCKET/KEY"
        raise BadInput(f"dst: {word!r} is no file; {how}")
    if not checks.truth(overwrite, "overwrite"):
        if os.path.lexists(word):
            raise OutputExists(word)
        if split is not None:
            _demand_new_files(word, split)
    return word


def _demand_new_files(word: str, split: str) -> None:
    """Raises OutputExists for what the split would replace. Only the program knows the values that are names by a key."""
    before, _, behind = word.partition("{}")
    if os.path.lexists(manifest := f"{before}manifest.json"):
        raise OutputExists(manifest)
    places = sorted(glob.glob(f"{glob.escape(before)}*{glob.escape(behind)}"))  # noqa: PTH207  # as it was written
    directory, slash, beginning = before.rpartition("/")
    if not split.startswith("by="):
        number = re.compile(re.escape(beginning) + "[0-9]{5,}" + re.escape(behind))
        if there := next((place for place in places if number.fullmatch(place.rpartition("/")[2])), None):
            raise OutputExists(there)
    elif places:
        other = f"{directory}{slash}parts/{beginning}{{}}{behind}"
        raise OutputExists(places[0], f"may be a file of the split; write the split to an empty directory, such as '{other}'")


def places_in(temps: Sequence[str], outputs: Mapping[str, str], line: str) -> dict[str, str]:
    """Returns where a command with these directories of runs and these outputs writes, and which argument names it: of several
    places those that a `line` of it names. Each output has the name of its argument.
    """
    own = temps or ([] if outputs else [os.environ.get("TMPDIR") or "."])
    places = dict.fromkeys(own, "temp") | {os.path.dirname(path) or ".": name for path, name in outputs.items()}  # noqa: PTH120
    named = {place: argument for place, argument in places.items() if f"'{place.rstrip('/')}/" in line}
    return named or places
