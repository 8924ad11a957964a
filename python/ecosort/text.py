"""Sizes, and text that others wrote, for people to read."""

from __future__ import annotations


def shown(text: str) -> str:
    r"""Returns the text on one line and without control characters: \n, \x1b, and \xff for a byte that is no UTF-8.

    >>> print(shown("a\nb\udcff"))
    a\nb\xff
    """
    return "".join(letter if letter.isprintable() else _escaped(letter) for letter in text)


def _escaped(letter: str) -> str:
    is_byte = "\udc80" <= letter <= "\udcff"  # of a name that is no UTF-8
    return f"\\x{ord(letter) - 0xDC00:02x}" if is_byte else letter.encode("unicode_escape").decode()


def size_text(size: float) -> str:
    """Returns a size in bytes as text in decimal units, in which drives are sold.

    >>> size_text(1234567)
    '1.235 MB'
    """
    for unit, name in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= unit:
            return f"{size / unit:.4g} {name}"
    return f"{size:.4g} B"


def first_line(error: BaseException) -> str:
    """Returns what an error says in one line: those of pyarrow go on with where they come from."""
    return str(error).partition("\n")[0]
