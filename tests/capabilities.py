"""Knows what this machine lets the tests do: loop mounts, file systems, io_uring, tools.

A test that needs more than an ordinary machine offers says `require("xfs")`. Where it is missing the test is skipped with the
reason; with ECOSORT_STRICT=1 (continuous integration) it fails, so that nothing goes untested there unnoticed.
"""

import ctypes
import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from preloaded import why_no_faults

ROOT = Path(__file__).resolve().parent.parent
STRICT = os.environ.get("ECOSORT_STRICT", "") not in ("", "0")
SOAK = os.environ.get("ECOSORT_SOAK", "") not in ("", "0")
only_in_soak = pytest.mark.skipif(not SOAK, reason="takes long: ECOSORT_SOAK=1")

_IO_URING_SETUP = 425  # the same system call number on every architecture


def _io_uring() -> str | None:
    parameters = ctypes.create_string_buffer(120)  # struct io_uring_params
    libc = ctypes.CDLL(None, use_errno=True)
    ring = libc.syscall(_IO_URING_SETUP, 1, parameters)
    if ring < 0:
        return f"the kernel refuses io_uring: {os.strerror(ctypes.get_errno())}"
    os.close(ring)
    return None


def _root() -> str | None:
    return None if os.geteuid() == 0 else "not root"


def _tool(name: str) -> str | None:
    return None if shutil.which(name) else f"no program {name}"


def _mount(file_system: str, size_bytes: int) -> str | None:
    """Makes and mounts a file system of that type on a loop device, in a mount namespace that ends with the attempt."""
    if reason := _root() or _tool(f"mkfs.{file_system}"):
        return reason
    with tempfile.TemporaryDirectory() as name:
        image, mount_point = Path(name, "image"), Path(name, "mnt")
        mount_point.mkdir()
        with image.open("wb") as file:
            file.truncate(size_bytes)
        for command in (
            [f"mkfs.{file_system}", "-q", str(image)],
            ["unshare", "--mount", "mount", "-o", "loop", str(image), str(mount_point)],
        ):
            done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
            if done.returncode != 0:
                return f"{' '.join(command[:-2])}: {done.stderr.strip() or done.returncode}"
    return None


def _memory_cgroup() -> str | None:
    """A control group (v1) for memory that this process may divide."""
    base = Path("/sys/fs/cgroup/memory")
    if not (base / "memory.limit_in_bytes").exists():
        return f"no memory controller in {base}"
    return None if os.access(base, os.W_OK) else f"{base} is not writable"


_MIB = 1 << 20
_PROBES: dict[str, Callable[[], str | None]] = {
    "io_uring": _io_uring,
    "root": _root,
    "loop_mount": lambda: _mount("ext4", 16 * _MIB),
    "xfs": lambda: _mount("xfs", 320 * _MIB),
    "btrfs": lambda: _mount("btrfs", 128 * _MIB),
    "memory_cgroup": _memory_cgroup,
    "setpriv": lambda: _root() or _tool("setpriv"),
    "faults": why_no_faults,
    "strace": lambda: _tool("strace"),
    "fio": lambda: _tool("fio"),
    "fish": lambda: _tool("fish"),
    "bindfs": lambda: _root() or _tool("bindfs"),
    "openssl": lambda: _tool("openssl"),
    "site": lambda: None if (ROOT / ".venv-site/bin/mkdocs").exists() else "its packages are missing: tuning/setup/deps site",
    "ipmitool": lambda: _tool("ipmitool"),
    "ipmi_sim": lambda: _tool("ipmi_sim"),
    "caddy": lambda: _tool("caddy"),
    "nginx": lambda: _tool("nginx") or _tool("openssl"),
    "mosquitto": lambda: _tool("mosquitto"),
    "snmpd": lambda: _tool("snmpd"),
    "upsd": lambda: _tool("/lib/nut/upsd") or _tool("/lib/nut/dummy-ups"),
    "gzip": lambda: _tool("gzip"),
    "zstd": lambda: _tool("zstd"),
    "lz4": lambda: _tool("lz4"),
    "xz": lambda: _tool("xz"),
    "bzip2": lambda: _tool("bzip2"),
    "pigz": lambda: _tool("pigz"),
    "pbzip2": lambda: _tool("pbzip2"),
    "cobc": lambda: _tool("cobc"),
    "bgzip": lambda: _tool("bgzip"),
    "tabix": lambda: _tool("tabix"),
    "systemd-analyze": lambda: _tool("systemd-analyze"),
    "npm": lambda: _tool("npm"),
    "chromium": lambda: _tool("chromium-headless-shell") and _tool("chromium"),
}


@functools.cache
def missing(capability: str) -> str | None:
    """Why the capability cannot be had here, or None where it can. Probed once per test run."""
    return _PROBES[capability]()


def require(capability: str) -> None:
    """Skips the running test where the capability is missing; fails it where ECOSORT_STRICT is set."""
    reason = missing(capability)
    if reason is None:
        return
    if STRICT:
        pytest.fail(f"{capability} is required with ECOSORT_STRICT: {reason}", pytrace=False)
    pytest.skip(f"needs {capability}: {reason}")
