r"""Bytes that are not UTF-8. Names of files, words of a command and the environment may hold them, in Python as lone surrogates.

Stored JSON keeps them (\udcff), so that a result that is read again names the same files. What people read spells them \xff:
`SPELLED` is the error handler of everything that is written, the standard streams included. Where a protocol needs text, in
addresses, settings and secrets, they are refused.
"""

from __future__ import annotations

import codecs
from pathlib import Path

from ecosort_power.errors import UsageError

SPELLED = "ecosort-spelled"
_FIRST, _LAST = 0xDC80, 0xDCFF  # the surrogates of the bytes 0x80 to 0xff


def _escape(sign: str) -> str:
    if _FIRST <= ord(sign) <= _LAST:
        return f"\\x{ord(sign) - _FIRST + 0x80:02x}"
    return sign.encode("ascii", "backslashreplace").decode()


def _spell(error: UnicodeError) -> tuple[str, int]:
    """Writes as an escape what an encoding cannot hold."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_escape, error.object[error.start : error.end])), error.end


codecs.register_error(SPELLED, _spell)


def spelled(text: str) -> str:
    """The text as every file can hold it."""
    return text.encode(errors=SPELLED).decode()


def write_text(path: Path, text: str) -> None:
    """Writes what people read."""
    path.write_text(text, encoding="utf-8", errors=SPELLED)


def is_utf8(text: str) -> bool:
    return not any(0xD800 <= ord(c) <= 0xDFFF for c in text)


def require_utf8(text: str, what: str) -> str:
    """The text. UsageError, which names `what`, where it could not be sent."""
    if not is_utf8(text):
        raise UsageError(f"{what} is not UTF-8; give one that is")
    return text
