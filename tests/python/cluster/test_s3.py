"""Inputs in buckets, of a server that speaks S3. Needs .venv-cluster (tuning/setup/deps cluster)."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

from .support import KEYS, joined, numbered, sorted_records

BIN = ROOT / ".venv-cluster" / "bin"
SERVER = BIN / "moto_server"


@pytest.fixture
def environment() -> Iterator[dict[str, str]]:
    """In which AWS_* variables lead to a server that this test starts and ends."""
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        port = int(own.getsockname()[1])
    server = subprocess.Popen([SERVER, "-H", "127.0.0.1", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_for(port, server)
        yield {
            **os.environ,
            "PYTHONPATH": str(ROOT / "python"),
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ACCESS_KEY_ID": "someone",
            "AWS_SECRET_ACCESS_KEY": "no secret",
            "AWS_REGION": "us-east-1",
        }
    finally:
        server.kill()
        server.wait()


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while server.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise AssertionError("no server of S3")


@pytest.mark.skipif(not SERVER.exists(), reason="no server of S3: tuning/setup/deps cluster")
def test_objects_are_sorted_and_changed_ones_refused(tmp_path: Path, environment: dict[str, str]) -> None:
    data = numbered(KEYS["zipf"](30_000))
    (tmp_path / "in").write_bytes(data)
    done = subprocess.run(
        [BIN / "python", Path(__file__).with_name("s3_job.py"), tmp_path],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert (told["rows"], told["fetched"]) == (30_000, len(data))
    assert joined(tmp_path / "out") == sorted_records(data)
    assert "'s3://bucket/data/b' has changed since the job began" in told["changed"]
    assert told["missing"] == "'s3://bucket/nothing' is not there"
    assert "s3://other/in" in told["nowhere"]
    assert not (tmp_path / "changed.out" / "MANIFEST.json").exists()
