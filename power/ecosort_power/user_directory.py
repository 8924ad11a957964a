"""Finds where a user's own files lie."""

from __future__ import annotations

import os
from pathlib import Path


def user_directory(variable: str, usual: str) -> Path | None:
    """The directory of an XDG variable, else the usual one, as ~/.config; None for a user without a home, as in a container."""
    try:
        return Path(os.environ.get(variable) or usual).expanduser()
    except RuntimeError:
        return None
