"""The same job by Ray. Needs .venv-cluster (tuning/setup/deps cluster), which `make test` does without."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

from .support import KEYS, joined, numbered, sorted_records

PYTHON = ROOT / ".venv-cluster" / "bin" / "python"


@pytest.mark.skipif(not PYTHON.exists(), reason="no Ray: tuning/setup/deps cluster")
def test_a_node_that_is_lost_on_the_way(tmp_path: Path) -> None:
    data = numbered(KEYS["zipf"](30_000))
    (tmp_path / "in").write_bytes(data)
    done = subprocess.run(
        [PYTHON, Path(__file__).with_name("ray_job.py"), tmp_path],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert (told["rows"], told["lost"], told["alone"]) == (30_000, 1, True)
    assert told["attempts"] > told["tasks"]
    assert 0 < told["through_ray_bytes"] < len(data) // 10  # no rows but the first and last of slices
    assert joined(tmp_path / "out") == sorted_records(data)


@pytest.fixture
def head(tmp_path: Path) -> Iterator[str]:
    """The address for clients of a Ray head, which this test starts and ends."""
    ports = [_free_port() for _ in range(2)]
    words = [f"--port={ports[0]}", f"--ray-client-server-port={ports[1]}", "--num-cpus=2", "--include-dashboard=false"]
    with tempfile.TemporaryDirectory(prefix="ray") as short:  # names of sockets have 107 bytes at most
        ray = subprocess.Popen(
            [PYTHON.with_name("ray"), "start", "--head", "--block", f"--temp-dir={short}", "--disable-usage-stats", *words],
            env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            _wait_for_start(ray)
            time.sleep(5)  # until it lets clients in
            yield f"ray://127.0.0.1:{ports[1]}"
        finally:
            _end_session(ray)


def _free_port() -> int:
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        return int(own.getsockname()[1])


def _wait_for_start(ray: subprocess.Popen[bytes]) -> None:
    """Its ports are open before it can do anything."""
    assert ray.stdout is not None
    for line in ray.stdout:
        if b"Ray runtime started" in line:
            return
    raise AssertionError("no Ray head")


def _end_session(leader: subprocess.Popen[bytes]) -> None:
    """All processes of the session that the leader began, whatever groups they made in it."""
    own = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            if entry.name.isdecimal() and os.getsid(int(entry.name)) == leader.pid:
                own.append(int(entry.name))
    for pid in own:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    leader.wait()
    if leader.stdout:
        leader.stdout.close()


def cluster(directory: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """`ecosort cluster` by the Python that has Ray."""
    script = "import sys; from ecosort.cluster.cli import main; sys.exit(main())"
    return subprocess.run(
        [PYTHON, "-c", script, *words],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )


RECORDS = ("sort", "--format=records", "--record-size=100", "--key=0:10", "--memory=4MiB", "--parts=3", "in", "-o", "out")


@pytest.mark.skipif(not PYTHON.exists(), reason="no Ray: tuning/setup/deps cluster")
def test_a_cluster_that_runs_already_is_joined_as_a_client(tmp_path: Path, head: str) -> None:
    data = numbered(KEYS["zipf"](20_000))
    (tmp_path / "in").write_bytes(data)
    done = cluster(tmp_path, *RECORDS, "--nodes-temp=temp", "--workers=2", "--on", head)
    assert done.returncode == 0, done.stderr
    assert "20000 rows" in done.stderr
    assert joined(tmp_path / "out") == sorted_records(data)
    plan = cluster(tmp_path, *RECORDS[:-1], "other", "--plan", "--on", head)
    assert "1, 1 tasks at a time" in plan.stdout, plan.stderr


@pytest.mark.skipif(not PYTHON.exists(), reason="no Ray: tuning/setup/deps cluster")
def test_a_head_that_is_not_there_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(bytes(1000))
    done = cluster(tmp_path, *RECORDS, "--on", f"ray://127.0.0.1:{_free_port()}")
    assert (done.returncode, done.stdout) == (3, "")
    assert "no Ray head answers at ray://127.0.0.1:" in done.stderr.splitlines()[-1]
    assert not (tmp_path / "out").exists()
