"""Reading small files of the kernel below a root directory (`/` unless a test or a container says otherwise)."""

from __future__ import annotations

from pathlib import Path

from ecosort_power.errors import MeterError


def read_text(path: Path) -> str | None:
    """Contents without white space at the ends, None if it does not exist or the kernel refuses."""
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return None


def read_int(path: Path) -> int | None:
    text = read_text(path)
    try:
        return int(text) if text is not None else None
    except ValueError:
        return None


def require_int(path: Path) -> int:
    """MeterError says why it cannot be read."""
    try:
        text = path.read_text(encoding="ascii", errors="replace").strip()
    except OSError as error:
        raise MeterError(f"{path} cannot be read: {error.strerror}") from error
    try:
        return int(text)
    except ValueError:
        raise MeterError(f"{path} holds {text[:40]!r}, no number") from None
