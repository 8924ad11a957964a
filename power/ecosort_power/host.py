"""Facts about the machine that belong to a result."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from ecosort_power.system_clock import synchronisation
from ecosort_power.transports.sysfs import read_int, read_text

# /proc/cpuinfo has only numbers of Arm processors ("CPU implementer", "CPU part"). These are cores of machines that sort.
_ARM = "0x41"
_ARM_CORES = {
    "0xd03": "Cortex-A53",
    "0xd05": "Cortex-A55",
    "0xd08": "Cortex-A72",
    "0xd0b": "Cortex-A76",
    "0xd0c": "Neoverse N1",
    "0xd40": "Neoverse V1",
    "0xd41": "Cortex-A78",
    "0xd49": "Neoverse N2",
    "0xd4f": "Neoverse V2",
}


def processor_of(root: Path = Path("/")) -> str | None:
    """Returns the name of the processor's model, or of the board that it is on; None where the kernel gives none."""
    text = read_text(root / "proc/cpuinfo") or ""
    match = re.search(r"^(?:model name|Model)\s*:\s*(.+)$", text, re.MULTILINE)
    return match[1].strip() if match else _arm_cores(text)


def _arm_cores(text: str) -> str | None:
    """`4 Cortex-A55, 4 Cortex-A76`; None where some are not known."""
    parts = re.findall(r"^CPU implementer\s*:\s*(\S+)$.*?^CPU part\s*:\s*(\S+)$", text, re.MULTILINE | re.DOTALL)
    names = Counter(_ARM_CORES.get(part) if maker == _ARM else None for maker, part in parts)
    return None if None in names or not names else ", ".join(f"{count} {name}" for name, count in names.items())


def memory_bytes_of(root: Path = Path("/")) -> int:
    """Memory that the kernel has; 0 where it does not say."""
    match = re.search(r"^MemTotal:\s*(\d+) kB", read_text(root / "proc/meminfo") or "", re.MULTILINE)
    return int(match[1]) * 1024 if match else 0


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


@dataclass(frozen=True, slots=True)
class Mount:
    """Says what holds a file or directory; empty words where the kernel does not say."""

    device: str = ""
    file_system: str = ""
    options: str = ""

    @property
    def in_memory(self) -> bool:
        return self.file_system in ("tmpfs", "ramfs", "devtmpfs", "hugetlbfs")


def mount_of(path: Path) -> Mount:
    """Returns the last mount that `path` is below, or would be, as /proc shows it."""
    place = f"{path.resolve()}/"
    best, found = "", Mount()
    for line in (read_text(Path("/proc/self/mounts")) or "").splitlines():
        device, point, kind, options = line.split()[:4]
        point = re.sub(r"\\(\d{3})", lambda code: chr(int(code[1], 8)), point).rstrip("/") + "/"
        if place.startswith(point) and len(point) >= len(best):
            best, found = point, Mount(device, kind, options)
    return found


def _version_lines(program: str) -> list[str]:
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return done.stdout.strip().splitlines() if done.returncode == 0 else []


def version_of(program: str) -> str | None:
    """First line of what a program says of its version."""
    return next(iter(_version_lines(program)), None)


def found_by(program: str) -> str | None:
    """Returns what an `ecosort` finds of this machine: its kernels, the pages, the threads of `--threads auto`."""
    return next((line.removeprefix("machine: ") for line in _version_lines(program) if line.startswith("machine: ")), None)


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
    """Returns what can be found out; what cannot is absent. `sorter` is the program `ecosort` that is measured, if it is one."""
    memory = memory_bytes_of(root)
    governor = read_text(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    found = {
        "host": platform.node(),
        "processor": processor_of(root),
        "processors": str(os.cpu_count()),
        "memory": f"{memory / 2**30:.1f} GiB" if memory else None,
        "drives": _drives(root),
        "system": _system(root),
        "kernel": platform.release(),
        "clock": synchronisation(),
        "governor": governor,
        "input_file_system": mount_of(input_path).file_system if input_path else None,
        "output_file_system": mount_of(output_path).file_system if output_path else None,
    }
    return {**{k: v for k, v in found.items() if v}, **sorter_facts(sorter)}
