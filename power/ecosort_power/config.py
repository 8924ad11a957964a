"""Named meters in `~/.config/ecosort/meters.toml` (or --config FILE), so that a command line says `--meter wall`:

[meters]
wall = "scpi:/dev/ttyUSB0#profile=lmg95,accuracy=0.03%+0.02W"
bmc = "ipmi://joule@192.0.2.7#password-file=~/.config/ecosort/bmc"
"""

from __future__ import annotations

import re
from pathlib import Path

from ecosort_power.errors import UsageError
from ecosort_power.meters import schemes
from ecosort_power.meters.base import MeterSpec, parse_spec
from ecosort_power.nesting import parse_toml
from ecosort_power.user_directory import user_directory

_NAME = re.compile(r"[^\W_][\w.-]{0,59}")  # it becomes part of the names of files


def config_path(given: str | None) -> Path:
    if given is not None:
        return Path(given)
    base = user_directory("XDG_CONFIG_HOME", "~/.config") or Path("~/.config")  # without a home there is no such file
    return base / "ecosort" / "meters.toml"


def configured(given: str | None) -> dict[str, str]:
    """Name -> specification. An absent default file is empty; an absent given file is an error."""
    path = config_path(given)
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} is no regular file; name a TOML file with [meters]")
    try:
        document = parse_toml(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if given is not None:
            raise UsageError(f"{path} does not exist") from None
        return {}
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    meters = document.get("meters", {})
    if not isinstance(meters, dict) or not all(isinstance(v, str) for v in meters.values()):
        raise UsageError(f'{path}: [meters] must hold lines like NAME = "SCHEME:ADDRESS#SETTINGS"')
    wrong = next((name for name in meters if not _NAME.fullmatch(name)), None)
    if wrong is not None:
        raise UsageError(f"{path}: {wrong[:80]!r} is no name of a meter: up to 60 letters, digits, points, - and _")
    return meters


def resolve(words: list[str], config: str | None) -> list[MeterSpec]:
    """Specifications of the meters on a command line, with distinct names."""
    named = configured(config) if any(":" not in w for w in words) or config is not None else {}
    specs: list[MeterSpec] = []
    for word in words:
        if ":" in word:
            spec = parse_spec(word)
        elif word in named:
            spec = parse_spec(named[word], word)
        else:
            known = ", ".join(named) or "none"
            hint = f"; did you mean '{word}:'?" if word in schemes() else ""
            raise UsageError(f"no meter is called {word!r} in {config_path(config)}; configured: {known}{hint}")
        taken = {s.name for s in specs}
        name, n = spec.name, 2
        while name in taken:
            name, n = f"{spec.name}{n}", n + 1
        specs.append(MeterSpec(name, spec.scheme, spec.address, spec.settings))
    return specs
