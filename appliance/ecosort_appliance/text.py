"""Commands and times as text for people."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence

from ecosort.text import shown


def command_text(words: Sequence[str]) -> str:
    """Writes a command as it could be typed, but for what cannot be shown."""
    return "ecosort " + " ".join(shown(shlex.quote(word)) for word in words)


def time_text(seconds: float | None) -> str:
    return "" if not seconds else time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def span_text(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
