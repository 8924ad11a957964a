"""Names of compressed files. The part in front of the codec's ending says what the rows are: x.csv.gz is CSV."""

from __future__ import annotations

from ecosort.manual import compressed_endings

ASSUMED_RATIO = 4  # a plan assumes that the rows have so many times the size of a compressed input


def split_codec(name: str) -> tuple[str, str]:
    """Returns the name without the ending of a codec, and that ending in small letters, which is empty where there is none."""
    ending = next((ending for ending in compressed_endings() if name.lower().endswith(ending)), "")
    return name[: len(name) - len(ending)], ending


def is_named_tsv(name: str) -> bool:
    """Says what the program says of the name of a file: that a tab divides its columns."""
    return split_codec(name)[0].lower().endswith(".tsv")
