"""Inputs and outputs in buckets, of a server that speaks S3. Needs .venv-cluster (tuning/setup/deps cluster)."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from capabilities import SOAK
from conftest import ROOT
from ecosort.remote.s3_requests import signed_headers

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


def run_job(script: str, directory: Path, environment: dict[str, str]) -> dict[str, Any]:
    """Runs the job, and returns what it prints."""
    words = [BIN / "python", Path(__file__).with_name(script), directory]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


@pytest.mark.skipif(not SERVER.exists(), reason="no server of S3: tuning/setup/deps cluster")
def test_objects_are_sorted_and_changed_ones_refused(tmp_path: Path, environment: dict[str, str]) -> None:
    data = numbered(KEYS["zipf"](30_000))
    (tmp_path / "in").write_bytes(data)
    told = run_job("s3_job.py", tmp_path, environment)
    assert (told["rows"], told["fetched"]) == (30_000, len(data))
    assert joined(tmp_path / "out") == sorted_records(data)
    assert "'s3://bucket/data/b' has changed since the job began" in told["changed"]
    assert told["missing"] == "'s3://bucket/nothing' is not there; all objects below it are 's3://bucket/nothing/'"
    assert "s3://other/in" in told["nowhere"]
    assert not (tmp_path / "changed.out" / "MANIFEST.json").exists()
    assert told["single"] == {"codes": [0, 3], "is_there": False}
    first = data[: len(data) // 300 * 100]
    assert (tmp_path / "one").read_bytes() == sorted_records(first + data)


@pytest.mark.timeout(300)
@pytest.mark.skipif(not SERVER.exists(), reason="no server of S3: tuning/setup/deps cluster")
def test_a_bucket_gets_parts_and_at_the_end_the_manifest(tmp_path: Path, environment: dict[str, str]) -> None:
    data = numbered(KEYS["zipf"](40_000))
    (tmp_path / "in").write_bytes(data)
    told = run_job("s3_output_job.py", tmp_path, environment)
    damaged = told["damaged"]
    assert joined(tmp_path / "damaged") == sorted_records(data)
    assert (damaged["again"], damaged["rows"], damaged["early"]) == (True, [40_000, 40_000], False)
    assert damaged["uploads"] == 1  # that of others
    assert len(data) < damaged["sent"] < 2 * len(data)
    assert damaged["changed"].startswith("'s3://bucket/damaged/part-00001' holds ")
    assert [(tmp_path / "damaged" / f"part-0000{part}.sum").stat().st_size for part in range(4)] == [280] * 4
    assert (told["killed"]["kills"], told["killed"]["uploads"]) == (30 if SOAK else 5, 1)
    assert {joined(tmp_path / prefix) for prefix in told["killed"]["prefixes"]} == {sorted_records(data)}
    interrupted = told["interrupted"]
    assert (interrupted["has_manifest"], interrupted["rows"]) == (False, 40_000)
    assert "`ecosort cluster resume " in interrupted["again"]
    assert "n0/bucket,deep,er.ecosort` continues" in interrupted["again"]
    assert "name the directory of the job" in interrupted["resume"]
    assert joined(tmp_path / "lines") == b"a\nb\n"
    assert told["lines"] == {"rows": 0, "lines": 2}
    assert told["left"] == []
    assert told["exists"] == "'s3://bucket/damaged' holds objects; name a prefix that holds none"
    assert told["nowhere"] == "the bucket of 's3://other/' is not there; make it first"
    assert "names no object" in told["no prefix"]
    assert "a prefix has letters, digits" in told["odd"]
    assert "--single makes a file" in told["single"]
    assert "wants --nodes-temp" in told["no temp"]
    assert told["no key"] == "'s3://bucket/one' wants an access key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"


def test_requests_are_signed_like_the_example_of_aws(monkeypatch: pytest.MonkeyPatch) -> None:
    """The example of its documentation is for the lifecycle of a bucket."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    moment = datetime(2013, 5, 24, tzinfo=UTC)
    headers = signed_headers("GET", "examplebucket.s3.amazonaws.com", "/", "lifecycle=", moment)
    signature = "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
    assert headers["authorization"].endswith(
        f"/20130524/us-east-1/s3/aws4_request,SignedHeaders=host;x-amz-content-sha256;x-amz-date,Signature={signature}"
    )
