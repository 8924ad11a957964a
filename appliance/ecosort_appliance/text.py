"""Text of others for people: names of files may hold anything."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence


def shown(text: str) -> str:
    r"""On one line, without control characters: \n, \x1b, \xff for a byte that is no UTF-8."""
    plain = text.encode(errors="surrogateescape").decode(errors="backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in plain)


def command_text(words: Sequence[str]) -> str:
    """Writes a command as it could be typed, but for what cannot be shown."""
    return "ecosort " + " ".join(shown(shlex.quote(word)) for word in words)


def bytes_text(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.4g} TB"


def time_text(seconds: float | None) -> str:
    return "" if not seconds else time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def span_text(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
