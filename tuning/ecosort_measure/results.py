"""The result file: the circumstances, and a line for every raw run, written after each run so that nothing measured is lost."""

import os
import platform
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ecosort_power.codec import read_json, write_rows
from ecosort_power.errors import UsageError
from ecosort_power.host import memory_bytes_of, mount_of, processor_of

SCHEMA = "ecosort.bench/1"
ROOT = Path(__file__).resolve().parents[2]
# A result is continued only where these are what they would be now. `dirty` may differ: a result in the tree makes it so.
ALIKE = ("schema", "settings", "commit", "machine")
Run = dict[str, Any]
Document = dict[str, Any]


def _git(*words: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def _commit() -> dict[str, Any]:
    return {"commit": _git("rev-parse", "HEAD") or None, "dirty": bool(_git("status", "--porcelain"))}


def memory_state(settings: dict[str, Any]) -> str:
    """Says how runs of these settings found their memory, for the line of circumstances; results of earlier versions do not."""
    return ", memory touched once before each run" if settings.get("settles_memory") else ""


def measured_on(data: dict[str, Any]) -> str:
    """The end of a line of circumstances: machine and commit."""
    machine = data["machine"]
    commit = (data["commit"] or "unknown commit")[:12] + (" with uncommitted changes" if data["dirty"] else "")
    file_system = (machine["file_system"] or "unknown file system").split()[0]
    return f"{machine['processor']}, {machine['cpus']} CPUs, Linux {machine['kernel']}, {file_system}; {commit}"


def machine_facts(directory: Path) -> dict[str, Any]:
    """Returns what the numbers depend on: processor, memory, kernel, file system."""
    mount = mount_of(directory)
    return {
        "processor": processor_of() or platform.machine(),
        "cpus": len(os.sched_getaffinity(0)),
        "memory_bytes": memory_bytes_of(),
        "kernel": platform.release(),
        "file_system": f"{mount.file_system} {mount.options}".strip() or None,
    }


def fresh(schema: str, directory: Path, settings: dict[str, Any], command: str, **parts: Any) -> Document:
    """A result without runs: what is measured, in a directory on the drive, and the command that measures it again."""
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    here = {**_commit(), "machine": machine_facts(directory)}
    return {"schema": schema, "started": started, **here, "settings": settings, "command": command, **parts}


def begin(path: Path, document: Document, continued: bool, alike: Sequence[str] = ALIKE) -> Document:
    """This new document, or the one at `path` if it is continued. UsageError if that differs in what must be alike."""
    if not continued or not path.exists():
        return document
    found = read_json(path)
    if not isinstance(found, dict):
        raise UsageError(f"{path} is no result of a benchmark")
    for name in alike:
        if found.get(name) != document[name]:
            raise UsageError(f"{path} cannot be continued: its {name} was {found.get(name)}, now it is {document[name]}")
    return found


def wall_s(run: Run) -> float:
    return float(run["wall_s"])


def cpu_s(run: Run) -> float:
    return float(run["cpu_user_s"]) + float(run["cpu_system_s"])


class Results:
    """Everything that a benchmark has found out so far. `data` is what the file holds."""

    def __init__(self, path: Path, data: dict[str, Any]) -> None:
        self.path = path
        self.data = data

    @classmethod
    def load(cls, path: Path) -> "Results":
        """UsageError for what is something else, or lacks what every run has."""
        return cls.checked(path, read_json(path))

    @classmethod
    def checked(cls, path: Path, data: Any) -> "Results":
        """The result in a document that was read. UsageError as for load()."""
        schema = data.get("schema") if isinstance(data, dict) else None
        if schema != SCHEMA:
            raise UsageError(f"{path} is no result of make bench (schema {schema!r}, not {SCHEMA!r})")
        try:
            _ = (dict(data["settings"]), dict(data["machine"]), data["commit"], data["dirty"])
            for run in data["runs"]:
                _ = (run["stage"], run["round"], run["contender"], wall_s(run), cpu_s(run), run["is_cold"])
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(f"{path} is damaged: {error!r}") from error
        return cls(path, data)

    @property
    def stages(self) -> set[str]:
        """The parts of the benchmark that have begun."""
        return {run["stage"] for run in self.runs}

    @property
    def runs(self) -> list[Run]:
        runs: list[Run] = self.data["runs"]
        return runs

    def find(self, stage: str, round_: int, contender: str) -> Run | None:
        return next((r for r in self.runs if (r["stage"], r["round"], r["contender"]) == (stage, round_, contender)), None)

    def of(self, stage: str, contender: str) -> dict[int, Run]:
        """The runs of a contender by round."""
        return {r["round"]: r for r in self.runs if (r["stage"], r["contender"]) == (stage, contender)}

    def save(self) -> None:
        write_rows(self.path, self.data)
