"""The user of a job: who he is, and how a process becomes his."""

from __future__ import annotations

import json
import os
import pwd
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

from ecosort_appliance.errors import QueueError

_PATIENCE_S = 60.0


def find_user(name: str) -> int:
    try:
        return pwd.getpwnam(name).pw_uid
    except KeyError:
        raise QueueError(f"there is no user {name!r}") from None


def user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def popen_user(uid: int) -> dict[str, Any]:
    """Arguments of Popen that give up root's rights for those of the user; nothing where the queue is the user's own."""
    if os.geteuid() == uid:
        return {}
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        raise QueueError(f"there is no user with the number {uid} any more") from None
    return {"user": uid, "group": entry.pw_gid, "extra_groups": os.getgrouplist(entry.pw_name, entry.pw_gid)}


def environment_of(uid: int, kept: dict[str, str]) -> dict[str, str]:
    """Returns what a job's programs see: nothing of the service's own environment but PATH."""
    base = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C.UTF-8"}
    try:
        entry = pwd.getpwuid(uid)
        base |= {"HOME": entry.pw_dir, "USER": entry.pw_name, "LOGNAME": entry.pw_name}
    except KeyError:
        base["HOME"] = "/"
    return base | {name: kept[name] for name in KEPT if name in kept}


# Variables that mean something to the program, kept from where a job was queued.
KEPT = ("HOME", "XDG_CONFIG_HOME", "TMPDIR", "ECOSORT_CPU")


def call_as(uid: int, module: str, question: Sequence[Any], here: Callable[[], Any]) -> Any:
    """Asks a module of this package with the rights of that user: `question` and answer are JSON on its standard streams. `here`
    answers where this process is that user's. None where the module fails."""
    if os.geteuid() == uid:
        return here()
    done = subprocess.run(
        [sys.executable, "-P", "-m", module],
        input=json.dumps(question).encode(),
        cwd="/",
        env=environment_of(uid, {}),
        capture_output=True,
        timeout=_PATIENCE_S,
        check=False,
        **popen_user(uid),
    )
    return json.loads(done.stdout) if done.returncode == 0 else None
