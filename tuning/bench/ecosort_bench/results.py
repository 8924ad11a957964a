"""The result file: the circumstances and every raw run, written anew after each run so that nothing measured is lost."""

import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

SCHEMA = "ecosort.bench/1"
Run = dict[str, Any]


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def commit_of(root: Path) -> dict[str, Any]:
    return {"commit": _git(root, "rev-parse", "HEAD") or None, "dirty": bool(_git(root, "status", "--porcelain"))}


def memory_state(settings: dict[str, Any]) -> str:
    """How runs of these settings found their memory, for the line of circumstances; results of earlier versions say nothing."""
    return ", memory touched once before each run" if settings.get("settles_memory") else ""


def machine_facts(directory: Path) -> dict[str, Any]:
    """What the numbers depend on: processor, memory, kernel, file system."""
    cpuinfo = Path("/proc/cpuinfo").read_text()
    model = next(
        (line.split(":", 1)[1].strip() for line in cpuinfo.splitlines() if line.startswith("model name")), platform.machine()
    )
    mount = subprocess.run(
        ["findmnt", "-no", "FSTYPE,OPTIONS", "-T", str(directory)], capture_output=True, text=True, check=False
    )
    return {
        "processor": model,
        "cpus": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "kernel": platform.release(),
        "file_system": mount.stdout.strip() or None,
    }


class Results:
    """Everything that a benchmark has found out so far. `data` is what the file holds."""

    def __init__(self, path: Path, data: dict[str, Any]) -> None:
        self.path = path
        self.data = data

    @classmethod
    def load(cls, path: Path) -> "Results":
        data = json.loads(path.read_text())
        if data.get("schema") != SCHEMA:
            raise ValueError(f"{path} is no benchmark result")
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
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".new")
        with fresh.open("w") as file:
            file.write(json.dumps(self.data, indent=1) + "\n")
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self.path)
