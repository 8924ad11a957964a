"""Passwords: from the environment or from a file that only its owner can read, never from a command line.

A secret is returned to the meter that asked and stored nowhere else: specifications of meters carry the NAME of a variable
or file, so results can carry the specification.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ecosort_power.encoding import require_utf8
from ecosort_power.errors import MeterError, UsageError

GENERAL_VARIABLE = "ECOSORT_METER_PASSWORD"
# Every variable that a meter of this package looks for a secret in.
VARIABLES = (
    "IPMITOOL_PASSWORD",
    "IPMI_PASSWORD",
    "REDFISH_PASSWORD",
    "SNMP_COMMUNITY",
    "SNMP_AUTH_PASSWORD",
    "SNMP_PRIVACY_PASSWORD",
    "HOME_ASSISTANT_TOKEN",
    GENERAL_VARIABLE,
)


def public_environment(settings: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """The environment without passwords, for commands that are no meters: what they print is stored in results.
    `settings` are those of all meters; they may name further variables."""
    secret = {*VARIABLES, *(s["password-env"] for s in settings if "password-env" in s)}
    return {k: v for k, v in os.environ.items() if k not in secret}


def read_secret_file(path: Path) -> str:
    """First line of a file that belongs to this user (or root) and that no one else may read."""
    try:
        if path.exists() and not path.is_file():  # a pipe that no one writes to would be waited for without end
            raise UsageError(f"password file {path} is no regular file; write the password into one of mode 600")
        with path.open(encoding="utf-8") as f:
            status = os.fstat(f.fileno())
            if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                mode = stat.S_IMODE(status.st_mode)
                raise UsageError(f"password file {path} has mode {mode:04o}: others may read it; run: chmod 600 {path}")
            if status.st_uid not in (os.geteuid(), 0):
                raise UsageError(f"password file {path} belongs to another user")
            return f.readline().rstrip("\r\n")
    except OSError as error:
        raise UsageError(f"password file {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise UsageError(f"password file {path} cannot be read: it is no text in UTF-8") from None


def _expanded(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError as error:  # ~ of nobody
        raise UsageError(f"password file {text} cannot be read: there is no such home directory; write its whole path") from error


def secret_variable(name: str) -> str | None:
    """Returns what the environment holds under this name. UsageError for a secret that no protocol could send."""
    secret = os.environ.get(name)
    return None if secret is None else require_utf8(secret, f"the secret in the environment variable {name}")


def find_secret(settings: Mapping[str, str], variables: Sequence[str], general: bool = True) -> str | None:
    """The secret named by `password-file` or `password-env`, else the first of `variables` that is set, else, if `general`, that
    for meters of any kind."""
    if "password-file" in settings:
        return read_secret_file(_expanded(settings["password-file"]))
    if "password-env" in settings:
        name = settings["password-env"]
        if name not in os.environ:
            raise UsageError(f"the environment variable {name} (password-env) is not set")
        return secret_variable(name)
    names = [*variables, GENERAL_VARIABLE] if general else variables
    return next((secret for v in names if (secret := secret_variable(v)) is not None), None)


def require_secret(settings: Mapping[str, str], variables: Sequence[str], who: str) -> str:
    secret = find_secret(settings, variables)
    if secret is None:
        raise MeterError(
            f"{who} needs a password; set {variables[0] if variables else GENERAL_VARIABLE} in the environment, "
            "or give #password-file=FILE (mode 600)"
        )
    return secret
