"""Jobs whose output is a bucket. Run by test_s3.py with a Python that has obstore.

s3_output_job.py DIRECTORY: sorts `DIRECTORY/in` into a bucket of the server that AWS_ENDPOINT_URL names, in the ways below; what
it holds below a prefix becomes a directory of the same name. Prints a JSON object.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

from ecosort.cluster import PhaseState, check, resume, sort
from obstore.store import S3Store

from ecosort import BadInput, EcoSortError

RECORDS: dict[str, Any] = {"record_size": 100, "by": "0:10", "nodes_temp": ["n0", "n1"], "parts": 4, "memory": "4MiB"}
KILLS, SEED = 30 if os.environ.get("ECOSORT_SOAK") == "1" else 5, 4


def request(method: str, path: str) -> str:
    """Without a signature, which this server does not look at."""
    asked = urllib.request.Request(os.environ["AWS_ENDPOINT_URL"] + path, method=method)
    with urllib.request.urlopen(asked) as answer:
        return str(answer.read().decode())


def begin_upload(key: str) -> None:
    """Begins an upload as a worker does that is killed then."""
    assert "<UploadId>" in request("POST", f"/bucket/{key}?uploads")


def fetch_all(prefix: str) -> None:
    store = S3Store("bucket", client_options={"allow_http": True})
    Path(prefix).mkdir()
    for found in store.list(f"{prefix}/"):
        for one in found:
            Path(one["path"]).write_bytes(bytes(store.get(one["path"]).bytes()))


def refusal(output: str, **more: Any) -> str:
    try:
        sort("in", output, **(RECORDS | more))
    except BadInput as error:
        return str(error)
    return "nothing was refused"


def sort_with_a_damaged_slice() -> dict[str, Any]:
    """While uploads that no one finishes are there before and come meanwhile. Then what is wrong is found."""
    seen: list[str] = []

    def damage(state: PhaseState) -> None:
        if state.phase == "partition" and state.done == state.tasks and not seen:
            begin_upload("damaged/part-00002")
            slices = sorted(path for path in Path("n1").rglob("slice.*") if path.stat().st_size > 1000)
            held = bytearray(slices[0].read_bytes())
            held[555] ^= 4
            slices[0].write_bytes(held)
            seen.append("damaged")
        if state.phase == "reduce":
            seen.append("MANIFEST" if "MANIFEST.json" in request("GET", "/bucket?prefix=damaged/") else "none")

    begin_upload("damaged/part-00000")
    begin_upload("others/part-00000")
    report = sort("in", "s3://bucket/damaged/", progress=damage, **RECORDS)
    told = {
        "again": report.attempts > report.tasks,
        "rows": [check(name).rows for name in ("s3://bucket/damaged", "s3://bucket/damaged/MANIFEST.json")],
        "uploads": request("GET", "/bucket?uploads").count("<Upload>"),
        "early": "MANIFEST" in seen,
        "sent": next(stage.network_bytes for stage in report.stages if stage.name == "reduce"),
    }
    store = S3Store("bucket", client_options={"allow_http": True})
    fetch_all("damaged")
    part = bytearray(Path("damaged/part-00001").read_bytes())
    part[5555] ^= 1
    store.put("damaged/part-00001", bytes(part))
    try:
        check("s3://bucket/damaged")
    except EcoSortError as error:
        told["changed"] = str(error)
    return told


def start(*words: str) -> subprocess.Popen[bytes]:
    script = "import sys; from ecosort.cluster.cli import main; sys.exit(main())"
    return subprocess.Popen([sys.executable, "-c", script, *words], stderr=subprocess.PIPE)


def descendants(pid: int) -> list[int]:
    try:
        own = [int(word) for task in Path(f"/proc/{pid}/task").iterdir() for word in (task / "children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [*own, *(below for child in own for below in descendants(child))]


def sort_with_kills() -> dict[str, Any]:
    """Kills drivers and workers at random moments, in one job after the other; another driver follows one that was killed."""
    generator = random.Random(SEED)
    killed, prefixes = 0, []
    while killed < KILLS:
        prefixes.append(f"killed{len(prefixes)}")
        killed += sort_through_kills(prefixes[-1], KILLS - killed, generator)
    for prefix in prefixes:
        fetch_all(prefix)
    uploads = request("GET", "/bucket?uploads").count("<Upload>")
    return {"kills": killed, "prefixes": prefixes, "uploads": uploads}


def sort_through_kills(prefix: str, most: int, generator: random.Random) -> int:
    """Sorts, and returns how many kills there were."""
    words = ["sort", "--format=records", "--record-size=100", "--key=0:10", "--memory=4MiB", "--parts=4", "--quiet", "in"]
    words += ["--nodes-temp=n0", "--nodes-temp=n1", "-o", f"s3://bucket/{prefix}"]
    job = Path(f"n0/bucket,{prefix}.ecosort")
    killed = 0
    while True:
        driver = start(*words)
        if killed < most:
            time.sleep(generator.uniform(0.2, 1.5))
            victims = [driver.pid, *descendants(driver.pid)]
            if driver.poll() is None:
                os.kill(generator.choice(victims), signal.SIGKILL)
                killed += 1
        _, said = driver.communicate()
        if driver.returncode == 0:
            return killed
        assert driver.returncode == -signal.SIGKILL, said
        if (job / "journal").exists():
            words = ["resume", "--quiet", str(job)]
        elif "MANIFEST.json" in request("GET", f"/bucket?prefix={prefix}/"):  # killed after its last step
            return killed


def sort_interrupted() -> dict[str, Any]:
    """Between parts; the address alone does not say where the job is."""

    def stop(state: PhaseState) -> None:
        if state.phase == "reduce" and state.done >= 2:
            raise KeyboardInterrupt

    told: dict[str, Any] = {}
    try:
        sort("in", "s3://bucket/deep/er", progress=stop, **RECORDS)
    except KeyboardInterrupt:
        told["has_manifest"] = "MANIFEST.json" in request("GET", "/bucket?prefix=deep/er/")
    told["again"] = refusal("s3://bucket/deep/er")
    try:
        resume("s3://bucket/deep/er")
    except BadInput as error:
        told["resume"] = str(error)
    resume("n0/bucket,deep,er.ecosort")
    told["rows"] = check("s3://bucket/deep/er").rows
    return told


def sort_lines() -> dict[str, Any]:
    """Parts without rows are objects, too."""
    Path("few").write_bytes(b"b\na\n")
    sort("few", "s3://bucket/lines", format="lines", nodes_temp=["n0"], parts=4, memory="4MiB")
    fetch_all("lines")
    Path("none").write_bytes(b"")
    sort("none", "s3://bucket/none", **RECORDS)
    return {"rows": check("s3://bucket/none").rows, "lines": check("s3://bucket/lines").rows}


def main(directory: Path) -> None:
    os.chdir(directory)
    request("PUT", "/bucket")
    told: dict[str, Any] = {
        "damaged": sort_with_a_damaged_slice(),
        "killed": sort_with_kills(),
        "interrupted": sort_interrupted(),
        "lines": sort_lines(),
        "exists": refusal("s3://bucket/damaged"),
        "nowhere": refusal("s3://other/out"),
        "no prefix": refusal("s3://bucket"),
        "odd": refusal("s3://bucket/a b"),
        "single": refusal("s3://bucket/one", single=True),
        "no temp": refusal("s3://bucket/one", nodes_temp=()),
    }
    del os.environ["AWS_SECRET_ACCESS_KEY"]
    told["no key"] = refusal("s3://bucket/one")
    told["left"] = [str(path) for path in Path().glob("n[01]/*")]
    print(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
