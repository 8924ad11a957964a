"""Reports of fio 3.33 with the parts that matter, at rates that a test chooses."""

from __future__ import annotations

from typing import Any


def side(bytes_per_s: float, seconds: float, block_bytes: int, latency_us: float) -> dict[str, Any]:
    """One direction of a job."""
    moved = int(bytes_per_s * seconds)
    zero = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}
    latency = (
        {"min": 1000, "max": 9000000, "mean": latency_us * 1e3, "stddev": 10.5, "N": moved // block_bytes} if moved else zero
    )
    return {
        "io_bytes": moved,
        "io_kbytes": moved // 1024,
        "bw_bytes": int(bytes_per_s),
        "bw": int(bytes_per_s / 1024),
        "iops": bytes_per_s / block_bytes,
        "runtime": int(seconds * 1000) if moved else 0,
        "total_ios": moved // block_bytes,
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": zero,
        "clat_ns": latency,
        "lat_ns": latency,
    }


def report(
    read: float, write: float, seconds: float = 1.5, block_bytes: int = 1 << 20, latency_us: float = 500.0
) -> dict[str, Any]:
    """Writes it as `fio --output-format=json` does with one job."""
    job = {
        "jobname": "probe",
        "groupid": 0,
        "error": 0,
        "eta": 0,
        "elapsed": 2,
        "job options": {"name": "probe", "ioengine": "io_uring", "direct": "1"},
        "read": side(read, seconds, block_bytes, latency_us),
        "write": side(write, seconds, block_bytes, latency_us),
        "usr_cpu": 4.0,
        "sys_cpu": 6.0,
        "ctx": 12,
        "majf": 0,
        "minf": 1,
    }
    return {"fio version": "fio-3.33", "timestamp": 1700000000, "global options": {}, "jobs": [job], "disk_util": []}
