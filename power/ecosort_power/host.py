"""Facts about the machine that belong to a result."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path

from ecosort_power.transports.sysfs import read_int, read_text


def _cpu_model(root: Path) -> str | None:
    try:
        text = (root / "proc/cpuinfo").read_text(errors="replace")
    except OSError:
        return None
    match = re.search(r"^(?:model name|Model)\s*:\s*(.+)$", text, re.MULTILINE)
    return match[1].strip() if match else None


def _memory(root: Path) -> str | None:
    match = re.search(r"^MemTotal:\s*(\d+) kB", read_text(root / "proc/meminfo") or "", re.MULTILINE)
    return f"{int(match[1]) / 2**20:.1f} GiB" if match else None


def _drives(root: Path) -> str | None:
    drives = []
    for path in sorted((root / "sys/block").glob("*")):
        if path.name.startswith(("loop", "ram", "zram", "dm-", "md", "sr", "nbd", "fd")):
            continue
        sectors = read_int(path / "size") or 0
        if sectors:
            model = read_text(path / "device/model") or path.name
            drives.append(f"{model} ({sectors * 512 / 1e9:.0f} GB)")
    return "; ".join(drives) or None


def _system(root: Path) -> str | None:
    match = re.search(r'^PRETTY_NAME="?([^"\n]+)', read_text(root / "etc/os-release") or "", re.MULTILINE)
    return match[1] if match else None


def file_system(path: Path) -> str | None:
    """Type of the file system that holds `path`, or would."""
    place = path.resolve()
    while not place.exists():
        place = place.parent
    best, kind = "", None
    for line in (read_text(Path("/proc/self/mounts")) or "").splitlines():
        fields = line.split()
        mount = fields[1].replace("\\040", " ")
        if (str(place) + "/").startswith(mount.rstrip("/") + "/") and len(mount) >= len(best):
            best, kind = mount, fields[2]
    return kind


def _version_lines(program: str) -> list[str]:
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return done.stdout.strip().splitlines() if done.returncode == 0 else []


def version_of(program: str) -> str | None:
    """First line of what a program says of its version."""
    return next(iter(_version_lines(program)), None)


def sorter_facts(program: str | None) -> dict[str, str]:
    """Version of an `ecosort`, and what it was built from: its commit, compiler and flags."""
    if program is None:
        return {}
    first, *others = _version_lines(program) or [""]
    found = {"sorter": first}
    for key, _, value in (line.partition(": ") for line in others):
        if key in ("commit", "compiler", "flags") and value and value != "unknown":
            found[f"sorter_{key}"] = value
    return {k: v for k, v in found.items() if v}


def facts(input_path: Path | None, output_path: Path | None, sorter: str | None = None, root: Path = Path("/")) -> dict[str, str]:
    """What can be found out; what cannot is absent. `sorter` is the program `ecosort` that is measured, if it is one."""
    governor = read_text(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    found = {
        "host": platform.node(),
        "processor": _cpu_model(root),
        "processors": str(os.cpu_count()),
        "memory": _memory(root),
        "drives": _drives(root),
        "system": _system(root),
        "kernel": platform.release(),
        "governor": governor,
        "input_file_system": file_system(input_path) if input_path else None,
        "output_file_system": file_system(output_path) if output_path else None,
    }
    return {**{k: v for k, v in found.items() if v}, **sorter_facts(sorter)}
