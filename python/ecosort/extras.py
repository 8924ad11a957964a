"""Names what to install where packages of an extra are missing: these packages, by their own names.

A user who installs a name of ours from an index may get anything that somebody has put there under it.
"""

from __future__ import annotations

_SELF = "ecosort"


def how_to_install(extra: str, missing: str) -> str:
    """The command that brings the packages of an extra of this distribution; only `missing` where it is not installed as one."""
    return "pip install " + " ".join(f"'{package}'" for package in _packages(extra) or [missing])


def _packages(extra: str) -> list[str]:
    """The packages of an extra, and of the extras that it names in turn."""
    from importlib import metadata  # takes a tenth of the start of this package

    try:
        wanted = metadata.requires(_SELF) or []
    except metadata.PackageNotFoundError:
        return []
    found = []
    for requirement in wanted:
        package, _, marker = (part.strip() for part in requirement.partition(";"))
        if marker != f'extra == "{extra}"':
            continue
        own = package.removeprefix(_SELF)
        found += _packages(own.strip("[]")) if own.startswith("[") else [package]
    return list(dict.fromkeys(found))
