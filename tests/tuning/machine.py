"""A machine in a directory: the files of the kernel that the settings and the identity are read from."""

from __future__ import annotations

from pathlib import Path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


def make_machine(root: Path, processors: int = 2, drives: tuple[str, ...] = ("nvme0n1", "sda")) -> Path:
    for i in range(processors):
        frequency = root / f"sys/devices/system/cpu/cpu{i}/cpufreq"
        write(frequency / "scaling_governor", "powersave")
        write(frequency / "scaling_available_governors", "performance powersave")
        write(frequency / "energy_performance_preference", "balance_performance")
        write(frequency / "energy_performance_available_preferences", "performance balance_performance balance_power power")
    for drive in drives:
        write(root / f"sys/block/{drive}/queue/read_ahead_kb", "128")
        write(root / f"sys/block/{drive}/queue/scheduler", "[none] mq-deadline kyber")
    for i in range(2):
        package = root / f"sys/class/powercap/intel-rapl:{i}"
        write(package / "constraint_0_name", "long_term")
        write(package / "constraint_0_power_limit_uw", "65000000")
        write(package / "constraint_0_max_power_uw", "95000000")
        write(package / "constraint_1_name", "short_term")
        write(package / "constraint_1_power_limit_uw", "90000000")
    write(root / "sys/class/powercap/intel-rapl:0:0/constraint_0_name", "long_term")
    write(root / "sys/class/powercap/intel-rapl:0:0/constraint_0_power_limit_uw", "0")
    return root


def contents(root: Path) -> dict[str, str]:
    return {p.relative_to(root).as_posix(): p.read_text().strip() for p in sorted(root.rglob("*")) if p.is_file()}
